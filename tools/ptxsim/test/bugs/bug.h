// A planted bug: template <bool BUG> __global__ void kernel(float *out) has it if BUG, and is right
// otherwise. Started with the argument `bug` the program runs the one, else the other, and ends
// with 1 if the launch failed.
#ifndef BUG_H
#define BUG_H

#include <cstdint>
#include <cstdio>
#include <cstring>
#include <cuda_runtime.h>

static __device__ inline uint32_t shared_address(const void *pointer) {
    return (uint32_t)__cvta_generic_to_shared(pointer);
}

// Waits until the phase of that parity is over; arrives once.
static __device__ inline void mbarrier_wait(uint32_t mbarrier, uint32_t parity) {
    asm volatile("{\n"
                 ".reg .pred p;\n"
                 "again: mbarrier.try_wait.parity.shared::cta.b64 p, [%0], %1;\n"
                 "@!p bra again;\n"
                 "}" ::"r"(mbarrier),
                 "r"(parity)
                 : "memory");
}

static __device__ inline void mbarrier_arrive(uint32_t mbarrier) {
    asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(mbarrier) : "memory");
}

constexpr int OUT_FLOATS = 1024; // out holds as many

#define MAIN(blocks, threads, dynamic_bytes)                                                      \
    int main(int count, char *arguments[]) {                                                      \
        const bool bug = count > 1 && strcmp(arguments[1], "bug") == 0;                           \
        const auto chosen = bug ? kernel<true> : kernel<false>;                                   \
        float *out;                                                                               \
        cudaMalloc((void **)&out, OUT_FLOATS * sizeof(float));                                    \
        cudaMemset(out, 0, OUT_FLOATS * sizeof(float));                                           \
        cudaFuncSetAttribute(chosen, cudaFuncAttributeMaxDynamicSharedMemorySize, dynamic_bytes); \
        chosen<<<blocks, threads, dynamic_bytes>>>(out);                                          \
        const cudaError_t error = cudaGetLastError();                                             \
        if (error) fprintf(stderr, "%s\n", cudaGetErrorString(error));                            \
        return error != cudaSuccess;                                                              \
    }

#endif
