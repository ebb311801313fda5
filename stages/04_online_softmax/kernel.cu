// Stage 04: online_softmax
// Idea:     one pass. A block keeps 32 rows of Q, walks over the keys in tiles of 32 and carries
//           the running maximum m_i, sum l_i and unnormalised O_i. S and P never leave the chip.
// Before:   stage 03 writes and reads S and P: 1.5 GB of HBM traffic at 16 heads of seq 2048.
// Look for: one kernel, no workspace, 27 MB of HBM traffic: it grows with seq * D, not with
//           seq * seq. The price is that every tile rescales O_i.
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
constexpr int WARP = 32; // lanes
constexpr int TILE = 32; // query rows per block, keys per tile: a warp per row, a lane per column
constexpr int PAD = 2;   // elements, one word: row r + 1 starts one bank further than row r

static __host__ __device__ int ceil_div(int a, int b) { return (a + b - 1) / b; }

// The number of keys that query `row` sees: columns 0 .. visible - 1.
static __device__ int visible_keys(const AttentionProblem &p, int row) {
    return CAUSAL ? min(max(row + 1 + p.seq_kv - p.seq_q, 0), p.seq_kv) : p.seq_kv;
}

// The KV head that query head `head` (of batch * heads) reads.
static __device__ size_t kv_head(const AttentionProblem &p, int head) {
    return (size_t)(head / p.heads) * p.kv_heads + head % p.heads / (p.heads / p.kv_heads);
}

static __device__ float warp_sum(float value) {
    for (int lanes = WARP / 2; lanes > 0; lanes /= 2)
        value += __shfl_xor_sync(0xffffffff, value, lanes);
    return value;
}

static __device__ float warp_max(float value) {
    for (int lanes = WARP / 2; lanes > 0; lanes /= 2)
        value = fmaxf(value, __shfl_xor_sync(0xffffffff, value, lanes));
    return value;
}

// Copies rows first .. first + TILE - 1 of M [rows, D] to shared memory, zeros beyond the end.
static __device__ void load_tile(element tile[TILE][D + PAD], const element *M, int first,
                                 int rows) {
    const int row = first + threadIdx.y;
    for (int c = threadIdx.x; c < D; c += TILE)
        tile[threadIdx.y][c] = row < rows ? M[(size_t)row * D + c] : (element)0.0f;
}

static __global__ void flash_fwd(const element *Q, // [batch, heads, seq_q, D]
                                 const element *K, // [batch, kv_heads, seq_kv, D]
                                 const element *V, // [batch, kv_heads, seq_kv, D]
                                 element *O,       // [batch, heads, seq_q, D]
                                 float *LSE,       // [batch, heads, seq_q]
                                 AttentionProblem p) {
    __shared__ element sQ[TILE][D + PAD], sK[TILE][D + PAD], sV[TILE][D + PAD];
    __shared__ float sP[TILE][TILE];
    const int row_tiles = ceil_div(p.seq_q, TILE);
    const int first_row = blockIdx.x % row_tiles * TILE, row = first_row + threadIdx.y;
    const int head = blockIdx.x / row_tiles;
    const element *K_h = K + kv_head(p, head) * p.seq_kv * D;
    const element *V_h = V + kv_head(p, head) * p.seq_kv * D;

    const int visible = visible_keys(p, row);
    float m_i = -CUDART_INF_F, l_i = 0, O_i[D / TILE] = {0};
    load_tile(sQ, Q + (size_t)head * p.seq_q * D, first_row, p.seq_q);
    for (int j = 0; j < visible_keys(p, first_row + TILE - 1); j += TILE) {
        load_tile(sK, K_h, j, p.seq_kv);
        load_tile(sV, V_h, j, p.seq_kv);
        __syncthreads(); // RAW: sQ, sK, sV

        // S_ij = scale * Q_i K_j^T: one score per thread
        float sum = 0;
        for (int c = 0; c < D; c++) sum += (float)sQ[threadIdx.y][c] * (float)sK[threadIdx.x][c];
        const float S_ij = j + (int)threadIdx.x < visible ? sum * p.scale : -CUDART_INF_F;

        // m_i = max(m_i, rowmax(S_ij)), P_ij = exp(S_ij - m_i), l_i = scale_i * l_i + rowsum(P_ij)
        const float m_new = fmaxf(m_i, warp_max(S_ij));
        const float m_safe = m_new == -CUDART_INF_F ? 0 : m_new; // no key yet: exp(-inf - 0) = 0
        const float scale_i = expf(m_i - m_safe), P_ij = expf(S_ij - m_safe);
        m_i = m_new;
        l_i = scale_i * l_i + warp_sum(P_ij);
        sP[threadIdx.y][threadIdx.x] = P_ij;
        __syncwarp(); // RAW: sP, which only this warp reads

        // O_i = scale_i * O_i + P_ij V_j
        for (int c = 0; c < D / TILE; c++) O_i[c] *= scale_i;
        for (int k = 0; k < TILE; k++) {
            for (int c = 0; c < D / TILE; c++)
                O_i[c] += sP[threadIdx.y][k] * (float)sV[k][c * TILE + threadIdx.x];
        }
        __syncthreads(); // WAR: sK, sV, sP, before the next tile overwrites them
    }

    // O_i = O_i / l_i, LSE_i = m_i + log l_i; a row without keys: O = 0, LSE = -inf
    if (row >= p.seq_q) return;
    const float inverse = l_i == 0 ? 0 : 1 / l_i;
    for (int c = 0; c < D / TILE; c++)
        O[((size_t)head * p.seq_q + row) * D + c * TILE + threadIdx.x] =
            (element)(O_i[c] * inverse);
    if (LSE && threadIdx.x == 0) LSE[(size_t)head * p.seq_q + row] = m_i + logf(l_i);
}

const AttentionKernel attention_kernels[] = {{"flash_fwd", (const void *)flash_fwd, TILE *TILE, 0},
                                             {NULL, NULL, 0, 0}};

const char *attention_supports(const AttentionProblem *p, int compute_capability) {
    if (compute_capability < 80) return "needs compute capability 8.0 or newer";
    if ((long long)ceil_div(p->seq_q, TILE) * p->heads * p->batch > INT_MAX)
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
    const unsigned blocks = ceil_div(p->seq_q, TILE) * p->heads * p->batch;
    flash_fwd<<<blocks, dim3(TILE, TILE), 0, stream>>>((const element *)t->Q, (const element *)t->K,
                                                       (const element *)t->V, (element *)t->O,
                                                       t->LSE, *p);
    return cudaGetLastError();
}
