// The gradient of max pooling with respect to its input: the first of the largest elements under a
// window gets all of the result's gradient.
#include "runtime/cpu/pool.h"

static void step(const RtPoolWindow *p, float *dx, const float *x, float *dy)
{
    float best[RT_LANES];
    int64_t index[RT_LANES];

    for (int64_t c = 0; c < p->lanes; c++) {
        best[c] = -INFINITY;
        index[c] = -1;
    }
    RT_EACH_TAP(p, at, {
        for (int64_t c = 0; c < p->lanes; c++) {
            float v = x[at + c];
            bool is_better = (v > best[c]) | ((v != v) & (best[c] == best[c])) | (index[c] < 0);
            best[c] = is_better ? v : best[c];
            index[c] = is_better ? at + c : index[c];
        }
    })
    for (int64_t c = 0; c < p->lanes; c++)
        if (index[c] >= 0)
            dx[index[c]] += dy[c];
}

void rt_max_pool_grad(Rt *rt, const RtConv *p, void *dx, const void *x, const void *dy)
{
    rt_pool_zero(rt, p, dx);
    rt_pool_each(rt, p, step, dx, x, (void *)dy);
}
