/* The annotated source, as text and as HTML. Catches: counts beside the wrong line, a worst line
 * that is not marked, source that breaks the page, a file that cannot be read. */
#include <stdlib.h>
#include <unistd.h>

#include "../annotate.h"
#include "../lines.h"
#include "sample_counts.h"
#include "tap.h"

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
    has(text,
        "^^^^  2,800 sectors beyond the ideal: 32.00 a request, packed bytes would need 4.00");
    has(text, "^^^^  350 wavefronts lost to bank conflicts: 8.00 a request, the ideal is 1.00");
    has(text, "2 branches diverged here");
    has(text, "/nonexistent/helpers.h");
    has(text, "(source not readable)");
    has_not(text, "line 19");
    has_not(text, "\033[");
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
    test_lines();
    test_text();
    test_html();
    unlink(path);
    return done_testing();
}
