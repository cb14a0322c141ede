// Keep-one: rank 0 along an axis keeps its tensor; the others get the reduction's identity.
#include "runtime/cpu/combine.h"
#include "runtime/cpu/exchange.h"

void rt_message_keep_one(Rt *rt, const RtExchange *p, void *y, const void *x)
{
    int64_t count = p->outer * p->whole * p->inner;
    int bytes = rt_type_bytes(p->type);
    RtBox from = {(char *)x, {1, 1, 1}, {0}, count * bytes}, to = from;

    to.at = y;
    if (rt_exchange_group(rt, p).me)
        rt_fill(rt, rt_plain(p->type), y, count, rt_identity(p->type, p->op));
    else
        rt_box_copy(rt, &to, &from, bytes);
}
