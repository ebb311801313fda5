// Bug:    the consumer gives the first tile back without having waited for it. Its next wait is for
//         parity 1, which also holds before the first phase is over. Needs sm_90a.
// Run:    SIM_RACE=1
// Expect: this wait may end two phases early
#include "bug.h"

static __device__ void wait(uint32_t mbarrier, uint32_t parity) {
    asm volatile("{\n"
                 ".reg .pred p;\n"
                 "again: mbarrier.try_wait.parity.shared::cta.b64 p, [%0], %1;\n"
                 "@!p bra again;\n"
                 "}" ::"r"(mbarrier),
                 "r"(parity)
                 : "memory");
}

static __device__ void arrive(uint32_t mbarrier) {
    asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(mbarrier) : "memory");
}

template <bool BUG> __global__ void kernel(float *out) {
    __shared__ uint64_t mbarrier[2];
    const uint32_t full = shared_address(&mbarrier[0]), empty = shared_address(&mbarrier[1]);
    if (threadIdx.x == 0)
        for (uint32_t each : {full, empty})
            asm volatile("mbarrier.init.shared::cta.b64 [%0], 32;" ::"r"(each) : "memory");
    __syncthreads();
    for (int i = 0; i < 4; i++)
        if (threadIdx.x < 32) {
            if (!BUG || i > 0) wait(full, i & 1); // reported
            arrive(empty);
        } else {
            if (i > 0) wait(empty, (i - 1) & 1);
            arrive(full);
        }
    out[threadIdx.x] = 1;
}

MAIN(1, 64, 0)
