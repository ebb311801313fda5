/* Runs a kernel of PTX text on a GPU in place of the simulator, by the CUDA driver API: with
 * PTX_ON_GPU=0 the tests of arithmetic ask of that GPU what they ask of the simulator (make
 * validate). Without a driver or a GPU the program says so and ends with 2. */
#ifndef ON_GPU_H
#define ON_GPU_H

#include <cuda.h>
#include <dlfcn.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "machine/tensormap.h"

/* The functions of the driver, in a context of the GPU of that index among those visible. */
typedef struct Driver {
    CUresult (*init)(unsigned flags);
    CUresult (*retain)(CUcontext *context, CUdevice device);
    CUresult (*use)(CUcontext context);
    CUresult (*load)(CUmodule *module, const void *text, unsigned options, CUjit_option *option,
                     void **value);
    CUresult (*find)(CUfunction *kernel, CUmodule module, const char *name);
    CUresult (*allocate)(CUdeviceptr *memory, size_t bytes);
    CUresult (*to_device)(CUdeviceptr memory, const void *data, size_t bytes);
    CUresult (*to_host)(void *data, CUdeviceptr memory, size_t bytes);
    CUresult (*launch)(CUfunction kernel, unsigned x, unsigned y, unsigned z, unsigned threads_x,
                       unsigned threads_y, unsigned threads_z, unsigned shared, CUstream stream,
                       void **arguments, void **extra);
    CUresult (*synchronize)(void);
    CUresult (*release)(CUdeviceptr memory);
    CUresult (*unload)(CUmodule module);
    CUresult (*name)(CUresult error, const char **name);
    CUresult (*encode)(CUtensorMap *map, CUtensorMapDataType type, uint32_t rank, void *base,
                       const uint64_t *sizes, const uint64_t *strides, const uint32_t *box,
                       const uint32_t *steps, CUtensorMapInterleave interleave,
                       CUtensorMapSwizzle swizzle, CUtensorMapL2promotion promotion,
                       CUtensorMapFloatOOBfill fill);
} Driver;

static const Driver *driver(void) {
    static Driver functions;
    static bool is_open;
    if (is_open) return &functions;
    static const char *const names[] = {"cuInit",
                                        "cuDevicePrimaryCtxRetain",
                                        "cuCtxSetCurrent",
                                        "cuModuleLoadDataEx",
                                        "cuModuleGetFunction",
                                        "cuMemAlloc_v2",
                                        "cuMemcpyHtoD_v2",
                                        "cuMemcpyDtoH_v2",
                                        "cuLaunchKernel",
                                        "cuCtxSynchronize",
                                        "cuMemFree_v2",
                                        "cuModuleUnload",
                                        "cuGetErrorName",
                                        "cuTensorMapEncodeTiled"};
    void *library = dlopen("libcuda.so.1", RTLD_NOW);
    bool is_whole = library;
    for (size_t i = 0; library && i < sizeof names / sizeof *names; i++) {
        void *function = dlsym(library, names[i]);
        memcpy((char *)&functions + i * sizeof function, &function, sizeof function);
        is_whole &= function != NULL;
    }
    CUcontext context;
    if (!is_whole || functions.init(0) || functions.retain(&context, atoi(getenv("PTX_ON_GPU"))) ||
        functions.use(context)) {
        fprintf(stderr, "PTX_ON_GPU: there is no CUDA driver, or no GPU\n");
        exit(2);
    }
    is_open = true;
    return &functions;
}

/* Begins data[] with the tensor map of a request, for when they lie at `at` in device memory. */
static CUresult encode_on_gpu(void *data, CUdeviceptr at, const TensorMapRequest *r) {
    void *base = (void *)(at + (CUdeviceptr)((char *)r->base - (char *)data));
    return driver()->encode(data, (CUtensorMapDataType)r->element_type, r->rank, base, r->sizes,
                            r->strides, r->box, r->steps, (CUtensorMapInterleave)r->interleave,
                            (CUtensorMapSwizzle)r->swizzle, (CUtensorMapL2promotion)r->l2_promotion,
                            (CUtensorMapFloatOOBfill)r->fill);
}

/* Whether all went well; if not, *error says what did not. After a fault on the GPU nothing runs
 * any more. `map`: NULL, or what the tensor map at the beginning of data[] is made of. */
__attribute__((unused)) static bool run_on_gpu(const char *text, uint32_t blocks, uint32_t threads,
                                               void *data, size_t bytes,
                                               const TensorMapRequest *map, char *error,
                                               size_t size) {
    const Driver *d = driver();
    CUjit_option option[] = {CU_JIT_ERROR_LOG_BUFFER, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES};
    char log[400] = "";
    void *value[] = {log, (void *)sizeof log}, *arguments[1];
    CUmodule module = NULL;
    CUfunction kernel;
    CUdeviceptr memory = 0;
    arguments[0] = &memory;
    CUresult result = d->load(&module, text, 2, option, value);
    if (!result) result = d->find(&kernel, module, "k");
    if (!result) result = d->allocate(&memory, bytes);
    if (!result && map) result = encode_on_gpu(data, memory, map);
    if (!result) result = d->to_device(memory, data, bytes);
    if (!result) result = d->launch(kernel, blocks, 1, 1, threads, 1, 1, 0, NULL, arguments, NULL);
    if (!result) result = d->synchronize();
    if (!result) result = d->to_host(data, memory, bytes);
    const char *name = NULL;
    if (result) d->name(result, &name);
    if (result) snprintf(error, size, "%s %s", name ? name : "unknown error", log);
    if (memory) d->release(memory);
    if (module) d->unload(module);
    return result == CUDA_SUCCESS;
}

#endif
