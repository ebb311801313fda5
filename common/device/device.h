/* The device the stages run on, and checked CUDA calls. In the simulator the same calls reach the
 * CPU. */
#ifndef DEVICE_H
#define DEVICE_H

#include "base/error.h"

#include <cuda_runtime_api.h>
#include <stddef.h>

typedef struct Device {
    bool simulated;
    int index;
    char name[256];
    int compute_capability; /* 10 * major + minor */
    int multiprocessors;
    int clock_mhz; /* the highest; 0: unknown */
    size_t l2_bytes;
    int block_shared_bytes;           /* shared memory that one block can have */
    size_t memory_total, memory_free; /* bytes, when it was opened */
    int driver, runtime;              /* versions, 1000 * major + 10 * minor */
    double peak_tflops; /* dense fp16/bf16 tensor cores, fp32 accumulation; 0: unknown */
    double peak_gb_s;   /* of the device's memory, 10^9 bytes a second; 0: unknown */
    int limit;          /* seconds that a launch may take; device_open leaves 0 */
} Device;

/* True if `code` is cudaSuccess; else stores STATUS_FAIL and a sentence with the expression, its
 * place, and the error's name and text. */
bool cuda_ok(cudaError_t code, const char *expression, const char *file, int line, Error *error);
#define CUDA_OK(call, error) cuda_ok((call), #call, __FILE__, __LINE__, (error))

/* Devices that the runtime offers; 0 too where there is no driver. */
int device_count(void);

/* Makes device `index` the current one and describes it. No device at all: STATUS_SKIP. */
bool device_open(int index, Device *device, Error *error);

/* Bytes free now. */
bool device_memory_free(size_t *bytes, Error *error);

/* The stream that the stages get: not the default one, with which it does not wait either. Created
 * when the device is opened or restored. */
cudaStream_t device_stream(void);

/* Waits until the device has done what was asked of it. If that takes longer than device->limit,
 * it returns false with a sentence about the kernel, and the device is lost. */
bool device_wait(const Device *device, Error *error);

/* True if nothing is under way in the default stream. After a wait for device_stream() alone that
 * means that a stage has used the stream that it was given. */
bool device_default_idle(void);

/* Waits for device_stream() alone; as device_wait otherwise. */
bool device_wait_stream(const Device *device, Error *error);

/* After a fault a GPU's context answers every call with the same error. Resets a device that does,
 * which frees all its memory; if it does not work then either, it is lost. */
void device_restore(const Device *device);

/* False, with STATUS_SKIP, once the device is lost to this process: any further call would fail, or
 * wait for a kernel that never ends. */
bool device_usable(Error *error);

#endif
