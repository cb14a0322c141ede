// Attention: dropout(softmax(scale · q·k + bias)) · v, without storing rows of scores. It goes over
// blocks of keys, and each query keeps its maximum and its sum so far (online softmax: Milakov and
// Gimelshein 2018; tiled: Dao et al., "FlashAttention", 2022). Halves are widened while blocks are
// packed, and y is rounded once.
#include <string.h>

#include "runtime/cpu/scores.h"

// One thread's memory, in rt->workspace.
typedef struct Work {
    float *q;                  // panels of RT_NR queries
    float *k, *v;              // [RT_KEYS][e_padded], [RT_KEYS][f_padded]
    float *p;                  // [RT_KEYS][RT_ROWS] scores, then probabilities up to a factor
    float *y;                  // [RT_ROWS][f_padded] sums of values
    float *most, *sum, *keep;  // by query; keep: the factor of earlier sums after a new maximum
    float *drop, *bias;        // for RT_NR queries: scratch of rt_drop and rt_bias
    int64_t e_padded, f_padded;
    const void *packed_k, *packed_v;  // the keys and values that k and v hold; NULL: none
    const void *bounded_q;            // the head of outside_most; NULL: none
    float outside_most;               // see rt_outside_most
    RtPrefetchQueue queue;
} Work;

static Work work_at(const RtAttention *p, char *workspace, int rank)
{
    int64_t e = rt_round_up(p->e, RT_PANEL), f = rt_round_up(p->f, RT_PANEL);
    Work w = {.e_padded = e, .f_padded = f};

    w.q = (float *)(workspace + rank * rt_attention_thread(p));
    w.k = w.q + RT_ROWS * e;
    w.v = w.k + RT_KEYS * e;
    w.p = w.v + RT_KEYS * f;
    w.y = w.p + RT_KEYS * RT_ROWS;
    w.most = w.y + RT_ROWS * f;
    w.sum = w.most + RT_ROWS;
    w.keep = w.sum + RT_ROWS;
    w.drop = w.keep + RT_ROWS;
    w.bias = w.drop + rt_drop_floats(p);
    return w;
}

// Online softmax of RT_NR queries from `first` on over the keys in `seen`.
static void softmax(const RtAttention *p, const Work *w, const RtScores *b, int64_t first,
                    RtRange seen)
{
    const float *bias = rt_bias(p, b, first, seen, w->bias);
    float most[RT_NR], shift[RT_NR], sum[RT_NR] = {0};

    memcpy(most, w->most + first, sizeof most);
    for (int64_t t = seen.first; t < seen.last; t++) {
        float *s = w->p + t * RT_ROWS + first;

        rt_mask(p, b, s, t, first, bias ? bias + (t - seen.first) * RT_NR : NULL);
#pragma omp simd
        for (int l = 0; l < RT_NR; l++)
            most[l] = rt_maxf(s[l], most[l]);
    }
    for (int l = 0; l < RT_NR; l++)
        shift[l] = most[l] == -INFINITY ? 0 : most[l];
    for (int64_t t = seen.first; t < seen.last; t++) {
        float *s = w->p + t * RT_ROWS + first;

#pragma omp simd
        for (int l = 0; l < RT_NR; l++) {
            s[l] = rt_exp_lowf(s[l] - shift[l]);
            sum[l] += s[l];
        }
    }
    for (int l = 0; l < RT_NR; l++) {
        float keep = rt_exp_lowf(w->most[first + l] - shift[l]);

        w->keep[first + l] = keep;
        w->sum[first + l] = w->sum[first + l] * keep + sum[l];
        w->most[first + l] = most[l];
    }
}

// Applies dropout to the weights that softmax has computed. The sums, which divide the result in
// the end, count all weights.
static void drop(const RtAttention *p, const Work *w, const RtScores *b, int64_t first,
                 RtRange seen)
{
    const float *factor = rt_drop(p, b, first, seen, w->drop);

    for (int64_t t = seen.first; t < seen.last; t++, factor += RT_NR) {
        float *s = w->p + t * RT_ROWS + first;
#pragma omp simd
        for (int l = 0; l < RT_NR; l++)
            s[l] *= factor[l];
    }
}

// All queries of a chunk with one block of keys.
static void block(const RtAttention *p, Work *w, const RtScores *b)
{
    for (int64_t i = 0; i < b->rows; i += RT_NR) {
        int64_t rows = rt_least(RT_NR, b->rows - i);
        RtRange seen = rt_within(rt_seen(p, b->all, b->row + i, rows), b->key, b->keys);

        rt_products(w->p, i, seen, b->keys, w->k, w->e_padded, w->q + i * p->e, p->e, &w->queue);
        seen = rt_tiles(seen, b->keys);
        softmax(p, w, b, i, seen);
        if (p->drops)
            drop(p, w, b, i, seen);
    }
    for (int64_t i = 0; i < b->rows; i += RT_MR) {
        RtRange seen = rt_seen(p, b->all, b->row + i, rt_least(RT_MR, b->rows - i));
        float *y = w->y + i * w->f_padded;

        seen = rt_within(seen, b->key, b->keys);
        for (int64_t r = 0; r < rt_least(RT_MR, b->rows - i); r++)
#pragma omp simd
            for (int64_t j = 0; j < w->f_padded; j++)
                y[r * w->f_padded + j] *= w->keep[i + r];
        for (int64_t j = 0; j < p->f; j += RT_NR)
            rt_tile(y + j, w->f_padded, true, seen.last - seen.first,
                    w->p + seen.first * RT_ROWS + i, 1, RT_ROWS,
                    w->v + seen.first * w->f_padded + j, w->f_padded);
    }
}

// Divides the sums of values by the sums of weights.
static void divide(const RtAttention *p, const Work *w, int64_t rows)
{
    for (int64_t i = 0; i < rows; i++) {
        float *y = w->y + i * w->f_padded;
        bool has_softmax = w->most[i] != -INFINITY && w->sum[i] == w->sum[i];

        bool is_empty = p->t == 0 || p->guard == 1 || (p->guard == 2 && w->most[i] == -INFINITY);

        if (!has_softmax)
            w->sum[i] = is_empty ? INFINITY : NAN;
        float part = 1 / w->sum[i];
        for (int64_t j = 0; j < w->f_padded; j++)
            y[j] = has_softmax ? y[j] * part : part;
    }
}

// The operands of one head, and the chunk of its queries that begins at `row`.
typedef struct Head {
    const void *q, *k, *v;
    const void *bias;
    void *y;
    float *max, *sum;
    RtDraw draw;
    int64_t row;
} Head;

// Chunk i of the chunks of all heads.
static Head head_at(const RtAttention *p, const Head *all, int64_t i)
{
    int64_t groups = rt_product(p->group, p->n_group), chunks = rt_ceil_div(p->s, RT_ROWS);
    int64_t b = i / chunks / groups, g = i / chunks % groups;
    Head h = {.q = rt_at(p->type, all->q, RT_HEAD_OFFSET(p, q, b, g)),
              .k = rt_at(p->type, all->k, RT_HEAD_OFFSET(p, k, b, g)),
              .v = rt_at(p->type, all->v, RT_HEAD_OFFSET(p, v, b, g)),
              .y = rt_to(p->type, all->y, RT_HEAD_OFFSET(p, y, b, g)),
              .max = all->max + RT_HEAD_OFFSET(p, max, b, g),
              .sum = all->sum + RT_HEAD_OFFSET(p, sum, b, g),
              .draw = {all->draw.key, all->draw.element + RT_HEAD_OFFSET(p, drop, b, g)},
              .row = i % chunks * RT_ROWS};

    if (p->has_bias)
        h.bias = (const char *)all->bias + RT_HEAD_OFFSET(p, bias, b, g) * (p->bool_bias ? 1 : 4);
    return h;
}

static int64_t chunk_rows(const RtAttention *p, const Head *h)
{
    return rt_least(RT_ROWS, p->s - h->row);
}

static int64_t first_key(const RtAttention *p, bool all, const Head *h)
{
    int64_t most = rt_block_keys(p);

    return rt_seen(p, all, h->row, chunk_rows(p, h)).first / most * most;
}

static int64_t block_keys(const RtAttention *p, int64_t key)
{
    return rt_least(rt_block_keys(p), p->t - key);
}

// Packs a block of keys and values, unless this thread packed the same block last.
static void pack_keys(const RtAttention *p, Work *w, const void *k, const void *v, int64_t keys)
{
    if (w->packed_k == k && w->packed_v == v)
        return;
    rt_copy_rows(p->type, w->k, k, p->k.row, p->k.col, keys, p->e, w->e_padded);
    rt_copy_rows(p->type, w->v, v, p->v.row, p->v.col, keys, p->f, w->f_padded);
    w->packed_k = k;
    w->packed_v = v;
}

static void prefetch_keys(const RtAttention *p, RtPrefetchQueue *queue, const Head *h, int64_t key)
{
    rt_prefetch_push(p->type, queue, rt_at(p->type, h->k, key * p->k.row), p->k.row, p->k.col,
                     block_keys(p, key), p->e);
    rt_prefetch_push(p->type, queue, rt_at(p->type, h->v, key * p->v.row), p->v.row, p->v.col,
                     block_keys(p, key), p->f);
}

// The prefetches for after a chunk's last block of keys: its y, and the operands of `next`, the
// chunk that this thread probably handles next.
static RtPrefetchQueue prefetch_next(const RtAttention *p, const Head *h, int64_t key,
                                     const Head *next)
{
    RtPrefetchQueue queue = {0};

    rt_prefetch_push(p->type, &queue, rt_at(p->type, h->y, h->row * p->y.row), p->y.row, p->y.col,
                     chunk_rows(p, h), p->f);
    rt_prefetch_push(p->type, &queue, rt_at(p->type, next->q, next->row * p->q.row), p->q.row,
                     p->q.col, chunk_rows(p, next), p->e);
    if (next->k != h->k || first_key(p, false, next) != key)
        prefetch_keys(p, &queue, next, first_key(p, false, next));
    return queue;
}

// Goes over the keys of a chunk of queries: those within its limits, or all.
static void attend(const RtAttention *p, Work *w, RtScores b, const Head *h, const Head *next)
{
    int64_t last = rt_seen(p, b.all, b.row, b.rows).last, most = rt_block_keys(p);

    memset(w->y, 0, sizeof(float) * (size_t)(RT_ROWS * w->f_padded));
    for (int64_t i = 0; i < RT_ROWS; i++) {
        w->most[i] = -INFINITY;
        w->sum[i] = 0;
    }
    for (b.key = first_key(p, b.all, h); b.key < last; b.key += most) {
        b.keys = block_keys(p, b.key);
        pack_keys(p, w, rt_at(p->type, h->k, b.key * p->k.row),
                  rt_at(p->type, h->v, b.key * p->v.row), b.keys);
        w->queue = (RtPrefetchQueue){0};
        if (b.key + most < last)
            prefetch_keys(p, &w->queue, h, b.key + most);
        else
            w->queue = prefetch_next(p, h, b.key, next);
        block(p, w, &b);
    }
}

// Do the keys outside of the limits of the chunk's queries have no weight?
static bool is_settled(const RtAttention *p, Work *w, const Head *h, int64_t rows)
{
    bool all = true;

    if (w->bounded_q != h->q) {
        w->bounded_q = h->q;
        w->outside_most = rt_outside_most(p, h->q, h->k, h->bias);
    }
    for (int64_t i = 0; i < rows; i++)
        all = all && rt_is_settled(w->most[i], w->outside_most);
    return all;
}

static void chunk(const RtAttention *p, Work *w, const Head *h, const Head *next)
{
    RtScores b = {.row = h->row, .rows = chunk_rows(p, h), .bias = h->bias, .draw = h->draw};
    float *max = h->max + b.row * p->max.row, *sum = h->sum + b.row * p->sum.row;

    rt_pack_columns(p->type, w->q, rt_at(p->type, h->q, b.row * p->q.row), p->q.col, p->q.row, p->e,
                    b.rows);
    attend(p, w, b, h, next);
    if (p->causal && !is_settled(p, w, h, b.rows)) {
        b.all = true;
        attend(p, w, b, h, next);
    }
    divide(p, w, b.rows);
    rt_write_floats(p->type, rt_to(p->type, h->y, b.row * p->y.row), p->y.row, p->y.col, w->y,
                    w->f_padded, b.rows, p->f);
    rt_write_floats(RT_F32, max, p->max.row, 1, w->most, 1, b.rows, 1);
    rt_write_floats(RT_F32, sum, p->sum.row, 1, w->sum, 1, b.rows, 1);
}

void rt_attention(Rt *rt, const RtAttention *p, void *y, void *max, void *sum, const void *q,
                  const void *k, const void *v, const void *bias, const void *seed,
                  const void *step, const void *micro)
{
    int64_t heads = rt_product(p->batch, p->n_batch) * rt_product(p->group, p->n_group);
    int64_t chunks = rt_ceil_div(p->s, RT_ROWS), tasks = heads * chunks;
    Head all = {q, k, v, bias, y, max, sum, rt_first_draw(p, seed, step, micro)};
    int team = rt_team(rt, heads * p->s * (p->t + 1) * (p->e + p->f + 1) / 16);

    team = (int)rt_least(team, rt_most(tasks, 1));  // the workspace suffices for that many threads
    int64_t part = heads >= 8 * team ? chunks : 1;
#pragma omp parallel num_threads(team)
    {
        Work w = work_at(p, rt->workspace, omp_get_thread_num());

        // Chunks take different time, by their rows and by the keys that they see, so they are
        // scheduled dynamically; with many heads, whole heads are. `after` guesses the thread's
        // next chunk, as if the threads took turns.
#pragma omp for schedule(dynamic, part)
        for (int64_t i = 0; i < tasks; i++) {
            int64_t after = (i + 1) % part ? i + 1 : i + 1 + (team - 1) * part;
            Head h = head_at(p, &all, i), next = head_at(p, &all, after < tasks ? after : i);

            chunk(p, &w, &h, &next);
        }
    }
}
