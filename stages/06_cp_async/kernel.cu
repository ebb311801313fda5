// Stage 06: cp_async
// Idea:     cp.async copies from global to shared memory in the background, without registers. K
//           and V come separately, each under the other's product; one buffer each is enough.
// Before:   stage 05 stops for every tile: it loads into registers, waits, stores, meets a barrier,
//           and only then computes.
// Look for: LDGSTS and LDGDEPBAR instead of LDG.128 and STS.128; two BAR per tile, each before the
//           copies that it allows. It gains 3 % on an H200: the second block of a multiprocessor
//           has hidden most of the wait already.
// Limits:   needs sm_80 or newer.
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
constexpr int BR = 64;   // query rows per block
constexpr int BC = 64;   // keys per tile
constexpr int WARPS = 4; // per block
constexpr int THREADS = WARPS * 32;
constexpr int TX = 16;        // threads side by side: S_ij[r][key] is column tx + key * TX
constexpr int TY = 8;         // threads on top of each other: S_ij[r], O_i[r] are row ty + r * TY
constexpr int ROWS = BR / TY; // micro-tile of S: ROWS x COLS
constexpr int COLS = BC / TX;
constexpr int O_COLS = D / TX; // micro-tile of O: ROWS x O_COLS; [r][c] is column tx * O_COLS + c
constexpr int VECTOR = 8;      // elements in 128 bits

constexpr int SHARED_BYTES = (BR + 2 * BC) * D * sizeof(element) + BR * BC * sizeof(float);

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

// N neighbours, moved by one instruction.
template <int N, typename T = element> struct alignas(N * sizeof(T)) Vector { T data[N]; };

template <int N, typename T> static __device__ void load_floats(float (&to)[N], const T *from) {
    const Vector<N, T> vector = *(const Vector<N, T> *)from;
    for (int n = 0; n < N; n++) to[n] = (float)vector.data[n];
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

// Where element (row, col) of a tile is stored in shared memory.
static __device__ int tile_at(int row, int col) { return row * D + col; }
static __device__ int P_at(int row, int col) { return row * BC + col; }

// Starts to copy rows first .. first + BC - 1 of M [rows, D] to a tile, zeros beyond the end.
static __device__ void load_tile(element *tile, const element *M, int first, int rows) {
    for (int i = threadIdx.x; i < BC * D / VECTOR; i += THREADS) {
        const int row = i / (D / VECTOR), col = i % (D / VECTOR) * VECTOR;
        const bool valid = first + row < rows;
        cp_async_16(shared_address(&tile[tile_at(row, col)]),
                    &M[valid ? (size_t)(first + row) * D + col : 0], valid);
    }
}

static __global__ void __launch_bounds__(THREADS)
    flash_fwd(const element *Q, // [batch, heads, seq_q, D]
              const element *K, // [batch, kv_heads, seq_kv, D]
              const element *V, // [batch, kv_heads, seq_kv, D]
              element *O,       // [batch, heads, seq_q, D]
              float *LSE,       // [batch, heads, seq_q]
              AttentionProblem p) {
    extern __shared__ __align__(16) unsigned char shared[];
    element *sQ = (element *)shared; // [BR, D]
    element *sK = sQ + BR * D;       // [BC, D]
    element *sV = sK + BC * D;       // [BC, D]
    // P_ij in fp32: each of the TX threads of a row reads what the others have computed.
    float *sP = (float *)(sV + BC * D); // [BR, BC]

    const int row_tiles = ceil_div(p.seq_q, BR);
    const int first_row = blockIdx.x % row_tiles * BR;
    const int head = blockIdx.x / row_tiles;
    const element *K_h = K + kv_head(p, head) * p.seq_kv * D;
    const element *V_h = V + kv_head(p, head) * p.seq_kv * D;

    // The two halves of a warp are four rows apart: a row of sP stays within a warp.
    const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    const int tx = lane % TX, ty = warp + lane / TX * WARPS;

    float m_i[ROWS], l_i[ROWS] = {0}, O_i[ROWS][O_COLS] = {{0}};
    for (int r = 0; r < ROWS; r++) m_i[r] = -CUDART_INF_F;

    load_tile(sQ, Q + (size_t)head * p.seq_q * D, first_row, p.seq_q);
    const int end = visible_keys(p, first_row + BR - 1);
    load_tile(sK, K_h, 0, p.seq_kv);
    cp_async_commit_group();
    for (int j = 0; j < end; j += BC) {
        cp_async_wait_group<0>();
        __syncthreads(); // RAW: sQ, sK of this tile; WAR: sV, sP of the tile before
        load_tile(sV, V_h, j, p.seq_kv);
        cp_async_commit_group();

        // S_ij = scale * Q_i K_j^T   [ROWS, COLS] per thread
        float S_ij[ROWS][COLS] = {{0}};
#pragma unroll 2
        for (int col = 0; col < D; col += VECTOR) {
            float k[COLS][VECTOR], q[VECTOR];
            for (int key = 0; key < COLS; key++)
                load_floats(k[key], &sK[tile_at(tx + key * TX, col)]);
            for (int r = 0; r < ROWS; r++) {
                load_floats(q, &sQ[tile_at(ty + r * TY, col)]);
                for (int key = 0; key < COLS; key++)
                    for (int c = 0; c < VECTOR; c++) S_ij[r][key] += q[c] * k[key][c];
            }
        }

        // m_i = max(m_i, rowmax(S_ij)), P_ij = exp(S_ij - m_i), l_i = scale_i * l_i + rowsum(P_ij)
        for (int r = 0; r < ROWS; r++) {
            const int row = ty + r * TY, visible = visible_keys(p, first_row + row) - j;
            float m_new = m_i[r];
            for (int key = 0; key < COLS; key++) {
                S_ij[r][key] = tx + key * TX < visible ? S_ij[r][key] * p.scale : -CUDART_INF_F;
                m_new = fmaxf(m_new, S_ij[r][key]);
            }
            m_new = row_max(m_new);
            const float m_safe = m_new == -CUDART_INF_F ? 0 : m_new; // no key yet: exp(-inf) = 0
            const float scale_i = expf(m_i[r] - m_safe);
            float sum = 0;
            for (int key = 0; key < COLS; key++) {
                const float P_ij = expf(S_ij[r][key] - m_safe);
                sum += P_ij;
                sP[P_at(row, tx + key * TX)] = P_ij;
            }
            m_i[r] = m_new;
            l_i[r] = scale_i * l_i[r] + row_sum(sum);
            for (int c = 0; c < O_COLS; c++) O_i[r][c] *= scale_i;
        }
        cp_async_wait_group<0>();
        __syncthreads(); // RAW: sV of this tile, sP; WAR: sK of this tile
        if (j + BC < end) load_tile(sK, K_h, j + BC, p.seq_kv);
        cp_async_commit_group();

        // O_i = O_i + P_ij V_j   [ROWS, O_COLS] per thread
#pragma unroll 2
        for (int key = 0; key < BC; key += 4) {
            float v[4][O_COLS], P[4];
            for (int n = 0; n < 4; n++) load_floats(v[n], &sV[tile_at(key + n, tx * O_COLS)]);
            for (int r = 0; r < ROWS; r++) {
                load_floats(P, &sP[P_at(ty + r * TY, key)]);
                for (int c = 0; c < O_COLS; c++)
                    for (int n = 0; n < 4; n++) O_i[r][c] += P[n] * v[n][c];
            }
        }
    }

    // O_i = O_i / l_i, LSE_i = m_i + log l_i; a row without keys: O = 0, LSE = -inf
#pragma unroll
    for (int r = 0; r < ROWS; r++) {
        const int row = first_row + ty + r * TY;
        if (row >= p.seq_q) continue;
        const float inverse = l_i[r] == 0 ? 0 : 1 / l_i[r];
        Vector<O_COLS> vector;
        for (int c = 0; c < O_COLS; c++) vector.data[c] = (element)(O_i[r][c] * inverse);
        *(Vector<O_COLS> *)&O[((size_t)head * p.seq_q + row) * D + tx * O_COLS] = vector;
        if (LSE && tx == 0) LSE[(size_t)head * p.seq_q + row] = m_i[r] + logf(l_i[r]);
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
