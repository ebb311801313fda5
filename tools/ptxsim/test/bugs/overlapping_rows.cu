// Bug:    a block has one row more than those by which the next one begins further down, so two
//         blocks write the same row: here the later one wins, on a GPU either may.
// Run:    SIM_RACE=1
// Expect: data race between blocks
// Expect: block (0, 0, 0): a write
// Expect: block (1, 0, 0): a write
#include "bug.h"

template <bool BUG> __global__ void kernel(float *out) {
    const int rows = 4, row = blockIdx.x * rows + threadIdx.y;
    if (BUG || threadIdx.y < rows) out[row * 16 + threadIdx.x] = blockIdx.x; // reported
}

MAIN(4, dim3(16, 5), 0)
