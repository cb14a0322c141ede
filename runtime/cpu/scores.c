// Computes attention's scores for blocks of keys and queries: products, bias and dropout factors.
#include <math.h>
#include <string.h>

#include "runtime/cpu/scores.h"

void rt_copy_rows(RtType t, float *to, const void *a, int64_t row, int64_t col, int64_t rows,
                  int64_t columns, int64_t padded)
{
    rt_read_floats(t, to, padded, a, row, col, rows, columns);
    for (int64_t i = 0; i < rows && padded > columns; i++)
        memset(to + i * padded + columns, 0, sizeof(float) * (size_t)(padded - columns));
}

void rt_clear_rows(float *to, int64_t row, int64_t col, int64_t rows, int64_t columns)
{
    for (int64_t i = 0; i < rows; i++) {
        float *y = to + i * row;

        if (col == 1)
            memset(y, 0, sizeof(float) * (size_t)columns);
        else
            for (int64_t j = 0; j < columns; j++)
                y[j * col] = 0;
    }
}

// Packs a panel of halves, some rows at a time.
static void widen_panel(RtType t, float *to, const void *b, int64_t row, int64_t col, int64_t k,
                        int64_t n)
{
    enum { PART = 128 };
    float part[RT_NR * PART];

    for (int64_t at = 0; at < k; at += PART) {
        int64_t rows = rt_least(PART, k - at);
        const void *from = rt_at(t, b, at * row);

        if (row == 1)
            rt_read_floats(t, part, PART, from, col, row, n, rows);
        else
            rt_read_floats(t, part, RT_NR, from, row, col, rows, n);
        rt_pack_panel(to + at * RT_NR, part, row == 1 ? 1 : RT_NR, row == 1 ? PART : 1, rows, n);
    }
}

void rt_pack_columns(RtType t, float *to, const void *b, int64_t row, int64_t col, int64_t k,
                     int64_t n)
{
    for (int64_t j = 0; j < n; j += RT_NR) {
        const void *from = rt_at(t, b, j * col);

        if (rt_is_half(t))
            widen_panel(t, to + j * k, from, row, col, k, rt_least(RT_NR, n - j));
        else
            rt_pack_panel(to + j * k, from, row, col, k, rt_least(RT_NR, n - j));
    }
}

void rt_prefetch_push(RtType t, RtPrefetchQueue *queue, const void *at, int64_t row, int64_t col,
                      int64_t rows, int64_t columns)
{
    int64_t per_float = (int64_t)sizeof(float) / rt_type_bytes(t);

    if (col != 1 || rows <= 0 || row % per_float || queue->n == RT_MAX_PREFETCH)
        return;
    queue->matrix[queue->n].at = at;
    queue->matrix[queue->n].row = row / per_float;
    queue->matrix[queue->n].rows = rows;
    queue->matrix[queue->n++].lines = rt_ceil_div(columns, RT_LINE * per_float);
}

void rt_products(float *y, int64_t first, RtRange seen, int64_t keys, const float *k, int64_t k_row,
                 const float *q, int64_t length, RtPrefetchQueue *queue)
{
    for (int64_t i = 0; i < keys; i += RT_MR) {
        float *to = y + i * RT_ROWS + first;

        if (i < seen.last && i + RT_MR > seen.first) {
            int64_t step;
            const float *at = rt_prefetch_next(queue, length, q, &step);
            rt_tile_prefetch(to, RT_ROWS, false, length, k + i * k_row, k_row, 1, q, RT_NR, at,
                             step);
        } else {
            for (int r = 0; r < RT_MR; r++)
                memset(to + r * RT_ROWS, 0, sizeof(float) * RT_NR);
        }
    }
}

// Turns a row of a mask into a bias that rt_add_bias reads.
static void widen(float *to, const uint8_t *is_seen, int64_t step, int64_t n)
{
    if (step == 1)
#pragma omp simd
        for (int64_t i = 0; i < n; i++)
            to[i] = is_seen[i] ? 0 : -INFINITY;
    else
        for (int64_t i = 0; i < n; i++)
            to[i] = is_seen[i * step] ? 0 : -INFINITY;
}

const float *rt_bias(const RtAttention *p, const RtScores *b, int64_t first, RtRange seen,
                     float *scratch)
{
    int64_t row = p->bias.row, col = p->bias.col, keys = seen.last - seen.first;
    int64_t at = (b->row + first) * row + (b->key + seen.first) * col;
    int64_t rows = rt_least(RT_NR, b->rows - first);
    const float *bias = (const float *)b->bias + at;

    if (!p->has_bias || row == 0)
        return NULL;
    if (p->bool_bias) {
        const uint8_t *is_seen = (const uint8_t *)b->bias + at;
        float *to = scratch + RT_KEYS * RT_NR;
        for (int64_t l = 0; l < rows; l++)
            widen(to + l * keys, is_seen + l * row, col, keys);
        bias = to;
        row = keys;
        col = 1;
    }
    rt_pack_panel(scratch, bias, col, row, keys, rows);
    return scratch;
}

// ---- limits ----

// The largest norm of a row.
static double largest_norm(RtType t, const void *x, const RtStrides *stride, int64_t rows,
                           int64_t columns)
{
    enum { PART = 128 };
    double most = 0;

    for (int64_t i = 0; i < rows; i++) {
        float sum = 0, part[PART];
        for (int64_t j = 0; j < columns; j += PART) {
            int64_t n = rt_least(PART, columns - j);

            rt_read_floats(t, part, 0, rt_at(t, x, i * stride->row + j * stride->col), 0,
                           stride->col, 1, n);
            for (int64_t c = 0; c < n; c++)
                sum += part[c] * part[c];
        }
        most = (double)sum > most || sum != sum ? (double)sum : most;
    }
    return sqrt(most);
}

static double largest_bias(const RtAttention *p, const float *bias)
{
    int64_t rows = p->bias.row ? p->s : 1, columns = p->bias.col ? p->t : 1;
    float most = -INFINITY;

    for (int64_t i = 0; i < rows; i++)
        for (int64_t j = 0; j < columns; j++) {
            float x = bias[i * p->bias.row + j * p->bias.col];
            most = x > most || x != x ? x : most;
        }
    return (double)most;
}

float rt_outside_most(const RtAttention *p, const void *q, const void *k, const void *bias)
{
    double most = (double)rt_mask_number(p->outside), hidden = (double)rt_mask_number(p->hidden);

    if (p->outside_added)  // 1.001: for the rounding of both norms and of the products
        most += 1.001 * fabs((double)p->scale) * largest_norm(p->type, q, &p->q, p->s, p->e) *
                largest_norm(p->type, k, &p->k, p->t, p->e);
    if (p->bool_bias && hidden > most)
        most = hidden;
    if (p->has_bias && !p->bool_bias && (p->outside_added || p->order == RT_LIMITS_FIRST))
        most += largest_bias(p, bias);
    return (float)most;
}

// ---- dropout ----

typedef struct Drop {
    uint32_t least;  // a weight is kept if the upper 24 bits of its random number are at least this
    float factor;    // factor of weights that are kept
} Drop;

// Draws four consecutive elements of a query. A separate function, because gcc doesn't vectorize a
// loop that contains an array.
static inline void draw(const RtAttention *p, Drop d, uint64_t key, uint64_t block, float *to)
{
    uint32_t c[4];

    rt_draw(c, key, p->site, p->layer, block);
    to[0] = c[0] >> 8 < d.least ? 0 : d.factor;
    to[RT_NR] = c[1] >> 8 < d.least ? 0 : d.factor;
    to[2 * RT_NR] = c[2] >> 8 < d.least ? 0 : d.factor;
    to[3 * RT_NR] = c[3] >> 8 < d.least ? 0 : d.factor;
}

// Draws the factors if a query's random numbers aren't consecutive.
static void draw_strided(const RtAttention *p, Drop d, uint64_t key, int64_t element, int64_t keys,
                         float *to)
{
    for (int64_t t = 0; t < keys; t++)
        for (int l = 0; l < RT_NR; l++) {
            uint64_t e = (uint64_t)(element + l * p->drop.row + t * p->drop.col);
            uint32_t c[4];

            rt_draw(c, key, p->site, p->layer, e / 4);
            to[t * RT_NR + l] = c[e % 4] >> 8 < d.least ? 0 : d.factor;
        }
}

// Moves each column l of a matrix with rows of RT_NR up by shift[l], 0 to 3 rows.
static void shift_columns(float *x, int64_t rows, const uint32_t *shift)
{
    for (int64_t t = 0; t < rows; t++, x += RT_NR)
#pragma omp simd
        for (int l = 0; l < RT_NR; l++) {
            float even = shift[l] & 2 ? x[2 * RT_NR + l] : x[l];
            float odd = shift[l] & 2 ? x[3 * RT_NR + l] : x[RT_NR + l];
            x[l] = shift[l] & 1 ? odd : even;
        }
}

const float *rt_drop(const RtAttention *p, const RtScores *b, int64_t first, RtRange seen,
                     float *scratch)
{
    Drop d = {(uint32_t)ceil((double)p->rate * 0x1p24), 1 / (1 - p->rate)};
    int64_t keys = seen.last - seen.first, row = b->row + first, key = b->key + seen.first;
    int64_t element = b->draw.element + row * p->drop.row + key * p->drop.col;
    uint64_t block[RT_NR];
    uint32_t shift[RT_NR], all = 0;

    if (p->drop.col != 1) {
        draw_strided(p, d, b->draw.key, element, keys, scratch);
        return scratch;
    }
    for (int l = 0; l < RT_NR; l++) {
        uint64_t e = (uint64_t)(element + l * p->drop.row);
        block[l] = e / 4;
        shift[l] = e % 4;
        all |= shift[l] ^ shift[0];
    }
    for (int64_t j = 0; j < keys + 3; j += 4)
#pragma omp simd
        for (int l = 0; l < RT_NR; l++)
            draw(p, d, b->draw.key, block[l] + (uint64_t)j / 4, scratch + j * RT_NR + l);
    if (!all)
        return scratch + shift[0] * RT_NR;
    shift_columns(scratch, keys, shift);
    return scratch;
}
