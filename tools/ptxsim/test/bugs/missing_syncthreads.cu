// Bug:    no barrier between writing shared memory and reading what other warps wrote.
// Run:    SIM_ASYNC=late
// Expect: shared memory is read before it was written
#include "bug.h"

template <bool BUG> __global__ void kernel(float *out) {
    __shared__ float tile[128];
    const int tid = threadIdx.x;
    tile[tid] = out[tid];
    if (!BUG) __syncthreads();
    out[tid] = tile[127 - tid]; // reported
}

MAIN(1, 128, 0)
