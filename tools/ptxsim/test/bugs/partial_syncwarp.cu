// Bug:    a sum by halves in which only the lanes that add wait for each other: the others come to
//         the barrier behind it, and read the sum too early.
// Run:    SIM_RACE=1
// Expect: data race within a warp
#include "bug.h"

template <bool BUG> __global__ void kernel(float *out) {
    __shared__ float tile[32];
    tile[threadIdx.x] = threadIdx.x;
    __syncwarp();
    for (int lanes = 16; lanes > 0; lanes /= 2) {
        if (threadIdx.x < lanes) {
            tile[threadIdx.x] += tile[threadIdx.x + lanes]; // reported
            if (BUG) __syncwarp();
        }
        if (!BUG) __syncwarp();
    }
    __syncwarp();
    out[threadIdx.x] = tile[0];
}

MAIN(1, 32, 0)
