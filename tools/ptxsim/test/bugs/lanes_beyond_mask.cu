// Bug:    a sum over 16 lanes begins with a step of 16 and takes in lanes that take no part. In the
//         right one lanes 8 to 15 also read such lanes, but nobody uses what they get.
// Expect: the kernel stopped itself (trap)
#include "bug.h"

template <bool BUG> __global__ void kernel(float *out) {
    if (threadIdx.x >= 16) return;
    float sum = threadIdx.x;
    for (int step = BUG ? 16 : 8; step > 0; step /= 2) sum += __shfl_down_sync(0xffff, sum, step);
    if (threadIdx.x == 0 && !(sum == 120)) __trap(); // reported
    out[threadIdx.x] = sum;
}

MAIN(1, 32, 0)
