// grid_sample_input_grad: the gradient of grid_sample's x. Each element of dy is added, weighted,
// to the elements around its position.
#include "ir/operator/grid.h"

enum { SHAPE, SAMPLING };

static const GridPart parts[] = {GRID_Y, GRID_GRID, GRID_X};

static bool input_grad_infer(Graph *g, Node *n, Diag *d)
{
    return infer_grid(g, n, parts, SAMPLING, d);
}

static void input_grad_rule(const Graph *g, const Node *n, Rule *r)
{
    rule_grid(g, n, parts, r);
    r->single = 1 << 0;
}

static void input_grad_eval(const Graph *g, const Node *n, const NodeShard *p, const Tensor *x,
                            Tensor *y)
{
    GridPoint q = grid_points(n, SAMPLING, y, &x[1]);

    for (int64_t i = 0; i < y->dim[0] * q.count; i++) {
        grid_point(&q, n, SAMPLING, y, &x[1], i);
        for (int64_t c = 0; c < q.planes; c++) {
            int64_t plane = i / q.count * q.planes + c;
            double dy = x->f[plane * q.count + i % q.count];
            for (int k = 0; k < q.taps; k++)
                if (q.at[k] >= 0)
                    y->f[plane * q.plane + q.at[k]] += q.weight[k] * dy;
        }
    }
}

static double input_grad_work(const Graph *g, const Node *n)
{
    return work_grid(g, n, parts, SAMPLING);
}

static void input_grad_kernel(const Graph *g, const Node *n, const int64_t (*stride)[MAX_RANK],
                              Kernel *k)
{
    kernel_grid(g, n, parts, SAMPLING, stride, k);
}

const OpDef op_grid_sample_input_grad = {
    .name = "grid_sample_input_grad",
    .n_in = 2,
    .attrs = {{"shape", ATTR_INTS}, GRID_ATTRS},
    .infer = input_grad_infer,
    .rule = input_grad_rule,
    .localise = localise_shape,
    .eval = input_grad_eval,
    .kernel = input_grad_kernel,
    .work = input_grad_work,
    .no_grad = "a gradient itself: only gradients of gradients would need it",
    .no_split = GRID_NO_SPLIT,
};
