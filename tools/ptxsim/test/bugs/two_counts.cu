// Bug:    one barrier, used for two warps and for all threads.
// Expect: barrier 1 is used for 64 threads while others use it for 128
#include "bug.h"

template <bool BUG> __global__ void kernel(float *out) {
    if (threadIdx.x < 64)
        asm volatile("bar.sync 1, 128;" ::: "memory");
    else
        asm volatile("bar.sync 1, %0;" ::"n"(BUG ? 64 : 128) : "memory"); // reported
    out[threadIdx.x] = 1;
}

MAIN(1, 128, 0)
