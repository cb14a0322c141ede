// Exchanges messages between the ranks of a group: through shared windows or by the transport.
#include "runtime/exchange/exchange.h"

#include <string.h>

#include "runtime/exchange/combine.h"

// ---- groups and boxes ----

RtGroup rt_intra_host_group(const Rt *rt, const RtExchange *p)
{
    return rt->comm ? rt->comm->intra_host[p->axis] : (RtGroup){.n = 1};
}

RtGroup rt_inter_host_group(const Rt *rt, const RtExchange *p)
{
    return rt->comm ? rt->comm->inter_host[p->axis] : (RtGroup){.n = 1};
}

RtGroup rt_exchange_group(const Rt *rt, const RtExchange *p)
{
    RtGroup intra_host = rt_intra_host_group(rt, p), inter_host = rt_inter_host_group(rt, p);

    return (RtGroup){p->axis, intra_host.n * inter_host.n,
                     inter_host.me * intra_host.n + intra_host.me, intra_host.stride};
}

int64_t rt_shard_elements(int64_t whole, int64_t shard, int i)
{
    return rt_most(0, rt_least(shard, whole - i * shard));
}

// The boxes of shard i of [outer, whole, inner]: inside the whole tensor, and in a chunk of its
// own.
static RtBox box_in_whole(const RtMessages *m, int i, char *whole)
{
    int64_t inner = m->p->inner * rt_type_bytes(m->p->type);

    return (RtBox){whole + i * m->shard * inner,
                   {1, 1, m->p->outer},
                   {0, 0, m->p->whole * inner},
                   rt_shard_elements(m->p->whole, m->shard, i) * inner};
}

static RtBox box_alone(const RtMessages *m, int i, char *shard)
{
    RtBox b = box_in_whole(m, i, shard);

    b.at = shard;
    b.stride[2] = m->shard * m->p->inner * rt_type_bytes(m->p->type);
    return b;
}

void rt_scatter_boxes(const RtMessages *m, int peer, RtBox *send, RtBox *receive)
{
    *send = box_in_whole(m, peer, m->x);
    *receive = box_alone(m, m->me, m->y);
}

void rt_gather_boxes(const RtMessages *m, int peer, RtBox *send, RtBox *receive)
{
    int me = m->first + m->me * m->step;

    *send = m->x ? box_alone(m, me, m->x) : box_in_whole(m, me, m->y);
    *receive = box_in_whole(m, m->first + peer * m->step, m->y);
}

void rt_exchange_begin(Rt *rt, const RtExchange *p, RtExchangeKind kind, int64_t bytes)
{
    RtComm *c = rt->comm;

    if (!c)
        return;
    rt_comm_thread_sync(c, kind == RT_PERMUTE ? -1 : p->axis);
    c->kind = rt_exchange_name(kind);
    c->axis = c->model->mesh.name[p->axis];
    c->call_bytes = bytes;
    rt_last_calls_add(c);
    c->bytes[kind][p->axis] += bytes;
}

// Combines the terms of all ranks for part [first, last) of the box `to`. The result goes directly
// to the box if that is a row, else through the buffer of this rank's own term.
static void combine(Rt *rt, const RtMessages *m, const RtBox *to, int64_t first, int64_t last)
{
    char **from = rt->comm->source;
    int64_t bytes = rt_least(last, rt_box_bytes(to)) - first;

    if (bytes <= 0)
        return;
    RtBox merged = rt_box_merged(to);
    char *sum = rt_box_is_row(&merged) ? merged.at + first : from[m->me];
    rt_combine(rt, m->p->type, m->p->op, sum, from, m->n, bytes / rt_type_bytes(m->p->type));
    if (sum == from[m->me])
        rt_box_unpack(rt, to, first, last, sum);
}

// ---- on one host ----

// This rank's own term of a reduction, if it can be used in place: the term and the result must be
// rows. Else NULL.
static char *own_term(const RtMessages *m)
{
    RtBox send, receive;

    m->boxes(m, m->me, &send, &receive);
    send = rt_box_merged(&send);
    receive = rt_box_merged(&receive);
    return m->reduces && rt_box_is_row(&send) && rt_box_is_row(&receive) ? send.at : NULL;
}

// Packs part [first, last) of all messages of this rank into its window.
static void pack_window(Rt *rt, const RtMessages *m, char *window, int64_t slot, int64_t first,
                        int64_t last)
{
    RtBox send, receive;

    for (int k = 0; k < (m->to_all ? 1 : m->n); k++) {
        int peer = m->to_all ? (m->me + 1) % m->n : k;
        if (peer == m->me && (!m->reduces || own_term(m)))
            continue;
        m->boxes(m, peer, &send, &receive);
        rt_box_pack(rt, window + k * slot, &send, first, last);
    }
}

// Unpacks the same part of the messages of all ranks to this one from their windows.
static void unpack_windows(Rt *rt, const RtGroup *g, const RtMessages *m, int64_t slot,
                           int64_t first, int64_t last)
{
    RtComm *c = rt->comm;
    RtBox send, receive;

    for (int k = 0; k < m->n; k++) {
        char *buffer = c->window[rt_peer(c, g, k)]->buffer[c->window_state->buffer];
        c->source[k] = buffer + (m->to_all ? 0 : m->me * slot);
        m->boxes(m, k, &send, &receive);
        if (k != m->me && !m->reduces)
            rt_box_unpack(rt, &receive, first, last, c->source[k]);
    }
    if (own_term(m))
        c->source[m->me] = own_term(m) + first;
    if (m->reduces)
        combine(rt, m, &receive, first, last);
}

static void copy_own(Rt *rt, const RtMessages *m)
{
    RtBox send, receive;

    m->boxes(m, m->me, &send, &receive);
    rt_box_copy(rt, &receive, &send);
}

// Copies part [first, last) of this rank's own message from its window, where it is in the caches,
// to its offset in the result.
static void unpack_own(Rt *rt, const RtMessages *m, int64_t first, int64_t last)
{
    RtComm *c = rt->comm;
    RtBox send, receive;

    m->boxes(m, m->me, &send, &receive);
    if (receive.at != send.at)
        rt_box_unpack(rt, &receive, first, last,
                      c->window[c->rank]->buffer[c->window_state->buffer]);
}

// Exchanges chunk by chunk. Each rank packs a chunk into one buffer of its window, waits at a
// barrier, and unpacks from the others' buffers. The next chunk uses the other buffer: after its
// barrier all ranks have read this one.
void rt_exchange_by_window(Rt *rt, const RtGroup *g, const RtMessages *m)
{
    RtComm *c = rt->comm;
    int64_t slot = RT_WINDOW_BUFFER_BYTES / (m->to_all ? 1 : m->n) / 64 * 64;

    if (m->n == 1 || (!m->reduces && !m->to_all))
        copy_own(rt, m);
    if (m->n == 1 || !m->most)
        return;
    rt_window_acquire(c, g);
    for (int64_t at = 0; at < m->most; at += slot) {
        pack_window(rt, m, c->window[c->rank]->buffer[c->window_state->buffer], slot, at,
                    at + slot);
        rt_barrier_arrive(c, g);
        if (m->to_all)
            unpack_own(rt, m, at, at + slot);
        rt_barrier_wait(c, g);
        unpack_windows(rt, g, m, slot, at, at + slot);
        c->window_state->buffer ^= 1;
    }
    rt_window_release(c, g);
}

// ---- by messages ----

// A round: part [first, last) of all messages, in flight. A box that isn't a row uses the
// workspace, which holds a sent and a received chunk for each rank.
typedef struct Round {
    int64_t first, last, chunk;
    char *chunks;
    RtPending *pending;
    int n;
} Round;

static int64_t part_bytes(const Round *r, const RtBox *b)
{
    return rt_most(0, rt_least(r->last, rt_box_bytes(b)) - r->first);
}

// The address at which the part of a merged box is sent or received.
static char *part_at(const Round *r, const RtBox *b, bool is_direct, int peer, bool sends)
{
    return is_direct ? b->at + r->first : r->chunks + (2 * peer + sends) * r->chunk;
}

static void start_receiving(Rt *rt, const RtGroup *g, const RtMessages *m, Round *r, int peer)
{
    RtBox send, receive;

    m->boxes(m, peer, &send, &receive);
    int64_t bytes = part_bytes(r, &receive);
    receive = rt_box_merged(&receive);
    char *to = part_at(r, &receive, rt_box_is_row(&receive) && !m->reduces, peer, false);
    if (bytes)
        r->pending[r->n++] = rt_receive(rt->comm, rt_peer(rt->comm, g, peer), to, bytes);
}

static void start_sending(Rt *rt, const RtGroup *g, const RtMessages *m, Round *r, int peer)
{
    RtBox send, receive;

    m->boxes(m, peer, &send, &receive);
    int64_t bytes = part_bytes(r, &send);
    send = rt_box_merged(&send);
    char *from = part_at(r, &send, rt_box_is_row(&send), peer, true);
    if (!rt_box_is_row(&send))
        rt_box_pack(rt, from, &send, r->first, r->last);
    if (bytes)
        r->pending[r->n++] = rt_send(rt->comm, rt_peer(rt->comm, g, peer), from, bytes);
}

// Each rank sends to its next neighbour first, so that the messages are spread over the links.
static void start_round(Rt *rt, const RtGroup *g, const RtMessages *m, Round *r)
{
    r->n = 0;
    for (int i = 1; i < m->n; i++)
        start_receiving(rt, g, m, r, (m->me + m->n - i) % m->n);
    for (int i = 1; i < m->n; i++)
        start_sending(rt, g, m, r, (m->me + i) % m->n);
}

static void end_round(Rt *rt, const RtMessages *m, const Round *r)
{
    RtBox send, receive;

    for (int i = 0; i < r->n; i++)
        rt_await(rt->comm, r->pending[i]);
    for (int k = 0; k < m->n; k++) {
        m->boxes(m, k, &send, &receive);
        RtBox merged = rt_box_merged(&receive);
        char *part = part_at(r, &merged, rt_box_is_row(&merged) && !m->reduces, k, false);
        rt->comm->source[k] = part;
        if (k == m->me && m->reduces)
            rt_box_pack(rt, part, &send, r->first, r->last);
        if (k != m->me && !m->reduces && !rt_box_is_row(&merged))
            rt_box_unpack(rt, &merged, r->first, r->last, part);
    }
    if (m->reduces)
        combine(rt, m, &receive, r->first, r->last);
}

// Pipelines rounds: several are in flight while the oldest one ends.
void rt_exchange_by_message(Rt *rt, const RtGroup *g, const RtMessages *m)
{
    int ranks = rt_exchange_group(rt, m->p).n, most = rt_exchange_rounds(m->p, ranks);
    int64_t chunk = rt_exchange_chunk(m->p, ranks), rounds = rt_ceil_div(m->most, chunk);
    Round round[RT_MAX_ROUNDS];

    if (!m->reduces)
        copy_own(rt, m);
    for (int64_t i = 0; i < rounds + most - 1; i++) {
        Round *r = &round[i % most];
        if (i < rounds) {
            *r = (Round){.first = i * chunk,
                         .last = (i + 1) * chunk,
                         .chunk = chunk,
                         .chunks = rt->workspace + i % most * 2 * ranks * chunk,
                         .pending = rt->comm->pending + i % most * 2 * ranks};
            start_round(rt, g, m, r);
        }
        if (i >= most - 1)
            end_round(rt, m, &round[(i + 1) % most]);
    }
}

void rt_exchange(Rt *rt, const RtMessages *m)
{
    RtGroup all = rt_exchange_group(rt, m->p);

    if (rt_inter_host_group(rt, m->p).n == 1)
        rt_exchange_by_window(rt, &all, m);
    else
        rt_exchange_by_message(rt, &all, m);
}
