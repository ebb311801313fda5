// Bug:    three warpgroups ask for the registers of a whole multiprocessor. They were launched with
//         a multiple of 8 per thread, which makes 64,512. Needs sm_90a.
// Expect: setmaxnreg: the warps of this block ask for 65536 registers
// Expect: it is launched with 64512, 168 per thread
#include "bug.h"

template <bool BUG> __global__ void __launch_bounds__(384, 1) kernel(float *out) {
    if (threadIdx.x < 256) {
        asm volatile("setmaxnreg.inc.sync.aligned.u32 240;");
    } else {
        asm volatile("setmaxnreg.dec.sync.aligned.u32 %0;" ::"n"(BUG ? 32 : 24)); // reported
    }
    out[threadIdx.x] = 1;
}

MAIN(1, 384, 0)
