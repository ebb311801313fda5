// A small stage for the trials of toolchain.sh, which say whether a compiler serves: both element
// types, and the functions that stages of compute capability 9.0 ask the runtime for (TMA=1). As a
// program it launches its kernel and prints what the GPU objects to.
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <stdio.h>
#if TMA
#include <cudaTypedefs.h>

extern "C" cudaError_t encoder(void **function) {
    cudaDriverEntryPointQueryResult found;
    return cudaGetDriverEntryPointByVersion("cuTensorMapEncodeTiled", function, 12000,
                                            cudaEnableDefault, &found);
}
#endif

static __global__ void add(__half *a, __nv_bfloat16 *b) {
    if (a) a[0] = __hadd(a[0], a[1]);
    if (b) b[0] = (__nv_bfloat16)((float)b[0] + (float)b[1]);
}

extern "C" cudaError_t launch(__half *a, __nv_bfloat16 *b) {
    add<<<1, 1>>>(a, b);
    return cudaGetLastError();
}

int main() {
    cudaError_t error = launch(NULL, NULL);
    if (error == cudaSuccess) error = cudaDeviceSynchronize();
    if (error != cudaSuccess) printf("%s\n", cudaGetErrorString(error));
    return error != cudaSuccess;
}
