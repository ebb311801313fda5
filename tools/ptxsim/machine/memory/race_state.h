/* What the search for races keeps; race_access.c compares accesses, race_sync.c orders them. */
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
 * joining makes them more, so that no race is invented. Two more hold the same of what the async
 * proxy sees of a warp's writes. SECTION_PASSED holds the latest clock that each warp has come to,
 * whatever is known of its accesses: relaxed arrivals tell it, too, and copies of their issue.
 * Two are for races between blocks (race_blocks.c): SECTION_FENCED holds up to which clock fences
 * that other blocks heed cover what each warp did, SECTION_ORDER what it has read strongly or
 * acquired. */
enum {
    SECTION_WARP,
    SECTION_COPY,
    SECTION_VISIBLE,
    SECTION_BULK = 4,
    SECTION_WGMMA,
    SECTION_PASSED,
    SECTION_SOME,
    SECTION_SOME_VISIBLE,
    SECTION_FENCED,
    SECTION_LANES, /* from here on bits, which joining adds */
    SECTION_LANES_VISIBLE,
    SECTION_ORDER,
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
    uint32_t lanes;        /* that have ever issued something: the groups are theirs */
} Queue;

/* A named barrier: what the arrivals so far know, and each warp's clock at its arrival in the use
 * in progress and in the one before. */
typedef struct BarrierClocks {
    uint32_t arrived[MAX_WIDTH];
    uint32_t now[RACE_MAX_WARPS], last[RACE_MAX_WARPS];
} BarrierClocks;

/* Who knows that a phase is over: who knows of a wait that has found it so, or of all its arrivals.
 */
typedef struct Phase {
    uint32_t clock;                   /* of its bulk loads */
    uint32_t arrival[RACE_MAX_WARPS]; /* each warp's clock at its last one */
    uint32_t waited[RACE_MAX_WARPS];  /* and when it has found the phase completed */
    bool copies;                      /* it also waits for some, which nobody knows of */
    bool unsure;                      /* it has an arrival that may be one for the phase before: */
    unsigned of;                      /* of this warp */
} Phase;

typedef struct MbarrierClocks {
    uint32_t address;
    unsigned warp, lane;         /* that have initialised it */
    uint32_t fenced;             /* the warp's clock at its race_mbarrier_init_fence; 0: none */
    Phase now, last, before;     /* in progress, the last that completed, the one before it */
    uint32_t arrived[MAX_WIDTH]; /* joined from the arrivals so far */
    uint32_t completed[MAX_WIDTH];
} MbarrierClocks;

/* ---- Cells -----------------------------------------------------------------------------------
 *
 * An epoch is one access: clock:30 | actor:10 | atomic:1 | lane:6 | source:17, highest bits first.
 */
typedef uint64_t Epoch;
enum { LANE_SHIFT = 17, ATOMIC_SHIFT = 23, ACTOR_SHIFT = 24, CLOCK_SHIFT = 34 };
enum {
    MOMENTS = 62, /* several lanes, at different moments: the clock is that of the last */
    NO_LANE = 63, /* the whole warp acts, or one lane that need not be told from others */
};

/* What a cell remembers of each warp, beside the last weak write of all. */
enum {
    READS,
    BULK_STORES,
    WGMMA_READS,
    TESTS, /* and arrivals, of an mbarrier */
    STRONG_READS,
    STRONG_WRITES,
    RECORDS,
    WEAK_WRITES = RECORDS
};

/* ---- Strong writes ---------------------------------------------------------------------------
 *
 * What a strong read of a location acquires, of those that anything was released to. */
typedef struct Location {
    uint64_t address;
    bool used;
    uint32_t released[RACE_MAX_WARPS]; /* lanes that have released something there */
    uint32_t clock[MAX_WIDTH];
} Location;

/* A table by the hash of the address, and the one that stands for all that have no room in it. */
enum { LOCATIONS = 512, MOST_LOCATIONS = 3 * LOCATIONS / 4 };

/* The last fence of a warp that releases: what its lanes' strong writes release from then on. */
typedef struct Fence {
    uint32_t lanes, met, at;
    uint32_t peers[32]; /* of each lane: whose doings it covers, too */
    uint32_t clock[MAX_WIDTH];
} Fence;

struct Race {
    uint32_t base;
    unsigned warps, shift; /* a cell has 1 << shift bytes */
    uint32_t cells;
    uint32_t highest; /* clock given out */
    unsigned mbarriers;
    unsigned used;                             /* records that some cell may have, a bit each */
    Epoch *write;                              /* [cells] */
    uint32_t *readers[RECORDS];                /* [cells], a bit a warp: whose records count */
    Epoch *read[RECORDS][RACE_MAX_WARPS];      /* [cells] */
    uint32_t clock[RACE_MAX_WARPS][MAX_WIDTH]; /* what each warp knows */
    uint32_t met[RACE_MAX_WARPS];              /* its clock when its lanes were last ordered */
    uint32_t gathered[RACE_MAX_WARPS];         /* or at least all came to one instruction */
    uint32_t live[RACE_MAX_WARPS];             /* lanes */
    uint32_t ahead[RACE_MAX_WARPS]; /* lanes that have acquired something; 0: all know it */
    uint32_t behind[RACE_MAX_WARPS][MAX_WIDTH]; /* what the others know */
    uint32_t orders;                            /* RaceMoment */
    bool parted[RACE_MAX_WARPS];                /* some of its lanes have met since: */
    uint32_t within[RACE_MAX_WARPS][32][32];    /* what each lane knows of each, as a clock */
    bool tested[RACE_MAX_WARPS];                /* it has used an mbarrier since */
    uint32_t landed[RACE_MAX_WARPS];            /* clock of its cp.async that all lanes know */
    Queue queue[QUEUES][RACE_MAX_WARPS];
    BarrierClocks barrier[RACE_MAX_BARRIERS];
    MbarrierClocks mbarrier[RACE_MAX_MBARRIERS];
    Fence fence[RACE_MAX_WARPS];
    uint32_t seen[RACE_MAX_WARPS][MAX_WIDTH]; /* by strong reads: a fence acquires it */
    unsigned locations;
    Location location[LOCATIONS + 1];
    uint8_t strong[RACE_MAX_SOURCE + 1]; /* bytes of the strong accesses with that source */
};

static inline uint32_t clock_of(Epoch epoch) { return (uint32_t)(epoch >> CLOCK_SHIFT); }
static inline unsigned actor_of(Epoch epoch) { return epoch >> ACTOR_SHIFT & 1023; }
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
    const unsigned rest = actor(race, SECTIONS, 0);
    for (unsigned i = 0; i < lanes; i++) into[i] = into[i] > from[i] ? into[i] : from[i];
    for (unsigned i = lanes; i < rest; i++) into[i] |= from[i];
    for (unsigned i = rest; i < n; i++) into[i] = into[i] > from[i] ? into[i] : from[i];
}

/* After a warp has published its clock, what it does next must carry a later one. */
static inline void tick(Race *race, unsigned warp) {
    const uint32_t clock = next_clock(race);
    race->clock[warp][actor(race, SECTION_WARP, warp)] = clock;
    race->clock[warp][actor(race, SECTION_PASSED, warp)] = clock;
}

/* What is to come is later than all that `from` has passed, though it may see none of it. */
static inline void follow(const Race *race, uint32_t *into, const uint32_t *from) {
    const unsigned first = actor(race, SECTION_PASSED, 0), end = first + race->warps;
    for (unsigned i = first; i < end; i++) into[i] = into[i] > from[i] ? into[i] : from[i];
}

/* All lanes of a warp have met: what they did so far is ordered for all of them. */
static inline void meet(Race *race, unsigned warp) {
    race->tested[warp] = race->parted[warp] = false;
    race->ahead[warp] = 0;
    race->landed[warp] = race->clock[warp][actor(race, SECTION_COPY, warp)];
    race->met[warp] = race->gathered[warp] = race->clock[warp][actor(race, SECTION_WARP, warp)];
    tick(race, warp);
}

/* What a lane knows, or all lanes do. */
static inline const uint32_t *known_to(const Race *race, unsigned warp, unsigned lane) {
    const uint32_t ahead = race->ahead[warp];
    const bool knows = !ahead || (lane < RACE_ALL_LANES && ahead >> lane & 1);
    return knows ? race->clock[warp] : race->behind[warp];
}

/* The lanes are told what those ahead know. */
static inline void go_ahead(Race *race, unsigned warp, uint32_t lanes) {
    race->ahead[warp] |= lanes;
    if ((race->ahead[warp] & race->live[warp]) == race->live[warp]) race->ahead[warp] = 0;
}

/* The clocks of the mbarrier at `address`, made on first use; NULL if there are too many. */
MbarrierClocks *race_mbarrier(Race *race, uint32_t address);

/* A weak write of the lanes has replaced what was released there. */
void race_forget(Race *race, uint32_t mask, const uint32_t address[32]);

#endif
