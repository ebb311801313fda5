/* setp, set, selp, slct and the logic of predicates. PTX ISA, "Comparison and Selection
 * Instructions". */
#include "decode/decode.h"
#include "machine/lanes.h"
#include "ops/numeric.h"

/* ---- Comparisons ----------------------------------------------------------------------------- */

typedef enum Comparison {
    COMPARE_EQ,
    COMPARE_NE,
    COMPARE_LT,
    COMPARE_LE,
    COMPARE_GT,
    COMPARE_GE,
    COMPARE_EQU, /* the unordered ones are true for a NaN */
    COMPARE_NEU,
    COMPARE_LTU,
    COMPARE_LEU,
    COMPARE_GTU,
    COMPARE_GEU,
    COMPARE_NUM, /* neither operand is a NaN */
    COMPARE_NAN,
} Comparison;

static const char *const comparison_names[] = {"eq",  "ne",  "lt",  "le",  "gt",
                                               "ge",  "equ", "neu", "ltu", "leu",
                                               "gtu", "geu", "num", "nan", NULL};

/* The bits of the lanes for which `relation` holds. The loop over bytes vectorises, and the bytes'
 * lowest bits are gathered by a multiplication, eight at a time. */
#define GATHER(relation)                                                    \
    {                                                                       \
        uint8_t holds[LANES];                                               \
        VECTORISE                                                           \
        for (unsigned l = 0; l < LANES; l++) holds[l] = (relation) ? 1 : 0; \
        return gather_bits(holds);                                          \
    }

static inline uint32_t gather_bits(const uint8_t holds[LANES]) {
    uint32_t bits = 0;
    for (unsigned i = 0; i < LANES; i += 8) {
        uint64_t eight;
        memcpy(&eight, holds + i, sizeof eight);
        bits |= (uint32_t)(eight * 0x0102040810204080 >> 56) << i;
    }
    return bits;
}

/* The last two are never asked of integers. a == a is false for a NaN. */
#define COMPARE(name, T)                                                       \
    static uint32_t name(const void *left, const void *right, unsigned what) { \
        const T *a = left, *b = right;                                         \
        switch (what) {                                                        \
        case COMPARE_EQ:                                                       \
            GATHER(a[l] == b[l])                                               \
        case COMPARE_NE:                                                       \
            GATHER((a[l] < b[l]) | (a[l] > b[l]))                              \
        case COMPARE_LT:                                                       \
            GATHER(a[l] < b[l])                                                \
        case COMPARE_LE:                                                       \
            GATHER(a[l] <= b[l])                                               \
        case COMPARE_GT:                                                       \
            GATHER(a[l] > b[l])                                                \
        case COMPARE_GE:                                                       \
            GATHER(a[l] >= b[l])                                               \
        case COMPARE_EQU:                                                      \
            GATHER(!((a[l] < b[l]) | (a[l] > b[l])))                           \
        case COMPARE_NEU:                                                      \
            GATHER(!(a[l] == b[l]))                                            \
        case COMPARE_LTU:                                                      \
            GATHER(!(a[l] >= b[l]))                                            \
        case COMPARE_LEU:                                                      \
            GATHER(!(a[l] > b[l]))                                             \
        case COMPARE_GTU:                                                      \
            GATHER(!(a[l] <= b[l]))                                            \
        case COMPARE_GEU:                                                      \
            GATHER(!(a[l] < b[l]))                                             \
        case COMPARE_NUM:                                                      \
            GATHER((a[l] == a[l]) & (b[l] == b[l]))                            \
        default:                                                               \
            GATHER((a[l] != a[l]) | (b[l] != b[l]))                            \
        }                                                                      \
    }
COMPARE(compare_u16, u16)
COMPARE(compare_s16, s16)
COMPARE(compare_u32, u32)
COMPARE(compare_s32, s32)
COMPARE(compare_u64, u64)
COMPARE(compare_s64, s64)
COMPARE(compare_f32, f32)
COMPARE(compare_f64, f64)

static uint32_t compare_halves(const void *left, const void *right, unsigned what, bool bf16) {
    const u16 *a = left, *b = right;
    float x[LANES], y[LANES];
    for (unsigned l = 0; l < LANES; l++) {
        x[l] = bf16 ? bf16_to_float(a[l]) : half_to_float(a[l]);
        y[l] = bf16 ? bf16_to_float(b[l]) : half_to_float(b[l]);
    }
    return compare_f32(x, y, what);
}

static void flush_halves(const u16 *half, uint16_t flushed[LANES]) {
    for (unsigned l = 0; l < LANES; l++)
        flushed[l] = half[l] & (half[l] & 0x7c00 ? 0xffff : 0x8000);
}

static uint32_t compare_f16(const void *left, const void *right, unsigned what) {
    return compare_halves(left, right, what, false);
}

static uint32_t compare_bf16(const void *left, const void *right, unsigned what) {
    return compare_halves(left, right, what, true);
}

static uint32_t compare_f16_ftz(const void *left, const void *right, unsigned what) {
    uint16_t x[LANES], y[LANES];
    flush_halves(left, x);
    flush_halves(right, y);
    return compare_halves(x, y, what, false);
}

static uint32_t compare_f32_ftz(const void *left, const void *right, unsigned what) {
    const f32 *a = left, *b = right;
    float x[LANES], y[LANES];
    for (unsigned l = 0; l < LANES; l++) x[l] = flush(a[l]), y[l] = flush(b[l]);
    return compare_f32(x, y, what);
}

static const struct {
    const char *type;
    Compare compare;
} comparisons[] = {
    {"u16", compare_u16},   {"b16", compare_u16}, {"s16", compare_s16}, {"u32", compare_u32},
    {"b32", compare_u32},   {"s32", compare_s32}, {"u64", compare_u64}, {"b64", compare_u64},
    {"s64", compare_s64},   {"f32", compare_f32}, {"f64", compare_f64}, {"f16", compare_f16},
    {"bf16", compare_bf16},
};

/* The result of the comparison and its complement, each combined with a predicate if there is
 * one. */
typedef enum Combination { COMBINE_NOT, COMBINE_AND, COMBINE_OR, COMBINE_XOR } Combination;

static uint32_t combine(const Warp *warp, const Op *op, int32_t other, uint32_t bits) {
    uint32_t with = other < 0 ? 0 : predicate(warp, other);
    if (op->negated) with = ~with;
    switch ((Combination)op->combination) {
    case COMBINE_AND:
        return bits & with;
    case COMBINE_OR:
        return bits | with;
    case COMBINE_XOR:
        return bits ^ with;
    default:
        return bits;
    }
}

static uint32_t compare(Warp *warp, const Op *op, int first) {
    return op->compare(REG(u8, first), REG(u8, first + 1), op->mode);
}

/* operands: p, q or -1, a, b, c or -1 */
static void run_setp(Warp *warp, const Op *op) {
    const uint32_t bits = compare(warp, op, 2);
    const uint32_t q = combine(warp, op, op->r[4], ~bits);
    set_predicate(warp, op->r[0], combine(warp, op, op->r[4], bits));
    if (op->r[1] >= 0) set_predicate(warp, op->r[1], q);
}

/* set: all ones, or 1.0 in the type of the result; operands: d, a, b, c or -1 */
static void run_set(Warp *warp, const Op *op) {
    const uint32_t bits = combine(warp, op, op->r[3], compare(warp, op, 1));
    const uint32_t yes = (uint32_t)op->number;
    if (op->width == 2)
        EACH(u16, (uint16_t)(bits >> l & 1 ? yes : 0));
    else
        EACH(u32, bits >> l & 1 ? yes : 0);
}

/* The comparisons of the low halves of operands `first` and the next, and of the high ones. */
static void compare_pairs(const Warp *warp, const Op *op, int first, uint32_t bits[2]) {
    const u32 *a = REG(u32, first), *b = REG(u32, first + 1);
    uint16_t x[LANES], y[LANES];
    for (unsigned h = 0; h < 2; h++) {
        for (unsigned l = 0; l < LANES; l++) {
            x[l] = (uint16_t)(a[l] >> 16 * h);
            y[l] = (uint16_t)(b[l] >> 16 * h);
        }
        bits[h] =
            op->flush ? compare_f16_ftz(x, y, op->mode) : compare_halves(x, y, op->mode, op->bf16);
    }
}

/* A pair of halves: each half is compared and set by itself. */
static void run_set_pair(Warp *warp, const Op *op) {
    uint32_t bits[2];
    compare_pairs(warp, op, 1, bits);
    const uint32_t yes = (uint32_t)op->number;
    EACH(u32, (bits[0] >> l & 1 ? yes : 0) | (bits[1] >> l & 1 ? yes : 0) << 16);
}

/* setp.f16x2 p|q: p is the comparison of the low halves, q that of the high ones. */
static void run_setp_pair(Warp *warp, const Op *op) {
    uint32_t bits[2];
    compare_pairs(warp, op, 2, bits);
    for (int h = 0; h < 2; h++) set_predicate(warp, op->r[h], bits[h]);
}

/* ---- Selection ------------------------------------------------------------------------------- */

#define SELECT(name, T)                              \
    static void name(Warp *warp, const Op *op) {     \
        const T *a = REG(T, 1), *b = REG(T, 2);      \
        uint32_t choice = predicate(warp, op->r[3]); \
        if (op->negated) choice = ~choice;           \
        EACH(T, choice >> l & 1 ? a[l] : b[l]);      \
    }
SELECT(select_16, u16)
SELECT(select_32, u32)
SELECT(select_64, u64)

/* slct d, a, b, c: a if c >= 0, else b; a NaN gives b. Operand 3 is 32 bits wide. */
#define SLCT(name, T, C, value)                  \
    static void name(Warp *warp, const Op *op) { \
        const T *a = REG(T, 1), *b = REG(T, 2);  \
        const C *c = REG(C, 3);                  \
        EACH(T, (value) >= 0 ? a[l] : b[l]);     \
    }
SLCT(slct_32_s32, u32, s32, c[l])
SLCT(slct_64_s32, u64, s32, c[l])
SLCT(slct_32_f32, u32, f32, op->flush ? flush(c[l]) : c[l])
SLCT(slct_64_f32, u64, f32, op->flush ? flush(c[l]) : c[l])

/* ---- Logic of predicates --------------------------------------------------------------------- */

static void run_predicate_logic(Warp *warp, const Op *op) {
    uint32_t a = predicate(warp, op->r[1]), b = op->operands > 2 ? predicate(warp, op->r[2]) : 0;
    if (op->negated) a = ~a;
    if (op->second_negated) b = ~b;
    const uint32_t results[] = {a & b, a | b, a ^ b, ~a, a};
    set_predicate(warp, op->r[0], results[op->mode]);
}

/* ---- Decoding -------------------------------------------------------------------------------- */

static int take_comparison(Decoder *d) {
    static const char *const unsigned_names[] = {"lo", "ls", "hi", "hs", NULL};
    static const Comparison unsigned_means[] = {COMPARE_LT, COMPARE_LE, COMPARE_GT, COMPARE_GE};
    const int which = take_one(d, comparison_names);
    if (which >= 0) return which;
    const int other = take_one(d, unsigned_names);
    return other < 0 ? -1 : (int)unsigned_means[other];
}

/* The comparison, its type and the combination with a predicate. */
static bool decode_comparison(Decoder *d, Type *type) {
    static const char *const combinations[] = {"and", "or", "xor", NULL};
    const Text name = take_last(d);
    const int what = take_comparison(d);
    if (what < 0 || !type_of(name, type)) return false;
    d->op->mode = (uint8_t)what;
    d->op->combination = (uint8_t)(take_one(d, combinations) + 1);
    d->op->bf16 = type->kind == 'g';
    for (size_t i = 0; i < sizeof comparisons / sizeof *comparisons; i++)
        if (text_is(name, comparisons[i].type)) d->op->compare = comparisons[i].compare;
    if (take(d, "ftz")) {
        if (type->kind != 'h' && !(type->kind == 'f' && type->bytes == 4)) return false;
        d->op->flush = type->kind == 'h'; /* of a pair */
        if (type->kind == 'h' && !type->pair) d->op->compare = compare_f16_ftz;
        if (type->kind == 'f') d->op->compare = compare_f32_ftz;
    }
    return type->pair || d->op->compare;
}

static void use_combination(Decoder *d) {
    if (d->op->combination == COMBINE_NOT)
        absent(d, false);
    else
        use_predicate(d, &d->op->negated);
}

static bool has_second(const Decoder *d) { return d->in->operand[1].second; }

static bool decode_setp(Decoder *d) {
    Type type;
    if (!opcode_is(d, "setp") || !decode_comparison(d, &type)) return false;
    if (type.pair && (!has_second(d) || d->op->combination != COMBINE_NOT)) return false;
    define(d, PREDICATE_BYTES);
    if (has_second(d))
        define(d, PREDICATE_BYTES);
    else
        absent(d, true);
    use(d, type.bytes);
    use(d, type.bytes);
    use_combination(d);
    return done(d, type.pair ? run_setp_pair : run_setp, CLASS_PREDICATE);
}

static bool decode_set(Decoder *d) {
    Type to, from;
    if (!opcode_is(d, "set") || !type_of(take_before_last(d), &to)) return false;
    if (!decode_comparison(d, &from)) return false;
    if (from.pair && (to.bytes != 4 || d->op->combination != COMBINE_NOT)) return false;
    const bool is_float = to.kind == 'f' || to.kind == 'h' || to.kind == 'g';
    const uint32_t one = to.kind == 'h' ? HALF_ONE : to.kind == 'g' ? BF16_ONE : bits_of(1.0f);
    const uint32_t ones = from.pair ? 0xffff : UINT32_MAX;
    d->op->number = (int32_t)(is_float ? one : ones);
    d->op->width = to.bytes;
    define(d, to.bytes);
    use(d, from.bytes);
    use(d, from.bytes);
    use_combination(d);
    return done(d, from.pair ? run_set_pair : run_set, CLASS_PREDICATE);
}

static bool decode_select(Decoder *d) {
    Type type;
    if (!opcode_is(d, "selp") || !type_of(take_last(d), &type)) return false;
    if (type.bytes != 2 && type.bytes != 4 && type.bytes != 8) return false;
    define(d, type.bytes);
    use(d, type.bytes);
    use(d, type.bytes);
    use_predicate(d, &d->op->negated);
    return done(d,
                type.bytes == 2   ? select_16
                : type.bytes == 4 ? select_32
                                  : select_64,
                CLASS_MOVE);
}

static bool decode_slct(Decoder *d) {
    Type by, type;
    if (!opcode_is(d, "slct") || !type_of(take_last(d), &by) ||
        !type_of(take_before_last(d), &type))
        return false;
    d->op->flush = take(d, "ftz");
    if (by.bytes != 4 || (type.bytes != 4 && type.bytes != 8)) return false;
    use_pattern(d, type.bytes == 4 ? "4=444" : "8=884");
    if (by.kind == 'f') return done(d, type.bytes == 4 ? slct_32_f32 : slct_64_f32, CLASS_MOVE);
    return done(d, type.bytes == 4 ? slct_32_s32 : slct_64_s32, CLASS_MOVE);
}

static bool decode_predicate_logic(Decoder *d) {
    static const char *const names[] = {"and", "or", "xor", "not", "mov"};
    Type type;
    if (!type_of(take_last(d), &type) || type.kind != 'p') return false;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        if (!opcode_is(d, names[i])) continue;
        d->op->mode = (uint8_t)i;
        define(d, PREDICATE_BYTES);
        use_predicate(d, &d->op->negated);
        if (i < 3) use_predicate(d, &d->op->second_negated);
        return done(d, run_predicate_logic, CLASS_PREDICATE);
    }
    return false;
}

bool decode_compare(Decoder *d) {
    return decode_setp(d) || decode_set(d) || decode_select(d) || decode_slct(d) ||
           decode_predicate_logic(d);
}
