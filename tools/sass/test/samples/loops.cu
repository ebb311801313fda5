// Kernels with loops that the compiler has no way to unroll or to merge.

// No loop; 3 FFMA, one of them under a guard.
__global__ void straight(float *a, float b, int guard) {
    float sum = fmaf(a[0], b, a[1]);
    sum = fmaf(sum, b, a[2]);
    if (guard == 7) asm volatile("fma.rn.f32 %0, %0, %1, %1;" : "+f"(sum) : "f"(b));
    a[threadIdx.x] = sum;
}

// A loop in a loop: 1 FFMA in the inner one, 1 exponential in the outer one.
__global__ void nested(float *a, int n, int m) {
    float sum = 0;
#pragma unroll 1
    for (int i = 0; i < n; i++) {
#pragma unroll 1
        for (int j = 0; j < m; j++) asm volatile("fma.rn.f32 %0, %0, %0, %0;" : "+f"(sum));
        asm volatile("ex2.approx.ftz.f32 %0, %0;" : "+f"(sum));
    }
    a[threadIdx.x] = sum;
}

// Two loops, of which no one has both a FFMA and the exponential.
#ifdef APART
__global__ void apart(float *a, int n) {
    float sum = a[0];
#pragma unroll 1
    for (int i = 0; i < n; i++) asm volatile("fma.rn.f32 %0, %0, %0, %0;" : "+f"(sum));
#pragma unroll 1
    for (int i = 0; i < n; i++) asm volatile("ex2.approx.ftz.f32 %0, %0;" : "+f"(sum));
    a[0] = sum;
}
#endif

// Shared memory, a barrier and a loop of 2 loads from it; UNROLLED: of 8.
__global__ void shared_sum(float *a, int n) {
    __shared__ float tile[256];
    tile[threadIdx.x] = a[threadIdx.x];
    __syncthreads();
    float sum = 0;
#ifdef UNROLLED
#pragma unroll 4
#else
#pragma unroll 1
#endif
    for (int i = 0; i < n; i++) {
        const volatile float *at = &tile[i];
        sum = fmaf(at[0], at[64], sum);
    }
    a[threadIdx.x] = sum;
}
