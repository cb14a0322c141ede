// Shared by attention and its gradient: scores of a block of keys against a block of queries, the
// keys that a query sees, the weights that dropout keeps, and packed operands.
//
// Scores are stored by key, [RT_KEYS][RT_ROWS]. Softmax along the keys then handles RT_NR
// neighbouring queries together, and both products read the scores where they are.
#ifndef SHARDCC_RT_CPU_SCORES_H
#define SHARDCC_RT_CPU_SCORES_H

#include <math.h>
#include <string.h>

#include "runtime/cpu/floats.h"
#include "runtime/cpu/tile.h"
#include "runtime/rt_philox.h"

static_assert((int)RT_NR <= (int)RT_PANEL && RT_ROWS % RT_NR == 0 && RT_ROWS % RT_MR == 0 &&
                  RT_KEYS % RT_MR == 0,
              "blocks are whole tiles");

// Offset of entry `i` of dims `dim` under strides. Entry 0 may be asked for even if a dim is 0.
static inline int64_t rt_entry(int n, const int64_t *dim, const int64_t *stride, int64_t i)
{
    int64_t at = 0;

    for (int k = n - 1; k >= 0; k--) {
        int64_t size = rt_most(dim[k], 1);

        at += i % size * stride[k];
        i /= size;
    }
    return at;
}

// Offset of an operand (q, k … of RtAttention) at batch entry b and group g.
#define RT_HEAD_OFFSET(p, operand, b, g)                                                           \
    (rt_entry((p)->n_batch, (p)->batch, (p)->operand.batch, b) +                                   \
     rt_entry((p)->n_group, (p)->group, (p)->operand.group, g))

// A range of keys or queries: [first, last).
typedef struct RtRange {
    int64_t first, last;
} RtRange;

// The keys that some of the queries [row, row + rows) see. `all`: as if there were no limits.
static inline RtRange rt_seen(const RtAttention *p, bool all, int64_t row, int64_t rows)
{
    RtRange k = {0, p->t};

    if (!p->causal || all)
        return k;
    if (p->window > 0)
        k.first = rt_most(0, row + p->offset - p->window + 1);
    k.last = rt_least(p->t, row + rows + p->offset);
    return k;
}

// The queries that see some of the keys [key, key + keys).
static inline RtRange rt_seeing(const RtAttention *p, bool all, int64_t key, int64_t keys)
{
    RtRange q = {0, p->s};

    if (!p->causal || all)
        return q;
    q.first = rt_most(0, key - p->offset);
    if (p->window > 0)
        q.last = rt_least(p->s, key + keys - 1 - p->offset + p->window);
    return q;
}

// The part of a range inside the block of `size` that begins at `start`, relative to the block. An
// empty part is at its begin: its tiles must be in the block, too.
static inline RtRange rt_within(RtRange r, int64_t start, int64_t size)
{
    RtRange w = {rt_most(r.first - start, 0), rt_least(r.last - start, size)};

    return w.first < w.last ? w : (RtRange){0, 0};
}

// Keys per block: the smallest number of blocks, of about equal size, in whole tiles.
static inline int64_t rt_block_keys(const RtAttention *p)
{
    int64_t blocks = rt_most(rt_ceil_div(p->t, RT_KEYS), 1);

    return rt_round_up(rt_most(rt_ceil_div(p->t, blocks), 1), RT_MR);
}

// The random numbers of one head: the key, and the index of its first score.
typedef struct RtDraw {
    uint64_t key;
    int64_t element;
} RtDraw;

// The tiles of keys that contain some of `seen`. rt_products computes whole tiles; rt_mask then
// hides the keys that aren't seen.
static inline RtRange rt_tiles(RtRange seen, int64_t keys)
{
    return (RtRange){seen.first / RT_MR * RT_MR, rt_least(keys, rt_round_up(seen.last, RT_MR))};
}

// One block of scores: its queries and keys.
typedef struct RtScores {
    int64_t row, rows, key, keys;
    bool all;          // do its queries read keys outside of their limits, too?
    const void *bias;  // of the head
    RtDraw draw;       // of the head
} RtScores;

// The random numbers of the first head.
static inline RtDraw rt_first_draw(const RtAttention *p, const int64_t *seed, const int64_t *step,
                                   const int64_t *micro)
{
    return p->drops ? (RtDraw){rt_key(*seed, *step), p->drop_at + *micro * p->micro_step}
                    : (RtDraw){0};
}

// Copies rows of f32 or a half to contiguous rows of `padded` floats, [rows][padded], with zeros
// after the columns.
void rt_copy_rows(RtType t, float *to, const void *a, int64_t row, int64_t col, int64_t rows,
                  int64_t columns, int64_t padded);

void rt_clear_rows(float *to, int64_t row, int64_t col, int64_t rows, int64_t columns);

// Packs a matrix of k rows and n columns, of f32 or a half, into panels of RT_NR columns,
// [panel][k][RT_NR].
void rt_pack_columns(RtType t, float *to, const void *b, int64_t row, int64_t col, int64_t k,
                     int64_t n);

// A queue of matrices that are read or written next, whose rows are a stride apart. They are
// prefetched line by line while products are computed, because the hardware prefetcher only follows
// consecutive rows.
enum { RT_MAX_PREFETCH = 8 };
typedef struct RtPrefetchQueue {
    struct {
        const float *at;
        int64_t row, rows, lines;
    } matrix[RT_MAX_PREFETCH];
    int n, i;           // number of matrices; the one being prefetched
    int64_t line, row;  // the position in it
    bool is_on;
} RtPrefetchQueue;

// Adds a matrix to the queue if its rows are contiguous (col = 1) and whole floats apart; ignores
// any other.
void rt_prefetch_push(RtType t, RtPrefetchQueue *queue, const void *at, int64_t row, int64_t col,
                      int64_t rows, int64_t columns);

// Returns the address of the next line to prefetch; the call covers `n` lines, `*step` floats
// apart. Returns `none` and step 0 if the queue is empty, and in every second call, since memory is
// too slow for more.
static inline const float *rt_prefetch_next(RtPrefetchQueue *queue, int64_t n, const float *none,
                                            int64_t *step)
{
    *step = 0;
    queue->is_on = !queue->is_on;
    if (queue->i == queue->n || !queue->is_on)
        return none;
    const float *at = queue->matrix[queue->i].at + queue->line * RT_LINE;
    *step = queue->matrix[queue->i].row;
    at += queue->row * *step;
    queue->row += n;
    if (queue->row >= queue->matrix[queue->i].rows) {
        queue->row = 0;
        queue->line++;
    }
    if (queue->line == queue->matrix[queue->i].lines) {
        queue->line = 0;
        queue->i++;
    }
    return at;
}

// y[key][query] = Σ k[key] q[query] for the RT_NR queries from `first` on and for the keys in
// `seen` (relative to the block); zeros for the block's other keys. q: the panel of these queries.
void rt_products(float *y, int64_t first, RtRange seen, int64_t keys, const float *k, int64_t k_row,
                 const float *q, int64_t length, RtPrefetchQueue *queue);

// The bias of the RT_NR queries from `first` on, [key][RT_NR] for the keys in `seen`, written to
// `scratch`; a bool bias as 0, and as -inf where it hides the key. NULL if a key has the same bias
// for all queries.
const float *rt_bias(const RtAttention *p, const RtScores *b, int64_t first, RtRange seen,
                     float *scratch);

// The dropout factors of the weights of the RT_NR queries from `first` on: [key][RT_NR] for the
// keys in `seen`. Returns a pointer to them in `scratch`, which holds RT_KEYS + 4 keys.
const float *rt_drop(const RtAttention *p, const RtScores *b, int64_t first, RtRange seen,
                     float *scratch);

// ---- masks ----
// The keys outside of a query's limits count only if the query sees no key whose score is far above
// theirs: else their weights are exactly 0. So attention goes over the keys within the limits, and
// then over all keys for the few blocks of queries of which one isn't settled.

// An upper bound of the scores of all keys outside of the limits of one head's queries.
float rt_outside_most(const RtAttention *p, const void *q, const void *k, const void *bias);

// Has a row whose scores have the maximum `max` no weight outside of its limits?
static inline bool rt_is_settled(float max, float outside_most)
{
    return max < INFINITY && max - outside_most > 88;
}

static inline float rt_mask_number(float x) { return x == 0 ? -INFINITY : x; }

// The bias of a key that is the same for all queries.
static inline float rt_bias_of_key(const RtAttention *p, const RtScores *b, int64_t t)
{
    int64_t at = (b->key + t) * p->bias.col;

    if (p->bool_bias)
        return ((const uint8_t *)b->bias)[at] ? 0 : -INFINITY;
    return ((const float *)b->bias)[at];
}

// Applies the bias of[l · step] to the scores of a key; step is 0 or 1.
static inline void rt_add_bias(const RtAttention *p, float *s, const float *of, const int step)
{
    float hidden = rt_mask_number(p->hidden);

    if (!p->bool_bias) {
#pragma omp simd
        for (int l = 0; l < RT_NR; l++)
            s[l] += of[l * step];
    } else if (p->hidden_added) {
#pragma omp simd
        for (int l = 0; l < RT_NR; l++)
            s[l] = of[l * step] == 0 ? s[l] : s[l] + hidden;
    } else {
#pragma omp simd
        for (int l = 0; l < RT_NR; l++)
            s[l] = of[l * step] == 0 ? s[l] : hidden;
    }
}

// Masks the scores of key t, without those that `is_hidden` masks already, outside of the limits of
// the RT_NR queries from `first` on.
static inline void rt_limit(const RtAttention *p, const RtScores *b, float *s, int64_t t,
                            int64_t first, const float *is_hidden, const int step)
{
    RtRange seeing = rt_within(rt_seeing(p, false, b->key + t, 1), b->row + first, RT_NR);
    float number = b->all ? rt_mask_number(p->outside) : -INFINITY;
    bool is_added = b->all && p->outside_added, once = p->order == RT_MASKED_ONCE;

    if (seeing.last - seeing.first == RT_NR)
        return;
    for (int64_t l = 0; l < RT_NR; l++) {
        bool is_seen = l >= seeing.first && l < seeing.last;
        if (!is_seen && !(once && is_hidden[l * step] != 0))
            s[l] = is_added ? s[l] + number : number;
    }
}

static inline void rt_mask_with(const RtAttention *p, const RtScores *b, float *s, int64_t t,
                                int64_t first, const float *bias, const int step)
{
    bool limits_first = b->all && p->order == RT_LIMITS_FIRST;

    if (p->causal && limits_first)
        rt_limit(p, b, s, t, first, bias, step);
    if (p->has_bias)
        rt_add_bias(p, s, bias, step);
    if (p->causal && !limits_first)
        rt_limit(p, b, s, t, first, bias, step);
}

// Turns products into scores for key t and the RT_NR queries from `first` on: times scale, with
// bias and limits. `s`: the key's products; `bias`: from rt_bias, for this key.
static inline void rt_mask(const RtAttention *p, const RtScores *b, float *s, int64_t t,
                           int64_t first, const float *bias)
{
#pragma omp simd
    for (int l = 0; l < RT_NR; l++)
        s[l] *= p->scale;
    if (bias) {
        rt_mask_with(p, b, s, t, first, bias, 1);
    } else {
        float of_key = p->has_bias ? rt_bias_of_key(p, b, t) : 0;
        rt_mask_with(p, b, s, t, first, &of_key, 0);
    }
}

// Sets the gradients of scores to 0 that a mask's number replaced. Arguments as of rt_mask.
static inline void rt_mask_grad(const RtAttention *p, const RtScores *b, float *ds, int64_t t,
                                int64_t first, const float *bias)
{
    if (p->bool_bias && !p->hidden_added && bias) {
#pragma omp simd
        for (int l = 0; l < RT_NR; l++)
            ds[l] = bias[l] == 0 ? ds[l] : 0;
    } else if (p->bool_bias && !p->hidden_added && rt_bias_of_key(p, b, t) != 0) {
        memset(ds, 0, sizeof(float) * RT_NR);
    }
    if (!p->causal || !b->all || p->outside_added)
        return;
    RtRange seeing = rt_within(rt_seeing(p, false, b->key + t, 1), b->row + first, RT_NR);
    for (int64_t l = 0; l < RT_NR; l++)
        ds[l] = l >= seeing.first && l < seeing.last ? ds[l] : 0;
}

#endif
