// Reductions and other operators along dims share this code: checks, rules, evaluation, kernel
// calls.
#include "ir/operator/operator.h"

static bool is_reduced(const Node *n, int dim)
{
    const Attr *axes = &n->attr[REDUCE_AXES];

    for (int i = 0; i < axes->n; i++)
        if (axes->v[i] == dim)
            return true;
    return false;
}

bool infer_reduce(Graph *g, Node *n, Diag *d)
{
    const Value *x = in(g, n, 0);
    int64_t dim[MAX_RANK];
    int rank = 0;

    if (!infer_ascending(g, n, REDUCE_AXES, x->rank, d))
        return false;
    for (int i = 0; i < x->rank; i++)
        if (!is_reduced(n, i))
            dim[rank++] = x->dim[i];
    return infer_set(g, n, 0, x->dtype, rank, dim, d);
}

void rule_reduce(const Graph *g, const Node *n, Rule *r, FactorKind kind)
{
    int rank = in(g, n, 0)->rank, kept = 0;
    char y[MAX_RANK + 1] = "", text[RULE_TEXT];

    for (int i = 0; i < rank; i++)
        if (!is_reduced(n, i))
            y[kept++] = LETTERS[i];
    snprintf(text, sizeof text, "%.*s->%s", rank, LETTERS, y);
    rule_set(g, n, r, text);
    for (int i = 0; i < rank; i++)
        if (is_reduced(n, i))
            rule_kind(r, LETTERS[i], kind);
}

void eval_reduce(const Node *n, const Fold *fold, const Tensor *x, Tensor *y)
{
    int64_t index[MAX_RANK] = {0};

    for (int64_t k = 0; k < tensor_count(y); k++) {
        if (y->f)
            y->f[k] = fold->first;
        else
            y->i[k] = fold->first_int;
    }
    for (int64_t k = 0; k < tensor_count(x); k++, index_next(index, x->rank, x->dim)) {
        int64_t to = 0;

        for (int i = 0; i < x->rank; i++)
            if (!is_reduced(n, i))
                to = to * x->dim[i] + index[i];
        if (y->f)
            y->f[to] = fold->join(y->f[to], x->f[k]);
        else
            y->i[to] = fold->join_int(y->i[to], x->i[k]);
    }
}

ValueId positions_along(Graph *g, ValueId x, int n_axes, const int64_t *axes)
{
    Value like = *value_of(g, x);
    ValueId position = 0;
    int64_t step = 1;

    for (int i = n_axes - 1; i >= 0; i--) {
        ValueId index = make_iota(g, I64, like.rank, like.dim, (int)axes[i]);
        ValueId scaled = make_mul(g, index, scalar_like(g, index, (double)step));
        position = position ? make_add(g, position, scaled) : scaled;
        step *= like.dim[axes[i]];
    }
    return position;
}

// The first of the true elements of `is_it` along the axes.
static ValueId first_of(Graph *g, ValueId is_it, const Attr *axes)
{
    ValueId position = positions_along(g, is_it, axes->n, axes->v);
    ValueId none = scalar_like(g, position, (double)value_count(value_of(g, is_it)));
    ValueId first = make_reduce_min(g, make_select(g, is_it, position, none), axes->n, axes->v);

    return make_eq(g, position, broadcast_over(g, first, position, axes->n, axes->v));
}

void grad_extremum(Graph *g, const Node *n, ValueId dy, ValueId *dx)
{
    const Attr *axes = &n->attr[REDUCE_AXES];
    ValueId x = n->in[0];
    ValueId is_it = make_eq(g, x, broadcast_over(g, n->out[0], x, axes->n, axes->v));

    if (n->attr[REDUCE_FIRST].i) {
        is_it = first_of(g, is_it, axes);
    } else {
        ValueId ties =
            make_reduce_sum(g, make_cast(g, is_it, in(g, n, 0)->dtype), axes->n, axes->v);
        dy = make_div(g, dy, ties);
    }
    dx[0] = make_select(g, is_it, broadcast_over(g, dy, x, axes->n, axes->v), scalar_like(g, x, 0));
}

// Joins adjacent dims that are both reduced or both kept, and nested by their strides, to one dim
// of the kernel.
static RtReduce join_dims(const Node *n, const Value *x, const int64_t *stride)
{
    RtReduce p = {.type = (RtType)x->dtype};

    for (int i = 0; i < x->rank; i++) {
        int last = p.rank - 1;
        bool reduced = is_reduced(n, i);
        if (x->dim[i] == 1)
            continue;
        if (last >= 0 && p.reduced[last] == reduced && p.stride[last] == stride[i] * x->dim[i]) {
            p.dim[last] *= x->dim[i];
            p.stride[last] = stride[i];
        } else {
            p.dim[p.rank] = x->dim[i];
            p.stride[p.rank] = stride[i];
            p.reduced[p.rank++] = reduced;
        }
    }
    return p;
}

void kernel_reduce(const Graph *g, const Node *n, const int64_t (*stride)[MAX_RANK], Kernel *k,
                   RtReduceOp op)
{
    const Value *x = in(g, n, 0);

    kernel_dense_operand(g, n, 1, stride, k);
    k->def = kernel_find("reduce");
    k->params.reduce = join_dims(n, x, stride[0]);
    k->params.reduce.op = op;
}

int64_t dtype_least(DType t)
{
    bool is_signed = (t >= I8 && t <= I64) || t == U64;

    return is_signed ? INT64_MIN >> (64 - 8 * dtype_size(t)) : 0;
}

int64_t dtype_most(DType t)
{
    if (t == BOOL)
        return 1;
    if (dtype_size(t) == 8)
        return INT64_MAX;
    bool is_signed = t >= I8 && t <= I64;
    return ((int64_t)1 << (8 * dtype_size(t) - is_signed)) - 1;
}

Along along(int rank, const int64_t *dim, int axis)
{
    Along a = {1, dim[axis], 1};

    for (int i = 0; i < rank; i++) {
        if (i < axis)
            a.outer *= dim[i];
        if (i > axis)
            a.inner *= dim[i];
    }
    return a;
}

bool element_above(const Tensor *x, int64_t a, int64_t b)
{
    if (x->f)
        return x->f[a] > x->f[b] || (x->f[a] != x->f[a] && x->f[b] == x->f[b]);
    return x->i[a] > x->i[b];
}

void kernel_along(const Graph *g, const Node *n, int axis, const int64_t (*stride)[MAX_RANK],
                  Kernel *k)
{
    const Value *x = in(g, n, 0);
    Along a = along(x->rank, x->dim, axis);

    kernel_dense(g, n, stride, k);
    k->def = kernel_find(n->op->name);
    k->params.along =
        (RtAlong){.type = (RtType)x->dtype, .outer = a.outer, .n = a.n, .inner = a.inner};
}

void rule_along(const Graph *g, const Node *n, Rule *r, int axis)
{
    int rank = in(g, n, 0)->rank;
    char text[RULE_TEXT];

    snprintf(text, sizeof text, "%.*s->%.*s%s%.*s", rank, LETTERS, rank, LETTERS,
             n->n_out > 1 ? "," : "", n->n_out > 1 ? rank : 0, LETTERS);
    rule_set(g, n, r, text);
    rule_kind(r, LETTERS[axis], FACTOR_BLOCKED);
}
