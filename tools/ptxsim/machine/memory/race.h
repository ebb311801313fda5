/* Data races in the shared memory of one block, found by happens-before.
 *
 * Two accesses to the same bytes, at least one of them a write, race unless a chain of
 * synchronisation orders them, whatever the schedule of this run. The detector keeps a vector clock
 * for every warp and, for every cell of shared memory, the epoch of its last write and of the last
 * read by each reader (as in Flanagan and Freund, "FastTrack", PLDI 2009). An epoch carries a
 * source tag, so a report names both instructions.
 *
 * Who acts:
 * - A warp. Its lanes are ordered among each other only by the warp's collectives: since Volta
 *   threads of a warp may be scheduled independently, so two lanes that touch the same bytes need a
 *   race_warp_sync between (bar.warp.sync; shuffles, votes, mma and other .sync instructions wait
 *   for the lanes, but PTX does not promise that they order memory). One lane is in order with
 *   itself; lanes of one execution of one instruction never race here. An arrival at an mbarrier
 *   orders what its lane did, and what the others did before the warp last met (race_warp_sync, a
 *   barrier). What some lanes acquire, the others know when they have met. What is known of some
 * lanes is known of all that ever arrived: that may miss a race, but never invents one.
 * - Asynchronous copies and reads of a warp, in three queues (cp.async, bulk stores, wgmma). They
 *   happen some time between issue and the wait for their group: until then they race with every
 *   conflicting access, the issuing warp's own included.
 * - Bulk loads. They happen between issue and the completion of their mbarrier's phase.
 *
 * Strong accesses (atomics, .relaxed, .acquire, .release, .volatile) do not race with each other if
 * they are of the same bytes: in one block each is in the scope of the other, so they are morally
 * strong (PTX ISA, "Memory Consistency Model"). They order others as its release and acquire
 * patterns do: a release, or a fence and then a strong write, with an acquire, or a strong read and
 * then a fence, where the read finds what the write left, or what atomics made of that.
 *
 * Ordinary ("generic") writes become visible to the async proxy (bulk copies, wgmma) only through a
 * race_proxy_fence on the way: after the write, before the asynchronous access, on either side of
 * the barrier between them. Ordinary reads before an asynchronous write need no fence, as in
 * CUTLASS's pipelines. Accesses of the async proxy are visible to ordinary ones once completed.
 * A bulk load sees an mbarrier as it was initialised after that, or a race_mbarrier_init_fence.
 */
#ifndef PTXSIM_RACE_H
#define PTXSIM_RACE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    RACE_MAX_WARPS = 32,
    RACE_MAX_MBARRIERS = 128,
    RACE_MAX_BARRIERS = 16,
    RACE_MAX_SOURCE = (1 << 17) - 1,
    RACE_ALL_LANES = 32, /* as a lane: more than one */
};

typedef enum RaceAccess {
    RACE_READ,
    RACE_TEST,        /* a read by an instruction that uses an mbarrier */
    RACE_MATRIX_READ, /* ldmatrix: several lanes get what is at each address */
    RACE_WRITE,
    RACE_MATRIX_WRITE, /* stmatrix: it comes from several lanes */
    RACE_ATOMIC,       /* this and those that follow are strong */
    RACE_STRONG_READ,
    RACE_STRONG_WRITE,
} RaceAccess;

/* What a strong access or a fence does to the order of others: bits. */
enum { RACE_STRONG = 1, RACE_ACQUIRES = 2, RACE_RELEASES = 4 };

/* cp.async writes; bulk stores and wgmma read. */
typedef enum RaceQueue { RACE_COPY, RACE_BULK, RACE_WGMMA } RaceQueue;

typedef enum RaceActor {
    RACE_ACTOR_WARP,
    RACE_ACTOR_COPY,      /* cp.async of the warp */
    RACE_ACTOR_BULK,      /* bulk store of the warp */
    RACE_ACTOR_WGMMA,     /* wgmma of the warp */
    RACE_ACTOR_BULK_LOAD, /* bulk load that completes on an mbarrier */
} RaceActor;

typedef struct RaceSide {
    RaceActor actor;
    unsigned warp;     /* of the warp, or that issued it; for a past bulk load: unknown, 0 */
    unsigned lane;     /* for RACE_ACTOR_WARP, or RACE_ALL_LANES */
    uint32_t mbarrier; /* shared address, for RACE_ACTOR_BULK_LOAD */
    RaceAccess access;
    uint32_t source; /* the tag given with the access */
} RaceSide;

typedef enum RaceWhy {
    RACE_UNORDERED,      /* no barrier or wait orders the two */
    RACE_WITHIN_WARP,    /* two lanes of one warp, no __syncwarp between */
    RACE_NOT_WAITED,     /* the earlier one is asynchronous and nobody has waited for it */
    RACE_NO_PROXY_FENCE, /* ordered, but no fence.proxy.async between */
    RACE_SIZES,          /* both are strong, but one has more bytes than the other */
    RACE_OTHER_LANE,     /* another lane of the warp has waited for the earlier one */
    RACE_NO_INIT_FENCE,  /* a bulk load's mbarrier was initialised, but with no fence after that */
} RaceWhy;

typedef struct RaceReport {
    RaceWhy why;
    uint32_t address; /* of the first racing cell, shared-memory bytes */
    RaceSide earlier, later;
} RaceReport;

typedef struct Race Race;

/* A detector for blocks with `bytes` of shared memory at addresses base .. base + bytes and
 * `warps` warps. `granule` (1, 2 or 4) is the size of a cell in bytes: the kernel's narrowest
 * shared access, since two accesses to one cell count as touching the same bytes. NULL if memory
 * is short. */
Race *race_new(uint32_t base, uint32_t bytes, unsigned warps, unsigned granule);
void race_free(Race *race);

/* Forgets everything: a new block begins. Constant time but for clocks that run over. */
void race_begin_block(Race *race);

/* Lets clocks pass as if so much had happened: for a test of clocks that run over. */
void race_skip(Race *race, uint32_t clocks);

/* All access functions return true if the access races, then fill *report and do not record the
 * access (the first race is the one to mend). Addresses must be inside shared memory (the
 * executor has checked). `source` is any number up to RACE_MAX_SOURCE, such as the index of the
 * instruction. */

/* An access of `bytes` by the lanes in `mask`, one instruction. A strong one of a vector is one for
 * each of its elements. */
bool race_access(Race *race, unsigned warp, RaceAccess access, uint32_t mask,
                 const uint32_t address[32], unsigned bytes, uint32_t source, RaceReport *report);

/* cp.async of the lanes in `mask`: writes to shared memory, joins queue RACE_COPY. */
bool race_copy(Race *race, unsigned warp, uint32_t mask, const uint32_t address[32], unsigned bytes,
               uint32_t source, RaceReport *report);

/* An asynchronous read of `count` ranges of `bytes` (16 for the chunks of a wgmma operand), by
 * queue RACE_BULK or RACE_WGMMA, issued by `lane` (RACE_ALL_LANES: by all of them). */
bool race_async_read(Race *race, unsigned warp, unsigned lane, RaceQueue queue, unsigned count,
                     const uint32_t address[], unsigned bytes, uint32_t source, RaceReport *report);

/* A bulk load issued by a lane of `warp` that writes one range and completes on the mbarrier at
 * address `mbarrier` in the phase now in progress. The mbarrier's initialisation, an ordinary
 * write, must be visible to it, too. */
bool race_bulk_load(Race *race, unsigned warp, unsigned lane, uint32_t mbarrier, uint32_t address,
                    uint32_t bytes, uint32_t source, RaceReport *report);

/* Lanes close the open group of a queue (commit_group), and wait until at most `keep` closed groups
 * are outstanding (wait_group keep). RACE_WAIT_ALL waits for uncommitted ones too (wait_all). Those
 * that have never issued anything change nothing. */
enum { RACE_WAIT_ALL = -1 };
void race_commit(Race *race, unsigned warp, RaceQueue queue, uint32_t lanes);
void race_wait(Race *race, unsigned warp, RaceQueue queue, int keep, uint32_t lanes);

/* The lanes of the warp that have not ended; all until this is said. */
void race_live(Race *race, unsigned warp, uint32_t lanes);

/* __syncwarp of the lanes in `members`. */
void race_warp_sync(Race *race, unsigned warp, uint32_t members);

/* The lanes have come to a shuffle, vote or other .sync instruction. It orders no memory, but a
 * test of an mbarrier before it is over: its result was there. */
void race_gather(Race *race, unsigned warp);

/* bar.sync, bar.arrive, bar.red: `warp` arrives at barrier `id`. If it waits there, its lanes meet.
 * Once the last participant has arrived, the executor calls race_barrier_release with the warps
 * that were waiting at it. */
void race_barrier_arrive(Race *race, unsigned id, unsigned warp, bool waits);
void race_barrier_release(Race *race, unsigned id, uint32_t waiting_warps);

/* Whether an arrival of the warp at barrier `id` can only be one for the use in progress, because
 * it knows of all arrivals of the use before: else another schedule may count it there. To be asked
 * before it arrives. */
bool race_barrier_knows(const Race *race, unsigned id, unsigned warp);

/* mbarrier by shared address: an arrival of a lane (RACE_ALL_LANES: of all), with
 * `copies` also of the warp's cp.async so far (cp.async.mbarrier.arrive); the completion of the
 * phase in progress; and a test or wait of some lanes that found a phase completed. `order` says
 * whether it releases or acquires; a relaxed one leaves that to a fence. False if the block has
 * more than RACE_MAX_MBARRIERS of them; then races through that one may be reported wrongly. */
bool race_mbarrier_arrive(Race *race, uint32_t mbarrier, unsigned warp, unsigned lane,
                          unsigned order, bool copies);
bool race_mbarrier_complete(Race *race, uint32_t mbarrier);
bool race_mbarrier_acquire(Race *race, uint32_t mbarrier, unsigned warp, uint32_t lanes,
                           unsigned order);

/* mbarrier.init by a lane: its first phase begins. */
void race_mbarrier_init(Race *race, uint32_t mbarrier, unsigned warp, unsigned lane);

/* A parity tells a phase from the one before it, not from the one before that. So whatever the
 * schedule, a warp that waits by parity must know that the phase before is over: else an earlier
 * one may pass for the one that is meant. And a phase may complete only after all waits for the one
 * before: else they end too late, or never.
 * And an arrival must know that the phase before is over, if there are waits for that: else it may
 * end that one in the place of another arrival.
 * race_mbarrier_knows: whether the first holds for a warp that has found the last phase completed;
 * to be asked before it acquires. race_mbarrier_passes: a warp whose wait nothing orders before the
 * completion of the phase in progress, or -1; to be asked before that.
 * race_mbarrier_unsure: a warp whose arrival in the phase in progress may be counted in the one
 * before, for which there was a wait, or -1; to be asked after an arrival or a wait. */
bool race_mbarrier_knows(Race *race, uint32_t mbarrier, unsigned warp);
int race_mbarrier_passes(Race *race, uint32_t mbarrier);
int race_mbarrier_unsure(Race *race, uint32_t mbarrier);

/* A lane's strong access to `address`, shared or global, is performed: a read, which may acquire,
 * or a write, which may release. An atomic that writes is first the one and then the other, which
 * goes on with what the write before it released. `order` are bits, as above. */
void race_strong_read(Race *race, unsigned warp, unsigned lane, uint64_t address, unsigned order);
void race_strong_write(Race *race, unsigned warp, unsigned lane, uint64_t address, unsigned order,
                       bool atomic);

/* fence.sc, fence.acq_rel, membar by the lanes in `mask`; `order` says of a fence whether it
 * acquires, releases, or both. */
void race_fence(Race *race, unsigned warp, uint32_t mask, unsigned order);

/* fence.proxy.async by lanes of `warp`; fence.mbarrier_init, which is for the mbarriers alone that
 * these lanes have initialised before (PTX ISA, "membar / fence"). */
void race_proxy_fence(Race *race, unsigned warp, uint32_t lanes);
void race_mbarrier_init_fence(Race *race, unsigned warp, uint32_t lanes);

/* For races between blocks (grid_race.h): what is known of a warp's next access, and what the warp
 * does that other blocks heed. Lanes of a warp are not told apart here. */
typedef struct RaceMoment {
    unsigned warp;
    uint32_t clock;
    uint32_t orders; /* how often a warp of the block has done what other blocks heed */
    unsigned before; /* RACE_STRONG: so is a strong read, RACE_ACQUIRES: so is an acquire */
} RaceMoment;

RaceMoment race_blocks_moment(const Race *race, unsigned warp);

/* A strong read, which may acquire; a fence, which acquires after a strong read, and covers what is
 * ordered before it; a strong write, which releases what such fences cover, or with RACE_RELEASES
 * all that is ordered before it: released[w] becomes at least the clock up to which that is so of
 * warp w. A fence also counts for who is ordered after it, as in `__threadfence();
 * __syncthreads();` before one thread's atomic: PTX wants it in the thread that writes, but nobody
 * relies on less. */
void race_blocks_read(Race *race, unsigned warp, unsigned order);
void race_blocks_fence(Race *race, unsigned warp, unsigned order);
void race_blocks_write(Race *race, unsigned warp, unsigned order, uint32_t *released);

/* What went wrong and what usually cures it, one sentence, without the two sides. */
const char *race_message(RaceWhy why);

/* One side in words, such as "cp.async of warp 3 (write)", to `text`, at most `size` bytes. */
void race_side_text(const RaceSide *side, char *text, size_t size);

#endif
