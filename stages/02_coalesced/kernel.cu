// Stage 02: coalesced
// Idea:     neighbouring lanes read neighbouring bytes. The 32 lanes of a warp walk along a row of
//           K, V, S or O together; where a sum or a maximum runs along the row, shuffles reduce it.
// Before:   stage 01 moves 9 sectors per request; its L1 pipe is 99 % busy, its FMA pipe 5 %.
// Look for: sectors per request at the ideal (2 for 32 halves, 4 for 32 floats); SHFL in scores and
//           softmax. The arithmetic is the same; on an H200 the stage is 6 times faster.
// Limits:   needs sm_75 or newer; workspace of 4 * batch * heads * seq_q * seq_kv bytes.
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
constexpr int BR = 8;  // query rows per block, one warp each
constexpr int BC = 32; // columns of S or O per block, one lane each
constexpr int TX = 32; // threads side by side: the lanes of a warp
constexpr int THREADS = TX * BR;
constexpr int ROWS = 8; // softmax rows per block, one warp each

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

// S_ij = scale * Q_i K_j^T: the lanes share the D products of one dot product
static __global__ void scores(const element *Q, // [batch, heads, seq_q, D]
                              const element *K, // [batch, kv_heads, seq_kv, D]
                              float *S,         // [batch, heads, seq_q, seq_kv]
                              AttentionProblem p) {
    const int row_tiles = ceil_div(p.seq_q, BR), col_tiles = ceil_div(p.seq_kv, BC);
    const int row = blockIdx.x % row_tiles * BR + threadIdx.y;
    const int col = blockIdx.x / row_tiles % col_tiles * BC;
    const int head = blockIdx.x / row_tiles / col_tiles;
    const int lane = threadIdx.x;
    if (row >= p.seq_q || col >= visible_keys(p, row)) return;

    const element *Q_i = Q + ((size_t)head * p.seq_q + row) * D;
    float q[D / TX], S_ij = 0;
    for (int c = 0; c < D / TX; c++) q[c] = Q_i[c * TX + lane];
    for (int j = 0; j < BC && col + j < p.seq_kv; j++) {
        const element *K_j = K + (kv_head(p, head) * p.seq_kv + col + j) * D;
        float sum = 0;
        for (int c = 0; c < D / TX; c++) sum += q[c] * (float)K_j[c * TX + lane];
        sum = row_sum(sum);
        if (lane == j) S_ij = sum * p.scale; // lane j keeps score j, so the store is coalesced
    }
    if (col + lane < p.seq_kv) S[((size_t)head * p.seq_q + row) * p.seq_kv + col + lane] = S_ij;
}

// P_ij = exp(S_ij - m_i) / l_i in place, LSE_i = m_i + log l_i: one warp per row
static __global__ void softmax(float *S,   // [batch, heads, seq_q, seq_kv]
                               float *LSE, // [batch, heads, seq_q]
                               AttentionProblem p) {
    const int row_tiles = ceil_div(p.seq_q, ROWS);
    const int row = blockIdx.x % row_tiles * ROWS + threadIdx.y;
    const int head = blockIdx.x / row_tiles, lane = threadIdx.x;
    if (row >= p.seq_q) return;

    const int visible = visible_keys(p, row);
    float *S_i = S + ((size_t)head * p.seq_q + row) * p.seq_kv;
    float m_i = -CUDART_INF_F, l_i = 0;
    for (int j = lane; j < visible; j += TX) m_i = fmaxf(m_i, S_i[j]);
    m_i = row_max(m_i);
    const float m_safe = m_i == -CUDART_INF_F ? 0 : m_i; // only scores of -inf: exp(-inf - 0) = 0
    for (int j = lane; j < visible; j += TX) l_i += expf(S_i[j] - m_safe);
    l_i = row_sum(l_i);
    for (int j = lane; j < visible; j += TX) S_i[j] = l_i == 0 ? 0 : expf(S_i[j] - m_safe) / l_i;
    if (LSE && lane == 0)
        LSE[(size_t)head * p.seq_q + row] = m_i + logf(l_i); // no key: -inf + log 0 = -inf
}

// O_i = sum_j P_ij V_j: the lanes of a warp hold 32 neighbouring columns of O
static __global__ void output(const float *P,   // [batch, heads, seq_q, seq_kv]
                              const element *V, // [batch, kv_heads, seq_kv, D]
                              element *O,       // [batch, heads, seq_q, D]
                              AttentionProblem p) {
    const int row_tiles = ceil_div(p.seq_q, BR), col_tiles = D / BC;
    const int row = blockIdx.x % row_tiles * BR + threadIdx.y;
    const int col = blockIdx.x / row_tiles % col_tiles * BC + threadIdx.x;
    const int head = blockIdx.x / row_tiles / col_tiles;
    if (row >= p.seq_q) return;

    const int visible = visible_keys(p, row);
    const float *P_i = P + ((size_t)head * p.seq_q + row) * p.seq_kv;
    const element *V_c = V + kv_head(p, head) * p.seq_kv * D + col;
    float sum = 0;
    for (int j = 0; j < visible; j++) sum += P_i[j] * (float)V_c[(size_t)j * D];
    O[((size_t)head * p.seq_q + row) * D + col] = (element)sum;
}

const AttentionKernel attention_kernels[] = {{"scores", (const void *)scores, THREADS, 0},
                                             {"softmax", (const void *)softmax, TX *ROWS, 0},
                                             {"output", (const void *)output, THREADS, 0},
                                             {NULL, NULL, 0, 0}};

const char *attention_supports(const AttentionProblem *p, int compute_capability) {
    if (compute_capability < 75) return "needs compute capability 7.5 or newer";
    const double col_tiles = max(ceil_div(p->seq_kv, BC), D / BC);
    if (col_tiles * ceil_div(p->seq_q, BR) * p->heads * p->batch > INT_MAX)
        return "needs more than 2^31 - 1 blocks";
    return NULL;
}

size_t attention_workspace_bytes(const AttentionProblem *p) {
    return sizeof(float) * p->batch * p->heads * p->seq_q * p->seq_kv;
}

cudaError_t attention_launch(const AttentionProblem *p, const AttentionTensors *t, void *workspace,
                             cudaStream_t stream) {
    const unsigned row_tiles = ceil_div(p->seq_q, BR), heads = p->batch * p->heads;
    const unsigned key_tiles = ceil_div(p->seq_kv, BC);
    float *S = (float *)workspace;
    scores<<<heads * key_tiles * row_tiles, dim3(TX, BR), 0, stream>>>(
        (const element *)t->Q, (const element *)t->K, S, *p);
    softmax<<<heads * ceil_div(p->seq_q, ROWS), dim3(TX, ROWS), 0, stream>>>(S, t->LSE, *p);
    output<<<heads *(D / BC) * row_tiles, dim3(TX, BR), 0, stream>>>(S, (const element *)t->V,
                                                                     (element *)t->O, *p);
    return cudaGetLastError();
}
