#include "machine/barrier.h"

#include "machine/lanes.h"
#include "machine/observe.h"

uint32_t barrier_threads(const Block *block, uint32_t count) {
    uint32_t threads = 0;
    if (count) return count;
    for (int i = 0; i < block->warps; i++)
        if (block->warp[i].state != WARP_DONE) threads += LANES;
    return threads;
}

/* What bar.red gives every thread. */
static void write_result(Warp *warp, const NamedBarrier *barrier) {
    const Op *op = warp->op;
    const uint32_t count = barrier->count, all = barrier->arrived;
    switch ((BarrierMode)op->mode) {
    case BAR_RED_POPC:
        EACH(u32, count);
        break;
    case BAR_RED_AND:
        set_predicate(warp, op->r[0], count == all ? ALL_LANES : 0);
        break;
    case BAR_RED_OR:
        set_predicate(warp, op->r[0], count ? ALL_LANES : 0);
        break;
    default:
        break;
    }
}

void barrier_check(Block *block, uint32_t id) {
    NamedBarrier *barrier = &block->barrier[id];
    if (barrier->arrived < barrier_threads(block, barrier->expected)) return;
    if (block->race) race_barrier_release(block->race, id, barrier->waiting);
    if (block->record) observe_barrier_release(block->record, id, barrier->waiting);
    for (int i = 0; i < block->warps; i++) {
        if (!(barrier->waiting >> i & 1)) continue;
        write_result(&block->warp[i], barrier);
        block->warp[i].state = WARP_READY;
    }
    *barrier = (NamedBarrier){0};
    block->progress++;
}
