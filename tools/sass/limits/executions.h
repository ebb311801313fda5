/* How often each instruction of the machine code is executed, from how often the simulator executed
 * the PTX that it was made from.
 *
 * All instructions of a basic block run equally often. Each of them names a line of PTX, and so a
 * number of executions, shared out among the copies that ptxas made of it. Where it unrolled a
 * loop, the block with the most copies takes all: what is left for the others is a remainder of a
 * few rounds. The number that most instructions of a block agree on is the block's; those that
 * ptxas rarely moves, merges or makes of something else (memory, barriers, tensor cores, floats,
 * lanes) decide before the others. */
#ifndef SASS_EXECUTIONS_H
#define SASS_EXECUTIONS_H

#include "analysis/cubin.h"
#include "limits/matching.h"

typedef struct Executions {
    double *of;    /* [instructions]: by all warps */
    int *sure;     /* [instructions]: how many deciding instructions of its block say so */
    int unmatched; /* a loop in which most deciding instructions disagree with their blocks, or -1
                    */
} Executions;

/* `lines` says which operation of `launch` is on a line of the PTX. */
Executions executions_of(const Kernel *kernel, const Counted *launch, const Matching *lines);

void executions_free(Executions *executions);

#endif
