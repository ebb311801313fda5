// Bug:    __syncthreads in a branch that half of a warp takes.
// Expect: barrier in divergent code
#include "bug.h"

template <bool BUG> __global__ void kernel(float *out) {
    if (threadIdx.x < (BUG ? 48 : 64)) {
        out[threadIdx.x] += 1;
        __syncthreads(); // reported
    }
    out[threadIdx.x] += 1;
}

MAIN(1, 64, 0)
