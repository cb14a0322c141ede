// Sets the padding of a chunk whose shard is shorter to a reduction's identity.
#include "runtime/cuda/cuda.h"
#include "runtime/rt_element.h"

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
                rt_cuda_pattern(t == RT_BOOL ? RT_U8 : t, rt_identity(p->type, p->op)));
}
