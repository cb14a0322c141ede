// Matrix products of batches: y[batch, m, n] = Σ_k a[batch, m, k] · b[batch, k, n], by cuBLASLt or
// by our own kernel.
#include "runtime/cuda/cuda.h"

enum { BLOCK = 256 };  // as in product.cuh

typedef struct Dot {
    RtDot p;
    bool is_transposed;
    RtMatmul *matmul;  // NULL: our own kernel computes it
} Dot;

void rt_dot_init(Rt *rt, int kernel, const RtDot *p)
{
    Dot *d = rt_cuda_kernel_new(rt, kernel, sizeof *d);

    d->p = rt_dot_fold(p, &d->is_transposed);
    d->matmul = rt_cuda_matmul_new(rt, p);
}

void rt_cuda_product(Rt *rt, const RtDot *p, void *y, const void *a, const void *b)
{
    RtType result = rt_dot_result(p);
    RtCudaDot d = {.p = *p,
                   .batches = rt_product(p->batch, p->n_batch),
                   .tiles_m = rt_ceil_div(p->m, RT_CUDA_EDGE),
                   .tiles_n = rt_ceil_div(p->n, RT_CUDA_EDGE),
                   .is_f32 = result == RT_F32};
    int64_t tiles = d.batches * d.tiles_m * d.tiles_n, results = d.batches * p->m * p->n;
    void *partial = rt->workspace;

    if (results == 0)
        return;
    d.parts = rt_cuda_reduce_chunks(tiles, p->k, RT_CUDA_TERMS);
    rt_cuda_launch_typed(rt, "rt_cuda_dot", p->type, (RtCudaGrid){tiles * d.parts, 1, 1}, BLOCK,
                         RT_CUDA_ARGS(&d, &y, &partial, &a, &b));
    if (d.parts > 1)
        rt_cuda_launch_typed(rt, "rt_cuda_dot_join", result,
                             (RtCudaGrid){rt_ceil_div(results, BLOCK), 1, 1}, BLOCK,
                             RT_CUDA_ARGS(&d, &y, &partial));
}

void rt_dot(Rt *rt, int kernel, void *y, const void *left, const void *right)
{
    const Dot *d = rt->kernel[kernel];

    if (d->matmul && rt_cuda_matmul(rt, d->matmul, y, left, right))
        return;
    rt_cuda_product(rt, &d->p, y, d->is_transposed ? right : left, d->is_transposed ? left : right);
}
