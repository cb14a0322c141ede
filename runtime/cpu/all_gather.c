#include "runtime/cpu/exchange.h"

void rt_all_gather(Rt *rt, const RtExchange *p, void *y, const void *x)
{
    RtGroup all = rt_exchange_group(rt, p);
    int64_t piece = rt_ceil_div(p->whole, all.n);
    int64_t bytes = p->outer * piece * p->inner * rt_type_bytes(p->type);

    rt_exchange_begin(rt, p, RT_ALL_GATHER, bytes);
    rt_exchange(rt, &(RtMessages){.p = p,
                                  .n = all.n,
                                  .me = all.me,
                                  .x = (char *)x,
                                  .y = y,
                                  .piece = piece,
                                  .to_all = true,
                                  .most = bytes,
                                  .boxes = rt_gather_boxes});
}
