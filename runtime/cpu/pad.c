// Sets the padding of a chunk whose shard is shorter to a reduction's identity.
#include "runtime/cpu/internal.h"
#include "runtime/rt_element.h"

void rt_pad(Rt *rt, const RtPad *p, const RtShard *shard, void *x)
{
    int bytes = rt_type_bytes(p->type);
    RtCopy c = {.bytes = bytes, .rank = p->rank};
    uint64_t identity;

    for (int i = 0; i < p->rank; i++) {
        c.dim[i] = p->size[i];
        c.y_stride[i] = p->stride[i];
    }
    c.dim[p->dim] -= shard->extent;
    if (c.dim[p->dim] <= 0)
        return;
    rt_fill(rt, rt_plain(p->type), &identity, 1, rt_identity(p->type, p->op));
    rt_copy(rt, &c, (char *)x + shard->extent * p->stride[p->dim] * bytes, &identity);
}
