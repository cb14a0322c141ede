// Sampling at the points of a grid, and its gradients.
#include "runtime/cuda/cuda.h"

// A thread samples CHANNELS channels, which share a point's taps. The gradient of x takes parts of
// planes until there are THREADS: each reads all points again.
enum { BLOCK = 256, CHANNELS = 8, THREADS = 1 << 16 };

static RtCudaGrid blocks_of(int64_t count) { return (RtCudaGrid){rt_ceil_div(count, BLOCK), 1, 1}; }

void rt_grid_sample(Rt *rt, const RtGrid *p, void *y, const void *x, const void *grid)
{
    int64_t channels = CHANNELS, count = p->n * rt_ceil_div(p->c, channels) * p->points;

    rt_cuda_launch_typed(rt, "rt_cuda_grid_sample", p->type, blocks_of(count), BLOCK,
                         RT_CUDA_ARGS((void *)p, &channels, &y, &x, &grid));
}

void rt_grid_sample_grid_grad(Rt *rt, const RtGrid *p, void *dgrid, const void *x, const void *grid,
                              const void *dy)
{
    rt_cuda_launch_typed(rt, "rt_cuda_grid_slopes", p->type, blocks_of(p->n * p->points), BLOCK,
                         RT_CUDA_ARGS((void *)p, &dgrid, &x, &grid, &dy));
}

void rt_grid_sample_input_grad(Rt *rt, const RtGrid *p, void *dx, const void *dy, const void *grid)
{
    int64_t planes = p->n * p->c, plane = 1;

    for (int d = 0; d < p->spatial; d++)
        plane *= p->dim[d];
    int64_t parts = planes ? rt_ceil_div(THREADS, planes) : 1;
    parts = parts < plane ? parts : plane;
    rt_cuda_launch_typed(rt, "rt_cuda_grid_scatter", p->type, blocks_of(planes * parts), BLOCK,
                         RT_CUDA_ARGS((void *)p, &parts, &dx, &dy, &grid));
}
