/* Floating point for the tests, independent of numeric.h: the host's own arithmetic under its
 * rounding modes, and formats narrower than fp32 by their definition. */
#ifndef REFERENCE_H
#define REFERENCE_H

#include <fenv.h>
#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

/* Holds the product of two halves plus a third one exactly. */
#if defined(__x86_64__)
typedef __float128 Wide;
#else
typedef long double Wide;
#endif

static const int host_rounding[] = {FE_TONEAREST, FE_TOWARDZERO, FE_DOWNWARD, FE_UPWARD};
static const char *const rounding_names[] = {"rn", "rz", "rm", "rp"};

/* A format by the widths of its fields: fp16 is {10, 5}, bf16 {7, 8}. */
typedef struct Format {
    int fraction, exponent;
} Format;
static const Format format_f16 = {10, 5}, format_bf16 = {7, 8};

__attribute__((unused)) static float as_float(uint64_t bits) {
    const uint32_t low = (uint32_t)bits;
    float value;
    memcpy(&value, &low, sizeof value);
    return value;
}

__attribute__((unused)) static uint32_t float_as_bits(float value) {
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

__attribute__((unused)) static double as_double(uint64_t bits) {
    double value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

__attribute__((unused)) static uint64_t double_as_bits(double value) {
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

/* The value of a 16-bit format's bits. */
__attribute__((unused)) static double format_value(Format f, uint64_t bits) {
    const int top = (1 << f.exponent) - 1, bias = top / 2;
    const int exponent = (int)(bits >> f.fraction) & top;
    double fraction = (double)(bits & ((1u << f.fraction) - 1));
    const double sign = bits >> 15 & 1 ? -1 : 1;
    if (exponent == top) return fraction != 0 ? (double)NAN : sign * HUGE_VAL;
    if (exponent) fraction += 1 << f.fraction;
    return sign * ldexp(fraction, (exponent ? exponent : 1) - bias - f.fraction);
}

/* Whether |value|, between two neighbours, goes to the one away from zero; `rest` is its distance
 * from the other in units of theirs. */
static bool goes_away(Wide rest, bool odd, bool negative, int mode) {
    if (mode == FE_TONEAREST) return rest > 0.5 || (rest == 0.5 && odd);
    return rest > 0 && mode == (negative ? FE_DOWNWARD : FE_UPWARD);
}

/* `value` rounded once, as bits; a NaN is 0x7fff, the canonical one. */
__attribute__((unused)) static uint16_t format_round(Format f, Wide value, int mode) {
    const int top = (1 << f.exponent) - 1, bias = top / 2;
    const bool negative = __builtin_signbit(value);
    const uint16_t sign = negative ? 0x8000 : 0, infinity = (uint16_t)(top << f.fraction);
    if (value != value) return 0x7fff;
    Wide scaled = negative ? -value : value;
    if (scaled == (Wide)HUGE_VAL) return sign | infinity;
    scaled *= (Wide)ldexp(1.0, bias + f.fraction - 1); /* in units of the subnormals' last bit */
    int exponent = 1;                                  /* biased */
    for (; scaled >= (Wide)(2 << f.fraction) && exponent < top; exponent++) scaled /= 2;
    if (exponent == top) scaled = 2 << f.fraction; /* beyond the greatest number */
    const uint32_t kept = (uint32_t)scaled;
    const uint32_t away = goes_away(scaled - (Wide)kept, kept & 1, negative, mode);
    const uint32_t bits = ((uint32_t)(exponent - 1) << f.fraction) + kept + away;
    if (bits < infinity) return (uint16_t)(sign | bits);
    return (uint16_t)(sign | (infinity - !goes_away(0.75, true, negative, mode)));
}

/* a b + c; where that does not fit, on the right side of any number of a narrower format. */
__attribute__((unused)) static Wide wide_fma(Wide a, Wide b, Wide c) {
    const Wide product = a * b, sum = product + c, part = sum - product;
    const Wide error = (product - (sum - part)) + (c - part);
    const Wide nudge = (sum < 0 ? -sum : sum) * (Wide)0x1p-50 * (Wide)0x1p-50;
    return error > 0 ? sum + nudge : error < 0 ? sum - nudge : sum;
}

/* Whether .ftz makes zero of an exact result. A GPU rounds it to the format's bits, fraction + 1 of
 * them, as if exponents had no end, and looks whether that is below the normal numbers. */
__attribute__((unused)) static bool is_tiny(Wide exact, double least_normal, int fraction,
                                            int mode) {
    const Wide missing = (Wide)least_normal - (exact < 0 ? -exact : exact);
    const Wide step = (Wide)ldexp(least_normal, -1 - fraction); /* of the numbers just below */
    if (mode == FE_TONEAREST) return missing > step / 2;
    return mode == (exact < 0 ? FE_DOWNWARD : FE_UPWARD) ? missing >= step : missing > 0;
}

/* .ftz and .sat on fp32 */
__attribute__((unused)) static float flushed(float x) {
    return fpclassify(x) == FP_SUBNORMAL ? copysignf(0, x) : x;
}
__attribute__((unused)) static float clamped(float x) { return x > 0 ? x < 1 ? x : 1 : 0; }

#endif
