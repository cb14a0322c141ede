// The tensors of kernels with windows: three spatial dims and channels with strides, and the
// elements of x under the window at one position of y.
#ifndef SHARDCC_RT_CPU_WINDOW_H
#define SHARDCC_RT_CPU_WINDOW_H

#include "runtime/cpu/internal.h"

enum { RT_LANES = 64 };  // channels that are pooled side by side, if they are contiguous

typedef struct RtPool {
    int64_t x_dim[3], y_dim[3], size[3], stride[3], low[3], dilation[3];
    int64_t x_step[3], y_step[3];  // strides of the spatial dims
    int64_t x_sample, y_sample;    // strides of the samples
    int64_t x_channel, y_channel;  // strides of the channels
    int64_t lanes, blocks;         // channels per block, and the number of blocks
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

// The coordinate of x under tap `tap` of the window at coordinate `at` of y, along one dim.
static inline int64_t rt_under(const RtPool *q, int dim, int64_t at, int64_t tap)
{
    return at * q->stride[dim] + tap * q->dilation[dim] - q->low[dim];
}

// The taps [first, last) of the window at y along dim i that are inside x, and the coordinate of
// tap 0 in x.
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

#endif
