// Attention: a block for 64 queries of a head, and up to 128 columns of its result; on tensor
// cores, for 64 or 128 queries, and all columns.
#include <math.h>

#include "runtime/cuda/cuda.h"

enum { BLOCK = 256, TENSOR_BLOCK = 128 };

RtCudaAttention rt_cuda_attention_plan(const RtAttention *p, int64_t rows, int64_t columns)
{
    int64_t tiles = rt_cuda_column_tiles(columns);

    return (RtCudaAttention){.p = *p,
                             .groups = rt_product(p->group, p->n_group),
                             .tiles = rt_ceil_div(rows, RT_CUDA_EDGE),
                             .columns = rt_most(1, rt_ceil_div(columns, tiles * RT_CUDA_EDGE)),
                             .least = (uint32_t)ceil((double)p->rate * 0x1p24),
                             .factor = 1 / (1 - p->rate)};
}

float *rt_cuda_outside_most(Rt *rt, const RtAttention *p, float *scratch, const void *q,
                            const void *k, const void *bias)
{
    RtCudaAttention a = rt_cuda_attention_plan(p, 1, 1);
    bool adds_bias = p->has_bias && !p->bool_bias && p->order == RT_LIMITS_FIRST;

    if (!p->causal || !(p->outside_added || adds_bias))
        return NULL;
    rt_cuda_launch_typed(rt, "rt_cuda_attention_bounds", rt_cuda_attention_type(p),
                         (RtCudaGrid){rt_product(p->batch, p->n_batch) * a.groups, 1, 1}, BLOCK,
                         RT_CUDA_ARGS(&a, &scratch, &q, &k, &bias));
    return scratch;
}

// Launches a kernel for heads of one or two tiles, for all rows of all heads, `edge` rows a block.
static void launch_tensor(Rt *rt, const RtAttention *p, const char *const kernel[2], int64_t edge,
                          RtCudaAttention *a, void **args)
{
    int64_t heads = rt_product(p->batch, p->n_batch) * a->groups;

    a->tiles = rt_ceil_div(p->s, edge);
    rt_cuda_launch_typed(rt, kernel[rt_cuda_column_tiles(rt_most(p->e, p->f)) - 1], p->type,
                         (RtCudaGrid){heads * a->tiles, 1, 1}, TENSOR_BLOCK, args);
}

static void attend_tensor(Rt *rt, const RtAttention *p, RtCudaAttentionOperands *x)
{
    static const char *const plain[] = {"rt_cuda_attention_tensor_plain_1",
                                        "rt_cuda_attention_tensor_plain_2"};
    static const char *const any[] = {"rt_cuda_attention_tensor_1", "rt_cuda_attention_tensor_2"};
    RtCudaAttention a = rt_cuda_attention_plan(p, p->s, p->f);
    float *most = NULL;
    bool again = false;
    void **args = RT_CUDA_ARGS(&a, x, &most, &again);

    if (p->has_bias || p->drops)
        launch_tensor(rt, p, any, RT_CUDA_EDGE, &a, args);
    else
        launch_tensor(rt, p, plain, 2 * RT_CUDA_EDGE / rt_cuda_column_tiles(rt_most(p->e, p->f)),
                      &a, args);
    if (!p->causal)
        return;
    most = rt_cuda_outside_most(rt, p, (float *)(void *)rt->workspace, x->q, x->k, x->bias);
    again = true;
    launch_tensor(rt, p, any, RT_CUDA_EDGE, &a, args);
}

void rt_attention(Rt *rt, const RtAttention *p, void *y, void *max, void *sum, const void *q,
                  const void *k, const void *v, const void *bias, const void *seed,
                  const void *step, const void *micro)
{
    RtCudaAttention a = rt_cuda_attention_plan(p, p->s, p->f);
    int64_t heads = rt_product(p->batch, p->n_batch) * a.groups;
    RtCudaAttentionOperands x = {y, max, sum, q, k, v, bias, seed, step, micro};
    RtType type = rt_cuda_attention_type(p);

    if (rt_cuda_on_tensor_cores(p)) {
        attend_tensor(rt, p, &x);
        return;
    }
    rt_cuda_launch_typed(
        rt, rt_cuda_column_tiles(p->f) == 1 ? "rt_cuda_attention_1" : "rt_cuda_attention_2", type,
        (RtCudaGrid){heads * a.tiles * a.columns, 1, 1}, BLOCK, RT_CUDA_ARGS(&a, &x));
    if (!p->causal)
        return;
    float *most = rt_cuda_outside_most(rt, p, (float *)(void *)rt->workspace, q, k, bias);
    a.columns = 1;
    rt_cuda_launch_typed(rt, "rt_cuda_attention_all", type, (RtCudaGrid){heads * a.tiles, 1, 1},
                         BLOCK, RT_CUDA_ARGS(&a, &x, &most));
}
