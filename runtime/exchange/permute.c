// Permute: each rank sends its tensor to one rank and receives one from another.
#include <string.h>

#include "runtime/core/core.h"
#include "runtime/exchange/exchange.h"

RtPartners rt_partners(const RtComm *c, const RtExchange *e)
{
    const RtMesh *m = &c->model->mesh;
    int p = m->size[e->axis], q = m->size[e->other];
    int i = rt_mesh_coordinate(m, e->axis, c->rank), j = rt_mesh_coordinate(m, e->other, c->rank);
    int along = rt_mesh_stride(m, e->axis), across = rt_mesh_stride(m, e->other);
    int first = c->rank - i * along - j * across, from = j * p + i, to = i * q + j;

    return (RtPartners){first + from / q * along + from % q * across,
                        first + to % p * along + to / p * across};
}

void rt_message_permute(Rt *rt, const RtExchange *p, void *y, const void *x)
{
    RtComm *c = rt->comm;
    int64_t bytes = p->outer * p->whole * p->inner * rt_type_bytes(p->type);
    RtPartners with = {0};

    rt_exchange_begin(rt, p, RT_PERMUTE, bytes);
    if (c)
        with = rt_partners(c, p);
    if (!c || with.from == c->rank) {
        memmove(y, x, (size_t)bytes);
        return;
    }
    for (int64_t at = 0; at < bytes; at += RT_MAX_MESSAGE_BYTES) {
        int64_t n = rt_least(bytes - at, RT_MAX_MESSAGE_BYTES);
        RtPending receiving = rt_receive(c, with.from, (char *)y + at, n);
        rt_await(c, rt_send(c, with.to, (const char *)x + at, n));
        rt_await(c, receiving);
    }
}
