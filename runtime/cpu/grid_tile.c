// Finds the taps of the points of a grid. Loops over points have a constant length and no branches,
// so that compilers vectorize them; points after the last one are zero.
#include "runtime/cpu/grid_tile.h"

enum { POINTS = RT_TILE_POINTS };

#define TILE(T, name)                                                                              \
    typedef struct Line_##name {                                                                   \
        int32_t at[RT_MAX_TAPS][POINTS];                                                           \
        T weight[RT_MAX_TAPS][POINTS], slope[RT_MAX_TAPS][POINTS];                                 \
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
        if (p->spatial == 2)                                                                       \
            for (int64_t i = 0; i < count; i++)                                                    \
                x[i] = grid[i * 2 + d];                                                            \
        else                                                                                       \
            for (int64_t i = 0; i < count; i++)                                                    \
                x[i] = grid[i * p->spatial + d];                                                   \
        switch (p->mode * 3 + p->outside) {                                                        \
            RT_EACH_KIND(KIND, name)                                                               \
        default:                                                                                   \
            abort();                                                                               \
        }                                                                                          \
    }                                                                                              \
                                                                                                   \
    /* The taps along the first dim, which is coordinate d. */                                     \
    static void first_##name(const Line_##name *line, int along, int d, RtGridTile_##name *tile)   \
    {                                                                                              \
        for (int k = 0; k < along; k++)                                                            \
            for (int i = 0; i < POINTS; i++) {                                                     \
                T weight = line->weight[k][i];                                                     \
                int32_t at = line->at[k][i];                                                       \
                tile->at[k][i] = at;                                                               \
                tile->read[k][i] = at < 0 ? 0 : at;                                                \
                tile->weight[k][i] = at < 0 && weight == weight ? 0 : weight;                      \
                tile->slope[d][k][i] = line->slope[k][i];                                          \
            }                                                                                      \
    }                                                                                              \
                                                                                                   \
    /* Joins each tap along coordinate d to tap `from` of the dims before, which is copied, as the \
       first result overwrites it. */                                                              \
    static void join_##name(const RtGrid *p, int d, const Line_##name *line, int along,            \
                            bool has_slopes, int from, RtGridTile_##name *tile)                    \
    {                                                                                              \
        int32_t size = (int32_t)p->dim[p->spatial - 1 - d], before[POINTS];                        \
        T weight[POINTS], slope[3][POINTS];                                                        \
                                                                                                   \
        memcpy(before, tile->at[from], sizeof before);                                             \
        memcpy(weight, tile->weight[from], sizeof weight);                                         \
        for (int e = d + 1; has_slopes && e < p->spatial; e++)                                     \
            memcpy(slope[e], tile->slope[e][from], sizeof slope[e]);                               \
        for (int k = 0; k < along; k++) {                                                          \
            int to = from * along + k;                                                             \
            const int32_t *a = line->at[k];                                                        \
            const T *w = line->weight[k], *s = line->slope[k];                                     \
            for (int i = 0; i < POINTS; i++) {                                                     \
                bool is_none = before[i] < 0 || a[i] < 0;                                          \
                int32_t at = is_none ? -1 : before[i] * size + a[i];                               \
                T product = weight[i] * w[i];                                                      \
                tile->at[to][i] = at;                                                              \
                tile->read[to][i] = at < 0 ? 0 : at;                                               \
                tile->weight[to][i] = is_none && product == product ? 0 : product;                 \
            }                                                                                      \
            for (int e = d + 1; has_slopes && e < p->spatial; e++)                                 \
                for (int i = 0; i < POINTS; i++)                                                   \
                    tile->slope[e][to][i] = slope[e][i] * w[i];                                    \
            for (int i = 0; has_slopes && i < POINTS; i++)                                         \
                tile->slope[d][to][i] = weight[i] * s[i];                                          \
        }                                                                                          \
    }                                                                                              \
                                                                                                   \
    void rt_grid_tile_##name(const RtGrid *p, const T *grid, int64_t count, bool has_slopes,       \
                             RtGridTile_##name *tile)                                              \
    {                                                                                              \
        int along = rt_grid_taps(p->mode), taps = along, d = p->spatial - 1;                       \
        Line_##name line;                                                                          \
                                                                                                   \
        lines_##name(p, d, grid, count, &line);                                                    \
        first_##name(&line, along, d, tile);                                                       \
        while (d-- > 0) {                                                                          \
            lines_##name(p, d, grid, count, &line);                                                \
            /* From the last tap on, as tap k becomes taps k · along and following. */            \
            for (int k = taps - 1; k >= 0; k--)                                                    \
                join_##name(p, d, &line, along, has_slopes, k, tile);                              \
            taps *= along;                                                                         \
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
