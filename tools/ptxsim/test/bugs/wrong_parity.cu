// Bug:    the second wait asks for the wrong phase, which will never complete. Needs sm_90a.
// Expect: deadlock: no warp of the block can go on
// Expect: waits for the mbarrier at 0x400, parity 0
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

template <bool BUG> __global__ void kernel(float *out) {
    __shared__ uint64_t mbarrier;
    const uint32_t full = shared_address(&mbarrier);
    if (threadIdx.x == 0)
        asm volatile("mbarrier.init.shared::cta.b64 [%0], 64;" ::"r"(full) : "memory");
    __syncthreads();
    for (int i = 0; i < 3; i++) {
        asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(full) : "memory");
        wait(full, BUG ? i / 2 : i & 1); // reported
    }
    out[threadIdx.x] = 1;
}

MAIN(1, 64, 0)
