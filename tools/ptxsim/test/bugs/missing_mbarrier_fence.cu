// Bug:    a bulk copy may arrive at an mbarrier that it does not see initialised. Needs sm_90a.
// Run:    SIM_RACE=1
// Expect: nothing lets TMA see the mbarrier
#include "bug.h"

constexpr uint32_t BYTES = 128 * sizeof(float);

template <bool BUG> __global__ void kernel(float *out) {
    __shared__ alignas(128) float tile[128];
    __shared__ uint64_t mbarrier;
    const uint32_t full = shared_address(&mbarrier);
    if (threadIdx.x == 0) {
        asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(full) : "memory"); // reported
        if (!BUG) asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
        asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(full),
                     "r"(BYTES)
                     : "memory");
        asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes "
                     "[%0], [%1], %2, [%3];" ::"r"(shared_address(tile)),
                     "l"(out), "r"(BYTES), "r"(full) // reported
                     : "memory");
    }
    __syncthreads();
    mbarrier_wait(full, 0);
    out[threadIdx.x] = tile[127 - threadIdx.x];
}

MAIN(1, 128, 0)
