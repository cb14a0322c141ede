// Packs buffers with slots. Two of them may overlap if they never use a byte at the same time: one
// is so far above the other that it stays above the bytes that the other uses, in the first and the
// last iteration of each loop. Between these iterations both are linear.
#include <stdlib.h>

#include "base/search.h"
#include "lower/internal.h"

typedef struct SlotPacking {
    const Program *p;
    int set, n_moments;  // the items of the set, and after all of them
    int n;
    int32_t *buffer;
    int64_t *above;   // [i * n + k]: how far i must lie above k at least; NONE: anywhere
    int64_t *high;    // [i * n_moments + item]: where the bytes of i in use end at most; 0: none
    int64_t *others;  // by item: bytes of buffers without slots
    int64_t *end;     // [n_packed * n_moments + item]: where the first n_packed ones end at most
    int64_t *offset, *best;
    bool *is_packed;
    int64_t best_bytes;
    int tries;
} SlotPacking;

static const int64_t NONE = INT64_MIN;

static const Buffer *buffer_of(const SlotPacking *x, int i) { return &x->p->buffers[x->buffer[i]]; }

static Extent extent_of(const SlotPacking *x, int i, int item, LoopEdge edge)
{
    return buffer_extent(&x->p->set[x->set], buffer_of(x, i), item, edge);
}

// ---- what is known of each pair and item ----

static int64_t distance(const SlotPacking *x, int i, int k)
{
    const Buffer *a = buffer_of(x, i), *b = buffer_of(x, k);
    int first = a->first > b->first ? a->first : b->first;
    int last = a->last < b->last ? a->last : b->last;
    int64_t most = NONE;

    for (int item = first; item <= last; item++)
        for (LoopEdge edge = FIRST_ITERATION; edge < N_LOOP_EDGES; edge++) {
            int64_t d = extent_of(x, k, item, edge).high - extent_of(x, i, item, edge).low;
            most = d > most ? d : most;
        }
    return most;
}

static void find_heights(SlotPacking *x, int i)
{
    for (int item = buffer_of(x, i)->first; item <= buffer_of(x, i)->last; item++)
        for (LoopEdge edge = FIRST_ITERATION; edge < N_LOOP_EDGES; edge++) {
            int64_t *to = &x->high[i * x->n_moments + item],
                    high = extent_of(x, i, item, edge).high;
            *to = high > *to ? high : *to;
        }
}

static void find_others(SlotPacking *x)
{
    for (int i = 1; i < x->p->n_buffers; i++) {
        const Buffer *b = &x->p->buffers[i];
        if (b->kind == BUFFER_PERSISTENT || b->set != x->set || b->first < 0 || b->slots.bytes)
            continue;
        for (int item = b->first; item <= b->last; item++)
            x->others[item] += b->bytes;
    }
}

static int by_bytes(const void *a, const void *b)
{
    const Buffer *const *x = a, *const *y = b;

    if ((*x)->bytes != (*y)->bytes)
        return (*x)->bytes > (*y)->bytes ? -1 : 1;
    return *x < *y ? -1 : 1;
}

// Lists the buffers with slots, the largest first.
static void list_buffers(Arena *a, SlotPacking *x)
{
    const Buffer **b = arena_array(a, const Buffer *, x->p->n_buffers);

    for (int i = 1; i < x->p->n_buffers; i++)
        if (x->p->buffers[i].set == x->set && x->p->buffers[i].slots.bytes)
            b[x->n++] = &x->p->buffers[i];
    qsort(b, (size_t)x->n, sizeof *b, by_bytes);
    x->buffer = arena_array(a, int32_t, x->n);
    for (int i = 0; i < x->n; i++)
        x->buffer[i] = (int32_t)(b[i] - x->p->buffers);
}

static SlotPacking slot_packing_new(Arena *a, const Program *p, int set)
{
    SlotPacking x = {.p = p, .set = set, .n_moments = p->set[set].n_items + 1};

    x.best_bytes = INT64_MAX;
    list_buffers(a, &x);
    x.above = arena_array(a, int64_t, x.n * x.n);
    x.high = arena_array(a, int64_t, x.n * x.n_moments);
    x.others = arena_array(a, int64_t, x.n_moments);
    x.end = arena_array(a, int64_t, (x.n + 1) * x.n_moments);
    x.offset = arena_array(a, int64_t, x.n);
    x.best = arena_array(a, int64_t, x.n);
    x.is_packed = arena_array(a, bool, x.n);
    for (int i = 0; i < x.n; i++) {
        find_heights(&x, i);
        for (int k = 0; k < x.n; k++)
            x.above[i * x.n + k] = i == k ? NONE : distance(&x, i, k);
    }
    find_others(&x);
    return x;
}

// ---- orders ----

// The lowest offset at which buffer i keeps its distance to all packed buffers.
static int64_t lowest_free(const SlotPacking *x, int i)
{
    int64_t at = 0, before = -1;

    while (at != before) {
        before = at;
        for (int k = 0; k < x->n; k++) {
            int64_t above = x->above[i * x->n + k], below = x->above[k * x->n + i];
            if (!x->is_packed[k] || above == NONE || at + below <= x->offset[k])
                continue;
            at = x->offset[k] + above > at ? x->offset[k] + above : at;
        }
    }
    return at;
}

// Packs buffer i at its lowest offset, after n_packed others. Returns the most bytes up to the end
// of these buffers, with the buffers without slots that are live then.
static int64_t pack_next(SlotPacking *x, int n_packed, int i)
{
    const int64_t *before = x->end + n_packed * x->n_moments, *high = x->high + i * x->n_moments;
    int64_t *end = x->end + (n_packed + 1) * x->n_moments, most = 0;

    x->offset[i] = lowest_free(x, i);
    for (int item = 0; item < x->n_moments; item++) {
        int64_t top = high[item] ? x->offset[i] + high[item] : 0;
        end[item] = top > before[item] ? top : before[item];
        most = end[item] + x->others[item] > most ? end[item] + x->others[item] : most;
    }
    return most;
}

// Tries all orders of the buffers that aren't packed yet, each at its lowest offset. `bytes`: the
// packed buffers take them.
static void try_orders(SlotPacking *x, int n_packed, int64_t bytes)
{
    if (bytes >= x->best_bytes || x->tries++ >= MAX_SLOT_ORDERS)
        return;
    if (n_packed == x->n) {
        x->best_bytes = bytes;
        for (int i = 0; i < x->n; i++)
            x->best[i] = x->offset[i];
        return;
    }
    for (int i = 0; i < x->n; i++) {
        if (x->is_packed[i])
            continue;
        int64_t with = pack_next(x, n_packed, i);
        x->is_packed[i] = true;
        try_orders(x, n_packed + 1, with);
        x->is_packed[i] = false;
    }
}

// ---- the bytes that they take ----

typedef struct Taken {
    int64_t low, high;
    int since;  // the item from which on they are taken
} Taken;

// Adds bytes to a list of ranges that share no byte.
static int add_taken(Taken *list, int n, Taken x)
{
    int left = 0;

    for (int i = 0; i < n; i++) {
        if (list[i].high < x.low || x.high < list[i].low) {
            list[left++] = list[i];
            continue;
        }
        x.low = list[i].low < x.low ? list[i].low : x.low;
        x.high = list[i].high > x.high ? list[i].high : x.high;
    }
    list[left] = x;
    return left + 1;
}

// Lists the bytes that are taken at an item, in the first or the last iteration of its loop.
static int taken_at(const SlotPacking *x, int item, Taken *list)
{
    int n = 0;

    for (int i = 0; i < x->n && item < x->n_moments; i++)
        for (LoopEdge edge = FIRST_ITERATION;
             edge < N_LOOP_EDGES && x->high[i * x->n_moments + item]; edge++) {
            Extent e = extent_of(x, i, item, edge);
            n = add_taken(list, n, (Taken){x->best[i] + e.low, x->best[i] + e.high, item});
        }
    return n;
}

static const Taken *find_taken(const Taken *list, int n, const Taken *x)
{
    for (int i = 0; i < n; i++)
        if (list[i].low == x->low && list[i].high == x->high)
            return &list[i];
    return NULL;
}

static int list_pinned(Arena *a, const SlotPacking *x, LiveBuffer **to)
{
    Taken *open = arena_array(a, Taken, x->n + 1), *now = arena_array(a, Taken, x->n + 1);
    int n = 0, cap = 0, n_open = 0;

    *to = NULL;
    for (int item = 0; item <= x->n_moments; item++) {
        int n_now = taken_at(x, item, now);
        for (int i = 0; i < n_open; i++)
            if (!find_taken(now, n_now, &open[i]))
                *arena_push(a, *to, n, cap) = (LiveBuffer){.lower = open[i].since,
                                                           .upper = item,
                                                           .bytes = open[i].high - open[i].low,
                                                           .is_pinned = true,
                                                           .offset = open[i].low};
        for (int i = 0; i < n_now; i++) {
            const Taken *before = find_taken(open, n_open, &now[i]);
            now[i].since = before ? before->since : item;
        }
        Taken *was = open;
        open = now;
        now = was;
        n_open = n_now;
    }
    return n;
}

int pack_slots(Arena *a, Program *p, int set, int64_t base, LiveBuffer **pinned)
{
    SlotPacking x = slot_packing_new(a, p, set);

    try_orders(&x, 0, 0);
    for (int i = 0; i < x.n; i++)
        p->buffers[x.buffer[i]].offset = base + x.best[i];
    return list_pinned(a, &x, pinned);
}
