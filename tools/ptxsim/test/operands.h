/* Runs one instruction on every combination of its operands' edge values, and compares each result
 * with a reference. For the tests of arithmetic. */
#ifndef OPERANDS_H
#define OPERANDS_H

#include <fenv.h>
#include <math.h>

#include "test/run_ptx.h"
#include "test/tap.h"

enum { MAX_SOURCES = 4, BLOCK = 256, MAX_COMBINATIONS = 8192 };

/* One thread's operands and result, and room for a test's own use, which is not looked at. */
typedef struct Lane {
    uint64_t in[MAX_SOURCES], out, unused, room[2];
} Lane;

/* The values that an operand takes. */
typedef struct Values {
    const uint64_t *value;
    int count;
} Values;

#define VALUES(array) ((Values){(array), sizeof(array) / sizeof *(array)})

/* What the instruction must give for in[], and whether `got` is as good: they are compared as bits
 * if `same` is NULL. */
typedef uint64_t (*Reference)(const void *what, const uint64_t in[]);
typedef bool (*Same)(const void *what, const uint64_t in[], uint64_t got, uint64_t expected);

/* An instruction on d, a, b, c, e; `sizes` is "d=abce", each operand's bytes or 'p' for a
 * predicate, which is 0 or 1. */
typedef struct Trial {
    const char *text, *sizes;
    Values values[MAX_SOURCES];
    Reference reference;
    Same same;
    const void *what; /* for them */
} Trial;

/* ---- Edge values ----------------------------------------------------------------------------- */

/* Of integers; narrower ones take the low bits. */
static const uint64_t edge_integers[] = {
    0,
    1,
    2,
    3,
    5,
    8,
    15,
    16,
    17,
    24,
    31,
    32,
    33,
    40,
    63,
    64,
    65,
    0x7f,
    0x80,
    0xff,
    0x100,
    0x108,
    0x7fff,
    0x8000,
    0xffff,
    0x10000,
    0xabcd1234,
    0x7fffff,
    0x800000,
    0xffffff,
    0x7fffffff,
    0x80000000,
    0x80000001,
    0xffffffff,
    0x100000000,
    0x123456789abcdef0,
    0x7fff80007fff8000,
    0x7fffffffffffffff,
    0x8000000000000000,
    0x8000000000000001,
    0xffffffffffff8001,
    0xffffffffffffff81,
    0xffffffff80000001,
    0xfffffffffffffff0,
    0xfffffffffffffffd,
    0xfffffffffffffffe,
    0xffffffffffffffff,
};

/* Zeros, subnormals, the least and the greatest normal numbers, halves (ties of rounding to an
 * integer), neighbours of 1, the limits of integer types, infinities, NaN of both kinds, and
 * numbers whose power of two or reciprocal is subnormal. */
static const uint64_t edge_f32[] = {
    0x00000000, 0x80000000, 0x00000001, 0x80000001, 0x007fffff, 0x807fffff, 0x00800000, 0x80800000,
    0x00800001, 0x33800000, 0x387fe000, 0x3f000000, 0xbf000000, 0x3f7fffff, 0x3f800000, 0xbf800000,
    0x3f800001, 0x3fc00000, 0x40200000, 0xc0200000, 0x40490fdb, 0x42ff0000, 0x43800000, 0x477ff000,
    0x4b000001, 0x4effffff, 0x4f000000, 0xcf000000, 0x4f800000, 0x5effffff, 0x5f800000, 0x7e800000,
    0x7f7fffff, 0xff7fffff, 0x7f800000, 0xff800000, 0x7f800001, 0x7fc00000, 0xffc00000, 0x7fffffff,
    0xc2fd0000, 0xc30c8000, 0x7e800001, 0xfe800001, 0x80ffffff,
};
static const uint64_t edge_f64[] = {
    0x0000000000000000, 0x8000000000000000, 0x0000000000000001, 0x800fffffffffffff,
    0x0010000000000000, 0x3690000000000000, 0x36a0000000000001, 0x3810000000000000,
    0x380fffffffffffff, 0xb80fffffffffffff, 0x380fffffe8000000, 0xb80fffffe8000000,
    0x3e60000000000000, 0x3f10020000000000, 0x3fe0000000000000, 0xbfe0000000000000,
    0x3ff0000000000000, 0xbff0000000000000, 0x3ff0000000000001, 0x3ff0000010000000,
    0x3ff0000010000001, 0x3ff0000030000000, 0x4004000000000000, 0xc00c000000000000,
    0x406fe00000000000, 0x40effe0000000000, 0x41dfffffffc00000, 0x41e0000000000000,
    0xc1e0000000200000, 0x43dfffffffffffff, 0x43e0000000000000, 0xc3e0000000000000,
    0x43f0000000000000, 0x47efffffe0000000, 0x47effffff0000000, 0x7fefffffffffffff,
    0x7ff0000000000000, 0xfff0000000000000, 0x7ff0000000000001, 0xfff8000000000000,
};
static const uint64_t edge_f16[] = {
    0x0000, 0x8000, 0x0001, 0x8001, 0x03ff, 0x83ff, 0x0400, 0x8400, 0x0401, 0x1400, 0x3800,
    0xb800, 0x3bff, 0x3c00, 0xbc00, 0x3c01, 0x3e00, 0x4100, 0xc300, 0x5bf8, 0x6400, 0x77ff,
    0x7800, 0x7bff, 0xfbff, 0x7c00, 0xfc00, 0x7c01, 0x7e00, 0xfe00, 0x7fff, 0xcb40, 0xcda0,
};
static const uint64_t edge_bf16[] = {
    0x0000, 0x8000, 0x0001, 0x8001, 0x007f, 0x807f, 0x0080, 0x8080, 0x0081, 0x3b80, 0x3f00, 0xbf00,
    0x3f7f, 0x3f80, 0xbf80, 0x3f81, 0x3fc0, 0x4020, 0xc060, 0x42ff, 0x4380, 0x4f00, 0xcf00, 0x7e80,
    0x7f7f, 0xff7f, 0x7f80, 0xff80, 0x7f81, 0x7fc0, 0xffc0, 0x7fff, 0xc2f4, 0xc2fe, 0xc304,
};
static const uint64_t edge_predicates[] = {0, 1};

/* By a PTX type. */
__attribute__((unused)) static Values edges_of(const char *type) {
    if (strcmp(type, "f32") == 0) return VALUES(edge_f32);
    if (strcmp(type, "f64") == 0) return VALUES(edge_f64);
    if (strcmp(type, "f16") == 0) return VALUES(edge_f16);
    if (strcmp(type, "bf16") == 0) return VALUES(edge_bf16);
    if (strcmp(type, "pred") == 0) return VALUES(edge_predicates);
    return VALUES(edge_integers);
}

/* Two halves in a word: each with itself and with another. */
__attribute__((unused)) static Values edges_of_pairs(bool bf16) {
    static uint64_t pairs[2][80];
    const Values halves = bf16 ? VALUES(edge_bf16) : VALUES(edge_f16);
    for (int i = 0; i < halves.count; i++) {
        pairs[bf16][2 * i] = halves.value[i] << 16 | halves.value[i];
        pairs[bf16][2 * i + 1] = halves.value[i] << 16 | halves.value[(i + 13) % halves.count];
    }
    return (Values){pairs[bf16], 2 * halves.count};
}

/* ---- Running --------------------------------------------------------------------------------- */

static void add_line(char *text, const char *format, char name, int number) {
    char line[80];
    snprintf(line, sizeof line, format, name, number);
    strcat(text, line);
}

static void declare(char *text, char name, char size) {
    add_line(text, size == 'p' ? ".reg .pred %c;\n" : ".reg .b%2$d %1$c;\n", name,
             size == 'p' ? 0 : 8 * (size - '0'));
}

/* A predicate is the lowest bit of its word. */
static void load(char *text, char name, char size, int offset) {
    if (size == 'p') {
        add_line(text, "ld.global.b32 w, [p+%2$d];\nsetp.ne.b32 %1$c, w, 0;\n", name, offset);
        return;
    }
    char line[40];
    snprintf(line, sizeof line, "ld.global.b%d %%c, [p+%%d];\n", 8 * (size - '0'));
    add_line(text, line, name, offset);
}

/* The kernel: a thread for each element of Lane data[]. */
static void write_kernel(const Trial *trial, char *text) {
    static const char names[] = "abce";
    const char *sources = strchr(trial->sizes, '=') + 1;
    strcpy(text, PTX_HEAD ".visible .entry k(.param .u64 data)\n{\n.reg .b64 p;\n"
                          ".reg .b32 w, x, y, z;\n");
    declare(text, 'd', trial->sizes[0]);
    for (int i = 0; sources[i]; i++) declare(text, names[i], sources[i]);
    strcat(text, "ld.param.u64 p, [data];\nmov.u32 x, %ctaid.x;\nmov.u32 y, %ntid.x;\n"
                 "mov.u32 z, %tid.x;\nmad.lo.u32 x, x, y, z;\nmad.wide.u32 p, x, 64, p;\n");
    for (int i = 0; sources[i]; i++) load(text, names[i], sources[i], 8 * i);
    strcat(strcat(text, trial->text), ";\n");
    if (trial->sizes[0] == 'p')
        strcat(text, "selp.b32 w, 1, 0, d;\nst.global.b32 [p+32], w;\n");
    else
        add_line(text, "st.global.b%2$d [p+32], %1$c;\n", 'd', 8 * (trial->sizes[0] - '0'));
    strcat(text, "ret;\n}\n");
}

static uint64_t low_bytes(uint64_t value, char size) {
    if (size == 'p') return value & 1;
    return size == '8' ? value : value & ((1ull << 8 * (size - '0')) - 1);
}

/* Fills lane[] with all combinations, or with MAX_COMBINATIONS picked at random. */
static int combine(const Trial *trial, Lane lane[]) {
    const char *sources = strchr(trial->sizes, '=') + 1;
    const int count = (int)strlen(sources);
    uint64_t all = 1, random = 1;
    for (int i = 0; i < count; i++) all *= (uint64_t)trial->values[i].count;
    const int used = all < MAX_COMBINATIONS ? (int)all : MAX_COMBINATIONS;
    for (int n = 0; n < used; n++) {
        uint64_t which = (uint64_t)n;
        lane[n] = (Lane){0};
        for (int i = 0; i < count; i++) {
            const uint64_t values = (uint64_t)trial->values[i].count;
            random = random * 6364136223846793005 + 1442695040888963407;
            const uint64_t pick = all > MAX_COMBINATIONS ? random >> 33 : which;
            lane[n].in[i] = low_bytes(trial->values[i].value[pick % values], sources[i]);
            which /= values;
        }
    }
    return used;
}

/* One check: every combination gives what the reference says. */
__attribute__((unused)) static void try_operands(const Trial *trial) {
    static Lane lane[MAX_COMBINATIONS + BLOCK];
    char text[2000];
    const int used = combine(trial, lane);
    const uint32_t blocks = (uint32_t)(used + BLOCK - 1) / BLOCK;
    int wrong = 0;
    uint64_t expected, bad_expected = 0;
    Lane bad = {0};
    for (uint32_t n = (uint32_t)used; n < blocks * BLOCK; n++) lane[n] = lane[0];
    write_kernel(trial, text);
    const PtxRun run = run_ptx_grid(text, blocks, BLOCK, lane, blocks * BLOCK * sizeof *lane);
    for (int n = 0; n < used && run.status == LAUNCH_OK; n++) {
        expected = low_bytes(trial->reference(trial->what, lane[n].in), trial->sizes[0]);
        const uint64_t got = low_bytes(lane[n].out, trial->sizes[0]);
        if (got == expected) continue;
        if (trial->same && trial->same(trial->what, lane[n].in, got, expected)) continue;
        if (!wrong++) bad = lane[n], bad_expected = expected;
    }
    if (!ok(run.status == LAUNCH_OK && !wrong, "%s: %d operands", trial->text, used))
        printf("# %d wrong; first: 0x%llx 0x%llx 0x%llx 0x%llx gives 0x%llx, not 0x%llx %s\n",
               wrong, (unsigned long long)bad.in[0], (unsigned long long)bad.in[1],
               (unsigned long long)bad.in[2], (unsigned long long)bad.in[3],
               (unsigned long long)bad.out, (unsigned long long)bad_expected, run.error);
}

/* Replaces every '%' of `pattern` by `by`, in text[0..size). */
__attribute__((unused)) static const char *expand(const char *pattern, const char *by, char *text,
                                                  size_t size) {
    size_t used = 0;
    for (; *pattern && used + strlen(by) + 1 < size; pattern++)
        if (*pattern == '%')
            used += (size_t)snprintf(text + used, size - used, "%s", by);
        else
            text[used++] = *pattern;
    text[used] = 0;
    return text;
}

#endif
