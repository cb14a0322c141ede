// Imports reductions, and operators that order elements along an axis.
#include "frontend/internal.h"

typedef struct Axes {
    int n;
    int64_t axis[MAX_RANK];
    bool keep_dims;
    Dims kept;  // the result's dims, with 1 for the reduced ones
} Axes;

// The axes: an attribute, or an input since opset 18 (ReduceSum: 13). Without axes, all are
// reduced.
static bool read_axes(Op *o, Axes *a)
{
    Dims x = dims_of(o->g, arg(o, 0));

    a->keep_dims = attr_int(o, "keepdims", 1) != 0;
    if (has(o, 1)) {
        if (!arg_ints(o, 1, "axes", MAX_RANK, &a->n, a->axis))
            return false;
    } else {
        const int64_t *v = attr_ints(o, "axes", &a->n);
        if (a->n > MAX_RANK)
            return op_error(o, "more than %d axes", MAX_RANK);
        if (a->n)
            memcpy(a->axis, v, (size_t)a->n * sizeof *v);
    }
    if (!op_axes(o, a->n, a->axis, x.rank))
        return false;
    if (!a->n && !attr_int(o, "noop_with_empty_axes", 0))
        for (; a->n < x.rank; a->n++)
            a->axis[a->n] = a->n;
    a->kept = x;
    for (int i = 0; i < a->n; i++)
        a->kept.dim[a->axis[i]] = 1;
    return true;
}

static void give_reduced(Op *o, const Axes *a, ValueId y)
{
    give(o, 0, a->keep_dims ? reshape_to(o->g, y, &a->kept) : y);
}

static ValueId sum(Graph *g, ValueId x, const Axes *a)
{
    return a->n ? make_reduce_sum(g, x, a->n, a->axis) : x;
}

static void import_sum(Op *o)
{
    Axes a;

    if (read_axes(o, &a))
        give_reduced(o, &a, sum(o->g, arg(o, 0), &a));
}

static void import_mean(Op *o)
{
    Axes a;

    if (read_axes(o, &a))
        give_reduced(o, &a, a.n ? make_mean(o->g, arg(o, 0), a.n, a.axis) : arg(o, 0));
}

// PyTorch's max and min over a dim give indices too, and their gradient to the first of equal
// elements; its amax and amin share it. Only the exporter's metadata tell them apart.
static void import_extremum(Op *o)
{
    typedef ValueId Reduction(Graph *, ValueId, int, const int64_t *);
    static Reduction *const reductions[2][2] = {{make_reduce_max, make_reduce_max_first},
                                                {make_reduce_min, make_reduce_min_first}};
    bool is_min = !strcmp(o->node->op_type, "ReduceMin");
    bool is_first = strstr(fx_node_of(o->node), is_min ? "aten.min.dim]" : "aten.max.dim]") != NULL;
    Axes a;

    if (read_axes(o, &a))
        give_reduced(o, &a,
                     a.n ? reductions[is_min][is_first](o->g, arg(o, 0), a.n, a.axis) : arg(o, 0));
}

static void import_l1(Op *o)
{
    Axes a;

    if (read_axes(o, &a))
        give_reduced(o, &a, sum(o->g, make_abs(o->g, arg(o, 0)), &a));
}

static void import_l2(Op *o)
{
    Axes a;

    if (read_axes(o, &a))
        give_reduced(o, &a, make_sqrt(o->g, sum(o->g, make_square(o->g, arg(o, 0)), &a)));
}

static void import_sum_square(Op *o)
{
    Axes a;

    if (read_axes(o, &a))
        give_reduced(o, &a, sum(o->g, make_square(o->g, arg(o, 0)), &a));
}

static void import_log_sum(Op *o)
{
    Axes a;

    if (read_axes(o, &a))
        give_reduced(o, &a, make_log(o->g, sum(o->g, arg(o, 0), &a)));
}

static void import_log_sum_exp(Op *o)
{
    Axes a;

    if (read_axes(o, &a))
        give_reduced(o, &a, a.n ? make_log_sum_exp(o->g, arg(o, 0), a.n, a.axis) : arg(o, 0));
}

// Ones in the shape of y, but for one element along `axis`.
static ValueId ones(Graph *g, ValueId y, int axis)
{
    Dims d = dims_of(g, y);

    d.dim[axis] = 1;
    return full(g, value_of(g, y)->dtype, &d, 1);
}

// A product becomes a chain of multiplications. There is no primitive for it, because such products
// are seldom long.
static void import_product(Op *o)
{
    enum { LONGEST = 64 };
    Axes a;

    if (!read_axes(o, &a))
        return;
    ValueId y = arg(o, 0);
    for (int i = a.n; i-- > 0;) {
        int axis = (int)a.axis[i];
        int64_t n = value_of(o->g, y)->dim[axis];
        if (!n) {
            y = drop_dim(o->g, ones(o->g, y, axis), axis);
            continue;
        }
        if (n > LONGEST) {
            op_error(o, "the product of %" PRId64 " elements is not supported, at most %d are", n,
                     LONGEST);
            return;
        }
        budget_allow(o->g->budget, BUDGET_importing, n);
        ValueId p = drop_dim(o->g, slice_axis(o->g, y, axis, 0, 1, 1), axis);
        for (int64_t k = 1; k < n; k++)
            p = make_mul(o->g, p, drop_dim(o->g, slice_axis(o->g, y, axis, k, 1, 1), axis));
        y = p;
    }
    give_reduced(o, &a, y);
}

// ---- places ----

static void import_arg_max(Op *o)
{
    bool is_min = !strcmp(o->node->op_type, "ArgMin");
    Dims d = dims_of(o->g, arg(o, 0));
    int64_t axis = attr_int(o, "axis", 0);

    if (!op_axis(o, &axis, d.rank))
        return;
    if (attr_int(o, "select_last_index", 0)) {
        op_error(o, "select_last_index is not supported");
        return;
    }
    ValueId x = is_min ? make_neg(o->g, arg(o, 0)) : arg(o, 0);
    ValueId y = make_arg_max(o->g, x, (int)axis);
    d.dim[axis] = 1;
    give(o, 0, attr_int(o, "keepdims", 1) ? reshape_to(o->g, y, &d) : y);
}

static void import_cumsum(Op *o)
{
    int64_t axis;
    int n;

    if (!arg_ints(o, 1, "the axis", 1, &n, &axis) || !op_axis(o, &axis, arg_value(o, 0)->rank))
        return;
    give(o, 0,
         make_cumsum(o->g, arg(o, 0), (int)axis, attr_int(o, "exclusive", 0) != 0,
                     attr_int(o, "reverse", 0) != 0));
}

static void import_top_k(Op *o)
{
    const Value *x = arg_value(o, 0);
    int64_t axis = attr_int(o, "axis", -1), k = attr_int(o, "k", 0);
    bool is_largest = attr_int(o, "largest", 1) != 0;
    int n;

    if (!op_axis(o, &axis, x->rank) || (has(o, 1) && !arg_ints(o, 1, "k", 1, &n, &k)))
        return;
    if (k < 0 || k > x->dim[axis]) {
        op_error(o, "k is %" PRId64 ", expected 0 to %" PRId64, k, x->dim[axis]);
        return;
    }
    ValueId y = make_top_k(o->g, is_largest ? arg(o, 0) : make_neg(o->g, arg(o, 0)), (int)axis, k);
    if (wants(o, 1))
        give(o, 1, y ? graph_output_of(o->g, y, 1) : 0);
    give(o, 0, is_largest ? y : make_neg(o->g, y));
}

// ---- softmax ----

// Before opset 13, the dims from `axis` on count as a single one.
static void along_axis(Op *o, ValueId (*f)(Graph *, ValueId, int))
{
    Dims d = dims_of(o->g, arg(o, 0)), flat = {2, {1, 1}};
    int64_t axis = attr_int(o, "axis", o->opset >= 13 ? -1 : 1);

    if (!op_axis(o, &axis, d.rank))
        return;
    if (o->opset >= 13 || axis == d.rank - 1) {
        give(o, 0, f(o->g, arg(o, 0), (int)axis));
        return;
    }
    for (int i = 0; i < d.rank; i++)
        flat.dim[i >= axis] *= d.dim[i];
    give(o, 0, reshape_to(o->g, f(o->g, reshape_to(o->g, arg(o, 0), &flat), 1), &d));
}

static void import_softmax(Op *o) { along_axis(o, make_softmax); }

static void import_log_softmax(Op *o) { along_axis(o, make_log_softmax); }

const OpImporter import_reduce[] = {
    {"ArgMax", 1, 1, .import = import_arg_max, .attrs = "axis keepdims select_last_index",
     .refuses = "select_last_index", .no_gradient = "none: indices"},
    {"ArgMin", 1, 1, .import = import_arg_max, .attrs = "axis keepdims select_last_index",
     .refuses = "select_last_index", .no_gradient = "none: indices"},
    {"CumSum", 2, 2, .import = import_cumsum, .attrs = "exclusive reverse", .since = 11,
     .known = "axis"},
    {"LogSoftmax", 1, 1, .import = import_log_softmax, .attrs = "axis"},
    {"ReduceL1", 1, 2, .import = import_l1, .attrs = "axes keepdims noop_with_empty_axes",
     .known = "axes"},
    {"ReduceL2", 1, 2, .import = import_l2, .attrs = "axes keepdims noop_with_empty_axes",
     .known = "axes"},
    {"ReduceLogSum", 1, 2, .import = import_log_sum, .attrs = "axes keepdims noop_with_empty_axes",
     .known = "axes"},
    {"ReduceLogSumExp", 1, 2, .import = import_log_sum_exp,
     .attrs = "axes keepdims noop_with_empty_axes", .known = "axes"},
    {"ReduceMax", 1, 2, .import = import_extremum, .attrs = "axes keepdims noop_with_empty_axes",
     .known = "axes"},
    {"ReduceMean", 1, 2, .import = import_mean, .attrs = "axes keepdims noop_with_empty_axes",
     .known = "axes"},
    {"ReduceMin", 1, 2, .import = import_extremum, .attrs = "axes keepdims noop_with_empty_axes",
     .known = "axes"},
    {"ReduceProd", 1, 2, .import = import_product, .attrs = "axes keepdims noop_with_empty_axes",
     .known = "axes", .refuses = "more than 64 elements along a dim"},
    {"ReduceSum", 1, 2, .import = import_sum, .attrs = "axes keepdims noop_with_empty_axes",
     .known = "axes"},
    {"ReduceSumSquare", 1, 2, .import = import_sum_square,
     .attrs = "axes keepdims noop_with_empty_axes", .known = "axes"},
    {"Softmax", 1, 1, .import = import_softmax, .attrs = "axis"},
    {"TopK", 1, 2, .import = import_top_k, .attrs = "axis k largest sorted", .max_out = 2,
     .known = "K"},
    {0},
};
