#include "ptx/lexer.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

bool text_is(Text text, const char *name) {
    int i = 0;
    while (i < text.length && name[i] == text.at[i]) i++;
    return i == text.length && !name[i];
}

bool text_equal(Text a, Text b) {
    if (a.length != b.length) return false;
    for (int i = 0; i < a.length; i++)
        if (a.at[i] != b.at[i]) return false;
    return true;
}

static bool at_text(const Lexer *lexer, const char *text) {
    size_t length = strlen(text);
    return (size_t)(lexer->end - lexer->at) >= length && memcmp(lexer->at, text, length) == 0;
}

void lexer_skip_line(Lexer *lexer) {
    while (lexer->at < lexer->end && *lexer->at != '\n') lexer->at++;
}

static void skip_block_comment(Lexer *lexer) {
    lexer->at += 2; /* its own star does not end it */
    for (; lexer->at < lexer->end && !at_text(lexer, "*/"); lexer->at++)
        if (*lexer->at == '\n') lexer->line++;
    lexer->at += lexer->at < lexer->end ? 2 : 0;
}

/* Moves over blanks and comments. */
static void skip(Lexer *lexer) {
    while (lexer->at < lexer->end) {
        const bool slash = *lexer->at == '/';
        if (isspace((unsigned char)*lexer->at)) {
            if (*lexer->at++ == '\n') lexer->line++;
        } else if (slash && at_text(lexer, "//")) {
            lexer_skip_line(lexer);
        } else if (slash && at_text(lexer, "/*")) {
            skip_block_comment(lexer);
        } else {
            return;
        }
    }
}

char lexer_peek(Lexer *lexer) {
    skip(lexer);
    return lexer->at < lexer->end ? *lexer->at : 0;
}

bool lexer_accept(Lexer *lexer, char wanted) {
    if (lexer_peek(lexer) != wanted || lexer->at == lexer->end) return false;
    lexer->at++;
    return true;
}

static bool is_word(char c, const char *extra) {
    return c && (isalnum((unsigned char)c) || strchr("_$%", c) || strchr(extra, c));
}

Text lexer_word(Lexer *lexer, const char *extra) {
    skip(lexer);
    const char *start = lexer->at;
    while (lexer->at < lexer->end && is_word(*lexer->at, extra)) lexer->at++;
    return (Text){start, (int)(lexer->at - start)};
}

static int digit_value(char c) {
    if (c >= '0' && c <= '9') return c - '0';
    c = (char)tolower((unsigned char)c);
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : 16;
}

/* Digits of the base at the cursor; false if there is none. */
static bool digits(Lexer *lexer, unsigned base, uint64_t *value) {
    const char *start = lexer->at;
    for (*value = 0; lexer->at < lexer->end; lexer->at++) {
        int digit = digit_value(*lexer->at);
        if (digit >= (int)base) break;
        *value = *value * base + (unsigned)digit;
    }
    return lexer->at > start;
}

static unsigned base_prefix(Lexer *lexer) {
    static const struct {
        const char *prefix;
        unsigned base;
    } prefixes[] = {{"0x", 16}, {"0X", 16}, {"0b", 2},  {"0B", 2},
                    {"0f", 16}, {"0F", 16}, {"0d", 16}, {"0D", 16}};
    for (size_t i = 0; i < sizeof prefixes / sizeof *prefixes; i++) {
        if (!at_text(lexer, prefixes[i].prefix)) continue;
        lexer->at += 2;
        return prefixes[i].base;
    }
    return at_text(lexer, "0") ? 8 : 10;
}

bool lexer_number(Lexer *lexer, uint64_t *bits) {
    bool negative = lexer_accept(lexer, '-');
    skip(lexer);
    if (!digits(lexer, base_prefix(lexer), bits)) return false;
    if (lexer->at < lexer->end && *lexer->at == 'U') lexer->at++;
    if (negative) *bits = 0 - *bits;
    return true;
}

/* Moves over decimal digits; false if there is none. */
static bool decimals(Lexer *lexer) {
    const char *start = lexer->at;
    while (lexer->at < lexer->end && isdigit((unsigned char)*lexer->at)) lexer->at++;
    return lexer->at > start;
}

static bool one_of(Lexer *lexer, const char *wanted) {
    const bool is = lexer->at < lexer->end && *lexer->at && strchr(wanted, *lexer->at);
    lexer->at += is;
    return is;
}

/* Moves over e-3 and its like. */
static void exponent(Lexer *lexer) {
    Lexer ahead = *lexer;
    if (!one_of(&ahead, "eE")) return;
    one_of(&ahead, "+-");
    if (decimals(&ahead)) *lexer = ahead;
}

bool lexer_real(Lexer *lexer, uint64_t *bits) {
    Lexer ahead = *lexer;
    char text[64] = ""; /* the lexer's has no end */
    const bool negative = lexer_accept(&ahead, '-');
    skip(&ahead);
    const char *start = ahead.at;
    if (!decimals(&ahead) || !one_of(&ahead, ".")) return false;
    decimals(&ahead);
    exponent(&ahead);
    const size_t length = (size_t)(ahead.at - start);
    if (length >= sizeof text) return false;
    memcpy(text, start, length);
    const double value = negative ? -strtod(text, NULL) : strtod(text, NULL);
    memcpy(bits, &value, sizeof value);
    *lexer = ahead;
    return true;
}
