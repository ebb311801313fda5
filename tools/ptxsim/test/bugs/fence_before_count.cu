// Bug:    the last block has a fence before it counts, which makes its own part visible, and none
//         after: what it reads then may be older than the count. With a second fence it is right.
// Run:    SIM_RACE=1
// Expect: data race between blocks
// Expect: block (0, 0, 0): a write
// Expect: block (2, 0, 0): a read
#include "bug.h"

static __device__ unsigned arrived;

template <bool BUG> __global__ void kernel(float *out) {
    __shared__ unsigned before;
    if (threadIdx.x == 0) {
        out[1 + blockIdx.x] = 1; // reported
        __threadfence();
        before = atomicAdd(&arrived, 1);
    }
    __syncthreads();
    if (before < gridDim.x - 1) return;
    if (!BUG) __threadfence();
    out[0] = out[1] + out[gridDim.x]; // reported
}

MAIN(3, 64, 0)
