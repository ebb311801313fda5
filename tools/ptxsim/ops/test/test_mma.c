/* Matrix instructions against plain matrix products. Catches: an element of a fragment in the wrong
 * lane or register, a transposition, a descriptor's layout or swizzle, a forgotten scale or
 * negation.
 *
 * Fragments are filled by the formulas of the PTX ISA, written here in their own way: the row and
 * column of element e of register i in lane l. Small integers make every sum exact. */
#include <stdlib.h>

#include "machine/tensormap.h"
#include "ops/mma.h"
#include "ops/numeric.h"
#include "test/tap.h"

enum { M = 16, N = 256, K = 16, LANES = 32 };

typedef struct Register {
    uint32_t lane[LANES];
} Register;

static uint32_t seed = 1;
static int small_random(void) { return (int)((seed = seed * 1664525 + 1013904223) >> 24) % 9 - 4; }

static uint16_t encode(MmaElement element, float value) {
    return element == MMA_F16 ? half_from_float(value) : bf16_from_float(value);
}

static uint32_t pair(MmaElement element, float low, float high) {
    return encode(element, low) | (uint32_t)encode(element, high) << 16;
}

static void put_a(float a[M][K], MmaElement element, Register r[4]) {
    for (int i = 0; i < 4; i++)
        for (int l = 0; l < LANES; l++) {
            int row = l >> 2, column = (l % 4) * 2;
            if (i == 1 || i == 3) row += 8;
            if (i >= 2) column += 8;
            r[i].lane[l] = pair(element, a[row][column], a[row][column + 1]);
        }
}

static void put_b(float b[K][N], MmaElement element, Register r[2]) {
    for (int i = 0; i < 2; i++)
        for (int l = 0; l < LANES; l++) {
            int row = (l % 4) * 2 + 8 * i;
            r[i].lane[l] = pair(element, b[row][l >> 2], b[row + 1][l >> 2]);
        }
}

/* fp32 element i of lane l of a 16 x n accumulator. */
static int c_row(int i, int l) { return (l >> 2) + (i % 4 < 2 ? 0 : 8); }
static int c_column(int i, int l) { return i / 4 * 8 + (l % 4) * 2 + (i & 1); }

static void put_c(float c[M][N], int registers, Register *r) {
    for (int i = 0; i < registers; i++)
        for (int l = 0; l < LANES; l++) r[i].lane[l] = bits_of(c[c_row(i, l)][c_column(i, l)]);
}

static int compare_f32(float d[M][N], int registers, const Register *r) {
    int wrong = 0;
    for (int i = 0; i < registers; i++)
        for (int l = 0; l < LANES; l++)
            wrong += float_of(r[i].lane[l]) != d[c_row(i, l)][c_column(i, l)];
    return wrong;
}

/* fp16 accumulators: register i holds fp32 elements 2i and 2i + 1. */
static void put_c16(float c[M][N], int registers, Register *r) {
    for (int i = 0; i < registers; i++)
        for (int l = 0; l < LANES; l++) {
            int row = c_row(2 * i, l), column = c_column(2 * i, l);
            r[i].lane[l] = pair(MMA_F16, c[row][column], c[row][column + 1]);
        }
}

static int compare_f16(float d[M][N], int registers, const Register *r) {
    int wrong = 0;
    for (int i = 0; i < registers; i++)
        for (int l = 0; l < LANES; l++) {
            int row = c_row(2 * i, l), column = c_column(2 * i, l);
            wrong += r[i].lane[l] != pair(MMA_F16, d[row][column], d[row][column + 1]);
        }
    return wrong;
}

static float a[M][K], b[K][N], c[M][N], d[M][N];

static void randomise(void) {
    for (int i = 0; i < M; i++)
        for (int j = 0; j < K; j++) a[i][j] = (float)small_random();
    for (int i = 0; i < K; i++)
        for (int j = 0; j < N; j++) b[i][j] = (float)small_random();
    for (int i = 0; i < M; i++)
        for (int j = 0; j < N; j++) c[i][j] = (float)small_random();
}

/* d = sign * a b + (accumulate ? c : 0) */
static void product(int n, int k, float sign, bool accumulate) {
    for (int i = 0; i < M; i++)
        for (int j = 0; j < n; j++) {
            d[i][j] = accumulate ? c[i][j] : 0;
            for (int x = 0; x < k; x++) d[i][j] += sign * a[i][x] * b[x][j];
        }
}

static Register ra[4], rb[2], rc[128], rd[128];
static const uint32_t *pa[4], *pb[2], *pc[128];
static uint32_t *pd[128];

static void point(void) {
    for (int i = 0; i < 4; i++) pa[i] = ra[i].lane;
    for (int i = 0; i < 2; i++) pb[i] = rb[i].lane;
    for (int i = 0; i < 128; i++) pc[i] = rc[i].lane, pd[i] = rd[i].lane;
}

/* ---- mma ------------------------------------------------------------------------------------- */

static int run_mma(unsigned k, MmaElement element) {
    put_a(a, element, ra);
    put_b(b, element, rb);
    put_c(c, 4, rc);
    mma_f32(k, element, pd, pa, pb, pc);
    product(8, (int)k, 1, true);
    return compare_f32(d, 4, rd);
}

/* One element of A and one of B at a time: every pair of positions. */
static void test_one_hot(void) {
    int wrong = 0;
    memset(c, 0, sizeof c);
    for (int i = 0; i < M * K; i++) {
        memset(a, 0, sizeof a);
        memset(b, 0, sizeof b);
        a[i / K][i % K] = 2;
        for (int j = 0; j < 8; j++) b[i % K][j] = (float)(j + 1);
        wrong += run_mma(16, MMA_F16);
        memset(b, 0, sizeof b);
        b[i % K][i / K % 8] = 3;
        for (int x = 0; x < M; x++) a[x][i % K] = (float)(x + 1);
        wrong += run_mma(16, MMA_BF16);
    }
    ok(wrong == 0, "m16n8k16: every element of A and B at its place (%d wrong)", wrong);
}

static void test_mma(void) {
    int wrong[4] = {0}, in_place;
    for (int i = 0; i < 200; i++) {
        randomise();
        wrong[0] += run_mma(16, MMA_F16);
        wrong[1] += run_mma(16, MMA_BF16);
        wrong[2] += run_mma(8, MMA_F16);
        wrong[3] += run_mma(8, MMA_BF16);
    }
    ok(wrong[0] == 0, "m16n8k16 fp16 (%d wrong)", wrong[0]);
    ok(wrong[1] == 0, "m16n8k16 bf16 (%d wrong)", wrong[1]);
    ok(wrong[2] == 0, "m16n8k8 fp16 (%d wrong)", wrong[2]);
    ok(wrong[3] == 0, "m16n8k8 bf16 (%d wrong)", wrong[3]);

    put_a(a, MMA_F16, ra);
    put_b(b, MMA_F16, rb);
    put_c16(c, 2, rc);
    mma_f16(16, pd, pa, pb, pc);
    product(8, 16, 1, true);
    ok(compare_f16(d, 2, rd) == 0, "m16n8k16 with fp16 accumulators");
    mma_f16(8, pd, pa, pb, pc);
    product(8, 8, 1, true);
    ok(compare_f16(d, 2, rd) == 0, "m16n8k8 with fp16 accumulators");

    /* D in the registers of A */
    Register save[4];
    memcpy(save, ra, sizeof save);
    put_c(c, 4, rc);
    mma_f32(16, MMA_F16, (uint32_t *const[]){ra[0].lane, ra[1].lane, ra[2].lane, ra[3].lane}, pa,
            pb, pc);
    product(8, 16, 1, true);
    in_place = compare_f32(d, 4, ra);
    memcpy(ra, save, sizeof save);
    ok(in_place == 0, "D may be the registers of A");

    /* or those of C, in any order */
    put_c(c, 4, rc);
    mma_f32(16, MMA_F16, (uint32_t *const[]){rc[2].lane, rc[3].lane, rc[0].lane, rc[1].lane}, pa,
            pb, pc);
    const Register other[4] = {rc[2], rc[3], rc[0], rc[1]};
    ok(compare_f32(d, 4, other) == 0, "D may be the registers of C in another order");
}

static void test_special_values(void) {
    memset(a, 0, sizeof a);
    memset(b, 0, sizeof b);
    memset(c, 0, sizeof c);
    a[3][5] = HUGE_VALF;
    b[5][2] = 1;
    a[4][6] = NAN;
    a[5][7] = 0x1p-24f;
    b[7][1] = 0x1p-24f;
    put_a(a, MMA_F16, ra);
    put_b(b, MMA_F16, rb);
    put_c(c, 4, rc);
    mma_f32(16, MMA_F16, pd, pa, pb, pc);
    float out[M][8];
    for (int i = 0; i < 4; i++)
        for (int l = 0; l < LANES; l++) out[c_row(i, l)][c_column(i, l)] = float_of(rd[i].lane[l]);
    ok(out[3][2] == HUGE_VALF && isnan(out[3][0]), "inf * 1 = inf, inf * 0 = NaN");
    ok(isnan(out[4][0]) && isnan(out[4][7]) && out[2][0] == 0, "NaN fills its row alone");
    ok(out[5][1] == 0x1p-48f, "subnormal halves multiply exactly");
    a[3][5] = HUGE_VALF;
    put_a(a, MMA_BF16, ra);
    put_b(b, MMA_BF16, rb);
    mma_f32(16, MMA_BF16, pd, pa, pb, pc);
    ok(rd[2].lane[12] == 0 && isinf(float_of(rd[0].lane[4 * 3 + 1])), "the same in bf16");
}

/* ---- ldmatrix and stmatrix ------------------------------------------------------------------- */

static void test_matrix_moves(void) {
    uint16_t matrix[8][8], back[8][8];
    const uint8_t *row[8];
    uint8_t *row_back[8];
    uint32_t plain[LANES], transposed[LANES];
    int wrong = 0;
    for (int i = 0; i < 64; i++) matrix[i / 8][i % 8] = (uint16_t)(0x100 * (i / 8) + i % 8);
    for (int i = 0; i < 8; i++) {
        row[i] = (const uint8_t *)matrix[i];
        row_back[i] = (uint8_t *)back[i];
    }
    ldmatrix(row, false, plain);
    ldmatrix(row, true, transposed);
    for (int l = 0; l < LANES; l++)
        for (int e = 0; e < 2; e++) {
            int major = l / 4, minor = l % 4 * 2 + e;
            wrong += (plain[l] >> 16 * e & 0xffff) != matrix[major][minor];
            wrong += (transposed[l] >> 16 * e & 0xffff) != matrix[minor][major];
        }
    ok(wrong == 0, "ldmatrix and ldmatrix.trans: all 64 elements (%d wrong)", wrong);
    stmatrix(row_back, false, plain);
    ok(memcmp(back, matrix, sizeof back) == 0, "stmatrix undoes ldmatrix");
    memset(back, 0, sizeof back);
    stmatrix(row_back, true, transposed);
    ok(memcmp(back, matrix, sizeof back) == 0, "stmatrix.trans undoes ldmatrix.trans");
}

/* ---- wgmma ----------------------------------------------------------------------------------- */

enum { SHARED = 128 * 1024, TILE_A = 64 * 1024, TILE_B = 2048 };
static uint8_t shared[SHARED];

/* A way to lay an operand out in shared memory, as kernels and the TMA do it: panels of `span`
 * bytes per line, swizzled by address; without swizzle 8x8 core matrices of 128 bytes. */
typedef struct Layout {
    const char *name;
    Swizzle swizzle;
    uint64_t mode; /* bits 62-63 of the descriptor */
    bool transposed;
} Layout;

static const Layout layouts[] = {
    {"128B swizzle", SWIZZLE_128B, 1, false},
    {"64B swizzle", SWIZZLE_64B, 2, false},
    {"32B swizzle", SWIZZLE_32B, 3, false},
    {"no swizzle", SWIZZLE_NONE, 0, false},
    {"128B swizzle, transposed", SWIZZLE_128B, 1, true},
    {"64B swizzle, transposed", SWIZZLE_64B, 2, true},
    {"32B swizzle, transposed", SWIZZLE_32B, 3, true},
    {"no swizzle, transposed", SWIZZLE_NONE, 0, true},
};

static void put_element(uint32_t address, Swizzle swizzle, uint16_t value) {
    memcpy(shared + swizzle_address(address, swizzle), &value, sizeof value);
}

/* Writes element (row, k) of an operand of `rows` rows at `base`; returns its descriptor. */
static uint64_t lay_out(const Layout *layout, uint32_t base, int rows, MmaElement element,
                        float (*at)(int row, int k)) {
    uint32_t span = layout->swizzle ? 16u << layout->swizzle : 0, lbo = 16, sbo;
    uint32_t panel = span * K, chunks = (uint32_t)rows / 8;
    if (span)
        sbo = 8 * span;
    else if (layout->transposed)
        sbo = 128, lbo = chunks * 128;
    else
        sbo = 2 * 128 + 256, lbo = 128;
    if (span && layout->transposed) lbo = panel;
    for (int row = 0; row < rows; row++)
        for (int k = 0; k < K; k++) {
            uint32_t line = (uint32_t)(layout->transposed ? k : row);
            uint32_t bytes = 2 * (uint32_t)(layout->transposed ? row : k), address;
            if (span)
                address = bytes / span * panel + line * span + bytes % span;
            else if (layout->transposed)
                address = bytes / 16 * sbo + line / 8 * lbo + line % 8 * 16 + bytes % 16;
            else
                address = bytes / 16 * lbo + line / 8 * sbo + line % 8 * 16 + bytes % 16;
            put_element(base + address, layout->swizzle, encode(element, at(row, k)));
        }
    return layout->mode << 62 | (uint64_t)(sbo >> 4) << 32 | (uint64_t)(lbo >> 4) << 16 | base >> 4;
}

static float a_at(int row, int k) { return a[row % M][k] + (float)(row / M); }
static float b_at(int row, int k) { return b[k][row]; }

/* Warp `warp` of a warpgroup whose A has 64 rows: a_at. */
static int run_wgmma(const Layout *layout_a, const Layout *layout_b, unsigned n, unsigned warp,
                     MmaElement element, bool accumulate, bool negate_a, bool negate_b) {
    WgmmaOperation operation = {.n = n,
                                .element = element,
                                .shared = shared,
                                .accumulate = accumulate,
                                .negate_a = negate_a,
                                .negate_b = negate_b};
    float saved[M][K];
    memcpy(saved, a, sizeof a);
    uint64_t descriptor_b = lay_out(layout_b, TILE_B, (int)n, element, b_at);
    operation.b_tile = (WgmmaTile){wgmma_descriptor(descriptor_b), 0, n, layout_b->transposed};
    if (layout_a) {
        uint64_t descriptor_a = lay_out(layout_a, TILE_A, 64, element, a_at);
        operation.a_tile =
            (WgmmaTile){wgmma_descriptor(descriptor_a), 16 * warp, 16, layout_a->transposed};
        for (int i = 0; i < M * K; i++) a[i / K][i % K] += (float)warp;
    } else {
        put_a(a, element, ra);
        operation.a = pa;
    }
    put_c(c, (int)n / 2, rc);
    wgmma_f32(&operation, pd, pc);
    product((int)n, K, negate_a != negate_b ? -1 : 1, accumulate);
    int wrong = compare_f32(d, (int)n / 2, rd);
    put_c16(c, (int)n / 4, rc);
    wgmma_f16(&operation, pd, pc);
    wrong += compare_f16(d, (int)n / 4, rd);
    memcpy(a, saved, sizeof a);
    return wrong;
}

static void test_wgmma(void) {
    for (unsigned i = 0; i < sizeof layouts / sizeof *layouts; i++) {
        int from_registers = 0, from_shared = 0;
        randomise();
        for (unsigned n = 8; n <= N; n += 8) {
            bool whole = !layouts[i].transposed || n % (8u << layouts[i].swizzle) == 0;
            if (!whole) continue; /* a part of a panel is laid out as the whole */
            from_registers += run_wgmma(NULL, &layouts[i], n, 0, MMA_F16, true, false, false);
            from_registers += run_wgmma(NULL, &layouts[i], n, 0, MMA_BF16, false, false, false);
        }
        for (unsigned warp = 0; warp < 4; warp++)
            from_shared +=
                run_wgmma(&layouts[i], &layouts[0], 64, warp, MMA_F16, true, false, false);
        ok(from_registers == 0, "wgmma, B in %s, all n (%d wrong)", layouts[i].name,
           from_registers);
        ok(from_shared == 0, "wgmma, A in %s, all four warps (%d wrong)", layouts[i].name,
           from_shared);
    }
    ok(run_wgmma(NULL, layouts, 64, 0, MMA_F16, true, true, false) == 0, "A negated");
    ok(run_wgmma(NULL, layouts, 64, 0, MMA_F16, true, false, true) == 0, "B negated");
    ok(run_wgmma(layouts, layouts, 64, 2, MMA_F16, true, true, true) == 0, "both negated");
}

/* The addresses that a stage's descriptors mean: k step 1 of a 128-byte row, V's second panel. */
static void test_chunks(void) {
    uint32_t address[WGMMA_MAX_CHUNKS];
    WgmmaTile tile = {
        {.address = 1024 + 32, .stride_offset = 1024, .swizzle = SWIZZLE_128B}, 0, 16, false};
    is_int(wgmma_chunks(&tile, address), 32, "16 rows are 32 chunks");
    ok(address[0] == 1024 + 32 && address[8] == 1024 + 48 &&
           address[3] == 1024 + 3 * 128 + 1 * 16 && address[16] == 2048 + 32,
       "K-major: chunk 2 ^ row of each row, 8 rows further 1024 bytes");
    tile = (WgmmaTile){
        {.address = 0, .leading_offset = 8192, .stride_offset = 1024, .swizzle = SWIZZLE_128B},
        0,
        128,
        true};
    is_int(wgmma_chunks(&tile, address), 256, "128 columns are 256 chunks");
    ok(address[1] == 128 + 16 && address[8] == 1024 && address[128] == 8192 &&
           address[129] == 8192 + 128 + 16,
       "MN-major: lines of k, columns 64 and up in the next panel");
    WgmmaDescriptor fields =
        wgmma_descriptor(0x4000004000000000 | 0x0001 << 16 | 0x0040 | 5ull << 49);
    ok(fields.address == 1024 && fields.leading_offset == 16 && fields.stride_offset == 1024 &&
           fields.swizzle == SWIZZLE_128B && fields.base_offset == 5,
       "a descriptor's fields");
}

/* mma_place says where these formulas have put each element. */
static void test_places(void) {
    static float left[M][K], right[K][N];
    Register in_a[4], in_b[2];
    int wrong = 0;
    for (int i = 0; i < M * K; i++) left[i / K][i % K] = (float)i;
    for (int i = 0; i < K * 8; i++) right[i / 8][i % 8] = (float)i;
    put_a(left, MMA_F16, in_a);
    put_b(right, MMA_F16, in_b);
    for (unsigned l = 0; l < LANES; l++)
        for (unsigned half = 0; half < 2; half++) {
            for (unsigned i = 0; i < 4; i++) {
                const MmaPlace at = mma_place(MMA_A, l, i, half);
                const uint16_t bits = (uint16_t)(in_a[i].lane[l] >> 16 * half);
                wrong += half_to_float(bits) != left[at.row][at.column];
            }
            for (unsigned i = 0; i < 2; i++) {
                const MmaPlace at = mma_place(MMA_B, l, i, half);
                const uint16_t bits = (uint16_t)(in_b[i].lane[l] >> 16 * half);
                wrong += half_to_float(bits) != right[at.row][at.column];
            }
        }
    for (unsigned l = 0; l < LANES; l++)
        for (unsigned i = 0; i < 4; i++) {
            const MmaPlace at = mma_place(MMA_SUM, l, i, 0);
            wrong += at.row != c_row((int)i, (int)l) || at.column != c_column((int)i, (int)l);
            const MmaPlace half = mma_place(MMA_HALF_SUM, l, i / 2, i % 2);
            wrong += half.row != at.row || half.column != at.column;
        }
    ok(wrong == 0, "mma_place: the elements of A, B and the sums (%d wrong)", wrong);
}

/* The same for ldmatrix. */
static void test_matrix_places(void) {
    uint16_t matrix[8][8];
    const uint8_t *row[8];
    int wrong = 0;
    for (int i = 0; i < 64; i++) matrix[i / 8][i % 8] = (uint16_t)i;
    for (int r = 0; r < 8; r++) row[r] = (const uint8_t *)matrix[r];
    for (int transposed = 0; transposed < 2; transposed++) {
        uint32_t value[LANES];
        ldmatrix(row, transposed, value);
        for (unsigned l = 0; l < LANES; l++)
            for (unsigned half = 0; half < 2; half++) {
                const MmaPlace at = mma_place(MMA_MATRIX, l, 0, half);
                const int above = transposed ? at.column : at.row;
                const int along = transposed ? at.row : at.column;
                wrong += (uint16_t)(value[l] >> 16 * half) != matrix[above][along];
            }
    }
    ok(wrong == 0, "mma_place: the elements that ldmatrix loads (%d wrong)", wrong);
}

int main(void) {
    point();
    test_places();
    test_matrix_places();
    test_one_hot();
    test_mma();
    test_special_values();
    test_matrix_moves();
    test_chunks();
    test_wgmma();
    return done_testing();
}
