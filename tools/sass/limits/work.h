/* What a kernel asks of each unit of a GPU, in amounts that do not depend on the GPU. */
#ifndef SASS_WORK_H
#define SASS_WORK_H

#include "limits/executions.h"

/* Instructions are of warps. */
typedef enum Work {
    WORK_ISSUE,   /* instructions, whichever */
    WORK_FP32,    /* additions and multiplications of floats */
    WORK_HALF,    /* of pairs of 16-bit floats, conversions that ptxas writes as such included */
    WORK_IMAD,    /* multiplications of integers, and what ptxas writes as such */
    WORK_ALU,     /* comparisons, selections, logic, additions of integers, fp32 to fp16 */
    WORK_MUFU,    /* special functions and slow conversions */
    WORK_MMA,     /* multiply-adds of mma.sync */
    WORK_WGMMA,   /* multiply-adds of wgmma */
    WORK_SHARED,  /* wavefronts of shared memory, and lines of 128 bytes that L1 looks up */
    WORK_SHUFFLE, /* exchanges between lanes, which pass through the same pipe */
    WORK_L2,      /* bytes that surely pass through L2 */
    WORK_READ,    /* bytes of global memory that are read, each once */
    WORK_WRITTEN, /* bytes that are written, each once */
    WORK_BARRIER, /* arrivals of warps at barriers of their block */
    WORKS
} Work;

/* The pipe of arithmetic that an instruction takes, or WORKS: a move, or one of which no pipe is
 * published. */
Work work_pipe(const Instruction *instruction);

/* Wavefronts of shared memory, or lines of 128 bytes that L1 looks up, that one execution of a
 * memory instruction takes, by what was counted of it (NULL: nothing, then 1); of LDGSTS the
 * wavefronts of its shared side. */
double work_units(const Instruction *instruction, const Operation *operation, const Counted *shape);

/* Adds up what a kernel's machine code asks for, executed so often, with the memory traffic, tensor
 * instructions and bytes that were counted. `shape`: the launch with a recorded block, for its
 * lines_of. */
void work_of(const Kernel *kernel, const Executions *executions, const Counted *launch,
             const Matching *lines, const Counted *shape, double work[WORKS]);

#endif
