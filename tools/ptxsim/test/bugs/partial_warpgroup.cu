// Bug:    a block whose last warpgroup is not whole asks for registers. Needs sm_90a.
// Expect: setmaxnreg needs all lanes of the warpgroup; lanes 0x7fffffff execute it
#include "bug.h"

template <bool BUG> __global__ void kernel(float *out) {
    if (!BUG || threadIdx.x < 127) asm volatile("setmaxnreg.dec.sync.aligned.u32 24;"); // reported
    out[threadIdx.x] = 1;
}

MAIN(1, 128, 0)
