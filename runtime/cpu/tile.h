// The micro-kernel of fused multiply-adds, and its parts for kernels with products inside.
#ifndef SHARDCC_RT_CPU_TILE_H
#define SHARDCC_RT_CPU_TILE_H

#include "runtime/cpu/micro.h"

// A tile of the result that fills the vector registers: 24 of 32 with AVX-512, 12 of 16 with AVX2.
#ifdef __AVX512F__
enum { RT_MR = 12, RT_NR = 32 };
#else
enum { RT_MR = 6, RT_NR = 16 };
#endif

// c[i c_i + j] = Σ_p a[i a_i + p a_p] · b[p b_p + j] for j < columns, a constant; is_more adds to
// c. gcc keeps the sums in registers. Meanwhile k addresses from `prefetched` on, `step` floats
// apart, are prefetched.
static inline __attribute__((always_inline)) void
rt_tile_columns(int columns, float *c, int64_t c_i, bool is_more, int64_t k, const float *a,
                int64_t a_i, int64_t a_p, const float *b, int64_t b_p, const float *prefetched,
                int64_t step)
{
    float s[RT_MR][RT_NR] = {{0}};

    for (int64_t p = 0; p < k; p++) {
        __builtin_prefetch(prefetched + p * step, 0, 2);
        for (int i = 0; i < RT_MR; i++) {
            float x = a[p * a_p + i * a_i];
#pragma omp simd
            for (int j = 0; j < columns; j++)
                s[i][j] = RT_FMA(x, b[p * b_p + j], s[i][j]);
        }
    }
    for (int i = 0; i < RT_MR; i++)
        for (int j = 0; j < columns; j++)
            c[i * c_i + j] = is_more ? c[i * c_i + j] + s[i][j] : s[i][j];
}

// The same for all RT_NR columns.
static inline void rt_tile_prefetch(float *c, int64_t c_i, bool is_more, int64_t k, const float *a,
                                    int64_t a_i, int64_t a_p, const float *b, int64_t b_p,
                                    const float *prefetched, int64_t step)
{
    rt_tile_columns(RT_NR, c, c_i, is_more, k, a, a_i, a_p, b, b_p, prefetched, step);
}

// The same without prefetching, for operands that are in the caches.
static inline void rt_tile(float *c, int64_t c_i, bool is_more, int64_t k, const float *a,
                           int64_t a_i, int64_t a_p, const float *b, int64_t b_p)
{
    rt_tile_prefetch(c, c_i, is_more, k, a, a_i, a_p, b, b_p, b, 0);
}

// Copies k rows of n ≤ RT_NR columns of b to [k][RT_NR], with zeros after the last column.
void rt_pack_panel(float *to, const float *b, int64_t b_k, int64_t b_n, int64_t k, int64_t n);

// rt_micro_rows needs an `a` whose rows are contiguous; rt_micro_columns takes any.
extern const RtMicro rt_micro_rows, rt_micro_columns;

#endif
