/* The CUDA runtime's interface, as far as the harness, nvcc's stubs and small programs use it, on
 * the simulator. There is one device; everything happens at once, so streams and events are but
 * names. */
#include <cuda.h>
#include <cuda_runtime_api.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cuda/launch.h"
#include "cuda/registry.h"
#include "cuda/watch.h"
#include "machine/block.h"
#include "machine/memory/memory.h"
#include "machine/tensormap.h"
#include "ptx/bounds.h"

/* What CAPABILITY says of it: CUDA C++ Programming Guide, "Technical Specifications". */
enum {
    BLOCK_DEPTH = 64,       /* threads in z */
    GRID_WIDTH = INT32_MAX, /* blocks in x */
    GRID_HEIGHT = 65535,    /* in y and in z */
    MULTIPROCESSOR_THREADS = 2048,
    MULTIPROCESSOR_BLOCKS = 32,
    MULTIPROCESSOR_SHARED = 228 * 1024,
    RESERVED_SHARED = 1024, /* of each block, by the system */
    SHARED_UNIT = 128,      /* a block has a multiple of it */
    REGISTERS = 65536,      /* of a block, and of a multiprocessor */
    CONST_BYTES = 64 * 1024,
    L2_BYTES = 50 << 20,
    VERSION = 13000,
};

/* ---- Errors: the last one is kept, as the runtime does --------------------------------------- */

static _Thread_local cudaError_t last_error;
static cudaError_t lost; /* the error of a kernel that went wrong, until the device is reset */

static cudaError_t result(cudaError_t error) {
    if (error != cudaSuccess) last_error = error;
    return error;
}

cudaError_t cudaGetLastError(void) {
    const cudaError_t error = last_error;
    last_error = cudaSuccess;
    return error;
}

cudaError_t cudaPeekAtLastError(void) { return last_error; }

/* On a GPU a kernel that goes wrong takes its context with it: from then on, whatever touches the
 * device returns that error, also when it has been taken once. */
#define USES_DEVICE                    \
    do {                               \
        if (lost) return result(lost); \
    } while (0)

/* The last launch was stopped, and nobody has taken that error. It is of the simulator alone, and
 * the device can still be used. */
static bool launch_stopped(void) { return last_error == cudaErrorLaunchTimeout; }

/* What those learn who wait for a launch that was stopped or never begun. */
static cudaError_t launch_outcome(void) {
    return launch_stopped() || last_error == cudaErrorInvalidPtx ? last_error : cudaSuccess;
}

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
    {cudaErrorInvalidDeviceFunction, "cudaErrorInvalidDeviceFunction", "invalid device function"},
    {cudaErrorInvalidSymbol, "cudaErrorInvalidSymbol", "invalid device symbol"},
    {cudaErrorSymbolNotFound, "cudaErrorSymbolNotFound", "named symbol not found"},
    {cudaErrorInvalidPtx, "cudaErrorInvalidPtx", "the simulator cannot run this PTX, see above"},
    {cudaErrorLaunchFailure, "cudaErrorLaunchFailure", "the kernel went wrong, see above"},
    {cudaErrorLaunchTimeout, "cudaErrorLaunchTimeout",
     "the kernel would take too long to simulate, see above"},
    {cudaErrorLaunchOutOfResources, "cudaErrorLaunchOutOfResources",
     "too many resources requested for launch"},
    {cudaErrorNotReady, "cudaErrorNotReady", "device not ready"},
    {cudaErrorNotSupported, "cudaErrorNotSupported", "operation not supported"},
};

const char *cudaGetErrorName(cudaError_t error) {
    for (size_t i = 0; i < sizeof errors / sizeof *errors; i++)
        if (errors[i].error == error) return errors[i].name;
    return "unrecognized error code";
}

const char *cudaGetErrorString(cudaError_t error) {
    for (size_t i = 0; i < sizeof errors / sizeof *errors; i++)
        if (errors[i].error == error) return errors[i].text;
    return "unrecognized error code";
}

/* ---- The device ------------------------------------------------------------------------------ */

cudaError_t cudaGetDeviceCount(int *count) {
    *count = 1;
    return cudaSuccess;
}

cudaError_t cudaSetDevice(int device) {
    return result(device == 0 ? cudaSuccess : cudaErrorInvalidDevice);
}

cudaError_t cudaGetDevice(int *device) {
    *device = 0;
    return cudaSuccess;
}

cudaError_t cudaGetDeviceProperties(struct cudaDeviceProp *properties, int device) {
    if (device != 0) return result(cudaErrorInvalidDevice);
    memset(properties, 0, sizeof *properties);
    strcpy(properties->name, "simulator");
    properties->major = CAPABILITY / 10;
    properties->minor = CAPABILITY % 10;
    properties->totalGlobalMem = memory_total_bytes();
    properties->multiProcessorCount = (int)launch_multiprocessors();
    properties->warpSize = LANES;
    properties->maxThreadsPerBlock = MAX_BLOCK_THREADS;
    properties->maxThreadsDim[0] = properties->maxThreadsDim[1] = MAX_BLOCK_THREADS;
    properties->maxThreadsDim[2] = BLOCK_DEPTH;
    properties->maxGridSize[0] = GRID_WIDTH;
    properties->maxGridSize[1] = properties->maxGridSize[2] = GRID_HEIGHT;
    properties->maxThreadsPerMultiProcessor = MULTIPROCESSOR_THREADS;
    properties->maxBlocksPerMultiProcessor = MULTIPROCESSOR_BLOCKS;
    properties->sharedMemPerBlock = DEFAULT_SHARED;
    properties->sharedMemPerBlockOptin = MAX_SHARED;
    properties->sharedMemPerMultiprocessor = MULTIPROCESSOR_SHARED;
    properties->reservedSharedMemPerBlock = RESERVED_SHARED;
    properties->regsPerBlock = properties->regsPerMultiprocessor = REGISTERS;
    properties->totalConstMem = CONST_BYTES;
    properties->unifiedAddressing = 1;
    properties->l2CacheSize = L2_BYTES;
    return cudaSuccess;
}

/* All that are known but the number of multiprocessors. No time passes here, so clocks are 0. A
 * program that asks learns that there are no cooperative launches, clusters or managed memory. */
static const struct {
    enum cudaDeviceAttr attribute;
    int value;
} device_attributes[] = {
    {cudaDevAttrComputeCapabilityMajor, CAPABILITY / 10},
    {cudaDevAttrComputeCapabilityMinor, CAPABILITY % 10},
    {cudaDevAttrWarpSize, LANES},
    {cudaDevAttrMaxThreadsPerBlock, MAX_BLOCK_THREADS},
    {cudaDevAttrMaxBlockDimX, MAX_BLOCK_THREADS},
    {cudaDevAttrMaxBlockDimY, MAX_BLOCK_THREADS},
    {cudaDevAttrMaxBlockDimZ, BLOCK_DEPTH},
    {cudaDevAttrMaxGridDimX, GRID_WIDTH},
    {cudaDevAttrMaxGridDimY, GRID_HEIGHT},
    {cudaDevAttrMaxGridDimZ, GRID_HEIGHT},
    {cudaDevAttrMaxThreadsPerMultiProcessor, MULTIPROCESSOR_THREADS},
    {cudaDevAttrMaxBlocksPerMultiprocessor, MULTIPROCESSOR_BLOCKS},
    {cudaDevAttrMaxRegistersPerBlock, REGISTERS},
    {cudaDevAttrMaxRegistersPerMultiprocessor, REGISTERS},
    {cudaDevAttrMaxSharedMemoryPerBlock, DEFAULT_SHARED},
    {cudaDevAttrMaxSharedMemoryPerBlockOptin, MAX_SHARED},
    {cudaDevAttrMaxSharedMemoryPerMultiprocessor, MULTIPROCESSOR_SHARED},
    {cudaDevAttrReservedSharedMemoryPerBlock, RESERVED_SHARED},
    {cudaDevAttrTotalConstantMemory, CONST_BYTES},
    {cudaDevAttrL2CacheSize, L2_BYTES},
    {cudaDevAttrUnifiedAddressing, 1},
    {cudaDevAttrClockRate, 0},
    {cudaDevAttrMemoryClockRate, 0},
    {cudaDevAttrGlobalMemoryBusWidth, 0},
    {cudaDevAttrCooperativeLaunch, 0},
    {cudaDevAttrClusterLaunch, 0},
    {cudaDevAttrManagedMemory, 0},
};

cudaError_t cudaDeviceGetAttribute(int *value, enum cudaDeviceAttr attribute, int device) {
    if (device != 0) return result(cudaErrorInvalidDevice);
    if (attribute == cudaDevAttrMultiProcessorCount) {
        *value = (int)launch_multiprocessors();
        return cudaSuccess;
    }
    for (size_t i = 0; i < sizeof device_attributes / sizeof *device_attributes; i++) {
        if (device_attributes[i].attribute != attribute) continue;
        *value = device_attributes[i].value;
        return cudaSuccess;
    }
    return result(cudaErrorInvalidValue);
}

cudaError_t cudaDriverGetVersion(int *version) {
    *version = VERSION;
    return cudaSuccess;
}

cudaError_t cudaRuntimeGetVersion(int *version) {
    *version = VERSION;
    return cudaSuccess;
}

/* What is allocated stays, and has to be freed. */
cudaError_t cudaDeviceReset(void) {
    WATCHED;
    lost = cudaSuccess;
    return cudaSuccess;
}

/* ---- Memory ---------------------------------------------------------------------------------- */

cudaError_t cudaMemGetInfo(size_t *free_bytes, size_t *total) {
    USES_DEVICE;
    *free_bytes = memory_free_bytes();
    *total = memory_total_bytes();
    return cudaSuccess;
}

cudaError_t cudaMalloc(void **pointer, size_t bytes) {
    WATCHED;
    USES_DEVICE;
    *pointer = bytes ? memory_allocate(bytes) : NULL;
    return result(*pointer || !bytes ? cudaSuccess : cudaErrorMemoryAllocation);
}

/* Frees also what is on a device that is lost: nothing else would. */
cudaError_t cudaFree(void *pointer) {
    WATCHED;
    const bool freed = !pointer || memory_release(pointer);
    USES_DEVICE;
    return result(freed ? cudaSuccess : cudaErrorInvalidValue);
}

cudaError_t cudaMallocAsync(void **pointer, size_t bytes, cudaStream_t stream) {
    WATCHED;
    (void)stream;
    return cudaMalloc(pointer, bytes);
}

cudaError_t cudaFreeAsync(void *pointer, cudaStream_t stream) {
    WATCHED;
    (void)stream;
    return cudaFree(pointer);
}

/* With unified addressing a kernel may use pinned memory, under the same address. */
cudaError_t cudaMallocHost(void **pointer, size_t bytes) {
    WATCHED;
    return cudaMalloc(pointer, bytes);
}

cudaError_t cudaHostAlloc(void **pointer, size_t bytes, unsigned flags) {
    WATCHED;
    (void)flags;
    return cudaMallocHost(pointer, bytes);
}

/* All device memory is the host's, too. */
cudaError_t cudaMallocManaged(void **pointer, size_t bytes, unsigned flags) {
    WATCHED;
    (void)flags;
    return cudaMalloc(pointer, bytes);
}

cudaError_t cudaFreeHost(void *pointer) {
    WATCHED;
    return cudaFree(pointer);
}

cudaError_t cudaHostGetDevicePointer(void **device, void *host, unsigned flags) {
    (void)flags;
    USES_DEVICE;
    const bool pinned = memory_find((uint64_t)(uintptr_t)host, 1) != NULL;
    if (pinned) *device = host;
    return result(pinned ? cudaSuccess : cudaErrorInvalidValue);
}

/* Kernels have run when they are launched. But a program that launches one on the default stream,
 * or copies or sets memory there, and waits for another learns that the default stream is busy, as
 * it would from a GPU. */
static bool default_busy;

static void enqueue(cudaStream_t stream) {
    if (!stream || stream == cudaStreamLegacy) default_busy = true;
    watch_stream(stream);
}

static bool on_device(const void *pointer, size_t bytes) {
    return bytes == 0 || memory_find((uint64_t)(uintptr_t)pointer, bytes) != NULL;
}

static cudaError_t copy(void *to, const void *from, size_t bytes, enum cudaMemcpyKind kind) {
    const bool to_device = kind == cudaMemcpyHostToDevice || kind == cudaMemcpyDeviceToDevice;
    const bool from_device = kind == cudaMemcpyDeviceToHost || kind == cudaMemcpyDeviceToDevice;
    if ((to_device && !on_device(to, bytes)) || (from_device && !on_device(from, bytes)))
        return result(cudaErrorInvalidValue);
    memmove(to, from, bytes);
    return cudaSuccess;
}

cudaError_t cudaMemcpy(void *to, const void *from, size_t bytes, enum cudaMemcpyKind kind) {
    WATCHED;
    USES_DEVICE;
    return launch_outcome() ? launch_outcome() : copy(to, from, bytes, kind);
}

/* `to_host` and `to_variable` are what is said of a launch that does so: the one waits, what the
 * other leaves is not the launch's own. */
static cudaError_t copy_later(void *to, const void *from, size_t bytes, enum cudaMemcpyKind kind,
                              cudaStream_t stream, const char *to_host, const char *to_variable) {
    cudaError_t outcome;
    USES_DEVICE;
    if (only_rehearsed(&outcome)) return result(outcome);
    if (kind == cudaMemcpyDeviceToHost) watch_call(to_host);
    if (registry_in_variable(to)) watch_call(to_variable);
    enqueue(stream);
    return copy(to, from, bytes, kind);
}

cudaError_t cudaMemcpyAsync(void *to, const void *from, size_t bytes, enum cudaMemcpyKind kind,
                            cudaStream_t stream) {
    return copy_later(to, from, bytes, kind, stream, "cudaMemcpyAsync to the host",
                      "cudaMemcpyAsync to a variable of the program");
}

static cudaError_t set(void *pointer, int value, size_t bytes) {
    if (!on_device(pointer, bytes)) return result(cudaErrorInvalidValue);
    memset(pointer, value, bytes);
    return cudaSuccess;
}

cudaError_t cudaMemsetAsync(void *pointer, int value, size_t bytes, cudaStream_t stream) {
    cudaError_t outcome;
    USES_DEVICE;
    if (only_rehearsed(&outcome)) return result(outcome);
    if (registry_in_variable(pointer)) watch_call("cudaMemsetAsync of a variable of the program");
    enqueue(stream);
    return set(pointer, value, bytes);
}

cudaError_t cudaMemset(void *pointer, int value, size_t bytes) {
    cudaError_t outcome;
    WATCHED;
    USES_DEVICE;
    return only_rehearsed(&outcome) ? result(outcome) : set(pointer, value, bytes);
}

cudaError_t cudaGetSymbolAddress(void **pointer, const void *symbol) {
    size_t bytes;
    USES_DEVICE;
    return result(registry_variable(symbol, pointer, &bytes) ? cudaSuccess
                                                             : cudaErrorInvalidSymbol);
}

cudaError_t cudaGetSymbolSize(size_t *bytes, const void *symbol) {
    void *pointer;
    USES_DEVICE;
    return result(registry_variable(symbol, &pointer, bytes) ? cudaSuccess
                                                             : cudaErrorInvalidSymbol);
}

cudaError_t cudaMemcpyToSymbol(const void *symbol, const void *from, size_t bytes, size_t offset,
                               enum cudaMemcpyKind kind) {
    void *pointer;
    const cudaError_t error = cudaGetSymbolAddress(&pointer, symbol);
    WATCHED;
    return error ? error : copy((char *)pointer + offset, from, bytes, kind);
}

cudaError_t cudaMemcpyFromSymbol(void *to, const void *symbol, size_t bytes, size_t offset,
                                 enum cudaMemcpyKind kind) {
    void *pointer;
    const cudaError_t error = cudaGetSymbolAddress(&pointer, symbol);
    WATCHED;
    return error ? error : copy(to, (const char *)pointer + offset, bytes, kind);
}

cudaError_t cudaMemcpyToSymbolAsync(const void *symbol, const void *from, size_t bytes,
                                    size_t offset, enum cudaMemcpyKind kind, cudaStream_t stream) {
    void *pointer;
    const cudaError_t error = cudaGetSymbolAddress(&pointer, symbol);
    const char *name = "cudaMemcpyToSymbolAsync";
    if (error) return error;
    return copy_later((char *)pointer + offset, from, bytes, kind, stream, name, name);
}

cudaError_t cudaMemcpyFromSymbolAsync(void *to, const void *symbol, size_t bytes, size_t offset,
                                      enum cudaMemcpyKind kind, cudaStream_t stream) {
    void *pointer;
    const cudaError_t error = cudaGetSymbolAddress(&pointer, symbol);
    const char *name = "cudaMemcpyFromSymbolAsync";
    if (error) return error;
    return copy_later(to, (const char *)pointer + offset, bytes, kind, stream, name, name);
}

/* ---- Streams and events ---------------------------------------------------------------------- */

cudaError_t cudaStreamCreateWithFlags(cudaStream_t *stream, unsigned flags) {
    WATCHED;
    USES_DEVICE;
    (void)flags;
    *stream = malloc(1); /* only its address matters */
    return result(*stream ? cudaSuccess : cudaErrorMemoryAllocation);
}

cudaError_t cudaStreamCreate(cudaStream_t *stream) { return cudaStreamCreateWithFlags(stream, 0); }

cudaError_t cudaStreamDestroy(cudaStream_t stream) {
    WATCHED;
    free(stream);
    USES_DEVICE;
    return cudaSuccess;
}

cudaError_t cudaStreamSynchronize(cudaStream_t stream) {
    WATCHED;
    USES_DEVICE;
    if (!stream) default_busy = false;
    return launch_outcome();
}

cudaError_t cudaStreamQuery(cudaStream_t stream) {
    WATCHED;
    USES_DEVICE;
    const bool busy = !stream && default_busy;
    if (!stream) default_busy = false;
    return busy ? cudaErrorNotReady : cudaSuccess;
}

cudaError_t cudaEventCreate(cudaEvent_t *event) {
    WATCHED;
    USES_DEVICE;
    *event = malloc(1); /* only its address matters */
    return result(*event ? cudaSuccess : cudaErrorMemoryAllocation);
}

cudaError_t cudaEventCreateWithFlags(cudaEvent_t *event, unsigned flags) {
    WATCHED;
    (void)flags;
    return cudaEventCreate(event);
}

cudaError_t cudaEventDestroy(cudaEvent_t event) {
    WATCHED;
    free(event);
    USES_DEVICE;
    return cudaSuccess;
}

cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream) {
    (void)event, (void)stream;
    USES_DEVICE;
    return cudaSuccess;
}

/* What was enqueued before has ended: launches take place at once. */
cudaError_t cudaEventQuery(cudaEvent_t event) {
    (void)event;
    USES_DEVICE;
    return launch_outcome();
}

cudaError_t cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t event, unsigned flags) {
    (void)stream, (void)event, (void)flags;
    USES_DEVICE;
    return cudaSuccess;
}

cudaError_t cudaEventSynchronize(cudaEvent_t event) {
    WATCHED;
    (void)event;
    USES_DEVICE;
    return launch_outcome();
}

/* No time passes on the simulated device: a GPU's times cannot be told from the host's. */
cudaError_t cudaEventElapsedTime(float *milliseconds, cudaEvent_t start, cudaEvent_t stop) {
    (void)start, (void)stop;
    USES_DEVICE;
    *milliseconds = 0;
    return cudaSuccess;
}

cudaError_t cudaDeviceSynchronize(void) {
    WATCHED;
    USES_DEVICE;
    default_busy = false;
    return launch_outcome();
}

/* ---- Functions ------------------------------------------------------------------------------- */

static cudaError_t find_kernel(const void *host, Function **function, Kernel **kernel) {
    USES_DEVICE;
    *function = registry_function(host);
    if (!*function) return result(cudaErrorInvalidDeviceFunction);
    *kernel = registry_kernel(*function);
    return result(*kernel ? cudaSuccess : cudaErrorInvalidPtx);
}

static uint32_t max_threads(const Kernel *kernel) {
    const int own = kernel->function->max_threads;
    return own ? (uint32_t)own : MAX_BLOCK_THREADS;
}

/* Bytes of dynamic shared memory that a launch may have. */
static int dynamic_limit(const Function *function, const Kernel *kernel) {
    if (function->dynamic_limit != NOT_ASKED) return function->dynamic_limit;
    return kernel->static_shared < DEFAULT_SHARED ? DEFAULT_SHARED - (int)kernel->static_shared : 0;
}

cudaError_t cudaFuncGetAttributes(struct cudaFuncAttributes *attributes, const void *host) {
    Function *function;
    Kernel *kernel;
    const cudaError_t error = find_kernel(host, &function, &kernel);
    if (error) return error;
    memset(attributes, 0, sizeof *attributes);
    attributes->sharedSizeBytes = kernel->static_shared;
    attributes->localSizeBytes = kernel->local_bytes;
    attributes->maxThreadsPerBlock = (int)max_threads(kernel);
    attributes->maxDynamicSharedSizeBytes = dynamic_limit(function, kernel);
    attributes->ptxVersion = registry_ptx_version(function);
    attributes->binaryVersion = CAPABILITY;
    return cudaSuccess;
}

cudaError_t cudaFuncSetAttribute(const void *host, enum cudaFuncAttribute attribute, int value) {
    Function *function;
    Kernel *kernel;
    const cudaError_t error = find_kernel(host, &function, &kernel);
    if (error || attribute != cudaFuncAttributeMaxDynamicSharedMemorySize) return error;
    if (value < 0 || (uint32_t)value + kernel->static_shared > MAX_SHARED)
        return result(cudaErrorInvalidValue);
    function->dynamic_limit = value;
    return cudaSuccess;
}

cudaError_t cudaFuncSetCacheConfig(const void *host, enum cudaFuncCache config) {
    (void)host, (void)config;
    return cudaSuccess;
}

cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int *blocks, const void *host,
                                                                   int threads, size_t dynamic,
                                                                   unsigned flags) {
    Function *function;
    Kernel *kernel;
    const cudaError_t error = find_kernel(host, &function, &kernel);
    (void)flags;
    if (error) return error;
    if (threads <= 0) return result(cudaErrorInvalidValue);
    const size_t shared = kernel->dynamic_offset + dynamic + RESERVED_SHARED;
    const size_t units = (shared + SHARED_UNIT - 1) / SHARED_UNIT;
    const int by_shared = (int)(MULTIPROCESSOR_SHARED / SHARED_UNIT / units);
    const int warps = threads / LANES + (threads % LANES != 0);
    const int by_warps = MULTIPROCESSOR_THREADS / LANES / warps;
    const int most = by_shared < by_warps ? by_shared : by_warps;
    *blocks = most < MULTIPROCESSOR_BLOCKS ? most : MULTIPROCESSOR_BLOCKS;
    if ((unsigned)threads > max_threads(kernel)) *blocks = 0; /* as a GPU says it */
    return cudaSuccess;
}

cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessor(int *blocks, const void *host,
                                                          int threads, size_t dynamic) {
    return cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(blocks, host, threads, dynamic,
                                                                  0);
}

/* ---- Launches -------------------------------------------------------------------------------- */

static bool shape_allowed(const Kernel *kernel, dim3 grid, dim3 block) {
    const uint64_t threads = (uint64_t)block.x * block.y * block.z;
    return grid.x && grid.y && grid.z && threads && threads <= max_threads(kernel) &&
           block.z <= BLOCK_DEPTH && grid.x <= GRID_WIDTH && grid.y <= GRID_HEIGHT &&
           grid.z <= GRID_HEIGHT;
}

static void say_shape(const Kernel *kernel, dim3 grid, dim3 block) {
    fprintf(stderr,
            "ptxsim: kernel %s is not launched: %u x %u x %u blocks of %u x %u x %u threads; a "
            "block may have 1 to %u threads, %d in z, a grid 1 to %d x %d x %d blocks\n",
            kernel->name, grid.x, grid.y, grid.z, block.x, block.y, block.z, max_threads(kernel),
            BLOCK_DEPTH, GRID_WIDTH, GRID_HEIGHT, GRID_HEIGHT);
}

static bool shape_required(const Kernel *kernel, dim3 block) {
    const uint32_t *required = kernel->function->required;
    if (!required[0] ||
        (block.x == required[0] && block.y == required[1] && block.z == required[2]))
        return true;
    fprintf(
        stderr,
        "ptxsim: kernel %s is not launched: its blocks must have %u x %u x %u threads (.reqntid, "
        "__block_size__), not %u x %u x %u\n",
        kernel->name, required[0], required[1], required[2], block.x, block.y, block.z);
    return false;
}

static bool shared_allowed(const Function *function, const Kernel *kernel, size_t dynamic) {
    const size_t all = kernel->dynamic_offset + dynamic;
    const size_t limit = (size_t)dynamic_limit(function, kernel);
    if (all > MAX_SHARED)
        fprintf(stderr,
                "ptxsim: kernel %s is not launched: a block has %d bytes of shared memory at "
                "most, not %zu\n",
                kernel->name, MAX_SHARED, all);
    else if (dynamic > limit)
        fprintf(stderr,
                "ptxsim: kernel %s is not launched: it may have %zu bytes of dynamic shared "
                "memory, not %zu; cudaFuncSetAttribute with "
                "cudaFuncAttributeMaxDynamicSharedMemorySize allows more\n",
                kernel->name, limit, dynamic);
    else
        return true;
    return false;
}

static cudaError_t launch_alone(const void *host, dim3 grid, dim3 block, void **arguments,
                                size_t dynamic, cudaStream_t stream, bool early) {
    Function *function;
    Kernel *kernel;
    cudaError_t error = find_kernel(host, &function, &kernel);
    if (error) return error;
    if (!launch_stopped() && !shape_required(kernel, block)) return result(cudaErrorInvalidValue);
    if (!launch_stopped() && !shape_allowed(kernel, grid, block)) {
        say_shape(kernel, grid, block);
        return result(cudaErrorInvalidConfiguration);
    }
    if (only_rehearsed(&error)) return result(error);
    enqueue(stream);
    if (launch_stopped()) return last_error; /* what follows it would only mislead */
    if (!shared_allowed(function, kernel, dynamic)) return result(cudaErrorInvalidValue);
    const LaunchShape shape = {
        {grid.x, grid.y, grid.z}, {block.x, block.y, block.z}, (uint32_t)dynamic, early};
    static const cudaError_t outcomes[] = {
        [LAUNCH_OK] = cudaSuccess,
        [LAUNCH_FAULT] = cudaErrorLaunchFailure,
        [LAUNCH_TOO_LONG] = cudaErrorLaunchTimeout,
        [LAUNCH_NO_MEMORY] = cudaErrorMemoryAllocation,
    };
    const unsigned threads = block.x * block.y * block.z;
    if (threads > function->threads) function->threads = threads;
    if (dynamic > function->dynamic) function->dynamic = dynamic;
    error = outcomes[launch_run(kernel, &shape, arguments)];
    if (error == cudaErrorLaunchFailure) lost = error;
    return result(error);
}

/* Threads of the host that launch take turns: a kernel is decoded once, and has one set of
 * parameters. */
static cudaError_t launch(const void *host, dim3 grid, dim3 block, void **arguments, size_t dynamic,
                          cudaStream_t stream, bool early) {
    static pthread_mutex_t turn = PTHREAD_MUTEX_INITIALIZER;
    pthread_mutex_lock(&turn);
    const cudaError_t error = launch_alone(host, grid, block, arguments, dynamic, stream, early);
    pthread_mutex_unlock(&turn);
    return error;
}

cudaError_t cudaLaunchKernel(const void *host, dim3 grid, dim3 block, void **arguments,
                             size_t dynamic, cudaStream_t stream) {
    return launch(host, grid, block, arguments, dynamic, stream, false);
}

cudaError_t cudaLaunchKernelExC(const cudaLaunchConfig_t *config, const void *host,
                                void **arguments) {
    bool early = false;
    for (unsigned i = 0; i < config->numAttrs; i++) {
        const cudaLaunchAttribute *a = &config->attrs[i];
        const bool cluster = a->id == cudaLaunchAttributeClusterDimension;
        if (cluster && a->val.clusterDim.x * a->val.clusterDim.y * a->val.clusterDim.z > 1)
            return result(cudaErrorNotSupported);
        early |= a->id == cudaLaunchAttributeProgrammaticStreamSerialization &&
                 a->val.programmaticStreamSerializationAllowed;
    }
    return launch(host, config->gridDim, config->blockDim, arguments, config->dynamicSmemBytes,
                  config->stream, early);
}

/* kernel<<<grid, block, shared, stream>>>(...) pushes its configuration; the stub pops it. */
typedef struct CallConfiguration {
    dim3 grid, block;
    size_t shared;
    struct CUstream_st *stream;
} CallConfiguration;

static _Thread_local CallConfiguration pushed;

unsigned __cudaPushCallConfiguration(dim3 grid, dim3 block, size_t shared,
                                     struct CUstream_st *stream);
cudaError_t __cudaPopCallConfiguration(dim3 *grid, dim3 *block, size_t *shared, void *stream);
cudaError_t __cudaGetKernel(cudaKernel_t *kernel, const void *host);
cudaError_t __cudaLaunchKernel(cudaKernel_t kernel, dim3 grid, dim3 block, void **arguments,
                               size_t shared, cudaStream_t stream);

unsigned __cudaPushCallConfiguration(dim3 grid, dim3 block, size_t shared,
                                     struct CUstream_st *stream) {
    pushed = (CallConfiguration){grid, block, shared, stream};
    return 0;
}

cudaError_t __cudaPopCallConfiguration(dim3 *grid, dim3 *block, size_t *shared, void *stream) {
    *grid = pushed.grid;
    *block = pushed.block;
    *shared = pushed.shared;
    memcpy(stream, &pushed.stream, sizeof pushed.stream);
    return cudaSuccess;
}

cudaError_t __cudaGetKernel(cudaKernel_t *kernel, const void *host) {
    *kernel = (cudaKernel_t)(uintptr_t)host; /* one handle is as good as another */
    return result(registry_function(host) ? cudaSuccess : cudaErrorInvalidDeviceFunction);
}

cudaError_t __cudaLaunchKernel(cudaKernel_t kernel, dim3 grid, dim3 block, void **arguments,
                               size_t shared, cudaStream_t stream) {
    return cudaLaunchKernel((const void *)kernel, grid, block, arguments, shared, stream);
}

/* ---- The driver's entry point for tensor maps ------------------------------------------------ */

static CUresult encode_tiled(CUtensorMap *map, CUtensorMapDataType type, cuuint32_t rank,
                             void *base, const cuuint64_t *sizes, const cuuint64_t *strides,
                             const cuuint32_t *box, const cuuint32_t *steps,
                             CUtensorMapInterleave interleave, CUtensorMapSwizzle swizzle,
                             CUtensorMapL2promotion promotion, CUtensorMapFloatOOBfill fill) {
    const TensorMapRequest request = {
        .element_type = (int)type,
        .rank = rank,
        .base = base,
        .sizes = (const uint64_t *)sizes,
        .strides = (const uint64_t *)strides,
        .box = box,
        .steps = steps,
        .interleave = (int)interleave,
        .swizzle = (int)swizzle,
        .l2_promotion = (int)promotion,
        .fill = (int)fill,
    };
    const char *refused = tensormap_encode(map, &request);
    if (!refused && watching_launch() && tensormap_overlaps(&request))
        refused = "two elements of the tensor have the same address"
                  " (strides are in bytes, and begin with that of dimension 1)";
    if (!refused) return CUDA_SUCCESS;
    fprintf(stderr, "ptxsim: cuTensorMapEncodeTiled: %s\n", refused);
    return CUDA_ERROR_INVALID_VALUE;
}

cudaError_t cudaGetDriverEntryPointByVersion(const char *symbol, void **function, unsigned version,
                                             unsigned long long flags,
                                             enum cudaDriverEntryPointQueryResult *status) {
    const bool known = strcmp(symbol, "cuTensorMapEncodeTiled") == 0;
    (void)version, (void)flags;
    *function = NULL;
    if (known)
        *(CUresult(**)(CUtensorMap *, CUtensorMapDataType, cuuint32_t, void *, const cuuint64_t *,
                       const cuuint64_t *, const cuuint32_t *, const cuuint32_t *,
                       CUtensorMapInterleave, CUtensorMapSwizzle, CUtensorMapL2promotion,
                       CUtensorMapFloatOOBfill))function = encode_tiled;
    if (status) *status = known ? cudaDriverEntryPointSuccess : cudaDriverEntryPointSymbolNotFound;
    return result(known ? cudaSuccess : cudaErrorSymbolNotFound);
}

/* The same without a version, as many samples ask; CUDA 13 calls it deprecated. */
cudaError_t cudaGetDriverEntryPoint(const char *symbol, void **function, unsigned long long flags,
                                    enum cudaDriverEntryPointQueryResult *status) {
    return cudaGetDriverEntryPointByVersion(symbol, function, CUDART_VERSION, flags, status);
}
