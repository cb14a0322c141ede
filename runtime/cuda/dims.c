// Dims of strided operands: sorted and merged, so that kernels have few of them.
#include <stdlib.h>

#include "runtime/cuda/cuda.h"

void rt_cuda_dims_add(RtCudaDims *d, int64_t dim, int64_t x, int64_t y)
{
    if (dim == 1)
        return;
    d->dim[d->n] = dim;
    d->x[d->n] = x;
    d->y[d->n++] = y;
}

static void exchange(RtCudaDims *d, int i, int j)
{
    RtCudaDims old = *d;

    d->dim[i] = old.dim[j];
    d->x[i] = old.x[j];
    d->y[i] = old.y[j];
    d->dim[j] = old.dim[i];
    d->x[j] = old.x[i];
    d->y[j] = old.y[i];
}

static void merge(RtCudaDims *d)
{
    RtCudaDims m = {0};

    for (int i = 0; i < d->n; i++) {
        int k = m.n - 1;
        if (m.n && m.x[k] == d->dim[i] * d->x[i] && m.y[k] == d->dim[i] * d->y[i]) {
            m.dim[k] *= d->dim[i];
            m.x[k] = d->x[i];
            m.y[k] = d->y[i];
        } else {
            rt_cuda_dims_add(&m, d->dim[i], d->x[i], d->y[i]);
        }
    }
    *d = m;
}

static void sort(RtCudaDims *d, const int64_t *stride)
{
    for (int i = 1; i < d->n; i++)
        for (int j = i; j > 0 && llabs(stride[j]) > llabs(stride[j - 1]); j--)
            exchange(d, j, j - 1);
    merge(d);
}

void rt_cuda_dims_sort_y(RtCudaDims *d) { sort(d, d->y); }
void rt_cuda_dims_sort_x(RtCudaDims *d) { sort(d, d->x); }
