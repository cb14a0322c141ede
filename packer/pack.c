// Packs component by component: first fit, and where that is above what is wanted, the search.
#include <stdlib.h>
#include <string.h>

#include "packer/internal.h"

enum {
    FIRST_BUDGET = 1 << 25,  // work of a search in the first round; it doubles from round to round
    MAX_WORDS = 1 << 27,     // of a component's bit sets: 1 GiB
    WORK_OF_FIRST_FIT = 16,  // pairs of buffers that first fit compares for one unit of work
};

// Buffers between two times at which none is live.
typedef struct Component {
    int begin, n;    // in Packer.chosen
    int64_t bytes;   // of the best packing
    int64_t proved;  // no packing needs fewer
    Sections sections;
    PackSearch *search;  // NULL: none yet
} Component;

typedef struct Packer {
    const LiveBuffer *b;
    const PackOptions *o;
    Arena *a;         // of the packing alone
    int *chosen;      // buffers, by component
    int64_t *offset;  // of the best packing
    int64_t *trial;
    Component *component;
    int n_components, cap_components;
    int64_t wanted;  // a packing of so many bytes is as good as any
    PackLimits limits;
} Packer;

// ---- components ----

typedef struct Event {
    int64_t time, bytes;  // bytes < 0: they end
} Event;

static int by_time(const void *a, const void *b)
{
    const Event *x = a, *y = b;

    if (x->time != y->time)
        return x->time < y->time ? -1 : 1;
    return (x->bytes > y->bytes) - (x->bytes < y->bytes);
}

int64_t pack_bound(const LiveBuffer *b, int n)
{
    Arena *a = arena_new();
    Event *event = arena_array(a, Event, 2 * n);
    int64_t live = 0, most = 0;

    for (int i = 0; i < n; i++) {
        event[2 * i] = (Event){b[i].lower, b[i].bytes};
        event[2 * i + 1] = (Event){b[i].upper, -b[i].bytes};
    }
    qsort(event, (size_t)(2 * n), sizeof *event, by_time);
    for (int i = 0; i < 2 * n; i++) {
        live += event[i].bytes;
        most = live > most ? live : most;
    }
    arena_free(a);
    return most;
}

typedef struct Begin {
    int64_t lower;
    int buffer;
} Begin;

static int by_lower(const void *a, const void *b)
{
    const Begin *x = a, *y = b;

    if (x->lower != y->lower)
        return x->lower < y->lower ? -1 : 1;
    return x->buffer - y->buffer;
}

static void find_components(Packer *p, int n)
{
    Begin *begin = arena_array(p->a, Begin, n);
    int64_t end = INT64_MIN;

    for (int i = 0; i < n; i++)
        begin[i] = (Begin){p->b[i].lower, i};
    qsort(begin, (size_t)n, sizeof *begin, by_lower);
    for (int i = 0; i < n; i++) {
        p->chosen[i] = begin[i].buffer;
        if (begin[i].lower >= end)
            *arena_push(p->a, p->component, p->n_components, p->cap_components) =
                (Component){.begin = i};
        p->component[p->n_components - 1].n++;
        end = p->b[begin[i].buffer].upper > end ? p->b[begin[i].buffer].upper : end;
    }
}

// ---- packing a component ----

static int by_bytes(const void *a, const void *b)
{
    const LiveBuffer *const *x = a, *const *y = b;

    if ((*x)->bytes != (*y)->bytes)
        return (*x)->bytes > (*y)->bytes ? -1 : 1;
    return *x < *y ? -1 : 1;
}

// Keeps the offsets of `trial` if they are better than those kept before.
static void keep_if_better(Packer *p, Component *c, int64_t bytes)
{
    if (c->bytes && bytes >= c->bytes)
        return;
    c->bytes = bytes;
    for (int i = c->begin; i < c->begin + c->n; i++)
        p->offset[p->chosen[i]] = p->trial[p->chosen[i]];
}

static void try_order(Packer *p, Component *c, const int *order)
{
    p->limits.work -= (int64_t)c->n * c->n / WORK_OF_FIRST_FIT;
    keep_if_better(p, c, first_fit(p->a, p->b, order, c->n, p->trial));
}

static void try_largest_first(Packer *p, Component *c)
{
    const LiveBuffer **buffer = arena_array(p->a, const LiveBuffer *, c->n);
    int *order = arena_array(p->a, int, c->n);

    for (int i = 0; i < c->n; i++)
        buffer[i] = &p->b[p->chosen[c->begin + i]];
    qsort(buffer, (size_t)c->n, sizeof *buffer, by_bytes);
    for (int i = 0; i < c->n; i++)
        order[i] = (int)(buffer[i] - p->b);
    try_order(p, c, order);
}

static bool is_over(const Packer *p)
{
    return p->limits.work <= 0 || signal_is_pending() ||
           (p->limits.deadline > 0 && pack_clock() > p->limits.deadline);
}

// Makes the component's sections, and tries first fit in the other orders.
static void try_orders(Packer *p, Component *c)
{
    int64_t most_words = p->limits.work < MAX_WORDS ? p->limits.work : MAX_WORDS;

    c->sections = sections_new(p->a, p->b, p->chosen + c->begin, c->n, most_words);
    bool has_words = c->sections.words <= most_words;
    if (has_words) {
        p->limits.work -= c->sections.words;
        c->search = pack_search_new(p->a, &c->sections);
    }
    int *order = arena_array(p->a, int, c->n);
    for (int k = ORDER_BYTES + 1; k < (has_words ? ORDERS : ORDER_NEAR); k++) {
        if (c->bytes <= p->wanted || is_over(p))
            return;
        sections_order(&c->sections, (Order)k, 0, 0, order);
        for (int i = 0; i < c->n; i++)
            order[i] = c->sections.source[order[i]];
        try_order(p, c, order);
    }
}

// Searches within `bytes`, with at most `budget` work.
static PackOutcome try_search(Packer *p, Component *c, int64_t bytes, int64_t budget)
{
    int64_t saved = p->limits.work > budget ? p->limits.work - budget : 0, end = 0;

    p->limits.work -= saved;
    PackOutcome outcome = pack_search(c->search, bytes, &p->limits);
    p->limits.work += saved;
    if (outcome == PACK_NONE)
        c->proved = bytes + c->sections.unit - bytes % c->sections.unit;
    if (outcome != PACK_FOUND)
        return outcome;
    for (int i = 0; i < c->n; i++) {
        int64_t offset = pack_search_offset(c->search, i);
        p->trial[c->sections.source[i]] = offset;
        end = offset + c->sections.bytes[i] > end ? offset + c->sections.bytes[i] : end;
    }
    keep_if_better(p, c, end);
    return outcome;
}

static int64_t most_proved(const Packer *p)
{
    int64_t most = 0;

    for (int i = 0; i < p->n_components; i++)
        most = p->component[i].proved > most ? p->component[i].proved : most;
    return most;
}

// Looks for a packing as good as any with so much work, then by bisection for the best between it
// and the one at hand, with less work for each try.
static void improve(Packer *p, Component *c, int64_t budget)
{
    int64_t least = p->wanted, bytes = least, share = 1;

    while (least < c->bytes && !is_over(p)) {
        PackOutcome outcome = try_search(p, c, bytes, budget / share);
        if (outcome == PACK_NONE)
            p->wanted = c->proved > p->wanted ? c->proved : p->wanted;
        if (outcome != PACK_FOUND)
            least = bytes + c->sections.unit;
        bytes = least + (c->bytes - least) / 2;
        share = 8;
    }
}

// ---- packing ----

static int64_t most_bytes(const Packer *p)
{
    int64_t most = 0;

    for (int i = 0; i < p->n_components; i++)
        most = p->component[i].bytes > most ? p->component[i].bytes : most;
    return most;
}

// Does the search go on with component c? With a capacity, one that fails ends it.
static bool is_wanting(const Packer *p, const Component *c)
{
    bool is_hopeless = p->o->capacity && most_proved(p) > p->o->capacity;

    return c->search && c->bytes > p->wanted && c->bytes > c->proved && !is_hopeless && !is_over(p);
}

static void search_components(Packer *p)
{
    bool goes_on = true;

    for (int64_t budget = FIRST_BUDGET; goes_on; budget *= 2) {
        goes_on = false;
        for (int i = 0; i < p->n_components; i++) {
            Component *c = &p->component[i];
            if (!is_wanting(p, c))
                continue;
            if (p->o->capacity)
                try_search(p, c, p->o->capacity, INT64_MAX);
            else
                improve(p, c, budget);
            goes_on |= is_wanting(p, c);
        }
    }
}

static void pack_components(Packer *p)
{
    for (int i = 0; i < p->n_components; i++)
        try_largest_first(p, &p->component[i]);
    if (p->o->capacity && most_proved(p) > p->o->capacity)
        return;
    for (int i = 0; i < p->n_components; i++)
        if (p->component[i].bytes > p->wanted)
            try_orders(p, &p->component[i]);
    search_components(p);
}

Packing pack(Arena *a, const LiveBuffer *b, int n, const PackOptions *o)
{
    Packer p = {.b = b, .o = o, .a = arena_new()};
    Packing to = {.offset = arena_array(a, int64_t, n), .bound = pack_bound(b, n)};

    p.offset = to.offset;
    p.trial = arena_array(p.a, int64_t, n);
    p.chosen = arena_array(p.a, int, n);
    const int64_t most_work = o->effort ? o->effort : INT64_MAX / 2;
    p.limits.work = most_work;
    p.limits.deadline = o->time_limit > 0 ? pack_clock() + o->time_limit : 0;
    p.wanted = o->capacity > o->enough ? o->capacity : o->enough;
    p.wanted = p.wanted > to.bound ? p.wanted : to.bound;
    find_components(&p, n);
    for (int i = 0; i < p.n_components; i++)
        p.component[i].proved = to.bound;
    pack_components(&p);
    budget_add(o->budget, BUDGET_packing, most_work - p.limits.work);
    to.bytes = most_bytes(&p);
    to.bound = n ? most_proved(&p) : 0;
    arena_free(p.a);
    return to;
}
