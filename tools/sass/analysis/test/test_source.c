/* Catches: a line that is taken for its neighbour, the last one lost, a line beyond the ends,
 * blanks that stay, a file that is not there and ends the program. */
#include "analysis/source.h"
#include "list.h"
#include "test/tap.h"

#include <malloc.h>

#if !__GLIBC_PREREQ(2, 33)
#define mallinfo2 mallinfo /* its numbers are ints */
#endif

static Source cut(const char *text) {
    char *copy = list_zeroed(strlen(text) + 1, 1);
    strcpy(copy, text);
    return source_cut(copy);
}

/* Bytes that malloc has given away. */
static size_t in_use(void) {
    const struct mallinfo2 info = mallinfo2();
    return info.uordblks + info.hblkhd;
}

static void test_free(void) {
    enum { LINES = 100000 };
    const size_t before = in_use();
    char *text = list_zeroed(LINES + 1, 1);
    memset(text, '\n', LINES);
    Source source = source_cut(text);
    is_int(source.lines, LINES + 1, "many lines");
    source_free(&source);
    ok(in_use() < before + LINES / 2, "and their memory is given back");
}

int main(void) {
    test_free();
    Source source = cut("one\n \t two \n\nfour");
    is_int(source.lines, 4, "four lines");
    is_text(source_line(&source, 1), "one", "the first");
    is_text(source_line(&source, 2), "two ", "the second, without the blanks before it");
    is_text(source_line(&source, 3), "", "an empty one");
    is_text(source_line(&source, 4), "four", "the last");
    is_text(source_line(&source, 0), "", "none before the first");
    is_text(source_line(&source, 5), "", "nor behind the last");
    source_free(&source);
    ok(!source.text && !source.line && !source.lines, "nothing is left");
    source = cut("\r\none\rtwo\r\n");
    is_text(source_line(&source, 1), "", "a line's end may have two characters");
    is_text(source_line(&source, 2), "one\rtwo", "of which the first alone ends none");
    source_free(&source);
    source = cut("");
    is_int(source.lines, 1, "a text of nothing is one line");
    source_free(&source);
    source = source_cut(NULL);
    is_int(source.lines, 0, "no text is none");
    source_free(&source);
    source = source_read("tools/sass/analysis/source.h");
    is_text(source_line(&source, 2), "#ifndef SASS_SOURCE_H", "a file");
    source_free(&source);
    source = source_read("tools/none");
    is_int(source.lines, 0, "no file");
    source_free(&source);
    is_text(file_name("a/b/c.cu"), "c.cu", "the name of a file");
    is_text(file_name("c.cu"), "c.cu", "in no folder");
    return done_testing();
}
