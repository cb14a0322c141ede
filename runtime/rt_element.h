// Single elements of tensors, as all targets have them.
#ifndef SHARDCC_RT_ELEMENT_H
#define SHARDCC_RT_ELEMENT_H

#include "runtime/rt_kernels.h"

// The bits of an element of the type that is nearest to a number; ties to even.
uint64_t rt_element_bits(RtType t, double value);

// The identity of `op`: 0 for a sum, the smallest value of the type for a maximum, the largest for
// a minimum.
double rt_identity(RtType t, RtReduceOp op);

#endif
