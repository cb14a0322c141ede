// Finds the floats whose bits decide what a comparison says.
#include "ir/facts.h"
#include "ir/operator/operator.h"

// Nodes that are followed from a comparison: those before them are further than a maximum and what
// is compared with it. It bounds the work.
enum { MAX_COMPARED_NODES = 64 };

// The nodes whose elements a comparison reads as they are, or one by one made into others.
typedef struct Compared {
    const Graph *g;
    NodeId *node;         // a queue
    int n, *reader;       // by ValueId: the comparison's node that reads it
    NodeId *of;           // by ValueId: that comparison
    NodeId *seen;         // by NodeId: the last comparison whose queue it was in
    bool *is_read_twice;  // by ValueId: two nodes of one comparison read the float
} Compared;

static void add_node(Compared *c, NodeId n, NodeId comparison)
{
    if (!n || c->seen[n] == comparison)
        return;
    c->seen[n] = comparison;
    c->node[c->n++] = n;
}

static void read_inputs(Compared *c, NodeId id, NodeId comparison)
{
    const Node *n = &c->g->nodes[id];

    for (int k = 0; k < n->n_in; k++) {
        ValueId v = n->in[k];
        const Value *x = value_of(c->g, v);
        if (!v || !dtype_is_float(x->dtype))
            continue;
        c->is_read_twice[v] |= c->of[v] == comparison && c->reader[v] != id;
        c->of[v] = comparison;
        c->reader[v] = id;
        const OpDef *op = x->producer ? c->g->nodes[x->producer].op : NULL;
        if (op && (op->is_elementwise || op->view || op->subview || op->is_choice))
            add_node(c, x->producer, comparison);
    }
}

bool *graph_compared(Arena *a, const Graph *g)
{
    Compared c = {.g = g,
                  .node = arena_array(a, NodeId, g->n_nodes),
                  .reader = arena_array(a, int, g->n_values),
                  .of = arena_array(a, NodeId, g->n_values),
                  .seen = arena_array(a, NodeId, g->n_nodes),
                  .is_read_twice = arena_array(a, bool, g->n_values)};

    for (NodeId i = 1; i < g->n_nodes; i++) {
        if (!g->nodes[i].op->is_comparison)
            continue;
        c.n = 0;
        add_node(&c, i, i);
        for (int k = 0; k < c.n && k < MAX_COMPARED_NODES; k++)
            read_inputs(&c, c.node[k], i);
    }
    return c.is_read_twice;
}
