/* Races between blocks, beside a list of all accesses. Catches: a byte or a kind of access that is
 * forgotten or made up, a race that is none, one that is not found or named wrongly, a use that is
 * lost when there is more of them than there was room for. */
#include "machine/memory/grid_race.h"
#include "machine/memory/race.h"
#include "test/drawn.h"
#include "test/tap.h"

enum { BLOCKS = 4, WARPS = 32, MOST = 12, PROGRAMS = 50000 };
static const uint64_t base = 0x7f0000001000;

typedef struct Access {
    unsigned kind, size, at, bytes; /* from `base` */
    uint32_t source;
    unsigned before;
    unsigned warp;
    uint32_t clock;
    bool released;
} Access;

typedef struct Program {
    Access list[BLOCKS][MOST];
    int count[BLOCKS];
} Program;

static bool uses_byte(const Access *a, uint64_t address) {
    return address - base - a->at < a->bytes;
}

static bool race(const Access *a, const Access *b) {
    const bool overlap = a->at < b->at + b->bytes && b->at < a->at + a->bytes;
    const bool strong = a->kind & b->kind & GRID_STRONG && a->size == b->size;
    bool ordered = false;
    for (int turn = 0; turn < 2; turn++) {
        const Access *x = turn ? b : a, *y = turn ? a : b;
        ordered |= x->released && y->before & RACE_ACQUIRES;
        ordered |= x->kind == (GRID_WRITES | GRID_STRONG) && y->before & RACE_STRONG;
    }
    return overlap && (a->kind | b->kind) & GRID_WRITES && !strong && !ordered;
}

static bool races(const Program *p, int before, int block) {
    for (int i = 0; i < p->count[before]; i++)
        for (int k = 0; k < p->count[block]; k++)
            if (race(&p->list[before][i], &p->list[block][k])) return true;
    return false;
}

/* Whether a block has used the byte in the way of this side; and whether the instruction that is
 * named has used the word in that way. */
static bool is_side(const Access *a, const SectorUse *side, uint64_t address) {
    return a->kind == side->kind && uses_byte(a, address);
}

static bool is_named(const Program *p, const GridConflict *c, int side) {
    const SectorUse *use = &c->side[side];
    const uint64_t word = c->address / GRID_WORD * GRID_WORD;
    for (int i = 0; i < p->count[use->block]; i++) {
        const Access *a = &p->list[use->block][i];
        if (a->kind != use->kind || a->source != grid_source(c, side)) continue;
        for (unsigned byte = 0; byte < GRID_WORD; byte++)
            if (uses_byte(a, word + byte)) return true;
    }
    return false;
}

/* Whether there is a race of two accesses such as those that are named, at that byte. */
static bool names_race(const Program *p, const GridConflict *c) {
    const int before = (int)c->side[0].block, block = (int)c->side[1].block;
    for (int i = 0; i < p->count[before]; i++)
        for (int k = 0; k < p->count[block]; k++) {
            const Access *a = &p->list[before][i], *b = &p->list[block][k];
            if (is_side(a, &c->side[0], c->address) && is_side(b, &c->side[1], c->address) &&
                race(a, b))
                return is_named(p, c, 0) && is_named(p, c, 1);
        }
    return false;
}

/* The warps of a block: what each knows of the others, and what is ordered before it. */
typedef struct Warps {
    uint32_t known[WARPS][WARPS];
    unsigned before[WARPS];
    uint32_t clock, orders;
} Warps;

static Warps new_warps(void) {
    Warps warps = {.clock = WARPS};
    for (uint32_t w = 0; w < WARPS; w++) warps.known[w][w] = w + 1;
    return warps;
}

static RaceMoment moment(const Warps *warps, unsigned w) {
    return (RaceMoment){w, warps->known[w][w], warps->orders, warps->before[w]};
}

/* What a warp does between its accesses, as bits; and warp `to` comes after it. */
static void draw_order(uint64_t *state, Warps *warps, unsigned w, unsigned to, Access *list,
                       int count, GridUses *uses) {
    const unsigned order = (unsigned)drawn(state, 8);
    const uint32_t *known = warps->known[w];
    for (int k = 0; order & RACE_RELEASES && k < count; k++)
        list[k].released |= list[k].clock <= known[list[k].warp];
    for (unsigned v = 0; order & RACE_RELEASES && v < WARPS; v++)
        if (uses->released[v] < known[v]) uses->released[v] = known[v];
    warps->before[w] |= order & (RACE_STRONG | RACE_ACQUIRES);
    if (drawn(state, 2)) {
        for (unsigned v = 0; v < WARPS; v++)
            if (warps->known[to][v] < known[v]) warps->known[to][v] = known[v];
        warps->before[to] |= warps->before[w];
    }
    warps->known[w][w] = ++warps->clock;
}

/* A block, to both: accesses to a few sectors, and between them what may order them. */
static GridUses draw_block(uint64_t *state, Program *p, int block) {
    const int spread = 1 + drawn(state, 200), reads = 1 + drawn(state, 6);
    const int plain = 1 + drawn(state, 6), sources = 1 + drawn(state, MOST);
    const int step = drawn(state, WARPS); /* three warps use something, or one */
    GridUses uses = {.block = (uint64_t)block};
    Warps warps = new_warps();
    p->count[block] = drawn(state, MOST + 1);
    for (int i = 0; i < p->count[block]; i++) {
        Access *a = &p->list[block][i];
        const bool strong = drawn(state, 2);
        const unsigned w = (unsigned)(drawn(state, 3) * step % WARPS);
        const RaceMoment now = moment(&warps, w);
        *a = (Access){.kind = (drawn(state, reads) ? 0 : GRID_WRITES) | (strong ? GRID_STRONG : 0),
                      .size = strong ? 1u << drawn(state, 2) : 0,
                      .at = (unsigned)drawn(state, spread),
                      .bytes = 1 + (unsigned)drawn(state, drawn(state, 8) ? 4 : 100),
                      .source = (uint32_t)drawn(state, sources),
                      .before = now.before,
                      .warp = w,
                      .clock = now.clock};
        grid_note(&uses, &now, a->kind, a->size, base + a->at, a->bytes, a->source);
        if (drawn(state, plain)) continue;
        const unsigned to = (unsigned)(drawn(state, 3) * step % WARPS);
        draw_order(state, &warps, w, to, p->list[block], i + 1, &uses);
    }
    return uses;
}

static bool program_is_right(uint64_t *state) {
    Program p;
    GridUses all = {0};
    bool right = true, over = false;
    for (int b = 0; b < BLOCKS && !over; b++) {
        GridUses uses = draw_block(state, &p, b);
        GridConflict conflict;
        bool expected = false;
        for (int before = 0; before < b; before++) expected |= races(&p, before, b);
        over = grid_race(&all, &uses, &conflict);
        right &= over == expected;
        if (over)
            right = right && conflict.side[1].block == (uint64_t)b &&
                    conflict.side[0].block < (uint64_t)b && names_race(&p, &conflict);
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
    const Warps warps = new_warps();
    const RaceMoment now = moment(&warps, 0);
    GridUses all = {0};
    GridConflict conflict;
    int wrong = 0;
    for (uint64_t b = 0; b < MANY; b++) {
        GridUses uses = {.block = b};
        for (uint64_t s = 0; s < SECTORS; s++) {
            grid_note(&uses, &now, GRID_WRITES, 0, base + (b * SECTORS + s) * 32, 32, 5);
            grid_note(&uses, &now, 0, 0, base - (s + 1) * 32, 32, 6);
        }
        wrong += grid_race(&all, &uses, &conflict);
        grid_free(&uses);
    }
    is_int(wrong, 0, "blocks that write what is their own");
    is_int(all.count, (MANY + 1) * SECTORS, "what all have read is kept once");
    for (uint64_t s = 0; s < MANY * SECTORS; s++) {
        GridUses one = {.block = MANY};
        grid_note(&one, &now, GRID_WRITES, 0, base + s * 32 + 31, 1, 7);
        wrong += !grid_race(&all, &one, &conflict) || conflict.side[0].block != s / SECTORS ||
                 conflict.side[1].block != MANY || conflict.address != base + s * 32 + 31;
        grid_free(&one);
    }
    ok(wrong == 0, "a write to any of %d sectors (%d wrong)", MANY * SECTORS, wrong);
    grid_free(&all);
}

/* In a loop with a fence an instruction that uses the same bytes again takes no more room. */
static void test_again(void) {
    GridUses uses = {.block = 1};
    Warps warps = new_warps();
    for (int i = 0; i < 1000; i++) {
        const RaceMoment now = moment(&warps, 0);
        grid_note(&uses, &now, GRID_WRITES, 0, base, 4, 3);
        warps.before[0] |= RACE_ACQUIRES;
        warps.known[0][0] = ++warps.clock;
    }
    is_int(uses.count, 2,
           "a thousand times the same is noted once before the first acquire, and once");
    const RaceMoment now = moment(&warps, 1);
    grid_note(&uses, &now, GRID_WRITES, 0, base, 4, 3);
    is_int(uses.count, 3, "another warp's is another use");
    grid_note(&uses, &now, GRID_WRITES, 0, base + 8, 4, 3);
    is_int(uses.count, 3, "other bytes of the sector at the same clock are of the same use");
    grid_free(&uses);
    uses = (GridUses){.block = 1};
    grid_note(&uses, &now, GRID_WRITES, 0, base + 8, 0, 3);
    is_int(uses.count, 0, "no bytes are no use");
    grid_free(&uses);
}

/* A request is noted once: a write of each warp at each of its clocks, a read of any warp until
 * something is ordered. */
static void test_noted(void) {
    GridUses uses = {.block = 1};
    Warps warps = new_warps();
    RaceMoment now = moment(&warps, 1), other = moment(&warps, 2);
    ok(!grid_noted(&uses, &now, true, 77) && grid_noted(&uses, &now, true, 77), "a write, once");
    ok(!grid_noted(&uses, &now, true, 78), "and another");
    ok(!grid_noted(&uses, &other, true, 77), "and another warp's");
    ok(!grid_noted(&uses, &now, false, 79) && grid_noted(&uses, &other, false, 79),
       "a read of either of two warps");
    now.clock = warps.clock + 1;
    ok(!grid_noted(&uses, &now, true, 77) && grid_noted(&uses, &now, false, 79),
       "the write once more at a later clock, the read not");
    now.orders++;
    ok(grid_noted(&uses, &now, true, 77) && !grid_noted(&uses, &now, false, 79),
       "the read once more when something was ordered, the write not");
    now.before = RACE_ACQUIRES;
    ok(!grid_noted(&uses, &now, false, 77), "another read");
    ok(!grid_noted(&uses, &now, true, 77) && !grid_noted(&uses, &now, false, 79),
       "and both if something else is before them");
    grid_free(&uses);
}

int main(void) {
    test_programs();
    test_many();
    test_again();
    test_noted();
    return done_testing();
}
