#include "base/element.h"

#include <math.h>
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

static float fp16_to_float(uint16_t bits) {
    const uint32_t sign = (uint32_t)(bits & 0x8000) << 16, fraction = bits & 0x3ff;
    const uint32_t exponent = bits >> 10 & 0x1f;
    if (exponent == 31) return bits_float(sign | 0x7f800000 | fraction << 13);
    if (exponent == 0) return (sign ? -1.0f : 1.0f) * ldexpf((float)fraction, -24);
    return bits_float(sign | (exponent + 112) << 23 | fraction << 13);
}

static uint16_t bf16_from_float(float value) {
    const uint32_t bits = float_bits(value);
    if ((bits & 0x7fffffff) > 0x7f800000) return (uint16_t)(bits >> 16 | 0x40); /* keep it a NaN */
    return (uint16_t)shift_right_rounded(bits, 16);
}

const char *element_name(ElementType type) { return type == TYPE_BF16 ? "bf16" : "fp16"; }

uint16_t element_from_float(ElementType type, float value) {
    return type == TYPE_BF16 ? bf16_from_float(value) : fp16_from_float(value);
}

float element_to_float(ElementType type, uint16_t bits) {
    return type == TYPE_BF16 ? bits_float((uint32_t)bits << 16) : fp16_to_float(bits);
}

double element_ulp(ElementType type, double value) {
    const int fraction_bits = type == TYPE_BF16 ? 7 : 10;
    const int least_exponent = type == TYPE_BF16 ? -126 : -14;
    int exponent = least_exponent;
    if (value != 0) exponent = ilogb(value);
    return ldexp(1.0, (exponent > least_exponent ? exponent : least_exponent) - fraction_bits);
}

size_t elements_not_finite(ElementType type, const uint16_t *elements, size_t count) {
    const uint16_t exponent = type == TYPE_BF16 ? 0x7f80 : 0x7c00; /* all ones: inf or NaN */
    size_t found = 0;
    for (size_t i = 0; i < count; i++) found += (elements[i] & exponent) == exponent;
    return found;
}
