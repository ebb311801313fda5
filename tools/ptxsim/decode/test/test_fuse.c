/* SIM_FMA: additions of products, rounded once or twice. Each row runs in both modes, on all
 * combinations of the values below. Catches: a fusion that changes no result, a wrong sign, a
 * fusion that a modifier or another basic block forbids, one that reads what has been overwritten
 * since the multiplication, a multiplication that is lost, counters that depend on the mode. */
#include "test/operands.h"
#include "test/reference.h"

typedef float (*Function)(float a, float b, float c);

#define FUNCTION(name, value)                      \
    static float name(float a, float b, float c) { \
        (void)a, (void)b, (void)c;                 \
        return (value);                            \
    }
#define Z(x) flushed(x)

static float flushed_fma(float a, float b, float c) {
    const Wide exact = wide_fma((Wide)Z(a), (Wide)Z(b), (Wide)Z(c));
    const float rounded = fmaf(Z(a), Z(b), Z(c));
    return is_tiny(exact, 0x1p-126, 23, FE_TONEAREST) ? copysignf(0, rounded) : rounded;
}

FUNCTION(sum, a *b + c)
FUNCTION(sum_once, fmaf(a, b, c))
FUNCTION(less, a *b - c)
FUNCTION(less_once, fmaf(a, b, -c))
FUNCTION(from, c - a * b)
FUNCTION(from_once, fmaf(-a, b, c))
FUNCTION(sum_ftz, Z(flushed_fma(a, b, -0.0f) + Z(c)))
FUNCTION(sum_ftz_once, flushed_fma(a, b, c))
FUNCTION(less_ftz, Z(flushed_fma(a, b, -0.0f) - Z(c)))
FUNCTION(less_ftz_once, flushed_fma(a, b, -c))
FUNCTION(from_ftz, Z(Z(c) - flushed_fma(a, b, -0.0f)))
FUNCTION(from_ftz_once, flushed_fma(-a, b, c))
FUNCTION(number, a * 0x1.717476p0f - c)
FUNCTION(number_once, fmaf(a, 0x1.717476p0f, -c))
FUNCTION(two, a *b + b * c)
FUNCTION(two_once, fmaf(a, b, b *c))
FUNCTION(two_less, a *b - b * c)
FUNCTION(two_less_once, fmaf(a, b, -(b *c)))
FUNCTION(used_twice, a *b *(a *b + c))
FUNCTION(used_twice_once, a *b *fmaf(a, b, c))
FUNCTION(chain, a *b + c + c)
FUNCTION(chain_once, fmaf(a, b, c) + c)
FUNCTION(some_lanes, a < c ? a * b + c : c)
FUNCTION(some_lanes_once, a < c ? fmaf(a, b, c) : c)
FUNCTION(clamped_product, clamped(a *b) + c)
FUNCTION(clamped_sum, clamped(a *b + c))
FUNCTION(clamped_sum_once, clamped(fmaf(a, b, c)))
FUNCTION(flushed_product, flushed_fma(a, b, -0.0f) + c)
FUNCTION(flushed_sum, Z(Z(a *b) + Z(c)))
FUNCTION(no_product, a + c)
FUNCTION(product_in_some, (a < c ? a * b : c) + c)
FUNCTION(behind_product, (a < c ? c : a * b) + c)
FUNCTION(gone_in_some, (a < c ? a : a * b) + c)

/* d is what `separate` gives, and with SIM_FMA=fused what `fused` gives. */
typedef struct Row {
    const char *text;
    Function separate, fused;
} Row;

#define LESS "{ .reg .pred g; setp.lt.f32 g, a, c; "
static const Row rows[] = {
    {"mul.f32 w, a, b; add.f32 d, w, c", sum, sum_once},
    {"mul.f32 w, a, b; add.f32 d, c, w", sum, sum_once},
    {"mul.f32 w, a, b; sub.f32 d, w, c", less, less_once},
    {"mul.f32 w, a, b; sub.f32 d, c, w", from, from_once},
    {"mul.ftz.f32 w, a, b; add.ftz.f32 d, w, c", sum_ftz, sum_ftz_once},
    {"mul.ftz.f32 w, a, b; add.ftz.f32 d, c, w", sum_ftz, sum_ftz_once},
    {"mul.ftz.f32 w, a, b; sub.ftz.f32 d, w, c", less_ftz, less_ftz_once},
    {"mul.ftz.f32 w, a, b; sub.ftz.f32 d, c, w", from_ftz, from_ftz_once},
    {"mul.f32 w, a, 0f3FB8BA3B; sub.f32 d, w, c", number, number_once},
    {"mul.f32 w, a, b; mul.f32 x, b, c; add.f32 d, w, x", two, two_once},
    {"mul.f32 x, b, c; mul.f32 w, a, b; sub.f32 d, w, x", two_less, two_less_once},
    {"mul.f32 w, a, b; add.f32 x, w, c; mul.rn.f32 d, w, x", used_twice, used_twice_once},
    {"mul.f32 w, a, b; add.f32 w, w, c; add.f32 d, w, c", chain, chain_once},
    {"mul.f32 w, a, b; add.f32 a, w, c; mov.b32 d, a", sum, sum_once},
    {"mul.f32 w, a, b; add.sat.f32 d, w, c", clamped_sum, clamped_sum_once},
    {LESS "mul.f32 w, a, b; mov.b32 d, c; @g add.f32 d, w, c; }", some_lanes, some_lanes_once},
    /* rounding modifiers, and what does not go together */
    {"mul.f32 w, a, b; add.rn.f32 d, w, c", sum, sum},
    {"mul.f32 w, a, b; sub.rn.f32 d, w, c", less, less},
    {"mul.rn.f32 w, a, b; add.f32 d, w, c", sum, sum},
    {"mul.rn.ftz.f32 w, a, b; add.ftz.f32 d, w, c", sum_ftz, sum_ftz},
    {"mul.sat.f32 w, a, b; add.f32 d, w, c", clamped_product, clamped_product},
    {"mul.ftz.f32 w, a, b; add.f32 d, w, c", flushed_product, flushed_product},
    {"mul.f32 w, a, b; add.ftz.f32 d, w, c", flushed_sum, flushed_sum},
    {"mul.f32 w, a, b; bra L; L: add.f32 d, w, c", sum, sum},
    {LESS "mov.b32 w, c; @g bra L; mul.f32 w, a, b; L: add.f32 d, w, c; }", behind_product,
     behind_product},
    /* a source or the product has changed */
    {"mul.f32 w, a, b; mov.b32 a, c; add.f32 d, w, c", sum, sum},
    {"mul.f32 w, a, b; mov.b32 b, c; add.f32 d, w, c", sum, sum},
    {"mul.f32 w, a, b; mov.b64 {x, b}, p; add.f32 d, w, c", sum, sum},
    {"mul.f32 a, a, b; add.f32 d, a, c", sum, sum},
    {"mul.f32 b, a, b; sub.f32 d, c, b", from, from},
    {LESS "mul.f32 w, a, b; @g mov.b32 a, c; add.f32 d, w, c; }", sum, sum},
    {"mul.f32 w, a, b; mov.b32 w, a; add.f32 d, w, c", no_product, no_product},
    {LESS "mul.f32 w, a, b; @g mov.b32 w, a; add.f32 d, w, c; }", gone_in_some, gone_in_some},
    {LESS "mov.b32 w, c; @g mul.f32 w, a, b; add.f32 d, w, c; }", product_in_some, product_in_some},
};

/* 1 + 2^-12, whose square is 2^-24 away from the next one, -(1 + 2^-11); numbers with long
 * fractions; factors whose product is subnormal, or too large unless something is taken away. */
static const uint64_t values[] = {
    0x00000000, 0x80000000, 0x00000001, 0x807fffff, 0x00800000, 0x1f000001, 0x1f7fffff,
    0x3f800000, 0x3f800800, 0xbf801000, 0x3fb8aa3b, 0xc2f6e979, 0x3dcccccd, 0x5f7fffff,
    0xdf800001, 0x7f7fffff, 0xff7fffff, 0x7f800000, 0xff800000, 0x7fc00000,
};

/* ---- Results --------------------------------------------------------------------------------- */

static uint64_t reference(const void *what, const uint64_t in[]) {
    const Function *function = what;
    return float_as_bits((*function)(as_float(in[0]), as_float(in[1]), as_float(in[2])));
}

/* Any two NaN are the same. */
static bool same(const void *what, const uint64_t in[], uint64_t got, uint64_t expected) {
    (void)what, (void)in;
    return isnan(as_float(got)) && isnan(as_float(expected));
}

static void try(const char *mode, const char *text, const Function *function) {
    printf("# SIM_FMA=%s\n", mode);
    setenv("SIM_FMA", mode, 1);
    try_operands(&(Trial){.text = text,
                          .sizes = "4=444",
                          .values = {VALUES(values), VALUES(values), VALUES(values)},
                          .reference = reference,
                          .same = same,
                          .what = function});
}

/* Otherwise a row would say nothing about fusion. */
static bool differ(const Row *row) {
    const int count = (int)(sizeof values / sizeof *values);
    for (int n = 0; n < count * count * count; n++) {
        const float a = as_float(values[n % count]), b = as_float(values[n / count % count]);
        const float c = as_float(values[n / count / count]);
        if (row->separate(a, b, c) < row->fused(a, b, c)) return true;
    }
    return false;
}

static uint64_t sum_f64(const void *what, const uint64_t in[]) {
    (void)what;
    return double_as_bits(as_double(in[0]) * as_double(in[1]) + as_double(in[2]));
}

static bool same_f64(const void *what, const uint64_t in[], uint64_t got, uint64_t expected) {
    (void)what, (void)in;
    return isnan(as_double(got)) && isnan(as_double(expected));
}

static void test_results(void) {
    const Function twice = sum;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        try("separate", rows[i].text, &rows[i].separate);
        try("fused", rows[i].text, &rows[i].fused);
        if (rows[i].separate != rows[i].fused)
            ok(differ(&rows[i]), "%s: rounding once differs from rounding twice", rows[i].text);
    }
    try("fuse", rows[0].text, &twice);
    setenv("SIM_FMA", "fused", 1);
    try_operands(&(Trial){.text = "{ .reg .b64 q; mul.f64 q, a, b; add.f64 d, q, c; }",
                          .sizes = "8=888",
                          .values = {VALUES(edge_f64), VALUES(edge_f64), VALUES(edge_f64)},
                          .reference = sum_f64,
                          .same = same_f64});
}

/* ---- Registers ------------------------------------------------------------------------------- */

/* How many additions of a kernel are fused whose first register is of `type`, and called z. */
static int count_fused(const char *type, const char *code) {
    char text[600], error[512];
    int fused = 0;
    setenv("SIM_FMA", "fused", 1);
    snprintf(text, sizeof text,
             PTX_HEAD ".visible .entry k()\n{\n.reg .%s z; .reg .f32 a, b, c, d, w;\n%s\nret;\n}\n",
             type, code);
    Module *module = module_load(text, strlen(text), error, sizeof error);
    const Kernel *k = module ? module_kernel(module, "k", error, sizeof error) : NULL;
    for (int i = 0; k && i < k->ops; i++) fused += k->op[i].run == run_fused;
    module_free(module);
    return fused;
}

static void test_first_register(void) {
    is_int(count_fused("f32", "mul.f32 w, a, b; mov.b32 z, 1; add.f32 d, w, c;"), 1,
           "the first register is no operand of the product");
    is_int(count_fused("f32", "mul.f32 z, a, b; mov.b32 d, 1; add.f32 d, z, c;"), 1, "is one");
    is_int(count_fused("f32", "mul.f32 w, z, b; mov.b32 z, 1; add.f32 d, w, c;"), 0,
           "and has changed");
    is_int(count_fused("pred", "@z mul.f32 w, a, b; add.f32 d, w, c;"), 0, "is its guard");
    is_int(count_fused("pred", "mul.f32 w, a, b; @z add.f32 d, w, c;"), 1, "is that of the sum");
}

/* ---- Counters -------------------------------------------------------------------------------- */

/* Lane t goes round t + 1 times. */
static const char counted[] =
    PTX_HEAD ".file 1 \"kernel.cu\"\n.visible .entry k(.param .u64 data)\n{\n.reg .b64 p;\n"
             ".reg .b32 a, b, c, t, n; .reg .pred g;\n.loc 1 10 1\nld.param.u64 p, [data];\n"
             "mov.u32 t, %tid.x; mov.u32 n, 0; ld.global.f32 a, [p];\n"
             "L:\n.loc 1 11 1\nmul.f32 b, a, a;\n.loc 1 12 1\nadd.f32 c, b, a;\n"
             ".loc 1 13 1\nsetp.lt.u32 g, n, t; @g sub.f32 c, c, b;\n"
             "add.u32 n, n, 1; @g bra L;\n.loc 1 14 1\nst.global.f32 [p], c;\nret;\n}\n";

static Kernel *count(Module *module, const char *mode, void *memory) {
    const LaunchShape shape = {{1, 1, 1}, {64, 1, 1}, 0, false};
    char error[512];
    setenv("SIM_FMA", mode, 1);
    Kernel *kernel = module ? module_kernel(module, "k", error, sizeof error) : NULL;
    const bool ran = kernel && launch_run(kernel, &shape, (void *[]){&memory}) == LAUNCH_OK;
    return ran ? kernel : NULL;
}

static bool same_info(const InstructionInfo *a, const InstructionInfo *b) {
    return a->class == b->class && a->file == b->file && a->line == b->line &&
           strcmp(a->text, b->text) == 0;
}

static void test_counters(void) {
    char error[512];
    void *memory = memory_allocate(4);
    memset(memory, 0, 4);
    Module *a = module_load(counted, sizeof counted - 1, error, sizeof error);
    Module *b = module_load(counted, sizeof counted - 1, error, sizeof error);
    const Kernel *separate = count(a, "separate", memory), *fused = count(b, "fused", memory);
    bool equal = separate && fused && separate->ops == fused->ops;
    for (int i = 0; equal && i < separate->ops; i++)
        equal = same_info(&separate->info[i], &fused->info[i]) &&
                memcmp(&separate->count[i], &fused->count[i], sizeof fused->count[i]) == 0;
    ok(equal && separate->count[0].executions > 0, "the counters do not depend on SIM_FMA");
    module_free(a);
    module_free(b);
    memory_release(memory);
}

int main(void) {
    test_results();
    test_first_register();
    test_counters();
    return done_testing();
}
