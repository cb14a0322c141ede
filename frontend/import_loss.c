// Imports losses over classes. A model that has one inside trains by its output: --loss NAME.
#include <stdlib.h>

#include "frontend/internal.h"

typedef enum Reduction { REDUCE_NONE, REDUCE_MEAN, REDUCE_SUM } Reduction;

// Classes lie along dim `axis` of the scores; the labels lack it.
typedef struct ClassLoss {
    Op *o;
    Graph *g;
    int axis;
    int64_t classes;
    Reduction reduction;
    ValueId label;  // i64; if has_shares, floats in the shape of the scores
    bool
        has_shares;  // a share for each class of each sample, as PyTorch's cross_entropy takes them
    ValueId weight;  // of each class, in the shape of the scores; 0: all are 1
    ValueId counted;  // BOOL, in the shape of the labels; 0: all count
    double smoothing;
} ClassLoss;

// ---- reading ----

// A loss's weights aren't learned, whatever the file says: PyTorch has no gradient for them.
static void read_weight(ClassLoss *l, ValueId scores)
{
    Op *o = l->o;
    ValueId w = arg(o, 2);

    if (!has(o, 2))
        return;
    if (value_of(l->g, w)->kind == VALUE_PARAMETER)
        value_edit(l->g, w)->kind = VALUE_BUFFER;
    if (value_of(l->g, w)->rank != 1 || value_of(l->g, w)->dim[0] != l->classes) {
        op_error(o, "%" PRId64 " classes need as many weights", l->classes);
        return;
    }
    w = make_cast(l->g, make_stop_gradient(l->g, w), value_of(l->g, scores)->dtype);
    l->weight = vector_at(l->g, w, scores, l->axis);
}

static bool read_labels(ClassLoss *l, const Dims *scores)
{
    Op *o = l->o;
    Dims label = dims_of(l->g, arg(o, 1)), expected = {0};
    DType t = arg_value(o, 1)->dtype;

    l->has_shares = dtype_is_float(t) && !strcmp(o->node->op_type, "SoftmaxCrossEntropyLoss");
    if (!l->has_shares && !dtype_is_int(t))
        return op_error(o, "labels must be integers");
    for (int i = 0; i < scores->rank; i++)
        if (l->has_shares || i != l->axis)
            expected.dim[expected.rank++] = scores->dim[i];
    if (label.rank != expected.rank ||
        memcmp(label.dim, expected.dim, (size_t)label.rank * sizeof *label.dim))
        return op_error(o, "labels don't have the shape of the scores%s",
                        l->has_shares ? "" : " without the classes");
    return true;
}

// The smoothing of PyTorch's cross_entropy, which ONNX's operator lacks: the exporter leaves it in
// its metadata alone. "…aten.cross_entropy_loss.default](args = (%x, %t, None, 1, -100, 0.1), …".
static double smoothing_of(const Op *o)
{
    const char *s = strstr(fx_node_of(o->node), "aten.cross_entropy_loss.default](args = (");

    for (int i = 0; s && i < 5; i++)
        s = strpbrk(s + 1, i ? ",)" : "%");
    s = s && *s == ',' ? strpbrk(s + 1, ",)") : NULL;
    double v = s && *s == ',' ? strtod(s + 1, NULL) : 0;
    return v > 0 && v <= 1 ? v : 0;
}

static bool read_loss(Op *o, ClassLoss *l)
{
    static const char *const reductions[] = {"none", "mean", "sum"};
    Dims d = dims_of(o->g, arg(o, 0));
    const char *reduction = attr_text(o, "reduction", "mean");
    int r = 0;

    *l = (ClassLoss){.o = o, .g = o->g, .axis = d.rank > 1};
    if (!d.rank || !dtype_is_float(arg_value(o, 0)->dtype))
        return op_error(o, "scores must be floats with a dim of classes");
    while (r < COUNT(reductions) && strcmp(reduction, reductions[r]))
        r++;
    if (r == COUNT(reductions))
        return op_error(o, "reduction '%.50s' is unknown, expected none, mean or sum", reduction);
    l->reduction = (Reduction)r;
    l->classes = d.dim[l->axis];
    l->smoothing = smoothing_of(o);
    return read_labels(l, &d);
}

// ---- computing ----

static ValueId sum_of(Graph *g, ValueId x)
{
    int64_t axes[MAX_RANK];
    int rank = x ? value_of(g, x)->rank : 0;

    for (int i = 0; i < rank; i++)
        axes[i] = i;
    return rank ? make_reduce_sum(g, x, rank, axes) : x;
}

// Zero where the label is ignored.
static ValueId only_counted(const ClassLoss *l, ValueId v)
{
    return l->counted ? make_select(l->g, l->counted, v, scalar_like(l->g, v, 0)) : v;
}

// The loss of each label from the logarithms of the shares of its classes, up to `total`, which is
// subtracted from each of them (0: nothing is).
static ValueId of_labels(const ClassLoss *l, ValueId x, ValueId total, ValueId weight)
{
    Graph *g = l->g;
    ValueId picked = make_pick(g, x, l->label, l->axis);
    ValueId each = total ? make_sub(g, total, picked) : make_neg(g, picked);

    return weight ? make_mul(g, each, weight) : each;
}

// The loss against shares that classes have: all of `share`, or equal ones if it is 0.
static ValueId of_shares(const ClassLoss *l, ValueId x, ValueId total, ValueId share)
{
    Graph *g = l->g;
    int64_t axes[] = {l->axis};

    if (!share && !l->weight)
        return make_sub(g, total, make_mean(g, x, 1, axes));
    ValueId each = make_sub(g, broadcast_over(g, total, x, 1, axes), x);
    each = l->weight ? make_mul(g, each, l->weight) : each;
    return share ? make_reduce_sum(g, make_mul(g, each, share), 1, axes)
                 : make_mean(g, each, 1, axes);
}

// A label that is no class has the loss NaN, at which a trainer stops; else it would count as 0.
static ValueId checked(const ClassLoss *l, ValueId each)
{
    Graph *g = l->g;
    ValueId low = make_lt(g, l->label, scalar_like(g, l->label, 0));
    ValueId high = make_le(g, scalar_like(g, l->label, (double)l->classes), l->label);

    return make_select(g, make_or(g, low, high), scalar_like(g, each, NAN), each);
}

// The number that divides the sum of the losses: of labels that count, each with its weight.
static ValueId count_of(const ClassLoss *l, ValueId each, ValueId weight)
{
    Graph *g = l->g;
    int64_t n = value_count(value_of(g, each));
    DType t = value_of(g, each)->dtype;

    if (weight)
        return sum_of(g, only_counted(l, weight));
    return l->counted ? sum_of(g, make_cast(g, l->counted, t)) : graph_scalar(g, t, (double)n);
}

static ValueId reduce(const ClassLoss *l, ValueId each, ValueId weight)
{
    Graph *g = l->g;

    if (l->reduction == REDUCE_NONE || !each)
        return each;
    ValueId sum = sum_of(g, each);
    return l->reduction == REDUCE_SUM ? sum : make_div(g, sum, count_of(l, each, weight));
}

// x: logarithms of the classes' shares, from all of which `total` is to be subtracted (0: none).
static void give_loss(ClassLoss *l, ValueId x, ValueId total)
{
    Graph *g = l->g;
    const Onnx__AttributeProto *ignored = attr_find(l->o, "ignore_index");
    ValueId weight = 0, each;

    l->label = make_cast(g, arg(l->o, 1), l->has_shares ? value_of(g, x)->dtype : I64);
    read_weight(l, x);
    if (l->o->failed)
        return;
    if (l->has_shares) {
        each = of_shares(l, x, total, l->label);
    } else {
        if (ignored)
            l->counted =
                make_not(g, make_eq(g, l->label, scalar_like(g, l->label, (double)ignored->i)));
        weight = l->weight ? make_pick(g, l->weight, l->label, l->axis) : 0;
        each = checked(l, of_labels(l, x, total, weight));
    }
    if (l->smoothing > 0) {
        ValueId even = of_shares(l, x, total, 0);
        even = make_mul(g, even, scalar_like(g, even, l->smoothing));
        each = make_add(g, make_mul(g, each, scalar_like(g, each, 1 - l->smoothing)), even);
    }
    ValueId y = reduce(l, only_counted(l, each), weight);
    give(l->o, 0, make_cast(g, y, arg_value(l->o, 0)->dtype));
}

// Halves are summed in f32.
static ValueId wide_scores(Op *o)
{
    DType t = arg_value(o, 0)->dtype;

    return make_cast(o->g, arg(o, 0), t == F64 ? F64 : F32);
}

static void import_negative_log_likelihood(Op *o)
{
    ClassLoss l;

    if (read_loss(o, &l))
        give_loss(&l, wide_scores(o), 0);
}

static void import_softmax_cross_entropy(Op *o)
{
    Graph *g = o->g;
    ClassLoss l;

    if (!read_loss(o, &l))
        return;
    int64_t axes[] = {l.axis};
    ValueId x = make_less_max(g, wide_scores(o), 1, axes);
    ValueId total = make_log(g, make_reduce_sum(g, make_exp(g, x), 1, axes));
    give_loss(&l, x, total);
    if (wants(o, 1))
        give(o, 1,
             make_cast(g, make_sub(g, x, broadcast_over(g, total, x, 1, axes)),
                       arg_value(o, 0)->dtype));
}

const OpImporter import_loss[] = {
    {"NegativeLogLikelihoodLoss", 2, 3, .import = import_negative_log_likelihood,
     .attrs = "ignore_index reduction", .since = 12},
    {"SoftmaxCrossEntropyLoss", 2, 3, .import = import_softmax_cross_entropy,
     .attrs = "ignore_index reduction", .max_out = 2, .since = 12},
    {0},
};
