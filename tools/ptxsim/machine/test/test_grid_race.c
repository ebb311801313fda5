/* Races between blocks, beside a list of all accesses. Catches: a byte or a kind of access that is
 * forgotten or made up, a race that is none, one that is not found or named wrongly, a use that is
 * lost when there is more of them than there was room for. */
#include "machine/memory/grid_race.h"
#include "test/drawn.h"
#include "test/tap.h"

enum { BLOCKS = 4, MOST = 12, PROGRAMS = 20000 };
static const uint64_t base = 0x7f0000001000;

typedef struct Access {
    unsigned kind, at, bytes; /* from `base` */
} Access;

static bool same_bytes(const Access *a, const Access *b) {
    return a->at < b->at + b->bytes && b->at < a->at + a->bytes;
}

static bool race(const Access *a, const Access *b) {
    return same_bytes(a, b) && (a->kind | b->kind) & GRID_WRITES &&
           !(a->kind & b->kind & GRID_STRONG);
}

static bool races(const Access list[][MOST], const int count[], int before, int block) {
    for (int i = 0; i < count[before]; i++)
        for (int k = 0; k < count[block]; k++)
            if (race(&list[before][i], &list[block][k])) return true;
    return false;
}

/* Whether a side of a conflict at `address` is an access of that block. */
static bool is_access(const Access list[], int count, unsigned kind, uint32_t source,
                      uint64_t address) {
    bool first = false, there = false;
    for (int i = count - 1; i >= 0; i--) {
        const bool sector = (base + list[i].at) / 32 <= address / 32 &&
                            (base + list[i].at + list[i].bytes - 1) / 32 >= address / 32;
        if (list[i].kind != kind || !sector) continue;
        first = source == (uint32_t)i; /* of the kind, in the sector */
        there |= address - base - list[i].at < list[i].bytes;
    }
    return first && there;
}

/* A few blocks, each with a few accesses to a few sectors. */
static bool program_is_right(uint64_t *state) {
    Access list[BLOCKS][MOST];
    int count[BLOCKS];
    GridUses all = {0};
    const int spread = 1 + drawn(state, 200), writes = 1 + drawn(state, 6);
    bool right = true, over = false;
    for (int b = 0; b < BLOCKS && !over; b++) {
        GridUses uses = {.block = (uint64_t)b};
        GridConflict conflict;
        bool expected = false;
        count[b] = drawn(state, MOST + 1);
        for (int i = 0; i < count[b]; i++) {
            Access *a = &list[b][i];
            *a = (Access){drawn(state, writes) ? 0 : GRID_WRITES, (unsigned)drawn(state, spread),
                          1 + (unsigned)drawn(state, drawn(state, 8) ? 4 : 100)};
            a->kind |= drawn(state, 2) ? GRID_STRONG : 0;
            grid_note(&uses, a->kind, base + a->at, a->bytes, (uint32_t)i);
        }
        for (int before = 0; before < b; before++) expected |= races(list, count, before, b);
        over = grid_race(&all, &uses, &conflict);
        right &= over == expected;
        for (int side = 0; over && side < 2; side++) {
            const uint64_t block = conflict.side[side].block;
            right &= side ? block == (uint64_t)b : block < (uint64_t)b;
            right = right && is_access(list[block], count[block], conflict.side[side].kind,
                                       conflict.side[side].source, conflict.address);
        }
        grid_free(&uses);
    }
    grid_free(&all);
    return right;
}

static void test_programs(void) {
    uint64_t state = 1;
    int wrong = 0;
    for (int i = 0; i < PROGRAMS; i++) wrong += !program_is_right(&state);
    ok(wrong == 0, "%d programs as by a list of their accesses (%d wrong)", PROGRAMS, wrong);
}

/* Each block writes its own of many sectors, and reads what all read; then one writes one of
 * another's, which may be any. */
static void test_many(void) {
    enum { SECTORS = 300, MANY = 20 };
    GridUses all = {0};
    GridConflict conflict;
    int wrong = 0;
    for (uint64_t b = 0; b < MANY; b++) {
        GridUses uses = {.block = b};
        for (uint64_t s = 0; s < SECTORS; s++) {
            grid_note(&uses, GRID_WRITES, base + (b * SECTORS + s) * 32, 32, 5);
            grid_note(&uses, 0, base - (s + 1) * 32, 32, 6);
        }
        wrong += grid_race(&all, &uses, &conflict);
        grid_free(&uses);
    }
    is_int(wrong, 0, "blocks that write what is their own");
    is_int(all.count, (MANY + 1) * SECTORS, "what all have read is kept once");
    for (uint64_t s = 0; s < MANY * SECTORS; s++) {
        GridUses one = {.block = MANY};
        grid_note(&one, GRID_WRITES, base + s * 32 + 31, 1, 7);
        wrong += !grid_race(&all, &one, &conflict) || conflict.side[0].block != s / SECTORS ||
                 conflict.side[1].block != MANY || conflict.address != base + s * 32 + 31;
        grid_free(&one);
    }
    ok(wrong == 0, "a write to any of %d sectors (%d wrong)", MANY * SECTORS, wrong);
    grid_free(&all);
}

static void test_closed(void) {
    GridUses all = {0}, one = {.block = 1}, other = {.block = 2};
    GridConflict conflict;
    grid_note(&one, GRID_WRITES, base, 4, 0);
    one.closed = true;
    grid_note(&one, GRID_WRITES, base + 4, 4, 0);
    grid_note(&other, 0, base + 4, 4, 0);
    grid_note(&other, 0, base + 8, 0, 0);
    ok(!grid_race(&all, &one, &conflict) && !grid_race(&all, &other, &conflict),
       "nothing is noted of a block whose uses are closed, or of no bytes");
    other.block = 3;
    grid_note(&other, 0, base, 4, 0);
    ok(grid_race(&all, &other, &conflict), "but what was before stays");
    grid_free(&one);
    grid_free(&other);
    grid_free(&all);
}

int main(void) {
    test_programs();
    test_many();
    test_closed();
    return done_testing();
}
