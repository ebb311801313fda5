/* fp16 and bf16 arithmetic, single and in pairs. PTX ISA, "Half Precision Floating Point
 * Instructions". Every operation is rounded once, to nearest. */
#include "decode/decode.h"
#include "machine/lanes.h"
#include "ops/numeric.h"

typedef enum HalfOperation {
    HALF_ADD,
    HALF_SUB,
    HALF_MUL,
    HALF_FMA,
    HALF_MIN,
    HALF_MAX,
    HALF_MIN_NAN,
    HALF_MAX_NAN,
    HALF_NEG,
    HALF_ABS,
    HALF_EX2,
    HALF_TANH,
} HalfOperation;

static inline float to_float(uint16_t x, bool bf16) {
    return bf16 ? bf16_to_float(x) : half_to_float(x);
}

static inline uint16_t from_float(float x, bool bf16) {
    return bf16 ? bf16_from_float(x) : half_from_float(x);
}

/* a b + c. With .ftz, which bf16 has not, zero as in flush_exact. */
static inline uint16_t fused(const Op *op, uint16_t a, uint16_t b, uint16_t c) {
    if (op->bf16) return bf16_fma(a, b, c);
    const double exact = half_fma_to_odd(a, b, c);
    const uint16_t rounded = half_from_double(exact, ROUND_NEAREST);
    const uint16_t endless = half_from_double(exact * 0x1p14, ROUND_NEAREST);
    return op->flush && (endless & 0x7fff) < HALF_ONE ? rounded & 0x8000 : rounded;
}

static inline uint16_t extreme(HalfOperation what, uint16_t a, uint16_t b, bool bf16) {
    const float x = to_float(a, bf16), y = to_float(b, bf16);
    switch (what) {
    case HALF_MIN:
        return from_float(float_min(x, y), bf16);
    case HALF_MAX:
        return from_float(float_max(x, y), bf16);
    case HALF_MIN_NAN:
        return from_float(float_min_nan(x, y), bf16);
    default:
        return from_float(float_max_nan(x, y), bf16);
    }
}

/* Subnormal operands and results become zeros (.ftz). */
static inline uint16_t flush_half(uint16_t x, bool bf16) {
    return x & (bf16 ? 0x7f80 : 0x7c00) ? x : x & 0x8000;
}

static inline uint16_t clamp_half(const Op *op, uint16_t x, bool bf16) {
    const float value = to_float(x, bf16);
    return from_float(op->saturate ? saturate(value) : relu(value), bf16);
}

static uint16_t half_value(const Op *op, uint16_t a, uint16_t b, uint16_t c) {
    const bool bf16 = op->bf16;
    const uint16_t one = bf16 ? BF16_ONE : HALF_ONE;
    uint16_t result;
    if (op->flush) a = flush_half(a, bf16), b = flush_half(b, bf16), c = flush_half(c, bf16);
    switch ((HalfOperation)op->mode) {
    case HALF_ADD:
        result = fused(op, a, one, b);
        break;
    case HALF_SUB:
        result = fused(op, a, one, b ^ 0x8000);
        break;
    case HALF_MUL:
        result = fused(op, a, b, MINUS_ZERO_16);
        break;
    case HALF_FMA:
        result = fused(op, a, b, c);
        break;
    case HALF_NEG:
        result = a ^ 0x8000;
        break;
    case HALF_ABS:
        result = a & 0x7fff;
        break;
    case HALF_EX2:
        result = from_float(ex2_approx(to_float(a, bf16)), bf16);
        break;
    case HALF_TANH:
        result = from_float(tanh_approx(to_float(a, bf16)), bf16);
        break;
    default:
        result = extreme((HalfOperation)op->mode, a, b, bf16);
        break;
    }
    if (op->flush) result = flush_half(result, bf16);
    return op->saturate || op->relu ? clamp_half(op, result, bf16) : result;
}

static void run_half(Warp *warp, const Op *op) {
    EACH_ACTIVE({
        uint16_t in[3] = {0};
        for (int i = 1; i < op->operands; i++) in[i - 1] = REG(u16, i)[l];
        REG(u16, 0)[l] = half_value(op, in[0], in[1], in[2]);
    });
}

static void run_half_pair(Warp *warp, const Op *op) {
    EACH_ACTIVE({
        uint32_t in[3] = {0};
        for (int i = 1; i < op->operands; i++) in[i - 1] = REG(u32, i)[l];
        const uint16_t low = half_value(op, (uint16_t)in[0], (uint16_t)in[1], (uint16_t)in[2]);
        const uint16_t high = half_value(op, (uint16_t)(in[0] >> 16), (uint16_t)(in[1] >> 16),
                                         (uint16_t)(in[2] >> 16));
        REG(u32, 0)[l] = low | (uint32_t)high << 16;
    });
}

/* ---- The common ones, without branches ------------------------------------------------------- */

/* fp32 is wide enough for a sum or product of two halves that is then rounded once more (Figueroa,
 * "When is double rounding innocuous?", 1995). */
#define FAST_HALF(name, to, from, operator)                                                     \
    static void name(Warp *warp, const Op *op) {                                                \
        const u16 *a = REG(u16, 1), *b = REG(u16, 2);                                           \
        EACH(u16, from(to(a[l]) operator to(b[l])));                                            \
    }                                                                                           \
    static void name##x2(Warp *warp, const Op *op) {                                            \
        const u32 *a = REG(u32, 1), *b = REG(u32, 2);                                           \
        EACH(u32,                                                                               \
             (uint32_t)from(to((uint16_t)a[l]) operator to((uint16_t)b[l])) |                   \
                 (uint32_t)from(to((uint16_t)(a[l] >> 16)) operator to((uint16_t)(b[l] >> 16))) \
                     << 16);                                                                    \
    }
FAST_HALF(add_f16, half_to_float, half_from_float, +)
FAST_HALF(sub_f16, half_to_float, half_from_float, -)
FAST_HALF(mul_f16, half_to_float, half_from_float, *)
FAST_HALF(add_bf16, bf16_to_float, bf16_from_float, +)
FAST_HALF(sub_bf16, bf16_to_float, bf16_from_float, -)

static const struct {
    Handler f16, f16x2, bf16, bf16x2;
} fast[] = {{add_f16, add_f16x2, add_bf16, add_bf16x2},
            {sub_f16, sub_f16x2, sub_bf16, sub_bf16x2},
            {mul_f16, mul_f16x2, run_half, run_half_pair}}; /* fp32 underflows where bf16 does */

static Handler choose(const Op *op, Type type) {
    const bool plain = !op->flush && !op->saturate && !op->relu;
    if (plain && op->mode <= HALF_MUL) {
        if (type.kind == 'h') return type.pair ? fast[op->mode].f16x2 : fast[op->mode].f16;
        return type.pair ? fast[op->mode].bf16x2 : fast[op->mode].bf16;
    }
    return type.pair ? run_half_pair : run_half;
}

bool decode_half(Decoder *d) {
    static const struct {
        const char *opcode;
        HalfOperation what;
        int sources;
    } names[] = {
        {"add", HALF_ADD, 2}, {"sub", HALF_SUB, 2},         {"mul", HALF_MUL, 2},
        {"fma", HALF_FMA, 3}, {"min.NaN", HALF_MIN_NAN, 2}, {"max.NaN", HALF_MAX_NAN, 2},
        {"min", HALF_MIN, 2}, {"max", HALF_MAX, 2},         {"neg", HALF_NEG, 1},
        {"abs", HALF_ABS, 1}, {"ex2", HALF_EX2, 1},         {"tanh", HALF_TANH, 1},
    };
    Type type;
    if (!type_of(take_last(d), &type) || (type.kind != 'h' && type.kind != 'g')) return false;
    if (!take(d, "rn")) take(d, "approx");
    d->op->flush = take(d, "ftz");
    d->op->saturate = take(d, "sat");
    d->op->relu = take(d, "relu");
    d->op->bf16 = type.kind == 'g';
    const uint32_t taken = d->taken;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        d->taken = taken;
        if (!take_opcode(d, names[i].opcode)) continue;
        d->op->mode = (uint8_t)names[i].what;
        define(d, type.bytes);
        for (int s = 0; s < names[i].sources; s++) use(d, type.bytes);
        return done(d, choose(d->op, type), CLASS_HALF);
    }
    return false;
}
