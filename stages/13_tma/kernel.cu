// Stage 13: tma
// Idea:     tiles come and go by TMA. One thread asks for a whole tile: one of warp 0 for Q and the
//           first K, then one of warp 1 for K, one of warp 2 for V. The engine works out addresses,
//           swizzles, fills with zeros, tells an mbarrier of its bytes. O leaves the same way.
// Before:   in stage 12 every thread issues 8 LDGSTS per tile of K or V (d64: 4), with their
//           addresses and bounds, and needs a proxy fence before wgmma may read them.
// Look for: UTMALDG, UTMASTG; no LDGSTS, no STG of O.
// Limits:   needs sm_90a: compute capability 9.0 and nothing else.
#include <cuda.h>
#include <cudaTypedefs.h>
#include <float.h>
#include <limits.h>
#include <math_constants.h>
#include <stdint.h>

#include "attention.h"

#if ELEMENT_BF16
#include <cuda_bf16.h>
typedef __nv_bfloat16 element;
#define PAIR "bf16x2"         // two elements in a register
#define TYPES "f32.bf16.bf16" // of a product: sum, A, B
#else
#include <cuda_fp16.h>
typedef __half element;
#define PAIR "f16x2"
#define TYPES "f32.f16.f16"
#endif

constexpr int D = HEAD_DIM;
constexpr int WARPGROUPS = 1; // per block
constexpr int THREADS = WARPGROUPS * 128;
constexpr int BR = 128 * WARPGROUPS;     // query rows per block
constexpr int BC = 64;                   // keys per tile
constexpr int BLOCKS = D == 128 ? 2 : 3; // per SM
constexpr int M_TILES = 2;               // 64 rows each; a warp owns 16
constexpr int M_STEP = 64;               // rows from one to the next
// Tiles of S_ij in registers at a time: d64 has more blocks per SM, and room for one.
constexpr int AT_ONCE = D == 128 ? 2 : 1;
constexpr int ROW_LANES = 4; // lanes that share a row of an accumulator
constexpr int VECTOR = 8;    // elements in 128 bits
constexpr float LOG2_E = 1.4426950408889634f, LN_2 = 0.6931471805599453f;
constexpr int PANEL = 64;            // columns; a tile is [D / PANEL][rows][PANEL] elements
constexpr int PANEL_ROW = PANEL * 2; // bytes
// The largest sum of the P_ij of a row that a thread checks at once. fp16 numbers end at 2^16.
constexpr float LIMIT = 0x1p13f;
constexpr float SCALABLE = 0x1p15f; // up to here P_ij is scaled; beyond, it is computed again

constexpr int Q_BYTES = BR * D * sizeof(element), TILE_BYTES = BC * D * sizeof(element);
constexpr int SHARED_BYTES = (BR + 2 * BC) * D * sizeof(element);

static __host__ __device__ int ceil_div(int a, int b) { return (a + b - 1) / b; }

// The number of keys that query `row` sees: columns 0 .. visible - 1.
static __device__ int visible_keys(const AttentionProblem &p, int row) {
    return CAUSAL ? min(max(row + 1 + p.seq_kv - p.seq_q, 0), p.seq_kv) : p.seq_kv;
}

// The KV head that query head `head` (of batch * heads) reads.
static __device__ size_t kv_head(const AttentionProblem &p, int head) {
    return (size_t)(head / p.heads) * p.kv_heads + head % p.heads / (p.heads / p.kv_heads);
}

// Sum and maximum over the ROW_LANES lanes that share a row of an accumulator.
static __device__ float row_sum(float value) {
    for (int lanes = ROW_LANES / 2; lanes > 0; lanes /= 2)
        value += __shfl_xor_sync(0xffffffff, value, lanes);
    return value;
}

static __device__ float row_max(float value) {
    for (int lanes = ROW_LANES / 2; lanes > 0; lanes /= 2)
        value = fmaxf(value, __shfl_xor_sync(0xffffffff, value, lanes));
    return value;
}

// 2^x, log2(x) and 1 / x. Denormals are zeros: without .ftz it is 3, 3 and 7 instructions more.
#define APPROX(name, instruction)                                      \
    static __device__ float name(float x) {                            \
        float y;                                                       \
        asm(instruction ".approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x)); \
        return y;                                                      \
    }
APPROX(exp2_approx, "ex2")
APPROX(log2_approx, "lg2")
APPROX(reciprocal_approx, "rcp")

// A block's work: query rows first_row .. first_row + BR - 1 of head `head` (of batch * heads).
typedef struct Tile {
    int head, first_row;
    int last; // first key of the last key tile; rows without keys have one tile, masked as a whole
} Tile;

// Causal: batch entry by batch entry, the row tiles that see most keys first. Full: head by head.
// So blocks that run at the same time read the same keys, which then come out of L2.
static __device__ Tile tile_of(const AttentionProblem &p) {
    const int index = blockIdx.x;
    const int row_tiles = ceil_div(p.seq_q, BR);
    const unsigned heads = p.heads, from_end = gridDim.x - 1 - index;
    Tile t;
    t.head = CAUSAL ? from_end / heads / row_tiles * heads + from_end % heads : index / row_tiles;
    t.first_row = (CAUSAL ? from_end / heads % row_tiles : index % row_tiles) * BR;
    t.last = max(ceil_div(visible_keys(p, t.first_row + BR - 1), BC) - 1, 0) * BC;
    return t;
}

// Two floats, rounded, in one register: `low` in the low half.
static __device__ unsigned pack(float low, float high) {
    unsigned pair;
    asm("cvt.rn." PAIR ".f32 %0, %1, %2;" : "=r"(pair) : "f"(high), "f"(low));
    return pair;
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

// Waits for the end of the phase of this parity: 0 for the first, then 1, 0, ...
static __device__ void mbarrier_wait(uint64_t *barrier, int parity) {
    asm volatile("{\n.reg .pred done;\n"
                 "again: mbarrier.try_wait.parity.shared::cta.b64 done, [%0], %1;\n"
                 "@!done bra again;\n}" ::"r"(shared_address(barrier)),
                 "r"(parity)
                 : "memory");
}

// TMA (PTX ISA 9.7.9.27.1.2): the box of `map` that begins at `row` of one head, to a tile; the
// bytes count for `barrier`. Rows beyond the end arrive as zeros.
static __device__ void tma_load(void *tile, const CUtensorMap *map, uint64_t *barrier, int row,
                                int head) {
    asm volatile("cp.async.bulk.tensor.4d.shared::cluster.global.mbarrier::complete_tx::bytes "
                 "[%0], [%1, {%3, %4, %5, %3}], [%2];" ::"r"(shared_address(tile)),
                 "l"(map), "r"(shared_address(barrier)), "n"(0), "r"(row), "r"(head)
                 : "memory");
}

// TMA back: the box of `map` that begins at `row` and column panel * PANEL, as one bulk group of
// the elected lane. Rows beyond the end are not written.
static __device__ void tma_store(const CUtensorMap *map, const void *tile, int row, int panel,
                                 int head) {
    asm volatile("{\n.reg .pred one;\nelect.sync _|one, 0xffffffff;\n"
                 "@one cp.async.bulk.tensor.4d.global.shared::cta.bulk_group "
                 "[%0, {%2, %3, %5, %4}], [%1];\n"
                 "@one cp.async.bulk.commit_group;\n}" ::"l"(map),
                 "r"(shared_address(tile)), "n"(0), "r"(row), "r"(panel), "r"(head)
                 : "memory");
}

// Waits until the lane's stores have read shared memory.
static __device__ void tma_store_wait() {
    asm volatile("cp.async.bulk.wait_group.read 0;" ::: "memory");
}

// Makes what the thread wrote to shared memory visible to the async proxy: wgmma and TMA.
static __device__ void fence_proxy_async() {
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
}

// stmatrix.x4 (PTX ISA 9.7.14.5.16): the reverse of ldmatrix.x4.
static __device__ void stmatrix_x4(unsigned row, const unsigned (&r)[4]) {
    asm volatile("stmatrix.sync.aligned.m8n8.x4.shared.b16 [%0], {%1, %2, %3, %4};" ::"r"(row),
                 "r"(r[0]), "r"(r[1]), "r"(r[2]), "r"(r[3])
                 : "memory");
}

// wgmma (PTX ISA 9.7.15). Its registers, accumulators and A, may be touched before the fence, and
// from then on only after a wait.
static __device__ void wgmma_fence() { asm volatile("wgmma.fence.sync.aligned;" ::: "memory"); }

static __device__ void wgmma_commit_group() {
    asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
}

// Waits until at most `groups` groups are not complete. The compiler may not read `c` before.
template <int groups, int N> static __device__ void wgmma_wait_group(float (&c)[N][4]) {
    asm volatile("wgmma.wait_group.sync.aligned %0;" ::"n"(groups) : "memory");
    for (int n = 0; n < N; n++)
        for (int e = 0; e < 4; e++) asm volatile("" : "+f"(c[n][e]));
}

// The descriptor of a matrix in shared memory (PTX ISA 9.7.15.5.1.2.2) in the 128-byte swizzle of
// tile_at: 8 rows of a panel are 1024 bytes, the next panel is `panel_bytes` further.
static __device__ uint64_t descriptor(unsigned at, int panel_bytes) {
    return 1ull << 62 | (uint64_t)(1024 >> 4) << 32 | (uint64_t)(panel_bytes >> 4) << 16 |
           (at & 0x3ffff) >> 4;
}

#define F4(c, n) "+f"((c)[n][0]), "+f"((c)[n][1]), "+f"((c)[n][2]), "+f"((c)[n][3])
#define F16(c, n) F4(c, n), F4(c, n + 1), F4(c, n + 2), F4(c, n + 3)
#define F32(c, n) F16(c, n), F16(c, n + 4)
#define R32                                                                                      \
    "%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, %16, %17, %18, %19, " \
    "%20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31"
#define R64                                                                                       \
    R32 ", %32, %33, %34, %35, %36, %37, %38, %39, %40, %41, %42, %43, %44, %45, %46, %47, %48, " \
        "%49, %50, %51, %52, %53, %54, %55, %56, %57, %58, %59, %60, %61, %62, %63"

// C [64, N] (+)= A [64, 16] B [N, 16]^T, both in shared memory. A warp holds 16 rows; C is
// in its lanes as N / 8 accumulators of mma.m16n8k16 side by side.
template <int TILES_N>
static __device__ void wgmma_m64nNk16_ss(float (&c)[TILES_N][4], uint64_t a, uint64_t b, bool add) {
    if constexpr (TILES_N == 16)
        asm volatile("{\n.reg .pred add;\nsetp.ne.b32 add, %66, 0;\n"
                     "wgmma.mma_async.sync.aligned.m64n128k16." TYPES " {" R64 "}, %64, %65, add, "
                     "1, 1, 0, 0;\n}"
                     : F32(c, 0), F32(c, 8)
                     : "l"(a), "l"(b), "r"((int)add));
    else
        asm volatile("{\n.reg .pred add;\nsetp.ne.b32 add, %34, 0;\n"
                     "wgmma.mma_async.sync.aligned.m64n64k16." TYPES " {" R32 "}, %32, %33, add, "
                     "1, 1, 0, 0;\n}"
                     : F32(c, 0)
                     : "l"(a), "l"(b), "r"((int)add));
}

// C [64, N] += A [64, 16] B [16, N]: A in registers, B in shared memory, rows of N columns.
template <int TILES_N>
static __device__ void wgmma_m64nNk16_rs(float (&c)[TILES_N][4], const unsigned (&a)[4],
                                         uint64_t b) {
    if constexpr (TILES_N == 16)
        asm volatile("wgmma.mma_async.sync.aligned.m64n128k16." TYPES " {" R64 "}, "
                     "{%64, %65, %66, %67}, %68, 1, 1, 1, 1;"
                     : F32(c, 0), F32(c, 8)
                     : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(b));
    else
        asm volatile("wgmma.mma_async.sync.aligned.m64n64k16." TYPES " {" R32 "}, "
                     "{%32, %33, %34, %35}, %36, 1, 1, 1, 1;"
                     : F32(c, 0)
                     : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(b));
}

// Where element (row, col) of a tile of `rows` rows is stored: panels, 16-byte chunks swizzled.
static __device__ int tile_at(int rows, int row, int col) {
    return (col / PANEL * rows + row) * PANEL + (col % PANEL ^ (row & 7) * 8);
}

// Has the copy engine fill a tile from `row` of one head on; `full` expects its bytes.
static __device__ void load_tile(void *tile, const CUtensorMap *map, uint64_t *full, int bytes,
                                 int row, int head) {
    mbarrier_arrive_expect_tx(full, bytes);
    tma_load(tile, map, full, row, head);
}

// S_ij = Q_i K_j^T   [64, BC] per warpgroup; a step is 32 bytes to the right, or a panel
static __device__ void product_QK(float (&S_ij)[BC / 8][4], uint64_t Q_at, uint64_t K_at) {
    wgmma_fence();
    for (int k = 0; k < D; k += 16)
        wgmma_m64nNk16_ss(S_ij, Q_at + (k / PANEL * BR * PANEL_ROW + k % PANEL * 2) / 16,
                          K_at + (k / PANEL * BC * PANEL_ROW + k % PANEL * 2) / 16, k > 0);
    wgmma_commit_group();
}

// O_i = O_i + P_ij V_j   [64, D] per warpgroup; a step is 16 rows down
static __device__ void product_PV(float (&O_i)[D / 8][4], const unsigned (&packed_P)[BC / 16][4],
                                  uint64_t V_at) {
    wgmma_fence();
    for (int k = 0; k < BC / 16; k++)
        wgmma_m64nNk16_rs(O_i, packed_P[k], V_at + k * 16 * PANEL_ROW / 16);
    wgmma_commit_group();
}

// What a thread knows about its two rows of the warp's 16, lane / ROW_LANES and the one 8 below.
// Before the first key m_i is the lowest number and not -inf: -inf - -inf would be NaN.
typedef struct Rows {
    float cm_i[2] = {-FLT_MAX, -FLT_MAX}, l_i[2] = {0}, scale_i[2];
} Rows;

// S_ij = -inf where a row does not see the key.
// The warp's 16 rows begin at `row`, the tile's keys at j.
static __device__ void mask(float (&S_ij)[BC / 8][4], const AttentionProblem &p, int row, int j,
                            int lane) {
    for (int h = 0; h < 2; h++) {
        const int query = row + h * 8 + lane / ROW_LANES;
        const int visible = visible_keys(p, query) - j - lane % ROW_LANES * 2;
        for (int n = 0; n < BC / 8; n++)
            for (int e = 0; e < 2; e++)
                if (n * 8 + e >= visible) S_ij[n][2 * h + e] = -CUDART_INF_F;
    }
}

// m_i = max(m_i, rowmax(S_ij)), l_i = scale_i * l_i, for keys first .. last - 1 of the tile
static __device__ void update_maxima(Rows &rows, const float (&S_ij)[BC / 8][4], float c, int first,
                                     int last) {
    for (int h = 0; h < 2; h++) {
        float m_new = -CUDART_INF_F;
        for (int n = first / 8; n < last / 8; n++)
            m_new = fmaxf(m_new, fmaxf(S_ij[n][2 * h], S_ij[n][2 * h + 1]));
        const float cm_new = fmaxf(rows.cm_i[h], c * row_max(m_new));
        rows.scale_i[h] = exp2_approx(rows.cm_i[h] - cm_new);
        rows.cm_i[h] = cm_new;
        rows.l_i[h] *= rows.scale_i[h];
    }
}

// P_ij = exp(S_ij - m_i), sum = sum + rowsum(P_ij), for keys first .. last - 1 of the tile
static __device__ void exponentials(float (&P_ij)[BC / 8][4], float (&sum)[2],
                                    const float (&S_ij)[BC / 8][4], const Rows &rows, float c,
                                    int first, int last) {
    for (int n = first / 8; n < last / 8; n++) {
        for (int e = 0; e < 4; e++)
            P_ij[n][e] = exp2_approx(fmaf(c, S_ij[n][e], -rows.cm_i[e / 2]));
        for (int h = 0; h < 2; h++) sum[h] += P_ij[n][2 * h] + P_ij[n][2 * h + 1];
    }
}

// The A operands of P V: keys 16 k .. 16 k + 15 of P_ij, for keys first .. last - 1 of the tile
static __device__ void pack_P(unsigned (&packed_P)[BC / 16][4], const float (&P_ij)[BC / 8][4],
                              int first, int last) {
    for (int k = first / 16; k < last / 16; k++)
        for (int e = 0; e < 4; e++)
            packed_P[k][e] =
                pack(P_ij[2 * k + e / 2][e % 2 * 2], P_ij[2 * k + e / 2][e % 2 * 2 + 1]);
}

// Whether a sum of P_ij in the warp has outgrown `limit`; not for NaN.
static __device__ bool outgrown(const float (&sum)[2], float limit = LIMIT) {
    return __any_sync(0xffffffff, fmaxf(sum[0], sum[1]) > limit);
}

// O_i = scale_i * O_i
static __device__ void rescale(float (&O_i)[D / 8][4], const Rows &rows) {
    for (int n = 0; n < D / 8; n++)
        for (int e = 0; e < 4; e++) O_i[n][e] *= rows.scale_i[e / 2];
}

// P_ij by a power of two, in rows where one is 1 or more: the largest is then between 1/2 and 1.
// cm_i rises by as much, l_i = scale_i * l_i. That rounds only what falls below 2^-14, in fp16.
// The bits of P_ij are in the order of the numbers, because none is negative.
static __device__ void scale_P(Rows &rows, unsigned (&packed_P)[BC / 16][4], float (&sum)[2]) {
    for (int h = 0; h < 2; h++) {
        unsigned most = 0; // a pair
        for (int k = 0; k < BC / 16; k++)
            most = __vmaxu2(most, __vmaxu2(packed_P[k][h], packed_P[k][h + 2]));
        const element(&pair)[2] = reinterpret_cast<const element(&)[2]>(most);
        const float P_max = row_max(fmaxf(pair[0], pair[1])), cm_i = rows.cm_i[h];
        rows.cm_i[h] += max((__float_as_int(P_max) >> 23) - 126, 0); // P_max < 2^this
        rows.scale_i[h] = exp2_approx(cm_i - rows.cm_i[h]);
        rows.l_i[h] *= rows.scale_i[h];
        sum[h] *= rows.scale_i[h];
        const unsigned scale = pack(rows.scale_i[h], rows.scale_i[h]);
        for (int k = 0; k < BC / 16; k++)
            for (int e = h; e < 4; e += 2)
                asm("mul." PAIR " %0, %0, %1;" : "+r"(packed_P[k][e]) : "r"(scale));
    }
}

// After a P_ij has outgrown its range: m_i anew, O_i = scale_i * O_i. P_ij is scaled likewise; only
// if fp16 might not hold it, it is computed again.
static __device__ void into_range(Rows &rows, float (&O_i)[D / 8][4], float (&P_ij)[BC / 8][4],
                                  unsigned (&packed_P)[BC / 16][4], float (&sum)[2],
                                  const float (&S_ij)[BC / 8][4], float c) {
    if (outgrown(sum, SCALABLE)) {
        update_maxima(rows, S_ij, c, 0, BC);
        sum[0] = sum[1] = 0;
        exponentials(P_ij, sum, S_ij, rows, c, 0, BC);
        pack_P(packed_P, P_ij, 0, BC);
    } else {
        scale_P(rows, packed_P, sum);
    }
    rescale(O_i, rows);
}

// inverse = 1 / l_i, and LSE_i = m_i + log l_i; a row without keys: 0 and -inf.
// The warp's 16 rows begin at `row` of the tile.
static __device__ void finish_rows(float (&inverse)[2], const Rows &rows, float *LSE,
                                   const AttentionProblem &p, const Tile &t, int row, int lane) {
    for (int h = 0; h < 2; h++) {
        const float l = row_sum(rows.l_i[h]);
        const int query = t.first_row + row + h * 8 + lane / ROW_LANES;
        inverse[h] = l == 0 ? 0 : reciprocal_approx(l);
        if (LSE && lane % ROW_LANES == 0 && query < p.seq_q)
            LSE[(size_t)t.head * p.seq_q + query] =
                l == 0 ? -CUDART_INF_F : LN_2 * (rows.cm_i[h] + log2_approx(l));
    }
}

// O_i = inverse * O_i, to the warp's own rows of sQ, and from there to memory by TMA
static __device__ void store_O(const CUtensorMap *O, unsigned char *sQ,
                               const float (&O_i)[D / 8][4], const float (&inverse)[2],
                               const Tile &t, int row, int lane) {
    unsigned char *to = sQ + row * PANEL_ROW; // in the first panel
    const unsigned at = shared_address(to + tile_at(BR, lane % 16, lane / 16 * VECTOR) * 2);
    for (int n = 0; n < D / 8; n += 2) {
        const unsigned r[4] = {pack(O_i[n][0] * inverse[0], O_i[n][1] * inverse[0]),
                               pack(O_i[n][2] * inverse[1], O_i[n][3] * inverse[1]),
                               pack(O_i[n + 1][0] * inverse[0], O_i[n + 1][1] * inverse[0]),
                               pack(O_i[n + 1][2] * inverse[1], O_i[n + 1][3] * inverse[1])};
        stmatrix_x4((at ^ n % 8 * 16) + n / 8 * BR * PANEL_ROW, r);
    }
    fence_proxy_async();
    __syncwarp(); // RAW: the warp's rows of sQ, by the copy engine
    for (int panel = 0; panel < D / PANEL; panel++)
        tma_store(O, to + panel * BR * PANEL_ROW, t.first_row + row, panel, t.head);
}

static __global__ void __launch_bounds__(THREADS, BLOCKS)
    flash_fwd(const __grid_constant__ CUtensorMap Q, // [batch, heads, seq_q, D]
              const __grid_constant__ CUtensorMap K, // [batch, kv_heads, seq_kv, D]
              const __grid_constant__ CUtensorMap V, // [batch, kv_heads, seq_kv, D]
              const __grid_constant__ CUtensorMap O, // [batch, heads, seq_q, D]
              float *LSE,                            // [batch, heads, seq_q]
              AttentionProblem p) {
    // In panels, aligned to 1024 bytes, because the swizzle repeats after 8 rows of a panel.
    extern __shared__ __align__(1024) unsigned char shared[];
    unsigned char *sQ = shared;          // [BR, D]
    unsigned char *sK = sQ + Q_BYTES;    // [BC, D]
    unsigned char *sV = sK + TILE_BYTES; // [BC, D]
    __shared__ uint64_t full_Q;
    __shared__ uint64_t full_K, full_V;

    Tile t = tile_of(p);
    const int kv = kv_head(p, t.head);
    const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    const int warp_row = warp * 16;

    if (threadIdx.x == 0) {
        mbarrier_init(&full_Q, 1);
        mbarrier_init(&full_K, 1);
        mbarrier_init(&full_V, 1);
        fence_mbarrier_init();
        mbarrier_arrive_expect_tx(&full_Q, Q_BYTES);
        tma_load(sQ, &Q, &full_Q, t.first_row, t.head);
        load_tile(sK, &K, &full_K, TILE_BYTES, t.last, kv);
    }
    __syncthreads(); // RAW: the barriers

    // What wgmma reads.
    const uint64_t Q_at = descriptor(shared_address(sQ), BR * PANEL_ROW);
    const uint64_t K_j = descriptor(shared_address(sK), BC * PANEL_ROW);
    const uint64_t V_j = descriptor(shared_address(sV), BC * PANEL_ROW);
    const float c = p.scale * LOG2_E; // exp(scale * (s - m)) = 2^(c s - c m)

    Rows rows[M_TILES]; // rows[m]: rows m * M_STEP + warp_row .. + 15 of the block
    float O_i[M_TILES][D / 8][4] = {{{0}}};

    int parity = 0;            // of the barriers' phases: one per tile
    mbarrier_wait(&full_Q, 0); // RAW: sQ
    for (int j = t.last; j >= 0; j -= BC, parity ^= 1) {
        __syncthreads(); // WAR: sV of the tile before
        if (threadIdx.x == 64) load_tile(sV, &V, &full_V, TILE_BYTES, j, kv);
        mbarrier_wait(&full_K, parity); // RAW: sK of this tile

        // S_ij = Q_i K_j^T   [BR, BC], AT_ONCE m64 tiles under way
        float S_ij[M_TILES][BC / 8][4], P_ij[M_TILES][BC / 8][4];
        unsigned packed_P[M_TILES][BC / 16][4];
        for (int m = 0; m < AT_ONCE; m++)
            product_QK(S_ij[m], Q_at + m * M_STEP * PANEL_ROW / 16, K_j);
#pragma unroll
        for (int m = 0; m < M_TILES; m++) {
            wgmma_wait_group<AT_ONCE - 1>(S_ij[m]);
            if (m == M_TILES - 1) {
                __syncthreads(); // WAR: sK of this tile
                if (threadIdx.x == 32 && j > 0) load_tile(sK, &K, &full_K, TILE_BYTES, j - BC, kv);
            }
            const int row = t.first_row + m * M_STEP + warp_row;
            if (j + BC > visible_keys(p, row)) mask(S_ij[m], p, row, j, lane);
            if (j == t.last) update_maxima(rows[m], S_ij[m], c, 0, BC);
            float sum[2] = {0};
            exponentials(P_ij[m], sum, S_ij[m], rows[m], c, 0, BC);
            pack_P(packed_P[m], P_ij[m], 0, BC);
            if (outgrown(sum)) into_range(rows[m], O_i[m], P_ij[m], packed_P[m], sum, S_ij[m], c);
            for (int h = 0; h < 2; h++) rows[m].l_i[h] += sum[h];

            // O_i = O_i + P_ij V_j   [BR, D]
            if (m == 0) mbarrier_wait(&full_V, parity); // RAW: sV of this tile
            product_PV(O_i[m], packed_P[m], V_j);
            if (m + AT_ONCE < M_TILES)
                product_QK(S_ij[m + AT_ONCE], Q_at + (m + AT_ONCE) * M_STEP * PANEL_ROW / 16, K_j);
        }
        for (int m = 0; m < M_TILES; m++) wgmma_wait_group<0>(O_i[m]);
    }

    for (int m = 0; m < M_TILES; m++) {
        float inverse[2];
        finish_rows(inverse, rows[m], LSE, p, t, m * M_STEP + warp_row, lane);
        store_O(&O, sQ, O_i[m], inverse, t, m * M_STEP + warp_row, lane);
    }
    tma_store_wait();
}

const AttentionKernel attention_kernels[] = {
    {"flash_fwd", (const void *)flash_fwd, THREADS, SHARED_BYTES}, {NULL, NULL, 0, 0}};

const char *attention_supports(const AttentionProblem *p, int compute_capability) {
    if (compute_capability != 90) return "needs compute capability 9.0: wgmma exists nowhere else";
    if ((double)ceil_div(p->seq_q, BR) * p->heads * p->batch > INT_MAX)
        return "needs more than 2^31 - 1 blocks";
    return NULL;
}

size_t attention_workspace_bytes(const AttentionProblem *) { return 0; }

// A tensor map (CUDA driver API, cuTensorMapEncodeTiled) of M [heads, seq, D] as
// [D / PANEL][heads][seq][PANEL], of which a box is `rows` rows in `panels` panels.
static CUresult encode_map(PFN_cuTensorMapEncodeTiled_v12000 encode, CUtensorMap *map,
                           const void *M, int heads, int seq, int rows, int panels) {
    const cuuint64_t row_bytes = D * sizeof(element);
    const cuuint64_t size[] = {PANEL, (cuuint64_t)seq, (cuuint64_t)heads, D / PANEL};
    const cuuint64_t stride[] = {row_bytes, row_bytes * seq, PANEL_ROW};
    const cuuint32_t box[] = {PANEL, (cuuint32_t)rows, 1, (cuuint32_t)panels};
    const cuuint32_t step[] = {1, 1, 1, 1};
    return encode(map,
                  ELEMENT_BF16 ? CU_TENSOR_MAP_DATA_TYPE_BFLOAT16 : CU_TENSOR_MAP_DATA_TYPE_FLOAT16,
                  4, (void *)M, size, stride, box, step, CU_TENSOR_MAP_INTERLEAVE_NONE,
                  CU_TENSOR_MAP_SWIZZLE_128B, CU_TENSOR_MAP_L2_PROMOTION_L2_128B,
                  CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
}

cudaError_t attention_launch(const AttentionProblem *p, const AttentionTensors *t, void *,
                             cudaStream_t stream) {
    const unsigned blocks = ceil_div(p->seq_q, BR) * p->heads * p->batch;
    void *found = NULL;
    cudaError_t error = cudaGetDriverEntryPointByVersion("cuTensorMapEncodeTiled", &found, 12000,
                                                         cudaEnableDefault, NULL);
    if (error != cudaSuccess) return error;
    if (!found) return cudaErrorNotSupported;
    const PFN_cuTensorMapEncodeTiled_v12000 encode = (PFN_cuTensorMapEncodeTiled_v12000)found;
    CUtensorMap Q, K, V, O;
    const int kv_heads = p->batch * p->kv_heads, panels = D / PANEL;
    if (encode_map(encode, &Q, t->Q, p->batch * p->heads, p->seq_q, BR, panels) ||
        encode_map(encode, &K, t->K, kv_heads, p->seq_kv, BC, panels) ||
        encode_map(encode, &V, t->V, kv_heads, p->seq_kv, BC, panels) ||
        encode_map(encode, &O, t->O, p->batch * p->heads, p->seq_q, 16, 1))
        return cudaErrorInvalidValue;
    error =
        cudaFuncSetAttribute(flash_fwd, cudaFuncAttributeMaxDynamicSharedMemorySize, SHARED_BYTES);
    if (error != cudaSuccess) return error;
    flash_fwd<<<blocks, THREADS, SHARED_BYTES, stream>>>(Q, K, V, O, t->LSE, *p);
    return cudaGetLastError();
}
