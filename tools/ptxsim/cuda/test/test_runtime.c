/* The CUDA runtime of the simulator: errors, the device, memory, streams, functions, launches, and
 * what nvcc's stubs call. Catches: an error under another name, one that is forgotten or stays, a
 * copy from where nothing is, a limit that is off by one. */
#include "device/simulator.h"
#include "test/stub.h"

char __cudaInitModule(void **handle);
unsigned __cudaPushCallConfiguration(dim3 grid, dim3 block, size_t shared,
                                     struct CUstream_st *stream);
cudaError_t __cudaPopCallConfiguration(dim3 *grid, dim3 *block, size_t *shared, void *stream);
cudaError_t __cudaGetKernel(cudaKernel_t *kernel, const void *host);
cudaError_t __cudaLaunchKernel(cudaKernel_t kernel, dim3 grid, dim3 block, void **arguments,
                               size_t shared, cudaStream_t stream);

/* `write` puts the sizes of its launch into out[0..7]; `bad` does what it must not; `most` has a
 * limit of threads, static and local memory; `vague` is no kernel that is known. */
static const char ptx[] =
    ".version 9.0\n.target sm_90a\n.address_size 64\n"
    ".visible .global .align 4 .b8 table[8] = {1, 2, 3, 4, 5, 6, 7, 8};\n"
    ".visible .entry write(.param .u64 out)\n{\n.reg .b64 p; .reg .b32 v;\n"
    "ld.param.u64 p, [out];\n"
    "mov.u32 v, %nctaid.x; st.global.u32 [p], v; mov.u32 v, %nctaid.y; st.global.u32 [p+4], v;\n"
    "mov.u32 v, %nctaid.z; st.global.u32 [p+8], v; mov.u32 v, %ntid.x; st.global.u32 [p+12], v;\n"
    "mov.u32 v, %ntid.y; st.global.u32 [p+16], v; mov.u32 v, %ntid.z; st.global.u32 [p+20], v;\n"
    "mov.u32 v, %dynamic_smem_size; st.global.u32 [p+24], v; ret;\n}\n"
    ".visible .entry bad(.param .u64 out)\n{\n.reg .b64 p; .reg .b32 v;\n"
    "mov.b64 p, 0; ld.global.u32 v, [p]; ret;\n}\n"
    ".extern .shared .align 16 .b8 room[];\n"
    ".visible .entry most(.param .u64 out)\n.maxntid 96, 1, 1\n{\n"
    ".local .align 8 .b8 own[40]; .shared .align 4 .b8 fixed[1000]; .reg .b32 v; .reg .b64 p;\n"
    "mov.u32 v, 1; st.shared.u32 [fixed], v; st.shared.u32 [room], v; mov.b64 p, own;\n"
    "st.local.u32 [p], v; ret;\n}\n"
    ".visible .entry exact(.param .u64 out)\n.reqntid 8, 4\n{\nret;\n}\n"
    ".visible .entry vague(.param .u64 out)\n{\nfrobnicate.u32 1;\nret;\n}\n";

enum { WRITE, BAD, MOST, VAGUE, MISSING, EXACT, KERNELS };
static const char hosts[KERNELS];
static const char *const names[] = {"write", "bad", "most", "vague", "missing", "exact"};
static char table;

static void is_error(cudaError_t got, cudaError_t expected, const char *name) {
    ok(got == expected && cudaPeekAtLastError() == expected && cudaGetLastError() == expected &&
           cudaGetLastError() == cudaSuccess,
       "%s: %s", name, cudaGetErrorName(expected));
}

/* ---- The device ------------------------------------------------------------------------------ */

static void test_names(void) {
    static const struct {
        cudaError_t error;
        const char *name, *text;
    } errors[] = {
        {cudaSuccess, "cudaSuccess", "no error"},
        {cudaErrorInvalidValue, "cudaErrorInvalidValue", "invalid argument"},
        {cudaErrorMemoryAllocation, "cudaErrorMemoryAllocation", "out of memory"},
        {cudaErrorInvalidConfiguration, "cudaErrorInvalidConfiguration",
         "invalid configuration argument"},
        {cudaErrorInvalidDevice, "cudaErrorInvalidDevice", "invalid device ordinal"},
        {cudaErrorInvalidDeviceFunction, "cudaErrorInvalidDeviceFunction",
         "invalid device function"},
        {cudaErrorInvalidSymbol, "cudaErrorInvalidSymbol", "invalid device symbol"},
        {cudaErrorSymbolNotFound, "cudaErrorSymbolNotFound", "named symbol not found"},
        {cudaErrorInvalidPtx, "cudaErrorInvalidPtx",
         "the simulator cannot run this PTX, see above"},
        {cudaErrorLaunchFailure, "cudaErrorLaunchFailure", "the kernel went wrong, see above"},
        {cudaErrorLaunchTimeout, "cudaErrorLaunchTimeout",
         "the kernel would take too long to simulate, see above"},
        {cudaErrorNotReady, "cudaErrorNotReady", "device not ready"},
        {cudaErrorNotSupported, "cudaErrorNotSupported", "operation not supported"},
        {cudaErrorNoDevice, "unrecognized error code", "unrecognized error code"},
    };
    for (size_t i = 0; i < sizeof errors / sizeof *errors; i++) {
        is_text(cudaGetErrorName(errors[i].error), errors[i].name, "the name of an error");
        is_text(cudaGetErrorString(errors[i].error), errors[i].text, "and its text");
    }
}

static void test_device(void) {
    static const struct {
        enum cudaDeviceAttr attribute;
        int expected;
    } attributes[] = {
        {cudaDevAttrComputeCapabilityMajor, 9},
        {cudaDevAttrComputeCapabilityMinor, 0},
        {cudaDevAttrMultiProcessorCount, 5},
        {cudaDevAttrWarpSize, 32},
        {cudaDevAttrMaxThreadsPerBlock, 1024},
        {cudaDevAttrMaxThreadsPerMultiProcessor, 2048},
        {cudaDevAttrMaxSharedMemoryPerBlock, 49152},
        {cudaDevAttrMaxSharedMemoryPerBlockOptin, 232448},
        {cudaDevAttrMaxSharedMemoryPerMultiprocessor, 233472},
        {cudaDevAttrReservedSharedMemoryPerBlock, 1024},
        {cudaDevAttrL2CacheSize, 52428800},
        {cudaDevAttrClockRate, 0},
        {cudaDevAttrMemoryClockRate, 0},
        {cudaDevAttrGlobalMemoryBusWidth, 0},
        {cudaDevAttrMaxBlockDimX, 1024},
        {cudaDevAttrMaxBlockDimY, 1024},
        {cudaDevAttrMaxBlockDimZ, 64},
        {cudaDevAttrMaxGridDimX, 2147483647},
        {cudaDevAttrMaxGridDimY, 65535},
        {cudaDevAttrMaxGridDimZ, 65535},
        {cudaDevAttrMaxBlocksPerMultiprocessor, 32},
        {cudaDevAttrMaxRegistersPerBlock, 65536},
        {cudaDevAttrMaxRegistersPerMultiprocessor, 65536},
        {cudaDevAttrTotalConstantMemory, 65536},
        {cudaDevAttrUnifiedAddressing, 1},
        {cudaDevAttrCooperativeLaunch, 0},
        {cudaDevAttrClusterLaunch, 0},
        {cudaDevAttrManagedMemory, 0},
    };
    struct cudaDeviceProp p;
    int number = -1;
    for (size_t i = 0; i < sizeof attributes / sizeof *attributes; i++) {
        number = -1;
        ok(cudaDeviceGetAttribute(&number, attributes[i].attribute, 0) == cudaSuccess &&
               number == attributes[i].expected,
           "attribute %d is %d", attributes[i].attribute, attributes[i].expected);
    }
    memset(&p, 0xff, sizeof p);
    is_int(cudaGetDeviceProperties(&p, 0), cudaSuccess, "properties");
    is_text(p.name, "simulator", "its name");
    ok(p.major == 9 && p.minor == 0 && p.multiProcessorCount == 5 && p.warpSize == 32, "its size");
    ok(p.maxThreadsPerBlock == 1024 && p.maxThreadsPerMultiProcessor == 2048, "threads");
    ok(p.sharedMemPerBlock == 49152 && p.sharedMemPerBlockOptin == 232448 &&
           p.sharedMemPerMultiprocessor == 233472 && p.reservedSharedMemPerBlock == 1024,
       "shared memory");
    ok(p.regsPerBlock == 65536 && p.regsPerMultiprocessor == 65536 && p.l2CacheSize == 52428800 &&
           p.totalConstMem == 65536,
       "registers, L2 and constants");
    ok(p.maxThreadsDim[0] == 1024 && p.maxThreadsDim[1] == 1024 && p.maxThreadsDim[2] == 64 &&
           p.maxGridSize[0] == 2147483647 && p.maxGridSize[1] == 65535 &&
           p.maxGridSize[2] == 65535 && p.maxBlocksPerMultiProcessor == 32,
       "the largest launch");
    ok(p.unifiedAddressing == 1 && p.cooperativeLaunch == 0 && p.clusterLaunch == 0,
       "and what there is");
    number = 7;
    is_error(cudaDeviceGetAttribute(&number, cudaDevAttrMaxPitch, 0), cudaErrorInvalidValue,
             "an attribute that is not known");
    is_int(number, 7, "has no value");
    is_error(cudaGetDeviceProperties(&p, 1), cudaErrorInvalidDevice, "properties of device 1");
    is_error(cudaDeviceGetAttribute(&number, cudaDevAttrWarpSize, 1), cudaErrorInvalidDevice,
             "an attribute of device 1");
    is_error(cudaSetDevice(0), cudaSuccess, "device 0");
    is_error(cudaSetDevice(1), cudaErrorInvalidDevice, "device 1");
    ok(cudaGetDeviceCount(&number) == cudaSuccess && number == 1, "one device");
    ok(cudaGetDevice(&number) == cudaSuccess && number == 0, "which is 0");
    ok(cudaDriverGetVersion(&number) == cudaSuccess && number == 13000, "the driver's version");
    number = 0;
    ok(cudaRuntimeGetVersion(&number) == cudaSuccess && number == 13000, "the runtime's");
    is_int(cudaDeviceReset(), cudaSuccess, "a reset");
}

/* ---- Memory ---------------------------------------------------------------------------------- */

static void test_memory(void) {
    char *a = NULL, *b = NULL, host[64], *nothing = host;
    size_t before, less, total, again;
    struct cudaDeviceProp p;
    cudaMemGetInfo(&before, &total);
    is_error(cudaMalloc((void **)&a, 64), cudaSuccess, "64 bytes");
    is_error(cudaMallocAsync((void **)&b, 64, NULL), cudaSuccess, "64 more");
    cudaMemGetInfo(&less, &again);
    ok(before <= total && before - less >= 128 && total == again, "are less to be had");
    cudaGetDeviceProperties(&p, 0);
    ok(p.totalGlobalMem == total, "of what there is");
    ok(cudaMalloc((void **)&nothing, 0) == cudaSuccess && !nothing, "no bytes are nowhere");
    is_error(cudaMalloc((void **)&nothing, total + 1), cudaErrorMemoryAllocation, "too many bytes");
    is_error(cudaMemset(a, 7, 64), cudaSuccess, "all of it is set");
    is_error(cudaMemset(a, 7, 65), cudaErrorInvalidValue, "not more");
    is_error(cudaMemset(host, 7, 0), cudaSuccess, "nothing is everywhere");
    is_error(cudaMemsetAsync(host, 7, 1, NULL), cudaErrorInvalidValue, "nor what is elsewhere");
    is_error(cudaMemcpy(b, a, 64, cudaMemcpyDeviceToDevice), cudaSuccess, "a copy there");
    is_error(cudaMemcpy(host, b, 64, cudaMemcpyDeviceToHost), cudaSuccess, "a copy back");
    ok(host[0] == 7 && host[63] == 7, "brings what was set");
    host[5] = 1;
    is_error(cudaMemcpy(host + 6, host + 5, 2, cudaMemcpyHostToHost), cudaSuccess, "host to host");
    ok(host[6] == 1 && host[7] == 7, "also where both overlap");
    is_error(cudaMemcpyAsync(a + 1, host, 63, cudaMemcpyHostToDevice, NULL), cudaSuccess, "to it");
    ok(a[0] == 7 && a[6] == 1, "arrives");
    is_error(cudaMemcpy(a + 1, host, 64, cudaMemcpyHostToDevice), cudaErrorInvalidValue, "beyond");
    is_error(cudaMemcpy(host, host, 4, cudaMemcpyHostToDevice), cudaErrorInvalidValue, "to a host");
    is_error(cudaMemcpy(host, host, 4, cudaMemcpyDeviceToHost), cudaErrorInvalidValue, "from one");
    is_error(cudaMemcpy(host, a, 4, cudaMemcpyDeviceToDevice), cudaErrorInvalidValue, "to it only");
    is_error(cudaMemcpy(a, host, 4, cudaMemcpyDeviceToDevice), cudaErrorInvalidValue, "or from it");
    is_error(cudaFree(NULL), cudaSuccess, "nothing is free");
    is_error(cudaFree(a), cudaSuccess, "given back");
    is_error(cudaFree(a), cudaErrorInvalidValue, "not twice");
    is_error(cudaFree(b + 1), cudaErrorInvalidValue, "nor in the middle");
    is_error(cudaFreeAsync(b, NULL), cudaSuccess, "given back, too");
    cudaMemGetInfo(&less, &total);
    is_int((long long)less, (long long)before, "and all is there again");
    ok(cudaMallocHost((void **)&a, 16) == cudaSuccess && a && cudaFreeHost(a) == cudaSuccess,
       "memory of the host");
    void *there = NULL;
    cudaMallocHost((void **)&a, 16);
    is_error(cudaMemset(a, 7, 16), cudaSuccess, "which the device writes, too");
    ok(a[15] == 7 && cudaHostGetDevicePointer(&there, a, 0) == cudaSuccess && there == a,
       "under the same address");
    is_error(cudaFreeHost(a), cudaSuccess, "given back");
    is_error(cudaFreeHost(a), cudaErrorInvalidValue, "not twice");
    is_error(cudaHostGetDevicePointer(&there, host, 0), cudaErrorInvalidValue, "if it is pinned");
    ok(cudaHostAlloc((void **)&a, 16, 0) == cudaSuccess && a && cudaFreeHost(a) == cudaSuccess,
       "with flags");
    ok(cudaMallocManaged((void **)&a, 16, cudaMemAttachGlobal) == cudaSuccess && a,
       "memory of both");
    *(volatile char *)a = 1;
    is_error(cudaMemset(a, 0, 16), cudaSuccess, "which the device writes, too");
    is_error(cudaFree(a), cudaSuccess, "given back like any");
}

static void test_streams(void) {
    cudaStream_t one = NULL, two = NULL;
    cudaEvent_t start = NULL, stop = NULL;
    float ms = -1;
    ok(cudaStreamCreate(&one) == cudaSuccess && one &&
           cudaStreamCreateWithFlags(&two, cudaStreamNonBlocking) == cudaSuccess && two &&
           one != two,
       "two streams");
    ok(cudaEventCreate(&start) == cudaSuccess && start && cudaEventCreate(&stop) == cudaSuccess,
       "two events");
    ok(cudaEventRecord(start, one) == cudaSuccess && cudaEventSynchronize(stop) == cudaSuccess &&
           cudaEventElapsedTime(&ms, start, stop) == cudaSuccess && ms == 0,
       "between which no time passes");
    cudaEvent_t untimed = NULL;
    ok(cudaEventCreateWithFlags(&untimed, cudaEventDisableTiming) == cudaSuccess && untimed &&
           cudaStreamWaitEvent(two, untimed, 0) == cudaSuccess &&
           cudaEventQuery(untimed) == cudaSuccess && cudaEventDestroy(untimed) == cudaSuccess,
       "one without a time, for which a stream waits");
    cudaDeviceSynchronize();
    ok(cudaStreamQuery(one) == cudaSuccess && cudaStreamQuery(NULL) == cudaSuccess, "all idle");
    ok(cudaEventDestroy(start) == cudaSuccess && cudaEventDestroy(stop) == cudaSuccess &&
           cudaStreamDestroy(one) == cudaSuccess && cudaStreamDestroy(two) == cudaSuccess,
       "and gone");
}

/* ---- Functions ------------------------------------------------------------------------------- */

static uint32_t *out;

static cudaError_t start(int which, dim3 grid, dim3 block, size_t shared, cudaStream_t stream) {
    void *arguments[] = {&out};
    memset(out, 0, 64);
    return cudaLaunchKernel(&hosts[which], grid, block, arguments, shared, stream);
}

static cudaError_t start_write(dim3 grid, dim3 block) { return start(WRITE, grid, block, 0, NULL); }

static void test_functions(void) {
    struct cudaFuncAttributes of;
    int blocks = -1;
    const char unknown = 0;
    is_error(cudaFuncGetAttributes(&of, &hosts[MOST]), cudaSuccess, "attributes");
    ok(of.sharedSizeBytes == 1000 && of.localSizeBytes == 48 && of.maxThreadsPerBlock == 96 &&
           of.maxDynamicSharedSizeBytes == 49152 - 1000 && of.ptxVersion == 90 &&
           of.binaryVersion == 90 && of.numRegs == 0,
       "of a kernel with limits");
    is_error(cudaFuncGetAttributes(&of, &hosts[WRITE]), cudaSuccess, "attributes");
    ok(of.sharedSizeBytes == 0 && of.localSizeBytes == 0 && of.maxThreadsPerBlock == 1024,
       "of one without");
    is_error(cudaFuncGetAttributes(&of, &unknown), cudaErrorInvalidDeviceFunction, "of none");
    is_error(start(MOST, (dim3){1, 1, 1}, (dim3){1, 1, 1}, 49152 - 1000, NULL), cudaSuccess,
             "static and dynamic memory of 48 KiB in all");
    is_error(start(MOST, (dim3){1, 1, 1}, (dim3){1, 1, 1}, 49152 - 999, NULL),
             cudaErrorInvalidValue, "more");
    const enum cudaFuncAttribute room = cudaFuncAttributeMaxDynamicSharedMemorySize;
    is_error(cudaFuncSetAttribute(&hosts[MOST], room, 232448 - 999), cudaErrorInvalidValue,
             "more dynamic memory than there is beside the static");
    is_error(cudaFuncSetAttribute(&hosts[MOST], room, -1), cudaErrorInvalidValue, "or less than 0");
    is_error(cudaFuncSetAttribute(&hosts[MOST], room, 232448 - 1000), cudaSuccess, "as much");
    cudaFuncGetAttributes(&of, &hosts[MOST]);
    is_int(of.maxDynamicSharedSizeBytes, 232448 - 1000, "is kept");
    is_error(cudaFuncSetAttribute(&hosts[MOST], cudaFuncAttributePreferredSharedMemoryCarveout, 50),
             cudaSuccess, "another attribute");
    cudaFuncGetAttributes(&of, &hosts[MOST]);
    is_int(of.maxDynamicSharedSizeBytes, 232448 - 1000, "changes nothing");
    is_error(cudaFuncSetAttribute(&unknown, room, 1), cudaErrorInvalidDeviceFunction, "of none");
    is_int(cudaFuncSetCacheConfig(&hosts[MOST], cudaFuncCachePreferShared), cudaSuccess, "a cache");
    /* 228 KiB in blocks of 1 KiB, 1008 bytes and what is asked for, in units of 128 bytes; 64 warps
     * and 32 blocks. */
    is_error(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, &hosts[MOST], 96, 10000),
             cudaSuccess, "blocks");
    is_int(blocks, 233472 / (1024 + 1008 + 10000), "as shared memory allows");
    cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, &hosts[WRITE], 32, 233472 / 4 - 1024);
    is_int(blocks, 4, "all of it");
    cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, &hosts[WRITE], 32, 233472 / 4 - 1023);
    is_int(blocks, 3, "a byte more for each");
    cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, &hosts[WRITE], 32, 233472 / 24 - 1024);
    is_int(blocks, 24, "76 units");
    cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, &hosts[WRITE], 32, 233472 / 24 - 1023);
    is_int(blocks, 23, "77 units");
    static const struct {
        int threads, blocks;
    } sizes[] = {{1, 32}, {64, 32}, {65, 21}, {96, 21}, {97, 16}, {1024, 2}, {1025, 0}};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        is_error(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, &hosts[WRITE],
                                                               sizes[i].threads, 0),
                 cudaSuccess, "blocks");
        is_int(blocks, sizes[i].blocks, "as warps and blocks allow");
    }
    cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, &hosts[MOST], 97, 0);
    is_int(blocks, 0, "none of more threads than the kernel allows");
    is_error(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, &hosts[WRITE], 0, 0),
             cudaErrorInvalidValue, "of no threads");
    is_error(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, &unknown, 1, 0),
             cudaErrorInvalidDeviceFunction, "of none");
}

static void test_launches(void) {
    const dim3 one = {1, 1, 1};
    const char unknown = 0;
    void *arguments[] = {&out};
    is_error(start(WRITE, (dim3){2, 3, 4}, (dim3){5, 6, 7}, 48, NULL), cudaSuccess, "a launch");
    static const uint32_t sizes[] = {2, 3, 4, 5, 6, 7, 48};
    ok(memcmp(out, sizes, sizeof sizes) == 0, "has the sizes that it was given");
    is_int(cudaStreamQuery(NULL), cudaErrorNotReady, "and makes the default stream busy");
    is_int(cudaStreamQuery(NULL), cudaSuccess, "until somebody asks");
    is_int(cudaPeekAtLastError(), cudaSuccess, "which is no error");
    start(WRITE, one, one, 0, NULL);
    is_int(cudaStreamSynchronize(NULL), cudaSuccess, "or waits");
    is_int(cudaStreamQuery(NULL), cudaSuccess, "and then it is idle");
    start(WRITE, one, one, 0, NULL);
    cudaStream_t stream;
    cudaStreamCreate(&stream);
    ok(cudaStreamSynchronize(stream) == cudaSuccess && cudaStreamQuery(stream) == cudaSuccess &&
           cudaStreamQuery(NULL) == cudaErrorNotReady,
       "another stream is not asked");
    start(WRITE, one, one, 0, NULL);
    cudaDeviceSynchronize();
    is_int(cudaStreamQuery(NULL), cudaSuccess, "all of them may be waited for");
    start(WRITE, one, one, 0, stream);
    is_int(cudaStreamQuery(NULL), cudaSuccess, "a launch on another leaves it idle");
    start(WRITE, one, one, 0, cudaStreamLegacy);
    is_int(cudaStreamQuery(NULL), cudaErrorNotReady, "it has another name");
    cudaMemsetAsync(out, 0, 4, NULL);
    is_int(cudaStreamQuery(NULL), cudaErrorNotReady, "memory that is set there makes it busy");
    cudaMemcpyAsync(out, &unknown, 1, cudaMemcpyHostToDevice, NULL);
    is_int(cudaStreamQuery(NULL), cudaErrorNotReady, "and what is copied there");
    cudaMemset(out, 0, 4);
    is_int(cudaStreamQuery(NULL), cudaSuccess, "but not what is over already");
    cudaStreamDestroy(stream);
    is_error(cudaLaunchKernel(&unknown, one, one, arguments, 0, NULL),
             cudaErrorInvalidDeviceFunction, "what is no kernel");
    const cudaError_t wrong = cudaErrorInvalidConfiguration;
    is_error(start_write((dim3){0, 1, 1}, one), wrong, "no column of blocks");
    is_error(start_write((dim3){1, 0, 1}, one), wrong, "no row");
    is_error(start_write((dim3){1, 1, 0}, one), wrong, "no layer");
    is_error(start_write((dim3){1, 65536, 1}, one), wrong, "too many rows");
    is_error(start_write((dim3){1, 1, 65536}, one), wrong, "too many layers");
    is_error(start_write((dim3){1u << 31, 1, 1}, one), wrong, "too many columns");
    is_error(start_write(one, (dim3){1025, 1, 1}), wrong, "too many threads");
    is_error(start_write(one, (dim3){1, 0, 1}), wrong, "no threads");
    is_error(start_write(one, (dim3){1, 1, 65}), wrong, "too deep a block");
    is_error(start_write(one, (dim3){1u << 31, 2, 1}), wrong, "2^32 threads");
    is_error(start_write(one, (dim3){16, 1, 64}), cudaSuccess, "1024 threads, 64 of them deep");
    is_error(start_write((dim3){1, 65535, 1}, one), cudaSuccess, "65535 rows");
    is_error(start_write((dim3){1, 1, 65535}, one), cudaSuccess, "65535 layers");
    is_error(start(MOST, one, (dim3){97, 1, 1}, 16, NULL), wrong, "more than the kernel's own");
    is_error(start(MOST, one, (dim3){96, 1, 1}, 16, NULL), cudaSuccess, "as many");
    static const dim3 shapes[] = {{8, 4, 1}, {4, 8, 1}, {32, 1, 1},
                                  {8, 2, 2}, {8, 4, 2}, {8, 3, 1}};
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++) {
        const Capture capture = begin_capture(STDERR_FILENO);
        const cudaError_t error = start(EXACT, one, shapes[i], 0, NULL);
        free(end_capture(&capture));
        is_error(error, i ? cudaErrorInvalidValue : cudaSuccess, "a shape that is required");
    }
    is_error(start(WRITE, one, one, 49152, NULL), cudaSuccess, "48 KiB of dynamic memory");
    is_error(start(WRITE, one, one, 49153, NULL), cudaErrorInvalidValue, "more");
    /* The static memory of `most` ends at 1008, a multiple of 16. */
    is_error(start(MOST, one, one, 232448 - 1008, NULL), cudaSuccess, "all that there is");
    is_error(start(MOST, one, one, 232448 - 1007, NULL), cudaErrorInvalidValue, "and a byte");
}

/* A kernel that could not be begun: who does not ask for the last error learns of it where the
 * launch is waited for. */
static void test_outcome(void) {
    const cudaError_t expected = cudaErrorInvalidPtx;
    cudaEvent_t event;
    uint32_t host;
    cudaEventCreate(&event);
    const Capture capture = begin_capture(STDERR_FILENO);
    start(VAGUE, (dim3){1, 1, 1}, (dim3){1, 1, 1}, 0, NULL);
    free(end_capture(&capture));
    is_int(cudaDeviceSynchronize(), expected, "waiting for the device");
    is_int(cudaStreamSynchronize(NULL), expected, "for a stream");
    is_int(cudaEventSynchronize(event), expected, "for an event");
    is_int(cudaMemcpy(&host, out, sizeof host, cudaMemcpyDeviceToHost), expected,
           "or for what the kernel wrote");
    is_int(cudaGetLastError(), expected, "until somebody takes the error");
    is_int(cudaDeviceSynchronize(), cudaSuccess, "then all is well");
    is_int(cudaMemcpy(&host, out, sizeof host, cudaMemcpyDeviceToHost), cudaSuccess, "again");
    cudaEventDestroy(event);
}

/* After a kernel that went wrong whatever touches the device returns its error, until a reset. */
static void test_lost(void) {
    const cudaError_t error = cudaErrorLaunchFailure;
    const dim3 one = {1, 1, 1};
    struct cudaFuncAttributes of;
    struct cudaDeviceProp properties;
    cudaStream_t stream, other = NULL;
    cudaEvent_t event, no_event = NULL;
    size_t before, after, total = 7;
    void *memory, *pinned, *nothing = NULL;
    float ms = 7;
    uint32_t word = 7;
    cudaStreamCreate(&stream);
    cudaEventCreate(&event);
    cudaMemGetInfo(&before, &total);
    cudaMallocHost(&pinned, 8);
    cudaMalloc(&memory, 64);
    const Capture capture = begin_capture(STDERR_FILENO);
    const cudaError_t first = start(BAD, one, one, 0, NULL);
    free(end_capture(&capture));
    is_error(first, error, "a kernel that goes wrong");
    is_error(start(WRITE, one, one, 0, NULL), error, "the next one");
    is_error(start(WRITE, (dim3){1, 0, 1}, one, 0, NULL), error, "one that would be refused");
    is_int(out[0], 0, "does nothing");
    is_error(cudaDeviceSynchronize(), error, "waiting for the device");
    is_error(cudaStreamSynchronize(stream), error, "for a stream");
    is_error(cudaEventSynchronize(event), error, "for an event");
    is_error(cudaStreamQuery(stream), error, "asking a stream");
    is_error(cudaEventRecord(event, stream), error, "recording an event");
    is_error(cudaEventQuery(event), error, "asking an event");
    is_error(cudaStreamWaitEvent(stream, event, 0), error, "a stream that waits for it");
    is_error(cudaEventElapsedTime(&ms, event, event), error, "asking events for a time");
    is_error(cudaMemcpy(&word, memory, 4, cudaMemcpyDeviceToHost), error, "a copy");
    is_error(cudaMemcpyAsync(&word, memory, 4, cudaMemcpyDeviceToHost, stream), error, "later");
    is_error(cudaMemset(memory, 0, 4), error, "a set");
    is_error(cudaMemsetAsync(memory, 0, 4, stream), error, "later");
    is_error(cudaMemcpyFromSymbol(&word, &table, 4, 0, cudaMemcpyDeviceToHost), error, "of table");
    is_error(cudaMemcpyToSymbol(&table, &word, 4, 0, cudaMemcpyHostToDevice), error, "to it");
    is_error(cudaMemcpyFromSymbolAsync(&word, &table, 4, 0, cudaMemcpyDeviceToHost, stream), error,
             "of table, some time");
    is_error(cudaMemcpyToSymbolAsync(&table, &word, 4, 0, cudaMemcpyHostToDevice, stream), error,
             "to it");
    is_error(cudaGetSymbolAddress(&nothing, &table), error, "its address");
    is_error(cudaGetSymbolSize(&total, &table), error, "its size");
    is_error(cudaMemGetInfo(&total, &total), error, "free memory");
    is_error(cudaMalloc(&nothing, 64), error, "an allocation");
    is_error(cudaMallocAsync(&nothing, 64, stream), error, "later");
    is_error(cudaMallocHost(&nothing, 8), error, "of the host");
    is_error(cudaHostGetDevicePointer(&nothing, pinned, 0), error, "its address");
    is_error(cudaHostAlloc(&nothing, 8, 0), error, "with flags");
    is_error(cudaMallocManaged(&nothing, 8, 1), error, "of both");
    is_error(cudaStreamCreate(&other), error, "a new stream");
    is_error(cudaEventCreate(&no_event), error, "a new event");
    is_error(cudaEventCreateWithFlags(&no_event, 2), error, "with flags");
    is_error(cudaFuncGetAttributes(&of, &hosts[WRITE]), error, "attributes of a kernel");
    ok(word == 7 && ms == 7 && !nothing && !other && !no_event && *(uint32_t *)memory == UINT32_MAX,
       "and nothing is written");
    is_error(cudaFree(memory), error, "giving back memory");
    is_error(cudaFreeHost(pinned), error, "of the host");
    is_error(cudaStreamDestroy(stream), error, "a stream");
    is_error(cudaEventDestroy(event), error, "an event");
    ok(cudaSetDevice(0) == cudaSuccess && cudaGetDeviceProperties(&properties, 0) == cudaSuccess,
       "the device itself is still known");
    is_error(cudaDeviceReset(), cudaSuccess, "a reset");
    is_error(start(WRITE, (dim3){2, 1, 1}, one, 0, NULL), cudaSuccess, "a launch after it");
    is_int(out[0], 2, "does its work");
    cudaMemGetInfo(&after, &total);
    ok(after == before, "all that was given back is free");
}

/* Launches that are only rehearsed do nothing, not even make the stream busy. */
static void test_rehearsed(void) {
    const dim3 one = {1, 1, 1};
    cudaDeviceSynchronize();
    simulator_rehearse(1);
    is_error(start(WRITE, one, one, 0, NULL), cudaSuccess, "a rehearsal");
    is_error(start(WRITE, one, one, 0, NULL), cudaErrorLaunchOutOfResources, "the second launch");
    is_error(start(WRITE, (dim3){1, 65536, 1}, one, 0, NULL), cudaErrorInvalidConfiguration,
             "a grid that no launch may have");
    ok(out[0] == 0 && cudaStreamQuery(NULL) == cudaSuccess, "executes nothing");
    is_int(simulator_rehearsed(), 2, "of two");
}

static void test_extended(void) {
    cudaLaunchAttribute attributes[2] = {{.id = cudaLaunchAttributeClusterDimension}};
    cudaLaunchConfig_t config = {.gridDim = {2, 1, 1},
                                 .blockDim = {3, 1, 1},
                                 .dynamicSmemBytes = 32,
                                 .attrs = attributes,
                                 .numAttrs = 1};
    void *arguments[] = {&out};
    attributes[0].val.clusterDim.x = attributes[0].val.clusterDim.y = 1;
    attributes[0].val.clusterDim.z = 1;
    is_error(cudaLaunchKernelExC(&config, &hosts[WRITE], arguments), cudaSuccess, "no clusters");
    ok(out[0] == 2 && out[3] == 3 && out[6] == 32, "as its configuration says");
    for (int i = 0; i < 3; i++) {
        unsigned *const size[] = {&attributes[0].val.clusterDim.x, &attributes[0].val.clusterDim.y,
                                  &attributes[0].val.clusterDim.z};
        *size[i] = 2;
        is_error(cudaLaunchKernelExC(&config, &hosts[WRITE], arguments), cudaErrorNotSupported,
                 "clusters");
        *size[i] = 1;
    }
    attributes[1].id = cudaLaunchAttributeProgrammaticStreamSerialization;
    attributes[1].val.programmaticStreamSerializationAllowed = 1;
    is_error(cudaLaunchKernelExC(&config, &hosts[WRITE], arguments), cudaSuccess,
             "only as many attributes as there are");
    config.numAttrs = 2;
    const Capture capture = begin_capture(STDERR_FILENO);
    const cudaError_t early = cudaLaunchKernelExC(&config, &hosts[WRITE], arguments);
    char *said = end_capture(&capture);
    is_error(early, cudaErrorLaunchFailure, "early");
    cudaDeviceReset();
    ok(strstr(said, "global store before griddepcontrol.wait") != NULL, "it may not write yet");
    free(said);
    attributes[1].val.programmaticStreamSerializationAllowed = 0;
    is_error(cudaLaunchKernelExC(&config, &hosts[WRITE], arguments), cudaSuccess, "not early");
}

/* What was said on stderr of a launch that fails. */
static void says(int which, cudaError_t expected, const char *part) {
    const Capture capture = begin_capture(STDERR_FILENO);
    const cudaError_t error = start(which, (dim3){1, 1, 1}, (dim3){1, 1, 1}, 0, NULL);
    char *said = end_capture(&capture);
    is_error(error, expected, names[which]);
    if (!ok(*part ? strstr(said, part) != NULL : !*said, "says '%s'", part)) printf("# %s\n", said);
    free(said);
}

/* A launch of a shape that is not allowed says which is, of this kernel. */
static void test_shape_said(void) {
    static const struct {
        int which;
        dim3 grid, block;
        const char *said;
    } shapes[] = {
        {WRITE,
         {3, 1, 1},
         {2048, 1, 1},
         "ptxsim: kernel write is not launched: 3 x 1 x 1 blocks of 2048 x 1 x 1 threads; a block "
         "may have 1 to 1024 threads, 64 in z, a grid 1 to 2147483647 x 65535 x 65535 blocks\n"},
        {MOST,
         {1, 70000, 2},
         {1, 2, 3},
         "ptxsim: kernel most is not launched: 1 x 70000 x 2 blocks of 1 x 2 x 3 threads; a block "
         "may have 1 to 96 threads, 64 in z, a grid 1 to 2147483647 x 65535 x 65535 blocks\n"}};
    for (int i = 0; i < 2; i++) {
        const Capture capture = begin_capture(STDERR_FILENO);
        const cudaError_t error = start(shapes[i].which, shapes[i].grid, shapes[i].block, 16, NULL);
        char *said = end_capture(&capture);
        is_error(error, cudaErrorInvalidConfiguration, names[shapes[i].which]);
        is_text(said, shapes[i].said, "what it says");
        free(said);
    }
}

static void test_failures(void) {
    says(WRITE, cudaSuccess, "");
    setenv("SIM_BUDGET", "3", 1);
    says(WRITE, cudaErrorLaunchFailure, "SIM_BUDGET");
    unsetenv("SIM_BUDGET");
    cudaDeviceReset();
    says(VAGUE, cudaErrorInvalidPtx, "frobnicate.u32");
    says(VAGUE, cudaErrorInvalidPtx, "");
    says(MISSING, cudaErrorInvalidPtx, "ptxsim: the PTX has no kernel missing\n");
    says(MISSING, cudaErrorInvalidPtx, "");
    says(EXACT, cudaErrorInvalidValue,
         "its blocks must have 8 x 4 x 1 threads (.reqntid, "
         "__block_size__), not 1 x 1 x 1\n");
}

/* ---- What stubs do --------------------------------------------------------------------------- */

static void test_stubs(void) {
    dim3 grid, block;
    size_t shared;
    cudaStream_t stream, one = (cudaStream_t)(uintptr_t)16;
    cudaKernel_t kernel;
    void *arguments[] = {&out};
    is_int(__cudaPushCallConfiguration((dim3){1, 2, 3}, (dim3){4, 5, 6}, 7, one), 0, "pushed");
    is_int(__cudaPopCallConfiguration(&grid, &block, &shared, &stream), cudaSuccess, "popped");
    ok(grid.x == 1 && grid.y == 2 && grid.z == 3 && block.x == 4 && block.y == 5 && block.z == 6 &&
           shared == 7 && stream == one,
       "the same");
    is_error(__cudaGetKernel(&kernel, &table), cudaErrorInvalidDeviceFunction, "what is no kernel");
    is_error(__cudaGetKernel(&kernel, &hosts[WRITE]), cudaSuccess, "a kernel");
    memset(out, 0, 64);
    is_error(__cudaLaunchKernel(kernel, (dim3){3, 1, 1}, (dim3){2, 1, 1}, arguments, 16, NULL),
             cudaSuccess, "is launched");
    ok(out[0] == 3 && out[3] == 2 && out[6] == 16, "with its sizes");
    is_int(__cudaInitModule(NULL), 1, "a module that is ready");
}

int main(void) {
    static Fatbin fatbin;
    void **handle = register_ptx(&fatbin, ptx);
    for (int i = 0; i < KERNELS; i++) register_kernel(handle, &hosts[i], names[i]);
    __cudaRegisterVar(handle, &table, NULL, "table", 0, 8, 0, 0);
    setenv("SIM_MULTIPROCESSORS", "5", 1);
    test_names();
    test_device();
    test_memory();
    test_streams();
    cudaMalloc((void **)&out, 64);
    test_functions();
    test_launches();
    test_rehearsed();
    test_extended();
    test_shape_said();
    test_failures();
    test_outcome();
    test_lost();
    test_stubs();
    __cudaUnregisterFatBinary(handle);
    cudaFree(out);
    return done_testing();
}
