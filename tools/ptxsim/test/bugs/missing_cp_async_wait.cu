// Bug:    the copies of cp.async are read, but nobody waited for them.
// Run:    SIM_ASYNC=late
// Expect: shared memory is read before it was written
#include "bug.h"

template <bool BUG> __global__ void kernel(float *out) {
    __shared__ float tile[128];
    const int tid = threadIdx.x;
    asm volatile("cp.async.ca.shared.global [%0], [%1], 4;" ::"r"(shared_address(tile + tid)),
                 "l"(out + tid)
                 : "memory");
    asm volatile("cp.async.commit_group;" ::: "memory");
    asm volatile("cp.async.wait_group %0;" ::"n"(BUG ? 1 : 0) : "memory");
    __syncthreads();
    out[tid] = tile[127 - tid]; // reported
}

MAIN(1, 128, 0)
