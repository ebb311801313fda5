// Bug:    each thread makes its part visible, but thread 0 says that the block has come without
//         waiting for the others. With a barrier before that it is right.
// Run:    SIM_RACE=1
// Expect: data race between blocks
// Expect: block (2, 0, 0): a read
#include "bug.h"

static __device__ unsigned arrived;

template <bool BUG> __global__ void kernel(float *out) {
    __shared__ unsigned before;
    const int parts = gridDim.x * blockDim.x;
    out[1 + blockIdx.x * blockDim.x + threadIdx.x] = 1; // reported
    __threadfence();
    if (!BUG) __syncthreads();
    if (threadIdx.x == 0) before = atomicAdd(&arrived, 1);
    __syncthreads();
    if (before < gridDim.x - 1) return;
    __threadfence();
    float sum = 0;
    for (int i = threadIdx.x; i < parts; i += blockDim.x) sum += out[1 + i]; // reported
    atomicAdd(&out[0], sum);
}

MAIN(3, 64, 0)
