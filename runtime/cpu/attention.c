// softmax(scale · q·k + bias) · v, without ever holding a row of scores: blocks of keys pass by,
// and each query keeps its largest score and its sum so far (online softmax: Milakov and Gimelshein
// 2018; tiled: Dao et al., "FlashAttention", 2022).
#include <string.h>

#include "runtime/cpu/scores.h"

// One thread's memory, in rt->workspace.
typedef struct Work {
    float *q, *k, *v;   // packed: RT_ROWS queries, RT_KEYS keys, RT_KEYS values
    float *y;           // [RT_ROWS][f_room] sums of values
    float *most, *sum;  // of each query
    int64_t f_room;
} Work;

static Work work_at(const RtAttention *p, char *workspace, int rank)
{
    int64_t e_room = rt_round_up(p->e, RT_PANEL), f_room = rt_round_up(p->f, RT_PANEL);
    Work w = {.f_room = f_room};

    w.q = (float *)(workspace + rank * rt_attention_thread(p));
    w.k = w.q + RT_ROWS * e_room;
    w.v = w.k + RT_KEYS * e_room;
    w.y = w.v + RT_KEYS * f_room;
    w.most = w.y + RT_ROWS * f_room;
    w.sum = w.most + RT_ROWS;
    return w;
}

// Scores become probabilities up to a common factor; `keep` is what earlier sums are worth now.
static float row_softmax(float *s, int64_t first, int64_t end, float *most, float *sum)
{
    float m = *most, total = 0;

    for (int64_t j = first; j < end; j++)
        m = rt_maxf(s[j], m);
    float shift = m == -INFINITY ? 0 : m;
#pragma omp simd
    for (int64_t j = first; j < end; j++)
        s[j] = rt_expf(s[j] - shift);
#pragma omp simd reduction(+ : total)
    for (int64_t j = first; j < end; j++)
        total += s[j];
    float keep = rt_expf(*most - shift);
    *most = m;
    *sum = *sum * keep + total;
    return keep;
}

// y[i] = y[i] keep[i] + Σ_j s[i][j] v[j].
static void add_values(const Work *w, float s[RT_MR][RT_KEYS], const float *keep, float *y,
                       int64_t f, int64_t first, int64_t end)
{
    float c[RT_MR][RT_NR];

    for (int64_t j = 0; j < f; j += RT_NR) {
        rt_tile(c[0], RT_NR, false, end - first, &s[0][first], RT_KEYS, 1,
                w->v + j * RT_KEYS + first * RT_NR, RT_NR);
        for (int i = 0; i < RT_MR; i++)
            for (int k = 0; k < RT_NR; k++)
                y[i * w->f_room + j + k] = y[i * w->f_room + j + k] * keep[i] + c[i][k];
    }
}

// All queries [row, row + rows) of a chunk against the packed block of keys [key, key + keys).
static void block(const RtAttention *p, const Work *w, const void *bias, int64_t row, int64_t rows,
                  int64_t key, int64_t keys)
{
    float s[RT_MR][RT_KEYS] __attribute__((aligned(64)));

    for (int64_t i = 0; i < rows; i += RT_MR) {
        int64_t n = rt_least(RT_MR, rows - i);
        RtKeys seen = rt_seen(p, row + i, n);
        int64_t first = rt_most(seen.first - key, 0) / RT_NR * RT_NR;
        int64_t last = rt_least(seen.last - key, keys), end = rt_round_up(last, RT_NR);
        float keep[RT_MR] = {0};

        if (last <= first)
            continue;
        rt_scores(p, s, w->q + i * p->e, w->k, bias, row + i, n, key, first, last);
        for (int64_t r = 0; r < RT_MR; r++)
            keep[r] = row_softmax(s[r], first, end, &w->most[i + r], &w->sum[i + r]);
        add_values(w, s, keep, w->y + i * w->f_room, p->f, first, end);
    }
}

static void finish(const RtAttention *p, const Work *w, float *y, float *lse, int64_t rows)
{
    for (int64_t i = 0; i < rows; i++) {
        float factor = w->sum[i] == 0 ? 0 : 1 / w->sum[i];

        for (int64_t j = 0; j < p->f; j++)
            y[i * p->y.row + j * p->y.col] = w->y[i * w->f_room + j] * factor;
        lse[i * p->lse.row] = w->sum[i] == 0 ? -INFINITY : w->most[i] + rt_logf(w->sum[i]);
    }
}

// The operands of one head.
typedef struct Head {
    const float *q, *k, *v;
    const void *bias;
    float *y, *lse;
} Head;

static void chunk(const RtAttention *p, const Work *w, const Head *h, int64_t row)
{
    int64_t rows = rt_least(RT_ROWS, p->s - row);
    RtKeys seen = rt_seen(p, row, rows);

    rt_pack_rows(w->q, h->q + row * p->q.row, p->q.row, p->q.col, rows, p->e);
    memset(w->y, 0, sizeof(float) * (size_t)(RT_ROWS * w->f_room));
    for (int64_t i = 0; i < RT_ROWS; i++) {
        w->most[i] = -INFINITY;
        w->sum[i] = 0;
    }
    for (int64_t key = seen.first / RT_KEYS * RT_KEYS; key < seen.last; key += RT_KEYS) {
        int64_t keys = rt_least(RT_KEYS, p->t - key);

        // Columns of k' are keys; rows of v beyond the last key meet weights of 0, so must not be
        // NaN.
        rt_pack_columns(w->k, h->k + key * p->k.row, p->k.col, p->k.row, p->e, keys, p->e);
        if (keys % RT_NR)
            memset(w->v, 0, sizeof(float) * (size_t)(RT_KEYS * w->f_room));
        rt_pack_columns(w->v, h->v + key * p->v.row, p->v.row, p->v.col, keys, p->f, RT_KEYS);
        block(p, w, h->bias, row, rows, key, keys);
    }
    finish(p, w, h->y + row * p->y.row, h->lse + row * p->lse.row, rows);
}

void rt_attention(Rt *rt, const RtAttention *p, void *y, void *lse, const void *q, const void *k,
                  const void *v, const void *bias)
{
    int64_t batches = rt_product(p->batch, p->n_batch), groups = rt_product(p->group, p->n_group);
    int64_t chunks = rt_ceil_div(p->s, RT_ROWS);
    int team = rt_team(rt, batches * groups * p->s * (p->t + 1) * (p->e + p->f + 1) / 16);

#pragma omp parallel num_threads(team)
    {
        Work w = work_at(p, rt->workspace, omp_get_thread_num());

        // Later queries may see more keys: pieces are handed out in turn.
#pragma omp for schedule(static, 1)
        for (int64_t i = 0; i < batches * groups * chunks; i++) {
            int64_t b = i / chunks / groups, g = i / chunks % groups;
            Head h = {.q = (const float *)q + RT_HEAD(p, q, b, g),
                      .k = (const float *)k + RT_HEAD(p, k, b, g),
                      .v = (const float *)v + RT_HEAD(p, v, b, g),
                      .y = (float *)y + RT_HEAD(p, y, b, g),
                      .lse = (float *)lse + RT_HEAD(p, lse, b, g)};

            if (p->has_bias)
                h.bias = (const char *)bias + RT_HEAD(p, bias, b, g) * (p->bool_bias ? 1 : 4);
            chunk(p, &w, &h, i % chunks * RT_ROWS);
        }
    }
}
