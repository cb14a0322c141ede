// Convolutions and their gradients: as products in tiles, or element by element for small groups.
#include "runtime/cuda/cuda.h"
#include "runtime/cuda/window.h"

enum { BLOCK = 256, SMALL = 8 };  // SMALL: channels of a group on each side that fill no tile

static void init(Rt *rt, int kernel, const RtConv *p)
{
    RtConv *k = rt_cuda_kernel_new(rt, kernel, sizeof *k);

    *k = *p;
    k->type = p->type == RT_NONE ? RT_F32 : p->type;
    k->result = p->result == RT_NONE ? k->type : p->result;
}

void rt_conv_init(Rt *rt, int kernel, const RtConv *p) { init(rt, kernel, p); }
void rt_conv_input_grad_init(Rt *rt, int kernel, const RtConv *p) { init(rt, kernel, p); }
void rt_conv_weight_grad_init(Rt *rt, int kernel, const RtConv *p) { init(rt, kernel, p); }

static int64_t pixels(const RtConv *p, const int64_t *dim)
{
    return p->n * rt_product(dim, p->window.n);
}

static RtCudaConv product(int64_t rows, int64_t columns, int64_t terms)
{
    return (RtCudaConv){.rows = rows,
                        .columns = columns,
                        .terms = terms,
                        .tiles_m = rt_ceil_div(rows, RT_CUDA_EDGE),
                        .tiles_n = rt_ceil_div(columns, RT_CUDA_EDGE),
                        .parts = 1};
}

static RtCudaGrid blocks_of(const RtCudaWindow *w, const RtCudaConv *c)
{
    return (RtCudaGrid){w->groups * c->parts * c->tiles_m * c->tiles_n, 1, 1};
}

static RtCudaGrid threads_of(int64_t count)
{
    return (RtCudaGrid){rt_ceil_div(count, BLOCK), 1, 1};
}

static bool is_small(const RtCudaWindow *w)
{
    return w->c / w->groups <= SMALL && w->o / w->groups <= SMALL;
}

void rt_conv(Rt *rt, int kernel, void *y, const void *x, const void *w)
{
    const RtConv *p = rt->kernel[kernel];
    RtCudaWindow v = rt_cuda_window(p, false);
    int64_t taps = rt_product(p->window.size, p->window.n);
    RtCudaConv c = product(pixels(p, p->y_dim), v.o / v.groups, v.c / v.groups * taps);

    if (is_small(&v))
        rt_cuda_launch_typed(rt, "rt_cuda_conv_small", p->type, threads_of(v.y_count), BLOCK,
                             RT_CUDA_ARGS(&v, &y, &x, &w));
    else
        rt_cuda_launch_typed(rt, "rt_cuda_conv", p->type, blocks_of(&v, &c), BLOCK,
                             RT_CUDA_ARGS(&v, &c, &y, &x, &w));
}

void rt_conv_input_grad(Rt *rt, int kernel, void *dx, const void *dy, const void *w)
{
    const RtConv *p = rt->kernel[kernel];
    RtCudaWindow v = rt_cuda_window(p, false);
    int64_t taps = rt_product(p->window.size, p->window.n);
    RtCudaConv c = product(pixels(p, p->x_dim), v.c / v.groups, v.o / v.groups * taps);

    if (is_small(&v))
        rt_cuda_launch_typed(rt, "rt_cuda_conv_input_grad_small", p->type, threads_of(v.x_count),
                             BLOCK, RT_CUDA_ARGS(&v, &dx, &dy, &w));
    else
        rt_cuda_launch_typed(rt, "rt_cuda_conv_input_grad", p->type, blocks_of(&v, &c), BLOCK,
                             RT_CUDA_ARGS(&v, &c, &dx, &dy, &w));
}

void rt_conv_weight_grad(Rt *rt, int kernel, void *dw, const void *x, const void *dy)
{
    const RtConv *p = rt->kernel[kernel];
    RtCudaWindow v = rt_cuda_window(p, false);
    int64_t taps = rt_product(p->window.size, p->window.n), terms = pixels(p, p->y_dim);
    int64_t elements = v.o * (v.c / v.groups) * taps;
    RtCudaConv c = product(v.o / v.groups, v.c / v.groups * taps, terms);

    if (is_small(&v)) {
        rt_cuda_launch_typed(rt, "rt_cuda_conv_weight_grad_small", p->type,
                             (RtCudaGrid){elements, 1, 1}, BLOCK,
                             RT_CUDA_ARGS(&v, &terms, &dw, &x, &dy));
        return;
    }
    c.parts = rt_cuda_conv_parts(p);
    v.is_f32 |= c.parts > 1;
    void *to = c.parts > 1 ? rt->workspace : dw;
    rt_cuda_launch_typed(rt, "rt_cuda_conv_weight_grad", p->type, blocks_of(&v, &c), BLOCK,
                         RT_CUDA_ARGS(&v, &c, &to, &x, &dy));
    if (c.parts > 1)
        rt_cuda_launch_typed(rt, "rt_cuda_conv_join", p->result, threads_of(elements), BLOCK,
                             RT_CUDA_ARGS(&c, &elements, &dw, &to));
}
