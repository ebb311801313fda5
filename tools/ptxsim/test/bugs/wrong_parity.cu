// Bug:    the second wait asks for the wrong phase, which will never complete. Needs sm_90a.
// Expect: deadlock: no warp of the block can go on
// Expect: waits for the mbarrier at 0x400, parity 0
#include "bug.h"

template <bool BUG> __global__ void kernel(float *out) {
    __shared__ uint64_t mbarrier;
    const uint32_t full = shared_address(&mbarrier);
    if (threadIdx.x == 0)
        asm volatile("mbarrier.init.shared::cta.b64 [%0], 64;" ::"r"(full) : "memory");
    __syncthreads();
    for (int i = 0; i < 3; i++) {
        asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(full) : "memory");
        mbarrier_wait(full, BUG ? i / 2 : i & 1); // reported
    }
    out[threadIdx.x] = 1;
}

MAIN(1, 64, 0)
