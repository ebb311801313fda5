/* Fuzzes the decoder and the executor: whatever the PTX, each of its kernels must be refused with a
 * message, run to its end, or end with a report. Every program runs twice, copies late without a
 * search for races and copies early with one. Build and run: see fuzz_ptxsim.t. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cuda/launch.h"
#include "cuda/module.h"
#include "machine/memory/memory.h"
#include "ptx/bounds.h"

enum { DATA_BYTES = 4096, ARGUMENT_BYTES = MAX_PARAMETERS };

int LLVMFuzzerInitialize(int *argc, char ***argv); /* libFuzzer calls them */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerInitialize(int *argc, char ***argv) {
    (void)argc, (void)argv;
    setenv("SIM_THREADS", "1", 1);
    setenv("SIM_BUDGET", "3000", 1);
    return 0;
}

static void run(Module *module, const PtxFunction *function, void *device_data) {
    static uint64_t argument[ARGUMENT_BYTES / sizeof(uint64_t)];
    void **arguments = calloc((size_t)function->parameters + 1, sizeof *arguments);
    const LaunchShape shape = {{2, 1, 1}, {160, 1, 1}, 64, false};
    char name[256], error[512] = "";
    if (!arguments) abort();
    argument[0] = (uint64_t)(uintptr_t)device_data;
    for (int i = 0; i < function->parameters; i++) arguments[i] = argument;
    snprintf(name, sizeof name, "%.*s", function->name.length, function->name.at);
    Kernel *kernel = module_kernel(module, name, error, sizeof error);
    if (kernel)
        launch_run(kernel, &shape, arguments);
    else if (!error[0])
        abort(); /* a refusal without a reason */
    free(arguments);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    void *device_data = memory_allocate(DATA_BYTES);
    for (int way = 0; way < 2; way++) {
        char error[512] = "";
        setenv("SIM_ASYNC", way ? "early" : "late", 1);
        setenv("SIM_RACE", way ? "1" : "0", 1);
        Module *module = module_load((const char *)data, size, error, sizeof error);
        if (!module && !error[0]) abort();
        for (int i = 0; module && i < module->ptx->functions; i++)
            if (module->ptx->function[i].is_kernel && module->ptx->function[i].has_body)
                run(module, &module->ptx->function[i], device_data);
        module_free(module);
    }
    memory_release(device_data);
    return 0;
}
