/* What nvcc's stubs register: the PTX of each program part, and its kernels and variables by their
 * host addresses. */
#ifndef PTXSIM_REGISTRY_H
#define PTXSIM_REGISTRY_H

#include "cuda/module.h"

enum {
    CAPABILITY = 90,            /* of the device, 10 * major + minor */
    DEFAULT_SHARED = 48 * 1024, /* of a block, static and dynamic; for more: cudaFuncSetAttribute */
    NOT_ASKED = -1,
};

/* A __global__ function. */
typedef struct Function {
    const void *host;
    char *name; /* mangled */
    struct Program *program;
    int dynamic_limit; /* bytes of dynamic shared memory: cudaFuncSetAttribute; or NOT_ASKED */
    bool failed;       /* it could not be decoded, and that was said */
    unsigned threads;  /* of its largest block since the counters were reset; 0: not launched */
    size_t dynamic;    /* the most dynamic shared memory of a block since then, bytes */
    struct Function *next;
} Function;

/* All functions, linked by Function.next. */
Function *registry_functions(void);

/* The function that a host address stands for, NULL: none. */
Function *registry_function(const void *host);

/* Its kernel, decoded. NULL if that is impossible; the reason has been printed then, once. */
Kernel *registry_kernel(Function *function);

/* The compute capability that its PTX is for: 80 for compute_80, 90 for compute_90a. */
int registry_ptx_version(const Function *function);

/* The device variable that a host variable stands for. */
bool registry_variable(const void *host, void **address, size_t *bytes);

/* Whether the address is in a device variable. */
bool registry_in_variable(const void *address);

/* All modules that are loaded, or whose counters are kept; linked by Module.next. */
Module *registry_modules(void);

/* Sets all counters to zero, forgets launches, and frees the modules whose program parts are gone.
 */
void registry_reset_counters(void);

#endif
