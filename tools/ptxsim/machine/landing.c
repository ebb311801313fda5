#include "machine/landing.h"

#include <stdlib.h>
#include <string.h>

#include "machine/access.h"
#include "machine/lanes.h"
#include "machine/mbarrier_word.h"

enum { WIDEST_COPY = 16 };

/* ---- cp.async -------------------------------------------------------------------------------- */

/* One lane's bytes, `bytes` of them, and zeros after those that are read. */
static inline void land(const Block *block, const Copy *copy, unsigned l, unsigned bytes) {
    uint8_t *to = shared_zero(block) + copy->to[l];
    const void *from = (const void *)(uintptr_t)copy->from[l];
    if (copy->read[l] == bytes) {
        memcpy(to, from, bytes);
    } else {
        memset(to, 0, bytes);
        if (copy->read[l]) memcpy(to, from, copy->read[l]);
    }
    shared_mark_written(block, copy->to[l], bytes);
}

void copy_land(Warp *warp, Copy *copy, uint32_t lanes) {
    lanes &= copy->pending;
    copy->pending &= ~lanes;
    for (; lanes; lanes &= lanes - 1) {
        const unsigned l = first_lane(lanes);
        if (!copy->bytes)
            mbarrier_arrive_at(warp, (int)l, copy->to[l], 1);
        else if (copy->bytes == WIDEST_COPY) /* nearly always: a number that the compiler knows */
            land(warp->block, copy, l, WIDEST_COPY);
        else
            land(warp->block, copy, l, copy->bytes);
    }
}

void copy_drop_landed(CopyQueue *queue) {
    int kept = 0;
    for (int i = 0; i < queue->count; i++)
        if (queue->copy[i].pending) queue->copy[kept++] = queue->copy[i];
    queue->count = kept;
}

bool copy_advance(Warp *warp) {
    CopyQueue *queue = warp->copies;
    int arrive = 0;
    while (arrive < queue->count && queue->copy[arrive].bytes) arrive++;
    if (arrive == queue->count) return false;
    const uint32_t lanes = queue->copy[arrive].pending;
    for (int i = 0; i <= arrive; i++) copy_land(warp, &queue->copy[i], lanes);
    copy_drop_landed(queue);
    return true;
}

/* ---- Bulk copies ----------------------------------------------------------------------------- */

/* The host bytes of shared address 0, as far as the copy has to do with them. */
static uint8_t *zero_of(const Bulk *bulk) {
    return bulk->source ? (uint8_t *)((uintptr_t)bulk->source - bulk->shared)
                        : shared_zero(bulk->warp->block);
}

static void move_plain(const Bulk *bulk, bool loads) {
    uint8_t *shared = zero_of(bulk) + bulk->shared;
    uint8_t *global = (uint8_t *)(uintptr_t)bulk->global;
    memcpy(loads ? shared : global, loads ? global : shared, bulk->bytes);
}

static void move_box(const Bulk *bulk, bool loads) {
    uint8_t *shared = zero_of(bulk);
    TensorRows rows = tensor_rows(&bulk->map, bulk->start);
    for (TensorRow row; tensor_rows_next(&rows, &row);) {
        if (loads)
            tensor_row_load(&bulk->map, &row, shared, bulk->shared);
        else
            tensor_row_store(&bulk->map, &row, shared, bulk->shared);
    }
}

void bulk_move(const Bulk *bulk, bool loads) {
    if (bulk->map.rank)
        move_box(bulk, loads);
    else
        move_plain(bulk, loads);
}

void bulk_read(Bulk *store) {
    const uint32_t line = TENSORMAP_SHARED_ALIGNMENT; /* a swizzle moves bytes within one */
    const size_t bytes = store->map.rank ? (store->bytes + line - 1) / line * line : store->bytes;
    store->source = malloc(bytes);
    if (!store->source) abort();
    memcpy(store->source, shared_zero(store->warp->block) + store->shared, bytes);
}

void bulk_write(const Bulk *store) {
    bulk_move(store, false);
    free(store->source);
}

void bulk_land(Block *block, int i) {
    BulkLoads *loads = block->loads;
    const Bulk bulk = loads->bulk[i];
    loads->count--;
    memmove(loads->bulk + i, loads->bulk + i + 1, (size_t)(loads->count - i) * sizeof bulk);
    bulk_move(&bulk, true);
    shared_mark_written(block, bulk.shared, bulk.bytes);
    block->progress++;
    const Op *current = bulk.warp->op;
    bulk.warp->op = bulk.op; /* what a fault reports */
    mbarrier_complete_at(bulk.warp, (int)bulk.lane, bulk.mbarrier, bulk.bytes);
    bulk.warp->op = current;
}

/* ---- The block ------------------------------------------------------------------------------- */

/* Whether a warp of the block waits for the mbarrier. */
static bool is_awaited(const Block *block, uint32_t mbarrier) {
    for (int i = 0; i < block->warps; i++) {
        const Warp *warp = &block->warp[i];
        if (warp->state == WARP_AT_MBARRIER && warp->wait_address == mbarrier) return true;
    }
    return false;
}

/* A bulk load that somebody waits for, or else the oldest: somebody may be testing its mbarrier. Of
 * several the oldest, or, with an odd SIM_ORDER, the newest: copies may overtake each other. */
static bool land_bulk_load(Block *block) {
    const BulkLoads *loads = block->loads;
    int chosen = 0;
    for (int i = 0; i < loads->count; i++) {
        if (!is_awaited(block, loads->bulk[i].mbarrier)) continue;
        chosen = i;
        if (block->settings->order % 2 == 0) break;
    }
    if (loads->count == 0) return false;
    bulk_land(block, chosen);
    return true;
}

bool async_advance(Block *block) {
    for (int i = 0; i < block->warps; i++)
        if (copy_advance(&block->warp[i])) return true;
    return land_bulk_load(block);
}

/* The warp's bulk stores that have read their bytes write them; others there must not be. */
static void stores_end(Warp *warp) {
    BulkQueue *queue = warp->bulk;
    for (int i = 0; i < queue->count; i++) {
        const Bulk *store = &queue->bulk[i];
        if (store->source) continue;
        warp->op = store->op;
        fault(warp, (int)store->lane,
              "the block ended while a bulk store still reads its shared memory: "
              "cp.async.bulk.wait_group is missing");
    }
    for (int i = 0; i < queue->count; i++) bulk_write(&queue->bulk[i]);
    queue->count = 0;
}

void async_end(Block *block) {
    warpgroups_end(block);
    for (int i = 0; i < block->warps; i++) stores_end(&block->warp[i]);
    if (block->loads->count) {
        const Bulk *load = block->loads->bulk;
        load->warp->op = load->op;
        fault(load->warp, (int)load->lane,
              "the block ended while a bulk load still writes its shared memory: nobody waited "
              "for its mbarrier");
    }
}
