// Finds numbers that are NaN or infinite among the elements of tensors.
#ifndef SHARDCC_RT_FINITE_H
#define SHARDCC_RT_FINITE_H

#include "rt_file.h"

typedef enum RtNonfiniteKind { RT_NAN, RT_INF, RT_MINUS_INF } RtNonfiniteKind;

// One of them in a list of tensors. Tensor 0: there is none.
typedef struct RtNonfinite {
    int tensor;       // 1 + its number
    int64_t element;  // of the whole tensor, row-major
    RtNonfiniteKind kind;
} RtNonfinite;

// Looks for the first one among n elements of that type, which needn't be aligned; -1: all are
// finite, as integers are. Sets *kind.
int64_t rt_nonfinite_find(const char *dtype, const void *x, int64_t n, RtNonfiniteKind *kind);
// "'h.0.weight'[3, 5] is -inf"; `t` is the tensor.
void rt_nonfinite_print(char *to, size_t capacity, const RtStored *t, const RtNonfinite *f);

#endif
