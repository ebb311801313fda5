// Stage 13: interleave
// Idea:     16 keys at a time are exponentiated, packed and multiplied with V in one stretch of
//           code: ex2 works under the tensor cores. And no maxima: softmax may subtract any number
//           near them, so those of the first key tile serve all. Should a P_ij overflow for all
//           that, the block begins again and keeps the maxima exactly, as stage 12 does.
// Before:   stage 12 leaves the tensor cores idle during maxima and exponentials.
// Look for: MUFU.EX2 between the HMMA of P V; a branch around FMNMX and the FMUL of O.
// Limits:   needs sm_80 or newer.
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <limits.h>
#include <math_constants.h>

#include "attention.h"

#if ELEMENT_BF16
typedef __nv_bfloat16 element;
#else
typedef __half element;
#endif

constexpr int D = HEAD_DIM;
constexpr int BR = 128; // query rows a block; tune: 64 128 256
// Keys a tile: 16 KiB of K, or 8 where registers or shared memory do not allow more.
constexpr int BC = (TARGET_SM == 80 || TARGET_SM == 90 ? 8192 : 4096) / D; // tune: 32 64 128
constexpr int WARPS = 4;                                                   // a block; tune: 4 8
constexpr int THREADS = WARPS * 32;
constexpr int WARP_ROWS = BR / WARPS; // 32 rows a warp: two mma tiles share each fragment of K, V
constexpr int M_TILES = WARP_ROWS / 16;
static_assert(BR % (WARPS * 16) == 0, "a warp owns whole mma tiles of 16 rows");
static_assert(BC % 16 == 0, "P V goes 16 keys at a time");
constexpr int TX = 4;     // lanes side by side: those that share a row of an mma accumulator
constexpr int VECTOR = 8; // elements in 128 bits
constexpr int CHUNKS = D / VECTOR, ROW_BYTES = D * sizeof(element); // of a row
constexpr int COPY_ROWS = THREADS / CHUNKS;                         // that all threads copy at once
static_assert(BR % COPY_ROWS == 0 && BC % COPY_ROWS == 0, "a tile is copied in whole rounds");
constexpr float LOG2_E = 1.4426950408889634f;
constexpr float LN_2 = 0.6931471805599453f;
constexpr float HEADROOM = 4;       // P_ij of the first maximum is 2^-4; fp16 ends at 2^16
constexpr float MAX_SUM = 0x1p124f; // of l_i in a thread: four of them are no overflow

constexpr int TILE_BYTES = BC * D * sizeof(element);
constexpr int SHARED_BYTES = BR * D * sizeof(element) + 2 * TILE_BYTES;

static __host__ __device__ int ceil_div(int a, int b) { return (a + b - 1) / b; }

// The number of keys that query `row` sees: columns 0 .. visible - 1.
static __device__ int visible_keys(const AttentionProblem &p, int row) {
    return CAUSAL ? min(max(row + 1 + p.seq_kv - p.seq_q, 0), p.seq_kv) : p.seq_kv;
}

// The KV head that query head `head` (of batch * heads) reads.
static __device__ size_t kv_head(const AttentionProblem &p, int head) {
    return (size_t)(head / p.heads) * p.kv_heads + head % p.heads / (p.heads / p.kv_heads);
}

// Sum and maximum over the TX lanes that share a row of S.
static __device__ float row_sum(float value) {
    for (int lanes = TX / 2; lanes > 0; lanes /= 2)
        value += __shfl_xor_sync(0xffffffff, value, lanes);
    return value;
}

static __device__ float row_max(float value) {
    for (int lanes = TX / 2; lanes > 0; lanes /= 2)
        value = fmaxf(value, __shfl_xor_sync(0xffffffff, value, lanes));
    return value;
}

// 2^x; denormal results are flushed to zero, without .ftz they would cost three instructions more.
static __device__ float exp2_approx(float x) {
    float y;
    asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
    return y;
}

// The thread's place in its warp. Volatile, so that the compiler does not compute addresses from it
// before the loop over the tiles and keep them all in registers: there are none to spare.
static __device__ int lane_id() {
    int lane;
    asm volatile("mov.u32 %0, %%laneid;" : "=r"(lane));
    return lane;
}

// Where a block works. Causal: blocks with the most keys come first, the last row tile of every
// head, then the one before. Full: head by head, so that blocks side by side read the same keys.
// Volatile for the reason that lane_id gives.
static __device__ void place_of_block(const AttentionProblem &p, int *head, int *first_row) {
    int block;
    asm volatile("mov.u32 %0, %%ctaid.x;" : "=r"(block));
    const int heads = p.batch * p.heads, row_tiles = ceil_div(p.seq_q, BR);
    *head = CAUSAL ? block % heads : block / row_tiles;
    *first_row = (row_tiles - 1 - (CAUSAL ? block / heads : block % row_tiles)) * BR;
}

// Two floats, rounded, in one register: `low` in the low half.
static __device__ unsigned pack(float low, float high) {
#if ELEMENT_BF16
    const __nv_bfloat162 pair = __floats2bfloat162_rn(low, high);
#else
    const __half2 pair = __floats2half2_rn(low, high);
#endif
    return *(const unsigned *)&pair;
}

// mma.m16n8k16 (PTX ISA 9.7.14.5.8): C [16, 8] += A [16, 16] B [16, 8]. With g = lane / 4 and
// q = lane % 4 * 2 a lane holds, two neighbours in a register,
//     A: (g, q ..) (g + 8, q ..) (g, q + 8 ..) (g + 8, q + 8 ..)
//     B: (q .., g) (q + 8 .., g)
//     C: (g, q) (g, q + 1) (g + 8, q) (g + 8, q + 1), a float each
static __device__ void mma_m16n8k16(float (&c)[4], const unsigned (&a)[4], unsigned b0,
                                    unsigned b1) {
#if ELEMENT_BF16
    asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 "
#else
    asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 "
#endif
                 "{%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
                 : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
                 : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
}

static __device__ unsigned shared_address(const void *p) {
    return (unsigned)__cvta_generic_to_shared(p);
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

// cp.async: 16 bytes from global to shared memory, or 16 zero bytes if not `valid`.
static __device__ void cp_async_16(unsigned to, const void *from, bool valid) {
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(to), "l"(from),
                 "r"(valid ? 16 : 0)
                 : "memory");
}

static __device__ void cp_async_commit_group() {
    asm volatile("cp.async.commit_group;" ::: "memory");
}

// Waits until at most `groups` of the thread's groups are under way.
template <int groups> static __device__ void cp_async_wait_group() {
    asm volatile("cp.async.wait_group %0;" ::"n"(groups) : "memory");
}

// Where element (row, col) of a tile stands in shared memory: 16-byte chunks, swizzled.
static __device__ int tile_at(int row, int col) { return row * D + (col ^ (row & 7) * 8); }

// The address `col` columns, a multiple of 16, to the right of address `at`, which stands in the
// first 16: XOR moves within 64 columns, beyond them the swizzle repeats.
static __device__ unsigned step(unsigned at, int col) {
    return (at ^ col % 64 * sizeof(element)) + col / 64 * 64 * sizeof(element);
}

// Starts to copy `height` rows to a tile, of which the first `rows` exist: zeros beyond. `to` and
// `from` are where the thread's first 16 bytes go and come from; COPY_ROWS is a multiple of 8, so
// the swizzle is the same in all of its rows.
template <int height> static __device__ void load_tile(unsigned to, const element *from, int rows) {
    if (rows >= height)
#pragma unroll
        for (int r = 0; r < height; r += COPY_ROWS)
            cp_async_16(to + r * ROW_BYTES, from + r * D, true);
    else
#pragma unroll 1
        for (int r = 0; r < height; r += COPY_ROWS)
            cp_async_16(to + r * ROW_BYTES, from + r * D, threadIdx.x / CHUNKS + r < rows);
}

static __global__ void __launch_bounds__(THREADS)
    flash_fwd(const element *Q, // [batch, heads, seq_q, D]
              const element *K, // [batch, kv_heads, seq_kv, D]
              const element *V, // [batch, kv_heads, seq_kv, D]
              element *O,       // [batch, heads, seq_q, D]
              float *LSE,       // [batch, heads, seq_q]
              AttentionProblem p) {
    extern __shared__ __align__(128) unsigned char shared[]; // XOR on addresses needs 128
    element *sQ = (element *)shared;                         // [BR, D]
    element *sK = sQ + BR * D;                               // [BC, D]
    element *sV = sK + BC * D;                               // [BC, D]

    __shared__ bool exact; // maxima of all key tiles, not only of the first
    if (threadIdx.x == 0) exact = false;
    __syncthreads(); // RAW: exact, in a block without keys
again:
    int head, first_row;
    place_of_block(p, &head, &first_row);
    const int lane = lane_id();
    const int warp_row = threadIdx.x / 32 * WARP_ROWS;

    // Where the thread's ldmatrix reads the first 16 columns, and where it copies to.
    const unsigned Q_at = shared_address(&sQ[tile_at(warp_row + lane % 16, lane / 16 * 8)]);
    const unsigned K_at = shared_address(&sK[tile_at(lane / 16 * 8 + lane % 8, lane / 8 % 2 * 8)]);
    const unsigned V_at = shared_address(&sV[tile_at(lane % 16, lane / 16 * 8)]);
    const int copy_row = threadIdx.x / CHUNKS, copy_col = threadIdx.x % CHUNKS * VECTOR;
    const unsigned Q_to = shared_address(&sQ[tile_at(copy_row, copy_col)]);
    const unsigned K_to = Q_to + BR * ROW_BYTES, V_to = K_to + TILE_BYTES;

    // A thread holds rows warp_row + m * 16 + h * 8 + g, for m in 0, 1 and h in 0, 1.
    float l_i[M_TILES][2] = {{0}}, O_i[M_TILES][D / 8][4] = {{{0}}};
    float cm_i[M_TILES][2]; // c m_i + HEADROOM; before the first key infinite, so that P_ij is 0
    bool watch = true;
#pragma unroll
    for (int m = 0; m < M_TILES; m++) cm_i[m][0] = cm_i[m][1] = CUDART_INF_F;
    const float c = p.scale * LOG2_E;

    const int end = visible_keys(p, first_row + BR - 1);
    int j = (ceil_div(end, BC) - 1) * BC; // first key of the tile: the last tile, negative if none
    size_t from = ((kv_head(p, head) * p.seq_kv + j) + copy_row) * D + copy_col; // in K and V
    load_tile<BR>(Q_to, Q + (((size_t)head * p.seq_q + first_row) + copy_row) * D + copy_col,
                  p.seq_q - first_row);
    if (j >= 0) load_tile<BC>(K_to, K + from, p.seq_kv - j);
    cp_async_commit_group();
#pragma unroll 1
    for (; j >= 0; j -= BC) {
        cp_async_wait_group<0>();
        __syncthreads(); // RAW: sQ, sK of this tile; WAR: sV of a tile ago
        load_tile<BC>(V_to, V + from, p.seq_kv - j);
        cp_async_commit_group();
        from -= BC * D;

        // S_ij = Q_i K_j^T   [32, BC] a warp
        float S_ij[M_TILES][BC / 8][4] = {{{0}}};
#pragma unroll 4
        for (int k = 0; k < D; k += 16) {
            unsigned a[M_TILES][4];
#pragma unroll
            for (int m = 0; m < M_TILES; m++) ldmatrix_x4(a[m], step(Q_at, k) + m * 16 * ROW_BYTES);
#pragma unroll
            for (int n = 0; n < BC / 8; n += 2) {
                unsigned b[4]; // keys n * 8 .. n * 8 + 15: two B operands
                ldmatrix_x4(b, step(K_at, k) + n * 8 * ROW_BYTES);
#pragma unroll
                for (int m = 0; m < M_TILES; m++) {
                    mma_m16n8k16(S_ij[m][n], a[m], b[0], b[1]);
                    mma_m16n8k16(S_ij[m][n + 1], a[m], b[2], b[3]);
                }
            }
        }

        if (j + BC > visible_keys(p, first_row)) {                // the mask crosses this tile
            const int g = lane_id() / TX, q = lane_id() % TX * 2; // see mma_m16n8k16
#pragma unroll
            for (int m = 0; m < M_TILES; m++)
#pragma unroll
                for (int h = 0; h < 2; h++) {
                    const int row = first_row + warp_row + m * 16 + h * 8 + g;
                    const int visible = visible_keys(p, row) - j;
#pragma unroll
                    for (int n = 0; n < BC / 8; n++)
#pragma unroll
                        for (int e = 2 * h; e < 2 * h + 2; e++)
                            if (n * 8 + q + e % 2 >= visible) S_ij[m][n][e] = -CUDART_INF_F;
                }
        }

        // m_i = rowmax(S_ij) of the first tile that has a key for the row; in an exact run
        // m_i = max(m_i, rowmax(S_ij)), l_i = scale_i * l_i, O_i = scale_i * O_i
        if (watch) {
            watch = exact;
#pragma unroll
            for (int m = 0; m < M_TILES; m++)
#pragma unroll
                for (int h = 0; h < 2; h++) {
                    const float old = cm_i[m][h] == CUDART_INF_F ? -CUDART_INF_F : cm_i[m][h];
                    float m_new = -CUDART_INF_F;
#pragma unroll
                    for (int n = 0; n < BC / 8; n++)
                        m_new = fmaxf(m_new, fmaxf(S_ij[m][n][2 * h], S_ij[m][n][2 * h + 1]));
                    const float cm_new = fmaxf(old, c * row_max(m_new) + HEADROOM);
                    if (cm_new == -CUDART_INF_F)
                        watch = true;
                    else if (exact || old == -CUDART_INF_F)
                        cm_i[m][h] = cm_new;
                    if (!exact) continue;
                    const float scale_i = old == -CUDART_INF_F ? 1 : exp2_approx(old - cm_new);
                    l_i[m][h] *= scale_i;
#pragma unroll
                    for (int n = 0; n < D / 8; n++)
#pragma unroll
                        for (int e = 2 * h; e < 2 * h + 2; e++) O_i[m][n][e] *= scale_i;
                }
            watch = __any_sync(0xffffffff, watch);
        }

        cp_async_wait_group<0>();
        __syncthreads(); // RAW: sV of this tile; WAR: sK of this tile
        if (j > 0) load_tile<BC>(K_to, K + from, BC);
        cp_async_commit_group();

        // P_ij = exp(S_ij - m_i), l_i = l_i + rowsum(P_ij), O_i = O_i + P_ij V_j   [32, D] a warp
#pragma unroll
        for (int k = 0; k < BC / 16; k++) {
            unsigned P_ij[M_TILES][4]; // A operands: columns 16 k .. 16 k + 15 of P
#pragma unroll
            for (int m = 0; m < M_TILES; m++)
#pragma unroll
                for (int e = 0; e < 4; e++) {
                    const float *s = &S_ij[m][2 * k + e / 2][e % 2 * 2];
                    const float p0 = exp2_approx(fmaf(c, s[0], -cm_i[m][e % 2]));
                    const float p1 = exp2_approx(fmaf(c, s[1], -cm_i[m][e % 2]));
                    l_i[m][e % 2] += p0 + p1;
                    P_ij[m][e] = pack(p0, p1);
                }
#pragma unroll
            for (int n = 0; n < D / 8; n += 2) {
                unsigned b[4]; // columns n * 8 .. n * 8 + 15: two B operands
                ldmatrix_x4_trans(b, step(V_at, n * 8) + 16 * k * ROW_BYTES);
#pragma unroll
                for (int m = 0; m < M_TILES; m++) {
                    mma_m16n8k16(O_i[m][n], P_ij[m], b[0], b[1]);
                    mma_m16n8k16(O_i[m][n + 1], P_ij[m], b[2], b[3]);
                }
            }
        }
    }

    // A key whose P_ij was infinite has made its whole row of O_i infinite or NaN.
    bool overflow = false;
#pragma unroll
    for (int m = 0; m < M_TILES; m++)
#pragma unroll
        for (int h = 0; h < 2; h++)
            overflow |= !(fabsf(O_i[m][0][2 * h]) < CUDART_INF_F && l_i[m][h] <= MAX_SUM);
    cp_async_wait_group<0>();
    // WAW: sQ, in a block without keys, or again
    if (__syncthreads_or(overflow && !exact)) {
        if (threadIdx.x == 0) exact = true;
        goto again;
    }

    // O_i = O_i / l_i, LSE_i = ln 2 (cm_i + log2 l_i); a row without keys: O = 0, LSE = -inf.
    // O goes to the warp's own rows of sQ first, from there in whole chunks to memory.
    const int out = lane_id();
    place_of_block(p, &head, &first_row);
    const size_t O_row = (size_t)head * p.seq_q + first_row;
#pragma unroll
    for (int m = 0; m < M_TILES; m++)
#pragma unroll
        for (int h = 0; h < 2; h++) {
            const int row = warp_row + m * 16 + h * 8 + out / TX;
            const float l = row_sum(l_i[m][h]), inverse = l == 0 ? 0 : __frcp_rn(l);
#pragma unroll
            for (int n = 0; n < D / 8; n++)
                *(unsigned *)&sQ[tile_at(row, n * 8 + out % TX * 2)] =
                    pack(O_i[m][n][2 * h] * inverse, O_i[m][n][2 * h + 1] * inverse);
            if (LSE && out % TX == 0 && first_row + row < p.seq_q)
                LSE[O_row + row] = l == 0 ? -CUDART_INF_F : LN_2 * (cm_i[m][h] + log2f(l));
        }
    __syncwarp(); // RAW: the warp's rows of sQ
#pragma unroll
    for (int i = out; i < WARP_ROWS * CHUNKS; i += 32) {
        const int row = warp_row + i / CHUNKS, col = i % CHUNKS * VECTOR;
        if (first_row + row < p.seq_q)
            *(uint4 *)&O[(O_row + row) * D + col] = *(const uint4 *)&sQ[tile_at(row, col)];
    }
}

const AttentionKernel attention_kernels[] = {
    {"flash_fwd", (const void *)flash_fwd, THREADS, SHARED_BYTES}, {NULL, NULL, 0, 0}};

const char *attention_supports(const AttentionProblem *p, int compute_capability) {
    if (compute_capability < 80) return "needs compute capability 8.0 or newer";
    if ((long long)ceil_div(p->seq_q, BR) * p->heads * p->batch > INT_MAX)
        return "needs more than 2^31 - 1 blocks";
    return NULL;
}

size_t attention_workspace_bytes(const AttentionProblem *p) {
    (void)p;
    return 0;
}

cudaError_t attention_launch(const AttentionProblem *p, const AttentionTensors *t, void *workspace,
                             cudaStream_t stream) {
    (void)workspace;
    const unsigned blocks = ceil_div(p->seq_q, BR) * p->heads * p->batch;
    const cudaError_t error =
        cudaFuncSetAttribute(flash_fwd, cudaFuncAttributeMaxDynamicSharedMemorySize, SHARED_BYTES);
    if (error != cudaSuccess) return error;
    flash_fwd<<<blocks, THREADS, SHARED_BYTES, stream>>>(
        (const element *)t->Q, (const element *)t->K, (const element *)t->V, (element *)t->O,
        t->LSE, *p);
    return cudaGetLastError();
}
