// Bug:    the address of B comes into its descriptor in bytes; the field has units of 16, and 14
// bits.
//         Needs sm_90a.
// Expect: of B has 0x4000 in bits that no field has
#include "bug.h"

constexpr int AT = 16 * 1024; // of the tiles, in bytes

template <bool BUG> __global__ void kernel(float *out) {
    __shared__ alignas(1024) uint16_t room[AT];
    uint16_t *const A = room + AT / 2, *const B = A + 64 * 16; // no swizzle: 8 x 8 blocks
    for (int i = threadIdx.x; i < (64 + 8) * 16; i += 128) A[i] = 0x3c00;
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
    __syncthreads();
    const auto descriptor = [](const void *tile, int unit) {
        return (uint64_t)(shared_address(tile) / unit) | (uint64_t)(128 >> 4) << 16 |
               (uint64_t)(256 >> 4) << 32;
    };
    float d[4];
    asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
    asm volatile("wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%0, %1, %2, %3}, %4, %5, 0, "
                 "1, 1, 0, 0;"
                 : "=f"(d[0]), "=f"(d[1]), "=f"(d[2]), "=f"(d[3])
                 : "l"(descriptor(A, 16)), "l"(descriptor(B, BUG ? 1 : 16)) // reported
                 : "memory");
    asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
    asm volatile("wgmma.wait_group.sync.aligned 0;" ::: "memory");
    out[threadIdx.x] = d[0] + d[1] + d[2] + d[3];
}

MAIN(1, 128, 0)
