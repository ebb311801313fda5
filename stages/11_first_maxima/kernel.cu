// Stage 11: first_maxima
// Idea:     softmax may subtract any number near the maximum, so the maxima of the first key tile
//           serve all tiles. Only if a P_ij outgrows its range, the warp updates its maxima and
//           rescales O, before it computes anything from that P_ij.
// Before:   per tile, a thread of stage 10 spends 76 FMNMX, 8 SHFL and 128 FMUL on maxima that
//           rarely change much, and the tensor cores wait for them.
// Look for: a branch around FMNMX and the FMUL of O; a vote per 16 or 32 keys; the exponentials
//           of the next keys between the HMMA of the current ones.
// Limits:   needs sm_80 or newer.
#include <float.h>
#include <limits.h>
#include <math_constants.h>

#include "attention.h"

#if ELEMENT_BF16
#include <cuda_bf16.h>
typedef __nv_bfloat16 element;
#define PAIR "bf16x2"         // two elements in a register
#define TYPES "f32.bf16.bf16" // of a product: sum, A, B
#else
#include <cuda_fp16.h>
typedef __half element;
#define PAIR "f16x2"
#define TYPES "f32.f16.f16"
#endif

constexpr int D = HEAD_DIM;
constexpr int BR = 128; // query rows per block; tune: 64 128 256
// Keys per tile: 16 KiB of K, or 8 where registers or shared memory do not allow more.
constexpr int BC = (TARGET_SM == 80 || TARGET_SM == 90 ? 8192 : 4096) / D; // tune: 32 64 128
constexpr int WARPS = 4;                                                   // per block; tune: 4 8
constexpr int THREADS = WARPS * 32;
constexpr int M_STEP = 16, M_TILES = BR / WARPS / M_STEP; // rows per tile; two share K's fragments
static_assert(BR % (WARPS * 16) == 0 && BC % 16 == 0, "mma tiles are 16 rows and 16 keys");
constexpr int ROW_LANES = 4; // lanes that share a row of an accumulator
constexpr int VECTOR = 8;    // elements in 128 bits
constexpr int CHUNKS = D / VECTOR, ROW_BYTES = D * sizeof(element); // of a row
constexpr int COPY_ROWS = THREADS / CHUNKS;                         // that all threads copy at once
static_assert(BR % COPY_ROWS == 0 && BC % COPY_ROWS == 0, "a tile is copied in whole rounds");
constexpr float LOG2_E = 1.4426950408889634f, LN_2 = 0.6931471805599453f;
// The largest sum of the P_ij of a row that a thread checks at once. fp16 numbers end at 2^16.
constexpr float LIMIT = 0x1p15f;
constexpr int STEP = D == 128 ? 16 : 32; // keys exponentiated, checked and multiplied at a time
constexpr int EARLY = D == 128 ? 3 : 0;  // fragments of V that registers are left for

constexpr int SHARED_BYTES = (BR + 2 * BC) * D * sizeof(element);

static __host__ __device__ int ceil_div(int a, int b) { return (a + b - 1) / b; }

// The number of keys that query `row` sees: columns 0 .. visible - 1.
static __device__ int visible_keys(const AttentionProblem &p, int row) {
    return CAUSAL ? min(max(row + 1 + p.seq_kv - p.seq_q, 0), p.seq_kv) : p.seq_kv;
}

// The KV head that query head `head` (of batch * heads) reads.
static __device__ size_t kv_head(const AttentionProblem &p, int head) {
    return (size_t)(head / p.heads) * p.kv_heads + head % p.heads / (p.heads / p.kv_heads);
}

// Sum and maximum over the ROW_LANES lanes that share a row of an accumulator.
static __device__ float row_sum(float value) {
    for (int lanes = ROW_LANES / 2; lanes > 0; lanes /= 2)
        value += __shfl_xor_sync(0xffffffff, value, lanes);
    return value;
}

static __device__ float row_max(float value) {
    for (int lanes = ROW_LANES / 2; lanes > 0; lanes /= 2)
        value = fmaxf(value, __shfl_xor_sync(0xffffffff, value, lanes));
    return value;
}

// 2^x, log2(x) and 1 / x. Denormals are zeros: without .ftz it is 3, 3 and 7 instructions more.
#define APPROX(name, instruction)                                      \
    static __device__ float name(float x) {                            \
        float y;                                                       \
        asm(instruction ".approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x)); \
        return y;                                                      \
    }
APPROX(exp2_approx, "ex2")
APPROX(log2_approx, "lg2")
APPROX(reciprocal_approx, "rcp")

// A block's work: query rows first_row .. first_row + BR - 1 of head `head` (of batch * heads).
typedef struct Tile {
    int head, first_row;
    int last; // first key of the last key tile; rows without keys have one tile, masked as a whole
} Tile;

// Causal: batch entry by batch entry, the row tiles that see most keys first. Full: head by head.
// So blocks that run at the same time read the same keys, which then come out of L2.
// blockIdx.x by a volatile asm, so that the compiler works a Tile out again at its few uses and
// keeps no registers for it in the loop: ptxas would spill 4 to 16 bytes in stages 10 and 11.
static __device__ Tile tile_of(const AttentionProblem &p) {
    int index;
    asm volatile("mov.u32 %0, %%ctaid.x;" : "=r"(index));
    const int row_tiles = ceil_div(p.seq_q, BR);
    const unsigned heads = p.heads, from_end = gridDim.x - 1 - index;
    Tile t;
    t.head = CAUSAL ? from_end / heads / row_tiles * heads + from_end % heads : index / row_tiles;
    t.first_row = (CAUSAL ? from_end / heads % row_tiles : index % row_tiles) * BR;
    t.last = max(ceil_div(visible_keys(p, t.first_row + BR - 1), BC) - 1, 0) * BC;
    return t;
}

// Two floats, rounded, in one register: `low` in the low half.
static __device__ unsigned pack(float low, float high) {
    unsigned pair;
    asm("cvt.rn." PAIR ".f32 %0, %1, %2;" : "=r"(pair) : "f"(high), "f"(low));
    return pair;
}

// mma.m16n8k16 (PTX ISA 9.7.14.5.8): C [16, 8] += A [16, 16] B [16, 8]. With g = lane / 4 and
// q = lane % 4 * 2 a lane holds, two neighbours in a register,
//     A: (g, q ..) (g + 8, q ..) (g, q + 8 ..) (g + 8, q + 8 ..)
//     B: (q .., g) (q + 8 .., g)
//     C: (g, q) (g, q + 1) (g + 8, q) (g + 8, q + 1), a float each
static __device__ void mma_m16n8k16(float (&c)[4], const unsigned (&a)[4], unsigned b0,
                                    unsigned b1) {
    asm("mma.sync.aligned.m16n8k16.row.col." TYPES ".f32 "
        "{%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
        : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
}

// ldmatrix.x4 (PTX ISA 9.7.14.5.15): four 8 x 8 matrices. Lane l passes the address of row l % 8 of
// matrix l / 8 and receives from each matrix the pair (l / 4, l % 4 * 2 ..); .trans gives it the
// pair of the transpose.
static __device__ void ldmatrix_x4(unsigned (&r)[4], unsigned row) {
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3])
                 : "r"(row)
                 : "memory");
}

static __device__ void ldmatrix_x4_trans(unsigned (&r)[4], unsigned row) {
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3])
                 : "r"(row)
                 : "memory");
}

static __device__ unsigned shared_address(const void *p) {
    return (unsigned)__cvta_generic_to_shared(p);
}

// cp.async: 16 bytes from global to shared memory, or 16 zero bytes if not `valid`.
static __device__ void cp_async_16(unsigned to, const void *from, bool valid) {
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(to), "l"(from),
                 "r"(valid ? 16 : 0)
                 : "memory");
}

static __device__ void cp_async_commit_group() {
    asm volatile("cp.async.commit_group;" ::: "memory");
}

// Waits until at most `groups` of the thread's groups are not complete.
template <int groups> static __device__ void cp_async_wait_group() {
    asm volatile("cp.async.wait_group %0;" ::"n"(groups) : "memory");
}

// Where element (row, col) of a tile is stored in shared memory: 16-byte chunks, swizzled.
static __device__ int tile_at(int row, int col) { return row * D + (col ^ (row & 7) * 8); }

// The address `col` columns, a multiple of 16, to the right of address `at`, which is in the first
// 16 columns: XOR moves within 64 columns, beyond them the swizzle repeats.
static __device__ unsigned step(unsigned at, int col) {
    return (at ^ col % 64 * sizeof(element)) + col / 64 * 64 * sizeof(element);
}

// Starts to copy `height` rows of M [rows, D] to a tile, zeros beyond the end. The thread's first
// 16 bytes go to `to`; COPY_ROWS is a multiple of 8, so all of its rows have the same swizzle.
template <int height> static __device__ void load_tile(unsigned to, const element *M, int rows) {
    M += threadIdx.x * VECTOR;
    if (rows >= height)
        for (int r = 0; r < height; r += COPY_ROWS)
            cp_async_16(to + r * ROW_BYTES, M + r * D, true);
    else
#pragma unroll 1
        for (int r = 0; r < height; r += COPY_ROWS)
            cp_async_16(to + r * ROW_BYTES, M + r * D, threadIdx.x / CHUNKS + r < rows);
}

// What a thread knows about its two rows of the warp's 16, lane / ROW_LANES and the one 8 below.
// Before the first key m_i is the lowest number and not -inf: -inf - -inf would be NaN.
typedef struct Rows {
    float cm_i[2] = {-FLT_MAX, -FLT_MAX}, l_i[2] = {0}, scale_i[2];
} Rows;

// S_ij = -inf where a row does not see the key.
// The warp's 16 rows begin at `row`, the tile's keys at j.
static __device__ void mask(float (&S_ij)[BC / 8][4], const AttentionProblem &p, int row, int j,
                            int lane) {
    for (int h = 0; h < 2; h++) {
        const int query = row + h * 8 + lane / ROW_LANES;
        const int visible = visible_keys(p, query) - j - lane % ROW_LANES * 2;
        for (int n = 0; n < BC / 8; n++)
            for (int e = 0; e < 2; e++)
                if (n * 8 + e >= visible) S_ij[n][2 * h + e] = -CUDART_INF_F;
    }
}

// m_i = max(m_i, rowmax(S_ij)), l_i = scale_i * l_i, for keys first .. last - 1 of the tile
static __device__ void update_maxima(Rows &rows, const float (&S_ij)[BC / 8][4], float c, int first,
                                     int last) {
    for (int h = 0; h < 2; h++) {
        float m_new = -CUDART_INF_F;
        for (int n = first / 8; n < last / 8; n++)
            m_new = fmaxf(m_new, fmaxf(S_ij[n][2 * h], S_ij[n][2 * h + 1]));
        const float cm_new = fmaxf(rows.cm_i[h], c * row_max(m_new));
        rows.scale_i[h] = exp2_approx(rows.cm_i[h] - cm_new);
        rows.cm_i[h] = cm_new;
        rows.l_i[h] *= rows.scale_i[h];
    }
}

// P_ij = exp(S_ij - m_i), sum = sum + rowsum(P_ij), for keys first .. last - 1 of the tile
static __device__ void exponentials(float (&P_ij)[BC / 8][4], float (&sum)[2],
                                    const float (&S_ij)[BC / 8][4], const Rows &rows, float c,
                                    int first, int last) {
    for (int n = first / 8; n < last / 8; n++) {
        for (int e = 0; e < 4; e++)
            P_ij[n][e] = exp2_approx(fmaf(c, S_ij[n][e], -rows.cm_i[e / 2]));
        for (int h = 0; h < 2; h++) sum[h] += P_ij[n][2 * h] + P_ij[n][2 * h + 1];
    }
}

// The A operands of P V: keys 16 k .. 16 k + 15 of P_ij, for keys first .. last - 1 of the tile
static __device__ void pack_P(unsigned (&packed_P)[BC / 16][4], const float (&P_ij)[BC / 8][4],
                              int first, int last) {
    for (int k = first / 16; k < last / 16; k++)
        for (int e = 0; e < 4; e++)
            packed_P[k][e] =
                pack(P_ij[2 * k + e / 2][e % 2 * 2], P_ij[2 * k + e / 2][e % 2 * 2 + 1]);
}

// O_i = scale_i * O_i
static __device__ void rescale(float (&O_i)[D / 8][4], const Rows &rows) {
    for (int n = 0; n < D / 8; n++)
        for (int e = 0; e < 4; e++) O_i[n][e] *= rows.scale_i[e / 2];
}

// inverse = 1 / l_i, and LSE_i = m_i + log l_i; a row without keys: 0 and -inf.
// The warp's 16 rows begin at `row` of the tile.
static __device__ void finish_rows(float (&inverse)[2], const Rows &rows, float *LSE,
                                   const AttentionProblem &p, const Tile &t, int row, int lane) {
    for (int h = 0; h < 2; h++) {
        const float l = row_sum(rows.l_i[h]);
        const int query = t.first_row + row + h * 8 + lane / ROW_LANES;
        inverse[h] = l == 0 ? 0 : reciprocal_approx(l);
        if (LSE && lane % ROW_LANES == 0 && query < p.seq_q)
            LSE[(size_t)t.head * p.seq_q + query] =
                l == 0 ? -CUDART_INF_F : LN_2 * (rows.cm_i[h] + log2_approx(l));
    }
}

// O_i = inverse * O_i, to the warp's own rows of sQ, and from there to memory, 16 bytes at a time
static __device__ void store_O(element *O, element *sQ, const float (&O_i)[D / 8][4],
                               const float (&inverse)[2], const AttentionProblem &p, const Tile &t,
                               int row, int lane) {
    const int at = row + lane / ROW_LANES;
    for (int h = 0; h < 2; h++)
        for (int n = 0; n < D / 8; n++)
            *(unsigned *)&sQ[tile_at(at + h * 8, n * 8 + lane % ROW_LANES * 2)] =
                pack(O_i[n][2 * h] * inverse[h], O_i[n][2 * h + 1] * inverse[h]);
    __syncwarp(); // RAW: the warp's rows of sQ
    for (int i = lane; i < 16 * CHUNKS; i += 32) {
        const int query = row + i / CHUNKS, col = i % CHUNKS * VECTOR;
        if (t.first_row + query < p.seq_q)
            *(uint4 *)&O[((size_t)t.head * p.seq_q + t.first_row + query) * D + col] =
                *(const uint4 *)&sQ[tile_at(query, col)];
    }
}

static __global__ void __launch_bounds__(THREADS)
    flash_fwd(const element *Q, // [batch, heads, seq_q, D]
              const element *K, // [batch, kv_heads, seq_kv, D]
              const element *V, // [batch, kv_heads, seq_kv, D]
              element *O,       // [batch, heads, seq_q, D]
              float *LSE,       // [batch, heads, seq_q]
              AttentionProblem p) {
    // Aligned to 128 bytes, so that each row begins in bank 0.
    extern __shared__ __align__(128) unsigned char shared[];
    element *sQ = (element *)shared; // [BR, D]
    element *sK = sQ + BR * D;       // [BC, D]
    element *sV = sK + BC * D;       // [BC, D]

    Tile t = tile_of(p);
    size_t from = (kv_head(p, t.head) * p.seq_kv + t.last) * D; // the next tile in K and V
    const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    const int warp_row = warp * M_TILES * M_STEP;

    // Where the thread's ldmatrix reads the first 16 columns, and where it copies to.
    const unsigned Q_at = shared_address(&sQ[tile_at(warp_row + lane % 16, lane / 16 * 8)]);
    const unsigned K_at = shared_address(&sK[tile_at(lane / 16 * 8 + lane % 8, lane / 8 % 2 * 8)]);
    const unsigned V_at = shared_address(&sV[tile_at(lane % 16, lane / 16 * 8)]);
    const int copy_row = threadIdx.x / CHUNKS, copy_col = threadIdx.x % CHUNKS * VECTOR;
    const unsigned Q_to = shared_address(&sQ[tile_at(copy_row, copy_col)]);
    const unsigned K_to = Q_to + BR * ROW_BYTES, V_to = K_to + BC * ROW_BYTES;
    const float c = p.scale * LOG2_E; // exp(scale * (s - m)) = 2^(c s - c m)

    Rows rows[M_TILES]; // rows[m]: rows m * M_STEP + warp_row .. + 15 of the block
    float O_i[M_TILES][D / 8][4] = {{{0}}};

    load_tile<BR>(Q_to, Q + ((size_t)t.head * p.seq_q + t.first_row) * D, p.seq_q - t.first_row);
    load_tile<BC>(K_to, K + from, p.seq_kv - t.last);
    cp_async_commit_group();
    for (int j = t.last; j >= 0; j -= BC) {
        cp_async_wait_group<0>();
        __syncthreads(); // RAW: sQ, sK of this tile; WAR: sV of the tile before
        load_tile<BC>(V_to, V + from, p.seq_kv - j);
        from -= BC * D;
        cp_async_commit_group();

        // S_ij = Q_i K_j^T   [32, BC] per warp
        float S_ij[M_TILES][BC / 8][4] = {{{0}}};
#pragma unroll 4
        for (int k = 0; k < D; k += 16) {
            unsigned a[M_TILES][4];
            for (int m = 0; m < M_TILES; m++)
                ldmatrix_x4(a[m], step(Q_at, k) + m * M_STEP * ROW_BYTES);
            for (int n = 0; n < BC / 8; n += 2) {
                unsigned b[4]; // keys n * 8 .. n * 8 + 15: two B operands
                ldmatrix_x4(b, step(K_at, k) + n * 8 * ROW_BYTES);
                for (int m = 0; m < M_TILES; m++) {
                    mma_m16n8k16(S_ij[m][n], a[m], b[0], b[1]);
                    mma_m16n8k16(S_ij[m][n + 1], a[m], b[2], b[3]);
                }
            }
        }

        if (j + BC > visible_keys(p, t.first_row)) { // the mask crosses this tile
            const int row = tile_of(p).first_row + warp_row;
            for (int m = 0; m < M_TILES; m++) mask(S_ij[m], p, row + m * M_STEP, j, lane);
        }
        float P_ij[M_TILES][BC / 8][4];
        unsigned packed_P[M_TILES][BC / 16][4];
        if (j == t.last)
            for (int m = 0; m < M_TILES; m++) update_maxima(rows[m], S_ij[m], c, 0, BC);
        cp_async_wait_group<0>();
        __syncthreads(); // RAW: sV of this tile; WAR: sK of this tile
        if (j > 0) load_tile<BC>(K_to, K + from, BC);
        cp_async_commit_group();

        // O_i = O_i + P_ij V_j   [32, D] per warp
#pragma unroll
        for (int first = 0; first < BC; first += STEP) {
            float sum[M_TILES][2] = {{0}};
            bool outgrown = false; // also false for NaN
            for (int m = 0; m < M_TILES; m++) {
                exponentials(P_ij[m], sum[m], S_ij[m], rows[m], c, first, first + STEP);
                for (int h = 0; h < 2; h++) outgrown |= sum[m][h] > LIMIT;
            }
            // Some fragments of V_j come before the vote: ptxas moves no load up past a branch.
            unsigned b[D / 16][4]; // columns n * 16 .. n * 16 + 15: two B operands
            for (int n = 0; n < EARLY; n++)
                ldmatrix_x4_trans(b[n], step(V_at, n * 16) + first * ROW_BYTES);
            if (__any_sync(0xffffffff, outgrown))
                for (int m = 0; m < M_TILES; m++) {
                    update_maxima(rows[m], S_ij[m], c, first, first + STEP);
                    rescale(O_i[m], rows[m]);
                    sum[m][0] = sum[m][1] = 0;
                    exponentials(P_ij[m], sum[m], S_ij[m], rows[m], c, first, first + STEP);
                }
            for (int m = 0; m < M_TILES; m++) {
                for (int h = 0; h < 2; h++) rows[m].l_i[h] += sum[m][h];
                pack_P(packed_P[m], P_ij[m], first, first + STEP);
            }
            for (int k = first; k < first + STEP; k += 16)
                for (int n = 0; n < D / 16; n++) {
                    if (k > first || n >= EARLY)
                        ldmatrix_x4_trans(b[n], step(V_at, n * 16) + k * ROW_BYTES);
                    for (int m = 0; m < M_TILES; m++) {
                        mma_m16n8k16(O_i[m][2 * n], packed_P[m][k / 16], b[n][0], b[n][1]);
                        mma_m16n8k16(O_i[m][2 * n + 1], packed_P[m][k / 16], b[n][2], b[n][3]);
                    }
                }
        }
    }

    t = tile_of(p);
#pragma unroll
    for (int m = 0; m < M_TILES; m++) {
        float inverse[2];
        finish_rows(inverse, rows[m], LSE, p, t, m * M_STEP + warp_row, lane);
        store_O(O, sQ, O_i[m], inverse, p, t, m * M_STEP + warp_row, lane);
    }
}

const AttentionKernel attention_kernels[] = {
    {"flash_fwd", (const void *)flash_fwd, THREADS, SHARED_BYTES}, {NULL, NULL, 0, 0}};

const char *attention_supports(const AttentionProblem *p, int compute_capability) {
    if (compute_capability < 80) return "needs compute capability 8.0 or newer";
    if ((double)ceil_div(p->seq_q, BR) * p->heads * p->batch > INT_MAX)
        return "needs more than 2^31 - 1 blocks";
    return NULL;
}

size_t attention_workspace_bytes(const AttentionProblem *) { return 0; }

cudaError_t attention_launch(const AttentionProblem *p, const AttentionTensors *t, void *,
                             cudaStream_t stream) {
    const unsigned blocks = ceil_div(p->seq_q, BR) * p->heads * p->batch;
    const cudaError_t error =
        cudaFuncSetAttribute(flash_fwd, cudaFuncAttributeMaxDynamicSharedMemorySize, SHARED_BYTES);
    if (error != cudaSuccess) return error;
    flash_fwd<<<blocks, THREADS, SHARED_BYTES, stream>>>(
        (const element *)t->Q, (const element *)t->K, (const element *)t->V, (element *)t->O,
        t->LSE, *p);
    return cudaGetLastError();
}
