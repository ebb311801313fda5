/* The mistakes. Each operator looks at one token; see mutants.h. */
#include "mutants.h"

#include <stdlib.h>
#include <string.h>

static const char *const assignments[] = {
    "=", "+=", "-=", "*=", "/=", "%=", "&=", "|=", "^=", "++", "--", "<<=", ">>=", NULL};

static bool is_name(const Source *source, int i) { return token_is_kind(source, i, TOKEN_NAME); }

/* ---- Statements -------------------------------------------------------------------------------*/

/* `const int row ...`, `element *next ...` */
static bool is_declaration(const Source *source, int i) {
    static const char *const marks[] = {"*", "&", NULL};
    if (!is_name(source, i)) return false;
    return is_name(source, i + 1) || token_is(source, i + 1, "<") ||
           (token_in(source, i + 1, marks) && !source->token[i + 1].spaced &&
            is_name(source, i + 2));
}

/* `f(...);` or `f<0>(...);` */
static bool is_call(const Source *source, int i, int end) {
    return is_name(source, i) && token_is(source, end - 1, ")") &&
           source->token[end - 1].mate > i && !token_is(source, i, "asm") &&
           (source->token[end - 1].mate == i + 1 ||
            (token_is(source, i + 1, "<") &&
             token_is(source, source->token[end - 1].mate - 1, ">")));
}

static bool has_assignment(const Source *source, int i, int end) {
    for (int j = i; j < end; j++) {
        if (token_in(source, j, assignments)) return true;
        if (source->token[j].mate > j) j = source->token[j].mate;
    }
    return false;
}

static void remove_statement(Mutants *mutants, int i) {
    static const char *const jumps[] = {"return", "continue", "break", NULL};
    const Source *source = mutants->source;
    const int end = statement_end(source, i);
    const char *operation = NULL;
    if (end < 0) return;
    if (is_call(source, i, end))
        operation = mutants->sync[i] ? "remove sync" : "remove call";
    else if (token_is(source, i, "asm"))
        operation = "remove asm";
    else if (token_in(source, i, jumps) && end == i + 1)
        operation = "remove jump";
    else if (!is_declaration(source, i) && has_assignment(source, i, end))
        operation = "remove assignment";
    if (operation) add_mutant(mutants, operation, i, end, ";");
}

/* ---- Conditions -------------------------------------------------------------------------------*/

static void change_comparison(Mutants *mutants, int i) {
    static const char *const changes[][3] = {
        {"<", "<=", ">="}, {"<=", "<", ">"}, {">", ">=", "<="}, {">=", ">", "<"}};
    const Source *source = mutants->source;
    if (token_precedence(source, i) == 0) return;
    for (int c = 0; c < 4; c++)
        if (token_is(source, i, changes[c][0])) {
            add_mutant(mutants, "off by one", i, i, "%s", changes[c][1]);
            add_mutant(mutants, "negate", i, i, "%s", changes[c][2]);
            return;
        }
    if (token_is(source, i, "==")) add_mutant(mutants, "negate", i, i, "!=");
    if (token_is(source, i, "!=")) add_mutant(mutants, "negate", i, i, "==");
}

static void change_condition(Mutants *mutants, int i) {
    const Source *source = mutants->source;
    const int open = i + 1;
    if (token_is(source, i, "!")) add_mutant(mutants, "negate", i, i, " ");
    if (!token_is(source, i, "if") || !token_is(source, open, "(")) return;
    add_mutant(mutants, "always", open, source->token[open].mate, "(true)");
    add_mutant(mutants, "never", open, source->token[open].mate, "(false)");
}

static void change_logic(Mutants *mutants, int i) {
    const Source *source = mutants->source;
    if (token_precedence(source, i) == 0) return;
    if (token_is(source, i, "&&")) add_mutant(mutants, "and or", i, i, "||");
    if (token_is(source, i, "||")) add_mutant(mutants, "and or", i, i, "&&");
}

/* The tokens between ? and : and those behind : change places. */
static void swap_branches(Mutants *mutants, int i) {
    const Source *source = mutants->source;
    if (!token_is(source, i, "?")) return;
    int colon = i + 1;
    for (int nested = 0; colon < source->count; colon++) {
        if (source->token[colon].mate > colon) colon = source->token[colon].mate;
        if (token_is(source, colon, "?")) nested++;
        if (token_is(source, colon, ":") && nested-- == 0) break;
    }
    if (colon + 1 >= source->count) return;
    const int last = operand_last(source, colon);
    if (token_is(source, last + 1, "?") || last == colon) return;
    add_mutant(mutants, "swap branches", i + 1, last, "%.*s%.*s%.*s",
               TOKENS(source, colon + 1, last),
               source->token[colon + 1].begin - source->token[colon - 1].end,
               source->text + source->token[colon - 1].end, TOKENS(source, i + 1, colon - 1));
}

/* ---- Numbers ----------------------------------------------------------------------------------*/

static void change_number(Mutants *mutants, int i) {
    const Source *source = mutants->source;
    if (!token_is_kind(source, i, TOKEN_NUMBER)) return;
    const char *text = source->text + source->token[i].begin;
    const int length = source->token[i].end - source->token[i].begin;
    const bool hexadecimal = length > 1 && text[1] == 'x';
    char *end;
    if (!hexadecimal && (memchr(text, '.', (size_t)length) || text[length - 1] == 'f')) {
        add_mutant(mutants, "constant", i, i, strtod(text, NULL) == 0 ? "1.0f" : "(2 * %.*s)",
                   length, text);
        return;
    }
    const unsigned long long value = strtoull(text, &end, 0);
    const int suffix = (int)(text + length - end);
    for (unsigned long long new = value == 0 ? 1 : value - 1; new <= value + 1; new += 2)
        if (hexadecimal)
            add_mutant(mutants, "constant", i, i, "0x%llx%.*s", new, suffix, end);
        else
            add_mutant(mutants, "constant", i, i, "%llu%.*s", new, suffix, end);
}

/* ---- Arithmetic -------------------------------------------------------------------------------*/

/* `a + b` becomes `a`, and `b` where a is the first of its chain and order does not matter. */
static void drop_term(Mutants *mutants, int i) {
    static const char *const signs[] = {"+", "-", NULL};
    static const char *const ordered[] = {"/", "%", "<<", ">>", NULL};
    static const char *const comparisons[] = {"<", ">", "<=", ">=", "==", "!=", NULL};
    const Source *source = mutants->source;
    const int level = token_precedence(source, i);
    if (level == 0 || token_in(source, i, comparisons)) return;
    const int first = operand_first(source, i), last = operand_last(source, i);
    if (last > i && first < i) {
        add_mutant(mutants, "drop term", first, last, "%.*s", TOKENS(source, first, i - 1));
        if (token_precedence(source, first - 1) != level && !token_in(source, i, ordered))
            add_mutant(mutants, "drop term", first, token_in(source, i, signs) ? i - 1 : i, " ");
    }
}

static void change_sign(Mutants *mutants, int i) {
    static const char *const changes[][2] = {{"+=", "-="}, {"-=", "+="}, {"*=", "/="}};
    const Source *source = mutants->source;
    if (token_precedence(source, i) && token_is(source, i, "+"))
        add_mutant(mutants, "sign", i, i, "-");
    else if (token_precedence(source, i) && token_is(source, i, "-"))
        add_mutant(mutants, "sign", i, i, "+");
    for (int c = 0; c < 3; c++)
        if (token_is(source, i, changes[c][0]))
            add_mutant(mutants, "sign", i, i, "%s", changes[c][1]);
}

/* `n / 2 % 2` becomes `(1 + n / 2) % 2`. */
static void flip_parity(Mutants *mutants, int i) {
    const Source *source = mutants->source;
    if (!token_is(source, i, "%") || !token_precedence(source, i) || !token_is(source, i + 1, "2"))
        return;
    int first = i;
    while (token_precedence(source, first) == token_precedence(source, i))
        first = operand_first(source, first) - 1;
    first++;
    add_mutant(mutants, "flip parity", first, i, "(1 + %.*s) %%", TOKENS(source, first, i - 1));
}

static void swap_min_max(Mutants *mutants, int i) {
    static const char *const pairs[][2] = {{"min", "max"}, {"fminf", "fmaxf"}};
    for (int p = 0; p < 4; p++)
        if (token_is(mutants->source, i, pairs[p / 2][p % 2]))
            add_mutant(mutants, "min max", i, i, "%s", pairs[p / 2][1 - p % 2]);
}

/* ---- Names ------------------------------------------------------------------------------------*/

static bool exists(const Source *source, const char *name) {
    for (int i = 0; i < source->count; i++)
        if (is_name(source, i) && token_is(source, i, name)) return true;
    return false;
}

/* A part of a name between underscores is taken for its twin: sK_at, sV_at. */
static void change_part(Mutants *mutants, int i, const char *from, const char *to) {
    const Source *source = mutants->source;
    const char *text = source->text + source->token[i].begin;
    const int length = source->token[i].end - source->token[i].begin, part = (int)strlen(from);
    for (int at = 0; at + part <= length; at++) {
        char name[128];
        if (strncmp(text + at, from, (size_t)part) != 0 || (at > 0 && text[at - 1] != '_') ||
            (at + part < length && text[at + part] != '_'))
            continue;
        snprintf(name, sizeof name, "%.*s%s%.*s", at, text, to, length - at - part,
                 text + at + part);
        if (exists(source, name)) add_mutant(mutants, "twin", i, i, "%s", name);
    }
}

static void take_twin(Mutants *mutants, int i) {
    static const char *const twins[][2] = {
        {"K", "V"},        {"sK", "sV"},     {"Q", "K"},       {"sQ", "sK"},
        {"row", "col"},    {"rows", "cols"}, {"BR", "BC"},     {"q", "kv"},
        {"m", "l"},        {"x", "y"},       {"tx", "ty"},     {"heads", "kv_heads"},
        {"full", "empty"}, {"low", "high"},  {"warp", "lane"}, {"m", "n"},
        {"p0", "p1"},      {"k", "n"}};
    static const char *const marks[] = {"*", "&", NULL};
    const Source *source = mutants->source;
    if (!is_name(source, i) || is_name(source, i - 1)) return; /* `int row`: a declaration */
    if (token_in(source, i - 1, marks) && !source->token[i - 1].spaced) return;
    for (size_t t = 0; t < sizeof twins / sizeof twins[0]; t++) {
        change_part(mutants, i, twins[t][0], twins[t][1]);
        change_part(mutants, i, twins[t][1], twins[t][0]);
    }
}

/* The comma behind the argument that begins with token i, or the bracket that ends the call. */
static int argument_end(const Source *source, int i, int close) {
    for (; i < close && !token_is(source, i, ","); i++)
        if (source->token[i].mate > i) i = source->token[i].mate;
    return i;
}

/* At an opening bracket: neighbouring arguments of the call change places, if that matters. */
static void swap_arguments(Mutants *mutants, int i) {
    static const char *const others[] = {"min", "max", "fminf", "fmaxf", "volatile", NULL};
    const Source *source = mutants->source;
    const int close = source->token[i].mate;
    if (!token_is(source, i, "(") || close < 0 || token_in(source, i - 1, others)) return;
    if (!is_name(source, i - 1) && !token_is(source, i - 1, ">")) return;
    for (int first = i + 1, comma; first < close; first = comma + 1) {
        comma = argument_end(source, first, close);
        if (comma == close) return;
        const int end = argument_end(source, comma + 1, close);
        add_mutant(mutants, "swap arguments", first, end - 1, "%.*s, %.*s",
                   TOKENS(source, comma + 1, end - 1), TOKENS(source, first, comma - 1));
    }
}

Operator *const operators[] = {remove_statement,
                               change_comparison,
                               change_condition,
                               change_logic,
                               swap_branches,
                               change_number,
                               drop_term,
                               change_sign,
                               flip_parity,
                               swap_min_max,
                               take_twin,
                               swap_arguments,
                               NULL};
