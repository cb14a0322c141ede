// Walks through items in the order of execution, with loops unrolled.
#include <string.h>

#include "lower/internal.h"

ItemWalk item_walk_new(const Set *s, int begin, int end)
{
    return (ItemWalk){.s = s, .item = begin - 1, .end = end};
}

ItemWalk item_walk_function(const Set *s, const Function *f)
{
    ItemWalk w = item_walk_new(s, f->begin, f->calls ? f->begin : f->end);

    w.calls = f->calls;
    w.call = -1;
    return w;
}

// Does the walk call one iteration of the loop around all others?
static bool is_called(const ItemWalk *w)
{
    return w->calls && w->depth == 1 && w->calls->part[w->calls->call[w->call].part].is_loop;
}

// The iteration of loop k around the item, counted from the outermost, in which an item with that
// skew works; -1: none.
static int iteration_of(const ItemWalk *w, int k, int skew)
{
    const WalkedLoop *x = &w->loop[k];
    const Item *loop = &w->s->items[x->item];
    int length = loop_length(w->s->g, loop), i = x->at - skew;

    if (i < 0 || i >= length)
        return -1;
    return x->first + (loop->loop.is_reverse ? length - 1 - i : i);
}

static void begin_loop(ItemWalk *w)
{
    const Loop *loop = &w->s->items[w->item].loop;
    int outer = w->depth ? iteration_of(w, w->depth - 1, 0) : 0;

    w->loop[w->depth++] = (WalkedLoop){.item = w->item, .first = outer * loop->length};
    if (is_called(w)) {
        int i = w->calls->call[w->call].iteration;
        w->loop[0].at = loop->is_reverse ? loop_length(w->s->g, &w->s->items[w->item]) - 1 - i : i;
    }
}

// Goes back to the start of the loop that ends here, unless it has run often enough.
static void end_loop(ItemWalk *w)
{
    WalkedLoop *x = &w->loop[w->depth - 1];
    const Item *loop = &w->s->items[x->item];

    if (!is_called(w) && ++x->at < loop_length(w->s->g, loop) + loop->loop.skew)
        w->item = x->item;
    else
        w->depth--;
}

// Sets the iterations of the loops around the item. False: it doesn't run in them.
static bool find_iterations(ItemWalk *w)
{
    for (int k = 0; k < w->depth; k++) {
        int skew = k ? 0 : w->s->items[w->item].skew;
        w->iteration[k] = iteration_of(w, w->depth - 1 - k, skew);
    }
    return !w->depth || w->iteration[0] >= 0;
}

// Does the call that runs leave the item out?
static bool is_left_out(const ItemWalk *w)
{
    return w->calls && w->s->items[w->item].is_once && !w->calls->call[w->call].is_last;
}

static bool next_in_range(ItemWalk *w)
{
    while (++w->item < w->end) {
        ItemKind kind = w->s->items[w->item].kind;
        if (kind == ITEM_LOOP)
            begin_loop(w);
        else if (kind == ITEM_END)
            end_loop(w);
        else if (find_iterations(w) && !is_left_out(w))
            return true;
    }
    return false;
}

bool item_walk_next(ItemWalk *w)
{
    while (!next_in_range(w)) {
        if (!w->calls || ++w->call == w->calls->n_calls)
            return false;
        const CallPart *p = &w->calls->part[w->calls->call[w->call].part];
        w->item = p->begin - 1;
        w->end = p->end;
    }
    return true;
}
