// What attention and its gradient share: the scores of a block of keys against some queries, which
// keys a query sees, which weights dropout keeps, and packed operands.
//
// Scores lie by key, [RT_KEYS][RT_ROWS]: what softmax does along the keys of a query is done for
// RT_NR neighbouring queries at once, and either product with them finds its operand in place.
#ifndef SHARDCC_RT_CPU_SCORES_H
#define SHARDCC_RT_CPU_SCORES_H

#include "runtime/cpu/tile.h"
#include "runtime/rt_philox.h"

static_assert((int)RT_NR <= (int)RT_PANEL && RT_ROWS % RT_NR == 0 && RT_ROWS % RT_MR == 0 &&
                  RT_KEYS % RT_MR == 0,
              "blocks are whole tiles");

// Offset of entry `i` of dims `dim` under strides; entry 0 may be asked for even where there is
// none.
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

// Keys [first, last), or queries.
typedef struct RtRange {
    int64_t first, last;
} RtRange;

// The keys that some of the queries [row, row + rows) see.
static inline RtRange rt_seen(const RtAttention *p, int64_t row, int64_t rows)
{
    RtRange k = {0, p->t};

    if (p->causal && p->window > 0)
        k.first = rt_most(0, row + p->offset - p->window + 1);
    if (p->causal)
        k.last = rt_least(p->t, row + rows + p->offset);
    return k;
}

// The queries that see some of the keys [key, key + keys).
static inline RtRange rt_seeing(const RtAttention *p, int64_t key, int64_t keys)
{
    RtRange q = {0, p->s};

    if (p->causal)
        q.first = rt_most(0, key - p->offset);
    if (p->causal && p->window > 0)
        q.last = rt_least(p->s, key + keys - 1 - p->offset + p->window);
    return q;
}

// What of a range is in the block of `size` that begins at `start`, counted from there.
static inline RtRange rt_within(RtRange r, int64_t start, int64_t size)
{
    RtRange w = {rt_most(r.first - start, 0), rt_least(r.last - start, size)};

    w.last = rt_most(w.last, w.first);
    return w;
}

// Keys of a block: as few blocks as there can be, of much the same size, in whole tiles.
static inline int64_t rt_block_keys(const RtAttention *p)
{
    int64_t blocks = rt_most(rt_ceil_div(p->t, RT_KEYS), 1);

    return rt_round_up(rt_most(rt_ceil_div(p->t, blocks), 1), RT_MR);
}

// A head's random numbers: their key, and the index of the first score's.
typedef struct RtDraw {
    uint64_t key;
    int64_t element;
} RtDraw;

// The block's tiles of keys that hold some of `seen`, of which rt_products makes all: what of them
// isn't seen, rt_mask hides.
static inline RtRange rt_tiles(RtRange seen, int64_t keys)
{
    return (RtRange){seen.first / RT_MR * RT_MR, rt_least(keys, rt_round_up(seen.last, RT_MR))};
}

// Queries and keys of one block of scores.
typedef struct RtScores {
    int64_t row, rows, key, keys;
    const void *bias;  // of the head
    RtDraw draw;       // …
} RtScores;

// Those of the first head.
static inline RtDraw rt_first_draw(const RtAttention *p, const int64_t *seed, const int64_t *step,
                                   const int64_t *micro)
{
    return p->drops ? (RtDraw){rt_key(*seed, *step), p->drop_at + *micro * p->micro_step}
                    : (RtDraw){0};
}

// Copies rows side by side, [rows][room], zeros behind the columns.
void rt_copy_rows(float *to, const float *a, int64_t row, int64_t col, int64_t rows,
                  int64_t columns, int64_t room);

// The other way, without what is behind the columns; and rows of zeros.
void rt_spread_rows(float *to, int64_t row, int64_t col, const float *a, int64_t rows,
                    int64_t columns, int64_t room);
void rt_clear_rows(float *to, int64_t row, int64_t col, int64_t rows, int64_t columns);

// Packs a matrix of k rows and n columns into panels of RT_NR columns, [panel][k][RT_NR].
void rt_pack_columns(float *to, const float *b, int64_t row, int64_t col, int64_t k, int64_t n);

// Matrices that are read or written next, in rows far apart: called for line by line while products
// are made, as what the machine calls for on its own is rows that follow each other.
enum { RT_MAX_PREFETCH = 8 };
typedef struct RtPrefetchQueue {
    struct {
        const float *at;
        int64_t row, rows, lines;
    } matrix[RT_MAX_PREFETCH];
    int n, i;           // matrices; the one that is being called for,
    int64_t line, row;  // … and where in it
    bool is_on;
} RtPrefetchQueue;

// Adds one whose rows lie in one piece; of any other, nothing is called for.
void rt_prefetch_push(RtPrefetchQueue *queue, const float *at, int64_t row, int64_t col,
                      int64_t rows, int64_t columns);

// Where the next `n` lines begin that are called for, one below the other, and how far apart they
// are: nothing but `near` where none are left, and every second time, or memory is too slow.
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

// y[key][query] = Σ k[key] q[query], of RT_NR queries beginning at `first` and the keys in `seen`
// (counted within the block); zeros for the block's other keys. q: the panel of these queries.
void rt_products(float *y, int64_t first, RtRange seen, int64_t keys, const float *k, int64_t k_row,
                 const float *q, int64_t length, RtPrefetchQueue *queue);

// The bias of the RT_NR queries beginning at `first`, [key][RT_NR] for the keys in `seen`, in
// `room`; NULL where each key has one for all queries.
const float *rt_bias(const RtAttention *p, const RtScores *b, int64_t first, RtRange seen,
                     float *room);

// What dropout multiplies the weights of the RT_NR queries beginning at `first` by: [key][RT_NR]
// for the keys in `seen`. Returns where in `room`, of RT_KEYS + 4 keys, they are.
const float *rt_drop(const RtAttention *p, const RtScores *b, int64_t first, RtRange seen,
                     float *room);

// … which a key has for all queries.
static inline float rt_bias_of_key(const RtAttention *p, const RtScores *b, int64_t t)
{
    int64_t at = (b->key + t) * p->bias.col;

    if (p->bool_bias)
        return ((const uint8_t *)b->bias)[at] ? 0 : -INFINITY;
    return ((const float *)b->bias)[at];
}

// Of the same: scores times scale, plus bias, -inf where a query doesn't see the key. `s`: those of
// the key, `bias`: rt_bias's.
static inline void rt_mask(const RtAttention *p, const RtScores *b, float *s, int64_t t,
                           int64_t first, const float *bias)
{
#pragma omp simd
    for (int l = 0; l < RT_NR; l++)
        s[l] *= p->scale;
    if (bias) {
#pragma omp simd
        for (int l = 0; l < RT_NR; l++)
            s[l] = bias[l] == -INFINITY ? -INFINITY : s[l] + bias[l];
    } else if (p->has_bias) {
        float of_key = rt_bias_of_key(p, b, t);
#pragma omp simd
        for (int l = 0; l < RT_NR; l++)
            s[l] = of_key == -INFINITY ? -INFINITY : s[l] + of_key;
    }
    if (!p->causal)
        return;
    RtRange seeing = rt_within(rt_seeing(p, b->key + t, 1), b->row + first, RT_NR);
    if (seeing.last - seeing.first == RT_NR)
        return;
    for (int64_t l = 0; l < RT_NR; l++)
        s[l] = l >= seeing.first && l < seeing.last ? s[l] : -INFINITY;
}

#endif
