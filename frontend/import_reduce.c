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

// The product of all elements along `axis`, which becomes 1: the halves are multiplied until one
// element is left. Without elements it is 1.
static ValueId product(Graph *g, ValueId y, int axis)
{
    int64_t low[MAX_RANK] = {0}, high[MAX_RANK] = {0}, n = value_of(g, y)->dim[axis];

    high[axis] = n == 0;
    for (y = n ? y : make_pad(g, y, low, high, low, 1); n > 1; n -= n / 2) {
        ValueId half = slice_axis(g, y, axis, n - n / 2, n / 2, 1);
        high[axis] = n % 2;
        half = n % 2 ? make_pad(g, half, low, high, low, 1) : half;
        y = make_mul(g, slice_axis(g, y, axis, 0, n - n / 2, 1), half);
    }
    return y;
}

static void import_product(Op *o)
{
    Axes a;

    if (!read_axes(o, &a))
        return;
    ValueId y = arg(o, 0);
    for (int i = a.n; i-- > 0 && y;)
        y = drop_dim(o->g, product(o->g, y, (int)a.axis[i]), (int)a.axis[i]);
    give_reduced(o, &a, y);
}

// ---- positions ----

static void import_arg_max(Op *o)
{
    bool is_min = !strcmp(o->node->op_type, "ArgMin");
    Dims d = dims_of(o->g, arg(o, 0));
    int64_t axis = attr_int(o, "axis", 0);

    if (!op_axis(o, &axis, d.rank))
        return;
    int64_t n = d.dim[axis];
    bool is_last = attr_int(o, "select_last_index", 0) && n > 0;
    ValueId x = is_min ? make_neg(o->g, arg(o, 0)) : arg(o, 0);
    if (is_last)  // the first one from the end
        x = slice_axis(o->g, x, (int)axis, n - 1, n, -1);
    ValueId y = make_arg_max(o->g, x, (int)axis);
    if (is_last)
        y = make_sub(o->g, scalar_like(o->g, y, (double)(n - 1)), y);
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

// x shifted by n positions along `axis`, to the end or, if `reverse`, to the start; ones fill the
// gap.
static ValueId moved(Graph *g, ValueId x, int axis, int64_t n, bool reverse)
{
    int64_t low[MAX_RANK] = {0}, high[MAX_RANK] = {0}, none[MAX_RANK] = {0};
    int64_t kept = value_of(g, x)->dim[axis] - n;

    *(reverse ? &high[axis] : &low[axis]) = n;
    return make_pad(g, slice_axis(g, x, axis, reverse ? n : 0, kept, 1), low, high, none, 1);
}

// Products of all elements up to each position: each pass multiplies twice as many elements (Hillis
// and Steele 1986).
static void import_cumprod(Op *o)
{
    int64_t axis;
    bool reverse = attr_int(o, "reverse", 0) != 0;
    int count;

    if (!arg_ints(o, 1, "the axis", 1, &count, &axis) || !op_axis(o, &axis, arg_value(o, 0)->rank))
        return;
    int64_t n = arg_value(o, 0)->dim[axis];
    ValueId y = arg(o, 0);
    if (attr_int(o, "exclusive", 0) && n)
        y = moved(o->g, y, (int)axis, 1, reverse);
    for (int64_t k = 1; k < n && y; k *= 2)
        y = make_mul(o->g, y, moved(o->g, y, (int)axis, k, reverse));
    give(o, 0, y);
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
    balance_note(o->x, arg(o, 0));
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

// 1 at the first of the largest elements, 0 elsewhere.
static ValueId hardmax(Graph *g, ValueId x, int axis)
{
    Dims d = dims_of(g, x);
    int64_t axes[] = {axis};
    ValueId position = make_iota(g, I64, d.rank, d.dim, axis);
    ValueId largest = broadcast_over(g, make_arg_max(g, x, axis), position, 1, axes);

    return make_cast(g, make_eq(g, position, largest), value_of(g, x)->dtype);
}

static void import_hardmax(Op *o) { along_axis(o, hardmax); }

const OpImporter import_reduce[] = {
    {"ArgMax", 1, 1, .import = import_arg_max, .attrs = "axis keepdims select_last_index",
     .no_gradient = "none: indices"},
    {"ArgMin", 1, 1, .import = import_arg_max, .attrs = "axis keepdims select_last_index",
     .no_gradient = "none: indices"},
    {"CumProd", 2, 2, .import = import_cumprod, .attrs = "exclusive reverse", .since = 26,
     .known = "axis"},
    {"CumSum", 2, 2, .import = import_cumsum, .attrs = "exclusive reverse", .since = 11,
     .known = "axis"},
    {"Hardmax", 1, 1, .import = import_hardmax, .attrs = "axis", .no_gradient = "zero"},
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
     .known = "axes"},
    {"ReduceSum", 1, 2, .import = import_sum, .attrs = "axes keepdims noop_with_empty_axes",
     .known = "axes"},
    {"ReduceSumSquare", 1, 2, .import = import_sum_square,
     .attrs = "axes keepdims noop_with_empty_axes", .known = "axes"},
    {"Softmax", 1, 1, .import = import_softmax, .attrs = "axis"},
    {"TopK", 1, 2, .import = import_top_k, .attrs = "axis k largest sorted", .max_out = 2,
     .known = "K"},
    {0},
};
