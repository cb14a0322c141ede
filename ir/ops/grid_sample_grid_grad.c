// grid_sample_grid_grad: the gradient of grid_sample's grid, from x, the grid and dy.
#include "ir/operator/grid.h"

enum { X, GRID, DY };

static const GridPart parts[] = {GRID_X, GRID_GRID, GRID_Y, GRID_GRID};

static bool grid_grad_infer(Graph *g, Node *n, Diag *d) { return infer_grid(g, n, parts, 0, d); }

static void grid_grad_rule(const Graph *g, const Node *n, Rule *r)
{
    rule_grid(g, n, parts, r);
    r->single = 1 << X | 1 << DY;
}

static void grid_grad_eval(const Graph *g, const Node *n, const NodeShard *p, const Tensor *x,
                           Tensor *y)
{
    GridPoint q = grid_points(n, 0, &x[X], &x[GRID]);

    for (int64_t i = 0; i < x->dim[0] * q.count; i++) {
        grid_point(&q, n, 0, &x[X], &x[GRID], i);
        for (int64_t c = 0; c < q.planes; c++) {
            int64_t plane = i / q.count * q.planes + c;
            double dy = x[DY].f[plane * q.count + i % q.count];
            for (int k = 0; k < q.taps; k++)
                for (int d = 0; q.at[k] >= 0 && d < q.spatial; d++)
                    y->f[i * q.spatial + d] +=
                        q.slope[d][k] * x[X].f[plane * q.plane + q.at[k]] * dy;
        }
    }
}

static double grid_grad_work(const Graph *g, const Node *n)
{
    return work_grid(g, n, parts, 0) * (in(g, n, X)->rank - 2);
}

static void grid_grad_kernel(const Graph *g, const Node *n, const int64_t (*stride)[MAX_RANK],
                             Kernel *k)
{
    kernel_grid(g, n, parts, 0, stride, k);
}

const OpDef op_grid_sample_grid_grad = {
    .name = "grid_sample_grid_grad",
    .n_in = 3,
    .attrs = {GRID_ATTRS},
    .infer = grid_grad_infer,
    .rule = grid_grad_rule,
    .eval = grid_grad_eval,
    .kernel = grid_grad_kernel,
    .work = grid_grad_work,
    .no_grad = "a gradient itself: only gradients of gradients would need it",
    .no_split = GRID_NO_SPLIT,
};
