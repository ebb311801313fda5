/* Runs a kernel given as PTX text: for the tests of the executor. With the environment variable
 * PTX_EXECUTED=FILE the instructions that were executed are added to that file, a line each:
 * coverage.t reads it. With PTX_ON_GPU=0 a GPU runs it, see on_gpu.h. */
#ifndef RUN_PTX_H
#define RUN_PTX_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cuda/launch.h"
#include "cuda/module.h"
#include "machine/memory/memory.h"
#include "machine/tensormap.h"
#include "test/on_gpu.h"

/* Whether a GPU runs what run_ptx and run_ptx_grid are given. */
__attribute__((unused)) static bool is_on_gpu(void) { return getenv("PTX_ON_GPU"); }

/* The kernel's counters after its run; a GPU leaves them 0. */
typedef struct PtxRun {
    LaunchStatus status;
    uint64_t divergent, executions, lanes, units;
    char error[512]; /* why it could not be run at all */
} PtxRun;

static void add_counters(const Kernel *kernel, PtxRun *run) {
    const char *path = getenv("PTX_EXECUTED");
    FILE *executed = path ? fopen(path, "a") : NULL;
    for (int i = 0; i < kernel->ops; i++) {
        const Text text = kernel->op[i].source->text;
        run->divergent += kernel->count[i].divergent;
        run->executions += kernel->count[i].executions;
        run->lanes += kernel->count[i].lanes;
        run->units += kernel->count[i].units;
        if (executed && kernel->count[i].lanes) fprintf(executed, "%.*s\n", text.length, text.at);
    }
    if (executed) fclose(executed);
}

/* Runs kernel `k` of the module, whose one parameter is `memory`, an address of device memory. */
__attribute__((unused)) static PtxRun run_ptx_shape(const char *text, const LaunchShape *shape,
                                                    void *memory) {
    PtxRun run = {.status = LAUNCH_FAULT};
    Module *module = module_load(text, strlen(text), run.error, sizeof run.error);
    Kernel *kernel = module ? module_kernel(module, "k", run.error, sizeof run.error) : NULL;
    void *arguments[] = {&memory};
    if (kernel) {
        run.status = launch_run(kernel, shape, arguments);
        add_counters(kernel, &run);
    }
    module_free(module);
    return run;
}

/* `blocks` blocks of `threads` run it; `bytes` of device memory hold data[] before, and are copied
 * back to it after. `map`: NULL, or what the tensor map at the beginning of data[] is made of; its
 * base is a place in data[], and becomes that place in device memory. */
__attribute__((unused)) static PtxRun run_ptx_map(const char *text, uint32_t blocks,
                                                  uint32_t threads, void *data, size_t bytes,
                                                  const TensorMapRequest *map) {
    const LaunchShape shape = {{blocks, 1, 1}, {threads, 1, 1}, 0, false};
    if (is_on_gpu()) {
        PtxRun run = {0};
        if (!run_on_gpu(text, blocks, threads, data, bytes, map, run.error, sizeof run.error))
            run.status = LAUNCH_FAULT;
        return run;
    }
    char *memory = memory_allocate(bytes);
    if (!memory) return (PtxRun){LAUNCH_NO_MEMORY, 0, 0, 0, 0, "out of memory"};
    memcpy(memory, data, bytes);
    PtxRun run = {.status = LAUNCH_FAULT};
    const char *problem = NULL;
    if (map) {
        TensorMapRequest there = *map;
        there.base = memory + ((char *)map->base - (char *)data);
        problem = tensormap_encode(memory, &there);
    }
    if (problem)
        snprintf(run.error, sizeof run.error, "%s", problem);
    else
        run = run_ptx_shape(text, &shape, memory);
    memcpy(data, memory, bytes);
    memory_release(memory);
    return run;
}

/* The same without a tensor map. */
__attribute__((unused)) static PtxRun run_ptx_grid(const char *text, uint32_t blocks,
                                                   uint32_t threads, void *data, size_t bytes) {
    return run_ptx_map(text, blocks, threads, data, bytes, NULL);
}

/* The same with one block. */
__attribute__((unused)) static PtxRun run_ptx(const char *text, uint32_t threads, void *data,
                                              size_t bytes) {
    return run_ptx_grid(text, 1, threads, data, bytes);
}

#define PTX_HEAD ".version 9.0\n.target sm_90a\n.address_size 64\n"

#endif
