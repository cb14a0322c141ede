// Gradients of attention, probabilities computed anew from the log-sum-exp of each query (Dao et
// al. 2022): with p = exp(scores - lse) and D = Σ dy y of a query,
//     dv = p' dy,   ds = p (dy v' - D) scale,   dq = ds k,   dk = ds' q.
// A thread has a head of k and v to itself, with all queries that read it, in a fixed order.
#include <string.h>

#include "runtime/cpu/scores.h"

enum { QUERIES = RT_ROWS / 2 };  // packed at once

// One thread's memory, in rt->workspace. Packed operands are named after what they are and which
// side of a product they are on: rows of the left, columns of the right one.
typedef struct Work {
    float *k_t, *v_t, *k;     // right: k' and v' for the scores, k for dq
    float *q_rows, *dy_rows;  // left, for the scores
    float *q, *dy;            // right, for dk and dv
    float *dk, *dv;           // [RT_KEYS][e_room], [RT_KEYS][f_room]
    float *p, *ds;            // [QUERIES][RT_KEYS]
    float *lse, *d;           // [QUERIES]
    int64_t e_room, f_room;
} Work;

static Work work_at(const RtAttention *p, char *workspace, int rank)
{
    int64_t e = rt_round_up(p->e, RT_PANEL), f = rt_round_up(p->f, RT_PANEL);
    Work w = {.e_room = e, .f_room = f};

    w.k_t = (float *)(workspace + rank * rt_attention_thread(p));
    w.v_t = w.k_t + RT_KEYS * e;
    w.k = w.v_t + RT_KEYS * f;
    w.q_rows = w.k + RT_KEYS * e;
    w.dy_rows = w.q_rows + QUERIES * e;
    w.q = w.dy_rows + QUERIES * f;
    w.dy = w.q + QUERIES * e;
    w.dk = w.dy + QUERIES * f;
    w.dv = w.dk + RT_KEYS * e;
    w.p = w.dv + RT_KEYS * f;
    w.ds = w.p + QUERIES * RT_KEYS;
    w.lse = w.ds + QUERIES * RT_KEYS;
    w.d = w.lse + QUERIES;
    return w;
}

// The operands of one head and group.
typedef struct Head {
    const float *q, *k, *v, *y, *lse, *dy;
    const void *bias;
    float *dq, *dk, *dv;
} Head;

static void pack_queries(const RtAttention *p, const Work *w, const Head *h, int64_t row,
                         int64_t rows)
{
    const float *q = h->q + row * p->q.row, *dy = h->dy + row * p->dy.row;
    const float *y = h->y + row * p->y.row;

    rt_pack_rows(w->q_rows, q, p->q.row, p->q.col, rows, p->e);
    rt_pack_rows(w->dy_rows, dy, p->dy.row, p->dy.col, rows, p->f);
    rt_pack_columns(w->q, q, p->q.row, p->q.col, rows, p->e, QUERIES);
    rt_pack_columns(w->dy, dy, p->dy.row, p->dy.col, rows, p->f, QUERIES);
    for (int64_t i = 0; i < rows; i++) {
        float lse = h->lse[(row + i) * p->lse.row], d = 0;

        for (int64_t j = 0; j < p->f; j++)
            d += y[i * p->y.row + j * p->y.col] * dy[i * p->dy.row + j * p->dy.col];
        w->d[i] = d;
        w->lse[i] = lse == -INFINITY ? INFINITY : lse;  // a query that sees nothing: p = 0
    }
}

// p and ds of the packed queries and keys; zero outside of what is seen.
static void probabilities(const RtAttention *p, const Work *w, const void *bias, int64_t row,
                          int64_t rows, int64_t key, int64_t keys)
{
    float c[RT_MR][RT_NR];

    memset(w->p, 0, sizeof(float) * QUERIES * RT_KEYS);
    memset(w->ds, 0, sizeof(float) * QUERIES * RT_KEYS);
    for (int64_t i = 0; i < rows; i += RT_MR) {
        float(*s)[RT_KEYS] = (float(*)[RT_KEYS])(w->p + i * RT_KEYS);
        float(*ds)[RT_KEYS] = (float(*)[RT_KEYS])(w->ds + i * RT_KEYS);
        int64_t n = rt_least(RT_MR, rows - i);
        RtKeys seen = rt_seen(p, row + i, n);
        int64_t first = rt_most(seen.first - key, 0) / RT_NR * RT_NR;
        int64_t last = rt_least(seen.last - key, keys);

        if (last <= first)
            continue;
        rt_scores(p, s, w->q_rows + i * p->e, w->k_t, bias, row + i, n, key, first, last);
        for (int64_t j = first; j < last; j += RT_NR) {
            rt_tile(c[0], RT_NR, false, p->f, w->dy_rows + i * p->f, 1, RT_MR, w->v_t + j * p->f,
                    RT_NR);
            for (int64_t r = 0; r < n; r++) {
                float lse = w->lse[i + r], d = w->d[i + r];
#pragma omp simd
                for (int64_t k = 0; k < RT_NR; k++) {
                    float x = rt_expf(s[r][j + k] - lse);
                    s[r][j + k] = x;
                    ds[r][j + k] = x * (c[r][k] - d) * p->scale;
                }
            }
            for (int64_t r = n; r < RT_MR; r++)
                memset(&s[r][j], 0, sizeof(float) * RT_NR);
        }
    }
}

// to[i][j] += Σ_r left[r][i] right[r][j] over the packed queries: i a key, j a column.
static void add_over_queries(float *to, int64_t room, const float *left, const float *right,
                             int64_t rows, int64_t keys, int64_t columns)
{
    float c[RT_MR][RT_NR];

    for (int64_t j = 0; j < columns; j += RT_NR)
        for (int64_t i = 0; i < keys; i += RT_MR) {
            // The last tile of keys may reach beyond the block: it is moved back, and the keys that
            // the one before has done already are left out.
            int64_t from = rt_least(i, RT_KEYS - RT_MR);

            rt_tile(c[0], RT_NR, false, rows, left + from, 1, RT_KEYS, right + j * QUERIES, RT_NR);
            for (int64_t r = i - from; r < RT_MR; r++)
                for (int64_t k = 0; k < RT_NR; k++)
                    to[(from + r) * room + j + k] += c[r][k];
        }
}

static void add_dq(const RtAttention *p, const Work *w, float *dq, int64_t rows, int64_t keys)
{
    float c[RT_MR][RT_NR];

    for (int64_t j = 0; j < p->e; j += RT_NR)
        for (int64_t i = 0; i < rows; i += RT_MR) {
            rt_tile(c[0], RT_NR, false, keys, w->ds + i * RT_KEYS, RT_KEYS, 1, w->k + j * RT_KEYS,
                    RT_NR);
            for (int64_t r = 0; r < rt_least(RT_MR, rows - i); r++)
                for (int64_t k = 0; k < rt_least(RT_NR, p->e - j); k++)
                    dq[(i + r) * p->dq.row + (j + k) * p->dq.col] += c[r][k];
        }
}

static void block(const RtAttention *p, const Work *w, const Head *h, int64_t key, int64_t keys)
{
    for (int64_t row = 0; row < p->s; row += QUERIES) {
        int64_t rows = rt_least(QUERIES, p->s - row);
        RtKeys seen = rt_seen(p, row, rows);

        if (seen.last <= key || seen.first >= key + keys)
            continue;
        pack_queries(p, w, h, row, rows);
        probabilities(p, w, h->bias, row, rows, key, keys);
        add_over_queries(w->dv, w->f_room, w->p, w->dy, rows, keys, p->f);
        add_over_queries(w->dk, w->e_room, w->ds, w->q, rows, keys, p->e);
        add_dq(p, w, h->dq + row * p->dq.row, rows, keys);
    }
}

static void store(float *to, int64_t row, int64_t col, const float *from, int64_t room,
                  int64_t rows, int64_t columns)
{
    for (int64_t i = 0; i < rows; i++)
        for (int64_t j = 0; j < columns; j++)
            to[i * row + j * col] = from[i * room + j];
}

static void clear(float *to, int64_t row, int64_t col, int64_t rows, int64_t columns)
{
    for (int64_t i = 0; i < rows; i++)
        for (int64_t j = 0; j < columns; j++)
            to[i * row + j * col] = 0;
}

static Head head_at(const RtAttention *p, const Head *all, int64_t b, int64_t g)
{
    Head h = {.q = all->q + RT_HEAD(p, q, b, g),
              .k = all->k + RT_HEAD(p, k, b, g),
              .v = all->v + RT_HEAD(p, v, b, g),
              .y = all->y + RT_HEAD(p, y, b, g),
              .lse = all->lse + RT_HEAD(p, lse, b, g),
              .dy = all->dy + RT_HEAD(p, dy, b, g),
              .dq = all->dq + RT_HEAD(p, dq, b, g),
              .dk = all->dk + RT_HEAD(p, dk, b, g),
              .dv = all->dv + RT_HEAD(p, dv, b, g)};

    if (p->has_bias)
        h.bias = (const char *)all->bias + RT_HEAD(p, bias, b, g) * (p->bool_bias ? 1 : 4);
    return h;
}

// One batch entry: k and v's head with all its groups of queries.
static void entry(const RtAttention *p, const Work *w, const Head *all, int64_t b)
{
    int64_t groups = rt_product(p->group, p->n_group);
    Head first = head_at(p, all, b, 0);

    for (int64_t g = 0; g < groups; g++)
        clear(head_at(p, all, b, g).dq, p->dq.row, p->dq.col, p->s, p->e);
    for (int64_t key = 0; key < p->t; key += RT_KEYS) {
        int64_t keys = rt_least(RT_KEYS, p->t - key);
        const float *k = first.k + key * p->k.row, *v = first.v + key * p->v.row;

        rt_pack_columns(w->k_t, k, p->k.col, p->k.row, p->e, keys, p->e);
        rt_pack_columns(w->v_t, v, p->v.col, p->v.row, p->f, keys, p->f);
        rt_pack_columns(w->k, k, p->k.row, p->k.col, keys, p->e, RT_KEYS);
        memset(w->dk, 0, sizeof(float) * (size_t)(RT_KEYS * w->e_room));
        memset(w->dv, 0, sizeof(float) * (size_t)(RT_KEYS * w->f_room));
        for (int64_t g = 0; g < groups; g++) {
            Head h = head_at(p, all, b, g);
            block(p, w, &h, key, keys);
        }
        store(first.dk + key * p->dk.row, p->dk.row, p->dk.col, w->dk, w->e_room, keys, p->e);
        store(first.dv + key * p->dv.row, p->dv.row, p->dv.col, w->dv, w->f_room, keys, p->f);
    }
}

void rt_attention_grad(Rt *rt, const RtAttention *p, void *dq, void *dk, void *dv, const void *q,
                       const void *k, const void *v, const void *bias, const void *y,
                       const void *lse, const void *dy)
{
    int64_t batches = rt_product(p->batch, p->n_batch), groups = rt_product(p->group, p->n_group);
    int team = rt_team(rt, batches * groups * p->s * (p->t + 1) * (p->e + p->f + 1) / 8);
    Head all = {q, k, v, y, lse, dy, bias, dq, dk, dv};

#pragma omp parallel num_threads(team)
    {
        Work w = work_at(p, rt->workspace, omp_get_thread_num());

#pragma omp for schedule(static, 1)
        for (int64_t b = 0; b < batches; b++)
            entry(p, &w, &all, b);
    }
}
