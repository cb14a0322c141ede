// The tensors of kernels with windows: three spatial dims, of which the missing ones are 1, and
// strides for either layout. Host code and kernels include it.
#ifndef SHARDCC_RT_CUDA_WINDOW_H
#define SHARDCC_RT_CUDA_WINDOW_H

#include "runtime/cuda/params.h"

typedef struct RtCudaWindow {
    int32_t n, c, o, groups;
    int32_t x_dim[3], y_dim[3], size[3], stride[3], low[3], dilation[3];
    int64_t x_step[3], y_step[3];  // strides of the spatial dims
    int64_t x_sample, y_sample, x_channel, y_channel;
    int64_t x_count, y_count;  // elements, with c channels in x and o in y
    bool x_last, y_last;
    bool is_f32;  // the result
} RtCudaWindow;

// For pooling, where y has the channels and the layout of x, p->o may be unset.
static inline RtCudaWindow rt_cuda_window(const RtConv *p, bool is_pool)
{
    RtCudaWindow w;
    bool y_last = is_pool ? p->x_last : p->y_last;
    int64_t channels = is_pool ? p->c : p->o;
    int64_t x = p->x_last ? p->c : 1, y = y_last ? channels : 1;

    for (int i = 2, k = p->window.n - 1; i >= 0; i--, k--) {
        w.x_dim[i] = k < 0 ? 1 : (int32_t)p->x_dim[k];
        w.y_dim[i] = k < 0 ? 1 : (int32_t)p->y_dim[k];
        w.size[i] = k < 0 ? 1 : (int32_t)p->window.size[k];
        w.stride[i] = k < 0 ? 1 : (int32_t)p->window.stride[k];
        w.low[i] = k < 0 ? 0 : (int32_t)p->window.low[k];
        w.dilation[i] = k < 0 ? 1 : (int32_t)p->window.dilation[k];
        w.x_step[i] = x;
        w.y_step[i] = y;
        x *= w.x_dim[i];
        y *= w.y_dim[i];
    }
    w.n = (int32_t)p->n;
    w.c = (int32_t)p->c;
    w.o = (int32_t)channels;
    w.groups = p->groups > 0 ? (int32_t)p->groups : 1;
    w.x_last = p->x_last;
    w.y_last = y_last;
    w.is_f32 = p->result == RT_F32;
    w.x_channel = p->x_last ? 1 : x;
    w.y_channel = y_last ? 1 : y;
    w.x_sample = p->x_last ? x : x * p->c;
    w.y_sample = y_last ? y : y * channels;
    w.x_count = w.x_sample * p->n;
    w.y_count = w.y_sample * p->n;
    return w;
}

#endif
