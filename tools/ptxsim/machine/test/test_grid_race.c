/* Races between blocks, beside a list of all accesses. Catches: a byte or a kind of access that is
 * forgotten or made up, a race that is none, one that is not found or named wrongly, a use that is
 * lost when there is more of them than there was room for. */
#include "machine/memory/grid_race.h"
#include "machine/memory/race.h"
#include "test/drawn.h"
#include "test/tap.h"

enum { BLOCKS = 4, MOST = 12, PROGRAMS = 50000 };
static const uint64_t base = 0x7f0000001000;

typedef struct Access {
    unsigned kind, size, at, bytes; /* from `base` */
    uint32_t source;
    unsigned before;
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

/* A block, to both: accesses to a few sectors, and between them what may order them. */
static GridUses draw_block(uint64_t *state, Program *p, int block) {
    const int spread = 1 + drawn(state, 200), reads = 1 + drawn(state, 6);
    const int plain = 1 + drawn(state, 6), sources = 1 + drawn(state, MOST);
    GridUses uses = {.block = (uint64_t)block};
    unsigned done = 0;
    p->count[block] = drawn(state, MOST + 1);
    for (int i = 0; i < p->count[block]; i++) {
        Access *a = &p->list[block][i];
        const bool strong = drawn(state, 2);
        *a = (Access){.kind = (drawn(state, reads) ? 0 : GRID_WRITES) | (strong ? GRID_STRONG : 0),
                      .size = strong ? 1u << drawn(state, 2) : 0,
                      .at = (unsigned)drawn(state, spread),
                      .bytes = 1 + (unsigned)drawn(state, drawn(state, 8) ? 4 : 100),
                      .source = (uint32_t)drawn(state, sources),
                      .before = done};
        grid_note(&uses, a->kind, a->size, base + a->at, a->bytes, a->source);
        if (drawn(state, plain)) continue;
        const unsigned order = (unsigned)drawn(state, 8); /* any of the three bits */
        done |= order & (RACE_STRONG | RACE_ACQUIRES);
        for (int k = 0; order & RACE_RELEASES && k <= i; k++) p->list[block][k].released = true;
        grid_order(&uses, order);
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
    GridUses all = {0};
    GridConflict conflict;
    int wrong = 0;
    for (uint64_t b = 0; b < MANY; b++) {
        GridUses uses = {.block = b};
        for (uint64_t s = 0; s < SECTORS; s++) {
            grid_note(&uses, GRID_WRITES, 0, base + (b * SECTORS + s) * 32, 32, 5);
            grid_note(&uses, 0, 0, base - (s + 1) * 32, 32, 6);
        }
        wrong += grid_race(&all, &uses, &conflict);
        grid_free(&uses);
    }
    is_int(wrong, 0, "blocks that write what is their own");
    is_int(all.count, (MANY + 1) * SECTORS, "what all have read is kept once");
    for (uint64_t s = 0; s < MANY * SECTORS; s++) {
        GridUses one = {.block = MANY};
        grid_note(&one, GRID_WRITES, 0, base + s * 32 + 31, 1, 7);
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
    for (int i = 0; i < 1000; i++) {
        grid_note(&uses, GRID_WRITES, 0, base, 4, 3);
        grid_order(&uses, RACE_ACQUIRES | RACE_RELEASES);
    }
    is_int(uses.count, 2,
           "a thousand times the same is noted once before the first fence, and once");
    grid_free(&uses);
    uses = (GridUses){.block = 1};
    grid_note(&uses, GRID_WRITES, 0, base + 8, 0, 3);
    is_int(uses.count, 0, "no bytes are no use");
    grid_free(&uses);
}

int main(void) {
    test_programs();
    test_many();
    test_again();
    return done_testing();
}
