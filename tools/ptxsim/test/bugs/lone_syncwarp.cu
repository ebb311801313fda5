// Bug:    lane 0 alone waits for the others, which go on to the next shuffle without it.
// Expect: shfl.sync waits for lanes 0x00000001, which are elsewhere
// Expect: lanes 0x00000001 wait at lone_syncwarp.cu
#include "bug.h"

template <bool BUG> __global__ void kernel(float *out) {
    __shared__ float tile[32];
    float sum = 0;
    tile[threadIdx.x] = threadIdx.x;
    if (threadIdx.x == 0) {
        __syncwarp(); // reported
        for (int lane = 0; lane < 32; lane++) sum += tile[lane];
    } else if (!BUG) {
        __syncwarp();
    }
    out[threadIdx.x] = __shfl_sync(0xffffffff, sum, 0); // reported
}

MAIN(1, 32, 0)
