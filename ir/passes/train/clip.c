// Adds the norm of all gradients, and clipping by it as torch.nn.utils.clip_grad_norm_ does.
#include "ir/passes/train/training.h"

// Sums x² first along rows, if there are enough of them to share out, so that one fused group makes
// the squares and their sums. How many are enough doesn't depend on the target: the order of a sum
// is the model's.
static ValueId sum_squares(Graph *g, ValueId x)
{
    enum { ENOUGH_ROWS = 64 };
    Value v = *value_of(g, x);
    int64_t axes[MAX_RANK], rows = 1;
    int kept = 0;

    while (kept < v.rank - 1 && rows < ENOUGH_ROWS)
        rows *= v.dim[kept++];
    for (int i = kept; i < v.rank; i++)
        axes[i - kept] = i;
    ValueId squares = make_square(g, x);
    return reduce_all(g, rows >= ENOUGH_ROWS ? make_reduce_sum(g, squares, v.rank - kept, axes)
                                             : squares);
}

// Sums the squares of a block, whose parameters are [first, end) of the list: each iteration's for
// itself, so that iterations may run in any order, then over all iterations.
static ValueId sum_block(Graph *g, const Trained *list, int first, int end)
{
    ValueId *part = arena_array(g->arena, ValueId, end - first);
    int n = 0;

    for (int i = first; i < end; i++) {
        g->block = list[i].block;
        g->source = graph_source(g, "grad_norm", value_of(g, list[i].parameter)->name);
        ValueId squares = sum_squares(g, make_cast(g, list[i].gradient, F32));
        bool is_new = i == first || list[i].block.iter != list[i - 1].block.iter;
        n += is_new;
        part[n - 1] = is_new ? squares : make_add(g, part[n - 1], squares);
    }
    g->block = (Block){0};
    g->source = graph_source(g, "grad_norm", "");
    for (int i = 0; n > 1 && i < n; i++)
        part[i] = make_reshape(g, part[i], 1, (int64_t[]){1});
    return n > 1 ? reduce_all(g, make_concat(g, n, part, 0)) : part[0];
}

bool clip_add(Graph *g, Diag *d)
{
    Trained *list;
    int n = trained_list(g, &list);

    g->diag = d;
    g->phase = UPDATE;
    g->block = (Block){0};
    g->source = graph_source(g, "grad_norm", "");
    if (!n) {
        diag_error(d, "the loss depends on no parameter");
        return false;
    }
    ValueId total = graph_scalar(g, F32, 0);
    for (int i = 0, end; i < n; i = end) {
        for (end = i + 1; list[i].block.cls && end < n; end++)
            if (list[end].block.cls != list[i].block.cls)
                break;
        total = make_add(g, total, sum_block(g, list, i, end));
    }
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
    ValueId norm = output_of_role(g, OUTPUT_GRAD_NORM);

    if (!norm || o->clip_norm <= 0)
        return 0;
    g->source = graph_source(g, "clip_norm", "");
    ValueId most = hyper_value(g, "clip_norm", o->clip_norm);
    ValueId scale = make_div(g, most, make_add(g, norm, graph_scalar(g, F32, 1e-6)));
    return make_min(g, scale, graph_scalar(g, F32, 1));
}
