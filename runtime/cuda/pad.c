// Sets the padding of a chunk whose shard is shorter to a reduction's identity.
#include <math.h>

#include "runtime/cuda/cuda.h"

double rt_cuda_identity(RtType t, RtReduceOp op)
{
    bool is_float = t == RT_F32 || t == RT_F64 || t == RT_F16 || t == RT_BF16;
    bool is_unsigned = t == RT_BOOL || t == RT_U8 || t == RT_U16 || t == RT_U32;
    int bits = 8 * rt_type_bytes(t) - !is_unsigned;  // u64 is ordered as i64

    if (op == RT_SUM)
        return 0;
    if (is_float)
        return op == RT_MAX ? -INFINITY : INFINITY;
    if (op == RT_MAX)
        return is_unsigned ? 0 : -ldexp(1, bits);
    return t == RT_BOOL ? 1 : ldexp(1, bits) - 1;
}

void rt_pad(Rt *rt, const RtPad *p, const RtShard *shard, void *x)
{
    RtType t = p->type == RT_U64 ? RT_I64 : p->type;
    int bytes = rt_type_bytes(t);
    RtCopy c = {.bytes = bytes, .rank = p->rank};

    for (int i = 0; i < p->rank; i++) {
        c.dim[i] = p->size[i];
        c.y_stride[i] = p->stride[i];
    }
    c.dim[p->dim] -= shard->extent;
    if (c.dim[p->dim] <= 0)
        return;
    rt_cuda_put(rt, &c, (char *)x + shard->extent * p->stride[p->dim] * bytes,
                rt_cuda_pattern(t == RT_BOOL ? RT_U8 : t, rt_cuda_identity(p->type, p->op)));
}
