// Bug:    the consumer gives the first tile back without having waited for it. Its next wait is for
//         parity 1, which also holds before the first phase is over. Needs sm_90a.
// Run:    SIM_RACE=1
// Expect: this wait may end two phases early
#include "bug.h"

template <bool BUG> __global__ void kernel(float *out) {
    __shared__ uint64_t mbarrier[2];
    const uint32_t full = shared_address(&mbarrier[0]), empty = shared_address(&mbarrier[1]);
    if (threadIdx.x == 0)
        for (uint32_t each : {full, empty})
            asm volatile("mbarrier.init.shared::cta.b64 [%0], 32;" ::"r"(each) : "memory");
    __syncthreads();
    for (int i = 0; i < 4; i++)
        if (threadIdx.x < 32) {
            if (!BUG || i > 0) mbarrier_wait(full, i & 1); // reported
            mbarrier_arrive(empty);
        } else {
            if (i > 0) mbarrier_wait(empty, (i - 1) & 1);
            mbarrier_arrive(full);
        }
    out[threadIdx.x] = 1;
}

MAIN(1, 64, 0)
