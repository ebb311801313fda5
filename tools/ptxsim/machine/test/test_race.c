/* The race detector by scenario, each in a racing and in a clean version. Catches: a missing edge
 * of happens-before (false alarms), an edge too many (races missed), a report that names the wrong
 * side. */
#include "machine/memory/race.h"
#include "test/tap.h"

enum { BASE = 1024, BYTES = 8192, WARPS = 4 };
static const uint32_t all = 0xffffffff;
static Race *race;
static RaceReport report;

/* Lane l at BASE + offset + l * step. */
static bool lanes(unsigned warp, RaceAccess access, uint32_t mask, uint32_t offset, uint32_t step,
                  unsigned bytes, uint32_t source) {
    uint32_t address[32];
    for (uint32_t l = 0; l < 32; l++) address[l] = BASE + offset + l * step;
    return race_access(race, warp, access, mask, address, bytes, source, &report);
}

static bool reads(unsigned warp, uint32_t offset, uint32_t source) {
    return lanes(warp, RACE_READ, all, offset, 4, 4, source);
}

static bool writes(unsigned warp, uint32_t offset, uint32_t source) {
    return lanes(warp, RACE_WRITE, all, offset, 4, 4, source);
}

static bool copies(unsigned warp, uint32_t offset, uint32_t source) {
    uint32_t address[32];
    for (uint32_t l = 0; l < 32; l++) address[l] = BASE + offset + l * 16;
    return race_copy(race, warp, all, address, 16, source, &report);
}

static void barrier(unsigned id, uint32_t warps) {
    for (unsigned warp = 0; warp < WARPS; warp++)
        if (warps >> warp & 1) race_barrier_arrive(race, id, warp, true);
    race_barrier_release(race, id, warps);
}

static bool reported(RaceWhy why, uint32_t earlier, uint32_t later) {
    return report.why == why && report.earlier.source == earlier && report.later.source == later;
}

static void test_barriers(void) {
    race_begin_block(race);
    ok(!writes(0, 0, 1) && !reads(0, 0, 2), "a warp reads what its own lanes wrote");
    ok(reads(1, 0, 3) && reported(RACE_UNORDERED, 1, 3), "another warp without a barrier races");
    ok(report.earlier.warp == 0 && report.later.warp == 1 && report.earlier.access == RACE_WRITE &&
           report.later.access == RACE_READ && report.address == BASE && report.earlier.lane == 0,
       "the report names both warps, the accesses and the address");

    race_begin_block(race);
    writes(0, 0, 1);
    barrier(0, 15);
    ok(!reads(1, 0, 2) && !reads(3, 0, 2), "after a barrier it does not");
    ok(writes(2, 0, 3) && reported(RACE_UNORDERED, 2, 3), "overwriting without a second barrier");
    ok(report.earlier.access == RACE_READ && report.earlier.warp == 1, "is a write after a read");

    race_begin_block(race);
    writes(0, 0, 1);
    barrier(0, 15);
    reads(1, 0, 2);
    reads(2, 0, 2);
    barrier(0, 15);
    ok(!writes(3, 0, 3), "with a second barrier it is clean");
    ok(writes(0, 0, 4) && reported(RACE_UNORDERED, 3, 4), "two writes without a barrier");

    race_begin_block(race);
    writes(0, 0, 1);
    barrier(1, 3);
    ok(!reads(1, 0, 2) && reads(2, 0, 3), "a named barrier orders its participants alone");

    race_begin_block(race);
    writes(0, 0, 1);
    race_barrier_arrive(race, 2, 0, false); /* bar.arrive: does not wait */
    writes(0, 128, 2);
    race_barrier_arrive(race, 2, 1, true);
    race_barrier_release(race, 2, 2);
    ok(!reads(1, 0, 3), "bar.arrive releases what came before it");
    ok(reads(1, 128, 4), "and not what came after");
    ok(!writes(1, 256, 5) && reads(0, 256, 6), "the arriving warp acquires nothing");

    race_begin_block(race);
    ok(race_barrier_knows(race, 2, 0), "a barrier's first use has none before it");
    race_barrier_arrive(race, 2, 0, false);
    ok(race_barrier_knows(race, 2, 0) && race_barrier_knows(race, 2, 1), "nor while it lasts");
    race_barrier_arrive(race, 2, 1, true);
    race_barrier_release(race, 2, 2);
    ok(race_barrier_knows(race, 2, 1), "who has waited may come again");
    ok(!race_barrier_knows(race, 2, 0), "who has not might be counted in the use before");
    ok(!race_barrier_knows(race, 2, 3), "and so might who had no part in it");
    barrier(3, 3);
    ok(race_barrier_knows(race, 2, 0), "another barrier tells him");

    race_begin_block(race);
    ok(!writes(1, 0, 7), "a new block starts clean");
}

static void test_atomics(void) {
    race_begin_block(race);
    ok(!lanes(0, RACE_ATOMIC, all, 0, 0, 4, 1) && !lanes(1, RACE_ATOMIC, all, 0, 0, 4, 2),
       "atomics of two warps do not race");
    ok(lanes(2, RACE_READ, 1, 0, 0, 4, 3), "a plain read beside them does");
    race_begin_block(race);
    lanes(0, RACE_ATOMIC, all, 0, 0, 4, 1);
    lanes(1, RACE_ATOMIC, all, 0, 0, 4, 2);
    race_barrier_arrive(race, 0, 1, true);
    race_barrier_arrive(race, 0, 2, true);
    race_barrier_release(race, 0, 6);
    ok(lanes(2, RACE_WRITE, 1, 0, 0, 4, 3) && report.earlier.warp == 0,
       "a write ordered after one atomic races with the other");
    race_begin_block(race);
    lanes(0, RACE_WRITE, 1, 0, 0, 4, 1);
    ok(lanes(1, RACE_ATOMIC, 1, 0, 0, 4, 2), "an atomic races with a plain write");
}

/* Warp 2 may read what lane 0 of warp 0 wrote. */
static bool passed_on(void) { return !lanes(2, RACE_READ, 1, 0, 0, 4, 9); }

/* What a strong read finds: what the last write released, or what atomics made of that. */
static void test_release_sequences(void) {
    const uint64_t flag = BASE + 512, far = 1ull << 40;
    const unsigned strong = RACE_STRONG, acquires = RACE_STRONG | RACE_ACQUIRES,
                   releases = RACE_STRONG | RACE_RELEASES;
    struct {
        unsigned warp, lane, order;
        bool atomic, right;
        const char *name;
    } row[] = {
        {1, 0, strong, true, true, "an atomic of another thread goes on with it"},
        {1, 0, releases, true, true, "one that releases, too"},
        {1, 0, strong, false, false, "a store of another thread does not"},
        {1, 0, releases, false, false, "nor one that releases something else"},
        {0, 1, strong, false, false, "nor one of another lane"},
        {0, 0, strong, false, true, "a store of the same thread does"},
    };
    for (size_t i = 0; i < sizeof row / sizeof *row; i++) {
        race_begin_block(race);
        lanes(0, RACE_WRITE, 1, 0, 0, 4, 1);
        race_strong_write(race, 0, 0, flag, releases, false);
        race_strong_write(race, row[i].warp, row[i].lane, flag, row[i].order, row[i].atomic);
        race_strong_read(race, 2, 0, flag, acquires);
        ok(passed_on() == row[i].right, "%s", row[i].name);
    }
    race_begin_block(race);
    lanes(0, RACE_WRITE, 1, 0, 0, 4, 1);
    race_strong_write(race, 0, 0, far, releases, false);
    race_strong_read(race, 2, 0, far + 4, acquires);
    ok(!passed_on(), "another address");
    race_begin_block(race);
    lanes(0, RACE_WRITE, 1, 0, 0, 4, 1);
    race_strong_write(race, 0, 0, flag, releases, false);
    lanes(0, RACE_WRITE, 1, 512, 0, 4, 1);
    race_strong_read(race, 2, 0, flag, acquires);
    ok(!passed_on(), "a weak write replaces what was released");
    race_begin_block(race);
    race_strong_read(race, 2, 0, far, acquires);
    ok(!lanes(0, RACE_WRITE, 1, 0, 0, 4, 1) && !passed_on(), "another block forgets");
    race_begin_block(race);
    lanes(0, RACE_WRITE, 1, 0, 0, 4, 1);
    race_fence(race, 0, 2, RACE_ACQUIRES | RACE_RELEASES);
    race_strong_write(race, 0, 0, far, strong, false);
    race_strong_read(race, 2, 0, far, acquires);
    ok(!passed_on(), "another lane's fence");
    race_begin_block(race);
    lanes(0, RACE_WRITE, 3, 0, 0, 4, 1);
    race_strong_write(race, 0, 5, far, releases, false);
    race_strong_read(race, 2, 0, far, acquires);
    ok(!passed_on(), "another lane's release");
    race_begin_block(race);
    lanes(0, RACE_WRITE, 1, 0, 0, 4, 1);
    race_strong_write(race, 0, 0, far, releases, false);
    race_strong_read(race, 1, 0, far, acquires);
    race_fence(race, 1, all, RACE_RELEASES);
    race_strong_write(race, 1, 7, flag, strong, true);
    race_strong_read(race, 2, 0, flag, strong);
    ok(!passed_on(), "passed on by a third, without the last fence");
    race_fence(race, 2, all, RACE_ACQUIRES);
    ok(passed_on(), "and with it");
    for (int met = 0; met < 2; met++) {
        race_begin_block(race);
        lanes(0, RACE_WRITE, 1, 0, 0, 4, 1);
        race_strong_write(race, 0, 0, flag, releases, false);
        race_strong_read(race, 1, 4, flag, acquires);
        if (met) race_warp_sync(race, 1, 1 << 4 | 1 << 5);
        race_strong_write(race, 1, 5, far, releases, false);
        race_strong_read(race, 2, 0, far, acquires);
        ok(passed_on() == met, "passed on by a lane that has %smet the one that acquired",
           met ? "" : "not ");
    }
    /* more locations than the table has places: those without one share theirs, so that no race is
     * invented */
    int wrong = 0;
    race_begin_block(race);
    lanes(0, RACE_WRITE, 1, 0, 0, 4, 1);
    for (uint64_t i = 0; i < 5000; i++) race_strong_write(race, 0, 0, far + 8 * i, releases, true);
    for (uint64_t i = 0; i < 5000; i++) {
        lanes(1, RACE_WRITE, 1, 128, 0, 4, 1);
        race_strong_read(race, 1, 0, far + 8 * i, strong);
        race_fence(race, 1, all, RACE_ACQUIRES);
        wrong += lanes(1, RACE_READ, 1, 0, 0, 4, 2);
    }
    ok(wrong == 0, "5000 locations (%d wrong)", wrong);
}

static void test_lanes(void) {
    race_begin_block(race);
    ok(!lanes(0, RACE_WRITE, all, 0, 4, 4, 1) && !lanes(0, RACE_READ, all, 0, 4, 4, 2),
       "each lane reads its own word");
    ok(lanes(0, RACE_READ, all, 4, 4, 4, 3) && reported(RACE_WITHIN_WARP, 1, 3),
       "each lane reads its neighbour's without __syncwarp");
    ok(report.later.lane == 0 && report.earlier.lane == 1, "the report names both lanes");
    race_begin_block(race);
    lanes(0, RACE_WRITE, all, 0, 4, 4, 1);
    race_warp_sync(race, 0, all);
    ok(!lanes(0, RACE_READ, all, 4, 4, 4, 3), "with __syncwarp it is clean");
    ok(lanes(0, RACE_WRITE, all, 0, 4, 4, 4) && reported(RACE_WITHIN_WARP, 3, 4),
       "overwriting what a neighbour reads needs another");
    race_warp_sync(race, 0, all);
    ok(!lanes(0, RACE_WRITE, all, 0, 0, 4, 5), "lanes of one instruction do not race");
    ok(lanes(0, RACE_READ, 1, 0, 0, 4, 6), "but the word has several writers then");
    race_begin_block(race);
    lanes(0, RACE_WRITE, 0xffff, 0, 4, 4, 1);
    ok(lanes(0, RACE_READ, 0xffff0000, 0xffffffc0, 4, 4, 2), "two sides of a branch race as well");
    race_begin_block(race);
    lanes(0, RACE_READ, all, 0, 0, 4, 1);
    ok(lanes(0, RACE_WRITE, 1, 0, 0, 4, 2), "a broadcast read, then a write by one lane");
    race_begin_block(race);
    lanes(0, RACE_READ, all, 512, 0, 4, 1);
    ok(!lanes(1, RACE_WRITE, all, 516, 4, 4, 2), "the words behind it have not been read");
    race_begin_block(race);
    lanes(0, RACE_READ, all, 0, 0, 4, 1);
    ok(!lanes(0, RACE_READ, all, 0, 4, 4, 2), "reads never race");
}

static void test_granules(void) {
    race_begin_block(race);
    ok(!lanes(0, RACE_WRITE, all, 0, 4, 2, 1) && lanes(1, RACE_WRITE, all, 2, 4, 2, 2),
       "with 4-byte cells the halves of a word are one");
    Race *words = race;
    race = race_new(BASE, BYTES, WARPS, 2);
    ok(!lanes(0, RACE_WRITE, all, 0, 4, 2, 1) && !lanes(1, RACE_WRITE, all, 2, 4, 2, 2),
       "with 2-byte cells they are two");
    ok(lanes(2, RACE_READ, all, 0, 4, 4, 3), "a word covers both");
    race_free(race);
    race = words;
    race_begin_block(race);
    lanes(0, RACE_WRITE, all, 0, 16, 16, 1);
    ok(lanes(1, RACE_READ, 1, 16 * 31 + 12, 0, 4, 2), "16-byte accesses cover four words");
    ok(!lanes(1, RACE_READ, 1, 16 * 32, 0, 4, 2), "and not a fifth");
}

static void test_copies(void) {
    race_begin_block(race);
    copies(0, 0, 1);
    ok(reads(0, 0, 2) && reported(RACE_NOT_WAITED, 1, 2), "reading a cp.async that is under way");
    ok(report.earlier.actor == RACE_ACTOR_COPY && report.earlier.warp == 0, "is told as such");
    race_begin_block(race);
    copies(0, 0, 1);
    race_commit(race, 0, RACE_COPY, all);
    copies(0, 1024, 3);
    race_commit(race, 0, RACE_COPY, all);
    race_wait(race, 0, RACE_COPY, 1, all);
    ok(!lanes(0, RACE_READ, all, 0, 16, 16, 2), "wait_group 1: the first group has landed");
    ok(reads(0, 0, 2) && reported(RACE_WITHIN_WARP, 1, 2), "each lane has waited for its own");
    race_warp_sync(race, 0, all);
    ok(!reads(0, 0, 2), "after they have met it is all of it");
    ok(reads(0, 1024, 4) && reported(RACE_NOT_WAITED, 3, 4), "and the second has not");
    race_wait(race, 0, RACE_COPY, 0, all);
    race_warp_sync(race, 0, all);
    ok(!reads(0, 1024 + 128, 5), "wait_group 0: both");
    ok(reads(1, 0, 6) && reported(RACE_UNORDERED, 1, 6), "another warp needs a barrier besides");
    barrier(0, 15);
    ok(!reads(1, 256, 7), "after it, it sees the copy too");
    ok(copies(2, 0, 8) && reported(RACE_UNORDERED, 7, 8), "a copy over data still being read");

    race_begin_block(race);
    copies(0, 0, 1);
    race_commit(race, 0, RACE_COPY, all);
    barrier(0, 15); /* before the wait: too early */
    race_wait(race, 0, RACE_COPY, 0, all);
    ok(reads(1, 0, 2), "a barrier before the wait orders nothing");

    race_begin_block(race);
    copies(0, 0, 1);
    race_wait(race, 0, RACE_COPY, 0, all);
    ok(reads(0, 0, 2), "wait_group does not wait for copies that were not committed");
    race_wait(race, 0, RACE_COPY, RACE_WAIT_ALL, all);
    race_warp_sync(race, 0, all);
    ok(!reads(0, 128, 3), "wait_all does");

    race_begin_block(race);
    copies(0, 0, 1);
    race_mbarrier_arrive(race, BASE + 4096, 0, RACE_ALL_LANES, RACE_RELEASES, true);
    copies(0, 1024, 2);
    race_mbarrier_complete(race, BASE + 4096);
    race_mbarrier_acquire(race, BASE + 4096, 1, all, RACE_ACQUIRES);
    ok(!reads(1, 0, 3), "cp.async.mbarrier.arrive covers the copies before it");
    ok(reads(1, 1024, 4), "and not those after");
}

static void test_mbarriers(void) {
    uint32_t full = BASE + 4096, empty = BASE + 4104;
    race_begin_block(race);
    ok(!race_bulk_load(race, 0, RACE_ALL_LANES, full, BASE, 1024, 1, &report), "a bulk load");
    race_mbarrier_arrive(race, full, 0, RACE_ALL_LANES, RACE_RELEASES, false);
    ok(reads(1, 0, 2) && reported(RACE_NOT_WAITED, 1, 2), "reading it without a wait races");
    ok(report.earlier.actor == RACE_ACTOR_BULK_LOAD && report.earlier.mbarrier == full,
       "and the report names the mbarrier");

    race_begin_block(race);
    race_bulk_load(race, 0, RACE_ALL_LANES, full, BASE, 1024, 1, &report);
    race_bulk_load(race, 0, RACE_ALL_LANES, empty, BASE + 1024, 1024, 2, &report);
    race_mbarrier_complete(race, full);
    race_mbarrier_acquire(race, full, 1, all, RACE_ACQUIRES);
    ok(!reads(1, 0, 3), "after the wait it is clean");
    ok(reads(1, 1024, 4), "a wait on one mbarrier says nothing about another");
    race_mbarrier_acquire(race, full, 0, all, RACE_ACQUIRES);
    ok(race_bulk_load(race, 0, RACE_ALL_LANES, full, BASE, 1024, 5, &report) &&
           reported(RACE_UNORDERED, 3, 5),
       "the next load over data still being read");

    race_begin_block(race);
    race_bulk_load(race, 0, RACE_ALL_LANES, full, BASE, 1024, 1, &report);
    race_mbarrier_complete(race, full);
    race_mbarrier_acquire(race, full, 1, all, RACE_ACQUIRES);
    reads(1, 0, 2);
    race_mbarrier_arrive(race, empty, 1, RACE_ALL_LANES, RACE_RELEASES, false);
    race_mbarrier_complete(race, empty);
    race_mbarrier_acquire(race, empty, 0, all, RACE_ACQUIRES);
    ok(!race_bulk_load(race, 0, RACE_ALL_LANES, full, BASE, 1024, 3, &report),
       "after the consumer's release it is clean");
    ok(reads(1, 128, 4), "the second phase needs its own wait");
    race_mbarrier_complete(race, full);
    race_mbarrier_acquire(race, full, 1, all, RACE_ACQUIRES);
    ok(!reads(1, 256, 5), "which it then has");

    race_begin_block(race);
    writes(1, 0, 1);
    race_mbarrier_arrive(race, empty, 1, RACE_ALL_LANES, RACE_RELEASES, false);
    writes(1, 128, 2);
    race_mbarrier_complete(race, empty);
    race_mbarrier_acquire(race, empty, 2, all, RACE_ACQUIRES);
    ok(!reads(2, 0, 3), "an arrival releases the writes before it");
    ok(reads(2, 128, 4), "and not those after");

    bool fits = true;
    race_begin_block(race);
    for (uint32_t i = 0; i < RACE_MAX_MBARRIERS; i++)
        fits = fits &&
               race_mbarrier_arrive(race, BASE + 8 * i, 0, RACE_ALL_LANES, RACE_RELEASES, false);
    ok(fits && !race_mbarrier_arrive(race, BASE + 8 * RACE_MAX_MBARRIERS, 0, RACE_ALL_LANES,
                                     RACE_RELEASES, false),
       "mbarriers beyond the limit are refused");
}

/* Whom a lane has met before all lanes met is forgotten. */
static void test_met_before(void) {
    race_begin_block(race);
    race_warp_sync(race, 0, 1 << 0 | 1 << 1);
    race_warp_sync(race, 0, all);
    lanes(0, RACE_WRITE, 1 << 1, 0, 0, 4, 1);
    race_warp_sync(race, 0, 1 << 0 | 1 << 2);
    race_mbarrier_arrive(race, BASE + 4096, 0, 0, RACE_RELEASES, false);
    race_mbarrier_complete(race, BASE + 4096);
    race_mbarrier_acquire(race, BASE + 4096, 1, all, RACE_ACQUIRES);
    ok(lanes(1, RACE_READ, 1, 0, 0, 4, 2), "lane 0 does not release what lane 1 did since");
}

/* Which phases a wait by parity may confuse. */
static void test_phases(void) {
    const uint32_t full = BASE + 4096, empty = BASE + 4104;
    race_begin_block(race);
    race_mbarrier_init(race, full, 0, 0);
    ok(race_mbarrier_knows(race, full, 0), "what is before the first phase is over");
    race_mbarrier_arrive(race, full, 0, RACE_ALL_LANES, RACE_RELEASES, false);
    ok(race_mbarrier_passes(race, full) < 0, "a phase for which nobody has waited may end");
    race_mbarrier_complete(race, full);
    ok(race_mbarrier_knows(race, full, 1), "a wait for the first phase");
    race_mbarrier_acquire(race, full, 1, all, RACE_ACQUIRES);
    ok(race_mbarrier_passes(race, full) == 1, "warp 1 has waited, and nobody knows");

    race_mbarrier_arrive(race, empty, 1, RACE_ALL_LANES, RACE_RELEASES, false);
    race_mbarrier_complete(race, empty);
    race_mbarrier_acquire(race, empty, 0, all, RACE_ACQUIRES);
    ok(race_mbarrier_passes(race, full) == 1, "who knows it has not arrived yet");
    race_mbarrier_arrive(race, full, 0, RACE_ALL_LANES, RACE_RELEASES, false);
    ok(race_mbarrier_passes(race, full) < 0, "after its release the next phase may end");
    race_mbarrier_complete(race, full);
    ok(race_mbarrier_knows(race, full, 1), "warp 1 has seen the phase before");
    ok(!race_mbarrier_knows(race, full, 2), "warp 2 has not, and may take an older one for this");
    race_barrier_arrive(race, 0, 1, true);
    race_barrier_arrive(race, 0, 2, true);
    race_barrier_release(race, 0, 1 << 1 | 1 << 2);
    ok(race_mbarrier_knows(race, full, 2), "a barrier tells it");

    race_mbarrier_acquire(race, full, 3, 1, RACE_STRONG);
    race_mbarrier_arrive(race, full, 3, 0, RACE_RELEASES, false);
    ok(race_mbarrier_passes(race, full) < 0, "a lane that waits and arrives itself");
    race_mbarrier_complete(race, full);
    ok(race_mbarrier_knows(race, full, 3), "a relaxed wait has seen its phase, too");
    race_mbarrier_init(race, full, 0, 0);
    ok(race_mbarrier_knows(race, full, 2) && race_mbarrier_passes(race, full) < 0,
       "an mbarrier that is initialised again begins again");
}

/* What is later in time, though it may see nothing of what was before. */
static void test_passed(void) {
    const uint32_t full = BASE + 4096, empty = BASE + 4104;
    race_begin_block(race);
    race_mbarrier_arrive(race, full, 0, 0, RACE_STRONG, false);
    race_mbarrier_complete(race, full);
    race_mbarrier_acquire(race, full, 1, all, RACE_STRONG);
    race_mbarrier_arrive(race, empty, 1, 0, RACE_STRONG, false);
    race_mbarrier_complete(race, empty);
    race_mbarrier_acquire(race, empty, 0, all, RACE_STRONG);
    ok(race_mbarrier_passes(race, full) == 1, "who knows of the wait has not arrived yet");
    race_mbarrier_arrive(race, full, 0, 0, RACE_STRONG, false);
    ok(race_mbarrier_passes(race, full) < 0, "relaxed arrivals are after the waits before them");

    race_begin_block(race);
    race_mbarrier_arrive(race, empty, 1, 0, RACE_RELEASES, false);
    race_mbarrier_complete(race, empty);
    race_mbarrier_acquire(race, empty, 0, 1, RACE_ACQUIRES);
    race_bulk_load(race, 0, 0, full, BASE, 128, 1, &report);
    race_mbarrier_arrive(race, full, 2, 0, RACE_RELEASES, false);
    race_mbarrier_complete(race, full);
    race_mbarrier_acquire(race, full, 1, all, RACE_ACQUIRES);
    race_mbarrier_arrive(race, empty, 1, 0, RACE_RELEASES, false);
    ok(race_mbarrier_passes(race, empty) < 0, "a phase ends after its copies are issued");
    race_mbarrier_acquire(race, empty, 0, 1, RACE_ACQUIRES);
    ok(race_mbarrier_passes(race, empty) == 0, "but maybe before a wait after that");
}

/* Arrivals that another schedule counts in the phase before. */
static void test_unsure(void) {
    const uint32_t full = BASE + 4096;
    for (int knows = 0; knows < 2; knows++) {
        race_begin_block(race);
        race_mbarrier_arrive(race, full, 0, 0, RACE_RELEASES, false);
        race_mbarrier_complete(race, full);
        if (knows) barrier(0, 1 << 0 | 1 << 2);
        race_mbarrier_arrive(race, full, 2, 0, RACE_RELEASES, false);
        ok(race_mbarrier_unsure(race, full) < 0, "an arrival, and no wait for the phase before");
        race_mbarrier_acquire(race, full, 1, all, RACE_ACQUIRES);
        ok(race_mbarrier_unsure(race, full) == (knows ? -1 : 2), "a wait, and %s",
           knows ? "the arrival is after all of the phase" : "the arrival may be in its phase");
        race_mbarrier_complete(race, full);
        race_mbarrier_arrive(race, full, 1, 0, RACE_RELEASES, false);
        race_mbarrier_acquire(race, full, 2, all, RACE_ACQUIRES);
        ok(race_mbarrier_unsure(race, full) == 1, "a wait for an earlier phase does not tell");
    }
    race_begin_block(race);
    race_bulk_load(race, 0, 0, full, BASE, 128, 1, &report);
    race_mbarrier_arrive(race, full, 0, 0, RACE_RELEASES, false);
    race_mbarrier_complete(race, full);
    race_mbarrier_arrive(race, full, 0, 0, RACE_RELEASES, false);
    race_mbarrier_acquire(race, full, 1, all, RACE_STRONG);
    ok(race_mbarrier_unsure(race, full) == 0, "who arrives twice does not know of a copy");
    race_mbarrier_complete(race, full);
    race_mbarrier_acquire(race, full, 1, all, RACE_STRONG);
    race_mbarrier_arrive(race, full, 1, 0, RACE_STRONG, false);
    ok(race_mbarrier_unsure(race, full) < 0, "who has waited does");
}

/* Warp 1 reads by the lanes in `mask`, `step` bytes from lane to lane, and some of its lanes
 * arrive; warp 0 waits for that and writes what was read first. */
static bool released(uint32_t mask, uint32_t step, bool meets, uint32_t arriving) {
    const uint32_t empty = BASE + 4104;
    race_begin_block(race);
    lanes(1, RACE_READ, mask, 0, step, 4, 1);
    if (meets) race_warp_sync(race, 1, all);
    for (unsigned lane = 0; lane < 32; lane++)
        if (arriving >> lane & 1) race_mbarrier_arrive(race, empty, 1, lane, RACE_RELEASES, false);
    race_mbarrier_complete(race, empty);
    race_mbarrier_acquire(race, empty, 0, all, RACE_ACQUIRES);
    return !lanes(0, RACE_WRITE, 1, 0, 4, 4, 2);
}

static void test_lanes_release(void) {
    ok(released(1, 4, false, 1), "a lane that reads and arrives");
    ok(!released(1, 4, false, 2) && reported(RACE_UNORDERED, 1, 2), "another one that arrives");
    ok(report.earlier.warp == 1 && report.earlier.lane == 0, "names the lane that has read");
    ok(!released(all, 0, false, 1) && reported(RACE_UNORDERED, 1, 2),
       "one arrives for all that read the same bytes");
    ok(report.earlier.lane == RACE_ALL_LANES, "several lanes have read");
    ok(released(all, 4, false, 1), "one arrives, and its own bytes are written");
    ok(released(all, 0, true, 1), "one arrives for all after they met");
    ok(released(1, 4, true, 2), "another one after they met");
    ok(released(all, 0, false, all), "each arrives for itself");
    ok(released(all, 0, false, 3), "two arrive: they may be those that read");
    ok(!released(3, 0, false, 4), "but not where one arrives that did not");

    const uint32_t first = BASE + 4104, second = BASE + 4112;
    race_begin_block(race);
    lanes(1, RACE_READ, 2, 0, 0, 4, 1); /* lane 1 */
    race_mbarrier_arrive(race, first, 1, 1, RACE_RELEASES, false);
    race_mbarrier_complete(race, first);
    race_mbarrier_acquire(race, first, 2, all, RACE_ACQUIRES);
    race_mbarrier_arrive(race, second, 2, 0, RACE_RELEASES, false);
    race_mbarrier_complete(race, second);
    race_mbarrier_acquire(race, second, 0, all, RACE_ACQUIRES);
    ok(!lanes(0, RACE_WRITE, 1, 0, 4, 4, 2), "what is known of a lane is passed on");
    race_begin_block(race);
    lanes(1, RACE_READ, 2, 0, 0, 4, 1);
    race_mbarrier_arrive(race, first, 1, 0, RACE_RELEASES, false);
    race_mbarrier_complete(race, first);
    race_mbarrier_acquire(race, first, 0, all, RACE_ACQUIRES);
    barrier(0, 1u << 1 | 1);
    ok(!lanes(0, RACE_WRITE, 1, 0, 4, 4, 2), "a barrier orders all lanes, whoever arrived before");
}

static const uint32_t chunk[2] = {BASE, BASE + 16}, full = BASE + 4096; /* of the next tests */

static void test_proxy_fences(void) {
    race_begin_block(race);
    writes(0, 0, 1);
    barrier(0, 15);
    ok(race_async_read(race, 1, RACE_ALL_LANES, RACE_WGMMA, 2, chunk, 16, 2, &report) &&
           reported(RACE_NO_PROXY_FENCE, 1, 2),
       "wgmma reads ordinary writes: a barrier is not enough");
    race_begin_block(race);
    writes(0, 0, 1);
    race_proxy_fence(race, 0, all);
    barrier(0, 15);
    ok(!race_async_read(race, 1, RACE_ALL_LANES, RACE_WGMMA, 2, chunk, 16, 2, &report),
       "a fence before the barrier");
    race_begin_block(race);
    writes(0, 0, 1);
    barrier(0, 15);
    race_proxy_fence(race, 1, all);
    ok(!race_async_read(race, 1, RACE_ALL_LANES, RACE_WGMMA, 2, chunk, 16, 2, &report),
       "or one after it");
    race_begin_block(race);
    race_proxy_fence(race, 0, all);
    writes(0, 0, 1);
    barrier(0, 15);
    ok(race_async_read(race, 1, RACE_ALL_LANES, RACE_BULK, 1, chunk, 16, 2, &report),
       "a fence before the write is none");
    race_begin_block(race);
    writes(0, 0, 1);
    race_proxy_fence(race, 0, all);
    ok(race_async_read(race, 1, RACE_ALL_LANES, RACE_BULK, 1, chunk, 16, 2, &report) &&
           reported(RACE_UNORDERED, 1, 2),
       "a fence is no barrier");

    bool seen = true;
    for (int block = 0; block < 64; block++) {
        race_begin_block(race);
        lanes(0, RACE_WRITE, 1 << 5, 0, 0, 4, 1);
        race_proxy_fence(race, 0, 1);
        race_warp_sync(race, 0, all);
        seen &= race_async_read(race, 0, 0, RACE_BULK, 1, chunk, 16, 2, &report);
    }
    ok(seen, "a fence of another lane, in whatever block");
}

/* A tile goes from a bulk load to a wgmma and back. */
static void test_tile_release(void) {
    race_begin_block(race);
    race_bulk_load(race, 0, RACE_ALL_LANES, full, BASE, 1024, 1, &report);
    race_mbarrier_complete(race, full);
    race_mbarrier_acquire(race, full, 1, all, RACE_ACQUIRES);
    ok(!race_async_read(race, 1, RACE_ALL_LANES, RACE_WGMMA, 2, chunk, 16, 2, &report),
       "TMA to wgmma needs no fence");
    /* released before the wgmma is over */
    race_mbarrier_arrive(race, full + 8, 1, RACE_ALL_LANES, RACE_RELEASES, false);
    race_mbarrier_complete(race, full + 8);
    race_mbarrier_acquire(race, full + 8, 0, all, RACE_ACQUIRES);
    ok(race_bulk_load(race, 0, RACE_ALL_LANES, full, BASE, 1024, 3, &report) &&
           reported(RACE_NOT_WAITED, 2, 3),
       "releasing a tile before wgmma.wait_group");
    ok(report.earlier.actor == RACE_ACTOR_WGMMA && report.later.actor == RACE_ACTOR_BULK_LOAD,
       "is named");

    race_begin_block(race);
    race_async_read(race, 1, RACE_ALL_LANES, RACE_WGMMA, 2, chunk, 16, 2, &report);
    race_commit(race, 1, RACE_WGMMA, all);
    race_wait(race, 1, RACE_WGMMA, 0, all);
    race_mbarrier_arrive(race, full, 1, RACE_ALL_LANES, RACE_RELEASES, false);
    race_mbarrier_complete(race, full);
    race_mbarrier_acquire(race, full, 0, all, RACE_ACQUIRES);
    ok(!race_bulk_load(race, 0, RACE_ALL_LANES, full + 8, BASE, 1024, 3, &report),
       "releasing it after");
}

static void test_bulk_stores(void) {
    race_begin_block(race);
    writes(0, 0, 1);
    race_proxy_fence(race, 0, all);
    race_async_read(race, 0, RACE_ALL_LANES, RACE_BULK, 1, chunk, 16, 2, &report);
    race_commit(race, 0, RACE_BULK, all);
    ok(writes(0, 0, 3) && reported(RACE_NOT_WAITED, 2, 3),
       "overwriting a tile that a bulk store still reads");
    race_begin_block(race);
    race_async_read(race, 0, RACE_ALL_LANES, RACE_BULK, 1, chunk, 16, 2, &report);
    race_commit(race, 0, RACE_BULK, all);
    race_wait(race, 0, RACE_BULK, 0, all);
    ok(!writes(0, 0, 3), "after its wait it is free");
}

/* What one lane knows, and the others do not. */
static void test_one_lane_waits(void) {
    for (int met = 0; met < 2; met++) {
        race_begin_block(race);
        writes(1, 0, 1);
        race_mbarrier_arrive(race, full, 1, RACE_ALL_LANES, RACE_RELEASES, false);
        race_mbarrier_complete(race, full);
        race_mbarrier_acquire(race, full, 0, 1 << 3, RACE_ACQUIRES);
        ok(!lanes(0, RACE_READ, 1 << 3, 0, 4, 4, 2), "the lane that has waited");
        if (met) race_warp_sync(race, 0, all);
        ok(reads(0, 0, 3) == !met && (met || reported(RACE_OTHER_LANE, 1, 3)), "and others%s",
           met ? " that have met it" : "");
        ok(met || report.later.lane == 0, "the first of them is named");
        race_begin_block(race);
        race_async_read(race, 0, 3, RACE_BULK, 1, chunk, 16, 1, &report);
        race_commit(race, 0, RACE_BULK, all);
        race_wait(race, 0, RACE_BULK, 0, all);
        ok(!lanes(0, RACE_WRITE, 1 << 3, 0, 0, 4, 2), "the lane that has stored");
        if (met) race_warp_sync(race, 0, 3 | 1 << 3);
        ok(lanes(0, RACE_WRITE, 1, 4, 4, 4, 3) == !met && (met || reported(RACE_OTHER_LANE, 1, 3)),
           "and another%s", met ? " that has met it" : "");
    }
    race_begin_block(race);
    race_live(race, 0, 1 << 3 | 1);
    writes(1, 0, 1);
    race_mbarrier_arrive(race, full, 1, RACE_ALL_LANES, RACE_RELEASES, false);
    race_mbarrier_complete(race, full);
    race_mbarrier_acquire(race, full, 0, 1 << 3, RACE_ACQUIRES);
    race_mbarrier_acquire(race, full, 0, 1, RACE_ACQUIRES);
    ok(!lanes(0, RACE_READ, 1 << 3 | 1, 0, 4, 4, 2), "all that live have waited");
}

static void test_writes_before_async(void) {
    race_begin_block(race);
    writes(0, 0, 1);
    ok(race_bulk_load(race, 0, RACE_ALL_LANES, full, BASE, 64, 2, &report) &&
           reported(RACE_NO_PROXY_FENCE, 1, 2),
       "a bulk load over ordinary writes needs a fence");
    race_begin_block(race);
    writes(0, full - BASE, 1); /* mbarrier.init */
    ok(race_bulk_load(race, 0, RACE_ALL_LANES, full, BASE, 64, 2, &report) &&
           reported(RACE_NO_INIT_FENCE, 1, 2),
       "a bulk load must see its mbarrier initialised");
    race_proxy_fence(race, 0, all);
    ok(!race_bulk_load(race, 0, RACE_ALL_LANES, full, BASE, 64, 2, &report),
       "after a fence it does");
    race_begin_block(race);
    race_mbarrier_init(race, full, 0, 0);
    writes(0, full - BASE, 1);
    race_mbarrier_init_fence(race, 0, all - 1);
    race_mbarrier_init_fence(race, 1, 1);
    ok(race_bulk_load(race, 0, RACE_ALL_LANES, full, BASE, 64, 2, &report) &&
           reported(RACE_NO_INIT_FENCE, 1, 2),
       "not after that of another lane or warp");
    race_mbarrier_init_fence(race, 0, 1);
    ok(!race_bulk_load(race, 0, RACE_ALL_LANES, full, BASE, 64, 2, &report),
       "after its own fence for mbarriers it does");
    race_mbarrier_init(race, full, 0, 0);
    writes(0, full - BASE, 1);
    ok(race_bulk_load(race, 0, RACE_ALL_LANES, full, BASE, 64, 2, &report) &&
           reported(RACE_NO_INIT_FENCE, 1, 2),
       "initialised again, it needs another");
    race_begin_block(race);
    copies(0, 0, 1);
    race_commit(race, 0, RACE_COPY, all);
    race_wait(race, 0, RACE_COPY, 0, all);
    ok(race_async_read(race, 0, RACE_ALL_LANES, RACE_WGMMA, 2, chunk, 16, 2, &report) &&
           reported(RACE_NO_PROXY_FENCE, 1, 2),
       "cp.async writes are ordinary: wgmma needs a fence after the wait");
    race_proxy_fence(race, 0, all);
    ok(!race_async_read(race, 0, RACE_ALL_LANES, RACE_WGMMA, 2, chunk, 16, 2, &report),
       "with it, it is clean");
}

static void test_words(void) {
    char text[128];
    RaceSide side = {.actor = RACE_ACTOR_WARP, .warp = 3, .lane = 7, .access = RACE_WRITE};
    race_side_text(&side, text, sizeof text);
    is_text(text, "write by warp 3, lane 7", "a lane");
    side.lane = RACE_ALL_LANES;
    race_side_text(&side, text, sizeof text);
    is_text(text, "write by several lanes of warp 3", "several lanes");
    side.actor = RACE_ACTOR_WGMMA;
    side.access = RACE_READ;
    race_side_text(&side, text, sizeof text);
    is_text(text, "read by wgmma of warp 3", "wgmma");
    side = (RaceSide){.actor = RACE_ACTOR_BULK_LOAD, .mbarrier = 0x408, .access = RACE_WRITE};
    race_side_text(&side, text, sizeof text);
    is_text(text, "write by a bulk load that completes on the mbarrier at 0x408", "a bulk load");
}

/* Many blocks: clocks go on, and earlier blocks are never remembered. */
static void test_many_blocks(void) {
    int wrong = 0;
    for (int i = 0; i < 300; i++) {
        race_begin_block(race);
        wrong += writes((unsigned)i % WARPS, 0, 1);
        wrong += copies((unsigned)(i + 1) % WARPS, 1024, 2);
        wrong +=
            race_bulk_load(race, 0, RACE_ALL_LANES, BASE + 4096, BASE + 2048, 1024, 3, &report);
        wrong += !reads((unsigned)(i + 1) % WARPS, 0, 4);
    }
    ok(wrong == 0, "300 blocks with one race each (%d wrong)", wrong);
}

int main(void) {
    race = race_new(BASE, BYTES, WARPS, 4);
    test_barriers();
    test_atomics();
    test_release_sequences();
    test_lanes();
    test_granules();
    test_copies();
    test_mbarriers();
    test_met_before();
    test_phases();
    test_passed();
    test_unsure();
    test_lanes_release();
    test_proxy_fences();
    test_tile_release();
    test_bulk_stores();
    test_writes_before_async();
    test_one_lane_waits();
    test_words();
    test_many_blocks();
    race_free(race);
    return done_testing();
}
