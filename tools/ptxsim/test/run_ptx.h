/* Runs a kernel given as PTX text: for the tests of the executor. */
#ifndef RUN_PTX_H
#define RUN_PTX_H

#include <stdio.h>
#include <string.h>

#include "../launch.h"
#include "../module.h"

/* The kernel's counters after its run. */
typedef struct PtxRun {
    LaunchStatus status;
    uint64_t divergent, executions, lanes;
    char error[512]; /* why it could not be run at all */
} PtxRun;

/* One block of `threads` runs kernel `k` of the module; its one parameter is the address of `bytes`
 * of device memory that hold data[] before, and are copied back to it after. */
__attribute__((unused)) static PtxRun run_ptx(const char *text, uint32_t threads, void *data,
                                              size_t bytes) {
    PtxRun run = {.status = LAUNCH_FAULT};
    Module *module = module_load(text, strlen(text), run.error, sizeof run.error);
    Kernel *kernel = module ? module_kernel(module, "k", run.error, sizeof run.error) : NULL;
    void *memory = kernel ? memory_allocate(bytes) : NULL;
    if (memory) {
        const LaunchShape shape = {{1, 1, 1}, {threads, 1, 1}, 0};
        void *arguments[] = {&memory};
        memcpy(memory, data, bytes);
        run.status = launch_run(kernel, &shape, arguments);
        memcpy(data, memory, bytes);
        for (int i = 0; i < kernel->ops; i++) {
            run.divergent += kernel->count[i].divergent;
            run.executions += kernel->count[i].executions;
            run.lanes += kernel->count[i].lanes;
        }
        memory_release(memory);
    }
    module_free(module);
    return run;
}

#define PTX_HEAD ".version 9.0\n.target sm_90a\n.address_size 64\n"

#endif
