// All-gather: concatenates the shards of all ranks along an axis.
#include "runtime/exchange/exchange.h"

// First exchanges between hosts; then the ranks of a host exchange what each of them received. So
// every byte crosses a link between hosts once.
void rt_message_all_gather(Rt *rt, const RtExchange *p, void *y, const void *x)
{
    RtGroup intra_host = rt_intra_host_group(rt, p), inter_host = rt_inter_host_group(rt, p);
    int64_t shard = rt_ceil_div(p->whole, intra_host.n * inter_host.n);
    RtMessages m = {.p = p,
                    .n = inter_host.n,
                    .me = inter_host.me,
                    .x = (char *)x,
                    .y = y,
                    .shard = shard,
                    .first = intra_host.me,
                    .step = intra_host.n,
                    .to_all = true,
                    .most = p->outer * shard * p->inner * rt_type_bytes(p->type),
                    .boxes = rt_gather_boxes};

    rt_exchange_begin(rt, p, RT_ALL_GATHER, m.most);
    if (inter_host.n > 1) {
        rt_exchange_by_message(rt, &inter_host, &m);
        m.x = NULL;
    }
    m.n = intra_host.n;
    m.me = intra_host.me;
    m.step = 1;
    for (int i = 0; i < inter_host.n; i++) {
        m.first = i * intra_host.n;
        rt_exchange_by_window(rt, &intra_host, &m);
    }
}
