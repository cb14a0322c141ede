// Imports operators that draw random numbers, and dropout. The numbers depend on the seed, the
// step, the node and the element's index in the whole batch: not on ranks, micro-batches and
// threads. The attribute `seed` of a node is ignored.
#include "frontend/internal.h"

static ValueId hyper(Import *x, const char *name)
{
    return graph_value(x->g, VALUE_HYPER, name, I64, 0, NULL);
}

// Uniform numbers in [0, 1), f32, other ones at each call. `axis` is the dim that holds the batch;
// -1: none does.
static ValueId uniform(Import *x, const Dims *d, int axis)
{
    int k = x->o->accumulate > 1 ? x->o->accumulate : 1;

    if (!x->seed) {
        x->seed = hyper(x, "seed");
        x->step = hyper(x, "step_index");
        x->micro = hyper(x, "micro");
    }
    return make_random(x->g, x->seed, x->step, x->micro, d->rank, d->dim, x->n_random++, 0, axis,
                       k);
}

static ValueId uniform_like(const Op *o, ValueId v)
{
    Dims d = dims_of(o->g, v);

    return uniform(o->x, &d, batch_axis(o->x, v));
}

// In training, an element is kept with probability 1 - p and scaled by 1 / (1 - p).
static void import_dropout(Op *o)
{
    Graph *g = o->g;
    ValueId x = arg(o, 0);
    Dims d = dims_of(g, x);
    double p = attr_float(o, "ratio", 0.5);

    if (has(o, 1) && !arg_number(o, 1, "the ratio", &p))
        return;
    if (!(p >= 0 && p < 1)) {
        op_error(o, "ratio %g is not in [0, 1)", p);
        return;
    }
    if (!o->x->o->training || p == 0) {
        o->out[0].value = x;
        if (wants(o, 1))
            give(o, 1, full(g, BOOL, &d, 1));
        return;
    }
    ValueId u = uniform_like(o, x);
    ValueId keep = make_le(g, scalar_like(g, u, p), u);
    ValueId scaled = make_mul(g, x, scalar_like(g, x, 1 / (1 - p)));
    give(o, 0, make_select(g, keep, scaled, scalar_like(g, x, 0)));
    if (wants(o, 1))
        give(o, 1, keep);
}

// ---- distributions ----

// The shape and type of numbers: of input 0, or of the attribute `shape`; the attribute `dtype`
// goes before the input's type.
typedef struct Drawn {
    Dims d;
    int axis;  // the batch; -1: none
    DType t;
} Drawn;

static bool read_type(Op *o, DType missing, DType *t)
{
    int64_t type = attr_int(o, "dtype", 0);

    *t = !type ? missing : type > 0 && type < INT32_MAX ? dtype_in_graph((int32_t)type) : DT_NONE;
    return *t || op_error(o, "element type %" PRId64 " is not supported", type);
}

static bool read_drawn(Op *o, Drawn *to)
{
    int n = 0;
    const int64_t *shape;

    to->axis = -1;
    if (o->n_in) {
        to->d = dims_of(o->g, arg(o, 0));
        to->axis = batch_axis(o->x, arg(o, 0));
        return read_type(o, arg_value(o, 0)->dtype, &to->t);
    }
    shape = attr_ints(o, "shape", &n);
    if (n > MAX_RANK)
        return op_error(o, "more than %d dims", MAX_RANK);
    to->d.rank = n;
    for (int i = 0; i < n; i++) {
        to->d.dim[i] = shape[i];
        if (shape[i] < 0)
            return op_error(o, "dim %d of the shape is %" PRId64 ", expected at least 0", i,
                            shape[i]);
    }
    return read_type(o, F32, &to->t);
}

// x · scale + shift, as numbers of that type.
static void give_scaled(Op *o, ValueId x, double scale, double shift, DType t)
{
    Graph *g = o->g;

    x = make_cast(g, x, t == F64 ? F64 : F32);
    x = make_mul(g, x, scalar_like(g, x, scale));
    give(o, 0, make_cast(g, make_add(g, x, scalar_like(g, x, shift)), t));
}

static void import_uniform(Op *o)
{
    double low = attr_float(o, "low", 0), high = attr_float(o, "high", 1);
    Drawn to;

    if (read_drawn(o, &to))
        give_scaled(o, uniform(o->x, &to.d, to.axis), high - low, low, to.t);
}

// Box and Muller: √(-2 log(1 - u)) cos 2πv, where 1 - u isn't 0.
static void import_normal(Op *o)
{
    Graph *g = o->g;
    Drawn to;

    if (!read_drawn(o, &to))
        return;
    ValueId u = uniform(o->x, &to.d, to.axis), v = uniform(o->x, &to.d, to.axis);
    ValueId length = make_log1p(g, make_neg(g, u));
    length = make_sqrt(g, make_mul(g, length, scalar_like(g, length, -2)));
    ValueId turn = make_cos(g, make_mul(g, v, scalar_like(g, v, 6.28318530717958648)));
    give_scaled(o, make_mul(g, length, turn), attr_float(o, "scale", 1), attr_float(o, "mean", 0),
                to.t);
}

// 1 with the probability that is the input's element.
static void import_bernoulli(Op *o)
{
    Graph *g = o->g;
    Drawn to;

    if (!dtype_is_float(arg_value(o, 0)->dtype)) {
        op_error(o, "probabilities must be floats");
        return;
    }
    if (!read_drawn(o, &to))
        return;
    ValueId u = uniform(o->x, &to.d, to.axis);
    ValueId p = make_cast(g, arg(o, 0), F32);
    give(o, 0, make_cast(g, make_lt(g, u, p), to.t));
}

// Draws classes by the logarithms of their probabilities, up to a constant: the largest of the
// logarithms, each with noise -log(-log u) (Gumbel 1954).
static void import_multinomial(Op *o)
{
    Graph *g = o->g;
    const Value *x = arg_value(o, 0);
    int64_t samples = attr_int(o, "sample_size", 1), type = attr_int(o, "dtype", 6);
    Dims d = {3, {0}};

    if (x->rank != 2 || !dtype_is_float(x->dtype) || !x->dim[1]) {
        op_error(o, "a matrix of floats is expected, with a column for each class");
        return;
    }
    if (samples < 1 || samples > 1 << 24 || (type != 6 && type != 7)) {
        op_error(o, "sample_size is %" PRId64 " and dtype %" PRId64 ", expected 1 to 2^24, 6 or 7",
                 samples, type);
        return;
    }
    d.dim[0] = x->dim[0];
    d.dim[1] = samples;
    d.dim[2] = x->dim[1];
    ValueId u = uniform(o->x, &d, batch_axis(o->x, arg(o, 0)) == 0 ? 0 : -1);
    // 1 - u isn't 0. At u = 0 the noise is infinite, and the class is drawn.
    ValueId noise = make_neg(g, make_log1p(g, make_neg(g, u)));
    noise = make_neg(g, make_log(g, noise));
    ValueId score = make_broadcast(g, make_cast(g, arg(o, 0), F32), 3, d.dim, (int64_t[]){0, 2});
    ValueId y = make_arg_max(g, make_add(g, score, noise), 2);
    give(o, 0, make_cast(g, y, dtype_in_graph((int32_t)type)));
}

const OpImporter import_random[] = {
    {"Bernoulli", 1, 1, .import = import_bernoulli, .attrs = "dtype seed", .since = 15,
     .no_gradient = "none: it is drawn"},
    {"Dropout", 1, 3, .import = import_dropout, .attrs = "ratio seed", .max_out = 2,
     .known = "ratio"},
    {"Multinomial", 1, 1, .import = import_multinomial, .attrs = "dtype sample_size seed",
     .no_gradient = "none: indices"},
    {"RandomNormal", 0, 0, .import = import_normal, .attrs = "dtype mean scale seed shape",
     .no_gradient = "none: it is drawn"},
    {"RandomNormalLike", 1, 1, .import = import_normal, .attrs = "dtype mean scale seed",
     .no_gradient = "none: it is drawn"},
    {"RandomUniform", 0, 0, .import = import_uniform, .attrs = "dtype high low seed shape",
     .no_gradient = "none: it is drawn"},
    {"RandomUniformLike", 1, 1, .import = import_uniform, .attrs = "dtype high low seed",
     .no_gradient = "none: it is drawn"},
    {0},
};
