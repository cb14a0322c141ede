// scatter_add: the adjoint of gather. Adds rows to a table (zeros, or the input `onto`) at given
// indices; rows whose index is out of range are skipped.
#include "ir/operator/atoms.h"
#include "ir/operator/operator.h"
#include "runtime/rt_scalar.h"

enum { SCATTER_ONTO = 2 };  // index of input onto

// x has the dims of gather's result: the table's, with the index's dims after the batch dims in
// place of the table's indexed dim.
static int table_rank(const Graph *g, const Node *n)
{
    return in(g, n, 0)->rank - (in(g, n, 1)->rank - (int)n->attr[GATHER_BATCH].i) + 1;
}

static bool check_index_dims(const Graph *g, const Node *n, Diag *d)
{
    const Value *x = in(g, n, 0), *index = in(g, n, 1);
    int64_t axis = n->attr[GATHER_AXIS].i, batch = n->attr[GATHER_BATCH].i;

    for (int64_t i = batch; i < index->rank; i++)
        if (index->dim[i] != x->dim[axis + i - batch])
            return node_error(g, n, d, "index dim %d differs: %" PRId64 " and %" PRId64, (int)i,
                              index->dim[i], x->dim[axis + i - batch]);
    return true;
}

static bool scatter_add_infer(Graph *g, Node *n, Diag *d)
{
    const Value *x = in(g, n, 0), *index = in(g, n, 1);
    int64_t axis = n->attr[GATHER_AXIS].i, batch = n->attr[GATHER_BATCH].i, dim[MAX_RANK];

    if (!infer_number(g, n, 0, d))
        return false;
    if (batch < 0 || batch > index->rank || axis < 0 || axis > x->rank - (index->rank - batch))
        return node_error(g, n, d,
                          "axis %" PRId64 ", batch %" PRId64 " and an index of rank %d for %s",
                          axis, batch, index->rank, type_text(g->arena, x));
    int rank = table_rank(g, n);
    if (rank > MAX_RANK)
        return node_error(g, n, d, "the result has more than %d dims", MAX_RANK);
    if (!infer_index(g, n, rank, d) || !check_index_dims(g, n, d))
        return false;
    if (n->attr[SCATTER_N].i < 0)
        return node_error(g, n, d, "n is %" PRId64, n->attr[SCATTER_N].i);
    for (int i = 0; i < rank; i++)
        dim[i] = i < axis    ? x->dim[i]
                 : i == axis ? n->attr[SCATTER_N].i
                             : x->dim[x->rank - rank + i];
    if (!infer_set(g, n, 0, x->dtype, rank, dim, d))
        return false;
    if (!n->in[SCATTER_ONTO] || same_type(in(g, n, SCATTER_ONTO), out(g, n)))
        return true;
    return node_error(g, n, d, "adds %s onto %s", type_text(g->arena, out(g, n)),
                      type_text(g->arena, in(g, n, SCATTER_ONTO)));
}

// A shard of the table takes the rows in its range. A shard of the rows makes a partial table,
// except with `onto`, because then each rank would add `onto` once.
static void scatter_add_rule(const Graph *g, const Node *n, Rule *r)
{
    int rank = in(g, n, 0)->rank, axis = (int)n->attr[GATHER_AXIS].i;
    int batch = (int)n->attr[GATHER_BATCH].i, own = in(g, n, 1)->rank - batch;
    bool is_onto = n->in[SCATTER_ONTO] != 0;
    char table[RULE_TEXT / 2], text[2 * RULE_TEXT];

    snprintf(table, sizeof table, "%.*s%c%.*s", axis, LETTERS, LETTERS[rank], rank - axis - own,
             &LETTERS[axis + own]);
    snprintf(text, sizeof text, "%.*s,%.*s%.*s,%s->%s", rank, LETTERS, batch, LETTERS, own,
             &LETTERS[axis], is_onto ? table : "", table);
    rule_set(g, n, r, text);
    for (int i = axis; is_onto && i < axis + own; i++)
        rule_kind(r, LETTERS[i], FACTOR_BLOCKED);
    r->single = is_onto ? 0 : 1;
    r->joint = is_onto ? 1 | 1 << SCATTER_ONTO : 0;
}

static void scatter_add_localise(const Node *n, const Rule *r, const int64_t *size, Arena *a,
                                 Attr *attr)
{
    attr[SCATTER_N].i = size[(int)r->dim[3][n->attr[GATHER_AXIS].i]];
}

static void scatter_add_grad(Graph *g, const Node *n, const ValueId *dy, const bool *want,
                             ValueId *dx)
{
    if (want[0])
        dx[0] = make_gather(g, dy[0], n->in[1], (int)n->attr[GATHER_AXIS].i,
                            (int)n->attr[GATHER_BATCH].i);
    if (want[SCATTER_ONTO])
        dx[SCATTER_ONTO] = dy[0];
}

// The rule's last factor is the table's rows.
static void scatter_add_eval(const Graph *g, const Node *n, const Place *p, const Tensor *x,
                             Tensor *y)
{
    const Tensor *rows = &x[0], *index = &x[1];
    GatherDims d = gather_dims(n, y->rank, y->dim, index->rank, index->dim);
    int64_t offset = p ? p->offset[rows->rank] : 0;

    for (int64_t k = 0; n->in[SCATTER_ONTO] && k < tensor_count(y); k++)
        element_copy(y, k, &x[SCATTER_ONTO], k);
    for (int64_t k = 0; k < tensor_count(rows); k++) {
        int64_t col = k % d.inner, i = k / d.inner % d.index, outer = k / d.inner / d.index;
        int64_t row = index->i[outer / d.outer * d.index + i] - offset;
        int64_t to = (outer * d.n + row) * d.inner + col;

        if (row < 0 || row >= d.n)
            continue;
        if (y->f)
            y->f[to] += rows->f[k];
        else
            y->i[to] = rt_add_int(y->i[to], rows->i[k]);
    }
}

static void scatter_add_kernel(const Graph *g, const Node *n, const int64_t (*stride)[MAX_RANK],
                               Kernel *k)
{
    k->over = n->in[SCATTER_ONTO] ? 1 + SCATTER_ONTO : 0;
    kernel_gather(g, n, stride, out(g, n), k);
}

// Keeps the indexed dim whole.
static void scatter_add_relate(const Graph *g, const Node *n, Relation *r)
{
    if (n->in[SCATTER_ONTO])
        relate_whole(r, SCATTER_ONTO, (int)n->attr[GATHER_AXIS].i);
    relate_whole(r, 3, (int)n->attr[GATHER_AXIS].i);
}

static ValueId scatter_add_split(Graph *g, const Node *n, const Split *s)
{
    return make_scatter_onto(g, s->in[0], s->in[1], s->in[SCATTER_ONTO],
                             s->operand[3].first[n->attr[GATHER_AXIS].i],
                             s->operand[1].first[n->attr[GATHER_BATCH].i], n->attr[SCATTER_N].i);
}

const OpDef op_scatter_add = {
    .name = "scatter_add",
    .n_in = 3,
    .n_optional = 1,
    .attrs = {{"axis", ATTR_INT}, {"batch", ATTR_INT}, {"n", ATTR_INT}},
    .infer = scatter_add_infer,
    .rule = scatter_add_rule,
    .relate = scatter_add_relate,
    .split = scatter_add_split,
    .no_split = "the table to add onto would be added once per rank",
    .grad = scatter_add_grad,
    .localise = scatter_add_localise,
    .eval = scatter_add_eval,
    .kernel = scatter_add_kernel,
};
