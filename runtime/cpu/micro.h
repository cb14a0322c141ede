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

// m by n of y, at most rows by columns of the micro-kernel.
typedef struct RtTile {
    float *y;
    int64_t m, n, y_m, y_n;
    bool is_more;  // by what is there
} RtTile;

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
    // Meanwhile one of `panels` pieces of a panel of b is called for, which lies at `soon`.
    void (*multiply)(const RtTile *t, int64_t k, const void *a, const void *b, const void *soon);
} RtMicro;

// A tile at the edge, or of a y whose rows aren't in one piece. c: rows of `columns`.
static inline void rt_store_tile(const RtTile *t, const float *c, int64_t columns)
{
    for (int64_t i = 0; i < t->m; i++)
        for (int64_t j = 0; j < t->n; j++) {
            float *y = t->y + i * t->y_m + j * t->y_n;
            *y = c[i * columns + j] + (t->is_more ? *y : 0);
        }
}

#endif
