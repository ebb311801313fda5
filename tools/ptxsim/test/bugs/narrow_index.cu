// Bug:    an index is computed in 32 bits; in a larger array it would overflow.
// Run:    SIM_INDEX=100
// Expect: 101 was computed in 32 bits
#include "bug.h"

template <bool BUG> __global__ void kernel(float *out) {
    const int row = blockIdx.x, col = threadIdx.x;
    if (BUG)
        out[row * 32 + col] = 1; // reported
    else
        out[(size_t)row * 32 + col] = 1;
}

MAIN(32, 32, 0)
