// Finds which values of the forward part are kept for the backward part: the fewest bytes. The
// backward part makes the rest again from these. The kept values are a minimum cut between the
// values that can't be made again and those that the backward part reads (as in AOTAutograd's
// min-cut partitioner, PyTorch 2022). A kernel that may run again is a vertex: its price is the
// capacity from the source to it, paid once for all its outputs, and its inputs are implied.
#include "base/search.h"
#include "lower/recompute/min_cut.h"
#include "lower/recompute/recompute.h"

// Vertices of the cut's graph: a value is an edge from its definition to its use.
enum { SOURCE, SINK };

static int def_vertex(ValueId h) { return 2 * h; }
static int use_vertex(ValueId h) { return 2 * h + 1; }
static int node_vertex(const Recompute *r, NodeId i) { return 2 * r->g->n_values + i; }

// All costs together are less than CUT_INFINITE.
int64_t keep_cost(const Recompute *r, ValueId h)
{
    Block b = value_block(r->g, h);
    int64_t most = CUT_INFINITE / 32 / r->g->n_values, bytes = value_bytes(value_of(r->g, h));
    const Node *n = producer(r->g, h);

    if (r->is_live_out[h])
        return 0;
    if (b.cls && !mul_size(bytes, r->g->classes[b.cls].length, &bytes))
        bytes = most;
    bytes = bytes < most ? bytes : most;
    return (r->is_stored[h] || !is_elementwise_work(n) ? KEEP_COST : KEEP_COST + 1) * bytes;
}

// Joins the values or the node that precede vertex `to` to it.
static void add_inputs(const Recompute *r, Cut *c, const Node *n, int to)
{
    for (int k = 0; k < n->n_in; k++)
        if (canonical_of(r, n->in[k]))
            cut_edge(c, use_vertex(canonical_of(r, n->in[k])), to, CUT_INFINITE);
}

static void add_output(const Recompute *r, Cut *c, const Node *n, ValueId v, NodeId kernel)
{
    ValueId h = canonical_of(r, v);
    bool is_source = (!kernel && !is_elementwise_work(n)) || r->is_source[h];

    if (!h)
        return;
    if (h == v)
        cut_edge(c, def_vertex(h), use_vertex(h), keep_cost(r, h));
    if (is_source)
        cut_edge(c, SOURCE, def_vertex(h), CUT_INFINITE);
    else if (kernel)
        cut_edge(c, node_vertex(r, kernel), def_vertex(h), CUT_INFINITE);
    else
        add_inputs(r, c, n, def_vertex(h));
}

// `price` of the node: negative if it can't run again.
static void add_node(const Recompute *r, Cut *c, NodeId i, int64_t price)
{
    const Node *n = &r->g->nodes[i];
    NodeId kernel = price < 0 ? 0 : node_instance(&r->l, i, 0);

    if (kernel == i)
        cut_edge(c, SOURCE, node_vertex(r, i), price);
    if (kernel)
        add_inputs(r, c, n, node_vertex(r, kernel));
    for (int o = 0; o < n->n_out; o++)
        add_output(r, c, n, n->out[o], kernel);
}

void find_kept_values(Recompute *r, const int64_t *price, bool *is_again)
{
    const Graph *g = r->g;
    Cut c = cut_new(r->arena, 2 * g->n_values + g->n_nodes);
    bool *is_sink_side = arena_array(r->arena, bool, c.n_nodes);

    for (NodeId i = 1; i < g->n_nodes; i++) {
        const Node *n = &g->nodes[i];
        if (n->phase == FORWARD && !is_view_node(&r->l, n) && is_representative(r, n))
            add_node(r, &c, i, price[node_instance(&r->l, i, 0)]);
    }
    for (ValueId h = 1; h < g->n_values; h++)
        if (r->is_read_backward[h])
            cut_edge(&c, use_vertex(h), SINK, CUT_INFINITE);
    cut_solve(&c, SOURCE, SINK, is_sink_side);
    for (ValueId h = 1; h < g->n_values; h++)
        r->is_kept[h] = is_sink_side[use_vertex(h)] && !is_sink_side[def_vertex(h)];
    for (NodeId i = 1; i < g->n_nodes; i++)
        is_again[i] = is_sink_side[node_vertex(r, i)];
}
