/* The annotated source, as text and as HTML. Catches: counts beside the wrong line, a worst line
 * that is not marked, source that breaks the page, a file that cannot be read. */
#include <fcntl.h>
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

static char *written_by(void (*annotate)(const CountsSnapshot *, FILE *)) {
    static char text[1 << 16];
    FILE *file = tmpfile();
    annotate(&sample, file);
    rewind(file);
    text[fread(text, 1, sizeof text - 1, file)] = '\0';
    fclose(file);
    return text;
}

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
    const char *text = written_by(annotate_text);
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

/* The most columns of a line, without colours. */
static int widest(const char *text) {
    int most = 0, columns = 0;
    for (; *text; text++) {
        if (*text == '\033')
            text += strcspn(text, "m");
        else if (*text == '\n')
            columns = 0;
        else if (*text != '\r' && ++columns > most)
            most = columns;
    }
    return most;
}

/* What a terminal of `columns` shows. */
static const char *shown_by_terminal(unsigned short columns) {
    static char text[1 << 16];
    const int master = posix_openpt(O_RDWR | O_NOCTTY);
    const struct winsize size = {.ws_row = 40, .ws_col = columns};
    if (master < 0 || grantpt(master) || unlockpt(master)) return NULL;
    ioctl(master, TIOCSWINSZ, &size);
    FILE *out = fopen(ptsname(master), "w");
    if (fork() == 0) {
        annotate_text(&sample, out);
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
        char text[1 << 12];
        FILE *file = tmpfile();
        annotate_text(&counts, file);
        rewind(file);
        text[fread(text, 1, sizeof text - 1, file)] = '\0';
        fclose(file);
        has(text, cases[i].shown);
    }
}

/* Of four executions, or ten, one is of line 1. */
static void test_heat(void) {
    static const InstructionInfo info[] = {{CLASS_INTEGER, 1, 1, "add.s32"},
                                           {CLASS_INTEGER, 1, 2, "add.s32"}};
    static const char *const shown[2][2] = {{"0.850)\">25.0 %", "0.850)\">75.0 %"},
                                            {"0.400)\">10.0 %", "0.850)\">90.0 %"}};
    for (int i = 0; i < 2; i++) {
        const InstructionCount count[] = {{.executions = 1, .lanes = 32},
                                          {.executions = i ? 9 : 3, .lanes = 32}};
        KernelCounts kernel = sample_kernel;
        kernel.instructions = 2, kernel.info = info, kernel.count = count;
        const CountsSnapshot counts = {1, &kernel, 2, sample_files};
        char text[1 << 14];
        FILE *file = tmpfile();
        annotate_html(&counts, file);
        rewind(file);
        text[fread(text, 1, sizeof text - 1, file)] = '\0';
        fclose(file);
        has(text, shown[i][0]);
        has(text, shown[i][1]);
    }
}

static void test_terminal(void) {
    const char *narrow = shown_by_terminal(100);
    if (!narrow) {
        skip_test("no pseudo-terminal");
        return;
    }
    ok(widest(narrow) <= 100, "a terminal of 100 columns: %d are used", widest(narrow));
    has(narrow, "// a <");
    has(narrow, "\033[");
    ok(widest(shown_by_terminal(80)) > 80, "notes may be wider than 80 columns");
    ok(!strstr(shown_by_terminal(80), "x) {"), "source is not");
}

static void test_html(void) {
    const char *text = written_by(annotate_html);
    has(text, "<!DOCTYPE html>");
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
    test_terminal();
    test_html();
    unlink(path);
    return done_testing();
}
