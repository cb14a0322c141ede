// Pooling over windows and its gradients.
#include "runtime/cuda/cuda.h"
#include "runtime/cuda/window.h"

enum { BLOCK = 256 };

static RtCudaGrid blocks_of(int64_t count) { return (RtCudaGrid){rt_ceil_div(count, BLOCK), 1, 1}; }

void rt_max_pool(Rt *rt, const RtConv *p, void *y, const void *x)
{
    RtCudaWindow w = rt_cuda_window(p, true);

    rt_cuda_launch(rt, "rt_cuda_max_pool", blocks_of(w.y_count), BLOCK, RT_CUDA_ARGS(&w, &y, &x));
}

void rt_max_pool_grad(Rt *rt, const RtConv *p, void *dx, const void *x, const void *dy)
{
    RtCudaWindow w = rt_cuda_window(p, true);

    rt_cuda_launch(rt, "rt_cuda_max_pool_grad", blocks_of(w.x_count), BLOCK,
                   RT_CUDA_ARGS(&w, &dx, &x, &dy));
}

void rt_sum_pool(Rt *rt, const RtConv *p, void *y, const void *x)
{
    RtCudaWindow w = rt_cuda_window(p, true);

    rt_cuda_launch(rt, "rt_cuda_sum_pool", blocks_of(w.y_count), BLOCK, RT_CUDA_ARGS(&w, &y, &x));
}

void rt_sum_pool_grad(Rt *rt, const RtConv *p, void *dx, const void *dy)
{
    RtCudaWindow w = rt_cuda_window(p, true);

    rt_cuda_launch(rt, "rt_cuda_sum_pool_grad", blocks_of(w.x_count), BLOCK,
                   RT_CUDA_ARGS(&w, &dx, &dy));
}
