// Builds the parts of layers: parameters by name, tables, products, activations, norms.
#include "tests/nets/net.h"

#include <stdio.h>
#include <string.h>

// ---- values without producer ----

static ValueId find_value(const Graph *g, const char *name)
{
    for (ValueId v = 1; v < g->n_values; v++)
        if (g->values[v].name && !strcmp(g->values[v].name, name))
            return v;
    return 0;
}

static bool has_dims(const Value *v, int rank, const int64_t *dim)
{
    if (v->rank != rank)
        return false;
    for (int i = 0; i < rank; i++)
        if (v->dim[i] != dim[i])
            return false;
    return true;
}

static ValueId named(Net *n, ValueKind kind, const char *what, int rank, const int64_t *dim)
{
    Graph *g = n->g;
    int block = n->r->like[n->block];
    bool is_shared = n->r->shared >> n->layer & 1;
    const char *name = is_shared
                           ? arena_string(g->arena, "all.%d.%d.%s", n->layer, n->part, what)
                           : arena_string(g->arena, "b%d.%d.%d.%s", block, n->layer, n->part, what);
    ValueId v = find_value(g, name);

    n->part++;
    if (v && has_dims(value_of(g, v), rank, dim) && value_of(g, v)->kind == kind)
        return v;
    for (int k = 0; v; k++) {
        name = arena_string(g->arena, "b%d.%d.%d.%d.%s", n->block, n->layer, n->part, k, what);
        v = find_value(g, name);
    }
    const char *frozen = recipe_freeze(n->r);
    if (kind == VALUE_PARAMETER && frozen && glob_match(frozen, name))
        kind = VALUE_BUFFER;
    return graph_value(g, kind, name, F32, rank, dim);
}

ValueId net_parameter(Net *n, const char *what, int rank, const int64_t *dim)
{
    return named(n, VALUE_PARAMETER, what, rank, dim);
}

// A second use of a module continues with the value that the first use gave the buffer.
ValueId net_buffer(Net *n, const char *what, int rank, const int64_t *dim)
{
    ValueId v = named(n, VALUE_BUFFER, what, rank, dim);

    for (int i = 0; i < n->n_buffers; i++)
        if (n->buffer[i] == v)
            return n->now[i];
    return v;
}

void net_carry(Net *n, ValueId buffer, ValueId now)
{
    for (int i = 0; i < n->n_buffers; i++)
        if (n->now[i] == buffer) {
            n->now[i] = now;
            return;
        }
    if (n->n_buffers < MAX_TABLES) {
        n->buffer[n->n_buffers] = buffer;
        n->now[n->n_buffers++] = now;
    }
}

static ValueId hyper(Net *n, const char *name)
{
    return graph_value(n->g, VALUE_HYPER, name, I64, 0, NULL);
}

ValueId net_random(Net *n, ValueId like)
{
    Value x = *value_of(n->g, like);
    int k = recipe_accumulate(n->r);

    if (!n->seed) {
        n->seed = hyper(n, "seed");
        n->step = hyper(n, "step_index");
        n->micro = hyper(n, "micro");
    }
    return make_random(n->g, n->seed, n->step, n->micro, x.rank, x.dim, n->n_random++, 0,
                       k > 1 ? 0 : -1, k);
}

// ---- tables ----

static uint64_t table_seed(const Net *n, int arg)
{
    // Blocks with the same arg have the same numbers.
    int64_t key[3] = {n->layer, arg, 77};

    return hash_bytes(key, sizeof key, 5);
}

static uint64_t table_hash(uint64_t seed, int64_t i)
{
    uint64_t key[2] = {seed, (uint64_t)i};

    return hash_bytes(key, sizeof key, 6);
}

ValueId net_table(Net *n, int rank, const int64_t *dim, int arg)
{
    int64_t count = 1;
    uint64_t seed = table_seed(n, arg);

    for (int i = 0; i < rank; i++)
        count *= dim[i];
    float *x = arena_array(n->g->arena, float, count + 1);
    for (int64_t i = 0; i < count; i++)
        x[i] = (float)((double)(table_hash(seed, i) % 2001) / 1000 - 1.0005);
    return graph_constant(n->g, F32, rank, dim, x);
}

ValueId net_indices(Net *n, int64_t count, int64_t bound, int arg)
{
    uint64_t seed = table_seed(n, arg);
    int64_t *x = arena_array(n->g->arena, int64_t, count + 1);

    for (int64_t i = 0; i < count; i++)
        x[i] = (int64_t)(table_hash(seed, i) % (uint64_t)(bound + (arg % 3 == 2))) - (arg % 5 == 4);
    return graph_constant(n->g, I64, 1, &count, x);
}

// ---- products ----

ValueId net_along(Net *n, ValueId vector, ValueId x, int axis)
{
    Value like = *value_of(n->g, x);
    int64_t dims[] = {axis};

    return make_broadcast(n->g, vector, like.rank, like.dim, dims);
}

ValueId net_linear(Net *n, ValueId x, int axis, int64_t to, bool has_bias, bool is_transposed)
{
    int rank = net_rank(n, x);
    int64_t from = net_size(n, x, axis),
            dim[] = {is_transposed ? to : from, is_transposed ? from : to};
    char a[8] = "abcdef", y[8] = "abcdef", eq[32];

    a[rank] = y[rank] = 0;
    y[axis] = 'z';
    snprintf(eq, sizeof eq, is_transposed ? "%s,z%c->%s" : "%s,%cz->%s", a, a[axis], y);
    ValueId w = net_parameter(n, "weight", 2, dim);
    x = make_dot(n->g, x, w, eq);
    if (!has_bias || !x)
        return x;
    ValueId bias = net_parameter(n, "bias", 1, &to);
    return make_add(n->g, x, net_along(n, bias, x, axis));
}

ValueId net_part(Net *n, ValueId x, int axis, int64_t from, int64_t size)
{
    Value v = *value_of(n->g, x);
    int64_t start[MAX_RANK] = {0}, step[MAX_RANK];

    for (int i = 0; i < v.rank; i++)
        step[i] = 1;
    start[axis] = from;
    v.dim[axis] = size;
    return make_slice(n->g, x, start, v.dim, step);
}

// ---- activations ----

static ValueId number(Net *n, ValueId x, double c) { return scalar_like(n->g, x, c); }

static ValueId gelu(Net *n, ValueId x, int variant)
{
    Graph *g = n->g;
    ValueId inside;

    if (variant % 2) {
        ValueId cube = make_mul(g, make_mul(g, x, x), x);
        inside = make_add(g, x, make_mul(g, cube, number(n, x, 0.044715)));
        inside = make_tanh(g, make_mul(g, inside, number(n, x, 0.7978845608)));
    } else {
        inside = make_erf(g, make_mul(g, x, number(n, x, 0.7071067812)));
    }
    inside = make_mul(g, make_add(g, inside, number(n, x, 1)), number(n, x, 0.5));
    return make_mul(g, x, inside);
}

static ValueId leaky(Net *n, ValueId x, double slope)
{
    Graph *g = n->g;

    return make_select(g, make_lt(g, x, number(n, x, 0)), make_mul(g, x, number(n, x, slope)), x);
}

static ValueId softplus(Net *n, ValueId x)
{
    Graph *g = n->g;
    ValueId e = make_exp(g, make_neg(g, make_abs(g, x)));

    return make_add(g, make_max(g, x, number(n, x, 0)),
                    make_log(g, make_add(g, e, number(n, x, 1))));
}

ValueId net_activation(Net *n, ValueId x, int which, int variant)
{
    Graph *g = n->g;
    double c = 0.1 + 0.17 * (variant % 7);

    switch (which % 14) {
    case 0:
        return make_tanh(g, x);
    case 1:
        return make_max(g, x, number(n, x, 0));
    case 2:
        return leaky(n, x, c);
    case 3:
        return gelu(n, x, variant);
    case 4:
        return make_mul(g, x, make_sigmoid(g, x));
    case 5:
        return make_sigmoid(g, x);
    case 6:  // a clamp
        return make_min(g, make_max(g, x, number(n, x, -c)), number(n, x, 0.3 + c));
    case 7:
        return softplus(n, x);
    case 8:  // elu
        return make_select(
            g, make_lt(g, x, number(n, x, 0)),
            make_mul(g, make_sub(g, make_exp(g, make_min(g, x, number(n, x, 0))), number(n, x, 1)),
                     number(n, x, c)),
            x);
    case 9:  // hardswish
        return make_mul(
            g, x,
            make_min(g,
                     make_max(g,
                              make_add(g, make_mul(g, x, number(n, x, 1. / 6)), number(n, x, 0.5)),
                              number(n, x, 0)),
                     number(n, x, 1)));
    case 10:
        return make_sin(g, make_mul(g, x, number(n, x, 0.5 + c)));
    case 11:
        return make_div(g, x, make_add(g, make_abs(g, x), number(n, x, 1 + c)));
    case 12:  // the square of a relu
        x = make_max(g, x, number(n, x, 0));
        return make_mul(g, x, x);
    default:
        return make_sqrt(g, make_add(g, make_mul(g, x, x), number(n, x, c)));
    }
}

// ---- norms ----

static ValueId inverse(Net *n, ValueId variance, int variant)
{
    static const double eps[] = {1e-5, 1e-3, 0.1, 0.5};
    ValueId v = make_add(n->g, variance, number(n, variance, eps[variant % 4]));

    return make_reciprocal(n->g, make_sqrt(n->g, v));
}

static ValueId scale_and_shift(Net *n, ValueId x, bool is_affine, bool has_shift)
{
    Graph *g = n->g;
    int64_t size = net_size(n, x, n->axis);

    if (!is_affine)
        return x;
    x = make_mul(g, x, net_along(n, net_parameter(n, "scale", 1, &size), x, n->axis));
    if (has_shift)
        x = make_add(g, x, net_along(n, net_parameter(n, "bias", 1, &size), x, n->axis));
    return x;
}

static ValueId normalize(Net *n, ValueId x, int n_axes, const int64_t *axes, bool is_rms,
                         int variant)
{
    Graph *g = n->g;
    ValueId centred = x;

    if (!is_rms) {
        ValueId mean = make_mean(g, x, n_axes, axes);
        centred = make_sub(g, x, broadcast_over(g, mean, x, n_axes, axes));
    }
    ValueId variance = make_mean(g, make_square(g, centred), n_axes, axes);
    ValueId i = inverse(n, variance, variant);
    return make_mul(g, centred, broadcast_over(g, i, x, n_axes, axes));
}

// Carries the running value old · keep + new · (1 - keep) to the next step.
static void run_on(Net *n, ValueId old, ValueId new, double keep)
{
    Graph *g = n->g;
    ValueId kept = make_mul(g, old, number(n, old, keep));

    net_carry(n, old, make_add(g, kept, make_mul(g, new, number(n, new, 1 - keep))));
}

static ValueId batch_norm(Net *n, ValueId x, int variant)
{
    Graph *g = n->g;
    int64_t axes[MAX_RANK], size = net_size(n, x, n->axis);
    int k = 0, rank = net_rank(n, x);
    double count = 1, keep = variant % 3 ? 0.7 : 0.9;

    for (int i = 0; i < rank; i++)
        if (i != n->axis) {
            axes[k++] = i;
            count *= (double)net_size(n, x, i);
        }
    ValueId mean = net_buffer(n, "mean", 1, &size), var = net_buffer(n, "var", 1, &size);
    if (!n->training) {
        x = make_sub(g, x, net_along(n, mean, x, n->axis));
        return make_mul(g, x, net_along(n, inverse(n, var, variant), x, n->axis));
    }
    ValueId m = make_mean(g, x, k, axes);
    ValueId centred = make_sub(g, x, broadcast_over(g, m, x, k, axes));
    ValueId v = make_mean(g, make_square(g, centred), k, axes);
    run_on(n, mean, m, keep);
    run_on(n, var, count < 2 ? v : make_mul(g, v, number(n, v, count / (count - 1))), keep);
    return make_mul(g, centred, net_along(n, inverse(n, v, variant), x, n->axis));
}

// Normalizes x [n, c, …] over groups of channels.
static ValueId group_norm(Net *n, ValueId x, int64_t groups, int variant)
{
    Graph *g = n->g;
    Value like = *value_of(g, x), split = like;
    int64_t axes[MAX_RANK];
    int k = 0;

    split.rank = like.rank + 1;
    split.dim[1] = groups;
    split.dim[2] = like.dim[1] / groups;
    for (int i = 2; i < like.rank; i++)
        split.dim[i + 1] = like.dim[i];
    for (int i = 2; i < split.rank; i++)
        axes[k++] = i;
    x = make_reshape(g, x, split.rank, split.dim);
    x = normalize(n, x, k, axes, false, variant);
    return make_reshape(g, x, like.rank, like.dim);
}

ValueId net_norm(Net *n, ValueId x, int which, int variant, bool is_affine)
{
    int64_t axis[] = {n->axis}, c = net_size(n, x, n->axis);
    bool is_image = n->axis == 1 && net_rank(n, x) > 2;

    switch (which % 5) {
    case 1:
        return scale_and_shift(n, normalize(n, x, 1, axis, true, variant), is_affine, false);
    case 2:
        return scale_and_shift(n, batch_norm(n, x, variant), is_affine, true);
    case 3:
        if (is_image)
            return scale_and_shift(n, group_norm(n, x, c % 2 ? 1 : 2, variant), is_affine, true);
        break;
    case 4:
        if (is_image)
            return scale_and_shift(n, group_norm(n, x, c, variant), is_affine, true);
        break;
    }
    return scale_and_shift(n, normalize(n, x, 1, axis, false, variant), is_affine, true);
}
