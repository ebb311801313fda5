/* The machine code in one file: a stage's variant (.so) or a bare cubin. */
#ifndef SASS_CUBIN_H
#define SASS_CUBIN_H

#include "analysis/flow.h"
#include "analysis/listing.h"
#include "base/error.h"

enum { MODULE_NAME_SIZE = 128 };

typedef struct Kernel {
    char name[MODULE_NAME_SIZE]; /* as in the source, without its parameters */
    const Function *function;
    Flow flow;
    int registers;      /* a thread; the numbers here are -1 where they are not known */
    int stack;          /* bytes per thread */
    int static_shared;  /* bytes per block */
    int dynamic_shared; /* bytes per block, as the stage launches it */
} Kernel;

typedef struct Module {
    char stage[MODULE_NAME_SIZE];    /* "07_swizzle"; of another file, its name */
    char variant[MODULE_NAME_SIZE];  /* "d128_fp16_full"; of another file, "" */
    char arch[MODULE_NAME_SIZE];     /* "sm_80" */
    char compiler[MODULE_NAME_SIZE]; /* "13.0.88"; "unknown" */
    const char *source;              /* of the kernels; NULL without line information */
    char *ptx;                       /* the PTX text, NULL unless asked for and there */
    char *counters;                  /* of simulated.h; NULL until a signature asks for them */
    Kernel *kernel;                  /* in the order of the stage's launches, else of the file */
    int kernels;
    Listing listing;
    char *text; /* what the listing points into */
} Module;

/* Disassembles a file with the programs named by the environment variables CUOBJDUMP and NVDISASM,
 * else found on PATH; `ptx` asks for its PTX text, too. On failure returns false with STATUS_SKIP
 * (no disassembler), STATUS_USAGE (no such file) or STATUS_FAIL, and *module needs no close. */
bool module_open(const char *path, bool ptx, Module *module, Error *error);

/* LDL and STL: reads and writes of local memory, which are spills or arrays outside registers. */
int kernel_spills(const Kernel *kernel);

/* Bytes of shared memory a block, static and dynamic together; -1 if not known. */
int kernel_shared(const Kernel *kernel);

void module_close(Module *module);

#endif
