// The norm pattern: puts norms in one form, which the frontend gives to LayerNormalization too.
//
//     m = Σx · 1/n;  c = x - m;  v = Σ(c · c) · 1/n;  y = c · 1 / √(v + ε)
//
// An RMS norm has the same form without m. Exporters also write pow(c, 2), Σ / n, c / √(v + ε),
// pow(v + ε, -½), √(1 / (v + ε)), and the variance as Σx²/n - m², which loses digits where m is
// large. Each rule here rewrites one of these to its part of the form; no rule needs to see the
// whole norm.
#include "ir/patterns/match.h"

static const Attr *mean_axes(const Match *m, ValueId v)
{
    const Attr *axes;
    ValueId x;

    return is_mean(m, v, &x, &axes) ? axes : NULL;
}

// Is v a mean of squares, or a variance, plus a number?
static bool is_moment(const Match *m, ValueId v)
{
    ValueId x;
    double number;

    return mean_axes(m, v) || (made_with_number(m, v, &op_add, &x, &number) && mean_axes(m, x));
}

// 1 / √v
static ValueId inverse_root(const Match *m, ValueId v)
{
    return make_reciprocal(m->r->to, make_sqrt(m->r->to, now(m, v)));
}

// pow(x, 2), in norms, and pow(x, 3), in the tanh form of GELU, become products.
static bool match_power(const Match *m, const Node *n)
{
    ValueId x, y = 0;
    double power;

    if (!made_with_number(m, n->out[0], &op_pow, &x, &power))
        return false;
    if (power == 2)
        y = make_square(m->r->to, now(m, x));
    else if (power == 3)
        y = make_mul(m->r->to, make_square(m->r->to, now(m, x)), now(m, x));
    else if (power == -0.5 && is_moment(m, x))
        y = inverse_root(m, x);
    return y && replace(m, n, y);
}

static bool match_quotient(const Match *m, const Node *n)
{
    Graph *g = m->r->to;
    const Attr *axes;
    const Node *spread, *root;
    ValueId x, of;
    double number;

    if (is_mean(m, n->out[0], &x, &axes)) {  // Σ / n
        made_with_number(m, n->out[0], &op_div, &of, &number);
        double factor = round_float(value_of(m->g, of)->dtype, 1 / number);
        return replace(m, n, make_mul(g, now(m, of), scalar_like(g, now(m, of), factor)));
    }
    if (!(spread = made_by(m, n->in[1], &op_broadcast)))
        return false;
    if (!(root = made_by(m, spread->in[0], &op_sqrt)) || !is_moment(m, root->in[0]))
        return false;
    const Value *like = out(m->g, n);  // c / √v
    ValueId factor =
        make_broadcast(g, inverse_root(m, root->in[0]), like->rank, like->dim, spread->attr[1].v);
    return replace(m, n, make_mul(g, now(m, n->in[0]), factor));
}

// √(1 / v)
static bool match_root(const Match *m, const Node *n)
{
    const Node *inverse = made_by(m, n->in[0], &op_div);

    return inverse && is_number(m, inverse->in[0], 1) && is_moment(m, inverse->in[1]) &&
           replace(m, n, inverse_root(m, inverse->in[1]));
}

// Σx²/n - m²
static bool match_variance(const Match *m, const Node *n)
{
    Graph *g = m->r->to;
    const Attr *axes, *mean;
    ValueId square, x, centre, y;

    if (!is_mean(m, n->in[0], &square, &axes) || !is_square(m, square, &x) ||
        !is_square(m, n->in[1], &centre) || !is_mean(m, centre, &y, &mean) || x != y ||
        !same_axes(axes, mean))
        return false;
    ValueId c =
        make_sub(g, now(m, x), broadcast_over(g, now(m, centre), now(m, x), axes->n, axes->v));
    return replace(m, n, make_mean(g, make_square(g, c), axes->n, axes->v));
}

bool match_norm(const Match *m, const Node *n)
{
    if (n->op == &op_pow)
        return match_power(m, n);
    if (n->op == &op_div)
        return match_quotient(m, n);
    if (n->op == &op_sqrt)
        return match_root(m, n);
    return n->op == &op_sub && match_variance(m, n);
}
