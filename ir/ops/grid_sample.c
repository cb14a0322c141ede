// grid_sample: elements of x at positions between its elements, which a grid lists.
#include "ir/operator/grid.h"

static const GridPart parts[] = {GRID_X, GRID_GRID, GRID_Y};

static bool grid_sample_infer(Graph *g, Node *n, Diag *d) { return infer_grid(g, n, parts, 0, d); }

static void grid_sample_rule(const Graph *g, const Node *n, Rule *r)
{
    rule_grid(g, n, parts, r);
    r->single = 1 << 0;
}

static void grid_sample_grad(Graph *g, const Node *n, const ValueId *dy, const bool *want,
                             ValueId *dx)
{
    Sampling s = grid_sampling(n, 0);
    Value x = *in(g, n, 0);  // a copy: the graph's values move while nodes are appended

    if (want[0])
        dx[0] = make_grid_sample_input_grad(g, dy[0], n->in[1], x.rank, x.dim, &s);
    if (want[1])
        dx[1] = make_grid_sample_grid_grad(g, n->in[0], n->in[1], dy[0], &s);
}

static void grid_sample_eval(const Graph *g, const Node *n, const NodeShard *p, const Tensor *x,
                             Tensor *y)
{
    GridPoint q = grid_points(n, 0, &x[0], &x[1]);

    for (int64_t i = 0; i < x->dim[0] * q.count; i++) {
        grid_point(&q, n, 0, &x[0], &x[1], i);
        for (int64_t c = 0; c < q.planes; c++) {
            int64_t plane = i / q.count * q.planes + c;
            double *to = &y->f[plane * q.count + i % q.count];
            for (int k = 0; k < q.taps; k++)
                *to += q.weight[k] * (q.at[k] < 0 ? 0 : x->f[plane * q.plane + q.at[k]]);
        }
    }
}

static double grid_sample_work(const Graph *g, const Node *n) { return work_grid(g, n, parts, 0); }

static void grid_sample_kernel(const Graph *g, const Node *n, const int64_t (*stride)[MAX_RANK],
                               Kernel *k)
{
    kernel_grid(g, n, parts, 0, stride, k);
}

const OpDef op_grid_sample = {
    .name = "grid_sample",
    .n_in = 2,
    .attrs = {GRID_ATTRS},
    .infer = grid_sample_infer,
    .rule = grid_sample_rule,
    .grad = grid_sample_grad,
    .eval = grid_sample_eval,
    .kernel = grid_sample_kernel,
    .work = grid_sample_work,
    .no_split = GRID_NO_SPLIT,
};
