// Bug:    the last block is not full, and nobody checks.
// Expect: store out of bounds: 4 bytes
#include "bug.h"

template <bool BUG> __global__ void kernel(float *out) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (BUG || i < OUT_FLOATS) out[i] = 1; // reported
}

MAIN(6, 192, 0)
