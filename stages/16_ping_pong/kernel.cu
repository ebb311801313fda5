// Stage 16: ping_pong
// Idea:     the tensor cores never wait. A warpgroup issues Q K^T of the next key tile, then P V of
//           this one, hands the tensor cores to the next warpgroup and exponentiates under both.
//           Blocks are persistent: the first product of the next query tile is issued with the
//           last one of this tile, Q has come a tile ahead, and O leaves by TMA while the next
//           tile is computed. A tile whose P_ij overflowed is taken once more.
// Before:   stage 15 overlaps only if warpgroups happen to drift apart, and every block begins
//           and ends with idle tensor cores.
// Look for: all MUFU.EX2 after the last HGMMA, the first of them before the last wait; UTMASTG.
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
constexpr int MAX_WARPGROUPS = D == 128 ? 2 : 3; // consumers in a block, 64 query rows each
constexpr int BC = 128;                          // keys a tile
constexpr int MAX_THREADS = (MAX_WARPGROUPS + 1) * 128;
// Registers a thread: 65536 in all, shared out by setmaxnreg in eights.
constexpr int PRODUCER_REGISTERS = D == 128 ? 40 : 32, CONSUMER_REGISTERS = D == 128 ? 232 : 160;
constexpr int TX = 4;                // lanes side by side: those that share a row of S
constexpr int VECTOR = 8;            // elements in 128 bits
constexpr int PANEL = 64;            // columns; a tile is [D / PANEL][rows][PANEL] elements
constexpr int PANEL_ROW = PANEL * 2; // bytes
constexpr float LOG2_E = 1.4426950408889634f;
constexpr float LN_2 = 0.6931471805599453f;
constexpr float HEADROOM = 4;       // P_ij of the first maximum is 2^-4; fp16 ends at 2^16
constexpr float MAX_SUM = 0x1p126f; // of l_i: 1 / l_i is not denormal

constexpr int UNDER_PV = D == 128 ? 48 : 16; // keys exponentiated before P V is waited for
constexpr int DEPTH = D == 128 ? 2 : 4;      // buffers of K and of V
constexpr int TILES = 4;                     // query tiles under way
constexpr int L2_BYTES = 32 << 20;           // of keys and values: about half of L2
constexpr int MAX_GROUP = 32;                // heads; with more, all begin with keys not in L2 yet

constexpr int Q_BYTES = 64 * D * sizeof(element); // of a warpgroup
constexpr int O_BYTES = 16 * D * sizeof(element); // of a warp
constexpr int TILE_BYTES = BC * D * sizeof(element);
constexpr int SHARED_BYTES = MAX_WARPGROUPS * 3 * Q_BYTES + 2 * DEPTH * TILE_BYTES; // Q twice, O
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

// log2(x), with denormal numbers as zeros, as above.
static __device__ float log2_approx(float x) {
    float y;
    asm("lg2.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
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

// Whether that phase has ended.
static __device__ bool mbarrier_test(uint64_t *barrier, int parity) {
    int ended;
    asm volatile("{\n"
                 ".reg .pred done;\n"
                 "mbarrier.test_wait.parity.shared::cta.b64 done, [%1], %2;\n"
                 "selp.b32 %0, 1, 0, done;\n"
                 "}"
                 : "=r"(ended)
                 : "r"(shared_address(barrier)), "r"(parity)
                 : "memory");
    return ended;
}

// N buffers between the producer and the consumers. Use n of a ring is use n / N of buffer n % N.
template <int N> struct Ring {
    uint64_t full[N], empty[N]; // filled; released by all its readers, warps or threads
};

template <int N> static __device__ void ring_init(Ring<N> *ring, int readers) {
    for (int i = 0; i < N; i++) {
        mbarrier_init(&ring->full[i], 1);
        mbarrier_init(&ring->empty[i], readers);
    }
}

template <int N> static __device__ void ring_wait_full(Ring<N> *ring, unsigned n) {
    mbarrier_wait(&ring->full[n % N], n / N % 2);
}

// The same as a question: a wait costs its latency, an answer can come under other work.
template <int N> static __device__ bool ring_is_full(Ring<N> *ring, unsigned n) {
    return mbarrier_test(&ring->full[n % N], n / N % 2);
}

// At once for the first N uses.
template <int N> static __device__ void ring_wait_empty(Ring<N> *ring, unsigned n) {
    mbarrier_wait(&ring->empty[n % N], 1 - n / N % 2);
}

// For the thread, or with its lane for the warp.
template <int N> static __device__ void ring_release(Ring<N> *ring, unsigned n, int lane = 0) {
    mbarrier_arrive(&ring->empty[n % N], lane);
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

// Until the lane's stores are in global memory.
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

// S_ij = Q_i K_j^T   [64, BC] a warpgroup; a step is 32 bytes to the right, or a panel
static __device__ __forceinline__ void product_QK(float (&S_ij)[BC / 8][4], uint64_t Q_at,
                                                  uint64_t K_at) {
    wgmma_fence();
#pragma unroll
    for (int k = 0; k < D; k += 16)
        wgmma_m64n128k16(S_ij,
                         Q_at + (k / PANEL * MAX_WARPGROUPS * 64 * PANEL_ROW + k % PANEL * 2) / 16,
                         K_at + (k / PANEL * BC * PANEL_ROW + k % PANEL * 2) / 16, k > 0);
    wgmma_commit_group();
}

// O_i = O_i + P_ij V_j   [64, D] a warpgroup; a step is 16 rows down
static __device__ __forceinline__ void
product_PV(float (&O_i)[D / 8][4], const unsigned (&P_ij)[BC / 16][4], uint64_t V_at) {
    wgmma_fence();
#pragma unroll
    for (int k = 0; k < BC / 16; k++) wgmma_m64nDk16(O_i, P_ij[k], V_at + k * 16 * PANEL_ROW / 16);
    wgmma_commit_group();
}

// S_ij = -inf where a row of the warp does not see the key
static __device__ __forceinline__ void mask(float (&S_ij)[BC / 8][4], const AttentionProblem &p,
                                            int first_row, int warp, int lane, int j) {
#pragma unroll
    for (int h = 0; h < 2; h++) {
        const int row = first_row + warp * 16 + h * 8 + lane / TX;
        const int visible = visible_keys(p, row) - j - lane % TX * 2;
        // A bit for each of the 32 elements: seven become predicates in one instruction (R2P).
        const int seen = min(max(visible, 0), BC), count = seen / 8 * 2 + min(seen % 8, 2);
        const unsigned bits = count == 32 ? ~0u : (1u << count) - 1;
#pragma unroll
        for (int n = 0; n < BC / 8; n++)
#pragma unroll
            for (int e = 0; e < 2; e++)
                if (!(bits >> (n * 2 + e) & 1)) S_ij[n][2 * h + e] = -CUDART_INF_F;
    }
}

// What a thread knows of its two rows: cm_i is c m_i + HEADROOM; before the first key it is
// infinite, so that P_ij is 0.
typedef struct Rows {
    float cm_i[2], l_i[2], scale_i[2];
    bool grown;     // a row of the warp: O_i is still to be multiplied with scale_i
    bool searching; // a row of the warp: it has no key yet, or maxima of all key tiles are wanted
} Rows;

static __device__ void clear_rows(Rows &rows) {
    rows.cm_i[0] = rows.cm_i[1] = CUDART_INF_F;
    rows.l_i[0] = rows.l_i[1] = 0;
}

// m_i = max(m_i, rowmax(S_ij)), l_i = scale_i * l_i
static __device__ __forceinline__ void update_maxima(Rows &rows, const float (&S_ij)[BC / 8][4],
                                                     float c, bool exact) {
    bool searching = exact;
#pragma unroll
    for (int h = 0; h < 2; h++) {
        float m_new = -CUDART_INF_F;
#pragma unroll
        for (int n = 0; n < BC / 8; n++)
            m_new = fmaxf(m_new, fmaxf(S_ij[n][2 * h], S_ij[n][2 * h + 1]));
        const float old = rows.cm_i[h] == CUDART_INF_F ? -CUDART_INF_F : rows.cm_i[h];
        const float cm_new = fmaxf(old, c * row_max(m_new) + HEADROOM);
        const bool first = old == -CUDART_INF_F; // O_i and l_i are 0
        rows.scale_i[h] = first ? 1 : exp2_approx(old - cm_new);
        rows.cm_i[h] = cm_new == -CUDART_INF_F ? CUDART_INF_F : cm_new;
        rows.l_i[h] *= rows.scale_i[h];
        searching = searching || cm_new == -CUDART_INF_F;
    }
    rows.grown = __any_sync(0xffffffff, rows.scale_i[0] != 1 || rows.scale_i[1] != 1);
    rows.searching = __any_sync(0xffffffff, searching);
}

// P_ij = exp(S_ij - m_i), in place, l_i = l_i + rowsum(P_ij), for keys first .. last - 1
static __device__ __forceinline__ void exponentials(float (&S_ij)[BC / 8][4], Rows &rows, float c,
                                                    int first, int last) {
#pragma unroll
    for (int n = first / 8; n < last / 8; n++) {
#pragma unroll
        for (int e = 0; e < 4; e++)
            S_ij[n][e] = exp2_approx(fmaf(c, S_ij[n][e], -rows.cm_i[e / 2]));
#pragma unroll
        for (int h = 0; h < 2; h++) rows.l_i[h] += S_ij[n][2 * h] + S_ij[n][2 * h + 1];
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

static __device__ __forceinline__ void clear(float (&c)[D / 8][4]) {
#pragma unroll
    for (int n = 0; n < D / 8; n++)
#pragma unroll
        for (int e = 0; e < 4; e++) c[n][e] = 0;
}

// O_i = scale_i * O_i, if that is still to be done
static __device__ __forceinline__ void rescale(float (&O_i)[D / 8][4], Rows &rows) {
    if (rows.grown)
#pragma unroll
        for (int n = 0; n < D / 8; n++)
#pragma unroll
            for (int e = 0; e < 4; e++) O_i[n][e] *= rows.scale_i[e / 2];
    rows.grown = false;
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
// without keys come out right of a tile that is masked as a whole. Without key tiles: no work.
typedef struct Tile {
    int first_row, head, batch, key_tiles;
    bool exact;    // maxima of all key tiles, not only of the first
    bool overflow; // set by a warp for which P_ij was too large: to be done again, exactly
} Tile;

// Query tile number `index` in the order in which they are taken: `group` heads, in a group from
// the last rows, which see most keys in a causal problem, to the first.
static __device__ Tile tile_of(const AttentionProblem &p, int BR, int group, int index) {
    const int row_tiles = ceil_div(p.seq_q, BR), first = index / (row_tiles * group) * group;
    const int heads = min(group, p.heads * p.batch - first), rest = index - first * row_tiles;
    Tile t = {0};
    t.first_row = (row_tiles - 1 - rest / heads) * BR;
    t.head = (first + rest % heads) % p.heads;
    t.batch = (first + rest % heads) / p.heads;
    t.key_tiles = max(1, ceil_div(visible_keys(p, t.first_row + BR - 1), BC));
    return t;
}

// 1 / l_i, and LSE_i = ln 2 (cm_i + log2 l_i); a row without keys: 0 and -inf. A predicate for the
// store, not a branch: the warp must not look divergent to ptxas.
static __device__ __forceinline__ void finish_rows(float (&inverse)[2], const Rows &rows,
                                                   float *LSE, const AttentionProblem &p,
                                                   const Tile &t, int warp, int lane) {
    const float sum[2] = {row_sum(rows.l_i[0]), row_sum(rows.l_i[1])}; // side by side
    const size_t LSE_row = ((size_t)t.batch * p.heads + t.head) * p.seq_q;
    const int row = t.first_row + warp * 16 + lane / TX;
#pragma unroll
    for (int h = 0; h < 2; h++) {
        const float l = sum[h];
        const float value = l == 0 ? -CUDART_INF_F : LN_2 * (rows.cm_i[h] + log2_approx(l));
        const float r = reciprocal_approx(l == 0 ? CUDART_INF_F : l); // no branch round it
        inverse[h] = l <= MAX_SUM ? r : CUDART_NAN_F;
        asm volatile("{\n.reg .pred wanted;\nsetp.ne.b32 wanted, %2, 0;\n"
                     "@wanted st.global.f32 [%0], %1;\n}" ::"l"(&LSE[LSE_row + row + h * 8]),
                     "f"(value), "r"((int)(LSE && lane % TX == 0 && row + h * 8 < p.seq_q))
                     : "memory");
    }
}

// O_i = inverse * O_i, by way of the warp's part of sO. Its last store must have ended: the rows
// may be the same, done again. An infinite P_ij has made the whole row infinite or NaN.
static __device__ __forceinline__ void store_O(const CUtensorMap *O, element *warp_O,
                                               const float (&O_i)[D / 8][4],
                                               const float (&inverse)[2], Tile *t, int warp,
                                               int lane) {
    const int row = __shfl_sync(0xffffffff, t->first_row, 0) + warp * 16;
    const int head = __shfl_sync(0xffffffff, t->head, 0);
    const int batch = __shfl_sync(0xffffffff, t->batch, 0);
    tma_store_wait();
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
    tma_store(O, warp_O, row, head, batch);
    const float some = fabsf(O_i[0][0] * inverse[0]) + fabsf(O_i[0][2] * inverse[1]);
    if (__any_sync(0xffffffff, !(some < CUDART_INF_F))) t->overflow = true;
}

// Has the copy engine fill the next buffer of a ring as soon as it is free.
template <int N>
static __device__ void load(unsigned char *buffers, const CUtensorMap *map, Ring<N> *ring,
                            unsigned n, int bytes, int row, int head, int batch) {
    ring_wait_empty(ring, n);
    mbarrier_arrive_expect_tx(&ring->full[n % N], bytes);
    tma_load(buffers + n % N * bytes, map, &ring->full[n % N], row, head, batch);
}

static __global__ void __launch_bounds__(MAX_THREADS, 1)
    flash_fwd(const __grid_constant__ CUtensorMap Q, // [batch, heads, seq_q, D]
              const __grid_constant__ CUtensorMap K, // [batch, kv_heads, seq_kv, D]
              const __grid_constant__ CUtensorMap V, // [batch, kv_heads, seq_kv, D]
              const __grid_constant__ CUtensorMap O, // [batch, heads, seq_q, D]
              float *LSE,                            // [batch, heads, seq_q]
              int *next,                             // tiles taken beyond the first of each block
              int group,                             // heads, see tile_of
              AttentionProblem p) {
    extern __shared__ __align__(1024) unsigned char shared[];
    const int warpgroups = blockDim.x / 128 - 1, BR = 64 * warpgroups; // query rows of a block
    unsigned char *sQ = shared;                            // [2 buffers, BR, D] in panels
    unsigned char *sK = sQ + 2 * MAX_WARPGROUPS * Q_BYTES; // [DEPTH, BC, D] in panels
    unsigned char *sV = sK + DEPTH * TILE_BYTES;           // [DEPTH, BC, D] in panels
    unsigned char *sO = sV + DEPTH * TILE_BYTES;           // [warps, 16, D] in panels
    __shared__ Ring<2> ring_Q;
    __shared__ Ring<DEPTH> ring_K, ring_V;
    __shared__ Ring<TILES> ring_tile;
    __shared__ Tile tile[TILES];

    const int tiles = ceil_div(p.seq_q, BR) * p.heads * p.batch;
    if (threadIdx.x == 0) {
        ring_init(&ring_Q, 4 * warpgroups);
        ring_init(&ring_K, 4 * warpgroups);
        ring_init(&ring_V, 4 * warpgroups);
        ring_init(&ring_tile, 128 * warpgroups + 1); // every thread that reads it
        fence_mbarrier_init();
    }
    if (threadIdx.x < TILES) tile[threadIdx.x] = {0};
    __syncthreads(); // RAW: the barriers, tile

    // ---- Producer: one thread takes query tiles and has Q loaded, a whole tile ahead, for which
    // it must not stand in line with K and V; another has these loaded.
    if (__shfl_sync(0xffffffff, threadIdx.x / 128, 0) == warpgroups) {
        setmaxnreg_dec();
        if (threadIdx.x % 128 == 0) {
            unsigned q = 0; // uses of the ring
            int i = blockIdx.x, idle = 0;
#pragma unroll 1
            for (unsigned n = 0; idle < TILES; n++) {
                ring_wait_empty(&ring_Q, q); // tiles taken too early may leave other blocks none
                ring_wait_empty(&ring_tile, n);
                Tile *t = &tile[n % TILES]; // done
                if (t->overflow && !t->exact) {
                    t->exact = true;
                    t->overflow = false;
                } else {
                    if (n > 0) i = atomicAdd(next, 1) + gridDim.x;
                    if (i < tiles)
                        *t = tile_of(p, BR, group, i);
                    else
                        t->key_tiles = 0;
                }
                mbarrier_arrive(&ring_tile.full[n % TILES], 0);
                idle = t->key_tiles == 0 ? idle + 1 : 0;
                if (idle == 0)
                    load(sQ, &Q, &ring_Q, q++, warpgroups * Q_BYTES, t->first_row, t->head,
                         t->batch);
            }
        } else if (threadIdx.x % 128 == 32) {
            unsigned k = 0, v = 0; // uses of the rings
            int idle = 0;
#pragma unroll 1
            for (unsigned n = 0; idle < TILES; n++) {
                ring_wait_full(&ring_tile, n);
                const Tile t = tile[n % TILES];
                ring_release(&ring_tile, n);
                idle = t.key_tiles == 0 ? idle + 1 : 0;
                const int kv_head = t.head / (p.heads / p.kv_heads);
#pragma unroll 1
                for (int j = t.key_tiles; j >= 0; j--) { // K runs one tile ahead of V
                    if (j > 0)
                        load(sK, &K, &ring_K, k++, TILE_BYTES, (j - 1) * BC, kv_head, t.batch);
                    if (j < t.key_tiles)
                        load(sV, &V, &ring_V, v++, TILE_BYTES, j * BC, kv_head, t.batch);
                }
            }
        }
        return;
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
    unsigned n = 0, query = 0, step = 0; // uses of the rings of tiles and of Q; of K and V
    float S_ij[BC / 8][4], O_i[D / 8][4], inverse[2] = {0};
    unsigned P_ij[BC / 16][4];
    Rows rows;
    if (warpgroup == 0) give_turn(0);
#pragma unroll 1
    for (int idle = 0; idle < TILES; n++) {
        // Once round for all tiles, and again if the last of them are to be done again.
        ring_wait_full(&ring_tile, n);
        // A shuffle tells ptxas that all lanes have read the same.
        int key_tiles = __shfl_sync(0xffffffff, tile[n % TILES].key_tiles, 0);
        int first_row = __shfl_sync(0xffffffff, tile[n % TILES].first_row, 0);
        bool exact = __shfl_sync(0xffffffff, tile[n % TILES].exact, 0);
        if (key_tiles == 0) {
            ring_release(&ring_tile, n);
            idle++;
            continue;
        }
        idle = 0;
        int j = key_tiles - 1; // the key tile, from the last to the first
        bool ready = false;    // K and V of the next step are known to be there

        // The first Q K^T, under which nothing can hide
        ring_wait_full(&ring_Q, query);
        ring_wait_full(&ring_K, step);
        product_QK(S_ij, Q_at + query % 2 * (warpgroups * Q_BYTES / 16),
                   K_at + step % DEPTH * (TILE_BYTES / 16));
        wgmma_wait_group<0>();
        settle(S_ij);
        ring_release(&ring_K, step, lane);
        clear_rows(rows);
        clear(O_i);
        if ((j + 1) * BC > visible_keys(p, first_row + warpgroup * 64))
            mask(S_ij, p, first_row, warp, lane, j * BC);
        update_maxima(rows, S_ij, c, exact);
        exponentials(S_ij, rows, c, 0, BC);
        pack_P(P_ij, S_ij, 0, BC);
#pragma unroll 1
        while (true) {
            // P_ij is ready. S_ij comes from the next key tile, or from the next query tile's
            // first.
            const bool last = j == 0;
            if (last) {
                ring_wait_full(&ring_tile, n + 1);
                key_tiles = __shfl_sync(0xffffffff, tile[(n + 1) % TILES].key_tiles, 0);
                if (key_tiles == 0) break;
                n++;
                first_row = __shfl_sync(0xffffffff, tile[n % TILES].first_row, 0);
                exact = __shfl_sync(0xffffffff, tile[n % TILES].exact, 0);
                ring_wait_full(&ring_Q, ++query);
            }
            j = last ? key_tiles - 1 : j - 1;
            if (!ready) {
                ring_wait_full(&ring_K, step + 1);
                ring_wait_full(&ring_V, step);
            }
            wait_for_turn(warpgroup);
            product_QK(S_ij, Q_at + query % 2 * (warpgroups * Q_BYTES / 16),
                       K_at + (step + 1) % DEPTH * (TILE_BYTES / 16));
            const bool crossed = (j + 1) * BC > visible_keys(p, first_row + warpgroup * 64);
            const bool special = last || crossed || rows.searching; // one branch, not three
            rescale(O_i, rows);
            product_PV(O_i, P_ij, V_at + step % DEPTH * (TILE_BYTES / 16));
            give_turn(warpgroup + 1 == warpgroups ? 0 : warpgroup + 1);

            wgmma_wait_group<1>();
            settle(S_ij);
            ring_release(&ring_K, step + 1, lane);
            if (special) {
                if (last) {
                    ring_release(&ring_Q, query - 1, lane);
                    finish_rows(inverse, rows, LSE, p, tile[(n - 1) % TILES], warp, lane);
                    clear_rows(rows);
                }
                if (crossed) mask(S_ij, p, first_row, warp, lane, j * BC);
                if (last || rows.searching) update_maxima(rows, S_ij, c, exact);
            }
            exponentials(S_ij, rows, c, 0, UNDER_PV);
            pin(rows, warp_O);
            wgmma_wait_group<0>();
            settle(O_i);
            ring_release(&ring_V, step++, lane);
            ready = ring_is_full(&ring_K, step + 1) & ring_is_full(&ring_V, step);
            ready = __all_sync(0xffffffff, ready);
            pack_P(P_ij, S_ij, 0, UNDER_PV);
            exponentials(S_ij, rows, c, UNDER_PV, BC);
            pack_P(P_ij, S_ij, UNDER_PV, BC);
            if (last) {
                store_O(&O, warp_O, O_i, inverse, &tile[(n - 1) % TILES], warp, lane);
                ring_release(&ring_tile, n - 1);
                clear(O_i);
            }
        }
        // The last P V
        rescale(O_i, rows);
        ring_wait_full(&ring_V, step);
        product_PV(O_i, P_ij, V_at + step % DEPTH * (TILE_BYTES / 16));
        finish_rows(inverse, rows, LSE, p, tile[n % TILES], warp, lane);
        wgmma_wait_group<0>();
        settle(O_i);
        ring_release(&ring_V, step++, lane);
        ring_release(&ring_Q, query++, lane);
        store_O(&O, warp_O, O_i, inverse, &tile[n % TILES], warp, lane);
        ring_release(&ring_tile, n);
    }
    tma_store_wait();
}

const AttentionKernel attention_kernels[] = {
    {"flash_fwd", (const void *)flash_fwd, MAX_THREADS, SHARED_BYTES}, {NULL, NULL, 0, 0}};

// Short causal problems waste less of tiles of 128 rows than of 192.
static int warpgroups_for(const AttentionProblem *p) {
    return CAUSAL && p->seq_q <= 2048 ? 2 : MAX_WARPGROUPS;
}

const char *attention_supports(const AttentionProblem *p, int compute_capability) {
    if (compute_capability != 90) return "needs compute capability 9.0: wgmma exists nowhere else";
    if ((long long)ceil_div(p->seq_q, 64 * warpgroups_for(p)) * p->heads * p->batch > INT_MAX)
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
    const int warpgroups = warpgroups_for(p), BR = 64 * warpgroups;
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
    // Causal: many heads at a time, so that no long tiles are left for the end; but their keys and
    // values fit L2. Full: one, so that blocks read the same keys at the same time.
    const long long fit = L2_BYTES / ((long long)p->seq_kv * D * 2 * sizeof(element));
    const int group = CAUSAL ? (int)(fit < 1 ? 1 : fit > MAX_GROUP ? MAX_GROUP : fit) : 1;
    flash_fwd<<<blocks, (warpgroups + 1) * 128, SHARED_BYTES, stream>>>(
        Q, K, V, O, t->LSE, (int *)workspace, group, *p);
    return cudaGetLastError();
}
