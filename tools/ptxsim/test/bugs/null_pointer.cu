// Bug:    a pointer that was never set.
// Expect: load out of bounds: 4 bytes at 0x0
#include "bug.h"

__device__ float *forgotten;

template <bool BUG> __global__ void kernel(float *out) {
    const float *from = BUG ? forgotten : out;
    out[threadIdx.x] = *from; // reported
}

MAIN(1, 32, 0)
