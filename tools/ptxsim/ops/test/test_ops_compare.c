/* Comparisons, selection and the logic of predicates on edge values. Catches: an unordered
 * comparison taken for an ordered one, a sign, a complement that is combined before it is taken, a
 * negation that is ignored, operands that are swapped. */
#include "test/operands.h"
#include "test/reference.h"

/* How two values relate: exactly one holds. */
typedef enum Relation { LESS = 1, EQUAL = 2, GREATER = 4, UNORDERED = 8 } Relation;

/* The relations for which a comparison is true. */
typedef struct Comparison {
    const char *name;
    int relations;
    const char *types;
} Comparison;

#define INTEGERS "s16 u16 s32 u32 s64 u64"
#define BITS "b16 b32 b64"
#define UNSIGNED "u16 u32 u64"
#define FLOATS "f16 bf16 f32 f64"
static const Comparison comparisons[] = {
    {"eq", EQUAL, INTEGERS " " BITS " " FLOATS},
    {"ne", LESS | GREATER, INTEGERS " " BITS " " FLOATS},
    {"lt", LESS, INTEGERS " " FLOATS},
    {"le", LESS | EQUAL, INTEGERS " " FLOATS},
    {"gt", GREATER, INTEGERS " " FLOATS},
    {"ge", GREATER | EQUAL, INTEGERS " " FLOATS},
    {"lo", LESS, UNSIGNED},
    {"ls", LESS | EQUAL, UNSIGNED},
    {"hi", GREATER, UNSIGNED},
    {"hs", GREATER | EQUAL, UNSIGNED},
    {"equ", EQUAL | UNORDERED, FLOATS},
    {"neu", LESS | GREATER | UNORDERED, FLOATS},
    {"ltu", LESS | UNORDERED, FLOATS},
    {"leu", LESS | EQUAL | UNORDERED, FLOATS},
    {"gtu", GREATER | UNORDERED, FLOATS},
    {"geu", GREATER | EQUAL | UNORDERED, FLOATS},
    {"num", LESS | EQUAL | GREATER, FLOATS},
    {"nan", UNORDERED, FLOATS},
};
enum { COMPARISONS = sizeof comparisons / sizeof *comparisons };

/* ---- The reference --------------------------------------------------------------------------- */

static double floating(const char *type, uint64_t bits) {
    if (strcmp(type, "f64") == 0) return as_double(bits);
    if (strcmp(type, "f32") == 0) return (double)as_float(bits);
    return format_value(strncmp(type, "f16", 3) == 0 ? format_f16 : format_bf16, bits & 0xffff);
}

static Relation relation(const char *type, uint64_t a, uint64_t b) {
    if (strchr(type, 'f')) {
        const double x = floating(type, a), y = floating(type, b);
        return x < y ? LESS : x > y ? GREATER : x == y ? EQUAL : UNORDERED;
    }
    const int unused = 64 - atoi(type + 1);
    a = a << unused, b = b << unused;
    const bool less = type[0] == 's' ? (int64_t)a < (int64_t)b : a < b;
    return a == b ? EQUAL : less ? LESS : GREATER;
}

/* What one trial asks: the comparison, its type, a combination with predicate c. */
typedef struct Question {
    const Comparison *comparison;
    const char *type, *combination;
    bool complement, flush;
    uint64_t yes; /* what set gives */
} Question;

static uint64_t flushed_half(uint64_t x) { return x & 0x7c00 ? x : x & 0x8000; }

static bool compare(const Question *q, uint64_t a, uint64_t b) {
    const bool half = strncmp(q->type, "f16", 3) == 0;
    if (q->flush && half) a = flushed_half(a), b = flushed_half(b);
    if (q->flush && !half)
        a = float_as_bits(flushed(as_float(a))), b = float_as_bits(flushed(as_float(b)));
    return q->comparison->relations & (int)relation(q->type, a, b);
}

static uint64_t reference(const void *what, const uint64_t in[]) {
    const Question *q = what;
    bool holds = compare(q, in[0], in[1]) != q->complement;
    const bool other = strchr(q->combination, '!') ? !in[2] : in[2];
    if (strstr(q->combination, "and")) holds = holds && other;
    if (strstr(q->combination, "xor"))
        holds = holds != other;
    else if (strstr(q->combination, "or"))
        holds = holds || other;
    return holds ? q->yes : 0;
}

/* A pair: the low halves' answer in the low half, the high halves' in the high one. */
static uint64_t reference_pair(const void *what, const uint64_t in[]) {
    const Question *q = what;
    const uint64_t low = compare(q, in[0] & 0xffff, in[1] & 0xffff) ? q->yes : 0;
    return low | (compare(q, in[0] >> 16, in[1] >> 16) ? q->yes << 16 : 0);
}

/* ---- setp and set ---------------------------------------------------------------------------- */

static char size_of(const char *type) {
    return (char)('0' + (strstr(type, "x2") ? 4 : atoi(type + strcspn(type, "0123456789")) / 8));
}

static void ask(const char *text, const char *result, Question q, Reference by) {
    const bool combined = q.combination[0];
    const char sizes[] = {result[0], '=', size_of(q.type), size_of(q.type), combined ? 'p' : 0, 0};
    const Values edges = strstr(q.type, "x2") ? edges_of_pairs(q.type[0] == 'b') : edges_of(q.type);
    try_operands(&(Trial){.text = text,
                          .sizes = sizes,
                          .values = {edges, edges, VALUES(edge_predicates)},
                          .reference = by,
                          .what = &q});
}

static void try_setp(const Comparison *c, const char *type) {
    char text[120];
    snprintf(text, sizeof text, "setp.%s.%s d, a, b", c->name, type);
    ask(text, "p", (Question){c, type, "", false, false, 1}, reference);
}

static void test_setp(void) {
    for (int i = 0; i < COMPARISONS; i++) {
        char types[80], *rest;
        strcpy(types, comparisons[i].types);
        for (char *t = strtok_r(types, " ", &rest); t; t = strtok_r(NULL, " ", &rest))
            try_setp(&comparisons[i], t);
    }
    for (int i = 0; i < COMPARISONS; i++) {
        char text[80];
        if (!strstr(comparisons[i].types, "f32")) continue;
        snprintf(text, sizeof text, "setp.%s.ftz.f32 d, a, b", comparisons[i].name);
        ask(text, "p", (Question){&comparisons[i], "f32", "", false, true, 1}, reference);
        snprintf(text, sizeof text, "setp.%s.ftz.f16 d, a, b", comparisons[i].name);
        ask(text, "p", (Question){&comparisons[i], "f16", "", false, true, 1}, reference);
    }
}

/* The first predicate and its complement, each combined with c. */
static void test_combinations(void) {
    static const char *const names[] = {"and", "or", "xor"};
    for (int n = 0; n < 3; n++)
        for (int negated = 0; negated < 2; negated++) {
            char text[120], combination[8];
            const char *not = negated ? "!" : "";
            snprintf(combination, sizeof combination, "%s%s", names[n], not );
            snprintf(text, sizeof text, "setp.lt.%s.s32 d, a, b, %sc", names[n], not );
            Question q = {&comparisons[2], "s32", combination, false, false, 1};
            ask(text, "p", q, reference);
            snprintf(text, sizeof text, ".reg .pred o; setp.lt.%s.f32 o|d, a, b, %sc", names[n],
                     not );
            q.type = "f32", q.complement = true;
            ask(text, "p", q, reference);
            snprintf(text, sizeof text, "set.lt.%s.u32.u32 d, a, b, %sc", names[n], not );
            ask(text, "4",
                (Question){&comparisons[2], "u32", combination, false, false, UINT32_MAX},
                reference);
        }
}

static void test_set(void) {
    static const struct {
        const char *to, *size;
        uint64_t yes;
    } results[] = {{"u32", "4", UINT32_MAX}, {"s32", "4", UINT32_MAX}, {"f32", "4", 0x3f800000}};
    static const char *const types[] = {"s16", "u16", "b16", "s32", "u32", "b32",
                                        "s64", "u64", "b64", "f32", "f64"};
    for (size_t r = 0; r < sizeof results / sizeof *results; r++)
        for (size_t t = 0; t < sizeof types / sizeof *types; t++) {
            char text[80];
            const Question q = {&comparisons[1], types[t], "", false, false, results[r].yes};
            snprintf(text, sizeof text, "set.ne.%s.%s d, a, b", results[r].to, types[t]);
            ask(text, results[r].size, q, reference);
        }
    for (int i = 0; i < COMPARISONS; i++) {
        const Comparison *c = &comparisons[i];
        char text[80];
        if (!strstr(c->types, "f32")) continue;
        snprintf(text, sizeof text, "set.%s.f16.f16 d, a, b", c->name);
        ask(text, "2", (Question){c, "f16", "", false, false, 0x3c00}, reference);
        snprintf(text, sizeof text, "set.%s.ftz.f16.f16 d, a, b", c->name);
        ask(text, "2", (Question){c, "f16", "", false, true, 0x3c00}, reference);
        snprintf(text, sizeof text, "set.%s.bf16.bf16 d, a, b", c->name);
        ask(text, "2", (Question){c, "bf16", "", false, false, 0x3f80}, reference);
        snprintf(text, sizeof text, "set.%s.ftz.f32.f32 d, a, b", c->name);
        ask(text, "4", (Question){c, "f32", "", false, true, 0x3f800000}, reference);
    }
}

static void test_pairs(void) {
    for (int i = 0; i < COMPARISONS; i++) {
        const Comparison *c = &comparisons[i];
        char text[160];
        if (!strstr(c->types, "f32")) continue;
        snprintf(text, sizeof text, "set.%s.f16x2.f16x2 d, a, b", c->name);
        ask(text, "4", (Question){c, "f16x2", "", false, false, 0x3c00}, reference_pair);
        snprintf(text, sizeof text, "set.%s.bf16x2.bf16x2 d, a, b", c->name);
        ask(text, "4", (Question){c, "bf16x2", "", false, false, 0x3f80}, reference_pair);
        snprintf(text, sizeof text, "set.%s.ftz.f16x2.f16x2 d, a, b", c->name);
        ask(text, "4", (Question){c, "f16x2", "", false, true, 0x3c00}, reference_pair);
        snprintf(text, sizeof text,
                 ".reg .pred o, q; setp.%s.ftz.f16x2 o|q, a, b; selp.b32 d, 0x10000, 0, q; "
                 "@o or.b32 d, d, 1",
                 c->name);
        ask(text, "4", (Question){c, "f16x2", "", false, true, 1}, reference_pair);
        snprintf(text, sizeof text, "set.%s.u32.f16x2 d, a, b", c->name);
        ask(text, "4", (Question){c, "f16x2", "", false, false, 0xffff}, reference_pair);
        snprintf(text, sizeof text,
                 ".reg .pred o, q; setp.%s.bf16x2 o|q, a, b; selp.b32 d, 0x10000, 0, q; "
                 "@o or.b32 d, d, 1",
                 c->name);
        ask(text, "4", (Question){c, "bf16x2", "", false, false, 1}, reference_pair);
    }
}

/* ---- selp, slct ------------------------------------------------------------------------------ */

static uint64_t chosen(const void *what, const uint64_t in[]) {
    return (in[2] != 0) != (what != NULL) ? in[0] : in[1];
}

static uint64_t chosen_by_sign(const void *what, const uint64_t in[]) {
    (void)what;
    return (int32_t)in[2] >= 0 ? in[0] : in[1];
}

static uint64_t chosen_by_float(const void *what, const uint64_t in[]) {
    const float c = as_float(in[2]);
    return (what ? flushed(c) : c) >= 0 ? in[0] : in[1];
}

static void choose(const char *text, const char *sizes, Values by, Reference reference_of,
                   const void *what) {
    const Values edges = VALUES(edge_integers);
    try_operands(&(Trial){.text = text,
                          .sizes = sizes,
                          .values = {edges, edges, by},
                          .reference = reference_of,
                          .what = what});
}

static void test_selection(void) {
    static const char *const types[] = {"b16", "s16", "u16", "b32", "s32", "u32",
                                        "f32", "b64", "s64", "u64", "f64"};
    for (size_t t = 0; t < sizeof types / sizeof *types; t++) {
        const char size = size_of(types[t]);
        char text[80];
        snprintf(text, sizeof text, "selp.%s d, a, b, c", types[t]);
        choose(text, (char[]){size, '=', size, size, 'p', 0}, VALUES(edge_predicates), chosen,
               NULL);
        snprintf(text, sizeof text, "selp.%s d, a, b, !c", types[t]);
        choose(text, (char[]){size, '=', size, size, 'p', 0}, VALUES(edge_predicates), chosen,
               "negated");
        if (size == '2') continue;
        const char *sizes = size == '4' ? "4=444" : "8=884";
        snprintf(text, sizeof text, "slct.%s.s32 d, a, b, c", types[t]);
        choose(text, sizes, VALUES(edge_integers), chosen_by_sign, NULL);
        snprintf(text, sizeof text, "slct.%s.f32 d, a, b, c", types[t]);
        choose(text, sizes, VALUES(edge_f32), chosen_by_float, NULL);
        snprintf(text, sizeof text, "slct.ftz.%s.f32 d, a, b, c", types[t]);
        choose(text, sizes, VALUES(edge_f32), chosen_by_float, "flushed");
    }
}

/* ---- Predicates ------------------------------------------------------------------------------ */

/* Bit 2 a + b of the table is the result. */
static uint64_t by_table(const void *what, const uint64_t in[]) {
    return *(const int *)what >> (2 * in[0] + in[1]) & 1;
}

static void test_predicates(void) {
    static const struct {
        const char *text;
        int table;
    } rows[] = {
        {"and.pred d, a, b", 8},  {"or.pred d, a, b", 14},  {"xor.pred d, a, b", 6},
        {"and.pred d, !a, b", 2}, {"or.pred d, a, !b", 13}, {"xor.pred d, !a, !b", 6},
        {"not.pred d, a", 3},     {"mov.pred d, a", 12},    {"mov.pred d, b", 10},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        try_operands(&(Trial){.text = rows[i].text,
                              .sizes = "p=pp",
                              .values = {VALUES(edge_predicates), VALUES(edge_predicates)},
                              .reference = by_table,
                              .what = &rows[i].table});
}

int main(void) {
    test_setp();
    test_combinations();
    test_set();
    test_pairs();
    test_selection();
    test_predicates();
    return done_testing();
}
