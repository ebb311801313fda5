// Bug:    one warp takes a tile and does not say so: the slot never counts as empty again. Needs
//         sm_90a.
// Expect: deadlock: no warp of the block can go on
// Expect: in its phase 1, of parity 1, 32 of 64 arrivals and 0 bytes are missing
// Expect: in its phase 2, of parity 0, 32 of 32 arrivals and 0 bytes are missing
#include "bug.h"

static __device__ void init(uint32_t mbarrier, int count) {
    asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(mbarrier), "r"(count) : "memory");
}

// Warp 0 fills the slot, warps 1 and 2 empty it.
template <bool BUG> __global__ void kernel(float *out) {
    __shared__ uint64_t mbarriers[2];
    __shared__ float slot[32];
    const uint32_t full = shared_address(&mbarriers[0]), empty = shared_address(&mbarriers[1]);
    const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    if (threadIdx.x == 0) {
        init(full, 32);
        init(empty, 64);
    }
    __syncthreads();
    for (int i = 0; i < 4; i++) {
        if (warp == 0) {
            mbarrier_wait(empty, (i & 1) ^ 1); // reported
            slot[lane] = i;
            mbarrier_arrive(full);
        } else {
            mbarrier_wait(full, i & 1); // reported
            out[threadIdx.x] += slot[lane];
            if (!BUG || warp == 1 || i != 1) mbarrier_arrive(empty);
        }
    }
}

MAIN(1, 96, 0)
