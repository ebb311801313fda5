// Bug:    a loop whose end is skipped.
// Run:    SIM_BUDGET=100000
// Expect: an endless loop?
#include "bug.h"

template <bool BUG> __global__ void kernel(float *out) {
    volatile float *flag = out;
    for (unsigned i = 1; i != 128; i += BUG ? 2 : 1) flag[1] = i; // reported
    flag[0] = 1;
}

MAIN(1, 32, 0)
