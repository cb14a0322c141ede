// The layout manager: the cheapest ways from spec to spec, as shortest paths over single steps.
//
// What counts is time and, beside it, the most transient bytes, so a spec is reached by several
// ways of which none is better in both: labels, which are settled in the order of their time
// (Martins 1984; with one criterion it is Dijkstra's algorithm). The graph of a shape's specs and
// steps is built once, and searched once for each spec from which somebody asks.
#include <assert.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/internal.h"

// To spec[to].
typedef struct Edge {
    int32_t to;
    Step step;
} Edge;

// How a spec is reached. `transient` is that of all steps so far, with the bytes of this spec if
// others follow, and without if it is the last.
typedef struct Label {
    int64_t picoseconds, transient;
    int32_t spec;
    int32_t before;  // the label whence it comes …
    int32_t edge;    // … and by which edge
    int32_t next;    // of the same list, -1: none
    int16_t n_steps;
    bool is_dropped;
} Label;

// The labels of one search, and those to be settled, the best on top.
typedef struct Search {
    Label *label;
    int n, cap;
    int32_t *heap;
    int n_heap, cap_heap;
} Search;

typedef struct Ways {
    int n;
    Way *way;
} Ways;

// The specs of values of equal dims and size of element.
typedef struct Shape {
    Value v;
    unsigned partials;
    Spec *spec;  // in the order of their bytes
    int n_specs, cap_specs;
    int64_t *bytes;  // by spec
    int32_t *first;  // by spec: its first edge; one more at the end
    Edge *edge;
    int n_edges, cap_edges;
    // By spec, of one search: its first label if others follow it, and if it is the last.
    int32_t *passing, *ending;
    int64_t *settled;    // … and the least transient bytes of a label that was settled
    Ways **ways;         // by spec from which to go and spec to which; NULL: nobody has asked
    struct Shape *like;  // has the same ways but for the kinds of parts; NULL: is searched itself
} Shape;

struct Layouts {
    Arena *arena;
    const Mesh *m;
    bool joins;
    Shape **shape;
    int n_shapes, cap_shapes;
    Search search;
};

Layouts *layouts_new(Arena *a, const Mesh *m)
{
    Layouts *l = arena_array(a, Layouts, 1);

    l->arena = a;
    l->m = m;
    return l;
}

Layouts *layouts_joining(Arena *a, const Mesh *m)
{
    Layouts *l = layouts_new(a, m);

    l->joins = true;
    return l;
}

// ---- the graph of a shape ----

static int compare_specs(const void *a, const void *b) { return memcmp(a, b, sizeof(Spec)); }

static int32_t spec_index(const Shape *h, const Spec *s)
{
    const Spec *found = bsearch(s, h->spec, (size_t)h->n_specs, sizeof *s, compare_specs);

    assert(found);  // the spec is valid
    return (int32_t)(found - h->spec);
}

// All specs that agree with `s` in the axes before `axis`, those of a dim in every order.
static void add_specs(Layouts *l, Shape *h, Spec s, int axis)
{
    int partial = spec_partial(&s), axes[MAX_AXES];

    if (axis == l->m->n_axes) {
        *arena_push(l->arena, h->spec, h->n_specs, h->cap_specs) = s;
        return;
    }
    add_specs(l, h, s, axis + 1);
    for (int at = SPEC_MIN; at <= SPEC_SUM; at++)
        if (h->partials & PARTIAL_BIT(at) && (partial == SPEC_WHOLE || partial == at)) {
            Spec more = s;
            more.at[axis] = (int8_t)at;
            add_specs(l, h, more, axis + 1);
        }
    for (int k = 0; k < h->v.rank; k++)
        for (int level = spec_axes(&s, k, axes); level >= 0; level--) {
            Spec more = s;
            for (int a = 0; a < axis; a++)
                more.level[a] += s.at[a] == k && s.level[a] >= level;
            more.at[axis] = (int8_t)k;
            more.level[axis] = (int8_t)level;
            add_specs(l, h, more, axis + 1);
        }
}

static void add_edges(Layouts *l, Shape *h)
{
    Step step[MAX_STEPS];

    h->first = arena_array(l->arena, int32_t, h->n_specs + 1);
    h->bytes = arena_array(l->arena, int64_t, h->n_specs);
    for (int s = 0; s < h->n_specs; s++) {
        int n = steps_from(l->m, &h->v, &h->spec[s], h->partials, step);
        int64_t bytes = spec_bytes(l->m, &h->spec[s], &h->v);
        h->bytes[s] = bytes < MANY_BYTES ? bytes : MANY_BYTES;
        for (int i = 0; i < n; i++) {
            if (l->joins)
                step_join(l->m, &step[i]);
            *arena_push(l->arena, h->edge, h->n_edges, h->cap_edges) =
                (Edge){spec_index(h, &step[i].after), step[i]};
        }
        h->first[s + 1] = h->n_edges;
    }
}

static bool is_of_shape(const Shape *h, const Value *v, unsigned partials)
{
    return h->partials == partials && h->v.rank == v->rank &&
           dtype_size(h->v.dtype) == dtype_size(v->dtype) &&
           !memcmp(h->v.dim, v->dim, (size_t)v->rank * sizeof *v->dim);
}

// The kinds in whose place others stand: a step takes as long whatever it joins. Specs and steps of
// both are in the same order, as the kinds are.
static unsigned common_kinds(unsigned partials)
{
    bool is_single = !(partials & (partials - 1));

    return is_single ? PARTIAL_BIT(SPEC_SUM) : PARTIAL_BIT(SPEC_SUM) | PARTIAL_BIT(SPEC_MAX);
}

static Shape *shape_of(Layouts *l, const Value *v, unsigned partials)
{
    for (int i = 0; i < l->n_shapes; i++)
        if (is_of_shape(l->shape[i], v, partials))
            return l->shape[i];
    Shape *h = arena_array(l->arena, Shape, 1);
    h->v = *v;
    h->partials = partials;
    add_specs(l, h, spec_whole(), 0);
    qsort(h->spec, (size_t)h->n_specs, sizeof(Spec), compare_specs);
    add_edges(l, h);
    h->passing = arena_array(l->arena, int32_t, h->n_specs);
    h->ending = arena_array(l->arena, int32_t, h->n_specs);
    h->settled = arena_array(l->arena, int64_t, h->n_specs);
    h->ways = arena_array(l->arena, Ways *, h->n_specs);
    *arena_push(l->arena, l->shape, l->n_shapes, l->cap_shapes) = h;
    if (common_kinds(partials) != partials)
        h->like = shape_of(l, v, common_kinds(partials));
    return h;
}

// Parts of a kind that neither end has don't lie on a cheapest way: they come of a whole by a mask,
// and what takes them away again is no faster than nothing, or a slice. Where neither end has any,
// sums are put in, so that most share one graph.
static Shape *find_shape(Layouts *l, const Value *v, const Spec *from, const Spec *to)
{
    unsigned partials = PARTIAL_BIT(spec_partial(from)) | PARTIAL_BIT(spec_partial(to));

    partials &= ~PARTIAL_BIT(SPEC_WHOLE);
    return shape_of(l, v, partials ? partials : PARTIAL_BIT(SPEC_SUM));
}

// ---- search ----

// Less time, then fewer bytes, then fewer steps; the older one if all are equal.
static bool comes_before(const Search *s, int32_t a, int32_t b)
{
    const Label *x = &s->label[a], *y = &s->label[b];

    if (x->picoseconds != y->picoseconds)
        return x->picoseconds < y->picoseconds;
    if (x->transient != y->transient)
        return x->transient < y->transient;
    return x->n_steps != y->n_steps ? x->n_steps < y->n_steps : a < b;
}

static void heap_put(Arena *a, Search *s, int32_t label)
{
    int i = s->n_heap;

    arena_push(a, s->heap, s->n_heap, s->cap_heap);
    for (; i && comes_before(s, label, s->heap[(i - 1) / 2]); i = (i - 1) / 2)
        s->heap[i] = s->heap[(i - 1) / 2];
    s->heap[i] = label;
}

static int32_t heap_take(Search *s)
{
    int32_t top = s->heap[0], last = s->heap[--s->n_heap];
    int i = 0;

    for (int k; (k = 2 * i + 1) < s->n_heap; i = k) {
        k += k + 1 < s->n_heap && comes_before(s, s->heap[k + 1], s->heap[k]);
        if (!comes_before(s, s->heap[k], last))
            break;
        s->heap[i] = s->heap[k];
    }
    s->heap[i] = last;
    return top;
}

static bool is_as_good(const Label *a, const Label *b)
{
    if (a->picoseconds > b->picoseconds || a->transient > b->transient)
        return false;
    return a->picoseconds < b->picoseconds || a->transient < b->transient ||
           a->n_steps <= b->n_steps;
}

// Adds a label to the list at *first unless one there is as good, and drops those that it beats.
// Returns its number, or -1.
static int32_t add_label(Arena *a, Search *s, int32_t *first, Label label)
{
    for (int32_t i = *first; i >= 0; i = s->label[i].next)
        if (is_as_good(&s->label[i], &label))
            return -1;
    for (int32_t *at = first; *at >= 0;) {
        Label *old = &s->label[*at];
        if (is_as_good(&label, old)) {
            old->is_dropped = true;
            *at = old->next;
        } else {
            at = &old->next;
        }
    }
    label.next = *first;
    *first = s->n;
    *arena_push(a, s->label, s->n, s->cap) = label;
    return *first;
}

static int64_t most(int64_t a, int64_t b) { return a > b ? a : b; }

// Goes on from a label by one edge. What was settled took no more time, so it is beaten in bytes or
// not at all.
static void follow(Arena *a, Shape *h, Search *s, int32_t label, int32_t edge)
{
    const Label u = s->label[label];
    const Edge *e = &h->edge[edge];
    int64_t during = (u.n_steps ? h->bytes[u.spec] : 0) + e->step.staging;
    Label next = {.picoseconds = u.picoseconds + e->step.picoseconds,
                  .transient = most(u.transient, during),
                  .spec = e->to,
                  .before = label,
                  .edge = edge,
                  .n_steps = (int16_t)(u.n_steps + 1)};

    if (next.transient >= h->settled[e->to])
        return;
    add_label(a, s, &h->ending[e->to], next);
    next.transient = most(u.transient, during + h->bytes[e->to]);
    if (next.transient >= h->settled[e->to])
        return;
    int32_t added = add_label(a, s, &h->passing[e->to], next);
    if (added >= 0)
        heap_put(a, s, added);
}

static void search_from(Arena *a, Shape *h, Search *s, int32_t from)
{
    const Label start = {.spec = from};

    s->n = s->n_heap = 0;
    memset(h->passing, -1, sizeof *h->passing * (size_t)h->n_specs);
    memset(h->ending, -1, sizeof *h->ending * (size_t)h->n_specs);
    for (int i = 0; i < h->n_specs; i++)
        h->settled[i] = INT64_MAX;
    add_label(a, s, &h->ending[from], start);
    heap_put(a, s, add_label(a, s, &h->passing[from], start));
    while (s->n_heap) {
        int32_t top = heap_take(s), u = s->label[top].spec;
        if (s->label[top].is_dropped)
            continue;
        h->settled[u] = s->label[top].transient;  // the former ones took less time and more bytes
        for (int32_t e = h->first[u]; e < h->first[u + 1]; e++)
            follow(a, h, s, top, e);
    }
}

// ---- ways ----

static Way way_of(Arena *a, const Shape *h, const Search *s, const Label *end)
{
    const Step **step = arena_array(a, const Step *, end->n_steps);
    const Label *u = end;

    for (int i = end->n_steps - 1; i >= 0; i--, u = &s->label[u->before])
        step[i] = &h->edge[u->edge].step;
    return (Way){end->n_steps, step, end->picoseconds, end->transient};
}

static int compare_ways(const void *a, const void *b)
{
    const Way *x = a, *y = b;

    return (x->picoseconds > y->picoseconds) - (x->picoseconds < y->picoseconds);
}

// To each spec, from where the search began.
static Ways *ways_found(Arena *a, const Shape *h, const Search *s)
{
    Ways *ways = arena_array(a, Ways, h->n_specs);

    for (int t = 0; t < h->n_specs; t++) {
        Ways *w = &ways[t];
        for (int32_t i = h->ending[t]; i >= 0; i = s->label[i].next)
            w->n++;
        w->way = arena_array(a, Way, w->n);
        for (int32_t i = h->ending[t], k = 0; i >= 0; i = s->label[i].next)
            w->way[k++] = way_of(a, h, s, &s->label[i]);
        qsort(w->way, (size_t)w->n, sizeof *w->way, compare_ways);
    }
    return ways;
}

// The ways of the shape that h is like, by the steps of h.
static Ways *ways_like(Arena *a, const Shape *h, const Ways *from)
{
    Ways *ways = arena_array(a, Ways, h->n_specs);

    for (int t = 0; t < h->n_specs; t++) {
        ways[t] = (Ways){from[t].n, arena_array(a, Way, from[t].n)};
        for (int k = 0; k < from[t].n; k++) {
            Way *w = &ways[t].way[k];
            *w = from[t].way[k];
            const Step **step = arena_array(a, const Step *, w->n_steps);
            for (int i = 0; i < w->n_steps; i++) {
                const char *edge = (const char *)w->step[i] - offsetof(Edge, step);
                step[i] = &h->edge[(const Edge *)edge - h->like->edge].step;
            }
            w->step = step;
        }
    }
    return ways;
}

static const Ways *ways_from(Layouts *l, Shape *h, int32_t from)
{
    if (!h->ways[from] && h->like) {
        h->ways[from] = ways_like(l->arena, h, ways_from(l, h->like, from));
    } else if (!h->ways[from]) {
        search_from(l->arena, h, &l->search, from);
        h->ways[from] = ways_found(l->arena, h, &l->search);
    }
    return h->ways[from];
}

int layout_ways(Layouts *l, const Value *v, Spec from, Spec to, const Way **way)
{
    Shape *h = find_shape(l, v, &from, &to);
    int32_t f = spec_index(h, &from), t = spec_index(h, &to);

    const Ways *ways = ways_from(l, h, f);
    *way = ways[t].way;
    return ways[t].n;
}
