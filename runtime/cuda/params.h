// Parameters that kernels of GPUs take by value, and the types that they have a variant for. Host
// code and kernels include it.
#ifndef SHARDCC_RT_CUDA_PARAMS_H
#define SHARDCC_RT_CUDA_PARAMS_H

#include "runtime/rt_kernels.h"

// X(C type, suffix of the kernels' names): the types that kernels have a variant for, u64 as i64
// and bool as u8. A program's text defines the list of those that it needs. Halves have a list of
// their own, as fewer kernels take them; the text of a program without halves lacks it.
#ifndef RT_CUDA_EACH_TYPE
#define RT_CUDA_EACH_TYPE(X)                                                                       \
    X(float, f32)                                                                                  \
    X(double, f64)                                                                                 \
    X(int8_t, i8)                                                                                  \
    X(int16_t, i16)                                                                                \
    X(int32_t, i32)                                                                                \
    X(int64_t, i64)                                                                                \
    X(uint8_t, u8)                                                                                 \
    X(uint16_t, u16)                                                                               \
    X(uint32_t, u32)
#define RT_CUDA_EACH_HALF(X) X(RtF16, f16) X(RtBf16, bf16)
#endif
#ifndef RT_CUDA_EACH_HALF
#define RT_CUDA_EACH_HALF(X)
#endif
// The types of the operands of products, convolutions and attention, except f64.
#ifndef RT_CUDA_EACH_PRODUCT
#define RT_CUDA_EACH_PRODUCT(X) X(float, f32) RT_CUDA_EACH_HALF(X)
#endif
// Those of attention that is computed without tensor cores, and with them.
#ifndef RT_CUDA_EACH_ATTENTION
#define RT_CUDA_EACH_ATTENTION(X) RT_CUDA_EACH_PRODUCT(X)
#endif
#ifndef RT_CUDA_EACH_TENSOR
#define RT_CUDA_EACH_TENSOR(X) RT_CUDA_EACH_HALF(X)
#endif
// X(tiles): the columns of attention's blocks, as rt_cuda_column_tiles.
#ifndef RT_CUDA_EACH_WIDTH
#define RT_CUDA_EACH_WIDTH(X) X(1) X(2)
#endif

// Dims with the strides of two operands, the outermost first.
typedef struct RtCudaDims {
    int n;
    int64_t dim[RT_MAX_DIMS], x[RT_MAX_DIMS], y[RT_MAX_DIMS];
} RtCudaDims;

// A strided copy of `count` units: elements, or vectors of them.
typedef struct RtCudaCopy {
    RtCudaDims dims;
    int64_t count;
} RtCudaCopy;

// A transposing copy: x is contiguous along the rows, y along the columns. `outer` are the others.
typedef struct RtCudaTranspose {
    RtCudaDims outer;
    int64_t rows, columns, x_column, y_row;
    int64_t down, across;  // tiles
} RtCudaTranspose;

// A reduction: `kept` walks the results (y is dense), `reduced` the elements of one (x alone). Its
// elements are split into chunks, whose results are joined.
typedef struct RtCudaReduce {
    RtReduceOp op;
    RtCudaDims kept, reduced;
    int64_t results, length, chunks;
} RtCudaReduce;

// Resampling. A position has `most` taps at most.
typedef struct RtCudaResample {
    RtResample p;
    int64_t most;
} RtCudaResample;

// A product in tiles, whose sums are split into parts.
typedef struct RtCudaDot {
    RtDot p;
    int64_t batches, tiles_m, tiles_n, parts;
    bool is_f32;  // the result
} RtCudaDot;

// Attention in tiles of queries or keys. A block has `tiles` of them for each head, or batch entry,
// and `columns` blocks of columns of its results for each of these.
typedef struct RtCudaAttention {
    RtAttention p;
    int64_t groups, tiles, columns;
    uint32_t
        least;     // dropout keeps a weight if its random number's upper 24 bits are at least this
    float factor;  // of weights that are kept
} RtCudaAttention;

// A convolution, or a gradient of it, as a product for each group: rows, columns and terms of one,
// whose sums are split into parts.
typedef struct RtCudaConv {
    int64_t rows, columns, terms, tiles_m, tiles_n, parts;
} RtCudaConv;

// The numbers of a query that its gradient needs: d, which is Σ dy y; the maximum of its scores; 1
// / their sum, 0 for weights of 0; and 1 if keys outside of its limits have weights, else 0.
typedef struct RtCudaQuery {
    float d, max, part, needs_all;
} RtCudaQuery;

// The operands of attention, of which q, k, v and y have the type of RtAttention, and those of its
// gradient; `queries`: [batch, group, s].
typedef struct RtCudaAttentionOperands {
    void *y;
    float *max, *sum;
    const void *q, *k, *v, *bias;
    const int64_t *seed, *step, *micro;
} RtCudaAttentionOperands;
typedef struct RtCudaGradOperands {
    void *dq, *dk, *dv;
    const void *q, *k, *v, *bias;
    const int64_t *seed, *step, *micro;
    const void *dy;
    const RtCudaQuery *queries;
} RtCudaGradOperands;

// An element's bits, repeated to 16 bytes.
typedef struct RtCudaPattern {
    uint64_t word[2];
} RtCudaPattern;

#endif
