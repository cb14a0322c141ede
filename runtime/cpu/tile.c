// The micro-kernel of fused multiply-adds: packs panels and multiplies them tile by tile.
#include "runtime/cpu/tile.h"

#include <string.h>

// Packs a panel of b with contiguous columns, transposing it block by block.
static void pack_columns(float *to, const float *b, int64_t b_n, int64_t k)
{
    int64_t p = 0;

    for (; p + RT_TRANSPOSE_BLOCK <= k; p += RT_TRANSPOSE_BLOCK)
        for (int64_t j = 0; j < RT_NR; j += RT_TRANSPOSE_BLOCK)
            rt_transpose_block(to + p * RT_NR + j, RT_NR, b + p + j * b_n, b_n);
    for (; p < k; p++)
        for (int64_t j = 0; j < RT_NR; j++)
            to[p * RT_NR + j] = b[p + j * b_n];
}

void rt_pack_panel(float *to, const float *b, int64_t b_k, int64_t b_n, int64_t k, int64_t n)
{
    if (n < RT_NR)
        memset(to, 0, sizeof(float) * (size_t)(k * RT_NR));
    if (b_n == 1 && n == RT_NR)
        for (int64_t p = 0; p < k; p++)
            memcpy(to + p * RT_NR, b + p * b_k, sizeof(float) * RT_NR);
    else if (b_k == 1 && n == RT_NR)
        pack_columns(to, b, b_n, k);
    else
        for (int64_t p = 0; p < k; p++)
            for (int64_t j = 0; j < n; j++)
                to[p * RT_NR + j] = b[p * b_k + j * b_n];
}

static void pack_panel(void *to, const RtSide *b)
{
    rt_pack_panel(to, b->at, b->k_step, b->step, b->k, b->n);
}

// Distance of the rows in a packed panel: one cache line more than they need, against cache
// conflicts.
enum { LINE = 16, PADDING = 2 * LINE - 1 };
static int64_t row_step(int64_t k) { return rt_round_up(k, LINE) + LINE; }

// Packs contiguous rows of a, with zeros after the last one.
static void pack_by_row(void *panel, const RtSide *a)
{
    int64_t step = row_step(a->k);
    float *to = panel;
    const float *from = a->at;

    if (a->n < RT_MR)
        memset(to, 0, sizeof(float) * (size_t)(RT_MR * step));
    for (int64_t i = 0; i < a->n; i++)
        memcpy(to + i * step, from + i * a->step, sizeof(float) * (size_t)a->k);
}

// Packs columns of RT_MR elements, with zeros after the last row.
static void pack_by_column(void *panel, const RtSide *a)
{
    float *to = panel;
    const float *from = a->at;

    if (a->n < RT_MR)
        memset(to, 0, sizeof(float) * (size_t)(RT_MR * a->k));
    if (a->step == 1 && a->n == RT_MR)
        for (int64_t p = 0; p < a->k; p++)
            memcpy(to + p * RT_MR, from + p * a->k_step, sizeof(float) * RT_MR);
    else
        for (int64_t p = 0; p < a->k; p++)
            for (int64_t i = 0; i < a->n; i++)
                to[p * RT_MR + i] = from[p * a->k_step + i * a->step];
}

// Prefetches a tile of y while its sums are computed.
static void prefetch(const float *y, int64_t y_m)
{
    for (int64_t i = 0; i < RT_MR; i++)
        for (int j = 0; j < RT_NR; j += 16)
            __builtin_prefetch(y + i * y_m + j, 1);
}

// Floats of the next panel of b that each iteration of a tile's loop prefetches.
enum { PREFETCH_FLOATS = 4 };

// One part of k. Element (i, p) of a panel of rows is at a[i * a_i + p * a_p].
static inline void multiply_part(const RtStrip *s, int64_t k, const char *a, const float *b,
                                 const float *prefetched, bool is_more, int64_t a_i, int64_t a_p)
{
    float c[RT_MR * RT_NR] __attribute__((aligned(64)));
    float *y = s->y;

    for (int64_t rows_left = s->m; rows_left > 0; rows_left -= RT_MR, y += RT_MR * s->y_m) {
        bool is_whole = rows_left >= RT_MR && s->n == RT_NR && s->y_n == 1;

        if (is_whole)
            prefetch(y, s->y_m);
        if (s->n <= RT_NR / 2)
            rt_tile_columns(RT_NR / 2, c, RT_NR, false, k, (const float *)a, a_i, a_p, b, RT_NR,
                            prefetched, PREFETCH_FLOATS);
        else
            rt_tile_prefetch(is_whole ? y : c, is_whole ? s->y_m : RT_NR, is_whole && is_more, k,
                             (const float *)a, a_i, a_p, b, RT_NR, prefetched, PREFETCH_FLOATS);
        if (!is_whole)
            rt_store_edge(s, y, rt_least(rows_left, RT_MR), c, RT_NR, is_more);
        a += s->a_step;
        prefetched += k * PREFETCH_FLOATS;
    }
}

static inline void multiply(const RtStrip *s, bool is_by_row)
{
    const float *b = (const float *)s->b, *prefetched = (const float *)s->prefetched;
    const char *a = s->a;

    for (int64_t at = 0; at < s->k; at += s->part, a += s->a_part) {
        int64_t k = rt_least(s->part, s->k - at);

        multiply_part(s, k, a, b + at * RT_NR, prefetched + at * RT_NR, s->is_more || at > 0,
                      is_by_row ? row_step(k) : 1, is_by_row ? 1 : RT_MR);
    }
}

static void multiply_by_row(const RtStrip *s) { multiply(s, true); }
static void multiply_by_column(const RtStrip *s) { multiply(s, false); }

// Parts of 256: longer chains have larger rounding errors.
#define COMMON                                                                                     \
    .type = RT_F32, .rows = RT_MR, .columns = RT_NR, .panels = 8, .bytes = sizeof(float),          \
    .k_unit = 1, .part = 256, .pack_columns = pack_panel

const RtMicro rt_micro_rows = {COMMON, .row_padding = PADDING, .pack_rows = pack_by_row,
                               .multiply = multiply_by_row};
const RtMicro rt_micro_columns = {COMMON, .pack_rows = pack_by_column,
                                  .multiply = multiply_by_column};
