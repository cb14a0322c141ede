// Floats of tensors whose elements may be halves in memory. Arithmetic is in f32: kernels widen
// blocks of their operands, which is exact, and round their results once.
#ifndef SHARDCC_RT_CPU_FLOATS_H
#define SHARDCC_RT_CPU_FLOATS_H

#if defined __AVX2__ && defined __F16C__
#include <immintrin.h>
#endif

#include "runtime/cpu/internal.h"
#include "runtime/rt_half.h"

// The address of element `i`. RT_NONE is taken as RT_F32, here and below.
static inline const char *rt_at(RtType t, const void *x, int64_t i)
{
    return (const char *)x + i * rt_type_bytes(t);
}

static inline char *rt_to(RtType t, void *x, int64_t i) { return (char *)x + i * rt_type_bytes(t); }

// Widens 8 contiguous halves. gcc would unroll a loop of so few elements instead of vectorizing it.
#if defined __AVX2__ && defined __F16C__
static inline void rt_widen_bf16(float *to, const RtBf16 *from)
{
    __m256i x = _mm256_cvtepu16_epi32(_mm_loadu_si128((const __m128i_u *)from));

    _mm256_storeu_ps(to, _mm256_castsi256_ps(_mm256_slli_epi32(x, 16)));
}

static inline void rt_widen_f16(float *to, const RtF16 *from)
{
    _mm256_storeu_ps(to, _mm256_cvtph_ps(_mm_loadu_si128((const __m128i_u *)from)));
}
#else
static inline void rt_widen_bf16(float *to, const RtBf16 *from)
{
    for (int i = 0; i < 8; i++)
        to[i] = rt_from_bf16(from[i]);
}

static inline void rt_widen_f16(float *to, const RtF16 *from)
{
    for (int i = 0; i < 8; i++)
        to[i] = rt_from_f16(from[i]);
}
#endif

// to[i · to_row + j] = from[i · row + j · col], of type f32 or a half.
void rt_read_floats(RtType t, float *to, int64_t to_row, const void *from, int64_t row, int64_t col,
                    int64_t rows, int64_t columns);

// to[i · row + j · col] = from[i · from_row + j], rounded to the nearest, ties to even.
void rt_write_floats(RtType t, void *to, int64_t row, int64_t col, const float *from,
                     int64_t from_row, int64_t rows, int64_t columns);

#endif
