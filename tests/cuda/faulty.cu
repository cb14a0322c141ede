// Kernels with a fault in device memory each, for cudart_test.c.
#include "runtime/cuda/cuda.cuh"

// How 0: neighbours in other blocks; 1: neighbours in the block; 2: with a barrier between, which
// is no fault; 3: one element too far.
extern "C" __global__ void faulty(float *y, int how)
{
    int n = (int)(gridDim.x * blockDim.x), i = (int)(blockIdx.x * blockDim.x + threadIdx.x);
    int next = how == 0 ? (i + (int)blockDim.x) % n
                        : (int)(blockIdx.x * blockDim.x + (threadIdx.x + 1) % blockDim.x);

    if (how == 3) {
        y[i + 1] = 1;
        return;
    }
    y[i] = 1;
    if (how == 2)
        __syncthreads();
    float other = y[next];
    __syncthreads();
    y[i] = other + 1;
}
RT_ENTRY(faulty);
