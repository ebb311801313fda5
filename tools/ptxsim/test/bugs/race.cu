// Bug:    the second barrier of a loop is missing: a warp that is fast overwrites what others read.
// Run:    SIM_RACE=1
// Expect: data race
#include "bug.h"

template <bool BUG> __global__ void kernel(float *out) {
    __shared__ float tile[64];
    float sum = 0;
    for (int i = 0; i < 4; i++) {
        tile[threadIdx.x] = out[64 * i + threadIdx.x]; // reported
        __syncthreads();
        sum += tile[63 - threadIdx.x]; // reported
        if (!BUG) __syncthreads();
    }
    out[threadIdx.x] = sum;
}

MAIN(1, 64, 0)
