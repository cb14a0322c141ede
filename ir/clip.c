// The norm of all gradients, and clipping by it as torch.nn.utils.clip_grad_norm_ does.
#include "ir/training.h"

// Row by row first: those sums are made where the squares are.
static ValueId sum_squares(Graph *g, ValueId x)
{
    int rank = x ? value_of(g, x)->rank : 0;
    int64_t axes[MAX_RANK];

    for (int i = 1; i < rank; i++)
        axes[i - 1] = i;
    ValueId rows = make_square(g, x);
    return reduce_all(g, rank > 1 ? make_reduce_sum(g, rows, rank - 1, axes) : rows);
}

// The squares are added in one fixed chain. Where parameters are of a repeated block, the running
// total goes from iteration to iteration, so that the iterations stay alike.
bool clip_add(Graph *g, const OptimizerOptions *o, Diag *d)
{
    Trained *list;
    int n = trained_list(g, &list);

    g->diag = d;
    g->phase = UPDATE;
    g->block = (Block){0};
    g->source = NULL;
    if (!n) {
        diag_error(d, "the loss depends on no parameter");
        return false;
    }
    ValueId total = graph_scalar(g, F32, 0);
    for (int i = 0; i < n; i++) {
        g->block = list[i].block;
        ValueId gradient = make_cast(g, list[i].gradient, F32);
        total = make_add(g, total, sum_squares(g, gradient));
    }
    g->block = (Block){0};
    ValueId norm = make_sqrt(g, total);
    g->phase = FORWARD;
    if (!norm)
        return false;
    graph_output(g, "grad_norm", norm, OUTPUT_GRAD_NORM);
    graph_number_blocks(g);
    return true;
}

ValueId clip_scale(Graph *g, const OptimizerOptions *o)
{
    ValueId norm = 0;

    for (int i = 0; i < g->n_outputs; i++)
        if (g->outputs[i].role == OUTPUT_GRAD_NORM)
            norm = g->outputs[i].value;
    if (!norm || o->clip_norm <= 0)
        return 0;
    ValueId most = hyper_value(g, "clip_norm", o->clip_norm);
    ValueId scale = make_div(g, most, make_add(g, norm, graph_scalar(g, F32, 1e-6)));
    return make_min(g, scale, graph_scalar(g, F32, 1));
}
