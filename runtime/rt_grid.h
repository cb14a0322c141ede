// Where and with which weights an element between others is sampled, along one dim. The reference
// evaluation and the kernels of both targets use it.
//
// A position counts elements: 1.5 is in the middle between elements 1 and 2. Each mode reads a few
// elements, the taps. A tap outside of the dim has no index (-1) and counts as zero. With
// RT_BORDER, positions outside of the dim become those of its ends; with RT_REFLECTION they are
// mirrored at the first and last elements (corners) or at their outer edges. A position that is NaN
// becomes 0 there; with RT_ZEROS its taps have no index, and weights of NaN.
//
// `slope` is the derivative of the weight by the position. As in PyTorch, it is 0 where a position
// was moved to an end, or is at one already.
#ifndef SHARDCC_RT_GRID_H
#define SHARDCC_RT_GRID_H

#include <math.h>
#include <stdbool.h>
#include <stdint.h>

#include "rt_inline.h"

enum { RT_NEAREST, RT_LINEAR, RT_CUBIC };     // modes
enum { RT_ZEROS, RT_BORDER, RT_REFLECTION };  // what is outside
enum { RT_MAX_TAPS = 4 };                     // along a dim

RT_INLINE int rt_grid_taps(int mode) { return mode == RT_NEAREST ? 1 : mode == RT_LINEAR ? 2 : 4; }

// X(T, s): the functions for floats of type T; s is the suffix of the functions of <math.h>.
#define RT_GRID(T, name, s)                                                                        \
    typedef struct RtTaps_##name {                                                                 \
        int32_t at[RT_MAX_TAPS];                                                                   \
        T weight[RT_MAX_TAPS], slope[RT_MAX_TAPS];                                                 \
    } RtTaps_##name;                                                                               \
                                                                                                   \
    RT_INLINE int32_t rt_grid_index_##name(T x, T size)                                            \
    {                                                                                              \
        return x >= 0 && x < size ? (int32_t)x : -1;                                               \
    }                                                                                              \
                                                                                                   \
    /* Moves x into the dim. *factor is the derivative. */                                         \
    RT_INLINE T rt_grid_inside_##name(int outside, bool corners, T size, T x, T *factor)           \
    {                                                                                              \
        T low = corners ? 0 : (T)-0.5, span = corners ? size - 1 : size, last = size - 1;          \
                                                                                                   \
        *factor = 1;                                                                               \
        if (outside == RT_ZEROS)                                                                   \
            return x;                                                                              \
        if (outside == RT_REFLECTION) {                                                            \
            T from = fabs##s(x - low), turns = span > 0 ? trunc##s(from / span) : 0;               \
            T rest = from - turns * span;                                                          \
            bool is_odd = turns - 2 * trunc##s(turns / 2) > 0;                                     \
            *factor = (x < low) != is_odd ? (T)-1 : (T)1;                                          \
            x = is_odd ? span - rest + low : rest + low;                                           \
        }                                                                                          \
        *factor = x > 0 && x < last ? *factor : 0;                                                 \
        x = x > 0 ? x : 0;                                                                         \
        return x < last ? x : last;                                                                \
    }                                                                                              \
                                                                                                   \
    /* Keys' cubic convolution with a = -0.75: a neighbour's weight at distance x < 1, and one     \
       behind it at distance x < 2. */                                                             \
    RT_INLINE T rt_grid_near_##name(T x) { return ((T)1.25 * x - (T)2.25) * x * x + 1; }           \
    RT_INLINE T rt_grid_far_##name(T x) { return (((T)-0.75 * x + (T)3.75) * x - 6) * x + 3; }     \
    RT_INLINE T rt_grid_near_slope_##name(T x) { return ((T)3.75 * x - (T)4.5) * x; }              \
    RT_INLINE T rt_grid_far_slope_##name(T x) { return ((T)-2.25 * x + (T)7.5) * x - 6; }          \
                                                                                                   \
    RT_INLINE void rt_grid_cubic_##name(int outside, bool corners, T size, T x, RtTaps_##name *t)  \
    {                                                                                              \
        T first = floor##s(x) - 1, d = x - floor##s(x), factor;                                    \
                                                                                                   \
        for (int k = 0; k < 4; k++) {                                                              \
            T at = rt_grid_inside_##name(outside, corners, size, first + (T)k, &factor);           \
            t->at[k] = rt_grid_index_##name(rint##s(at), size);                                    \
        }                                                                                          \
        t->weight[0] = rt_grid_far_##name(d + 1);                                                  \
        t->weight[1] = rt_grid_near_##name(d);                                                     \
        t->weight[2] = rt_grid_near_##name(1 - d);                                                 \
        t->weight[3] = rt_grid_far_##name(2 - d);                                                  \
        t->slope[0] = rt_grid_far_slope_##name(d + 1);                                             \
        t->slope[1] = rt_grid_near_slope_##name(d);                                                \
        t->slope[2] = -rt_grid_near_slope_##name(1 - d);                                           \
        t->slope[3] = -rt_grid_far_slope_##name(2 - d);                                            \
    }                                                                                              \
                                                                                                   \
    /* The taps of position x of a dim of `size` elements. */                                      \
    RT_INLINE void rt_grid_taps_##name(int mode, int outside, bool corners, int64_t size, T x,     \
                                       RtTaps_##name *t)                                           \
    {                                                                                              \
        T n = (T)size, factor;                                                                     \
                                                                                                   \
        if (mode == RT_CUBIC) {                                                                    \
            rt_grid_cubic_##name(outside, corners, n, x, t);                                       \
            return;                                                                                \
        }                                                                                          \
        x = rt_grid_inside_##name(outside, corners, n, x, &factor);                                \
        if (mode == RT_NEAREST) {                                                                  \
            t->at[0] = rt_grid_index_##name(rint##s(x), n);                                        \
            t->weight[0] = 1;                                                                      \
            t->slope[0] = 0;                                                                       \
            return;                                                                                \
        }                                                                                          \
        T low = floor##s(x);                                                                       \
        t->at[0] = rt_grid_index_##name(low, n);                                                   \
        t->at[1] = rt_grid_index_##name(low + 1, n);                                               \
        t->weight[1] = x - low;                                                                    \
        t->weight[0] = 1 - t->weight[1];                                                           \
        t->slope[0] = -factor;                                                                     \
        t->slope[1] = factor;                                                                      \
    }

RT_GRID(float, f32, f)
RT_GRID(double, f64, )

#undef RT_GRID

#endif
