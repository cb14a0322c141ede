// Drops inputs that nothing reads: an export may leave some over, as a mask that it has folded.
#include "ir/internal.h"

// By ValueId: does a node read it, or is it an output?
static bool *read_values(Arena *a, const Graph *g)
{
    bool *is_read = arena_array(a, bool, g->n_values);

    for (NodeId i = 1; i < g->n_nodes; i++)
        for (int k = 0; k < g->nodes[i].n_in; k++)
            is_read[g->nodes[i].in[k]] = true;
    for (int i = 0; i < g->n_outputs; i++)
        is_read[g->outputs[i].value] = true;
    for (int i = 0; i < g->n_carries; i++)
        is_read[g->carries[i].out] = true;
    return is_read;
}

void inputs_drop_unread(Graph *g, bool tells, Diag *d)
{
    Arena *a = arena_new();
    const bool *is_read = read_values(a, g);
    Text names = {0};
    int n = 0;

    for (ValueId v = 1; v < g->n_values; v++) {
        Value *x = value_edit(g, v);
        if (x->kind != VALUE_INPUT || is_read[v])
            continue;
        text_printf(&names, "%s'%s'", n++ ? ", " : "", x->name);
        x->kind = VALUE_CONSTANT;  // which nothing needs
    }
    if (n && tells)
        diag_warn(d, "nothing reads the input%s %s: no data is asked for %s", n > 1 ? "s" : "",
                  names.s, n > 1 ? "them" : "it");
    if (n)
        graph_prune(g);
    text_free(&names);
    arena_free(a);
}
