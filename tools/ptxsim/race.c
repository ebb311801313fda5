#include "race.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- Clocks ----------------------------------------------------------------------------------
 *
 * A vector holds for every actor the latest clock whose accesses are known to be over. An actor is an
 * index into the vector: sections of one entry a warp, then one entry a mbarrier. Two sections hold
 * no actors but, for the ordinary writes of each warp and of its cp.async, the latest clock that the
 * async proxy sees too; so that joining vectors carries this along. */
enum { SECTION_WARP, SECTION_COPY, SECTION_VISIBLE, SECTION_BULK = 4, SECTION_WGMMA, SECTIONS };
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
 * An epoch is one access: clock:31 | actor:9 | atomic:1 | lane:6 | source:17, highest bits first. */
typedef uint64_t Epoch;
enum { LANE_SHIFT = 17, ATOMIC_SHIFT = 23, ACTOR_SHIFT = 24, CLOCK_SHIFT = 33 };
enum { NO_LANE = 63 }; /* the whole warp acts, or one lane that need not be told from others */

enum { READER_KINDS = 3 }; /* ordinary reads, bulk stores, wgmma */
static const unsigned reader_section[READER_KINDS] = {SECTION_WARP, SECTION_BULK, SECTION_WGMMA};

struct Race {
    uint32_t base, bytes;
    unsigned warps, shift; /* a cell has 1 << shift bytes */
    uint32_t cells;
    uint32_t highest; /* clock given out */
    unsigned mbarriers;
    Epoch *write;                                /* [cells] */
    uint32_t *readers[READER_KINDS];             /* [cells], a bit a warp */
    Epoch *read[READER_KINDS][RACE_MAX_WARPS];   /* [cells], NULL until that reader first reads */
    uint32_t clock[RACE_MAX_WARPS][MAX_WIDTH];   /* what each warp knows */
    Queue queue[QUEUES][RACE_MAX_WARPS];
    uint32_t barrier[RACE_MAX_BARRIERS][MAX_WIDTH];
    MbarrierClocks mbarrier[RACE_MAX_MBARRIERS];
};

static uint32_t clock_of(Epoch epoch) { return (uint32_t)(epoch >> CLOCK_SHIFT); }
static unsigned actor_of(Epoch epoch) { return epoch >> ACTOR_SHIFT & 511; }
static unsigned lane_of(Epoch epoch) { return epoch >> LANE_SHIFT & 63; }
static bool is_atomic(Epoch epoch) { return epoch >> ATOMIC_SHIFT & 1; }

static unsigned actor(const Race *race, unsigned section, unsigned warp) {
    return section * race->warps + warp;
}

static unsigned mbarrier_actor(const Race *race, unsigned index) {
    return SECTIONS * race->warps + index;
}

static unsigned width(const Race *race) { return mbarrier_actor(race, race->mbarriers); }

static uint32_t next_clock(Race *race) { return ++race->highest; }

static void join(const Race *race, uint32_t *into, const uint32_t *from) {
    unsigned n = width(race);
    for (unsigned i = 0; i < n; i++) into[i] = into[i] > from[i] ? into[i] : from[i];
}

/* After a warp has published its clock, what it does next must carry a later one. Lanes of a warp
 * conflict within one clock only, so this also orders them. */
static void tick(Race *race, unsigned warp) {
    race->clock[warp][actor(race, SECTION_WARP, warp)] = next_clock(race);
}

/* ---- Life ------------------------------------------------------------------------------------ */

Race *race_new(uint32_t base, uint32_t bytes, unsigned warps, unsigned granule) {
    Race *race = calloc(1, sizeof *race);
    if (!race) return NULL;
    race->base = base;
    race->bytes = bytes;
    race->warps = warps;
    race->shift = granule == 4 ? 2 : granule == 2 ? 1 : 0;
    race->cells = (bytes + granule - 1) >> race->shift;
    race->write = calloc(race->cells + 1, sizeof *race->write);
    bool ok = race->write != NULL;
    for (unsigned kind = 0; kind < READER_KINDS; kind++) {
        race->readers[kind] = calloc(race->cells + 1, sizeof *race->readers[kind]);
        ok = ok && race->readers[kind];
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
        for (unsigned warp = 0; warp < RACE_MAX_WARPS; warp++)
            if (race->read[kind][warp])
                memset(race->read[kind][warp], 0, race->cells * sizeof(Epoch));
}

void race_begin_block(Race *race) {
    if (race->highest > 1u << 29) rewind_clocks(race);
    /* whatever happened in earlier blocks is known to be over */
    uint32_t past = race->highest;
    for (unsigned warp = 0; warp < race->warps; warp++) {
        for (unsigned i = 0; i < MAX_WIDTH; i++) race->clock[warp][i] = past;
        for (unsigned q = 0; q < QUEUES; q++) {
            race->queue[q][warp].count = 0;
            race->queue[q][warp].open = next_clock(race);
        }
        tick(race, warp);
    }
    memset(race->barrier, 0, sizeof race->barrier);
    race->mbarriers = 0;
}

/* The epochs of a reader; NULL if memory is short, then its reads go unrecorded. */
static Epoch *reader(Race *race, unsigned kind, unsigned warp) {
    if (!race->read[kind][warp]) race->read[kind][warp] = calloc(race->cells + 1, sizeof(Epoch));
    return race->read[kind][warp];
}

/* ---- Checking -------------------------------------------------------------------------------- */

/* An access under way. */
typedef struct Act {
    unsigned warp;
    const uint32_t *known; /* the clock vector at issue */
    RaceActor kind;
    RaceAccess access;
    bool async_proxy;
    Epoch stamp;       /* its epoch, lane and source included; the lane is set for each */
    uint32_t mbarrier; /* address, for reports */
} Act;

static Act act(const Race *race, unsigned warp, RaceActor kind, unsigned actor_index, uint32_t clock,
               RaceAccess access, uint32_t source) {
    return (Act){
        .warp = warp,
        .known = race->clock[warp],
        .kind = kind,
        .access = access,
        .async_proxy = kind != RACE_ACTOR_WARP && kind != RACE_ACTOR_COPY,
        .stamp = (Epoch)clock << CLOCK_SHIFT | (Epoch)actor_index << ACTOR_SHIFT |
                 (Epoch)(access == RACE_ATOMIC) << ATOMIC_SHIFT | (source & RACE_MAX_SOURCE),
    };
}

/* Whether `past` conflicts with a later access by `lane`. */
static inline bool conflicts(const Race *race, const Act *now, unsigned lane, Epoch past,
                             bool past_writes) {
    unsigned who = actor_of(past);
    uint32_t when = clock_of(past), known = now->known[who];
    bool other_lane = lane != NO_LANE && (lane != lane_of(past) || lane == RACE_ALL_LANES);
    if (when > known || (who == now->warp && when == known && other_lane))
        return !(is_atomic(past) && now->access == RACE_ATOMIC);
    if (now->async_proxy && past_writes && who < SECTION_VISIBLE * race->warps)
        return when > now->known[who + SECTION_VISIBLE * race->warps];
    return false;
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
    if (when <= now->known[who])
        return who == now->warp && when == now->known[who] && !now->async_proxy ? RACE_WITHIN_WARP
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
static bool readers_conflict(const Race *race, const Act *now, unsigned lane, uint32_t cell,
                             RaceReport *report) {
    for (unsigned kind = 0; kind < READER_KINDS; kind++)
        for (uint32_t left = race->readers[kind][cell]; left; left &= left - 1) {
            Epoch past = race->read[kind][__builtin_ctz(left)][cell];
            if (conflicts(race, now, lane, past, false))
                return found(race, now, lane, cell, past, false, report);
        }
    return false;
}

typedef struct Cells {
    uint32_t first, end;
} Cells;

static Cells cells_of(const Race *race, uint32_t address, uint32_t bytes) {
    uint32_t offset = address - race->base;
    return (Cells){offset >> race->shift, ((offset + bytes - 1) >> race->shift) + 1};
}

static bool check(const Race *race, const Act *now, unsigned lane, Cells cells,
                  RaceReport *report) {
    for (uint32_t cell = cells.first; cell < cells.end; cell++) {
        Epoch past = race->write[cell];
        if (conflicts(race, now, lane, past, true))
            return found(race, now, lane, cell, past, true, report);
        if (now->access != RACE_READ && readers_conflict(race, now, lane, cell, report)) return true;
    }
    return false;
}

/* ---- Recording ------------------------------------------------------------------------------- */

/* The epoch of an access by `lane`, if `past` is what the cell held: lanes that share an epoch become
 * RACE_ALL_LANES. */
static inline Epoch stamp(const Act *now, unsigned lane, Epoch past) {
    Epoch mine = now->stamp;
    bool shared = past >> ACTOR_SHIFT == mine >> ACTOR_SHIFT && lane_of(past) != lane;
    return mine | (Epoch)(shared ? RACE_ALL_LANES : lane) << LANE_SHIFT;
}

static void record_read(Race *race, const Act *now, unsigned kind, Epoch *reads, unsigned lane,
                        Cells cells) {
    uint32_t bit = 1u << now->warp;
    for (uint32_t cell = cells.first; cell < cells.end; cell++) {
        reads[cell] = stamp(now, lane, reads[cell]);
        race->readers[kind][cell] |= bit;
    }
}

static void record_write(Race *race, const Act *now, unsigned lane, Cells cells) {
    for (uint32_t cell = cells.first; cell < cells.end; cell++) {
        race->write[cell] = stamp(now, lane, race->write[cell]);
        /* a later write that is ordered after this one is ordered after the reads before it too */
        for (unsigned kind = 0; kind < READER_KINDS; kind++) race->readers[kind][cell] = 0;
    }
}

/* Atomics do not order each other, so each also stays on record as a reader. */
static void record_atomic(Race *race, const Act *now, Epoch *reads, unsigned lane, Cells cells) {
    for (uint32_t cell = cells.first; cell < cells.end; cell++)
        race->write[cell] = stamp(now, lane, race->write[cell]);
    if (reads) record_read(race, now, 0, reads, lane, cells);
}

/* ---- Accesses -------------------------------------------------------------------------------- */

/* Lanes that follow each other and use one address are taken together: runs[i] begins at lane
 * first[i] and stands for `who[i]`, that lane or RACE_ALL_LANES. */
typedef struct Runs {
    unsigned count;
    uint8_t first[32], who[32];
} Runs;

static Runs runs_of(uint32_t mask, const uint32_t address[32]) {
    Runs runs = {.count = 0};
    for (; mask; mask &= mask - 1) {
        uint8_t lane = (uint8_t)__builtin_ctz(mask);
        unsigned last = runs.count - 1;
        if (runs.count > 0 && address[runs.first[last]] == address[lane]) {
            runs.who[last] = RACE_ALL_LANES;
            continue;
        }
        runs.first[runs.count] = runs.who[runs.count] = lane;
        runs.count++;
    }
    return runs;
}

/* All lanes are checked before any is recorded: lanes of one instruction do not race. */
static bool access_lanes(Race *race, const Act *now, uint32_t mask, const uint32_t address[32],
                         unsigned bytes, RaceReport *report) {
    Runs runs = runs_of(mask, address);
    bool races = false;
    for (unsigned i = 0; i < runs.count && !races; i++)
        races = check(race, now, runs.who[i], cells_of(race, address[runs.first[i]], bytes), report);
    Epoch *reads = now->access == RACE_WRITE ? NULL : reader(race, 0, now->warp);
    for (unsigned i = 0; i < runs.count; i++) {
        Cells cells = cells_of(race, address[runs.first[i]], bytes);
        if (now->access == RACE_WRITE) record_write(race, now, runs.who[i], cells);
        if (now->access == RACE_ATOMIC) record_atomic(race, now, reads, runs.who[i], cells);
        if (now->access == RACE_READ && reads)
            record_read(race, now, 0, reads, runs.who[i], cells);
    }
    return races;
}

bool race_access(Race *race, unsigned warp, RaceAccess access, uint32_t mask,
                 const uint32_t address[32], unsigned bytes, uint32_t source, RaceReport *report) {
    unsigned who = actor(race, SECTION_WARP, warp);
    Act now = act(race, warp, RACE_ACTOR_WARP, who, race->clock[warp][who], access, source);
    return access_lanes(race, &now, mask, address, bytes, report);
}

bool race_copy(Race *race, unsigned warp, uint32_t mask, const uint32_t address[32], unsigned bytes,
               uint32_t source, RaceReport *report) {
    Act now = act(race, warp, RACE_ACTOR_COPY, actor(race, SECTION_COPY, warp),
                  race->queue[RACE_COPY][warp].open, RACE_WRITE, source);
    return access_lanes(race, &now, mask, address, bytes, report);
}

bool race_async_read(Race *race, unsigned warp, RaceQueue queue, unsigned count,
                     const uint32_t address[], unsigned bytes, uint32_t source,
                     RaceReport *report) {
    unsigned kind = queue == RACE_BULK ? 1 : 2;
    Act now = act(race, warp, queue == RACE_BULK ? RACE_ACTOR_BULK : RACE_ACTOR_WGMMA,
                  actor(race, reader_section[kind], warp), race->queue[queue][warp].open, RACE_READ,
                  source);
    Epoch *reads = reader(race, kind, warp);
    bool races = false;
    for (unsigned i = 0; i < count; i++) {
        Cells cells = cells_of(race, address[i], bytes);
        races = races || check(race, &now, NO_LANE, cells, report);
        if (reads) record_read(race, &now, kind, reads, NO_LANE, cells);
    }
    return races;
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

void race_warp_sync(Race *race, unsigned warp) { tick(race, warp); }

void race_barrier_arrive(Race *race, unsigned id, unsigned warp) {
    join(race, race->barrier[id], race->clock[warp]);
    tick(race, warp);
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

bool race_mbarrier_arrive(Race *race, uint32_t address, unsigned warp, bool copies) {
    MbarrierClocks *clocks = mbarrier(race, address);
    if (!clocks) return false;
    join(race, clocks->arrived, race->clock[warp]);
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
    Act now = act(race, warp, RACE_ACTOR_BULK_LOAD, mbarrier_index(race, clocks), clocks->phase,
                  RACE_WRITE, source);
    now.mbarrier = mbarrier_address;
    Cells cells = cells_of(race, address, bytes);
    bool races = check(race, &now, NO_LANE, cells, report);
    record_write(race, &now, NO_LANE, cells);
    return races;
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
        return "data race within a warp: two lanes use the same bytes and no __syncwarp orders them";
    case RACE_NOT_WAITED:
        return "data race with an asynchronous copy or read that nobody has waited for "
               "(is a wait_group or an mbarrier wait missing?)";
    case RACE_NO_PROXY_FENCE:
        return "ordinary writes need a fence.proxy.async before a bulk copy or wgmma may use the bytes";
    }
    return "unknown race";
}

void race_side_text(const RaceSide *side, char *text, size_t size) {
    static const char *const access[] = {"read", "write", "atomic"};
    static const char *const actor_name[] = {
        [RACE_ACTOR_COPY] = "cp.async", [RACE_ACTOR_BULK] = "bulk store", [RACE_ACTOR_WGMMA] = "wgmma"};
    const char *what = access[side->access];
    if (side->actor == RACE_ACTOR_BULK_LOAD)
        snprintf(text, size, "%s by a bulk load that completes on the mbarrier at 0x%x", what,
                 side->mbarrier);
    else if (side->actor != RACE_ACTOR_WARP)
        snprintf(text, size, "%s by %s of warp %u", what, actor_name[side->actor], side->warp);
    else if (side->lane == RACE_ALL_LANES)
        snprintf(text, size, "%s by several lanes of warp %u", what, side->warp);
    else snprintf(text, size, "%s by warp %u, lane %u", what, side->warp, side->lane);
}
