#include "runtime/cpu/exchange.h"

// Between hosts first; then those of a host hand on to each other what each of them has got. So
// every byte crosses once.
void rt_all_gather(Rt *rt, const RtExchange *p, void *y, const void *x)
{
    RtGroup near = rt_near_group(rt, p), far = rt_far_group(rt, p);
    int64_t piece = rt_ceil_div(p->whole, near.n * far.n);
    RtMessages m = {.p = p,
                    .n = far.n,
                    .me = far.me,
                    .x = (char *)x,
                    .y = y,
                    .piece = piece,
                    .first = near.me,
                    .step = near.n,
                    .to_all = true,
                    .most = p->outer * piece * p->inner * rt_type_bytes(p->type),
                    .boxes = rt_gather_boxes};

    rt_exchange_begin(rt, p, RT_ALL_GATHER, m.most);
    if (far.n > 1) {
        rt_exchange_far(rt, &far, &m);
        m.x = NULL;
    }
    m.n = near.n;
    m.me = near.me;
    m.step = 1;
    for (int i = 0; i < far.n; i++) {
        m.first = i * near.n;
        rt_exchange_near(rt, &near, &m);
    }
}
