// Imports elementwise operators, and makes broadcasting explicit.
#include "frontend/internal.h"

static ValueId number(Graph *g, ValueId like, double v) { return scalar_like(g, like, v); }

static ValueId times(Graph *g, ValueId x, double v) { return make_mul(g, x, number(g, x, v)); }

// ---- comparisons ----

static ValueId greater(Graph *g, ValueId a, ValueId b) { return make_lt(g, b, a); }

static ValueId greater_or_equal(Graph *g, ValueId a, ValueId b) { return make_le(g, b, a); }

static ValueId exclusive_or(Graph *g, ValueId a, ValueId b)
{
    return make_not(g, make_eq(g, a, b));
}

static void import_is_inf(Op *o)
{
    ValueId x = arg(o, 0);
    bool low = attr_int(o, "detect_negative", 1) != 0,
         high = attr_int(o, "detect_positive", 1) != 0;
    ValueId v = low && high ? make_abs(o->g, x) : low ? make_neg(o->g, x) : x;

    ValueId is_inf = make_eq(o->g, v, number(o->g, v, INFINITY));
    give(o, 0, low || high ? is_inf : number(o->g, is_inf, 0));
}

// ---- arithmetic ----

static ValueId ceiling(Graph *g, ValueId x) { return make_neg(g, make_floor(g, make_neg(g, x))); }

static ValueId tangent(Graph *g, ValueId x)
{
    ValueId cosine = make_cos(g, x);
    return make_div(g, make_sin(g, x), cosine);
}

static ValueId power_of_known(Graph *g, ValueId x, double e)
{
    if (e == 0)
        return number(g, x, 1);
    if (e == 1)
        return x;
    if (e == 2)
        return make_square(g, x);
    if (e == 3)
        return make_mul(g, make_square(g, x), x);
    if (e == 4)
        return make_square(g, make_square(g, x));
    if (!dtype_is_float(value_of(g, x)->dtype))
        return 0;
    if (e == 0.5)
        return make_sqrt(g, x);
    if (e == -0.5)
        return make_reciprocal(g, make_sqrt(g, x));
    if (e == -1)
        return make_reciprocal(g, x);
    return make_pow(g, x, number(g, x, e));
}

static void import_pow(Op *o)
{
    ValueId a = arg(o, 0), b = arg(o, 1);
    const Tensor *e = arg_known(o, 1);
    DType t = arg_value(o, 0)->dtype;

    broadcast_pair(o, &a, &b);
    if (e && known_is_splat(e) && a) {
        ValueId y = power_of_known(o->g, a, known_number(e, 0));
        if (y) {
            give(o, 0, y);
            return;
        }
    }
    // integers go through f64, as in the reference implementation
    DType wide = dtype_is_float(t) ? t : F64;
    ValueId exponent = make_cast(o->g, b, wide);
    ValueId y = make_pow(o->g, make_cast(o->g, a, wide), exponent);
    give(o, 0, make_cast(o->g, y, t));
}

// Without fmod, the result has the sign of the divisor, as in Python.
static void import_mod(Op *o)
{
    Graph *g = o->g;
    ValueId a = arg(o, 0), b = arg(o, 1);

    broadcast_pair(o, &a, &b);
    ValueId r = make_mod(g, a, b);
    DType t = arg_value(o, 0)->dtype;
    if (attr_int(o, "fmod", 0) || t == U8 || t == U16 || t == U32 || t == U64) {
        give(o, 0, r);
        return;
    }
    ValueId zero = number(g, r, 0);
    ValueId is_below = make_lt(g, b, zero);
    ValueId differs = exclusive_or(g, make_lt(g, r, zero), is_below);
    ValueId fix = make_and(g, differs, make_not(g, make_eq(g, r, zero)));
    give(o, 0, make_select(g, fix, make_add(g, r, b), r));
}

// Combines any number of operands, for Sum, Max, Min and Mean.
static ValueId combine(Op *o, ValueId (*f)(Graph *, ValueId, ValueId))
{
    Dims d = dims_of(o->g, arg(o, 0));

    for (int i = 1; i < o->n_in; i++) {
        Dims b = dims_of(o->g, arg(o, i));
        if (!dims_broadcast(o, &d, &b))
            return 0;
    }
    ValueId y = broadcast_to(o->g, arg(o, 0), d.rank, d.dim);
    for (int i = 1; i < o->n_in; i++)
        y = f(o->g, y, broadcast_to(o->g, arg(o, i), d.rank, d.dim));
    return y;
}

static void import_sum(Op *o) { give(o, 0, combine(o, make_add)); }

static void import_max(Op *o) { give(o, 0, combine(o, make_max)); }

static void import_min(Op *o) { give(o, 0, combine(o, make_min)); }

static void import_mean(Op *o) { give(o, 0, times(o->g, combine(o, make_add), 1.0 / o->n_in)); }

static ValueId bound(Op *o, int i, const char *name, ValueId x,
                     ValueId (*f)(Graph *, ValueId, ValueId))
{
    double missing = NAN, v = attr_float(o, name, missing);

    if (has(o, i)) {
        Dims d = dims_of(o->g, x);
        return f(o->g, x, broadcast_to(o->g, arg(o, i), d.rank, d.dim));
    }
    return o->opset >= 11 || isnan(v) ? x : f(o->g, x, number(o->g, x, v));
}

// Integers have no gradients, but facts, which follow from max and min.
static void import_clip(Op *o)
{
    bool is_float = dtype_is_float(arg_value(o, 0)->dtype);
    ValueId low = bound(o, 1, "min", arg(o, 0), is_float ? make_clip_low : make_max);

    give(o, 0, bound(o, 2, "max", low, is_float ? make_clip_high : make_min));
}

static void import_where(Op *o)
{
    Dims d = dims_of(o->g, arg(o, 0)), a = dims_of(o->g, arg(o, 1)), b = dims_of(o->g, arg(o, 2));

    if (!dims_broadcast(o, &d, &a) || !dims_broadcast(o, &d, &b))
        return;
    ValueId x[3];
    for (int i = 2; i >= 0; i--)
        x[i] = broadcast_to(o->g, arg(o, i), d.rank, d.dim);
    give(o, 0, make_select(o->g, x[0], x[1], x[2]));
}

static void import_cast(Op *o)
{
    int64_t to = attr_int(o, "to", 0);
    DType t = to > 0 && to < INT32_MAX ? dtype_in_graph((int32_t)to) : DT_NONE;

    if (!t)
        op_error(o, "element type %" PRId64 " is not supported", to);
    else
        give(o, 0, make_cast(o->g, arg(o, 0), t));
}

static void import_cast_like(Op *o)
{
    give(o, 0, make_cast(o->g, arg(o, 0), arg_value(o, 1)->dtype));
}

static void import_identity(Op *o) { o->out[0] = o->in[0]; }

const OpImporter import_elementwise[] = {
    {"Abs", 1, 1, .unary = make_abs},
    {"Add", 2, 2, .binary = make_add},
    {"And", 2, 2, .binary = make_and, .no_gradient = "none: BOOL"},
    {"Atan", 1, 1, .unary = make_atan},
    {"Cast", 1, 1, .import = import_cast, .attrs = "to saturate round_mode",
     .refuses = "types but floats of 16 to 64 bits, integers of 8 to 64 bits and BOOL"},
    {"CastLike", 2, 2, .import = import_cast_like, .attrs = "saturate round_mode", .since = 15},
    {"Ceil", 1, 1, .unary = ceiling, .no_gradient = "zero"},
    {"Clip", 1, 3, .import = import_clip, .attrs = "min max"},
    {"Cos", 1, 1, .unary = make_cos},
    {"Div", 2, 2, .binary = make_div},
    {"Equal", 2, 2, .binary = make_eq, .no_gradient = "none: BOOL"},
    {"Erf", 1, 1, .unary = make_erf, .since = 9},
    {"Exp", 1, 1, .unary = make_exp},
    {"Floor", 1, 1, .unary = make_floor, .no_gradient = "zero"},
    {"Greater", 2, 2, .binary = greater, .no_gradient = "none: BOOL"},
    {"GreaterOrEqual", 2, 2, .binary = greater_or_equal, .since = 12, .no_gradient = "none: BOOL"},
    {"Identity", 1, 1, .import = import_identity},
    {"IsInf", 1, 1, .import = import_is_inf, .attrs = "detect_negative detect_positive",
     .since = 10, .no_gradient = "none: BOOL"},
    {"IsNaN", 1, 1, .unary = make_is_nan, .since = 9, .no_gradient = "none: BOOL"},
    {"Less", 2, 2, .binary = make_lt, .no_gradient = "none: BOOL"},
    {"LessOrEqual", 2, 2, .binary = make_le, .since = 12, .no_gradient = "none: BOOL"},
    {"Log", 1, 1, .unary = make_log},
    {"Max", 1, MAX_OPERANDS, .import = import_max},
    {"Mean", 1, MAX_OPERANDS, .import = import_mean},
    {"Min", 1, MAX_OPERANDS, .import = import_min},
    {"Mod", 2, 2, .import = import_mod, .attrs = "fmod", .since = 10},
    {"Mul", 2, 2, .binary = make_mul},
    {"Neg", 1, 1, .unary = make_neg},
    {"Not", 1, 1, .unary = make_not, .no_gradient = "none: BOOL"},
    {"Or", 2, 2, .binary = make_or, .no_gradient = "none: BOOL"},
    {"Pow", 2, 2, .import = import_pow},
    {"Reciprocal", 1, 1, .unary = make_reciprocal},
    {"Round", 1, 1, .unary = make_round, .since = 11, .no_gradient = "zero"},
    {"Sign", 1, 1, .unary = make_sign, .since = 9, .no_gradient = "zero"},
    {"Sin", 1, 1, .unary = make_sin},
    {"Sqrt", 1, 1, .unary = make_sqrt},
    {"Sub", 2, 2, .binary = make_sub},
    {"Sum", 1, MAX_OPERANDS, .import = import_sum},
    {"Tan", 1, 1, .unary = tangent},
    {"Tanh", 1, 1, .unary = make_tanh},
    {"Where", 3, 3, .import = import_where, .since = 9},
    {"Xor", 2, 2, .binary = exclusive_or, .no_gradient = "none: BOOL"},
    {0},
};
