/* The annotated source, as text and as HTML. Catches: counts beside the wrong line, a worst line
 * that is not marked, source that breaks the page, a file that cannot be read. */
#include <fcntl.h>
#include <stdarg.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "report/annotate.h"
#include "report/lines.h"
#include "report/test/sample_counts.h"
#include "test/allocator.h"
#include "test/tap.h"

static const char source[] = "// line 1\n"
                             "__global__ void k(const float *x) { // a < b && \"c\"\n"
                             "    float v = x[i];\n"
                             "    s[t] = v;\n"
                             "    __syncthreads();\n"
                             "    mma(s[u]);\n"
                             "    cp_async(s, x);\n"
                             "    if (t < 5) return;\n"
                             "    y[i] = v;\n"
                             "}\n"
                             "\n\n\n\n\n\n\n\n"
                             "// line 19, far from everything\n";

static char *written_by(void (*annotate)(const CountsSnapshot *, FILE *),
                        const CountsSnapshot *counts) {
    static char text[1 << 16];
    FILE *file = tmpfile();
    annotate(counts, file);
    rewind(file);
    text[fread(text, 1, sizeof text - 1, file)] = '\0';
    fclose(file);
    return text;
}

static void page(const CountsSnapshot *counts, FILE *out) { annotate_html(counts, "a < b", out); }
static void json(const CountsSnapshot *counts, FILE *out) { annotate_json(counts, "07_x", out); }

static void has(const char *text, const char *part) {
    if (!ok(strstr(text, part) != NULL, "has \"%s\"", part)) printf("# %s\n", text);
}

static void has_not(const char *text, const char *part) {
    if (!ok(strstr(text, part) == NULL, "does not have \"%s\"", part)) printf("# %s\n", text);
}

/* All memory of the lines is given back, also where an allocation is refused. */
static void test_memory(void) {
#if ALLOCATOR_COUNTS
    enum { SOME = 6 };
    for (size_t file = 0; file < 2; file++) {
        const long before = atomic_load(&held);
        bool kept = false;
        for (long which = -1; which < SOME; which++) {
            SourceLines lines;
            refuse(which);
            const bool opened = source_lines_open(&sample, file, &lines);
            refuse(-1);
            if (opened) source_lines_close(&lines);
            kept |= atomic_load(&held) != before;
        }
        ok(!kept, "the memory of a file's lines is given back");
    }
#endif
}

static void test_lines(void) {
    SourceLines lines;
    ok(source_lines_open(&sample, 0, &lines), "lines of a readable file");
    is_int((long long)lines.lines, 19, "19 of them");
    is_text(lines.text[4], "    s[t] = v;", "line 4");
    is_int((long long)lines.counts[3].executions, 1000100, "two instructions of line 3");
    is_int((long long)lines.counts[7].shared.requests, 20, "cp.async writes shared memory");
    is_int((long long)lines.counts[7].global.requests, 15, "and reads global memory");
    ok(lines.counts[3].marks == (LINE_BUSY | LINE_SCATTERED), "line 3 is busiest and scattered");
    ok(lines.counts[6].marks & LINE_CONFLICTS, "line 6 has bank conflicts");
    ok(lines.counts[8].marks == 0 && lines.counts[9].marks == 0, "lines 8 and 9 are not marked");
    ok(source_line_shown(&lines, 15) && !source_line_shown(&lines, 16), "six lines of context");
    source_lines_close(&lines);
    ok(source_lines_open(&sample, 1, &lines), "lines of a file that is not there");
    ok(lines.text == NULL && lines.lines == 2 && source_line_shown(&lines, 2) &&
           !source_line_shown(&lines, 1),
       "only those counted");
    is_int((long long)lines.counts[2].shared.units, 20, "ldmatrix counts as shared memory");
    source_lines_close(&lines);
}

static void test_text(void) {
    const char *text = written_by(annotate_text, &sample);
    has(text, "PTX-level");
    has(text, "32.00 (4.00)");
    has(text, ">   3      float v = x[i];");
    has(text, "^ 2,800 sectors beyond the ideal: 32.00 per request, packed bytes would need 4.00");
    has(text, "^ 350 wavefronts lost to bank conflicts: 8.00 per request, the ideal is 1.00");
    has(text, "2 branches diverged here");
    has(text, "/nonexistent/helpers.h");
    has(text, "(source not readable)");
    has_not(text, "line 19");
    has_not(text, "\033[");
}

/* What a terminal of `columns` shows. */
static const char *shown_by_terminal(const CountsSnapshot *counts, unsigned short columns) {
    static char text[1 << 16];
    const int master = posix_openpt(O_RDWR | O_NOCTTY);
    const struct winsize size = {.ws_row = 40, .ws_col = columns};
    if (master < 0 || grantpt(master) || unlockpt(master)) return NULL;
    ioctl(master, TIOCSWINSZ, &size);
    FILE *out = fopen(ptsname(master), "w");
    if (fork() == 0) {
        annotate_text(counts, out);
        fclose(out);
        _exit(0);
    }
    fclose(out);
    size_t used = 0;
    for (ssize_t got; (got = read(master, text + used, sizeof text - 1 - used)) > 0;)
        used += (size_t)got;
    text[used] = '\0';
    wait(NULL);
    close(master);
    return text;
}

/* 25 executions of 32 lanes: a share is shown if it does not round to all of them. */
static void test_active(void) {
    static const struct {
        uint64_t lanes;
        const char *shown;
    } cases[] = {{800, "         25     "}, {796, "         25     "}, {795, "         25  99%"}};
    for (int i = 0; i < 3; i++) {
        const InstructionInfo info = {CLASS_INTEGER, 1, 2, "add.s32"};
        const InstructionCount count = {.executions = 25, .lanes = cases[i].lanes};
        KernelCounts kernel = sample_kernel;
        kernel.instructions = 1, kernel.info = &info, kernel.count = &count;
        const CountsSnapshot counts = {1, &kernel, 2, sample_files};
        has(written_by(annotate_text, &counts), cases[i].shown);
    }
}

/* Of four executions, ten or five, one is of line 1. */
static void test_heat(void) {
    static const InstructionInfo info[] = {{CLASS_INTEGER, 1, 1, "add.s32"},
                                           {CLASS_INTEGER, 1, 2, "add.s32"}};
    static const uint64_t others[] = {3, 9, 4};
    static const char *const shown[3][2] = {{"0.850)\">25.0 %", "0.850)\">75.0 %"},
                                            {"0.400)\">10.0 %", "0.850)\">90.0 %"},
                                            {"0.800)\">20.0 %", "0.850)\">80.0 %"}};
    for (int i = 0; i < 3; i++) {
        const InstructionCount count[] = {{.executions = 1, .lanes = 32},
                                          {.executions = others[i], .lanes = 32}};
        KernelCounts kernel = sample_kernel;
        kernel.instructions = 2, kernel.info = info, kernel.count = count;
        const CountsSnapshot counts = {1, &kernel, 2, sample_files};
        const char *text = written_by(page, &counts);
        has(text, shown[i][0]);
        has(text, shown[i][1]);
    }
}

/* ---- A text, whole --------------------------------------------------------------------------- */

/* Of 200 executions, those of three lines are many; line 24 is far from all others. */
static const InstructionInfo whole_info[] = {
    {CLASS_GLOBAL_LOAD, 0, 1, ""}, {CLASS_INTEGER, 0, 3, ""},   {CLASS_SHARED_LOAD, 0, 4, ""},
    {CLASS_BRANCH, 0, 5, ""},      {CLASS_CP_ASYNC, 0, 24, ""}, {CLASS_INTEGER, 1, 3, ""},
    {CLASS_INTEGER, 1, 19, ""}};
static const InstructionCount whole_count[] = {
    {.executions = 96, .lanes = 3072, .requests = 10, .units = 40, .ideal_units = 10},
    {.executions = 50, .lanes = 800},
    {.executions = 30, .lanes = 960, .requests = 30, .units = 45, .ideal_units = 45},
    {.executions = 20, .lanes = 640, .divergent = 3},
    {4, 128, 0, 2, 4, 4, 8, 6},
    {0},
    {0}};
static const KernelCounts whole_kernel = {
    .name = "k", .instructions = 7, .info = whole_info, .count = whole_count};
enum { WHOLE_LINES = 30 };

static void add(char *text, const char *format, ...) __attribute__((format(printf, 2, 3)));
static void add(char *text, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    vsprintf(text + strlen(text), format, arguments);
    va_end(arguments);
}

/* The text about a file at `path`, of whose lines so many columns are shown. */
static const char *whole_text(const char *path, bool colours, int columns) {
    static char text[1 << 14];
    const char *busy = colours ? "\033[1;33m" : "", *note = colours ? "\033[31m" : "",
               *dim = colours ? "\033[2m" : "", *off = colours ? "\033[0m" : "";
    text[0] = '\0';
    add(text,
        "Counters by source line, PTX-level (ptxas later merges and removes some instructions).\n"
        "Sectors and wavefronts are per request; brackets hold the ideal if it is less. Active\n"
        "lanes appear if some are idle, as one that does not take a branch is. > marks the\n"
        "busiest lines, ^ explains the worst.\n\n"
        "%s\n share warp instr. active      sectors   wavefronts   line\n",
        path);
    add(text, "%s 48.0%%           96       4.00 (1.00)              >   1  %.*s%s\n", busy,
        columns, "abcdefghijklmnopqrstuvwxyz", off);
    add(text,
        "%s       ^ 30 sectors beyond the ideal: 4.00 per request, packed bytes would need "
        "1.00%s\n",
        note, off);
    add(text, "%s                                                       2  %s\n", dim, off);
    add(text, "%s 25.0%%           50  50%%                           >   3  three%s\n", busy, off);
    add(text, "%s 15.0%%           30                           1.50 >   4  four%s\n", busy, off);
    add(text, " 10.0%%           20                                    5  five\n");
    add(text, "%s       ^ 3 branches diverged here%s\n", note, off);
    for (int n = 6; n <= WHOLE_LINES; n++) {
        if (n == 12) add(text, "                                                     ...\n");
        if (n >= 12 && n < 18) continue;
        if (n == 24)
            add(text, "  2.0%%            4              2.00  2.00 (1.50)    24  \n");
        else
            add(text, "%s                                                     %3d  %s%s\n", dim, n,
                n == WHOLE_LINES ? "end" : "", off);
        if (n == 24)
            add(text,
                "%s       ^ 2 wavefronts lost to bank conflicts: 2.00 per request, the ideal is "
                "1.50%s\n",
                note, off);
    }
    add(text, "\n");
    return text;
}

/* An end of a line is a return and a new line to a terminal. */
static const char *without_returns(const char *text) {
    static char plain[1 << 16];
    char *out = plain;
    for (; *text; text++)
        if (*text != '\r') *out++ = *text;
    *out = '\0';
    return plain;
}

static void test_whole(void) {
    static const struct {
        unsigned short columns;
        int shown;
        const char *name;
    } cases[] = {{80, 22, "a terminal of 80 columns"},
                 {79, 22, "a narrower one, which wraps lines"},
                 {81, 23, "a wider one"},
                 {84, 26, "one as wide as the source"},
                 {0, 26, "one that does not say how wide it is"}};
    char path[] = "/tmp/test_annotate_XXXXXX";
    const char *files[] = {path, "/nonexistent/helpers.h"};
    const CountsSnapshot counts = {1, &whole_kernel, 1, files};
    FILE *file = fdopen(mkstemp(path), "w");
    fputs("abcdefghijklmnopqrstuvwxyz\n\nthree\nfour\nfive\n", file);
    for (int n = 6; n < WHOLE_LINES; n++) fputc('\n', file);
    fputs("end\n", file);
    fclose(file);
    is_text(written_by(annotate_text, &counts), whole_text(path, false, 26), "no terminal");
    if (!shown_by_terminal(&counts, 80))
        skip_test("no pseudo-terminal");
    else
        for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
            is_text(without_returns(shown_by_terminal(&counts, cases[i].columns)),
                    whole_text(path, true, cases[i].shown), cases[i].name);
    setenv("NO_COLOR", "1", 1);
    if (shown_by_terminal(&counts, 80))
        is_text(without_returns(shown_by_terminal(&counts, 80)), whole_text(path, false, 22),
                "one without colours");
    unsetenv("NO_COLOR");
    unlink(path);
}

/* Lines 3 and 19 of a file that cannot be read, and nothing between them. */
static void test_gaps(void) {
    static const InstructionCount count[] = {{.executions = 1, .lanes = 32},
                                             {.executions = 3, .lanes = 96}};
    const KernelCounts kernel = {
        .name = "k", .instructions = 2, .info = &whole_info[5], .count = count};
    const CountsSnapshot counts = {1, &kernel, 2, sample_files};
    const char *text = strstr(written_by(annotate_text, &counts), "/nonexistent");
    is_text(text ? text : "",
            "/nonexistent/helpers.h\n"
            " share warp instr. active      sectors   wavefronts   line\n"
            " 25.0%            1                                >   3  (source not readable)\n"
            " 75.0%            3                                >  19  (source not readable)\n\n",
            "a text of two lines that cannot be read");
    text = strstr(written_by(page, &counts), "<tbody>");
    is_text(text ? text : "",
            "<tbody>\n<tr class=\"busy\"><td style=\"background-color: rgba(var(--heat), 0.850)\">"
            "25.0 %</td><td>1</td><td>100 %</td><td></td><td></td><td class=\"number\">3</td>"
            "<td class=\"source\">(source not readable)</td></tr>\n"
            "<tr class=\"busy\"><td style=\"background-color: rgba(var(--heat), 0.850)\">"
            "75.0 %</td><td>3</td><td>100 %</td><td></td><td></td><td class=\"number\">19</td>"
            "<td class=\"source\">(source not readable)</td></tr>\n"
            "</tbody></table></div>\n</body></html>\n",
            "and a page of them");
    is_text(written_by(json, &counts),
            "{\"name\":\"07_x\",\"file\":\"/nonexistent/helpers.h\",\"line\":3,\"text\":null,"
            "\"warp_instructions\":1,\"lane_instructions\":32,\"divergent_branches\":0,"
            "\"global_requests\":0,\"global_units\":0,\"global_ideal_units\":0,"
            "\"shared_requests\":0,\"shared_units\":0,\"shared_ideal_units\":0}\n"
            "{\"name\":\"07_x\",\"file\":\"/nonexistent/helpers.h\",\"line\":19,\"text\":null,"
            "\"warp_instructions\":3,\"lane_instructions\":96,\"divergent_branches\":0,"
            "\"global_requests\":0,\"global_units\":0,\"global_ideal_units\":0,"
            "\"shared_requests\":0,\"shared_units\":0,\"shared_ideal_units\":0}\n",
            "and their objects");
}

static void test_html(void) {
    const char *text = written_by(page, &sample);
    has(text, "<!DOCTYPE html>");
    has(text, "<title>a &lt; b</title>");
    has(text, "<h1>a &lt; b</h1>");
    has(text, "PTX-level");
    has(text, "// a &lt; b &amp;&amp; &quot;c&quot;");
    has(text, "<tr class=\"busy\">");
    has(text, "350 wavefronts lost to bank conflicts");
    has(text, "<td class=\"over\">32.00 <span class=\"ideal\">/ 4.00</span></td>");
    has(text, "</body></html>");
    has_not(text, "<script");
    has_not(text, "http");
    has_not(text, "src=");
}

int main(void) {
    char path[] = "/tmp/test_annotate_XXXXXX";
    int descriptor = mkstemp(path);
    if (descriptor < 0 || write(descriptor, source, sizeof source - 1) != sizeof source - 1)
        return 1;
    close(descriptor);
    sample_files[0] = path;
    test_memory();
    test_lines();
    test_text();
    test_active();
    test_heat();
    test_whole();
    test_gaps();
    test_html();
    unlink(path);
    return done_testing();
}
