// Which products of GPUs cuBLASLt can compute, and how it is asked to.
#ifndef SHARDCC_RT_CUDA_MATMUL_H
#define SHARDCC_RT_CUDA_MATMUL_H

#include "runtime/rt_kernels.h"

// A column-major matrix: element (row, column) of batch entry i lies at row + column * leading +
// i * stride.
typedef struct RtCudaMatrix {
    int64_t rows, columns, leading, stride;
    bool is_transposed;  // the product takes its transpose
} RtCudaMatrix;

// y = a b for each entry of a batch, where a and b may be transposed.
typedef struct RtCudaMatmul {
    RtCudaMatrix a, b, y;
    int64_t batches;
    bool is_swapped;  // a is rt_dot's right operand, and b its left one
} RtCudaMatmul;

// Returns false if cuBLASLt can't compute the product: it takes matrices with a unit stride, and
// one batch dim.
bool rt_cuda_matmul_plan(const RtDot *p, RtCudaMatmul *to);

// Bytes of workspace that cuBLASLt may use, and the alignment of their begin that it asks for.
enum { RT_CUDA_MATMUL_ALIGNMENT = 256 };
int64_t rt_cuda_matmul_bytes(const RtDot *p);

#endif
