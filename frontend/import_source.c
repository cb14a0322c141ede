// Imports operators that make values without inputs: constants and ranges.
#include "frontend/internal.h"

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
    DType t = type > 0 && type < INT32_MAX ? dtype_in_graph((int32_t)type) : DT_NONE;

    if (d.rank != 2 || (type && !t)) {
        op_error(o, "a matrix of numbers is expected");
        return;
    }
    ValueId row = make_iota(g, I64, 2, d.dim, 0), column = make_iota(g, I64, 2, d.dim, 1);
    ValueId diagonal = make_add(g, row, scalar_like(g, row, (double)k));
    give(o, 0, make_cast(g, make_eq(g, diagonal, column), t ? t : arg_value(o, 0)->dtype));
}

const OpImporter import_source[] = {
    {"Constant", 0, 0, .import = import_constant,
     .attrs = "value value_float value_floats value_int value_ints",
     .refuses = "value_string, value_strings and sparse_value", .no_gradient = "none: a constant"},
    {"ConstantOfShape", 1, 1, .import = import_constant_of_shape, .attrs = "value", .since = 9,
     .known = "input", .no_gradient = "none: a constant"},
    {"EyeLike", 1, 1, .import = import_eye_like, .attrs = "dtype k", .since = 9,
     .no_gradient = "none: a constant"},
    {"Range", 3, 3, .import = import_range, .attrs = "stash_type", .since = 11,
     .known = "start, limit, delta", .no_gradient = "none: a constant"},
    {0},
};
