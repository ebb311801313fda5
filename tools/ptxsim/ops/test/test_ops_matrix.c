/* ldmatrix, stmatrix, movmatrix, mma and wgmma as instructions, element by element: which lane,
 * register and half holds which element of which matrix. Catches: registers or addresses in the
 * wrong order, a shape, type, sign or transposition that is ignored. The arithmetic is
 * test_mma.c's. */
#include "test/reference.h"
#include "test/run_ptx.h"
#include "test/tap.h"

enum { WARP = 32 };

enum { LARGEST = 4 }; /* magnitude of what is in the matrices: small integers */

/* Each is rounded once: millions are asked for, and the reference computes with 113 bits. */
static uint16_t element(bool bf16, int value) {
    static uint16_t known[2][2 * LARGEST + 1];
    uint16_t *bits = &known[bf16][value + LARGEST];
    if (!*bits) *bits = format_round(bf16 ? format_bf16 : format_f16, (Wide)value, FE_TONEAREST);
    return *bits;
}

/* ---- ldmatrix, stmatrix ---------------------------------------------------------------------- */

/* Row r of matrix m lies in slot (5 * (8 m + r) + 3) % 32 of the tile, 16 bytes each. */
static int slot(int m, int r) { return (5 * (8 * m + r) + 3) % 32; }

typedef struct Moves {
    uint16_t tile[32][8]; /* what ldmatrix reads, or what stmatrix leaves */
    uint32_t value[4][WARP];
} Moves;

/* Element (row, column) of matrix m. */
static uint16_t code(int m, int row, int column) {
    return (uint16_t)(0x1000 * m + 16 * row + column + 1);
}

/* The halves of register m in lane l: row l / 4, columns 2 (l % 4) and the next; or transposed. */
static uint32_t fragment(int m, int l, bool transposed) {
    uint32_t word = 0;
    for (int h = 0; h < 2; h++) {
        const int major = l / 4, minor = l % 4 * 2 + h;
        word |= (uint32_t)(transposed ? code(m, minor, major) : code(m, major, minor)) << 16 * h;
    }
    return word;
}

/* Lanes whose addresses do not count get one far outside. */
static const char moves_text[] = PTX_HEAD
    ".visible .entry k(.param .u64 data)\n{\n.reg .b64 p, q; .reg .b32 t, s, a, i, n, v<4>; "
    ".reg .pred g; .shared .align 16 .b8 room[512];\n"
    "ld.param.u64 p, [data]; mov.u32 t, %%tid.x; mov.u32 s, room; mad.lo.u32 a, t, 16, s; "
    "mad.wide.u32 q, t, 16, p; ld.global.v4.u32 {v0, v1, v2, v3}, [q]; "
    "st.shared.v4.u32 [a], {v0, v1, v2, v3}; bar.sync 0;\n"
    "mad.lo.u32 i, t, 5, 3; and.b32 i, i, 31; mad.lo.u32 a, i, 16, s; "
    "setp.ge.u32 g, t, %d; @g mov.u32 a, 0x7ffffff0;\n"
    "mad.wide.u32 q, t, 4, p; ld.global.u32 v0, [q+512]; ld.global.u32 v1, [q+640]; "
    "ld.global.u32 v2, [q+768]; ld.global.u32 v3, [q+896]; mov.u32 n, 0;\n"
    "AGAIN: %s; add.u32 n, n, 1; setp.lt.u32 g, n, 3; @g bra AGAIN;\n"
    "st.global.u32 [q+512], v0; st.global.u32 [q+640], v1; st.global.u32 [q+768], v2; "
    "st.global.u32 [q+896], v3; bar.sync 0; mad.lo.u32 a, t, 16, s; "
    "ld.shared.v4.u32 {v0, v1, v2, v3}, [a]; mad.wide.u32 q, t, 16, p; "
    "st.global.v4.u32 [q], {v0, v1, v2, v3}; ret;\n}\n";

static PtxRun run_moves(const char *instruction, int count, Moves *moves) {
    char text[3000];
    snprintf(text, sizeof text, moves_text, 8 * count, instruction);
    return run_ptx(text, WARP, moves, sizeof *moves);
}

static void test_ldmatrix(int count, bool transposed, const char *space) {
    static const char *const registers[] = {"", "{v0}", "{v0, v1}", "", "{v0, v1, v2, v3}"};
    char instruction[120];
    Moves moves;
    int wrong = 0;
    memset(&moves, 0xee, sizeof moves);
    for (int i = 0; i < 256; i++)
        moves.tile[slot(i / 64, i / 8 % 8)][i % 8] = code(i / 64, i / 8 % 8, i % 8);
    snprintf(instruction, sizeof instruction, "ldmatrix.sync.aligned.m8n8.x%d%s.%s.b16 %s, [a]",
             count, transposed ? ".trans" : "", space, registers[count]);
    const PtxRun run = run_moves(instruction, count, &moves);
    for (int m = 0; m < 4; m++)
        for (int l = 0; l < WARP; l++)
            wrong += moves.value[m][l] != (m < count ? fragment(m, l, transposed) : 0xeeeeeeee);
    ok(run.status == LAUNCH_OK && !wrong, "%s (%d words wrong) %s", instruction, wrong, run.error);
}

static void test_stmatrix(int count, bool transposed, const char *space) {
    static const char *const registers[] = {"", "{v0}", "{v0, v1}", "", "{v0, v1, v2, v3}"};
    char instruction[120];
    Moves moves;
    int wrong = 0;
    memset(&moves, 0xee, sizeof moves);
    for (int m = 0; m < 4; m++)
        for (int l = 0; l < WARP; l++) moves.value[m][l] = fragment(m, l, transposed);
    snprintf(instruction, sizeof instruction, "stmatrix.sync.aligned.m8n8.x%d%s.%s.b16 [a], %s",
             count, transposed ? ".trans" : "", space, registers[count]);
    const PtxRun run = run_moves(instruction, count, &moves);
    for (int i = 0; i < 256; i++) {
        const uint16_t expected = i / 64 < count ? code(i / 64, i / 8 % 8, i % 8) : 0xeeee;
        wrong += moves.tile[slot(i / 64, i / 8 % 8)][i % 8] != expected;
    }
    ok(run.status == LAUNCH_OK && !wrong, "%s (%d elements wrong) %s", instruction, wrong,
       run.error);
}

/* From one register to another, and in place: three times transposed is transposed. */
static void test_movmatrix(void) {
    for (int to = 0; to < 2; to++) {
        char instruction[120];
        Moves moves;
        int wrong = 0;
        memset(&moves, 0xee, sizeof moves);
        for (int l = 0; l < WARP; l++) moves.value[0][l] = fragment(0, l, false);
        snprintf(instruction, sizeof instruction, "movmatrix.sync.aligned.m8n8.trans.b16 v%d, v0",
                 to);
        const PtxRun run = run_moves(instruction, 4, &moves);
        for (int l = 0; l < WARP; l++) wrong += moves.value[to][l] != fragment(0, l, true);
        ok(run.status == LAUNCH_OK && !wrong, "%s (%d words wrong) %s", instruction, wrong,
           run.error);
    }
}

/* ---- mma ------------------------------------------------------------------------------------- */

/* The operands of one warp's mma as its lanes hold them, and its result. */
typedef struct Mma {
    uint32_t a[4][WARP], b[2][WARP], c[4][WARP], d[4][WARP];
} Mma;

typedef struct MmaKind {
    int k;
    bool bf16, half_sum;
} MmaKind;

static void write_mma(const MmaKind *kind, char *text, size_t size) {
    const char *type = kind->bf16 ? "bf16" : "f16", *sum = kind->half_sum ? "f16" : "f32";
    snprintf(text, size, "mma.sync.aligned.m16n8k%d.row.col.%s.%s.%s.%s {%s}, {%s}, {%s}, {%s}",
             kind->k, sum, type, type, sum, kind->half_sum ? "d0, d1" : "d0, d1, d2, d3",
             kind->k == 16 ? "a0, a1, a2, a3" : "a0, a1", kind->k == 16 ? "b0, b1" : "b0",
             kind->half_sum ? "c0, c1" : "c0, c1, c2, c3");
}

/* Where the halves of A's and B's registers belong: PTX ISA, "Matrix Fragments for mma". */
static int a_row(int i, int l) { return l / 4 + 8 * (i % 2); }
static int a_column(int i, int l, int h) { return l % 4 * 2 + h + 8 * (i / 2); }
static int b_row(int i, int l, int h) { return l % 4 * 2 + h + 8 * i; }
static int b_column(int l) { return l / 4; }
static int c_row(int i, int l) { return l / 4 + 8 * (i / 2); }
static int c_column(int i, int l) { return l % 4 * 2 + i % 2; }

static double half_of(const MmaKind *kind, uint32_t word, int h) {
    return format_value(kind->bf16 ? format_bf16 : format_f16, word >> 16 * h & 0xffff);
}

/* Element e of lane l of C or D: e counts fp32 registers, or halves of fp16 ones. */
static double sum_of(const MmaKind *kind, uint32_t registers[4][WARP], int e, int l) {
    if (kind->half_sum)
        return format_value(format_f16, registers[e / 2][l] >> 16 * (e % 2) & 0xffff);
    return (double)as_float(registers[e][l]);
}

static int wrong_elements(const MmaKind *kind, Mma *m) {
    double a[16][16] = {{0}}, b[16][8] = {{0}}, d[16][8] = {{0}};
    int wrong = 0;
    for (int l = 0; l < WARP; l++) {
        for (int i = 0; i < kind->k / 4; i++)
            for (int h = 0; h < 2; h++)
                a[a_row(i, l)][a_column(i, l, h)] = half_of(kind, m->a[i][l], h);
        for (int i = 0; i < kind->k / 8; i++)
            for (int h = 0; h < 2; h++)
                b[b_row(i, l, h)][b_column(l)] = half_of(kind, m->b[i][l], h);
        for (int e = 0; e < 4; e++) d[c_row(e, l)][c_column(e, l)] = sum_of(kind, m->c, e, l);
    }
    for (int i = 0; i < 16; i++)
        for (int j = 0; j < 8; j++)
            for (int k = 0; k < 16; k++) d[i][j] += a[i][k] * b[k][j];
    for (int l = 0; l < WARP; l++)
        for (int e = 0; e < 4; e++)
            wrong += sum_of(kind, m->d, e, l) != d[c_row(e, l)][c_column(e, l)];
    return wrong;
}

static uint32_t random_pair(const MmaKind *kind, uint32_t *seed) {
    uint32_t word = 0;
    for (int h = 0; h < 2; h++) {
        *seed = *seed * 1664525 + 1013904223;
        word |= (uint32_t)element(kind->bf16, (int)(*seed >> 24) % 9 - 4) << 16 * h;
    }
    return word;
}

/* One block an experiment: in each a single half of A, or of B, is not 0, at every place in turn;
 * the other operand is random. Then everything is random. */
enum { A_PLACES = 4 * WARP * 2, B_PLACES = 2 * WARP * 2, MMAS = A_PLACES + B_PLACES + 64 };

static void fill(const MmaKind *kind, Mma *m, int place, uint32_t *seed) {
    const bool only_a = place < A_PLACES, only_b = !only_a && place < A_PLACES + B_PLACES;
    const int b_place = place - A_PLACES;
    for (int l = 0; l < WARP; l++) {
        for (int i = 0; i < 4; i++) m->a[i][l] = only_a ? 0 : random_pair(kind, seed);
        for (int i = 0; i < 2; i++) m->b[i][l] = only_b ? 0 : random_pair(kind, seed);
        for (int i = 0; i < 4; i++)
            m->c[i][l] =
                kind->half_sum ? random_pair(kind, seed) : float_as_bits((float)(i * 32 + l));
    }
    const uint32_t three = element(kind->bf16, 3);
    if (only_a) m->a[place / 64][place / 2 % 32] = three << 16 * (place % 2);
    if (only_b) m->b[b_place / 64][b_place / 2 % 32] = three << 16 * (b_place % 2);
}

static const char mma_text[] =
    PTX_HEAD ".visible .entry k(.param .u64 data)\n{\n.reg .b64 p, q; .reg .b32 t, a<4>, b<2>, "
             "c<4>, d<4>;\nld.param.u64 p, [data]; mov.u32 t, %%ctaid.x; "
             "mad.wide.u32 p, t, 1792, p; mov.u32 t, %%tid.x; mad.wide.u32 q, t, 4, p;\n"
             "ld.global.u32 a0, [q]; ld.global.u32 a1, [q+128]; ld.global.u32 a2, [q+256]; "
             "ld.global.u32 a3, [q+384]; ld.global.u32 b0, [q+512]; ld.global.u32 b1, [q+640]; "
             "ld.global.u32 c0, [q+768]; ld.global.u32 c1, [q+896]; ld.global.u32 c2, [q+1024]; "
             "ld.global.u32 c3, [q+1152]; mov.b32 d2, 0; mov.b32 d3, 0;\n%s;\n"
             "st.global.u32 [q+1280], d0; st.global.u32 [q+1408], d1; st.global.u32 [q+1536], d2; "
             "st.global.u32 [q+1664], d3; ret;\n}\n";

static void test_mma(MmaKind kind) {
    static Mma mma[MMAS];
    char instruction[200], text[2500];
    uint32_t seed = 1;
    int wrong = 0;
    for (int i = 0; i < MMAS; i++) fill(&kind, &mma[i], i, &seed);
    write_mma(&kind, instruction, sizeof instruction);
    snprintf(text, sizeof text, mma_text, instruction);
    const PtxRun run = run_ptx_grid(text, MMAS, WARP, mma, sizeof mma);
    for (int i = 0; i < MMAS; i++) wrong += wrong_elements(&kind, &mma[i]);
    ok(run.status == LAUNCH_OK && !wrong, "%.60s: every half of A and B (%d wrong) %s", instruction,
       wrong, run.error);
}

/* ---- wgmma ----------------------------------------------------------------------------------- */

enum { ROWS = 64, DEPTH = 16, MAX_N = 256, THREADS = 128, CORE = 128, TILE_B = 2048 };

typedef struct WgmmaKind {
    int n;
    bool bf16, half_sum, a_in_registers, transpose_a, transpose_b;
    int scale_d, sign_a, sign_b;
} WgmmaKind;

/* In global memory: the operands as shared memory is to hold them, A's fragments, C and D. */
typedef struct Wgmma {
    uint8_t tiles[TILE_B + 2 * DEPTH * MAX_N];
    uint32_t a[4][THREADS], sum[MAX_N / 2][THREADS];
} Wgmma;
static Wgmma wgmma;
static int wg_a[ROWS][DEPTH], wg_b[DEPTH][MAX_N], wg_c[ROWS][MAX_N];

/* Without swizzle an operand is 8x8 core matrices of 128 bytes, whose lines are rows, or columns if
 * it is transposed; two of k follow each other, then those of the next 8 rows. */
static int tile_offset(int row, int k, bool transposed) {
    const int line = transposed ? k % 8 : row % 8, at = transposed ? row % 8 : k % 8;
    return row / 8 * 2 * CORE + k / 8 * CORE + line * 16 + at * 2;
}

static int wg_row(int e, int t) { return t / 32 * 16 + t % 32 / 4 + 8 * (e / 2 % 2); }
static int wg_column(int e, int t) { return e / 4 * 8 + t % 4 * 2 + e % 2; }

static void put(uint8_t *tile, int offset, uint16_t value) { memcpy(tile + offset, &value, 2); }

static void prepare(const WgmmaKind *kind) {
    uint32_t seed = 7;
    memset(&wgmma, 0, sizeof wgmma);
    for (int i = 0; i < ROWS * DEPTH; i++) {
        const int row = i / DEPTH, k = i % DEPTH;
        seed = seed * 1664525 + 1013904223;
        wg_a[row][k] = (int)(seed >> 24) % 7 - 3;
        put(wgmma.tiles, tile_offset(row, k, kind->transpose_a), element(kind->bf16, wg_a[row][k]));
    }
    for (int i = 0; i < kind->n * DEPTH; i++) {
        const int column = i / DEPTH, k = i % DEPTH;
        seed = seed * 1664525 + 1013904223;
        wg_b[k][column] = (int)(seed >> 24) % 7 - 3;
        put(wgmma.tiles + TILE_B, tile_offset(column, k, kind->transpose_b),
            element(kind->bf16, wg_b[k][column]));
    }
    for (int t = 0; t < THREADS; t++) {
        for (int i = 0; i < 8; i++) { /* A's registers hold two elements each, as mma's do */
            const int row = t / 32 * 16 + a_row(i / 2, t % 32), k = a_column(i / 2, t % 32, i % 2);
            wgmma.a[i / 2][t] |= (uint32_t)element(kind->bf16, wg_a[row][k]) << 16 * (i % 2);
        }
        for (int e = 0; e < kind->n / 2; e++) {
            const int c = wg_row(e, t) % 5 - wg_column(e, t) % 3;
            wg_c[wg_row(e, t)][wg_column(e, t)] = c;
            if (kind->half_sum)
                wgmma.sum[e / 2][t] |= (uint32_t)element(false, c) << 16 * (e % 2);
            else
                wgmma.sum[e][t] = float_as_bits((float)c);
        }
    }
}

static int wrong_sums(const WgmmaKind *kind) {
    int wrong = 0;
    for (int t = 0; t < THREADS; t++)
        for (int e = 0; e < kind->n / 2; e++) {
            const int row = wg_row(e, t), column = wg_column(e, t);
            double expected = kind->scale_d ? wg_c[row][column] : 0;
            for (int k = 0; k < DEPTH; k++)
                expected += kind->sign_a * kind->sign_b * wg_a[row][k] * wg_b[k][column];
            const double got =
                kind->half_sum
                    ? format_value(format_f16, wgmma.sum[e / 2][t] >> 16 * (e % 2) & 0xffff)
                    : (double)as_float(wgmma.sum[e][t]);
            wrong += got != expected;
        }
    return wrong;
}

/* Appends to text[]; the tests' texts are short of its end. */
static char *add(char *end, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    end += vsprintf(end, format, arguments);
    va_end(arguments);
    return end;
}

static void write_instruction(const WgmmaKind *kind, char *end) {
    const int sums = kind->n / (kind->half_sum ? 4 : 2);
    const char *type = kind->bf16 ? "bf16" : "f16";
    end = add(end, "wgmma.mma_async.sync.aligned.m64n%dk16.%s.%s.%s {", kind->n,
              kind->half_sum ? "f16" : "f32", type, type);
    for (int i = 0; i < sums; i++) end = add(end, "%sd%d", i ? ", " : "", i);
    end = add(end, "}, %s, y, g, %d, %d", kind->a_in_registers ? "{a0, a1, a2, a3}" : "x",
              kind->sign_a, kind->sign_b);
    if (!kind->a_in_registers) end = add(end, ", %d", kind->transpose_a);
    add(end, ", %d", kind->transpose_b);
}

/* Copies the tiles to shared memory, makes the descriptors, and runs the instruction. */
static void write_wgmma(const WgmmaKind *kind, const char *instruction, char *end) {
    const int sums = kind->n / (kind->half_sum ? 4 : 2), a_at = (int)offsetof(Wgmma, a);
    end = add(end,
              PTX_HEAD ".visible .entry k(.param .u64 data)\n{\n.reg .b64 p, q, x, y; "
                       ".reg .b32 t, s, i, v<4>, a<4>, d<%d>; .reg .pred g, h;\n"
                       ".shared .align 128 .b8 room[%d];\n"
                       "ld.param.u64 p, [data]; mov.u32 t, %%tid.x; mov.u32 s, room; "
                       "mov.u32 i, t;\nCOPY: mad.wide.u32 q, i, 16, p; "
                       "ld.global.v4.u32 {v0, v1, v2, v3}, [q]; mad.lo.u32 v3, i, 0, v3; "
                       ".reg .b32 z; mad.lo.u32 z, i, 16, s; "
                       "st.shared.v4.u32 [z], {v0, v1, v2, v3}; add.u32 i, i, 128; "
                       "setp.lt.u32 h, i, %d; @h bra COPY;\n"
                       "fence.proxy.async; bar.sync 0; mad.wide.u32 q, t, 4, p;\n",
              sums, (int)sizeof wgmma.tiles, (int)sizeof wgmma.tiles / 16);
    for (int i = 0; i < 4; i++) end = add(end, "ld.global.u32 a%d, [q+%d];\n", i, a_at + 512 * i);
    for (int i = 0; i < sums; i++)
        end = add(end, "ld.global.u32 d%d, [q+%d];\n", i, a_at + 2048 + 512 * i);
    /* descriptor: address / 16, LBO / 16 in bits 16-29, SBO / 16 in bits 32-45 */
    end = add(end,
              "shr.u32 i, s, 4; cvt.u64.u32 x, i; or.b64 x, x, 0x%llx; add.u64 y, x, %d; "
              "setp.ne.u32 g, %d, 0;\nwgmma.fence.sync.aligned;\n%s;\n"
              "wgmma.commit_group.sync.aligned; wgmma.wait_group.sync.aligned 0;\n",
              (unsigned long long)(2 * CORE / 16) << 32 | (CORE / 16) << 16, TILE_B / 16,
              kind->scale_d, instruction);
    for (int i = 0; i < sums; i++)
        end = add(end, "st.global.u32 [q+%d], d%d;\n", a_at + 2048 + 512 * i, i);
    add(end, "ret;\n}\n");
}

static void test_wgmma(WgmmaKind kind) {
    static char text[40000], instruction[4000];
    prepare(&kind);
    write_instruction(&kind, instruction);
    write_wgmma(&kind, instruction, text);
    const PtxRun run = run_ptx_grid(text, 1, THREADS, &wgmma, sizeof wgmma);
    const int wrong = wrong_sums(&kind);
    ok(run.status == LAUNCH_OK && !wrong, "%.44s ... %s, %d, %d, %d, %d, %d (%d wrong) %s",
       instruction, kind.a_in_registers ? "A in registers" : "A in shared memory", kind.scale_d,
       kind.sign_a, kind.sign_b, kind.transpose_a, kind.transpose_b, wrong, run.error);
}

static void test_wgmmas(void) {
    for (int n = 8; n <= MAX_N; n += 8)
        test_wgmma((WgmmaKind){n, n % 16 == 0, n % 48 == 8, n % 32 == 0, false, false, 1, 1, 1});
    for (int bits = 0; bits < 32; bits++) {
        const bool registers = bits & 16, transposed = bits & 8;
        test_wgmma((WgmmaKind){64, false, bits % 3 == 0, registers, !registers && transposed,
                               !transposed, bits & 1, bits & 2 ? -1 : 1, bits & 4 ? -1 : 1});
    }
}

/* Each in both orders in which asynchronous work may end. */
/* Types that do not go together. */
static void test_refusals(void) {
    static const char *const types[] = {"f32.bf16.f16.f32", "f32.f16.bf16.f32", "f16.bf16.bf16.f16",
                                        "f16.f16.f16.f32",  "f32.f16.f16.f16",  "f32.f32.f32.f32"};
    for (size_t i = 0; i < sizeof types / sizeof *types; i++) {
        char text[1000];
        uint32_t data = 0;
        snprintf(text, sizeof text,
                 PTX_HEAD ".visible .entry k(.param .u64 data)\n{\n.reg .b32 d<4>, a<4>, b<2>;\n"
                          "mma.sync.aligned.m16n8k16.row.col.%s {d0, d1, d2, d3}, "
                          "{a0, a1, a2, a3}, {b0, b1}, {d0, d1, d2, d3}; ret;\n}\n",
                 types[i]);
        const PtxRun run = run_ptx(text, WARP, &data, sizeof data);
        ok(run.error[0] && strstr(run.error, "mma"), "mma of %s is refused: %s", types[i],
           run.error);
    }
}

int main(void) {
    test_refusals();
    for (int transposed = 0; transposed < 2; transposed++)
        for (int count = 1; count <= 4; count *= 2) {
            test_ldmatrix(count, transposed, "shared");
            test_ldmatrix(count, transposed, "shared::cta");
            test_stmatrix(count, transposed, "shared");
            test_stmatrix(count, transposed, "shared::cta");
        }
    test_movmatrix();
    for (int k = 8; k <= 16; k += 8) {
        test_mma((MmaKind){k, false, false});
        test_mma((MmaKind){k, true, false});
        test_mma((MmaKind){k, false, true});
    }
    for (int early = 0; early < 2; early++) {
        setenv("SIM_ASYNC", early ? "early" : "late", 1);
        setenv("SIM_RACE", early ? "1" : "0", 1);
        test_wgmmas();
    }
    return done_testing();
}
