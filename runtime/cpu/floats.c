// Matrices of floats, read from and written to tensors of f32 or a half.
#include "runtime/cpu/floats.h"

#include "runtime/rt_half.h"

// Contiguous elements have loops of their own, which are vectorized.
#define FLOATS(T, name, widen, round)                                                              \
    static void read_##name(float *restrict to, int64_t to_row, const T *restrict from,            \
                            int64_t row, int64_t col, int64_t rows, int64_t columns)               \
    {                                                                                              \
        for (int64_t i = 0; i < rows; i++, to += to_row, from += row) {                            \
            for (int64_t j = 0; j < columns && col == 1; j++)                                      \
                to[j] = widen(from[j]);                                                            \
            for (int64_t j = 0; j < columns && col != 1; j++)                                      \
                to[j] = widen(from[j * col]);                                                      \
        }                                                                                          \
    }                                                                                              \
    static void write_##name(T *restrict to, int64_t row, int64_t col, const float *restrict from, \
                             int64_t from_row, int64_t rows, int64_t columns)                      \
    {                                                                                              \
        for (int64_t i = 0; i < rows; i++, to += row, from += from_row) {                          \
            for (int64_t j = 0; j < columns && col == 1; j++)                                      \
                to[j] = round(from[j]);                                                            \
            for (int64_t j = 0; j < columns && col != 1; j++)                                      \
                to[j * col] = round(from[j]);                                                      \
        }                                                                                          \
    }
FLOATS(float, f32, , )
FLOATS(RtBf16, bf16, rt_from_bf16, rt_to_bf16)
FLOATS(RtF16, f16, rt_from_f16, rt_to_f16)

void rt_read_floats(RtType t, float *to, int64_t to_row, const void *from, int64_t row, int64_t col,
                    int64_t rows, int64_t columns)
{
    if (t == RT_BF16)
        read_bf16(to, to_row, from, row, col, rows, columns);
    else if (t == RT_F16)
        read_f16(to, to_row, from, row, col, rows, columns);
    else
        read_f32(to, to_row, from, row, col, rows, columns);
}

void rt_write_floats(RtType t, void *to, int64_t row, int64_t col, const float *from,
                     int64_t from_row, int64_t rows, int64_t columns)
{
    if (t == RT_BF16)
        write_bf16(to, row, col, from, from_row, rows, columns);
    else if (t == RT_F16)
        write_f16(to, row, col, from, from_row, rows, columns);
    else
        write_f32(to, row, col, from, from_row, rows, columns);
}
