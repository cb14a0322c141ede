// Sums, maxima and minima: which kernel, and how many chunks.
//
// Results whose elements are contiguous have a block each, or a warp if they are short. Else
// neighbouring results are computed by neighbouring threads. The choice depends on the shape alone.
#include <stdlib.h>

#include "runtime/cuda/cuda.h"
#include "runtime/rt_element.h"

enum { BLOCK = 256, SHORT = 1024 };  // threads; elements of a result that a warp adds alone

static RtCudaReduce make_plan(const RtReduce *p)
{
    RtCudaReduce q = {.op = p->op, .results = 1, .length = 1, .chunks = 1};

    for (int i = p->rank - 1; i >= 0; i--) {
        if (p->reduced[i]) {
            rt_cuda_dims_add(&q.reduced, p->dim[i], p->stride[i], 0);
            q.length *= p->dim[i];
        } else {
            rt_cuda_dims_add(&q.kept, p->dim[i], p->stride[i], q.results);
            q.results *= p->dim[i];
        }
    }
    rt_cuda_dims_sort_x(&q.kept);
    rt_cuda_dims_sort_x(&q.reduced);
    return q;
}

// Are neighbouring results closer in x than neighbouring elements of a result?
static bool has_columns(const RtCudaReduce *q)
{
    if (q->length <= 32)
        return true;
    if (q->kept.n == 0)
        return false;
    return llabs(q->kept.x[q->kept.n - 1]) < llabs(q->reduced.x[q->reduced.n - 1]);
}

void rt_reduce(Rt *rt, const RtReduce *p, void *y, const void *x)
{
    RtCudaReduce q = make_plan(p);
    RtType t = p->type == RT_BOOL ? RT_U8 : p->type == RT_U64 ? RT_I64 : p->type;
    void *partial = rt->workspace;
    void **args = RT_CUDA_ARGS(&q, &y, &partial, &x);

    if (q.results == 0)
        return;
    if (q.length == 0) {
        rt_fill(rt, rt_is_half(t) && q.op == RT_SUM ? RT_F32 : t, y, q.results,
                rt_identity(t, q.op));
        return;
    }
    if (has_columns(&q)) {
        q.chunks = rt_cuda_reduce_chunks(rt_ceil_div(q.results, 32), q.length, 128);
        rt_cuda_launch_typed(rt, "rt_cuda_reduce_column", t,
                             (RtCudaGrid){rt_ceil_div(q.results, 32) * q.chunks, 1, 1}, BLOCK,
                             args);
    } else if (q.length <= SHORT) {
        rt_cuda_launch_typed(rt, "rt_cuda_reduce_short", t,
                             (RtCudaGrid){rt_ceil_div(q.results, BLOCK / 32), 1, 1}, BLOCK,
                             RT_CUDA_ARGS(&q, &y, &x));
    } else {
        q.chunks = rt_cuda_reduce_chunks(q.results, q.length, 2048);
        rt_cuda_launch_typed(rt, "rt_cuda_reduce_row", t, (RtCudaGrid){q.results * q.chunks, 1, 1},
                             BLOCK, args);
    }
    if (q.chunks > 1)
        rt_cuda_launch_typed(rt, "rt_cuda_reduce_join", t,
                             (RtCudaGrid){rt_ceil_div(q.results, BLOCK), 1, 1}, BLOCK,
                             RT_CUDA_ARGS(&q, &y, &partial));
}
