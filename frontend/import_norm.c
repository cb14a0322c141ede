// Imports normalisations: mean and variance over some dims, then a scale and a shift.
#include "frontend/internal.h"

typedef struct Moments {
    ValueId mean, variance;  // without the reduced dims
    ValueId centred;
} Moments;

static Moments moments(Graph *g, ValueId x, int n, const int64_t *axes)
{
    Moments m = {.mean = make_mean(g, x, n, axes)};

    m.centred = make_sub(g, x, broadcast_over(g, m.mean, x, n, axes));
    m.variance = make_mean(g, make_square(g, m.centred), n, axes);
    return m;
}

static ValueId inverse_deviation(Graph *g, ValueId variance, double epsilon)
{
    ValueId v = make_add(g, variance, scalar_like(g, variance, epsilon));

    return make_reciprocal(g, make_sqrt(g, v));
}

// Lists the dims from `axis` on. Returns false after an error.
static bool trailing_axes(Op *o, int *n, int64_t *axes)
{
    int rank = arg_value(o, 0)->rank;
    int64_t axis = attr_int(o, "axis", -1);

    if (!op_axis(o, &axis, rank))
        return false;
    *n = 0;
    for (int64_t i = axis; i < rank; i++)
        axes[(*n)++] = i;
    return true;
}

// Input i, broadcast to x's shape and cast to its dtype.
static ValueId spread(Op *o, int i, ValueId x)
{
    Dims d = dims_of(o->g, x);

    return make_cast(o->g, broadcast_to(o->g, arg(o, i), d.rank, d.dim), value_of(o->g, x)->dtype);
}

// y times the scale, which is input 1.
static ValueId scaled(Op *o, ValueId y) { return make_mul(o->g, y, spread(o, 1, arg(o, 0))); }

static void give_kept(Op *o, int i, ValueId v, int n, const int64_t *axes)
{
    if (wants(o, i))
        give(o, i, insert_dims(o->g, v, n, axes));
}

static void import_layer_norm(Op *o)
{
    Graph *g = o->g;
    int64_t axes[MAX_RANK];
    int n;

    if (!trailing_axes(o, &n, axes))
        return;
    ValueId x = arg(o, 0);
    Moments m = moments(g, x, n, axes);
    ValueId inverse = inverse_deviation(g, m.variance, attr_float(o, "epsilon", (float)1e-5));
    ValueId y = make_mul(g, m.centred, broadcast_over(g, inverse, x, n, axes));
    y = scaled(o, y);
    give(o, 0, has(o, 2) ? make_add(g, y, spread(o, 2, arg(o, 0))) : y);
    give_kept(o, 1, m.mean, n, axes);
    give_kept(o, 2, inverse, n, axes);
}

static void import_rms_norm(Op *o)
{
    Graph *g = o->g;
    int64_t axes[MAX_RANK];
    int n;

    if (!trailing_axes(o, &n, axes))
        return;
    ValueId x = arg(o, 0);
    ValueId square = make_mean(g, make_square(g, x), n, axes);
    ValueId inverse = inverse_deviation(g, square, attr_float(o, "epsilon", (float)1e-5));
    ValueId y = make_mul(g, x, broadcast_over(g, inverse, x, n, axes));
    give(o, 0, scaled(o, y));
}

// ---- batch norm ----

// Makes a running statistic a buffer; it isn't learned, whatever the file says.
static void make_buffer(Graph *g, ValueId v)
{
    if (value_of(g, v)->kind == VALUE_PARAMETER)
        value_edit(g, v)->kind = VALUE_BUFFER;
}

static ValueId per_channel(Graph *g, ValueId v, ValueId x) { return vector_at(g, v, x, 1); }

// The running statistics after their uses so far: a module that is used twice updates them twice,
// in order. Sets *carry to the index of the carry that overwrites them, or to -1 if there is none
// yet.
static ValueId latest(const Graph *g, ValueId v, int *carry)
{
    for (int i = g->n_carries - 1; i >= 0; i--)
        if (g->carries[i].in == v || g->carries[i].out == v) {
            *carry = i;
            return g->carries[i].out;
        }
    *carry = -1;
    return v;
}

// old · momentum + new · (1 - momentum). In training, this value is carried to the next step.
static ValueId update(Op *o, ValueId old, ValueId new)
{
    Graph *g = o->g;
    double momentum = attr_float(o, "momentum", (float)0.9);
    int carry;
    ValueId before = latest(g, old, &carry);
    ValueId kept = make_mul(g, before, scalar_like(g, before, momentum));
    ValueId y = make_add(g, kept, make_mul(g, new, scalar_like(g, new, 1 - momentum)));

    if (!y || !o->x->o->training)
        return y;
    if (carry >= 0)
        g->carries[carry].out = y;
    else if (value_of(g, old)->kind == VALUE_BUFFER)
        graph_carry(g, old, y, SCOPE_STEP);
    return y;
}

// Does the model itself declare training mode? Before opset 14, extra outputs mean that.
static bool trains_itself(const Op *o)
{
    bool has_more = false;

    for (int i = 1; i < o->n_out; i++)
        has_more |= wants(o, i);
    return attr_int(o, "training_mode", 0) || (o->opset < 14 && has_more);
}

// Models are exported for inference, so in training batch statistics are used anyway. If nothing is
// trained, the model's own mode counts.
static bool uses_batch(const Op *o)
{
    const ImportOptions *options = o->x->o;

    return !options->frozen_batch_norm &&
           (options->training || (!options->has_loss && trains_itself(o)));
}

// PyTorch's running variance is the unbiased one. If the model itself is in training mode, the
// variance stays biased, as ONNX defines it, and a warning says so.
static ValueId running_variance(Op *o, ValueId variance, int64_t count)
{
    Import *x = o->x;

    if (count < 2)
        return variance;
    if (trains_itself(o)) {
        if (x->o->training && !x->n_biased++) {
            x->biased = x->g->source->name;
            x->biased_count = count;
        }
        return variance;
    }
    return make_mul(o->g, variance,
                    scalar_like(o->g, variance, (double)count / (double)(count - 1)));
}

static void give_running(Op *o, ValueId mean, ValueId variance)
{
    if (wants(o, 1))
        give(o, 1, mean);
    if (wants(o, 2))
        give(o, 2, variance);
}

static void import_batch_norm(Op *o)
{
    Graph *g = o->g;
    ValueId x = arg(o, 0), mean = arg(o, 3), variance = arg(o, 4), centred;
    int rank = arg_value(o, 0)->rank, n = 0;
    int64_t axes[MAX_RANK], count = 1;

    if (rank < 2) {
        op_error(o, "expected an input of rank 2 or more, batch and channels first");
        return;
    }
    if (!attr_int(o, "spatial", 1)) {
        op_error(o, "spatial=0 is not supported");
        return;
    }
    make_buffer(g, mean);
    make_buffer(g, variance);
    for (int i = 0; i < rank; i++)
        if (i != 1) {
            axes[n++] = i;
            count *= value_of(g, x)->dim[i];
        }
    if (uses_batch(o)) {
        o->x->has_batch_statistics = !o->x->o->training && !o->x->o->has_loss;
        Moments m = moments(g, x, n, axes);
        ValueId new_mean = update(o, mean, m.mean);
        give_running(o, new_mean, update(o, variance, running_variance(o, m.variance, count)));
        centred = m.centred;
        variance = m.variance;
    } else {
        centred = make_sub(g, x, per_channel(g, mean, x));
        give_running(o, mean, variance);
    }
    ValueId inverse = inverse_deviation(g, variance, attr_float(o, "epsilon", (float)1e-5));
    ValueId scale = make_mul(g, inverse, arg(o, 1));
    ValueId y = make_mul(g, centred, per_channel(g, scale, x));
    give(o, 0, make_add(g, y, per_channel(g, arg(o, 2), x)));
}

// ---- per sample ----

// Normalises x [n, c, rest…] as [n, groups, c / groups, rest…] over all dims except the first two.
static ValueId normalize_groups(Op *o, int64_t groups)
{
    Graph *g = o->g;
    Dims d = dims_of(g, arg(o, 0)), split = {.rank = d.rank + 1};
    int64_t axes[MAX_RANK];
    int n = 0;

    if (d.rank < 2 || split.rank > MAX_RANK || groups < 1 || d.dim[1] % groups) {
        op_error(o, "%" PRId64 " channels can't be split into %" PRId64 " groups",
                 d.rank < 2 ? 0 : d.dim[1], groups);
        return 0;
    }
    split.dim[0] = d.dim[0];
    split.dim[1] = groups;
    split.dim[2] = d.dim[1] / groups;
    for (int i = 2; i < d.rank; i++)
        split.dim[i + 1] = d.dim[i];
    for (int i = 2; i < split.rank; i++)
        axes[n++] = i;
    ValueId x = reshape_to(g, arg(o, 0), &split);
    Moments m = moments(g, x, n, axes);
    ValueId inverse = inverse_deviation(g, m.variance, attr_float(o, "epsilon", (float)1e-5));
    return reshape_to(g, make_mul(g, m.centred, broadcast_over(g, inverse, x, n, axes)), &d);
}

static void scale_and_shift(Op *o, ValueId y, ValueId scale, ValueId shift)
{
    Graph *g = o->g;

    if (!y)
        return;
    ValueId shifts = per_channel(g, shift, y);
    give(o, 0, make_add(g, make_mul(g, y, per_channel(g, scale, y)), shifts));
}

static void import_instance_norm(Op *o)
{
    scale_and_shift(o, normalize_groups(o, arg_value(o, 0)->dim[1]), arg(o, 1), arg(o, 2));
}

// Turns one value per group into one per channel. Opset 18 has the former, opset 21 the latter.
static ValueId per_group(Op *o, ValueId v, int64_t groups, int64_t channels)
{
    const Value *value = value_of(o->g, v);
    Dims wide = {2, {groups, channels / groups}}, flat = {1, {channels}};

    if (value->rank != 1 || value->dim[0] == channels)
        return v;
    return reshape_to(o->g, make_broadcast(o->g, v, 2, wide.dim, &(int64_t){0}), &flat);
}

static void import_group_norm(Op *o)
{
    int64_t groups = attr_int(o, "num_groups", 0), channels = arg_value(o, 0)->dim[1];
    ValueId y = normalize_groups(o, groups);

    if (!y)
        return;
    ValueId shift = per_group(o, arg(o, 2), groups, channels);
    scale_and_shift(o, y, per_group(o, arg(o, 1), groups, channels), shift);
}

static void import_lp_norm(Op *o)
{
    Graph *g = o->g;
    ValueId x = arg(o, 0);
    int64_t axis = attr_int(o, "axis", -1), p = attr_int(o, "p", 2);

    if (!op_axis(o, &axis, arg_value(o, 0)->rank))
        return;
    if (p != 1 && p != 2) {
        op_error(o, "p is %" PRId64 ", expected 1 or 2", p);
        return;
    }
    ValueId s = make_reduce_sum(g, p == 1 ? make_abs(g, x) : make_square(g, x), 1, &axis);
    ValueId norm = p == 1 ? s : make_sqrt(g, s), zero = scalar_like(g, norm, 0);
    ValueId is_zero = make_eq(g, norm, zero);  // then x is divided by infinity, not by 0
    norm = make_select(g, is_zero, scalar_like(g, norm, INFINITY), norm);
    give(o, 0, make_div(g, x, broadcast_over(g, norm, x, 1, &axis)));
}

// x / (bias + alpha / size · Σ x²)^beta, summed over `size` neighbouring channels.
static void import_lrn(Op *o)
{
    Graph *g = o->g;
    ValueId x = arg(o, 0);
    Dims d = dims_of(g, x), rows = {4, {0}};
    int64_t size = attr_int(o, "size", 0);

    if (d.rank < 2 || size < 1 || size > 1 << 24) {
        op_error(o, "size is %" PRId64 ", expected 1 to 2^24, of channels after the batch", size);
        return;
    }
    rows.dim[0] = d.dim[0];
    rows.dim[1] = rows.dim[3] = 1;
    rows.dim[2] = d.dim[1];
    for (int i = 2; i < d.rank; i++)
        rows.dim[3] *= d.dim[i];
    Window w = {.n = 2, .size = {size, 1}, .stride = {1, 1}, .dilation = {1, 1}};
    w.low[0] = (size - 1) / 2;
    w.high[0] = size / 2;
    ValueId sum = make_sum_pool(g, reshape_to(g, make_square(g, x), &rows), &w);
    sum = reshape_to(g, sum, &d);
    double alpha = attr_float(o, "alpha", (float)1e-4) / (double)size;
    sum = make_mul(g, sum, scalar_like(g, sum, alpha));
    sum = make_add(g, sum, scalar_like(g, sum, attr_float(o, "bias", 1)));
    ValueId beta = scalar_like(g, sum, attr_float(o, "beta", 0.75));
    give(o, 0, make_div(g, x, make_pow(g, sum, beta)));
}

static void import_mean_variance(Op *o)
{
    static const int64_t usual[] = {0, 2, 3};
    Graph *g = o->g;
    int64_t axes[MAX_RANK];
    int n = 0;
    const int64_t *v = attr_ints(o, "axes", &n);

    if (n > MAX_RANK) {
        op_error(o, "more than %d axes", MAX_RANK);
        return;
    }
    n = v ? n : COUNT(usual);
    if (n)
        memcpy(axes, v ? v : usual, (size_t)n * sizeof *axes);
    if (!op_axes(o, n, axes, arg_value(o, 0)->rank))
        return;
    Moments m = moments(g, arg(o, 0), n, axes);
    ValueId deviation = make_sqrt(g, m.variance);
    deviation = make_add(g, deviation, scalar_like(g, deviation, 1e-9));
    give(o, 0, make_div(g, m.centred, broadcast_over(g, deviation, m.centred, n, axes)));
}

const OpImporter import_norm[] = {
    {"BatchNormalization", 5, 5, .import = import_batch_norm,
     .attrs = "epsilon momentum training_mode spatial", .max_out = 5, .refuses = "spatial=0"},
    {"GroupNormalization", 3, 3, .import = import_group_norm,
     .attrs = "epsilon num_groups stash_type", .since = 18},
    {"InstanceNormalization", 3, 3, .import = import_instance_norm, .attrs = "epsilon"},
    {"LRN", 1, 1, .import = import_lrn, .attrs = "alpha beta bias size"},
    {"LayerNormalization", 2, 3, .import = import_layer_norm, .attrs = "axis epsilon stash_type",
     .max_out = 3, .since = 17},
    {"LpNormalization", 1, 1, .import = import_lp_norm, .attrs = "axis p"},
    {"MeanVarianceNormalization", 1, 1, .import = import_mean_variance, .attrs = "axes",
     .since = 9},
    {"RMSNormalization", 2, 2, .import = import_rms_norm, .attrs = "axis epsilon stash_type",
     .since = 23},
    {0},
};
