#include "machine/memory/race.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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

static uint32_t clock_of(Epoch epoch) { return (uint32_t)(epoch >> CLOCK_SHIFT); }
static unsigned actor_of(Epoch epoch) { return epoch >> ACTOR_SHIFT & 511; }
static unsigned lane_of(Epoch epoch) { return epoch >> LANE_SHIFT & 63; }
static bool is_atomic(Epoch epoch) { return epoch >> ATOMIC_SHIFT & 1; }
static uint64_t moment_of(Epoch epoch) { return epoch >> ACTOR_SHIFT; } /* actor and clock */

static unsigned actor(const Race *race, unsigned section, unsigned warp) {
    return section * race->warps + warp;
}

static unsigned mbarrier_actor(const Race *race, unsigned index) {
    return SECTIONS * race->warps + index;
}

static unsigned width(const Race *race) { return mbarrier_actor(race, race->mbarriers); }

static uint32_t next_clock(Race *race) { return ++race->highest; }

static void join(const Race *race, uint32_t *into, const uint32_t *from) {
    const unsigned n = width(race), lanes = actor(race, SECTION_LANES, 0);
    const unsigned rest = actor(race, SECTION_LANES + 1, 0);
    for (unsigned i = 0; i < lanes; i++) into[i] = into[i] > from[i] ? into[i] : from[i];
    for (unsigned i = lanes; i < rest; i++) into[i] |= from[i];
    for (unsigned i = rest; i < n; i++) into[i] = into[i] > from[i] ? into[i] : from[i];
}

/* After a warp has published its clock, what it does next must carry a later one. Lanes of a warp
 * conflict within one clock only, so this also orders them. */
static void tick(Race *race, unsigned warp) {
    race->clock[warp][actor(race, SECTION_WARP, warp)] = next_clock(race);
}

/* All lanes of a warp have met: what they did so far is ordered for all of them. */
static void meet(Race *race, unsigned warp) {
    race->met[warp] = race->clock[warp][actor(race, SECTION_WARP, warp)];
    tick(race, warp);
}

/* ---- Life ------------------------------------------------------------------------------------ */

Race *race_new(uint32_t base, uint32_t bytes, unsigned warps, unsigned granule) {
    Race *race = calloc(1, sizeof *race);
    if (!race) return NULL;
    race->base = base;
    race->warps = warps;
    race->shift = (unsigned)__builtin_ctz(granule);
    race->cells = (bytes >> race->shift) + 1;
    bool ok = (race->write = calloc(race->cells, sizeof(Epoch))) != NULL;
    for (unsigned kind = 0; kind < READER_KINDS; kind++) {
        ok = ok && (race->readers[kind] = calloc(race->cells, sizeof(uint32_t)));
        for (unsigned warp = 0; ok && warp < warps; warp++)
            ok = (race->read[kind][warp] = calloc(race->cells, sizeof(Epoch))) != NULL;
    }
    if (!ok) {
        race_free(race);
        return NULL;
    }
    race_begin_block(race);
    return race;
}

void race_free(Race *race) {
    if (!race) return;
    for (unsigned kind = 0; kind < READER_KINDS; kind++) {
        free(race->readers[kind]);
        for (unsigned warp = 0; warp < RACE_MAX_WARPS; warp++) free(race->read[kind][warp]);
    }
    free(race->write);
    free(race);
}

/* Clocks are about to run over: forget all epochs and start from 0. */
static void rewind_clocks(Race *race) {
    race->highest = 0;
    memset(race->write, 0, race->cells * sizeof *race->write);
    for (unsigned kind = 0; kind < READER_KINDS; kind++)
        for (unsigned warp = 0; warp < race->warps; warp++)
            memset(race->read[kind][warp], 0, race->cells * sizeof(Epoch));
}

void race_begin_block(Race *race) {
    if (race->highest > 1u << 29) rewind_clocks(race);
    /* whatever happened in earlier blocks is known to be over */
    uint32_t past = race->highest;
    for (unsigned warp = 0; warp < race->warps; warp++) {
        for (unsigned i = 0; i < MAX_WIDTH; i++) race->clock[warp][i] = past;
        memset(&race->clock[warp][actor(race, SECTION_LANES, 0)], 0,
               race->warps * sizeof race->clock[warp][0]);
        race->met[warp] = past;
        for (unsigned q = 0; q < QUEUES; q++) {
            race->queue[q][warp].count = 0;
            race->queue[q][warp].open = next_clock(race);
        }
        tick(race, warp);
    }
    memset(race->barrier, 0, sizeof race->barrier);
    race->mbarriers = 0;
}

void race_skip(Race *race, uint32_t clocks) { race->highest += clocks; }

/* ---- Checking -------------------------------------------------------------------------------- */

/* An access under way. */
typedef struct Act {
    unsigned warp;
    const uint32_t *known; /* the clock vector at issue */
    RaceActor kind;
    RaceAccess access;
    bool async_proxy;
    Epoch stamp;       /* its epoch without the lane */
    uint32_t mbarrier; /* address, for reports */
    /* Neighbouring cells mostly hold the same actors and clocks. These were the last that proved to
     * be ordered before this access, among writes and, for a write, among the reads of each warp.
     */
    uint64_t ordered_write;
    uint64_t ordered_read[RACE_MAX_WARPS];
} Act;

/* Fills in all but ordered_read, which only writes use. */
static void begin(Act *now, const Race *race, unsigned warp, RaceActor kind, unsigned actor_index,
                  uint32_t clock, RaceAccess access, uint32_t source) {
    now->warp = warp;
    now->known = race->clock[warp];
    now->kind = kind;
    now->access = access;
    now->async_proxy = kind != RACE_ACTOR_WARP && kind != RACE_ACTOR_COPY;
    now->stamp = (Epoch)clock << CLOCK_SHIFT | (Epoch)actor_index << ACTOR_SHIFT |
                 (Epoch)(access == RACE_ATOMIC) << ATOMIC_SHIFT | (source & RACE_MAX_SOURCE);
    now->mbarrier = 0;
    now->ordered_write = 0;
}

/* Whether `past`, later than what is known of all lanes of its warp, was by lanes that are known.
 */
static bool lanes_are_over(const Race *race, const Act *now, Epoch past) {
    const unsigned who = actor_of(past), lane = lane_of(past);
    if (who >= race->warps || clock_of(past) > now->known[actor(race, SECTION_SOME, who)])
        return false;
    const uint32_t lanes = now->known[actor(race, SECTION_LANES, who)];
    /* several lanes may be those that are known, but for a single one */
    return lane < RACE_ALL_LANES ? lanes >> lane & 1 : (lanes & (lanes - 1)) != 0;
}

/* Whether `past` conflicts with a later access by `lane`. */
static bool conflicts(const Race *race, const Act *now, unsigned lane, Epoch past,
                      bool past_writes) {
    unsigned who = actor_of(past);
    uint32_t when = clock_of(past), known = now->known[who];
    bool other_lane = lane != NO_LANE && (lane != lane_of(past) || lane == RACE_ALL_LANES);
    if ((when > known && !lanes_are_over(race, now, past)) ||
        (who == now->warp && when == known && other_lane))
        return !(is_atomic(past) && now->access == RACE_ATOMIC);
    if (now->async_proxy && past_writes && who < SECTION_VISIBLE * race->warps)
        return when > now->known[who + SECTION_VISIBLE * race->warps];
    return false;
}

/* Whether `past` precedes the access whatever the lanes are, so that the answer may be kept. */
static bool is_over(const Act *now, Epoch past) {
    return clock_of(past) <= now->known[actor_of(past)] &&
           !(actor_of(past) == now->warp && clock_of(past) == now->known[now->warp]);
}

static RaceSide earlier_side(const Race *race, Epoch past, bool writes) {
    static const RaceActor kind[SECTIONS] = {[SECTION_COPY] = RACE_ACTOR_COPY,
                                             [SECTION_BULK] = RACE_ACTOR_BULK,
                                             [SECTION_WGMMA] = RACE_ACTOR_WGMMA};
    RaceSide side = {.source = past & RACE_MAX_SOURCE, .lane = lane_of(past)};
    side.access = is_atomic(past) ? RACE_ATOMIC : writes ? RACE_WRITE : RACE_READ;
    unsigned who = actor_of(past);
    if (who >= mbarrier_actor(race, 0)) {
        side.actor = RACE_ACTOR_BULK_LOAD;
        side.mbarrier = race->mbarrier[who - mbarrier_actor(race, 0)].address;
    } else {
        side.actor = kind[who / race->warps];
        side.warp = who % race->warps;
    }
    return side;
}

/* Why two conflicting accesses are not ordered. */
static RaceWhy explain(const Race *race, const Act *now, Epoch past) {
    unsigned who = actor_of(past);
    uint32_t when = clock_of(past);
    if (when <= now->known[who] || lanes_are_over(race, now, past))
        return who == now->warp && when == now->known[who] && !now->async_proxy
                   ? RACE_WITHIN_WARP
                   : RACE_NO_PROXY_FENCE;
    if (who < race->warps) return RACE_UNORDERED;
    if (who >= mbarrier_actor(race, 0)) return RACE_NOT_WAITED;
    return when > race->clock[who % race->warps][who] ? RACE_NOT_WAITED : RACE_UNORDERED;
}

static bool found(const Race *race, const Act *now, unsigned lane, uint32_t cell, Epoch past,
                  bool past_writes, RaceReport *report) {
    report->why = explain(race, now, past);
    report->address = race->base + (cell << race->shift);
    report->earlier = earlier_side(race, past, past_writes);
    report->later = (RaceSide){
        .actor = now->kind,
        .warp = now->warp,
        .lane = lane == NO_LANE ? RACE_ALL_LANES : lane,
        .mbarrier = now->mbarrier,
        .access = now->access,
        .source = now->stamp & RACE_MAX_SOURCE,
    };
    return true;
}

/* Whether a write to `cell` conflicts with an earlier read of it. */
static bool check_readers(const Race *race, Act *now, unsigned lane, uint32_t cell,
                          RaceReport *report) {
    for (unsigned kind = 0; kind < READER_KINDS; kind++)
        for (uint32_t left = race->readers[kind][cell]; left; left &= left - 1) {
            unsigned warp = (unsigned)__builtin_ctz(left);
            Epoch past = race->read[kind][warp][cell];
            if (moment_of(past) == now->ordered_read[warp]) continue;
            if (conflicts(race, now, lane, past, false))
                return found(race, now, lane, cell, past, false, report);
            if (is_over(now, past)) now->ordered_read[warp] = moment_of(past);
        }
    return false;
}

/* Whether an access conflicts with the last write of `cell`. */
static bool check_write(const Race *race, Act *now, unsigned lane, uint32_t cell,
                        RaceReport *report) {
    Epoch past = race->write[cell];
    if (conflicts(race, now, lane, past, true))
        return found(race, now, lane, cell, past, true, report);
    if (is_over(now, past)) now->ordered_write = moment_of(past);
    return false;
}

typedef struct Cells {
    uint32_t first, end;
} Cells;

static inline Cells cells_of(const Race *race, uint32_t address, uint32_t bytes) {
    uint32_t offset = address - race->base, first = offset >> race->shift;
    return (Cells){first, bytes ? ((offset + bytes - 1) >> race->shift) + 1 : first};
}

/* The epoch of an access by `lane` where the cell held `past`: lanes that share a moment become
 * RACE_ALL_LANES. */
static inline Epoch stamp(const Act *now, unsigned lane, Epoch past) {
    bool shared = moment_of(past) == moment_of(now->stamp) && lane_of(past) != lane;
    return now->stamp | (Epoch)(shared ? RACE_ALL_LANES : lane) << LANE_SHIFT;
}

/* Checks and records a read of `cells`. */
static inline bool read_cells(Race *race, Act *now, unsigned kind, unsigned lane, Cells cells,
                              RaceReport *report) {
    const Epoch *write = race->write;
    Epoch *reads = race->read[kind][now->warp];
    uint32_t *readers = race->readers[kind], bit = 1u << now->warp;
    for (uint32_t cell = cells.first; cell < cells.end; cell++) {
        if (moment_of(write[cell]) != now->ordered_write)
            if (check_write(race, now, lane, cell, report)) return true;
        reads[cell] = stamp(now, lane, reads[cell]);
        readers[cell] |= bit;
    }
    return false;
}

/* Whether a write of `cells` conflicts with anything. */
static inline bool check_cells(Race *race, Act *now, unsigned lane, Cells cells,
                               RaceReport *report) {
    for (uint32_t cell = cells.first; cell < cells.end; cell++) {
        if (moment_of(race->write[cell]) != now->ordered_write)
            if (check_write(race, now, lane, cell, report)) return true;
        if (check_readers(race, now, lane, cell, report)) return true;
    }
    return false;
}

/* A later write that is ordered after this one is ordered after the reads before it too, so they
 * are forgotten. Atomics do not order each other: each stays on record as a reader as well. */
static inline void write_cells(Race *race, const Act *now, unsigned lane, Cells cells) {
    Epoch *reads = race->read[0][now->warp];
    for (uint32_t cell = cells.first; cell < cells.end; cell++) {
        race->write[cell] = stamp(now, lane, race->write[cell]);
        if (now->access == RACE_ATOMIC) {
            reads[cell] = stamp(now, lane, reads[cell]);
            race->readers[0][cell] |= 1u << now->warp;
        } else {
            for (unsigned kind = 0; kind < READER_KINDS; kind++) race->readers[kind][cell] = 0;
        }
    }
}

/* ---- Accesses -------------------------------------------------------------------------------- */

enum { LANES = 32 };

static bool read_lanes(Race *race, Act *now, uint32_t mask, const uint32_t address[LANES],
                       unsigned bytes, RaceReport *report) {
    while (mask) {
        /* lanes that follow each other and want the same cells are taken together */
        uint32_t wanted = address[__builtin_ctz(mask)];
        unsigned lane = (unsigned)__builtin_ctz(mask);
        for (mask &= mask - 1; mask && address[__builtin_ctz(mask)] == wanted; mask &= mask - 1)
            lane = RACE_ALL_LANES;
        if (read_cells(race, now, 0, lane, cells_of(race, wanted, bytes), report)) return true;
    }
    return false;
}

/* Whether lane l reads or writes cell first + l: the commonest request deserves a loop of its own.
 */
static bool is_row(const Race *race, uint32_t mask, const uint32_t address[LANES], unsigned bytes) {
    uint32_t uneven = 0;
    for (uint32_t l = 0; l < LANES; l++) uneven |= address[l] ^ (address[0] + l * bytes);
    return !uneven && mask == 0xffffffff && bytes == 1u << race->shift;
}

/* Reads of a row that no write of another moment than `ordered` precedes; false if there is one. */
static bool read_row(const Epoch *restrict write, Epoch *restrict reads, uint32_t *restrict readers,
                     uint64_t ordered, Epoch mine, uint32_t bit) {
    uint64_t other = 0;
    for (unsigned l = 0; l < LANES; l++) other |= moment_of(write[l]) ^ ordered;
    if (other) return false;
    for (unsigned l = 0; l < LANES; l++) {
        Epoch lane = (Epoch)l << LANE_SHIFT, all = (Epoch)RACE_ALL_LANES << LANE_SHIFT;
        bool shared =
            moment_of(reads[l]) == moment_of(mine) && (reads[l] & (Epoch)63 << LANE_SHIFT) != lane;
        reads[l] = mine | (shared ? all : lane);
    }
    for (unsigned l = 0; l < LANES; l++) readers[l] |= bit;
    return true;
}

static bool read_request(Race *race, Act *now, uint32_t mask, const uint32_t address[LANES],
                         unsigned bytes, RaceReport *report) {
    if (!is_row(race, mask, address, bytes))
        return read_lanes(race, now, mask, address, bytes, report);
    uint32_t cell = cells_of(race, address[0], bytes).first;
    if (check_write(race, now, 0, cell, report)) return true;
    bool done = read_row(race->write + cell, race->read[0][now->warp] + cell,
                         race->readers[0] + cell, now->ordered_write, now->stamp, 1u << now->warp);
    return !done && read_lanes(race, now, mask, address, bytes, report);
}

/* All lanes are checked before any is recorded: lanes of one instruction do not race. */
static bool write_request(Race *race, Act *now, uint32_t mask, const uint32_t address[LANES],
                          unsigned bytes, RaceReport *report) {
    memset(now->ordered_read, 0, sizeof now->ordered_read);
    for (uint32_t left = mask; left; left &= left - 1) {
        unsigned lane = (unsigned)__builtin_ctz(left);
        if (check_cells(race, now, lane, cells_of(race, address[lane], bytes), report)) return true;
    }
    for (uint32_t left = mask; left; left &= left - 1) {
        unsigned lane = (unsigned)__builtin_ctz(left);
        write_cells(race, now, lane, cells_of(race, address[lane], bytes));
    }
    return false;
}

bool race_access(Race *race, unsigned warp, RaceAccess access, uint32_t mask,
                 const uint32_t address[32], unsigned bytes, uint32_t source, RaceReport *report) {
    unsigned who = actor(race, SECTION_WARP, warp);
    Act now;
    begin(&now, race, warp, RACE_ACTOR_WARP, who, race->clock[warp][who], access, source);
    if (access == RACE_READ) return read_request(race, &now, mask, address, bytes, report);
    return write_request(race, &now, mask, address, bytes, report);
}

bool race_copy(Race *race, unsigned warp, uint32_t mask, const uint32_t address[32], unsigned bytes,
               uint32_t source, RaceReport *report) {
    Act now;
    begin(&now, race, warp, RACE_ACTOR_COPY, actor(race, SECTION_COPY, warp),
          race->queue[RACE_COPY][warp].open, RACE_WRITE, source);
    return write_request(race, &now, mask, address, bytes, report);
}

bool race_async_read(Race *race, unsigned warp, RaceQueue queue, unsigned count,
                     const uint32_t address[], unsigned bytes, uint32_t source,
                     RaceReport *report) {
    unsigned kind = queue == RACE_BULK ? 1 : 2;
    Act now;
    begin(&now, race, warp, queue == RACE_BULK ? RACE_ACTOR_BULK : RACE_ACTOR_WGMMA,
          actor(race, queue_section[queue], warp), race->queue[queue][warp].open, RACE_READ,
          source);
    for (unsigned i = 0; i < count; i++)
        if (read_cells(race, &now, kind, NO_LANE, cells_of(race, address[i], bytes), report))
            return true;
    return false;
}

/* ---- Synchronisation ------------------------------------------------------------------------- */

void race_commit(Race *race, unsigned warp, RaceQueue queue) {
    Queue *q = &race->queue[queue][warp];
    q->closed[q->count++ % RING] = q->open;
    q->open = next_clock(race);
}

void race_wait(Race *race, unsigned warp, RaceQueue queue, int keep) {
    Queue *q = &race->queue[queue][warp];
    uint32_t *known = &race->clock[warp][actor(race, queue_section[queue], warp)];
    uint32_t over = *known;
    if (keep == RACE_WAIT_ALL) {
        over = q->open;
        q->open = next_clock(race);
    } else if (keep < RING && q->count > (uint32_t)keep) {
        over = q->closed[(q->count - 1 - (uint32_t)keep) % RING];
    }
    if (over > *known) *known = over;
}

void race_warp_sync(Race *race, unsigned warp) { meet(race, warp); }

void race_barrier_arrive(Race *race, unsigned id, unsigned warp) {
    join(race, race->barrier[id], race->clock[warp]);
    meet(race, warp);
}

void race_barrier_release(Race *race, unsigned id, uint32_t waiting_warps) {
    for (uint32_t left = waiting_warps; left; left &= left - 1)
        join(race, race->clock[__builtin_ctz(left)], race->barrier[id]);
    memset(race->barrier[id], 0, width(race) * sizeof race->barrier[id][0]);
}

/* The clocks of the mbarrier at `address`, made on first use; NULL if there are too many. */
static MbarrierClocks *mbarrier(Race *race, uint32_t address) {
    for (unsigned i = 0; i < race->mbarriers; i++)
        if (race->mbarrier[i].address == address) return &race->mbarrier[i];
    if (race->mbarriers == RACE_MAX_MBARRIERS) return NULL;
    MbarrierClocks *clocks = &race->mbarrier[race->mbarriers++];
    memset(clocks, 0, sizeof *clocks);
    clocks->address = address;
    clocks->phase = next_clock(race);
    return clocks;
}

static unsigned mbarrier_index(const Race *race, const MbarrierClocks *clocks) {
    return mbarrier_actor(race, (unsigned)(clocks - race->mbarrier));
}

bool race_mbarrier_arrive(Race *race, uint32_t address, unsigned warp, unsigned lane, bool copies) {
    MbarrierClocks *clocks = mbarrier(race, address);
    if (!clocks) return false;
    const unsigned all = actor(race, SECTION_WARP, warp), some = actor(race, SECTION_SOME, warp);
    const uint32_t now = race->clock[warp][all], before = clocks->arrived[all];
    join(race, clocks->arrived, race->clock[warp]);
    if (lane < RACE_ALL_LANES) { /* the others may still be at what they did since all met */
        clocks->arrived[all] = before > race->met[warp] ? before : race->met[warp];
        clocks->arrived[some] = now;
        clocks->arrived[actor(race, SECTION_LANES, warp)] |= 1u << lane;
    }
    if (copies) {
        unsigned who = actor(race, SECTION_COPY, warp);
        clocks->arrived[who] = race->queue[RACE_COPY][warp].open;
        race->queue[RACE_COPY][warp].open = next_clock(race);
    }
    tick(race, warp);
    return true;
}

bool race_mbarrier_complete(Race *race, uint32_t address) {
    MbarrierClocks *clocks = mbarrier(race, address);
    if (!clocks) return false;
    clocks->arrived[mbarrier_index(race, clocks)] = clocks->phase;
    memcpy(clocks->completed, clocks->arrived, width(race) * sizeof clocks->arrived[0]);
    clocks->phase = next_clock(race);
    return true;
}

bool race_mbarrier_acquire(Race *race, uint32_t address, unsigned warp) {
    MbarrierClocks *clocks = mbarrier(race, address);
    if (!clocks) return false;
    join(race, race->clock[warp], clocks->completed);
    return true;
}

bool race_bulk_load(Race *race, unsigned warp, uint32_t mbarrier_address, uint32_t address,
                    uint32_t bytes, uint32_t source, RaceReport *report) {
    MbarrierClocks *clocks = mbarrier(race, mbarrier_address);
    if (!clocks) return false;
    Act now;
    begin(&now, race, warp, RACE_ACTOR_BULK_LOAD, mbarrier_index(race, clocks), clocks->phase,
          RACE_WRITE, source);
    now.mbarrier = mbarrier_address;
    memset(now.ordered_read, 0, sizeof now.ordered_read);
    const Cells cells = cells_of(race, address, bytes);
    if (check_write(race, &now, NO_LANE, cells_of(race, mbarrier_address, 1).first, report))
        return true; /* the copy arrives there: it must see the mbarrier as it was initialised */
    if (check_cells(race, &now, NO_LANE, cells, report)) return true;
    write_cells(race, &now, NO_LANE, cells);
    return false;
}

void race_proxy_fence(Race *race, unsigned warp) {
    uint32_t *known = race->clock[warp], *visible = known + SECTION_VISIBLE * race->warps;
    memcpy(visible, known, SECTION_VISIBLE * race->warps * sizeof *known);
    tick(race, warp);
}

/* ---- Words ----------------------------------------------------------------------------------- */

const char *race_message(RaceWhy why) {
    switch (why) {
    case RACE_UNORDERED:
        return "data race in shared memory: no barrier orders these two accesses "
               "(is a __syncthreads missing?)";
    case RACE_WITHIN_WARP:
        return "data race within a warp: two lanes use the same bytes and no __syncwarp or "
               "__syncthreads orders them";
    case RACE_NOT_WAITED:
        return "data race with an asynchronous copy or read that nobody has waited for "
               "(is a wait_group or an mbarrier wait missing?)";
    case RACE_NO_PROXY_FENCE:
        return "ordinary writes need a fence.proxy.async before a bulk copy or wgmma may use "
               "the bytes";
    }
    return "unknown race";
}

void race_side_text(const RaceSide *side, char *text, size_t size) {
    static const char *const access[] = {"read", "write", "atomic"};
    static const char *const actor_name[] = {[RACE_ACTOR_COPY] = "cp.async",
                                             [RACE_ACTOR_BULK] = "bulk store",
                                             [RACE_ACTOR_WGMMA] = "wgmma"};
    const char *what = access[side->access];
    if (side->actor == RACE_ACTOR_BULK_LOAD)
        snprintf(text, size, "%s by a bulk load that completes on the mbarrier at 0x%x", what,
                 side->mbarrier);
    else if (side->actor != RACE_ACTOR_WARP)
        snprintf(text, size, "%s by %s of warp %u", what, actor_name[side->actor], side->warp);
    else if (side->lane == RACE_ALL_LANES)
        snprintf(text, size, "%s by several lanes of warp %u", what, side->warp);
    else
        snprintf(text, size, "%s by warp %u, lane %u", what, side->warp, side->lane);
}
