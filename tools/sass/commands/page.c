#include "analysis/program.h"
#include "analysis/source.h"
#include "commands/commands.h"
#include "commands/delta.h"
#include "list.h"

static void put_text(const char *before, const char *text, const char *after, FILE *out) {
    fputs(before, out);
    put_html(text, out);
    fputs(after, out);
}

static void put_number(int number, FILE *out) {
    if (number)
        fprintf(out, "<td>%d</td>", number);
    else
        fputs("<td class=\"faint\">.</td>", out);
}

static void put_change(int from, int to, FILE *out) {
    put_number(from, out);
    put_number(to, out);
    if (from == to)
        fputs("<td class=\"faint\">.</td>", out);
    else
        fprintf(out, "<td class=\"moved\">%+d</td>", to - from);
}

static void put_heading(const char *first, const char *const *columns, int count, FILE *out) {
    put_text("<table><tr><th>", first, "</th>", out);
    for (int c = 0; c < count; c++) put_text("<th>", columns[c], "</th>", out);
    fputs("</tr>\n", out);
}

static void put_delta(const Delta *delta, FILE *out) {
    put_text("<tr><td>", delta->name, "</td>", out);
    put_change(delta->from.region[REGION_LOOP], delta->to.region[REGION_LOOP], out);
    put_change(delta->from.total, delta->to.total, out);
    fputs("</tr>\n", out);
}

static void put_sass(const Module *from, const Module *to, FILE *out) {
    Deltas deltas = deltas_of(from, to);
    static const char *const columns[] = {"loop, before", "loop, after", "change",
                                          "all, before",  "all, after",  "change"};
    const Delta all = {"all", CLASS_OTHER, deltas.from.all, deltas.to.all};
    fputs(
        "<h2>Machine code</h2>\n<p>Instructions in one iteration of the main loop, and in all; the "
        "largest change first.</p>\n",
        out);
    put_heading("class", columns, 6, out);
    for (int kind = 0; kind < CLASSES; kind++)
        if (deltas.kind[kind].from.total || deltas.kind[kind].to.total)
            put_delta(&deltas.kind[kind], out);
    put_delta(&all, out);
    fputs("</table>\n<p></p>\n", out);
    put_heading("opcode", columns, 6, out);
    for (int i = 0; i < deltas.changed; i++) put_delta(&deltas.opcode[i], out);
    fprintf(out, "</table>\n<details><summary>%d opcodes unchanged</summary>\n",
            deltas.opcodes - deltas.changed);
    put_heading("opcode", columns, 6, out);
    for (int i = deltas.changed; i < deltas.opcodes; i++) put_delta(&deltas.opcode[i], out);
    fputs("</table></details>\n", out);
    deltas_free(&deltas);
}

static void put_finding(const Prediction *prediction, int side, FILE *out) {
    if (!prediction->known[side])
        fputs("<td class=\"faint\">-</td>", out);
    else
        fprintf(out, "<td class=\"%s\">%.10g %s</td>", prediction->holds[side] ? "yes" : "no",
                prediction->found[side], prediction->holds[side] ? "yes" : "no");
}

/* The comment at the top of a signature says in words what the idea does to the machine code. */
static void put_idea(const char *stages, const char *stage, FILE *out) {
    char path[1024];
    snprintf(path, sizeof path, "%s/%s/expect.sass", stages, stage);
    Source source = source_read(path);
    fputs("<p>", out);
    for (int i = 1; *source_line(&source, i) == '#'; i++)
        put_text("", source_line(&source, i) + 1, "\n", out);
    fputs("</p>\n", out);
    source_free(&source);
}

static void put_predictions(const char *stages, const Module *from, const Module *to, FILE *out) {
    int count;
    Prediction *list = predictions_of(stages, from, to, &count);
    static const char *const columns[] = {"before", "after"};
    put_text("<h2>What the signature of ", to->stage, " predicts</h2>\n", out);
    put_idea(stages, to->stage, out);
    put_heading("assertion", columns, 2, out);
    for (int i = 0; i < count; i++) {
        put_text("<tr><td>", list[i].text, "</td>", out);
        put_finding(&list[i], 0, out);
        put_finding(&list[i], 1, out);
        fputs("</tr>\n", out);
    }
    fputs("</table>\n", out);
    free(list);
}

/* The run of a stage among the lines that `attention run FORMAT=json` printed, the last if both
 * sides are of one stage and this is the second; NULL if there is none. */
static const char *find_run(const Source *runs, const char *stage, bool simulated, bool last) {
    const char *found = NULL;
    char name[MODULE_NAME_SIZE + 16];
    snprintf(name, sizeof name, "\"name\":\"%s\"", stage);
    for (int i = 1; i <= runs->lines && (last || !found); i++) {
        const char *line = source_line(runs, i);
        if (strstr(line, name) &&
            strstr(line, simulated ? "\"simulated\":true" : "\"simulated\":false"))
            found = line;
    }
    return found;
}

/* The number under a key of a run; false if it is null or not there. */
static bool run_number(const char *run, const char *key, double *number) {
    char mark[64], *end;
    snprintf(mark, sizeof mark, "\"%s\":", key);
    const char *at = run ? strstr(run, mark) : NULL;
    if (!at) return false;
    *number = strtod(at + strlen(mark), &end);
    return end > at + strlen(mark);
}

/* How many times `from`: all digits before the point, and three at least. */
static void put_ratio(double from, double to, FILE *out) {
    const double ratio = to / from;
    if (from <= 0 || from == to)
        fputs("<td class=\"faint\">.</td>", out);
    else
        fprintf(out, ratio < 100 ? "<td>%.3g</td>" : "<td>%.0f</td>", ratio);
}

static void put_quantity(const char *name, const char *key, const char *from, const char *to,
                         FILE *out) {
    double a, b;
    if (!run_number(from, key, &a) || !run_number(to, key, &b)) return;
    put_text("<tr><td>", name, "</td>", out);
    fprintf(out, "<td>%.10g</td><td>%.10g</td>", a, b);
    put_ratio(a, b, out);
    fputs("</tr>\n", out);
}

/* The problem that was run: the sizes from its JSON. */
static void put_problem(const char *run, FILE *out) {
    static const char *const keys[] = {"batch", "heads", "kv_heads", "seq_q", "seq_kv", "d"};
    const char *comma = "";
    double value;
    for (int k = 0; k < 6; k++)
        if (run_number(run, keys[k], &value)) {
            fprintf(out, "%s%s %.0f", comma, keys[k], value);
            comma = ", ";
        }
}

typedef struct Quantity {
    const char *name, *key;
} Quantity;

static const Quantity counters[] = {{"warp instructions", "warp_instructions"},
                                    {"tensor-core instructions", "mma_instructions"},
                                    {"barriers", "barriers"},
                                    {"divergent branches", "divergent_branches"},
                                    {"global load requests", "global_load_requests"},
                                    {"global load sectors", "global_load_units"},
                                    {"global load sectors, ideal", "global_load_ideal_units"},
                                    {"global store requests", "global_store_requests"},
                                    {"global store sectors", "global_store_units"},
                                    {"shared load requests", "shared_load_requests"},
                                    {"shared load wavefronts", "shared_load_units"},
                                    {"shared load wavefronts, ideal", "shared_load_ideal_units"},
                                    {"shared store requests", "shared_store_requests"},
                                    {"shared store wavefronts", "shared_store_units"},
                                    {"shared store wavefronts, ideal", "shared_store_ideal_units"},
                                    {NULL, NULL}};
static const Quantity times[] = {{"ms, median", "ms_median"}, {"TFLOP/s", "tflops"}, {NULL, NULL}};

static void put_runs(const char *title, const char *text, const Quantity *quantity,
                     const char *from, const char *to, FILE *out) {
    static const char *const columns[] = {"before", "after", "ratio"};
    if (!from || !to) return;
    fprintf(out, "<h2>%s</h2>\n<p>%s ", title, text);
    put_problem(to, out);
    fputs(".</p>\n", out);
    put_heading("", columns, 3, out);
    for (; quantity->name; quantity++) put_quantity(quantity->name, quantity->key, from, to, out);
    fputs("</table>\n", out);
}

static void put_page(const Options *options, const Module *from, const Module *to, FILE *out) {
    Source runs = source_read(options->runs);
    put_text("<p>Variant ", to->variant, "", out);
    fprintf(out, ", %s and %s, ptxas %s.</p>\n", from->arch, to->arch, to->compiler);
    put_predictions(options->stages, from, to, out);
    put_runs("Times", "Measured on the GPU:", times, find_run(&runs, from->stage, false, false),
             find_run(&runs, to->stage, false, true), out);
    put_runs("Counters", "Counted by the simulator, from the PTX:", counters,
             find_run(&runs, from->stage, true, false), find_run(&runs, to->stage, true, true),
             out);
    put_sass(from, to, out);
    source_free(&runs);
}

bool page_command(const Options *options, Error *error) {
    Module from, to;
    if (!module_open(options->files[0], false, &from, error)) return false;
    const bool opened = module_open(options->files[1], false, &to, error);
    if (opened) {
        put_page(options, &from, &to, stdout);
        module_close(&to);
    }
    module_close(&from);
    return opened;
}
