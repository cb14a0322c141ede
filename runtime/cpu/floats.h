// Floats of tensors whose elements may be halves in memory. Arithmetic is in f32: kernels widen
// blocks of their operands, which is exact, and round their results once.
#ifndef SHARDCC_RT_CPU_FLOATS_H
#define SHARDCC_RT_CPU_FLOATS_H

#include "runtime/cpu/internal.h"

// The address of element `i`. RT_NONE is taken as RT_F32, here and below.
static inline const char *rt_at(RtType t, const void *x, int64_t i)
{
    return (const char *)x + i * rt_type_bytes(t);
}

static inline char *rt_to(RtType t, void *x, int64_t i) { return (char *)x + i * rt_type_bytes(t); }

// to[i · to_row + j] = from[i · row + j · col], of type f32 or a half.
void rt_read_floats(RtType t, float *to, int64_t to_row, const void *from, int64_t row, int64_t col,
                    int64_t rows, int64_t columns);

// to[i · row + j · col] = from[i · from_row + j], rounded to the nearest, ties to even.
void rt_write_floats(RtType t, void *to, int64_t row, int64_t col, const float *from,
                     int64_t from_row, int64_t rows, int64_t columns);

#endif
