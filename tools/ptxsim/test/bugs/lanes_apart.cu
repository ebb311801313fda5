// Bug:    each half of a warp waits at a barrier of its own.
// Expect: the lanes of a warp come to barriers of different numbers or threads
#include "bug.h"

template <bool BUG> __global__ void kernel(float *out) {
    const int barrier = 1 + threadIdx.x / (BUG ? 16 : 32);
    asm volatile("bar.sync %0, 32;" ::"r"(barrier) : "memory"); // reported
    out[threadIdx.x] = 1;
}

MAIN(1, 128, 0)
