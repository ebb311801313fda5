/* What orders accesses: queues, barriers, mbarriers, strong accesses, fences. */
#include <string.h>

#include "machine/memory/race_state.h"

void race_gather(Race *race, unsigned warp) {
    if (!race->tested[warp]) return;
    race->tested[warp] = false;
    race->gathered[warp] = race->clock[warp][actor(race, SECTION_WARP, warp)];
    tick(race, warp);
}

/* Some lanes of the warp meet: each knows then what any of them knew, and what they did. */
static void meet_some(Race *race, unsigned warp, uint32_t members) {
    uint32_t(*within)[32] = race->within[warp], together[32] = {0};
    if (!race->parted[warp]) memset(within, 0, sizeof race->within[warp]);
    race->parted[warp] = true;
    for (unsigned l = 0; l < 32; l++)
        for (unsigned o = 0; o < 32; o++)
            if (members >> l & 1 && together[o] < within[l][o]) together[o] = within[l][o];
    for (unsigned l = 0; l < 32; l++)
        if (members >> l & 1) together[l] = race->clock[warp][actor(race, SECTION_WARP, warp)];
    for (unsigned l = 0; l < 32; l++)
        if (members >> l & 1) memcpy(within[l], together, sizeof together);
    if (members & race->ahead[warp]) go_ahead(race, warp, members);
    tick(race, warp);
}

void race_live(Race *race, unsigned warp, uint32_t lanes) { race->live[warp] = lanes; }

void race_warp_sync(Race *race, unsigned warp, uint32_t members) {
    members &= race->live[warp];
    if (members == race->live[warp])
        meet(race, warp);
    else
        meet_some(race, warp, members);
}

/* Whether `released` is more than is known. */
static bool is_news(const Race *race, const uint32_t *known, const uint32_t *released) {
    const unsigned n = width(race), lanes = actor(race, SECTION_LANES, 0);
    const unsigned rest = actor(race, SECTIONS, 0);
    bool news = false;
    for (unsigned i = 0; i < n; i++)
        news |= i >= lanes && i < rest ? (released[i] & ~known[i]) != 0 : released[i] > known[i];
    return news;
}

/* Only these lanes come to know what is about to be added. */
static void part(Race *race, unsigned warp, uint32_t lanes) {
    if (!race->ahead[warp])
        memcpy(race->behind[warp], race->clock[warp], sizeof race->behind[warp]);
    go_ahead(race, warp, lanes);
}

/* Lanes come to know what somebody has released. The others do when they have met them. */
static void acquire(Race *race, unsigned warp, uint32_t lanes, const uint32_t *released) {
    const uint32_t copies = released[actor(race, SECTION_COPY, warp)];
    if (race->landed[warp] < copies) race->landed[warp] = copies;
    if (!is_news(race, known_to(race, warp, RACE_ALL_LANES), released)) return;
    if ((lanes & race->live[warp]) == race->live[warp]) {
        if (race->ahead[warp]) join(race, race->behind[warp], released);
    } else {
        part(race, warp, lanes);
    }
    join(race, race->clock[warp], released);
}

/* The lanes whose doings a lane releases: itself, and those that it has met. */
static uint32_t released_lanes(const Race *race, unsigned warp, unsigned lane) {
    uint32_t lanes = 1u << lane;
    for (unsigned o = 0; race->parted[warp] && o < 32; o++)
        lanes |= (uint32_t)(race->within[warp][lane][o] != 0) << o;
    return lanes;
}

void race_barrier_arrive(Race *race, unsigned id, unsigned warp, bool waits) {
    join(race, race->barrier[id].arrived, race->clock[warp]);
    race->barrier[id].now[warp] = race->clock[warp][actor(race, SECTION_WARP, warp)];
    if (waits)
        meet(race, warp);
    else
        tick(race, warp);
}

void race_barrier_release(Race *race, unsigned id, uint32_t waiting_warps) {
    BarrierClocks *barrier = &race->barrier[id];
    for (uint32_t left = waiting_warps; left; left &= left - 1)
        join(race, race->clock[__builtin_ctz(left)], barrier->arrived);
    memset(barrier->arrived, 0, width(race) * sizeof barrier->arrived[0]);
    memcpy(barrier->last, barrier->now, sizeof barrier->last);
    memset(barrier->now, 0, sizeof barrier->now);
}

/* Whether a warp knows that each has passed one of these clocks. */
static bool knows_all(const Race *race, unsigned warp, const uint32_t *clocks) {
    const uint32_t *passed = &race->clock[warp][actor(race, SECTION_PASSED, 0)];
    bool all = true;
    for (unsigned w = 0; w < race->warps; w++) all &= passed[w] >= clocks[w];
    return all;
}

bool race_barrier_knows(const Race *race, unsigned id, unsigned warp) {
    return knows_all(race, warp, race->barrier[id].last);
}

MbarrierClocks *race_mbarrier(Race *race, uint32_t address) {
    for (unsigned i = 0; i < race->mbarriers; i++)
        if (race->mbarrier[i].address == address) return &race->mbarrier[i];
    if (race->mbarriers == RACE_MAX_MBARRIERS) return NULL;
    MbarrierClocks *clocks = &race->mbarrier[race->mbarriers++];
    memset(clocks, 0, sizeof *clocks);
    clocks->address = address;
    clocks->now.clock = next_clock(race);
    return clocks;
}

/* ---- Queues ---------------------------------------------------------------------------------- */

/* The groups are of lanes that issued; others that commit or wait do so for themselves. */
static bool has_groups(const Queue *q, uint32_t lanes) { return !q->lanes || (q->lanes & lanes); }

void race_commit(Race *race, unsigned warp, RaceQueue queue, uint32_t lanes) {
    Queue *q = &race->queue[queue][warp];
    if (!has_groups(q, lanes)) return;
    q->closed[q->count++ % RING] = q->open;
    q->open = next_clock(race);
}

void race_wait(Race *race, unsigned warp, RaceQueue queue, int keep, uint32_t lanes) {
    Queue *q = &race->queue[queue][warp];
    const unsigned who = actor(race, queue_section[queue], warp);
    uint32_t over = 0;
    if (!has_groups(q, lanes)) return;
    if (keep == RACE_WAIT_ALL) {
        over = q->open;
        q->open = next_clock(race);
    } else if (keep < RING && q->count > (uint32_t)keep) {
        over = q->closed[(q->count - 1 - (uint32_t)keep) % RING];
    }
    if (over <= known_to(race, warp, RACE_ALL_LANES)[who]) return;
    lanes &= q->lanes; /* the others have waited for nothing */
    if ((lanes & race->live[warp]) == race->live[warp])
        race->behind[warp][who] = over;
    else
        part(race, warp, lanes);
    if (over > race->clock[warp][who]) race->clock[warp][who] = over;
}

/* ---- mbarriers ------------------------------------------------------------------------------- */

/* What a lane releases: `from`, where `at` is its own clock and that of `lanes`, and `met` what all
 * have done. No lanes: it is all of them. */
static void release_to(const Race *race, uint32_t *into, const uint32_t *from, unsigned warp,
                       uint32_t lanes, uint32_t at, uint32_t met) {
    const unsigned all = actor(race, SECTION_WARP, warp), some = actor(race, SECTION_SOME, warp);
    const unsigned passed = actor(race, SECTION_PASSED, warp);
    const uint32_t before = into[all];
    join(race, into, from);
    if (into[passed] < at) into[passed] = at;
    if (!lanes) return;
    into[all] = before > met ? before : met; /* the others may still be at what they did since */
    if (into[some] < at) into[some] = at;
    into[actor(race, SECTION_LANES, warp)] |= lanes;
}

static void release_now(const Race *race, uint32_t *into, unsigned warp, unsigned lane) {
    const uint32_t lanes = lane < RACE_ALL_LANES ? released_lanes(race, warp, lane) : 0;
    release_to(race, into, known_to(race, warp, lane), warp, lanes,
               race->clock[warp][actor(race, SECTION_WARP, warp)], race->met[warp]);
}

/* What the lane's last fence covers. */
static void release_fenced(const Race *race, uint32_t *into, unsigned warp, unsigned lane) {
    const Fence *fence = &race->fence[warp];
    if (fence->lanes >> lane & 1)
        release_to(race, into, fence->clock, warp, fence->peers[lane], fence->at, fence->met);
}

/* Whether a warp knows that the phase is over. */
static bool is_past(const Race *race, unsigned warp, const Phase *phase) {
    const uint32_t *passed = &race->clock[warp][actor(race, SECTION_PASSED, 0)];
    for (unsigned w = 0; w < race->warps; w++)
        if (phase->waited[w] && passed[w] >= phase->waited[w]) return true;
    return !phase->copies && knows_all(race, warp, phase->arrival);
}

bool race_mbarrier_arrive(Race *race, uint32_t address, unsigned warp, unsigned lane,
                          unsigned order, bool copies) {
    MbarrierClocks *clocks = race_mbarrier(race, address);
    if (!clocks) return false;
    if (order & RACE_RELEASES)
        release_now(race, clocks->arrived, warp, lane);
    else
        release_fenced(race, clocks->arrived, warp, lane);
    follow(race, clocks->arrived, race->clock[warp]);
    if (!is_past(race, warp, &clocks->last)) {
        clocks->now.unsure = true;
        clocks->now.of = warp;
    }
    clocks->now.arrival[warp] = race->clock[warp][actor(race, SECTION_WARP, warp)];
    clocks->now.copies |= copies;
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
    clocks->arrived[mbarrier_index(race, clocks)] = clocks->now.clock;
    clocks->before = clocks->last;
    clocks->last = clocks->now;
    memcpy(clocks->completed, clocks->arrived, width(race) * sizeof clocks->arrived[0]);
    clocks->now = (Phase){.clock = next_clock(race)};
    return true;
}

bool race_mbarrier_acquire(Race *race, uint32_t address, unsigned warp, uint32_t lanes,
                           unsigned order) {
    MbarrierClocks *clocks = race_mbarrier(race, address);
    if (!clocks) return false;
    clocks->last.waited[warp] = race->clock[warp][actor(race, SECTION_WARP, warp)];
    join(race, race->seen[warp], clocks->completed);
    follow(race, race->clock[warp], clocks->completed);
    if (order & RACE_ACQUIRES) acquire(race, warp, lanes, clocks->completed);
    return true;
}

void race_mbarrier_init(Race *race, uint32_t address, unsigned warp, unsigned lane) {
    MbarrierClocks *clocks = race_mbarrier(race, address);
    if (!clocks) return;
    clocks->warp = warp;
    clocks->lane = lane;
    clocks->fenced = 0;
    clocks->last = clocks->before = (Phase){0};
    clocks->now = (Phase){.clock = next_clock(race)};
}

bool race_mbarrier_knows(Race *race, uint32_t address, unsigned warp) {
    const MbarrierClocks *clocks = race_mbarrier(race, address);
    return !clocks || is_past(race, warp, &clocks->before);
}

int race_mbarrier_unsure(Race *race, uint32_t address) {
    const MbarrierClocks *clocks = race_mbarrier(race, address);
    bool waited = false;
    for (unsigned warp = 0; clocks && warp < race->warps; warp++)
        waited |= clocks->last.waited[warp] != 0;
    return waited && clocks->now.unsure ? (int)clocks->now.of : -1;
}

int race_mbarrier_passes(Race *race, uint32_t address) {
    const MbarrierClocks *clocks = race_mbarrier(race, address);
    for (unsigned warp = 0; clocks && warp < race->warps; warp++)
        if (clocks->arrived[actor(race, SECTION_PASSED, warp)] < clocks->last.waited[warp])
            return (int)warp;
    return -1;
}

/* ---- Strong accesses and fences -------------------------------------------------------------- */

/* The place of the address, which may be free; the last one if there is no room. */
static Location *find_location(Race *race, uint64_t address) {
    uint64_t i = (address ^ address >> 12) * 0x9e3779b97f4a7c15u >> 32;
    for (;; i++) {
        Location *at = &race->location[i % LOCATIONS];
        if (at->used && at->address == address) return at;
        if (!at->used) return race->locations < MOST_LOCATIONS ? at : &race->location[LOCATIONS];
    }
}

static bool is_shared_place(const Race *race, const Location *at) {
    return at == &race->location[LOCATIONS];
}

static void forget(Location *at) {
    memset(at->clock, 0, sizeof at->clock);
    memset(at->released, 0, sizeof at->released);
}

void race_strong_read(Race *race, unsigned warp, unsigned lane, uint64_t address, unsigned order) {
    const Location *at = race->locations ? find_location(race, address) : NULL;
    if (!at || (!at->used && !is_shared_place(race, at))) return;
    join(race, race->seen[warp], at->clock);
    if (order & RACE_ACQUIRES) acquire(race, warp, 1u << lane, at->clock);
}

void race_strong_write(Race *race, unsigned warp, unsigned lane, uint64_t address, unsigned order,
                       bool atomic) {
    const bool releases = order & RACE_RELEASES, fenced = race->fence[warp].lanes >> lane & 1;
    if (!releases && !fenced && !race->locations) return;
    Location *at = find_location(race, address);
    const bool known = at->used && !is_shared_place(race, at);
    /* what others released is gone, but a thread's own stays */
    if (known && !atomic && !(at->released[warp] >> lane & 1)) forget(at);
    if (!releases && !fenced) return;
    if (!known && !is_shared_place(race, at)) {
        *at = (Location){.address = address, .used = true};
        race->locations++;
    }
    at->released[warp] |= 1u << lane;
    release_fenced(race, at->clock, warp, lane);
    if (!releases) return;
    release_now(race, at->clock, warp, lane);
    tick(race, warp);
}

void race_forget(Race *race, uint32_t mask, const uint32_t address[32]) {
    for (; mask; mask &= mask - 1) {
        Location *at = find_location(race, address[__builtin_ctz(mask)]);
        if (!is_shared_place(race, at)) forget(at);
    }
}

/* Lanes that come to a fence one after another are taken for such that come at once. */
void race_fence(Race *race, unsigned warp, uint32_t mask, unsigned order) {
    Fence *fence = &race->fence[warp];
    if (order & RACE_ACQUIRES) acquire(race, warp, mask, race->seen[warp]);
    if (!(order & RACE_RELEASES)) return;
    const uint32_t ahead = mask & race->ahead[warp];
    const unsigned first = (unsigned)__builtin_ctz(ahead ? ahead : mask); /* who knows most */
    memcpy(fence->clock, known_to(race, warp, first), sizeof fence->clock);
    fence->lanes |= mask;
    for (uint32_t left = mask; left; left &= left - 1) {
        const unsigned lane = (unsigned)__builtin_ctz(left);
        fence->peers[lane] = released_lanes(race, warp, lane);
    }
    fence->met = race->met[warp];
    fence->at = race->clock[warp][actor(race, SECTION_WARP, warp)];
    tick(race, warp);
}

/* A lane's fence is for what it knows: of its own warp, what all lanes had done when they last met,
 * and what it did itself, and those that it has met. */
void race_proxy_fence(Race *race, unsigned warp, uint32_t lanes) {
    uint32_t *const each[] = {race->clock[warp], race->behind[warp]};
    const uint32_t now = race->clock[warp][warp], live = race->live[warp];
    const bool whole = (lanes & live) == live;
    for (int i = 0; i < 2; i++) {
        uint32_t *visible = each[i] + actor(race, SECTION_VISIBLE, 0);
        const uint32_t before = visible[warp];
        memcpy(visible, each[i], SECTION_VISIBLE * race->warps * sizeof *visible);
        visible[warp] = whole ? now : before > race->met[warp] ? before : race->met[warp];
        if (whole) continue;
        each[i][actor(race, SECTION_SOME_VISIBLE, warp)] = now;
        for (uint32_t left = lanes; left; left &= left - 1)
            each[i][actor(race, SECTION_LANES_VISIBLE, warp)] |=
                released_lanes(race, warp, (unsigned)__builtin_ctz(left));
    }
    tick(race, warp);
}

void race_mbarrier_init_fence(Race *race, unsigned warp, uint32_t lanes) {
    for (unsigned i = 0; i < race->mbarriers; i++) {
        MbarrierClocks *clocks = &race->mbarrier[i];
        if (clocks->warp == warp && lanes >> clocks->lane & 1 && !clocks->fenced)
            clocks->fenced = race->clock[warp][warp];
    }
    tick(race, warp);
}
