/* A stage's variant, loaded from its shared library. The CUDA calls in it bind to the runtime of
 * this program, GPU or simulator. */
#ifndef STAGE_H
#define STAGE_H

#include "device/device.h"
#include "truth/problem.h"

typedef struct Stage {
    char folder[1024]; /* "build/sm_80/07_swizzle" */
    char name[64];     /* "07_swizzle" */
    int number;        /* 7; 0 if the name does not start with digits and '_' */
    bool one_device;   /* its PTX is for one compute capability alone, as that of sm_90a is */
    void *library;
    const AttentionKernel *kernels;
    const char *(*supports)(const AttentionProblem *problem, int compute_capability);
    size_t (*workspace_bytes)(const AttentionProblem *problem);
    cudaError_t (*launch)(const AttentionProblem *problem, const AttentionTensors *tensors,
                          void *workspace, cudaStream_t stream);
} Stage;

/* What the compiler made of the stage, the largest over its kernels; -1: unknown. */
typedef struct StageResources {
    int registers;    /* per thread */
    int threads;      /* per block */
    int shared_bytes; /* per block, static and dynamic */
    int spill_bytes;  /* local memory per thread */
    int ptx_version;  /* the compute capability that its PTX is for: 80 for compute_80 */
} StageResources;

/* Sets folder, name and number alone. */
void stage_name(const char *folder, Stage *stage);

/* Loads the variant for the problem. A folder that is not there: STATUS_USAGE; a variant that is
 * not there or does not load: STATUS_FAIL. While make builds stages beside the program, as the
 * environment's BUILDING says, it waits for the variant. */
bool stage_open(const char *folder, const Problem *problem, Stage *stage, Error *error);

/* What the stage answers (attention.h). */
const char *stage_supports(const Stage *stage, const AttentionProblem *problem,
                           int compute_capability);
size_t stage_workspace_bytes(const Stage *stage, const AttentionProblem *problem);

/* Of the simulator's PTX, registers and spills are not known. */
StageResources stage_resources(const Stage *stage, bool simulated);

/* STATUS_FAIL unless attention_kernels names kernels and has a __global__ function of each. To ask
 * where the stage runs: of no other device does the runtime know its kernels. */
bool stage_kernels_known(const Stage *stage, Error *error);

void stage_close(Stage *stage);

#endif
