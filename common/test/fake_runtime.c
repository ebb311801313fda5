/* A stand-in for the CUDA runtime: device memory is host memory, a launch has happened when it
 * returns, and takes 60 ms of the device's own clock. With it the harness runs without a GPU or
 * simulator.
 *
 *     FAKE_DEVICES=0        no GPU            FAKE_MEMORY=bytes     free and total memory
 *     FAKE_CAPABILITY=90    10 * major + minor              FAKE_NAME=name
 *     FAKE_PTX=80           what kernels are compiled for; without it nobody knows
 *     FAKE_ALLOCATIONS=3    the fourth allocation fails
 *     FAKE_LOST=1           a reset does not clear a fault
 *     FAKE_TERMINAL=1       stderr is a terminal
 *
 * Compiled with -DFAKE_SIMULATED=1 it also plays the simulator's counters. */
#include "test/fake_runtime.h"

#include <cuda_runtime_api.h>
#include <limits.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { SET_MS = 7 }; /* of a memset in a stream, such as the flush of L2 */

static bool hung;           /* a kernel runs for ever */
static int rehearsal = -1;  /* 0: a launch is refused; 1: it does nothing */
static const char *watched; /* what a launch waited with */
static bool default_busy;   /* the default stream has something to do */
static cudaError_t sticky;  /* a fault that every call reports until the device is reset */
static cudaError_t last;    /* what cudaGetLastError returns */
static double clock_ms;     /* how long the device has worked so far */
static double launch_ms = 60;
static long answer_ns;              /* of the host, for each cudaStreamQuery */
static size_t least_set = SIZE_MAX; /* bytes */
static char history[1 << 16];       /* see fake_history */
static size_t noted;

#ifndef FAKE_SIMULATED
#define FAKE_SIMULATED 0
#endif

static long setting(const char *name, long fallback) {
    const char *value = getenv(name);
    return value ? atol(value) : fallback;
}

/* In the place of the system's, unless a test has another one. */
__attribute__((weak)) int isatty(int descriptor) {
    return descriptor == STDERR_FILENO && setting("FAKE_TERMINAL", 0) != 0;
}

static cudaError_t answer(cudaError_t error) {
    const cudaError_t code = sticky ? sticky : error;
    if (code) last = code; /* "not ready", too */
    return code;
}

/* What waits for the device waits for ever then. */
static void wait_for_device(void) {
    while (hung) pause();
}

/* The real runtime, too, may wait at exit. */
__attribute__((destructor)) static void at_exit(void) { wait_for_device(); }

void fake_fault(void) { sticky = cudaErrorIllegalAddress; }

void fake_hang(void) { hung = true; }

void fake_note(char what) {
    if (noted + 1 < sizeof history) history[noted++] = what;
    history[noted] = '\0';
}

const char *fake_history(void) { return history; }

void fake_forget(void) {
    noted = 0;
    history[0] = '\0';
    least_set = SIZE_MAX;
}

size_t fake_least_set(void) { return least_set; }

void fake_launch_takes(double ms) { launch_ms = ms; }

void fake_answer_takes(long nanoseconds) { answer_ns = nanoseconds; }

bool fake_launch(void) {
    if (rehearsal == 0) last = cudaErrorLaunchOutOfResources;
    if (rehearsal >= 0) return false;
    fake_note('l');
    clock_ms += launch_ms;
    return true;
}

void fake_error(void) { last = cudaErrorInvalidValue; }

void fake_default_stream(void) { default_busy = true; }

cudaError_t cudaGetLastError(void) {
    const cudaError_t code = last;
    last = cudaSuccess;
    return code;
}

const char *cudaGetErrorName(cudaError_t error) {
    return error == cudaSuccess                 ? "cudaSuccess"
           : error == cudaErrorIllegalAddress   ? "cudaErrorIllegalAddress"
           : error == cudaErrorMemoryAllocation ? "cudaErrorMemoryAllocation"
           : error == cudaErrorInvalidValue     ? "cudaErrorInvalidValue"
                                                : "cudaErrorUnknown";
}

const char *cudaGetErrorString(cudaError_t error) {
    (void)error;
    return "a fake error";
}

cudaError_t cudaGetDeviceCount(int *count) {
    *count = FAKE_SIMULATED ? 1 : (int)setting("FAKE_DEVICES", 1);
    return *count ? answer(cudaSuccess) : answer(cudaErrorNoDevice);
}

cudaError_t cudaSetDevice(int index) {
    (void)index;
    return answer(cudaSuccess);
}

cudaError_t cudaGetDeviceProperties(struct cudaDeviceProp *properties, int index) {
    const char *name = getenv("FAKE_NAME");
    (void)index;
    memset(properties, 0, sizeof *properties);
    strcpy(properties->name, name ? name : "Fake \"GPU\"");
    return answer(cudaSuccess);
}

cudaError_t cudaDeviceGetAttribute(int *value, enum cudaDeviceAttr which, int index) {
    const char *name = FAKE_SIMULATED ? "FAKE_SIM_CAPABILITY" : "FAKE_CAPABILITY";
    const int capability = (int)setting(name, 90);
    (void)index;
    *value = which == cudaDevAttrComputeCapabilityMajor   ? capability / 10
             : which == cudaDevAttrComputeCapabilityMinor ? capability % 10
             : which == cudaDevAttrMultiProcessorCount    ? 132
             : which == cudaDevAttrClockRate              ? 1980000
             : which == cudaDevAttrMemoryClockRate        ? 1000000
             : which == cudaDevAttrGlobalMemoryBusWidth   ? 4000
                                                          : 1 << 20;
    return answer(cudaSuccess);
}

cudaError_t cudaMemGetInfo(size_t *available, size_t *total) {
    *available = *total = (size_t)setting("FAKE_MEMORY", 1L << 32);
    return answer(cudaSuccess);
}

cudaError_t cudaDriverGetVersion(int *version) {
    *version = 13000;
    return answer(cudaSuccess);
}

cudaError_t cudaRuntimeGetVersion(int *version) {
    *version = 13000;
    return answer(cudaSuccess);
}

cudaError_t cudaMalloc(void **memory, size_t bytes) {
    static long allocations;
    const bool refused = sticky || ++allocations > setting("FAKE_ALLOCATIONS", LONG_MAX);
    *memory = refused ? NULL : aligned_alloc(256, (bytes + 255) / 256 * 256);
    return answer(*memory ? cudaSuccess : cudaErrorMemoryAllocation);
}

cudaError_t cudaFree(void *memory) {
    wait_for_device();
    free(memory);
    return answer(cudaSuccess);
}

cudaError_t cudaMemcpy(void *to, const void *from, size_t bytes, enum cudaMemcpyKind kind) {
    (void)kind;
    wait_for_device();
    if (!to || !from) return answer(cudaErrorInvalidValue);
    if (!sticky) memcpy(to, from, bytes);
    return answer(cudaSuccess);
}

cudaError_t cudaMemset(void *memory, int value, size_t bytes) {
    wait_for_device();
    if (!memory) return answer(cudaErrorInvalidValue);
    if (!sticky) memset(memory, value, bytes);
    return answer(cudaSuccess);
}

cudaError_t cudaMemsetAsync(void *memory, int value, size_t bytes, cudaStream_t stream) {
    (void)memory, (void)value, (void)stream; /* the L2 flush: only its time is wanted */
    fake_note('m');
    clock_ms += SET_MS;
    if (bytes < least_set) least_set = bytes;
    return answer(cudaSuccess);
}

cudaError_t cudaDeviceSynchronize(void) {
    watched = __func__;
    wait_for_device();
    return answer(cudaSuccess);
}

cudaError_t cudaDeviceReset(void) {
    wait_for_device();
    if (!setting("FAKE_LOST", 0)) sticky = cudaSuccess;
    return answer(cudaSuccess);
}

cudaError_t cudaStreamCreateWithFlags(cudaStream_t *stream, unsigned flags) {
    static int streams[1];
    (void)flags;
    *stream = (cudaStream_t)(void *)streams;
    return answer(cudaSuccess);
}

/* What was asked of the default stream is under way until somebody has asked once. */
cudaError_t cudaStreamQuery(cudaStream_t stream) {
    const bool busy = hung || (!stream && default_busy);
    if (answer_ns) nanosleep(&(struct timespec){.tv_nsec = answer_ns}, NULL);
    if (!stream) default_busy = false;
    return answer(busy ? cudaErrorNotReady : cudaSuccess);
}

/* An event is the time at which it was recorded. */
cudaError_t cudaEventCreate(cudaEvent_t *event) {
    *event = calloc(1, sizeof(double));
    return answer(*event ? cudaSuccess : cudaErrorMemoryAllocation);
}

cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream) {
    (void)stream;
    fake_note('e');
    *(double *)(void *)event = clock_ms;
    return answer(cudaSuccess);
}

cudaError_t cudaEventElapsedTime(float *ms, cudaEvent_t start, cudaEvent_t stop) {
    *ms = (float)(*(double *)(void *)stop - *(double *)(void *)start);
    return answer(cudaSuccess);
}

cudaError_t cudaEventDestroy(cudaEvent_t event) {
    free(event);
    return answer(cudaSuccess);
}

cudaError_t cudaFuncGetAttributes(struct cudaFuncAttributes *attributes, const void *function) {
    if (!function) return answer(cudaErrorInvalidDeviceFunction);
    memset(attributes, 0, sizeof *attributes);
    attributes->numRegs = 40;
    attributes->ptxVersion = (int)setting("FAKE_PTX", 0);
    attributes->sharedSizeBytes = 1024;
    return answer(cudaSuccess);
}

#if FAKE_SIMULATED
#include "device/counters.h"
#include "device/simulator.h"

bool counters_simulated(void) { return true; }

void counters_reset(void) {}

bool counters_read(Counters *counters) {
    *counters = (Counters){.warp_instructions = 1000, .shared_load = {10, 40, 20}};
    return true;
}

void simulator_vary(int run) { (void)run; }

void simulator_watch(cudaStream_t stream) {
    (void)stream;
    watched = NULL;
}

bool simulator_settings(char *problem, size_t size) {
    (void)problem;
    (void)size;
    return true;
}

const char *simulator_unwatch(void) { return watched; }

bool simulator_strayed(void) { return setting("FAKE_STRAYED", 0) != 0; }

const char *simulator_unlisted(const AttentionKernel kernels[]) {
    (void)kernels;
    return NULL;
}

bool simulator_rehearse(int which) {
    rehearsal = which;
    return true;
}

int simulator_rehearsed(void) {
    rehearsal = -1;
    return 1;
}

bool simulator_too_long(double operations) {
    return operations > (double)setting("FAKE_OPERATIONS", LONG_MAX);
}

void simulator_print_settings(FILE *out, int runs) {
    const long set = setting("FAKE_SETTING", 0);
    (void)runs;
    if (set) fprintf(out, "FAKE_SETTING=%ld ", set);
}

void counters_report(FILE *out) { fprintf(out, "the full report\n"); }

void counters_annotate(FILE *out, const char *title) {
    if (title)
        fprintf(out, "<html>%s</html>\n", title);
    else
        fprintf(out, "the annotated source\n");
}

void counters_lines(FILE *out, const char *name) {
    fprintf(out, "{\"name\":\"%s\",\"line\":1}\n", name);
}
#endif
