/* What one block's accesses and fences mean to other blocks. */
#include <string.h>

#include "machine/memory/race_state.h"

/* All lanes of the warp come to know it: what is known of some of them is taken for all. */
static void add_order(Race *race, unsigned warp, unsigned bits) {
    const unsigned own = actor(race, SECTION_ORDER, warp);
    race->clock[warp][own] |= bits;
    race->behind[warp][own] |= bits;
}

static unsigned before(const Race *race, unsigned warp) {
    const uint32_t *order = &race->clock[warp][actor(race, SECTION_ORDER, 0)];
    unsigned bits = 0;
    for (unsigned w = 0; race->orders && w < race->warps; w++) bits |= order[w];
    return bits;
}

RaceMoment race_blocks_moment(const Race *race, unsigned warp) {
    return (RaceMoment){warp, race->clock[warp][actor(race, SECTION_WARP, warp)], race->orders,
                        before(race, warp)};
}

void race_blocks_read(Race *race, unsigned warp, unsigned order) {
    race->orders++;
    add_order(race, warp, RACE_STRONG | (order & RACE_ACQUIRES));
}

void race_blocks_write(Race *race, unsigned warp, unsigned order, uint32_t *released) {
    race->orders++;
    const bool releases = order & RACE_RELEASES;
    const unsigned section = releases ? SECTION_WARP : SECTION_FENCED;
    const uint32_t *covered = &race->clock[warp][actor(race, section, 0)];
    for (unsigned w = 0; w < race->warps; w++)
        released[w] = released[w] > covered[w] ? released[w] : covered[w];
    if (releases) tick(race, warp);
}

void race_blocks_fence(Race *race, unsigned warp, unsigned order) {
    race->orders++;
    if (order & RACE_ACQUIRES && before(race, warp)) add_order(race, warp, RACE_ACQUIRES);
    if (!(order & RACE_RELEASES)) return;
    uint32_t *const each[] = {race->clock[warp], race->behind[warp]};
    for (int i = 0; i < 2; i++)
        memcpy(each[i] + actor(race, SECTION_FENCED, 0), race->clock[warp],
               race->warps * sizeof *each[i]);
    tick(race, warp);
}
