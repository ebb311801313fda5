/* mbarriers as words of a block's shared memory, with their faults, races and progress. */
#ifndef PTXSIM_MBARRIER_WORD_H
#define PTXSIM_MBARRIER_WORD_H

#include "machine/block.h"
#include "machine/mbarrier.h"

/* The host bytes of the mbarrier at a shared address. Faults if it is outside or misaligned. */
uint8_t *mbarrier_bytes(Warp *warp, int lane, uint32_t address);

/* The word there, and its new value. */
uint64_t mbarrier_get(Warp *warp, int lane, uint32_t address);
void mbarrier_put(Block *block, uint32_t address, uint64_t word);

/* Faults if the status is not MBARRIER_OK. */
void mbarrier_require(Warp *warp, int lane, uint32_t address, MbarrierStatus status);

/* How many phases of the mbarrier at a valid address have completed. */
static inline uint32_t *mbarrier_phases(const Block *block, uint32_t address) {
    return &block->phases[(address - SHARED_BASE) / sizeof(uint64_t)];
}

/* The phase in progress has completed, by what a lane did. */
void mbarrier_phase_ended(Warp *warp, int lane, uint32_t address);

/* With a search for races: faults if it is unsure to which phase an arrival belongs. */
void mbarrier_require_sure(Warp *warp, int lane, uint32_t address);

/* One arrival more to come in this phase. */
void mbarrier_await_copy_at(Warp *warp, int lane, uint32_t address);

/* An arrival, and the end of an asynchronous copy. */
void mbarrier_arrive_at(Warp *warp, int lane, uint32_t address, uint32_t count);
void mbarrier_complete_at(Warp *warp, int lane, uint32_t address, uint32_t bytes);

#endif
