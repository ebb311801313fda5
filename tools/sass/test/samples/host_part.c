/* The host code of stage.cu, as far as the lab looks at it: the table of kernels, and what says
 * which is which. */
#include "attention.h"

static const char prepare, flash_fwd;

void __cudaRegisterFunction(void **handle, const char *host, char *device, const char *name,
                            int threads, void *a, void *b, void *c, void *d, int *e);

__attribute__((constructor)) static void register_kernels(void) {
    static char symbol[][30] = {"_Z9flash_fwdPK5uint4Pfi", "_Z7preparePK5uint4Pfi"};
    __cudaRegisterFunction(0, &flash_fwd, symbol[0], symbol[0], -1, 0, 0, 0, 0, 0);
    __cudaRegisterFunction(0, &prepare, symbol[1], symbol[1], -1, 0, 0, 0, 0, 0);
}

const AttentionKernel attention_kernels[] = {
    {"prepare", &prepare, 32, 0}, {"flash_fwd", &flash_fwd, 32, 64}, {NULL, NULL, 0, 0}};
