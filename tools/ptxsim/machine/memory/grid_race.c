#include "machine/memory/grid_race.h"

#include <stdlib.h>
#include <string.h>

enum { FEWEST_BITS = 6, WARP_BITS = 5 };

static void *resized(void *array, int count, size_t bytes) {
    void *more = realloc(array, (size_t)count * bytes);
    if (!more) abort();
    return more;
}

/* Knuth's multiplicative hashing, as in memo.h. */
static int *bucket_of(const GridUses *uses, uint64_t sector, unsigned warp) {
    return &uses->bucket[(sector << WARP_BITS | warp) * 0x9e3779b97f4a7c15 >> (64 - uses->bits)];
}

static void grow(GridUses *uses) {
    uses->bits = uses->bits ? uses->bits + 1 : FEWEST_BITS;
    uses->use = resized(uses->use, 1 << uses->bits, sizeof *uses->use);
    uses->bucket = resized(uses->bucket, 1 << uses->bits, sizeof *uses->bucket);
    memset(uses->bucket, 0xff, sizeof *uses->bucket << uses->bits); /* -1 */
    for (int i = 0; i < uses->count; i++) {
        int *bucket = bucket_of(uses, uses->use[i].sector, uses->use[i].warp);
        uses->use[i].next = *bucket;
        *bucket = i;
    }
}

static SectorUse *add(GridUses *uses, const SectorUse *use) {
    if (!uses->bits || uses->count == 1 << uses->bits) grow(uses);
    int *bucket = bucket_of(uses, use->sector, use->warp);
    SectorUse *added = &uses->use[uses->count];
    *added = *use;
    added->next = *bucket;
    *bucket = uses->count++;
    return added;
}

/* The warp's last use of the sector before this one, or of all; NULL: none. */
static SectorUse *find(const GridUses *uses, const SectorUse *before, uint64_t sector,
                       unsigned warp) {
    if (!uses->count) return NULL;
    int at = before ? before->next : *bucket_of(uses, sector, warp);
    while (at >= 0 && (uses->use[at].sector != sector || uses->use[at].warp != warp))
        at = uses->use[at].next;
    return at < 0 ? NULL : &uses->use[at];
}

/* What the warp used earlier may be noted as what it uses now, if it uses all of that again: what
 * releases the one releases the other. */
static void note(GridUses *uses, const SectorUse *use, uint32_t source) {
    SectorUse *same = NULL;
    for (SectorUse *u = NULL; (u = find(uses, u, use->sector, use->warp));)
        if (u->kind == use->kind && u->size == use->size && u->before == use->before &&
            (u->clock == use->clock || !(u->bytes & ~use->bytes)))
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
    same->clock = use->clock;
}

void grid_note(GridUses *uses, const RaceMoment *now, unsigned kind, unsigned size,
               uint64_t address, uint64_t bytes, uint32_t source) {
    for (uint64_t end = address + bytes, next; address < end; address = next) {
        const uint64_t sector = address / GRID_SECTOR;
        next = (sector + 1) * GRID_SECTOR < end ? (sector + 1) * GRID_SECTOR : end;
        const uint32_t first = (uint32_t)((1ull << (next - address)) - 1);
        note(uses,
             &(SectorUse){.sector = sector,
                          .block = uses->block,
                          .bytes = first << address % GRID_SECTOR,
                          .clock = now->clock,
                          .kind = kind & 3,
                          .size = size & 31,
                          .before = now->before & 7,
                          .warp = now->warp & 31},
             source);
    }
}

bool grid_noted(GridUses *uses, const RaceMoment *now, bool writes, uint64_t request) {
    const uint32_t when = writes ? now->clock : now->orders;
    const uint64_t all = request << 2 | now->before;
    NotedRequest *at = &uses->noted[all * 0x9e3779b97f4a7c15 >> (64 - NOTED_BITS)];
    if (at->request == all && at->when == when) return true;
    *at = (NotedRequest){all, when};
    return false;
}

/* Whether something may order an access of one block before another's. */
static bool may_precede(const SectorUse *a, const SectorUse *b) {
    const bool strong_write =
        (a->kind & (GRID_STRONG | GRID_WRITES)) == (GRID_STRONG | GRID_WRITES);
    return (a->released && b->before & RACE_ACQUIRES) || (strong_write && b->before & RACE_STRONG);
}

static bool may_race(const SectorUse *a, const SectorUse *b) {
    const bool strong = a->size && a->size == b->size;
    return (a->kind | b->kind) & GRID_WRITES && !strong && !may_precede(a, b) && !may_precede(b, a);
}

bool grid_race(GridUses *before, const GridUses *uses, GridConflict *conflict) {
    for (int i = 0; i < uses->count; i++) {
        SectorUse use = uses->use[i];
        use.released = use.clock <= uses->released[use.warp];
        use.warp = 0; /* that was what it is kept for */
        uint32_t new = use.bytes;
        for (const SectorUse *b = NULL; (b = find(before, b, use.sector, use.warp));) {
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
