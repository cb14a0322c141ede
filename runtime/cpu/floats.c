// Matrices of floats, read from and written to tensors of f32 or a half.
#include "runtime/cpu/floats.h"

#if defined __AVX2__ && defined __F16C__
static inline void widen4_bf16(float *to, const RtBf16 *from)
{
    __m128i x = _mm_cvtepu16_epi32(_mm_loadl_epi64((const __m128i_u *)from));

    _mm_storeu_ps(to, _mm_castsi128_ps(_mm_slli_epi32(x, 16)));
}

static inline void widen4_f16(float *to, const RtF16 *from)
{
    _mm_storeu_ps(to, _mm_cvtph_ps(_mm_loadl_epi64((const __m128i_u *)from)));
}
#else
static inline void widen4_bf16(float *to, const RtBf16 *from)
{
    for (int i = 0; i < 4; i++)
        to[i] = rt_from_bf16(from[i]);
}

static inline void widen4_f16(float *to, const RtF16 *from)
{
    for (int i = 0; i < 4; i++)
        to[i] = rt_from_f16(from[i]);
}
#endif

// Widens a row by vectors. The last one overlaps the one before it.
#define WIDEN_ROW(T, name)                                                                         \
    static inline void widen_row_##name(float *restrict to, const T *restrict from, int64_t n)     \
    {                                                                                              \
        int64_t i = 0;                                                                             \
                                                                                                   \
        for (; i + 8 <= n; i += 8)                                                                 \
            rt_widen_##name(to + i, from + i);                                                     \
        if (i < n && n >= 8)                                                                       \
            rt_widen_##name(to + n - 8, from + n - 8);                                             \
        if (n >= 4 && n < 8) {                                                                     \
            widen4_##name(to, from);                                                               \
            widen4_##name(to + n - 4, from + n - 4);                                               \
        } else                                                                                     \
            for (; i < n && n < 4; i++)                                                            \
                to[i] = rt_from_##name(from[i]);                                                   \
    }
WIDEN_ROW(RtBf16, bf16)
WIDEN_ROW(RtF16, f16)

static inline void widen_row_f32(float *restrict to, const float *restrict from, int64_t n)
{
    for (int64_t i = 0; i < n; i++)
        to[i] = from[i];
}

// Contiguous elements have loops of their own, which are vectorized.
#define FLOATS(T, name, widen, round)                                                              \
    static void read_##name(float *restrict to, int64_t to_row, const T *restrict from,            \
                            int64_t row, int64_t col, int64_t rows, int64_t columns)               \
    {                                                                                              \
        for (int64_t i = 0; i < rows; i++, to += to_row, from += row) {                            \
            if (col == 1)                                                                          \
                widen_row_##name(to, from, columns);                                               \
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
    if (col == 1 && row == columns && to_row == columns) {
        columns *= rows;
        rows = 1;
    }
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
    if (col == 1 && row == columns && from_row == columns) {
        columns *= rows;
        rows = 1;
    }
    if (t == RT_BF16)
        write_bf16(to, row, col, from, from_row, rows, columns);
    else if (t == RT_F16)
        write_f16(to, row, col, from, from_row, rows, columns);
    else
        write_f32(to, row, col, from, from_row, rows, columns);
}
