// Stage 01: small
// Idea:     a kernel that compiles quickly, for tests: a warp a row,
//           and keys straight from global memory.
// Before:   nothing.
// Look for: SHFL, and no shared memory.
// Limits:   needs sm_75 or newer.
#include <limits.h>
#include <math_constants.h>

#include "attention.h"

#if ELEMENT_BF16
#include <cuda_bf16.h>
typedef __nv_bfloat16 element;
#else
struct element { // as __half; cuda_fp16.h would be a quarter of the compiler's time
    unsigned short bits;
    __device__ element(float x) { asm("cvt.rn.f16.f32 %0, %1;" : "=h"(bits) : "f"(x)); }
    __device__ operator float() const {
        float x;
        asm("cvt.f32.f16 %0, %1;" : "=f"(x) : "h"(bits));
        return x;
    }
};
#endif

constexpr int D = HEAD_DIM;
constexpr int WARPS = 4; // per block, and rows per block; tune: 2 4 6
static_assert((WARPS & (WARPS - 1)) == 0, "WARPS is a power of two");

static __global__ void flash_fwd(const element *Q, // [batch, heads, seq_q, D]
                                 const element *K, // [batch, kv_heads, seq_kv, D]
                                 const element *V, // [batch, kv_heads, seq_kv, D]
                                 element *O,       // [batch, heads, seq_q, D]
                                 float *LSE,       // [batch, heads, seq_q]
                                 AttentionProblem p) {
    const int row_tiles = (p.seq_q + WARPS - 1) / WARPS, lane = threadIdx.x % 32;
    const int row = blockIdx.x % row_tiles * WARPS + threadIdx.x / 32;
    const int head = blockIdx.x / row_tiles;
    if (row >= p.seq_q) return; // the tail
    const size_t kv = (size_t)(head / p.heads) * p.kv_heads + head % p.heads * p.kv_heads / p.heads;
    const int end = CAUSAL ? min(max(row + 1 + p.seq_kv - p.seq_q, 0), p.seq_kv) : p.seq_kv;
    const element *q = Q + ((size_t)head * p.seq_q + row) * D;
    float O_i[D / 32] = {0}, m = -CUDART_INF_F, l = 0;
#pragma unroll 1
    for (int j = 0; j < end; j++) {
        const element *k = K + (kv * p.seq_kv + j) * D, *v = V + (kv * p.seq_kv + j) * D;
        float S = 0;
        for (int c = lane; c < D; c += 32) S += (float)q[c] * (float)k[c];
        for (int lanes = 16; lanes > 0; lanes /= 2) S += __shfl_xor_sync(0xffffffff, S, lanes);
        const float m_new = fmaxf(m, S * p.scale), m_safe = m_new == -CUDART_INF_F ? 0 : m_new;
        const float rescale = expf(m - m_safe), P = expf(S * p.scale - m_safe);
        for (int n = 0; n < D / 32; n++) O_i[n] = O_i[n] * rescale + P * (float)v[n * 32 + lane];
        l = l * rescale + P;
        m = m_new;
    }
    for (int n = 0; n < D / 32; n++)
        O[((size_t)head * p.seq_q + row) * D + n * 32 + lane] = (element)(l == 0 ? 0 : O_i[n] / l);
    if (LSE && lane == 0) LSE[(size_t)head * p.seq_q + row] = m + logf(l);
}

const AttentionKernel attention_kernels[] = {{"flash_fwd", (const void *)flash_fwd, WARPS * 32, 0},
                                             {NULL, NULL, 0, 0}};

const char *attention_supports(const AttentionProblem *p, int) {
    const double row_tiles = (p->seq_q + WARPS - 1) / WARPS;
    return row_tiles * p->batch * p->heads > INT_MAX ? "needs more than 2^31 - 1 blocks" : NULL;
}

size_t attention_workspace_bytes(const AttentionProblem *) { return 0; }

cudaError_t attention_launch(const AttentionProblem *p, const AttentionTensors *t, void *,
                             cudaStream_t stream) {
    const unsigned blocks = (p->seq_q + WARPS - 1) / WARPS * p->heads * p->batch;
    flash_fwd<<<blocks, WARPS * 32, 0, stream>>>((const element *)t->Q, (const element *)t->K,
                                                 (const element *)t->V, (element *)t->O, t->LSE,
                                                 *p);
    return cudaGetLastError();
}
