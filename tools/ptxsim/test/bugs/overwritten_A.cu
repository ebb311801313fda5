// Bug:    the registers of A get their next values while the wgmma that reads them is in flight.
//         Needs sm_90a.
// Expect: a register of a wgmma is written before wgmma.wait_group has waited for it
#include "bug.h"

template <bool BUG> __global__ void kernel(float *out) {
    __shared__ alignas(1024) uint16_t B[8 * 16]; // no swizzle: 8 x 8 blocks
    B[threadIdx.x] = 0x3c00;
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
    __syncthreads();
    const uint64_t descriptor = (uint64_t)(shared_address(B) >> 4) | (uint64_t)(128 >> 4) << 16 |
                                (uint64_t)(256 >> 4) << 32;
    float d[4] = {0, 0, 0, 0};
#pragma unroll 1
    for (int i = 0; i < 4; i++) {
        const uint32_t A = __float_as_uint(out[i]) + 0x3c003c00; // reported
        asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
        asm volatile("wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%0, %1, %2, %3}, "
                     "{%4, %4, %4, %4}, %5, 1, 1, 1, 0;"
                     : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
                     : "r"(A), "l"(descriptor)
                     : "memory");
        asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
        if (!BUG) asm volatile("wgmma.wait_group.sync.aligned 0;" ::: "memory");
    }
    asm volatile("wgmma.wait_group.sync.aligned 0;" ::: "memory");
    out[threadIdx.x] = d[0] + d[1] + d[2] + d[3];
}

MAIN(1, 128, 0)
