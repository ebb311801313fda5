// Stage 16: ping_pong
// Idea:     the tensor cores never wait. A warpgroup issues Q K^T of the next key tile, then P V of
//           this one, hands the tensor cores to the next warpgroup and exponentiates under both.
//           Blocks are persistent: the first product of the next query tile is issued with the
//           last one of this tile, and O leaves by TMA while the next tile is computed.
// Before:   stage 15 overlaps only if warpgroups happen to drift apart, and every block begins
//           and ends with idle tensor cores.
// Look for: most MUFU.EX2 before the last wait of the loop; UTMASTG; one block an SM.
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
constexpr int PANEL = 64;            // columns; a tile is [D / PANEL][rows][PANEL] elements
constexpr int PANEL_ROW = PANEL * 2; // bytes
constexpr float LOG2_E = 1.4426950408889634f;
constexpr float LN_2 = 0.6931471805599453f;
constexpr float MAX_GROWTH = 8; // P stays below 2^8; fp16 ends at 65504

constexpr int UNDER_PV = 64; // keys exponentiated before P V is waited for

constexpr int Q_BYTES = BR * D * sizeof(element), TILE_BYTES = BC * D * sizeof(element);
constexpr int O_BYTES = 16 * D * sizeof(element);          // of a warp
constexpr int SHARED_BYTES = 3 * Q_BYTES + 4 * TILE_BYTES; // Q twice, O, K twice, V twice
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

static __device__ int row_max_bits(int value) {
    for (int lanes = TX / 2; lanes > 0; lanes /= 2)
        value = max(value, __shfl_xor_sync(0xffffffff, value, lanes));
    return value;
}

// 2^x; denormal results are flushed to zero, without .ftz they would cost three instructions more.
static __device__ float exp2_approx(float x) {
    float y;
    asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
    return y;
}

// 1 / x. A plain division is a call, which ptxas would not have beside a wgmma.
static __device__ float reciprocal_approx(float x) {
    float y;
    asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
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

// Two buffers between the producer and the consumers. Use n of a ring is use n / 2 of buffer n % 2.
typedef struct Ring {
    uint64_t full[2], empty[2]; // filled; read by every consumer warp
} Ring;

static __device__ void ring_init(Ring *ring) {
    for (int i = 0; i < 2; i++) {
        mbarrier_init(&ring->full[i], 1);
        mbarrier_init(&ring->empty[i], 4 * WARPGROUPS);
    }
}

static __device__ void ring_wait_full(Ring *ring, int n) {
    mbarrier_wait(&ring->full[n % 2], n / 2 % 2);
}

static __device__ void ring_wait_empty(Ring *ring, int n) { // at once for uses 0 and 1
    mbarrier_wait(&ring->empty[n % 2], 1 - n / 2 % 2);
}

static __device__ void ring_release(Ring *ring, int n, int lane) {
    mbarrier_arrive(&ring->empty[n % 2], lane);
}

// The turn to issue wgmma goes round the consumer warpgroups: a named barrier each, at which it
// waits and the one before it arrives. Number 0 is __syncthreads.
static __device__ void wait_for_turn(int warpgroup) {
    asm volatile("bar.sync %0, 256;" ::"r"(1 + warpgroup) : "memory");
}

static __device__ void give_turn(int warpgroup) {
    asm volatile("bar.arrive %0, 256;" ::"r"(1 + warpgroup) : "memory");
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

// TMA back: a warp's 16 rows of O, as one bulk group of the elected lane. Rows beyond the end are
// not written.
static __device__ void tma_store(const CUtensorMap *map, const void *tile, int row, int head,
                                 int batch) {
    asm volatile("{\n.reg .pred one;\nelect.sync _|one, 0xffffffff;\n"
                 "@one cp.async.bulk.tensor.5d.global.shared::cta.bulk_group "
                 "[%0, {%2, %3, %2, %4, %5}], [%1];\n"
                 "@one cp.async.bulk.commit_group;\n}" ::"l"(map),
                 "r"(shared_address(tile)), "n"(0), "r"(row), "r"(head), "r"(batch)
                 : "memory");
}

// Until the copy engine has read what the lane's stores take from shared memory.
static __device__ void tma_store_wait_read() {
    asm volatile("cp.async.bulk.wait_group.read 0;" ::: "memory");
}

static __device__ void tma_store_wait() {
    asm volatile("cp.async.bulk.wait_group 0;" ::: "memory");
}

// Makes ordinary stores to shared memory visible to the copy engine.
static __device__ void fence_proxy_async() {
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
}

// stmatrix.x4 (PTX ISA 9.7.14.5.16): the reverse of ldmatrix.x4.
static __device__ void stmatrix_x4(void *row, const unsigned (&r)[4]) {
    asm volatile("stmatrix.sync.aligned.m8n8.x4.shared.b16 [%0], {%1, %2, %3, %4};" ::"r"(
                     shared_address(row)),
                 "r"(r[0]), "r"(r[1]), "r"(r[2]), "r"(r[3])
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

// After a wait: the compiler may not have read these accumulators before.
template <int N> static __device__ __forceinline__ void settle(float (&c)[N][4]) {
#pragma unroll
    for (int n = 0; n < N; n++)
#pragma unroll
        for (int e = 0; e < 4; e++) asm volatile("" : "+f"(c[n][e])::"memory");
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

// O [64, D] (+)= A [64, 16] B [16, D]: A in registers, B in shared memory, rows of D columns.
static __device__ void wgmma_m64nDk16(float (&c)[D / 8][4], const unsigned (&a)[4], uint64_t b,
                                      bool add) {
#if HEAD_DIM == 128
    asm volatile("{\n.reg .pred add;\nsetp.ne.b32 add, %69, 0;\n"
                 "wgmma.mma_async.sync.aligned.m64n128k16." TYPES " {" R64 "}, "
                 "{%64, %65, %66, %67}, %68, add, 1, 1, 1;\n}"
                 : F32(c, 0), F32(c, 8)
#else
    asm volatile("{\n.reg .pred add;\nsetp.ne.b32 add, %37, 0;\n"
                 "wgmma.mma_async.sync.aligned.m64n64k16." TYPES " {" R32 "}, "
                 "{%32, %33, %34, %35}, %36, add, 1, 1, 1;\n}"
                 : F32(c, 0)
#endif
                 : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(b), "r"((int)add));
}

// Where element (row, col) of a tile of `rows` rows stands: panels, 16-byte chunks swizzled.
static __device__ int tile_at(int rows, int row, int col) {
    return (col / PANEL * rows + row) * PANEL + (col % PANEL ^ (row & 7) * VECTOR);
}

// S_ij = Q_i K_j^T   [64, BC] a warpgroup; a step is 32 bytes to the right, or a panel
static __device__ __forceinline__ void product_QK(float (&S_ij)[BC / 8][4], uint64_t Q_at,
                                                  uint64_t K_at) {
    wgmma_fence();
#pragma unroll
    for (int k = 0; k < D; k += 16)
        wgmma_m64n128k16(S_ij, Q_at + (k / PANEL * BR * PANEL_ROW + k % PANEL * 2) / 16,
                         K_at + (k / PANEL * BC * PANEL_ROW + k % PANEL * 2) / 16, k > 0);
    wgmma_commit_group();
}

// O_i = O_i + P_ij V_j, or = if not `add`   [64, D] a warpgroup; a step is 16 rows down
static __device__ __forceinline__ void
product_PV(float (&O_i)[D / 8][4], const unsigned (&P_ij)[BC / 16][4], uint64_t V_at, bool add) {
    wgmma_fence();
#pragma unroll
    for (int k = 0; k < BC / 16; k++)
        wgmma_m64nDk16(O_i, P_ij[k], V_at + k * 16 * PANEL_ROW / 16, add || k > 0);
    wgmma_commit_group();
}

// S_ij = -inf where a row of the warp does not see the key, if the mask crosses the tile at all
static __device__ __forceinline__ void mask(float (&S_ij)[BC / 8][4], const AttentionProblem &p,
                                            int first_row, int warp, int lane, int j) {
    if (j + BC <= visible_keys(p, first_row + warp / 4 * 64)) return;
#pragma unroll
    for (int h = 0; h < 2; h++) {
        const int row = first_row + warp * 16 + h * 8 + lane / TX;
        const int visible = visible_keys(p, row) - j - lane % TX * 2;
#pragma unroll
        for (int n = 0; n < BC / 8; n++)
#pragma unroll
            for (int e = 0; e < 2; e++)
                if (n * 8 + e >= visible) S_ij[n][2 * h + e] = -CUDART_INF_F;
    }
}

// What a thread knows of its two rows: cm_i is c m_i, or 0 before the first key; O_i is still to be
// multiplied with scale_i.
typedef struct Rows {
    float m_i[2], l_i[2], cm_i[2], scale_i[2];
} Rows;

static __device__ void clear_rows(Rows &rows) {
    rows.m_i[0] = rows.m_i[1] = -CUDART_INF_F;
    rows.l_i[0] = rows.l_i[1] = 0;
}

// m_i = max(m_i, rowmax(S_ij)), l_i = scale_i * l_i. Floats that are not negative order as integers
// do, of which one instruction compares three. Only if a whole row is negative they must be floats.
static __device__ __forceinline__ void update_maxima(Rows &rows, const float (&S_ij)[BC / 8][4],
                                                     float c) {
    int bits[2];
#pragma unroll
    for (int h = 0; h < 2; h++) {
        bits[h] = __float_as_int(rows.m_i[h]);
#pragma unroll
        for (int n = 0; n < BC / 8; n++)
            bits[h] = max(max(bits[h], __float_as_int(S_ij[n][2 * h])),
                          __float_as_int(S_ij[n][2 * h + 1]));
        bits[h] = row_max_bits(bits[h]);
    }
    const bool negative = __any_sync(0xffffffff, (bits[0] | bits[1]) < 0);
#pragma unroll
    for (int h = 0; h < 2; h++) {
        float m_new = __int_as_float(bits[h]);
        if (negative) {
            m_new = rows.m_i[h];
#pragma unroll
            for (int n = 0; n < BC / 8; n++)
                m_new = fmaxf(m_new, fmaxf(S_ij[n][2 * h], S_ij[n][2 * h + 1]));
            m_new = row_max(m_new);
        }
        if (c * (m_new - rows.m_i[h]) <= MAX_GROWTH) m_new = rows.m_i[h]; // NaN: false
        rows.cm_i[h] = m_new == -CUDART_INF_F ? 0 : c * m_new;            // no key: exp(-inf) = 0
        const bool keep = m_new == rows.m_i[h] || rows.m_i[h] == -CUDART_INF_F; // or O_i, l_i are 0
        rows.scale_i[h] = keep ? 1 : exp2_approx(c * rows.m_i[h] - rows.cm_i[h]);
        rows.m_i[h] = m_new;
        rows.l_i[h] *= rows.scale_i[h];
    }
}

// P_ij = exp(S_ij - m_i), in place, l_i = l_i + rowsum(P_ij), for keys first .. last - 1
static __device__ __forceinline__ void exponentials(float (&S_ij)[BC / 8][4], Rows &rows, float c,
                                                    int first, int last) {
#pragma unroll
    for (int n = first / 8; n < last / 8; n++)
#pragma unroll
        for (int e = 0; e < 4; e++) {
            S_ij[n][e] = exp2_approx(fmaf(c, S_ij[n][e], -rows.cm_i[e / 2]));
            rows.l_i[e / 2] += S_ij[n][e];
        }
}

static __device__ __forceinline__ void pack_P(unsigned (&P_ij)[BC / 16][4],
                                              const float (&S_ij)[BC / 8][4], int first, int last) {
#pragma unroll
    for (int k = first / 16; k < last / 16; k++)
#pragma unroll
        for (int e = 0; e < 4; e++) {
            const float *s = &S_ij[2 * k + e / 2][e % 2 * 2];
            P_ij[k][e] = pack(s[0], s[1]);
        }
}

// O_i = scale_i * O_i
static __device__ __forceinline__ void rescale(float (&O_i)[D / 8][4], const Rows &rows) {
    if (__any_sync(0xffffffff, rows.scale_i[0] != 1 || rows.scale_i[1] != 1))
#pragma unroll
        for (int n = 0; n < D / 8; n++)
#pragma unroll
            for (int e = 0; e < 4; e++) O_i[n][e] *= rows.scale_i[e / 2];
}

// ptxas would move the wait for P V up, over all exponentials: a wait depends on nothing that it
// can see. This store depends on them, and never happens: no sum is negative.
static __device__ void pin(const Rows &rows, void *somewhere) {
    asm volatile("{\n.reg .pred never;\nsetp.lt.f32 never, %0, 0f00000000;\n"
                 "@never st.shared.f32 [%1], %0;\n}" ::"f"(rows.l_i[0] + rows.l_i[1]),
                 "r"(shared_address(somewhere))
                 : "memory");
}

// A query tile: BR rows of one head, and the number of key tiles that they see, at least one: rows
// without keys come out right of a tile that is masked as a whole.
typedef struct Tile {
    int first_row, head, batch, key_tiles;
} Tile;

// Tiles go head by head, so that the keys in flight fit L2, and in each from the last rows, which
// see most keys in a causal problem, to the first.
static __device__ Tile tile_of(const AttentionProblem &p, int index) {
    const int row_tiles = ceil_div(p.seq_q, BR), head = index / row_tiles;
    Tile t;
    t.first_row = (row_tiles - 1 - index % row_tiles) * BR;
    t.head = head % p.heads;
    t.batch = head / p.heads;
    t.key_tiles = max(1, ceil_div(visible_keys(p, t.first_row + BR - 1), BC));
    return t;
}

// 1 / l_i, and LSE_i = scale m_i + log l_i; a row without keys: 0 and -inf. A predicate for the
// store, not a branch: the warp must not look divergent to ptxas.
static __device__ __forceinline__ void finish_rows(float (&inverse)[2], const Rows &rows,
                                                   float *LSE, const AttentionProblem &p,
                                                   const Tile &t, int warp, int lane) {
    const size_t LSE_row = ((size_t)t.batch * p.heads + t.head) * p.seq_q;
    const int row = t.first_row + warp * 16 + lane / TX;
#pragma unroll
    for (int h = 0; h < 2; h++) {
        const float l = row_sum(rows.l_i[h]), value = p.scale * rows.m_i[h] + LN_2 * __log2f(l);
        inverse[h] = l == 0 ? 0 : reciprocal_approx(l);
        asm volatile("{\n.reg .pred wanted;\nsetp.ne.b32 wanted, %2, 0;\n"
                     "@wanted st.global.f32 [%0], %1;\n}" ::"l"(&LSE[LSE_row + row + h * 8]),
                     "f"(value), "r"((int)(LSE && lane % TX == 0 && row + h * 8 < p.seq_q))
                     : "memory");
    }
}

// O_i = inverse * O_i, by way of the warp's part of sO, which its last store may still be reading.
static __device__ __forceinline__ void store_O(const CUtensorMap *O, element *warp_O,
                                               const float (&O_i)[D / 8][4],
                                               const float (&inverse)[2], const Tile &t, int warp,
                                               int lane) {
    tma_store_wait_read();
    __syncwarp(); // WAR: warp_O
#pragma unroll
    for (int n = 0; n < D / 8; n += 2) {
        const unsigned r[4] = {pack(O_i[n][0] * inverse[0], O_i[n][1] * inverse[0]),
                               pack(O_i[n][2] * inverse[1], O_i[n][3] * inverse[1]),
                               pack(O_i[n + 1][0] * inverse[0], O_i[n + 1][1] * inverse[0]),
                               pack(O_i[n + 1][2] * inverse[1], O_i[n + 1][3] * inverse[1])};
        stmatrix_x4(&warp_O[tile_at(16, lane % 16, n * 8 + lane / 16 * 8)], r);
    }
    fence_proxy_async();
    __syncwarp(); // RAW: warp_O, by the copy engine
    tma_store(O, warp_O, t.first_row + warp * 16, t.head, t.batch);
}

// Has the copy engine fill the next buffer of a ring as soon as it is free.
static __device__ void load(unsigned char *buffers, const CUtensorMap *map, Ring *ring, int n,
                            int bytes, int row, int head, int batch) {
    ring_wait_empty(ring, n);
    mbarrier_arrive_expect_tx(&ring->full[n % 2], bytes);
    tma_load(buffers + n % 2 * bytes, map, &ring->full[n % 2], row, head, batch);
}

static __global__ void __launch_bounds__(THREADS, 1)
    flash_fwd(const __grid_constant__ CUtensorMap Q, // [batch, heads, seq_q, D]
              const __grid_constant__ CUtensorMap K, // [batch, kv_heads, seq_kv, D]
              const __grid_constant__ CUtensorMap V, // [batch, kv_heads, seq_kv, D]
              const __grid_constant__ CUtensorMap O, // [batch, heads, seq_q, D]
              float *LSE,                            // [batch, heads, seq_q]
              int *next,                             // tiles taken beyond the first of each block
              AttentionProblem p) {
    extern __shared__ __align__(1024) unsigned char shared[];
    unsigned char *sQ = shared;              // [2 buffers, BR, D] in panels
    unsigned char *sK = sQ + 2 * Q_BYTES;    // [2 buffers, BC, D] in panels
    unsigned char *sV = sK + 2 * TILE_BYTES; // [2 buffers, BC, D] in panels
    unsigned char *sO = sV + 2 * TILE_BYTES; // [warps, 16, D] in panels
    __shared__ Ring ring_Q, ring_K, ring_V, ring_index;
    __shared__ int index[2]; // of the query tile

    const int tiles = ceil_div(p.seq_q, BR) * p.heads * p.batch;
    if (threadIdx.x == 0) {
        ring_init(&ring_Q);
        ring_init(&ring_K);
        ring_init(&ring_V);
        ring_init(&ring_index);
        fence_mbarrier_init();
    }
    __syncthreads(); // RAW: the barriers

    // ---- Producer
    if (__shfl_sync(0xffffffff, threadIdx.x / 128, 0) == WARPGROUPS) {
        setmaxnreg_dec();
        if (threadIdx.x % 128 != 0) return;
        int i = blockIdx.x, q = 0, k = 0, v = 0; // uses of the rings
#pragma unroll 1
        for (int taken = 0;; taken++) {
            ring_wait_empty(&ring_index, taken);
            index[taken % 2] = i;
            mbarrier_arrive(&ring_index.full[taken % 2], 0);
            if (i >= tiles) return;
            const Tile t = tile_of(p, i);
            const int kv_head = t.head / (p.heads / p.kv_heads);
            i = atomicAdd(next, 1) + gridDim.x; // early: it takes a while
#pragma unroll 1
            for (int j = t.key_tiles - 1; j >= 0; j--) { // K runs one tile ahead of V
                if (j == t.key_tiles - 1) {
                    load(sK, &K, &ring_K, k++, TILE_BYTES, j * BC, kv_head, t.batch);
                    load(sQ, &Q, &ring_Q, q++, Q_BYTES, t.first_row, t.head, t.batch);
                }
                if (j > 0) load(sK, &K, &ring_K, k++, TILE_BYTES, (j - 1) * BC, kv_head, t.batch);
                load(sV, &V, &ring_V, v++, TILE_BYTES, j * BC, kv_head, t.batch);
            }
        }
    }

    // ---- Consumers
    setmaxnreg_inc();
    const int warpgroup = __shfl_sync(0xffffffff, threadIdx.x / 128, 0);
    const int warp = __shfl_sync(0xffffffff, threadIdx.x / 32, 0), lane = threadIdx.x % 32;
    const float c = p.scale * LOG2_E;
    const uint64_t Q_at =
        descriptor(shared_address(sQ) + warpgroup * 64 * PANEL_ROW, BR * PANEL_ROW);
    const uint64_t K_at = descriptor(shared_address(sK), BC * PANEL_ROW);
    const uint64_t V_at = descriptor(shared_address(sV), BC * PANEL_ROW);
    element *warp_O = (element *)(sO + warp * O_BYTES);
    int taken = 0, query = 0, step = 0; // uses of the rings; K and V share one
    float S_ij[BC / 8][4], O_i[D / 8][4] = {{0}}, inverse[2] = {0};
    unsigned P_ij[BC / 16][4];
    Rows rows;
    Tile t;

    auto take_tile = [&]() { // the next one, if there is one
        ring_wait_full(&ring_index, taken);
        const int i = __shfl_sync(0xffffffff, index[taken % 2], 0);
        ring_release(&ring_index, taken++, lane);
        if (i < tiles) t = tile_of(p, i);
        return i < tiles;
    };
    // The first Q K^T, under which nothing can hide
    if (take_tile()) {
        int j = t.key_tiles - 1; // the key tile, from the last to the first
        ring_wait_full(&ring_Q, 0);
        ring_wait_full(&ring_K, 0);
        product_QK(S_ij, Q_at, K_at);
        wgmma_wait_group<0>();
        settle(S_ij);
        ring_release(&ring_K, 0, lane);
        clear_rows(rows);
        mask(S_ij, p, t.first_row, warp, lane, j * BC);
        update_maxima(rows, S_ij, c);
        exponentials(S_ij, rows, c, 0, BC);
        pack_P(P_ij, S_ij, 0, BC);
        bool first;
        Tile now;
        if (warpgroup == 0) give_turn(0);
#pragma unroll 1
        while (true) {
            // P_ij of this step is ready. The next step is the next key tile, or the next query
            // tile's first.
            const bool last = j == 0;
            first = j == t.key_tiles - 1;
            now = t;
            if (last) {
                if (!take_tile()) break;
                ring_wait_full(&ring_Q, ++query);
                j = t.key_tiles;
            }
            j--;
            ring_wait_full(&ring_K, step + 1);
            wait_for_turn(warpgroup);
            product_QK(S_ij, Q_at + query % 2 * (Q_BYTES / 16),
                       K_at + (step + 1) % 2 * (TILE_BYTES / 16));
            rescale(O_i, rows);
            ring_wait_full(&ring_V, step);
            product_PV(O_i, P_ij, V_at + step % 2 * (TILE_BYTES / 16), !first);
            give_turn(warpgroup + 1 == WARPGROUPS ? 0 : warpgroup + 1);

            wgmma_wait_group<1>();
            settle(S_ij);
            ring_release(&ring_K, step + 1, lane);
            if (last) {
                ring_release(&ring_Q, query - 1, lane);
                finish_rows(inverse, rows, LSE, p, now, warp, lane);
                clear_rows(rows);
            }
            mask(S_ij, p, t.first_row, warp, lane, j * BC);
            update_maxima(rows, S_ij, c);
            exponentials(S_ij, rows, c, 0, UNDER_PV);
            pin(rows, warp_O);
            wgmma_wait_group<0>();
            settle(O_i);
            ring_release(&ring_V, step++, lane);
            pack_P(P_ij, S_ij, 0, UNDER_PV);
            exponentials(S_ij, rows, c, UNDER_PV, BC);
            pack_P(P_ij, S_ij, UNDER_PV, BC);
            if (last) store_O(&O, warp_O, O_i, inverse, now, warp, lane);
        }
        // The last P V
        rescale(O_i, rows);
        ring_wait_full(&ring_V, step);
        product_PV(O_i, P_ij, V_at + step % 2 * (TILE_BYTES / 16), !first);
        finish_rows(inverse, rows, LSE, p, now, warp, lane);
        wgmma_wait_group<0>();
        settle(O_i);
        store_O(&O, warp_O, O_i, inverse, now, warp, lane);
    }
    tma_store_wait();
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
    return sizeof(int); // the tile counter
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
    CUtensorMap Q, K, V, O;
    cudaError_t error = encode_map(&Q, t->Q, p, p->heads, p->seq_q, BR);
    if (error == cudaSuccess) error = encode_map(&K, t->K, p, p->kv_heads, p->seq_kv, BC);
    if (error == cudaSuccess) error = encode_map(&V, t->V, p, p->kv_heads, p->seq_kv, BC);
    if (error == cudaSuccess) error = encode_map(&O, t->O, p, p->heads, p->seq_q, 16);
    if (error == cudaSuccess)
        error = cudaFuncSetAttribute(flash_fwd, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                     SHARED_BYTES);
    int device = 0, blocks = 0;
    if (error == cudaSuccess) error = cudaGetDevice(&device);
    if (error == cudaSuccess)
        error = cudaDeviceGetAttribute(&blocks, cudaDevAttrMultiProcessorCount, device);
    if (error == cudaSuccess) error = cudaMemsetAsync(workspace, 0, sizeof(int), stream);
    if (error != cudaSuccess) return error;
    const int tiles = ceil_div(p->seq_q, BR) * p->heads * p->batch;
    if (tiles < blocks) blocks = tiles; // else one an SM, the rest of the tiles by the counter
    flash_fwd<<<blocks, THREADS, SHARED_BYTES, stream>>>(Q, K, V, O, t->LSE, (int *)workspace, *p);
    return cudaGetLastError();
}
