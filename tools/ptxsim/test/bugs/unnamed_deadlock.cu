// Bug:    three warps wait for all threads, the fourth for two warps at another barrier.
// Expect: deadlock: no warp of the block can go on
// Expect: waits at barrier 0 (96 of 128 threads have arrived)
// Expect: waits at barrier 1 (32 of 64 threads have arrived)
#include "bug.h"

template <bool BUG> __global__ void kernel(float *out) {
    if (BUG && threadIdx.x >= 96) asm volatile("bar.sync 1, 64;" ::: "memory"); // reported
    out[threadIdx.x] = __syncthreads_or(threadIdx.x == 5);                      // reported
}

MAIN(1, 128, 0)
