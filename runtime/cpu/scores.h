// What attention and its gradient share: the scores of a few queries against a block of keys, which
// keys a query sees, and packed operands.
#ifndef SHARDCC_RT_CPU_SCORES_H
#define SHARDCC_RT_CPU_SCORES_H

#include "runtime/cpu/gemm.h"

static_assert(RT_KEYS % RT_NR == 0 && RT_ROWS % (2 * RT_MR) == 0, "blocks are whole tiles");

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
#define RT_HEAD(p, operand, b, g)                                                                  \
    (rt_entry((p)->n_batch, (p)->batch, (p)->operand.batch, b) +                                   \
     rt_entry((p)->n_group, (p)->group, (p)->operand.group, g))

// Keys [first, last) that some of the queries [row, row + rows) see.
typedef struct RtKeys {
    int64_t first, last;
} RtKeys;

static inline RtKeys rt_seen(const RtAttention *p, int64_t row, int64_t rows)
{
    RtKeys k = {0, p->t};

    if (p->causal && p->window > 0)
        k.first = rt_most(0, row + p->offset - p->window + 1);
    if (p->causal)
        k.last = rt_least(p->t, row + rows + p->offset);
    return k;
}

// Packs `rows` rows into panels of RT_MR, [panel][columns][RT_MR], zeros after the last row.
void rt_pack_rows(float *to, const float *a, int64_t row, int64_t col, int64_t rows,
                  int64_t columns);

// Packs a matrix of k rows and n columns into panels of RT_NR columns, [panel][k_room][RT_NR].
void rt_pack_columns(float *to, const float *b, int64_t row, int64_t col, int64_t k, int64_t n,
                     int64_t k_room);

// scale · q·k + bias of the queries [row, row + rows), rows ≤ RT_MR, and the keys
// key + [first, last) of a block; first is a multiple of RT_NR. -inf where a query doesn't see a
// key, and from `last` to the next multiple of RT_NR. `bias` is that of the head.
void rt_scores(const RtAttention *p, float scores[RT_MR][RT_KEYS], const float *q_panel,
               const float *k_panels, const void *bias, int64_t row, int64_t rows, int64_t key,
               int64_t first, int64_t last);

#endif
