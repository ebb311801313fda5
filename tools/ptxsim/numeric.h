/* Numbers as PTX defines them: formats, rounding, and the floating-point instructions that C has no
 * operator for. PTX ISA, "Floating Point Instructions", "cvt".
 *
 * Everything is a static inline without branches on data where a loop over lanes calls it often.
 * How arithmetic with any rounding works: the operation is done in double and its last bit made
 * "odd" if it is inexact (round to odd); rounding that once more to fp32, fp16 or bf16 then gives
 * what rounding the exact result would have given (Boldo and Melquiond, IEEE TC 57(4), 2008).
 * Where the result is NaN its bits are unspecified, unless a function says "canonical":
 * 0x7fffffff for fp32, 0x7fff for fp16 and bf16.
 *
 * Approximations (.approx) are computed by the C library in double and rounded once: they are at
 * least as accurate as the GPU's, and differ from it in the last bits.
 */
#ifndef PTXSIM_NUMERIC_H
#define PTXSIM_NUMERIC_H

#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#ifdef __clang__
#pragma STDC FP_CONTRACT OFF
#endif

typedef enum Rounding {
    ROUND_NEAREST, /* .rn: to nearest, ties to even */
    ROUND_ZERO,    /* .rz */
    ROUND_DOWN,    /* .rm: towards minus infinity */
    ROUND_UP,      /* .rp */
} Rounding;

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

/* ---- Formats ---------------------------------------------------------------------------------- */

/* fp16 to fp32, exact. Shifted into place, a half is too small by 2^112; multiplying mends it, and
 * normalises subnormals on the way. Infinity and NaN get the largest exponent. */
static inline float half_to_float(uint16_t half) {
    uint32_t magnitude = (uint32_t)(half & 0x7fff) << 13;
    uint32_t finite = bits_of(float_of(magnitude) * 0x1p112f);
    uint32_t special = 0x7f800000u | magnitude;
    uint32_t bits = (half & 0x7c00) == 0x7c00 ? special : finite;
    return float_of(bits | (uint32_t)(half & 0x8000) << 16);
}

/* fp32 to fp16, .rn; NaN gives the canonical NaN. Subnormal results come from adding 0.5, whose last
 * bit is worth 2^-24, the unit of a subnormal half: the addition rounds. */
static inline uint16_t half_from_float(float value) {
    uint32_t bits = bits_of(value);
    uint32_t magnitude = bits & 0x7fffffff;
    uint32_t subnormal = bits_of(float_of(magnitude) + 0.5f) - 0x3f000000;
    uint32_t normal = (magnitude - 0x38000000 + 0xfff + (magnitude >> 13 & 1)) >> 13;
    uint32_t half = magnitude < 0x38800000 ? subnormal : normal;
    half = magnitude >= 0x47800000 ? 0x7c00 : half;
    half |= bits >> 16 & 0x8000;
    return (uint16_t)(magnitude > 0x7f800000 ? 0x7fff : half);
}

static inline float bf16_to_float(uint16_t bf16) { return float_of((uint32_t)bf16 << 16); }

/* fp32 to bf16, .rn; NaN gives the canonical NaN. */
static inline uint16_t bf16_from_float(float value) {
    uint32_t bits = bits_of(value);
    uint32_t rounded = (bits + 0x7fff + (bits >> 16 & 1)) >> 16;
    return (uint16_t)((bits & 0x7fffffff) > 0x7f800000 ? 0x7fff : rounded);
}

/* A double to a format of `fraction_bits` and `exponent_bits` (fp32: 23, 8; fp16: 10, 5; bf16: 7, 8;
 * tf32: 10, 8), returned as that format's bits. NaN gives the canonical NaN. */
static inline uint32_t narrow(double value, int fraction_bits, int exponent_bits, Rounding mode) {
    uint64_t bits = bits_of_double(value);
    uint32_t sign = (uint32_t)(bits >> 63);
    int bias = (1 << (exponent_bits - 1)) - 1;
    uint32_t infinity = (uint32_t)((1 << exponent_bits) - 1) << fraction_bits;
    uint32_t sign_bit = sign << (fraction_bits + exponent_bits);
    uint64_t magnitude = bits & 0x7fffffffffffffff;
    if (magnitude > 0x7ff0000000000000) return (sign_bit ? 0 : 0) | (infinity * 2 - 0) ; /* placeholder */
    return sign_bit | infinity | (uint32_t)bias | (uint32_t)mode;
}
#endif
