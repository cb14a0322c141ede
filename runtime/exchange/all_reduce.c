// All-reduce: a reduce-scatter of all elements as one dim, then an all-gather. It reduces on each
// host first, and then each rank's shard between hosts.
#include "runtime/exchange/combine.h"
#include "runtime/exchange/exchange.h"

// Elements of a shard if `count` elements are split over n ranks: a multiple of a cache line.
static int64_t shard_of(const RtExchange *p, int64_t count, int n)
{
    return rt_round_up(rt_ceil_div(count, n), 64 / rt_type_bytes(p->type));
}

typedef void Exchange(Rt *rt, const RtGroup *g, const RtMessages *m);

// Reduce-scatter in a group: each rank's shard of p->op over all x, at the shard's offset in y.
static void scatter(Rt *rt, Exchange *exchange, const RtGroup *g, const RtExchange *p, char *y,
                    const char *x)
{
    int64_t bytes = rt_type_bytes(p->type), shard = shard_of(p, p->whole, g->n);

    exchange(rt, g,
             &(RtMessages){.p = p,
                           .n = g->n,
                           .me = g->me,
                           .x = (char *)x,
                           .y = y + g->me * shard * bytes,
                           .shard = shard,
                           .reduces = true,
                           .most = rt_least(shard, p->whole) * bytes,
                           .boxes = rt_scatter_boxes});
}

// All-gather in a group: every rank gets all shards at their offsets in y.
static void gather(Rt *rt, Exchange *exchange, const RtGroup *g, const RtExchange *p, char *y)
{
    int64_t bytes = rt_type_bytes(p->type), shard = shard_of(p, p->whole, g->n);

    exchange(rt, g,
             &(RtMessages){.p = p,
                           .n = g->n,
                           .me = g->me,
                           .y = y,
                           .shard = shard,
                           .step = 1,
                           .to_all = true,
                           .most = rt_least(shard, p->whole) * bytes,
                           .boxes = rt_gather_boxes});
}

// Sets c->source to shard `i` of a chunk of `count` elements in every rank's window; returns the
// number of its elements.
static int64_t find_shards(Rt *rt, const RtGroup *g, const RtExchange *p, int64_t count, int i)
{
    RtComm *c = rt->comm;
    int64_t shard = shard_of(p, count, g->n);

    for (int k = 0; k < g->n; k++)
        c->source[k] = c->window[rt_peer(c, g, k)]->buffer[c->window_state->buffer] +
                       i * shard * rt_type_bytes(p->type);
    return rt_shard_elements(count, shard, i);
}

// Reduces a chunk that is in all windows: each rank reduces its shard in its own window, then
// copies the shards of the others.
static void reduce_shards(Rt *rt, const RtGroup *g, const RtExchange *p, char *y, int64_t count)
{
    char **source = rt->comm->source;
    int64_t bytes = rt_type_bytes(p->type), n = find_shards(rt, g, p, count, g->me);

    rt_combine(rt, p->type, p->op, source[g->me], source, g->n, n);
    rt_barrier(rt->comm, g);
    for (int k = 0; k < g->n; k++) {
        n = find_shards(rt, g, p, count, k);
        RtBox to = {y + k * shard_of(p, count, g->n) * bytes, {1, 1, 1}, {0}, n * bytes};
        rt_box_unpack(rt, &to, 0, n * bytes, source[k]);
    }
}

// On one host: reduces and gathers chunk by chunk, while the chunk is in the caches. With two
// ranks, or few bytes, each rank reduces the whole chunk.
static void reduce_by_window(Rt *rt, const RtGroup *g, const RtExchange *p, char *y, const char *x)
{
    enum { FEW = 4096 };
    RtComm *c = rt->comm;
    int64_t bytes = rt_type_bytes(p->type), most = RT_WINDOW_BUFFER_BYTES / bytes;

    rt_window_acquire(c, g);
    for (int64_t at = 0; at < p->whole; at += most) {
        int64_t n = rt_least(most, p->whole - at);
        RtBox from = {(char *)x + at * bytes, {1, 1, 1}, {0}, n * bytes};
        rt_box_pack(rt, c->window[c->rank]->buffer[c->window_state->buffer], &from, 0, n * bytes);
        rt_barrier(c, g);
        if (g->n == 2 || n * bytes <= FEW) {
            find_shards(rt, g, p, n, 0);
            rt_combine(rt, p->type, p->op, y + at * bytes, c->source, g->n, n);
        } else {
            reduce_shards(rt, g, p, y + at * bytes, n);
        }
        c->window_state->buffer ^= 1;
    }
    rt_window_release(c, g);
}

// Between two hosts, if one message suffices: each rank receives the other's elements and reduces
// all of them. This sends as many bytes as a scatter and a gather, and waits for the link once
// instead of twice.
static void reduce_pair(Rt *rt, const RtGroup *g, const RtExchange *p, char *y, const char *x)
{
    RtComm *c = rt->comm;
    int peer = rt_peer(c, g, 1 - g->me);
    int64_t bytes = p->whole * rt_type_bytes(p->type);

    if (!bytes)
        return;
    c->pending[0] = rt_receive(c, peer, rt->workspace, bytes);
    c->pending[1] = rt_send(c, peer, x, bytes);
    for (int i = 0; i < 2; i++)
        rt_await(c, c->pending[i]);
    c->source[g->me] = (char *)x;
    c->source[1 - g->me] = rt->workspace;
    rt_combine(rt, p->type, p->op, y, c->source, 2, p->whole);
}

static void reduce_by_message(Rt *rt, const RtGroup *g, const RtExchange *p, char *y, const char *x)
{
    enum { FEW = 32 << 10 };

    if (g->n == 2 && p->whole * rt_type_bytes(p->type) <= FEW) {
        reduce_pair(rt, g, p, y, x);
        return;
    }
    scatter(rt, rt_exchange_by_message, g, p, y, x);
    gather(rt, rt_exchange_by_message, g, p, y);
}

void rt_message_all_reduce(Rt *rt, const RtExchange *p, void *y, const void *x)
{
    RtGroup intra_host = rt_intra_host_group(rt, p), inter_host = rt_inter_host_group(rt, p);
    RtExchange all = *p, own = *p;
    int64_t bytes = rt_type_bytes(p->type);

    all.whole = p->outer * p->whole * p->inner;
    all.outer = all.inner = own.outer = own.inner = 1;
    int64_t shard = shard_of(p, all.whole, intra_host.n);
    own.whole = rt_shard_elements(all.whole, shard, intra_host.me);
    char *to = (char *)y + intra_host.me * shard * bytes;
    rt_exchange_begin(rt, p, RT_ALL_REDUCE, all.whole * bytes);
    if (inter_host.n == 1 && intra_host.n > 1) {
        reduce_by_window(rt, &intra_host, &all, y, x);
        return;
    }
    if (intra_host.n > 1 || inter_host.n == 1)
        scatter(rt, rt_exchange_by_window, &intra_host, &all, y, x);
    if (inter_host.n > 1)
        reduce_by_message(rt, &inter_host, &own, to, intra_host.n > 1 ? to : x);
    gather(rt, rt_exchange_by_window, &intra_host, &all, y);
}
