// The gradient of sum pooling with respect to its input: each element of the result's gradient is
// added to all elements under its window.
#include "runtime/cpu/pool.h"

static void step(const RtPoolWindow *p, float *dx, const float *x, float *dy)
{
    (void)x;
    RT_EACH_TAP(p, at, {
        for (int64_t c = 0; c < p->lanes; c++)
            dx[at + c] += dy[c];
    })
}

void rt_sum_pool_grad(Rt *rt, const RtConv *p, void *dx, const void *dy)
{
    rt_pool_zero(rt, p, dx);
    rt_pool_each(rt, p, step, dx, NULL, (void *)dy);
}
