// Random convolutions and poolings.
#ifndef SHARDCC_TESTS_CUDA_WINDOWS_H
#define SHARDCC_TESTS_CUDA_WINDOWS_H

#include "tests/cuda/both.h"

// Dims of y follow from those of x and the window; each is at least 1.
static inline RtConv draw_window(Random *r, int64_t most)
{
    RtConv p = {.n = 1 + draw(r, 3), .x_last = draw(r, 2), .y_last = draw(r, 2)};
    RtWindow *w = &p.window;

    w->n = 1 + (int)draw(r, 3);
    for (int i = 0; i < w->n; i++) {
        w->size[i] = 1 + draw(r, 3);
        w->stride[i] = 1 + draw(r, 3);
        w->dilation[i] = 1 + draw(r, 2);
        w->low[i] = draw(r, w->size[i]);
        w->high[i] = draw(r, w->size[i]);
        int64_t span = (w->size[i] - 1) * w->dilation[i] + 1;
        int64_t least = span - w->low[i] - w->high[i];
        p.x_dim[i] = (least > 1 ? least : 1) + draw(r, most);
        p.y_dim[i] = (p.x_dim[i] + w->low[i] + w->high[i] - span) / w->stride[i] + 1;
    }
    return p;
}

static inline int64_t volume(const RtConv *p, const int64_t *dim)
{
    int64_t n = 1;

    for (int i = 0; i < p->window.n; i++)
        n *= dim[i];
    return n;
}

#endif
