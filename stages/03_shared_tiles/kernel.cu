// Stage 03: shared_tiles
// Idea:     both matrix products work on tiles in shared memory: a block loads 32 rows of Q and 32
//           rows of K once and uses each of them 32 times; likewise P and V.
// Before:   stage 02 fetches K once for every row of Q and V once for every row of P: one or
//           two global loads per FFMA.
// Look for: LDS, STS and BAR; 24 times fewer global requests. One word of padding per row (PAD)
//           keeps the 32 lanes that read a column of K in 32 banks.
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
constexpr int BR = 32; // query rows per block, one warp each
constexpr int BC = 32; // keys per tile, one lane each
constexpr int TX = 32; // threads side by side: the lanes of a warp
constexpr int THREADS = TX * BR;
constexpr int ROWS = 8;        // softmax rows per block, one warp each
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

// S_ij = scale * Q_i K_j^T: one tile of S per block, one element per thread
static __global__ void scores(const element *Q, // [batch, heads, seq_q, D]
                              const element *K, // [batch, kv_heads, seq_kv, D]
                              float *S,         // [batch, heads, seq_q, seq_kv]
                              AttentionProblem p) {
    __shared__ element sQ[BR][D + PAD], sK[BC][D + PAD];
    const int row_tiles = ceil_div(p.seq_q, BR), col_tiles = ceil_div(p.seq_kv, BC);
    const int first_row = blockIdx.x % row_tiles * BR;
    const int first_col = blockIdx.x / row_tiles % col_tiles * BC;
    const int head = blockIdx.x / row_tiles / col_tiles;
    const int tx = threadIdx.x, ty = threadIdx.y, row = first_row + ty, col = first_col + tx;
    if (first_col >= visible_keys(p, first_row + BR - 1)) return;

    load_tile(sQ, Q + (size_t)head * p.seq_q * D, first_row, p.seq_q);
    load_tile(sK, K + kv_head(p, head) * p.seq_kv * D, first_col, p.seq_kv);
    __syncthreads(); // RAW: sQ, sK
    float sum = 0;
    for (int c = 0; c < D; c++) sum += (float)sQ[ty][c] * (float)sK[tx][c];
    if (row < p.seq_q && col < p.seq_kv)
        S[((size_t)head * p.seq_q + row) * p.seq_kv + col] = sum * p.scale;
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

// O_i = sum_j P_ij V_j: 32 rows of O per block; a warp holds one row, a lane every 32nd column
static __global__ void output(const float *P,   // [batch, heads, seq_q, seq_kv]
                              const element *V, // [batch, kv_heads, seq_kv, D]
                              element *O,       // [batch, heads, seq_q, D]
                              AttentionProblem p) {
    __shared__ element sV[BC][D + PAD];
    __shared__ float sP[BR][BC];

    const int row_tiles = ceil_div(p.seq_q, BR);
    const int first_row = blockIdx.x % row_tiles * BR;
    const int head = blockIdx.x / row_tiles;

    const int tx = threadIdx.x, ty = threadIdx.y, row = first_row + ty;
    const int visible = row < p.seq_q ? visible_keys(p, row) : 0;
    const float *P_i = P + ((size_t)head * p.seq_q + row) * p.seq_kv;
    float O_i[O_COLS] = {0};

    const int end = visible_keys(p, first_row + BR - 1);
    for (int j = 0; j < end; j += BC) {
        sP[ty][tx] = j + tx < visible ? P_i[j + tx] : 0;
        load_tile(sV, V + kv_head(p, head) * p.seq_kv * D, j, p.seq_kv);
        __syncthreads(); // RAW: sP, sV
        // O_i = O_i + P_ij V_j
        for (int key = 0; key < BC; key++) {
            for (int c = 0; c < O_COLS; c++) O_i[c] += sP[ty][key] * (float)sV[key][c * TX + tx];
        }
        __syncthreads(); // WAR: sP, sV, before the next tile overwrites them
    }

    if (row >= p.seq_q) return;
    for (int c = 0; c < O_COLS; c++)
        O[((size_t)head * p.seq_q + row) * D + c * TX + tx] = (element)O_i[c];
}

const AttentionKernel attention_kernels[] = {{"scores", (const void *)scores, THREADS, 0},
                                             {"softmax", (const void *)softmax, TX *ROWS, 0},
                                             {"output", (const void *)output, THREADS, 0},
                                             {NULL, NULL, 0, 0}};

const char *attention_supports(const AttentionProblem *p, int compute_capability) {
    if (compute_capability < 75) return "needs compute capability 7.5 or newer";
    const double col_tiles = max(ceil_div(p->seq_kv, BC), BR / ROWS);
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
    output<<<heads * row_tiles, dim3(TX, BR), 0, stream>>>(S, (const element *)t->V,
                                                           (element *)t->O, *p);
    return cudaGetLastError();
}
