// Bug:    none: a limit of the simulator, which must say so in one sentence.
// Expect: recursion is not supported
#include "bug.h"

static __device__ __noinline__ int ackermann(int m, int n) {
    return m == 0 ? n + 1 : n == 0 ? ackermann(m - 1, 1) : ackermann(m - 1, ackermann(m, n - 1));
}

template <bool BUG> __global__ void kernel(float *out) {
    out[threadIdx.x] = BUG ? ackermann(threadIdx.x & 1, 2) : 0;
}

MAIN(1, 32, 0)
