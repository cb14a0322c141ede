// Collects the shards of a tensor on rank 0.
#include <stdlib.h>
#include <string.h>

#include "runtime/comm/comm.h"
#include "runtime/core/core.h"
#include "runtime/device.h"

typedef struct Range {
    const RtModel *m;
    const RtTensor *t;
    int64_t first, count;  // elements
} Range;

// Clips a run to the range; returns whether anything is left.
static bool is_inside(const Range *x, RtRuns *r)
{
    int64_t before = r->whole < x->first ? x->first - r->whole : 0;
    int64_t end = x->first + x->count - r->whole;

    r->whole += before;
    r->own += before;
    r->count = (end < r->count ? end : r->count) - before;
    return r->count > 0;
}

// Packs the elements of the range that are in the shard; returns their bytes. `to` NULL: only
// counts.
static int64_t pack(const Range *x, const RtShard *shard, char *to, Rt *rt)
{
    int64_t bytes = rt_element_bytes(x->t), at = rt_tensor_at(x->t, 0), n = 0;

    for (RtRuns r = rt_runs(x->m, x->t, shard); rt_runs_next(&r);) {
        RtRuns in = r;
        if (!is_inside(x, &in))
            continue;
        if (to)
            rt->device->copy_out(rt, to + n, at + in.own * bytes, in.count * bytes);
        n += in.count * bytes;
    }
    return n;
}

static void unpack(const Range *x, const RtShard *shard, char *to, const char *packed)
{
    int64_t bytes = rt_element_bytes(x->t);

    for (RtRuns r = rt_runs(x->m, x->t, shard); rt_runs_next(&r);) {
        RtRuns in = r;
        if (!is_inside(x, &in))
            continue;
        memcpy(to + (in.whole - x->first) * bytes, packed, (size_t)(in.count * bytes));
        packed += in.count * bytes;
    }
}

static void send(Rt *rt, const Range *x, char *message)
{
    int64_t bytes = pack(x, rt->shard, message, rt);
    int rank = rt_comm_rank(rt->comm);

    if (bytes && rank > 0 && rt_is_first(x->m, x->t, rank))
        rt_comm_collect(rt->comm, rank, message, bytes);
}

static void receive(const Rt *rt, const Range *x, int rank, char *to, char *message)
{
    RtShard *shard = rt_shards(x->m, rank);
    int64_t bytes = pack(x, shard, NULL, NULL);

    if (bytes && rank > 0)
        rt_comm_collect(rt->comm, rank, message, bytes);
    unpack(x, shard, to, message);
    free(shard);
}

void rt_collect(Rt *rt, const RtModel *m, const RtTensor *t, int64_t first, int64_t count,
                char *buffer)
{
    Range x = {m, t, first, count};
    int64_t bytes = rt_element_bytes(t);
    bool is_root = rt_comm_rank(rt->comm) == 0;
    char *message = buffer + count * bytes;

    if (t->n_parts)
        send(rt, &x, message);
    else if (is_root)
        rt->device->copy_out(rt, buffer, rt_tensor_at(t, 0) + first * bytes, count * bytes);
    for (int r = 0; r < rt_comm_ranks(rt->comm) && t->n_parts && is_root; r++)
        if (rt_is_first(m, t, r))
            receive(rt, &x, r, buffer, message);
}
