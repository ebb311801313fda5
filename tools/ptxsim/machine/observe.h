/* What happens in a block, told to whoever records it (report/record.h). A hook is called only if
 * block->record is there, after the step that it belongs to was observed. */
#ifndef PTXSIM_OBSERVE_H
#define PTXSIM_OBSERVE_H

#include "machine/async.h"

typedef struct Record Record;
struct WgmmaTile; /* ops/mma.h */

/* The warp begins an operation, with the lanes of warp->mask. */
void observe_step(Record *record, const Warp *warp, const Op *op);

/* The warp will do the current step later: it is as if it had not begun. */
void observe_taken_back(Record *record, const Warp *warp);

/* The time of the warp's current step: an instruction takes 1, and a warp that waits goes on no
 * earlier than what it waited for has happened. */
uint64_t observe_clock(const Record *record, const Warp *warp);

/* A branch of the current step has sent its lanes both ways. */
void observe_divergence(Record *record, const Warp *warp);

/* A request of the current step: what access.h counts. */
void observe_shared(Record *record, const Warp *warp, const uint32_t address[LANES], uint32_t mask,
                    unsigned bytes, int matrices, Units units);
void observe_global(Record *record, const Warp *warp, const uint64_t address[LANES], uint32_t mask,
                    unsigned bytes, Units units);
void observe_local(Record *record, const Warp *warp, const uint64_t address[LANES], uint32_t mask,
                   unsigned bytes);

/* Lane l reads the register of lane from[l]. */
void observe_shuffle(Record *record, const Warp *warp, const uint8_t from[LANES]);

/* A bulk copy is issued, or a wgmma; `a` is NULL if A comes from registers. */
void observe_bulk(Record *record, const Bulk *bulk, Units units);
void observe_wgmma(Record *record, const Warp *warp, const Wgmma *wgmma, const struct WgmmaTile *a,
                   const struct WgmmaTile *b);

/* Groups of cp.async, bulk stores and wgmma: as race_commit and race_wait. */
void observe_commit(Record *record, const Warp *warp, RaceQueue queue);
void observe_wait(Record *record, const Warp *warp, RaceQueue queue, int keep);

/* Barriers: as race_barrier_arrive and race_barrier_release. */
void observe_barrier_arrive(Record *record, const Warp *warp, uint32_t id);
void observe_barrier_release(Record *record, uint32_t id, uint32_t waiting_warps);

/* mbarriers by shared address: initialised; `count` arrivals; the phase in progress is over; the
 * current step of the warp has found a phase over. */
void observe_mbarrier_init(Record *record, const Warp *warp, uint32_t mbarrier, uint32_t count);
void observe_mbarrier_arrive(Record *record, const Warp *warp, uint32_t mbarrier, uint32_t count);
void observe_mbarrier_complete(Record *record, uint32_t mbarrier);
void observe_mbarrier_acquire(Record *record, const Warp *warp, uint32_t mbarrier);

/* The block ends with a fault, described in block->report. warp NULL: all of them; lane -1: the
 * warp as a whole; race NULL: another kind of fault. */
void observe_fault(Record *record, const Warp *warp, int lane, const RaceReport *race);

#endif
