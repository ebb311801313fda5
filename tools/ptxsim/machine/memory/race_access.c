#include <stdlib.h>
#include <string.h>

#include "machine/memory/race_state.h"

/* ---- Life ------------------------------------------------------------------------------------ */

Race *race_new(uint32_t base, uint32_t bytes, unsigned warps, unsigned granule) {
    Race *race = calloc(1, sizeof *race);
    if (!race) return NULL;
    race->base = base;
    race->warps = warps;
    race->shift = (unsigned)__builtin_ctz(granule);
    race->cells = (bytes >> race->shift) + 1;
    bool ok = (race->write = calloc(race->cells, sizeof(Epoch))) != NULL;
    for (unsigned kind = 0; kind < RECORDS; kind++) {
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
    for (unsigned kind = 0; kind < RECORDS; kind++) {
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
    for (unsigned kind = 0; kind < RECORDS; kind++)
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
               (SECTIONS - SECTION_LANES) * race->warps * sizeof race->clock[warp][0]);
        race->met[warp] = race->gathered[warp] = race->landed[warp] = past;
        race->fence[warp].lanes = 0;
        race->parted[warp] = false;
        race->ahead[warp] = 0;
        race->live[warp] = UINT32_MAX;
        for (unsigned q = 0; q < QUEUES; q++) {
            race->queue[q][warp].count = race->queue[q][warp].lanes = 0;
            race->queue[q][warp].open = next_clock(race);
        }
        tick(race, warp);
    }
    memset(race->barrier, 0, sizeof race->barrier);
    memset(race->seen, 0, sizeof race->seen[0] * race->warps);
    if (race->locations) {
        memset(race->location, 0, sizeof race->location);
        race->locations = 0;
    }
    race->mbarriers = 0;
    race->orders = 0;
}

void race_skip(Race *race, uint32_t clocks) { race->highest += clocks; }

/* ---- Checking -------------------------------------------------------------------------------- */

/* What the loops over cells seldom come to, and must not lose registers for. */
#define RARE __attribute__((noinline))

/* An access under way. */
typedef struct Act {
    unsigned warp;
    const uint32_t *known; /* the clock vector at issue, of the lane in question */
    RaceActor kind;
    RaceAccess access;
    uint8_t strong; /* bytes of a strong access, else 0 */
    bool async_proxy;
    uint32_t settled;  /* what the warp did up to this clock is ordered for all its lanes */
    Epoch stamp;       /* its epoch without the lane */
    uint32_t mbarrier; /* address, for reports */
    /* Neighbouring cells mostly hold the same actors and clocks. These were the last that proved to
     * be ordered before this access, among writes and, for a write, among the reads of each warp.
     */
    uint64_t ordered_write;
    uint64_t ordered_read[RACE_MAX_WARPS];
} Act;

static bool is_used(const Race *race, unsigned kind) { return race->used >> kind & 1; }

static void begin(Act *now, const Race *race, unsigned warp, RaceActor kind, unsigned actor_index,
                  uint32_t clock, RaceAccess access, uint32_t source) {
    now->warp = warp;
    now->known = race->clock[warp];
    now->kind = kind;
    now->access = access;
    now->strong = 0;
    now->settled = kind == RACE_ACTOR_WARP ? race->met[warp] : UINT32_MAX;
    now->async_proxy = kind != RACE_ACTOR_WARP && kind != RACE_ACTOR_COPY;
    now->stamp = (Epoch)clock << CLOCK_SHIFT | (Epoch)actor_index << ACTOR_SHIFT |
                 (Epoch)(access == RACE_ATOMIC) << ATOMIC_SHIFT | (source & RACE_MAX_SOURCE);
    now->mbarrier = 0;
    now->ordered_write = 0;
    if (access >= RACE_WRITE || is_used(race, STRONG_WRITES)) /* else nobody looks at records */

        memset(now->ordered_read, 0, sizeof now->ordered_read);
}

/* The access is strong. */
static void become_strong(Race *race, Act *now, unsigned bytes, uint32_t source) {
    now->strong = race->strong[source & RACE_MAX_SOURCE] = (uint8_t)bytes;
}

/* Whether `past`, later than what is known of all lanes of its warp, was by lanes that are in the
 * section `some`, or are `besides`. */
static bool lanes_are_in(const Race *race, const Act *now, Epoch past, unsigned some,
                         uint32_t besides) {
    const unsigned who = actor_of(past), lane = lane_of(past);
    if (who >= race->warps) return false;
    const uint32_t until = now->known[actor(race, some, who)];
    if (lane == MOMENTS) { /* the earlier ones may be those that are known */
        const uint32_t all = who == now->warp ? race->met[who] : now->known[who];
        if (clock_of(past) > until) return until > all;
    }
    if (clock_of(past) > until) return false;
    const uint32_t lanes =
        besides | now->known[actor(race, some + SECTION_LANES - SECTION_SOME, who)];
    /* several lanes may be those that are known, but for a single one */
    return lane < RACE_ALL_LANES ? lanes >> lane & 1 : (lanes & (lanes - 1)) != 0;
}

/* ... by lanes that are known. */
static bool lanes_are_over(const Race *race, const Act *now, Epoch past) {
    return lanes_are_in(race, now, past, SECTION_SOME, 0);
}

/* The clock up to which all lanes of the warp know what `who` did, if that is the warp itself, or
 * its copies: a lane's wait is for its own. Of others they all know the same. */
static uint32_t common(const Race *race, const Act *now, unsigned who, unsigned kind) {
    if (who == now->warp) return (kind == TESTS ? race->gathered : race->met)[now->warp];
    return who == actor(race, SECTION_COPY, now->warp) ? race->landed[now->warp] : UINT32_MAX;
}

typedef struct Lanes {
    unsigned first, end;
} Lanes;

static Lanes lanes_of(unsigned lane) {
    return lane < RACE_ALL_LANES ? (Lanes){lane, lane + 1} : (Lanes){0, RACE_ALL_LANES};
}

/* Whether lanes that are not all of their warp have met since one of them did `past`, and `lane` is
 * one of them. Of several lanes some may be those. */
static bool have_met(const Race *race, unsigned warp, unsigned lane, Epoch past) {
    const unsigned other = lane_of(past);
    if (!race->parted[warp] || actor_of(past) != warp) return false;
    const Lanes mine = lanes_of(lane), others = lanes_of(other);
    for (unsigned l = mine.first; l < mine.end; l++)
        for (unsigned o = others.first; o < others.end; o++)
            if (l != o && clock_of(past) <= race->within[warp][l][o]) return true;
    return false;
}

/* Whether `past` is of another lane of the same warp, and nothing orders the two: the lanes have
 * not met since, nor has one acquired what the other released. */
RARE static bool is_apart(const Race *race, const Act *now, unsigned lane, Epoch past,
                          unsigned kind) {
    if (clock_of(past) <= common(race, now, actor_of(past), kind)) return false;
    const bool other = lane != NO_LANE && (lane != lane_of(past) || lane == RACE_ALL_LANES);
    if (!other || have_met(race, now->warp, lane, past)) return false;
    const bool tests = kind == TESTS && lane_of(past) == MOMENTS;
    const uint32_t self = lane < RACE_ALL_LANES ? 1u << lane : 0;
    return tests || !lanes_are_in(race, now, past, SECTION_SOME, self);
}

/* Whether `past` conflicts with a later access by `lane`. */
RARE static bool conflicts(const Race *race, const Act *now, unsigned lane, Epoch past,
                           unsigned kind) {
    unsigned who = actor_of(past);
    uint32_t when = clock_of(past), known = now->known[who];
    if (who != now->warp && when > known && !lanes_are_over(race, now, past)) return true;
    if (is_apart(race, now, lane, past, kind)) return true;
    if (now->async_proxy && kind >= STRONG_WRITES && who < SECTION_VISIBLE * race->warps)
        return when > now->known[who + SECTION_VISIBLE * race->warps] &&
               !lanes_are_in(race, now, past, SECTION_SOME_VISIBLE, 0);
    return false;
}

/* Whether `past` precedes the access whatever the lanes are, so that the answer may be kept. */
static bool is_over(const Race *race, const Act *now, Epoch past) {
    const unsigned who = actor_of(past);
    const uint32_t when = clock_of(past);
    if (now->async_proxy && who < SECTION_VISIBLE * race->warps &&
        when > now->known[who + SECTION_VISIBLE * race->warps])
        return false;
    return when <= now->known[who] && when <= common(race, now, who, READS);
}

static RaceSide earlier_side(const Race *race, Epoch past, bool writes) {
    static const RaceActor kind[SECTIONS] = {[SECTION_COPY] = RACE_ACTOR_COPY,
                                             [SECTION_BULK] = RACE_ACTOR_BULK,
                                             [SECTION_WGMMA] = RACE_ACTOR_WGMMA};
    const unsigned lane = lane_of(past);
    RaceSide side = {.source = past & RACE_MAX_SOURCE,
                     .lane = lane == MOMENTS ? RACE_ALL_LANES : lane};
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
static RaceWhy explain(const Race *race, const Act *now, unsigned lane, Epoch past, unsigned kind) {
    unsigned who = actor_of(past);
    uint32_t when = clock_of(past);
    if (is_apart(race, now, lane, past, kind)) return RACE_WITHIN_WARP;
    if (when <= now->known[who] || lanes_are_over(race, now, past)) return RACE_NO_PROXY_FENCE;
    if (when <= race->clock[now->warp][who]) return RACE_OTHER_LANE;
    if (who < race->warps) return RACE_UNORDERED;
    if (who >= mbarrier_actor(race, 0)) return RACE_NOT_WAITED;
    return when > race->clock[who % race->warps][who] ? RACE_NOT_WAITED : RACE_UNORDERED;
}

static bool found(const Race *race, const Act *now, unsigned lane, uint32_t cell, Epoch past,
                  unsigned kind, RaceReport *report) {
    report->why = explain(race, now, lane, past, kind);
    report->address = race->base + (cell << race->shift);
    report->earlier = earlier_side(race, past, kind >= STRONG_WRITES);
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

/* Whether the access conflicts with one of the records of `cell`, those of `kinds`, a bit each. */
static inline bool check_records(const Race *race, Act *now, unsigned kinds, unsigned lane,
                                 uint32_t cell, RaceReport *report) {
    for (; kinds; kinds &= kinds - 1) {
        const unsigned kind = (unsigned)__builtin_ctz(kinds);
        for (uint32_t left = race->readers[kind][cell]; left; left &= left - 1) {
            unsigned warp = (unsigned)__builtin_ctz(left);
            Epoch past = race->read[kind][warp][cell];
            const bool both = kind >= STRONG_READS && now->strong;
            if (moment_of(past) == now->ordered_read[warp]) continue;
            if (both && race->strong[past & RACE_MAX_SOURCE] == now->strong) continue;
            if (conflicts(race, now, lane, past, kind)) {
                found(race, now, lane, cell, past, kind, report);
                if (both) report->why = RACE_SIZES;
                return true;
            }
            if (is_over(race, now, past)) now->ordered_read[warp] = moment_of(past);
        }
    }
    return false;
}

RARE static bool check_strong(const Race *race, Act *now, unsigned lane, uint32_t cell,
                              RaceReport *report) {
    return check_records(race, now, 1u << STRONG_WRITES, lane, cell, report);
}

/* Whether an access conflicts with the last write of `cell`. */
RARE static bool check_write(const Race *race, Act *now, unsigned lane, uint32_t cell,
                             RaceReport *report) {
    Epoch past = race->write[cell];
    if (conflicts(race, now, lane, past, WEAK_WRITES))
        return found(race, now, lane, cell, past, WEAK_WRITES, report);
    if (is_over(race, now, past)) now->ordered_write = moment_of(past);
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
 * RACE_ALL_LANES, lanes that nothing orders MOMENTS. */
static inline Epoch stamp(const Race *race, const Act *now, unsigned lane, Epoch past,
                          unsigned kind) {
    bool same = moment_of(past) == moment_of(now->stamp);
    bool shared = same ? lane_of(past) != lane
                       : clock_of(past) > now->settled && kind != WEAK_WRITES &&
                             is_apart(race, now, lane, past, kind);
    if (shared) lane = same && lane_of(past) != MOMENTS ? RACE_ALL_LANES : MOMENTS;
    return now->stamp | (Epoch)lane << LANE_SHIFT;
}

/* Checks and records a read of `cells`. */
static inline bool read_cells(Race *race, Act *now, unsigned kind, unsigned lane, Cells cells,
                              RaceReport *report) {
    const Epoch *write = race->write;
    Epoch *reads = race->read[kind][now->warp];
    uint32_t *readers = race->readers[kind], bit = 1u << now->warp;
    const unsigned strong = race->used & 1u << STRONG_WRITES;
    race->used |= 1u << kind;
    for (uint32_t cell = cells.first; cell < cells.end; cell++) {
        if (moment_of(write[cell]) != now->ordered_write)
            if (check_write(race, now, lane, cell, report)) return true;
        if (strong && check_strong(race, now, lane, cell, report)) return true;
        reads[cell] = stamp(race, now, lane, reads[cell], kind);
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
        if (check_records(race, now, race->used, lane, cell, report)) return true;
    }
    return false;
}

/* A later write that is ordered after a weak one is ordered after what is on record before it, too,
 * so that is forgotten. Strong writes do not order each other, so each stays on record. */
static inline void write_cells(Race *race, const Act *now, unsigned lane, Cells cells) {
    Epoch *writes = race->read[STRONG_WRITES][now->warp];
    if (now->strong) race->used |= 1u << STRONG_WRITES;
    for (uint32_t cell = cells.first; cell < cells.end; cell++) {
        if (now->strong) {
            writes[cell] = stamp(race, now, lane, writes[cell], STRONG_WRITES);
            race->readers[STRONG_WRITES][cell] |= 1u << now->warp;
        } else {
            race->write[cell] = stamp(race, now, lane, race->write[cell], WEAK_WRITES);
            for (unsigned left = race->used; left; left &= left - 1)
                race->readers[__builtin_ctz(left)][cell] = 0;
        }
    }
}

/* From here on it is this lane that acts, or all of them. */
static inline void act_as(const Race *race, Act *now, unsigned lane) {
    if (!race->ahead[now->warp]) return;
    const uint32_t *known = known_to(race, now->warp, lane);
    if (now->known == known) return;
    now->known = known;
    now->ordered_write = 0;
    memset(now->ordered_read, 0, sizeof now->ordered_read);
}

/* ---- Accesses -------------------------------------------------------------------------------- */

enum { LANES = 32 };

/* Who acts at the address of a lane. */
static inline unsigned acting(const Act *now, unsigned lane) {
    const bool together = now->access == RACE_MATRIX_READ || now->access == RACE_MATRIX_WRITE;
    return together ? RACE_ALL_LANES : lane;
}

static bool read_lanes(Race *race, Act *now, uint32_t mask, const uint32_t address[LANES],
                       unsigned bytes, RaceReport *report) {
    const bool together = !race->parted[now->warp] && !race->ahead[now->warp];
    while (mask) {
        /* lanes that follow each other and want the same cells are taken together */
        uint32_t wanted = address[__builtin_ctz(mask)];
        unsigned lane = acting(now, (unsigned)__builtin_ctz(mask));
        mask &= mask - 1;
        for (; mask && together && address[__builtin_ctz(mask)] == wanted; mask &= mask - 1)
            lane = RACE_ALL_LANES;
        act_as(race, now, lane);
        const unsigned kind = now->strong ? STRONG_READS : now->access == RACE_TEST ? TESTS : READS;
        if (read_cells(race, now, kind, lane, cells_of(race, wanted, bytes), report)) return true;
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

/* Reads of a row that no write of another moment than `ordered` precedes; false if there is one.
 * `met` is when the lanes last met. */
static bool read_row(const Epoch *restrict write, Epoch *restrict reads, uint32_t *restrict readers,
                     uint64_t ordered, Epoch mine, uint32_t met, uint32_t bit) {
    uint64_t other = 0;
    for (unsigned l = 0; l < LANES; l++) other |= moment_of(write[l]) ^ ordered;
    if (other) return false;
    for (unsigned l = 0; l < LANES; l++) {
        Epoch lane = (Epoch)l << LANE_SHIFT, all = (Epoch)RACE_ALL_LANES << LANE_SHIFT;
        Epoch moments = (Epoch)MOMENTS << LANE_SHIFT;
        bool shared = clock_of(reads[l]) > met && (reads[l] & (Epoch)63 << LANE_SHIFT) != lane;
        bool same = moment_of(reads[l]) == moment_of(mine) && lane_of(reads[l]) != MOMENTS;
        reads[l] = mine | (shared ? same ? all : moments : lane);
    }
    for (unsigned l = 0; l < LANES; l++) readers[l] |= bit;
    return true;
}

static bool read_request(Race *race, Act *now, uint32_t mask, const uint32_t address[LANES],
                         unsigned bytes, RaceReport *report) {
    const uint32_t met = race->met[now->warp];
    const bool acquired = now->known[actor(race, SECTION_SOME, now->warp)] > met;
    const bool alike = !acquired && !race->parted[now->warp] && !race->ahead[now->warp];
    if (is_used(race, STRONG_WRITES) || !alike || now->access != RACE_READ ||
        !is_row(race, mask, address, bytes))
        return read_lanes(race, now, mask, address, bytes, report);
    uint32_t cell = cells_of(race, address[0], bytes).first;
    if (check_write(race, now, 0, cell, report)) return true;
    race->used |= 1u << READS;
    bool done =
        read_row(race->write + cell, race->read[READS][now->warp] + cell,
                 race->readers[READS] + cell, now->ordered_write, now->stamp, met, 1u << now->warp);
    return !done && read_lanes(race, now, mask, address, bytes, report);
}

/* All lanes are checked before any is recorded: lanes of one instruction do not race. */
static bool write_request(Race *race, Act *now, uint32_t mask, const uint32_t address[LANES],
                          unsigned bytes, RaceReport *report) {
    for (uint32_t left = mask; left; left &= left - 1) {
        unsigned lane = (unsigned)__builtin_ctz(left);
        act_as(race, now, acting(now, lane));
        if (check_cells(race, now, acting(now, lane), cells_of(race, address[lane], bytes), report))
            return true;
    }
    for (uint32_t left = mask; left; left &= left - 1) {
        unsigned lane = (unsigned)__builtin_ctz(left);
        write_cells(race, now, acting(now, lane), cells_of(race, address[lane], bytes));
    }
    return false;
}

bool race_access(Race *race, unsigned warp, RaceAccess access, uint32_t mask,
                 const uint32_t address[32], unsigned bytes, uint32_t source, RaceReport *report) {
    unsigned who = actor(race, SECTION_WARP, warp);
    const bool reads = access < RACE_WRITE || access == RACE_STRONG_READ;
    Act now;
    begin(&now, race, warp, RACE_ACTOR_WARP, who, race->clock[warp][who], access, source);
    race->tested[warp] |= access == RACE_TEST;
    if (access >= RACE_ATOMIC) become_strong(race, &now, bytes, source);
    if (reads) return read_request(race, &now, mask, address, bytes, report);
    if (race->locations && !now.strong) race_forget(race, mask, address);
    return write_request(race, &now, mask, address, bytes, report);
}

bool race_copy(Race *race, unsigned warp, uint32_t mask, const uint32_t address[32], unsigned bytes,
               uint32_t source, RaceReport *report) {
    Act now;
    race->queue[RACE_COPY][warp].lanes |= mask;
    begin(&now, race, warp, RACE_ACTOR_COPY, actor(race, SECTION_COPY, warp),
          race->queue[RACE_COPY][warp].open, RACE_WRITE, source);
    return write_request(race, &now, mask, address, bytes, report);
}

/* Only a lane that issues alone is told from others. */
static unsigned issuer(unsigned lane) { return lane == RACE_ALL_LANES ? NO_LANE : lane; }

bool race_async_read(Race *race, unsigned warp, unsigned lane, RaceQueue queue, unsigned count,
                     const uint32_t address[], unsigned bytes, uint32_t source,
                     RaceReport *report) {
    unsigned kind = queue == RACE_BULK ? BULK_STORES : WGMMA_READS;
    Act now;
    race->queue[queue][warp].lanes |= lane < RACE_ALL_LANES ? 1u << lane : UINT32_MAX;
    begin(&now, race, warp, queue == RACE_BULK ? RACE_ACTOR_BULK : RACE_ACTOR_WGMMA,
          actor(race, queue_section[queue], warp), race->queue[queue][warp].open, RACE_READ,
          source);
    act_as(race, &now, lane);
    for (unsigned i = 0; i < count; i++)
        if (read_cells(race, &now, kind, issuer(lane), cells_of(race, address[i], bytes), report))
            return true;
    return false;
}

bool race_bulk_load(Race *race, unsigned warp, unsigned lane, uint32_t mbarrier_address,
                    uint32_t address, uint32_t bytes, uint32_t source, RaceReport *report) {
    MbarrierClocks *clocks = race_mbarrier(race, mbarrier_address);
    if (!clocks) return false;
    Act now;
    begin(&now, race, warp, RACE_ACTOR_BULK_LOAD, mbarrier_index(race, clocks), clocks->now.clock,
          RACE_WRITE, source);
    now.mbarrier = mbarrier_address;
    clocks->now.copies = true;
    act_as(race, &now, lane);
    const Cells cells = cells_of(race, address, bytes);
    /* The copy arrives at the mbarrier: it must see it as it was initialised. */
    now.async_proxy = !clocks->fenced || race->clock[warp][clocks->warp] < clocks->fenced;
    if (check_write(race, &now, issuer(lane), cells_of(race, mbarrier_address, 1).first, report)) {
        if (report->why == RACE_NO_PROXY_FENCE) report->why = RACE_NO_INIT_FENCE;
        return true;
    }
    now.async_proxy = true;
    now.ordered_write = 0;
    if (check_cells(race, &now, issuer(lane), cells, report)) return true;
    write_cells(race, &now, NO_LANE, cells);
    follow(race, clocks->arrived, race->clock[warp]); /* the phase ends after this */
    tick(race, warp);
    return false;
}
