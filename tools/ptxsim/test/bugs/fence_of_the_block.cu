// Bug:    __threadfence_block is for the threads of the block alone; others may still see what was
//         there before. With __threadfence it is right.
// Run:    SIM_RACE=1
// Expect: data race between blocks
#include "bug.h"

static __device__ unsigned arrived;

template <bool BUG> static __device__ void fence() {
    if (BUG)
        __threadfence_block();
    else
        __threadfence();
}

template <bool BUG> __global__ void kernel(float *out) {
    __shared__ unsigned before;
    if (threadIdx.x == 0) {
        out[1 + blockIdx.x] = 1; // reported
        fence<BUG>();
        before = atomicAdd(&arrived, 1);
    }
    __syncthreads();
    if (before < gridDim.x - 1) return;
    fence<BUG>();
    out[0] = out[1] + out[gridDim.x]; // reported
}

MAIN(3, 64, 0)
