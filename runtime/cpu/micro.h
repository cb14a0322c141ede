// Micro-kernels of the matrix product (Van Zee and van de Geijn, "BLIS", 2015): how operands are
// packed into panels, and how a tile of the result is made of a panel of rows and one of columns.
#ifndef SHARDCC_RT_CPU_MICRO_H
#define SHARDCC_RT_CPU_MICRO_H

#include "runtime/cpu/internal.h"

// Rows of a, or columns of b: n of them, `step` apart, of k elements, `k_step` apart.
typedef struct RtSide {
    const float *at;
    int64_t n, step, k, k_step;
} RtSide;

// Panels of rows of a times a panel of n columns of b, over all k of a block, which is cut into
// parts, each a chain of sums. y: m by n, m up to RtMicro.panels of rows. Meanwhile what is `soon`
// needed, as much as this of b, is called for.
typedef struct RtStrip {
    float *y;
    int64_t m, n, y_m, y_n, k, part;
    bool is_more;  // by what y has
    const char *a, *b, *prefetched;
    int64_t a_step, a_part;  // bytes from one panel of a part to the next; from part to part
} RtStrip;

typedef struct RtMicro {
    int rows, columns;    // of a tile
    int panels;           // of rows, packed at once
    int bytes;            // of a packed element
    int k_unit, part;     // panels have room for multiples of this; of k in one chain of sums
    int row_room;         // elements behind each packed row
    void (*begin)(void);  // before what a thread calls, and after; or NULL
    void (*end)(void);
    void (*pack_rows)(void *to, const RtSide *a);
    void (*pack_columns)(void *to, const RtSide *b);
    void (*multiply)(const RtStrip *s);
} RtMicro;

// Of a tile at the edge of y, at `y`, or of a y whose rows aren't in one piece: the sums c, in rows
// of `columns`, or more by them.
static inline void rt_store_edge(const RtStrip *s, float *y, int64_t rows, const float *c,
                                 int64_t columns, bool is_more)
{
    for (int64_t i = 0; i < rows; i++, y += s->y_m, c += columns)
        if (s->y_n == 1)
#pragma omp simd
            for (int64_t j = 0; j < s->n; j++)
                y[j] = c[j] + (is_more ? y[j] : 0);
        else
            for (int64_t j = 0; j < s->n; j++)
                y[j * s->y_n] = c[j] + (is_more ? y[j * s->y_n] : 0);
}

#endif
