// Discrete Fourier transforms.
#include "runtime/cuda/cuda.h"

enum { BLOCK = 128 };

void rt_dft(Rt *rt, const RtDft *p, void *y, const void *x)
{
    rt_cuda_launch_typed(rt, "rt_cuda_dft", p->type, (RtCudaGrid){p->size ? p->rows : 0, 1, 1},
                         BLOCK, RT_CUDA_ARGS((void *)p, &y, &x));
}
