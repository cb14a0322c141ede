// Gradients of attention: what each query needs, then dk and dv by tiles of keys, and dq by those
// of queries.
#include "runtime/cuda/cuda.h"

enum { BLOCK = 256, TENSOR_BLOCK = 128 };

// The same on tensor cores, for heads of so many tiles.
static void grad_tensor(Rt *rt, const RtAttention *p, int tiles, RtCudaGradOperands *x,
                        RtCudaQuery *of, const void *y, const void *max, const void *sum,
                        const float *bounds)
{
    static const char *const prepare[] = {"rt_cuda_attention_tensor_prepare_1",
                                          "rt_cuda_attention_tensor_prepare_2"};
    static const char *const keys[] = {"rt_cuda_attention_tensor_keys_1",
                                       "rt_cuda_attention_tensor_keys_2"};
    static const char *const queries[] = {"rt_cuda_attention_tensor_queries_1",
                                          "rt_cuda_attention_tensor_queries_2"};
    RtCudaAttention by_keys = rt_cuda_attention_plan(p, p->t, 1);
    RtCudaAttention by_queries = rt_cuda_attention_plan(p, p->s, 1);
    int64_t batches = rt_product(p->batch, p->n_batch);
    RtCudaGrid of_keys = {batches * by_keys.tiles * tiles, 1, 1};  // dk and dv apart for wide heads
    RtCudaGrid of_queries = {batches * by_queries.groups * by_queries.tiles, 1, 1};

    rt_cuda_launch_typed(rt, prepare[tiles - 1], p->type, of_queries, TENSOR_BLOCK,
                         RT_CUDA_ARGS(&by_queries, &of, &y, &x->dy, &max, &sum, &bounds));
    for (int again = 0; again <= p->causal; again++)
        rt_cuda_launch_typed(rt, keys[tiles - 1], p->type, of_keys, TENSOR_BLOCK,
                             RT_CUDA_ARGS(&by_keys, x, &(bool){again}));
    rt_cuda_launch_typed(rt, queries[tiles - 1], p->type, of_queries, TENSOR_BLOCK,
                         RT_CUDA_ARGS(&by_queries, x));
}

void rt_attention_grad(Rt *rt, const RtAttention *p, void *dq, void *dk, void *dv, const void *q,
                       const void *k, const void *v, const void *bias, const void *seed,
                       const void *step, const void *micro, const void *y, const void *max,
                       const void *sum, const void *dy)
{
    int64_t batches = rt_product(p->batch, p->n_batch), most = rt_most(p->e, p->f);
    RtCudaAttention keys = rt_cuda_attention_plan(p, p->t, most);
    RtCudaAttention queries = rt_cuda_attention_plan(p, p->s, p->e), sums = queries;
    int64_t heads = batches * queries.groups;
    RtCudaQuery *of = (RtCudaQuery *)(void *)rt->workspace;
    float *bounds = rt_cuda_outside_most(rt, p, (float *)(of + heads * p->s), q, k, bias);
    RtCudaGradOperands x = {dq, dk, dv, q, k, v, bias, seed, step, micro, dy, of};
    RtType type = rt_cuda_attention_type(p);

    if (rt_cuda_on_tensor_cores(p)) {
        grad_tensor(rt, p, rt_cuda_column_tiles(most), &x, of, y, max, sum, bounds);
        return;
    }
    sums.tiles = heads * p->s;
    rt_cuda_launch_typed(rt, "rt_cuda_attention_prepare", type,
                         (RtCudaGrid){rt_ceil_div(sums.tiles, BLOCK), 1, 1}, BLOCK,
                         RT_CUDA_ARGS(&sums, &of, &y, &dy, &max, &sum, &bounds));
    rt_cuda_launch_typed(rt,
                         rt_cuda_column_tiles(most) == 1 ? "rt_cuda_attention_keys_1"
                                                         : "rt_cuda_attention_keys_2",
                         type, (RtCudaGrid){batches * keys.tiles * keys.columns, 1, 1}, BLOCK,
                         RT_CUDA_ARGS(&keys, &x));
    if (p->causal) {
        keys.columns = 1;
        rt_cuda_launch_typed(rt, "rt_cuda_attention_keys_all", type,
                             (RtCudaGrid){batches * keys.tiles, 1, 1}, BLOCK,
                             RT_CUDA_ARGS(&keys, &x));
    }
    rt_cuda_launch_typed(rt,
                         rt_cuda_column_tiles(p->e) == 1 ? "rt_cuda_attention_queries_1"
                                                         : "rt_cuda_attention_queries_2",
                         type, (RtCudaGrid){heads * queries.tiles * queries.columns, 1, 1}, BLOCK,
                         RT_CUDA_ARGS(&queries, &x));
}
