// Stage 08: mma
// Idea:     tensor cores. A warp owns 32 rows of S and of O and computes both products with
//           mma.m16n8k16. The accumulators of S, exponentiated and packed, already are the A
//           operand of P V: P never leaves the registers.
// Before:   stage 07 keeps the FMA pipe 68 % busy (H200), and 67 TFLOP/s is all that this pipe has.
// Look for: HMMA; no FFMA in the products, no STS of P. The fragments come by plain loads: one LDS
//           per pair of elements of K, but two per pair of V, whose pairs are in a column.
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
static_assert(BR % BC == 0, "Q is copied in tiles of BC rows");
constexpr int ROW_LANES = 4; // lanes that share a row of an accumulator
constexpr int VECTOR = 8;    // elements in 128 bits

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

// A block's work: query rows first_row .. first_row + BR - 1 of head `head` (of batch * heads).
typedef struct Tile {
    int head, first_row;
} Tile;

static __device__ Tile tile_of(const AttentionProblem &p, int index) {
    const int row_tiles = ceil_div(p.seq_q, BR);
    Tile t;
    t.head = index / row_tiles;
    t.first_row = index % row_tiles * BR;
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

// Two neighbouring elements of a row, or of a column, in one register.
static __device__ unsigned load_pair(const element *tile, int row, int col) {
    return *(const unsigned *)&tile[tile_at(row, col)];
}

static __device__ unsigned load_column_pair(const element *tile, int row, int col) {
    const unsigned low = *(const unsigned short *)&tile[tile_at(row, col)];
    const unsigned high = *(const unsigned short *)&tile[tile_at(row + 1, col)];
    return low | high << 16;
}

// Starts to copy rows first .. first + BC - 1 of M [rows, D] to a tile, zeros beyond the end.
static __device__ void load_tile(element *tile, const element *M, int first, int rows) {
    for (int i = threadIdx.x; i < BC * D / VECTOR; i += THREADS) {
        const int row = i / (D / VECTOR), col = i % (D / VECTOR) * VECTOR;
        const bool valid = first + row < rows;
        cp_async_16(shared_address(&tile[tile_at(row, col)]),
                    &M[valid ? (size_t)(first + row) * D + col : 0], valid);
    }
}

// What a thread knows about its two rows of the warp's 16, lane / ROW_LANES and the one 8 below.
// Before the first key m_i is the lowest number and not -inf: -inf - -inf would be NaN.
typedef struct Rows {
    float m_i[2] = {-FLT_MAX, -FLT_MAX}, l_i[2] = {0}, scale_i[2];
} Rows;

// S_ij = scale * S_ij, -inf where a row does not see the key.
// The warp's 16 rows begin at `row`, the tile's keys at j.
static __device__ void mask(float (&S_ij)[BC / 8][4], const AttentionProblem &p, int row, int j,
                            int lane) {
    for (int h = 0; h < 2; h++) {
        const int query = row + h * 8 + lane / ROW_LANES;
        const int visible = visible_keys(p, query) - j - lane % ROW_LANES * 2;
        for (int n = 0; n < BC / 8; n++)
            for (int e = 0; e < 2; e++)
                S_ij[n][2 * h + e] =
                    n * 8 + e < visible ? p.scale * S_ij[n][2 * h + e] : -CUDART_INF_F;
    }
}

// m_i = max(m_i, rowmax(S_ij)), l_i = scale_i * l_i
static __device__ void update_maxima(Rows &rows, const float (&S_ij)[BC / 8][4]) {
    for (int h = 0; h < 2; h++) {
        float m_new = -CUDART_INF_F;
        for (int n = 0; n < BC / 8; n++)
            m_new = fmaxf(m_new, fmaxf(S_ij[n][2 * h], S_ij[n][2 * h + 1]));
        m_new = fmaxf(rows.m_i[h], row_max(m_new));
        rows.scale_i[h] = __expf(rows.m_i[h] - m_new);
        rows.m_i[h] = m_new;
        rows.l_i[h] *= rows.scale_i[h];
    }
}

// P_ij = exp(S_ij - m_i), sum = sum + rowsum(P_ij), for keys first .. last - 1 of the tile
static __device__ void exponentials(float (&P_ij)[BC / 8][4], float (&sum)[2],
                                    const float (&S_ij)[BC / 8][4], const Rows &rows, int first,
                                    int last) {
    for (int n = first / 8; n < last / 8; n++) {
        for (int e = 0; e < 4; e++) P_ij[n][e] = __expf(S_ij[n][e] - rows.m_i[e / 2]);
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
        inverse[h] = l == 0 ? 0 : 1 / l;
        if (LSE && lane % ROW_LANES == 0 && query < p.seq_q)
            LSE[(size_t)t.head * p.seq_q + query] = l == 0 ? -CUDART_INF_F : rows.m_i[h] + logf(l);
    }
}

// O_i = inverse * O_i, to memory
static __device__ void store_O(element *O, const float (&O_i)[D / 8][4], const float (&inverse)[2],
                               const AttentionProblem &p, const Tile &t, int row, int lane) {
    for (int h = 0; h < 2; h++) {
        const int query = t.first_row + row + h * 8 + lane / ROW_LANES;
        if (query >= p.seq_q) continue;
        element *O_row = O + ((size_t)t.head * p.seq_q + query) * D + lane % ROW_LANES * 2;
        for (int n = 0; n < D / 8; n++)
            *(unsigned *)&O_row[n * 8] =
                pack(O_i[n][2 * h] * inverse[h], O_i[n][2 * h + 1] * inverse[h]);
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

    const Tile t = tile_of(p, blockIdx.x);
    const element *Q_h = Q + (size_t)t.head * p.seq_q * D;
    const element *K_h = K + kv_head(p, t.head) * p.seq_kv * D;
    const element *V_h = V + kv_head(p, t.head) * p.seq_kv * D;
    const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    const int g = lane / ROW_LANES, q = lane % ROW_LANES * 2; // see mma_m16n8k16
    const int warp_row = warp * M_TILES * M_STEP;

    Rows rows[M_TILES]; // rows[m]: rows m * M_STEP + warp_row .. + 15 of the block
    float O_i[M_TILES][D / 8][4] = {{{0}}};

    for (int r = 0; r < BR; r += BC) load_tile(sQ + r * D, Q_h, t.first_row + r, p.seq_q);
    const int end = visible_keys(p, t.first_row + BR - 1);
    load_tile(sK, K_h, 0, p.seq_kv);
    cp_async_commit_group();
    for (int j = 0; j < end; j += BC) {
        cp_async_wait_group<0>();
        __syncthreads(); // RAW: sQ, sK of this tile; WAR: sV of the tile before
        load_tile(sV, V_h, j, p.seq_kv);
        cp_async_commit_group();

        // S_ij = Q_i K_j^T   [32, BC] per warp
        float S_ij[M_TILES][BC / 8][4] = {{{0}}};
#pragma unroll 1
        for (int k = 0; k < D; k += 16) {
            unsigned a[M_TILES][4];
            for (int m = 0; m < M_TILES; m++)
                for (int e = 0; e < 4; e++)
                    a[m][e] =
                        load_pair(sQ, m * M_STEP + warp_row + e % 2 * 8 + g, k + e / 2 * 8 + q);
            for (int n = 0; n < BC / 8; n++) {
                const unsigned b0 = load_pair(sK, n * 8 + g, k + q);
                const unsigned b1 = load_pair(sK, n * 8 + g, k + 8 + q);
                for (int m = 0; m < M_TILES; m++) mma_m16n8k16(S_ij[m][n], a[m], b0, b1);
            }
        }

        float P_ij[M_TILES][BC / 8][4];
        unsigned packed_P[M_TILES][BC / 16][4];
#pragma unroll
        for (int m = 0; m < M_TILES; m++) {
            mask(S_ij[m], p, t.first_row + m * M_STEP + warp_row, j, lane);
            update_maxima(rows[m], S_ij[m]);
            rescale(O_i[m], rows[m]);
            exponentials(P_ij[m], rows[m].l_i, S_ij[m], rows[m], 0, BC);
            pack_P(packed_P[m], P_ij[m], 0, BC);
        }
        cp_async_wait_group<0>();
        __syncthreads(); // RAW: sV of this tile; WAR: sK of this tile
        if (j + BC < end) load_tile(sK, K_h, j + BC, p.seq_kv);
        cp_async_commit_group();

        // O_i = O_i + P_ij V_j   [32, D] per warp
#pragma unroll
        for (int n = 0; n < D / 8; n++)
            for (int k = 0; k < BC / 16; k++) {
                const unsigned b0 = load_column_pair(sV, 16 * k + q, n * 8 + g);
                const unsigned b1 = load_column_pair(sV, 16 * k + 8 + q, n * 8 + g);
                for (int m = 0; m < M_TILES; m++) mma_m16n8k16(O_i[m][n], packed_P[m][k], b0, b1);
            }
    }

    for (int m = 0; m < M_TILES; m++) {
        float inverse[2];
        finish_rows(inverse, rows[m], LSE, p, t, m * M_STEP + warp_row, lane);
        store_O(O, O_i[m], inverse, p, t, m * M_STEP + warp_row, lane);
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
