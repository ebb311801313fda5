// Stage 01: three_pass
// Idea:     attention as the formula reads: S = scale * Q K^T, P = softmax(S), O = P V. Three
//           kernels, S and P in HBM, one thread per element (per row in the softmax).
// Before:   nothing; this is the yardstick. S and P of seq 4096 are 64 MiB per head. Both are
//           written and read again, while Q, K, V and O together are 4 MiB.
// Look for: three kernels, no LDS and no STS. Neighbouring lanes work on neighbouring rows, so a
//           load of Q or P touches 16 sectors of 32 bytes: with K and V, 9 per request on average.
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
constexpr int BR = 16; // query rows per block
constexpr int BC = 16; // columns of S or O per block, one thread per row and column
constexpr int THREADS = BR * BC;
constexpr int ROWS = 64; // softmax rows per block, one thread each

static __host__ __device__ int ceil_div(int a, int b) { return (a + b - 1) / b; }

// The number of keys that query `row` sees: columns 0 .. visible - 1.
static __device__ int visible_keys(const AttentionProblem &p, int row) {
    return CAUSAL ? min(max(row + 1 + p.seq_kv - p.seq_q, 0), p.seq_kv) : p.seq_kv;
}

// The KV head that query head `head` (of batch * heads) reads.
static __device__ size_t kv_head(const AttentionProblem &p, int head) {
    return (size_t)(head / p.heads) * p.kv_heads + head % p.heads / (p.heads / p.kv_heads);
}

// S_ij = scale * Q_i K_j^T
static __global__ void scores(const element *Q, // [batch, heads, seq_q, D]
                              const element *K, // [batch, kv_heads, seq_kv, D]
                              float *S,         // [batch, heads, seq_q, seq_kv]
                              AttentionProblem p) {
    const int row_tiles = ceil_div(p.seq_q, BR), col_tiles = ceil_div(p.seq_kv, BC);
    const int row = blockIdx.x % row_tiles * BR + threadIdx.x;
    const int col = blockIdx.x / row_tiles % col_tiles * BC + threadIdx.y;
    const int head = blockIdx.x / row_tiles / col_tiles;
    if (row >= p.seq_q || col >= visible_keys(p, row)) return;

    const element *Q_i = Q + ((size_t)head * p.seq_q + row) * D;
    const element *K_j = K + (kv_head(p, head) * p.seq_kv + col) * D;
    float sum = 0;
    for (int c = 0; c < D; c++) sum += (float)Q_i[c] * (float)K_j[c];
    S[((size_t)head * p.seq_q + row) * p.seq_kv + col] = sum * p.scale;
}

// P_ij = exp(S_ij - m_i) / l_i in place, LSE_i = m_i + log l_i
static __global__ void softmax(float *S,   // [batch, heads, seq_q, seq_kv]
                               float *LSE, // [batch, heads, seq_q]
                               AttentionProblem p) {
    const int row_tiles = ceil_div(p.seq_q, ROWS);
    const int row = blockIdx.x % row_tiles * ROWS + threadIdx.x;
    const int head = blockIdx.x / row_tiles;
    if (row >= p.seq_q) return;

    const int visible = visible_keys(p, row);
    float *S_i = S + ((size_t)head * p.seq_q + row) * p.seq_kv;
    float m_i = -CUDART_INF_F, l_i = 0;
    for (int j = 0; j < visible; j++) m_i = fmaxf(m_i, S_i[j]);
    const float m_safe = m_i == -CUDART_INF_F ? 0 : m_i; // only scores of -inf: exp(-inf - 0) = 0
    for (int j = 0; j < visible; j++) l_i += expf(S_i[j] - m_safe);
    for (int j = 0; j < visible; j++) S_i[j] = l_i == 0 ? 0 : expf(S_i[j] - m_safe) / l_i;
    if (LSE) LSE[(size_t)head * p.seq_q + row] = m_i + logf(l_i); // no key: -inf + log 0 = -inf
}

// O_i = sum_j P_ij V_j
static __global__ void output(const float *P,   // [batch, heads, seq_q, seq_kv]
                              const element *V, // [batch, kv_heads, seq_kv, D]
                              element *O,       // [batch, heads, seq_q, D]
                              AttentionProblem p) {
    const int row_tiles = ceil_div(p.seq_q, BR), col_tiles = D / BC;
    const int row = blockIdx.x % row_tiles * BR + threadIdx.x;
    const int col = blockIdx.x / row_tiles % col_tiles * BC + threadIdx.y;
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
                                             {"softmax", (const void *)softmax, ROWS, 0},
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
    scores<<<heads * key_tiles * row_tiles, dim3(BR, BC), 0, stream>>>(
        (const element *)t->Q, (const element *)t->K, S, *p);
    softmax<<<heads * ceil_div(p->seq_q, ROWS), ROWS, 0, stream>>>(S, t->LSE, *p);
    output<<<heads *(D / BC) * row_tiles, dim3(BR, BC), 0, stream>>>(S, (const element *)t->V,
                                                                     (element *)t->O, *p);
    return cudaGetLastError();
}
