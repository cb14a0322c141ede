// Sum pooling; padding counts as 0.
#include "runtime/cpu/pool.h"

static void step(const RtPoolWindow *p, float *dx, const float *x, float *y)
{
    float s[RT_LANES] = {0};

    (void)dx;
    RT_EACH_TAP(p, at, {
        for (int64_t c = 0; c < p->lanes; c++)
            s[c] += x[at + c];
    })
    for (int64_t c = 0; c < p->lanes; c++)
        y[c] = s[c];
}

void rt_sum_pool(Rt *rt, const RtConv *p, void *y, const void *x)
{
    rt_pool_each(rt, p, step, NULL, x, y);
}
