// The roofs of a roofline plot, measured: how fast this GPU reads HBM, and how fast it computes
// where nothing but the arithmetic limits it.
//
//   peaks [GPU_INDEX]      prints one JSON object: peak_hbm in GB/s, the others in TFLOP/s
//
//   peak_hbm    reads of 16 bytes per thread over a quarter of the free memory, each byte once
//   peak_fma    fma.rn.f32, eight independent chains a thread
//   peak_mma    mma.sync.m16n8k16, fp16 with fp32 sums: operands in registers (stages 08 to 11)
//   peak_wgmma  wgmma.m64n256k16, the same types: operands in shared memory (stages 12 to 16);
//               null where there is no wgmma
//
// Each is the median of launches over about half a second, as warm as the stages are when they are
// timed. The operands of the tensor cores are random numbers: zeros draw less power, and a clock
// that power does not limit would give a roof that no attention kernel can reach.
// Exit: 0; 1 if CUDA fails; 2 without a GPU.
#include <cuda_fp16.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

constexpr int MAX_SAMPLES = 1000;
constexpr float BUDGET_MS = 500;
constexpr int THREADS = 256, BLOCKS_PER_SM = 4;
constexpr int LOADS = 4;  // in flight together, of a thread
constexpr int CHAINS = 8; // independent sums: hides the latency of one
constexpr int FMA_STEPS = 1 << 16, MMA_STEPS = 1 << 14;
constexpr int WGMMA_STEPS = 1 << 10, K_STEPS = 4; // K_STEPS of 16 columns: one 128-byte panel
constexpr int WGMMA_M = 64, WGMMA_N = 256;
constexpr int WARPGROUPS = THREADS / 128; // of a block; each has its own A, all share B

static void check(cudaError_t code, const char *expression, int line) {
    if (code == cudaSuccess) return;
    fprintf(stderr, "tools/roofline/peaks.cu:%d: %s: %s (%s)\n", line, expression,
            cudaGetErrorName(code), cudaGetErrorString(code));
    exit(1);
}
#define CHECK(call) check(call, #call, __LINE__)

// A number in (-1, 1) that depends on i alone.
static __device__ __half noise(unsigned i) {
    i = (i ^ i >> 16) * 0x7feb352du;
    i = (i ^ i >> 15) * 0x846ca68bu;
    return __float2half((int)(i ^ i >> 16) * 0x1p-31f);
}

static __device__ unsigned noise_pair(unsigned i) {
    const __half2 pair = __halves2half2(noise(2 * i), noise(2 * i + 1));
    return *(const unsigned *)&pair;
}

// What the kernels compute is of no use; a store that never happens keeps the compiler from
// finding that out.
static __device__ void keep(float value, float *out) {
    if (value == 1.5e-42f) *out = value;
}

// count: of vectors, a multiple of LOADS for every thread of the grid.
static __global__ void __launch_bounds__(THREADS)
    read_all(const float4 *data, size_t count, float *out) {
    const size_t step = (size_t)gridDim.x * THREADS;
    float sum = 0;
    for (size_t i = (size_t)blockIdx.x * THREADS + threadIdx.x; i < count; i += LOADS * step) {
        float4 v[LOADS];
        for (int k = 0; k < LOADS; k++) v[k] = data[i + k * step];
        for (int k = 0; k < LOADS; k++) sum += v[k].x + v[k].y + v[k].z + v[k].w;
    }
    keep(sum, out);
}

static __global__ void __launch_bounds__(THREADS) fma_chains(float a, float b, float *out) {
    float x[CHAINS], sum = 0;
    for (int c = 0; c < CHAINS; c++) x[c] = threadIdx.x + c;
#pragma unroll 16
    for (int step = 0; step < FMA_STEPS; step++)
        for (int c = 0; c < CHAINS; c++) x[c] = fmaf(x[c], a, b);
    for (int c = 0; c < CHAINS; c++) sum += x[c];
    keep(sum, out);
}

static __device__ void mma_m16n8k16(float (&c)[4], const unsigned (&a)[4], const unsigned (&b)[2]) {
    asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, "
                 "{%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
                 : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
                 : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
}

static __global__ void __launch_bounds__(THREADS) mma_chains(float *out) {
    unsigned a[2][4], b[CHAINS][2];
    float c[CHAINS][4] = {}, sum = 0;
    const unsigned seed = (blockIdx.x * THREADS + threadIdx.x) * 64;
    for (int i = 0; i < 8; i++) a[i / 4][i % 4] = noise_pair(seed + i);
    for (int i = 0; i < 2 * CHAINS; i++) b[i / 2][i % 2] = noise_pair(seed + 8 + i);
#pragma unroll 4
    for (int step = 0; step < MMA_STEPS; step++)
        for (int n = 0; n < CHAINS; n++) mma_m16n8k16(c[n], a[n % 2], b[n]);
    for (int n = 0; n < CHAINS; n++) sum += c[n][0] + c[n][1] + c[n][2] + c[n][3];
    keep(sum, out);
}

#define F4(c, n) "+f"((c)[n]), "+f"((c)[n + 1]), "+f"((c)[n + 2]), "+f"((c)[n + 3])
#define F16(c, n) F4(c, n), F4(c, n + 4), F4(c, n + 8), F4(c, n + 12)
#define F64(c, n) F16(c, n), F16(c, n + 16), F16(c, n + 32), F16(c, n + 48)
#define TEN(t) #t "0, %" #t "1, %" #t "2, %" #t "3, %" #t "4, %" #t "5, %" #t "6, %" #t "7, %" #t
#define R10(t) "%" TEN(t) "8, %" #t "9, "
#define R120                                                                                    \
    "%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, " R10(1) R10(2) R10(3) R10(4) R10(5) R10(6) R10(7) \
        R10(8) R10(9) R10(10) R10(11)

#if defined __CUDA_ARCH_FEAT_SM90_ALL
// The descriptor of a panel of rows of 128 bytes in the 128-byte swizzle (PTX ISA 9.7.15.5.1).
static __device__ uint64_t descriptor(const void *panel) {
    const unsigned at = (unsigned)__cvta_generic_to_shared(panel);
    return 1ull << 62 | (uint64_t)(1024 >> 4) << 32 | 1ull << 16 | (at & 0x3ffff) >> 4;
}

static __device__ void wgmma_m64n256k16(float (&c)[128], uint64_t a, uint64_t b) {
    asm volatile("wgmma.mma_async.sync.aligned.m64n256k16.f32.f16.f16 {" R120 "%120, %121, %122, "
                 "%123, %124, %125, %126, %127}, %128, %129, 1, 1, 1, 0, 0;"
                 : F64(c, 0), F64(c, 64)
                 : "l"(a), "l"(b));
}
#endif

static __global__ void __launch_bounds__(THREADS, 1) wgmma_chains(float *out) {
#if defined __CUDA_ARCH_FEAT_SM90_ALL
    constexpr int PANEL = 64; // columns: 128 bytes
    constexpr int ELEMENTS = (WARPGROUPS * WGMMA_M + WGMMA_N) * PANEL;
    __shared__ __align__(1024) __half tiles[ELEMENTS]; // A of each warpgroup, then B
    const int group = threadIdx.x / 128;
    float c[128] = {}, sum = 0;
    for (int i = threadIdx.x; i < ELEMENTS; i += THREADS)
        tiles[i] = noise(blockIdx.x * ELEMENTS + i);
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory"); // wgmma reads what was stored
    __syncthreads();
    const uint64_t a = descriptor(&tiles[group * WGMMA_M * PANEL]);
    const uint64_t b = descriptor(&tiles[WARPGROUPS * WGMMA_M * PANEL]);
    for (int step = 0; step < WGMMA_STEPS; step++) {
        asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
#pragma unroll
        for (int k = 0; k < 4 * K_STEPS; k++) // a step of k is 32 bytes further
            wgmma_m64n256k16(c, a + k % K_STEPS * (32 >> 4), b + k % K_STEPS * (32 >> 4));
        asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
        asm volatile("wgmma.wait_group.sync.aligned 0;" ::: "memory");
    }
    for (int i = 0; i < 128; i++) sum += c[i];
    keep(sum, out);
#endif
}

// Runs one of the kernels once.
typedef struct Peak {
    const char *name;
    void (*launch)(const struct Peak *peak);
    double work; // of one launch: bytes or operations
    int blocks;
    const void *data;
    float *out;
} Peak;

static void launch_read(const Peak *p) {
    const size_t vectors = (size_t)p->work / sizeof(float4);
    read_all<<<p->blocks, THREADS>>>((const float4 *)p->data, vectors, p->out);
}

static void launch_fma(const Peak *p) { fma_chains<<<p->blocks, THREADS>>>(0.999f, 1e-3f, p->out); }

static void launch_mma(const Peak *p) { mma_chains<<<p->blocks, THREADS>>>(p->out); }

static void launch_wgmma(const Peak *p) { wgmma_chains<<<p->blocks, THREADS>>>(p->out); }

static int compare_float(const void *left, const void *right) {
    const float a = *(const float *)left, b = *(const float *)right;
    return (a > b) - (a < b);
}

// Work a second: the median of launches, the first of which is not counted.
static double measure(const Peak *peak) {
    static float samples[MAX_SAMPLES];
    cudaEvent_t start, stop;
    int count = 0;
    CHECK(cudaEventCreate(&start));
    CHECK(cudaEventCreate(&stop));
    for (float total = -1; total < BUDGET_MS && count < MAX_SAMPLES;) {
        CHECK(cudaEventRecord(start));
        peak->launch(peak);
        CHECK(cudaGetLastError());
        CHECK(cudaEventRecord(stop));
        CHECK(cudaEventSynchronize(stop));
        CHECK(cudaEventElapsedTime(&samples[count], start, stop));
        if (total < 0)
            total = 0;
        else
            total += samples[count++];
    }
    CHECK(cudaEventDestroy(start));
    CHECK(cudaEventDestroy(stop));
    qsort(samples, count, sizeof *samples, compare_float);
    return peak->work / (1e-3 * samples[count / 2]);
}

int main(int count, char *arguments[]) {
    const int index = count > 1 ? atoi(arguments[1]) : 0;
    size_t free, total;
    void *data, *out;
    int devices;
    cudaDeviceProp device;
    if (cudaGetDeviceCount(&devices) != cudaSuccess || devices <= index) {
        fprintf(stderr, "peaks: there is no GPU %d\n", index);
        return 2;
    }
    CHECK(cudaSetDevice(index));
    CHECK(cudaGetDeviceProperties(&device, index));
    CHECK(cudaMemGetInfo(&free, &total));
    const int sms = device.multiProcessorCount, blocks = sms * BLOCKS_PER_SM;
    const size_t round = (size_t)blocks * THREADS * LOADS * sizeof(float4);
    const size_t bytes = free / 4 / round * round;
    CHECK(cudaMalloc(&data, bytes));
    CHECK(cudaMemset(data, 0x5a, bytes));
    CHECK(cudaMalloc(&out, sizeof(float)));

    const double lanes = (double)blocks * THREADS, warps = lanes / 32;
    const double groups = (double)sms * WARPGROUPS;
    const Peak peaks[] = {
        {"hbm", launch_read, (double)bytes, blocks, data, (float *)out},
        {"fma", launch_fma, lanes * FMA_STEPS * CHAINS * 2, blocks, NULL, (float *)out},
        {"mma", launch_mma, warps * MMA_STEPS * CHAINS * 2 * 16 * 8 * 16, blocks, NULL,
         (float *)out},
        {"wgmma", launch_wgmma, groups * WGMMA_STEPS * 4 * K_STEPS * 2 * WGMMA_M * WGMMA_N * 16,
         sms, NULL, (float *)out},
    };
    for (const Peak &peak : peaks) {
        const bool here = peak.launch != launch_wgmma || device.major == 9;
        const double unit = peak.launch == launch_read ? 1e9 : 1e12;
        printf("%s\"peak_%s\":", &peak == peaks ? "{" : ",", peak.name);
        if (here)
            printf("%.4g", measure(&peak) / unit);
        else
            printf("null");
    }
    printf("}\n");
    return 0;
}
