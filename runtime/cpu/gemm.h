// The matrix product of f32 and of halves, whose sums are f32.
#ifndef SHARDCC_RT_CPU_GEMM_H
#define SHARDCC_RT_CPU_GEMM_H

#include "runtime/cpu/micro.h"

// y[m, n] = Σ_k a[m, k] · b[k, n], any strides, k > 0. Slabs of b, up to slab_k by slab_n, are
// packed in one piece. All `team` threads of the parallel region call it, each with its `rank` and
// with the same `pack`. `pack` has rt_gemm_slab(g) bytes, and twice as many for a team if b is more
// than one slab. The bits do not depend on `team`. A half y is rounded once, from the sum over k.
typedef struct RtGemm {
    int64_t m, n, k, a_m, a_k, b_k, b_n, y_m, y_n, slab_k, slab_n;
    const RtMicro *micro;  // NULL: the fastest one for this product
    // If a_from or b_from is set, the rows of a or of b are produced by `take`. It writes elements
    // [at, at + length) of rows [row, row + n) to `to`, in rows of `length`. They are of the type
    // of rt_gemm_micro(g).
    void (*take)(const void *from, void *to, int64_t row, int64_t n, int64_t at, int64_t length);
    const void *a_from, *b_from;  // NULL: the operand lies in memory as its strides say
    RtType type, result;          // of a and b, and of y: f32 or a half; RT_NONE: f32
    // The sums of some rows, before a half y is rounded: memory for rt_product_sums or more
    // floats, which all threads share.
    float *sums;
    int64_t n_sums;
} RtGemm;

int64_t rt_gemm_slab(const RtGemm *g);
const RtMicro *rt_gemm_micro(const RtGemm *g);
void rt_gemm(const RtGemm *g, void *y, const void *a, const void *b, void *pack, int team,
             int rank);

#endif
