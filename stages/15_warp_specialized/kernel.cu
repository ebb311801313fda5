// Stage 15: warp_specialized
// Idea:     roles. One thread of a producer warpgroup does nothing but ask for tiles; consumer
//           warpgroups compute. Pairs of mbarriers, full and empty, take the place of block-wide
//           barriers, so that a warpgroup's softmax runs beside another one's wgmma. setmaxnreg
//           hands the producer's registers to the consumers.
// Before:   in stage 14 all warps meet at a barrier for every tile: they multiply together, then
//           exponentiate together while the tensor cores wait.
// Look for: USETMAXREG twice, no BAR in the loop; the same HGMMA.
// Limits:   needs sm_90a: compute capability 9.0 and nothing else.
#include <cuda.h>
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cudaTypedefs.h>
#include <limits.h>
#include <math_constants.h>
#include <stdint.h>

#include "attention.h"

#if ELEMENT_BF16
typedef __nv_bfloat16 element;
#else
typedef __half element;
#endif

constexpr int D = HEAD_DIM;
constexpr int WARPGROUPS = D == 128 ? 2 : 3; // consumers in a block
constexpr int BR = 64 * WARPGROUPS;          // query rows a block, 64 a warpgroup
constexpr int BC = 128;                      // keys a tile
constexpr int THREADS = (WARPGROUPS + 1) * 128;
// Registers a thread: 65536 in all, shared out by setmaxnreg in eights.
constexpr int PRODUCER_REGISTERS = D == 128 ? 24 : 32, CONSUMER_REGISTERS = D == 128 ? 240 : 160;
constexpr int TX = 4;                // lanes side by side: those that share a row of S
constexpr int VECTOR = 8;            // elements in 128 bits
constexpr int CHUNKS = D / VECTOR;   // of a row
constexpr int PANEL = 64;            // columns; a tile is [D / PANEL][rows][PANEL] elements
constexpr int PANEL_ROW = PANEL * 2; // bytes
constexpr float LOG2_E = 1.4426950408889634f;
constexpr float LN_2 = 0.6931471805599453f;
constexpr float HEADROOM = 4;       // P_ij of the first maximum is 2^-4; fp16 ends at 2^16
constexpr float MAX_SUM = 0x1p124f; // of l_i in a thread: four of them are no overflow

constexpr int Q_BYTES = BR * D * sizeof(element), TILE_BYTES = BC * D * sizeof(element);
constexpr int SHARED_BYTES = Q_BYTES + 4 * TILE_BYTES;

static __host__ __device__ int ceil_div(int a, int b) { return (a + b - 1) / b; }

// The number of keys that query `row` sees: columns 0 .. visible - 1.
static __device__ int visible_keys(const AttentionProblem &p, int row) {
    return CAUSAL ? min(max(row + 1 + p.seq_kv - p.seq_q, 0), p.seq_kv) : p.seq_kv;
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

// Two floats, rounded, in one register: `low` in the low half.
static __device__ unsigned pack(float low, float high) {
#if ELEMENT_BF16
    const __nv_bfloat162 pair = __floats2bfloat162_rn(low, high);
#else
    const __half2 pair = __floats2half2_rn(low, high);
#endif
    return *(const unsigned *)&pair;
}

static __device__ unsigned shared_address(const void *p) {
    return (unsigned)__cvta_generic_to_shared(p);
}

// mbarrier (PTX ISA 9.7.13.15): a phase ends when all `count` arrivals and all expected bytes came.
static __device__ void mbarrier_init(uint64_t *barrier, int count) {
    asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(shared_address(barrier)),
                 "r"(count)
                 : "memory");
}

static __device__ void fence_mbarrier_init() {
    asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
}

static __device__ void mbarrier_arrive_expect_tx(uint64_t *barrier, int bytes) {
    asm volatile(
        "mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(shared_address(barrier)),
        "r"(bytes)
        : "memory");
}

// Lane 0 arrives for its warp. A predicate, not a branch: the warp must not look divergent to
// ptxas.
static __device__ void mbarrier_arrive(uint64_t *barrier, int lane) {
    asm volatile(
        "{\n.reg .pred first;\nsetp.eq.s32 first, %1, 0;\n"
        "@first mbarrier.arrive.shared::cta.b64 _, [%0];\n}" ::"r"(shared_address(barrier)),
        "r"(lane)
        : "memory");
}

// Waits for the end of the phase of this parity: 0 for the first, then 1, 0, ...
static __device__ void mbarrier_wait(uint64_t *barrier, int parity) {
    asm volatile("{\n"
                 ".reg .pred done;\n"
                 "again: mbarrier.try_wait.parity.shared::cta.b64 done, [%0], %1;\n"
                 "@!done bra again;\n"
                 "}" ::"r"(shared_address(barrier)),
                 "r"(parity)
                 : "memory");
}

// setmaxnreg (PTX ISA 9.7.19.5): registers a thread, for all warps of a warpgroup.
static __device__ void setmaxnreg_dec() {
    asm volatile("setmaxnreg.dec.sync.aligned.u32 %0;" ::"n"(PRODUCER_REGISTERS));
}

static __device__ void setmaxnreg_inc() {
    asm volatile("setmaxnreg.inc.sync.aligned.u32 %0;" ::"n"(CONSUMER_REGISTERS));
}

// TMA (PTX ISA 9.7.9.27.1.2): the box of `map` that begins at `row` of one head, to a tile; the
// bytes count for `barrier`. Rows beyond the end arrive as zeros.
static __device__ void tma_load(void *tile, const CUtensorMap *map, uint64_t *barrier, int row,
                                int head, int batch) {
    asm volatile("cp.async.bulk.tensor.5d.shared::cluster.global.mbarrier::complete_tx::bytes "
                 "[%0], [%1, {%3, %4, %3, %5, %6}], [%2];" ::"r"(shared_address(tile)),
                 "l"(map), "r"(shared_address(barrier)), "n"(0), "r"(row), "r"(head), "r"(batch)
                 : "memory");
}

// wgmma (PTX ISA 9.7.15). The results may be touched only after a wait, operands in registers and
// accumulators only before the fence.
static __device__ void wgmma_fence() { asm volatile("wgmma.fence.sync.aligned;" ::: "memory"); }

static __device__ void wgmma_commit_group() {
    asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
}

template <int groups> static __device__ void wgmma_wait_group() {
    asm volatile("wgmma.wait_group.sync.aligned %0;" ::"n"(groups) : "memory");
}

// The descriptor of a matrix in shared memory (PTX ISA 9.7.15.5.1.2.2) in the 128-byte swizzle, as
// TMA writes it: 8 rows of a panel are 1024 bytes, the next panel is `panel_bytes` further.
static __device__ uint64_t descriptor(unsigned at, int panel_bytes) {
    return 1ull << 62 | (uint64_t)(1024 >> 4) << 32 | (uint64_t)(panel_bytes >> 4) << 16 |
           (at & 0x3ffff) >> 4;
}

#if ELEMENT_BF16
#define TYPES "f32.bf16.bf16"
#else
#define TYPES "f32.f16.f16"
#endif
#define F4(c, n) "+f"((c)[n][0]), "+f"((c)[n][1]), "+f"((c)[n][2]), "+f"((c)[n][3])
#define F16(c, n) F4(c, n), F4(c, n + 1), F4(c, n + 2), F4(c, n + 3)
#define F32(c, n) F16(c, n), F16(c, n + 4)
#define R32                                                                                      \
    "%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, %16, %17, %18, %19, " \
    "%20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31"
#define R64                                                                                       \
    R32 ", %32, %33, %34, %35, %36, %37, %38, %39, %40, %41, %42, %43, %44, %45, %46, %47, %48, " \
        "%49, %50, %51, %52, %53, %54, %55, %56, %57, %58, %59, %60, %61, %62, %63"

// S [64, 128] (+)= A [64, 16] B [128, 16]^T, both in shared memory. A warp holds 16 rows; C stands
// in its lanes as 16 tiles of mma.m16n8k16 side by side.
static __device__ void wgmma_m64n128k16(float (&c)[BC / 8][4], uint64_t a, uint64_t b, bool add) {
    asm volatile("{\n.reg .pred add;\nsetp.ne.b32 add, %66, 0;\n"
                 "wgmma.mma_async.sync.aligned.m64n128k16." TYPES " {" R64 "}, %64, %65, add, "
                 "1, 1, 0, 0;\n}"
                 : F32(c, 0), F32(c, 8)
                 : "l"(a), "l"(b), "r"((int)add));
}

// O [64, D] += A [64, 16] B [16, D]: A in registers, B in shared memory, rows of D columns.
static __device__ void wgmma_m64nDk16(float (&c)[D / 8][4], const unsigned (&a)[4], uint64_t b) {
#if HEAD_DIM == 128
    asm volatile("wgmma.mma_async.sync.aligned.m64n128k16." TYPES " {" R64 "}, "
                 "{%64, %65, %66, %67}, %68, 1, 1, 1, 1;"
                 : F32(c, 0), F32(c, 8)
#else
    asm volatile("wgmma.mma_async.sync.aligned.m64n64k16." TYPES " {" R32 "}, "
                 "{%32, %33, %34, %35}, %36, 1, 1, 1, 1;"
                 : F32(c, 0)
#endif
                 : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(b));
}

// Where element (row, col) of a tile of `rows` rows stands: panels, 16-byte chunks swizzled.
static __device__ int tile_at(int rows, int row, int col) {
    return (col / PANEL * rows + row) * PANEL + (col % PANEL ^ (row & 7) * VECTOR);
}

static __global__ void __launch_bounds__(THREADS, 1)
    flash_fwd(const __grid_constant__ CUtensorMap Q, // [batch, heads, seq_q, D]
              const __grid_constant__ CUtensorMap K, // [batch, kv_heads, seq_kv, D]
              const __grid_constant__ CUtensorMap V, // [batch, kv_heads, seq_kv, D]
              element *O,                            // [batch, heads, seq_q, D]
              float *LSE,                            // [batch, heads, seq_q]
              AttentionProblem p) {
    extern __shared__ __align__(1024) unsigned char shared[];
    element *sQ = (element *)shared;                  // [BR, D] in panels
    unsigned char *sK = shared + Q_BYTES;             // [2 buffers, BC, D] in panels
    unsigned char *sV = sK + 2 * TILE_BYTES;          // [2 buffers, BC, D] in panels
    __shared__ uint64_t full_K[2], full_V[2], full_Q; // TMA has filled it
    __shared__ uint64_t empty_K[2], empty_V[2];       // every consumer warp has read it
    __shared__ uint64_t done;                         // every consumer warp has its O_i
    __shared__ int overflow;                          // of a P_ij, in one of them

    // Causal: blocks with the most keys come first, the last row tile of every head, then the one
    // before. Full: head by head, so that blocks side by side read the same keys.
    const int heads = p.batch * p.heads, row_tiles = ceil_div(p.seq_q, BR), block = blockIdx.x;
    const int head_row = CAUSAL ? block % heads : block / row_tiles;
    const int first_row = (row_tiles - 1 - (CAUSAL ? block / heads : block % row_tiles)) * BR;
    const int end = visible_keys(p, first_row + BR - 1);
    const int last = (ceil_div(end, BC) - 1) * BC; // first key of the last tile, negative if none

    if (threadIdx.x == 0) {
        overflow = 0;
        mbarrier_init(&full_Q, 1);
        mbarrier_init(&done, 4 * WARPGROUPS);
        for (int i = 0; i < 2; i++) {
            mbarrier_init(&full_K[i], 1);
            mbarrier_init(&full_V[i], 1);
            mbarrier_init(&empty_K[i], 4 * WARPGROUPS);
            mbarrier_init(&empty_V[i], 4 * WARPGROUPS);
        }
        fence_mbarrier_init();
    }
    __syncthreads(); // RAW: the barriers, overflow

    // ---- Producer
    if (__shfl_sync(0xffffffff, threadIdx.x / 128, 0) == WARPGROUPS) {
        setmaxnreg_dec();
        if (threadIdx.x % 128 != 0) return;
        if (last >= 0) {
            mbarrier_arrive_expect_tx(&full_Q, Q_BYTES);
            tma_load(sQ, &Q, &full_Q, first_row, head_row % p.heads, head_row / p.heads);
        }
        const int batch = head_row / p.heads;
        const int kv_head = head_row % p.heads / (p.heads / p.kv_heads);
        int tile = 0; // uses of the buffers
#pragma unroll 1
        for (int run = 0; run < 2; run++) {
#pragma unroll 1
            for (int j = last; j >= 0; j -= BC, tile++) {
                const int buffer = tile % 2, parity = tile / 2 % 2;
                mbarrier_wait(&empty_K[buffer], 1 - parity); // WAR: passes at once the first time
                mbarrier_arrive_expect_tx(&full_K[buffer], TILE_BYTES);
                tma_load(sK + buffer * TILE_BYTES, &K, &full_K[buffer], j, kv_head, batch);
                mbarrier_wait(&empty_V[buffer], 1 - parity); // WAR
                mbarrier_arrive_expect_tx(&full_V[buffer], TILE_BYTES);
                tma_load(sV + buffer * TILE_BYTES, &V, &full_V[buffer], j, kv_head, batch);
            }
            mbarrier_wait(&done, run); // RAW: overflow
            if (!overflow) return;     // else all once more, exactly
        }
        return;
    }

    // ---- Consumers
    setmaxnreg_inc();
    const int warpgroup = __shfl_sync(0xffffffff, threadIdx.x / 128, 0);
    const int warp_row = threadIdx.x / 32 * 16, lane = threadIdx.x % 32;
    const int g = lane / TX, q = lane % TX * 2; // a thread holds rows warp_row + g, + 8
    const uint64_t Q_at =
        descriptor(shared_address(sQ) + warpgroup * 64 * PANEL_ROW, BR * PANEL_ROW);

    int tile = 0;       // uses of the buffers
    bool exact = false; // maxima of all key tiles, not only of the first
    const float c = p.scale * LOG2_E;
    if (last >= 0) mbarrier_wait(&full_Q, 0); // RAW: sQ
again:
    float l_i[2] = {0}, O_i[D / 8][4] = {{0}};
    // c m_i + HEADROOM; before the first key infinite, so that P_ij is 0
    float cm_i[2] = {CUDART_INF_F, CUDART_INF_F};
    bool watch = true; // the maxima
#pragma unroll 1
    for (int j = last; j >= 0; j -= BC, tile++) {
        const int buffer = tile % 2, parity = tile / 2 % 2;
        const uint64_t K_at = descriptor(shared_address(sK) + buffer * TILE_BYTES, BC * PANEL_ROW);
        const uint64_t V_at = descriptor(shared_address(sV) + buffer * TILE_BYTES, BC * PANEL_ROW);
        mbarrier_wait(&full_K[buffer], parity); // RAW: sK of this tile

        // S_ij = Q_i K_j^T   [64, BC] a warpgroup; a step is 32 bytes to the right, or a panel
        float S_ij[BC / 8][4];
        wgmma_fence();
#pragma unroll
        for (int k = 0; k < D; k += 16)
            wgmma_m64n128k16(S_ij, Q_at + (k / PANEL * BR * PANEL_ROW + k % PANEL * 2) / 16,
                             K_at + (k / PANEL * BC * PANEL_ROW + k % PANEL * 2) / 16, k > 0);
        wgmma_commit_group();
        wgmma_wait_group<0>();
        mbarrier_arrive(&empty_K[buffer], lane);
        if (j + BC > visible_keys(p, first_row + warpgroup * 64)) // the mask crosses this tile
#pragma unroll
            for (int h = 0; h < 2; h++) {
                const int visible = visible_keys(p, first_row + warp_row + h * 8 + g) - j;
#pragma unroll
                for (int n = 0; n < BC / 8; n++)
#pragma unroll
                    for (int e = 2 * h; e < 2 * h + 2; e++)
                        if (n * 8 + q + e % 2 >= visible) S_ij[n][e] = -CUDART_INF_F;
            }

        // m_i = rowmax(S_ij) of the first tile that has a key for the row; in an exact run
        // m_i = max(m_i, rowmax(S_ij)), l_i = scale_i * l_i, O_i = scale_i * O_i
        if (watch) {
            watch = exact;
#pragma unroll
            for (int h = 0; h < 2; h++) {
                const float old = cm_i[h] == CUDART_INF_F ? -CUDART_INF_F : cm_i[h];
                float m_new = -CUDART_INF_F;
#pragma unroll
                for (int n = 0; n < BC / 8; n++)
                    m_new = fmaxf(m_new, fmaxf(S_ij[n][2 * h], S_ij[n][2 * h + 1]));
                const float cm_new = fmaxf(old, c * row_max(m_new) + HEADROOM);
                if (cm_new == -CUDART_INF_F)
                    watch = true;
                else if (exact || old == -CUDART_INF_F)
                    cm_i[h] = cm_new;
                if (!exact) continue;
                const float scale_i = old == -CUDART_INF_F ? 1 : exp2_approx(old - cm_new);
                l_i[h] *= scale_i;
#pragma unroll
                for (int n = 0; n < D / 8; n++)
#pragma unroll
                    for (int e = 2 * h; e < 2 * h + 2; e++) O_i[n][e] *= scale_i;
            }
            watch = __any_sync(0xffffffff, watch);
        }

        // P_ij = exp(S_ij - m_i), l_i = l_i + rowsum(P_ij)
        unsigned P_ij[BC / 16][4]; // A operands: columns 16 k .. 16 k + 15 of P
#pragma unroll
        for (int k = 0; k < BC / 16; k++)
#pragma unroll
            for (int e = 0; e < 4; e++) {
                const float *s = &S_ij[2 * k + e / 2][e % 2 * 2];
                const float p0 = exp2_approx(fmaf(c, s[0], -cm_i[e % 2]));
                const float p1 = exp2_approx(fmaf(c, s[1], -cm_i[e % 2]));
                l_i[e % 2] += p0 + p1;
                P_ij[k][e] = pack(p0, p1);
            }

        // O_i = O_i + P_ij V_j   [64, D] a warpgroup; a step is 16 rows down
        mbarrier_wait(&full_V[buffer], parity); // RAW: sV of this tile
        wgmma_fence();
#pragma unroll
        for (int k = 0; k < BC / 16; k++)
            wgmma_m64nDk16(O_i, P_ij[k], V_at + k * 16 * PANEL_ROW / 16);
        wgmma_commit_group();
        wgmma_wait_group<0>();
        mbarrier_arrive(&empty_V[buffer], lane);
    }

    // A key whose P_ij was infinite has made its whole row of O_i infinite or NaN.
    bool finite = true;
#pragma unroll
    for (int h = 0; h < 2; h++) finite &= fabsf(O_i[0][2 * h]) < CUDART_INF_F && l_i[h] <= MAX_SUM;
    if (!exact && !__all_sync(0xffffffff, finite) && lane == 0) atomicOr(&overflow, 1);
    mbarrier_arrive(&done, lane);
    mbarrier_wait(&done, exact); // WAR: sQ. RAW: overflow
    if (!exact && overflow) {
        exact = true;
        goto again;
    }

    // O_i = O_i / l_i, LSE_i = ln 2 (cm_i + log2 l_i); a row without keys: O = 0, LSE = -inf.
    // O goes to the warp's own rows of sQ first, from there in whole chunks to memory.
    const size_t O_row = (size_t)head_row * p.seq_q + first_row;
#pragma unroll
    for (int h = 0; h < 2; h++) {
        const int row = warp_row + h * 8 + g;
        const float l = row_sum(l_i[h]), inverse = l == 0 ? 0 : __frcp_rn(l);
#pragma unroll
        for (int n = 0; n < D / 8; n++)
            *(unsigned *)&sQ[tile_at(BR, row, n * 8 + q)] =
                pack(O_i[n][2 * h] * inverse, O_i[n][2 * h + 1] * inverse);
        if (LSE && q == 0 && first_row + row < p.seq_q)
            LSE[O_row + row] = l == 0 ? -CUDART_INF_F : LN_2 * (cm_i[h] + log2f(l));
    }
    __syncwarp(); // RAW: the warp's rows of sQ
#pragma unroll
    for (int i = lane; i < 16 * CHUNKS; i += 32) {
        const int row = warp_row + i / CHUNKS, col = i % CHUNKS * VECTOR;
        if (first_row + row < p.seq_q)
            *(uint4 *)&O[(O_row + row) * D + col] = *(const uint4 *)&sQ[tile_at(BR, row, col)];
    }
}

const AttentionKernel attention_kernels[] = {
    {"flash_fwd", (const void *)flash_fwd, THREADS, SHARED_BYTES}, {NULL, NULL, 0, 0}};

const char *attention_supports(const AttentionProblem *p, int compute_capability) {
    if (compute_capability != 90) return "needs compute capability 9.0: wgmma exists nowhere else";
    if ((long long)ceil_div(p->seq_q, BR) * p->heads * p->batch > INT_MAX)
        return "needs more than 2^31 - 1 blocks";
    return NULL;
}

size_t attention_workspace_bytes(const AttentionProblem *p) {
    (void)p;
    return 0;
}

// A tensor map (CUDA driver API, cuTensorMapEncodeTiled) of M [batch, heads, seq, D] as
// [batch][heads][D / PANEL][seq][PANEL], of which a tile is a box of `rows` rows of one head.
static cudaError_t encode_map(CUtensorMap *map, const void *M, const AttentionProblem *p, int heads,
                              int seq, int rows) {
    void *encode = NULL;
    cudaDriverEntryPointQueryResult found;
    const cudaError_t error = cudaGetDriverEntryPointByVersion("cuTensorMapEncodeTiled", &encode,
                                                               12000, cudaEnableDefault, &found);
    if (error != cudaSuccess) return error;
    if (!encode) return cudaErrorNotSupported;
    const cuuint64_t row_bytes = D * sizeof(element), panel_bytes = PANEL_ROW;
    const cuuint64_t size[] = {PANEL, (cuuint64_t)seq, D / PANEL, (cuuint64_t)heads,
                               (cuuint64_t)p->batch};
    const cuuint64_t stride[] = {row_bytes, panel_bytes, row_bytes * seq, row_bytes * seq * heads};
    const cuuint32_t box[] = {PANEL, (cuuint32_t)rows, D / PANEL, 1, 1}, step[] = {1, 1, 1, 1, 1};
    const CUresult result = ((PFN_cuTensorMapEncodeTiled_v12000)encode)(
        map, ELEMENT_BF16 ? CU_TENSOR_MAP_DATA_TYPE_BFLOAT16 : CU_TENSOR_MAP_DATA_TYPE_FLOAT16, 5,
        (void *)M, size, stride, box, step, CU_TENSOR_MAP_INTERLEAVE_NONE,
        CU_TENSOR_MAP_SWIZZLE_128B, CU_TENSOR_MAP_L2_PROMOTION_L2_256B,
        CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
    return result == CUDA_SUCCESS ? cudaSuccess : cudaErrorInvalidValue;
}

cudaError_t attention_launch(const AttentionProblem *p, const AttentionTensors *t, void *workspace,
                             cudaStream_t stream) {
    (void)workspace;
    CUtensorMap Q, K, V;
    const unsigned blocks = ceil_div(p->seq_q, BR) * p->heads * p->batch;
    cudaError_t error = encode_map(&Q, t->Q, p, p->heads, p->seq_q, BR);
    if (error == cudaSuccess) error = encode_map(&K, t->K, p, p->kv_heads, p->seq_kv, BC);
    if (error == cudaSuccess) error = encode_map(&V, t->V, p, p->kv_heads, p->seq_kv, BC);
    if (error == cudaSuccess)
        error = cudaFuncSetAttribute(flash_fwd, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                     SHARED_BYTES);
    if (error != cudaSuccess) return error;
    flash_fwd<<<blocks, THREADS, SHARED_BYTES, stream>>>(Q, K, V, (element *)t->O, t->LSE, *p);
    return cudaGetLastError();
}
