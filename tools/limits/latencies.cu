// What a multiprocessor makes a warp wait for, measured: the numbers of tools/limits/machines/ that
// no document has.
//
//   latencies [GPU_INDEX]      prints lines "NAME CYCLES | how"
//
// A *_latency is the time of one link of a chain in which every instruction needs the result of the
// one before. A *_cycles is the time between two instructions of one multiprocessor that do not
// need each other: by itself of one warp, with a number of so many warps together. All kernels are
// one block, so its clock (clock64) says everything; the last lines are of all multiprocessors.
// Exit: 0; 1 if CUDA fails.
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

constexpr int ROUNDS = 256, UNROLL = 16; // links of a chain are the product
constexpr int WARP = 32;
constexpr int SHARED_WORDS = 8192; // 32 KiB
constexpr int CHASE = 1 << 19;     // links of a chase through memory

static void check(cudaError_t code, const char *expression, int line) {
    if (code == cudaSuccess) return;
    fprintf(stderr, "tools/limits/latencies.cu:%d: %s: %s (%s)\n", line, expression,
            cudaGetErrorName(code), cudaGetErrorString(code));
    exit(1);
}
#define CHECK(call) check(call, #call, __LINE__)

static __device__ unsigned shared_address(const void *p) {
    return (unsigned)__cvta_generic_to_shared(p);
}

// What is passed to every kernel. `cycles` is what the first warp took, `out` is never written to.
typedef struct Probe {
    long long *cycles;
    unsigned *out;
    const unsigned *data;
    const uint64_t *ring; // addresses, each of the next one, the last of the first
    unsigned vectors;     // of 16 bytes, a power of two, that are read
} Probe;

static __device__ void finish(const Probe &p, long long start, unsigned value) {
    __syncthreads(); // the scheduler may prefer some warps
    const long long took = clock64() - start;
    if (value == 0x12345679u) *p.out = value;
    if (threadIdx.x == 0 && blockIdx.x == 0) *p.cycles = took;
}

// A kernel that repeats BODY; SETUP declares what it uses, VALUE is what must not be lost.
#define PROBE(name, setup, body, value)                                                    \
    static __global__ void name(Probe p) {                                                 \
        __shared__ __align__(128) unsigned words[SHARED_WORDS];                            \
        const unsigned lane = threadIdx.x % WARP, base = shared_address(words);            \
        for (unsigned i = threadIdx.x; i < SHARED_WORDS; i += blockDim.x) words[i] = base; \
        setup;                                                                             \
        __syncthreads();                                                                   \
        const long long start = clock64();                                                 \
        for (int round = 0; round < ROUNDS; round++) {                                     \
            _Pragma("unroll") for (int i = 0; i < UNROLL; i++) { body; }                   \
        }                                                                                  \
        finish(p, start, (value) + lane + base);                                           \
    }

// ---- Chains
PROBE(lds_32, unsigned a = base, asm volatile("ld.shared.u32 %0, [%0];" : "+r"(a)), a)
PROBE(lds_64, unsigned a = base; unsigned b,
                                 asm volatile("ld.shared.v2.u32 {%0, %1}, [%0];"
                                              : "+r"(a), "=r"(b)),
                                 a + b)
PROBE(lds_128, unsigned a = base; unsigned b; unsigned c;
      unsigned d,
      asm volatile("ld.shared.v4.u32 {%0, %1, %2, %3}, [%0];"
                   : "+r"(a), "=r"(b), "=r"(c), "=r"(d)),
      a + b + c + d)
// Row r of the matrices holds the addresses of rows 4 r to 4 r + 3: each lane gets its own again.
PROBE(ldmatrix, unsigned a = base + 16 * lane; unsigned b; unsigned c; unsigned d;
      if (threadIdx.x < 128) words[threadIdx.x] = base + 16 * (threadIdx.x % 32),
      asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%0];"
                   : "+r"(a), "=r"(b), "=r"(c), "=r"(d)),
      a + b + c + d)
PROBE(shuffle, unsigned a = lane,
      asm volatile("shfl.sync.bfly.b32 %0, %0, 1, 31, 0xffffffff;"
                   : "+r"(a)),
      a)
PROBE(exp2, float a = 1.0f * lane,
      asm volatile("ex2.approx.ftz.f32 %0, %0;"
                   : "+f"(a)),
      __float_as_uint(a))
PROBE(fma_chain, float a = 1.0f * lane,
      asm volatile("fma.rn.f32 %0, %0, %0, %0;"
                   : "+f"(a)),
      __float_as_uint(a))
PROBE(to_float, unsigned a = lane; float f,
                                   asm volatile("cvt.rn.f32.s32 %1, %0; mov.b32 %0, %1;"
                                                : "+r"(a), "=f"(f)),
                                   a + __float_as_uint(f))
// D = A B + D; `a` and `b` are 4 and 2 registers.
#define MMA(d, a, b)                                                                    \
    asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, " \
                 "{%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"                        \
                 : "+f"((d)[0]), "+f"((d)[1]), "+f"((d)[2]), "+f"((d)[3])               \
                 : "r"((a)[0]), "r"((a)[1]), "r"((a)[2]), "r"((a)[3]), "r"((b)[0]), "r"((b)[1]))
#define OPERANDS                          \
    unsigned a[2][4], b[4][2];            \
    for (int k = 0; k < 8; k++) {         \
        a[k / 4][k % 4] = k * lane;       \
        b[k / 2][k % 2] = (k + 8) * lane; \
    }
PROBE(mma_chain, OPERANDS;
      float c[4] = {}, MMA(c, a[0], b[0]), __float_as_uint(c[0] + c[1] + c[2] + c[3]))
PROBE(load_l1, const uint64_t *a = p.ring,
      asm volatile("ld.global.ca.u64 %0, [%0];"
                   : "+l"(a)::"memory"),
      (unsigned)(uint64_t)a)
PROBE(load_l2, const uint64_t *a = p.ring,
      asm volatile("ld.global.cg.u64 %0, [%0];"
                   : "+l"(a)::"memory"),
      (unsigned)(uint64_t)a)
// A copy into shared memory, and the wait for it: the number includes both instructions' issue.
PROBE(copy_l2, const unsigned *a = p.data + 4 * threadIdx.x;
      const unsigned to = base + 16 * lane,
      asm volatile("cp.async.cg.shared.global [%0], [%1], 16;\n cp.async.commit_group;\n "
                   "cp.async.wait_group 0;" ::"r"(to),
                   "l"(a)
                   : "memory"),
      to)
PROBE(barrier, , asm volatile("bar.sync 0;" ::: "memory"), 0)

// ---- Instructions that do not need each other
#define EIGHT(asm_of) \
    asm_of(0) asm_of(1) asm_of(2) asm_of(3) asm_of(4) asm_of(5) asm_of(6) asm_of(7)
#define FLOATS  \
    float x[8]; \
    for (int k = 0; k < 8; k++) x[k] = lane + k
#define FLOAT_SUM __float_as_uint(x[0] + x[1] + x[2] + x[3] + x[4] + x[5] + x[6] + x[7])
#define WORDS_Y    \
    unsigned y[8]; \
    for (int k = 0; k < 8; k++) y[k] = 3 * lane + k
#define FLOATS_Y \
    float y[8];  \
    for (int k = 0; k < 8; k++) y[k] = 3 * lane + k
#define WORDS      \
    unsigned x[8]; \
    for (int k = 0; k < 8; k++) x[k] = lane + k
#define WORD_SUM (x[0] + x[1] + x[2] + x[3] + x[4] + x[5] + x[6] + x[7])
PROBE(fma_same, FLOATS; float a = lane; float b = 2.0f * lane,
                                        asm volatile("fma.rn.f32 %0, %1, %2, %0;"
                                                     : "+f"(x[i % 8])
                                                     : "f"(a), "f"(b)),
                                        FLOAT_SUM)
PROBE(fma_three, FLOATS; float y[8]; for (int k = 0; k < 8; k++) y[k] = lane * 3 + k,
                                     asm volatile("fma.rn.f32 %0, %1, %2, %0;"
                                                  : "+f"(x[i % 8])
                                                  : "f"(y[i % 8]), "f"(y[(i + 3) % 8])),
                                     FLOAT_SUM)
PROBE(logic, WORDS,
      asm volatile("lop3.b32 %0, %0, %1, %2, 0x6a;"
                   : "+r"(x[i % 8])
                   : "r"(lane), "r"(base)),
      WORD_SUM)
PROBE(multiply, WORDS,
      asm volatile("mad.lo.s32 %0, %0, %1, %1;"
                   : "+r"(x[i % 8])
                   : "r"(lane)),
      WORD_SUM)
#define WIDEN "{ .reg .b16 low, high; mov.b32 {low, high}, %0; cvt.f32.f16 %0, low; }"
PROBE(widen, FLOATS, asm volatile(WIDEN : "+f"(x[i % 8])), FLOAT_SUM)
PROBE(widen_fma, FLOATS;
      FLOATS_Y,
      asm volatile(WIDEN "fma.rn.f32 %1, %1, %1, %1;"
                   : "+f"(x[i % 8]), "+f"(y[i % 8])),
      FLOAT_SUM + __float_as_uint(y[0] + y[1] + y[2] + y[3] + y[4] + y[5] + y[6] + y[7]))
PROBE(fma_logic, FLOATS; WORDS_Y,
                         asm volatile("lop3.b32 %0, %0, %2, %3, 0x6a;\n fma.rn.f32 %1, %1, %1, %1;"
                                      : "+r"(y[i % 8]), "+f"(x[i % 8])
                                      : "r"(lane), "r"(base)),
                         FLOAT_SUM + y[0] + y[1] + y[2] + y[3] + y[4] + y[5] + y[6] + y[7])
PROBE(fma_multiply, FLOATS; WORDS_Y,
                            asm volatile("mad.lo.s32 %0, %0, %2, %2;\n fma.rn.f32 %1, %1, %1, %1;"
                                         : "+r"(y[i % 8]), "+f"(x[i % 8])
                                         : "r"(lane)),
                            FLOAT_SUM + y[0] + y[1] + y[2] + y[3] + y[4] + y[5] + y[6] + y[7])
PROBE(half_add, WORDS,
      asm volatile("add.rn.f16x2 %0, %0, %1;"
                   : "+r"(x[i % 8])
                   : "r"(lane)),
      WORD_SUM)
PROBE(maximum, FLOATS; float a = 5.0f * lane,
                       asm volatile("max.f32 %0, %0, %1;"
                                    : "+f"(x[i % 8])
                                    : "f"(a)),
                       FLOAT_SUM)
PROBE(half_fma, WORDS,
      asm volatile("fma.rn.f16x2 %0, %0, %1, %1;"
                   : "+r"(x[i % 8])
                   : "r"(lane)),
      WORD_SUM)
PROBE(narrow, WORDS,
      asm volatile("{ .reg .f32 f; mov.b32 f, %0; cvt.rn.f16x2.f32 %0, f, f; }"
                   : "+r"(x[i % 8])),
      WORD_SUM)
PROBE(exp2_wide, FLOATS, asm volatile("ex2.approx.ftz.f32 %0, %0;" : "+f"(x[i % 8])), FLOAT_SUM)
PROBE(shuffle_wide, WORDS,
      asm volatile("shfl.sync.bfly.b32 %0, %0, 1, 31, 0xffffffff;"
                   : "+r"(x[i % 8])),
      WORD_SUM)
PROBE(lds_wide, WORDS,
      asm volatile("ld.volatile.shared.u32 %0, [%1];"
                   : "=r"(x[i % 8])
                   : "r"(base + 4 * lane + 128 * i)),
      WORD_SUM)
PROBE(lds_128_wide, WORDS; unsigned b; unsigned c;
      unsigned d,
      asm volatile("ld.volatile.shared.v4.u32 {%0, %1, %2, %3}, [%4];"
                   : "=r"(x[i % 8]), "=r"(b), "=r"(c), "=r"(d)
                   : "r"(base + 16 * lane + 512 * i)),
      WORD_SUM + b + c + d)
PROBE(lds_128_same, WORDS; unsigned b; unsigned c;
      unsigned d,
      asm volatile("ld.volatile.shared.v4.u32 {%0, %1, %2, %3}, [%4];"
                   : "=r"(x[i % 8]), "=r"(b), "=r"(c), "=r"(d)
                   : "r"(base + 512 * i)),
      WORD_SUM + b + c + d)
PROBE(ldmatrix_wide, WORDS; unsigned a; unsigned b; unsigned c;
      unsigned d, asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
                               : "=r"(a), "=r"(b), "=r"(c), "=r"(d)
                               : "r"(base + 16 * lane + 512 * i));
      x[i % 8] ^= a ^ b; x[i % 8] ^= c ^ d, WORD_SUM)
PROBE(sts_wide, ,
      asm volatile("st.shared.u32 [%0], %1;" ::"r"(base + 4 * lane + 128 * i), "r"(lane)
                   : "memory"),
      0)
PROBE(ldg_wide, WORDS; const unsigned *a = p.data + lane,
                       asm volatile("ld.volatile.global.u32 %0, [%1];"
                                    : "=r"(x[i % 8])
                                    : "l"(a + 32 * i)
                                    : "memory"),
                       WORD_SUM)
PROBE(mma_wide, OPERANDS; float c[8][4] = {}, MMA(c[i % 8], a[i / 8 % 2], b[i % 4]),
                          __float_as_uint(c[0][0] + c[1][0] + c[2][0] + c[3][0] + c[4][1] +
                                          c[5][2] + c[6][3] + c[7][0]))

// Outer products of two register vectors, the inner loop of stages 05 to 07 without its loads: what
// the register file lets the FMA pipe do. Unrolled twice, UNROLL * 32 FFMA a round.
static __global__ void fma_tile(Probe p) {
    float s[8][4], q[2][8], k[2][4];
    const unsigned lane = threadIdx.x % WARP;
    for (int i = 0; i < 8; i++)
        for (int j = 0; j < 4; j++) s[i][j] = lane + i + j;
    for (int i = 0; i < 16; i++) q[i / 8][i % 8] = (float)p.vectors + i * lane;
    for (int j = 0; j < 8; j++) k[j / 4][j % 4] = (float)p.vectors * 3 + j * lane;
    __syncthreads();
    const long long start = clock64();
    for (int round = 0; round < ROUNDS; round++) {
#pragma unroll
        for (int c = 0; c < UNROLL; c++)
#pragma unroll
            for (int i = 0; i < 8; i++)
#pragma unroll
                for (int j = 0; j < 4; j++) s[i][j] = fmaf(q[c % 2][i], k[c % 2][j], s[i][j]);
    }
    float sum = 0;
    for (int i = 0; i < 8; i++)
        for (int j = 0; j < 4; j++) sum += s[i][j];
    finish(p, start, __float_as_uint(sum));
}

// How long it takes to issue `loads` loads of 8 wavefronts in a row: it steps once the queue in
// front of shared memory is full.
#define QUEUE(loads)                                                                             \
    static __global__ void queue_##loads(Probe p) {                                              \
        __shared__ __align__(128) unsigned words[SHARED_WORDS];                                  \
        const unsigned at = shared_address(words) + 32 * (threadIdx.x % WARP);                   \
        unsigned value[loads], sum = 0;                                                          \
        for (unsigned i = threadIdx.x; i < SHARED_WORDS; i += blockDim.x) words[i] = i;          \
        __syncthreads();                                                                         \
        const long long start = clock64();                                                       \
        _Pragma("unroll") for (int i = 0; i < loads; i++) asm volatile(                          \
            "ld.volatile.shared.u32 %0, [%1];" : "=r"(value[i]) : "r"(at + 128 * i) : "memory"); \
        const long long took = clock64() - start;                                                \
        _Pragma("unroll") for (int i = 0; i < loads; i++) sum += value[i];                       \
        if (sum == 0x12345679u) *p.out = sum;                                                    \
        if (threadIdx.x == 0) *p.cycles = took;                                                  \
    }
// clang-format off
QUEUE(1) QUEUE(2) QUEUE(3) QUEUE(4) QUEUE(5) QUEUE(6) QUEUE(7)
QUEUE(8) QUEUE(10) QUEUE(12)
QUEUE(16)
typedef void (*Kernel)(Probe);
static const Kernel queues[] = {queue_1, queue_2, queue_3,  queue_4,  queue_5, queue_6,
                                queue_7, queue_8, queue_10, queue_12, queue_16};
// clang-format on

// A loop of so many KiB of machine code: 64 FFMA a KiB, eight chains, so that nothing but the fetch
// of instructions makes a warp wait.
#define CODE(kib)                                                                                 \
    static __global__ void code_##kib(Probe p) {                                                  \
        float x[8];                                                                               \
        for (int k = 0; k < 8; k++) x[k] = (float)(threadIdx.x + k);                              \
        __syncthreads();                                                                          \
        const long long start = clock64();                                                        \
        for (int round = 0; round < ROUNDS; round++) {                                            \
            _Pragma("unroll") for (int i = 0; i < 64 * kib; i++) asm volatile(                    \
                "fma.rn.f32 %0, %0, %0, %0;" : "+f"(x[i % 8]));                                   \
        }                                                                                         \
        finish(p, start, __float_as_uint(x[0] + x[1] + x[2] + x[3] + x[4] + x[5] + x[6] + x[7])); \
    }
// clang-format off
CODE(1) CODE(2) CODE(4) CODE(8) CODE(16) CODE(24) CODE(32)
CODE(40) CODE(48) CODE(64) CODE(96) CODE(128)
CODE(192)
static const struct {
    int kib;
    Kernel kernel;
} codes[] = {{1, code_1},   {2, code_2},     {4, code_4},    {8, code_8},   {16, code_16},
             {24, code_24}, {32, code_32},   {40, code_40},  {48, code_48}, {64, code_64},
             {96, code_96}, {128, code_128}, {192, code_192}};
// clang-format on

// Two warps of each partition multiply matrices, two others execute one of BODY for every `each` of
// these: what the tensor cores lose to it.
#define BESIDE_MMA(name, each, setup, body, value)                                         \
    static __global__ void mma_and_##name(Probe p) {                                       \
        __shared__ __align__(128) unsigned words[SHARED_WORDS];                            \
        const unsigned lane = threadIdx.x % WARP, base = shared_address(words);            \
        for (unsigned i = threadIdx.x; i < SHARED_WORDS; i += blockDim.x) words[i] = base; \
        __syncthreads();                                                                   \
        const long long start = clock64();                                                 \
        if (threadIdx.x / WARP / 4 % 2 == 0) {                                             \
            OPERANDS                                                                       \
            float c[8][4] = {};                                                            \
            for (int round = 0; round < ROUNDS; round++) {                                 \
                _Pragma("unroll") for (int i = 0; i < UNROLL; i++) {                       \
                    MMA(c[i % 8], a[i / 8 % 2], b[i % 4]);                                 \
                }                                                                          \
            }                                                                              \
            asm volatile("bar.sync 1, %0;" ::"r"(blockDim.x / 2) : "memory");              \
            if (threadIdx.x == 0) *p.cycles = clock64() - start;                           \
            float sum = 0;                                                                 \
            for (int i = 0; i < 8; i++) sum += c[i][0] + c[i][1] + c[i][2] + c[i][3];      \
            if (sum == 12345.5f) *p.out = 1;                                               \
        } else {                                                                           \
            setup;                                                                         \
            for (int round = 0; round < ROUNDS / each; round++) {                          \
                _Pragma("unroll") for (int i = 0; i < UNROLL; i++) { body; }               \
            }                                                                              \
            if ((value) + lane + base == 0x12345679u) *p.out = 1;                          \
        }                                                                                  \
    }
BESIDE_MMA(nothing, 1, , , 0)
BESIDE_MMA(add, 1, FLOATS, asm volatile("add.f32 %0, %0, 0f3F800001;" : "+f"(x[i % 8])), FLOAT_SUM)
BESIDE_MMA(multiply_float, 1, FLOATS; FLOATS_Y,
                                      asm volatile("mul.f32 %0, %0, %1;"
                                                   : "+f"(x[i % 8])
                                                   : "f"(y[i % 4])),
                                      FLOAT_SUM)
BESIDE_MMA(fma, 1, FLOATS; FLOATS_Y,
                           asm volatile("fma.rn.f32 %0, %0, %1, %2;"
                                        : "+f"(x[i % 8])
                                        : "f"(y[i % 4]), "f"(y[4 + i % 4])),
                           FLOAT_SUM)
BESIDE_MMA(multiply, 1, WORDS; WORDS_Y,
                               asm volatile("mad.lo.u32 %0, %0, %1, %2;"
                                            : "+r"(x[i % 8])
                                            : "r"(y[i % 4]), "r"(y[4 + i % 4])),
                               WORD_SUM)
BESIDE_MMA(logic, 1, WORDS; WORDS_Y,
                            asm volatile("lop3.b32 %0, %0, %1, %2, 0x1e;"
                                         : "+r"(x[i % 8])
                                         : "r"(y[i % 4]), "r"(y[4 + i % 4])),
                            WORD_SUM)
BESIDE_MMA(maximum, 1, FLOATS; FLOATS_Y,
                               asm volatile("max.f32 %0, %0, %1;"
                                            : "+f"(x[i % 8])
                                            : "f"(y[i % 4])),
                               FLOAT_SUM)
BESIDE_MMA(
    narrow, 1, WORDS;
    WORDS_Y,
    asm volatile("{ .reg .f32 f, g; mov.b32 f, %0; mov.b32 g, %1; cvt.rn.f16x2.f32 %0, f, g; }"
                 : "+r"(x[i % 8])
                 : "r"(y[i % 4])),
    WORD_SUM)
BESIDE_MMA(exp2, 2, FLOATS, asm volatile("ex2.approx.ftz.f32 %0, %0;" : "+f"(x[i % 8])), FLOAT_SUM)
BESIDE_MMA(lds, 2, WORDS,
           asm volatile("ld.volatile.shared.u32 %0, [%1];"
                        : "=r"(x[i % 8])
                        : "r"(base + 4 * lane + 128 * i)),
           WORD_SUM)
BESIDE_MMA(sts, 2, ,
           asm volatile("st.shared.u32 [%0], %1;" ::"r"(base + 4 * lane + 128 * i), "r"(lane)
                        : "memory"),
           0)
BESIDE_MMA(ldmatrix, 2, WORDS; unsigned a; unsigned b; unsigned d;
           unsigned e,
           asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
                        : "=r"(a), "=r"(b), "=r"(d), "=r"(e)
                        : "r"(base + 16 * lane + 512 * i));
           x[i % 8] ^= a ^ b; x[i % 8] ^= d ^ e, WORD_SUM)

// From the end of a block to the first instruction of the one that follows in its place: each has
// the shared memory of a multiprocessor to itself, and notes its clock at both ends.
static __global__ void follow(long long (*clocks)[2], unsigned *place) {
    const long long start = clock64();
    while (clock64() - start < 3000) continue;
    __syncthreads();
    if (threadIdx.x > 0) return;
    asm volatile("mov.u32 %0, %%smid;" : "=r"(place[blockIdx.x]));
    clocks[blockIdx.x][0] = start;
    clocks[blockIdx.x][1] = clock64();
}

static __global__ void empty() {}

// The clock against the global timer, on all multiprocessors for some milliseconds: FFMA, and with
// TENSOR a product of matrices for 32 of them, which keeps the tensor cores busy a sixth of the
// time.
template <bool TENSOR> static __global__ void busy(Probe p, long long (*times)[2]) {
    const unsigned lane = threadIdx.x % WARP;
    OPERANDS
    FLOATS;
    float c[4] = {};
    unsigned long long began, ended;
    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(began));
    const long long start = clock64();
    for (int round = 0; round < 256 * ROUNDS; round++) {
#pragma unroll
        for (int i = 0; i < 32; i++) asm volatile("fma.rn.f32 %0, %0, %0, %0;" : "+f"(x[i % 8]));
        if (TENSOR) MMA(c, a[0], b[0]);
    }
    const long long took = clock64() - start;
    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(ended));
    if (FLOAT_SUM + __float_as_uint(c[0] + c[1] + c[2] + c[3]) == 0x12345679u) *p.out = 1;
    if (threadIdx.x > 0) return;
    times[blockIdx.x][0] = took;
    times[blockIdx.x][1] = (long long)(ended - began);
}

// A chase through a ring.
static __global__ void chase(Probe p) {
    const uint64_t *at = p.ring;
    const long long start = clock64();
    for (int i = 0; i < CHASE; i++) asm volatile("ld.global.cg.u64 %0, [%0];" : "+l"(at)::"memory");
    finish(p, start, (unsigned)(uint64_t)at);
}

static __global__ void read_l2(Probe p) {
    unsigned sum = 0;
    const uint4 *data = (const uint4 *)p.data;
    const long long start = clock64();
    for (int round = 0; round < ROUNDS; round++)
#pragma unroll
        for (int i = 0; i < 4; i++) {
            uint4 v;
            const unsigned at = ((round * 4 + i) * blockDim.x + threadIdx.x) & (p.vectors - 1);
            asm volatile("ld.global.cg.v4.u32 {%0, %1, %2, %3}, [%4];"
                         : "=r"(v.x), "=r"(v.y), "=r"(v.z), "=r"(v.w)
                         : "l"(data + at));
            sum += v.x + v.y + v.z + v.w;
        }
    finish(p, start, sum);
}

// ---- The host
static Probe probe;
static unsigned *data;
constexpr size_t DATA_WORDS = (size_t)256 << 20; // 1 GiB

// 0 if so many threads have too few registers.
static long long run(void (*kernel)(Probe), int blocks, int threads) {
    long long least = 0;
    for (int times = 0; times < 5; times++) { // the first is cold
        kernel<<<blocks, threads>>>(probe);
        const cudaError_t code = cudaGetLastError();
        if (code == cudaErrorLaunchOutOfResources) return 0;
        CHECK(code);
        CHECK(cudaDeviceSynchronize());
        const long long cycles = *(volatile long long *)probe.cycles;
        if (times && (!least || cycles < least)) least = cycles;
    }
    return least;
}

static void chain(const char *name, void (*kernel)(Probe), int warps, const char *how) {
    printf("%s %.2f | %s, %d warp%s\n", name,
           (double)run(kernel, 1, WARP * warps) / (ROUNDS * UNROLL), how, warps,
           warps > 1 ? "s" : "");
}

// Of one warp, of one in each partition, of 8 and 16 of a multiprocessor.
static void rate(const char *name, void (*kernel)(Probe), int per_step) {
    static const int warps[] = {1, 4, 8, 16, 32};
    printf("%s", name);
    for (int i = 0; i < 5; i++)
        printf(" %.3f", (double)run(kernel, 1, WARP * warps[i]) /
                            ((double)ROUNDS * UNROLL * per_step * warps[i]));
    printf(" | cycles of the multiprocessor per instruction, 1 4 8 16 32 warps\n");
}

// What the tensor cores of a partition lose to an instruction of other warps; without it, what an
// mma takes.
static double beside_mma(void (*kernel)(Probe)) {
    return (double)run(kernel, 1, WARP * 16) / (2.0 * ROUNDS * UNROLL);
}

static void loses(const char *name, void (*kernel)(Probe), int each, const char *how) {
    printf("mma_loses_%s %.2f | cycles to each %s of other warps\n", name,
           each * (beside_mma(kernel) - beside_mma(mma_and_nothing)), how);
}

static int compare_cycles(const void *a, const void *b) {
    const long long x = *(const long long *)a, y = *(const long long *)b;
    return (x > y) - (x < y);
}

// The median time between blocks of each multiprocessor.
static void block_start(int sms, int shared_bytes) {
    constexpr int BLOCKS = 64; // on each
    long long(*clocks)[2], *gap = (long long *)malloc((size_t)sms * BLOCKS * sizeof *gap);
    unsigned *place;
    int gaps = 0;
    CHECK(cudaMallocManaged(&clocks, (size_t)sms * BLOCKS * sizeof *clocks));
    CHECK(cudaMallocManaged(&place, (size_t)sms * BLOCKS * sizeof *place));
    CHECK(cudaFuncSetAttribute(follow, cudaFuncAttributeMaxDynamicSharedMemorySize, shared_bytes));
    follow<<<sms * BLOCKS, 128, shared_bytes>>>(clocks, place);
    CHECK(cudaGetLastError());
    CHECK(cudaDeviceSynchronize());
    for (int b = 0; b < sms * BLOCKS; b++) { // the block that ended last before b began
        long long before = 0;
        for (int other = 0; other < sms * BLOCKS; other++)
            if (place[other] == place[b] && clocks[other][1] < clocks[b][0] &&
                clocks[other][1] > before)
                before = clocks[other][1];
        if (before) gap[gaps++] = clocks[b][0] - before;
    }
    qsort(gap, gaps, sizeof *gap, compare_cycles);
    printf("block_start %lld | cycles from the end of a block to the start of the next\n",
           gap[gaps / 2]);
    free(gap);
    CHECK(cudaFree(clocks));
    CHECK(cudaFree(place));
}

static void clock_rate(const char *name, void (*kernel)(Probe, long long (*)[2]), int sms,
                       const char *how) {
    long long(*times)[2];
    double sum = 0;
    CHECK(cudaMallocManaged(&times, (size_t)sms * sizeof *times));
    for (int run = 0; run < 8; run++) {
        kernel<<<sms, 8 * WARP>>>(probe, times);
        CHECK(cudaGetLastError());
        CHECK(cudaDeviceSynchronize());
    }
    for (int i = 0; i < sms; i++) sum += 1e3 * (double)times[i][0] / (double)times[i][1];
    printf("%s %.0f | clock64 over globaltimer, all multiprocessors, %s\n", name, sum / sms, how);
    CHECK(cudaFree(times));
}

// What the events around a launch show of a kernel that does nothing, behind a memset.
static void launch_time() {
    cudaEvent_t start, stop;
    float least = 0;
    CHECK(cudaEventCreate(&start));
    CHECK(cudaEventCreate(&stop));
    for (int times = 0; times < 20; times++) {
        float ms;
        CHECK(cudaMemsetAsync(data + (DATA_WORDS / 2), 0, 64 << 20));
        CHECK(cudaEventRecord(start));
        empty<<<1, WARP>>>();
        CHECK(cudaGetLastError());
        CHECK(cudaEventRecord(stop));
        CHECK(cudaEventSynchronize(stop));
        CHECK(cudaEventElapsedTime(&ms, start, stop));
        if (!times || ms < least) least = ms;
    }
    printf("launch_us %.2f | between events, of an empty kernel\n", 1e3 * least);
}

// A ring of addresses, 128 bytes apart, over `bytes`. Every run follows the same CHASE links of
// it, 64 MiB if there are as many: more than L2 keeps.
static void fill_ring(size_t bytes) {
    const size_t words = bytes / 8, links = bytes / 128;
    uint64_t *ring = (uint64_t *)calloc(words, 8);
    for (size_t i = 0; i < links; i++) // 1021 is a prime: all links are met
        ring[i * 16] = (uint64_t)data + (i + 1021) % links * 128;
    CHECK(cudaMemcpy(data, ring, bytes, cudaMemcpyHostToDevice));
    free(ring);
}

int main(int argc, char **argv) {
    cudaDeviceProp device;
    const int index = argc > 1 ? atoi(argv[1]) : 0;
    CHECK(cudaSetDevice(index));
    CHECK(cudaGetDeviceProperties(&device, index));
    CHECK(cudaMalloc(&data, DATA_WORDS * 4));
    CHECK(cudaMemset(data, 0, DATA_WORDS * 4));
    CHECK(cudaMallocHost(&probe.cycles, 64 * sizeof *probe.cycles));
    CHECK(cudaMalloc(&probe.out, 4));
    probe.data = data + 1024;
    probe.ring = (const uint64_t *)data;
    probe.vectors = (4 << 20) / 16;
    fill_ring(128);
    printf("# %s, %d SMs\n", device.name, device.multiProcessorCount);
    chain("lds_latency", lds_32, 1, "ld.shared.u32");
    chain("lds_64_latency", lds_64, 1, "ld.shared.v2");
    chain("lds_128_latency", lds_128, 1, "ld.shared.v4, all lanes the same address");
    chain("ldmatrix_latency", ldmatrix, 1, "ldmatrix.x4");
    chain("shuffle_latency", shuffle, 1, "shfl.bfly");
    chain("mufu_latency", exp2, 1, "ex2.approx.ftz");
    chain("fma_latency", fma_chain, 1, "fma.rn.f32");
    chain("convert_latency", to_float, 1, "cvt.rn.f32.s32");
    chain("mma_latency", mma_chain, 1, "mma.m16n8k16, through the sums");
    chain("l1_latency", load_l1, 1, "ld.global.ca, hits");
    chain("l2_latency", load_l2, 1, "ld.global.cg, one address");
    chain("copy_latency", copy_l2, 1, "cp.async 16 bytes, commit, wait");
    for (int warps = 1; warps <= 32; warps *= 2)
        chain("barrier_latency", barrier, warps, "bar.sync");
    rate("fma_cycles", fma_same, 1);
    rate("fma_three_cycles", fma_three, 1);
    rate("fma_tile_cycles", fma_tile, 32);
    rate("logic_cycles", logic, 1);
    rate("multiply_cycles", multiply, 1);
    rate("widen_cycles", widen, 1);
    rate("widen_fma_cycles", widen_fma, 2);
    rate("fma_logic_cycles", fma_logic, 2);
    rate("fma_multiply_cycles", fma_multiply, 2);
    rate("half_add_cycles", half_add, 1);
    rate("maximum_cycles", maximum, 1);
    rate("half_fma_cycles", half_fma, 1);
    rate("narrow_cycles", narrow, 1);
    rate("exp2_cycles", exp2_wide, 1);
    rate("shuffle_cycles", shuffle_wide, 1);
    rate("lds_cycles", lds_wide, 1);
    rate("lds_128_cycles", lds_128_wide, 1);
    rate("lds_128_same_cycles", lds_128_same, 1);
    rate("ldmatrix_cycles", ldmatrix_wide, 1);
    rate("sts_cycles", sts_wide, 1);
    rate("ldg_cycles", ldg_wide, 1);
    rate("mma_cycles", mma_wide, 1);
    printf("mma_alone %.2f | cycles per mma.m16n8k16 of a partition\n",
           beside_mma(mma_and_nothing));
    loses("add", mma_and_add, 1, "add.f32 of a register");
    loses("multiply_float", mma_and_multiply_float, 1, "mul.f32 of two");
    loses("fma", mma_and_fma, 1, "fma.f32 of three");
    loses("multiply", mma_and_multiply, 1, "mad.u32 of three");
    loses("logic", mma_and_logic, 1, "lop3 of three");
    loses("maximum", mma_and_maximum, 1, "max.f32 of two");
    loses("narrow", mma_and_narrow, 1, "cvt.f16x2 of two");
    loses("exp2", mma_and_exp2, 2, "ex2 of one");
    loses("lds", mma_and_lds, 2, "ld.shared of one register");
    loses("sts", mma_and_sts, 2, "st.shared");
    loses("ldmatrix", mma_and_ldmatrix, 2, "ldmatrix.x4");
    block_start(device.multiProcessorCount, (int)device.sharedMemPerBlockOptin);
    launch_time();
    clock_rate("plain_mhz", busy<false>, device.multiProcessorCount, "FFMA alone");
    clock_rate("tensor_mhz", busy<true>, device.multiProcessorCount, "an mma for 32 FFMA");
    for (int warps = 1; warps <= 8; warps *= 2) {
        printf("queue_%d", warps);
        for (size_t i = 0; i < sizeof queues / sizeof *queues; i++)
            printf(" %lld", run(queues[i], 1, WARP * warps));
        printf(" | cycles to issue 1 to 8, 10, 12, 16 loads of 8 wavefronts in a row, %d warps\n",
               warps);
    }
    for (size_t i = 0; i < sizeof codes / sizeof *codes; i++) {
        printf("code_%d_kib", codes[i].kib);
        for (int warps = 1; warps <= 8; warps *= 2)
            printf(" %.3f", (double)run(codes[i].kernel, 1, WARP * warps) /
                                ((double)ROUNDS * 64 * codes[i].kib));
        printf(" | cycles per round of a loop of as many KiB and per instruction, 1 2 4 8 warps\n");
    }
    for (size_t mib = 1; mib <= 1024; mib *= 4) {
        fill_ring(mib << 20);
        printf("chase_%zu_mib %.1f | ld.global.cg, steps of 1021 times 128 bytes\n", mib,
               (double)run(chase, 1, 1) / CHASE);
    }
    for (int blocks = 1; blocks <= device.multiProcessorCount; blocks *= device.multiProcessorCount)
        for (int warps = 8; warps <= 32; warps *= 2)
            printf("l2_bytes_%d_blocks_%d_warps %.1f | bytes a cycle and multiprocessor, 4 MiB\n",
                   blocks, warps,
                   16.0 * 4 * ROUNDS * WARP * warps / (double)run(read_l2, blocks, WARP * warps));
    return 0;
}
