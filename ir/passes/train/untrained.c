// Finds parameters whose gradient is zero by construction, as nothing reaches them but through
// round, floor, sign, comparisons, indices or stops. Each is told with the node that stops it.
#include "ir/passes/train/untrained.h"

#include "ir/internal.h"

enum { MAX_WARNINGS = 8, MAX_NAMES = 4 };  // of the warnings, and of the parameters in each

// Does node n hand on a gradient to its input k, once its outputs have one?
static bool hands_on(const Node *n, int k, const bool *needs)
{
    bool any = false;

    for (int i = 0; i < n->n_out; i++)
        any |= needs[n->out[i]];
    return any && !(n->op->no_grad_in >> k & 1);
}

// By ValueId: the last node on a path from the value to the loss that passes no gradient on; 0:
// there is none, or the loss doesn't depend on the value.
static NodeId *find_stops(const Graph *g, const bool *needs, int n_values, ValueId loss)
{
    NodeId *stop = arena_array(g->arena, NodeId, n_values);
    bool *reached = arena_array(g->arena, bool, n_values);

    reached[loss] = true;
    for (NodeId i = g->n_nodes - 1; i > 0; i--) {
        const Node *n = &g->nodes[i];
        NodeId later = 0;
        bool any = false;
        if (n->out[0] >= n_values)
            continue;
        for (int k = 0; k < n->n_out; k++) {
            any |= reached[n->out[k]];
            later = later ? later : stop[n->out[k]];
        }
        for (int k = 0; k < n->n_in && any; k++) {
            ValueId v = n->in[k];
            reached[v] = true;
            if (v && needs[v] && !stop[v])
                stop[v] = hands_on(n, k, needs) ? later : i;
        }
    }
    return stop;
}

static void warn(const Graph *g, NodeId at, const ValueId *parameter, int n, Diag *d)
{
    const Node *node = &g->nodes[at];
    Text names = {0};

    for (int i = 0; i < n && i < MAX_NAMES; i++)
        text_printf(&names, "%s'%.200s'", i ? ", " : "", value_of(g, parameter[i])->name);
    if (n > MAX_NAMES)
        text_printf(&names, " and %d more", n - MAX_NAMES);
    diag_warn(d,
              "node '%.200s' (%s) stops the gradient of parameters that the loss depends on by no "
              "other path, so they are not trained (--freeze says so): %s",
              node->source && *node->source->name ? node->source->name
                                                  : value_label(g->arena, g, node->out[0]),
              node->op->name, names.s);
    text_free(&names);
}

void warn_untrained(const Graph *g, const bool *needs, int n_values, ValueId loss, Diag *d)
{
    NodeId *stop = find_stops(g, needs, n_values, loss);
    ValueId *list = arena_array(g->arena, ValueId, n_values);
    Map trained = {.arena = g->arena};
    int n_nodes = 0, left = 0;

    for (int i = 0; i < g->n_outputs; i++)
        if (g->outputs[i].role == OUTPUT_GRADIENT)
            map_set(&trained, g->outputs[i].name, 1);
    for (ValueId v = 1; v < n_values; v++)
        if (value_of(g, v)->kind != VALUE_PARAMETER || map_get(&trained, value_of(g, v)->name))
            stop[v] = 0;
    for (ValueId v = 1; v < n_values; v++) {
        NodeId at = stop[v];
        int n = 0;
        for (ValueId u = v; u < n_values && at; u++)
            if (stop[u] == at) {
                list[n++] = u;
                stop[u] = 0;
            }
        if (n && n_nodes++ < MAX_WARNINGS)
            warn(g, at, list, n, d);
        else
            left += n;
    }
    if (left)
        diag_warn(d, "%d more parameters are not trained for such reasons", left);
}
