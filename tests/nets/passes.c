// Runs the passes over a net's graph, as driver/passes.c does.
#include "lower/recompute/ways.h"
#include "tests/nets/judge.h"

// Keeps only the outputs of the model; the others needn't outlive their last reader.
static void drop_outputs(Graph *g)
{
    int n = 0;

    for (int i = 0; i < g->n_outputs; i++)
        if (g->outputs[i].role != OUTPUT_MODEL)
            g->outputs[n++] = g->outputs[i];
    g->n_outputs = n;
}

// Makes the graph that recomputes as the subject says.
static Graph *run_again(const Graph *g, const Subject *s, Diag *d)
{
    const char **text = arena_array(g->arena, const char *, g->n_classes + 1);
    RecomputeRule rule = s->plain ? RECOMPUTE_NONE : RECOMPUTE_MIN_CUT;
    RecomputePolicy policy;
    int n = 0;

    if (s->again == 1)
        text[n++] = "full";
    for (int c = 1; c < g->n_classes && s->again > 1; c++) {
        int length = g->classes[c].length, layers = s->again - 1;
        text[n++] = arena_string(g->arena, "%s=%d", class_key(g->arena, g, c),
                                 layers < length ? layers : length);
    }
    return recompute_choose(g->arena, g, rule, text, n, nets_target.target, &policy, d)
               ? recompute(g->arena, g, &policy, nets_target.target, d)
               : NULL;
}

bool run_passes(Graph *g, const Subject *s, bool is_split, Diag *d)
{
    OptimizerOptions o = {.text = s->optimizer, .clip_norm = s->clip, .parallel_rows = 64};

    g->diag = d;
    if (!graph_verify(g, d))
        return false;
    if (!g->training) {
        g->n_carries = 0;
        return fold(g, d) && (s->plain || patterns(g, d)) && refine(g, d) && fold(g, d) &&
               blocks(g, d) && !d->errors && graph_verify(g, d);
    }
    if (!fold(g, d) || !loss_add(g, s->loss, d) || !(s->plain || patterns(g, d)) || !refine(g, d) ||
        !fold(g, d) || !blocks(g, d) || !autodiff(g, s->accumulate, d) || !clip_add(g, &o, d) ||
        !optimizer_add(g, &o, d))
        return false;
    drop_outputs(g);
    Graph *x = run_again(g, s, d);
    if (!x)
        return false;
    *g = *x;
    return (s->plain || is_split || scatter_onto(g, d)) && !d->errors && graph_verify(g, d);
}
