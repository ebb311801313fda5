#include "base/element.h"

#include <math.h>
#include <stdbool.h>
#include <string.h>

static uint32_t float_bits(float value) {
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

static float bits_float(uint32_t bits) {
    float value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

/* value / 2^shift, to nearest, ties to even; 0 <= shift < 32. */
static uint32_t shift_right_rounded(uint32_t value, int shift) {
    if (shift == 0) return value;
    uint32_t quotient = value >> shift, rest = value & ((1u << shift) - 1),
             half = 1u << (shift - 1);
    return quotient + (rest > half || (rest == half && (quotient & 1)));
}

static uint16_t fp16_from_float(float value) {
    const uint32_t bits = float_bits(value), sign = bits >> 16 & 0x8000;
    const uint32_t magnitude = bits & 0x7fffffff;
    if (magnitude > 0x7f800000) return (uint16_t)(sign | 0x7e00); /* NaN */

    /* The fp16 number is the fraction shifted so that its last bit weighs 2^-10 of the leading one,
     * or 2^-24 for subnormals; a carry out of the fraction moves into the exponent by itself. */
    const int exponent = (int)(magnitude >> 23) - 127;
    if (exponent >= 16) return (uint16_t)(sign | 0x7c00);
    if (exponent < -25) return (uint16_t)sign;
    const uint32_t fraction = (magnitude & 0x7fffff) | 0x800000;
    if (exponent < -14) return (uint16_t)(sign | shift_right_rounded(fraction, -1 - exponent));
    const uint32_t normal = (uint32_t)(exponent + 14) << 10;
    return (uint16_t)(sign | (normal + shift_right_rounded(fraction, 13)));
}

static uint16_t bf16_from_float(float value) {
    const uint32_t bits = float_bits(value);
    if ((bits & 0x7fffffff) > 0x7f800000) return (uint16_t)(bits >> 16 | 0x40); /* keep it a NaN */
    return (uint16_t)shift_right_rounded(bits, 16);
}

/* `yes` or `no` without a branch, so that loops over what follows become vectors. */
static uint32_t choose(bool condition, uint32_t yes, uint32_t no) {
    const uint32_t mask = 0u - (uint32_t)condition;
    return (yes & mask) | (no & ~mask);
}

static float fp16_value(uint16_t bits) {
    const uint32_t magnitude = bits & 0x7fff, sign = (uint32_t)(bits & 0x8000) << 16;
    const uint32_t subnormal = float_bits((float)(int)magnitude * 0x1p-24f);
    const uint32_t normal = (magnitude << 13) + (112u << 23);
    const uint32_t finite = choose(magnitude < 0x400, subnormal, normal);
    return bits_float(sign | choose(magnitude < 0x7c00, finite, 0x7f800000 | magnitude << 13));
}

static float fp16_rounded(float value) {
    const uint32_t bits = float_bits(value), magnitude = bits & 0x7fffffff;
    /* The last bit that stays is 13 places above the last of a float; of a subnormal number it
     * weighs 2^-24, as the last bit of 0.5 does. */
    const uint32_t normal = (magnitude + 0xfff + (magnitude >> 13 & 1)) & ~0x1fffu;
    const uint32_t subnormal = float_bits((bits_float(magnitude) + 0.5f) - 0.5f);
    const uint32_t finite = choose(magnitude < 113u << 23, subnormal, normal);
    const uint32_t special = choose(magnitude > 0x7f800000, 0x7fc00000, 0x7f800000);
    return bits_float((bits & 0x80000000) | choose(finite > 0x477fe000, special, finite));
}

static float bf16_rounded(float value) {
    const uint32_t bits = float_bits(value);
    const uint32_t rounded = (bits + 0x7fff + (bits >> 16 & 1)) & 0xffff0000;
    const uint32_t quiet = (bits & 0xffff0000) | 0x400000; /* keep it a NaN */
    return bits_float(choose((bits & 0x7fffffff) > 0x7f800000, quiet, rounded));
}

const char *element_name(ElementType type) { return type == TYPE_BF16 ? "bf16" : "fp16"; }

uint16_t element_from_float(ElementType type, float value) {
    return type == TYPE_BF16 ? bf16_from_float(value) : fp16_from_float(value);
}

float element_to_float(ElementType type, uint16_t bits) {
    return type == TYPE_BF16 ? bits_float((uint32_t)bits << 16) : fp16_value(bits);
}

static void fp16_values(const uint16_t *restrict bits, size_t count, float *restrict values) {
    for (size_t i = 0; i < count; i++) values[i] = fp16_value(bits[i]);
}

static void bf16_values(const uint16_t *restrict bits, size_t count, float *restrict values) {
    for (size_t i = 0; i < count; i++) values[i] = bits_float((uint32_t)bits[i] << 16);
}

static void round_to_fp16(size_t count, float *values) {
    for (size_t i = 0; i < count; i++) values[i] = fp16_rounded(values[i]);
}

static void round_to_bf16(size_t count, float *values) {
    for (size_t i = 0; i < count; i++) values[i] = bf16_rounded(values[i]);
}

void elements_to_float(ElementType type, const uint16_t *bits, size_t count, float *values) {
    (type == TYPE_BF16 ? bf16_values : fp16_values)(bits, count, values);
}

void elements_round(ElementType type, size_t count, float *values) {
    (type == TYPE_BF16 ? round_to_bf16 : round_to_fp16)(count, values);
}

double element_ulp(ElementType type, double value) {
    const double least = type == TYPE_BF16 ? 0x1p-126 : 0x1p-14; /* the least normal number */
    double power; /* value's exponent alone: the power of two that is not above it */
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    bits &= (uint64_t)0x7ff << 52;
    memcpy(&power, &bits, sizeof power);
    return (power > least ? power : least) * (type == TYPE_BF16 ? 0x1p-7 : 0x1p-10);
}

size_t elements_not_finite(ElementType type, const uint16_t *elements, size_t count) {
    const uint16_t exponent = type == TYPE_BF16 ? 0x7f80 : 0x7c00; /* all ones: inf or NaN */
    size_t found = 0;
    for (size_t i = 0; i < count; i++) found += (elements[i] & exponent) == exponent;
    return found;
}
