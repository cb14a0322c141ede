// gather: the rows of a table at given indices; zero where an index is out of range.
#include <string.h>

#include "ir/operator/atoms.h"
#include "ir/operator/operator.h"

static bool gather_infer(Graph *g, Node *n, Diag *d)
{
    const Value *table = in(g, n, 0), *index = in(g, n, 1);
    int64_t dim[2 * MAX_RANK], axis = n->attr[GATHER_AXIS].i, batch = n->attr[GATHER_BATCH].i;
    int rank = 0;

    if (!infer_index(g, n, table->rank, d))
        return false;
    for (int i = 0; i < axis; i++)
        dim[rank++] = table->dim[i];
    for (int64_t i = batch; i < index->rank; i++)
        dim[rank++] = index->dim[i];
    for (int64_t i = axis + 1; i < table->rank; i++)
        dim[rank++] = table->dim[i];
    return infer_set(g, n, 0, table->dtype, rank, dim, d);
}

// A shard of the indexed dim gives the rows that it has and zeros for the others.
static void gather_rule(const Graph *g, const Node *n, Rule *r)
{
    int rank = in(g, n, 0)->rank, axis = (int)n->attr[GATHER_AXIS].i;
    int batch = (int)n->attr[GATHER_BATCH].i, own = in(g, n, 1)->rank - batch;
    char text[RULE_TEXT];

    snprintf(text, sizeof text, "%.*s,%.*s%.*s->%.*s%.*s%.*s", rank, LETTERS, batch, LETTERS, own,
             &LETTERS[rank], axis, LETTERS, own, &LETTERS[rank], rank - axis - 1,
             &LETTERS[axis + 1]);
    rule_set(g, n, r, text);
    rule_kind(r, LETTERS[axis], FACTOR_MASKED);
    r->single = 1;
}

static void gather_grad(Graph *g, const Node *n, const ValueId *dy, const bool *want, ValueId *dx)
{
    int axis = (int)n->attr[GATHER_AXIS].i, batch = (int)n->attr[GATHER_BATCH].i;
    ValueId index = n->in[1];

    if (n->attr[GATHER_SKIP].i >= 0) {
        ValueId skip = scalar_like(g, index, (double)n->attr[GATHER_SKIP].i);
        ValueId none = scalar_like(g, index, -1);
        index = make_select(g, make_eq(g, index, skip), none, index);
    }
    if (want[0])
        dx[0] = make_scatter_add(g, dy[0], index, axis, batch, in(g, n, 0)->dim[axis]);
}

static bool gather_holds(const Graph *g, const Node *n, int i, int64_t e)
{
    const Value *table = in(g, n, 0);

    for (int k = table->rank - 1; k > n->attr[GATHER_AXIS].i; k--)
        e /= table->dim[k];
    return i == 0 && e % table->dim[n->attr[GATHER_AXIS].i] == n->attr[GATHER_SKIP].i;
}

static void gather_eval(const Graph *g, const Node *n, const NodeShard *p, const Tensor *x,
                        Tensor *y)
{
    const Tensor *table = &x[0], *index = &x[1];
    GatherDims d = gather_dims(n, table->rank, table->dim, index->rank, index->dim);
    int64_t offset = p ? p->offset[n->attr[GATHER_AXIS].i] : 0;

    for (int64_t k = 0; k < tensor_count(y); k++) {
        int64_t col = k % d.inner, i = k / d.inner % d.index, outer = k / d.inner / d.index;
        int64_t row = gather_row(index->i[outer / d.outer * d.index + i], offset, d.n);

        if (row >= 0)
            element_copy(y, k, table, (outer * d.n + row) * d.inner + col);
    }
}

static void gather_kernel(const Graph *g, const Node *n, const int64_t (*stride)[MAX_RANK],
                          Kernel *k)
{
    kernel_gather(g, n, stride, in(g, n, 0), k);
}

static ValueId gather_split(Graph *g, const Node *n, const Split *s)
{
    return make_gather_but(g, s->in[0], s->in[1], s->operand[0].first[n->attr[GATHER_AXIS].i],
                           s->operand[0].first[n->attr[GATHER_BATCH].i], n->attr[GATHER_SKIP].i);
}

const OpDef op_gather = {
    .name = "gather",
    .n_in = 2,
    .attrs = {{"axis", ATTR_INT}, {"batch", ATTR_INT}, {"skip", ATTR_INT, .missing = -1}},
    .infer = gather_infer,
    .rule = gather_rule,
    .split = gather_split,
    .grad = gather_grad,
    .holds = gather_holds,
    .eval = gather_eval,
    .kernel = gather_kernel,
    .is_choice = true,
};
