// Which elements a convolution multiplies, for tests with plain loops.
#ifndef SHARDCC_TESTS_RUNTIME_CONVOLUTION_H
#define SHARDCC_TESTS_RUNTIME_CONVOLUTION_H

#include "tests/runtime/kernels.h"

typedef struct Position {
    int64_t at[3];
} Position;

static inline int64_t spatial(const RtConv *p, const int64_t *dim)
{
    int64_t n = 1;

    for (int k = 0; k < p->window.n; k++)
        n *= dim[k];
    return n;
}

static inline Position position_at(const RtConv *p, const int64_t *dim, int64_t i)
{
    Position q = {{0}};

    for (int k = p->window.n - 1; k >= 0; k--) {
        q.at[k] = i % dim[k];
        i /= dim[k];
    }
    return q;
}

// The element of x under tap `t` of the window at y; -1 if it is padding.
static inline int64_t under(const RtConv *p, int64_t y, int64_t t)
{
    Position q = position_at(p, p->y_dim, y), tap = position_at(p, p->window.size, t);
    int64_t i = 0;

    for (int k = 0; k < p->window.n; k++) {
        const RtWindow *w = &p->window;
        int64_t x = q.at[k] * w->stride[k] - w->low[k] + tap.at[k] * w->dilation[k];
        if (x < 0 || x >= p->x_dim[k])
            return -1;
        i = i * p->x_dim[k] + x;
    }
    return i;
}

// For each position of y and tap: the element of x under it, as `under` says.
static inline int64_t *all_under(const RtConv *p)
{
    int64_t taps = spatial(p, p->window.size), n = taps * spatial(p, p->y_dim);
    int64_t *x = malloc(sizeof *x * (size_t)(n + 1));

    for (int64_t i = 0; i < n; i++)
        x[i] = under(p, i / taps, i % taps);
    return x;
}

// The offset of a channel of sample n at position i.
static inline int64_t element_at(bool is_last, int64_t n, int64_t channels, int64_t c,
                                 int64_t positions, int64_t i)
{
    return is_last ? (n * positions + i) * channels + c : (n * channels + c) * positions + i;
}

#endif
