// Calls a pooling kernel's step for all positions of y.
#include "runtime/cpu/pool.h"

static void each_window(const RtPool *q, RtPoolWindow *window, RtStep *step, float *dx,
                        const float *x, float *y)
{
    for (int64_t i = 0; i < q->y_dim[0]; i++) {
        window->taps[0] = rt_taps(q, 0, i);
        for (int64_t j = 0; j < q->y_dim[1]; j++) {
            window->taps[1] = rt_taps(q, 1, j);
            for (int64_t k = 0; k < q->y_dim[2]; k++) {
                window->taps[2] = rt_taps(q, 2, k);
                step(window, dx, x, y + i * q->y_step[0] + j * q->y_step[1] + k * q->y_step[2]);
            }
        }
    }
}

void rt_pool_each(Rt *rt, const RtConv *p, RtStep *step, float *dx, const float *x, float *y)
{
    RtPool q = rt_pool(p);
    int64_t work = p->n * p->c * rt_product(q.y_dim, 3) * rt_product(q.size, 3);

#pragma omp parallel for num_threads(rt_team(rt, work)) schedule(static)
    for (int64_t b = 0; b < p->n * q.blocks; b++) {
        int64_t sample = b / q.blocks, channel = b % q.blocks * q.lanes;
        int64_t at_x = sample * q.x_sample + channel * q.x_channel;
        RtPoolWindow window = {.pool = &q, .lanes = rt_least(q.lanes, p->c - channel)};

        each_window(&q, &window, step, dx ? dx + at_x : NULL, x ? x + at_x : NULL,
                    y + sample * q.y_sample + channel * q.y_channel);
    }
}

void rt_pool_zero(Rt *rt, const RtConv *p, float *dx)
{
    rt_fill(rt, RT_F32, dx, p->n * p->c * rt_product(p->x_dim, p->window.n), 0);
}
