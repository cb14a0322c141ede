// The loops of the pooling kernels over all positions of y.
#ifndef SHARDCC_RT_CPU_POOL_H
#define SHARDCC_RT_CPU_POOL_H

#include "runtime/cpu/window.h"

// One position of y: the taps of its window inside x, and the number of channels (`lanes`) of the
// block.
typedef struct RtPoolWindow {
    const RtPool *pool;
    RtTaps taps[3];
    int64_t lanes;
} RtPoolWindow;

// Runs `body` for every element under the window, `at` being its offset in x.
#define RT_EACH_TAP(window, at, body)                                                              \
    for (int64_t rt_i = (window)->taps[0].first; rt_i < (window)->taps[0].last; rt_i++)            \
        for (int64_t rt_j = (window)->taps[1].first; rt_j < (window)->taps[1].last; rt_j++)        \
            for (int64_t rt_k = (window)->taps[2].first; rt_k < (window)->taps[2].last; rt_k++) {  \
                int64_t at =                                                                       \
                    rt_tap(window, 0, rt_i) + rt_tap(window, 1, rt_j) + rt_tap(window, 2, rt_k);   \
                body                                                                               \
            }

static inline int64_t rt_tap(const RtPoolWindow *p, int i, int64_t tap)
{
    return (p->taps[i].start + tap * p->pool->dilation[i]) * p->pool->x_step[i];
}

// Calls `step` for every position of every block of channels. `x` and `dx` point to the block's
// first channel of the sample (either may be NULL), `y` to the element of y. One thread handles a
// block, in order.
typedef void RtStep(const RtPoolWindow *window, float *dx, const float *x, float *y);
void rt_pool_each(Rt *rt, const RtConv *p, RtStep *step, float *dx, const float *x, float *y);

// Fills a dense tensor of x's shape with zeros.
void rt_pool_zero(Rt *rt, const RtConv *p, float *dx);

#endif
