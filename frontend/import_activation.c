// Imports activations, as compositions of elementwise operators.
#include "frontend/internal.h"

static ValueId number(Graph *g, ValueId like, double v) { return scalar_like(g, like, v); }

static ValueId plus(Graph *g, ValueId x, double v) { return make_add(g, x, number(g, x, v)); }

static ValueId times(Graph *g, ValueId x, double v) { return make_mul(g, x, number(g, x, v)); }

// A select is used instead of a max, because max has the gradient 1/2 at 0.
ValueId relu(Graph *g, ValueId x)
{
    ValueId zero = number(g, x, 0);

    return make_select(g, make_le(g, x, zero), zero, x);
}

static ValueId softsign(Graph *g, ValueId x) { return make_div(g, x, plus(g, make_abs(g, x), 1)); }

static ValueId mish(Graph *g, ValueId x)
{
    return make_mul(g, x, make_tanh(g, make_softplus(g, x)));
}

static ValueId hard_sigmoid(Graph *g, ValueId x, double alpha, double beta)
{
    ValueId y = plus(g, times(g, x, alpha), beta);

    y = make_clip_low(g, y, number(g, y, 0));
    return make_clip_high(g, y, number(g, y, 1));
}

static ValueId hard_swish(Graph *g, ValueId x)
{
    return make_mul(g, x, hard_sigmoid(g, x, 1.0 / 6, 0.5));
}

static void import_hard_sigmoid(Op *o)
{
    give(o, 0,
         hard_sigmoid(o->g, arg(o, 0), attr_float(o, "alpha", (float)0.2),
                      attr_float(o, "beta", 0.5)));
}

// `positive` where x > 0, else `negative`.
static ValueId where_positive(Graph *g, ValueId x, ValueId positive, ValueId negative)
{
    return make_select(g, make_lt(g, number(g, x, 0), x), positive, negative);
}

static void import_leaky_relu(Op *o)
{
    ValueId x = arg(o, 0);

    give(o, 0, where_positive(o->g, x, x, times(o->g, x, attr_float(o, "alpha", (float)0.01))));
}

// The slope's dims are aligned at the end. In opset 7 and 8 there may be one slope per channel
// instead.
static void import_prelu(Op *o)
{
    ValueId x = arg(o, 0);
    Dims d = dims_of(o->g, x);
    ValueId slope = broadcast_to(o->g, arg(o, 1), d.rank, d.dim);

    give(o, 0, where_positive(o->g, x, x, make_mul(o->g, x, slope)));
}

// e^x - 1 where x ≤ 0, and 0 elsewhere, so that the side that a select doesn't take stays finite.
static ValueId exp_minus_one(Graph *g, ValueId x)
{
    ValueId zero = number(g, x, 0);

    return make_expm1(g, where_positive(g, x, zero, x));
}

static void import_elu(Op *o)
{
    ValueId x = arg(o, 0), e = exp_minus_one(o->g, x);

    give(o, 0, where_positive(o->g, x, x, times(o->g, e, attr_float(o, "alpha", 1))));
}

static void import_celu(Op *o)
{
    double alpha = attr_float(o, "alpha", 1);
    ValueId x = arg(o, 0), e = exp_minus_one(o->g, times(o->g, x, 1 / alpha));

    give(o, 0, where_positive(o->g, x, x, times(o->g, e, alpha)));
}

static void import_selu(Op *o)
{
    double alpha = attr_float(o, "alpha", (float)1.6732632423543772);
    double gamma = attr_float(o, "gamma", (float)1.0507009873554805);
    ValueId x = arg(o, 0), e = times(o->g, exp_minus_one(o->g, x), alpha);

    give(o, 0, times(o->g, where_positive(o->g, x, x, e), gamma));
}

static void import_thresholded_relu(Op *o)
{
    ValueId x = arg(o, 0), a = number(o->g, x, attr_float(o, "alpha", 1));
    ValueId zero = number(o->g, x, 0);

    give(o, 0, make_select(o->g, make_lt(o->g, a, x), x, zero));
}

// x nearer to 0 by the bias, and 0 where |x| is at most lambd.
static void import_shrink(Op *o)
{
    Graph *g = o->g;
    ValueId x = arg(o, 0), limit = number(g, x, attr_float(o, "lambd", 0.5));
    ValueId bias = number(g, x, attr_float(o, "bias", 0)), zero = number(g, x, 0);
    ValueId is_low = make_lt(g, x, make_neg(g, limit)), is_high = make_lt(g, limit, x);
    ValueId high = make_select(g, is_high, make_sub(g, x, bias), zero);

    give(o, 0, make_select(g, is_low, make_add(g, x, bias), high));
}

// x / 2 · (1 + erf(x / √2)); approximate: x / 2 · (1 + tanh(√(2/π) · (x + 0.044715 x³))).
static void import_gelu(Op *o)
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
    t = plus(g, t, 1);
    give(o, 0, make_mul(g, times(g, x, 0.5), t));
}

static ValueId swish(const Op *o, ValueId x)
{
    ValueId s = make_sigmoid(o->g, times(o->g, x, attr_float(o, "alpha", 1)));

    return make_mul(o->g, x, s);
}

static void import_swish(Op *o) { give(o, 0, swish(o, arg(o, 0))); }

// Halves are rounded once, at the end.
static void import_swiglu(Op *o)
{
    Graph *g = o->g;
    DType t = arg_value(o, 0)->dtype, wide = t == F64 ? F64 : F32;
    ValueId gate = swish(o, make_cast(g, arg(o, 0), wide));

    give(o, 0, make_cast(g, make_mul(g, gate, make_cast(g, arg(o, 1), wide)), t));
}

const OpImporter import_activation[] = {
    {"Celu", 1, 1, .import = import_celu, .attrs = "alpha", .since = 12},
    {"Elu", 1, 1, .import = import_elu, .attrs = "alpha"},
    {"Gelu", 1, 1, .import = import_gelu, .attrs = "approximate", .since = 20},
    {"HardSigmoid", 1, 1, .import = import_hard_sigmoid, .attrs = "alpha beta"},
    {"HardSwish", 1, 1, .unary = hard_swish, .since = 14},
    {"LeakyRelu", 1, 1, .import = import_leaky_relu, .attrs = "alpha"},
    {"Mish", 1, 1, .unary = mish, .since = 18},
    {"PRelu", 2, 2, .import = import_prelu},
    {"Relu", 1, 1, .unary = relu},
    {"Selu", 1, 1, .import = import_selu, .attrs = "alpha gamma"},
    {"Shrink", 1, 1, .import = import_shrink, .attrs = "bias lambd", .since = 9},
    {"Sigmoid", 1, 1, .unary = make_sigmoid},
    {"Softplus", 1, 1, .unary = make_softplus},
    {"Softsign", 1, 1, .unary = softsign},
    {"SwiGLU", 2, 2, .import = import_swiglu, .attrs = "alpha", .since = 28},
    {"Swish", 1, 1, .import = import_swish, .attrs = "alpha", .since = 24},
    {"ThresholdedRelu", 1, 1, .import = import_thresholded_relu, .attrs = "alpha", .since = 10},
    {0},
};
