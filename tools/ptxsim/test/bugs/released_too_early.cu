// Bug:    a slot is given back for the next bulk copy while a wgmma may still read it.
//         Needs sm_90a.
// Run:    SIM_RACE=1
// Expect: data race with an asynchronous copy or read that nobody has waited for
// Expect: earlier: read by wgmma of warp
// Expect: later: write by a bulk load
#include "bug.h"

constexpr uint32_t BYTES_B = 8 * 16 * sizeof(uint16_t);

template <bool BUG> __global__ void kernel(float *out) {
    __shared__ alignas(1024) uint16_t A[64 * 16], B[8 * 16]; // no swizzle: 8 x 8 blocks
    __shared__ uint64_t mbarrier;
    const uint32_t full = shared_address(&mbarrier);
    for (int i = threadIdx.x; i < 64 * 16; i += 128) A[i] = 0x3c00;
    if (threadIdx.x == 0)
        asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(full) : "memory");
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
    __syncthreads();
    const auto descriptor = [](const void *tile) {
        return (uint64_t)(shared_address(tile) >> 4) | (uint64_t)(128 >> 4) << 16 |
               (uint64_t)(256 >> 4) << 32;
    };
    float d[4] = {0, 0, 0, 0};
    for (int i = 0; i < 2; i++) {
        if (threadIdx.x == 0) {
            asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(full),
                         "r"(BYTES_B)
                         : "memory");
            asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes "
                         "[%0], [%1], %2, [%3];" ::"r"(shared_address(B)),
                         "l"(out), "r"(BYTES_B), "r"(full) // reported
                         : "memory");
        }
        mbarrier_wait(full, i);
        asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
        asm volatile("{\n"
                     ".reg .pred p;\n"
                     "setp.ne.b32 p, 1, 0;\n"
                     "wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%0, %1, %2, %3}, %4, %5, "
                     "p, 1, 1, 0, 0;\n"
                     "}"
                     : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
                     : "l"(descriptor(A)), "l"(descriptor(B)) // reported
                     : "memory");
        asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
        if (!BUG) asm volatile("wgmma.wait_group.sync.aligned 0;" ::: "memory");
        __syncthreads();
    }
    asm volatile("wgmma.wait_group.sync.aligned 0;" ::: "memory");
    out[threadIdx.x] = d[0] + d[1] + d[2] + d[3];
}

MAIN(1, 128, 0)
