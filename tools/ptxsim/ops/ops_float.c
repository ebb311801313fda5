/* fp32 and fp64 arithmetic and the special-function unit. PTX ISA, "Floating Point Instructions".
 *
 * The common forms of fp32 (round to nearest, with or without .ftz) have handlers of their own that
 * vectorise; every other rounding and .sat goes through one slower handler an opcode. */
#include "decode/decode.h"
#include "machine/lanes.h"
#include "ops/numeric.h"

/* ---- fp32, round to nearest: name and name_ftz ----------------------------------------------- */

#define FLOAT1(name, value)                                       \
    static inline float name##_value(float x) { return (value); } \
    static void name(Warp *warp, const Op *op) {                  \
        const f32 *px = REG(f32, 1);                              \
        EACH(f32, name##_value(px[l]));                           \
    }                                                             \
    static void name##_ftz(Warp *warp, const Op *op) {            \
        const f32 *px = REG(f32, 1);                              \
        EACH(f32, flush(name##_value(flush(px[l]))));             \
    }
#define FLOAT2(name, value)                                                \
    static inline float name##_value(float x, float y) { return (value); } \
    static void name(Warp *warp, const Op *op) {                           \
        const f32 *px = REG(f32, 1), *py = REG(f32, 2);                    \
        EACH(f32, name##_value(px[l], py[l]));                             \
    }                                                                      \
    static void name##_ftz(Warp *warp, const Op *op) {                     \
        const f32 *px = REG(f32, 1), *py = REG(f32, 2);                    \
        EACH(f32, flush(name##_value(flush(px[l]), flush(py[l]))));        \
    }

/* Of results that may be rounded up to the least normal number, which flush_exact must know in
 * double. */
#define ROUNDED2(name, value, exact)                                              \
    static void name(Warp *warp, const Op *op) {                                  \
        const f32 *px = REG(f32, 1), *py = REG(f32, 2);                           \
        EACH(f32, value(px[l], py[l]));                                           \
    }                                                                             \
    static void name##_ftz(Warp *warp, const Op *op) {                            \
        const f32 *px = REG(f32, 1), *py = REG(f32, 2);                           \
        EACH(f32, flush_exact(exact(flush(px[l]), flush(py[l])), ROUND_NEAREST)); \
    }
#define PRODUCT(x, y) ((x) * (y))
#define EXACT_PRODUCT(x, y) ((double)(x) * (double)(y))
#define QUOTIENT(x, y) ((x) / (y))

ROUNDED2(mul_f32, PRODUCT, EXACT_PRODUCT)
ROUNDED2(div_f32, QUOTIENT, div_to_odd)
ROUNDED2(div_approx_f32, (float)div_approx, div_approx)
FLOAT2(add_f32, x + y)
FLOAT2(sub_f32, x - y)
FLOAT2(min_f32, float_min(x, y))
FLOAT2(max_f32, float_max(x, y))
FLOAT2(min_nan_f32, float_min_nan(x, y))
FLOAT2(max_nan_f32, float_max_nan(x, y))
FLOAT2(min_sign_f32, xorsign(float_min(fabsf(x), fabsf(y)), x, y))
FLOAT2(max_sign_f32, xorsign(float_max(fabsf(x), fabsf(y)), x, y))
FLOAT2(min_nan_sign_f32, xorsign(float_min_nan(fabsf(x), fabsf(y)), x, y))
FLOAT2(max_nan_sign_f32, xorsign(float_max_nan(fabsf(x), fabsf(y)), x, y))
FLOAT1(neg_f32, float_of(bits_of(x) ^ 0x80000000))
FLOAT1(abs_f32, float_of(bits_of(x) & 0x7fffffff))
FLOAT1(ex2_f32, ex2_approx(x))
FLOAT1(lg2_f32, lg2_approx(x))
FLOAT1(rcp_f32, rcp_approx(x))
FLOAT1(rsqrt_f32, rsqrt_approx(x))
FLOAT1(sqrt_f32, sqrt_approx(x))
FLOAT1(sin_f32, sin_approx(x))
FLOAT1(cos_f32, cos_approx(x))
FLOAT1(tanh_f32, tanh_approx(x))

static inline float fma_flushed(float x, float y, float z) {
    return flush_exact(fma_to_odd(flush(x), flush(y), flush(z), ROUND_NEAREST), ROUND_NEAREST);
}

static void fma_f32(Warp *warp, const Op *op) {
    const f32 *x = REG(f32, 1), *y = REG(f32, 2), *z = REG(f32, 3);
    EACH(f32, __builtin_fmaf(x[l], y[l], z[l]));
}

static void fma_f32_ftz(Warp *warp, const Op *op) {
    const f32 *x = REG(f32, 1), *y = REG(f32, 2), *z = REG(f32, 3);
    EACH(f32, fma_flushed(x[l], y[l], z[l]));
}

/* An addition that has taken in a multiplication (fuse.c): a subtraction negates one of the two. */
void run_fused(Warp *warp, const Op *op) {
    const f32 *x = REG(f32, 1), *y = REG(f32, 2), *z = REG(f32, 3);
    const float sign = op->negated ? -1 : 1, second_sign = op->second_negated ? -1 : 1;
    if (op->flush)
        EACH(f32, fma_flushed(sign * x[l], y[l], second_sign * z[l]));
    else
        EACH(f32, __builtin_fmaf(sign * x[l], y[l], second_sign * z[l]));
    if (!op->saturate) return;
    const f32 *sum = REG(f32, 0);
    EACH(f32, saturate(sum[l]));
}

/* fma.rm, of which expf has one, without branches: to nearest, then one step down if that is above
 * the exact value. A sum of zero is negative unless both terms are positive. */
static inline float fma_down(float x, float y, float z) {
    const double product = (double)x * (double)y, sum = add_to_odd(product, (double)z);
    const float nearest = (float)sum;
    const uint32_t bits = bits_of(nearest);
    const uint32_t down = nearest > 0 ? bits - 1 : bits + 1;
    const uint32_t signs = (uint32_t)(bits_of_double(product) >> 32) | bits_of(z);
    const float stepped = float_of((double)nearest > sum ? down : bits);
    return sum == 0 ? float_of(signs & 0x80000000) : stepped;
}

static void fma_f32_rm(Warp *warp, const Op *op) {
    const f32 *x = REG(f32, 1), *y = REG(f32, 2), *z = REG(f32, 3);
    EACH(f32, fma_down(x[l], y[l], z[l]));
}

/* copysign.f32 d, a, b: the sign of a, the magnitude of b */
static void copysign_f32(Warp *warp, const Op *op) {
    const u32 *sign = REG(u32, 1), *magnitude = REG(u32, 2);
    EACH(u32, (sign[l] & 0x80000000) | (magnitude[l] & 0x7fffffff));
}

/* testp: op->mode is an index into the names in decode_float */
static bool test_float(float x, unsigned what) {
    switch (what) {
    case 0:
        return isfinite(x);
    case 1:
        return isinf(x);
    case 2:
        return !isnan(x);
    case 3:
        return isnan(x);
    case 4:
        return isnormal(x) || x == 0; /* zeros count as normal */
    default:
        return fpclassify(x) == FP_SUBNORMAL;
    }
}

static void testp_f32(Warp *warp, const Op *op) {
    uint32_t bits = 0;
    EACH_ACTIVE(bits |= (uint32_t)test_float(REG(f32, 1)[l], op->mode) << l);
    set_predicate(warp, op->r[0], bits);
}

/* ---- fp32, any rounding, .ftz and .sat ------------------------------------------------------- */

typedef enum General {
    GENERAL_NONE,
    GENERAL_ADD,
    GENERAL_SUB,
    GENERAL_MUL,
    GENERAL_FMA,
    GENERAL_DIV,
    GENERAL_RCP,
    GENERAL_SQRT,
} General;

/* Rounded to odd. */
static double general_exact(const Op *op, float x, float y, float z) {
    const Rounding mode = (Rounding)op->rounding;
    switch ((General)op->mode) {
    case GENERAL_ADD:
        return fma_to_odd(x, 1, y, mode);
    case GENERAL_SUB:
        return fma_to_odd(x, 1, -y, mode);
    case GENERAL_MUL:
        return (double)x * (double)y;
    case GENERAL_FMA:
        return fma_to_odd(x, y, z, mode);
    case GENERAL_DIV:
        return div_to_odd(x, y);
    case GENERAL_RCP:
        return div_to_odd(1, x);
    default:
        return sqrt_to_odd(x);
    }
}

static void run_general(Warp *warp, const Op *op) {
    const Rounding mode = (Rounding)op->rounding;
    EACH_ACTIVE({
        float in[3] = {0};
        for (int i = 1; i < op->operands; i++) {
            in[i - 1] = REG(f32, i)[l];
            if (op->flush) in[i - 1] = flush(in[i - 1]);
        }
        const double exact = general_exact(op, in[0], in[1], in[2]);
        const float value = op->flush ? flush_exact(exact, mode) : float_from_double(exact, mode);
        REG(f32, 0)[l] = op->saturate ? saturate(value) : value;
    });
}

/* ---- fp64 ------------------------------------------------------------------------------------ */

#define DOUBLE2(name, value)                          \
    static void name(Warp *warp, const Op *op) {      \
        const f64 *x = REG(f64, 1), *y = REG(f64, 2); \
        EACH(f64, value);                             \
    }
#define DOUBLE1(name, value)                     \
    static void name(Warp *warp, const Op *op) { \
        const f64 *x = REG(f64, 1);              \
        EACH(f64, value);                        \
    }
DOUBLE2(add_f64, x[l] + y[l])
DOUBLE2(sub_f64, x[l] - y[l])
DOUBLE2(mul_f64, x[l] * y[l])
DOUBLE2(div_f64, x[l] / y[l])
DOUBLE2(min_f64, double_min(x[l], y[l]))
DOUBLE2(max_f64, double_max(x[l], y[l]))
DOUBLE2(copysign_f64, copysign(y[l], x[l]))
DOUBLE1(neg_f64, double_of(bits_of_double(x[l]) ^ 1ull << 63))
DOUBLE1(abs_f64, double_of(bits_of_double(x[l]) & ~(1ull << 63)))
DOUBLE1(rcp_f64, 1 / x[l])
DOUBLE1(sqrt_f64, sqrt(x[l]))
DOUBLE1(rsqrt_f64, 1 / sqrt(x[l]))

/* What .approx.ftz.f64 sees of a number and leaves of a result: its upper 32 bits; a subnormal is
 * zero. PTX ISA, "rcp.approx.ftz.f64". */
static inline double upper_half(double x) {
    const uint64_t bits = bits_of_double(x) & ~(uint64_t)UINT32_MAX;
    const bool subnormal = !(bits & 0x7ffull << 52);
    return double_of(subnormal ? bits & 1ull << 63 : bits);
}
DOUBLE1(rcp_f64_ftz, upper_half(1 / upper_half(x[l])))
DOUBLE1(rsqrt_f64_ftz, upper_half(1 / sqrt(upper_half(x[l]))))

static void fma_f64(Warp *warp, const Op *op) {
    const f64 *x = REG(f64, 1), *y = REG(f64, 2), *z = REG(f64, 3);
    EACH(f64, __builtin_fma(x[l], y[l], z[l]));
}

/* ---- Tables ---------------------------------------------------------------------------------- */

typedef struct FloatRow {
    const char *opcode, *pattern;
    Handler plain, flushing;
    General general; /* GENERAL_NONE: no rounding modes and no .sat */
    InstructionClass class;
} FloatRow;

#define BOTH(name) name, name##_ftz
static const FloatRow rows_f32[] = {
    {"add", "4=44", BOTH(add_f32), GENERAL_ADD, CLASS_FLOAT},
    {"sub", "4=44", BOTH(sub_f32), GENERAL_SUB, CLASS_FLOAT},
    {"mul", "4=44", BOTH(mul_f32), GENERAL_MUL, CLASS_FLOAT},
    {"fma", "4=444", BOTH(fma_f32), GENERAL_FMA, CLASS_FLOAT},
    {"mad", "4=444", BOTH(fma_f32), GENERAL_FMA, CLASS_FLOAT},
    {"div.approx", "4=44", BOTH(div_approx_f32), GENERAL_NONE, CLASS_FLOAT},
    {"div", "4=44", BOTH(div_f32), GENERAL_DIV, CLASS_FLOAT},
    {"min", "4=44", BOTH(min_f32), GENERAL_NONE, CLASS_FLOAT},
    {"max", "4=44", BOTH(max_f32), GENERAL_NONE, CLASS_FLOAT},
    {"min.NaN", "4=44", BOTH(min_nan_f32), GENERAL_NONE, CLASS_FLOAT},
    {"max.NaN", "4=44", BOTH(max_nan_f32), GENERAL_NONE, CLASS_FLOAT},
    {"min.xorsign.abs", "4=44", BOTH(min_sign_f32), GENERAL_NONE, CLASS_FLOAT},
    {"max.xorsign.abs", "4=44", BOTH(max_sign_f32), GENERAL_NONE, CLASS_FLOAT},
    {"min.NaN.xorsign.abs", "4=44", BOTH(min_nan_sign_f32), GENERAL_NONE, CLASS_FLOAT},
    {"max.NaN.xorsign.abs", "4=44", BOTH(max_nan_sign_f32), GENERAL_NONE, CLASS_FLOAT},
    {"neg", "4=4", BOTH(neg_f32), GENERAL_NONE, CLASS_FLOAT},
    {"abs", "4=4", BOTH(abs_f32), GENERAL_NONE, CLASS_FLOAT},
    {"copysign", "4=44", copysign_f32, copysign_f32, GENERAL_NONE, CLASS_FLOAT},
    {"rcp", "4=4", BOTH(rcp_f32), GENERAL_RCP, CLASS_SPECIAL},
    {"sqrt", "4=4", BOTH(sqrt_f32), GENERAL_SQRT, CLASS_SPECIAL},
    {"ex2", "4=4", BOTH(ex2_f32), GENERAL_NONE, CLASS_SPECIAL},
    {"lg2", "4=4", BOTH(lg2_f32), GENERAL_NONE, CLASS_SPECIAL},
    {"rsqrt", "4=4", BOTH(rsqrt_f32), GENERAL_NONE, CLASS_SPECIAL},
    {"sin", "4=4", BOTH(sin_f32), GENERAL_NONE, CLASS_SPECIAL},
    {"cos", "4=4", BOTH(cos_f32), GENERAL_NONE, CLASS_SPECIAL},
    {"tanh", "4=4", BOTH(tanh_f32), GENERAL_NONE, CLASS_SPECIAL},
};

static const FloatRow rows_f64[] = {
    {"add", "8=88", add_f64, NULL, GENERAL_NONE, CLASS_FLOAT},
    {"sub", "8=88", sub_f64, NULL, GENERAL_NONE, CLASS_FLOAT},
    {"mul", "8=88", mul_f64, NULL, GENERAL_NONE, CLASS_FLOAT},
    {"fma", "8=888", fma_f64, NULL, GENERAL_NONE, CLASS_FLOAT},
    {"mad", "8=888", fma_f64, NULL, GENERAL_NONE, CLASS_FLOAT},
    {"div", "8=88", div_f64, NULL, GENERAL_NONE, CLASS_FLOAT},
    {"min", "8=88", min_f64, NULL, GENERAL_NONE, CLASS_FLOAT},
    {"max", "8=88", max_f64, NULL, GENERAL_NONE, CLASS_FLOAT},
    {"neg", "8=8", neg_f64, NULL, GENERAL_NONE, CLASS_FLOAT},
    {"abs", "8=8", abs_f64, NULL, GENERAL_NONE, CLASS_FLOAT},
    {"copysign", "8=88", copysign_f64, NULL, GENERAL_NONE, CLASS_FLOAT},
    {"rcp", "8=8", BOTH(rcp_f64), GENERAL_NONE, CLASS_SPECIAL},
    {"sqrt", "8=8", sqrt_f64, NULL, GENERAL_NONE, CLASS_SPECIAL},
    {"rsqrt", "8=8", BOTH(rsqrt_f64), GENERAL_NONE, CLASS_SPECIAL},
};

static bool choose(Decoder *d, const FloatRow *row) {
    Op *op = d->op;
    const Handler fast = op->flush ? row->flushing : row->plain;
    const bool plain = op->rounding == ROUND_NEAREST && !op->saturate;
    if (!fast || (!plain && row->general == GENERAL_NONE)) return false;
    op->mode = (uint8_t)row->general;
    use_pattern(d, row->pattern);
    const bool down = row->general == GENERAL_FMA && op->rounding == ROUND_DOWN;
    if (down && !op->flush && !op->saturate) return done(d, fma_f32_rm, row->class);
    return done(d, plain ? fast : run_general, row->class);
}

static bool decode_testp(Decoder *d) {
    static const char *const names[] = {"finite", "infinite",  "number", "notanumber",
                                        "normal", "subnormal", NULL};
    if (!opcode_is(d, "testp") || !take(d, "f32")) return false;
    d->op->mode = (uint8_t)take_one(d, names);
    use_pattern(d, "p=4");
    return done(d, testp_f32, CLASS_PREDICATE);
}

bool decode_float(Decoder *d) {
    Type type;
    if (decode_testp(d)) return true;
    if (!type_of(take_last(d), &type) || type.kind != 'f') return false;
    d->op->rounding = (uint8_t)take_rounding(d);
    d->op->flush = take(d, "ftz");
    d->op->saturate = take(d, "sat");
    const bool divides = text_is(d->in->part[0], "div"); /* whose .approx is another operation */
    if (divides || !take(d, "approx")) take(d, "full");
    const FloatRow *rows = type.bytes == 4 ? rows_f32 : rows_f64;
    const size_t count =
        type.bytes == 4 ? sizeof rows_f32 / sizeof *rows_f32 : sizeof rows_f64 / sizeof *rows_f64;
    const uint32_t taken = d->taken, all = (1u << d->in->parts) - 1;
    for (size_t i = 0; i < count; i++) {
        d->taken = taken;
        if (take_opcode(d, rows[i].opcode) && d->taken == all) return choose(d, &rows[i]);
    }
    return false;
}
