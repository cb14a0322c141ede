// The gradient of what a grid samples: each point adds its gradient, weighted, to its taps. A
// thread takes some channels of a sample through all points in order, so the sums don't depend on
// the number of threads.
#include "runtime/cpu/grid_tile.h"

enum { POINTS = RT_TILE_POINTS };

#define INPUT_GRAD(T, name)                                                                        \
    /* `taps` and `channels` are constants. */                                                     \
    static inline __attribute__((always_inline)) void planes_##name(                               \
        int taps, int channels, const RtGrid *p, const RtGridTile_##name *tile, int64_t count,     \
        T *dx, const T *dy)                                                                        \
    {                                                                                              \
        int64_t plane = rt_grid_plane(p);                                                          \
                                                                                                   \
        for (int64_t i = 0; i < count; i++) {                                                      \
            T part[RT_GRID_CHANNELS];                                                              \
            for (int c = 0; c < channels; c++)                                                     \
                part[c] = dy[c * p->points + i];                                                   \
            for (int k = 0; k < taps; k++) {                                                       \
                T *to = dx + tile->read[k][i], weight = tile->weight[k][i];                        \
                if (tile->at[k][i] < 0)                                                            \
                    continue;                                                                      \
                for (int c = 0; c < channels; c++)                                                 \
                    to[c * plane] += weight * part[c];                                             \
            }                                                                                      \
        }                                                                                          \
    }                                                                                              \
                                                                                                   \
    /* All points of `channels` channels from `first` on. */                                       \
    static void channels_##name(const RtGrid *all, int64_t sample, int64_t first,                  \
                                int64_t channels, T *dx, const T *dy, const T *grid)               \
    {                                                                                              \
        RtGrid part = *all, *p = &part;                                                            \
        int64_t plane = rt_grid_plane(p), at = sample * p->c + first;                              \
        RtGridTile_##name tile;                                                                    \
                                                                                                   \
        p->c = channels;                                                                           \
        dx += at * plane;                                                                          \
        dy += at * p->points;                                                                      \
        grid += sample * p->points * p->spatial;                                                   \
        memset(dx, 0, sizeof(T) * (size_t)(channels * plane));                                     \
        for (int64_t i = 0; i < p->points; i += POINTS) {                                          \
            int64_t count = rt_least(POINTS, p->points - i);                                       \
            rt_grid_tile_##name(p, grid + i * p->spatial, count, false, &tile);                    \
            RT_GRID_STEPS(p, STEP_##name)                                                          \
        }                                                                                          \
    }

#define STEP(taps, channels, name)                                                                 \
    planes_##name(taps, channels, p, &tile, count, dx + c * plane, dy + c * p->points + i)
#define STEP_f32(taps, channels) STEP(taps, channels, f32)
#define STEP_f64(taps, channels) STEP(taps, channels, f64)

INPUT_GRAD(float, f32)
INPUT_GRAD(double, f64)

// Threads have blocks of channels. Each of them finds the taps anew, so there are no more blocks
// than keep all threads busy.
void rt_grid_sample_input_grad(Rt *rt, const RtGrid *p, void *dx, const void *dy, const void *grid)
{
    int team = rt_team(rt, rt_grid_work(p));
    int64_t parts = rt_ceil_div(2 * team, rt_most(p->n, 1));
    int64_t width = rt_round_up(rt_ceil_div(p->c, parts), RT_GRID_CHANNELS);
    int64_t blocks = rt_ceil_div(p->c, rt_most(width, 1));

#pragma omp parallel for num_threads(team) schedule(static)
    for (int64_t b = 0; b < p->n * blocks; b++) {
        int64_t first = b % blocks * width, channels = rt_least(width, p->c - first);

        if (p->type == RT_F32)
            channels_f32(p, b / blocks, first, channels, dx, dy, grid);
        else
            channels_f64(p, b / blocks, first, channels, dx, dy, grid);
    }
}
