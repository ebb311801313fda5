#include "analysis/expect.h"
#include "analysis/program.h"
#include "analysis/simulated.h"
#include "analysis/source.h"
#include "commands/commands.h"
#include "list.h"

enum { SHOWN_LINES = 8 };

/* How many of a selection's instructions come from a line of the source. */
typedef struct LineCount {
    int line, count;
} LineCount;

/* The line of the kernels' own file that an instruction comes from, or 0. */
static int line_of(const Module *module, const Function *function, const Instruction *at) {
    for (int f = 0; f < at->frames; f++)
        if (strcmp(function->frame[at->frame + f].file, module->source) == 0)
            return function->frame[at->frame + f].line;
    return 0;
}

static int more_first(const void *a, const void *b) {
    const LineCount *x = a, *y = b;
    return x->count != y->count ? (x->count < y->count ? 1 : -1) : x->line - y->line;
}

static LineCount *count_lines(const Selection *selection, const Module *module, int *lines) {
    LineCount *counts = NULL;
    *lines = 0;
    for (int k = 0; k < module->kernels; k++) {
        const Function *function = module->kernel[k].function;
        for (int i = 0; i < function->instructions; i++) {
            if (!selection_has(selection, module, k, i)) continue;
            const int line = line_of(module, function, &function->instruction[i]);
            int at = 0;
            while (at < *lines && counts[at].line != line) at++;
            if (at == *lines) ((LineCount *)LIST_ADD(counts, *lines))->line = line;
            counts[at].count++;
        }
    }
    if (counts) qsort(counts, (size_t)*lines, sizeof *counts, more_first);
    return counts;
}

/* Behind the pattern: what a reader may not know of it. */
static const char *explanation(const char *pattern) {
    return strcmp(pattern, "local") ? ""
                                    : " memory: spills, or an array with a variable index "
                                      "(chapter 05)";
}

static void print_selection(const Selection *selection, const Module *module,
                            const Source *source) {
    int lines;
    LineCount *counts = count_lines(selection, module, &lines);
    printf("#   %d %s%s%s%s%s\n", selection->count,
           selection->region < 0 ? "" : region_name((Region)selection->region),
           selection->region < 0 ? "" : " ", selection->pattern, explanation(selection->pattern),
           lines ? ", from" : "");
    for (int i = 0; i < lines && i < SHOWN_LINES; i++)
        printf("#   %6d  line %d: %s\n", counts[i].count, counts[i].line,
               source_line(source, counts[i].line));
    if (lines > SHOWN_LINES) printf("#           and %d more lines\n", lines - SHOWN_LINES);
    free(counts);
}

static void print_failures(const Signature *signature, const char *path, const Module *module) {
    Source source = source_read(module->source);
    for (int a = 0; a < signature->assertions; a++) {
        const Assertion *assertion = &signature->assertion[a];
        if (assertion->holds) continue;
        printf("# %s:%d: %s\n", path, assertion->line, assertion->text);
        for (int c = 0; c < assertion->comments; c++)
            printf("#   # %s\n", signature->comment[assertion->comment + c]);
        printf("#   expected %s %.10g, found %.10g\n", assertion->relation, assertion->expected,
               assertion->found);
        for (int s = 0; s < assertion->selections; s++)
            print_selection(&assertion->selection[s], module, &source);
    }
    source_free(&source);
}

/* Evaluates the stage's signature on a module, and says what does not hold. *failed: how many
 * assertions. */
static bool check_module(const char *file, const char *stages, int number, int *failed,
                         Error *error) {
    char path[1024], *text;
    Module module;
    Signature signature;
    if (!module_open(file, false, &module, error)) return false;
    snprintf(path, sizeof path, "%s/%s/expect.sass", stages, module.stage);
    const bool read = read_file(path, &text, NULL, error);
    const bool counted = read && (!asks_for_counters(text, module.variant) ||
                                  simulate(file, module.variant, &module.counters, error));
    const bool done = counted && signature_read(text, path, &module, &signature, error);
    if (done) {
        *failed = signature.assertions - signature.holding;
        printf("%sok %d - %s %s %s: %d of %d assertions hold\n", *failed ? "not " : "", number,
               module.stage, module.variant, module.arch, signature.holding, signature.assertions);
        if (*failed) print_failures(&signature, path, &module);
        signature_free(&signature);
    }
    free(text);
    module_close(&module);
    return done;
}

bool check_command(const Options *options, Error *error) {
    int all = 0;
    Error unread = {STATUS_FAIL, ""};
    for (int f = 0; f < options->file_count; f++) {
        const char *file = options->files[f];
        int failed = 0;
        const bool done = check_module(file, options->stages, f + 1, &failed, error);
        if (!done && error->status == STATUS_SKIP) return false;
        if (!done) { /* the others are checked all the same */
            printf("not ok %d - %s\n# %s\n", f + 1, file, error->text);
            unread = *error;
        }
        all += !done || failed > 0;
        fflush(stdout);
    }
    printf("1..%d\n", options->file_count);
    if (*unread.text) *error = unread;
    if (all && !*unread.text)
        error_set(error, STATUS_FAIL, "%d of %d signatures do not hold", all, options->file_count);
    return !all;
}
