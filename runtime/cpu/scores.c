// The scores of attention: a tile of queries by keys, scaled, biased and masked.
#include <string.h>

#include "runtime/cpu/scores.h"

void rt_pack_rows(float *to, const float *a, int64_t row, int64_t col, int64_t rows,
                  int64_t columns)
{
    for (int64_t i = 0; i < rows; i += RT_MR) {
        float *panel = to + i * columns;
        int64_t n = rt_least(RT_MR, rows - i);

        if (n < RT_MR)
            memset(panel, 0, sizeof(float) * (size_t)(columns * RT_MR));
        for (int64_t c = 0; c < columns; c++)
            for (int64_t k = 0; k < n; k++)
                panel[c * RT_MR + k] = a[(i + k) * row + c * col];
    }
}

void rt_pack_columns(float *to, const float *b, int64_t row, int64_t col, int64_t k, int64_t n,
                     int64_t k_room)
{
    for (int64_t j = 0; j < n; j += RT_NR)
        rt_pack_panel(to + j * k_room, b + j * col, row, col, k, rt_least(RT_NR, n - j));
}

static void add_bias(const RtAttention *p, float *scores, const void *bias, int64_t at,
                     int64_t first, int64_t last)
{
    const float *f = (const float *)bias + at;
    const uint8_t *b = (const uint8_t *)bias + at;

    if (p->bool_bias)
        for (int64_t j = first; j < last; j++)
            scores[j] = b[j * p->bias.col] ? scores[j] : -INFINITY;
    else
        for (int64_t j = first; j < last; j++)
            scores[j] += f[j * p->bias.col];
}

void rt_scores(const RtAttention *p, float scores[RT_MR][RT_KEYS], const float *q_panel,
               const float *k_panels, const void *bias, int64_t row, int64_t rows, int64_t key,
               int64_t first, int64_t last)
{
    int64_t end = rt_round_up(last, RT_NR);
    float c[RT_MR][RT_NR];

    for (int64_t j = first; j < last; j += RT_NR) {
        rt_tile(c[0], RT_NR, false, p->e, q_panel, 1, RT_MR, k_panels + j * p->e, RT_NR);
        for (int i = 0; i < RT_MR; i++)
            for (int k = 0; k < RT_NR; k++)
                scores[i][j + k] = c[i][k] * p->scale;
    }
    for (int64_t i = 0; i < RT_MR; i++) {
        RtKeys seen = i < rows ? rt_seen(p, row + i, 1) : (RtKeys){0, 0};
        int64_t low = rt_least(rt_most(seen.first - key, first), end);
        int64_t high = rt_most(rt_least(seen.last - key, last), low);

        if (p->has_bias && i < rows)
            add_bias(p, scores[i], bias, (row + i) * p->bias.row + key * p->bias.col, low, high);
        for (int64_t j = first; j < low; j++)
            scores[i][j] = -INFINITY;
        for (int64_t j = high; j < end; j++)
            scores[i][j] = -INFINITY;
    }
}
