// Makes again in the backward part what the forward part doesn't keep: elementwise work, in the
// groups that read it, and kernels, as nodes before their first reader.
#include <stdlib.h>
#include <string.h>

#include "lower/recompute/recompute.h"

// Is `v` there when the backward part reads it? If not, it is recomputed.
static bool is_available(const Recompute *r, ValueId v)
{
    ValueId h = canonical_of(r, v);

    return !h || r->is_kept[h];
}

// Does elementwise work make `v` again?
static bool is_made_elementwise(const Recompute *r, ValueId v)
{
    return !is_available(r, v) && is_elementwise_work(producer(r->g, v));
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
        if (n->phase != FORWARD || !is_made_elementwise(r, n->out[0]))
            continue;
        NodeId last = w->reader[n->out[0]];
        for (int k = 0; k < n->n_in; k++) {
            ValueId v = n->in[k];
            NodeId at = is_made_elementwise(r, v) ? w->latest[v] : w->reader[v];
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
            NodeId last = is_made_elementwise(r, n->in[k]) ? w.latest[n->in[k]] : 0;
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
    const Node *n = producer(g, v);
    ValueId *inputs = arena_array(m->r->arena, ValueId, n->n_in);

    for (int k = 0; k < n->n_in; k++)
        inputs[k] = mapped(m, n->in[k]);
    rewrite_at(m->to, value_of(g, v)->producer);
    m->to->to->phase = BACKWARD;
    ValueId first = graph_node(m->to->to, n->op, n->n_in, inputs, n->attr);
    for (int i = 0; i < n->n_out; i++)
        m->recomputed[n->out[i]] = graph_output_of(m->to->to, first, i);
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

bool recompute_rebuild(Recompute *r, Diag *d)
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
    return d->errors == 0;
}
