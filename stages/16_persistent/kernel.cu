// Stage 16: persistent
// Idea:     blocks stay. One block per SM takes query tiles until none is left. Q is loaded a tile
//           ahead, the first Q K^T of the next tile is issued with the last P V of this one, and O
//           leaves by TMA under the next tile. Which tile comes when decides how much of K and V
//           is found in L2, and how long the last SMs work alone. Heads with the same keys are one
//           head with more rows. The host plans how many rows a tile has and, where tiles are few,
//           into how many pieces its keys are cut; merge, launched early, puts them together.
// Before:   every block of stage 15 begins and ends with idle tensor cores, and the last blocks
//           leave SMs without work.
// Look for: at most one block per SM; an ATOMG; the next Q K^T and UTMASTG in the consumers' loop.
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
constexpr int MAX_WARPGROUPS = D == 128 ? 2 : 3; // consumers per block, 64 query rows each
constexpr int BC = 128;                          // keys per tile
constexpr int MAX_THREADS = (MAX_WARPGROUPS + 1) * 128, MERGE_WARPS = 16;
constexpr int READS = 4; // pieces of a row that a warp of merge reads at the same time
// Registers per thread: 65536 per SM, shared out by setmaxnreg in eights.
constexpr int PRODUCER_REGISTERS = D == 128 ? 40 : 32, CONSUMER_REGISTERS = D == 128 ? 232 : 160;
constexpr int ROW_LANES = 4; // lanes that share a row of an accumulator
constexpr int VECTOR = 8;    // elements in 128 bits
constexpr float LOG2_E = 1.4426950408889634f, LN_2 = 0.6931471805599453f;
constexpr int PANEL = 64;            // columns; a tile is [D / PANEL][rows][PANEL] elements
constexpr int PANEL_ROW = PANEL * 2; // bytes
// Whether P_ij stays in fp32 until the next Q K^T is under way: d64 lacks the registers.
constexpr bool KEEP_P = D == 128;
// The largest sum of the P_ij of a row that a thread checks at once. fp16 numbers end at 2^16.
constexpr float LIMIT = KEEP_P ? 0x1p15f : 0x1p10f;
// Beyond it P_ij is computed again: fp16 ends at twice it, or (d128) a factor may be below 2^-126.
constexpr float SCALABLE = KEEP_P ? 0x1p100f : 0x1p15f;
constexpr int UNDER_PV = D == 128 ? 48 : 16; // keys exponentiated before P V is waited for
constexpr int DEPTH = D == 128 ? 2 : 4;      // buffers of K and of V
constexpr int TILES = 4;                     // records of pieces of work, a ring
constexpr int FEW = 3;                       // key tiles, see near_end
constexpr long long L2_BYTES = 32 << 20;     // for keys and values: about half of L2
constexpr int MAX_GROUP = 32;                // heads; with more, first tiles find nothing in L2
constexpr int Q_BYTES = 64 * D * sizeof(element); // of a warpgroup
constexpr int TILE_BYTES = BC * D * sizeof(element);
constexpr int SHARED_BYTES = MAX_WARPGROUPS * 3 * Q_BYTES + 2 * DEPTH * TILE_BYTES; // Q twice, O

static __host__ __device__ int ceil_div(int a, int b) { return (a + b - 1) / b; }

// The number of keys that query `row` sees: columns 0 .. visible - 1.
static __host__ __device__ int visible_keys(const AttentionProblem &p, int row) {
    return CAUSAL ? min(max(row + 1 + p.seq_kv - p.seq_q, 0), p.seq_kv) : p.seq_kv;
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

// The work, as the host divides it. The query heads that share a KV head may be one head: row r of
// it is query r % seq_q.
typedef struct Plan {
    int rows;      // of a head
    int heads;     // of the batch
    int sharing;   // heads per KV head
    int BR;        // rows of a query tile: 64 for each warpgroup of consumers
    int row_tiles; // per head
    int group;     // heads whose tiles are taken together
    int pieces;    // per query tile: its keys are shared out where there are few tiles
    bool counted;  // pieces are taken by a counter
} Plan;

// The query of a row. % takes time, so it is left out where heads are not PACKED into one.
template <bool PACKED> static __host__ __device__ int query_of(const AttentionProblem &p, int row) {
    return PACKED ? row % p.seq_q : row;
}

// The number of key tiles that `rows` rows from `row` on see, of which some may not exist; or 1.
template <bool PACKED>
static __host__ __device__ int key_tiles_of(const AttentionProblem &p, int row, int rows) {
    return max(ceil_div(visible_keys(p, min(query_of<PACKED>(p, row) + rows, p.seq_q) - 1), BC), 1);
}

// A piece of work: keys of the tiles begin .. last for a tile of rows of a head.
typedef struct Tile {
    int head, first_row;
    int kv;          // KV head (of batch * kv_heads)
    int begin, last; // first keys of its first and last key tiles; a piece without keys has one,
                     // all masked. Negative `last`: there is no more work
    int index;
} Tile;

// Piece of work number `index` in the order in which they are taken: `group` heads, in a group from
// the last rows, which see most keys in a causal problem, to the first.
template <bool PACKED>
static __device__ Tile tile_of(const AttentionProblem &p, const Plan &plan, int index) {
    Tile t = {0, 0, 0, 0, -1, index};
    const int tile = index / plan.pieces, piece = index % plan.pieces;
    if (tile >= plan.row_tiles * plan.heads) return t;
    const int group = CAUSAL ? plan.group : 1; // ptxas knows 1, and divides less
    const int first = tile / (plan.row_tiles * group) * group;
    const int heads = CAUSAL ? min(group, plan.heads - first) : 1;
    const int rest = tile - first * plan.row_tiles;
    t.head = first + rest % heads;
    t.kv = t.head / plan.sharing;
    t.first_row = (plan.row_tiles - 1 - rest / heads) * plan.BR;
    const int key_tiles = key_tiles_of<PACKED>(p, t.first_row, plan.BR);
    t.begin = key_tiles * piece / plan.pieces * BC;
    t.last = (key_tiles * (piece + 1) / plan.pieces - 1) * BC;
    if (CAUSAL && t.last < t.begin) t.begin = t.last = p.seq_kv; // all masked
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

// Lane 0 arrives for its warp, by a predicate: a branch would add some instructions to the loop.
static __device__ void mbarrier_arrive(uint64_t *barrier, int lane) {
    asm volatile(
        "{\n.reg .pred first;\nsetp.eq.s32 first, %1, 0;\n"
        "@first mbarrier.arrive.shared::cta.b64 _, [%0];\n}" ::"r"(shared_address(barrier)),
        "r"(lane)
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

// Whether that phase has ended. A wait costs its latency; this question can be asked early.
static __device__ bool mbarrier_test(uint64_t *barrier, int parity) {
    int ended;
    asm volatile("{\n.reg .pred done;\n"
                 "mbarrier.test_wait.parity.shared::cta.b64 done, [%1], %2;\n"
                 "selp.b32 %0, 1, 0, done;\n}"
                 : "=r"(ended)
                 : "r"(shared_address(barrier)), "r"(parity)
                 : "memory");
    return ended;
}

// N buffers between the producer and the consumers. Use n is use n / N of buffer n % N.
template <int N> struct Ring {
    uint64_t full[N], empty[N]; // filled; released by all its readers, warps or threads
};

template <int N> static __device__ void ring_init(Ring<N> &ring, int readers) {
    for (int i = 0; i < N; i++) {
        mbarrier_init(&ring.full[i], 1);
        mbarrier_init(&ring.empty[i], readers);
    }
}

template <int N> static __device__ void wait_full(Ring<N> &ring, unsigned n) {
    mbarrier_wait(&ring.full[n % N], n / N % 2);
}

// Returns immediately for the first N uses: buffers start empty.
template <int N> static __device__ void wait_empty(Ring<N> &ring, unsigned n) {
    mbarrier_wait(&ring.empty[n % N], 1 - n / N % 2);
}

template <int N> static __device__ void release(Ring<N> &ring, unsigned n, int lane) {
    mbarrier_arrive(&ring.empty[n % N], lane);
}

template <int N> static __device__ bool is_full(Ring<N> &ring, unsigned n) {
    return mbarrier_test(&ring.full[n % N], n / N % 2);
}

// The turn to issue wgmma goes round the consumer warpgroups: each has a named barrier, at which it
// waits and the one before it arrives. Number 0 is __syncthreads.
static __device__ void wait_for_turn(int warpgroup) {
    asm volatile("bar.sync %0, 256;" ::"r"(1 + warpgroup) : "memory");
}

static __device__ void give_turn(int warpgroup) {
    asm volatile("bar.arrive %0, 256;" ::"r"(1 + warpgroup) : "memory");
}

// setmaxnreg (PTX ISA 9.7.19.5): registers per thread, for all warps of a warpgroup.
static __device__ void setmaxnreg_dec() {
    asm volatile("setmaxnreg.dec.sync.aligned.u32 %0;" ::"n"(PRODUCER_REGISTERS));
}

static __device__ void setmaxnreg_inc() {
    asm volatile("setmaxnreg.inc.sync.aligned.u32 %0;" ::"n"(CONSUMER_REGISTERS));
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

// Has the copy engine fill the next buffer of a ring from `row` of one head on, once it is free.
template <int N>
static __device__ void load_tile(unsigned char *buffers, const CUtensorMap *map, Ring<N> &ring,
                                 unsigned n, int bytes, int row, int head) {
    wait_empty(ring, n);
    mbarrier_arrive_expect_tx(&ring.full[n % N], bytes);
    tma_load(buffers + n % N * bytes, map, &ring.full[n % N], row, head);
}

// S_ij = Q_i K_j^T   [64, BC] per warpgroup; a step is 32 bytes to the right, or a panel
static __device__ void product_QK(float (&S_ij)[BC / 8][4], uint64_t Q_at, uint64_t K_at, int BR) {
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
typedef struct Rows {
    float cm_i[2] = {-FLT_MAX, -FLT_MAX}, l_i[2] = {0}, scale_i[2];
} Rows;

// S_ij = -inf where a row does not see the key.
// The warp's 16 rows begin at `row`, the tile's keys at j.
template <bool PACKED>
static __device__ void mask(float (&S_ij)[BC / 8][4], const AttentionProblem &p, int row, int j,
                            int lane) {
    for (int h = 0; h < 2; h++) {
        const int query = query_of<PACKED>(p, row + h * 8 + lane / ROW_LANES);
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

// O_i = scale_i * O_i, or P_ij likewise
template <int N> static __device__ void rescale(float (&O_i)[N][4], const Rows &rows) {
    for (int n = 0; n < N; n++)
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
// if that might lose some of it (SCALABLE), it is computed again.
static __device__ void into_range(Rows &rows, float (&O_i)[D / 8][4], float (&P_ij)[BC / 8][4],
                                  unsigned (&packed_P)[BC / 16][4], float (&sum)[2],
                                  const float (&S_ij)[BC / 8][4], float c) {
    if (outgrown(sum, SCALABLE)) {
        update_maxima(rows, S_ij, c, 0, BC);
        sum[0] = sum[1] = 0;
        exponentials(P_ij, sum, S_ij, rows, c, 0, BC);
        if (!KEEP_P) pack_P(packed_P, P_ij, 0, BC);
    } else if (KEEP_P) {
        update_maxima(rows, S_ij, c, 0, BC);
        rescale(P_ij, rows);
        for (int h = 0; h < 2; h++) sum[h] *= rows.scale_i[h];
    } else {
        scale_P(rows, packed_P, sum);
    }
    rescale(O_i, rows);
}

// ptxas would move the wait for P V up, because it depends on nothing that ptxas sees: at d128 3 of
// 64 MUFU.EX2 of stage 15 stay before it, with this store 30. It never happens: no sum is negative.
static __device__ void pin(const Rows &rows, const float (&sum)[2]) {
    asm volatile("{\n.reg .pred never;\nsetp.lt.f32 never, %0, 0f00000000;\n"
                 "@never st.shared.f32 [%1], %0;\n}" ::"f"(rows.l_i[0] + (sum[0] + sum[1])),
                 "r"(0)
                 : "memory");
}

// Whether no row of the warp has seen a key yet.
static __device__ bool unseen(const Rows &rows) {
    return __all_sync(0xffffffff, fmaxf(rows.cm_i[0], rows.cm_i[1]) == -FLT_MAX);
}

// A shuffle tells ptxas that all lanes have the same value.
static __device__ int same(int value) { return __shfl_sync(0xffffffff, value, 0); }

// inverse = 1 / l_i, and LSE_i = m_i + log l_i; a row without keys: 0 and -inf.
// The warp's 16 rows begin at `row` of the tile. By predicates: branches would add 18 instructions
// to the end of a tile.
static __device__ void finish_rows(float (&inverse)[2], const Rows &rows, float *LSE,
                                   const Plan &plan, const Tile &t, int row, int lane) {
    const float sum[2] = {row_sum(rows.l_i[0]), row_sum(rows.l_i[1])};
    for (int h = 0; h < 2; h++) {
        const float l = sum[h];
        const int query = t.first_row + row + h * 8 + lane / ROW_LANES;
        const float value = l == 0 ? -CUDART_INF_F : LN_2 * (rows.cm_i[h] + log2_approx(l));
        const int wanted = LSE && lane % ROW_LANES == 0 && query < plan.rows;
        inverse[h] = reciprocal_approx(l == 0 ? CUDART_INF_F : l);
        asm volatile(
            "{\n.reg .pred wanted;\nsetp.ne.b32 wanted, %2, 0;\n"
            "@wanted st.global.f32 [%0], %1;\n}" ::"l"(&LSE[(size_t)t.head * plan.rows + query]),
            "f"(value), "r"(wanted)
            : "memory");
    }
}

// O_i = inverse * O_i, to the warp's part of sO, and from there to memory by TMA
static __device__ void store_O(const CUtensorMap *O, unsigned char *sO,
                               const float (&O_i)[D / 8][4], const float (&inverse)[2],
                               const Tile &t, int row, int lane) {
    const unsigned at = shared_address(sO + tile_at(16, lane % 16, lane / 16 * VECTOR) * 2);
    tma_store_wait(); // WAR: the warp's part of sO, by the copy engine
    __syncwarp();
    for (int n = 0; n < D / 8; n += 2) {
        const unsigned r[4] = {pack(O_i[n][0] * inverse[0], O_i[n][1] * inverse[0]),
                               pack(O_i[n][2] * inverse[1], O_i[n][3] * inverse[1]),
                               pack(O_i[n + 1][0] * inverse[0], O_i[n + 1][1] * inverse[0]),
                               pack(O_i[n + 1][2] * inverse[1], O_i[n + 1][3] * inverse[1])};
        stmatrix_x4((at ^ n % 8 * 16) + n / 8 * 16 * PANEL_ROW, r);
    }
    fence_proxy_async();
    __syncwarp(); // RAW: the warp's part of sO, by the copy engine
    const int first_row = same(t.first_row), head = same(t.head);
    for (int panel = 0; panel < D / PANEL; panel++)
        tma_store(O, sO + panel * 16 * PANEL_ROW, first_row + row, panel, head);
}

// Partial results of pieces: O_i not divided by l_i, and cm_i, l_i. Number `row` is of
// [pieces of all tiles, BR].
typedef struct Parts {
    float *O;     // [rows][D]
    float2 *rows; // cm_i, l_i
} Parts;

// What finish_rows and store_O do for a piece.
static __device__ void store_part(const Parts &parts, const Rows &rows,
                                  const float (&O_i)[D / 8][4], const Plan &plan, const Tile &t,
                                  int row, int lane) {
    const float sum[2] = {row_sum(rows.l_i[0]), row_sum(rows.l_i[1])};
    for (int h = 0; h < 2; h++) {
        const int in_tile = row + h * 8 + lane / ROW_LANES;
        const size_t at = (size_t)t.index * plan.BR + in_tile;
        if (t.first_row + in_tile >= plan.rows) continue;
        if (lane % ROW_LANES == 0) parts.rows[at] = make_float2(rows.cm_i[h], sum[h]);
        for (int n = 0; n < D / 8; n++)
            *(float2 *)&parts.O[at * D + n * 8 + lane % ROW_LANES * 2] =
                make_float2(O_i[n][2 * h], O_i[n][2 * h + 1]);
    }
}

// A lane's columns of a row in merge.
typedef struct Columns {
    __align__(D / 8) float of[D / 32];
} Columns;

// Adds a part of a row, by the rule that merges key tiles; `rows` is cm_i, l_i.
static __device__ void add_part(float2 &rows, Columns &O_i, const float2 &part_rows,
                                const Columns &part_O) {
    const float cm = fmaxf(rows.x, part_rows.x);
    const float scale = exp2_approx(rows.x - cm), part_scale = exp2_approx(part_rows.x - cm);
    rows = make_float2(cm, rows.y * scale + part_rows.y * part_scale);
    for (int e = 0; e < D / 32; e++) O_i.of[e] = O_i.of[e] * scale + part_O.of[e] * part_scale;
}

// O and LSE from the pieces of each tile. A block has blockDim.z rows, whose pieces are shared out
// to blockDim.y warps each.
static __global__ void merge(element *O, float *LSE, Parts parts, Plan plan, AttentionProblem p) {
    __shared__ float2 srows[MERGE_WARPS];
    __shared__ Columns sO[MERGE_WARPS][32];
    const int lane = threadIdx.x, warp = threadIdx.z * blockDim.y + threadIdx.y;
    const int index = blockIdx.x * blockDim.z + threadIdx.z;
    const int tile = index / plan.BR, in_tile = index % plan.BR;
    const Tile t = tile_of<true>(p, plan, tile * plan.pieces);
    const bool there = t.first_row + in_tile < plan.rows;
    float2 rows = make_float2(-FLT_MAX, 0);
    Columns O_i = {{0}};
    cudaGridDependencySynchronize(); // RAW: parts
    for (int i = threadIdx.y * READS; there && i < plan.pieces; i += blockDim.y * READS) {
        float2 part_rows[READS];
        Columns part_O[READS];
        const int count = min(plan.pieces - i, READS);
        for (int n = 0; n < count; n++) {
            const size_t at = ((size_t)tile * plan.pieces + i + n) * plan.BR + in_tile;
            part_rows[n] = parts.rows[at];
            part_O[n] = ((const Columns *)&parts.O[at * D])[lane];
        }
        for (int n = 0; n < READS; n++)
            if (n < count) add_part(rows, O_i, part_rows[n], part_O[n]);
    }
    srows[warp] = rows;
    sO[warp][lane] = O_i;
    __syncthreads(); // RAW: srows, sO
    if (threadIdx.y > 0 || !there) return;
    for (int n = 1; n < blockDim.y; n++) add_part(rows, O_i, srows[warp + n], sO[warp + n][lane]);
    const float l = rows.y, inverse = l == 0 ? 0 : reciprocal_approx(l);
    const size_t query = (size_t)t.head * plan.rows + t.first_row + in_tile;
    for (int e = 0; e < D / 32; e += 2)
        *(unsigned *)&O[query * D + lane * (D / 32) + e] =
            pack(O_i.of[e] * inverse, O_i.of[e + 1] * inverse);
    if (LSE && lane == 0) LSE[query] = l == 0 ? -CUDART_INF_F : LN_2 * (rows.x + log2_approx(l));
}

// PACKED: a head may have the rows of several query heads, and a mask asks which. PIECES: a query
// tile may have several.
template <bool PACKED, bool PIECES>
static __global__ void __launch_bounds__(MAX_THREADS, 1)
    flash_fwd(const __grid_constant__ CUtensorMap Q, // [heads, rows, D] of the plan
              const __grid_constant__ CUtensorMap K, // [batch, kv_heads, seq_kv, D]
              const __grid_constant__ CUtensorMap V, // [batch, kv_heads, seq_kv, D]
              const __grid_constant__ CUtensorMap O, // [heads, rows, D]
              float *LSE,                            // [heads, rows]
              Parts parts,                           // of PIECES
              int *next, // pieces of work taken beyond the first of each block, or NULL
              Plan plan, AttentionProblem p) {
    // In panels, aligned to 1024 bytes, because the swizzle repeats after 8 rows of a panel.
    extern __shared__ __align__(1024) unsigned char shared[];
    if (!PIECES) plan.pieces = 1;                                      // ptxas need not ask
    const int WARPGROUPS = blockDim.x / 128 - 1, BR = 64 * WARPGROUPS; // of this launch
    unsigned char *sQ = shared;                            // [2 buffers, BR, D] in panels
    unsigned char *sK = sQ + 2 * MAX_WARPGROUPS * Q_BYTES; // [DEPTH, BC, D] in panels
    unsigned char *sV = sK + DEPTH * TILE_BYTES;           // [DEPTH, BC, D] in panels
    unsigned char *sO = sV + DEPTH * TILE_BYTES;           // [warps, 16, D] in panels
    __shared__ Ring<2> ring_Q;
    __shared__ Ring<DEPTH> ring_K, ring_V;
    __shared__ Ring<TILES> ring_tile;
    __shared__ Tile tiles[TILES];
    __shared__ uint64_t near_end; // of a piece: FEW key tiles, or fewer, are still to be asked for

    const int warp = same(threadIdx.x / 32), lane = threadIdx.x % 32, warpgroup = warp / 4;
    const int group_row = warpgroup * 64, warp_row = warp * 16;

    // Merge may begin: its blocks take what room there is, and wait for the end of this launch.
    if (PIECES) cudaTriggerProgrammaticLaunchCompletion();
    const bool takes_work = threadIdx.x == WARPGROUPS * 128; // a thread of the producer
    if (takes_work) { // the first Q and K at once: nothing hides the time that they take
        ring_init(ring_Q, 4 * WARPGROUPS);
        ring_init(ring_K, 4 * WARPGROUPS);
        fence_mbarrier_init();
        const Tile t = tiles[0] = tile_of<PACKED>(p, plan, blockIdx.x);
        load_tile(sQ, &Q, ring_Q, 0, WARPGROUPS * Q_BYTES, t.first_row, t.head);
        load_tile(sK, &K, ring_K, 0, TILE_BYTES, t.last, t.kv);
    }
    if (threadIdx.x == 0) {
        ring_init(ring_V, 4 * WARPGROUPS);
        ring_init(ring_tile, 128 * WARPGROUPS + 2); // every thread that reads it
        mbarrier_init(&near_end, 1);
        fence_mbarrier_init();
    }
    __syncthreads(); // RAW: the barriers, tiles[0]
    if (takes_work) mbarrier_arrive(&ring_tile.full[0], 0);

    // ---- Producer: a thread takes work and asks for Q, one asks for K and one for V: none waits
    // in line with another. By the counter the next piece is taken when few keys of this one are
    // left: taken earlier, it would be missing elsewhere. Without, the longest and the shortest.
    if (warpgroup == WARPGROUPS) {
        setmaxnreg_dec();
        if (takes_work) {
            for (unsigned n = 1; true; n++) {
                wait_empty(ring_Q, n);
                wait_empty(ring_tile, n);
                if (next) mbarrier_wait(&near_end, (n - 1) % 2);
                const int index =
                    next ? atomicAdd(next, 1) + gridDim.x : (n + 1) * gridDim.x - 1 - blockIdx.x;
                const Tile t = tiles[n % TILES] = tile_of<PACKED>(p, plan, index);
                mbarrier_arrive(&ring_tile.full[n % TILES], 0);
                if (t.last < 0) break;
                load_tile(sQ, &Q, ring_Q, n, WARPGROUPS * Q_BYTES, t.first_row, t.head);
            }
        } else if (threadIdx.x % 128 == 32 || threadIdx.x % 128 == 64) {
            const bool asks_K = threadIdx.x % 128 == 32;
            const CUtensorMap *map = asks_K ? &K : &V;
            unsigned char *buffers = asks_K ? sK : sV;
            Ring<DEPTH> &ring = asks_K ? ring_K : ring_V;
            unsigned step = 0; // uses of the ring
            for (unsigned n = 0; true; n++) {
                wait_full(ring_tile, n);
                const Tile t = tiles[n % TILES];
                release(ring_tile, n, 0); // for this thread alone
                if (t.last < 0) break;
                for (int j = t.last; j >= t.begin; j -= BC, step++) {
                    if (!asks_K || n > 0 || j < t.last) // the first K has been asked for
                        load_tile(buffers, map, ring, step, TILE_BYTES, j, t.kv);
                    if (asks_K && next && j == t.begin + min(FEW * BC, t.last - t.begin))
                        mbarrier_arrive(&near_end, 0);
                }
            }
        }
        return;
    }

    // ---- Consumers
    setmaxnreg_inc();
    // What wgmma reads.
    const uint64_t Q_at = descriptor(shared_address(sQ) + group_row * PANEL_ROW, BR * PANEL_ROW);
    const uint64_t K_at = descriptor(shared_address(sK), BC * PANEL_ROW);
    const uint64_t V_at = descriptor(shared_address(sV), BC * PANEL_ROW);
    const float c = p.scale * LOG2_E; // exp(scale * (s - m)) = 2^(c s - c m)

    Rows rows, done; // rows warp_row .. + 15 of the tile; done: of the piece before
    float S_ij[BC / 8][4], P_ij[BC / 8][4], O_i[D / 8][4] = {{0}}, sum[2] = {0}, inverse[2];
    unsigned packed_P[BC / 16][4];
    if (warpgroup == 0) give_turn(0);
    // Piece n of this block; the fewest keys that one of the warpgroup's rows of it sees.
    auto piece = [&](unsigned n) -> const Tile & { return tiles[n % TILES]; };
    auto seen_by_all = [&](unsigned n) {
        const int row = min(piece(n).first_row + group_row, plan.rows - 1);
        const int query = query_of<PACKED>(p, row), end = query + min(64, plan.rows - row);
        return same(visible_keys(p, PACKED && end > p.seq_q ? 0 : query));
    };

    // The first Q K^T, under which nothing can hide
    int seen = seen_by_all(0), last = same(piece(0).last), j = last;
    int begin = PIECES ? same(piece(0).begin) : 0;
    wait_full(ring_Q, 0); // RAW: sQ
    wait_full(ring_K, 0); // RAW: sK of the last tile
    product_QK(S_ij, Q_at, K_at, BR);
    wgmma_wait_group<0>(S_ij);
    release(ring_K, 0, lane);
    if (j == begin) release(ring_Q, 0, lane);
    if (j + BC > seen) mask<PACKED>(S_ij, p, piece(0).first_row + warp_row, j, lane);
    update_maxima(rows, S_ij, c, 0, BC);
    exponentials(P_ij, sum, S_ij, rows, c, 0, BC);
    if (!KEEP_P) pack_P(packed_P, P_ij, 0, BC);
    float limit = -1;         // LIMIT, or less than any sum if there is something rare to do
    unsigned n = 0, step = 0; // uses of the rings of tiles and Q; of K and V
    while (true) {
        const bool end = j == begin; // of the query tile: S_ij is next that of the next one
        if (__any_sync(0xffffffff, !(fmaxf(sum[0], sum[1]) <= limit))) { // one branch, for NaN too
            if (outgrown(sum)) into_range(rows, O_i, P_ij, packed_P, sum, S_ij, c);
            if (end) {
                wait_full(ring_tile, n + 1); // RAW: tiles
                last = same(piece(n + 1).last);
                if (last < 0) break;
                n++;
                seen = seen_by_all(n);
                if (PIECES) begin = same(piece(n).begin);
                wait_full(ring_Q, n); // RAW: sQ
            }
            wait_full(ring_K, step + 1); // RAW: sK of the next tile
            wait_full(ring_V, step);     // RAW: sV of this tile
        }
        for (int h = 0; h < 2; h++) rows.l_i[h] += sum[h];
        j = end ? last : j - BC;

        // S_ij = Q_i K_j^T of the next tile, O_i = O_i + P_ij V_j of this one   [64, BC], [64, D]
        wait_for_turn(warpgroup);
        product_QK(S_ij, Q_at + n % 2 * (WARPGROUPS * Q_BYTES / 16),
                   K_at + (step + 1) % DEPTH * (TILE_BYTES / 16), BR);
        if (KEEP_P) pack_P(packed_P, P_ij, 0, BC);
        product_PV(O_i, packed_P, V_at + step % DEPTH * (TILE_BYTES / 16));
        give_turn(warpgroup + 1 == WARPGROUPS ? 0 : warpgroup + 1);

        const bool crossed = j + BC > seen;
        wgmma_wait_group<1>(S_ij);
        release(ring_K, step + 1, lane);
        if (j == begin) release(ring_Q, n, lane);
        if (end || crossed) { // one branch, not two
            if (end) {
                if (PIECES)
                    done = rows;
                else
                    finish_rows(inverse, rows, LSE, plan, piece(n - 1), warp_row, lane);
                rows = Rows();
            }
            if (crossed) mask<PACKED>(S_ij, p, piece(n).first_row + warp_row, j, lane);
            if (end || unseen(rows)) update_maxima(rows, S_ij, c, 0, BC);
        }
        sum[0] = sum[1] = 0;
        exponentials(P_ij, sum, S_ij, rows, c, 0, UNDER_PV);
        pin(rows, sum);
        wgmma_wait_group<0>(O_i);
        release(ring_V, step++, lane);
        const bool ready = is_full(ring_K, step + 1) & is_full(ring_V, step);
        limit = !ready || j == begin ? -1 : LIMIT;
        if (!KEEP_P) pack_P(packed_P, P_ij, 0, UNDER_PV);
        exponentials(P_ij, sum, S_ij, rows, c, UNDER_PV, BC);
        if (!KEEP_P) pack_P(packed_P, P_ij, UNDER_PV, BC);
        if (end) {
            if (PIECES)
                store_part(parts, done, O_i, plan, piece(n - 1), warp_row, lane);
            else
                store_O(&O, sO + warp_row * D * sizeof(element), O_i, inverse, piece(n - 1),
                        warp_row, lane);
            release(ring_tile, n - 1, 0); // every thread has read it
            for (int e = 0; e < D / 2; e++) O_i[e / 4][e % 4] = 0;
        }
    }
    // The last P V
    for (int h = 0; h < 2; h++) rows.l_i[h] += sum[h];
    if (KEEP_P) pack_P(packed_P, P_ij, 0, BC);
    wait_full(ring_V, step); // RAW: sV of the first tile
    product_PV(O_i, packed_P, V_at + step % DEPTH * (TILE_BYTES / 16));
    if (!PIECES) finish_rows(inverse, rows, LSE, plan, piece(n), warp_row, lane);
    wgmma_wait_group<0>(O_i);
    if (PIECES)
        store_part(parts, rows, O_i, plan, piece(n), warp_row, lane);
    else
        store_O(&O, sO + warp_row * D * sizeof(element), O_i, inverse, piece(n), warp_row, lane);
    tma_store_wait();
}

const AttentionKernel attention_kernels[] = {
    {"flash_fwd", (const void *)flash_fwd<false, false>, MAX_THREADS, SHARED_BYTES},
    {"flash_fwd_packed", (const void *)flash_fwd<CAUSAL, false>, MAX_THREADS, SHARED_BYTES},
    {"flash_fwd_pieces", (const void *)flash_fwd<CAUSAL, true>, MAX_THREADS, SHARED_BYTES},
    {"merge", (const void *)merge, MERGE_WARPS * 32, 0},
    {NULL, NULL, 0, 0}};

// What a key tile takes in a block of so many consumer warpgroups: together they hide more.
constexpr int TIME[] = {0, 11, 15, 20};

// What a plan takes: no less than its longest piece, than as many of the shortest as a block has,
// and than an equal share of `all` key tiles; the longest come first, and the others fill the gaps.
// A piece costs two key tiles for start and end, merge one and what it reads; pieces 1/32 more.
static long long cost(const AttentionProblem *p, const Plan *plan, long long all, int blocks) {
    const int BR = plan->BR, pieces = plan->row_tiles * plan->heads * plan->pieces;
    const long long longest = ceil_div(ceil_div(p->seq_kv, BC), plan->pieces) + 2;
    const long long shortest = ceil_div(key_tiles_of<true>(*p, 0, BR), plan->pieces) + 2;
    long long time = max(longest, shortest * ceil_div(pieces, blocks));
    time = max(time, (all + 2LL * pieces) / blocks) * TIME[BR / 64];
    return plan->pieces == 1 ? time : time + time / 32 + TIME[2] + (long long)pieces * BR / 256;
}

static Plan plan_for(const AttentionProblem *p, int blocks) {
    const int key_tiles = ceil_div(p->seq_kv, BC), sharing = p->heads / p->kv_heads;
    const int most = min(key_tiles, INT_MAX / key_tiles); // pieces: tile_of multiplies them
    // Heads with the same keys are one where all queries see the same or a head is less than a
    // tile; where each sees half of them, if it saves a seventeenth: long tiles are then not first.
    const bool always = !CAUSAL || p->seq_q < 128, ever = always || p->seq_q <= p->seq_kv / 2;
    const bool shared = sharing > 1 && ever && p->seq_q <= (INT_MAX - 255) / sharing;
    Plan best = {}, plan = {};
    long long shortest = LLONG_MAX;
    for (int one = shared && always; one <= shared; one++)
        for (plan.BR = 64 * MAX_WARPGROUPS; plan.BR > 0; plan.BR -= 64) {
            plan.sharing = one ? 1 : sharing;
            plan.heads = p->batch * p->kv_heads * plan.sharing;
            plan.rows = p->seq_q * (sharing / plan.sharing);
            plan.row_tiles = ceil_div(plan.rows, plan.BR);
            const int tiles = plan.row_tiles * plan.heads, step = ceil_div(plan.row_tiles, 16);
            long long seen = 0, asked = 0; // key tiles of at most sixteen query tiles; full, of one
            for (int i = step / 2; i < plan.row_tiles; i += CAUSAL ? step : plan.row_tiles, asked++)
                seen += key_tiles_of<true>(*p, i * plan.BR, plan.BR);
            // Few tiles: one, two or three pieces for each block; or each tile in two, three or
            // four, because the last wave is shorter then. The fewest that are as short.
            for (int waves = 0; waves <= (tiles < 4 * blocks ? 3 : 0); waves++) {
                plan.pieces = min(max(waves * blocks / tiles, waves + 1), most);
                plan.pieces = ceil_div(key_tiles, ceil_div(key_tiles, plan.pieces));
                const long long time = cost(p, &plan, seen * tiles / asked, blocks) * (16 + one);
                if (time >= shortest) continue;
                shortest = time;
                best = plan;
            }
        }
    // Up to two pieces per block, full 16 or 48 key tiles: a counter costs more than it brings.
    const int uncounted = CAUSAL ? 2 : max(16, 48 / key_tiles);
    best.counted = best.row_tiles * best.heads * best.pieces > uncounted * blocks;
    // Causal: as many heads at a time as fit L2, so that no long tiles are left for the end; with a
    // counter up to MAX_GROUP. Full: one head, so that blocks read the same keys at once.
    const long long fit = L2_BYTES * best.sharing / (2ll * sizeof(element) * p->seq_kv * D);
    best.group = fit < 1 ? 1 : (int)min(fit, (long long)(best.counted ? MAX_GROUP : best.heads));
    best.group = ceil_div(best.heads, ceil_div(best.heads, best.group));
    return best;
}

static int multiprocessors() {
    int device = 0, count = 1;
    if (cudaGetDevice(&device) == cudaSuccess)
        cudaDeviceGetAttribute(&count, cudaDevAttrMultiProcessorCount, device);
    return count;
}

const char *attention_supports(const AttentionProblem *p, int compute_capability) {
    if (compute_capability != 90) return "needs compute capability 9.0: wgmma exists nowhere else";
    if ((double)ceil_div(p->seq_q, 64) * p->heads * p->batch > INT_MAX - 65536) // 1 more per block
        return "needs more than 2^31 - 1 blocks";
    return NULL;
}

// The counter of tiles, then what pieces leave: Parts.
size_t attention_workspace_bytes(const AttentionProblem *p) {
    const Plan plan = plan_for(p, multiprocessors());
    const size_t rows = (size_t)plan.row_tiles * plan.heads * plan.pieces * plan.BR;
    return 256 + (plan.pieces > 1 ? rows * (D * sizeof(float) + sizeof(float2)) : 0);
}

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

cudaError_t attention_launch(const AttentionProblem *p, const AttentionTensors *t, void *workspace,
                             cudaStream_t stream) {
    const int blocks = multiprocessors();
    const Plan plan = plan_for(p, blocks);
    const bool packed = plan.rows > p->seq_q, merged = plan.pieces > 1;
    const int BR = plan.BR, pieces = plan.row_tiles * plan.heads * plan.pieces;
    const auto kernel = merged   ? flash_fwd<CAUSAL, true>
                        : packed ? flash_fwd<CAUSAL, false>
                                 : flash_fwd<false, false>;
    void *found = NULL;
    cudaError_t error = cudaGetDriverEntryPointByVersion("cuTensorMapEncodeTiled", &found, 12000,
                                                         cudaEnableDefault, NULL);
    if (error != cudaSuccess) return error;
    if (!found) return cudaErrorNotSupported;
    const PFN_cuTensorMapEncodeTiled_v12000 encode = (PFN_cuTensorMapEncodeTiled_v12000)found;
    CUtensorMap Q, K, V, O;
    const int kv_heads = p->batch * p->kv_heads, panels = D / PANEL;
    if (encode_map(encode, &Q, t->Q, plan.heads, plan.rows, BR, panels) ||
        encode_map(encode, &K, t->K, kv_heads, p->seq_kv, BC, panels) ||
        encode_map(encode, &V, t->V, kv_heads, p->seq_kv, BC, panels) ||
        encode_map(encode, &O, t->O, plan.heads, plan.rows, 16, 1))
        return cudaErrorInvalidValue;
    error = cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, SHARED_BYTES);
    int *next = plan.counted ? (int *)workspace : NULL;
    if (error == cudaSuccess && next) error = cudaMemsetAsync(next, 0, sizeof(int), stream);
    if (error != cudaSuccess) return error;
    float *O_parts = (float *)((char *)workspace + 256);
    const Parts parts = {O_parts, (float2 *)(O_parts + (size_t)pieces * BR * D)};
    const cudaLaunchConfig_t launch = {min(pieces, blocks), 2 * BR + 128, SHARED_BYTES, stream};
    error = cudaLaunchKernelEx(&launch, kernel, Q, K, V, O, t->LSE, parts, next, plan, *p);
    if (error != cudaSuccess || !merged) return error;
    const int room = min(max(32 * blocks / (plan.heads * plan.rows), 1), MERGE_WARPS); // 32 per SM
    const int warps = min(ceil_div(plan.pieces, READS), room), rows = max(4 / warps, 1);
    cudaLaunchAttribute early = {.id = cudaLaunchAttributeProgrammaticStreamSerialization};
    early.val.programmaticStreamSerializationAllowed = 1;
    const cudaLaunchConfig_t config = {
        ceil_div(pieces / plan.pieces * BR, rows), dim3(32, warps, rows), 0, stream, &early, 1};
    return cudaLaunchKernelEx(&config, merge, (element *)t->O, t->LSE, parts, plan, *p);
}
