/* Floating-point instructions on edge values, against the host's arithmetic in the same rounding
 * mode. Catches: double rounding, a rounding mode or modifier that is ignored or mixed up, lost
 * subnormals, a wrong sign of zero, a NaN that is dropped or invented. */
#include "test/operands.h"
#include "test/reference.h"

/* What an instruction computes, in each precision. */
typedef struct Operation {
    float (*f32)(float a, float b, float c);
    double (*f64)(double a, double b, double c);
    Wide (*wide)(Wide a, Wide b, Wide c); /* exact: rounded to fp16 or bf16 afterwards */
} Operation;

#define OPERATION(name, single, twice, exact)                \
    static float name##_f32(float a, float b, float c) {     \
        (void)a, (void)b, (void)c;                           \
        return single;                                       \
    }                                                        \
    static double name##_f64(double a, double b, double c) { \
        (void)a, (void)b, (void)c;                           \
        return twice;                                        \
    }                                                        \
    static Wide name##_wide(Wide a, Wide b, Wide c) {        \
        (void)a, (void)b, (void)c;                           \
        return exact;                                        \
    }                                                        \
    static const Operation name = {name##_f32, name##_f64, name##_wide};
#define SAME(name, value) OPERATION(name, value, value, value)

#define SIGN(x) __builtin_signbit(x)
#define ABS(x) (SIGN(x) ? -(x) : (x))
#define BELOW(a, b) ((a) < (b) || ((a) == (b) && SIGN(a)))
#define LEAST(a, b) ((a) != (a) ? (b) : (b) != (b) ? (a) : BELOW(a, b) ? (a) : (b))
#define MOST(a, b) ((a) != (a) ? (b) : (b) != (b) ? (a) : BELOW(b, a) ? (a) : (b))
#define OR_NAN(a, b, value) ((a) != (a) || (b) != (b) ? (a) + (b) : (value))
#define SIGNED(a, b, value) (!SIGN(a) != !SIGN(b) ? -(value) : (value))

SAME(add, a + b)
SAME(sub, a - b)
SAME(mul, a *b)
OPERATION(fused, fmaf(a, b, c), fma(a, b, c), wide_fma(a, b, c))
SAME(divide, a / b)
/* a times the reciprocal, which is flushed to zero: that of a number above 2^126 is subnormal */
#define RECIPROCAL(b) (ABS(b) > 0x1p126f && !__builtin_isinf(b) ? 0 * (b) : 1 / (b))
SAME(divide_fast, RECIPROCAL(b) == 0 && !__builtin_isinf(b) ? a * RECIPROCAL(b) : a / b)
SAME(reciprocal, 1 / a)
OPERATION(root, sqrtf(a), sqrt(a), a)
SAME(negate, -a)
SAME(magnitude, ABS(a))
SAME(least, LEAST(a, b))
SAME(most, MOST(a, b))
SAME(least_nan, OR_NAN(a, b, LEAST(a, b)))
SAME(most_nan, OR_NAN(a, b, MOST(a, b)))
SAME(least_sign, SIGNED(a, b, LEAST(ABS(a), ABS(b))))
SAME(most_sign, SIGNED(a, b, MOST(ABS(a), ABS(b))))
SAME(least_nan_sign, OR_NAN(a, b, SIGNED(a, b, LEAST(ABS(a), ABS(b)))))
SAME(most_nan_sign, OR_NAN(a, b, SIGNED(a, b, MOST(ABS(a), ABS(b)))))
SAME(copy_sign, SIGN(a) ? -ABS(b) : ABS(b))

#define FUNCTION(name, function) \
    OPERATION(name, (float)function((double)a), function(a), (Wide)function((double)a))
static double reciprocal_root(double x) { return 1 / sqrt(x); }
FUNCTION(power, exp2)
FUNCTION(logarithm, log2)
FUNCTION(rsqrt, reciprocal_root)
FUNCTION(sine, sin)
FUNCTION(cosine, cos)
FUNCTION(tangent, tanh)

/* .approx.ftz.f64 has the upper half of a number alone. */
static double upper(double x) {
    return fabs(x) < 0x1p-1022 ? copysign(0, x) : as_double(double_as_bits(x) >> 32 << 32);
}
#define UPPER(name, function) OPERATION(name, (float)a, upper(function(upper(a))), a)
static double one_over(double x) { return 1 / x; }
UPPER(upper_reciprocal, one_over)
UPPER(upper_rsqrt, reciprocal_root)

/* '%' in `text` becomes each of the endings in turn: modifiers and the type. Results may differ
 * from the reference by `ulps`, as approximations do. */
typedef struct FloatRow {
    const char *text, *endings;
    int sources;
    const Operation *operation;
    double ulps;
} FloatRow;

#define ROUNDED                                                                             \
    ".f32 .rn.f32 .rz.f32 .rm.f32 .rp.f32 .ftz.f32 .rn.ftz.f32 .rz.ftz.f32 .rm.ftz.f32 "    \
    ".rp.ftz.f32 .sat.f32 .rn.sat.f32 .rz.sat.f32 .rm.sat.f32 .rp.sat.f32 .rn.ftz.sat.f32 " \
    ".rz.ftz.sat.f32 .rm.ftz.sat.f32 .rp.ftz.sat.f32"
#define FUSED                                                                          \
    ".rn.f32 .rz.f32 .rm.f32 .rp.f32 .rn.ftz.f32 .rz.ftz.f32 .rm.ftz.f32 .rp.ftz.f32 " \
    ".rn.sat.f32 .rz.sat.f32 .rm.sat.f32 .rp.sat.f32 .rn.ftz.sat.f32 .rm.ftz.sat.f32 " \
    ".rn.f64"
#define DIVIDED \
    ".rn.f32 .rz.f32 .rm.f32 .rp.f32 .rn.ftz.f32 .rz.ftz.f32 .rm.ftz.f32 .rp.ftz.f32 .rn.f64"
#define HALVES ".f16 .f16x2 .bf16 .bf16x2"
#define HALF_SUM                                                            \
    ".f16 .rn.f16 .ftz.f16 .sat.f16 .ftz.sat.f16 .f16x2 .rn.ftz.sat.f16x2 " \
    ".bf16 .rn.bf16 .bf16x2 .rn.bf16x2"
#define HALF_FUSED                                                             \
    ".rn.f16 .rn.ftz.f16 .rn.sat.f16 .rn.relu.f16 .rn.ftz.relu.f16 .rn.f16x2 " \
    ".rn.ftz.sat.f16x2 .rn.relu.f16x2 .rn.bf16 .rn.relu.bf16 .rn.bf16x2 "      \
    ".rn.relu.bf16x2"
#define EXTREMES ".f32 .ftz.f32 .f16 .ftz.f16 .f16x2 .ftz.f16x2 .bf16 .bf16x2"
#define NAN_EXTREMES ".NaN.f32 .ftz.NaN.f32 .NaN.f16 .ftz.NaN.f16 .NaN.f16x2 .NaN.bf16 .NaN.bf16x2"
#define SIGNS ".f32 .ftz.f32 .f64 .f16 .ftz.f16 .f16x2 .ftz.f16x2 .bf16 .bf16x2"

static const FloatRow rows[] = {
    {"add% d, a, b", ROUNDED " .f64 .rn.f64 " HALF_SUM, 2, &add, 0},
    {"sub% d, a, b", ROUNDED " .f64 .rn.f64 " HALF_SUM, 2, &sub, 0},
    {"mul% d, a, b", ROUNDED " .f64 .rn.f64 " HALF_SUM, 2, &mul, 0},
    {"fma% d, a, b, c", FUSED " " HALF_FUSED, 3, &fused, 0},
    {"mad% d, a, b, c", FUSED, 3, &fused, 0},
    {"div% d, a, b", DIVIDED, 2, &divide, 0},
    {"div% d, a, b", ".full.f32 .full.ftz.f32", 2, &divide, 2},
    {"div% d, a, b", ".approx.f32 .approx.ftz.f32", 2, &divide_fast, 2},
    {"rcp% d, a", DIVIDED, 1, &reciprocal, 0},
    {"rcp% d, a", ".approx.f32 .approx.ftz.f32", 1, &reciprocal, 1},
    {"sqrt% d, a", DIVIDED, 1, &root, 0},
    {"sqrt% d, a", ".approx.f32 .approx.ftz.f32", 1, &root, 1},
    {"rsqrt% d, a", ".approx.f32 .approx.ftz.f32 .approx.f64", 1, &rsqrt, 2},
    {"rcp% d, a", ".approx.ftz.f64", 1, &upper_reciprocal, 0x1p33},
    {"rsqrt% d, a", ".approx.ftz.f64", 1, &upper_rsqrt, 0x1p33},
    {"ex2% d, a",
     ".approx.f32 .approx.ftz.f32 .approx.f16 .approx.f16x2 .approx.ftz.bf16 "
     ".approx.ftz.bf16x2",
     1, &power, 1},
    {"lg2% d, a", ".approx.f32 .approx.ftz.f32", 1, &logarithm, 1},
    {"sin% d, a", ".approx.f32 .approx.ftz.f32", 1, &sine, 1},
    {"cos% d, a", ".approx.f32 .approx.ftz.f32", 1, &cosine, 1},
    {"tanh% d, a", ".approx.f32 .approx.f16 .approx.f16x2 .approx.bf16 .approx.bf16x2", 1, &tangent,
     1},
    {"neg% d, a", SIGNS, 1, &negate, 0},
    {"abs% d, a", SIGNS, 1, &magnitude, 0},
    {"copysign% d, a, b", ".f32 .f64", 2, &copy_sign, 0},
    {"min% d, a, b", EXTREMES " .f64", 2, &least, 0},
    {"max% d, a, b", EXTREMES " .f64", 2, &most, 0},
    {"min% d, a, b", NAN_EXTREMES, 2, &least_nan, 0},
    {"max% d, a, b", NAN_EXTREMES, 2, &most_nan, 0},
    {"min% d, a, b", ".xorsign.abs.f32 .ftz.xorsign.abs.f32", 2, &least_sign, 0},
    {"max% d, a, b", ".xorsign.abs.f32 .ftz.xorsign.abs.f32", 2, &most_sign, 0},
    {"min% d, a, b", ".NaN.xorsign.abs.f32 .ftz.NaN.xorsign.abs.f32", 2, &least_nan_sign, 0},
    {"max% d, a, b", ".NaN.xorsign.abs.f32 .ftz.NaN.xorsign.abs.f32", 2, &most_nan_sign, 0},
};

/* ---- Running --------------------------------------------------------------------------------- */

typedef struct Instance {
    const FloatRow *row;
    const char *type; /* "f32" */
    int mode;
    bool flush, saturate, relu;
    Format format; /* of a half */
} Instance;

static uint64_t reference_f32(const Instance *i, const uint64_t in[]) {
    float x[3], result;
    for (int s = 0; s < 3; s++) x[s] = i->flush ? flushed(as_float(in[s])) : as_float(in[s]);
    fesetround(i->mode);
    result = i->row->operation->f32(x[0], x[1], x[2]);
    fesetround(FE_TONEAREST);
    const Wide exact = i->row->operation->wide((Wide)x[0], (Wide)x[1], (Wide)x[2]);
    if (i->flush && is_tiny(exact, 0x1p-126, 23, i->mode)) result = copysignf(0, result);
    return float_as_bits(i->saturate ? clamped(result) : result);
}

static double least_normal(const Instance *i) {
    return ldexp(1.0, 2 - (1 << (i->format.exponent - 1)));
}

static double half_in(const Instance *i, uint64_t bits) {
    const double value = format_value(i->format, bits & 0xffff);
    return i->flush && fabs(value) < least_normal(i) ? copysign(0, value) : value;
}

static uint16_t reference_half(const Instance *i, const uint64_t in[], int shift) {
    Wide x[3], result;
    for (int s = 0; s < 3; s++) x[s] = (Wide)half_in(i, in[s] >> shift);
    result = i->row->operation->wide(x[0], x[1], x[2]);
    if (result != result && i->saturate) return 0;
    if ((i->saturate || i->relu) && !(result > 0) && result == result) result = 0;
    if (i->saturate && result > 1) result = 1;
    const bool flushes =
        i->flush && is_tiny(result, least_normal(i), i->format.fraction, FE_TONEAREST);
    const uint16_t bits = format_round(i->format, result, FE_TONEAREST);
    return flushes ? bits & 0x8000 : bits;
}

static uint64_t reference(const void *what, const uint64_t in[]) {
    const Instance *i = what;
    if (strcmp(i->type, "f32") == 0) return reference_f32(i, in);
    if (strcmp(i->type, "f64") == 0)
        return double_as_bits(
            i->row->operation->f64(as_double(in[0]), as_double(in[1]), as_double(in[2])));
    if (!strstr(i->type, "x2")) return reference_half(i, in, 0);
    return reference_half(i, in, 0) | (uint32_t)reference_half(i, in, 16) << 16;
}

/* Any two NaN are the same; approximations may be off by a few units of the last place. */
static bool near(const Instance *i, double got, double expected, int fraction) {
    if (got != got || expected != expected) return got != got && expected != expected;
    if (i->row->ulps == 0 || isinf(expected)) return false;
    const int exponent = expected != 0 ? ilogb(expected) : -1074;
    const int lowest = fraction == 52 ? -1022 : fraction == 10 ? -14 : -126;
    return fabs(got - expected) <=
           i->row->ulps * ldexp(1, (exponent < lowest ? lowest : exponent) - fraction);
}

static bool same_half(const Instance *i, uint64_t got, uint64_t expected) {
    got &= 0xffff, expected &= 0xffff;
    return got == expected || near(i, format_value(i->format, got),
                                   format_value(i->format, expected), i->format.fraction);
}

/* How far a GPU's result may be off where PTX ISA does not say it in units of the last place. */
static double allowed_on_gpu(const Operation *operation, double operand) {
    if (operation == &logarithm) return 0x1p-22;
    if (operation == &tangent) return 0x1p-11;
    if (operation == &sine || operation == &cosine) return fabs(operand) > 3.14 ? 2 : 0x1p-20;
    return 0;
}

static bool same(const void *what, const uint64_t in[], uint64_t got, uint64_t expected) {
    const Instance *i = what;
    if (strcmp(i->type, "f32") == 0) {
        const double value = (double)as_float(got), other = (double)as_float(expected);
        const double allowed = allowed_on_gpu(i->row->operation, (double)as_float(in[0]));
        return near(i, value, other, 23) || (is_on_gpu() && fabs(value - other) <= allowed);
    }
    if (i->flush && strcmp(i->type, "f64") == 0 && (uint32_t)got) return false;
    if (strcmp(i->type, "f64") == 0) return near(i, as_double(got), as_double(expected), 52);
    return same_half(i, got, expected) && same_half(i, got >> 16, expected >> 16);
}

static void try_ending(const FloatRow *row, const char *ending) {
    Instance instance = {.row = row, .type = strrchr(ending, '.') + 1, .mode = FE_TONEAREST};
    char text[120], name[8];
    static const char *const sizes[] = {"4=4444", "8=8888", "2=2222"};
    char own[8] = {0};
    instance.flush = strstr(ending, ".ftz"), instance.saturate = strstr(ending, ".sat");
    instance.relu = strstr(ending, ".relu");
    instance.format = strstr(ending, "bf16") ? format_bf16 : format_f16;
    for (int m = 0; m < 4; m++) {
        snprintf(name, sizeof name, ".%s", rounding_names[m]);
        if (strstr(ending, name)) instance.mode = host_rounding[m];
    }
    const bool pair = strstr(ending, "x2"), half = strstr(ending, "f16") && !pair;
    strncpy(own, sizes[strstr(ending, "f64") ? 1 : half ? 2 : 0], (size_t)row->sources + 2);
    Trial trial = {.text = expand(row->text, ending, text, sizeof text),
                   .sizes = own,
                   .reference = reference,
                   .same = same,
                   .what = &instance};
    for (int s = 0; s < row->sources; s++)
        trial.values[s] = pair ? edges_of_pairs(strstr(ending, "bf16")) : edges_of(instance.type);
    try_operands(&trial);
}

/* ---- testp ----------------------------------------------------------------------------------- */

static bool is_finite(float x) { return isfinite(x); }
static bool is_infinite(float x) { return isinf(x); }
static bool is_number(float x) { return !isnan(x); }
static bool is_nan(float x) { return isnan(x); }
static bool is_normal(float x) { return fpclassify(x) == FP_NORMAL || x == 0; } /* PTX ISA, testp */
static bool is_subnormal(float x) { return fpclassify(x) == FP_SUBNORMAL; }

typedef struct Test {
    const char *text;
    bool (*holds)(float x);
} Test;

static uint64_t tested(const void *what, const uint64_t in[]) {
    const Test *test = what;
    return test->holds(as_float(in[0]));
}

static void test_testp(void) {
    static const Test tests[] = {
        {"testp.finite.f32 d, a", is_finite}, {"testp.infinite.f32 d, a", is_infinite},
        {"testp.number.f32 d, a", is_number}, {"testp.notanumber.f32 d, a", is_nan},
        {"testp.normal.f32 d, a", is_normal}, {"testp.subnormal.f32 d, a", is_subnormal},
    };
    for (size_t i = 0; i < sizeof tests / sizeof *tests; i++)
        try_operands(&(Trial){.text = tests[i].text,
                              .sizes = "p=4",
                              .values = {VALUES(edge_f32)},
                              .reference = tested,
                              .what = &tests[i]});
}

int main(void) {
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char endings[1000], *rest;
        strcpy(endings, rows[i].endings);
        for (char *e = strtok_r(endings, " ", &rest); e; e = strtok_r(NULL, " ", &rest))
            try_ending(&rows[i], e);
    }
    test_testp();
    return done_testing();
}
