// Strided copies, fills and padding: which kernel, and units of how many bytes.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/cuda/cuda.h"
#include "runtime/rt_element.h"

enum { BLOCK = 256, UNITS = 4, TILE = 32, MAX_BYTES = 16 };  // as in copy.cu

// Is every stride that counts, and the first dim that is contiguous, a multiple of `n` elements?
static bool fits(const RtCudaDims *d, int64_t n, bool has_x)
{
    int last = d->n - 1;

    if (last < 0 || d->y[last] != 1 || d->dim[last] % n || (has_x && d->x[last] != 1))
        return false;
    for (int i = 0; i < last; i++)
        if (d->y[i] % n || (has_x && d->x[i] % n))
            return false;
    return true;
}

// Replaces elements by units of as many bytes as strides, dims and addresses allow; returns these
// bytes. x may be NULL.
static int widen(RtCudaDims *d, int bytes, const void *y, const void *x)
{
    int unit = MAX_BYTES;

    while (unit > bytes &&
           (((uintptr_t)y | (uintptr_t)x) % (uintptr_t)unit || !fits(d, unit / bytes, x != NULL)))
        unit /= 2;
    int64_t n = unit / bytes;
    for (int i = 0; i < d->n; i++) {
        bool is_last = i == d->n - 1;
        d->dim[i] /= is_last ? n : 1;
        d->x[i] /= is_last ? 1 : n;
        d->y[i] /= is_last ? 1 : n;
    }
    return unit;
}

static RtCudaDims dims_of(const RtCopy *c)
{
    RtCudaDims d = {0};

    for (int i = 0; i < c->rank; i++)
        rt_cuda_dims_add(&d, c->dim[i], c->x_stride[i], c->y_stride[i]);
    rt_cuda_dims_sort_y(&d);
    return d;
}

static RtCudaGrid blocks_of(int64_t count)
{
    return (RtCudaGrid){rt_ceil_div(count, (int64_t)BLOCK * UNITS), 1, 1};
}

// Takes the dim along which x is contiguous as rows and y's as columns, if they differ and are long
// enough to fill tiles.
static bool make_transpose(const RtCudaDims *d, RtCudaTranspose *t)
{
    int last = d->n - 1, row = -1;

    for (int i = 0; i < last; i++)
        if (d->x[i] == 1)
            row = i;
    if (row < 0 || d->y[last] != 1 || d->dim[row] < 8 || d->dim[last] < 8)
        return false;
    *t = (RtCudaTranspose){
        .rows = d->dim[row], .columns = d->dim[last], .x_column = d->x[last], .y_row = d->y[row]};
    for (int i = 0; i < last; i++)
        if (i != row)
            rt_cuda_dims_add(&t->outer, d->dim[i], d->x[i], d->y[i]);
    t->down = rt_ceil_div(t->rows, TILE);
    t->across = rt_ceil_div(t->columns, TILE);
    return true;
}

void rt_copy(Rt *rt, const RtCopy *c, void *y, const void *x)
{
    RtCudaCopy p = {.dims = dims_of(c)};
    RtCudaTranspose t;
    char name[32];

    if (rt_product(c->dim, c->rank) == 0)
        return;
    if (make_transpose(&p.dims, &t)) {
        int64_t blocks = rt_product(t.outer.dim, t.outer.n) * t.down * t.across;
        snprintf(name, sizeof name, "rt_cuda_transpose_%d", c->bytes);
        rt_cuda_launch(rt, name, (RtCudaGrid){blocks, 1, 1}, BLOCK, RT_CUDA_ARGS(&t, &y, &x));
        return;
    }
    snprintf(name, sizeof name, "rt_cuda_copy_%d", widen(&p.dims, c->bytes, y, x));
    p.count = rt_product(p.dims.dim, p.dims.n);
    rt_cuda_launch(rt, name, blocks_of(p.count), BLOCK, RT_CUDA_ARGS(&p, &y, &x));
}

void rt_cuda_put(Rt *rt, const RtCopy *c, void *y, RtCudaPattern value)
{
    RtCudaCopy p = {.dims = dims_of(c)};
    char name[32];

    if (rt_product(c->dim, c->rank) == 0)
        return;
    snprintf(name, sizeof name, "rt_cuda_put_%d", widen(&p.dims, c->bytes, y, NULL));
    p.count = rt_product(p.dims.dim, p.dims.n);
    rt_cuda_launch(rt, name, blocks_of(p.count), BLOCK, RT_CUDA_ARGS(&p, &y, &value));
}

RtCudaPattern rt_cuda_pattern(RtType t, double value)
{
    RtCudaPattern p;
    uint64_t x = rt_element_bits(t, value);
    int bytes = rt_type_bytes(t);

    for (int i = 0; i < MAX_BYTES; i += bytes)
        memcpy((char *)&p + i, &x, (size_t)bytes);
    return p;
}

void rt_fill(Rt *rt, RtType t, void *y, int64_t count, double value)
{
    RtCopy c = {.bytes = rt_type_bytes(t), .rank = 1, .dim = {count}, .y_stride = {1}};

    rt_cuda_put(rt, &c, y, rt_cuda_pattern(t, value));
}

void rt_pad(Rt *rt, const RtPad *p, const RtShard *shard, void *x)
{
    RtType t = p->type == RT_U64 ? RT_I64 : p->type;
    int bytes = rt_type_bytes(t);
    RtCopy c = {.bytes = bytes, .rank = p->rank};

    for (int i = 0; i < p->rank; i++) {
        c.dim[i] = p->size[i];
        c.y_stride[i] = p->stride[i];
    }
    c.dim[p->dim] -= shard->extent;
    rt_cuda_put(rt, &c, (char *)x + shard->extent * p->stride[p->dim] * bytes,
                rt_cuda_pattern(t == RT_BOOL ? RT_U8 : t, rt_identity(p->type, p->op)));
}
