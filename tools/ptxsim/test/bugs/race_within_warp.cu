// Bug:    lanes exchange values through shared memory without __syncwarp.
// Run:    SIM_RACE=1
// Expect: data race
#include "bug.h"

template <bool BUG> __global__ void kernel(float *out) {
    __shared__ float tile[32];
    tile[threadIdx.x] = out[threadIdx.x]; // reported
    if (!BUG) __syncwarp();
    out[threadIdx.x] = tile[31 - threadIdx.x]; // reported
}

MAIN(1, 32, 0)
