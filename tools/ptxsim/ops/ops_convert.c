/* cvt. PTX ISA, "Data Movement and Conversion Instructions: cvt". The common conversions have
 * handlers of their own; one general handler does all the others through 64-bit integers and
 * doubles, which hold every source exactly. */
#include "decode/decode.h"
#include "machine/lanes.h"
#include "ops/numeric.h"

/* ---- Fast ones ------------------------------------------------------------------------------- */

#define CONVERT(name, D, A, value)               \
    static void name(Warp *warp, const Op *op) { \
        const A *a = REG(A, 1);                  \
        EACH(D, (D)(value));                     \
    }
CONVERT(f32_from_bf16, f32, u16, bf16_to_float(a[l]))
CONVERT(f16_from_f32, u16, f32, half_from_float(a[l]))
CONVERT(bf16_from_f32, u16, f32, bf16_from_float(a[l]))
CONVERT(u32_from_u64, u32, u64, a[l])
CONVERT(u32_from_u16, u32, u16, a[l])
CONVERT(u16_from_u32, u16, u32, a[l])
CONVERT(s32_from_s16, s32, s16, a[l])
CONVERT(f32_from_s32, f32, s32, a[l])
CONVERT(f32_from_u32, f32, u32, a[l])

static void f32_from_f16(Warp *warp, const Op *op) {
    float value[LANES];
    halves_to_floats(REG(u16, 1), value);
    EACH(f32, value[l]);
}

#define WIDEN(name, D, A, is_signed)             \
    static void name(Warp *warp, const Op *op) { \
        const A *a = REG(A, 1);                  \
        widens(warp, op, 1, is_signed);          \
        EACH(D, (D)a[l]);                        \
    }
WIDEN(s64_from_s32, s64, s32, true)
WIDEN(u64_from_u32, u64, u32, false)

CONVERT(f32_saturated, f32, f32, saturate(a[l]))

/* Two fp32 to a pair: the first source is the upper half. */
#define PAIR(name, from)                                                   \
    static void name(Warp *warp, const Op *op) {                           \
        const f32 *high = REG(f32, 1), *low = REG(f32, 2);                 \
        EACH(u32, (uint32_t)from(high[l]) << 16 | (uint32_t)from(low[l])); \
    }
static inline uint16_t relu_half(float x) { return half_from_float(relu(x)); }
static inline uint16_t relu_bf16(float x) { return bf16_from_float(relu(x)); }
static inline uint16_t half_rz(float x) { return half_from_double((double)x, ROUND_ZERO); }
static inline uint16_t bf16_rz(float x) { return bf16_from_double((double)x, ROUND_ZERO); }
static inline uint16_t relu_half_rz(float x) { return half_rz(relu(x)); }
static inline uint16_t relu_bf16_rz(float x) { return bf16_rz(relu(x)); }
PAIR(f16x2_from_f32, half_from_float)
PAIR(bf16x2_from_f32, bf16_from_float)
PAIR(f16x2_from_f32_relu, relu_half)
PAIR(bf16x2_from_f32_relu, relu_bf16)
PAIR(f16x2_from_f32_rz, half_rz)
PAIR(bf16x2_from_f32_rz, bf16_rz)
PAIR(f16x2_from_f32_rz_relu, relu_half_rz)
PAIR(bf16x2_from_f32_rz_relu, relu_bf16_rz)

/* [bf16][.rz][.relu] */
static const Handler pairs[2][2][2] = {
    {{f16x2_from_f32, f16x2_from_f32_relu}, {f16x2_from_f32_rz, f16x2_from_f32_rz_relu}},
    {{bf16x2_from_f32, bf16x2_from_f32_relu}, {bf16x2_from_f32_rz, bf16x2_from_f32_rz_relu}},
};

CONVERT(tf32_rna, u32, f32, tf32_from_float_rna(a[l]))
CONVERT(tf32_rounded, u32, f32, tf32_from_float(a[l], (Rounding)op->rounding))

/* ---- The general one ------------------------------------------------------------------------- */

static bool is_float(Type type) { return type.kind == 'f' || type.kind == 'h' || type.kind == 'g'; }

static double float_value(Type type, uint64_t bits) {
    switch (type.kind) {
    case 'h':
        return (double)half_to_float((uint16_t)bits);
    case 'g':
        return (double)bf16_to_float((uint16_t)bits);
    default:
        return type.bytes == 8 ? double_of(bits) : (double)float_of((uint32_t)bits);
    }
}

static uint64_t float_bits(Type type, double value, Rounding mode) {
    switch (type.kind) {
    case 'h':
        return half_from_double(value, mode);
    case 'g':
        return bf16_from_double(value, mode);
    default:
        if (type.bytes == 8) return bits_of_double(value);
        return bits_of(float_from_double(value, mode));
    }
}

/* The low bytes of a register as the type's value, extended to 64 bits. */
static uint64_t extend(Type type, uint64_t bits) {
    const unsigned shift = 64 - 8u * type.bytes;
    return type.kind == 's' ? (uint64_t)((int64_t)(bits << shift) >> shift)
                            : bits << shift >> shift;
}

static uint64_t integer_to_integer(const Op *op, uint64_t bits) {
    const unsigned width = 8 * op->type.bytes;
    const bool negative = op->from.kind == 's' && (int64_t)bits < 0;
    if (!op->saturate) return bits;
    if (op->type.kind == 's') {
        const int64_t top = (int64_t)((1ull << (width - 1)) - 1);
        if (negative) return (int64_t)bits < -top - 1 ? (uint64_t)(-top - 1) : bits;
        return bits > (uint64_t)top ? (uint64_t)top : bits;
    }
    const uint64_t top = width == 64 ? UINT64_MAX : (1ull << width) - 1;
    return negative ? 0 : bits > top ? top : bits;
}

static uint64_t integer_to_float(const Op *op, uint64_t bits) {
    const bool is_signed = op->from.kind == 's';
    const Rounding mode = (Rounding)op->rounding;
    if (op->type.bytes == 8) return bits_of_double(double_from_integer(bits, is_signed, mode));
    const double value = is_signed ? double_from_signed((int64_t)bits) : double_from_unsigned(bits);
    return float_bits(op->type, value, mode);
}

static bool is_single(Type type) { return type.kind == 'f' && type.bytes == 4; }

/* op->mode: the result is to be integral (.rni and its like) */
static uint64_t float_to_float(const Op *op, double value) {
    const Rounding mode = op->mode ? ROUND_NEAREST : (Rounding)op->rounding;
    if (op->mode) value = integral(value, (Rounding)op->rounding);
    if (op->saturate) value = value > 0 ? value < 1 ? value : 1 : 0; /* a NaN becomes 0, too */
    if (op->relu && value == value) value = value > 0 ? value : 0;
    if (op->flush && is_single(op->type)) return bits_of(flush_exact(value, mode));
    return float_bits(op->type, value, mode);
}

static uint64_t convert(const Op *op, uint64_t bits) {
    bits = extend(op->from, bits);
    if (!is_float(op->from))
        return is_float(op->type) ? integer_to_float(op, bits) : integer_to_integer(op, bits);
    double value = float_value(op->from, bits);
    if (op->flush && is_single(op->from)) value = (double)flush((float)value);
    if (is_float(op->type)) return float_to_float(op, value);
    return integer_from_double(value, (Rounding)op->rounding, 8u * op->type.bytes,
                               op->type.kind == 's', op->from.bytes == 8);
}

static void run_convert(Warp *warp, const Op *op) {
    EACH_ACTIVE({
        uint64_t bits = 0;
        memcpy(&bits, REG(u8, 1) + l * op->source_width, op->source_width);
        bits = extend(op->type, convert(op, bits));
        memcpy(REG(u8, 0) + l * op->width, &bits, op->width);
    });
}

/* ---- Decoding -------------------------------------------------------------------------------- */

static const struct {
    const char *to, *from;
    Handler run;
} fast[] = {
    {"f32", "f16", f32_from_f16},   {"f32", "bf16", f32_from_bf16}, {"f16", "f32", f16_from_f32},
    {"bf16", "f32", bf16_from_f32}, {"s64", "s32", s64_from_s32},   {"u64", "u32", u64_from_u32},
    {"u32", "u64", u32_from_u64},   {"s32", "s64", u32_from_u64},   {"u32", "u16", u32_from_u16},
    {"u16", "u32", u16_from_u32},   {"s32", "s16", s32_from_s16},   {"f32", "s32", f32_from_s32},
    {"f32", "u32", f32_from_u32},
};

/* Rounding to an integer: .rni and its like; ROUND_NEAREST if there is none. */
static Rounding take_integer_rounding(Decoder *d, bool *found) {
    static const char *const names[] = {"rni", "rzi", "rmi", "rpi", NULL};
    const int mode = take_one(d, names);
    *found = mode >= 0;
    return mode < 0 ? ROUND_NEAREST : (Rounding)mode;
}

static bool decode_pair(Decoder *d, Type to) {
    const Rounding rounding = take_rounding(d);
    const bool clamped = take(d, "relu");
    if (rounding != ROUND_NEAREST && rounding != ROUND_ZERO) return false;
    use_pattern(d, "4=44");
    return done(d, pairs[to.kind == 'g'][rounding == ROUND_ZERO][clamped], CLASS_CONVERT);
}

static bool decode_tf32(Decoder *d) {
    const bool away = take(d, "rna");
    d->op->rounding = (uint8_t)take_rounding(d);
    use_pattern(d, "4=4");
    return done(d, away ? tf32_rna : tf32_rounded, CLASS_CONVERT);
}

static unsigned width_of(const Decoder *d, int operand, Type type) {
    const Operand *o = operand < d->in->operands ? &d->in->operand[operand] : NULL;
    if (o && o->kind == OPERAND_REGISTER) return d->kernel->value[o->reg].bytes;
    return type.bytes < 2 ? 2 : type.bytes;
}

static Handler choose(const Decoder *d, Text to, Text from, bool plain) {
    const Op *op = d->op;
    for (size_t i = 0; plain && i < sizeof fast / sizeof *fast; i++)
        if (text_is(to, fast[i].to) && text_is(from, fast[i].from) && op->width == op->type.bytes &&
            op->source_width == op->from.bytes)
            return fast[i].run;
    return run_convert;
}

bool decode_convert(Decoder *d) {
    Op *op = d->op;
    Type to, from;
    bool integral_rounding;
    if (!opcode_is(d, "cvt")) return false;
    const Text from_name = take_last(d), to_name = take_before_last(d);
    if (text_is(to_name, "tf32") && text_is(from_name, "f32")) return decode_tf32(d);
    if (!type_of(from_name, &from) || !type_of(to_name, &to)) return false;
    if (to.pair && text_is(from_name, "f32")) return decode_pair(d, to);
    const Rounding to_integer = take_integer_rounding(d, &integral_rounding);
    const Rounding rounding = take_rounding(d);
    op->rounding = (uint8_t)(integral_rounding ? to_integer : rounding);
    op->flush = take(d, "ftz");
    op->saturate = take(d, "sat");
    op->relu = take(d, "relu");
    op->mode = integral_rounding;
    op->type = to;
    op->from = from;
    op->width = (uint8_t)width_of(d, 0, to);
    op->source_width = (uint8_t)width_of(d, 1, from);
    define(d, op->width);
    use(d, op->source_width);
    const bool plain = op->rounding == ROUND_NEAREST && !integral_rounding && !op->flush &&
                       !op->saturate && !op->relu;
    const bool only_saturates = op->saturate && text_is(to_name, "f32") &&
                                text_is(from_name, "f32") && !integral_rounding && !op->flush;
    if (only_saturates) return done(d, f32_saturated, CLASS_CONVERT); /* expf has one */
    return done(d, choose(d, to_name, from_name, plain), CLASS_CONVERT);
}
