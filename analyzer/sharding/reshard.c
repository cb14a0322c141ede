// Finds the cheapest reshard paths from spec to spec, as shortest paths over single steps.
//
// A path has two criteria, its time and its most transient bytes. So several paths to a spec may be
// Pareto-optimal. Each has a label, and labels are settled in the order of their time (Martins
// 1984; with one criterion it is Dijkstra's algorithm). The graph of a shape's specs and steps is
// built once. It is searched once for each source spec that is asked for. reshard_fastest has only
// one criterion, and searches with that alone.
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/sharding/internal.h"

// The partial kinds that SPEC_SUM and SPEC_MAX of a shape's graph represent.
typedef struct PartialKinds {
    int sum, max;  // max: SPEC_REPLICATED if there is only one kind
} PartialKinds;

// An edge to a spec. Paths read the rest of its step from `step`, at the same index.
typedef struct ReshardEdge {
    int32_t to;
    int64_t picoseconds, staging;
} ReshardEdge;

// One path to a spec. `transient` counts all steps so far. It counts the bytes of this spec too if
// more steps follow (list Reached.passing), and doesn't if the path ends here (Reached.ending).
typedef struct Label {
    int64_t picoseconds, transient;
    int32_t before;  // index in `settled` of the label before; -1: none
    int32_t edge;    // the edge from that label; -1: the search began here
    int32_t next;    // the next label of the same list; -1: none
    int16_t n_steps;
    bool is_dropped;
} Label;

// The part of a settled label that is kept, to trace paths back.
typedef struct Settled {
    int32_t before, edge;
} Settled;

// The labels of a spec in a search, from fast to slow: those from which the path goes on, and those
// with which it ends. `transient` is the least of a label that was settled.
typedef struct Reached {
    int32_t passing, ending;
    int64_t transient;
} Reached;

typedef struct HeapEntry {
    int64_t picoseconds, transient;
    int32_t n_steps, label;
} HeapEntry;

// One search. The heap holds the labels to be settled, the best one on top.
typedef struct LabelSearch {
    Label *label;
    int n, cap;
    HeapEntry *heap;
    int n_heap, cap_heap;
    Settled *settled;
    int n_settled, cap_settled;
    Budget *budget;  // counts the edges that are followed; NULL: they aren't counted
} LabelSearch;

// All paths from a spec. Those to spec t are path[first[t]] up to before path[first[t + 1]].
typedef struct PathSet {
    int32_t *first;
    ReshardPath *path;
    Settled *settled;
} PathSet;

// The specs and steps of values with equal dims and element size, all made by nodes or none, with
// one or two partial kinds. A step takes the same time for every kind of reduction. So one graph
// with sums, and one with sums and maxima, cover all kinds.
typedef struct ReshardGraph {
    Value v;
    unsigned partials;
    Spec *spec;  // sorted by their keys
    uint64_t *key;
    int64_t *bytes;
    int n_specs, cap_specs;
    int32_t *first;  // by spec: its first step; one more at the end
    ReshardStep *step;
    ReshardEdge *edge;  // by step
    int n_steps, cap_steps;
    Reached *reached;   // scratch of one search
    PathSet **paths;    // by source spec; NULL: not searched yet
    int64_t **fastest;  // by source spec, then by target spec: picoseconds
} ReshardGraph;

struct Resharder {
    Arena *arena;
    const Mesh *m;
    bool is_bucketed;
    ReshardGraph **shape;
    int n_shapes, cap_shapes;
    int last;  // the shape that was asked for last
    LabelSearch search;
};

Resharder *resharder_new(Arena *a, const Mesh *m)
{
    Resharder *l = arena_array(a, Resharder, 1);

    l->arena = a;
    l->m = m;
    return l;
}

Resharder *resharder_new_bucketed(Arena *a, const Mesh *m)
{
    Resharder *l = resharder_new(a, m);

    l->is_bucketed = true;
    return l;
}

void resharder_count(Resharder *l, Budget *b) { l->search.budget = b; }

// ---- the graph of a shape ----

// The bytes of a spec as one number.
static uint64_t key_of(const Spec *s)
{
    uint64_t key = 0;

    for (int a = 0; a < MAX_AXES; a++)
        key = key << 8 | (uint8_t)s->at[a];
    for (int a = 0; a < MAX_AXES; a++)
        key = key << 8 | (uint8_t)s->level[a];
    return key;
}

static int compare_specs(const void *a, const void *b)
{
    uint64_t x = key_of(a), y = key_of(b);

    return (x > y) - (x < y);
}

static int32_t spec_index(const ReshardGraph *h, Spec s)
{
    uint64_t key = key_of(&s);
    int32_t i = 0;

    for (int n = h->n_specs; n > 1; n -= n / 2)
        i += h->key[i + n / 2] <= key ? n / 2 : 0;
    assert(h->key[i] == key);  // the spec is valid
    return i;
}

// Adds all specs that agree with `s` on the axes before `axis`. Axes of one dim come in every
// order.
static void add_specs(Resharder *l, ReshardGraph *h, Spec s, int axis)
{
    int partial = spec_partial(&s), axes[MAX_AXES];

    if (axis == l->m->n_axes) {
        *arena_push(l->arena, h->spec, h->n_specs, h->cap_specs) = s;
        return;
    }
    add_specs(l, h, s, axis + 1);
    for (int at = SPEC_MIN; at <= SPEC_SUM; at++)
        if (h->partials & PARTIAL_BIT(at) && (partial == SPEC_REPLICATED || partial == at)) {
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

static void add_steps(Resharder *l, ReshardGraph *h)
{
    ReshardStep step[MAX_RESHARD_STEPS];

    h->first = arena_array(l->arena, int32_t, h->n_specs + 1);
    for (int s = 0; s < h->n_specs; s++) {
        int n = reshard_steps_from(l->m, &h->v, &h->spec[s], h->partials, step);
        for (int i = 0; i < n; i++) {
            if (l->is_bucketed)
                reshard_step_bucket(l->m, &step[i]);
            *arena_push(l->arena, h->step, h->n_steps, h->cap_steps) = step[i];
        }
        h->first[s + 1] = h->n_steps;
    }
}

static void build_graph(Resharder *l, ReshardGraph *h)
{
    add_specs(l, h, spec_replicated(), 0);
    qsort(h->spec, (size_t)h->n_specs, sizeof(Spec), compare_specs);
    h->key = arena_array(l->arena, uint64_t, h->n_specs);
    h->bytes = arena_array(l->arena, int64_t, h->n_specs);
    for (int s = 0; s < h->n_specs; s++) {
        int64_t bytes = spec_bytes(l->m, &h->spec[s], &h->v);
        h->bytes[s] = bytes < MAX_SUMMABLE_BYTES ? bytes : MAX_SUMMABLE_BYTES;
        h->key[s] = key_of(&h->spec[s]);
    }
    add_steps(l, h);
    h->edge = arena_array(l->arena, ReshardEdge, h->n_steps);
    for (int i = 0; i < h->n_steps; i++)
        h->edge[i] = (ReshardEdge){spec_index(h, h->step[i].after), h->step[i].picoseconds,
                                   h->step[i].staging};
    h->reached = arena_array(l->arena, Reached, h->n_specs);
    h->paths = arena_array(l->arena, PathSet *, h->n_specs);
    h->fastest = arena_array(l->arena, int64_t *, h->n_specs);
}

// ---- kinds of partial specs ----

// A path needs only the partial kinds of its two ends. Another kind could only come from a whole by
// a mask, and the step that removes it is no faster than no step, or than a slice.
static PartialKinds kinds_of(const Spec *from, const Spec *to)
{
    int a = spec_partial(from), b = spec_partial(to);

    if (a == SPEC_REPLICATED)
        return (PartialKinds){b == SPEC_REPLICATED ? SPEC_SUM : b, SPEC_REPLICATED};
    return (PartialKinds){a, b == a ? SPEC_REPLICATED : b};
}

static bool is_of_shape(const ReshardGraph *h, const Value *v, unsigned partials)
{
    return h->partials == partials && is_sliced_in_place(&h->v) == is_sliced_in_place(v) &&
           h->v.rank == v->rank && dtype_size(h->v.dtype) == dtype_size(v->dtype) &&
           !memcmp(h->v.dim, v->dim, (size_t)v->rank * sizeof *v->dim);
}

static ReshardGraph *find_shape(Resharder *l, const Value *v, PartialKinds k)
{
    unsigned partials = PARTIAL_BIT(SPEC_SUM);

    partials |= k.max == SPEC_REPLICATED ? 0 : PARTIAL_BIT(SPEC_MAX);
    if (l->n_shapes && is_of_shape(l->shape[l->last], v, partials))
        return l->shape[l->last];
    for (l->last = 0; l->last < l->n_shapes; l->last++)
        if (is_of_shape(l->shape[l->last], v, partials))
            return l->shape[l->last];
    ReshardGraph *h = arena_array(l->arena, ReshardGraph, 1);
    h->v = *v;
    h->partials = partials;
    build_graph(l, h);
    *arena_push(l->arena, l->shape, l->n_shapes, l->cap_shapes) = h;
    return h;
}

// Replaces the partial kinds of a spec by SPEC_SUM and SPEC_MAX, which represent them.
static Spec renamed_partials(Spec s, PartialKinds k)
{
    for (int a = 0; a < MAX_AXES; a++)
        if (s.at[a] < SPEC_REPLICATED)
            s.at[a] = s.at[a] == k.sum ? SPEC_SUM : SPEC_MAX;
    return s;
}

static int own_name(int at, PartialKinds k)
{
    return at == SPEC_SUM ? k.sum : at == SPEC_MAX ? k.max : at;
}

static ReshardStep named_step(ReshardStep s, PartialKinds k)
{
    s.from_dim = own_name(s.from_dim, k);
    s.to_dim = own_name(s.to_dim, k);
    for (int a = 0; a < MAX_AXES; a++)
        s.after.at[a] = (int8_t)own_name(s.after.at[a], k);
    return s;
}

// ---- search ----

// Sorts by less time, then fewer bytes, then fewer steps, then the older label.
static bool comes_before(HeapEntry a, HeapEntry b)
{
    if (a.picoseconds != b.picoseconds)
        return a.picoseconds < b.picoseconds;
    if (a.transient != b.transient)
        return a.transient < b.transient;
    return a.n_steps != b.n_steps ? a.n_steps < b.n_steps : a.label < b.label;
}

static void heap_put(Arena *a, LabelSearch *s, HeapEntry w)
{
    int i = s->n_heap;

    arena_push(a, s->heap, s->n_heap, s->cap_heap);
    for (; i && comes_before(w, s->heap[(i - 1) / 2]); i = (i - 1) / 2)
        s->heap[i] = s->heap[(i - 1) / 2];
    s->heap[i] = w;
}

static HeapEntry heap_take(LabelSearch *s)
{
    HeapEntry top = s->heap[0], last = s->heap[--s->n_heap];
    int i = 0;

    for (int k; (k = 2 * i + 1) < s->n_heap; i = k) {
        k += k + 1 < s->n_heap && comes_before(s->heap[k + 1], s->heap[k]);
        if (!comes_before(s->heap[k], last))
            break;
        s->heap[i] = s->heap[k];
    }
    s->heap[i] = last;
    return top;
}

static bool is_ahead(const Label *a, const Label *b)
{
    if (a->picoseconds != b->picoseconds)
        return a->picoseconds < b->picoseconds;
    if (a->transient != b->transient)
        return a->transient < b->transient;
    return a->n_steps <= b->n_steps;
}

// Adds a label to the list at *first unless one in the list is as good, and drops those that it
// beats. Returns its number, or -1. The list is sorted by rising time, so transient bytes fall
// along it.
static int32_t add_label(Arena *a, LabelSearch *s, int32_t *first, const Label *label)
{
    int32_t *at = first;

    for (; *at >= 0 && is_ahead(&s->label[*at], label); at = &s->label[*at].next)
        if (s->label[*at].transient <= label->transient)
            return -1;
    int32_t after = *at, added = s->n;
    for (; after >= 0 && s->label[after].transient >= label->transient;
         after = s->label[after].next)
        s->label[after].is_dropped = true;
    *at = added;
    *arena_push(a, s->label, s->n, s->cap) = *label;
    s->label[added].next = after;
    return added;
}

static void heap_put_label(Arena *a, LabelSearch *s, int32_t label)
{
    const Label *x = &s->label[label];

    heap_put(a, s, (HeapEntry){x->picoseconds, x->transient, x->n_steps, label});
}

static int64_t most(int64_t a, int64_t b) { return a > b ? a : b; }

// Follows one edge from the label that was settled last, which is of `spec`. Labels that are
// settled took no more time than the new one, so the new one needs fewer bytes.
static void follow(Arena *a, const ReshardGraph *h, LabelSearch *s, const Label *u, int32_t spec,
                   int32_t edge)
{
    const ReshardEdge *e = &h->edge[edge];
    Reached *to = &h->reached[e->to];
    int64_t during = (u->n_steps ? h->bytes[spec] : 0) + e->staging;
    Label next = {.picoseconds = u->picoseconds + e->picoseconds,
                  .transient = most(u->transient, during),
                  .before = s->n_settled - 1,
                  .edge = edge,
                  .n_steps = (int16_t)(u->n_steps + 1)};

    if (next.transient >= to->transient)
        return;
    add_label(a, s, &to->ending, &next);
    next.transient = most(u->transient, during + h->bytes[e->to]);
    if (next.transient >= to->transient)
        return;
    int32_t added = add_label(a, s, &to->passing, &next);
    if (added >= 0)
        heap_put_label(a, s, added);
}

static void search_from(Arena *a, const ReshardGraph *h, LabelSearch *s, int32_t from)
{
    const Label start = {.before = -1, .edge = -1};

    budget_allow(s->budget, BUDGET_pricing, h->n_steps);
    s->n = s->n_heap = s->n_settled = 0;
    for (int i = 0; i < h->n_specs; i++)
        h->reached[i] = (Reached){-1, -1, INT64_MAX};
    add_label(a, s, &h->reached[from].ending, &start);
    heap_put_label(a, s, add_label(a, s, &h->reached[from].passing, &start));
    while (s->n_heap) {
        const Label top = s->label[heap_take(s).label];
        if (top.is_dropped)
            continue;
        int32_t u = top.edge < 0 ? from : h->edge[top.edge].to;
        bool goes_on = budget_add(s->budget, BUDGET_pricing, h->first[u + 1] - h->first[u]);
        if (!goes_on && h->reached[u].transient < INT64_MAX)
            continue;  // past the bound, the fastest path to each spec will do
        *arena_push(a, s->settled, s->n_settled, s->cap_settled) = (Settled){top.before, top.edge};
        // The settled labels before took less time and more bytes.
        h->reached[u].transient = top.transient;
        for (int32_t e = h->first[u]; e < h->first[u + 1]; e++)
            follow(a, h, s, &top, u, e);
    }
}

// The least time to each spec, by one criterion (Dijkstra 1959).
static int64_t *search_fastest(Arena *a, const ReshardGraph *h, LabelSearch *s, int32_t from)
{
    int64_t *time = arena_array(a, int64_t, h->n_specs), n_followed = 0;

    budget_allow(s->budget, BUDGET_pricing, h->n_steps);
    for (int i = 0; i < h->n_specs; i++)
        time[i] = INT64_MAX;
    time[from] = 0;
    heap_put(a, s, (HeapEntry){.label = from});
    while (s->n_heap) {
        HeapEntry top = heap_take(s);
        if (top.picoseconds > time[top.label])
            continue;
        n_followed += h->first[top.label + 1] - h->first[top.label];
        for (const ReshardEdge *e = h->edge + h->first[top.label];
             e < h->edge + h->first[top.label + 1]; e++) {
            int64_t after = top.picoseconds + e->picoseconds;
            if (after >= time[e->to])
                continue;
            time[e->to] = after;
            heap_put(a, s, (HeapEntry){.picoseconds = after, .label = e->to});
        }
    }
    budget_add(s->budget, BUDGET_pricing, n_followed);
    return time;
}

// ---- paths ----

// Copies the result of a search.
static PathSet *path_set_new(Arena *a, const ReshardGraph *h, const LabelSearch *s)
{
    PathSet *w = arena_array(a, PathSet, 1);
    int n = 0;

    w->settled = arena_array(a, Settled, s->n_settled);
    memcpy(w->settled, s->settled, (size_t)s->n_settled * sizeof *s->settled);
    w->first = arena_array(a, int32_t, h->n_specs + 1);
    for (int t = 0; t < h->n_specs; t++) {
        for (int32_t i = h->reached[t].ending; i >= 0; i = s->label[i].next)
            n++;
        w->first[t + 1] = n;
    }
    w->path = arena_array(a, ReshardPath, n);
    for (int t = n = 0; t < h->n_specs; t++)
        for (int32_t i = h->reached[t].ending; i >= 0; i = s->label[i].next) {
            const Label *end = &s->label[i];
            w->path[n++] = (ReshardPath){end->n_steps, end->picoseconds, end->transient,
                                         end->before, end->edge};
        }
    return w;
}

static const PathSet *path_set_from(Resharder *l, ReshardGraph *h, int32_t from)
{
    if (!h->paths[from]) {
        search_from(l->arena, h, &l->search, from);
        h->paths[from] = path_set_new(l->arena, h, &l->search);
    }
    return h->paths[from];
}

int reshard_paths(Resharder *l, const Value *v, Spec from, Spec to, const ReshardPath **path)
{
    PartialKinds k = kinds_of(&from, &to);
    ReshardGraph *h = find_shape(l, v, k);
    const PathSet *paths = path_set_from(l, h, spec_index(h, renamed_partials(from, k)));
    int32_t t = spec_index(h, renamed_partials(to, k));

    *path = &paths->path[paths->first[t]];
    return paths->first[t + 1] - paths->first[t];
}

void reshard_path_steps(Resharder *l, const Value *v, Spec from, Spec to, const ReshardPath *path,
                        ReshardStep *step)
{
    PartialKinds k = kinds_of(&from, &to);
    ReshardGraph *h = find_shape(l, v, k);
    const PathSet *paths = path_set_from(l, h, spec_index(h, renamed_partials(from, k)));
    Settled at = {path->before, path->last};

    for (int i = path->n_steps - 1; i >= 0; i--, at = paths->settled[at.before])
        step[i] = named_step(h->step[at.edge], k);
}

int64_t reshard_fastest(Resharder *l, const Value *v, Spec from, Spec to)
{
    PartialKinds k = kinds_of(&from, &to);
    ReshardGraph *h = find_shape(l, v, k);
    int32_t s = spec_index(h, renamed_partials(from, k)),
            t = spec_index(h, renamed_partials(to, k));

    if (!h->fastest[s])
        h->fastest[s] = search_fastest(l->arena, h, &l->search, s);
    return h->fastest[s][t];
}
