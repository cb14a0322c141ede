// The bytes that the alternatives of a plan's problem hold, item by item of the program. Values
// hold the bytes of their shards while they live. Nodes hold their kernels' workspaces and, where
// copies count, copies in other specs than the storage spec.
#include <stdlib.h>
#include <string.h>

#include "solver/plan/build_problem.h"

// The items i with first <= i < last.
typedef struct Span {
    int first, last;
} Span;

// At an item, the values tied to `first` take n_instances more slots (or fewer, if negative), in
// `buffers` more buffers.
typedef struct Change {
    ValueId first;
    int item;
    int64_t n_instances;
    int buffers;
} Change;

// A node that, at its item, counts the copy that it reads of the values tied to `first`.
typedef struct CountedRead {
    ValueId first;
    int item;
    NodeId node;
    int operand;
} CountedRead;

typedef struct BytesBuilder {
    Builder *b;
    Problem *p;
    int n_live, cap_live;
    Change *change;
    int *begin;               // by first tied value: where its changes begin
    int64_t *smallest_bytes;  // by first tied value: bytes of its smallest shard in a storage spec
    CountedRead *reader;      // sorted by value and item; NULL: none counts
    int n_readers, cap_readers;
    // By first tied value: a view of it that is kept for the backward part, or 0.
    ValueId *view;
    int *until;  // by first tied view: the item before which it is last needed
} BytesBuilder;

static int64_t bytes_of(const BytesBuilder *h, ValueId v, const Spec *s)
{
    return instance_bytes(spec_bytes(h->b->mesh, s, value_of(h->b->g, v)));
}

static void add_live(BytesBuilder *h, Span at, int64_t bytes)
{
    if (at.first < at.last && bytes > 0)
        *arena_push(h->b->arena, h->p->live, h->n_live, h->cap_live) =
            (LiveBytes){at.first, at.last, bytes};
}

// ---- storage ----

static int compare_changes(const void *x, const void *y)
{
    const Change *a = x, *b = y;

    if (a->first != b->first)
        return a->first < b->first ? -1 : 1;
    return (a->item > b->item) - (a->item < b->item);
}

// Sorts the changes, and adds a last one of value 0, where values without changes begin.
static void find_changes(BytesBuilder *h)
{
    const LiveRanges *l = h->b->live_ranges;
    int n = 0;

    h->change = arena_array(h->b->scratch, Change, l ? 2 * l->n + 1 : 1);
    h->begin = arena_array(h->b->scratch, int, h->b->g->n_values);
    for (int i = 0; l && i < l->n; i++) {
        const LiveRange *x = &l->range[i];
        ValueId first = h->b->q->tied.value[x->value];
        h->change[n++] = (Change){first, x->first, x->n_instances, 1};
        h->change[n++] = (Change){first, x->last, -x->n_instances, -1};
    }
    qsort(h->change, (size_t)n, sizeof *h->change, compare_changes);
    for (ValueId v = 0; v < h->b->g->n_values; v++)
        h->begin[v] = n;
    for (int i = n - 1; i >= 0; i--)
        h->begin[h->change[i].first] = i;
}

// Does the value have buffers of its own?
static bool is_stored(const BytesBuilder *h, ValueId first)
{
    return h->change[h->begin[first]].first == first;
}

// The index of the first counted reader of a tied value from an item on.
static int reader_from(const BytesBuilder *h, ValueId first, int item)
{
    int low = 0, high = h->n_readers;

    while (low < high) {
        int mid = low + (high - low) / 2;
        const CountedRead *r = &h->reader[mid];
        if (r->first < first || (r->first == first && r->item < item))
            low = mid + 1;
        else
            high = mid;
    }
    return low;
}

// Adds live bytes over a span: `total`, less `less` at each item whose node counts those bytes
// itself.
static void add_live_between(BytesBuilder *h, ValueId first, Span at, int64_t total, int64_t less)
{
    for (int i = reader_from(h, first, at.first); less > 0 && i < h->n_readers; i++) {
        const CountedRead *r = &h->reader[i];
        if (r->first != first || r->item >= at.last)
            break;
        add_live(h, (Span){at.first, r->item}, total);
        add_live(h, (Span){r->item, r->item + 1}, total - less);
        at.first = r->item + 1;
    }
    add_live(h, at, total);
}

// Adds `bytes` for each slot that the values tied to `first` take, and `more` for each buffer.
static void add_live_slots(BytesBuilder *h, ValueId first, int64_t bytes, int64_t more)
{
    const Change *x = h->change + h->begin[first];
    int64_t n_instances = 0, buffers = 0;

    for (; x->first == first; x++) {
        n_instances += x->n_instances;
        buffers += x->buffers;
        if (x[1].first == first && n_instances > 0)
            add_live_between(h, first, (Span){x->item, x[1].item},
                             n_instances * bytes + buffers * more,
                             bytes - h->smallest_bytes[first]);
    }
}

// ---- while nodes run ----

// The bytes of a copy of a value in spec s, beyond those of its smallest storage shard. If s is the
// storage spec there is no copy. But bytes may depend only on one variable, and this depends on
// two. So this counts too much if the storage shard is larger than the smallest. For counted
// readers the storage shard itself counts only as the smallest at that item: the sum is exact if
// the value is stored in the spec that is read, and else too little.
static int64_t copy_bytes(const BytesBuilder *h, ValueId v, const Spec *s)
{
    const TiedValues *k = &h->b->q->tied;
    int64_t more = bytes_of(h, v, s) - h->smallest_bytes[k->value[v]];

    return is_stored(h, k->value[h->b->traffic.base[v]]) && more > 0 ? more : 0;
}

// The bytes of copies of all operands of a node.
static int64_t node_copy_bytes(const BytesBuilder *h, NodeId n, const Strategy *s)
{
    const PlanProblem *q = h->b->q;
    const Node *x = &h->b->g->nodes[n];
    int64_t bytes = 0;

    for (int i = 0; i < x->n_in + x->n_out; i++) {
        ValueId v = nth_operand(x, i);
        Spec spec = strategy_spec(&q->rule[n], s, i);
        bytes += v ? copy_bytes(h, v, &spec) : 0;
    }
    return bytes;
}

static int64_t counted_copy_bytes(const BytesBuilder *h, NodeId n, const Strategy *s)
{
    const PlanProblem *q = h->b->q;
    const Node *x = &h->b->g->nodes[n];
    int64_t bytes = 0;

    for (int i = 0; i < x->n_in + x->n_out && h->n_readers; i++) {
        ValueId v = nth_operand(x, i), first = q->tied.value[v];
        int k = v ? reader_from(h, first, h->b->live_ranges->item[n]) : h->n_readers;
        const CountedRead *r = k < h->n_readers ? &h->reader[k] : NULL;
        Spec spec = strategy_spec(&q->rule[n], s, i);
        if (r && r->first == first && r->node == n && r->operand == i)
            bytes += copy_bytes(h, v, &spec);
    }
    return bytes;
}

// Adds the bytes that only the node needs while it runs: its workspace and its copies.
static void add_node(BytesBuilder *h, NodeId n, const Strategy *s)
{
    const Builder *b = h->b;
    const Graph *g = b->g;
    int item = b->live_ranges ? b->live_ranges->item[n] : -1;

    if (item < 0)
        return;
    int64_t bytes = shard_workspace(b->o->target, g, &g->nodes[n], &b->q->rule[n], b->mesh, s);
    bytes = bytes ? buffer_bytes(bytes, 1) : 0;
    if (b->o->copies == COPIES_ALL)
        bytes += node_copy_bytes(h, n, s);
    else
        bytes += counted_copy_bytes(h, n, s);
    add_live(h, (Span){item, item + 1}, bytes);
}

static void find_smallest_shards(BytesBuilder *h)
{
    const PlanProblem *q = h->b->q;

    for (int i = 0; i < q->n_variables; i++) {
        const Variable *v = &q->variable[i];
        for (int k = 0; k < v->n && v->kind == VARIABLE_STORAGE; k++) {
            int64_t bytes = bytes_of(h, v->id, &v->spec[k]);
            h->smallest_bytes[v->id] =
                !k || bytes < h->smallest_bytes[v->id] ? bytes : h->smallest_bytes[v->id];
        }
    }
}

// ---- sure copies ----

static int compare_readers(const void *x, const void *y)
{
    const CountedRead *a = x, *b = y;

    if (a->first != b->first)
        return a->first < b->first ? -1 : 1;
    if (a->item != b->item)
        return a->item < b->item ? -1 : 1;
    return a->node != b->node ? (a->node < b->node ? -1 : 1) : a->operand - b->operand;
}

// Lists the reads of products. A product needs its whole operands in memory while it runs, and
// writes over none of them. If several products read a value at one item, the first counts.
static void find_readers(BytesBuilder *h)
{
    const Graph *g = h->b->g;
    const TiedValues *k = &h->b->q->tied;
    int n_left = 0;

    for (NodeId n = 1; n < g->n_nodes; n++) {
        const Node *x = &g->nodes[n];
        for (int i = 0; i < x->n_in + x->n_out && x->op->is_product && k->node[n] == n; i++) {
            ValueId v = nth_operand(x, i), first = k->value[v];
            int item = h->b->live_ranges->item[n];
            if (v && item >= 0 && h->b->traffic.base[v] == v && is_stored(h, first) &&
                !h->view[first])
                *arena_push(h->b->scratch, h->reader, h->n_readers, h->cap_readers) =
                    (CountedRead){first, item, n, i};
        }
    }
    if (h->n_readers)
        qsort(h->reader, (size_t)h->n_readers, sizeof *h->reader, compare_readers);
    for (int i = 0; i < h->n_readers; i++) {
        const CountedRead *r = &h->reader[i], *before = n_left ? &h->reader[n_left - 1] : NULL;
        if (!before || r->first != before->first || r->item != before->item)
            h->reader[n_left++] = *r;
    }
    h->n_readers = n_left;
}

// Adds the storage of a value whose kept view counts the bytes itself: until the view goes, each
// slot counts as the smallest shard.
static void add_viewed_storage(BytesBuilder *h, ValueId first, int64_t bytes, int64_t more)
{
    const Change *x = h->change + h->begin[first];
    int64_t less = bytes - h->smallest_bytes[first],
            total = x->n_instances * bytes + x->buffers * more;
    int until = h->until[h->view[first]];

    until = until < x[1].item ? until : x[1].item;
    add_live(h, (Span){x->item, until}, total - (less > 0 ? x->n_instances * less : 0));
    add_live(h, (Span){until > x->item ? until : x->item, x[1].item}, total);
}

// Adds the bytes of a kept view beyond the smallest shard of its value.
static void add_kept_view(BytesBuilder *h, ValueId v, const Spec *s)
{
    ValueId base = h->b->q->tied.value[h->b->traffic.base[v]];
    const Change *x = h->change + h->begin[base];
    int64_t more = bytes_of(h, v, s) - h->smallest_bytes[base];
    int until = h->until[v] < x[1].item ? h->until[v] : x[1].item;

    if (more > 0)
        add_live(h, (Span){x->item, until}, x->n_instances * more);
}

// Finds the views of forward values that the backward part reads. They are kept until then in their
// storage specs. This counts one view of each value that has one live range.
static void find_views(BytesBuilder *h)
{
    const Graph *g = h->b->g;
    const LiveRanges *l = h->b->live_ranges;
    const ValueId *base = h->b->traffic.base, *first = h->b->q->tied.value;
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

static void find_sure_copies(BytesBuilder *h)
{
    find_views(h);
    find_readers(h);
}

// Adds the storage of a value, unless it is a view of another's bytes.
static void add_storage(BytesBuilder *h, ValueId v, const Spec *s)
{
    ValueId base = h->b->q->tied.value[h->b->traffic.base[v]];

    if (base != v && h->view[base] == v)
        add_kept_view(h, v, s);
    if (is_stored(h, v) && h->view[v])
        add_viewed_storage(h, v, bytes_of(h, v, s), REDZONE);
    else if (is_stored(h, v))
        add_live_slots(h, v, bytes_of(h, v, s), REDZONE);
}

// Adds the copy that a view needs if its storage spec differs from its value's. The copy lives as
// long as the value.
static void add_view_copy(BytesBuilder *h, const Variable *v, const Spec *s)
{
    ValueId base = h->b->traffic.base[v->id];

    if (base != v->id)
        add_live_slots(h, h->b->q->tied.value[base], copy_bytes(h, v->id, s), 0);
}

void plan_bytes(Builder *b)
{
    const PlanProblem *q = b->q;
    Problem *p = &b->q->problem;
    BytesBuilder h = {.b = b, .p = p};
    bool has_copies = b->live_ranges && b->o->copies == COPIES_ALL;

    h.smallest_bytes = arena_array(b->scratch, int64_t, b->g->n_values);
    h.view = arena_array(b->scratch, ValueId, b->g->n_values);
    h.until = arena_array(b->scratch, int, b->g->n_values);
    find_changes(&h);
    if (b->live_ranges && b->o->copies)
        find_smallest_shards(&h);
    if (b->live_ranges && b->o->copies == COPIES_SURE)
        find_sure_copies(&h);
    int *first_live = p->first_live = arena_array(b->arena, int, p->first[p->n_nodes] + 1);
    for (int i = 0; i < q->n_variables; i++) {
        const Variable *v = &q->variable[i];
        for (int k = 0; k < v->n; k++) {
            *first_live++ = h.n_live;
            if (v->kind == VARIABLE_STORAGE)
                add_storage(&h, v->id, &v->spec[k]);
            if (v->kind == VARIABLE_STORAGE && has_copies)
                add_view_copy(&h, v, &v->spec[k]);
            if (v->kind == VARIABLE_NODE)
                add_node(&h, v->id, &v->spec[k]);
        }
    }
    *first_live = h.n_live;
}
