// Bug:    a named barrier waits for one warp more than ever comes.
// Expect: deadlock: no warp of the block can go on
// Expect: waits at barrier 1 (64 of 96 threads have arrived)
#include "bug.h"

template <bool BUG> __global__ void kernel(float *out) {
    const int expected = BUG ? 96 : 64;
    if (threadIdx.x < 64) asm volatile("bar.sync 1, %0;" ::"n"(expected) : "memory"); // reported
    out[threadIdx.x] = 1;
}

MAIN(1, 128, 0)
