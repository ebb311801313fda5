// Bug:    nobody looks whether try_wait found the phase over, or came back without. Needs sm_90a.
// Run:    SIM_ORDER=1
// Expect: shared memory is read before it was written
#include "bug.h"

constexpr uint32_t BYTES = 128 * sizeof(float);

static __device__ bool try_wait(uint32_t mbarrier, uint32_t parity) {
    int done;
    asm volatile("{\n"
                 ".reg .pred p;\n"
                 "mbarrier.try_wait.parity.shared::cta.b64 p, [%1], %2;\n"
                 "selp.s32 %0, 1, 0, p;\n"
                 "}"
                 : "=r"(done)
                 : "r"(mbarrier), "r"(parity)
                 : "memory");
    return done;
}

template <bool BUG> __global__ void kernel(float *out) {
    __shared__ alignas(128) float tile[128];
    __shared__ uint64_t mbarrier;
    const uint32_t full = shared_address(&mbarrier);
    if (threadIdx.x == 0) {
        asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(full) : "memory");
        asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
        asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(full),
                     "r"(BYTES)
                     : "memory");
        asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes "
                     "[%0], [%1], %2, [%3];" ::"r"(shared_address(tile)),
                     "l"(out), "r"(BYTES), "r"(full)
                     : "memory");
    }
    __syncthreads();
    while (!try_wait(full, 0) && !BUG) continue;
    out[threadIdx.x] = tile[127 - threadIdx.x]; // reported
}

MAIN(1, 128, 0)
