/* A loaded module: the PTX of one fatbin, its global variables, and its kernels, each decoded when
 * it is first asked for. */
#ifndef PTXSIM_MODULE_H
#define PTXSIM_MODULE_H

#include "decode/kernel.h"

typedef struct Module {
    PtxModule *ptx;
    Kernel *kernel; /* [kernels], one for each kernel of ptx, in its order */
    int kernels;
    char **broken;       /* [kernels]: why one could not be decoded */
    struct Module *next; /* in the registry's list */
    bool retired;        /* its program part is gone; only its counters are kept */
} Module;

/* Parses the PTX and allocates the module's variables. NULL and one sentence in `error` if it is no
 * PTX that the simulator knows, or memory is short. */
Module *module_load(const char *text, size_t length, char *error, size_t error_size);
void module_free(Module *module);

/* Sets the counters of all its kernels to zero. */
void module_reset_counters(Module *module);

/* The decoded kernel of this (mangled) name. NULL and one sentence in `error` if there is none or
 * it has an instruction that is not supported. */
Kernel *module_kernel(Module *module, const char *name, char *error, size_t error_size);

/* A variable of the module: its device address and bytes; false if there is none of that name. */
bool module_variable(const Module *module, const char *name, void **address, size_t *bytes);

/* Whether the device address is in one of them. */
bool module_in_variable(const Module *module, const void *address);

/* The name, as in the source, of a variable of the kernel's module that the launch in progress has
 * stored to; NULL: of none. It is kept as long as the kernel. */
const char *module_stored(Kernel *kernel);

#endif
