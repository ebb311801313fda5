// Bug:    a shuffle that names all lanes, in a branch that only some take.
// Expect: shfl.sync waits for lanes 0xffff0000
#include "bug.h"

template <bool BUG> __global__ void kernel(float *out) {
    float value = threadIdx.x;
    if (threadIdx.x < (BUG ? 16 : 32)) value += __shfl_xor_sync(0xffffffff, value, 1); // reported
    out[threadIdx.x] = value;
}

MAIN(1, 32, 0)
