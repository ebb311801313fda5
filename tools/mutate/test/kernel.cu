// What the operators have to get right, a case a line; nothing here is ever compiled. In a comment
// nothing is changed: a < b, 1 + 2, __syncthreads();
#include <cuda_runtime.h>
// clang-format off
constexpr int TILE = 64;
static_assert(TILE < 65, "no code");

static __device__ void barrier_wait(int *b) { asm volatile("mbarrier.try_wait [%0];" ::"r"(b)); }
static __device__ void wait_twice(int *b) {
    barrier_wait(b);
}

template <int N> static __device__ float work(const float *from, int rows) {
    float sum = 0, other = 0.5f;
    const char *text = "a < b + 1; __syncthreads();";
    wait_twice(b); cudaGridDependencySynchronize();
    copy<N>(sum, other);
    if (rows > 3 && N < 4) return;
    sum += from[rows - 1] * other;
    sum = rows % 2 ? min(sum, other) : other;
    K_at = base + (row ^ (col & 7) * 8) / 2;
    V_at = step / 2 % 2;
#if TYPE
    asm volatile("one "
#else
    asm volatile("two "
#endif
                 "end;");
    long_call(first,
              second);
    return sum;
}

const char *attention_supports(const AttentionProblem *p, int capability) {
    return capability < 80 ? "no" : NULL;
}
