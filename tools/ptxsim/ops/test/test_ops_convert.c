/* cvt between all types on edge values, against the host's conversions in the same rounding mode.
 * Catches: a value out of range that wraps round, a NaN that becomes a number, rounding twice, a
 * sign that is extended or is not, a rounding mode or modifier that is ignored. */
#include "test/operands.h"
#include "test/reference.h"

/* cvt<modifiers>.<to>.<from> */
typedef struct Conversion {
    const char *modifiers, *to, *from;
} Conversion;

typedef __int128 s128;

static bool has(const Conversion *c, const char *modifier) {
    return strstr(c->modifiers, modifier) != NULL;
}

static bool is_floating(const char *type) { return strchr(type, 'f') != NULL; }
static int bits_in(const char *type) { return atoi(type + strcspn(type, "0123456789")); }

/* .rz and .rzi alike; to nearest if there is none */
static int mode_of(const Conversion *c) {
    for (int m = 0; m < 4; m++)
        if (has(c, rounding_names[m])) return host_rounding[m];
    return FE_TONEAREST;
}

static bool is_integral(const Conversion *c) {
    return has(c, "rni") || has(c, "rzi") || has(c, "rmi") || has(c, "rpi");
}

/* ---- Values ---------------------------------------------------------------------------------- */

static s128 integer_in(const char *type, uint64_t bits) {
    const int unused = 64 - bits_in(type);
    if (type[0] == 's') return (int64_t)(bits << unused) >> unused;
    return bits << unused >> unused;
}

static double floating_in(const Conversion *c, uint64_t bits) {
    if (strcmp(c->from, "f64") == 0) return as_double(bits);
    if (strcmp(c->from, "f16") == 0) return format_value(format_f16, bits);
    if (strcmp(c->from, "bf16") == 0) return format_value(format_bf16, bits);
    return (double)(has(c, "ftz") ? flushed(as_float(bits)) : as_float(bits));
}

static double rounded(double value, int mode) {
    fesetround(mode);
    const volatile double result = nearbyint(value);
    fesetround(FE_TONEAREST);
    return result;
}

/* The nearest number of the type. */
static uint64_t integer_out(const char *type, s128 value) {
    const s128 one = 1, range = one << (bits_in(type) - (type[0] == 's'));
    const s128 least = type[0] == 's' ? -range : 0;
    return (uint64_t)(value < least ? least : value >= range ? range - 1 : value);
}

/* PTX ISA, cvt: a NaN becomes 0, but the top bit of the result if it is, or comes from, 64 bits. */
static uint64_t nan_out(const Conversion *c) {
    const bool is_wide = strcmp(c->from, "f64") == 0 || bits_in(c->to) == 64;
    return is_wide ? 1ull << (bits_in(c->to) - 1) : 0;
}

static uint64_t to_integer(const Conversion *c, double value) {
    if (value != value) return nan_out(c);
    value = rounded(value, mode_of(c));
    if (fabs(value) >= 0x1p100) value = copysign(0x1p100, value);
    return integer_out(c->to, (s128)value);
}

static uint32_t to_single(double value, int mode) {
    fesetround(mode);
    const volatile float result = (float)value;
    fesetround(FE_TONEAREST);
    return float_as_bits(result);
}

static uint64_t to_floating(const Conversion *c, double value) {
    const int mode = is_integral(c) ? FE_TONEAREST : mode_of(c);
    if (is_integral(c)) value = rounded(value, mode_of(c));
    if (has(c, "sat")) value = value > 0 ? value < 1 ? value : 1 : 0;
    if (has(c, "relu") && value == value && !(value > 0)) value = 0;
    if (strcmp(c->to, "f64") == 0) return double_as_bits(value);
    if (strcmp(c->to, "f16") == 0) return format_round(format_f16, (Wide)value, mode);
    if (strcmp(c->to, "bf16") == 0) return format_round(format_bf16, (Wide)value, mode);
    const uint32_t bits = to_single(value, mode);
    return has(c, "ftz") && is_tiny((Wide)value, 0x1p-126, 23, mode) ? bits & 0x80000000 : bits;
}

static uint64_t from_integer(const Conversion *c, s128 value) {
    const int mode = mode_of(c);
    if (strcmp(c->to, "f16") == 0) return format_round(format_f16, (Wide)value, mode);
    if (strcmp(c->to, "bf16") == 0) return format_round(format_bf16, (Wide)value, mode);
    const bool is_signed = c->from[0] == 's';
    volatile int64_t s = (int64_t)value;
    volatile uint64_t u = (uint64_t)value;
    fesetround(mode);
    const volatile float single = is_signed ? (float)s : (float)u;
    const volatile double twice = is_signed ? (double)s : (double)u;
    fesetround(FE_TONEAREST);
    return strcmp(c->to, "f64") == 0 ? double_as_bits(twice) : float_as_bits(single);
}

static uint64_t reference(const void *what, const uint64_t in[]) {
    const Conversion *c = what;
    if (is_floating(c->from)) {
        const double value = floating_in(c, in[0]);
        return is_floating(c->to) ? to_floating(c, value) : to_integer(c, value);
    }
    const s128 value = integer_in(c->from, in[0]);
    if (is_floating(c->to)) return from_integer(c, value);
    return has(c, "sat") ? integer_out(c->to, value) : (uint64_t)value;
}

/* Any two NaN of a format are the same. */
static bool is_nan(const char *type, uint64_t bits) {
    if (strcmp(type, "f64") == 0) return isnan(as_double(bits));
    if (strcmp(type, "f32") == 0) return isnan(as_float(bits));
    return isnan(format_value(strcmp(type, "f16") == 0 ? format_f16 : format_bf16, bits));
}

static bool same(const void *what, const uint64_t in[], uint64_t got, uint64_t expected) {
    const Conversion *c = what;
    (void)in;
    return is_floating(c->to) && is_nan(c->to, got) && is_nan(c->to, expected);
}

/* ---- Single values --------------------------------------------------------------------------- */

/* A byte lies in a register of 16 bits, and its upper half gets the value's sign, or zeros. */
static char register_size(const char *type) {
    const int bytes = bits_in(type) / 8;
    return (char)('0' + (bytes < 2 ? 2 : bytes));
}

static uint64_t in_register(const void *what, const uint64_t in[]) {
    const Conversion *c = what;
    const uint64_t bits = reference(what, in);
    return is_floating(c->to) ? bits : (uint64_t)integer_in(c->to, bits);
}

/* PTX allows .sat between integers only where a value may not fit. */
static bool always_fits(const char *to, const char *from) {
    const int room = bits_in(to) - bits_in(from);
    if (is_floating(to) || is_floating(from)) return false;
    return to[0] == from[0] ? room >= 0 : from[0] == 'u' && room > 0;
}

static void try_conversion(const char *modifiers, const char *to, const char *from) {
    const Conversion conversion = {modifiers, to, from};
    if (has(&conversion, "sat") && always_fits(to, from)) return;
    const char sizes[] = {register_size(to), '=', register_size(from), 0};
    char text[80];
    snprintf(text, sizeof text, "cvt%s.%s.%s d, a", modifiers, to, from);
    try_operands(&(Trial){.text = text,
                          .sizes = sizes,
                          .values = {edges_of(from)},
                          .reference = in_register,
                          .same = same,
                          .what = &conversion});
}

/* Each of the words of `modifiers` ("-": none), `to` and `from` with each other. */
static void try_all(const char *modifiers, const char *to, const char *from) {
    char m[80], t[80], f[80], *rest_m, *rest_t, *rest_f;
    strcpy(m, modifiers);
    for (char *x = strtok_r(m, " ", &rest_m); x; x = strtok_r(NULL, " ", &rest_m)) {
        strcpy(t, to);
        for (char *y = strtok_r(t, " ", &rest_t); y; y = strtok_r(NULL, " ", &rest_t)) {
            strcpy(f, from);
            for (char *z = strtok_r(f, " ", &rest_f); z; z = strtok_r(NULL, " ", &rest_f))
                try_conversion(*x == '-' ? "" : x, y, z);
        }
    }
}

#define INTEGERS "s8 u8 s16 u16 s32 u32 s64 u64"
#define TO_INTEGER ".rni .rzi .rmi .rpi"
#define ROUNDINGS ".rn .rz .rm .rp"

static void test_single(void) {
    try_all("- .sat", INTEGERS, INTEGERS);
    try_all(TO_INTEGER, INTEGERS, "f32 f64 f16");
    try_all(TO_INTEGER, "s16 u16 s32 u32 s64 u64", "bf16");
    try_all(".rni.ftz .rzi.ftz .rmi.ftz .rpi.ftz", "s32 u32 s64 u64", "f32");
    try_all(ROUNDINGS, "f32 f64 f16", INTEGERS);
    try_all(ROUNDINGS, "bf16", "s16 u16 s32 u32 s64 u64");
    try_all("-", "f32 f64", "f16");
    try_all("- .ftz", "f32", "bf16");
    try_all("- .ftz", "f64", "f32");
    try_all(ROUNDINGS " .rn.ftz .rp.ftz .rn.sat .rz.ftz.sat", "f32", "f64");
    try_all(ROUNDINGS, "f16", "f64");
    try_all(".rn .rz .rn.relu .rz.relu", "f16 bf16", "f32");
    try_all(".rn.ftz .rn.sat", "f16", "f32");
    try_all(TO_INTEGER " .sat .ftz .ftz.sat .rni.ftz .rpi.sat", "f32", "f32");
    try_all(TO_INTEGER " .sat", "f16", "f16");
    try_all(TO_INTEGER " .sat", "f64", "f64");
}

/* ---- Pairs and tf32 -------------------------------------------------------------------------- */

/* The first source becomes the upper half. */
static uint64_t reference_pair(const void *what, const uint64_t in[]) {
    return reference(what, in) << 16 | (reference(what, in + 1) & 0xffff);
}

static bool same_pair(const void *what, const uint64_t in[], uint64_t got, uint64_t expected) {
    const bool low = same(what, in, got & 0xffff, expected & 0xffff);
    const bool high = same(what, in, got >> 16, expected >> 16);
    return (low || !((got ^ expected) & 0xffff)) && (high || !((got ^ expected) >> 16));
}

static void try_pair(const char *modifiers, const char *to) {
    const Conversion conversion = {modifiers, to, "f32"};
    char text[80];
    snprintf(text, sizeof text, "cvt%s.%sx2.f32 d, a, b", modifiers, to);
    try_operands(&(Trial){.text = text,
                          .sizes = "4=44",
                          .values = {VALUES(edge_f32), VALUES(edge_f32)},
                          .reference = reference_pair,
                          .same = same_pair,
                          .what = &conversion});
}

/* fp32 with 10 bits of fraction; where `what` is not NULL ties away from zero, and NaN cut off */
static uint64_t tf32_nearest(const void *what, const uint64_t in[]) {
    const uint32_t bits = (uint32_t)in[0], kept = bits >> 13, rest = bits & 0x1fff;
    if (isnan(as_float(bits))) return what ? kept << 13 : 0x7fffe000;
    return (kept + (rest > 0x1000 || (rest == 0x1000 && (what || kept & 1)))) << 13;
}

static uint64_t tf32_zero(const void *what, const uint64_t in[]) {
    (void)what;
    return isnan(as_float(in[0])) ? 0x7fffe000 : in[0] >> 13 << 13;
}

static void try_tf32(const char *text, Reference by, const void *what) {
    try_operands(&(Trial){
        .text = text, .sizes = "4=4", .values = {VALUES(edge_f32)}, .reference = by, .what = what});
}

/* A number has no register, whose size would count: a byte is the lowest one. */
static uint64_t a_number(const void *what, const uint64_t in[]) {
    return *(const uint32_t *)what + 0 * in[0];
}

static void test_numbers(void) {
    static const struct {
        const char *text;
        uint32_t result;
    } rows[] = {{"cvt.u32.u8 d, 200", 200},
                {"cvt.s32.s8 d, 200", (uint32_t)-56},
                {"cvt.u32.u8 d, 0x105", 5},
                {"cvt.s32.s16 d, 0xfff0", (uint32_t)-16},
                {"cvt.rn.f32.u8 d, 3", 0x40400000}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        try_operands(&(Trial){.text = rows[i].text,
                              .sizes = "4=4",
                              .values = {VALUES(edge_integers)},
                              .reference = a_number,
                              .what = &rows[i].result});
}

int main(void) {
    test_numbers();
    test_single();
    for (int bf16 = 0; bf16 < 2; bf16++)
        for (int m = 0; m < 4; m++)
            try_pair((const char *[]){".rn", ".rz", ".rn.relu", ".rz.relu"}[m],
                     bf16 ? "bf16" : "f16");
    try_tf32("cvt.rna.tf32.f32 d, a", tf32_nearest, "away");
    try_tf32("cvt.rn.tf32.f32 d, a", tf32_nearest, NULL);
    try_tf32("cvt.rz.tf32.f32 d, a", tf32_zero, NULL);
    return done_testing();
}
