/* Footprints of requests: sectors and banks counted from a base. Catches: a sector before the base
 * that is taken for the base's own, a lane's place in the wrong sector, two requests for one. */
#include "report/footprint.h"
#include "test/tap.h"

#include <stdlib.h>
#include <string.h>

/* The key of two lanes, 0 and 5, of 4 bytes; the second is `distance` from the first. */
static FootprintKey key_of(FootprintSpace space, uint32_t residue, int64_t distance) {
    FootprintKey key;
    memset(&key, 0, sizeof key);
    key.space = space;
    key.bytes = 4;
    key.mask = 1u << 0 | 1u << 5;
    key.residue = residue;
    key.tensor = -1;
    key.distance[5] = distance;
    return key;
}

/* Sectors in order, and which of them each lane has, with its place there. */
static void is_global(Footprints *all, uint32_t residue, int64_t distance, const int64_t sector[2],
                      const int unit[2], int place) {
    const FootprintKey key = key_of(FOOTPRINT_GLOBAL, residue, distance);
    const int which = footprint_find(all, &key, (Units){0});
    const Footprint *f = &all->at[which];
    const bool sectors = f->sector[0] == sector[0] && f->sector[1] == sector[1];
    ok(sectors && f->unit[0] == unit[0] && f->unit[5] == unit[1] && f->bank[0] == (int)residue &&
           f->bank[5] == place && f->unit[1] == 0 && f->bank[1] == 0,
       "%lld bytes from a base at %u of its sector", (long long)distance, residue);
    is_int(footprint_find(all, &key, (Units){0}), which, "once");
}

int main(void) {
    Footprints all = {0};
    is_global(&all, 4, 24, (int64_t[]){0, 0}, (int[]){0, 0}, 28);
    is_global(&all, 4, 28, (int64_t[]){0, 1}, (int[]){0, 1}, 0);
    is_global(&all, 4, 60, (int64_t[]){0, 2}, (int[]){0, 1}, 0);
    is_global(&all, 4, -4, (int64_t[]){0, 0}, (int[]){0, 0}, 0);
    is_global(&all, 4, -8, (int64_t[]){-1, 0}, (int[]){1, 0}, 28);
    is_global(&all, 4, -36, (int64_t[]){-1, 0}, (int[]){1, 0}, 0);
    is_global(&all, 4, -40, (int64_t[]){-2, 0}, (int[]){1, 0}, 28);
    is_global(&all, 4, -37, (int64_t[]){-2, 0}, (int[]){1, 0}, 31);
    is_global(&all, 31, -31, (int64_t[]){0, 0}, (int[]){0, 0}, 0);
    is_global(&all, 31, -32, (int64_t[]){-1, 0}, (int[]){1, 0}, 31);
    is_global(&all, 0, 1LL << 40, (int64_t[]){0, 1LL << 35}, (int[]){0, 1}, 0);
    const FootprintKey key = key_of(FOOTPRINT_SHARED, 124, 8);
    const Footprint *f = &all.at[footprint_find(&all, &key, (Units){0})];
    ok(f->bank[0] == 31 && f->bank[5] == 1, "banks, the first behind the last");
    enum { BEFORE = 12, MANY = 600 };
    int lost = 0;
    for (int i = 0; i < 2 * MANY; i++) {
        const FootprintKey one = key_of(FOOTPRINT_LANES, 0, i % MANY);
        lost += footprint_find(&all, &one, (Units){0}) != BEFORE + i % MANY;
    }
    is_int(lost, 0, "each of many is found again");
    is_int(all.count, BEFORE + MANY, "all of many");
    footprints_clear(&all);
    is_int(all.count, 0, "none is left");
    return done_testing();
}
