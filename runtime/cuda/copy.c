// Strided copies and fills: which kernel, and units of how many bytes.
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/cuda/cuda.h"
#include "runtime/rt_math.h"

enum { BLOCK = 256, UNITS = 4, TILE = 32, MOST_BYTES = 16 };  // as in copy.cu

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
    int unit = MOST_BYTES;

    while (unit > bytes &&
           (((uintptr_t)y | (uintptr_t)x) % (uintptr_t)unit || !fits(d, unit / bytes, x != NULL)))
        unit /= 2;
    int64_t n = unit / bytes;
    for (int i = 0; i < d->n && n > 1; i++) {
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

// The nearest f16, ties to even.
static uint16_t half_of(float x)
{
    uint32_t u = rt_bits(x), sign = u >> 16 & 0x8000, a = u & 0x7fffffff;

    if (x != x)
        return 0x7e00;
    if (rt_absf(x) >= 65520)
        return (uint16_t)(sign | 0x7c00);
    if (rt_absf(x) < 0x1p-14f)
        return (uint16_t)(sign | (uint32_t)rintf(rt_absf(x) * 0x1p24f));
    return (uint16_t)(sign | (a + 0xfff + (a >> 13 & 1) - (112u << 23)) >> 13);
}

// The nearest bf16, ties to even.
static uint16_t bfloat_of(float x)
{
    uint32_t u = rt_bits(x);

    return (uint16_t)(x != x ? 0x7fc0 : (u + 0x7fff + (u >> 16 & 1)) >> 16);
}

static uint64_t element(RtType t, double value)
{
    switch (t) {
    case RT_F64:
        return rt_bits_double(value);
    case RT_F32:
        return rt_bits((float)value);
    case RT_F16:
        return half_of((float)value);
    case RT_BF16:
        return bfloat_of((float)value);
    case RT_BOOL:
        return value != 0;
    case RT_U64:
        return rt_to_u64(value);
    default:
        return (uint64_t)rt_to_int(value, INT64_MIN, INT64_MAX);
    }
}

RtCudaPattern rt_cuda_pattern(RtType t, double value)
{
    RtCudaPattern p;
    uint64_t x = element(t, value);
    int bytes = rt_type_bytes(t);

    for (int i = 0; i < MOST_BYTES; i += bytes)
        memcpy((char *)&p + i, &x, (size_t)bytes);
    return p;
}

double rt_cuda_identity(RtType t, RtReduceOp op)
{
    bool is_float = t == RT_F32 || t == RT_F64 || t == RT_F16 || t == RT_BF16;
    bool is_unsigned = t == RT_BOOL || t == RT_U8 || t == RT_U16 || t == RT_U32;
    int bits = 8 * rt_type_bytes(t) - !is_unsigned;  // u64 is ordered as i64

    if (op == RT_SUM)
        return 0;
    if (is_float)
        return op == RT_MAX ? -INFINITY : INFINITY;
    if (op == RT_MAX)
        return is_unsigned ? 0 : -ldexp(1, bits);
    return t == RT_BOOL ? 1 : ldexp(1, bits) - 1;
}

void rt_fill(Rt *rt, RtType t, void *y, int64_t count, double value)
{
    RtCopy c = {.bytes = rt_type_bytes(t), .rank = 1, .dim = {count}, .y_stride = {1}};

    rt_cuda_put(rt, &c, y, rt_cuda_pattern(t, value));
}
