// Bug:    a tile is fetched again while other warps still read it.
// Run:    SIM_RACE=1
// Expect: data race
#include "bug.h"

static __device__ void copy(float *to, const float *from) {
    const unsigned shared = shared_address(to);
    asm volatile("cp.async.ca.shared.global [%0], [%1], 4;" ::"r"(shared), "l"(from) // reported
                 : "memory");
    asm volatile("cp.async.commit_group;" ::: "memory");
}

template <bool BUG> __global__ void kernel(float *out) {
    __shared__ float tile[128];
    const int tid = threadIdx.x;
    float sum = 0;
    for (int i = 0; i < 4; i++) {
        copy(tile + tid, out + 128 * i + tid);
        asm volatile("cp.async.wait_group 0;" ::: "memory");
        __syncthreads();
        sum += tile[127 - tid]; // reported
        if (!BUG) __syncthreads();
    }
    out[tid] = sum;
}

MAIN(1, 128, 0)
