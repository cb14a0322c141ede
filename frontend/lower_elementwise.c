// Elementwise operators. Broadcasting is made explicit; activations are compositions.
#include "frontend/internal.h"

static ValueId number(Graph *g, ValueId like, double v) { return scalar_like(g, like, v); }

static ValueId plus(Graph *g, ValueId x, double v) { return make_add(g, x, number(g, x, v)); }

static ValueId times(Graph *g, ValueId x, double v) { return make_mul(g, x, number(g, x, v)); }

// ---- comparisons ----

static ValueId greater(Graph *g, ValueId a, ValueId b) { return make_lt(g, b, a); }

static ValueId greater_or_equal(Graph *g, ValueId a, ValueId b) { return make_le(g, b, a); }

static ValueId exclusive_or(Graph *g, ValueId a, ValueId b)
{
    return make_not(g, make_eq(g, a, b));
}

static void lower_is_inf(Op *o)
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

static ValueId tangent(Graph *g, ValueId x) { return make_div(g, make_sin(g, x), make_cos(g, x)); }

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

static void lower_pow(Op *o)
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
    // Integers go through f64, as the reference implementation does.
    DType wide = dtype_is_float(t) ? t : F64;
    ValueId y = make_pow(o->g, make_cast(o->g, a, wide), make_cast(o->g, b, wide));
    give(o, 0, make_cast(o->g, y, t));
}

// Without fmod the result has the divisor's sign, as Python's.
static void lower_mod(Op *o)
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
    ValueId differs = exclusive_or(g, make_lt(g, r, zero), make_lt(g, b, zero));
    ValueId fix = make_and(g, differs, make_not(g, make_eq(g, r, zero)));
    give(o, 0, make_select(g, fix, make_add(g, r, b), r));
}

// Sum, Max, Min, Mean of any number of operands.
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

static void lower_sum(Op *o) { give(o, 0, combine(o, make_add)); }

static void lower_max(Op *o) { give(o, 0, combine(o, make_max)); }

static void lower_min(Op *o) { give(o, 0, combine(o, make_min)); }

static void lower_mean(Op *o) { give(o, 0, times(o->g, combine(o, make_add), 1.0 / o->n_in)); }

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

static void lower_clip(Op *o)
{
    ValueId low = bound(o, 1, "min", arg(o, 0), make_max);

    give(o, 0, bound(o, 2, "max", low, make_min));
}

static void lower_where(Op *o)
{
    Dims d = dims_of(o->g, arg(o, 0)), a = dims_of(o->g, arg(o, 1)), b = dims_of(o->g, arg(o, 2));

    if (!dims_broadcast(o, &d, &a) || !dims_broadcast(o, &d, &b))
        return;
    give(o, 0,
         make_select(o->g, broadcast_to(o->g, arg(o, 0), d.rank, d.dim),
                     broadcast_to(o->g, arg(o, 1), d.rank, d.dim),
                     broadcast_to(o->g, arg(o, 2), d.rank, d.dim)));
}

static void lower_cast(Op *o)
{
    int64_t to = attr_int(o, "to", 0);
    DType t = to > 0 && to < INT32_MAX ? dtype_of_onnx((int32_t)to) : DT_NONE;

    if (!t)
        op_error(o, "element type %" PRId64 " is not supported", to);
    else
        give(o, 0, make_cast(o->g, arg(o, 0), t));
}

static void lower_cast_like(Op *o)
{
    give(o, 0, make_cast(o->g, arg(o, 0), arg_value(o, 1)->dtype));
}

// ---- activations ----

// A select rather than a max, whose gradient at 0 would be a half.
static ValueId relu(Graph *g, ValueId x)
{
    ValueId zero = number(g, x, 0);

    return make_select(g, make_le(g, x, zero), zero, x);
}

// max(x, 0) + log(1 + exp(-|x|)): no overflow.
static ValueId softplus(Graph *g, ValueId x)
{
    ValueId e = make_exp(g, make_neg(g, make_abs(g, x)));

    return make_add(g, relu(g, x), make_log(g, plus(g, e, 1)));
}

static ValueId softsign(Graph *g, ValueId x) { return make_div(g, x, plus(g, make_abs(g, x), 1)); }

static ValueId mish(Graph *g, ValueId x) { return make_mul(g, x, make_tanh(g, softplus(g, x))); }

static ValueId hard_sigmoid(Graph *g, ValueId x, double alpha, double beta)
{
    ValueId y = plus(g, times(g, x, alpha), beta);

    return make_min(g, make_max(g, y, number(g, y, 0)), number(g, y, 1));
}

static ValueId hard_swish(Graph *g, ValueId x)
{
    return make_mul(g, x, hard_sigmoid(g, x, 1.0 / 6, 0.5));
}

static void lower_hard_sigmoid(Op *o)
{
    give(o, 0,
         hard_sigmoid(o->g, arg(o, 0), attr_float(o, "alpha", (float)0.2),
                      attr_float(o, "beta", 0.5)));
}

// x where positive, else `negative`.
static ValueId where_positive(Graph *g, ValueId x, ValueId positive, ValueId negative)
{
    return make_select(g, make_lt(g, number(g, x, 0), x), positive, negative);
}

static void lower_leaky_relu(Op *o)
{
    ValueId x = arg(o, 0);

    give(o, 0, where_positive(o->g, x, x, times(o->g, x, attr_float(o, "alpha", (float)0.01))));
}

// The slope's dims are aligned at the end, or, in opset 7 and 8, one per channel.
static void lower_prelu(Op *o)
{
    ValueId x = arg(o, 0);
    Dims d = dims_of(o->g, x);
    ValueId slope = broadcast_to(o->g, arg(o, 1), d.rank, d.dim);

    give(o, 0, where_positive(o->g, x, x, make_mul(o->g, x, slope)));
}

// The argument of exp is held at 0, so that the side that isn't taken stays finite.
static ValueId exp_minus_one(Graph *g, ValueId x)
{
    return plus(g, make_exp(g, make_min(g, x, number(g, x, 0))), -1);
}

static void lower_elu(Op *o)
{
    ValueId x = arg(o, 0), e = exp_minus_one(o->g, x);

    give(o, 0, where_positive(o->g, x, x, times(o->g, e, attr_float(o, "alpha", 1))));
}

static void lower_celu(Op *o)
{
    double alpha = attr_float(o, "alpha", 1);
    ValueId x = arg(o, 0), e = exp_minus_one(o->g, times(o->g, x, 1 / alpha));

    give(o, 0, where_positive(o->g, x, x, times(o->g, e, alpha)));
}

static void lower_selu(Op *o)
{
    double alpha = attr_float(o, "alpha", (float)1.6732632423543772);
    double gamma = attr_float(o, "gamma", (float)1.0507009873554805);
    ValueId x = arg(o, 0), e = times(o->g, exp_minus_one(o->g, x), alpha);

    give(o, 0, times(o->g, where_positive(o->g, x, x, e), gamma));
}

static void lower_thresholded_relu(Op *o)
{
    ValueId x = arg(o, 0), a = number(o->g, x, attr_float(o, "alpha", 1));

    give(o, 0, make_select(o->g, make_lt(o->g, a, x), x, number(o->g, x, 0)));
}

// x / 2 · (1 + erf(x / √2)), or with tanh(√(2/π) · (x + 0.044715 x³)).
static void lower_gelu(Op *o)
{
    Graph *g = o->g;
    ValueId x = arg(o, 0), t;

    if (!strcmp(attr_text(o, "approximate", "none"), "tanh")) {
        ValueId cube = make_mul(g, make_square(g, x), x);
        ValueId inner = make_add(g, x, times(g, cube, 0.044715));
        t = make_tanh(g, times(g, inner, 0.79788456080286541));
    } else {
        t = make_erf(g, times(g, x, 0.70710678118654757));
    }
    give(o, 0, make_mul(g, times(g, x, 0.5), plus(g, t, 1)));
}

static void lower_swish(Op *o)
{
    ValueId x = arg(o, 0), s = make_sigmoid(o->g, times(o->g, x, attr_float(o, "alpha", 1)));

    give(o, 0, make_mul(o->g, x, s));
}

static void lower_identity(Op *o) { o->out[0] = o->in[0]; }

const Lowering lower_elementwise[] = {
    {"Abs", 1, 1, .unary = make_abs},
    {"Add", 2, 2, .binary = make_add},
    {"And", 2, 2, .binary = make_and},
    {"Cast", 1, 1, .lower = lower_cast},
    {"CastLike", 2, 2, .lower = lower_cast_like},
    {"Ceil", 1, 1, .unary = ceiling},
    {"Celu", 1, 1, .lower = lower_celu},
    {"Clip", 1, 3, .lower = lower_clip},
    {"Cos", 1, 1, .unary = make_cos},
    {"Div", 2, 2, .binary = make_div},
    {"Elu", 1, 1, .lower = lower_elu},
    {"Equal", 2, 2, .binary = make_eq},
    {"Erf", 1, 1, .unary = make_erf},
    {"Exp", 1, 1, .unary = make_exp},
    {"Floor", 1, 1, .unary = make_floor},
    {"Gelu", 1, 1, .lower = lower_gelu},
    {"Greater", 2, 2, .binary = greater},
    {"GreaterOrEqual", 2, 2, .binary = greater_or_equal},
    {"HardSigmoid", 1, 1, .lower = lower_hard_sigmoid},
    {"HardSwish", 1, 1, .unary = hard_swish},
    {"Identity", 1, 1, .lower = lower_identity},
    {"IsInf", 1, 1, .lower = lower_is_inf},
    {"IsNaN", 1, 1, .unary = make_is_nan},
    {"LeakyRelu", 1, 1, .lower = lower_leaky_relu},
    {"Less", 2, 2, .binary = make_lt},
    {"LessOrEqual", 2, 2, .binary = make_le},
    {"Log", 1, 1, .unary = make_log},
    {"Max", 1, MAX_OPERANDS, .lower = lower_max},
    {"Mean", 1, MAX_OPERANDS, .lower = lower_mean},
    {"Min", 1, MAX_OPERANDS, .lower = lower_min},
    {"Mish", 1, 1, .unary = mish},
    {"Mod", 2, 2, .lower = lower_mod},
    {"Mul", 2, 2, .binary = make_mul},
    {"Neg", 1, 1, .unary = make_neg},
    {"Not", 1, 1, .unary = make_not},
    {"Or", 2, 2, .binary = make_or},
    {"PRelu", 2, 2, .lower = lower_prelu},
    {"Pow", 2, 2, .lower = lower_pow},
    {"Reciprocal", 1, 1, .unary = make_reciprocal},
    {"Relu", 1, 1, .unary = relu},
    {"Round", 1, 1, .unary = make_round},
    {"Selu", 1, 1, .lower = lower_selu},
    {"Sigmoid", 1, 1, .unary = make_sigmoid},
    {"Sign", 1, 1, .unary = make_sign},
    {"Sin", 1, 1, .unary = make_sin},
    {"Softplus", 1, 1, .unary = softplus},
    {"Softsign", 1, 1, .unary = softsign},
    {"Sqrt", 1, 1, .unary = make_sqrt},
    {"Sub", 2, 2, .binary = make_sub},
    {"Sum", 1, MAX_OPERANDS, .lower = lower_sum},
    {"Swish", 1, 1, .lower = lower_swish},
    {"Tan", 1, 1, .unary = tangent},
    {"Tanh", 1, 1, .unary = make_tanh},
    {"ThresholdedRelu", 1, 1, .lower = lower_thresholded_relu},
    {"Where", 3, 3, .lower = lower_where},
    {"Xor", 2, 2, .binary = exclusive_or},
    {0},
};
