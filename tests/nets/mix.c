// Layers that mix features: products, activations, norms, gates, attention.
#include "tests/nets/net.h"

#include <math.h>
#include <stdio.h>

ValueId layer_linear(Net *n, ValueId x, const int *arg)
{
    int rank = net_rank(n, x);
    // The axis is never the batch, because a net's samples are independent.
    int axis = arg[2] % 3 == 2 && rank > 2 ? 1 + arg[3] % (rank - 1) : n->axis;

    return net_linear(n, x, axis, net_size(n, x, axis), arg[0] % 2, arg[1] % 2);
}

ValueId layer_mlp(Net *n, ValueId x, const int *arg)
{
    int64_t width = net_size(n, x, n->axis);
    ValueId h = net_linear(n, x, n->axis, width + 1 + arg[2] % 4, arg[0] % 2, arg[1] % 2);

    return h ? net_linear(n, net_activation(n, h, arg[3], arg[3]), n->axis, width, arg[0] % 2,
                          arg[1] % 2)
             : 0;
}

ValueId layer_act(Net *n, ValueId x, const int *arg)
{
    return net_activation(n, x, arg[0], arg[1]);
}

ValueId layer_norm(Net *n, ValueId x, const int *arg)
{
    return net_norm(n, x, arg[0], arg[1], arg[2] % 2 == 0);
}

ValueId layer_scale(Net *n, ValueId x, const int *arg)
{
    Graph *g = n->g;
    ValueId c = scalar_like(g, x, 0.5 + 0.3 * (arg[1] % 5));

    switch (arg[0] % 8) {
    case 0:
        return make_mul(g, x, c);
    case 1:
        return make_add(g, x, c);
    case 2:
        return make_sub(g, c, x);
    case 3:
        return make_div(g, x, c);
    case 4:
        return make_max(g, x, make_neg(g, c));
    case 5:  // (x² + c) to a power
        x = make_add(g, make_mul(g, x, x), c);
        return make_pow(g, x, scalar_like(g, x, 0.4 + 0.2 * (arg[2] % 4)));
    case 6:  // one scalar parameter
        return make_mul(g, x, broadcast_like(g, net_parameter(n, "scale", 0, NULL), x));
    default:
        return make_add(g, make_mul(g, x, c), scalar_like(g, x, -0.2 * (arg[2] % 3)));
    }
}

ValueId layer_gate(Net *n, ValueId x, const int *arg)
{
    Graph *g = n->g;
    int64_t width = net_size(n, x, n->axis);

    if (arg[0] % 3 == 0) {
        ValueId z = net_linear(n, x, n->axis, width, arg[1] % 2, false);
        return make_mul(g, x, make_sigmoid(g, z));
    }
    // Two halves of one product, or two products.
    ValueId a, b;
    if (arg[0] % 3 == 1) {
        ValueId both = net_linear(n, x, n->axis, 2 * width, arg[1] % 2, false);
        a = net_part(n, both, n->axis, 0, width);
        b = net_part(n, both, n->axis, width, width);
    } else {
        a = net_linear(n, x, n->axis, width, arg[1] % 2, false);
        b = net_linear(n, x, n->axis, width, arg[1] % 2, false);
    }
    return make_mul(g, a, net_activation(n, b, arg[2], arg[3]));
}

// ---- attention ----

// Reshapes [n, t, d] to heads: [n, h, t, d / h].
static ValueId as_heads(Net *n, ValueId x, int64_t heads)
{
    Value v = *value_of(n->g, x);
    int64_t dim[] = {v.dim[0], v.dim[1], heads, v.dim[2] / heads}, perm[] = {0, 2, 1, 3};

    return make_transpose(n->g, make_reshape(n->g, x, 4, dim), perm);
}

static ValueId masked(Net *n, ValueId s, int which, int variant)
{
    Graph *g = n->g;
    Value v = *value_of(g, s);
    ValueId row = make_iota(g, I64, v.rank, v.dim, 2), column = make_iota(g, I64, v.rank, v.dim, 3);
    int64_t dim[] = {v.dim[2], v.dim[3]}, dims[] = {2, 3}, heads[] = {v.dim[1], v.dim[2], v.dim[3]};
    double low = variant % 2 ? -1e9 : -INFINITY;

    switch (which % 6) {
    case 1:  // causal
        return make_select(g, make_le(g, column, row), s, scalar_like(g, s, low));
    case 2:  // causal in a window
        row = make_sub(g, row, column);
        return make_select(g,
                           make_and(g, make_le(g, scalar_like(g, row, 0), row),
                                    make_le(g, row, scalar_like(g, row, 1 + variant % 3))),
                           s, scalar_like(g, s, low));
    case 3:  // adds a table
        return make_add(g, s,
                        make_broadcast(g, net_table(n, 2, dim, variant), v.rank, v.dim, dims));
    case 4:  // adds a learned bias per head
        return make_add(g, s,
                        make_broadcast(g, net_parameter(n, "bias", 3, heads), v.rank, v.dim,
                                       (int64_t[]){1, 2, 3}));
    case 5:  // every second or third element, counted from one's own
        column = make_mod(g, make_sub(g, row, column), scalar_like(g, row, 2 + variant % 2));
        return make_select(g, make_eq(g, column, scalar_like(g, column, 0)), s,
                           scalar_like(g, s, low));
    default:
        return s;
    }
}

static ValueId attend(Net *n, ValueId q, ValueId k, ValueId v, const int *arg)
{
    Graph *g = n->g;
    double scale = 1 / sqrt((double)net_size(n, q, 3)) * (arg[3] % 4 == 3 ? 1.5 : 1);

    if (arg[3] % 4 == 1)
        q = make_mul(g, q, scalar_like(g, q, scale));
    ValueId s = make_dot(g, q, k, "bhse,bhte->bhst");
    if (arg[3] % 4 != 1)
        s = make_mul(g, s, scalar_like(g, s, scale));
    s = n->hides ? net_hide(n, s, arg) : masked(n, s, arg[0], arg[1]);
    ValueId w = make_softmax(g, s, 3);
    if (n->hides)
        w = net_guard(n, w, arg);
    if (n->training && arg[3] % 8 == 7) {
        ValueId keep = make_le(g, scalar_like(g, w, 0.3), net_random(n, w));
        w = make_select(g, keep, make_mul(g, w, scalar_like(g, w, 1 / 0.7)), scalar_like(g, w, 0));
    }
    return make_dot(g, w, v, "bhst,bhte->bhse");
}

// Computes attention of [n, t, d]. Values of other ranks are reshaped to that.
static ValueId attend_rows(Net *n, ValueId x, const int *arg)
{
    Graph *g = n->g;
    Value like = *value_of(g, x);
    int64_t d = like.dim[2], heads = arg[2] % 2 && d % 2 == 0 ? 2 : 1;
    ValueId q, k, v;

    if (arg[2] % 4 >= 2) {
        ValueId all = net_linear(n, x, 2, 3 * d, arg[1] % 2, false);
        q = net_part(n, all, 2, 0, d);
        k = net_part(n, all, 2, d, d);
        v = net_part(n, all, 2, 2 * d, d);
    } else {
        q = net_linear(n, x, 2, d, arg[1] % 2, false);
        k = net_linear(n, x, 2, d, false, false);
        v = net_linear(n, x, 2, d, arg[1] % 2, false);
    }
    x = attend(n, as_heads(n, q, heads), as_heads(n, k, heads), as_heads(n, v, heads), arg);
    if (!x)
        return 0;
    x = make_reshape(g, make_transpose(g, x, (int64_t[]){0, 2, 1, 3}), 3, like.dim);
    return net_linear(n, x, 2, d, false, false);
}

ValueId layer_attend(Net *n, ValueId x, const int *arg)
{
    Graph *g = n->g;
    Value like = *value_of(g, x);
    int64_t perm[MAX_RANK] = {0}, back[MAX_RANK], rows = 1;
    int k = 0;

    if (like.rank == 2)
        return layer_gate(n, x, arg);
    for (int i = 0; i < like.rank; i++)
        if (i != n->axis)
            perm[k++] = i;
    perm[k] = n->axis;
    for (int i = 0; i < like.rank; i++)
        back[perm[i]] = i;
    ValueId transposed = make_transpose(g, x, perm);
    Value t = *value_of(g, transposed);
    for (int i = 1; i + 1 < t.rank; i++)
        rows *= t.dim[i];
    int64_t dim[] = {t.dim[0], rows, t.dim[t.rank - 1]};
    ValueId y = attend_rows(n, make_reshape(g, transposed, 3, dim), arg);
    return y ? make_transpose(g, make_reshape(g, y, t.rank, t.dim), back) : 0;
}

ValueId layer_masked(Net *n, ValueId x, const int *arg)
{
    n->hides = true;
    x = layer_attend(n, x, arg);
    n->hides = false;
    return x;
}

// Parameters that are added up before they are used, so that they share one gradient.
ValueId layer_summed(Net *n, ValueId x, const int *arg)
{
    Graph *g = n->g;
    int64_t c = net_size(n, x, n->axis), dim[] = {c, c};
    int rank = net_rank(n, x), k = arg[0] % 3 == 1 ? 2 : 1;
    ValueId a = net_parameter(n, k > 1 ? "weight" : "bias", k, dim);
    ValueId b = net_parameter(n, k > 1 ? "weight" : "bias", k, dim);
    ValueId sum = make_add(g, a, b);

    if (arg[0] % 3 == 2)  // three of them
        sum = make_add(g, sum, net_parameter(n, "bias", 1, dim));
    if (k == 1) {
        x = arg[2] % 2 ? net_linear(n, x, n->axis, c, false, false) : x;
        x = x ? make_add(g, x, net_along(n, sum, x, n->axis)) : 0;
    } else {
        char in[8] = "abcdef", out[8] = "abcdef", eq[32];
        in[rank] = out[rank] = 0;
        out[n->axis] = 'z';
        snprintf(eq, sizeof eq, "%s,%cz->%s", in, in[n->axis], out);
        x = make_dot(g, x, sum, eq);
    }
    return x ? net_activation(n, x, arg[1], arg[3]) : 0;
}

// Computes x xᵀ x for each sample, as a matrix of dim 1 by all later dims.
ValueId layer_gram(Net *n, ValueId x, const int *arg)
{
    Graph *g = n->g;
    Value like = *value_of(g, x);
    int64_t dim[] = {like.dim[0], like.dim[1], 1};

    for (int i = 2; i < like.rank; i++)
        dim[2] *= like.dim[i];
    ValueId m = make_reshape(g, x, 3, dim);
    ValueId s = make_dot(g, m, m, arg[0] % 2 ? "bij,bik->bjk" : "bij,bkj->bik");
    s = make_mul(g, s, scalar_like(g, s, 0.1 + 0.05 * (arg[1] % 4)));
    ValueId y = make_dot(g, s, m, arg[0] % 2 ? "bjk,bik->bij" : "bik,bkj->bij");
    return make_reshape(g, y, like.rank, like.dim);
}

ValueId layer_dropout(Net *n, ValueId x, const int *arg)
{
    Graph *g = n->g;
    double p = 0.2 + 0.1 * (arg[0] % 4);

    if (!n->training)
        return x;
    ValueId keep = make_le(g, scalar_like(g, x, p), net_random(n, x));
    ValueId scaled = make_mul(g, x, scalar_like(g, x, 1 / (1 - p)));
    return make_select(g, keep, scaled, scalar_like(g, x, 0));
}
