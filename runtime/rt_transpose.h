// Matrix transposes: of blocks in registers, and of strips of rows for fused groups that read x by
// columns.
#ifndef SHARDCC_RT_TRANSPOSE_H
#define SHARDCC_RT_TRANSPOSE_H

#include <stdbool.h>
#include <stdint.h>

enum { RT_TRANSPOSE_BLOCK = 16 };

#ifdef __AVX512F__

typedef float RtVector __attribute__((vector_size(4 * RT_TRANSPOSE_BLOCK)));
typedef RtVector RtVectorAt __attribute__((aligned(4), may_alias));  // aligned as a float only

static inline void rt_interleave(RtVector y[RT_TRANSPOSE_BLOCK],
                                 const RtVector x[RT_TRANSPOSE_BLOCK])
{
    for (int i = 0; i < RT_TRANSPOSE_BLOCK / 2; i++) {
        RtVector a = x[i], b = x[i + RT_TRANSPOSE_BLOCK / 2];
        y[2 * i] =
            __builtin_shufflevector(a, b, 0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23);
        y[2 * i + 1] = __builtin_shufflevector(a, b, 8, 24, 9, 25, 10, 26, 11, 27, 12, 28, 13, 29,
                                               14, 30, 15, 31);
    }
}

// to[j * to_row + i] = from[i * from_row + j]. Interleaving rows i and i + 8 rotates the eight bits
// of an element's position, four of its row and four of its column, by one. Four such shuffles swap
// rows and columns.
static inline void rt_transpose_block(float *to, int64_t to_row, const float *from,
                                      int64_t from_row)
{
    RtVector x[RT_TRANSPOSE_BLOCK], y[RT_TRANSPOSE_BLOCK];

    for (int i = 0; i < RT_TRANSPOSE_BLOCK; i++)
        x[i] = *(const RtVectorAt *)(from + i * from_row);
    rt_interleave(y, x);
    rt_interleave(x, y);
    rt_interleave(y, x);
    rt_interleave(x, y);
    for (int i = 0; i < RT_TRANSPOSE_BLOCK; i++)
        *(RtVectorAt *)(to + i * to_row) = x[i];
}

#else

typedef float RtVector __attribute__((vector_size(32)));
typedef RtVector RtVectorAt __attribute__((aligned(4), may_alias));  // aligned as a float only

// Eight rows of eight, by shuffles that each are one instruction of AVX: pairs of elements, pairs
// of pairs, halves. gcc takes vectors of 16 apart into single elements here, which takes four times
// as long.
static inline void rt_transpose_quarter(float *to, int64_t to_row, const float *from,
                                        int64_t from_row)
{
    RtVector x[8], y[8];

    for (int i = 0; i < 8; i++)
        x[i] = *(const RtVectorAt *)(from + i * from_row);
    for (int i = 0; i < 8; i += 2) {
        y[i] = __builtin_shufflevector(x[i], x[i + 1], 0, 8, 1, 9, 4, 12, 5, 13);
        y[i + 1] = __builtin_shufflevector(x[i], x[i + 1], 2, 10, 3, 11, 6, 14, 7, 15);
    }
    for (int i = 0; i < 8; i += 4)
        for (int k = 0; k < 2; k++) {
            RtVector a = y[i + k], b = y[i + k + 2];
            x[i + 2 * k] = __builtin_shufflevector(a, b, 0, 1, 8, 9, 4, 5, 12, 13);
            x[i + 2 * k + 1] = __builtin_shufflevector(a, b, 2, 3, 10, 11, 6, 7, 14, 15);
        }
    for (int i = 0; i < 4; i++) {
        *(RtVectorAt *)(to + i * to_row) =
            __builtin_shufflevector(x[i], x[i + 4], 0, 1, 2, 3, 8, 9, 10, 11);
        *(RtVectorAt *)(to + (i + 4) * to_row) =
            __builtin_shufflevector(x[i], x[i + 4], 4, 5, 6, 7, 12, 13, 14, 15);
    }
}

// to[j * to_row + i] = from[i * from_row + j].
static inline void rt_transpose_block(float *to, int64_t to_row, const float *from,
                                      int64_t from_row)
{
    for (int i = 0; i < RT_TRANSPOSE_BLOCK; i += 8)
        for (int j = 0; j < RT_TRANSPOSE_BLOCK; j += 8)
            rt_transpose_quarter(to + j * to_row + i, to_row, from + i * from_row + j, from_row);
}

#endif

// to[c * to_row + r] = from[r * from_row + c].
static inline void rt_transpose(float *to, int64_t to_row, const float *from, int64_t from_row,
                                int64_t rows, int64_t columns)
{
    int64_t r = 0, c = 0, whole = columns - columns % RT_TRANSPOSE_BLOCK;

    for (; r + RT_TRANSPOSE_BLOCK <= rows; r += RT_TRANSPOSE_BLOCK)
        for (c = 0; c < whole; c += RT_TRANSPOSE_BLOCK)
            rt_transpose_block(to + c * to_row + r, to_row, from + r * from_row + c, from_row);
    for (int64_t i = 0; i < rows; i++)
        for (int64_t k = i < r ? whole : 0; k < columns; k++)
            to[k * to_row + i] = from[i * from_row + k];
}

enum { RT_TRANSPOSE_ROWS = RT_TRANSPOSE_BLOCK };

// y[r - at, c] = x[c * stride + r] for the `n` rows r from `at` on.
static inline void rt_transpose_strip(float *y, const float *x, int64_t stride, int64_t at,
                                      int64_t n, int64_t columns)
{
    int64_t whole = n == RT_TRANSPOSE_BLOCK ? columns / RT_TRANSPOSE_BLOCK * RT_TRANSPOSE_BLOCK : 0;

    x += at;
    for (int64_t c = 0; c < whole; c += RT_TRANSPOSE_BLOCK)
        rt_transpose_block(y + c, columns, x + c * stride, stride);
    for (int64_t c = whole; c < columns; c++)
        for (int64_t r = 0; r < n; r++)
            y[r * columns + c] = x[c * stride + r];
}

// Prefetches for rt_transpose_rows. Later strips read lines that are a stride apart, which the
// hardware doesn't predict. The lines of the next RT_TRANSPOSE_PREFETCH_ROWS rows are adjacent, so
// they are prefetched together; each row prefetches a share of the columns, to keep memory busy all
// the time. After the last rows the first rows of the next `columns` columns usually follow. Always
// inlined: gcc removes a call that it finds to have no effect.
enum { RT_TRANSPOSE_PREFETCH_ROWS = 4 * RT_TRANSPOSE_ROWS };
__attribute__((always_inline)) static inline void
rt_transpose_prefetch(const float *x, int64_t stride, int64_t i, int64_t rows, int64_t columns)
{
    int64_t row = i % RT_TRANSPOSE_PREFETCH_ROWS, next = i - row + RT_TRANSPOSE_PREFETCH_ROWS;
    int64_t n = next <= rows ? RT_TRANSPOSE_PREFETCH_ROWS
                             : rows % RT_TRANSPOSE_PREFETCH_ROWS;  // rows that share the work
    int64_t c = row * columns / n, last = (row + 1) * columns / n;

    if (next >= rows) {
        next = 0;
        x += columns * stride;
    }
    int64_t end =
        rows - next < RT_TRANSPOSE_PREFETCH_ROWS ? rows - next : RT_TRANSPOSE_PREFETCH_ROWS;
    for (x += next + c * stride; c < last; c++, x += stride)
        for (int64_t j = 0; j < end; j += RT_TRANSPOSE_ROWS)
            __builtin_prefetch(x + j, 0, 2);
}

// Provides row i of x in y. x is `rows` by `columns`, with columns `stride` apart. y holds the
// strip of RT_TRANSPOSE_ROWS rows that contains row i. The strip is transposed at its first row, or
// at the first row of all (is_first).
static inline void rt_transpose_rows(float *y, const float *x, int64_t stride, int64_t i,
                                     bool is_first, int64_t rows, int64_t columns)
{
    int64_t at = i - i % RT_TRANSPOSE_ROWS;

    if (is_first || i == at)
        rt_transpose_strip(y, x, stride, at,
                           rows - at < RT_TRANSPOSE_ROWS ? rows - at : RT_TRANSPOSE_ROWS, columns);
    rt_transpose_prefetch(x, stride, i, rows, columns);
}

#endif
