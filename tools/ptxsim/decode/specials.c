#include "decode/specials.h"

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
    return -1;
}
