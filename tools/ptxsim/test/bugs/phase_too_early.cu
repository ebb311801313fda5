// Bug:    at the end of a step the third warp meets the first, and not the second, which waits for
//         the phase of that step: the next one may end before. Needs sm_90a.
// Run:    SIM_RACE=1
// Expect: a phase ends here, and nothing orders that after warp 1's wait for the phase before
#include "bug.h"

template <bool BUG> __global__ void kernel(float *out) {
    __shared__ uint64_t mbarrier;
    const uint32_t full = shared_address(&mbarrier);
    const int warp = threadIdx.x / 32;
    if (threadIdx.x == 0)
        asm volatile("mbarrier.init.shared::cta.b64 [%0], 32;" ::"r"(full) : "memory");
    __syncthreads();
    for (int i = 0; i < 4; i++) {
        if (warp == 2) mbarrier_arrive(full); // reported
        if (warp == 1) mbarrier_wait(full, i & 1);
        if (!BUG)
            __syncthreads();
        else if (warp != 1)
            asm volatile("bar.sync 1, 64;" ::: "memory");
    }
    out[threadIdx.x] = 1;
}

MAIN(1, 96, 0)
