#include "device/device.h"

#include "base/clock.h"
#include "device/counters.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

/* Dense fp16 tensor operations with fp32 accumulation, a multiprocessor a clock, and the boost
 * clock that the published peak is stated at (0: the clock that the device reports).
 * Sources: NVIDIA's architecture white papers for Turing (T4: 65 TFLOP/s = 40 * 1024 * 1.59 GHz),
 * A100 (312 TFLOP/s = 108 * 2048 * 1.41 GHz), GA102, Ada, H100 (989 TFLOP/s = 132 * 4096 * 1.83
 * GHz), B200 (2250 TFLOP/s) and RTX Blackwell. GeForce boards of the consumer chips accumulate in
 * fp32 at half the rate. */
typedef struct Peak {
    int compute_capability;
    int operations;
    int geforce_operations;
    int boost_mhz;
} Peak;

static const Peak peaks[] = {
    {75, 1024, 512, 0},     {80, 2048, 2048, 1410},  {86, 1024, 512, 0},  {89, 1024, 512, 0},
    {90, 4096, 4096, 1830}, {100, 8192, 8192, 1856}, {120, 1024, 512, 0},
};

static const double SPIN_SECONDS = 0.05; /* before the processor is left to others */

/* The state here: the runtime, too, has one device context a process. */
static bool lost;
static cudaStream_t stream;

bool cuda_ok(cudaError_t code, const char *expression, const char *file, int line, Error *error) {
    if (code == cudaSuccess) return true;
    cudaGetLastError(); /* takes the error back, so that the next call does not report it again */
    return error_set(error, STATUS_FAIL, "%s:%d: %s: %s (%s)", file, line, expression,
                     cudaGetErrorName(code), cudaGetErrorString(code));
}

int device_count(void) {
    int count = 0;
    if (cudaGetDeviceCount(&count) == cudaSuccess) return count;
    cudaGetLastError();
    return 0;
}

static double peak_tflops(const Device *device) {
    for (size_t i = 0; i < sizeof peaks / sizeof peaks[0]; i++) {
        const Peak *peak = &peaks[i];
        if (peak->compute_capability != device->compute_capability) continue;
        const bool geforce = strstr(device->name, "GeForce") != NULL;
        const double mhz = peak->boost_mhz ? peak->boost_mhz : device->clock_mhz;
        return 1e-6 * (geforce ? peak->geforce_operations : peak->operations) *
               device->multiprocessors * mhz;
    }
    return 0;
}

cudaStream_t device_stream(void) { return stream; }

static cudaError_t create_stream(void) {
    return cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking);
}

static bool attribute(enum cudaDeviceAttr which, int index, int *value, Error *error) {
    return CUDA_OK(cudaDeviceGetAttribute(value, which, index), error);
}

bool device_open(int index, Device *device, Error *error) {
    const int count = device_count();
    int major, minor, clock_khz, memory_khz, bus_bits, l2;
    struct cudaDeviceProp properties;
    *device = (Device){.simulated = counters_simulated(), .index = index};
    if (count == 0) return error_set(error, STATUS_SKIP, "no GPU was found");
    if (index >= count)
        return error_set(error, STATUS_USAGE, "GPU=%d: allowed are 0 to %d", index, count - 1);
    if (!CUDA_OK(cudaSetDevice(index), error) || !CUDA_OK(create_stream(), error) ||
        !CUDA_OK(cudaGetDeviceProperties(&properties, index), error) ||
        !attribute(cudaDevAttrComputeCapabilityMajor, index, &major, error) ||
        !attribute(cudaDevAttrComputeCapabilityMinor, index, &minor, error) ||
        !attribute(cudaDevAttrMultiProcessorCount, index, &device->multiprocessors, error) ||
        !attribute(cudaDevAttrClockRate, index, &clock_khz, error) ||
        !attribute(cudaDevAttrMemoryClockRate, index, &memory_khz, error) ||
        !attribute(cudaDevAttrGlobalMemoryBusWidth, index, &bus_bits, error) ||
        !attribute(cudaDevAttrL2CacheSize, index, &l2, error) ||
        !attribute(cudaDevAttrMaxSharedMemoryPerBlockOptin, index, &device->block_shared_bytes,
                   error) ||
        !CUDA_OK(cudaMemGetInfo(&device->memory_free, &device->memory_total), error) ||
        !CUDA_OK(cudaDriverGetVersion(&device->driver), error) ||
        !CUDA_OK(cudaRuntimeGetVersion(&device->runtime), error))
        return false;
    snprintf(device->name, sizeof device->name, "%s", properties.name);
    device->compute_capability = 10 * major + minor;
    device->clock_mhz = clock_khz / 1000;
    device->l2_bytes = (size_t)l2;
    device->peak_tflops = device->simulated ? 0 : peak_tflops(device);
    device->peak_gb_s = 1e-6 * memory_khz * 2 * bus_bits / 8; /* two transfers a clock */
    return true;
}

bool device_memory_free(size_t *bytes, Error *error) {
    size_t total;
    return CUDA_OK(cudaMemGetInfo(bytes, &total), error);
}

/* Waits for one stream. */
static bool wait_for(cudaStream_t which, const Device *device, Error *error) {
    const double started = clock_seconds();
    while (cudaStreamQuery(which) == cudaErrorNotReady) {
        const double waited = clock_seconds() - started;
        if (waited > device->limit) {
            lost = true;
            return error_set(error, STATUS_FAIL,
                             "it did not end within %d s, and the device is still busy with it: a "
                             "loop or a wait that never ends? (LIMIT=%d waits longer)",
                             device->limit, 10 * device->limit);
        }
        if (waited > SPIN_SECONDS) nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
    }
    cudaGetLastError(); /* "not ready" is no error of a launch to come */
    return true;
}

bool device_wait_stream(const Device *device, Error *error) {
    return wait_for(stream, device, error);
}

bool device_wait(const Device *device, Error *error) {
    return wait_for(stream, device, error) && wait_for(NULL, device, error) &&
           CUDA_OK(cudaDeviceSynchronize(), error);
}

bool device_default_idle(void) {
    const bool idle = cudaStreamQuery(NULL) != cudaErrorNotReady;
    if (!idle) cudaGetLastError();
    return idle;
}

void device_restore(const Device *device) {
    if (lost || cudaDeviceSynchronize() == cudaSuccess) return;
    cudaDeviceReset();
    lost = cudaSetDevice(device->index) != cudaSuccess || cudaFree(NULL) != cudaSuccess ||
           create_stream() != cudaSuccess;
    cudaGetLastError();
}

bool device_usable(Error *error) {
    return !lost || error_set(error, STATUS_SKIP,
                              "not run: the device was lost when an earlier kernel failed");
}
