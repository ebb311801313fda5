#include "machine/fill.h"

#include <string.h>

#include "decode/specials.h"

static uint64_t special_value(const Warp *warp, int special, uint32_t lane) {
    const Block *b = warp->block;
    const uint32_t thread = (uint32_t)warp->index * LANES + lane;
    switch (special) {
    case TID:
        return thread % b->threads[0];
    case TID + 1:
        return thread / b->threads[0] % b->threads[1];
    case TID + 2:
        return thread / b->threads[0] / b->threads[1];
    case NTID:
    case NTID + 1:
    case NTID + 2:
        return b->threads[special - NTID];
    case CTAID:
    case CTAID + 1:
    case CTAID + 2:
        return b->index[special - CTAID];
    case NCTAID:
    case NCTAID + 1:
    case NCTAID + 2:
        return b->grid[special - NCTAID];
    case LANEID:
        return lane;
    case WARPID:
        return (uint64_t)warp->index;
    case NWARPID:
        return 64; /* of a multiprocessor of compute capability 8.0 or 9.0, as they are numbered */
    case LANEMASK_EQ:
        return 1u << lane;
    case LANEMASK_LT:
        return (1u << lane) - 1;
    case LANEMASK_LE:
        return (2u << lane) - 1;
    case LANEMASK_GT:
        return (uint32_t) ~((2u << lane) - 1);
    case LANEMASK_GE:
        return (uint32_t) ~((1u << lane) - 1);
    case DYNAMIC_SHARED:
        return b->shared_bytes - b->kernel->dynamic_offset;
    case TOTAL_SHARED: /* what is allocated: units of 128 bytes from compute capability 8.0 on */
        return (b->shared_bytes + 127u) / 128 * 128;
    case SMID:
        return b->index[0] % b->settings->multiprocessors;
    case NSMID:
        return b->settings->multiprocessors;
    case ONE:
        return 1;
    default:
        return 0;
    }
}

static void fill_special(const Warp *warp, const Value *v) {
    for (uint32_t lane = 0; lane < LANES; lane++) {
        const uint64_t bits = special_value(warp, v->special, lane);
        memcpy(warp->registers + v->offset + lane * v->bytes, &bits, v->bytes);
    }
}

static void fill_constant(const Warp *warp, const Value *v) {
    const size_t bytes = v->bytes == PREDICATE_BYTES ? sizeof(uint32_t) : v->bytes;
    const unsigned lanes = v->bytes == PREDICATE_BYTES ? 1 : LANES;
    for (unsigned lane = 0; lane < lanes; lane++)
        memcpy(warp->registers + v->offset + lane * bytes, &v->bits, bytes < 8 ? bytes : 8);
}

/* All bits are set, which is NaN in every type, as in memory that nobody has written. */
static void fill_unwritten(const Warp *warp, const Value *v) {
    const size_t bytes = v->bytes == PREDICATE_BYTES ? sizeof(uint32_t) : (size_t)LANES * v->bytes;
    memset(warp->registers + v->offset, 0xff, bytes);
}

void fill_for_launch(const Warp *warp) {
    const Kernel *kernel = warp->block->kernel;
    for (int32_t i = kernel->function->regs; i < kernel->values; i++)
        if (kernel->value[i].kind == VALUE_CONSTANT) fill_constant(warp, &kernel->value[i]);
}

void fill_for_block(const Warp *warp) {
    const Kernel *kernel = warp->block->kernel;
    for (int32_t i = kernel->function->regs; i < kernel->values; i++)
        if (kernel->value[i].kind == VALUE_SPECIAL) fill_special(warp, &kernel->value[i]);
    for (int i = 0; i < kernel->unwrittens; i++)
        fill_unwritten(warp, &kernel->value[kernel->unwritten[i]]);
}
