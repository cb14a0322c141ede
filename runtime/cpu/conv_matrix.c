// One product for all places, in slabs of places.
#include "runtime/cpu/conv_matrix.h"

#include "runtime/cpu/gemm.h"

typedef struct Matrix {
    RtKernel base;
    RtGemm g;
} Matrix;

// Slabs of x that a second-level cache holds: each thread reads all of one.
static RtGemm gemm_of(const RtConv *p)
{
    return (RtGemm){.m = p->o,
                    .n = p->c,
                    .k = p->n * rt_product(p->y_dim, p->window.n),
                    .a_m = 1,
                    .a_k = p->o,
                    .b_k = p->c,
                    .b_n = 1,
                    .y_m = p->c,
                    .y_n = 1,
                    .slab_k = RT_BLOCK_K,
                    .slab_n = RT_SLAB_N};
}

static bool is_matrix(const RtConv *p)
{
    for (int i = 0; i < p->window.n; i++)
        if (p->window.size[i] != 1 || p->window.low[i] || p->x_dim[i] != p->y_dim[i])
            return false;
    return p->groups == 1 && p->x_last && p->y_last;
}

bool rt_conv_matrix_fits(const RtConv *p)
{
    RtGemm g = gemm_of(p);

    return is_matrix(p) && g.k > 0 && g.m > 1 && g.n > g.m &&
           2 * rt_gemm_slab(&g) <= rt_conv_workspace(p);
}

void rt_conv_matrix_prepare(Rt *rt, int kernel, const RtConv *p)
{
    Matrix *d = rt_kernel_new(rt, kernel, sizeof *d);

    d->base.weight_grad = rt_conv_matrix_run;
    d->g = gemm_of(p);
}

void rt_conv_matrix_run(Rt *rt, int kernel, float *dw, const float *x, const float *dy)
{
    const Matrix *d = rt->kernel[kernel];

#pragma omp parallel num_threads(rt_team(rt, d->g.m * d->g.n * d->g.k / 16))
    rt_gemm(&d->g, dw, dy, x, rt->workspace, omp_get_num_threads(), omp_get_thread_num());
}
