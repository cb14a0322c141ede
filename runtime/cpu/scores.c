// The scores of attention: a block of keys by queries, scaled, biased and masked.
#include <string.h>

#include "runtime/cpu/scores.h"

void rt_copy_rows(float *to, const float *a, int64_t row, int64_t col, int64_t rows,
                  int64_t columns, int64_t room)
{
    for (int64_t i = 0; i < rows; i++) {
        const float *from = a + i * row;
        float *y = to + i * room;

        if (col == 1)
            memcpy(y, from, sizeof(float) * (size_t)columns);
        else
            for (int64_t j = 0; j < columns; j++)
                y[j] = from[j * col];
        if (room > columns)
            memset(y + columns, 0, sizeof(float) * (size_t)(room - columns));
    }
}

void rt_pack_columns(float *to, const float *b, int64_t row, int64_t col, int64_t k, int64_t n)
{
    for (int64_t j = 0; j < n; j += RT_NR)
        rt_pack_panel(to + j * k, b + j * col, row, col, k, rt_least(RT_NR, n - j));
}

void rt_products(float *y, int64_t first, RtRange seen, int64_t keys, const float *k, int64_t k_row,
                 const float *q, int64_t length)
{
    for (int64_t i = 0; i < keys; i += RT_MR) {
        float *to = y + i * RT_ROWS + first;

        if (i < seen.last && i + RT_MR > seen.first)
            rt_tile(to, RT_ROWS, false, length, k + i * k_row, k_row, 1, q, RT_NR);
        else
            for (int r = 0; r < RT_MR; r++)
                memset(to + r * RT_ROWS, 0, sizeof(float) * RT_NR);
    }
}

void rt_add_bias(const RtAttention *p, const RtScores *b, float *s, int64_t t, int64_t first)
{
    int64_t at = (b->row + first) * p->bias.row + (b->key + t) * p->bias.col;
    int64_t n = rt_least(RT_NR, b->rows - first);
    const float *f = (const float *)b->bias + at;
    const uint8_t *is_seen = (const uint8_t *)b->bias + at;

    if (p->bool_bias)
        for (int64_t l = 0; l < n; l++)
            s[l] = is_seen[l * p->bias.row] ? s[l] : -INFINITY;
    else
        for (int64_t l = 0; l < n; l++)
            s[l] += f[l * p->bias.row];
}
