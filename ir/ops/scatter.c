// scatter: puts rows into a table at given indices; rows whose index is out of range are skipped.
// With reduction "add", the adjoint of gather, rows are added to zeros or to the input `onto`; with
// "mul", "max" and "min" they are combined with `onto`. With "last" a table's row becomes the last
// row that is put there.
#include <string.h>

#include "ir/operator/atoms.h"
#include "ir/operator/operator.h"
#include "runtime/rt_scalar.h"

// x has the dims of gather's result: the table's, but with the index's dims after the batch dims
// instead of the table's indexed dim.
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

static bool has_reduction(const Node *n, const char *reduction)
{
    return !strcmp(n->attr[SCATTER_REDUCTION].s, reduction);
}

static bool check_reduction(const Graph *g, const Node *n, Diag *d)
{
    static const char *const all[] = {"add", "last", "mul", "max", "min"};
    const char *reduction = n->attr[SCATTER_REDUCTION].s ? n->attr[SCATTER_REDUCTION].s : "";
    int i = 0;

    while (i < COUNT(all) && strcmp(reduction, all[i]))
        i++;
    if (i == COUNT(all))
        return node_error(g, n, d, "reduction is none of add, last, mul, max and min");
    if (i > 0 && !n->in[SCATTER_ONTO])
        return node_error(g, n, d, "reduction %s needs a table to put rows into", all[i]);
    return has_reduction(n, "last") || infer_number(g, n, 0, d);
}

static bool scatter_infer(Graph *g, Node *n, Diag *d)
{
    const Value *x = in(g, n, 0), *index = in(g, n, 1);
    int64_t axis = n->attr[GATHER_AXIS].i, batch = n->attr[GATHER_BATCH].i, dim[MAX_RANK];

    if (!check_reduction(g, n, d))
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
    return node_error(g, n, d, "puts %s into %s", type_text(g->arena, out(g, n)),
                      type_text(g->arena, in(g, n, SCATTER_ONTO)));
}

// A shard of the rows leaves a part of a sum, or an extreme one. Other reductions need all rows:
// each rank would combine `onto` once, and the last row is one of all.
static FactorKind kind_of_rows(const Node *n)
{
    if (has_reduction(n, "add") && !n->in[SCATTER_ONTO])
        return FACTOR_SUM;
    return has_reduction(n, "max")   ? FACTOR_MAX
           : has_reduction(n, "min") ? FACTOR_MIN
                                     : FACTOR_BLOCKED;
}

// A shard of the table takes the rows in its range.
static void scatter_rule(const Graph *g, const Node *n, Rule *r)
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
    for (int i = axis; i < axis + own; i++)
        rule_kind(r, LETTERS[i], kind_of_rows(n));
    if (has_reduction(n, "add") || has_reduction(n, "last")) {
        r->single = is_onto ? 0 : 1;
        r->joint = is_onto ? 1 | 1 << SCATTER_ONTO : 0;
    }
}

static void scatter_localise(Arena *a, const Node *n, const Rule *r, const int64_t *size,
                             Attr *attr)
{
    attr[SCATTER_N].i = size[(int)r->dim[3][n->attr[GATHER_AXIS].i]];
}

static void scatter_grad(Graph *g, const Node *n, const ValueId *dy, const bool *want, ValueId *dx)
{
    if (!has_reduction(n, "add")) {
        grad_scatter(g, n, dy[0], want, dx);
        return;
    }
    if (want[0])
        dx[0] = make_gather(g, dy[0], n->in[1], (int)n->attr[GATHER_AXIS].i,
                            (int)n->attr[GATHER_BATCH].i);
    if (want[SCATTER_ONTO])
        dx[SCATTER_ONTO] = dy[0];
}

static double last(double a, double b) { return b; }
static int64_t last_int(int64_t a, int64_t b) { return b; }
static double add(double a, double b) { return a + b; }
static double multiply(double a, double b) { return a * b; }

// Combines a table's element and a row's, in this order.
static Fold fold_of(const Node *n)
{
    if (has_reduction(n, "last"))
        return (Fold){.join = last, .join_int = last_int};
    if (has_reduction(n, "mul"))
        return (Fold){.join = multiply, .join_int = rt_mul_int};
    if (has_reduction(n, "max"))
        return (Fold){.join = rt_max, .join_int = rt_max_int};
    if (has_reduction(n, "min"))
        return (Fold){.join = rt_min, .join_int = rt_min_int};
    return (Fold){.join = add, .join_int = rt_add_int};
}

// The rule's last factor is the table's rows.
static void scatter_eval(const Graph *g, const Node *n, const NodeShard *p, const Tensor *x,
                         Tensor *y)
{
    const Tensor *rows = &x[0], *index = &x[1];
    GatherDims d = gather_dims(n, y->rank, y->dim, index->rank, index->dim);
    int64_t offset = p ? p->offset[rows->rank] : 0;
    Fold fold = fold_of(n);

    for (int64_t k = 0; n->in[SCATTER_ONTO] && k < tensor_count(y); k++)
        element_copy(y, k, &x[SCATTER_ONTO], k);
    for (int64_t k = 0; k < tensor_count(rows); k++) {
        int64_t col = k % d.inner, i = k / d.inner % d.index, outer = k / d.inner / d.index;
        int64_t row = gather_row(index->i[outer / d.outer * d.index + i], offset, d.n);
        int64_t to = (outer * d.n + row) * d.inner + col;

        if (row < 0)
            continue;
        if (y->f)
            y->f[to] = fold.join(y->f[to], rows->f[k]);
        else
            y->i[to] = fold.join_int(y->i[to], rows->i[k]);
    }
}

static void scatter_kernel(const Graph *g, const Node *n, const int64_t (*stride)[MAX_RANK],
                           Kernel *k)
{
    k->over = n->in[SCATTER_ONTO] ? 1 + SCATTER_ONTO : 0;
    kernel_gather(g, n, stride, out(g, n), k);
    k->params.gather.op = has_reduction(n, "add")    ? RT_SUM
                          : has_reduction(n, "max")  ? RT_MAX
                          : has_reduction(n, "min")  ? RT_MIN
                          : has_reduction(n, "last") ? RT_LAST
                                                     : RT_MUL;
}

// Keeps the indexed dim whole.
static void scatter_relate(const Graph *g, const Node *n, Relation *r)
{
    if (n->in[SCATTER_ONTO])
        relate_whole(r, SCATTER_ONTO, (int)n->attr[GATHER_AXIS].i);
    relate_whole(r, 3, (int)n->attr[GATHER_AXIS].i);
}

static ValueId scatter_split(Graph *g, const Node *n, const Split *s)
{
    return make_scatter(g, s->in[0], s->in[1], s->in[SCATTER_ONTO], n->attr[SCATTER_REDUCTION].s,
                        s->operand[3].first[n->attr[GATHER_AXIS].i],
                        s->operand[1].first[n->attr[GATHER_BATCH].i], n->attr[SCATTER_N].i);
}

const OpDef op_scatter = {
    .name = "scatter",
    .n_in = 3,
    .n_optional = 1,
    .attrs = {{"axis", ATTR_INT}, {"batch", ATTR_INT}, {"n", ATTR_INT}, {"reduction", ATTR_TEXT}},
    .infer = scatter_infer,
    .rule = scatter_rule,
    .relate = scatter_relate,
    .split = scatter_split,
    .no_split = "each rank would put its rows into a table of its own",
    .grad = scatter_grad,
    .localise = scatter_localise,
    .eval = scatter_eval,
    .kernel = scatter_kernel,
};
