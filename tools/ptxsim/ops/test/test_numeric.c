/* numeric.h against the host's own arithmetic. Catches: a conversion that is wrong for subnormals,
 * ties, overflow or NaN; double rounding; a rounding mode mixed up; a minimum that loses a NaN. */
#include <fenv.h>
#include <stdlib.h>

#include "ops/numeric.h"
#include "test/tap.h"

static uint64_t state = 1;

/* splitmix64 */
static uint64_t random64(void) {
    uint64_t z = state += 0x9e3779b97f4a7c15;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
    z = (z ^ z >> 27) * 0x94d049bb133111eb;
    return z ^ z >> 31;
}

static uint32_t random32(void) { return (uint32_t)random64(); }

static const uint32_t special[] = {
    0x00000000, 0x80000000, 0x00000001, 0x80000001, 0x007fffff, 0x00800000, 0x80800000, 0x33000000,
    0x33000001, 0x38800000, 0x387fe000, 0x3f800000, 0xbf800000, 0x3f800001, 0x3f7fffff, 0x3fffffff,
    0x40000000, 0x477fefff, 0x477ff000, 0x47800000, 0x4b000001, 0x4f000000, 0xcf000000, 0x7e800000,
    0x7f7fffff, 0xff7fffff, 0x7f800000, 0xff800000, 0x7f800001, 0x7fc00000, 0xffc00000, 0x42c80000,
};
enum { SPECIALS = sizeof special / sizeof special[0] };
static const char *const mode_name[] = {"rn", "rz", "rm", "rp"};
static const int host_mode[] = {FE_TONEAREST, FE_TOWARDZERO, FE_DOWNWARD, FE_UPWARD};

/* A random float that is often near others in magnitude, so that sums cancel and ties occur. */
static float random_float(void) {
    uint32_t bits = random32();
    if (bits & 1) bits = (bits & 0x80ffffff) | 0x3f000000;
    if (bits & 2) bits &= 0xfffff000;
    return float_of(bits);
}

static bool same(float a, float b) { return bits_of(a) == bits_of(b) || (a != a && b != b); }

/* ---- Formats --------------------------------------------------------------------------------- */

/* The value of a 16-bit format's bits, by the definition. */
static double value_of(uint16_t bits, int fraction_bits, int exponent_bits) {
    int bias = (1 << (exponent_bits - 1)) - 1,
        exponent = bits >> fraction_bits & ((1 << exponent_bits) - 1);
    double fraction = bits & ((1 << fraction_bits) - 1), sign = bits >> 15 ? -1.0 : 1.0;
    if (exponent == (1 << exponent_bits) - 1) return fraction != 0 ? (double)NAN : sign * HUGE_VAL;
    if (exponent) fraction += 1 << fraction_bits;
    return sign * ldexp(fraction, (exponent ? exponent : 1) - bias - fraction_bits);
}

static void test_widening(void) {
    int bad_half = 0, bad_bf16 = 0;
    for (uint32_t h = 0; h < 65536; h++) {
        double half = value_of((uint16_t)h, 10, 5), bf16 = value_of((uint16_t)h, 7, 8);
        bad_half += !same(half_to_float((uint16_t)h), (float)half);
        bad_bf16 += !same(bf16_to_float((uint16_t)h), (float)bf16);
    }
    ok(bad_half == 0, "all 65536 halves widen exactly (%d wrong)", bad_half);
    ok(bad_bf16 == 0, "all 65536 bf16 widen exactly (%d wrong)", bad_bf16);
}

/* From each value to the next: themselves, the midpoint, and the floats beside the midpoint. */
static void test_narrowing(const char *name, int fraction_bits, int exponent_bits,
                           uint16_t (*convert)(float)) {
    int bad = 0;
    uint16_t infinity = (uint16_t)(((1 << exponent_bits) - 1) << fraction_bits);
    for (uint16_t h = 0; h < infinity; h++) {
        double low = value_of(h, fraction_bits, exponent_bits);
        double high = h + 1 == infinity
                          ? 2 * low - value_of((uint16_t)(h - 1), fraction_bits, exponent_bits)
                          : value_of((uint16_t)(h + 1), fraction_bits, exponent_bits);
        float middle = (float)((low + high) / 2);
        uint16_t even = h & 1 ? (uint16_t)(h + 1) : h;
        bad += convert((float)low) != h || convert(-(float)low) != (h | 0x8000);
        bad += convert(middle) != even;
        bad += convert(nextafterf(middle, 0)) != h && middle != 0;
        bad += convert(nextafterf(middle, HUGE_VALF)) != h + 1;
    }
    ok(bad == 0, "%s: nearest even around every midpoint (%d wrong)", name, bad);
    ok(convert(HUGE_VALF) == infinity && convert(-HUGE_VALF) == (infinity | 0x8000) &&
           convert(float_of(0x7f7fffff)) == infinity,
       "%s: overflow and infinity", name);
    ok(convert(float_of(0x7f800001)) == 0x7fff && convert(float_of(0xffc00000)) == 0x7fff,
       "%s: NaN is canonical", name);
}

static void test_narrow(void) {
    int bad_modes = 0, bad_half = 0, bad_bf16 = 0;
    for (int i = 0; i < 400000; i++) {
        uint64_t bits = random64();
        int exponent = (int)(random32() % 320) - 170;
        volatile double value =
            double_of((bits & 0x800fffffffffffff) | (uint64_t)(exponent + 1023) << 52);
        if (i % 3 == 0) value = double_of(bits_of_double(value) & 0xffffffffe0000000); /* ties */
        for (int mode = 0; mode < 4; mode++) {
            fesetround(host_mode[mode]);
            volatile float expected = (float)value;
            fesetround(FE_TONEAREST);
            bad_modes += narrow(value, 23, 8, (Rounding)mode) != bits_of(expected);
        }
        float single = (float)value;
        bad_half += half_from_float(single) != narrow((double)single, 10, 5, ROUND_NEAREST);
        bad_bf16 += bf16_from_float(single) != narrow((double)single, 7, 8, ROUND_NEAREST);
    }
    ok(bad_modes == 0, "narrow to fp32 in four modes equals the host (%d wrong)", bad_modes);
    ok(bad_half == 0, "half_from_float equals narrow (%d wrong)", bad_half);
    ok(bad_bf16 == 0, "bf16_from_float equals narrow (%d wrong)", bad_bf16);
    ok(narrow(70000, 10, 5, ROUND_ZERO) == 0x7bff && narrow(-70000, 10, 5, ROUND_ZERO) == 0xfbff &&
           narrow(70000, 10, 5, ROUND_UP) == 0x7c00 && narrow(-70000, 10, 5, ROUND_UP) == 0xfbff &&
           narrow(70000, 10, 5, ROUND_DOWN) == 0x7bff &&
           narrow(-70000, 10, 5, ROUND_DOWN) == 0xfc00,
       "overflow goes where the mode rounds");
    ok(narrow(0x1p-200, 10, 5, ROUND_UP) == 1 && narrow(-0x1p-1070, 10, 5, ROUND_DOWN) == 0x8001 &&
           narrow(0x1p-1070, 10, 5, ROUND_NEAREST) == 0,
       "the tiniest doubles");
    ok(tf32_from_float_rna(float_of(0x3f801000)) == 0x3f802000 &&
           tf32_from_float_rna(float_of(0x3f800fff)) == 0x3f800000 &&
           tf32_from_float_rna(float_of(0xbf801000)) == 0xbf802000 &&
           tf32_from_float_rna(-HUGE_VALF) == 0xff800000,
       "tf32 .rna: ties away from zero");
    ok(tf32_from_float(float_of(0x3f801000), ROUND_NEAREST) == 0x3f800000 &&
           tf32_from_float(float_of(0x3f803000), ROUND_NEAREST) == 0x3f804000 &&
           tf32_from_float(float_of(0x3f803fff), ROUND_ZERO) == 0x3f802000,
       "tf32 .rn and .rz");
}

static void test_clamps(void) {
    ok(bits_of(flush(float_of(0x807fffff))) == 0x80000000 &&
           bits_of(flush(float_of(0x00800000))) == 0x00800000 &&
           bits_of(flush(float_of(0x7f800001))) == 0x7f800001,
       "flush keeps the sign and touches subnormals alone");
    ok(saturate(0.5f) == 0.5f && saturate(2) == 1 && bits_of(saturate(-2)) == 0 &&
           bits_of(saturate(-0.0f)) == 0 && bits_of(saturate(NAN)) == 0 && saturate(HUGE_VALF) == 1,
       "saturate");
    ok(relu(3) == 3 && bits_of(relu(-3)) == 0 && bits_of(relu(NAN)) == 0x7fffffff, "relu");
}

/* ---- Arithmetic ------------------------------------------------------------------------------ */

typedef struct Failures {
    int fma, add, mul, div, sqrt;
} Failures;

static void compare(volatile float a, volatile float b, volatile float c, int mode, Failures *bad) {
    fesetround(host_mode[mode]);
    volatile float fused = fmaf(a, b, c), sum = a + b, product = a * b, quotient = a / b;
    volatile float root = sqrtf(a);
    fesetround(FE_TONEAREST);
    const Rounding rounding = (Rounding)mode;
    bad->fma += !same(float_from_double(fma_to_odd(a, b, c, rounding), rounding), fused);
    bad->add += !same(float_from_double(fma_to_odd(a, 1, b, rounding), rounding), sum);
    bad->mul += !same(float_from_double((double)a * (double)b, rounding), product);
    bad->div += !same(float_from_double(div_to_odd(a, b), rounding), quotient);
    bad->sqrt += !same(float_from_double(sqrt_to_odd(a), rounding), root);
}

static void test_arithmetic(void) {
    for (int mode = 0; mode < 4; mode++) {
        Failures bad = {0};
        for (int i = 0; i < SPECIALS * SPECIALS * SPECIALS; i++)
            compare(float_of(special[i % SPECIALS]), float_of(special[i / SPECIALS % SPECIALS]),
                    float_of(special[i / SPECIALS / SPECIALS]), mode, &bad);
        for (int i = 0; i < 300000; i++)
            compare(random_float(), random_float(), random_float(), mode, &bad);
        ok(bad.fma == 0, "fma.%s equals the host (%d wrong)", mode_name[mode], bad.fma);
        ok(bad.add == 0, "add.%s equals the host (%d wrong)", mode_name[mode], bad.add);
        ok(bad.mul == 0, "mul.%s equals the host (%d wrong)", mode_name[mode], bad.mul);
        ok(bad.div == 0, "div.%s equals the host (%d wrong)", mode_name[mode], bad.div);
        ok(bad.sqrt == 0, "sqrt.%s equals the host (%d wrong)", mode_name[mode], bad.sqrt);
    }
}

/* Whether `bits` is the value nearest to `exact`, even at a tie. */
static bool is_nearest(uint16_t bits, __float128 exact, double (*value)(uint16_t)) {
    __float128 mine = (__float128)value(bits) - exact;
    if (mine < 0) mine = -mine;
    for (int step = -1; step <= 1; step += 2) {
        __float128 other = (__float128)value((uint16_t)(bits + step)) - exact;
        if (other < 0) other = -other;
        if (other < mine || (other == mine && (bits & 1))) return false;
    }
    return true;
}

static double half_value(uint16_t bits) { return value_of(bits, 10, 5); }
static double bf16_value(uint16_t bits) { return value_of(bits, 7, 8); }

/* The exact sum fits the 113 bits of __float128 for all normal halves, and for the bf16 drawn here.
 */
static void test_sixteen_bits(void) {
    int bad_half = 0, bad_bf16 = 0, tried = 0;
    for (int i = 0; i < 300000; i++) {
        uint16_t h[3], b[3];
        for (int j = 0; j < 3; j++) {
            h[j] = (uint16_t)(random32() & 0xbfff); /* below 2 in magnitude: no overflow */
            if (i & 1)
                h[j] = (uint16_t)((h[j] & 0x83ff) | 0x3800); /* neighbours: ties, cancellation */
            b[j] = (uint16_t)((random32() & 0x80ff) | (0x3800 + (random32() % 15 << 7)));
        }
        uint16_t half = half_fma(h[0], h[1], h[2]), bf16 = bf16_fma(b[0], b[1], b[2]);
        __float128 exact_half = (__float128)half_value(h[0]) * half_value(h[1]) + half_value(h[2]);
        __float128 exact_bf16 = (__float128)bf16_value(b[0]) * bf16_value(b[1]) + bf16_value(b[2]);
        if ((half & 0x7fff) != 0) bad_half += !is_nearest(half, exact_half, half_value), tried++;
        if ((bf16 & 0x7fff) != 0) bad_bf16 += !is_nearest(bf16, exact_bf16, bf16_value);
    }
    ok(bad_half == 0 && tried > 200000, "fma.f16 is rounded once (%d of %d wrong)", bad_half,
       tried);
    ok(bad_bf16 == 0, "fma.bf16 is rounded once (%d wrong)", bad_bf16);

    /* (1 + 2^-7) (1 + 2^-1) lies halfway between two bf16; a term far below fp64's last bit decides
     */
    uint16_t a = 0x3f81, b = 0x3fc0, tiny = 0x0100;
    ok(bf16_fma(a, b, tiny) == 0x3fc2 && bf16_fma(a, b, tiny | 0x8000) == 0x3fc1,
       "fma.bf16: a tie is decided by a term of 2^-125");
    ok(half_add(0x3c00, 0x3c00) == 0x4000 && half_fma(0x8000, 0x3c00, MINUS_ZERO_16) == 0x8000 &&
           half_add(0x8000, 0x8000) == 0x8000 && half_add(0x3c00, 0xbc00) == 0 &&
           half_fma(0x7bff, 0x4000, MINUS_ZERO_16) == 0x7c00 &&
           half_fma(0x7c00, 0, MINUS_ZERO_16) == 0x7fff,
       "add.f16 and mul.f16: signs of zero, overflow, NaN");
    ok(bf16_add(0x3f80, 0x3f80) == 0x4000 && bf16_fma(0x8000, 0x3f80, MINUS_ZERO_16) == 0x8000,
       "add.bf16, mul.bf16");
}

static void test_extremes(void) {
    float nan = NAN;
    ok(float_max(1, 2) == 2 && float_min(1, 2) == 1 && float_max(-1, -2) == -1 &&
           float_min(-1, -2) == -2 && float_min(-1, 2) == -1 && float_max(-HUGE_VALF, 1) == 1,
       "min and max of numbers");
    ok(bits_of(float_max(-0.0f, 0.0f)) == 0 && bits_of(float_min(0.0f, -0.0f)) == 0x80000000 &&
           bits_of(float_max(0.0f, -0.0f)) == 0 && bits_of(float_min(-0.0f, 0.0f)) == 0x80000000,
       "-0 is below +0");
    ok(float_max(nan, 1) == 1 && float_max(1, nan) == 1 && float_min(nan, 1) == 1 &&
           float_min(1, -nan) == 1 && float_max(-nan, -HUGE_VALF) == -HUGE_VALF,
       "a NaN gives way to a number");
    ok(bits_of(float_max(nan, -nan)) == 0x7fffffff && bits_of(float_min(-nan, nan)) == 0x7fffffff,
       "two NaN give the canonical one");
    ok(bits_of(float_max_nan(nan, 1)) == 0x7fffffff &&
           bits_of(float_min_nan(1, -nan)) == 0x7fffffff && float_max_nan(1, 2) == 2 &&
           float_min_nan(1, 2) == 1,
       ".NaN propagates");
    ok(xorsign(2, -2, 1) == -2 && xorsign(2, -2, -1) == 2, ".xorsign.abs");
    int bad = 0;
    for (int i = 0; i < 200000; i++) {
        float a = float_of(random32()), b = i & 1 ? random_float() : float_of(random32());
        bad +=
            a == a && b == b && (float_max(a, b) != fmaxf(a, b) || float_min(a, b) != fminf(a, b));
    }
    ok(bad == 0, "random pairs equal fmaxf and fminf (%d wrong)", bad);
}

/* ---- Integers -------------------------------------------------------------------------------- */

static void test_integers(void) {
    ok(integer_from_double(2.5, ROUND_NEAREST, 32, true, false) == 2 &&
           integer_from_double(3.5, ROUND_NEAREST, 32, true, false) == 4 &&
           integer_from_double(-2.5, ROUND_ZERO, 32, true, false) == (uint64_t)-2 &&
           integer_from_double(-2.5, ROUND_DOWN, 32, true, false) == (uint64_t)-3 &&
           integer_from_double(2.1, ROUND_UP, 32, true, false) == 3,
       "rni, rzi, rmi, rpi");
    ok(integer_from_double(1e10, ROUND_ZERO, 32, true, false) == INT32_MAX &&
           integer_from_double(-1e10, ROUND_ZERO, 32, true, false) ==
               (uint64_t)(int64_t)INT32_MIN &&
           integer_from_double(1e10, ROUND_ZERO, 32, false, false) == UINT32_MAX &&
           integer_from_double(-1, ROUND_ZERO, 32, false, false) == 0 &&
           integer_from_double(1e30, ROUND_ZERO, 64, true, false) == INT64_MAX &&
           integer_from_double(-1e30, ROUND_ZERO, 64, true, false) == (uint64_t)INT64_MIN &&
           integer_from_double(1e30, ROUND_ZERO, 64, false, false) == UINT64_MAX &&
           integer_from_double(300, ROUND_ZERO, 8, false, false) == 255 &&
           integer_from_double(-300, ROUND_ZERO, 8, true, false) == (uint64_t)-128,
       "out of range clamps");
    ok(integer_from_double(NAN, ROUND_ZERO, 32, true, false) == 0 &&
           integer_from_double(NAN, ROUND_ZERO, 64, false, false) == 1ull << 63 &&
           integer_from_double(NAN, ROUND_ZERO, 32, true, true) == 1u << 31,
       "NaN by source and width");
    int bad = 0;
    for (int i = 0; i < 300000; i++) {
        uint64_t bits = random64() >> (random32() & 63);
        for (int mode = 0; mode < 4; mode++) {
            volatile uint64_t u = bits;
            volatile int64_t s = (int64_t)(i & 1 ? bits : 0 - bits);
            fesetround(host_mode[mode]);
            volatile float from_u = (float)u, from_s = (float)s;
            fesetround(FE_TONEAREST);
            bad += float_from_double(double_from_unsigned(u), (Rounding)mode) != from_u;
            bad += float_from_double(double_from_signed(s), (Rounding)mode) != from_s;
        }
    }
    ok(bad == 0, "64-bit integers to fp32 in four modes equal the host (%d wrong)", bad);
}

/* ---- Approximations -------------------------------------------------------------------------- */

static void test_approximations(void) {
    double worst = 0;
    for (int i = 0; i < 400000; i++) {
        float x = (float)(random32() % 280000000) / 1e6f - 150.0f;
        double exact = exp2((double)x);
        if (exact > 3.4e38) continue;
        float mine = ex2_approx(x);
        double ulp = ldexp(1.0, exact < 0x1p-126 ? -149 : ilogb(exact) - 23);
        double error = fabs((double)mine - exact) / ulp;
        worst = error > worst ? error : worst;
    }
    ok(worst < 0.501, "ex2 is within 0.501 ulp (%.4f)", worst);
    ok(ex2_approx(0) == 1 && ex2_approx(-0.0f) == 1 && ex2_approx(10) == 1024 &&
           ex2_approx(-149) == 0x1p-149f && ex2_approx(-151) == 0 && ex2_approx(128) == HUGE_VALF &&
           ex2_approx(-HUGE_VALF) == 0 && ex2_approx(HUGE_VALF) == HUGE_VALF &&
           ex2_approx(-1e30f) == 0 && isnan(ex2_approx(NAN)) && ex2_approx(float_of(1)) == 1,
       "ex2 of integers, infinities, NaN, subnormals");
    ok(lg2_approx(8) == 3 && lg2_approx(0) == -HUGE_VALF && isnan(lg2_approx(-1)) &&
           lg2_approx(0x1p-149f) == -149,
       "lg2");
    ok(rcp_approx(4) == 0.25f && rcp_approx(-0.0f) == -HUGE_VALF && rcp_approx(HUGE_VALF) == 0 &&
           rsqrt_approx(16) == 0.25f && rsqrt_approx(0) == HUGE_VALF && isnan(rsqrt_approx(-1)) &&
           sqrt_approx(9) == 3 && isnan(sqrt_approx(-1)),
       "rcp, rsqrt, sqrt");
    ok(sin_approx(0) == 0 && cos_approx(0) == 1 && tanh_approx(HUGE_VALF) == 1 &&
           fabsf(sin_approx(1) - 0.841470985f) < 1e-7f &&
           fabsf(tanh_approx(0.5f) - 0.462117157f) < 1e-7f,
       "sin, cos, tanh");
}

int main(void) {
    test_widening();
    test_narrowing("fp16", 10, 5, half_from_float);
    test_narrowing("bf16", 7, 8, bf16_from_float);
    test_narrow();
    test_clamps();
    test_arithmetic();
    test_sixteen_bits();
    test_extremes();
    test_integers();
    test_approximations();
    return done_testing();
}
