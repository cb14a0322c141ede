// Shared by the files of cuBLASLt's double: a product.
#ifndef SHARDCC_TESTS_CUBLASLT_INTERNAL_H
#define SHARDCC_TESTS_CUBLASLT_INTERNAL_H

#include "runtime/cuda/cublaslt.h"

struct RtLtProduct {
    int compute, scale;
    int32_t transposes_a, transposes_b;
};
struct RtLtMatrix {
    int type;
    uint64_t rows, columns;
    int64_t leading;
    int32_t batches;
    int64_t stride;
};

namespace cublaslt
{

struct Size {
    uint64_t m, n, k;
};

// The three matrices and how they are multiplied. D overwrites C, as beta is 0.
struct Product {
    RtLtProduct how;
    RtLtMatrix a, b, d;

    Size size() const
    {
        return {how.transposes_a ? a.columns : a.rows, how.transposes_b ? b.rows : b.columns,
                how.transposes_a ? a.rows : a.columns};
    }
};

// Bytes of an element.
inline size_t width_of(const RtLtMatrix &m)
{
    return m.type == RT_LT_R_64F ? 8 : m.type == RT_LT_R_32F ? 4 : 2;
}

// Computes all entries of the batch in device memory, by one of the algorithms.
void multiply_all(const Product &p, int algorithm, const void *a, const void *b, void *d);

}  // namespace cublaslt

#endif
