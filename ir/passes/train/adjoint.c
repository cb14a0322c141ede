// Adds up gradients so that the iterations of a class stay isomorphic.
//
// The last iteration of a class has no next one that gives it a gradient, and a chain over the
// iterations begins with no sum. Zeros that are made outside of the class replace both.
#include "ir/passes/train/adjoint.h"

#include <stdlib.h>

// The label of a node made for `b`. graph_number_blocks numbers the positions at the end.
static Block label(Block b) { return (Block){b.cls, b.iter, 0}; }

static ValueId sum(Graph *g, ValueId a, ValueId b, Block block)
{
    if (!a || !b)
        return a ? a : b;
    g->block = label(block);
    return make_add(g, a, b);
}

static ValueId filled(Graph *g, Value like, Block block)
{
    g->block = label(block);
    ValueId zero = graph_scalar(g, like.dtype, 0);
    return like.rank ? make_broadcast(g, zero, like.rank, like.dim, NULL) : zero;
}

static ValueId zeros(Graph *g, ValueId v) { return filled(g, *value_of(g, v), (Block){0}); }

// ---- the sum that a gradient goes to ----

typedef enum GradientFlow { LOCAL, CARRIED, SHARED, LEAKED } GradientFlow;  // see Sums

// Does node n, which is in no class, read another iteration's instance of v too?
static bool is_leak(const Adjoint *a, const Node *n, ValueId v)
{
    const Graph *g = a->g;
    Block b = value_block(g, v);

    if (!b.cls || !value_of(g, v)->producer)
        return false;
    const ClassNodes *c = &a->classes[b.cls];
    int other = b.iter + 1 < c->length ? b.iter + 1 : b.iter - 1;
    const Node *instance = &g->nodes[class_instance(a->classes, producer(g, v), other)];
    for (int k = 0; k < n->n_in; k++)
        for (int o = 0; o < instance->n_out; o++)
            if (instance->out[o] == n->in[k] && producer(g, v)->out[o] == v)
                return true;
    return false;
}

static GradientFlow flow_of(const Adjoint *a, const Node *n, int i)
{
    const Graph *g = a->g;
    ValueId v = n->in[i];

    if (value_block(g, v).cls == n->block.cls)
        return LOCAL;
    if (!n->block.cls)
        return is_leak(a, n, v) ? LEAKED : LOCAL;
    NodeId instance = class_instance(a->classes, n, class_other(a->classes, n));
    return g->nodes[instance].in[i] == v ? SHARED : CARRIED;
}

// Is `v` in the last iteration of its class, and do its instances get a gradient from their next
// iteration?
static bool is_last(const Adjoint *a, ValueId v)
{
    Block b = value_block(a->g, v);

    return a->returns[v] && b.iter == a->classes[b.cls].length - 1;
}

// Adds the gradients from other classes to the local sum, outside of all blocks.
static void merge_outside(Adjoint *a, ValueId v)
{
    Sums *s = &a->sums[v];

    s->local = sum(a->g, s->local, s->carried, (Block){0});
    s->local = sum(a->g, s->local, s->chain, (Block){0});
    s->carried = s->chain = 0;
}

static void add_to(Adjoint *a, const Node *n, ValueId v, GradientFlow flow, ValueId dx)
{
    Graph *g = a->g;
    Sums *s = &a->sums[v];

    switch (flow) {
    case LOCAL:
        s->local = sum(g, s->local, dx, n->block);
        return;
    case CARRIED:
        s->carried = sum(g, s->carried, dx, n->block);
        return;
    case SHARED:
        if (!s->chain) {
            s->chain = s->local ? s->local : zeros(g, v);
            s->local = 0;
        }
        s->chain = sum(g, s->chain, dx, n->block);
        return;
    case LEAKED:
        s->leaked = sum(g, s->leaked, dx, value_block(g, v));
    }
}

// ---- slices ----

// Is `dx` a pad that is zero except for a range of one dim? Then sets *p.
static bool read_slice(const Graph *g, ValueId dx, Slice *p)
{
    enum { LOW, HIGH, INNER, FILL };
    const Node *n = producer(g, dx);
    int n_padded = 0;

    if (n->op != &op_pad || n->attr[FILL].f != 0)
        return false;
    for (int i = 0; i < n->attr[LOW].n; i++) {
        if (n->attr[INNER].v[i])
            return false;
        if (n->attr[LOW].v[i] || n->attr[HIGH].v[i]) {
            p->axis = i;
            p->low = n->attr[LOW].v[i];
            n_padded++;
        }
    }
    p->part = n->in[0];
    p->padded = dx;
    return n_padded == 1;
}

static int compare_slices(const void *a, const void *b)
{
    const Slice *p = a, *q = b;

    return p->low < q->low ? -1 : p->low > q->low;
}

// Sorts the slices of a value by their begin. False if they overlap, lie along several dims, or if
// there is only one.
static bool sort_slices(const Adjoint *a, Slice *p, int n)
{
    qsort(p, (size_t)n, sizeof *p, compare_slices);
    for (int i = 0; i + 1 < n; i++)
        if (p[i].axis != p[i + 1].axis ||
            p[i].low + value_of(a->g, p[i].part)->dim[p[i].axis] > p[i + 1].low)
            return false;
    return n > 1;
}

static ValueId join_slices(Adjoint *a, ValueId v, const Slice *p, int n, Block block)
{
    Graph *g = a->g;
    Value gap = *value_of(g, v);
    int axis = p[0].axis, n_parts = 0;
    int64_t at = 0, whole = gap.dim[axis];
    ValueId *part = arena_array(g->arena, ValueId, 2 * n + 1);

    for (int i = 0; i <= n; i++) {
        gap.dim[axis] = (i < n ? p[i].low : whole) - at;
        if (gap.dim[axis])
            part[n_parts++] = filled(g, gap, block);
        if (i == n)
            break;
        part[n_parts++] = p[i].part;
        at = p[i].low + value_of(g, p[i].part)->dim[axis];
    }
    g->block = label(block);
    return make_concat(g, n_parts, part, axis);
}

// Adds the slices of v to its local sum: as one concat if they are disjoint, else padded one by
// one.
static void add_slices(Adjoint *a, ValueId v)
{
    Graph *g = a->g;
    Sums *s = &a->sums[v];
    Block own = value_block(g, v), block = a->slices[s->slice].block;
    int n = 0;

    for (int i = s->slice; i; i = a->slices[i].next)
        n++;
    Slice *p = arena_array(g->arena, Slice, n), *sorted = arena_array(g->arena, Slice, n);
    for (int i = s->slice, k = n - 1; i; i = a->slices[i].next, k--) {
        p[k] = a->slices[i];
        sorted[k] = p[k];
        if (!is_same_block(p[k].block, block))
            block = (Block){0};
    }
    s->slice = 0;
    if (!sort_slices(a, sorted, n)) {
        for (int k = 0; k < n; k++)
            s->local = sum(g, s->local, p[k].padded, p[k].block);
        return;
    }
    ValueId joined = join_slices(a, v, sorted, n, block);
    s->local = sum(g, s->local, joined, block.cls && own.cls == block.cls ? own : block);
}

// Prepares v for gradients of its own class: adds up those from outside, in no block. Without such
// a gradient, the last iteration starts from zeros.
static void enter_class(Adjoint *a, ValueId v)
{
    Sums *s = &a->sums[v];

    merge_outside(a, v);
    if (s->slice && a->slices[s->slice].block.cls != value_block(a->g, v).cls)
        add_slices(a, v);
    if (!s->local && is_last(a, v))
        s->local = zeros(a->g, v);
}

// ---- the interface ----

void adjoint_add(Adjoint *a, const Node *n, int i, ValueId dx, NodeId first)
{
    Graph *g = a->g;
    ValueId v = n->in[i];
    GradientFlow flow = flow_of(a, n, i);
    Block own = value_block(g, v);

    if (own.cls && own.cls == n->block.cls)
        enter_class(a, v);
    Slice slice = {.block = label(n->block), .next = a->sums[v].slice};
    if (flow == LEAKED) {
        if (value_of(g, dx)->producer >= first)
            g->nodes[value_of(g, dx)->producer].block = label(own);
    } else if (value_of(g, dx)->producer >= first && read_slice(g, dx, &slice)) {
        *arena_push(g->arena, a->slices, a->n_slices, a->cap_slices) = slice;
        a->sums[v].slice = a->n_slices - 1;
        return;
    }
    add_to(a, n, v, flow, dx);
}

ValueId adjoint_take(Adjoint *a, ValueId v)
{
    Sums *s = &a->sums[v];

    a->g->source = value_of(a->g, v)->producer ? producer(a->g, v)->source
                                               : graph_source(a->g, value_of(a->g, v)->name, "");
    merge_outside(a, v);
    if (s->slice)
        add_slices(a, v);
    if (!s->local && is_last(a, v))
        s->local = zeros(a->g, v);
    return sum(a->g, s->local, s->leaked, value_block(a->g, v));
}
