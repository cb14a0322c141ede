// Blocks of 16 by 16 f32, turned over in registers.
#ifndef SHARDCC_RT_CPU_TRANSPOSE_H
#define SHARDCC_RT_CPU_TRANSPOSE_H

#include <stdint.h>

enum { RT_BLOCK = 16 };

typedef float RtVector __attribute__((vector_size(4 * RT_BLOCK)));
typedef RtVector RtVectorAt __attribute__((aligned(4), may_alias));  // anywhere in floats

static inline void rt_riffle(RtVector y[RT_BLOCK], const RtVector x[RT_BLOCK])
{
    for (int i = 0; i < RT_BLOCK / 2; i++) {
        RtVector a = x[i], b = x[i + RT_BLOCK / 2];
        y[2 * i] =
            __builtin_shufflevector(a, b, 0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23);
        y[2 * i + 1] = __builtin_shufflevector(a, b, 8, 24, 9, 25, 10, 26, 11, 27, 12, 28, 13, 29,
                                               14, 30, 15, 31);
    }
}

// to[j * to_row + i] = from[i * from_row + j]. To riffle rows i and i + 8, as a pack of cards,
// moves each element's four bits of row and four of column round by one place; after four riffles
// rows are columns.
static inline void rt_transpose_block(float *to, int64_t to_row, const float *from,
                                      int64_t from_row)
{
    RtVector x[RT_BLOCK], y[RT_BLOCK];

    for (int i = 0; i < RT_BLOCK; i++)
        x[i] = *(const RtVectorAt *)(from + i * from_row);
    rt_riffle(y, x);
    rt_riffle(x, y);
    rt_riffle(y, x);
    rt_riffle(x, y);
    for (int i = 0; i < RT_BLOCK; i++)
        *(RtVectorAt *)(to + i * to_row) = x[i];
}

#endif
