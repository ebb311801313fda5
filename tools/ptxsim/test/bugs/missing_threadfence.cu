// Bug:    nothing makes a block's part visible before it says that it has come: the last one, which
//         adds the parts, may read what was there before. With the fence it is right.
// Run:    SIM_RACE=1
// Expect: data race between blocks
// Expect: block (1, 0, 0): a write
// Expect: block (2, 0, 0): a read
#include "bug.h"

static __device__ unsigned arrived;

template <bool BUG> __global__ void kernel(float *out) {
    __shared__ unsigned before;
    if (threadIdx.x == 0) {
        out[1 + blockIdx.x] = 1; // reported
        if (!BUG) __threadfence();
        before = atomicAdd(&arrived, 1);
    }
    __syncthreads();
    if (before < gridDim.x - 1) return;
    if (!BUG) __threadfence();
    float sum = 0;
    for (int i = 0; i < gridDim.x; i++) sum += out[1 + i]; // reported
    out[0] = sum;
}

MAIN(3, 64, 0)
