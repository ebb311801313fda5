/* What the search for races keeps; race.c compares accesses, race_sync.c orders them. */
#ifndef PTXSIM_RACE_STATE_H
#define PTXSIM_RACE_STATE_H

#include "machine/memory/race.h"

/* ---- Clocks ----------------------------------------------------------------------------------
 *
 * A vector holds for every actor the latest clock whose accesses are known to be over. An actor is
 * an index into the vector: sections of one entry a warp, then one entry a mbarrier. Two sections
 * hold no actors but, for the ordinary writes of each warp and of its cp.async, the latest clock
 * that the async proxy sees too; so that joining vectors carries this along. In the same way two
 * sections hold for each warp the latest clock that is known of some of its lanes only, and which:
 * joining makes them more, so that no race is invented. */
enum {
    SECTION_WARP,
    SECTION_COPY,
    SECTION_VISIBLE,
    SECTION_BULK = 4,
    SECTION_WGMMA,
    SECTION_SOME,
    SECTION_LANES,
    SECTIONS
};
enum { MAX_WIDTH = SECTIONS * RACE_MAX_WARPS + RACE_MAX_MBARRIERS };

static const unsigned queue_section[] = {SECTION_COPY, SECTION_BULK, SECTION_WGMMA};
enum { QUEUES = 3, RING = 64 };

/* A queue of asynchronous groups. Accesses of the open group carry the clock `open`. */
typedef struct Queue {
    uint32_t open;
    uint32_t closed[RING]; /* clocks of the last groups committed, by number modulo RING */
    uint32_t count;        /* groups committed */
} Queue;

typedef struct MbarrierClocks {
    uint32_t address;
    uint32_t phase;              /* clock of bulk loads in the phase in progress */
    uint32_t arrived[MAX_WIDTH]; /* joined from the arrivals so far */
    uint32_t completed[MAX_WIDTH];
} MbarrierClocks;

/* ---- Cells -----------------------------------------------------------------------------------
 *
 * An epoch is one access: clock:31 | actor:9 | atomic:1 | lane:6 | source:17, highest bits first.
 */
typedef uint64_t Epoch;
enum { LANE_SHIFT = 17, ATOMIC_SHIFT = 23, ACTOR_SHIFT = 24, CLOCK_SHIFT = 33 };
enum { NO_LANE = 63 }; /* the whole warp acts, or one lane that need not be told from others */

enum { READER_KINDS = 3 }; /* ordinary reads, bulk stores, wgmma */

struct Race {
    uint32_t base;
    unsigned warps, shift; /* a cell has 1 << shift bytes */
    uint32_t cells;
    uint32_t highest; /* clock given out */
    unsigned mbarriers;
    Epoch *write;                              /* [cells] */
    uint32_t *readers[READER_KINDS];           /* [cells], a bit a warp */
    Epoch *read[READER_KINDS][RACE_MAX_WARPS]; /* [cells] */
    uint32_t clock[RACE_MAX_WARPS][MAX_WIDTH]; /* what each warp knows */
    uint32_t met[RACE_MAX_WARPS];              /* its clock when its lanes were last ordered */
    Queue queue[QUEUES][RACE_MAX_WARPS];
    uint32_t barrier[RACE_MAX_BARRIERS][MAX_WIDTH];
    MbarrierClocks mbarrier[RACE_MAX_MBARRIERS];
};

static inline uint32_t clock_of(Epoch epoch) { return (uint32_t)(epoch >> CLOCK_SHIFT); }
static inline unsigned actor_of(Epoch epoch) { return epoch >> ACTOR_SHIFT & 511; }
static inline unsigned lane_of(Epoch epoch) { return epoch >> LANE_SHIFT & 63; }
static inline bool is_atomic(Epoch epoch) { return epoch >> ATOMIC_SHIFT & 1; }
static inline uint64_t moment_of(Epoch epoch) { return epoch >> ACTOR_SHIFT; } /* actor and clock */

static inline unsigned actor(const Race *race, unsigned section, unsigned warp) {
    return section * race->warps + warp;
}

static inline unsigned mbarrier_actor(const Race *race, unsigned index) {
    return SECTIONS * race->warps + index;
}

static inline unsigned width(const Race *race) { return mbarrier_actor(race, race->mbarriers); }

static inline unsigned mbarrier_index(const Race *race, const MbarrierClocks *clocks) {
    return mbarrier_actor(race, (unsigned)(clocks - race->mbarrier));
}

static inline uint32_t next_clock(Race *race) { return ++race->highest; }

static inline void join(const Race *race, uint32_t *into, const uint32_t *from) {
    const unsigned n = width(race), lanes = actor(race, SECTION_LANES, 0);
    const unsigned rest = actor(race, SECTION_LANES + 1, 0);
    for (unsigned i = 0; i < lanes; i++) into[i] = into[i] > from[i] ? into[i] : from[i];
    for (unsigned i = lanes; i < rest; i++) into[i] |= from[i];
    for (unsigned i = rest; i < n; i++) into[i] = into[i] > from[i] ? into[i] : from[i];
}

/* After a warp has published its clock, what it does next must carry a later one. Lanes of a warp
 * conflict within one clock only, so this also orders them. */
static inline void tick(Race *race, unsigned warp) {
    race->clock[warp][actor(race, SECTION_WARP, warp)] = next_clock(race);
}

/* All lanes of a warp have met: what they did so far is ordered for all of them. */
static inline void meet(Race *race, unsigned warp) {
    race->met[warp] = race->clock[warp][actor(race, SECTION_WARP, warp)];
    tick(race, warp);
}

/* The clocks of the mbarrier at `address`, made on first use; NULL if there are too many. */
MbarrierClocks *race_mbarrier(Race *race, uint32_t address);

#endif
