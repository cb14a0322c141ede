// Finds the values that go through memory, and the work of a node on a shard.
#include "analyzer/sharding/internal.h"
#include "ir/facts.h"

static bool is_view(const Node *n) { return n->op->view != NULL; }

// Can the node be part of a fused group?
static bool is_fusable(const Node *n) { return n->op->expr || n->op->is_sum; }

static bool is_fusable_with(const Node *x, const Node *y)
{
    return x->phase == y->phase && is_same_block(x->block, y->block);
}

// Does the reader read the value from memory, because the two can't be fused?
static bool is_read_from_memory(const Graph *g, const Node *reader, ValueId made)
{
    return !value_of(g, made)->producer || !is_fusable(reader) ||
           !is_fusable_with(reader, producer(g, made));
}

int64_t *node_times(Arena *a, const Graph *g, int accumulate)
{
    int64_t *times = arena_array(a, int64_t, g->n_nodes);
    const bool *serves = graph_half_copies(a, g, NULL);

    for (NodeId n = 1; n < g->n_nodes; n++)
        times[n] = g->nodes[n].phase == UPDATE || (g->training && serves[n]) ? 1 : accumulate;
    return times;
}

Traffic traffic_find(Arena *a, const Graph *g)
{
    Traffic t = {arena_array(a, bool, g->n_values), arena_array(a, ValueId, g->n_values)};

    for (ValueId v = 1; v < g->n_values; v++) {
        const Node *n = producer(g, v);
        t.base[v] = v;
        t.is_stored[v] = !value_of(g, v)->producer || (!is_view(n) && !is_fusable(n));
    }
    for (NodeId n = 1; n < g->n_nodes; n++)
        if (is_view(&g->nodes[n]))
            t.base[g->nodes[n].out[0]] = t.base[g->nodes[n].in[0]];
    for (NodeId n = 1; n < g->n_nodes; n++)
        for (int i = 0; i < g->nodes[n].n_in; i++) {
            ValueId made = t.base[g->nodes[n].in[i]];
            if (made && !is_view(&g->nodes[n]))
                t.is_stored[made] |= is_read_from_memory(g, &g->nodes[n], made);
        }
    for (int i = 0; i < g->n_outputs; i++)
        t.is_stored[t.base[g->outputs[i].value]] = true;
    for (int i = 0; i < g->n_carries; i++)
        t.is_stored[t.base[g->carries[i].out]] = true;
    return t;
}

// The part of a factor that the largest shard has.
static double part_of(const Rule *r, const Mesh *m, const Strategy *s, int f)
{
    return r->size[f] ? (double)spec_chunk(m, s, f, r->size[f]) / (double)r->size[f] : 1;
}

// Scales the product's size if a shard has `part` of factor f. As in node_work, m and n belong to
// one input only, batch to all operands.
static void scale_product(const Rule *r, int f, double part, Work *w)
{
    bool in_a = operand_has_factor(r, 0, f), in_b = operand_has_factor(r, 1, f),
         in_y = operand_has_factor(r, r->n_in, f);

    if (in_a && in_b)
        *(in_y ? &w->batch : &w->k) *= part;
    else if (in_a)
        w->m *= part;
    else if (in_b && in_y)
        w->n *= part;
    else
        w->k *= part;
}

// The bytes of operand i of a shard. A view counts at most the bytes of the value that it views.
static double operand_bytes(const Graph *g, const Node *n, const Traffic *t, const Rule *r,
                            const Mesh *m, const Strategy *s, int i)
{
    ValueId v = i < n->n_in ? n->in[i] : n->out[i - n->n_in];
    Spec spec = strategy_spec(r, s, i);
    double shard_bytes = (double)spec_bytes(m, &spec, value_of(g, v));
    double whole = (double)value_bytes(value_of(g, v)), accessed = accessed_bytes(g, n, r, i);
    double base = (double)value_bytes(value_of(g, t->base[v]));

    shard_bytes *= whole > 0 ? accessed / whole : 1;
    return shard_bytes < base ? shard_bytes : base;
}

static bool is_read_before(const Node *n, int i)
{
    for (int k = 0; k < i; k++)
        if (n->in[k] == n->in[i])
            return true;
    return false;
}

Work shard_work(const Graph *g, const Node *n, const Work *whole, const Traffic *t, const Rule *r,
                const Mesh *m, const Strategy *s)
{
    Work w = *whole;

    if (is_view(n))
        return (Work){0};
    for (int f = 0; f < r->n_factors; f++) {
        double part = part_of(r, m, s, f);
        w.flops *= part;
        if (w.is_product && part != 1)
            scale_product(r, f, part, &w);
    }
    for (int i = 0; i < n->n_in; i++)
        if (n->in[i] && !is_read_before(n, i) && t->is_stored[t->base[n->in[i]]])
            w.read += operand_bytes(g, n, t, r, m, s, i);
    for (int i = 0; i < n->n_out; i++)
        if (t->is_stored[n->out[i]])
            w.written += operand_bytes(g, n, t, r, m, s, n->n_in + i);
    return w;
}
