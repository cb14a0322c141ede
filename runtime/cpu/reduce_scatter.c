#include "runtime/cpu/combine.h"
#include "runtime/cpu/exchange.h"

// Part [first, last) of every piece, in slots of the board by piece.
typedef struct Part {
    int64_t first, last, slot;
} Part;

static char *slot_of(const RtComm *c, int rank, const Part *a, int piece)
{
    return c->board[rank]->half[c->turn->half] + piece * a->slot;
}

static int64_t part_bytes(const Part *a, const RtBox *b)
{
    return rt_most(0, rt_least(a->last, rt_box_bytes(b)) - a->first);
}

// Of each piece for a rank in this place on its host: makes one part of those of this host's ranks,
// on the board.
static void combine_near(Rt *rt, const RtMessages *m, const RtGroup *near, const Part *a)
{
    RtComm *c = rt->comm;
    RtBox send, receive;

    for (int i = near->me; i < m->n; i += near->n) {
        m->boxes(m, i, &send, &receive);
        for (int k = 0; k < near->n; k++)
            c->source[k] = slot_of(c, rt_peer(c, near, k), a, i);
        rt_combine(rt, m->p->type, m->p->op, c->source[near->me], c->source, near->n,
                   part_bytes(a, &send) / rt_type_bytes(m->p->type));
    }
}

// Sends what the other hosts' ranks in this place are to have of it, and makes this rank's own.
static void combine_far(Rt *rt, const RtMessages *m, const RtGroup *near, const RtGroup *far,
                        const Part *a)
{
    RtComm *c = rt->comm;
    RtBox send, receive;
    int n = 0;

    for (int k = 0; k < far->n; k++) {
        int piece = k * near->n + near->me;
        m->boxes(m, piece, &send, &receive);
        char *room = rt->workspace + k * a->slot;
        c->source[k] = k == far->me ? slot_of(c, c->rank, a, piece) : room;
        if (k != far->me && part_bytes(a, &receive))
            c->pending[n++] = rt_receive(c, rt_peer(c, far, k), room, part_bytes(a, &receive));
        if (k != far->me && part_bytes(a, &send))
            c->pending[n++] =
                rt_send(c, rt_peer(c, far, k), slot_of(c, c->rank, a, piece), part_bytes(a, &send));
    }
    for (int i = 0; i < n; i++)
        rt_await(c, c->pending[i]);
    char *own = c->source[far->me];
    rt_combine(rt, m->p->type, m->p->op, own, c->source, far->n,
               part_bytes(a, &receive) / rt_type_bytes(m->p->type));
    rt_box_unpack(rt, &receive, a->first, a->last, own);
}

// On each host first, so that a byte crosses once for all of its ranks.
static void reduce_across(Rt *rt, const RtMessages *m)
{
    RtComm *c = rt->comm;
    RtGroup near = rt_near_group(rt, m->p), far = rt_far_group(rt, m->p);
    int64_t slot = rt_least(rt_exchange_chunk(m->p, m->n), RT_HALF_BYTES / m->n / 64 * 64);
    RtBox send, receive;

    rt_board_claim(c, &near);
    for (int64_t at = 0; at < m->most; at += slot) {
        Part a = {at, at + slot, slot};
        for (int i = 0; i < m->n; i++) {
            m->boxes(m, i, &send, &receive);
            rt_box_pack(rt, slot_of(c, c->rank, &a, i), &send, a.first, a.last);
        }
        rt_meet(c, &near);
        combine_near(rt, m, &near, &a);
        combine_far(rt, m, &near, &far, &a);
        c->turn->half ^= 1;
    }
    rt_board_leave(c, &near);
}

void rt_reduce_scatter(Rt *rt, const RtExchange *p, void *y, const void *x)
{
    RtGroup all = rt_exchange_group(rt, p);
    int64_t piece = rt_ceil_div(p->whole, all.n);
    RtMessages m = {.p = p,
                    .n = all.n,
                    .me = all.me,
                    .x = (char *)x,
                    .y = y,
                    .piece = piece,
                    .reduces = true,
                    .most = p->outer * piece * p->inner * rt_type_bytes(p->type),
                    .boxes = rt_scatter_boxes};

    rt_exchange_begin(rt, p, RT_REDUCE_SCATTER, all.n * m.most);
    if (rt_near_group(rt, p).n > 1 && rt_far_group(rt, p).n > 1)
        reduce_across(rt, &m);
    else
        rt_exchange(rt, &m);
}
