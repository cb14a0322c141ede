// The gradient of a grid. For each tap of a point, the elements of x there times the gradients of
// the point are added over the channels, in order; the sums, times the slopes of the taps' weights,
// are the result. A thread takes a tile of points.
#include "runtime/cpu/grid_tile.h"

enum { POINTS = RT_TILE_POINTS };

#define GRID_GRAD(T, name)                                                                         \
    /* `taps` and `channels` are constants. Nobody uses the sum of a tap without an index. */      \
    static inline __attribute__((always_inline)) void planes_##name(                               \
        int taps, int channels, const RtGrid *p, const RtGridTile_##name *tile, int64_t count,     \
        const T *x, const T *dy, T(*sum)[POINTS])                                                  \
    {                                                                                              \
        int64_t plane = rt_grid_plane(p);                                                          \
                                                                                                   \
        for (int64_t i = 0; i < count; i++) {                                                      \
            T part[RT_GRID_CHANNELS];                                                              \
            for (int c = 0; c < channels; c++)                                                     \
                part[c] = dy[c * p->points + i];                                                   \
            for (int k = 0; k < taps; k++) {                                                       \
                const T *from = x + tile->read[k][i];                                              \
                T s = sum[k][i];                                                                   \
                for (int c = 0; c < channels; c++)                                                 \
                    s += part[c] * from[c * plane];                                                \
                sum[k][i] = s;                                                                     \
            }                                                                                      \
        }                                                                                          \
    }                                                                                              \
                                                                                                   \
    static void finish_##name(const RtGrid *p, const RtGridTile_##name *tile, int64_t count,       \
                              T(*sum)[POINTS], T *dgrid)                                           \
    {                                                                                              \
        for (int d = 0; d < p->spatial; d++) {                                                     \
            T s[POINTS] = {0};                                                                     \
            for (int k = 0; k < rt_grid_point_taps(p); k++)                                        \
                for (int i = 0; i < POINTS; i++)                                                   \
                    s[i] += tile->at[k][i] < 0 ? 0 : tile->slope[d][k][i] * sum[k][i];             \
            for (int64_t i = 0; i < count; i++)                                                    \
                dgrid[i * p->spatial + d] = s[i];                                                  \
        }                                                                                          \
    }                                                                                              \
                                                                                                   \
    static void tile_##name(const RtGrid *p, int64_t sample, int64_t first, T *dgrid, const T *x,  \
                            const T *grid, const T *dy)                                            \
    {                                                                                              \
        int64_t count = rt_least(POINTS, p->points - first);                                       \
        int64_t at = (sample * p->points + first) * p->spatial, plane = rt_grid_plane(p);          \
        const T *from = x + sample * p->c * plane;                                                 \
        const T *with = dy + sample * p->c * p->points + first;                                    \
        T sum[RT_TILE_TAPS][POINTS];                                                               \
        RtGridTile_##name tile;                                                                    \
                                                                                                   \
        memset(sum, 0, sizeof sum[0] * (size_t)rt_grid_point_taps(p));                             \
        rt_grid_tile_##name(p, grid + at, count, true, &tile);                                     \
        RT_GRID_STEPS(p, STEP_##name)                                                              \
        finish_##name(p, &tile, count, sum, dgrid + at);                                           \
    }

#define STEP(taps, channels, name)                                                                 \
    planes_##name(taps, channels, p, &tile, count, from + c * plane, with + c * p->points, sum)
#define STEP_f32(taps, channels) STEP(taps, channels, f32)
#define STEP_f64(taps, channels) STEP(taps, channels, f64)

GRID_GRAD(float, f32)
GRID_GRAD(double, f64)

void rt_grid_sample_grid_grad(Rt *rt, const RtGrid *p, void *dgrid, const void *x, const void *grid,
                              const void *dy)
{
    int64_t tiles = rt_ceil_div(p->points, POINTS);

#pragma omp parallel for num_threads(rt_team(rt, rt_grid_work(p))) schedule(static)
    for (int64_t b = 0; b < p->n * tiles; b++)
        if (p->type == RT_F32)
            tile_f32(p, b / tiles, b % tiles * POINTS, dgrid, x, grid, dy);
        else
            tile_f64(p, b / tiles, b % tiles * POINTS, dgrid, x, grid, dy);
}
