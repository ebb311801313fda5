// Bug:    the source of a cp.async has the bytes of the rest of a row, not at most those of a copy.
// Expect: cp.async of 16 bytes from a source of 40: it cannot be larger
#include "bug.h"

constexpr int ROW = 40; // bytes: two copies and a half

template <bool BUG> __global__ void kernel(float *out) {
    __shared__ alignas(16) char row[48];
    const int at = 16 * threadIdx.x, rest = ROW - at, bytes = BUG || rest < 16 ? rest : 16;
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(shared_address(row + at)),
                 "l"((const char *)out + at), "r"(bytes) // reported
                 : "memory");
    asm volatile("cp.async.wait_all;" ::: "memory");
}

MAIN(1, 3, 0)
