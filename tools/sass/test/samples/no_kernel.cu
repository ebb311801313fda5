__device__ int nobody_uses_this;
