// Finds which values of the forward part are kept for the backward part: the fewest bytes. The
// backward part recomputes the rest from these by cheap elementwise work, in the groups that read
// them. The kept values are a minimum cut between the values that only kernels can make and those
// that the backward part reads (as in AOTAutograd's min-cut partitioner, PyTorch 2022).
//
// Facts are by canonical value: the instance of iteration 0 of the value's base. All iterations of
// a block keep the same values.
#include <stdlib.h>
#include <string.h>

#include "lower/internal.h"
#include "lower/recompute/min_cut.h"

typedef struct Recompute {
    Lowering l;  // the graph as it is: its views, instances and inlined values
    Arena *arena;
    Graph *g;
    int *kernels;  // by NodeId: the number of forward kernels up to it
    // By canonical value.
    bool *is_source;         // can't be recomputed
    bool *is_stored;         // the forward part needs it in memory
    bool *is_chained;        // an elementwise node of the forward part reads it
    bool *is_live_out;       // is kept in any case
    bool *is_read_backward;  // the backward part reads it
    bool *is_kept;
} Recompute;

static ValueId canonical_of(const Recompute *r, ValueId v)
{
    ValueId b = v ? r->l.view[v].base : 0;

    if (!b || !value_of(r->g, b)->producer || producer(r->g, b)->phase != FORWARD ||
        is_inlined(&r->l, b))
        return 0;
    return value_instance(&r->l, b, 0);
}

static bool is_recomputable(const Node *n) { return n->op->expr || n->op->view; }

// Do the node's facts have to be looked at? All iterations are alike, except for the values that
// stand for a neighbour at the ends.
static bool is_representative(const Recompute *r, const Node *n)
{
    Block b = n->block;

    return !b.cls || b.iter < 2 || b.iter == r->g->classes[b.cls].length - 1;
}

// ---- facts ----

static void count_kernels(Recompute *r)
{
    int n = 0;

    for (NodeId i = 1; i < r->g->n_nodes; i++) {
        const Node *x = &r->g->nodes[i];
        n += x->phase == FORWARD && x->op->kernel && !x->op->is_sum && !is_recomputable(x);
        r->kernels[i] = n;
    }
}

// Is input k of node i made in another iteration, or is it the value that stands for that at an end
// of the loop?
static bool is_loop_carried(const Recompute *r, NodeId i, int k)
{
    const Graph *g = r->g;
    const Node *n = &g->nodes[i];
    Block b = n->block, from = value_block(g, r->l.view[n->in[k]].base);

    if (from.cls && !is_same_block(from, b))
        return true;
    if (!b.cls)
        return false;
    const Node *instance = &g->nodes[node_instance(&r->l, i, b.iter ? b.iter - 1 : 1)];
    return value_block(g, r->l.view[instance->in[k]].base).cls != from.cls;
}

static void note_input(Recompute *r, NodeId i, int k)
{
    const Node *n = &r->g->nodes[i];
    ValueId b = r->l.view[n->in[k]].base, h = canonical_of(r, n->in[k]);

    if (!h)
        return;
    r->is_source[h] |= is_loop_carried(r, i, k);
    if (n->phase != FORWARD) {
        r->is_read_backward[h] = true;
        return;
    }
    bool is_direct = n->op->expr && b == n->in[k];
    r->is_chained[h] |= n->op->expr != NULL;
    r->is_stored[h] |=
        (!is_direct && !n->op->is_sum) || r->kernels[i] > r->kernels[value_of(r->g, b)->producer];
}

static void find_facts(Recompute *r)
{
    const Graph *g = r->g;

    count_kernels(r);
    for (NodeId i = 1; i < g->n_nodes; i++) {
        const Node *n = &g->nodes[i];
        if (is_view_node(&r->l, n) || !is_representative(r, n))
            continue;
        for (int k = 0; k < n->n_in; k++)
            if (n->in[k])
                note_input(r, i, k);
    }
    for (int i = 0; i < g->n_outputs; i++)
        r->is_live_out[canonical_of(r, g->outputs[i].value)] = true;
    for (int i = 0; i < g->n_carries; i++)
        r->is_live_out[canonical_of(r, g->carries[i].out)] = true;
    // Nothing is recomputed through a value that the forward part stores in any case: recomputed
    // chains stay as short as the forward part's own groups.
    for (ValueId h = 1; h < g->n_values; h++)
        r->is_source[h] |= r->is_stored[h] && r->is_chained[h];
}

// ---- the cut ----

// Vertices of the cut's graph: a value is an edge from its definition to its use.
enum { SOURCE, SINK };

static int def_vertex(ValueId h) { return 2 * h; }
static int use_vertex(ValueId h) { return 2 * h + 1; }

// The cost of keeping a value: 16 for each byte of all iterations, and 17 if the forward part would
// write it only for this. All costs together are less than CUT_INFINITE.
static int64_t keep_cost(const Recompute *r, ValueId h)
{
    Block b = value_block(r->g, h);
    int64_t most = CUT_INFINITE / 32 / r->g->n_values, bytes = value_bytes(value_of(r->g, h));
    const Node *n = producer(r->g, h);

    if (r->is_live_out[h])
        return 0;
    if (b.cls && !mul_size(bytes, r->g->classes[b.cls].length, &bytes))
        bytes = most;
    bytes = bytes < most ? bytes : most;
    return 16 * bytes + (r->is_stored[h] || !is_recomputable(n) ? 0 : bytes);
}

static void add_node(const Recompute *r, Cut *c, NodeId i)
{
    const Node *n = &r->g->nodes[i];

    for (int o = 0; o < n->n_out; o++) {
        ValueId h = canonical_of(r, n->out[o]);
        bool is_source = !is_recomputable(n) || r->is_source[h];
        if (!h)
            continue;
        if (h == n->out[o])
            cut_edge(c, def_vertex(h), use_vertex(h), keep_cost(r, h));
        if (is_source)
            cut_edge(c, SOURCE, def_vertex(h), CUT_INFINITE);
        for (int k = 0; k < n->n_in && !is_source; k++)
            if (canonical_of(r, n->in[k]))
                cut_edge(c, use_vertex(canonical_of(r, n->in[k])), def_vertex(h), CUT_INFINITE);
    }
}

static void find_kept(Recompute *r)
{
    const Graph *g = r->g;
    Cut c = cut_new(r->arena, 2 * g->n_values);
    bool *is_sink_side = arena_array(r->arena, bool, c.n_nodes);

    for (NodeId i = 1; i < g->n_nodes; i++) {
        const Node *n = &g->nodes[i];
        if (n->phase == FORWARD && !is_view_node(&r->l, n) && is_representative(r, n))
            add_node(r, &c, i);
    }
    for (ValueId h = 1; h < g->n_values; h++)
        if (r->is_read_backward[h])
            cut_edge(&c, use_vertex(h), SINK, CUT_INFINITE);
    cut_solve(&c, SOURCE, SINK, is_sink_side);
    for (ValueId h = 1; h < g->n_values; h++)
        r->is_kept[h] = is_sink_side[use_vertex(h)] && !is_sink_side[def_vertex(h)];
}

// Is `v` there when the backward part reads it? If not, it is recomputed.
static bool is_available(const Recompute *r, ValueId v)
{
    ValueId h = canonical_of(r, v);

    return !h || r->is_kept[h];
}

// ---- positions ----

// Makes all instances of a critical node critical, so that instances keep the same order. False if
// nothing changed.
static bool spread_critical(const Recompute *r, bool *is_critical)
{
    const Graph *g = r->g;
    bool is_new = false;

    for (int k = 0; k < 2; k++)
        for (NodeId i = 1; i < g->n_nodes; i++) {
            NodeId first = node_instance(&r->l, i, 0);
            if (k ? is_critical[first] && !is_critical[i] : is_critical[i] && !is_critical[first]) {
                is_critical[k ? i : first] = true;
                is_new = true;
            }
        }
    return is_new;
}

// By NodeId: does a kernel of the backward part need the node's result? If not, the node may wait.
static bool *find_critical(const Recompute *r)
{
    const Graph *g = r->g;
    bool *is_critical = arena_array(r->arena, bool, g->n_nodes);

    do {
        for (NodeId i = g->n_nodes - 1; i > 0; i--) {
            const Node *n = &g->nodes[i];
            bool needs_inputs =
                n->phase == BACKWARD && (is_critical[i] || (n->op->kernel && !n->op->is_sum));
            for (int k = 0; k < n->n_in && needs_inputs; k++)
                is_critical[value_of(g, n->in[k])->producer] = true;
        }
    } while (spread_critical(r, is_critical));
    return is_critical;
}

typedef struct Deferral {
    const Recompute *r;
    // By base: its last elementwise reader in the backward part and in its own block.
    NodeId *reader;
    // By value to be recomputed: the last reader of the values that it is made from.
    NodeId *latest;
} Deferral;

static void find_readers(Deferral *w)
{
    const Recompute *r = w->r;
    const Graph *g = r->g;

    for (NodeId i = 1; i < g->n_nodes; i++) {
        const Node *n = &g->nodes[i];
        for (int k = 0; k < n->n_in && n->phase == BACKWARD && n->op->expr; k++) {
            ValueId b = r->l.view[n->in[k]].base;
            if (b == n->in[k] && is_same_block(value_block(g, b), n->block))
                w->reader[b] = i;
        }
    }
}

// Values are in the order of their making, so the inputs of `v` are done first. Values and readers
// of other iterations don't count: the ends of a class have none.
static void find_latest(Deferral *w)
{
    const Recompute *r = w->r;
    const Graph *g = r->g;

    for (NodeId i = 1; i < g->n_nodes; i++) {
        const Node *n = &g->nodes[i];
        if (n->phase != FORWARD || !is_recomputable(n) || is_available(r, n->out[0]))
            continue;
        NodeId last = w->reader[n->out[0]];
        for (int k = 0; k < n->n_in; k++) {
            ValueId v = n->in[k];
            NodeId at = is_available(r, v) ? w->reader[v] : w->latest[v];
            bool is_own = is_same_block(value_block(g, v), n->block) &&
                          is_same_block(g->nodes[at].block, n->block);
            if (is_own && value_count(value_of(g, v)) == value_count(out(g, n)) && at > last)
                last = at;
        }
        w->latest[n->out[0]] = last;
    }
}

// The position of each node in the new order. A kernel that reads recomputed values, and for which
// nobody waits (a weight's gradient), moves after the elementwise nodes that read the same: one
// group then does the work of both.
static int64_t *find_positions(const Recompute *r)
{
    const Graph *g = r->g;
    const bool *is_critical = find_critical(r);
    int64_t *position = arena_array(r->arena, int64_t, g->n_nodes);
    Deferral w = {.r = r,
                  .reader = arena_array(r->arena, NodeId, g->n_values),
                  .latest = arena_array(r->arena, NodeId, g->n_values)};

    find_readers(&w);
    find_latest(&w);
    for (NodeId i = 1; i < g->n_nodes; i++) {
        const Node *n = &g->nodes[i];
        position[i] = 2 * (int64_t)i;
        for (int k = 0; k < n->n_in; k++) {
            NodeId from = value_of(g, n->in[k])->producer;
            NodeId last = is_available(r, n->in[k]) ? 0 : w.latest[n->in[k]];
            if (from && position[from] > position[i])
                position[i] = position[from];
            if (n->phase == BACKWARD && n->op->kernel && !is_critical[i] &&
                2 * (int64_t)last > position[i])
                position[i] = 2 * (int64_t)last + 1;
        }
    }
    return position;
}

typedef struct NodePosition {
    int64_t position;
    NodeId node;
} NodePosition;

static int by_position(const void *a, const void *b)
{
    const NodePosition *x = a, *y = b;

    if (x->position != y->position)
        return x->position < y->position ? -1 : 1;
    return x->node - y->node;
}

// ---- the new graph ----

typedef struct Rebuild {
    const Recompute *r;
    Rewrite *to;
    ValueId *recomputed;  // by old ValueId: the recomputed value; 0: none yet
    ValueId *stack;
    int n_stack, cap_stack;
} Rebuild;

static ValueId mapped(const Rebuild *m, ValueId v)
{
    return is_available(m->r, v) ? m->to->map[v] : m->recomputed[v];
}

static void recompute_value(Rebuild *m, ValueId v)
{
    Graph *g = m->r->g;
    Node *n = producer(g, v);
    ValueId *inputs = arena_array(m->r->arena, ValueId, n->n_in);

    for (int k = 0; k < n->n_in; k++)
        inputs[k] = mapped(m, n->in[k]);
    rewrite_at(m->to, value_of(g, v)->producer);
    m->to->to->phase = BACKWARD;
    m->recomputed[v] = graph_node(m->to->to, n->op, n->n_in, inputs, n->attr);
}

// Recomputes all missing values that `v` is made from, then `v`.
static void recompute_needed(Rebuild *m, ValueId v)
{
    const Graph *g = m->r->g;

    *arena_push(m->r->arena, m->stack, m->n_stack, m->cap_stack) = v;
    while (m->n_stack) {
        ValueId x = m->stack[m->n_stack - 1];
        const Node *n = producer(g, x);
        int before = m->n_stack;
        for (int k = 0; k < n->n_in && !m->recomputed[x]; k++)
            if (n->in[k] && !mapped(m, n->in[k]))
                *arena_push(m->r->arena, m->stack, m->n_stack, m->cap_stack) = n->in[k];
        if (m->n_stack > before)
            continue;
        if (!m->recomputed[x])
            recompute_value(m, x);
        m->n_stack--;
    }
}

static void rebuild(const Recompute *r, Diag *d)
{
    Graph *g = r->g;
    const int64_t *position = find_positions(r);
    NodePosition *order = arena_array(r->arena, NodePosition, g->n_nodes);
    Rewrite to = rewrite_begin(g);
    Rebuild m = {.r = r, .to = &to, .recomputed = arena_array(r->arena, ValueId, g->n_values)};

    for (NodeId i = 1; i < g->n_nodes; i++)
        order[i - 1] = (NodePosition){position[i], i};
    qsort(order, (size_t)(g->n_nodes - 1), sizeof *order, by_position);
    for (int i = 0; i < g->n_nodes - 1; i++) {
        const Node *n = &g->nodes[order[i].node];
        ValueId *kept = arena_array(r->arena, ValueId, n->n_in);
        for (int k = 0; k < n->n_in && n->phase != FORWARD; k++)
            if (!is_available(r, n->in[k])) {
                if (!m.recomputed[n->in[k]])
                    recompute_needed(&m, n->in[k]);
                kept[k] = to.map[n->in[k]];
                to.map[n->in[k]] = m.recomputed[n->in[k]];
            }
        rewrite_copy(&to, order[i].node, d);
        for (int k = n->n_in - 1; k >= 0; k--)
            if (kept[k])
                to.map[n->in[k]] = kept[k];
    }
    rewrite_end(&to, d);
    graph_number_blocks(g);
}

bool lower_recompute(Lowering *l)
{
    Graph *g = l->g;
    Recompute r = {.l = *l, .arena = l->p->arena, .g = g};

    find_inlinable(&r.l);
    r.kernels = arena_array(r.arena, int, g->n_nodes);
    r.is_source = arena_array(r.arena, bool, g->n_values);
    r.is_stored = arena_array(r.arena, bool, g->n_values);
    r.is_chained = arena_array(r.arena, bool, g->n_values);
    r.is_live_out = arena_array(r.arena, bool, g->n_values);
    r.is_read_backward = arena_array(r.arena, bool, g->n_values);
    r.is_kept = arena_array(r.arena, bool, g->n_values);
    find_facts(&r);
    find_kept(&r);
    rebuild(&r, l->d);
    return l->d->errors == 0;
}
