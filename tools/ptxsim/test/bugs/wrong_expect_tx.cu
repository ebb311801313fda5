// Bug:    more bytes are expected than the bulk copy brings. Needs sm_90a.
// Expect: deadlock: no warp of the block can go on
// Expect: in its phase 0, of parity 0, 0 of 1 arrivals and 16 bytes are missing
#include "bug.h"

constexpr uint32_t BYTES = 128 * sizeof(float);

template <bool BUG> __global__ void kernel(float *out) {
    __shared__ alignas(128) float tile[128];
    __shared__ uint64_t mbarrier;
    const uint32_t full = shared_address(&mbarrier);
    if (threadIdx.x == 0) {
        asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(full) : "memory");
        asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
        asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(full),
                     "r"(BUG ? BYTES + 16 : BYTES)
                     : "memory");
        asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes "
                     "[%0], [%1], %2, [%3];" ::"r"(shared_address(tile)),
                     "l"(out), "r"(BYTES), "r"(full)
                     : "memory");
    }
    __syncthreads();
    mbarrier_wait(full, 0); // reported
    out[threadIdx.x] = tile[127 - threadIdx.x];
}

MAIN(1, 128, 0)
