// Finds the taps of the points of a grid. Loops over points have a constant length and no branches,
// so that compilers vectorize them; points after the last one are zero.
#include "runtime/cpu/grid_tile.h"

enum { POINTS = RT_TILE_POINTS };

#define TILE(T, name)                                                                              \
    typedef struct Line_##name {                                                                   \
        int32_t at[RT_MOST_TAPS][POINTS];                                                          \
        T weight[RT_MOST_TAPS][POINTS], slope[RT_MOST_TAPS][POINTS];                               \
    } Line_##name;                                                                                 \
                                                                                                   \
    /* The taps along one dim. `mode` and `outside` are constants. */                              \
    static inline __attribute__((always_inline)) void line_##name(                                 \
        int mode, int outside, bool corners, int64_t size, const T *x, Line_##name *line)          \
    {                                                                                              \
        for (int i = 0; i < POINTS; i++) {                                                         \
            RtTaps_##name t;                                                                       \
            rt_grid_taps_##name(mode, outside, corners, size, x[i], &t);                           \
            for (int k = 0; k < rt_grid_taps(mode); k++) {                                         \
                line->at[k][i] = t.at[k];                                                          \
                line->weight[k][i] = t.weight[k];                                                  \
                line->slope[k][i] = t.slope[k];                                                    \
            }                                                                                      \
        }                                                                                          \
    }                                                                                              \
                                                                                                   \
    /* Coordinate d of the grid's last dim. */                                                     \
    static void lines_##name(const RtGrid *p, int d, const T *grid, int64_t count,                 \
                             Line_##name *line)                                                    \
    {                                                                                              \
        int64_t size = p->dim[p->spatial - 1 - d];                                                 \
        T x[POINTS] = {0};                                                                         \
                                                                                                   \
        for (int64_t i = 0; i < count; i++)                                                        \
            x[i] = grid[i * p->spatial + d];                                                       \
        switch (p->mode * 3 + p->outside) {                                                        \
            RT_EACH_KIND(KIND, name)                                                               \
        default:                                                                                   \
            abort();                                                                               \
        }                                                                                          \
    }                                                                                              \
                                                                                                   \
    /* Joins tap `tap` of the next inner dim to tap `from` of the dims before, which is copied, as \
       it may be tap `to`. */                                                                      \
    static void join_##name(const RtGrid *p, int d, const Line_##name *line, int tap,              \
                            bool has_slopes, int from, int to, RtGridTile_##name *tile)            \
    {                                                                                              \
        int32_t size = (int32_t)p->dim[p->spatial - 1 - d], before[POINTS];                        \
        int32_t *at = tile->at[to], *read = tile->read[to];                                        \
        const int32_t *a = line->at[tap];                                                          \
        const T *w = line->weight[tap], *s = line->slope[tap];                                     \
        T weight[POINTS], slope[POINTS];                                                           \
                                                                                                   \
        memcpy(before, tile->at[from], sizeof before);                                             \
        memcpy(weight, tile->weight[from], sizeof weight);                                         \
        for (int i = 0; i < POINTS; i++) {                                                         \
            int32_t place = before[i] < 0 || a[i] < 0 ? -1 : before[i] * size + a[i];              \
            at[i] = place;                                                                         \
            read[i] = place < 0 ? 0 : place;                                                       \
        }                                                                                          \
        for (int e = d + 1; has_slopes && e < p->spatial; e++) {                                   \
            memcpy(slope, tile->slope[e][from], sizeof slope);                                     \
            for (int i = 0; i < POINTS; i++)                                                       \
                tile->slope[e][to][i] = slope[i] * w[i];                                           \
        }                                                                                          \
        for (int i = 0; has_slopes && i < POINTS; i++)                                             \
            tile->slope[d][to][i] = weight[i] * s[i];                                              \
        for (int i = 0; i < POINTS; i++) {                                                         \
            T product = weight[i] * w[i];                                                          \
            bool is_zero = before[i] < 0 || a[i] < 0;                                              \
            tile->weight[to][i] = is_zero && product == product ? 0 : product;                     \
        }                                                                                          \
    }                                                                                              \
                                                                                                   \
    void rt_grid_tile_##name(const RtGrid *p, const T *grid, int64_t count, bool has_slopes,       \
                             RtGridTile_##name *tile)                                              \
    {                                                                                              \
        int along = rt_grid_taps(p->mode), taps = 1;                                               \
        Line_##name line;                                                                          \
                                                                                                   \
        for (int i = 0; i < POINTS; i++) {                                                         \
            tile->at[0][i] = 0;                                                                    \
            tile->weight[0][i] = 1;                                                                \
        }                                                                                          \
        for (int d = p->spatial - 1; d >= 0; d--, taps *= along) {                                 \
            lines_##name(p, d, grid, count, &line);                                                \
            /* From the last tap on, as tap k becomes taps k · along and following. */            \
            for (int k = taps * along - 1; k >= 0; k--)                                            \
                join_##name(p, d, &line, k % along, has_slopes, k / along, k, tile);               \
        }                                                                                          \
    }

#define RT_EACH_KIND(X, name)                                                                      \
    X(RT_NEAREST, RT_ZEROS, name)                                                                  \
    X(RT_NEAREST, RT_BORDER, name)                                                                 \
    X(RT_NEAREST, RT_REFLECTION, name)                                                             \
    X(RT_LINEAR, RT_ZEROS, name)                                                                   \
    X(RT_LINEAR, RT_BORDER, name)                                                                  \
    X(RT_LINEAR, RT_REFLECTION, name)                                                              \
    X(RT_CUBIC, RT_ZEROS, name)                                                                    \
    X(RT_CUBIC, RT_BORDER, name)                                                                   \
    X(RT_CUBIC, RT_REFLECTION, name)
#define KIND(mode, outside, name)                                                                  \
    case mode * 3 + outside:                                                                       \
        line_##name(mode, outside, p->corners, size, x, line);                                     \
        break;

TILE(float, f32)
TILE(double, f64)
