/* One block: its warps take turns, each running until it has to wait. */
#ifndef PTXSIM_SCHEDULER_H
#define PTXSIM_SCHEDULER_H

#include "machine/block.h"

/* Memory for blocks of one launch. NULL if the host is short of memory. */
Block *block_new(const Kernel *kernel, const Settings *settings, const uint32_t grid[3],
                 const uint32_t threads[3], uint32_t dynamic_shared);
void block_free(Block *block);

/* Adds to block->count what straight pieces have left out: at the end of the launch. */
void block_count_straight(Block *block);

/* Runs block `index` of the grid to its end. False: a fault, described in block->report. */
bool block_run(Block *block, uint64_t index);

#endif
