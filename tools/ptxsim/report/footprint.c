#include "report/footprint.h"

#include <stdlib.h>
#include <string.h>

#include "machine/async.h"

enum { FIRST_SLOTS = 256 };

void footprints_clear(Footprints *all) {
    free(all->at);
    free(all->slot);
    *all = (Footprints){0};
}

/* ---- Units ----------------------------------------------------------------------------------- */

static void place_shared(Footprint *f) {
    uint32_t address[LANES];
    for (unsigned l = 0; l < LANES; l++) {
        address[l] = f->key.residue + (uint32_t)f->key.distance[l];
        f->bank[l] = (uint8_t)(address[l] / BANK_BYTES % BANK_COUNT);
    }
    shared_placement(address, f->key.mask, f->key.bytes, f->key.matrices, f->key.alone, f->unit);
}

static int64_t sector_of(const Footprint *f, unsigned lane) {
    const int64_t byte = f->key.distance[lane] + f->key.residue;
    return (byte - (byte < 0 ? SECTOR_BYTES - 1 : 0)) / SECTOR_BYTES;
}

static int ascending(const void *a, const void *b) {
    const int64_t left = *(const int64_t *)a, right = *(const int64_t *)b;
    return (left > right) - (left < right);
}

static void place_global(Footprint *f) {
    for (unsigned l = 0; l < LANES; l++) f->sector[l] = sector_of(f, l); /* off: the base's */
    qsort(f->sector, LANES, sizeof *f->sector, ascending);
    unsigned kept = 1;
    for (unsigned i = 1; i < LANES; i++)
        if (f->sector[i] != f->sector[kept - 1]) f->sector[kept++] = f->sector[i];
    for (unsigned l = 0; l < LANES; l++) {
        if (!(f->key.mask >> l & 1)) continue;
        const int64_t mine = sector_of(f, l);
        while (f->sector[f->unit[l]] != mine) f->unit[l]++;
        f->bank[l] = (uint8_t)(f->key.distance[l] + f->key.residue - mine * (int64_t)SECTOR_BYTES);
    }
}

/* ---- The table ------------------------------------------------------------------------------- */

/* FNV-1a over words of 64 bits, whose high bits reach the low ones at the end. */
static uint64_t hash(const FootprintKey *key) {
    uint64_t word[sizeof *key / sizeof(uint64_t)], sum = 14695981039346656037u;
    _Static_assert(sizeof word == sizeof *key, "a key is whole words");
    memcpy(word, key, sizeof word);
    for (size_t i = 0; i < sizeof word / sizeof *word; i++) sum = (sum ^ word[i]) * 1099511628211u;
    return sum ^ sum >> 32;
}

/* The slot that holds the key, or the free one where it belongs. */
static int *find_slot(const Footprints *all, const FootprintKey *key) {
    for (uint64_t at = hash(key);; at++) {
        int *slot = &all->slot[at % (uint64_t)all->slots];
        if (*slot < 0 || memcmp(&all->at[*slot].key, key, sizeof *key) == 0) return slot;
    }
}

static void make_room(Footprints *all) {
    if (2 * all->count < all->slots) return;
    free(all->slot);
    all->slots = all->slots ? 2 * all->slots : FIRST_SLOTS;
    all->slot = malloc((size_t)all->slots * sizeof *all->slot);
    if (!all->slot) abort();
    memset(all->slot, 0xff, (size_t)all->slots * sizeof *all->slot);
    for (int i = 0; i < all->count; i++) *find_slot(all, &all->at[i].key) = i;
}

int footprint_find(Footprints *all, const FootprintKey *key, Units units) {
    make_room(all);
    int *slot = find_slot(all, key);
    if (*slot >= 0) return *slot;
    all->at = queue_room(all->at, all->count, &all->room, sizeof *all->at);
    Footprint *f = &all->at[all->count];
    *f = (Footprint){.units = units};
    memcpy(&f->key, key, sizeof *key);
    if (key->space == FOOTPRINT_SHARED) place_shared(f);
    if (key->space == FOOTPRINT_GLOBAL) place_global(f);
    return *slot = all->count++;
}
