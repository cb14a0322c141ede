// A product by cuBLASLt: matmul.c prepares and starts it, tune.c looks for its fastest algorithm.
#ifndef SHARDCC_RT_MATMUL_H
#define SHARDCC_RT_MATMUL_H

#include "runtime/cuda/cuda.h"
#include "runtime/rt_cuda_matmul.h"

// Calls may have operands of different alignments, as those of the layers of a loop. There is an
// algorithm for calls whose operands all begin at a multiple of 16 bytes, and one for others.
enum { RT_ALIGNED, RT_UNALIGNED, RT_ALIGNMENTS };
enum { RT_MATMUL_ALIGNMENT = 16 };  // bytes that cuBLASLt's kernels load in one access

typedef struct RtMatmulChoice {
    bool is_made, has_algorithm;
    RtLtAlgorithm algorithm;
} RtMatmulChoice;

struct RtMatmul {
    RtCudaMatmul plan;
    RtType type, result;  // of a and b, and of y
    uint64_t workspace;   // bytes that may be used
    RtLtProduct *product;
    RtLtMatrix *a, *b, *y;
    RtMatmulChoice choice[RT_ALIGNMENTS];
    RtMatmul *next;
};

// The operands of a call, in cuBLASLt's order.
typedef struct RtMatmulOperands {
    void *y, *workspace;
    const void *a, *b;
} RtMatmulOperands;

// Sets at most `most` algorithms in the order of the time that cuBLASLt expects, for operands that
// are aligned to RT_MATMUL_ALIGNMENT, or to their elements alone. Returns how many these are.
int rt_cuda_matmul_search(const RtCuda *c, const RtMatmul *q, bool is_aligned, int most,
                          RtLtFound *found);
// Starts the product by one of them. Returns cuBLASLt's status.
int rt_cuda_matmul_start(const RtCuda *c, const RtMatmul *q, const RtMatmulOperands *at,
                         const RtLtAlgorithm *algorithm);

#endif
