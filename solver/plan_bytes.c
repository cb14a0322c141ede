// What the decisions of a plan hold of memory, item by item of the program: values the bytes of
// their pieces while they lie somewhere; nodes their kernels' workspaces and, where copies count,
// what they and uses need beside.
#include <stdlib.h>
#include <string.h>

#include "solver/plan_build.h"

// From item `first` to before `last`.
typedef struct Span {
    int first, last;
} Span;

// That the values like a first one take so many places more (or fewer) from an item on, in so many
// buffers more.
typedef struct Change {
    ValueId first;
    int item;
    int64_t slots;
    int buffers;
} Change;

typedef struct Holding {
    Builder *b;
    Problem *p;
    int n_uses, cap_uses;
    Change *change;
    int *begin;      // by first value: where its changes begin
    int64_t *least;  // … the bytes of its smallest piece at rest
} Holding;

static int64_t bytes_of(const Holding *h, ValueId v, const Spec *s)
{
    return slot_bytes(spec_bytes(h->b->mesh, s, value_of(h->b->g, v)));
}

static void hold(Holding *h, Span at, int64_t bytes)
{
    if (at.first < at.last && bytes > 0)
        *arena_push(h->b->arena, h->p->use, h->n_uses, h->cap_uses) =
            (Use){at.first, at.last, bytes};
}

// ---- at rest ----

static int compare_changes(const void *x, const void *y)
{
    const Change *a = x, *b = y;

    if (a->first != b->first)
        return a->first < b->first ? -1 : 1;
    return (a->item > b->item) - (a->item < b->item);
}

// Sorted, and one at the end that is of no value. What has none begins there.
static void find_changes(Holding *h)
{
    const Lives *l = h->b->lives;
    int n = 0;

    h->change = arena_array(h->b->scratch, Change, l ? 2 * l->n + 1 : 1);
    h->begin = arena_array(h->b->scratch, int, h->b->g->n_values);
    for (int i = 0; l && i < l->n; i++) {
        const Life *x = &l->life[i];
        ValueId first = h->b->q->alike.value[x->value];
        h->change[n++] = (Change){first, x->first, x->slots, 1};
        h->change[n++] = (Change){first, x->last, -x->slots, -1};
    }
    qsort(h->change, (size_t)n, sizeof *h->change, compare_changes);
    for (ValueId v = 0; v < h->b->g->n_values; v++)
        h->begin[v] = n;
    for (int i = n - 1; i >= 0; i--)
        h->begin[h->change[i].first] = i;
}

// Is it in memory of its own?
static bool is_stored(const Holding *h, ValueId first)
{
    return h->change[h->begin[first]].first == first;
}

// Bytes for each place that a first value takes, and what every buffer has more.
static void hold_places(Holding *h, ValueId first, int64_t bytes, int64_t more)
{
    const Change *x = h->change + h->begin[first];
    int64_t slots = 0, buffers = 0;

    for (; x->first == first; x++) {
        slots += x->slots;
        buffers += x->buffers;
        if (x[1].first == first)
            hold(h, (Span){x->item, x[1].item}, slots * bytes + buffers * more);
    }
}

// ---- while nodes run ----

// That a value is at hand as some spec takes no bytes beside those at rest if it rests so. That
// depends on two decisions, and rows know but one: counted are those that the smallest piece of it
// lacks, which is right where it rests as that, and too much where it rests larger.
static int64_t beside(const Holding *h, ValueId v, const Spec *s)
{
    const Alike *k = &h->b->q->alike;
    int64_t more = bytes_of(h, v, s) - h->least[k->value[v]];

    return is_stored(h, k->value[h->b->traffic.base[v]]) && more > 0 ? more : 0;
}

// A node's operands while it runs.
static int64_t beside_node(const Holding *h, NodeId n, const Strategy *s)
{
    const PlanProblem *q = h->b->q;
    const Node *x = &h->b->g->nodes[n];
    int64_t bytes = 0;

    for (int i = 0; i < x->n_in + x->n_out; i++) {
        ValueId v = i < x->n_in ? x->in[i] : x->out[i - x->n_in];
        Spec spec = strategy_spec(&q->rule[n], s, i);
        bytes += v ? beside(h, v, &spec) : 0;
    }
    return bytes;
}

// What the program needs for the node alone, while it runs.
static void hold_node(Holding *h, NodeId n, const Strategy *s)
{
    const Builder *b = h->b;
    const Graph *g = b->g;
    int item = b->lives ? b->lives->item[n] : -1;

    if (item < 0)
        return;
    int64_t bytes = piece_workspace(g, &g->nodes[n], &b->q->rule[n], b->mesh, s);
    bytes = bytes ? buffer_bytes(bytes, 1) : 0;
    if (b->o->counts_copies)
        bytes += beside_node(h, n, s);
    hold(h, (Span){item, item + 1}, bytes);
}

static void find_least(Holding *h)
{
    const PlanProblem *q = h->b->q;

    for (int i = 0; i < q->n_variables; i++) {
        const Variable *v = &q->variable[i];
        for (int k = 0; k < v->n && v->kind == VARIABLE_REST; k++) {
            int64_t bytes = bytes_of(h, v->id, &v->spec[k]);
            h->least[v->id] = !k || bytes < h->least[v->id] ? bytes : h->least[v->id];
        }
    }
}

// A view that rests as what it is a view of doesn't is a view of a copy, which lives as long.
static void hold_view(Holding *h, const Variable *v, const Spec *s)
{
    ValueId base = h->b->traffic.base[v->id];

    if (base != v->id)
        hold_places(h, h->b->q->alike.value[base], beside(h, v->id, s), 0);
}

void plan_bytes(Builder *b)
{
    const PlanProblem *q = b->q;
    Problem *p = &b->q->problem;
    Holding h = {.b = b, .p = p};
    bool has_copies = b->lives && b->o->counts_copies;

    h.least = arena_array(b->scratch, int64_t, b->g->n_values);
    find_changes(&h);
    if (has_copies)
        find_least(&h);
    int *first_use = p->first_use = arena_array(b->arena, int, p->first[p->n_nodes] + 1);
    for (int i = 0; i < q->n_variables; i++) {
        const Variable *v = &q->variable[i];
        for (int k = 0; k < v->n; k++) {
            *first_use++ = h.n_uses;
            if (v->kind == VARIABLE_REST && is_stored(&h, v->id))
                hold_places(&h, v->id, bytes_of(&h, v->id, &v->spec[k]), REDZONE);
            if (v->kind == VARIABLE_REST && has_copies)
                hold_view(&h, v, &v->spec[k]);
            if (v->kind == VARIABLE_NODE)
                hold_node(&h, v->id, &v->spec[k]);
        }
    }
    *first_use = h.n_uses;
}
