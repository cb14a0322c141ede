// Sums, maxima and minima of tensors of several ranks.
#ifndef SHARDCC_RT_COMBINE_H
#define SHARDCC_RT_COMBINE_H

#include "runtime/rt_element.h"
#include "runtime/rt_sizes.h"

// to[i] = from[0][i] op from[1][i] op …, from left to right, for i below `count`. `to` may be one
// of them.
void rt_combine(const Rt *rt, RtType t, RtReduceOp op, void *to, char *const *from, int n,
                int64_t count);

#endif
