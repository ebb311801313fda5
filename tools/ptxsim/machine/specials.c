/* Special registers: %tid.x and its like (PTX ISA, "Special Registers"). */
#include <string.h>

#include "decode/decode.h"

typedef enum Special {
    TID, /* .x, .y and .z follow each other */
    NTID = TID + 3,
    CTAID = NTID + 3,
    NCTAID = CTAID + 3,
    LANEID = NCTAID + 3,
    WARPID,
    NWARPID,
    LANEMASK_EQ,
    LANEMASK_LT,
    LANEMASK_LE,
    LANEMASK_GT,
    LANEMASK_GE,
    DYNAMIC_SHARED,
    TOTAL_SHARED,
    GRIDID,
    SMID,
    NSMID,
    ZERO, /* whatever has but one value here */
    ONE,
} Special;

static const struct {
    const char *name;
    int special;
    unsigned bytes;
} names[] = {
    {"%tid.x", TID, 4},
    {"%tid.y", TID + 1, 4},
    {"%tid.z", TID + 2, 4},
    {"%ntid.x", NTID, 4},
    {"%ntid.y", NTID + 1, 4},
    {"%ntid.z", NTID + 2, 4},
    {"%ctaid.x", CTAID, 4},
    {"%ctaid.y", CTAID + 1, 4},
    {"%ctaid.z", CTAID + 2, 4},
    {"%nctaid.x", NCTAID, 4},
    {"%nctaid.y", NCTAID + 1, 4},
    {"%nctaid.z", NCTAID + 2, 4},
    {"%laneid", LANEID, 4},
    {"%warpid", WARPID, 4},
    {"%nwarpid", NWARPID, 4},
    {"%lanemask_eq", LANEMASK_EQ, 4},
    {"%lanemask_lt", LANEMASK_LT, 4},
    {"%lanemask_le", LANEMASK_LE, 4},
    {"%lanemask_gt", LANEMASK_GT, 4},
    {"%lanemask_ge", LANEMASK_GE, 4},
    {"%dynamic_smem_size", DYNAMIC_SHARED, 4},
    {"%total_smem_size", TOTAL_SHARED, 4},
    {"%gridid", GRIDID, 8},
    {"%smid", SMID, 4},
    {"%nsmid", NSMID, 4},
    {"%cluster_ctarank", ZERO, 4}, /* every block is a cluster of its own */
    {"%cluster_nctarank", ONE, 4},
    {"%cluster_ctaid.x", ZERO, 4},
    {"%cluster_ctaid.y", ZERO, 4},
    {"%cluster_ctaid.z", ZERO, 4},
    {"%cluster_nctaid.x", ONE, 4},
    {"%cluster_nctaid.y", ONE, 4},
    {"%cluster_nctaid.z", ONE, 4},
    {"%clusterid.x", CTAID, 4},
    {"%clusterid.y", CTAID + 1, 4},
    {"%clusterid.z", CTAID + 2, 4},
    {"%nclusterid.x", NCTAID, 4},
    {"%nclusterid.y", NCTAID + 1, 4},
    {"%nclusterid.z", NCTAID + 2, 4},
};

int special_find(Text name, unsigned *bytes) {
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        if (!text_is(name, names[i].name)) continue;
        *bytes = names[i].bytes;
        return names[i].special;
    }
    *bytes = 4;
    return -1;
}

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
        return (uint64_t)b->warps;
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
    case TOTAL_SHARED:
        return b->shared_bytes;
    case SMID:
        return b->index[0] % MULTIPROCESSORS;
    case NSMID:
        return MULTIPROCESSORS;
    case ONE:
        return 1;
    default:
        return 0;
    }
}

void constants_fill(Warp *warp) {
    const Kernel *kernel = warp->block->kernel;
    for (int32_t i = kernel->function->regs; i < kernel->values; i++) {
        const Value *v = &kernel->value[i];
        const size_t bytes = v->bytes == PREDICATE_BYTES ? sizeof(uint32_t) : v->bytes;
        const unsigned lanes = v->bytes == PREDICATE_BYTES ? 1 : LANES;
        for (unsigned lane = 0; v->kind == VALUE_CONSTANT && lane < lanes; lane++)
            memcpy(warp->registers + v->offset + lane * bytes, &v->bits, bytes < 8 ? bytes : 8);
    }
}

void specials_fill(Warp *warp) {
    const Kernel *kernel = warp->block->kernel;
    for (int32_t i = kernel->function->regs; i < kernel->values; i++) {
        const Value *v = &kernel->value[i];
        for (uint32_t lane = 0; v->kind == VALUE_SPECIAL && lane < LANES; lane++) {
            const uint64_t bits = special_value(warp, v->special, lane);
            memcpy(warp->registers + v->offset + lane * v->bytes, &bits, v->bytes);
        }
    }
}
