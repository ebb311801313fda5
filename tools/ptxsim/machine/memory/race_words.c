/* What the search for races has to say. */
#include <stdio.h>

#include "machine/memory/race.h"

const char *race_message(RaceWhy why) {
    switch (why) {
    case RACE_UNORDERED:
        return "data race in shared memory: no barrier orders these two accesses "
               "(is a __syncthreads missing, or does an arrival come too early?)";
    case RACE_WITHIN_WARP:
        return "data race within a warp: two lanes use the same bytes and no __syncwarp or "
               "__syncthreads orders them";
    case RACE_NOT_WAITED:
        return "data race with an asynchronous copy or read that nobody has waited for "
               "(is a wait_group or an mbarrier wait missing?)";
    case RACE_NO_PROXY_FENCE:
        return "ordinary writes need a fence.proxy.async before a bulk copy or wgmma may use "
               "the bytes";
    case RACE_OTHER_LANE:
        return "data race in shared memory: another lane of the warp has waited for the earlier "
               "access, this one has not (is a __syncwarp missing?)";
    case RACE_NO_INIT_FENCE:
        return "nothing lets TMA see the mbarrier as it was initialised: the thread that did it "
               "needs a fence.mbarrier_init or a fence.proxy.async; in C++ cuda::ptx::"
               "fence_proxy_async, also for a cuda::memcpy_async that became TMA";
    case RACE_SIZES:
        return "data race in shared memory: two accesses that are atomic, volatile or relaxed are "
               "of different sizes, and no barrier orders them";
    }
    return "unknown race";
}

void race_side_text(const RaceSide *side, char *text, size_t size) {
    static const char *const access[] = {"read",  "read",   "read", "write",
                                         "write", "atomic", "read", "write"};
    static const char *const actor_name[] = {[RACE_ACTOR_COPY] = "cp.async",
                                             [RACE_ACTOR_BULK] = "bulk store",
                                             [RACE_ACTOR_WGMMA] = "wgmma"};
    const char *what = access[side->access];
    if (side->actor == RACE_ACTOR_BULK_LOAD)
        snprintf(text, size, "%s by a bulk load that completes on the mbarrier at 0x%x", what,
                 side->mbarrier);
    else if (side->actor != RACE_ACTOR_WARP)
        snprintf(text, size, "%s by %s of warp %u", what, actor_name[side->actor], side->warp);
    else if (side->lane == RACE_ALL_LANES)
        snprintf(text, size, "%s by several lanes of warp %u", what, side->warp);
    else
        snprintf(text, size, "%s by warp %u, lane %u", what, side->warp, side->lane);
}
