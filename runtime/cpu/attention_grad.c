// Gradients of attention. Probabilities are recomputed from each query's maximum and sum, which
// gives them the bits that they had (after Dao et al. 2022, who keep the logarithm of the sum: its
// bits are lost next to a large maximum). With p = exp(scores - max) / sum and D = Σ dy y of a
// query:
//     dv = p' dy,   ds = p (dy v' - D) scale,   dq = ds k,   dk = ds' q,
// and with dropout, which multiplies p by m,   dv = (p m)' dy,   ds = p (m dy v' - D) scale.
// One thread handles a head of k and v with all queries that read it, in a fixed order. Halves are
// widened while blocks are packed. The sums of dq, dk and dv are f32; those of dq are dq itself, if
// that isn't a half.
#include <string.h>

#include "runtime/cpu/scores.h"

// One thread's memory, in rt->workspace.
typedef struct Work {
    float *k, *v;                         // [RT_KEYS][e_padded], [RT_KEYS][f_padded]
    float *q_transposed, *dy_transposed;  // panels of RT_NR queries
    float *q, *dy;                        // [RT_ROWS][e_padded], [RT_ROWS][f_padded]
    float *dk, *dv;                       // as k and v
    float *p, *ds;                        // [RT_KEYS][RT_ROWS]
    float *max, *part, *d;                // by query; part: 1 / sum
    float *drop, *bias;                   // for RT_NR queries: scratch of rt_drop and rt_bias
    float *dq;                            // [groups][s][e_padded], of halves
    int64_t e_padded, f_padded;
    RtPrefetchQueue queue;
} Work;

static Work work_at(const RtAttention *p, char *workspace, int rank, int threads)
{
    int64_t e = rt_round_up(p->e, RT_PANEL), f = rt_round_up(p->f, RT_PANEL);
    Work w = {.e_padded = e, .f_padded = f};

    w.k = (float *)(workspace + rank * rt_attention_thread(p));
    w.v = w.k + RT_KEYS * e;
    w.q_transposed = w.v + RT_KEYS * f;
    w.dy_transposed = w.q_transposed + RT_ROWS * e;
    w.q = w.dy_transposed + RT_ROWS * f;
    w.dy = w.q + RT_ROWS * e;
    w.dk = w.dy + RT_ROWS * f;
    w.dv = w.dk + RT_KEYS * e;
    w.p = w.dv + RT_KEYS * f;
    w.ds = w.p + RT_KEYS * RT_ROWS;
    w.max = w.ds + RT_KEYS * RT_ROWS;
    w.part = w.max + RT_ROWS;
    w.d = w.part + RT_ROWS;
    w.drop = w.d + RT_ROWS;
    w.bias = w.drop + rt_drop_floats(p);
    w.dq = (float *)(void *)(workspace + rt_attention_workspace(p, threads)) +
           rank * rt_attention_dq(p);
    return w;
}

// The operands of one head and group.
typedef struct Head {
    const void *q, *k, *v, *y;
    const float *max, *sum;
    const void *dy, *bias;
    void *dq, *dk, *dv;
    RtDraw draw;
} Head;

// The sums of a head's dq, with the strides of f32.
typedef struct Sums {
    float *at;
    int64_t row, col;
} Sums;

static Sums sums_of(const RtAttention *p, const Work *w, const Head *h, int64_t group)
{
    return rt_is_half(p->type) ? (Sums){w->dq + group * p->s * w->e_padded, w->e_padded, 1}
                               : (Sums){h->dq, p->dq.row, p->dq.col};
}

// D of one query, dy·y: added up as tiles add up dy·v, so that the two are equal where softmax has
// chosen one key and y is its v. Their difference, times keys and queries, is the gradient.
static float sum_of_products(RtType t, const void *y, int64_t col, const float *dy, int64_t n)
{
    enum { PART = 128 };
    float sum = 0, part[PART];

    for (int64_t at = 0; at < n; at += PART) {
        int64_t columns = rt_least(PART, n - at);

        rt_read_floats(t, part, 0, rt_at(t, y, at * col), 0, col, 1, columns);
        for (int64_t j = 0; j < columns; j++)
            sum = RT_FMA(part[j], dy[at + j], sum);
    }
    return sum;
}

// The factor of a row's weights. A row of padding has the sum 0, and no weights.
static inline float part_of(float sum) { return sum == 0 ? 0 : 1 / sum; }

static void pack_queries(const RtAttention *p, const Work *w, const Head *h, int64_t row,
                         int64_t rows)
{
    RtType t = p->type;
    const void *q = rt_at(t, h->q, row * p->q.row), *dy = rt_at(t, h->dy, row * p->dy.row);

    rt_pack_columns(t, w->q_transposed, q, p->q.col, p->q.row, p->e, rows);
    rt_pack_columns(t, w->dy_transposed, dy, p->dy.col, p->dy.row, p->f, rows);
    rt_copy_rows(t, w->q, q, p->q.row, p->q.col, rows, p->e, w->e_padded);
    rt_copy_rows(t, w->dy, dy, p->dy.row, p->dy.col, rows, p->f, w->f_padded);
    for (int64_t i = 0; i < rt_round_up(rows, RT_NR); i++) {
        bool is_inside = i < rows;

        w->d[i] = is_inside ? sum_of_products(t, rt_at(t, h->y, (row + i) * p->y.row), p->y.col,
                                              w->dy + i * w->f_padded, p->f)
                            : 0;
        w->max[i] = is_inside ? h->max[(row + i) * p->max.row] : 0;
        w->part[i] = is_inside ? part_of(h->sum[(row + i) * p->sum.row]) : 0;
    }
}

// A weight. Where the row has none, `part` is 0, whatever the score is, or NaN.
static inline float weight(float score, float max, float part)
{
    float e = rt_exp_lowf(score - max) * part;

    return part > 0 ? e : part;
}

// Turns scores and dy v' of RT_NR queries into p and ds.
static inline void whole(float *s, float *ds, const float *max, const float *part, const float *d,
                         float scale)
{
#pragma omp simd
    for (int l = 0; l < RT_NR; l++) {
        s[l] = weight(s[l], max[l], part[l]);
        ds[l] = s[l] * (ds[l] - d[l]) * scale;
    }
}

// The same with dropout: p m and ds, if dropout multiplies the weights by `factor`.
static inline void dropped(float *s, float *ds, const float *max, const float *part, const float *d,
                           float scale, const float *factor)
{
#pragma omp simd
    for (int l = 0; l < RT_NR; l++) {
        float p = weight(s[l], max[l], part[l]);

        s[l] = p * factor[l];
        ds[l] = p * (factor[l] * ds[l] - d[l]) * scale;
    }
}

// Computes p (with dropout: p m) and ds of the packed queries and keys; zero for keys that aren't
// seen.
static void probabilities(const RtAttention *p, Work *w, const RtScores *b)
{
    for (int64_t i = 0; i < b->rows; i += RT_NR) {
        int64_t rows = rt_least(RT_NR, b->rows - i);
        RtRange seen = rt_within(rt_seen(p, b->all, b->row + i, rows), b->key, b->keys);

        rt_products(w->p, i, seen, b->keys, w->k, w->e_padded, w->q_transposed + i * p->e, p->e,
                    &w->queue);
        rt_products(w->ds, i, seen, b->keys, w->v, w->f_padded, w->dy_transposed + i * p->f, p->f,
                    &w->queue);
        seen = rt_tiles(seen, b->keys);
        const float *factor = p->drops ? rt_drop(p, b, i, seen, w->drop) : NULL;
        const float *bias = rt_bias(p, b, i, seen, w->bias);
        for (int64_t t = seen.first; t < seen.last; t++) {
            float *s = w->p + t * RT_ROWS + i, *ds = w->ds + t * RT_ROWS + i;
            int64_t at = (t - seen.first) * RT_NR;

            rt_mask(p, b, s, t, i, bias ? bias + at : NULL);
            if (factor)
                dropped(s, ds, w->max + i, w->part + i, w->d + i, p->scale, factor + at);
            else
                whole(s, ds, w->max + i, w->part + i, w->d + i, p->scale);
            rt_mask_grad(p, b, ds, t, i, bias ? bias + at : NULL);
        }
    }
}

// to[key][j] += Σ_query left[key][query] right[query][j].
static void add_over_queries(const RtAttention *p, const RtScores *b, float *to, int64_t row,
                             const float *left, const float *right, int64_t columns,
                             RtPrefetchQueue *queue)
{
    for (int64_t i = 0; i < b->keys; i += RT_MR) {
        RtRange q = rt_seeing(p, b->all, b->key + i, rt_least(RT_MR, b->keys - i));

        q = rt_within(q, b->row, b->rows);
        for (int64_t j = 0; j < columns && q.last > q.first; j += RT_NR) {
            int64_t step;
            const float *at =
                rt_prefetch_next(queue, q.last - q.first, right + q.first * row, &step);
            rt_tile_prefetch(to + i * row + j, row, true, q.last - q.first,
                             left + i * RT_ROWS + q.first, RT_ROWS, 1, right + q.first * row + j,
                             row, at, step);
        }
    }
}

// dq[query][j] += Σ_key ds[key][query] k[key][j].
static void add_dq(const RtAttention *p, const Work *w, const RtScores *b, const Sums *dq)
{
    float c[RT_MR * RT_NR];

    for (int64_t i = 0; i < b->rows; i += RT_MR) {
        int64_t rows = rt_least(RT_MR, b->rows - i);
        RtRange seen = rt_within(rt_seen(p, b->all, b->row + i, rows), b->key, b->keys);
        const float *ds = w->ds + seen.first * RT_ROWS + i, *k = w->k + seen.first * w->e_padded;

        for (int64_t j = 0; j < p->e && seen.last > seen.first; j += RT_NR) {
            int64_t columns = rt_least(RT_NR, p->e - j);
            float *to = dq->at + (b->row + i) * dq->row + j * dq->col;

            if (rows == RT_MR && columns == RT_NR && dq->col == 1) {
                rt_tile(to, dq->row, true, seen.last - seen.first, ds, 1, RT_ROWS, k + j,
                        w->e_padded);
                continue;
            }
            rt_tile(c, RT_NR, false, seen.last - seen.first, ds, 1, RT_ROWS, k + j, w->e_padded);
            for (int64_t r = 0; r < rows; r++)
                for (int64_t l = 0; l < columns; l++)
                    to[r * dq->row + l * dq->col] += c[r * RT_NR + l];
        }
    }
}

// The operands of batch entry b and group g.
static Head head_at(const RtAttention *p, const Head *all, int64_t b, int64_t g)
{
    RtType t = p->type;
    Head h = {.q = rt_at(t, all->q, RT_HEAD_OFFSET(p, q, b, g)),
              .k = rt_at(t, all->k, RT_HEAD_OFFSET(p, k, b, g)),
              .v = rt_at(t, all->v, RT_HEAD_OFFSET(p, v, b, g)),
              .y = rt_at(t, all->y, RT_HEAD_OFFSET(p, y, b, g)),
              .max = all->max + RT_HEAD_OFFSET(p, max, b, g),
              .sum = all->sum + RT_HEAD_OFFSET(p, sum, b, g),
              .dy = rt_at(t, all->dy, RT_HEAD_OFFSET(p, dy, b, g)),
              .dq = rt_to(t, all->dq, RT_HEAD_OFFSET(p, dq, b, g)),
              .dk = rt_to(t, all->dk, RT_HEAD_OFFSET(p, dk, b, g)),
              .dv = rt_to(t, all->dv, RT_HEAD_OFFSET(p, dv, b, g)),
              .draw = {all->draw.key, all->draw.element + RT_HEAD_OFFSET(p, drop, b, g)}};

    if (p->has_bias)
        h.bias = (const char *)all->bias + RT_HEAD_OFFSET(p, bias, b, g) * (p->bool_bias ? 1 : 4);
    return h;
}

// Number of queries in the block that begins at `row`.
static int64_t block_rows(const RtAttention *p, int64_t row)
{
    return rt_least(RT_ROWS, p->s - row);
}

static void prefetch_queries(const RtAttention *p, RtPrefetchQueue *queue, const Head *h,
                             int64_t row)
{
    int64_t rows = block_rows(p, row);
    RtType t = p->type;

    rt_prefetch_push(t, queue, rt_at(t, h->q, row * p->q.row), p->q.row, p->q.col, rows, p->e);
    rt_prefetch_push(t, queue, rt_at(t, h->dy, row * p->dy.row), p->dy.row, p->dy.col, rows, p->f);
    rt_prefetch_push(t, queue, rt_at(t, h->y, row * p->y.row), p->y.row, p->y.col, rows, p->f);
    if (!rt_is_half(t))
        rt_prefetch_push(t, queue, rt_at(t, h->dq, row * p->dq.row), p->dq.row, p->dq.col, rows,
                         p->e);
}

// Start of the first block of queries that see some of the block of keys.
static int64_t first_row(const RtAttention *p, int64_t key, int64_t keys)
{
    return rt_seeing(p, false, key, keys).first / RT_ROWS * RT_ROWS;
}

// A block of keys of batch entry b. The thread's next entry is b + step.
typedef struct KeyBlock {
    int64_t b, batches, step;
    int64_t key, keys;
    float outside_most;  // the largest one of the entry's groups, see rt_outside_most
} KeyBlock;

// The prefetches for after the queries of group g with this block of keys.
static RtPrefetchQueue prefetch_next(const RtAttention *p, const Head *all, KeyBlock a, int64_t g,
                                     int64_t groups)
{
    RtPrefetchQueue queue = {0};
    RtType t = p->type;
    Head h = head_at(p, all, a.b, g + 1 < groups ? g + 1 : 0);

    if (g + 1 == groups) {
        rt_prefetch_push(t, &queue, rt_at(t, h.dk, a.key * p->dk.row), p->dk.row, p->dk.col, a.keys,
                         p->e);
        rt_prefetch_push(t, &queue, rt_at(t, h.dv, a.key * p->dv.row), p->dv.row, p->dv.col, a.keys,
                         p->f);
        a.key += a.keys;
        if (a.key == p->t) {
            a.b += a.step;
            a.key = 0;
        }
        if (a.b >= a.batches)
            return queue;
        a.keys = rt_least(rt_block_keys(p), p->t - a.key);
        h = head_at(p, all, a.b, 0);
        rt_prefetch_push(t, &queue, rt_at(t, h.k, a.key * p->k.row), p->k.row, p->k.col, a.keys,
                         p->e);
        rt_prefetch_push(t, &queue, rt_at(t, h.v, a.key * p->v.row), p->v.row, p->v.col, a.keys,
                         p->f);
    }
    prefetch_queries(p, &queue, &h, first_row(p, a.key, a.keys));
    return queue;
}

// Do the keys outside of the limits of a block's queries have weights?
static bool needs_all(const RtAttention *p, const Head *h, const KeyBlock *a, int64_t row)
{
    bool any = false;

    for (int64_t i = row; p->causal && i < row + block_rows(p, row); i++) {
        bool has_weights = part_of(h->sum[i * p->sum.row]) != 0;
        any |= has_weights && !rt_is_settled(h->max[i * p->max.row], a->outside_most);
    }
    return any;
}

// All queries of a head that have weights for some of a block of keys. For the first keys it also
// sets dq of all queries to zero.
static void block(const RtAttention *p, Work *w, const Head *h, const Sums *dq, const KeyBlock *a,
                  const RtPrefetchQueue *after)
{
    RtScores b = {.key = a->key, .keys = a->keys, .bias = h->bias, .draw = h->draw};
    int64_t first = first_row(p, a->key, a->keys), last = rt_seeing(p, false, a->key, a->keys).last;

    for (b.row = 0; b.row < p->s; b.row += RT_ROWS) {
        b.rows = block_rows(p, b.row);
        b.all = needs_all(p, h, a, b.row);
        if (a->key == 0)
            rt_clear_rows(dq->at + b.row * dq->row, dq->row, dq->col, b.rows, p->e);
        if (!b.all && (b.row < first || b.row >= last))
            continue;
        w->queue = (RtPrefetchQueue){0};
        if (b.row + RT_ROWS < last)
            prefetch_queries(p, &w->queue, h, b.row + RT_ROWS);
        else
            w->queue = *after;
        pack_queries(p, w, h, b.row, b.rows);
        probabilities(p, w, &b);
        add_over_queries(p, &b, w->dv, w->f_padded, w->p, w->dy, p->f, &w->queue);
        add_over_queries(p, &b, w->dk, w->e_padded, w->ds, w->q, p->e, &w->queue);
        add_dq(p, w, &b, dq);
    }
}

static float outside_most(const RtAttention *p, const Head *all, int64_t b, int64_t groups)
{
    float most = -INFINITY;

    for (int64_t g = 0; g < groups; g++) {
        Head h = head_at(p, all, b, g);
        float x = rt_outside_most(p, h.q, h.k, h.bias);
        most = x > most || x != x ? x : most;
    }
    return most;
}

// One batch entry: a head of k and v with all its groups of queries.
static void entry(const RtAttention *p, Work *w, const Head *all, KeyBlock a)
{
    int64_t groups = rt_product(p->group, p->n_group), most = rt_block_keys(p);
    RtType t = p->type;
    Head first = head_at(p, all, a.b, 0);

    a.outside_most = p->causal ? outside_most(p, all, a.b, groups) : 0;
    do {
        a.keys = rt_least(most, p->t - a.key);
        const void *k = rt_at(t, first.k, a.key * p->k.row);
        const void *v = rt_at(t, first.v, a.key * p->v.row);

        rt_copy_rows(t, w->k, k, p->k.row, p->k.col, a.keys, p->e, w->e_padded);
        rt_copy_rows(t, w->v, v, p->v.row, p->v.col, a.keys, p->f, w->f_padded);
        memset(w->dk, 0, sizeof(float) * (size_t)(RT_KEYS * w->e_padded));
        memset(w->dv, 0, sizeof(float) * (size_t)(RT_KEYS * w->f_padded));
        for (int64_t g = 0; g < groups; g++) {
            Head h = head_at(p, all, a.b, g);
            Sums dq = sums_of(p, w, &h, g);
            RtPrefetchQueue after = prefetch_next(p, all, a, g, groups);
            block(p, w, &h, &dq, &a, &after);
        }
        rt_write_floats(t, rt_to(t, first.dk, a.key * p->dk.row), p->dk.row, p->dk.col, w->dk,
                        w->e_padded, a.keys, p->e);
        rt_write_floats(t, rt_to(t, first.dv, a.key * p->dv.row), p->dv.row, p->dv.col, w->dv,
                        w->f_padded, a.keys, p->f);
        a.key += most;
    } while (a.key < p->t);
    for (int64_t g = 0; g < groups && rt_is_half(t); g++) {
        Head h = head_at(p, all, a.b, g);
        Sums dq = sums_of(p, w, &h, g);
        rt_write_floats(t, h.dq, p->dq.row, p->dq.col, dq.at, dq.row, p->s, p->e);
    }
}

void rt_attention_grad(Rt *rt, const RtAttention *p, void *dq, void *dk, void *dv, const void *q,
                       const void *k, const void *v, const void *bias, const void *seed,
                       const void *step, const void *micro, const void *y, const void *max,
                       const void *sum, const void *dy)
{
    int64_t batches = rt_product(p->batch, p->n_batch), groups = rt_product(p->group, p->n_group);
    int team = rt_team(rt, batches * groups * p->s * (p->t + 1) * (p->e + p->f + 1) / 8);
    Head all = {q, k, v, y, max, sum, dy, bias, dq, dk, dv, rt_first_draw(p, seed, step, micro)};

#pragma omp parallel num_threads(team)
    {
        Work w = work_at(p, rt->workspace, omp_get_thread_num(), rt->threads);

#pragma omp for schedule(static, 1)
        for (int64_t b = 0; b < batches; b++)
            entry(p, &w, &all, (KeyBlock){.b = b, .batches = batches, .step = team});
    }
}
