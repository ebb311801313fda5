// Bug:    a 16-byte load at an address that is a multiple of 4.
// Expect: misaligned global load: 16 bytes
#include "bug.h"

template <bool BUG> __global__ void kernel(float *out) {
    const float4 four = *(const float4 *)(out + 4 * threadIdx.x + (BUG ? 1 : 0)); // reported
    out[threadIdx.x] = four.x + four.w;
}

MAIN(1, 32, 0)
