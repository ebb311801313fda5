/* Catches: truncation instead of rounding to even, subnormals flushed to zero, overflow that does
 * not become infinity, a NaN that becomes infinity, a lost sign of zero, a wrong ulp. */
#include "base/element.h"
#include "test/tap.h"

#include <stdint.h>

/* The value of bits by the definition of the format, without any shifting tricks. */
static double by_definition(ElementType type, unsigned bits) {
    const int fraction_bits = type == TYPE_BF16 ? 7 : 10, bias = type == TYPE_BF16 ? 127 : 15;
    const int exponent = (int)(bits & 0x7fff) >> fraction_bits;
    const int fraction = (int)bits & ((1 << fraction_bits) - 1);
    const double sign = bits & 0x8000 ? -1 : 1;
    if (exponent == 2 * bias + 1) return fraction ? NAN : sign * INFINITY;
    if (exponent == 0) return sign * ldexp(fraction, 1 - bias - fraction_bits);
    return sign * ldexp(fraction + (1 << fraction_bits), exponent - bias - fraction_bits);
}

static void all_bit_patterns(ElementType type) {
    int wrong_value = 0, wrong_return = 0;
    for (unsigned bits = 0; bits < 65536; bits++) {
        const double expected = by_definition(type, bits);
        const float got = element_to_float(type, (uint16_t)bits);
        const uint16_t back = element_from_float(type, got);
        if (isnan(expected)) {
            wrong_value += !isnan(got);
            wrong_return += !isnan(element_to_float(type, back));
        } else {
            wrong_value += got != expected || !signbit(got) != !signbit(expected);
            wrong_return += back != bits;
        }
    }
    ok(wrong_value == 0, "%s: all 65536 patterns mean what the format says", element_name(type));
    ok(wrong_return == 0, "%s: all 65536 patterns survive the way to float and back",
       element_name(type));
}

/* Between every two neighbours: just below, at and just above the middle. */
static void all_middles(ElementType type) {
    const unsigned infinity = type == TYPE_BF16 ? 0x7f80 : 0x7c00;
    int wrong = 0;
    for (unsigned low = 0; low + 1 < infinity; low++) {
        const float a = element_to_float(type, (uint16_t)low);
        const float b = element_to_float(type, (uint16_t)(low + 1));
        const float middle = (float)(((double)a + b) / 2);
        const unsigned even = low & 1 ? low + 1 : low;
        wrong += element_from_float(type, nextafterf(middle, 0)) != low;
        wrong += element_from_float(type, middle) != even;
        wrong += element_from_float(type, nextafterf(middle, INFINITY)) != low + 1;
        wrong += element_from_float(type, -middle) != (even | 0x8000);
        wrong += element_ulp(type, b) < (double)b - a;
    }
    ok(wrong == 0, "%s: rounds to nearest, ties to even, between all neighbours",
       element_name(type));
}

static bool same_bits(float a, float b) {
    uint32_t a_bits, b_bits;
    memcpy(&a_bits, &a, sizeof a_bits);
    memcpy(&b_bits, &b, sizeof b_bits);
    return a_bits == b_bits;
}

/* The functions on arrays: all elements, and floats with all upper halves and with lower halves
 * below, at and above the middles. */
static void arrays(ElementType type) {
    enum { COUNT = 65536 };
    static uint16_t elements[COUNT];
    static float values[COUNT], rounded[COUNT];
    int wrong = 0;
    for (unsigned i = 0; i < COUNT; i++) elements[i] = (uint16_t)i;
    elements_to_float(type, elements, COUNT, values);
    for (unsigned i = 0; i < COUNT; i++)
        wrong += !same_bits(values[i], element_to_float(type, elements[i]));
    ok(wrong == 0, "%s: many at once are as one by one", element_name(type));
    wrong = 0;
    for (unsigned low = 0; low < 32; low++) {
        static const unsigned patterns[] = {0, 1, 0xfff, 0x1000, 0x1001, 0x7fff, 0x8000, 0x8001};
        for (unsigned high = 0; high < COUNT; high++) {
            const unsigned bits = high << 16 | (patterns[low % 8] ^ low / 8 << 13);
            memcpy(&values[high], &bits, sizeof bits);
        }
        memcpy(rounded, values, sizeof values);
        elements_round(type, COUNT, rounded);
        for (unsigned high = 0; high < COUNT; high++) {
            const float value = element_to_float(type, element_from_float(type, values[high]));
            wrong += !same_bits(rounded[high], value);
        }
    }
    ok(wrong == 0, "%s: rounded many at once, too", element_name(type));
}

int main(void) {
    arrays(TYPE_FP16);
    arrays(TYPE_BF16);
    all_bit_patterns(TYPE_FP16);
    all_bit_patterns(TYPE_BF16);
    all_middles(TYPE_FP16);
    all_middles(TYPE_BF16);
    const uint32_t nan_bits = 0x7f800001; /* a NaN whose upper half alone is an infinity */
    float nan_value;
    memcpy(&nan_value, &nan_bits, sizeof nan_value);
    ok(isnan(element_to_float(TYPE_BF16, element_from_float(TYPE_BF16, nan_value))),
       "bf16: a NaN stays a NaN whatever its bits");
    ok(isnan(element_to_float(TYPE_FP16, element_from_float(TYPE_FP16, nan_value))),
       "fp16: so does it there");
    is_int(element_from_float(TYPE_FP16, 65519.996f), 0x7bff, "fp16: below 65520 is finite");
    is_int(element_from_float(TYPE_FP16, 65520.0f), 0x7c00, "fp16: 65520 is infinite");
    is_int(element_from_float(TYPE_FP16, -1e30f), 0xfc00, "fp16: -1e30 is -infinity");
    is_int(element_from_float(TYPE_BF16, 3.4e38f), 0x7f80, "bf16: 3.4e38 is infinite");
    is_int(element_from_float(TYPE_FP16, 0x1p-25f), 0, "fp16: half the least number is zero");
    is_int(element_from_float(TYPE_FP16, 0x1.8p-25f), 1, "fp16: more than half of it is not");
    is_int(element_from_float(TYPE_FP16, -1e-30f), 0x8000, "fp16: a tiny negative is -0");
    is_near(element_ulp(TYPE_FP16, 1.0), 0x1p-10, 0, "fp16: ulp of 1");
    is_near(element_ulp(TYPE_FP16, -1.999), 0x1p-10, 0, "fp16: ulp of -1.999");
    is_near(element_ulp(TYPE_FP16, 0), 0x1p-24, 0, "fp16: ulp of 0");
    const uint16_t mixed[] = {0x7c00, 0x7bff, 0xfc01, 0x7f80, 0x0001, 0xff7f, 0xff80};
    is_int((long long)elements_not_finite(TYPE_FP16, mixed, 7), 5, "fp16: inf and NaN are found");
    is_int((long long)elements_not_finite(TYPE_BF16, mixed, 7), 2, "bf16: likewise");
    is_near(element_ulp(TYPE_BF16, 2.0), 0x1p-6, 0, "bf16: ulp of 2");
    return done_testing();
}
