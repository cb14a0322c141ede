// Shard: each rank takes its shard of a tensor that all ranks have.
#include "runtime/exchange/exchange.h"

void rt_message_shard(Rt *rt, const RtExchange *p, void *y, const void *x)
{
    RtGroup all = rt_exchange_group(rt, p);
    RtMessages m = {.p = p,
                    .n = all.n,
                    .me = all.me,
                    .x = (char *)x,
                    .y = y,
                    .shard = rt_ceil_div(p->whole, all.n)};
    RtBox from, to;

    rt_scatter_boxes(&m, all.me, &from, &to);
    rt_box_copy(rt, &to, &from);
}
