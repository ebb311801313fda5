// Bug:    blocks 1 and 2 wait for all others: no mistake on a GPU where all run at one time, but
//         here one comes after another. In the twin only the last one that comes does more.
// Run:    SIM_BUDGET=100000 SIM_RACE=1
// Expect: an endless loop?
// Expect: does it wait for another block?
// Expect: 1 of 3 come after this one
#include "bug.h"

static __device__ unsigned arrived;

template <bool BUG> __global__ void kernel(float *out) {
    __shared__ unsigned before;
    out[1 + blockIdx.x] = 1;
    __threadfence();
    __syncthreads();
    if (threadIdx.x == 0) before = atomicAdd(&arrived, 1);
    __syncthreads();
    if (BUG && blockIdx.x > 0) {
        while (*(volatile unsigned *)&arrived < gridDim.x) continue; // reported
    } else if (before != gridDim.x - 1) {
        return;
    }
    __threadfence();
    out[0] = out[1] + out[gridDim.x];
}

MAIN(3, 64, 0)
