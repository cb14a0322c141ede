// The taps of some points of a grid, side by side.
#ifndef SHARDCC_RT_CPU_GRID_TILE_H
#define SHARDCC_RT_CPU_GRID_TILE_H

#include "runtime/cpu/internal.h"
#include "runtime/rt_grid.h"

// Points of a tile, and taps of a point. With 64 points, what linear sampling of planes needs takes
// 2 KiB, so that it stays in the first cache while channels go by.
enum { RT_TILE_POINTS = 64, RT_TILE_TAPS = 64 };

// `at` is the index of a tap in a plane of x, -1 where it has none. `read` is the same, and 0 where
// it has none; the weight is 0 there, or NaN. slope[i] is the derivative of the weight by
// coordinate i of the grid's last dim. Points after the last one are as if they were zero.
#define RT_GRID_TILE(T, name)                                                                      \
    typedef struct RtGridTile_##name {                                                             \
        int32_t at[RT_TILE_TAPS][RT_TILE_POINTS], read[RT_TILE_TAPS][RT_TILE_POINTS];              \
        T weight[RT_TILE_TAPS][RT_TILE_POINTS];                                                    \
        T slope[3][RT_TILE_TAPS][RT_TILE_POINTS];                                                  \
    } RtGridTile_##name;                                                                           \
    /* Sets the taps of the `count` points at `grid`; slopes only if they are asked for. */        \
    void rt_grid_tile_##name(const RtGrid *p, const T *grid, int64_t count, bool has_slopes,       \
                             RtGridTile_##name *tile);
RT_GRID_TILE(float, f32)
RT_GRID_TILE(double, f64)

static inline int rt_grid_point_taps(const RtGrid *p)
{
    int along = rt_grid_taps(p->mode), taps = 1;

    for (int i = 0; i < p->spatial; i++)
        taps *= along;
    return taps;
}

// Elements of a plane of x.
static inline int64_t rt_grid_plane(const RtGrid *p)
{
    int64_t plane = 1;

    for (int i = 0; i < p->spatial; i++)
        plane *= p->dim[i];
    return plane;
}

// Operations on all points and channels, for rt_team.
static inline int64_t rt_grid_work(const RtGrid *p)
{
    return p->n * p->points * (p->c + 8) * rt_grid_point_taps(p);
}

// Channels that are taken side by side, at most, so that a tap's index and weight are loaded once
// for all. On a Zen 3, 4 take 0.7 of the time of one by one, and gather instructions twice as long.
enum { RT_GRID_CHANNELS = 4 };

// Runs STEP(taps, channels), which may use c, the first channel, with constants: `taps` of the
// kernel, and up to RT_GRID_CHANNELS channels until all are done.
#define RT_GRID_STEPS(p, STEP)                                                                     \
    for (int64_t c = 0, rt_n; c < (p)->c; c += rt_n) {                                             \
        rt_n = rt_least(RT_GRID_CHANNELS, (p)->c - c);                                             \
        switch (rt_grid_point_taps(p)) {                                                           \
            RT_GRID_CASE(STEP, 1)                                                                  \
            RT_GRID_CASE(STEP, 2)                                                                  \
            RT_GRID_CASE(STEP, 4)                                                                  \
            RT_GRID_CASE(STEP, 8)                                                                  \
            RT_GRID_CASE(STEP, 16)                                                                 \
            RT_GRID_CASE(STEP, 64)                                                                 \
        default:                                                                                   \
            abort();                                                                               \
        }                                                                                          \
    }
#define RT_GRID_CASE(STEP, taps)                                                                   \
    case taps:                                                                                     \
        if (rt_n == 4)                                                                             \
            STEP(taps, 4);                                                                         \
        else if (rt_n == 3)                                                                        \
            STEP(taps, 3);                                                                         \
        else if (rt_n == 2)                                                                        \
            STEP(taps, 2);                                                                         \
        else                                                                                       \
            STEP(taps, 1);                                                                         \
        break;

#endif
