#include "machine/async.h"

#include <stdlib.h>
#include <string.h>

#include "ptx/bounds.h"

enum { FLAG_BYTES = 64 };      /* of the register file, with a flag each */
enum { IS_SUM = 1, IS_A = 2 }; /* flags of the registers of a wgmma that is in flight */

void *queue_room(void *array, int count, int *capacity, size_t bytes) {
    if (count < *capacity) return array;
    *capacity = *capacity ? 2 * *capacity : 16;
    void *larger = realloc(array, (size_t)*capacity * bytes);
    if (!larger) abort();
    return larger;
}

void *flight_room(Warp *warp, void *array, int count, int *capacity, size_t bytes) {
    if (count >= MAX_IN_FLIGHT)
        fault(warp, -1, "%d asynchronous operations are in flight: is a wait missing?", count);
    return queue_room(array, count, capacity, bytes);
}

static size_t flags(const Block *block) { return block->kernel->register_bytes / FLAG_BYTES; }

bool async_new(Warp *warp) {
    warp->copies = calloc(1, sizeof *warp->copies);
    warp->bulk = calloc(1, sizeof *warp->bulk);
    warp->wgmma = calloc(1, sizeof *warp->wgmma);
    if (!warp->copies || !warp->bulk || !warp->wgmma) return false;
    warp->wgmma->in_flight = calloc(flags(warp->block), 1);
    return warp->wgmma->in_flight != NULL;
}

/* Nothing is in flight. After a fault there may be something. */
static void drop_stores(BulkQueue *queue) {
    for (int i = 0; i < queue->count; i++) free(queue->bulk[i].source);
    queue->count = 0;
}

void async_free(Warp *warp) {
    if (warp->copies) free(warp->copies->copy);
    if (warp->bulk) drop_stores(warp->bulk);
    if (warp->bulk) free(warp->bulk->bulk);
    if (warp->wgmma) free(warp->wgmma->wgmma);
    if (warp->wgmma) free(warp->wgmma->in_flight);
    free(warp->copies);
    free(warp->bulk);
    free(warp->wgmma);
}

void async_begin(Block *block) {
    for (int i = 0; i < block->warps; i++) {
        Warp *warp = &block->warp[i];
        warp->copies->count = warp->wgmma->count = 0;
        drop_stores(warp->bulk);
        warp->wgmma->fenced = false;
        warp->wgmma->issued = 0;
        memset(warp->wgmma->in_flight, 0, flags(block));
    }
}

/* How often, or with what, a warp that may not exist has executed `wgmma` or setmaxnreg. */
static uint32_t share_of(const Block *block, int warp, bool wgmma) {
    if (warp >= block->warps) return 0;
    return wgmma ? block->warp[warp].wgmma->issued : block->warp[warp].granted;
}

static void group_ends(Block *block, int first, bool wgmma) {
    int most = first, least = first;
    for (int i = first; i < first + WARPS_A_GROUP; i++) {
        if (share_of(block, i, wgmma) > share_of(block, most, wgmma)) most = i;
        if (share_of(block, i, wgmma) < share_of(block, least, wgmma)) least = i;
    }
    if (most == least) return;
    Warp *warp = &block->warp[most];
    warp->op = wgmma ? warp->wgmma->last : warp->grant;
    fault(warp, -1, "this is for all four warps of a warpgroup, and warp %d %s", least,
          least < block->warps ? "did not execute it" : "does not exist");
}

/* A warp without setmaxnreg keeps what it was launched with, also after its end: an H100 waited for
 * 1,024 registers when three warps of the producer had ended (notes/14_warp_specialized.md). */
static void registers_end(Block *block) {
    Warp *asked = NULL, *kept = NULL;
    uint32_t sum = 0;
    for (int i = 0; i < block->warps; i++) {
        Warp *warp = &block->warp[i];
        *(warp->granted ? &asked : &kept) = warp;
        sum += (warp->granted ? warp->granted : block->launched) * LANES;
    }
    const uint32_t all = block->launched * (uint32_t)block->warps * LANES;
    if (!block->launched || !asked || !kept || sum <= all) return;
    asked->op = asked->grant;
    fault(asked, -1,
          "setmaxnreg: the warps of this block ask for %u registers, with those of warp %d, which "
          "executes none and keeps its own, and it is launched with %u, %u per thread: on a GPU "
          "this waits for ever",
          sum, kept->index, all, block->launched);
}

void warpgroups_end(Block *block) {
    for (int first = 0; first < block->warps; first += WARPS_A_GROUP) {
        group_ends(block, first, true);
        group_ends(block, first, false);
    }
    registers_end(block);
}

void wgmma_mark(Warp *warp, const Op *op, int a_registers, bool in_flight) {
    for (int i = 0; i < op->definitions + a_registers; i++) {
        uint8_t *flags = warp->wgmma->in_flight + op->r[i] / FLAG_BYTES;
        const unsigned now = flags[0] | (i < op->definitions ? IS_SUM : IS_A);
        flags[0] = flags[1] = in_flight ? (uint8_t)now : 0; /* a register has 128 bytes */
    }
}

void wgmma_check(Warp *warp, const Op *op) {
    /* one sum after another in the same registers is allowed; a sum as A is not */
    for (int i = op->class == CLASS_WGMMA ? op->definitions : 0; i < op->operands; i++) {
        const int wrong = i < op->definitions ? IS_SUM | IS_A : IS_SUM;
        if (op->r[i] >= 0 && warp->wgmma->in_flight[op->r[i] / FLAG_BYTES] & wrong)
            fault(warp, -1, "a register of a wgmma is %s before wgmma.wait_group has waited for it",
                  i < op->definitions ? "written" : "read");
    }
}
