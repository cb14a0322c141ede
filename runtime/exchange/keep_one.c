// Keep-one: rank 0 along an axis keeps its tensor; the others get the reduction's identity.
#include <string.h>

#include "runtime/exchange/combine.h"
#include "runtime/exchange/exchange.h"

// Writes an element once, and then copies what is there after it.
static void repeat(char *y, int64_t bytes, uint64_t element, int64_t size)
{
    if (!bytes)
        return;
    memcpy(y, &element, (size_t)size);
    for (int64_t done = size, n; done < bytes; done += n) {
        n = rt_least(done, bytes - done);
        memcpy(y + done, y, (size_t)n);
    }
}

void rt_message_keep_one(Rt *rt, const RtExchange *p, void *y, const void *x)
{
    int64_t size = rt_type_bytes(p->type), bytes = p->outer * p->whole * p->inner * size;
    RtBox from = {(char *)x, {1, 1, 1}, {0}, bytes}, to = from;

    to.at = y;
    if (rt_exchange_group(rt, p).me)
        repeat(y, bytes, rt_element_bits(rt_plain(p->type), rt_identity(p->type, p->op)), size);
    else
        rt_box_copy(rt, &to, &from);
}
