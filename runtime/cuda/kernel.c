// Stores prepared kernels by number.
#include <stdio.h>
#include <stdlib.h>

#include "runtime/cuda/cuda.h"

void *rt_cuda_kernel_new(Rt *rt, int kernel, size_t size)
{
    void *k = calloc(1, size);

    if (!k) {
        fprintf(stderr, "error: kernel %d: out of memory\n", kernel);
        exit(1);
    }
    rt->kernel[kernel] = k;
    return k;
}

void rt_kernels_free(Rt *rt, int n)
{
    for (int i = 0; i < n; i++) {
        free(rt->kernel[i]);
        rt->kernel[i] = NULL;
    }
}
