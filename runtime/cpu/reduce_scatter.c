#include "runtime/cpu/exchange.h"

void rt_reduce_scatter(Rt *rt, const RtExchange *p, void *y, const void *x)
{
    RtGroup all = rt_exchange_group(rt, p);
    int64_t piece = rt_ceil_div(p->whole, all.n);
    int64_t bytes = p->outer * piece * p->inner * rt_type_bytes(p->type);

    rt_exchange_begin(rt, p, RT_REDUCE_SCATTER, all.n * bytes);
    rt_exchange(rt, &(RtMessages){.p = p,
                                  .n = all.n,
                                  .me = all.me,
                                  .x = (char *)x,
                                  .y = y,
                                  .piece = piece,
                                  .reduces = true,
                                  .most = bytes,
                                  .boxes = rt_scatter_boxes});
}
