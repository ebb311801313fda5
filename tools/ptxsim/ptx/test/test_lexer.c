/* Words, numbers and blanks of PTX, each text before a page that nobody may read. Catches: a look
 * beyond the end, a number of another base, a comment that does not end or ends too late, a line
 * that is not counted. */
#include "ptx/lexer.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "test/tap.h"

enum { PAGE = 4096 };

static char *end;

static Lexer lexer_of(const char *text) {
    const size_t length = strlen(text);
    for (size_t i = 0; i < length; i++) end[i - length] = text[i];
    return (Lexer){.at = end - length, .end = end, .line = 1};
}

static void test_numbers(void) {
    static const struct {
        const char *text;
        uint64_t bits;
        int left; /* characters behind it; -1: it is none */
    } numbers[] = {
        {"0", 0, 0},
        {"7", 7, 0},
        {"019", 1, 1},
        {"08", 0, 1},
        {"017", 15, 0},
        {"1234567890", 1234567890, 0},
        {"12a", 12, 1},
        {"0x1F", 31, 0},
        {"0Xab", 171, 0},
        {"0x1g", 1, 1},
        {"0b101", 5, 0},
        {"0B12", 1, 1},
        {"0f3F800000", 0x3f800000, 0},
        {"0F40000000;", 0x40000000, 1},
        {"0d3FF0000000000000", 0x3ff0000000000000, 0},
        {"0D0", 0, 0},
        {"-5", (uint64_t)-5, 0},
        {"- 5", (uint64_t)-5, 0},
        {"-0x10", (uint64_t)-16, 0},
        {"5U", 5, 0},
        {"5U7", 5, 1},
        {"18446744073709551615", UINT64_MAX, 0},
        {"  /**/ 9", 9, 0},
        {"x", 0, -1},
        {"", 0, -1},
        {"-", 0, -1},
        {"0x", 0, -1},
        {"0b2", 0, -1},
        {"-x", 0, -1},
        {".5", 0, -1},
    };
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
        Lexer lexer = lexer_of(numbers[i].text);
        uint64_t bits = 99;
        const bool is = lexer_number(&lexer, &bits);
        ok(numbers[i].left < 0 ? !is
                               : is && bits == numbers[i].bits && end - lexer.at == numbers[i].left,
           "the number in '%s'", numbers[i].text);
    }
}

static void test_reals(void) {
    static const struct {
        const char *text;
        double value;
        int left; /* characters behind it; -1: it is none */
    } reals[] = {
        {"1.5", 1.5, 0},
        {"0.5", 0.5, 0},
        {"1.", 1, 0},
        {"-2.25;", -2.25, 1},
        {"- 08.5", -8.5, 0},
        {"1.5e3", 1500, 0},
        {"1.5E-3,", .0015, 1},
        {"1.5e+2", 150, 0},
        {"1.5e", 1.5, 1},
        {"1.5e-", 1.5, 2},
        {"1.5.5", 1.5, 2},
        {"-0.0", -0.0, 0},
        {"1", 0, -1},
        {"1e5", 0, -1},
        {".5", 0, -1},
        {"-", 0, -1},
        {"x", 0, -1},
        {"", 0, -1},
        {"0f3F.0", 0, -1},
        {"1.0000000000000000000000000000000000000000000000000000000000001", 1, 0},
        {"1.00000000000000000000000000000000000000000000000000000000000001", 1, -1},
    };
    for (size_t i = 0; i < sizeof reals / sizeof *reals; i++) {
        Lexer lexer = lexer_of(reals[i].text);
        uint64_t bits = 99;
        const bool is = lexer_real(&lexer, &bits);
        double value;
        memcpy(&value, &bits, sizeof value);
        const bool same = value == reals[i].value && !signbit(value) == !signbit(reals[i].value);
        const bool stays = bits == 99 && (size_t)(end - lexer.at) == strlen(reals[i].text);
        ok(reals[i].left < 0 ? !is && stays : is && same && end - lexer.at == reals[i].left,
           "the real number in '%s'", reals[i].text);
    }
}

/* The first character that is no blank, 0 at the end, and its line. */
static void peeks(const char *text, char expected, int line) {
    Lexer lexer = lexer_of(text);
    const char got = lexer_peek(&lexer);
    ok(got == expected && lexer.line == line && (expected || lexer.at == end),
       "line %d, first '%c'", line, expected ? expected : '-');
}

static void test_blanks(void) {
    peeks("", 0, 1);
    peeks(" \t\r\f\v", 0, 1);
    peeks("\n\na", 'a', 3);
    peeks("// comment\nb", 'b', 2);
    peeks("// comment", 0, 1);
    peeks("/", '/', 1);
    peeks("/ /", '/', 1);
    peeks("/* a\n * b */ c", 'c', 2);
    peeks("/**/d", 'd', 1);
    peeks("/* never ends *", 0, 1);
    peeks("/*/ e", 0, 1);
    peeks("/* // */f", 'f', 1);
    peeks("// /*\ng", 'g', 2);
    Lexer lexer = lexer_of("one\ntwo");
    lexer_skip_line(&lexer);
    ok(*lexer.at == '\n' && lexer.line == 1, "a line is skipped up to its end");
    lexer_skip_line(&lexer);
    ok(*lexer.at == '\n', "and no further");
    lexer.at++;
    lexer_skip_line(&lexer);
    ok(lexer.at == end, "the last up to the end of the text");
}

static void test_words(void) {
    Lexer lexer = lexer_of(" %r1.x $L_2::b,_");
    Text word = lexer_word(&lexer, "");
    ok(text_is(word, "%r1") && *lexer.at == '.', "a word ends at a dot");
    ok(!lexer_accept(&lexer, ',') && lexer_accept(&lexer, '.') && !lexer_accept(&lexer, '.'),
       "which is there once");
    ok(lexer_word(&lexer, "").length == 1, "a letter");
    word = lexer_word(&lexer, ":");
    ok(text_is(word, "$L_2::b"), "a word with colons");
    ok(lexer_word(&lexer, "").length == 0, "a comma is none");
    ok(lexer_accept(&lexer, ',') && text_is(lexer_word(&lexer, ""), "_"), "a line below is one");
    ok(lexer_word(&lexer, "").length == 0 && !lexer_accept(&lexer, 0) && !lexer_peek(&lexer),
       "and then there is nothing");
    end[-3] = 'a', end[-2] = 0, end[-1] = 'b';
    lexer = (Lexer){.at = end - 3, .end = end, .line = 1};
    ok(lexer_word(&lexer, "").length == 1 && lexer_word(&lexer, ":").length == 0, "a zero is none");
    const Text a = {"abc", 3}, b = {"abd", 3}, c = {"ab", 2}, none = {"", 0};
    ok(text_is(a, "abc") && !text_is(a, "ab") && !text_is(a, "abcd") && !text_is(a, "abd") &&
           text_is(none, "") && !text_is(none, "a") && !text_is(c, "abc"),
       "a text is what it is");
    ok(text_equal(a, (Text){"abcd", 3}) && !text_equal(a, b) && !text_equal(a, c) &&
           !text_equal(c, a) && text_equal(none, none),
       "two are the same or not");
}

int main(void) {
    char *pages = mmap(NULL, 2 * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (pages == MAP_FAILED || mprotect(pages + PAGE, PAGE, PROT_NONE)) return 1;
    end = pages + PAGE;
    test_numbers();
    test_reals();
    test_blanks();
    test_words();
    return done_testing();
}
