/* What orders accesses: queues, barriers, mbarriers, fences. */
#include <string.h>

#include "machine/memory/race_state.h"

void race_commit(Race *race, unsigned warp, RaceQueue queue) {
    Queue *q = &race->queue[queue][warp];
    q->closed[q->count++ % RING] = q->open;
    q->open = next_clock(race);
}

void race_wait(Race *race, unsigned warp, RaceQueue queue, int keep) {
    Queue *q = &race->queue[queue][warp];
    uint32_t *known = &race->clock[warp][actor(race, queue_section[queue], warp)];
    uint32_t over = *known;
    if (keep == RACE_WAIT_ALL) {
        over = q->open;
        q->open = next_clock(race);
    } else if (keep < RING && q->count > (uint32_t)keep) {
        over = q->closed[(q->count - 1 - (uint32_t)keep) % RING];
    }
    if (over > *known) *known = over;
}

void race_warp_sync(Race *race, unsigned warp) { meet(race, warp); }

void race_barrier_arrive(Race *race, unsigned id, unsigned warp) {
    join(race, race->barrier[id], race->clock[warp]);
    meet(race, warp);
}

void race_barrier_release(Race *race, unsigned id, uint32_t waiting_warps) {
    for (uint32_t left = waiting_warps; left; left &= left - 1)
        join(race, race->clock[__builtin_ctz(left)], race->barrier[id]);
    memset(race->barrier[id], 0, width(race) * sizeof race->barrier[id][0]);
}

MbarrierClocks *race_mbarrier(Race *race, uint32_t address) {
    for (unsigned i = 0; i < race->mbarriers; i++)
        if (race->mbarrier[i].address == address) return &race->mbarrier[i];
    if (race->mbarriers == RACE_MAX_MBARRIERS) return NULL;
    MbarrierClocks *clocks = &race->mbarrier[race->mbarriers++];
    memset(clocks, 0, sizeof *clocks);
    clocks->address = address;
    clocks->phase = next_clock(race);
    return clocks;
}

bool race_mbarrier_arrive(Race *race, uint32_t address, unsigned warp, unsigned lane, bool copies) {
    MbarrierClocks *clocks = race_mbarrier(race, address);
    if (!clocks) return false;
    const unsigned all = actor(race, SECTION_WARP, warp), some = actor(race, SECTION_SOME, warp);
    const uint32_t now = race->clock[warp][all], before = clocks->arrived[all];
    join(race, clocks->arrived, race->clock[warp]);
    if (lane < RACE_ALL_LANES) { /* the others may still be at what they did since all met */
        clocks->arrived[all] = before > race->met[warp] ? before : race->met[warp];
        clocks->arrived[some] = now;
        clocks->arrived[actor(race, SECTION_LANES, warp)] |= 1u << lane;
    }
    if (copies) {
        unsigned who = actor(race, SECTION_COPY, warp);
        clocks->arrived[who] = race->queue[RACE_COPY][warp].open;
        race->queue[RACE_COPY][warp].open = next_clock(race);
    }
    tick(race, warp);
    return true;
}

bool race_mbarrier_complete(Race *race, uint32_t address) {
    MbarrierClocks *clocks = race_mbarrier(race, address);
    if (!clocks) return false;
    clocks->arrived[mbarrier_index(race, clocks)] = clocks->phase;
    memcpy(clocks->completed, clocks->arrived, width(race) * sizeof clocks->arrived[0]);
    clocks->phase = next_clock(race);
    return true;
}

bool race_mbarrier_acquire(Race *race, uint32_t address, unsigned warp) {
    MbarrierClocks *clocks = race_mbarrier(race, address);
    if (!clocks) return false;
    join(race, race->clock[warp], clocks->completed);
    return true;
}

void race_proxy_fence(Race *race, unsigned warp) {
    uint32_t *known = race->clock[warp], *visible = known + SECTION_VISIBLE * race->warps;
    memcpy(visible, known, SECTION_VISIBLE * race->warps * sizeof *known);
    tick(race, warp);
}
