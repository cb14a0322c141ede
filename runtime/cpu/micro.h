// Micro-kernels of the matrix product (Van Zee and van de Geijn, "BLIS", 2015): how operands are
// packed into panels, and how a tile of the result is made of a panel of rows and one of columns.
#ifndef SHARDCC_RT_CPU_MICRO_H
#define SHARDCC_RT_CPU_MICRO_H

#include "runtime/cpu/internal.h"

// The rows of a, or the columns of b: n of them, `step` apart, each of k elements `k_step` apart.
typedef struct RtSide {
    const void *at;  // of RtMicro.type
    int64_t n, step, k, k_step;
} RtSide;

// One call of RtMicro.multiply: panels of rows of a times one panel of n columns of b, over all k
// of a block. k is cut into parts, each of which is one chain of sums. y is m by n; m is at most
// RtMicro.panels panels of rows. Meanwhile `prefetched`, as many bytes as this part of b has, is
// prefetched.
typedef struct RtStrip {
    float *y;
    int64_t m, n, y_m, y_n, k, part;
    bool is_more;  // add to y instead of overwriting it
    const char *a, *b, *prefetched;
    int64_t a_step, a_part;  // distance in bytes: between panels of a part; between parts
} RtStrip;

typedef struct RtMicro {
    RtType type;          // of the elements that are packed: RT_F32 or RT_BF16
    int rows, columns;    // size of a tile
    int panels;           // panels of rows that are packed together
    int bytes;            // bytes of a packed element
    int k_unit, part;     // memory is in multiples of k_unit; k of a chain of sums
    int row_padding;      // unused elements after each packed row
    void (*begin)(void);  // each thread calls both around its calls; or NULL
    void (*end)(void);
    void (*pack_rows)(void *to, const RtSide *a);
    void (*pack_columns)(void *to, const RtSide *b);
    void (*multiply)(const RtStrip *s);
} RtMicro;

// Stores a tile at the edge of y, or a tile of a y whose rows aren't contiguous. c holds the sums
// in rows of `columns`; is_more adds them to y.
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
