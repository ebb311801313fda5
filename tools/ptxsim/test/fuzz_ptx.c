/* Fuzzes the PTX parser and the inlining of calls. Whatever the text, they must end with a module
 * or with a message. Build and run: see fuzz_ptxsim.t. */
#include <stdint.h>
#include <stdlib.h>

#include "ptx/ptx.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size); /* libFuzzer calls it */

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    char error[512] = "";
    PtxModule *module = ptx_parse((const char *)data, size, error, sizeof error);
    if (!module) {
        if (!error[0]) abort(); /* a refusal without a reason */
        return 0;
    }
    for (int i = 0; i < module->functions; i++)
        if (module->function[i].is_kernel && module->function[i].has_body)
            ptx_inline(module, &module->function[i], error, sizeof error);
    ptx_free(module);
    return 0;
}
