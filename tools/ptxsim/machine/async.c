#include "machine/async.h"

#include <stdlib.h>
#include <string.h>

#include "ptx/bounds.h"

enum { FLAG_BYTES = 64 }; /* of the register file, with a flag each */

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
    for (int i = 0; i < block->warps; i++) {
        Warp *warp = &block->warp[i];
        warp->copies->count = warp->bulk->count = warp->wgmma->count = 0;
        warp->wgmma->fenced = false;
        warp->wgmma->issued = 0;
        memset(warp->wgmma->in_flight, 0, flags(block));
    }
}

void wgmma_mark(Warp *warp, const Op *op, uint8_t in_flight) {
    for (int i = 0; i < op->definitions; i++) {
        uint8_t *flag = warp->wgmma->in_flight + op->r[i] / FLAG_BYTES;
        flag[0] = flag[1] = in_flight; /* a register has 128 bytes */
    }
}

void wgmma_check(Warp *warp, const Op *op) {
    if (op->class == CLASS_WGMMA) return; /* one sum after another in the same registers */
    for (int i = 0; i < op->operands; i++)
        if (op->r[i] >= 0 && warp->wgmma->in_flight[op->r[i] / FLAG_BYTES])
            fault(warp, -1, "a register of a wgmma is %s before wgmma.wait_group has waited for it",
                  i < op->definitions ? "written" : "read");
}
