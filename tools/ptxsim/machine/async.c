#include "machine/async.h"

#include <stdlib.h>
#include <string.h>

void *queue_room(void *array, int count, int *capacity, size_t bytes) {
    if (count < *capacity) return array;
    *capacity = *capacity ? 2 * *capacity : 16;
    void *larger = realloc(array, (size_t)*capacity * bytes);
    if (!larger) abort();
    return larger;
}

bool async_new(Warp *warp) {
    warp->copies = calloc(1, sizeof *warp->copies);
    warp->bulk = calloc(1, sizeof *warp->bulk);
    warp->wgmma = calloc(1, sizeof *warp->wgmma);
    if (!warp->copies || !warp->bulk || !warp->wgmma) return false;
    warp->wgmma->in_flight = calloc(warp->block->kernel->register_bytes / 64 + 2, 1);
    return warp->wgmma->in_flight != NULL;
}

void async_free(Warp *warp) {
    if (warp->copies) free(warp->copies->copy);
    if (warp->bulk) free(warp->bulk->bulk);
    if (warp->wgmma) free(warp->wgmma->wgmma);
    if (warp->wgmma) free(warp->wgmma->in_flight);
    free(warp->copies);
    free(warp->bulk);
    free(warp->wgmma);
}

void async_begin(Block *block) {
    block->loads->count = 0;
    for (int i = 0; i < block->warps; i++) {
        Warp *warp = &block->warp[i];
        warp->copies->count = warp->bulk->count = warp->wgmma->count = 0;
        memset(warp->copies->groups, 0, sizeof warp->copies->groups);
        memset(warp->bulk->groups, 0, sizeof warp->bulk->groups);
        warp->wgmma->groups = 0;
        warp->wgmma->fenced = false;
        memset(warp->wgmma->in_flight, 0, block->kernel->register_bytes / 64 + 1);
    }
}

/* Whether a warp of the block waits for the mbarrier. */
static bool is_awaited(const Block *block, uint32_t mbarrier) {
    for (int i = 0; i < block->warps; i++) {
        const Warp *warp = &block->warp[i];
        if (warp->state == WARP_AT_MBARRIER && warp->wait_address == mbarrier) return true;
    }
    return false;
}

/* A bulk load that somebody waits for, or else the oldest: somebody may be testing its mbarrier. */
static bool land_bulk_load(Block *block) {
    const BulkLoads *loads = block->loads;
    int chosen = 0;
    while (chosen < loads->count && !is_awaited(block, loads->bulk[chosen].mbarrier)) chosen++;
    if (chosen == loads->count) chosen = 0;
    if (loads->count == 0) return false;
    bulk_land(block, chosen);
    return true;
}

bool async_advance(Block *block) {
    for (int i = 0; i < block->warps; i++)
        if (copy_advance(&block->warp[i])) return true;
    return land_bulk_load(block);
}

void async_end(Block *block) {
    for (int i = 0; i < block->warps; i++) {
        Warp *warp = &block->warp[i];
        const Bulk *store = warp->bulk->bulk;
        if (warp->bulk->count == 0) continue;
        warp->op = store->op;
        fault(warp, (int)store->lane,
              "the block ended while a bulk store still reads its shared memory: "
              "cp.async.bulk.wait_group is missing");
    }
    if (block->loads->count) {
        const Bulk *load = block->loads->bulk;
        load->warp->op = load->op;
        fault(load->warp, (int)load->lane,
              "the block ended while a bulk load still writes its shared memory: nobody waited "
              "for its mbarrier");
    }
}
