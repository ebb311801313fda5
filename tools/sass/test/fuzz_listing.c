/* Fuzzes the reader of disassemblies and what is worked out from them. Whatever the text, every
 * instruction has a region and a place among the loops, and none is lost. Build and run: fuzz.t. */
#include "analysis/tally.h"
#include "test/sample.h"

#include <stdint.h>

static void check(const Module *module, const Kernel *kernel) {
    const Flow *flow = &kernel->flow;
    int padding = 0;
    for (int i = 0; i < kernel->function->instructions; i++) {
        if (flow->region[i] > REGION_PADDING || flow->loop_of[i] >= flow->loops) abort();
        padding += flow->region[i] == REGION_PADDING;
    }
    for (int l = 0; l < flow->loops; l++)
        if (flow->loop[l].depth < 1 || flow->loop[l].parent >= flow->loops) abort();
    Counts counts = counts_of(module, (int)(kernel - module->kernel));
    if (counts.all.total + padding != kernel->function->instructions) abort();
    counts_free(&counts);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size); /* libFuzzer calls it */

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    char *text = list_zeroed(size + 1, 1);
    memcpy(text, data, size);
    Module module = sample_module(text);
    for (int k = 0; k < module.kernels; k++) check(&module, &module.kernel[k]);
    module_close(&module);
    free(text);
    return 0;
}
