/* The race detector at its limits: cells of each size, the first and the last byte, every warp,
 * many groups of copies, mbarriers and flags, and who is named in a report. Catches: a cell that is
 * cut elsewhere, a warp or a lane that stands for another one, a group that is taken for another, a
 * flag that stands for two, a side of a race that is described by the other's. */
#include "machine/memory/race.h"
#include "test/tap.h"

enum { BASE = 1024, BYTES = 4096, WARPS = RACE_MAX_WARPS, GROUPS = 70 };
static const uint32_t bar = BASE + 2048, other_bar = BASE + 2056, all = 0xffffffff;
static Race *race;
static RaceReport report;

static bool one(unsigned warp, RaceAccess access, unsigned lane, uint32_t address, unsigned bytes,
                uint32_t source) {
    uint32_t addresses[32] = {0};
    addresses[lane] = address;
    return race_access(race, warp, access, 1u << lane, addresses, bytes, source, &report);
}

static bool row(unsigned warp, RaceAccess access, uint32_t address, unsigned bytes, unsigned step) {
    uint32_t addresses[32];
    for (uint32_t l = 0; l < 32; l++) addresses[l] = address + l * step;
    return race_access(race, warp, access, all, addresses, bytes, 1, &report);
}

static bool copies(unsigned warp, uint32_t address, uint32_t source) {
    uint32_t addresses[32] = {[5] = address};
    return race_copy(race, warp, 1u << 5, addresses, 16, source, &report);
}

/* ---- Cells ----------------------------------------------------------------------------------- */

/* Each access of each width touches the cells that its bytes are in, and no others. */
static void test_cells(unsigned granule) {
    int wrong = 0;
    race = race_new(BASE, BYTES, 2, granule);
    for (unsigned bytes = granule; bytes <= 16; bytes *= 2)
        for (unsigned read = granule; read <= 16; read *= 2)
            for (uint32_t at = 64; at < 128; at += read) {
                const uint32_t written = BASE + 96;
                race_begin_block(race);
                one(0, RACE_WRITE, 3, written, bytes, 1);
                const bool touches = BASE + at < written + bytes && BASE + at + read > written;
                wrong += one(1, RACE_READ, 4, BASE + at, read, 2) != touches;
                wrong += touches && report.address != (BASE + at > written ? BASE + at : written);
            }
    ok(wrong == 0, "cells of %u bytes (%d wrong)", granule, wrong);
    race_begin_block(race);
    one(0, RACE_WRITE, 0, BASE, granule, 1);
    one(0, RACE_WRITE, 31, BASE + BYTES - granule, granule, 1);
    ok(one(1, RACE_READ, 0, BASE, granule, 1) && report.address == BASE, "the first");
    ok(one(1, RACE_READ, 0, BASE + BYTES - granule, granule, 1) &&
           report.address == BASE + BYTES - granule,
       "and the last");
    race_free(race);
}

/* A row of lanes is looked at in a loop of its own, and must find what the lanes find. */
static void test_rows(unsigned granule) {
    int wrong = 0;
    race = race_new(BASE, BYTES, 2, granule);
    for (unsigned written = 0; written < 32; written++) {
        const uint32_t at = BASE + 64 + written * granule;
        race_begin_block(race);
        one(0, RACE_WRITE, written, at, granule, 1);
        wrong += !row(1, RACE_READ, BASE + 64, granule, granule) || report.address != at ||
                 report.later.lane != written;
        race_begin_block(race);
        row(1, RACE_READ, BASE + 64, granule, granule);
        wrong += !one(0, RACE_WRITE, 9, at, granule, 1) || report.earlier.lane != written;
        race_begin_block(race);
        row(1, RACE_READ, BASE + 64, granule, granule);
        row(1, RACE_READ, BASE + 64, granule, granule);
        wrong += one(1, RACE_WRITE, written, at, granule, 1);
        race_begin_block(race);
        row(1, RACE_READ, BASE + 64, granule, granule);
        one(1, RACE_READ, (written + 1) % 32, at, granule, 1);
        row(1, RACE_READ, BASE + 64, granule, granule);
        wrong += !one(1, RACE_WRITE, written, at, granule, 1) || report.why != RACE_WITHIN_WARP ||
                 report.earlier.lane != RACE_ALL_LANES;
    }
    race_begin_block(race);
    row(1, RACE_READ, BASE + 64, granule, granule);
    wrong += one(0, RACE_WRITE, 9, BASE + 64 - granule, granule, 1);
    wrong += one(0, RACE_WRITE, 9, BASE + 64 + 32 * granule, granule, 1);
    ok(wrong == 0, "rows of %u bytes per lane (%d wrong)", granule, wrong);
    race_free(race);
}

/* ---- Warps and lanes ------------------------------------------------------------------------- */

static void pass(uint32_t mbarrier, unsigned from, unsigned lane, unsigned to) {
    race_mbarrier_arrive(race, mbarrier, from, lane, RACE_RELEASES, false);
    race_mbarrier_complete(race, mbarrier);
    race_mbarrier_acquire(race, mbarrier, to, all, RACE_ACQUIRES);
}

/* Every two warps: what orders them, and what does not. */
static void test_warps(void) {
    int wrong = 0, missed = 0, lanes = 0;
    race = race_new(BASE, BYTES, WARPS, 4);
    for (unsigned from = 0; from < WARPS; from++)
        for (unsigned to = 0; to < WARPS; to++) {
            if (from == to) continue;
            race_begin_block(race);
            one(from, RACE_WRITE, 7, BASE, 4, 11);
            missed += !one(to, RACE_READ, 8, BASE, 4, 12) || report.earlier.warp != from ||
                      report.later.warp != to || report.why != RACE_UNORDERED;
            race_barrier_arrive(race, 15, from, true);
            race_barrier_arrive(race, 15, to, true);
            race_barrier_release(race, 15, 1u << from | 1u << to);
            wrong += one(to, RACE_READ, 8, BASE, 4, 12);
            race_begin_block(race);
            one(from, RACE_READ, 0, BASE, 4, 1);
            one(from, RACE_READ, 1, BASE + 4, 4, 1);
            pass(bar, from, 0, to);
            missed += !one(to, RACE_WRITE, 0, BASE + 4, 4, 1);
            pass(other_bar, from, 1, to);
            lanes += one(to, RACE_WRITE, 0, BASE + 4, 4, 1);
            lanes += one(to, RACE_WRITE, 0, BASE, 4, 1);
        }
    ok(wrong == 0, "every two warps meet at a barrier (%d wrong)", wrong);
    ok(missed == 0, "and not without it (%d wrong)", missed);
    ok(lanes == 0, "lanes that are known one after another are all known (%d wrong)", lanes);
    race_free(race);
}

/* As many warps and mbarriers as there may be: each bulk load is known by its own mbarrier. */
static void test_mbarriers(void) {
    int missed = 0, wrong = 0;
    race = race_new(BASE, BYTES, WARPS, 4);
    for (uint32_t i = 0; i < RACE_MAX_MBARRIERS; i++)
        race_mbarrier_init(race, BASE + 2048 + 8 * i, 0, 0);
    race_mbarrier_init_fence(race, 0, 1);
    for (uint32_t i = 0; i < RACE_MAX_MBARRIERS; i++)
        wrong += race_bulk_load(race, 0, 0, BASE + 2048 + 8 * i, BASE + 16 * i, 16, 1, &report);
    for (uint32_t i = 0; i < RACE_MAX_MBARRIERS; i++) {
        const uint32_t mbarrier = BASE + 2048 + 8 * i;
        missed += !one(1, RACE_READ, 2, BASE + 16 * i, 4, 2) || report.why != RACE_NOT_WAITED ||
                  report.earlier.mbarrier != mbarrier;
        race_mbarrier_complete(race, mbarrier);
        race_mbarrier_acquire(race, mbarrier, 1, all, RACE_ACQUIRES);
        wrong += one(1, RACE_READ, 2, BASE + 16 * i, 4, 2);
    }
    ok(missed == 0, "%d loads that nobody has waited for (%d wrong)", RACE_MAX_MBARRIERS, missed);
    ok(wrong == 0, "and when somebody has (%d wrong)", wrong);
    race_free(race);
}

/* A lane has arrived, and what its warp began before is still under way. */
static void test_not_lanes(void) {
    static const char *const names[] = {"a copy", "a bulk store", "a wgmma", "a bulk load"};
    const uint32_t at = BASE + 16;
    race = race_new(BASE, BYTES, 3, 4);
    for (int what = 0; what < 4; what++) {
        int missed = 0;
        race_begin_block(race);
        for (int i = 0; i < 64; i++) {
            race_begin_block(race);
            if (what == 0) copies(1, at, 1);
            if (what == 1)
                race_async_read(race, 1, RACE_ALL_LANES, RACE_BULK, 1, &at, 16, 1, &report);
            if (what == 2)
                race_async_read(race, 1, RACE_ALL_LANES, RACE_WGMMA, 1, &at, 16, 1, &report);
            if (what == 3) race_bulk_load(race, 1, RACE_ALL_LANES, other_bar, at, 16, 1, &report);
            for (unsigned lane = 0; lane < 32; lane++)
                race_mbarrier_arrive(race, bar, 1, lane, RACE_RELEASES, false);
            race_mbarrier_complete(race, bar);
            race_mbarrier_acquire(race, bar, 2, all, RACE_ACQUIRES);
            missed += !one(2, RACE_WRITE, 5, at, 4, 2) || report.why != RACE_NOT_WAITED;
        }
        ok(missed == 0, "%s is not over where all lanes have arrived (%d wrong)", names[what],
           missed);
    }
    race_free(race);
}

/* The first lane of an access finds its own bytes, the next one another's. */
static void test_neighbours(void) {
    uint32_t address[32], mixed[32];
    int missed = 0;
    race = race_new(BASE, BYTES, 1, 4);
    for (uint32_t l = 0; l < 32; l++) address[l] = mixed[l] = BASE + 8 * l;
    for (int first = 0; first < 9; first++) {
        static const RaceAccess accesses[] = {RACE_READ, RACE_WRITE, RACE_ATOMIC};
        const RaceAccess before = accesses[first / 3], after = accesses[first % 3];
        for (unsigned l = 1; l < 31; l++) {
            mixed[l] = address[l + 1];
            race_begin_block(race);
            race_access(race, 0, before, all, address, 4, 1, &report);
            const bool races = race_access(race, 0, after, all, mixed, 4, 2, &report);
            missed += races != (before != after || before == RACE_WRITE);
            const unsigned later = after == RACE_READ ? RACE_ALL_LANES : l; /* and l + 1 */
            missed += races && (report.why != RACE_WITHIN_WARP || report.later.lane != later ||
                                report.earlier.lane != l + 1);
            mixed[l] = address[l];
        }
    }
    ok(missed == 0, "a lane at its neighbour's bytes (%d wrong)", missed);
    race_free(race);
}

/* Clocks have 31 bits, and a launch of many blocks has more of them. */
static void test_overflow(void) {
    const uint32_t at = BASE + 16;
    int wrong = 0;
    race = race_new(BASE, BYTES, 2, 4);
    for (unsigned i = 0; i < 16; i++) {
        race_begin_block(race);
        wrong += one(i % 2, RACE_WRITE, 3, BASE, 4, 1);
        wrong += !one(1 - i % 2, RACE_READ, 3, BASE, 4, 1);
        wrong += one(i % 2, RACE_READ, 3, BASE + 4, 4, 1);
        wrong += !one(1 - i % 2, RACE_WRITE, 3, BASE + 4, 4, 1);
        wrong += race_async_read(race, 1, RACE_ALL_LANES, RACE_BULK, 1, &at, 16, 1, &report);
        race_commit(race, 1, RACE_BULK, all);
        race_wait(race, 1, RACE_BULK, 1, all);
        wrong += !one(1, RACE_WRITE, 0, at, 4, 1);
        wrong += one(1, RACE_WRITE, 0, BASE + BYTES - 4, 4, 1);
        wrong += one(1, RACE_READ, 0, BASE + BYTES - 4, 4, 1);
        race_skip(race, (1u << 28) + 12345);
    }
    ok(wrong == 0, "clocks that run over (%d wrong)", wrong);
    race_free(race);
}

/* ---- Groups ---------------------------------------------------------------------------------- */

/* Of 70 groups the last 64 are remembered; waiting for all but 63 leaves as many. */
static void begin_groups(void) {
    race_begin_block(race);
    for (uint32_t i = 0; i < GROUPS; i++) {
        copies(0, BASE + 16 * i, i);
        race_commit(race, 0, RACE_COPY, all);
    }
}

static bool landed(uint32_t group) { return !one(0, RACE_READ, 5, BASE + 16 * group, 16, 99); }

static void test_groups(void) {
    race = race_new(BASE, BYTES, 1, 4);
    for (int i = 0; i < 64; i++) {
        begin_groups();
        race_wait(race, 0, RACE_COPY, i, all);
        if (!landed((uint32_t)(GROUPS - 1 - i)) || (i && landed((uint32_t)(GROUPS - i))))
            ok(false, "all but %d groups have landed", i);
    }
    begin_groups();
    race_wait(race, 0, RACE_COPY, 64, all);
    ok(!landed(GROUPS - 1) && !landed(GROUPS - 64), "too many to tell");
    race_begin_block(race);
    copies(0, BASE, 1);
    race_commit(race, 0, RACE_COPY, all);
    race_wait(race, 0, RACE_COPY, 1, all);
    ok(!landed(0), "one may be in flight");
    race_wait(race, 0, RACE_COPY, 5, all);
    ok(!landed(0), "or five");
    race_wait(race, 0, RACE_COPY, 0, all);
    race_wait(race, 0, RACE_COPY, 3, all);
    ok(landed(0), "what was waited for stays so");
    race_free(race);
}

/* ---- Flags ----------------------------------------------------------------------------------- */

enum { FLAGS = 100 }; /* so many that some of them meet in the table of locations */

/* Whoever acquires a flag knows what was done before its release, and no more. */
static void test_flags(void) {
    const unsigned releases = RACE_STRONG | RACE_RELEASES, acquires = RACE_STRONG | RACE_ACQUIRES;
    int wrong = 0;
    race = race_new(BASE, BYTES, 2, 4);
    race_begin_block(race);
    for (uint32_t i = 0; i < FLAGS; i++) {
        one(0, RACE_WRITE, 0, BASE + 4 * i, 4, 1);
        race_strong_write(race, 0, 0, 0x7f0000000000 + 4096 * (uint64_t)i, releases, false);
    }
    for (uint32_t i = 0; i < FLAGS; i++) {
        wrong += !one(1, RACE_READ, 0, BASE + 4 * i, 4, 2);
        race_strong_read(race, 1, 0, 0x7f0000000000 + 4096 * (uint64_t)i, acquires);
        wrong += one(1, RACE_READ, 0, BASE + 4 * i, 4, 3);
    }
    ok(wrong == 0, "%d flags, each with what it releases (%d wrong)", FLAGS, wrong);
    race_free(race);
}

/* ---- Reports --------------------------------------------------------------------------------- */

static bool is_side(const RaceSide *side, RaceActor actor, RaceAccess access, unsigned warp,
                    unsigned lane, uint32_t mbarrier, uint32_t source) {
    return side->actor == actor && side->access == access && side->warp == warp &&
           side->lane == lane && side->mbarrier == mbarrier && side->source == source;
}

enum { NONE = 63 }; /* the lane of a whole warp that has acted before */

static void test_sides(void) {
    const uint32_t at = BASE + 16, most = RACE_MAX_SOURCE;
    race = race_new(BASE, BYTES, 4, 4);
    race_begin_block(race);
    one(2, RACE_ATOMIC, 9, at, 4, most);
    ok(one(3, RACE_READ, 31, at, 4, most - 1) &&
           is_side(&report.earlier, RACE_ACTOR_WARP, RACE_ATOMIC, 2, 9, 0, most) &&
           is_side(&report.later, RACE_ACTOR_WARP, RACE_READ, 3, 31, 0, most - 1),
       "an atomic and a read");
    race_begin_block(race);
    copies(3, at, 21);
    ok(one(1, RACE_WRITE, 0, at, 4, 22) && report.why == RACE_NOT_WAITED &&
           is_side(&report.earlier, RACE_ACTOR_COPY, RACE_WRITE, 3, 5, 0, 21) &&
           is_side(&report.later, RACE_ACTOR_WARP, RACE_WRITE, 1, 0, 0, 22),
       "a copy and a write");
    race_begin_block(race);
    one(1, RACE_READ, 4, at, 4, 23);
    ok(copies(2, at, 24) && report.why == RACE_UNORDERED &&
           is_side(&report.earlier, RACE_ACTOR_WARP, RACE_READ, 1, 4, 0, 23) &&
           is_side(&report.later, RACE_ACTOR_COPY, RACE_WRITE, 2, 5, 0, 24),
       "a read and a copy");
    race_begin_block(race);
    race_async_read(race, 3, RACE_ALL_LANES, RACE_BULK, 1, &at, 16, 25, &report);
    ok(one(3, RACE_WRITE, 6, at + 12, 4, 26) && report.why == RACE_NOT_WAITED &&
           report.address == at + 12 &&
           is_side(&report.earlier, RACE_ACTOR_BULK, RACE_READ, 3, NONE, 0, 25),
       "a bulk store and a write");
    race_begin_block(race);
    race_async_read(race, 2, RACE_ALL_LANES, RACE_WGMMA, 1, &at, 16, 27, &report);
    ok(one(0, RACE_WRITE, 6, at, 4, 28) && report.why == RACE_NOT_WAITED &&
           is_side(&report.earlier, RACE_ACTOR_WGMMA, RACE_READ, 2, NONE, 0, 27),
       "a wgmma and a write");
    race_begin_block(race);
    one(1, RACE_WRITE, 4, at, 4, 29);
    ok(race_async_read(race, 2, RACE_ALL_LANES, RACE_WGMMA, 1, &at, 16, 30, &report) &&
           is_side(&report.later, RACE_ACTOR_WGMMA, RACE_READ, 2, RACE_ALL_LANES, 0, 30),
       "a write and a wgmma");
    race_begin_block(race);
    race_mbarrier_arrive(race, other_bar, 0, 0, RACE_RELEASES, false);
    race_bulk_load(race, 2, RACE_ALL_LANES, bar, at, 64, 31, &report);
    ok(one(0, RACE_READ, 1, at + 60, 4, 32) && report.why == RACE_NOT_WAITED &&
           is_side(&report.earlier, RACE_ACTOR_BULK_LOAD, RACE_WRITE, 0, NONE, bar, 31),
       "a bulk load and a read");
    ok(!one(0, RACE_READ, 1, at + 64, 4, 32) && !one(0, RACE_READ, 1, at - 4, 4, 32),
       "not beside it");
    race_begin_block(race);
    one(1, RACE_READ, 4, at, 4, 33);
    ok(race_bulk_load(race, 3, RACE_ALL_LANES, other_bar, at, 64, 34, &report) &&
           report.why == RACE_UNORDERED &&
           is_side(&report.later, RACE_ACTOR_BULK_LOAD, RACE_WRITE, 3, RACE_ALL_LANES, other_bar,
                   34),
       "a read and a bulk load");
    race_free(race);
}

static void test_words(void) {
    static const char *const part[] = {
        "no barrier orders",        "no __syncwarp",      "nobody has waited",
        "need a fence.proxy.async", "of different sizes", "another lane of the warp has waited",
        "a fence.mbarrier_init"};
    char text[128], few[8];
    for (int i = 0; i < 7; i++)
        ok(strstr(race_message((RaceWhy)i), part[i]) != NULL, "a message: %s", part[i]);
    is_text(race_message((RaceWhy)7), "unknown race", "of none");
    RaceSide side = {.actor = RACE_ACTOR_COPY, .warp = 30, .access = RACE_WRITE};
    race_side_text(&side, text, sizeof text);
    is_text(text, "write by cp.async of warp 30", "a copy");
    side.actor = RACE_ACTOR_BULK, side.access = RACE_READ;
    race_side_text(&side, text, sizeof text);
    is_text(text, "read by bulk store of warp 30", "a bulk store");
    side.actor = RACE_ACTOR_WARP, side.access = RACE_ATOMIC, side.lane = 31;
    race_side_text(&side, text, sizeof text);
    is_text(text, "atomic by warp 30, lane 31", "an atomic");
    race_side_text(&side, few, sizeof few);
    is_text(few, "atomic ", "as much as there is room for");
}

int main(void) {
    for (unsigned granule = 1; granule <= 4; granule *= 2) {
        test_cells(granule);
        test_rows(granule);
    }
    test_warps();
    test_mbarriers();
    test_not_lanes();
    test_neighbours();
    test_overflow();
    test_groups();
    test_flags();
    test_sides();
    test_words();
    return done_testing();
}
