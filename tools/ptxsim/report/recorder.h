/* Which blocks are recorded, and the file that the records go to. */
#ifndef PTXSIM_RECORDER_H
#define PTXSIM_RECORDER_H

#include "machine/observe.h"

/* A record of one block of a launch of `blocks` blocks, NULL: none is wanted. SIM_RECORD names the
 * file that gets it, SIM_BLOCK the block; else it is the one before the middle. Of each kernel the
 * first launch is recorded. */
Record *recorder_begin(const Kernel *kernel, const uint32_t grid[3], const uint32_t threads[3],
                       uint64_t blocks);

/* Runs a block, and records it if it is the one. False: a fault. */
bool recorder_run(Record *record, Block *block, uint64_t index);

/* Whether block `index`, which ended with a fault, is still to be recorded, in place of the one
 * that was chosen. */
bool recorder_choose_fault(Record *record, uint64_t index);

/* The launch is over: writes the file. */
void recorder_end(Record *record);

/* The kernel is about to go: its record stays as it is now. */
void recorder_forget(const Kernel *kernel);

#endif
