// Sums, maxima and minima of tensors of several ranks.
#ifndef SHARDCC_RT_CPU_COMBINE_H
#define SHARDCC_RT_CPU_COMBINE_H

#include "runtime/cpu/internal.h"

// to[i] = from[0][i] op from[1][i] op …, from left to right, for i below `count`. `to` may be one
// of them.
void rt_combine(const Rt *rt, RtType t, RtReduceOp op, void *to, char *const *from, int n,
                int64_t count);

// The identity of `op`: 0 for a sum, the smallest value of the type for a maximum, the largest for
// a minimum.
static inline double rt_identity(RtType t, RtReduceOp op)
{
    bool is_float = t == RT_F32 || t == RT_F64 || t == RT_F16 || t == RT_BF16;
    bool is_unsigned = t == RT_BOOL || t == RT_U8 || t == RT_U16 || t == RT_U32;
    // u64 is ordered as i64.
    int bits = 8 * rt_type_bytes(t) - !is_unsigned;

    if (op == RT_SUM)
        return 0;
    if (is_float)
        return op == RT_MAX ? -INFINITY : INFINITY;
    if (op == RT_MAX)
        return is_unsigned ? 0 : -ldexp(1, bits);
    return t == RT_BOOL ? 1 : ldexp(1, bits) - 1;
}

#endif
