// All-to-all: splits one dim over the ranks and joins another.
#include "runtime/exchange/exchange.h"

// x has the whole of `whole` and a shard of `joined`; y has a shard of `whole` and the whole of
// `joined`. The rows of a box run along outer, one of the two dims, and middle; the other dim is
// within a row.
static void boxes(const RtMessages *m, int peer, RtBox *send, RtBox *receive)
{
    const RtExchange *p = m->p;
    int64_t inner = p->inner * rt_type_bytes(p->type), joined = rt_ceil_div(p->joined, m->n);
    int64_t sent = rt_shard_elements(p->whole, m->shard, peer);
    int64_t own = rt_shard_elements(p->whole, m->shard, m->me);
    int64_t mine = rt_shard_elements(p->joined, joined, m->me);
    int64_t theirs = rt_shard_elements(p->joined, joined, peer);

    if (p->joins_first) {
        int64_t x_row = p->whole * inner, y_row = m->shard * inner;
        *send = (RtBox){m->x + peer * m->shard * inner,
                        {p->outer, mine, p->middle},
                        {joined * p->middle * x_row, p->middle * x_row, x_row},
                        sent * inner};
        *receive = (RtBox){m->y + peer * joined * p->middle * y_row,
                           {p->outer, theirs, p->middle},
                           {p->joined * p->middle * y_row, p->middle * y_row, y_row},
                           own * inner};
    } else {
        int64_t x_row = joined * inner, y_row = p->joined * inner;
        *send = (RtBox){m->x + peer * m->shard * p->middle * x_row,
                        {p->outer, sent, p->middle},
                        {p->whole * p->middle * x_row, p->middle * x_row, x_row},
                        mine * inner};
        *receive = (RtBox){m->y + peer * joined * inner,
                           {p->outer, own, p->middle},
                           {m->shard * p->middle * y_row, p->middle * y_row, y_row},
                           theirs * inner};
    }
}

void rt_message_all_to_all(Rt *rt, const RtExchange *p, void *y, const void *x)
{
    RtGroup all = rt_exchange_group(rt, p);
    int64_t shard = rt_ceil_div(p->whole, all.n);
    int64_t bytes = p->outer * shard * p->middle * rt_ceil_div(p->joined, all.n) * p->inner *
                    rt_type_bytes(p->type);

    rt_exchange_begin(rt, p, RT_ALL_TO_ALL, all.n * bytes);
    rt_exchange(rt, &(RtMessages){.p = p,
                                  .n = all.n,
                                  .me = all.me,
                                  .x = (char *)x,
                                  .y = y,
                                  .shard = shard,
                                  .most = bytes,
                                  .boxes = boxes});
}
