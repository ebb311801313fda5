// What test_runs.c runs and reports on: some of all that is counted and recorded. sample.ptx is
// made of it by nvcc -ptx -arch=sm_90a -lineinfo, its paths from the folder of the repository.
struct alignas(64) Map {
    char bytes[128];
};

__device__ __forceinline__ unsigned place(const void *at) {
    return static_cast<unsigned>(__cvta_generic_to_shared(at));
}

__device__ __forceinline__ void cp_async_16(void *to, const void *from) {
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(place(to)), "l"(from));
}

__device__ __forceinline__ void multiply(float c[4], const void *at) {
    unsigned a[4];
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(a[0]), "=r"(a[1]), "=r"(a[2]), "=r"(a[3])
                 : "r"(place(at)));
    asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 "
                 "{%0, %1, %2, %3}, {%4, %5, %6, %7}, {%4, %5}, {%0, %1, %2, %3};"
                 : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
                 : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]));
}

// Two warps; FAULT 1 reads beyond its tensor, 2 what the other warp writes, 3 waits for that in
// vain.
extern "C" __global__ void copies(const uint4 *in, float *out, int rounds, int fault) {
    __shared__ __align__(128) uint4 tile[2][64];
    const unsigned t = threadIdx.x;
    float c[4] = {0, 0, 0, 0}, sum = 0;
    volatile float room[4] = {0, 1, 2, 3};
#pragma unroll 1
    for (int round = 0; round < rounds; round++) {
        uint4 *now = tile[round & 1];
        cp_async_16(&now[t], &in[round * 64 + t]);
        asm volatile("cp.async.commit_group;");
        asm volatile("cp.async.wait_group 0;");
        __syncthreads();
        multiply(c, &now[t % 32]);
        sum += __uint_as_float(now[t * 8 % 64].x);
        if (t < 5 + round) sum += __uint_as_float(in[t * 3].y) * room[t & 3];
    }
    if (fault == 1) sum += __uint_as_float(in[65536 + t].y);
    if (fault == 2) sum += __uint_as_float(tile[rounds + 1 & 1][t ^ 32].x);
    if (fault == 2) tile[rounds + 1 & 1][t].x = t;
    if (fault == 3 && t < 32) asm volatile("bar.sync 2, 64;");
    sum += __shfl_xor_sync(0xffffffff, sum, 5);
    out[(blockIdx.x * 64 + t) * 2] = sum + c[0];
    if (t == 40) atomicAdd(&out[1000], 1.0f);
}

__device__ __forceinline__ void wait(const void *mbarrier, unsigned parity) {
    asm volatile("{\n.reg .pred done;\nagain:\n"
                 "mbarrier.try_wait.parity.shared.b64 done, [%0], %1;\n@!done bra again;\n}" ::"r"(
                     place(mbarrier)),
                 "r"(parity));
}

// A warpgroup that multiplies, and a warp that loads: three boxes of a tensor, the first and the
// last of which stick out.
extern "C" __global__ void tiles(const __grid_constant__ Map in, const __grid_constant__ Map out,
                                 float *sums) {
    extern __shared__ __align__(1024) char boxes[];
    __shared__ unsigned long long full[2], free[2];
    const unsigned t = threadIdx.x;
    if (t == 0) {
        for (int i = 0; i < 2; i++) {
            asm volatile("mbarrier.init.shared.b64 [%0], 1;" ::"r"(place(&full[i])));
            asm volatile("mbarrier.init.shared.b64 [%0], 128;" ::"r"(place(&free[i])));
        }
        asm volatile("fence.proxy.async;");
    }
    __syncthreads();
    if (t >= 128) {
#pragma unroll 1
        for (int j = 0; t == 128 && j < 3; j++) {
            if (j >= 2) wait(&free[j & 1], (j / 2 - 1) & 1);
            asm volatile(
                "mbarrier.arrive.expect_tx.shared.b64 _, [%0], 8192;" ::"r"(place(&full[j & 1])));
            asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx"
                         "::bytes [%0], [%1, {%2, %3}], [%4];" ::"r"(place(boxes + (j & 1) * 8192)),
                         "l"(&in), "r"(0), "r"(j * 64 - 8), "r"(place(&full[j & 1])));
        }
        return;
    }
    float c[4] = {0, 0, 0, 0};
    for (int j = 0; j < 3; j++) {
        wait(&full[j & 1], j / 2 & 1);
        const unsigned long long tile = 0x4000004000010000 | place(boxes + (j & 1) * 8192) >> 4;
        asm volatile("wgmma.fence.sync.aligned;");
        asm volatile("wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%0, %1, %2, %3}, "
                     "%4, %4, %5, 1, 1, 0, 0;"
                     : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
                     : "l"(tile), "n"(1));
        asm volatile("wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%0, %1, %2, %3}, "
                     "%4, %4, %5, 1, 1, 0, 0;"
                     : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
                     : "l"(tile + 2), "n"(1));
        asm volatile("wgmma.commit_group.sync.aligned;");
        asm volatile("wgmma.wait_group.sync.aligned 0;"
                     : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3]));
        asm volatile("mbarrier.arrive.shared.b64 _, [%0];" ::"r"(place(&free[j & 1])));
    }
    reinterpret_cast<float *>(boxes)[t] = c[0];
    asm volatile("fence.proxy.async;");
    asm volatile("bar.sync 1, 128;");
    if (t == 0) {
        asm volatile(
            "cp.async.bulk.tensor.2d.global.shared::cta.bulk_group [%0, {%1, %2}], [%3];" ::"l"(
                &out),
            "r"(8), "r"(4), "r"(place(boxes)));
        asm volatile("cp.async.bulk.commit_group;");
        asm volatile("cp.async.bulk.wait_group 0;");
    }
    sums[t] = c[1];
}
