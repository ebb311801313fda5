// Bug:    ordinary stores, then a bulk store of the same bytes, without a fence between the two
//         ways to memory. Needs sm_90a.
// Run:    SIM_RACE=1
// Expect: ordinary writes need a fence.proxy.async
#include "bug.h"

template <bool BUG> __global__ void kernel(float *out) {
    __shared__ alignas(128) float tile[128];
    tile[threadIdx.x] = 1; // reported
    if (!BUG) asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
    __syncthreads();
    if (threadIdx.x == 0) {
        asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], 512;" ::"l"(out),
                     "r"(shared_address(tile)) // reported
                     : "memory");
        asm volatile("cp.async.bulk.commit_group;" ::: "memory");
        asm volatile("cp.async.bulk.wait_group 0;" ::: "memory");
    }
}

MAIN(1, 128, 0)
