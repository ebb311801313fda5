#include "machine/memory/grid_race.h"

#include <stdlib.h>
#include <string.h>

enum { SECTOR = 32, FEWEST_BITS = 6 };

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

static SectorUse *add(GridUses *uses, uint64_t sector, uint64_t block) {
    if (!uses->bits || uses->count == 1 << uses->bits) grow(uses);
    int *bucket = bucket_of(uses, sector);
    SectorUse *use = &uses->use[uses->count];
    *use = (SectorUse){.sector = sector, .block = block, .next = *bucket};
    *bucket = uses->count++;
    return use;
}

/* The last use of the sector before this one, or of all; NULL: none. */
static SectorUse *find(const GridUses *uses, const SectorUse *before, uint64_t sector) {
    if (!uses->count) return NULL;
    int at = before ? before->next : *bucket_of(uses, sector);
    while (at >= 0 && uses->use[at].sector != sector) at = uses->use[at].next;
    return at < 0 ? NULL : &uses->use[at];
}

void grid_note(GridUses *uses, unsigned kind, uint64_t address, uint64_t bytes, uint32_t source) {
    for (uint64_t end = address + bytes; address < end && !uses->closed;) {
        const uint64_t sector = address / SECTOR, next = (sector + 1) * SECTOR;
        const uint64_t count = (next < end ? next : end) - address;
        const uint32_t mask = (uint32_t)((1ull << count) - 1) << address % SECTOR;
        SectorUse *use = find(uses, NULL, sector);
        if (!use) use = add(uses, sector, uses->block);
        if (!use->bytes[kind]) use->source[kind] = source;
        use->bytes[kind] |= mask;
        address = next;
    }
}

static bool may_race(unsigned a, unsigned b) {
    return (a | b) & GRID_WRITES && !(a & b & GRID_STRONG);
}

/* Whether two blocks' uses of one sector race; the conflict. */
static bool conflicts(const SectorUse *before, const SectorUse *use, GridConflict *conflict) {
    for (unsigned a = 0; a < GRID_KINDS; a++)
        for (unsigned b = 0; b < GRID_KINDS; b++) {
            const uint32_t both = before->bytes[a] & use->bytes[b];
            if (!both || !may_race(a, b)) continue;
            *conflict = (GridConflict){
                use->sector * SECTOR + (unsigned)__builtin_ctz(both),
                {{before->block, a, before->source[a]}, {use->block, b, use->source[b]}}};
            return true;
        }
    return false;
}

bool grid_race(GridUses *before, const GridUses *uses, GridConflict *conflict) {
    for (int i = 0; i < uses->count; i++) {
        const SectorUse *use = &uses->use[i];
        uint32_t new[GRID_KINDS], any = 0;
        memcpy(new, use->bytes, sizeof new);
        for (const SectorUse *b = NULL; (b = find(before, b, use->sector));) {
            if (conflicts(b, use, conflict)) return true;
            for (unsigned kind = 0; kind < GRID_KINDS; kind++) new[kind] &= ~b->bytes[kind];
        }
        for (unsigned kind = 0; kind < GRID_KINDS; kind++) any |= new[kind];
        if (!any) continue; /* others have used all of it in the same way */
        SectorUse *added = add(before, use->sector, use->block);
        memcpy(added->bytes, new, sizeof new);
        memcpy(added->source, use->source, sizeof added->source);
    }
    return false;
}

void grid_free(GridUses *uses) {
    free(uses->use);
    free(uses->bucket);
}
