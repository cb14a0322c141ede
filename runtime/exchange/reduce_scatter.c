// Reduce-scatter: each rank gets its shard of the reduction of all ranks' tensors.
#include "runtime/exchange/combine.h"
#include "runtime/exchange/exchange.h"

// Part [first, last) of every shard; shard i is at i * slot in the window's buffer.
typedef struct Part {
    int64_t first, last, slot;
} Part;

static char *slot_of(const RtComm *c, int rank, const Part *a, int shard)
{
    return c->window[rank]->buffer[c->window_state->buffer] + shard * a->slot;
}

static int64_t part_bytes(const Part *a, const RtBox *b)
{
    return rt_most(0, rt_least(a->last, rt_box_bytes(b)) - a->first);
}

// Reduces the terms of this host's ranks, for the shards of the ranks that have this rank's number
// on their hosts. The results are in this rank's window.
static void combine_intra_host(Rt *rt, const RtMessages *m, const RtGroup *intra_host,
                               const Part *a)
{
    RtComm *c = rt->comm;
    RtBox send, receive;

    for (int i = intra_host->me; i < m->n; i += intra_host->n) {
        m->boxes(m, i, &send, &receive);
        for (int k = 0; k < intra_host->n; k++)
            c->source[k] = slot_of(c, rt_peer(c, intra_host, k), a, i);
        rt_combine(rt, m->p->type, m->p->op, c->source[intra_host->me], c->source, intra_host->n,
                   part_bytes(a, &send) / rt_type_bytes(m->p->type));
    }
}

// Exchanges these results with the ranks of the same number on the other hosts, and reduces this
// rank's own shard.
static void combine_inter_host(Rt *rt, const RtMessages *m, const RtGroup *intra_host,
                               const RtGroup *inter_host, const Part *a)
{
    RtComm *c = rt->comm;
    RtBox send, receive;
    int n = 0;

    for (int k = 0; k < inter_host->n; k++) {
        int shard = k * intra_host->n + intra_host->me;
        m->boxes(m, shard, &send, &receive);
        char *pack = rt->workspace + k * a->slot;
        c->source[k] = k == inter_host->me ? slot_of(c, c->rank, a, shard) : pack;
        if (k != inter_host->me && part_bytes(a, &receive))
            c->pending[n++] =
                rt_receive(c, rt_peer(c, inter_host, k), pack, part_bytes(a, &receive));
        if (k != inter_host->me && part_bytes(a, &send))
            c->pending[n++] = rt_send(c, rt_peer(c, inter_host, k), slot_of(c, c->rank, a, shard),
                                      part_bytes(a, &send));
    }
    for (int i = 0; i < n; i++)
        rt_await(c, c->pending[i]);
    char *own = c->source[inter_host->me];
    rt_combine(rt, m->p->type, m->p->op, own, c->source, inter_host->n,
               part_bytes(a, &receive) / rt_type_bytes(m->p->type));
    rt_box_unpack(rt, &receive, a->first, a->last, own);
}

// Reduces on each host first, so that the link between hosts carries one term per host.
static void reduce_across(Rt *rt, const RtMessages *m)
{
    RtComm *c = rt->comm;
    RtGroup intra_host = rt_intra_host_group(rt, m->p), inter_host = rt_inter_host_group(rt, m->p);
    int64_t slot = rt_least(rt_exchange_chunk(m->p, m->n), RT_WINDOW_BUFFER_BYTES / m->n / 64 * 64);
    RtBox send, receive;

    rt_window_acquire(c, &intra_host);
    for (int64_t at = 0; at < m->most; at += slot) {
        Part a = {at, at + slot, slot};
        for (int i = 0; i < m->n; i++) {
            m->boxes(m, i, &send, &receive);
            rt_box_pack(rt, slot_of(c, c->rank, &a, i), &send, a.first, a.last);
        }
        rt_barrier(c, &intra_host);
        combine_intra_host(rt, m, &intra_host, &a);
        combine_inter_host(rt, m, &intra_host, &inter_host, &a);
        c->window_state->buffer ^= 1;
    }
    rt_window_release(c, &intra_host);
}

void rt_message_reduce_scatter(Rt *rt, const RtExchange *p, void *y, const void *x)
{
    RtGroup all = rt_exchange_group(rt, p);
    int64_t shard = rt_ceil_div(p->whole, all.n);
    RtMessages m = {.p = p,
                    .n = all.n,
                    .me = all.me,
                    .x = (char *)x,
                    .y = y,
                    .shard = shard,
                    .reduces = true,
                    .most = p->outer * shard * p->inner * rt_type_bytes(p->type),
                    .boxes = rt_scatter_boxes};

    rt_exchange_begin(rt, p, RT_REDUCE_SCATTER, all.n * m.most);
    if (rt_intra_host_group(rt, p).n > 1 && rt_inter_host_group(rt, p).n > 1)
        reduce_across(rt, &m);
    else
        rt_exchange(rt, &m);
}
