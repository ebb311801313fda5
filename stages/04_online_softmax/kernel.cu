// Stage 04: online_softmax
// Idea:     one pass. A block keeps 32 rows of Q, walks over the keys in tiles of 32 and carries
//           the running maximum m_i, sum l_i and unnormalised O_i. S and P never leave the chip.
// Before:   stage 03 writes and reads S and P: 1.5 GB of HBM traffic at 16 heads of seq 2048.
// Look for: one kernel, no workspace, 27 MB of HBM traffic: it grows with seq * D, not with
//           seq * seq. The price is that every tile rescales O_i.
// Limits:   needs sm_75 or newer.
#include <limits.h>
#include <math_constants.h>

#include "attention.h"

#if ELEMENT_BF16
#include <cuda_bf16.h>
typedef __nv_bfloat16 element;
#else
#include <cuda_fp16.h>
typedef __half element;
#endif

constexpr int D = HEAD_DIM;
constexpr int BR = 32; // query rows per block, one warp each
constexpr int BC = 32; // keys per tile, one lane each
constexpr int TX = 32; // threads side by side: the lanes of a warp
constexpr int THREADS = TX * BR;
constexpr int O_COLS = D / TX; // columns of O per thread: tx, tx + 32, ...
constexpr int PAD = 2;         // elements, one word: row r + 1 starts one bank further than row r

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

// Copies rows first .. first + BC - 1 of M [rows, D] to shared memory, zeros beyond the end.
static __device__ void load_tile(element tile[BC][D + PAD], const element *M, int first, int rows) {
    const int tx = threadIdx.x, ty = threadIdx.y, row = first + ty;
    for (int c = tx; c < D; c += TX)
        tile[ty][c] = row < rows ? M[(size_t)row * D + c] : (element)0.0f;
}

static __global__ void flash_fwd(const element *Q, // [batch, heads, seq_q, D]
                                 const element *K, // [batch, kv_heads, seq_kv, D]
                                 const element *V, // [batch, kv_heads, seq_kv, D]
                                 element *O,       // [batch, heads, seq_q, D]
                                 float *LSE,       // [batch, heads, seq_q]
                                 AttentionProblem p) {
    __shared__ element sQ[BR][D + PAD], sK[BC][D + PAD], sV[BC][D + PAD];
    __shared__ float sP[BR][BC];

    const int row_tiles = ceil_div(p.seq_q, BR);
    const int first_row = blockIdx.x % row_tiles * BR;
    const int head = blockIdx.x / row_tiles;
    const element *K_h = K + kv_head(p, head) * p.seq_kv * D;
    const element *V_h = V + kv_head(p, head) * p.seq_kv * D;

    const int tx = threadIdx.x, ty = threadIdx.y, row = first_row + ty;
    const int visible = visible_keys(p, row);
    float m_i = -CUDART_INF_F, l_i = 0, O_i[O_COLS] = {0};

    load_tile(sQ, Q + (size_t)head * p.seq_q * D, first_row, p.seq_q);
    const int end = visible_keys(p, first_row + BR - 1);
    for (int j = 0; j < end; j += BC) {
        load_tile(sK, K_h, j, p.seq_kv);
        load_tile(sV, V_h, j, p.seq_kv);
        __syncthreads(); // RAW: sQ, sK, sV

        // S_ij = scale * Q_i K_j^T: one score per thread
        float sum = 0;
        for (int c = 0; c < D; c++) sum += (float)sQ[ty][c] * (float)sK[tx][c];
        const float S_ij = j + tx < visible ? sum * p.scale : -CUDART_INF_F;

        // m_i = max(m_i, rowmax(S_ij)), P_ij = exp(S_ij - m_i), l_i = scale_i * l_i + rowsum(P_ij)
        const float m_new = fmaxf(m_i, row_max(S_ij));
        const float m_safe = m_new == -CUDART_INF_F ? 0 : m_new; // no key yet: exp(-inf - 0) = 0
        const float scale_i = expf(m_i - m_safe), P_ij = expf(S_ij - m_safe);
        m_i = m_new;
        l_i = scale_i * l_i + row_sum(P_ij);
        sP[ty][tx] = P_ij;
        for (int c = 0; c < O_COLS; c++) O_i[c] *= scale_i;
        __syncwarp(); // RAW: sP, where a warp reads only the rows that it wrote

        // O_i = O_i + P_ij V_j
        for (int key = 0; key < BC; key++) {
            for (int c = 0; c < O_COLS; c++) O_i[c] += sP[ty][key] * (float)sV[key][c * TX + tx];
        }
        __syncthreads(); // WAR: sK, sV, sP, before the next tile overwrites them
    }

    // O_i = O_i / l_i, LSE_i = m_i + log l_i; a row without keys: O = 0, LSE = -inf
    if (row >= p.seq_q) return;
    const float inverse = l_i == 0 ? 0 : 1 / l_i;
    for (int c = 0; c < O_COLS; c++)
        O[((size_t)head * p.seq_q + row) * D + c * TX + tx] = (element)(O_i[c] * inverse);
    if (LSE && tx == 0) LSE[(size_t)head * p.seq_q + row] = m_i + logf(l_i);
}

const AttentionKernel attention_kernels[] = {{"flash_fwd", (const void *)flash_fwd, THREADS, 0},
                                             {NULL, NULL, 0, 0}};

const char *attention_supports(const AttentionProblem *p, int compute_capability) {
    if (compute_capability < 75) return "needs compute capability 7.5 or newer";
    if ((double)ceil_div(p->seq_q, BR) * p->heads * p->batch > INT_MAX)
        return "needs more than 2^31 - 1 blocks";
    return NULL;
}

size_t attention_workspace_bytes(const AttentionProblem *) { return 0; }

cudaError_t attention_launch(const AttentionProblem *p, const AttentionTensors *t, void *,
                             cudaStream_t stream) {
    const unsigned blocks = ceil_div(p->seq_q, BR) * p->heads * p->batch;
    flash_fwd<<<blocks, dim3(TX, BR), 0, stream>>>((const element *)t->Q, (const element *)t->K,
                                                   (const element *)t->V, (element *)t->O, t->LSE,
                                                   *p);
    return cudaGetLastError();
}
