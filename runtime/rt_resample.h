// Resampling along one dim: which elements a position of the result reads, and with which weights.
//
// Position o reads around the coordinate (o + shift) · mul / div + offset, which grows or falls
// evenly. So the positions that read one element are neighbours, too. The compiler's reference
// evaluation and the kernels of CPUs and GPUs all compute their tables of taps by these functions.
#ifndef SHARDCC_RT_RESAMPLE_H
#define SHARDCC_RT_RESAMPLE_H

#include <math.h>

#include "rt_inline.h"
#include "rt_kernels.h"

// The most elements along the dim before and after, and taps of all positions together.
#define RT_RESAMPLE_MAX ((int64_t)1 << 24)

RT_INLINE bool rt_resample_is_nearest(const RtResample *p) { return p->mode <= RT_NEAREST_UP; }

RT_INLINE double rt_resample_coordinate(const RtResample *p, int64_t o)
{
    return ((double)o + p->shift) * p->mul / p->div + p->offset;
}

// The element that a coordinate is rounded to.
RT_INLINE double rt_resample_round(const RtResample *p, double x)
{
    double below = floor(x), rest = x - below;

    if (p->mode == RT_NEAREST_CEIL)
        return ceil(x);
    if (p->mode == RT_NEAREST_DOWN)
        return rest <= 0.5 ? below : below + 1;
    return p->mode == RT_NEAREST_UP && rest >= 0.5 ? below + 1 : below;
}

// Elements as far from the coordinate as this have weight 0.
RT_INLINE double rt_resample_reach(const RtResample *p)
{
    return p->mode == RT_FILTER_CUBIC ? 2 * p->stretch : p->stretch;
}

// The most taps of a position, counted before those outside of the dim move to its ends.
RT_INLINE int64_t rt_resample_width(const RtResample *p)
{
    return rt_resample_is_nearest(p) ? 1 : (int64_t)ceil(2 * rt_resample_reach(p));
}

// The most elements that a position reads.
RT_INLINE int64_t rt_resample_most(const RtResample *p)
{
    int64_t width = rt_resample_width(p);

    return width < p->n ? width : p->n;
}

// The weight of an element at this distance, Keys' cubic convolution (1981) with his a.
RT_INLINE double rt_resample_filter(const RtResample *p, double distance)
{
    double d = fabs(distance), a = p->cubic;

    if (p->mode == RT_FILTER_LINEAR)
        return d < 1 ? 1 - d : 0;
    if (d < 1)
        return ((a + 2) * d - (a + 3)) * d * d + 1;
    return d < 2 ? ((a * d - 5 * a) * d + 8 * a) * d - 4 * a : 0;
}

// The taps of a position: `count` elements from `first` on. Before taps move into the dim, they are
// those from `low` to `high`. Weights are divided by `total`.
typedef struct RtTapsAt {
    int64_t first, count;
    double x, low, high, total;
} RtTapsAt;

RT_INLINE double rt_resample_clamp(double x, double most)
{
    return x < 0 ? 0 : x > most ? most : x;
}

// The sum of the weights of the taps from `from` to `to`.
RT_INLINE double rt_resample_sum(const RtResample *p, const RtTapsAt *t, double from, double to)
{
    double sum = 0;

    for (double i = from > t->low ? from : t->low; i <= (to < t->high ? to : t->high); i++)
        sum += rt_resample_filter(p, (i - t->x) / p->stretch);
    return sum;
}

RT_INLINE RtTapsAt rt_resample_taps(const RtResample *p, int64_t o)
{
    double reach = rt_resample_reach(p), most = (double)(p->n - 1);
    RtTapsAt t;

    t.x = rt_resample_coordinate(p, o);
    t.total = 1;
    t.first = t.count = 0;
    t.low = t.high = 0;
    if (rt_resample_is_nearest(p)) {
        t.first = (int64_t)rt_resample_clamp(rt_resample_round(p, t.x), most);
        t.count = 1;
        return t;
    }
    t.low = floor(t.x - reach) + 1;
    t.high = ceil(t.x + reach) - 1;
    if (p->exclude) {
        // Without a tap inside, the index where it would be keeps the order of positions.
        t.low = rt_resample_clamp(t.low, most + 1);
        t.high = t.high > most ? most : t.high;
    }
    t.first = (int64_t)rt_resample_clamp(t.low, p->exclude ? most + 1 : most);
    t.count = (int64_t)rt_resample_clamp(t.high, most) - t.first + 1;
    if (p->exclude && t.high < t.low)
        t.count = 0;
    if (p->exclude || p->stretch > 1)
        t.total = rt_resample_sum(p, &t, t.low, t.high);
    if (t.total == 0)
        t.total = 1;
    return t;
}

// The weight of tap k of a position. Taps outside of the dim count at its ends.
RT_INLINE double rt_resample_weight(const RtResample *p, const RtTapsAt *t, int64_t k)
{
    double i = (double)(t->first + k);

    if (rt_resample_is_nearest(p))
        return 1;
    return rt_resample_sum(p, t, i == 0 ? t->low : i, i == (double)(p->n - 1) ? t->high : i) /
           t->total;
}

#endif
