// Imports operators that make values without inputs (constants, ranges, random numbers), and
// dropout.
#include "frontend/internal.h"

// ---- constants ----

static ValueId float_vector(Graph *g, size_t n, const float *v)
{
    float *data = arena_array(g->arena, float, n + 1);

    if (n)
        memcpy(data, v, n * sizeof *v);
    return graph_constant(g, F32, 1, &(int64_t){(int64_t)n}, data);
}

static void import_constant(Op *o)
{
    const Onnx__AttributeProto *a;
    const char *name = o->n_out ? o->node->output[0] : "";

    if ((a = attr_find(o, "value")) && a->t) {
        o->out[0].value = literal_value(o->x, a->t, name);
        o->failed = !o->out[0].value;
    } else if ((a = attr_find(o, "value_float"))) {
        give(o, 0, graph_scalar(o->g, F32, a->f));
    } else if ((a = attr_find(o, "value_int"))) {
        int64_t *data = arena_array(o->x->arena, int64_t, 1);
        *data = a->i;
        give(o, 0, graph_constant(o->g, I64, 0, NULL, data));
    } else if ((a = attr_find(o, "value_ints")) && a->n_ints <= MAX_OPERANDS) {
        give(o, 0, constant_ints(o->g, (int)a->n_ints, a->ints));
    } else if ((a = attr_find(o, "value_floats")) && a->n_floats <= MAX_OPERANDS) {
        give(o, 0, float_vector(o->g, a->n_floats, a->floats));
    } else {
        op_error(o, "expected one of the attributes value, value_float, value_int, value_ints and "
                    "value_floats");
    }
}

static void import_constant_of_shape(Op *o)
{
    const Onnx__AttributeProto *a = attr_find(o, "value");
    Dims d;

    if (!arg_ints(o, 0, "the shape", MAX_RANK, &d.rank, d.dim))
        return;
    ValueId v = a && a->t ? literal_value(o->x, a->t, "value") : graph_scalar(o->g, F32, 0);
    const Tensor *t = known_of(o->x, v);
    for (int i = 0; i < d.rank; i++)
        if (d.dim[i] < 0) {
            op_error(o, "dim %d of the shape is %" PRId64 ", expected at least 0", i, d.dim[i]);
            return;
        }
    if (!t || !known_is_splat(t) || value_count(value_of(o->g, v)) != 1)
        op_error(o, "its value must be a single number");
    else
        give(o, 0, broadcast_to(o->g, reshape_to(o->g, v, &(Dims){0}), d.rank, d.dim));
}

static void import_range(Op *o)
{
    Graph *g = o->g;
    DType t = arg_value(o, 0)->dtype;
    double start, limit, step;

    if (!arg_number(o, 0, "the start", &start) || !arg_number(o, 1, "the limit", &limit) ||
        !arg_number(o, 2, "the step", &step))
        return;
    double n = step != 0 ? ceil((limit - start) / step) : -1;
    if (!(n < (double)((int64_t)1 << 40)) || step == 0) {
        op_error(o, "can't count from %g to %g in steps of %g", start, limit, step);
        return;
    }
    ValueId i = make_iota(g, t, 1, &(int64_t){n > 0 ? (int64_t)n : 0}, 0);
    if (step != 1)
        i = make_mul(g, i, scalar_like(g, i, step));
    give(o, 0, start != 0 ? make_add(g, i, scalar_like(g, i, start)) : i);
}

static void import_eye_like(Op *o)
{
    Graph *g = o->g;
    Dims d = dims_of(g, arg(o, 0));
    int64_t type = attr_int(o, "dtype", 0), k = attr_int(o, "k", 0);
    DType t = type > 0 && type < INT32_MAX ? dtype_of_onnx((int32_t)type) : DT_NONE;

    if (d.rank != 2 || (type && !t)) {
        op_error(o, "a matrix of numbers is expected");
        return;
    }
    ValueId row = make_iota(g, I64, 2, d.dim, 0), column = make_iota(g, I64, 2, d.dim, 1);
    ValueId diagonal = make_add(g, row, scalar_like(g, row, (double)k));
    give(o, 0, make_cast(g, make_eq(g, diagonal, column), t ? t : arg_value(o, 0)->dtype));
}

// ---- random ----

static ValueId hyper(Import *x, const char *name)
{
    return graph_value(x->g, VALUE_HYPER, name, I64, 0, NULL);
}

// Uniform numbers in [0, 1) in the shape of v. They differ for every node, step and sample.
static ValueId uniform(Import *x, ValueId v)
{
    Dims d = dims_of(x->g, v);
    int k = x->o->accumulate > 1 ? x->o->accumulate : 1;

    if (!x->seed) {
        x->seed = hyper(x, "seed");
        x->step = hyper(x, "step_index");
        x->micro = hyper(x, "micro");
    }
    return make_random(x->g, x->seed, x->step, x->micro, d.rank, d.dim, x->n_random++, 0,
                       batch_axis(x, v), k);
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
    ValueId u = uniform(o->x, x);
    ValueId keep = make_le(g, scalar_like(g, u, p), u);
    ValueId scaled = make_mul(g, x, scalar_like(g, x, 1 / (1 - p)));
    give(o, 0, make_select(g, keep, scaled, scalar_like(g, x, 0)));
    if (wants(o, 1))
        give(o, 1, keep);
}

const OpImporter import_source[] = {
    {"Constant", 0, 0, .import = import_constant,
     .attrs = "value value_float value_floats value_int value_ints",
     .refuses = "value_string, value_strings and sparse_value", .no_gradient = "none: a constant"},
    {"ConstantOfShape", 1, 1, .import = import_constant_of_shape, .attrs = "value", .since = 9,
     .known = "input", .no_gradient = "none: a constant"},
    {"Dropout", 1, 3, .import = import_dropout, .attrs = "ratio seed", .max_out = 2,
     .known = "ratio"},
    {"EyeLike", 1, 1, .import = import_eye_like, .attrs = "dtype k", .since = 9,
     .no_gradient = "none: a constant"},
    {"Range", 3, 3, .import = import_range, .attrs = "stash_type", .since = 11,
     .known = "start, limit, delta", .no_gradient = "none: a constant"},
    {0},
};
