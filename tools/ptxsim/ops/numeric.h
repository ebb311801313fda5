/* Numbers as PTX defines them: formats, rounding, and the floating-point instructions that C has no
 * operator for. PTX ISA, "Floating Point Instructions", "Half Precision ...", "cvt".
 *
 * All are static inline, and free of branches on data where loops over lanes call them often.
 *
 * Arithmetic in any rounding: compute in double, and if that was inexact choose the neighbour with
 * an odd last bit ("round to odd"). Rounding once more, to fp32, fp16 or bf16, then gives what
 * rounding the exact result would have given (Boldo and Melquiond, IEEE Trans. Computers 57, 2008).
 *
 * Approximations (.approx) are computed in double and rounded once, so they are at least as
 * accurate as the GPU's and differ from it in the last bits.
 *
 * NaN: any instruction with a NaN operand gives NaN. Its bits are unspecified here unless a
 * function says "canonical": 0x7fffffff for fp32, 0x7fff for fp16 and bf16. Instructions with .ftz
 * flush subnormal operands and results: flush(f(flush(a), flush(b))).
 */
#ifndef PTXSIM_NUMERIC_H
#define PTXSIM_NUMERIC_H

#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#ifdef __AVX512F__
#include <immintrin.h>
#endif

#include "decode/rounding.h"

#ifdef __clang__
#pragma STDC FP_CONTRACT OFF /* a * b + c must round twice where it is written so */
#endif

/* ---- Bits ------------------------------------------------------------------------------------ */

static inline float float_of(uint32_t bits) {
    float value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

static inline uint32_t bits_of(float value) {
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

static inline double double_of(uint64_t bits) {
    double value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

static inline uint64_t bits_of_double(double value) {
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

/* ---- Formats --------------------------------------------------------------------------------- */

/* fp16 to fp32, exact. Shifted into place (the arithmetic shift keeps the sign on top) a half is
 * too small by 2^112; multiplying mends that and normalises subnormals on the way. The exponent of
 * infinity and NaN is then completed to all ones. */
static inline float half_to_float(uint16_t half) {
    uint32_t placed = (uint32_t)((int32_t)((uint32_t)half << 16) >> 3) & 0x8fffe000;
    uint32_t special = (placed & 0x0f800000) == 0x0f800000 ? 0x7f800000 : 0;
    return float_of(bits_of(float_of(placed) * 0x1p112f) | special);
}

/* The same for the lanes of a warp; AVX-512 has an instruction for it, which makes a NaN quiet. */
static inline void halves_to_floats(const uint16_t half[32], float value[32]) {
#ifdef __AVX512F__
    for (unsigned l = 0; l < 32; l += 16)
        _mm512_storeu_ps(value + l, _mm512_cvtph_ps(_mm256_loadu_si256((const void *)(half + l))));
#else
    for (unsigned l = 0; l < 32; l++) value[l] = half_to_float(half[l]);
#endif
}

/* fp32 to fp16, .rn; NaN becomes canonical. Adding and subtracting 2^13 times the number's power of
 * two (at least 2^-14, that of the subnormals) rounds it to the bits that a half has there. The
 * rest is half_to_float backwards. */
static inline uint16_t half_from_float(float value) {
    int32_t magnitude = (int32_t)(bits_of(value) & 0x7fffffff);
    int32_t power = magnitude & 0x7f800000;
    power = power > 0x38800000 ? power : 0x38800000;
    power = power < 0x47800000 ? power : 0x47800000;
    float shift = float_of((uint32_t)(power + (13 << 23)));
    float rounded = (float_of((uint32_t)magnitude) + shift) - shift;
    int32_t half = (int32_t)(bits_of(rounded * 0x1p-112f) >> 13);
    half = half < 0x7c00 ? half : 0x7c00;
    int32_t nan = magnitude > 0x7f800000 ? 0x7fff : 0;
    uint32_t sign = nan ? 0 : bits_of(value) >> 16 & 0x8000;
    return (uint16_t)(sign | (uint32_t)(half | nan));
}

/* bf16 is the upper half of fp32. */
static inline float bf16_to_float(uint16_t bf16) { return float_of((uint32_t)bf16 << 16); }

/* fp32 to bf16, .rn; NaN becomes canonical. */
static inline uint16_t bf16_from_float(float value) {
    uint32_t bits = bits_of(value);
    uint32_t rounded = (bits + 0x7fff + (bits >> 16 & 1)) >> 16;
    return (uint16_t)((bits & 0x7fffffff) > 0x7f800000 ? 0x7fff : rounded);
}

/* A double rounded to a narrower format, as that format's bits (fraction and exponent widths: fp32
 * 23, 8; tf32 10, 8; bf16 7, 8; fp16 10, 5). Overflow gives infinity, or the largest finite number
 * where the mode rounds towards it. NaN becomes canonical. */
static inline uint32_t narrow(double value, int fraction_bits, int exponent_bits, Rounding mode) {
    uint64_t bits = bits_of_double(value);
    uint64_t magnitude = bits & 0x7fffffffffffffff;
    uint32_t negative = (uint32_t)(bits >> 63);
    uint32_t sign = negative << (fraction_bits + exponent_bits);
    uint32_t infinity = ((1u << exponent_bits) - 1) << fraction_bits;
    if (magnitude > 0x7ff0000000000000) return infinity | ((1u << fraction_bits) - 1);
    if (magnitude == 0x7ff0000000000000) return sign | infinity;

    /* value = significand * 2^(exponent - 52); the result's last bit is worth 2^(floor -
     * fraction_bits) */
    int bias = (1 << (exponent_bits - 1)) - 1;
    int exponent = magnitude >> 52 ? (int)(magnitude >> 52) - 1023 : -1022;
    uint64_t significand = (magnitude & 0xfffffffffffff) | (uint64_t)(magnitude >> 52 != 0) << 52;
    int floor_exponent = exponent < 1 - bias ? 1 - bias : exponent;
    int dropped = floor_exponent - exponent + 52 - fraction_bits;
    dropped = dropped > 62 ? 62 : dropped;
    uint64_t kept = significand >> dropped;
    uint64_t rest = significand & ((1ull << dropped) - 1);
    uint64_t half = 1ull << (dropped - 1);
    bool away = mode == ROUND_NEAREST ? rest > half || (rest == half && (kept & 1))
                                      : rest && mode == (negative ? ROUND_DOWN : ROUND_UP);
    /* kept holds the hidden bit, which adds 1 to the exponent field; so may a carry */
    uint64_t result = ((uint64_t)(floor_exponent + bias - 1) << fraction_bits) + kept + away;
    if (result < infinity) return sign | (uint32_t)result;
    bool finite = mode == ROUND_ZERO || mode == (negative ? ROUND_UP : ROUND_DOWN);
    return sign | (infinity - finite);
}

static inline float float_from_double(double value, Rounding mode) {
    return mode == ROUND_NEAREST ? (float)value : float_of(narrow(value, 23, 8, mode));
}

static inline uint16_t half_from_double(double value, Rounding mode) {
    return (uint16_t)narrow(value, 10, 5, mode);
}

static inline uint16_t bf16_from_double(double value, Rounding mode) {
    return (uint16_t)narrow(value, 7, 8, mode);
}

/* cvt.rna.tf32.f32: to nearest, ties away from zero. A tf32 is an fp32 whose low 13 bits are 0. Of
 * a NaN an H200 keeps the upper bits, which may be those of infinity. */
static inline uint32_t tf32_from_float_rna(float value) {
    uint32_t bits = bits_of(value);
    bool finite = (bits & 0x7f800000) != 0x7f800000;
    return (bits + (finite ? 0x1000 : 0)) & 0xffffe000;
}

/* cvt.{rn,rz}.tf32.f32 */
static inline uint32_t tf32_from_float(float value, Rounding mode) {
    return narrow((double)value, 10, 8, mode) << 13;
}

/* ---- Clamps ---------------------------------------------------------------------------------- */

/* .ftz: a subnormal becomes a zero of the same sign. */
static inline float flush(float value) {
    uint32_t bits = bits_of(value);
    return float_of(bits & 0x7f800000 ? bits : bits & 0x80000000);
}

/* .sat: into [0, 1]; NaN becomes +0. */
static inline float saturate(float value) {
    float clamped = value < 1.0f ? value : 1.0f;
    return value > 0.0f ? clamped : 0.0f;
}

/* .relu: negative numbers become +0; NaN becomes canonical. */
static inline float relu(float value) {
    float clamped = value > 0.0f ? value : 0.0f;
    return value != value ? float_of(0x7fffffff) : clamped;
}

/* ---- fp32 arithmetic with a rounding mode ---------------------------------------------------- */

/* `value`, the double nearest to an exact result, rounded to odd; the sign of `error` (exact result
 * minus value) says on which side the result lies. */
static inline double round_to_odd(double value, double error) {
    uint64_t bits = bits_of_double(value);
    bool inexact = error > 0 || error < 0; /* false for the NaN that infinities leave here */
    uint64_t step = (error > 0) == (value > 0) ? 1 : UINT64_MAX;
    return double_of(bits + (inexact && !(bits & 1) ? step : 0));
}

/* a + b rounded to odd; the error is Knuth's TwoSum. */
static inline double add_to_odd(double a, double b) {
    double sum = a + b;
    double b_part = sum - a;
    double error = (a - (sum - b_part)) + (b - b_part);
    return round_to_odd(sum, error);
}

/* Results rounded to odd, from which float_from_double rounds to fp32. That of a product is exact
 * in double. */

/* a b + c for fma.f32, a 1 + b for add.f32. */
static inline double fma_to_odd(float a, float b, float c, Rounding mode) {
    double product = (double)a * (double)b;
    double sum = add_to_odd(product, (double)c);
    return sum == 0 && mode == ROUND_DOWN && !signbit(product) != !signbit(c) ? -0.0 : sum;
}

/* a / b; the remainder a - q b is exact and gives the error's sign. */
static inline double div_to_odd(float a, float b) {
    double quotient = (double)a / (double)b;
    double remainder = fma(-quotient, (double)b, (double)a);
    return round_to_odd(quotient, b > 0 ? remainder : -remainder);
}

static inline double sqrt_to_odd(float a) {
    double root = sqrt((double)a);
    return round_to_odd(root, fma(-root, root, (double)a));
}

/* The result of .ftz: zero where it is below the normal numbers when it is rounded as if exponents
 * had no end, so also where it would be rounded up to the least of them. `exact` may be rounded to
 * odd. So on an H100 (make validate). */
static inline float flush_exact(double exact, Rounding mode) {
    float rounded = float_from_double(exact, mode);
    float endless = float_from_double(exact * 0x1p64, mode);
    return fabsf(endless) < 0x1p-62f ? copysignf(0.0f, rounded) : rounded;
}

/* ---- fp16 and bf16 arithmetic, on their bits ------------------------------------------------- */

/* fma.{rn}.f16 and .bf16, rounded once. mul is fma(a, b, -0), add is fma(a, 1, c): exact zeros and
 * signs come out as those instructions define them. */
static inline double half_fma_to_odd(uint16_t a, uint16_t b, uint16_t c) {
    double product = (double)half_to_float(a) * (double)half_to_float(b);
    return add_to_odd(product, (double)half_to_float(c));
}

static inline uint16_t half_fma(uint16_t a, uint16_t b, uint16_t c) {
    return half_from_double(half_fma_to_odd(a, b, c), ROUND_NEAREST);
}

static inline uint16_t bf16_fma(uint16_t a, uint16_t b, uint16_t c) {
    double product = (double)bf16_to_float(a) * (double)bf16_to_float(b);
    return bf16_from_double(add_to_odd(product, (double)bf16_to_float(c)), ROUND_NEAREST);
}

enum { HALF_ONE = 0x3c00, BF16_ONE = 0x3f80, MINUS_ZERO_16 = 0x8000 };

static inline uint16_t half_add(uint16_t a, uint16_t b) { return half_fma(a, HALF_ONE, b); }
static inline uint16_t bf16_add(uint16_t a, uint16_t b) { return bf16_fma(a, BF16_ONE, b); }

/* ---- Minimum and maximum --------------------------------------------------------------------- */

/* A float's place in the order of all floats, -0 below +0; `nan` for every NaN. */
static inline int32_t order_of(float value, int32_t nan) {
    int32_t bits = (int32_t)bits_of(value);
    int32_t order = bits ^ (bits >> 31 & 0x7fffffff);
    return (bits & 0x7fffffff) > 0x7f800000 ? nan : order;
}

/* The float at a place; the canonical NaN at either end. */
static inline float float_at(int32_t order) {
    int32_t bits = order ^ (order >> 31 & 0x7fffffff);
    return float_of(order == INT32_MIN ? 0x7fffffff : (uint32_t)bits);
}

/* min.f32 and max.f32: of a number and a NaN the number, of two NaN the canonical one. For fp16 and
 * bf16 convert, apply, convert back; that is exact. */
static inline float float_min(float a, float b) {
    int32_t x = order_of(a, INT32_MAX), y = order_of(b, INT32_MAX);
    return float_at(x < y ? x : y);
}

static inline float float_max(float a, float b) {
    int32_t x = order_of(a, INT32_MIN), y = order_of(b, INT32_MIN);
    return float_at(x > y ? x : y);
}

/* min.NaN and max.NaN: the canonical NaN if either operand is NaN. */
static inline float float_min_nan(float a, float b) {
    int32_t x = order_of(a, INT32_MIN), y = order_of(b, INT32_MIN);
    return float_at(x < y ? x : y);
}

static inline float float_max_nan(float a, float b) {
    int32_t x = order_of(a, INT32_MAX), y = order_of(b, INT32_MAX);
    return float_at(x > y ? x : y);
}

/* min.f64 and max.f64: the same rules for NaN and zeros; the one of two NaN is the second. */
static inline double double_min(double a, double b) {
    bool first = a < b || (a == b && signbit(a)) || b != b;
    return first && a == a ? a : b;
}

static inline double double_max(double a, double b) {
    bool first = a > b || (a == b && !signbit(a)) || b != b;
    return first && a == a ? a : b;
}

/* .xorsign.abs: `extreme` (the min or max of |a| and |b|) with the product of the operands'
 * signs. */
static inline float xorsign(float extreme, float a, float b) {
    return float_of(bits_of(extreme) | ((bits_of(a) ^ bits_of(b)) & 0x80000000));
}

/* ---- Integers -------------------------------------------------------------------------------- */

/* cvt.{rni,rzi,rmi,rpi} to an integral value of the same type. */
static inline double integral(double value, Rounding mode) {
    switch (mode) {
    case ROUND_ZERO:
        return trunc(value);
    case ROUND_DOWN:
        return floor(value);
    case ROUND_UP:
        return ceil(value);
    default:
        return rint(value);
    }
}

/* cvt from floating point to an integer of `bits` bits: rounds, then clamps to the type's range.
 * Returns two's complement, sign-extended to 64 bits. NaN becomes 0, but the top bit alone if the
 * source is fp64 or the result has 64 bits (PTX ISA, cvt). */
static inline uint64_t integer_from_double(double value, Rounding mode, unsigned bits,
                                           bool is_signed, bool from_fp64) {
    double rounded = integral(value, mode);
    uint64_t top = 1ull << (bits - 1);
    double limit = (double)top * (is_signed ? 1.0 : 2.0);
    if (value != value) return from_fp64 || bits == 64 ? top : 0;
    if (rounded >= limit) return is_signed ? top - 1 : top + (top - 1);
    if (is_signed) return rounded < -limit ? -top : (uint64_t)(int64_t)rounded;
    return rounded < 0 ? 0 : (uint64_t)rounded;
}

/* An integer as a double, rounded to odd if it needs more than 53 bits: float_from_double and
 * half_from_double then round it to their format correctly. */
static inline double double_from_unsigned(uint64_t value) {
    double odd = (double)(value >> 11 | ((value & 0x7ff) != 0)) * 2048.0;
    return value >> 53 ? odd : (double)value;
}

static inline double double_from_signed(int64_t value) {
    double magnitude = double_from_unsigned(value < 0 ? 0 - (uint64_t)value : (uint64_t)value);
    return value < 0 ? -magnitude : magnitude;
}

/* An integer as the double that `mode` rounds it to. Both its halves are exact in a double; their
 * sum is rounded to nearest, and its error says whether the next double is the right one. */
static inline double double_from_integer(uint64_t value, bool is_signed, Rounding mode) {
    double high = is_signed ? (double)(int32_t)(value >> 32) : (double)(value >> 32);
    double low = (double)(uint32_t)value, nearest = high * 0x1p32 + low;
    double error = (high * 0x1p32 - nearest) + low;
    bool beyond = error < 0
                      ? mode == ROUND_DOWN || (mode == ROUND_ZERO && nearest > 0)
                      : error > 0 && (mode == ROUND_UP || (mode == ROUND_ZERO && nearest < 0));
    return beyond ? nextafter(nearest, error < 0 ? -HUGE_VAL : HUGE_VAL) : nearest;
}

/* ---- Approximations -------------------------------------------------------------------------- */

/* ex2.approx.f32: 2^x = 2^n 2^f with n the integer nearest to x and |f| <= 1/2. 2^f is the Taylor
 * series of exp(f ln 2), coefficient k being (ln 2)^k / k!, to a relative error below 1e-11. Adding
 * 1.5 * 2^52 rounds x to n and leaves n in the low bits of the sum. */
static inline float ex2_approx(float x) {
    double clamped = (double)(fabsf(x) > 200.0f ? copysignf(200.0f, x) : x);
    double shifted = clamped + 0x1.8p52;
    double f = clamped - (shifted - 0x1.8p52);
    double power = 1.0178086009239696e-07;
    power = power * f + 1.3215486790144305e-06;
    power = power * f + 1.5252733804059838e-05;
    power = power * f + 0.00015403530393381606;
    power = power * f + 0.0013333558146428441;
    power = power * f + 0.009618129107628477;
    power = power * f + 0.055504108664821576;
    power = power * f + 0.2402265069591007;
    power = power * f + 0.6931471805599453;
    power = power * f + 1.0;
    return (float)(power * double_of((bits_of_double(shifted) + 1023) << 52));
}

/* div.approx.f32, rounded to odd. It is a * (1/b), and 1/b is 0 where it is below the normal
 * numbers: for finite b above 2^126 the quotient is 0, of an infinity NaN (PTX ISA, div). */
static inline double div_approx(float a, float b) {
    float magnitude = fabsf(b);
    bool vanishes = magnitude > 0x1p126f && magnitude < HUGE_VALF;
    return vanishes ? (double)(a * copysignf(0.0f, b)) : div_to_odd(a, b);
}

/* lg2, rcp, rsqrt, sqrt, sin, cos and tanh .approx.f32. */
static inline float lg2_approx(float x) { return (float)log2((double)x); }
static inline float rcp_approx(float x) { return 1.0f / x; }
static inline float rsqrt_approx(float x) { return (float)(1.0 / sqrt((double)x)); }
static inline float sqrt_approx(float x) { return sqrtf(x); }
static inline float sin_approx(float x) { return (float)sin((double)x); }
static inline float cos_approx(float x) { return (float)cos((double)x); }
static inline float tanh_approx(float x) { return (float)tanh((double)x); }

#endif
