// Tells which nodes share no group where stages run forward again: work of the forward part, that
// of the backward part, and forward work that only changes states of the model, such as running
// statistics, which doesn't run again.
#include "lower/internal.h"

void find_once(Lowering *l)
{
    const Graph *g = l->g;

    if (!l->o->chain)
        return;
    l->is_once = arena_array(l->p->arena, bool, g->n_nodes);
    bool *is_read = arena_array(l->p->arena, bool, g->n_values);  // by other work, or the trainer
    for (int i = 0; i < g->n_outputs; i++)
        is_read[g->outputs[i].value] = true;
    for (NodeId i = g->n_nodes - 1; i > 0; i--) {
        const Node *n = &g->nodes[i];
        l->is_once[i] = n->phase == FORWARD;
        for (int k = 0; k < n->n_out; k++)
            l->is_once[i] &= !is_read[n->out[k]];
        for (int k = 0; k < n->n_in; k++)
            is_read[n->in[k]] |= !l->is_once[i];
    }
}

bool must_not_join(const Lowering *l, NodeId a, NodeId b)
{
    bool is_forward = l->g->nodes[a].phase == FORWARD;

    return l->is_once &&
           (l->is_once[a] != l->is_once[b] || is_forward != (l->g->nodes[b].phase == FORWARD));
}
