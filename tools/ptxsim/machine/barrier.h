/* The named barriers of a block (PTX ISA, "bar, barrier"): who has come, and who may go on. */
#ifndef PTXSIM_BARRIER_H
#define PTXSIM_BARRIER_H

#include "machine/block.h"

/* Op.mode of an instruction that comes to a barrier. */
typedef enum BarrierMode {
    BAR_SYNC,
    BAR_ARRIVE,
    BAR_RED_POPC,
    BAR_RED_AND,
    BAR_RED_OR
} BarrierMode;

/* A warp has ended, or a barrier changed: lets go the warps that wait for nothing more. */
void barrier_check(Block *block, uint32_t id);

/* How many threads a barrier of `count` waits for: 0 is all that have not ended. Whole warps, as
 * arrivals are counted too (PTX ISA, "bar, barrier"). */
uint32_t barrier_threads(const Block *block, uint32_t count);

#endif
