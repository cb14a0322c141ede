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

// A node that counts what it needs of the values like a first one, at the item that it is.
typedef struct Reader {
    ValueId first;
    int item;
    NodeId node;
    int operand;
} Reader;

typedef struct Holding {
    Builder *b;
    Problem *p;
    int n_uses, cap_uses;
    Change *change;
    int *begin;      // by first value: where its changes begin
    int64_t *least;  // … the bytes of its smallest piece at rest
    Reader *reader;  // sorted; NULL: none counts
    int n_readers, cap_readers;
    ValueId *view;  // by first value: a view of it that is kept for the backward part, or none …
    int *until;     // … by that: before which item
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

// The first reader of a value like this one from an item on.
static int reader_from(const Holding *h, ValueId first, int item)
{
    int low = 0, high = h->n_readers;

    while (low < high) {
        int mid = low + (high - low) / 2;
        const Reader *r = &h->reader[mid];
        if (r->first < first || (r->first == first && r->item < item))
            low = mid + 1;
        else
            high = mid;
    }
    return low;
}

// Of `held` bytes, `less` are counted by the nodes that read them, each at its item.
static void hold_between(Holding *h, ValueId first, Span at, int64_t held, int64_t less)
{
    for (int i = reader_from(h, first, at.first); less > 0 && i < h->n_readers; i++) {
        const Reader *r = &h->reader[i];
        if (r->first != first || r->item >= at.last)
            break;
        hold(h, (Span){at.first, r->item}, held);
        hold(h, (Span){r->item, r->item + 1}, held - less);
        at.first = r->item + 1;
    }
    hold(h, at, held);
}

// Bytes for each place that a first value takes, and what every buffer has more.
static void hold_places(Holding *h, ValueId first, int64_t bytes, int64_t more)
{
    const Change *x = h->change + h->begin[first];
    int64_t slots = 0, buffers = 0;

    for (; x->first == first; x++) {
        slots += x->slots;
        buffers += x->buffers;
        if (x[1].first == first && slots > 0)
            hold_between(h, first, (Span){x->item, x[1].item}, slots * bytes + buffers * more,
                         bytes - h->least[first]);
    }
}

// ---- while nodes run ----

// That a value is at hand as some spec takes no bytes beside those at rest if it rests so. That
// depends on two decisions, and rows know but one: counted are those that the smallest piece of it
// lacks, which is right where it rests as that, and too much where it rests larger. Where what it
// rests as counts no more than its smallest piece at that item, it is what the value holds if it
// rests as it is needed, and too little if it doesn't: so it is for readers.
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
        ValueId v = nth_operand(x, i);
        Spec spec = strategy_spec(&q->rule[n], s, i);
        bytes += v ? beside(h, v, &spec) : 0;
    }
    return bytes;
}

static int64_t beside_reader(const Holding *h, NodeId n, const Strategy *s)
{
    const PlanProblem *q = h->b->q;
    const Node *x = &h->b->g->nodes[n];
    int64_t bytes = 0;

    for (int i = 0; i < x->n_in + x->n_out && h->n_readers; i++) {
        ValueId v = nth_operand(x, i), first = q->alike.value[v];
        int k = v ? reader_from(h, first, h->b->lives->item[n]) : h->n_readers;
        const Reader *r = k < h->n_readers ? &h->reader[k] : NULL;
        Spec spec = strategy_spec(&q->rule[n], s, i);
        if (r && r->first == first && r->node == n && r->operand == i)
            bytes += beside(h, v, &spec);
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
    if (b->o->copies == COPIES_ALL)
        bytes += beside_node(h, n, s);
    else
        bytes += beside_reader(h, n, s);
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

// ---- what is sure ----

static int compare_readers(const void *x, const void *y)
{
    const Reader *a = x, *b = y;

    if (a->first != b->first)
        return a->first < b->first ? -1 : 1;
    if (a->item != b->item)
        return a->item < b->item ? -1 : 1;
    return a->node != b->node ? (a->node < b->node ? -1 : 1) : a->operand - b->operand;
}

// Products have their operands at hand as a whole and write over none of them: what each needs of a
// value lies somewhere while it runs. Of several that read it at one item the first counts.
static void find_readers(Holding *h)
{
    const Graph *g = h->b->g;
    const Alike *k = &h->b->q->alike;
    int n_left = 0;

    for (NodeId n = 1; n < g->n_nodes; n++) {
        const Node *x = &g->nodes[n];
        for (int i = 0; i < x->n_in + x->n_out && x->op->is_product && k->node[n] == n; i++) {
            ValueId v = nth_operand(x, i), first = k->value[v];
            int item = h->b->lives->item[n];
            if (v && item >= 0 && h->b->traffic.base[v] == v && is_stored(h, first) &&
                !h->view[first])
                *arena_push(h->b->scratch, h->reader, h->n_readers, h->cap_readers) =
                    (Reader){first, item, n, i};
        }
    }
    if (h->n_readers)
        qsort(h->reader, (size_t)h->n_readers, sizeof *h->reader, compare_readers);
    for (int i = 0; i < h->n_readers; i++) {
        const Reader *r = &h->reader[i], *before = n_left ? &h->reader[n_left - 1] : NULL;
        if (!before || r->first != before->first || r->item != before->item)
            h->reader[n_left++] = *r;
    }
    h->n_readers = n_left;
}

// Where a view counts instead of what it is a view of: bytes for each place, `less` than are held.
static void hold_kept(Holding *h, ValueId first, int64_t bytes, int64_t more)
{
    const Change *x = h->change + h->begin[first];
    int64_t less = bytes - h->least[first], held = x->slots * bytes + x->buffers * more;
    int until = h->until[h->view[first]];

    until = until < x[1].item ? until : x[1].item;
    hold(h, (Span){x->item, until}, held - (less > 0 ? x->slots * less : 0));
    hold(h, (Span){until > x->item ? until : x->item, x[1].item}, held);
}

// … and what the view then holds more.
static void hold_view_kept(Holding *h, ValueId v, const Spec *s)
{
    ValueId base = h->b->q->alike.value[h->b->traffic.base[v]];
    const Change *x = h->change + h->begin[base];
    int64_t more = bytes_of(h, v, s) - h->least[base];
    int until = h->until[v] < x[1].item ? h->until[v] : x[1].item;

    if (more > 0)
        hold(h, (Span){x->item, until}, x->slots * more);
}

// Views of what the forward part makes that the backward part reads: as they rest, they are kept
// until then. That is counted of one view of a value that lives once.
static void find_views(Holding *h)
{
    const Graph *g = h->b->g;
    const Lives *l = h->b->lives;
    const ValueId *base = h->b->traffic.base, *first = h->b->q->alike.value;
    int *count = arena_array(h->b->scratch, int, g->n_values);

    for (ValueId v = 1; v < g->n_values; v++)
        count[first[v]]++;
    for (NodeId n = 1; n < g->n_nodes; n++)
        for (int i = 0; i < g->nodes[n].n_in; i++) {
            ValueId v = g->nodes[n].in[i];
            if (v && base[v] != v && g->nodes[n].phase == BACKWARD &&
                l->item[n] >= h->until[first[v]])
                h->until[first[v]] = l->item[n] + 1;
        }
    for (ValueId v = 1; v < g->n_values; v++) {
        ValueId b = first[base[v]];
        const Change *x = h->change + h->begin[b];
        bool is_once = is_stored(h, b) && x[1].first == b && x[2].first != b;
        if (first[v] != v || !h->until[v] || !is_once || count[v] != count[b] ||
            value_count(value_of(g, v)) > value_count(value_of(g, b)) ||
            !value_of(g, b)->producer || producer(g, b)->phase != FORWARD)
            continue;
        if (!h->view[b] || h->until[v] > h->until[h->view[b]])
            h->view[b] = v;
    }
}

static void find_sure(Holding *h)
{
    find_views(h);
    find_readers(h);
}

// A value where it rests, unless its bytes are another's.
static void hold_rest(Holding *h, ValueId v, const Spec *s)
{
    ValueId base = h->b->q->alike.value[h->b->traffic.base[v]];

    if (base != v && h->view[base] == v)
        hold_view_kept(h, v, s);
    if (is_stored(h, v) && h->view[v])
        hold_kept(h, v, bytes_of(h, v, s), REDZONE);
    else if (is_stored(h, v))
        hold_places(h, v, bytes_of(h, v, s), REDZONE);
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
    bool has_copies = b->lives && b->o->copies == COPIES_ALL;

    h.least = arena_array(b->scratch, int64_t, b->g->n_values);
    h.view = arena_array(b->scratch, ValueId, b->g->n_values);
    h.until = arena_array(b->scratch, int, b->g->n_values);
    find_changes(&h);
    if (b->lives && b->o->copies)
        find_least(&h);
    if (b->lives && b->o->copies == COPIES_SURE)
        find_sure(&h);
    int *first_use = p->first_use = arena_array(b->arena, int, p->first[p->n_nodes] + 1);
    for (int i = 0; i < q->n_variables; i++) {
        const Variable *v = &q->variable[i];
        for (int k = 0; k < v->n; k++) {
            *first_use++ = h.n_uses;
            if (v->kind == VARIABLE_REST)
                hold_rest(&h, v->id, &v->spec[k]);
            if (v->kind == VARIABLE_REST && has_copies)
                hold_view(&h, v, &v->spec[k]);
            if (v->kind == VARIABLE_NODE)
                hold_node(&h, v->id, &v->spec[k]);
        }
    }
    *first_use = h.n_uses;
}
