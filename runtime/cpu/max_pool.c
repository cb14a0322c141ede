// Max pooling; padding counts as -inf, NaN as the largest.
#include "runtime/cpu/pool.h"

static void step(const RtPoolWindow *p, float *dx, const float *x, float *y)
{
    (void)dx;
    for (int64_t c = 0; c < p->lanes; c++)
        y[c] = -INFINITY;
    RT_EACH_TAP(p, at, {
        for (int64_t c = 0; c < p->lanes; c++)
            y[c] = rt_maxf(x[at + c], y[c]);
    })
}

void rt_max_pool(Rt *rt, const RtConv *p, void *y, const void *x)
{
    rt_pool_each(rt, p, step, NULL, x, y);
}
