// Bug:    an index runs one row beyond the tile.
// Expect: outside shared memory
#include "bug.h"

template <bool BUG> __global__ void kernel(float *out) {
    extern __shared__ float tile[];
    const int tid = threadIdx.x;
    if (tid < 32) tile[tid] = out[tid];
    if (BUG || tid < 32) tile[tid + 32] = out[tid]; // reported
    __syncthreads();
    out[tid] = tile[tid];
}

MAIN(1, 64, 64 * sizeof(float))
