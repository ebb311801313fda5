// Bug:    the next tile is fetched before the barrier that ends the use of this one. The late
//         order hides it; in the early one the other warp's sum is that of the wrong tile, and it
//         says so.
// Run:    SIM_ASYNC=early
// Expect: assertion failed: tile[127 - tid] == 1
#include "bug.h"

#include <cassert>

template <bool BUG> __global__ void kernel(float *out) {
    __shared__ float tile[128];
    const int tid = threadIdx.x;
    tile[tid] = 1;
    __syncthreads();
    if (!BUG) {
        assert(tile[127 - tid] == 1);
        __syncthreads();
    }
    asm volatile("cp.async.ca.shared.global [%0], [%1], 4;" ::"r"(shared_address(tile + tid)),
                 "l"(out + tid)
                 : "memory");
    if (BUG) assert(tile[127 - tid] == 1); // reported
    asm volatile("cp.async.wait_all;" ::: "memory");
    __syncthreads();
    out[tid] = tile[tid];
}

MAIN(1, 128, 0)
