// Bug:    an assertion that does not hold.
// Expect: assertion failed: out[threadIdx.x] == 0
#include "bug.h"

#include <cassert>

template <bool BUG> __global__ void kernel(float *out) {
    if (BUG) out[threadIdx.x] = threadIdx.x == 5;
    assert(out[threadIdx.x] == 0); // reported
    out[threadIdx.x] = 2;
}

MAIN(1, 32, 0)
