// Single elements of tensors, as all targets have them.
#ifndef SHARDCC_RT_ELEMENT_H
#define SHARDCC_RT_ELEMENT_H

#include "runtime/rt_kernels.h"

// The bits of an element of the type that is nearest to a number; ties to even.
uint64_t rt_element_bits(RtType t, double value);

// Converts floats of one type, unaligned, to the nearest ones of another type, ties to even; NaN
// stays NaN. Returns how many finite numbers became infinite.
int64_t rt_round_floats(RtType to, void *y, RtType from, const void *x, int64_t n);

// The identity of `op`: 0 for a sum, the smallest value of the type for a maximum, the largest for
// a minimum.
double rt_identity(RtType t, RtReduceOp op);

#endif
