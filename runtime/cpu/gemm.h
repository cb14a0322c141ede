// The matrix product of f32.
#ifndef SHARDCC_RT_CPU_GEMM_H
#define SHARDCC_RT_CPU_GEMM_H

#include "runtime/cpu/micro.h"

// y[m, n] = Σ_k a[m, k] · b[k, n], any strides; slabs of b, up to slab_k by slab_n, are packed at
// once. All `team` threads of the parallel region call it, each with its `rank`, and with the same
// `pack`: rt_gemm_slab(g) bytes, for a team twice as many, if b is more than a slab. The bits do
// not depend on `team`. k > 0.
typedef struct RtGemm {
    int64_t m, n, k, a_m, a_k, b_k, b_n, y_m, y_n, slab_k, slab_n;
    const RtMicro *micro;  // NULL: the fastest that there is for it
    // Or rows of a, or of b, are copied from something else: of rows [row, row + n) elements
    // [at, at + length), as rows of `length`.
    void (*take)(const void *from, float *to, int64_t row, int64_t n, int64_t at, int64_t length);
    const void *a_from, *b_from;  // NULL: they lie as the strides say
} RtGemm;
int64_t rt_gemm_slab(const RtGemm *g);
void rt_gemm(const RtGemm *g, float *y, const float *a, const float *b, void *pack, int team,
             int rank);

#endif
