// Imports trigonometric and hyperbolic functions that are compositions. Each keeps its digits near
// 0 and near the ends of its domain, and so does its gradient; none overflows before its result.
#include "frontend/internal.h"

static ValueId number(Graph *g, ValueId like, double v) { return scalar_like(g, like, v); }

static ValueId plus(Graph *g, ValueId x, double v) { return make_add(g, x, number(g, x, v)); }

static ValueId times(Graph *g, ValueId x, double v) { return make_mul(g, x, number(g, x, v)); }

static ValueId one_minus(Graph *g, ValueId x) { return make_sub(g, number(g, x, 1), x); }

// `exact`, with the gradient of `plain`: the same number by a formula that loses digits, but has no
// product of 0 and an infinite slope at the end of the domain.
static ValueId as_exact(Graph *g, ValueId plain, ValueId exact)
{
    return make_add(g, plain, make_stop_gradient(g, make_sub(g, exact, plain)));
}

// The side of a function that is known for x ≥ 0. A product with the sign of x would have the
// gradient 0 at 0.
static ValueId absolute(Graph *g, ValueId x, ValueId is_negative)
{
    return make_select(g, is_negative, make_neg(g, x), x);
}

static ValueId below_zero(Graph *g, ValueId x) { return make_lt(g, x, number(g, x, 0)); }

// asin x = 2 atan(x / (1 + √(1 - x²))), where (1 - x)(1 + x) keeps its digits.
static ValueId arc_sine(Graph *g, ValueId x)
{
    ValueId square =
        as_exact(g, one_minus(g, make_square(g, x)), make_mul(g, one_minus(g, x), plus(g, x, 1)));

    return times(g, make_atan(g, make_div(g, x, plus(g, make_sqrt(g, square), 1))), 2);
}

// acos x = 2 atan √((1 - x) / (1 + x)) for x ≥ 0, and π - acos(-x) below.
static ValueId arc_cosine(Graph *g, ValueId x)
{
    ValueId is_negative = below_zero(g, x), a = absolute(g, x, is_negative);
    ValueId above = plus(g, a, 1);
    ValueId plain = plus(g, make_div(g, number(g, x, 2), above), -1);
    ValueId part = as_exact(g, plain, make_div(g, one_minus(g, a), above));
    ValueId y = times(g, make_atan(g, make_sqrt(g, part)), 2);

    return make_select(g, is_negative, make_sub(g, number(g, x, 3.14159265358979312), y), y);
}

// Squares above this overflow or are larger than 1 by all their digits: there acosh and asinh are
// log 2x, in f64 too.
static const double LARGE = 1 << 27;

// The logarithm of 1 + f(x) where x is at most LARGE, and of 2 x elsewhere. A side that isn't taken
// has the operand 2, so that it stays finite, and so does its gradient.
static ValueId log_of(Graph *g, ValueId x, ValueId (*f)(Graph *g, ValueId x))
{
    ValueId is_large = make_lt(g, number(g, x, LARGE), x), two = number(g, x, 2);
    ValueId near = make_log1p(g, f(g, make_select(g, is_large, two, x)));
    ValueId far = make_log(g, make_select(g, is_large, x, two));

    return make_select(g, is_large, plus(g, far, 0.69314718055994531), near);
}

// asinh x = log(1 + x + x² / (1 + √(1 + x²))) for x ≥ 0.
static ValueId over_sine(Graph *g, ValueId x)
{
    ValueId square = make_square(g, x), root = make_sqrt(g, plus(g, square, 1));

    return make_add(g, x, make_div(g, square, plus(g, root, 1)));
}

static ValueId area_sine(Graph *g, ValueId x)
{
    ValueId is_negative = below_zero(g, x);
    ValueId y = log_of(g, absolute(g, x, is_negative), over_sine);

    return make_select(g, is_negative, make_neg(g, y), y);
}

// acosh x = log(1 + t + √(t (x + 1))) with t = x - 1.
static ValueId over_cosine(Graph *g, ValueId x)
{
    ValueId t = plus(g, x, -1);

    ValueId square = as_exact(g, plus(g, make_square(g, x), -1), make_mul(g, t, plus(g, x, 1)));

    return make_add(g, t, make_sqrt(g, square));
}

static ValueId area_cosine(Graph *g, ValueId x) { return log_of(g, x, over_cosine); }

// atanh x = (log(1 + x) - log(1 - x)) / 2: near 0 both terms have one sign.
static ValueId area_tangent(Graph *g, ValueId x)
{
    ValueId less = make_log1p(g, make_neg(g, x));

    return times(g, make_sub(g, make_log1p(g, x), less), 0.5);
}

// (e^x - e^-x) / 2, whose terms keep their digits near 0.
static ValueId half_difference(Graph *g, ValueId x)
{
    ValueId less = make_expm1(g, make_neg(g, x));

    return times(g, make_sub(g, make_expm1(g, x), less), 0.5);
}

// Above this, e^-x is less than a rounding of e^x, in f64 too.
static const double STEEP = 20;

// e^x / 2 for x > STEEP, else near(x), which gets 0 elsewhere. e^x itself may overflow before its
// half does; x - 1 has no rounding.
static ValueId steep(Graph *g, ValueId x, ValueId (*near)(Graph *g, ValueId x))
{
    ValueId is_steep = make_lt(g, number(g, x, STEEP), x), zero = number(g, x, 0);
    ValueId power = make_exp(g, plus(g, make_select(g, is_steep, x, zero), -1));
    ValueId small = near(g, make_select(g, is_steep, zero, x));

    return make_select(g, is_steep, times(g, power, 1.3591409142295225), small);
}

static ValueId hyperbolic_sine(Graph *g, ValueId x)
{
    ValueId is_negative = below_zero(g, x);
    ValueId y = steep(g, absolute(g, x, is_negative), half_difference);

    return make_select(g, is_negative, make_neg(g, y), y);
}

// cosh x = 1 + 2 s² with s = sinh(x / 2): its gradient keeps its digits near 0.
static ValueId near_cosine(Graph *g, ValueId x)
{
    ValueId s = half_difference(g, times(g, x, 0.5));

    return plus(g, make_mul(g, times(g, s, 2), s), 1);
}

static ValueId hyperbolic_cosine(Graph *g, ValueId x)
{
    return steep(g, absolute(g, x, below_zero(g, x)), near_cosine);
}

const OpImporter import_trigonometry[] = {
    {"Acos", 1, 1, .unary = arc_cosine},
    {"Acosh", 1, 1, .unary = area_cosine, .since = 9},
    {"Asin", 1, 1, .unary = arc_sine},
    {"Asinh", 1, 1, .unary = area_sine, .since = 9},
    {"Atanh", 1, 1, .unary = area_tangent, .since = 9},
    {"Cosh", 1, 1, .unary = hyperbolic_cosine, .since = 9},
    {"Sinh", 1, 1, .unary = hyperbolic_sine, .since = 9},
    {0},
};
