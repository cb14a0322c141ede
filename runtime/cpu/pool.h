// How the pooling kernels see their tensors: three spatial dims and channels with strides, and the
// elements under the window at one place.
#ifndef SHARDCC_RT_CPU_POOL_H
#define SHARDCC_RT_CPU_POOL_H

#include "runtime/cpu/internal.h"

enum { RT_LANES = 64 };  // channels that are pooled side by side, where they are contiguous

typedef struct RtPool {
    int64_t x_dim[3], y_dim[3], size[3], stride[3], low[3], dilation[3];
    int64_t x_step[3], y_step[3];  // strides of the spatial dims
    int64_t x_sample, y_sample;    // … of the samples
    int64_t x_channel, y_channel;  // … of the channels
    int64_t lanes, blocks;         // channels side by side, and in how many blocks
} RtPool;

// Spatial dims that the model lacks come first and are 1.
static inline RtPool rt_pool(const RtConv *p)
{
    RtPool q;
    int64_t x = p->x_last ? p->c : 1, y = x;

    for (int i = 2, k = p->window.n - 1; i >= 0; i--, k--) {
        q.x_dim[i] = k < 0 ? 1 : p->x_dim[k];
        q.y_dim[i] = k < 0 ? 1 : p->y_dim[k];
        q.size[i] = k < 0 ? 1 : p->window.size[k];
        q.stride[i] = k < 0 ? 1 : p->window.stride[k];
        q.low[i] = k < 0 ? 0 : p->window.low[k];
        q.dilation[i] = k < 0 ? 1 : p->window.dilation[k];
        q.x_step[i] = x;
        q.y_step[i] = y;
        x *= q.x_dim[i];
        y *= q.y_dim[i];
    }
    q.x_channel = p->x_last ? 1 : x;
    q.y_channel = p->x_last ? 1 : y;
    q.x_sample = p->x_last ? x : x * p->c;
    q.y_sample = p->x_last ? y : y * p->c;
    q.lanes = p->x_last ? rt_least(RT_LANES, p->c) : 1;
    q.blocks = p->x_last ? rt_ceil_div(p->c, RT_LANES) : p->c;
    return q;
}

// The taps [first, last) of the window at y along dim i that fall inside x, and where tap 0 would
// be.
typedef struct RtTaps {
    int64_t first, last, start;
} RtTaps;

static inline RtTaps rt_taps(const RtPool *q, int i, int64_t y)
{
    int64_t start = y * q->stride[i] - q->low[i], d = q->dilation[i];
    RtTaps t = {start < 0 ? rt_ceil_div(-start, d) : 0, q->size[i], start};

    if (start + (q->size[i] - 1) * d >= q->x_dim[i])
        t.last = start >= q->x_dim[i] ? 0 : rt_ceil_div(q->x_dim[i] - start, d);
    return t;
}

// What a kernel does with one place of y: `x` and `y` point to the block's first channel in the
// sample, `taps` are the window's, `lanes` the channels.
typedef struct RtPlace {
    const RtPool *pool;
    RtTaps taps[3];
    int64_t lanes;
} RtPlace;

// Runs `body` for every element under the window, `at` being its offset in x.
#define RT_EACH_TAP(place, at, body)                                                               \
    for (int64_t rt_i = (place)->taps[0].first; rt_i < (place)->taps[0].last; rt_i++)              \
        for (int64_t rt_j = (place)->taps[1].first; rt_j < (place)->taps[1].last; rt_j++)          \
            for (int64_t rt_k = (place)->taps[2].first; rt_k < (place)->taps[2].last; rt_k++) {    \
                int64_t at =                                                                       \
                    rt_tap(place, 0, rt_i) + rt_tap(place, 1, rt_j) + rt_tap(place, 2, rt_k);      \
                body                                                                               \
            }

static inline int64_t rt_tap(const RtPlace *p, int i, int64_t tap)
{
    return (p->taps[i].start + tap * p->pool->dilation[i]) * p->pool->x_step[i];
}

// Calls `step` for every place of every block of channels: with the place, the first channel of x's
// sample, of the other tensor of x's shape (NULL if there is none), and y's element. A block
// belongs to one thread, which goes through it in order.
typedef void RtStep(const RtPlace *place, float *dx, const float *x, float *y);
void rt_pool_each(Rt *rt, const RtConv *p, RtStep *step, float *dx, const float *x, float *y);

// Zeros in a dense tensor of x's shape.
void rt_pool_zero(Rt *rt, const RtConv *p, float *dx);

#endif
