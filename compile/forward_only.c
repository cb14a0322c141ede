// Tells what training adds to a graph, and takes it away.
#include "compile/internal.h"

bool has_batch_statistics(const Graph *g)
{
    for (int i = 0; i < g->n_carries; i++)
        if (value_of(g, g->carries[i].in)->kind == VALUE_BUFFER)
            return true;
    return false;
}

bool has_training_mode(const Graph *g)
{
    if (has_batch_statistics(g))
        return true;
    for (NodeId i = 1; i < g->n_nodes; i++)
        for (int k = 0; g->nodes[i].phase == FORWARD && k < g->nodes[i].n_in; k++)
            if (in(g, &g->nodes[i], k)->kind == VALUE_HYPER)  // seed of random numbers
                return true;
    return false;
}

void drop_training_only(Graph *g)
{
    int n = 0;

    for (int i = 0; i < g->n_outputs; i++) {
        OutputRole role = g->outputs[i].role;
        if (role != OUTPUT_GRADIENT && role != OUTPUT_GRAD_NORM && role != OUTPUT_LOSS_FACTOR &&
            role != OUTPUT_LOSS_SCALE)
            g->outputs[n++] = g->outputs[i];
    }
    g->n_outputs = n;
    g->n_carries = 0;
    graph_prune(g);
    graph_number_blocks(g);
}
