// Samples planes at the points of a grid. A thread takes a tile of points through all channels.
#include "runtime/cpu/grid_tile.h"

enum { POINTS = RT_TILE_POINTS };

#define SAMPLE(T, name)                                                                            \
    /* `taps`, `channels` and `is_finite` are constants. */                                        \
    static inline __attribute__((always_inline)) void points_##name(                               \
        int taps, int channels, bool is_finite, const RtGrid *p, const RtGridTile_##name *tile,    \
        int64_t count, const T *x, T *y)                                                           \
    {                                                                                              \
        int64_t plane = rt_grid_plane(p);                                                          \
        const T *from[RT_GRID_CHANNELS];                                                           \
                                                                                                   \
        for (int c = 0; c < channels; c++)                                                         \
            from[c] = x + c * plane;                                                               \
        for (int64_t i = 0; i < count; i++) {                                                      \
            T sum[RT_GRID_CHANNELS] = {0};                                                         \
            for (int k = 0; k < taps; k++) {                                                       \
                int64_t at = tile->read[k][i];                                                     \
                T weight = tile->weight[k][i];                                                     \
                if (is_finite || tile->at[k][i] >= 0)                                              \
                    for (int c = 0; c < channels; c++)                                             \
                        sum[c] += weight * from[c][at];                                            \
                else                                                                               \
                    for (int c = 0; c < channels; c++)                                             \
                        sum[c] += weight;                                                          \
            }                                                                                      \
            for (int c = 0; c < channels; c++)                                                     \
                y[c * p->points + i] = sum[c];                                                     \
        }                                                                                          \
    }                                                                                              \
                                                                                                   \
    /* Elements without an index are zero. The first one of the plane is read for them; if it is   \
       finite, their weight of 0 makes them zero. */                                               \
    static inline __attribute__((always_inline)) void planes_##name(                               \
        int taps, int channels, const RtGrid *p, const RtGridTile_##name *tile, int64_t count,     \
        const T *x, T *y)                                                                          \
    {                                                                                              \
        T first = 0;                                                                               \
                                                                                                   \
        for (int c = 0; c < channels; c++)                                                         \
            first += x[c * rt_grid_plane(p)] - x[c * rt_grid_plane(p)];                            \
        if (first == 0)                                                                            \
            points_##name(taps, channels, true, p, tile, count, x, y);                             \
        else                                                                                       \
            points_##name(taps, channels, false, p, tile, count, x, y);                            \
    }                                                                                              \
                                                                                                   \
    static void tile_##name(const RtGrid *p, int64_t sample, int64_t first, T *y, const T *x,      \
                            const T *grid)                                                         \
    {                                                                                              \
        int64_t count = rt_least(POINTS, p->points - first), plane = rt_grid_plane(p);             \
        const T *from = x + sample * p->c * plane;                                                 \
        T *to = y + sample * p->c * p->points + first;                                             \
        RtGridTile_##name tile;                                                                    \
                                                                                                   \
        grid += (sample * p->points + first) * p->spatial;                                         \
        rt_grid_tile_##name(p, grid, count, false, &tile);                                         \
        RT_GRID_STEPS(p, STEP_##name)                                                              \
    }

#define STEP(taps, channels, name)                                                                 \
    planes_##name(taps, channels, p, &tile, count, from + c * plane, to + c * p->points)
#define STEP_f32(taps, channels) STEP(taps, channels, f32)
#define STEP_f64(taps, channels) STEP(taps, channels, f64)

SAMPLE(float, f32)
SAMPLE(double, f64)

void rt_grid_sample(Rt *rt, const RtGrid *p, void *y, const void *x, const void *grid)
{
    int64_t tiles = rt_ceil_div(p->points, POINTS);

#pragma omp parallel for num_threads(rt_team(rt, rt_grid_work(p))) schedule(static)
    for (int64_t b = 0; b < p->n * tiles; b++)
        if (p->type == RT_F32)
            tile_f32(p, b / tiles, b % tiles * POINTS, y, x, grid);
        else
            tile_f64(p, b / tiles, b % tiles * POINTS, y, x, grid);
}
