// A stage's table of kernels, with an entry behind its end.
#include "attention.h"

__global__ void first(float *a) { a[threadIdx.x] = 1; }

__global__ void second(float *a) {
    extern __shared__ float room[];
    room[threadIdx.x] = a[threadIdx.x];
    __syncthreads();
    a[threadIdx.x] = room[threadIdx.x ^ 1];
}

const AttentionKernel attention_kernels[] = {{"with room", (const void *)second, 96, 512},
                                             {"without", (const void *)first, 64, 0},
                                             {NULL, NULL, 0, 0},
                                             {"beyond", (const void *)second, 1, 1}};
