// Bug:    a consumer gives back the first stage, once, where the second one's mbarrier is. There
// its
//         arrival may stand for that of the other consumer, which still reads. Needs sm_90a.
// Run:    SIM_RACE=1
// Expect: an arrival of warp 0 may be counted in the phase before
#include "bug.h"

template <bool BUG> __global__ void kernel(float *out) {
    __shared__ uint64_t full[2], empty[2];
    if (threadIdx.x < 2) {
        const uint32_t mine[] = {shared_address(&full[threadIdx.x]),
                                 shared_address(&empty[threadIdx.x])};
        for (int e = 0; e < 2; e++)
            asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(mine[e]), "r"(32 + 32 * e)
                         : "memory");
    }
    __syncthreads();
    for (int i = 0; i < 4; i++) {
        const int stage = i % 2, released = BUG && i == 2 && threadIdx.x < 32 ? 1 : stage;
        if (threadIdx.x < 64) {
            mbarrier_wait(shared_address(&full[stage]), i / 2);
            mbarrier_arrive(shared_address(&empty[released])); // reported
        } else {
            if (i >= 2) mbarrier_wait(shared_address(&empty[stage]), 0);
            mbarrier_arrive(shared_address(&full[stage]));
        }
    }
    out[threadIdx.x] = 1;
}

MAIN(1, 96, 0)
