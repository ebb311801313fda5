#include "machine/memory/grid_race.h"

#include <stdlib.h>
#include <string.h>

#include "machine/memory/race.h"

enum { FEWEST_BITS = 6 };

static void *resized(void *array, int count, size_t bytes) {
    void *more = realloc(array, (size_t)count * bytes);
    if (!more) abort();
    return more;
}

/* Knuth's multiplicative hashing, as in memo.h. */
static int *bucket_of(const GridUses *uses, uint64_t sector) {
    return &uses->bucket[sector * 0x9e3779b97f4a7c15 >> (64 - uses->bits)];
}

static void grow(GridUses *uses) {
    uses->bits = uses->bits ? uses->bits + 1 : FEWEST_BITS;
    uses->use = resized(uses->use, 1 << uses->bits, sizeof *uses->use);
    uses->bucket = resized(uses->bucket, 1 << uses->bits, sizeof *uses->bucket);
    memset(uses->bucket, 0xff, sizeof *uses->bucket << uses->bits); /* -1 */
    for (int i = 0; i < uses->count; i++) {
        int *bucket = bucket_of(uses, uses->use[i].sector);
        uses->use[i].next = *bucket;
        *bucket = i;
    }
}

static SectorUse *add(GridUses *uses, const SectorUse *use) {
    if (!uses->bits || uses->count == 1 << uses->bits) grow(uses);
    int *bucket = bucket_of(uses, use->sector);
    SectorUse *added = &uses->use[uses->count];
    *added = *use;
    added->next = *bucket;
    *bucket = uses->count++;
    return added;
}

/* The last use of the sector before this one, or of all; NULL: none. */
static SectorUse *find(const GridUses *uses, const SectorUse *before, uint64_t sector) {
    if (!uses->count) return NULL;
    int at = before ? before->next : *bucket_of(uses, sector);
    while (at >= 0 && uses->use[at].sector != sector) at = uses->use[at].next;
    return at < 0 ? NULL : &uses->use[at];
}

/* What was used before the block released may be noted as what it uses now, if it uses all of that
 * again. */
static void note(GridUses *uses, const SectorUse *use, uint32_t source) {
    SectorUse *same = NULL;
    for (SectorUse *u = NULL; (u = find(uses, u, use->sector));)
        if (u->kind == use->kind && u->size == use->size && u->before == use->before &&
            (u->epoch == use->epoch || !(u->bytes & ~use->bytes)))
            same = u;
    if (!same) {
        same = add(uses, use);
        same->bytes = 0;
    }
    for (uint32_t left = use->bytes; left;) { /* word by word */
        const int word = __builtin_ctz(left) / GRID_WORD;
        const uint32_t all = 0xfu << word * GRID_WORD;
        if (!(same->bytes & all)) same->source[word] = source;
        left &= ~all;
    }
    same->bytes |= use->bytes;
    same->epoch = use->epoch;
}

void grid_note(GridUses *uses, unsigned kind, unsigned size, uint64_t address, uint64_t bytes,
               uint32_t source) {
    for (uint64_t end = address + bytes, next; address < end; address = next) {
        const uint64_t sector = address / GRID_SECTOR;
        next = (sector + 1) * GRID_SECTOR < end ? (sector + 1) * GRID_SECTOR : end;
        const uint32_t first = (uint32_t)((1ull << (next - address)) - 1);
        note(uses,
             &(SectorUse){.sector = sector,
                          .block = uses->block,
                          .bytes = first << address % GRID_SECTOR,
                          .epoch = uses->releases,
                          .kind = (uint8_t)kind,
                          .size = (uint8_t)size,
                          .before = uses->before},
             source);
    }
}

void grid_order(GridUses *uses, unsigned order) {
    const unsigned before = uses->before | (order & (RACE_STRONG | RACE_ACQUIRES));
    if (before == uses->before && !(order & RACE_RELEASES)) return;
    uses->before = (uint8_t)before;
    uses->releases += (order & RACE_RELEASES) != 0;
    memset(&uses->noted, 0, sizeof uses->noted);
}

/* Whether something may order an access of one block before another's. */
static bool may_precede(const SectorUse *a, const SectorUse *b) {
    const bool strong_write =
        (a->kind & (GRID_STRONG | GRID_WRITES)) == (GRID_STRONG | GRID_WRITES);
    return (a->released && b->before & RACE_ACQUIRES) || (strong_write && b->before & RACE_STRONG);
}

static bool may_race(const SectorUse *a, const SectorUse *b) {
    const bool strong = a->kind & b->kind & GRID_STRONG && a->size == b->size;
    return (a->kind | b->kind) & GRID_WRITES && !strong && !may_precede(a, b) && !may_precede(b, a);
}

bool grid_race(GridUses *before, const GridUses *uses, GridConflict *conflict) {
    for (int i = 0; i < uses->count; i++) {
        SectorUse use = uses->use[i];
        use.released = use.epoch < uses->releases;
        uint32_t new = use.bytes;
        for (const SectorUse *b = NULL; (b = find(before, b, use.sector));) {
            const uint32_t both = b->bytes & use.bytes;
            if (both && b->block != use.block && may_race(b, &use)) {
                const unsigned first = (unsigned)__builtin_ctz(both);
                *conflict = (GridConflict){use.sector * GRID_SECTOR + first, {*b, use}};
                return true;
            }
            if (b->kind == use.kind && b->size == use.size && !(b->before & ~use.before) &&
                b->released <= use.released)
                new &= ~b->bytes;
        }
        use.bytes = new;
        if (new) add(before, &use);
    }
    return false;
}

void grid_free(GridUses *uses) {
    free(uses->use);
    free(uses->bucket);
}
