// Bug:    two warps take turns at two barriers, and the second gives the turn back without having
//         waited for its own: it may come to a barrier twice before the first has left it.
// Run:    SIM_RACE=1
// Expect: barrier 1: this arrival may be counted in the barrier's use before
#include "bug.h"

static __device__ void wait_for_turn(int warp) {
    asm volatile("bar.sync %0, 64;" ::"r"(1 + warp) : "memory");
}

static __device__ void give_turn(int warp) {
    asm volatile("bar.arrive %0, 64;" ::"r"(1 + warp) : "memory");
}

template <bool BUG> __global__ void kernel(float *out) {
    __shared__ int turns[2]; // without shared memory nobody looks for races
    const int warp = threadIdx.x / 32;
    if (warp == 1) give_turn(0);
    for (int i = 0; i < 4; i++) {
        if (!BUG || warp == 0) wait_for_turn(warp);
        if (threadIdx.x % 32 == 0) turns[warp] = i;
        give_turn(1 - warp); // reported
    }
    __syncwarp();
    out[threadIdx.x] = turns[warp];
}

MAIN(1, 64, 0)
