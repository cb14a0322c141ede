// All-reduce: reduce-scatter of the elements in a row, then all-gather; on each host first, then
// between hosts what each rank has got.
#include "runtime/cpu/exchange.h"

// A piece of `count` elements for each of n ranks: whole lines, as far as they go.
static int64_t piece_of(const RtExchange *p, int64_t count, int n)
{
    return rt_round_up(rt_ceil_div(count, n), 64 / rt_type_bytes(p->type));
}

typedef void Exchange(Rt *rt, const RtGroup *g, const RtMessages *m);

// p->op of the x of all in a group, each rank's piece in its place in y.
static void scatter(Rt *rt, Exchange *exchange, const RtGroup *g, const RtExchange *p, char *y,
                    const char *x)
{
    int64_t bytes = rt_type_bytes(p->type), piece = piece_of(p, p->whole, g->n);

    exchange(rt, g,
             &(RtMessages){.p = p,
                           .n = g->n,
                           .me = g->me,
                           .x = (char *)x,
                           .y = y + g->me * piece * bytes,
                           .piece = piece,
                           .reduces = true,
                           .most = rt_least(piece, p->whole) * bytes,
                           .boxes = rt_scatter_boxes});
}

// The pieces in their places in the y of all.
static void gather(Rt *rt, Exchange *exchange, const RtGroup *g, const RtExchange *p, char *y)
{
    int64_t bytes = rt_type_bytes(p->type), piece = piece_of(p, p->whole, g->n);

    exchange(rt, g,
             &(RtMessages){.p = p,
                           .n = g->n,
                           .me = g->me,
                           .x = y + g->me * piece * bytes,
                           .y = y,
                           .piece = piece,
                           .to_all = true,
                           .most = rt_least(piece, p->whole) * bytes,
                           .boxes = rt_gather_boxes});
}

void rt_all_reduce(Rt *rt, const RtExchange *p, void *y, const void *x)
{
    RtGroup near = rt_near_group(rt, p), far = rt_far_group(rt, p);
    RtExchange all = *p, own = *p;
    int64_t bytes = rt_type_bytes(p->type);

    all.whole = p->outer * p->whole * p->inner;
    all.outer = all.inner = own.outer = own.inner = 1;
    int64_t piece = piece_of(p, all.whole, near.n);
    own.whole = rt_piece_extent(all.whole, piece, near.me);
    char *to = (char *)y + near.me * piece * bytes;
    rt_exchange_begin(rt, p, RT_ALL_REDUCE, all.whole * bytes);
    if (near.n > 1 || far.n == 1)
        scatter(rt, rt_exchange_near, &near, &all, y, x);
    if (far.n > 1) {
        scatter(rt, rt_exchange_far, &far, &own, to, near.n > 1 ? to : x);
        gather(rt, rt_exchange_far, &far, &own, to);
    }
    gather(rt, rt_exchange_near, &near, &all, y);
}
