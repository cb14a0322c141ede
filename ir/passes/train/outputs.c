// Drops the model's own outputs from the graph of a training step, with all that only they need.
#include "ir/classes.h"

// Are the same nodes of iterations `iter` and `iter` + 1 needed?
static bool needed_alike(const Graph *g, const bool *needed, const ClassNodes *c, int iter)
{
    for (int pos = 0; pos < c->n_pos; pos++) {
        const Node *x = &g->nodes[c->node[(int64_t)iter * c->n_pos + pos]];
        const Node *y = &g->nodes[c->node[(int64_t)(iter + 1) * c->n_pos + pos]];
        if (needed[x->out[0]] != needed[y->out[0]])
            return false;
    }
    return true;
}

// Splits classes whose iterations lose different nodes: the last layer makes a value that only the
// next one would read.
static void split_classes(Graph *g)
{
    const ClassNodes *classes = class_nodes(g->arena, g);
    const bool *needed = graph_needed(g->arena, g);
    int n_classes = g->n_classes;

    for (int c = 1; c < n_classes; c++)
        for (int iter = classes[c].length - 2; iter >= 0; iter--)
            if (!needed_alike(g, needed, &classes[c], iter))
                class_split(g, c, iter + 1);
    class_compact(g);
}

// Drops the classes of which no node is left. Their parameters stay.
static void drop_empty_classes(Graph *g)
{
    bool *has_nodes = arena_array(g->arena, bool, g->n_classes + 1);

    for (NodeId i = 1; i < g->n_nodes; i++)
        has_nodes[g->nodes[i].block.cls] = true;
    for (int c = 1; c < g->n_classes; c++)
        if (!has_nodes[c])
            class_drop(g, c);
    class_compact(g);
}

void outputs_drop(Graph *g)
{
    int n = 0;

    for (int i = 0; i < g->n_outputs; i++)
        if (g->outputs[i].role != OUTPUT_MODEL)
            g->outputs[n++] = g->outputs[i];
    g->n_outputs = n;
    split_classes(g);
    graph_prune(g);
    drop_empty_classes(g);
    graph_number_blocks(g);
}
