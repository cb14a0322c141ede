// The collectives that a program calls: each goes to its entry of the table.
#include "runtime/collectives.h"

#include "runtime/comm/transport.h"
#include "runtime/core/core.h"
#include "runtime/device.h"

bool rt_collectives_open(Rt *rt, const RtModel *m, bool overlaps)
{
    if (!rt->comm)
        return true;
    rt->collectives = m->collectives ? m->collectives : m->transport->collectives;
    return rt->collectives->open(rt, m, overlaps);
}

void rt_collectives_close(Rt *rt, bool is_clean)
{
    if (rt->collectives)
        rt->collectives->close(rt, is_clean);
    rt->collectives = NULL;
}

// A collective begins. Returns the time.
static double begin(Rt *rt)
{
    if (rt->exchange)
        rt->device->mark(rt, &rt->exchange[0]);
    return rt_seconds();
}

// Counts the seconds since `start` as communication of the calling thread, which has its own comm.
static void count(const Rt *rt, double start)
{
    if (rt->comm)
        rt->comm->seconds += rt_seconds() - start;
}

static void end(Rt *rt, double start)
{
    count(rt, start);
    if (rt->exchange)
        rt->device->mark(rt, &rt->exchange[1]);
}

void rt_all_gather(Rt *rt, const RtExchange *p, void *y, const void *x)
{
    double start = begin(rt);

    rt->collectives->all_gather(rt, p, y, x);
    end(rt, start);
}

void rt_all_reduce(Rt *rt, const RtExchange *p, void *y, const void *x)
{
    double start = begin(rt);

    rt->collectives->all_reduce(rt, p, y, x);
    end(rt, start);
}

void rt_all_to_all(Rt *rt, const RtExchange *p, void *y, const void *x)
{
    double start = begin(rt);

    rt->collectives->all_to_all(rt, p, y, x);
    end(rt, start);
}

void rt_keep_one(Rt *rt, const RtExchange *p, void *y, const void *x)
{
    rt->collectives->keep_one(rt, p, y, x);
}

void rt_permute(Rt *rt, const RtExchange *p, void *y, const void *x)
{
    double start = begin(rt);

    rt->collectives->permute(rt, p, y, x);
    end(rt, start);
}

void rt_reduce_scatter(Rt *rt, const RtExchange *p, void *y, const void *x)
{
    double start = begin(rt);

    rt->collectives->reduce_scatter(rt, p, y, x);
    end(rt, start);
}

void rt_shard(Rt *rt, const RtExchange *p, void *y, const void *x)
{
    rt->collectives->shard(rt, p, y, x);
}

void rt_start(Rt *rt, int slot, RtCollective *f, const RtExchange *p, void *y, const void *x)
{
    rt->collectives->start(rt, slot, f, p, y, x);
}

void rt_wait(Rt *rt, int slot)
{
    double start = rt_seconds();

    rt->collectives->wait(rt, slot);
    count(rt, start);
}
