// A small stage for the trials of toolchain.sh, which say whether a compiler serves: both element
// types, and the functions that stages of compute capability 9.0 ask the runtime for (TMA=1). It
// attends to one key, whose weight is 1, so O is V. The simulator runs and checks it like any other
// stage; as a program it launches its kernels on the GPU and prints what that objects to.
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <limits.h>
#include <stdio.h>

#include "attention.h"
#if TMA
#include <cudaTypedefs.h>

extern "C" cudaError_t encoder(void **function) {
    cudaDriverEntryPointQueryResult found;
    return cudaGetDriverEntryPointByVersion("cuTensorMapEncodeTiled", function, 12000,
                                            cudaEnableDefault, &found);
}
#endif

constexpr int D = 128;

static __global__ void one_key(const __half *Q, // [D]
                               const __half *K, // [D]
                               const __half *V, // [D]
                               __half *O,       // [D]
                               float *LSE, float scale) {
    float score = 0;
    for (int c = 0; O && c < D; c++) {
        score += (float)Q[c] * (float)K[c];
        O[c] = V[c];
    }
    if (LSE) *LSE = score * scale;
}

static __global__ void other_type(__nv_bfloat16 *a) {
    if (a) a[0] = (__nv_bfloat16)((float)a[0] + (float)a[1]);
}

const AttentionKernel attention_kernels[] = {{"one_key", (const void *)one_key, 1, 0},
                                             {"other_type", (const void *)other_type, 1, 0},
                                             {NULL, NULL, 0, 0}};

const char *attention_supports(const AttentionProblem *p, int compute_capability) {
    if (TMA && compute_capability != 90) return "needs compute capability 9.0";
    return (double)p->batch * p->heads > INT_MAX ? "needs more than 2^31 - 1 blocks" : NULL;
}

size_t attention_workspace_bytes(const AttentionProblem *) { return 0; }

cudaError_t attention_launch(const AttentionProblem *p, const AttentionTensors *t, void *,
                             cudaStream_t stream) {
    one_key<<<1, 1, 0, stream>>>((const __half *)t->Q, (const __half *)t->K, (const __half *)t->V,
                                 (__half *)t->O, t->LSE, p->scale);
    other_type<<<1, 1, 0, stream>>>(NULL);
    return cudaGetLastError();
}

int main() {
    const AttentionProblem problem = {};
    const AttentionTensors nothing = {};
    cudaError_t error = attention_launch(&problem, &nothing, NULL, NULL);
    if (error == cudaSuccess) error = cudaDeviceSynchronize();
    if (error != cudaSuccess) printf("%s\n", cudaGetErrorString(error));
    return error != cudaSuccess;
}
