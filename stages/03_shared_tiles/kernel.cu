// Stage 03: shared_tiles
// Idea:     both matrix products work on tiles in shared memory: a block loads 32 rows of Q and 32
//           rows of K once and uses each of them 32 times; likewise P and V.
// Before:   stage 02 fetches K once for every row of Q and V once for every row of P: one or
//           two global loads per FFMA.
// Look for: LDS, STS and BAR; 24 times fewer global requests. One word of padding per row (PAD)
//           keeps the 32 lanes that read a column of K in 32 banks.
// Limits:   needs sm_80 or newer; workspace of 4 * batch * heads * seq_q * seq_kv bytes.
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
constexpr int TILE = 32; // rows and columns of a tile: one warp per row, one lane per column
constexpr int ROWS = 8;  // softmax rows per block, one warp each
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

// S_ij = scale * Q_i K_j^T: one tile of S per block, one element per thread
static __global__ void scores(const element *Q, // [batch, heads, seq_q, D]
                              const element *K, // [batch, kv_heads, seq_kv, D]
                              float *S,         // [batch, heads, seq_q, seq_kv]
                              AttentionProblem p) {
    __shared__ element sQ[TILE][D + PAD], sK[TILE][D + PAD];
    const int row_tiles = ceil_div(p.seq_q, TILE), col_tiles = ceil_div(p.seq_kv, TILE);
    const int first_row = blockIdx.x % row_tiles * TILE, row = first_row + threadIdx.y;
    const int first_col = blockIdx.x / row_tiles % col_tiles * TILE, col = first_col + threadIdx.x;
    const int head = blockIdx.x / row_tiles / col_tiles;
    if (first_col >= visible_keys(p, first_row + TILE - 1)) return;

    load_tile(sQ, Q + (size_t)head * p.seq_q * D, first_row, p.seq_q);
    load_tile(sK, K + kv_head(p, head) * p.seq_kv * D, first_col, p.seq_kv);
    __syncthreads(); // RAW: sQ, sK
    float sum = 0;
    for (int c = 0; c < D; c++) sum += (float)sQ[threadIdx.y][c] * (float)sK[threadIdx.x][c];
    if (row < p.seq_q && col < p.seq_kv)
        S[((size_t)head * p.seq_q + row) * p.seq_kv + col] = sum * p.scale;
}

// P_ij = exp(S_ij - m_i) / l_i in place, LSE_i = m_i + log l_i: one warp per row
static __global__ void softmax(float *S,   // [batch, heads, seq_q, seq_kv]
                               float *LSE, // [batch, heads, seq_q]
                               AttentionProblem p) {
    const int row_tiles = ceil_div(p.seq_q, ROWS);
    const int row = blockIdx.x % row_tiles * ROWS + threadIdx.y;
    const int head = blockIdx.x / row_tiles;
    const int lane = threadIdx.x;
    if (row >= p.seq_q) return;

    const int visible = visible_keys(p, row);
    float *S_i = S + ((size_t)head * p.seq_q + row) * p.seq_kv;
    float m_i = -CUDART_INF_F, l_i = 0;
    for (int j = lane; j < visible; j += WARP) m_i = fmaxf(m_i, S_i[j]);
    m_i = warp_max(m_i);
    const float m_safe = m_i == -CUDART_INF_F ? 0 : m_i; // only scores of -inf: exp(-inf - 0) = 0
    for (int j = lane; j < visible; j += WARP) l_i += expf(S_i[j] - m_safe);
    l_i = warp_sum(l_i);
    for (int j = lane; j < visible; j += WARP) S_i[j] = l_i == 0 ? 0 : expf(S_i[j] - m_safe) / l_i;
    if (LSE && lane == 0)
        LSE[(size_t)head * p.seq_q + row] = m_i + logf(l_i); // no key: -inf + log 0 = -inf
}

// O_i = sum_j P_ij V_j: 32 rows of O per block; a warp holds one row, a lane every 32nd column
static __global__ void output(const float *P,   // [batch, heads, seq_q, seq_kv]
                              const element *V, // [batch, kv_heads, seq_kv, D]
                              element *O,       // [batch, heads, seq_q, D]
                              AttentionProblem p) {
    __shared__ float sP[TILE][TILE];
    __shared__ element sV[TILE][D + PAD];
    const int row_tiles = ceil_div(p.seq_q, TILE);
    const int first_row = blockIdx.x % row_tiles * TILE, row = first_row + threadIdx.y;
    const int head = blockIdx.x / row_tiles;

    const int visible = row < p.seq_q ? visible_keys(p, row) : 0;
    const float *P_i = P + ((size_t)head * p.seq_q + row) * p.seq_kv;
    float O_i[D / TILE] = {0};
    for (int j = 0; j < visible_keys(p, first_row + TILE - 1); j += TILE) {
        const int col = j + threadIdx.x;
        sP[threadIdx.y][threadIdx.x] = col < visible ? P_i[col] : 0;
        load_tile(sV, V + kv_head(p, head) * p.seq_kv * D, j, p.seq_kv);
        __syncthreads(); // RAW: sP, sV
        for (int k = 0; k < TILE; k++) {
            for (int c = 0; c < D / TILE; c++)
                O_i[c] += sP[threadIdx.y][k] * (float)sV[k][c * TILE + threadIdx.x];
        }
        __syncthreads(); // WAR: sP, sV, before the next tile overwrites them
    }
    if (row >= p.seq_q) return;
    for (int c = 0; c < D / TILE; c++)
        O[((size_t)head * p.seq_q + row) * D + c * TILE + threadIdx.x] = (element)O_i[c];
}

const AttentionKernel attention_kernels[] = {{"scores", (const void *)scores, TILE *TILE, 0},
                                             {"softmax", (const void *)softmax, ROWS *WARP, 0},
                                             {"output", (const void *)output, TILE *TILE, 0},
                                             {NULL, NULL, 0, 0}};

const char *attention_supports(const AttentionProblem *p, int compute_capability) {
    if (compute_capability < 80) return "needs compute capability 8.0 or newer";
    const long long col_tiles = max(ceil_div(p->seq_kv, TILE), TILE / ROWS);
    if (col_tiles * ceil_div(p->seq_q, TILE) * p->heads * p->batch > INT_MAX)
        return "needs more than 2^31 - 1 blocks";
    return NULL;
}

size_t attention_workspace_bytes(const AttentionProblem *p) {
    return sizeof(float) * p->batch * p->heads * p->seq_q * p->seq_kv;
}

cudaError_t attention_launch(const AttentionProblem *problem, const AttentionTensors *t,
                             void *workspace, cudaStream_t stream) {
    const AttentionProblem p = *problem;
    const unsigned row_tiles = ceil_div(p.seq_q, TILE), heads = p.batch * p.heads;
    const unsigned key_tiles = ceil_div(p.seq_kv, TILE);
    float *S = (float *)workspace;
    scores<<<heads * key_tiles * row_tiles, dim3(TILE, TILE), 0, stream>>>(
        (const element *)t->Q, (const element *)t->K, S, p);
    softmax<<<heads * ceil_div(p.seq_q, ROWS), dim3(WARP, ROWS), 0, stream>>>(S, t->LSE, p);
    output<<<heads * row_tiles, dim3(TILE, TILE), 0, stream>>>(S, (const element *)t->V,
                                                               (element *)t->O, p);
    return cudaGetLastError();
}
