// A loop around a jump through a table: each way is an instruction that stands nowhere else.
__global__ void chosen(float *a, const int *way, int n) {
    float sum = a[0];
#pragma unroll 1
    for (int i = 0; i < n; i++) {
        switch (way[i]) {
        case 0:
            asm volatile("fma.rn.f32 %0, %0, %0, %0;" : "+f"(sum));
            break;
        case 1:
            asm volatile("ex2.approx.ftz.f32 %0, %0;" : "+f"(sum));
            break;
        case 2:
            asm volatile("bar.sync 0;");
            break;
        case 3:
            asm volatile("membar.gl;");
            break;
        case 4:
            asm volatile("st.global.f32 [%0], %1;" ::"l"(a + i), "f"(sum));
            break;
        case 5:
            asm volatile("rcp.approx.ftz.f32 %0, %0;" : "+f"(sum));
            break;
        }
    }
    a[threadIdx.x] = sum;
}
