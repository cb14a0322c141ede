// Builds the graph of a recipe: stem, blocks in their topology, head.
#include "tests/nets/net.h"

#include <string.h>

const char *const kind_names[N_KINDS] = {
    "none",
#define KIND(name) #name,
#include "tests/nets/kinds.def"
#undef KIND
};

static ValueId add_layer(Net *n, ValueId x, const Layer *l)
{
    static LayerFn *const build[N_KINDS] = {
        NULL,
#define KIND(name) layer_##name,
#include "tests/nets/kinds.def"
#undef KIND
    };

    Source *source = arena_array(n->g->arena, Source, 1);

    *source = (Source){arena_string(n->g->arena, "use%d", n->n_sources++), ""};
    n->part = 0;
    n->g->source = source;
    x = x && build[l->kind] ? build[l->kind](n, x, l->arg) : x;
    n->g->source = NULL;
    return x;
}

static ValueId add_block(Net *n, int b, ValueId x)
{
    n->block = b;
    for (int l = 0; l < n->r->n_layers; l++) {
        n->layer = l;
        x = add_layer(n, x, &n->r->layer[b][l]);
    }
    n->layer = MAX_LAYERS;
    n->part = 0;
    return x;
}

// ---- topologies ----

static bool is_alike(const Net *n, ValueId a, ValueId b)
{
    const Value *x = value_of(n->g, a), *y = value_of(n->g, b);

    return a && b && x->rank == y->rank &&
           !memcmp(x->dim, y->dim, sizeof *x->dim * (size_t)x->rank);
}

static ValueId plus(Net *n, ValueId a, ValueId b)
{
    return is_alike(n, a, b) ? make_add(n->g, a, b) : a && b ? b : 0;
}

static ValueId narrow(Net *n, ValueId x, int64_t to)
{
    return net_size(n, x, n->axis) == to ? x : net_linear(n, x, n->axis, to, false, false);
}

static ValueId one_block(Net *n, int b, ValueId x, const ValueId *before)
{
    Graph *g = n->g;
    ValueId y, z;
    int half = (n->r->n_blocks + 1) / 2, at = n->r->n_blocks - 1 - b;

    switch (n->r->topology) {
    case SKIP:
        return plus(n, x, add_block(n, b, x));
    case SCALED:
        y = add_block(n, b, x);
        z = net_parameter(n, "scale", 0, NULL);
        return y ? plus(n, x, make_mul(g, y, broadcast_like(g, z, y))) : 0;
    case GATED:
        y = add_block(n, b, x);
        if (!is_alike(n, x, y))
            return y;
        z = make_sigmoid(g, net_linear(n, x, n->axis, net_size(n, x, n->axis), true, false));
        return make_add(g, make_mul(g, z, x), make_mul(g, make_sub(g, scalar_like(g, z, 1), z), y));
    case DENSE: {
        int64_t to = net_size(n, before[0], n->axis);
        n->block = b;
        n->layer = MAX_LAYERS;
        n->part = 0;
        x = make_concat(g, b + 1, before, n->axis);
        return x ? add_block(n, b, narrow(n, x, to)) : 0;
    }
    case ROOT:
        return plus(n, before[0], add_block(n, b, x));
    case U_SHAPE:
        return b < half || at >= b ? add_block(n, b, x)
                                   : plus(n, before[at + 1], add_block(n, b, x));
    case TWICE:
        x = add_block(n, b, x);
        return x ? add_block(n, b, x) : 0;
    default:
        return add_block(n, b, x);
    }
}

static ValueId two_streams(Net *n, ValueId x)
{
    ValueId y = net_activation(n, x, 10, 1);

    for (int b = 0; b < n->r->n_blocks && x && y; b++) {
        y = plus(n, y, add_block(n, b, x));
        x = y ? plus(n, x, net_activation(n, y, 0, 0)) : 0;
    }
    return x && y ? make_mul(n->g, x, y) : 0;
}

// Builds time steps along a dim of the data: h = f(h + data[step]).
static ValueId steps(Net *n, ValueId x)
{
    Graph *g = n->g;
    Value v = *value_of(g, x);
    int64_t dim[MAX_RANK], start[MAX_RANK] = {0}, size[MAX_RANK], step[MAX_RANK], drop[] = {1};
    ValueId out[MAX_BLOCKS], h = x;
    int count = n->r->n_blocks;

    dim[0] = v.dim[0];
    dim[1] = count;
    memcpy(dim + 2, v.dim + 1, sizeof *dim * (size_t)(v.rank - 1));
    ValueId data = graph_value(g, VALUE_INPUT, "steps", F32, v.rank + 1, dim);
    for (int i = 0; i <= v.rank; i++) {
        size[i] = i == 1 ? 1 : dim[i];
        step[i] = 1;
    }
    for (int b = 0; b < count && h; b++) {
        start[1] = b;
        ValueId s = make_slice_drop(g, data, start, size, step, 1, drop);
        h = add_block(n, b, plus(n, h, s));
        out[b] = h;
    }
    return h ? make_concat(g, count, out, 1) : 0;
}

static ValueId add_blocks(Net *n, ValueId x)
{
    const Recipe *r = n->r;
    ValueId result[MAX_BLOCKS + 1] = {x};

    if (r->topology == STREAMS)
        return two_streams(n, x);
    if (r->topology == STEPS)
        return steps(n, x);
    for (int b = 0; b < r->n_blocks && x; b++)
        result[b + 1] = x = one_block(n, b, x, result);
    if (r->topology == BESIDE && x && r->n_blocks)
        x = make_concat(n->g, r->n_blocks, result + 1, n->axis);
    for (int b = 0; r->topology == ALL && b + 1 < r->n_blocks && x; b++)
        x = plus(n, result[b + 1], x);
    return x;
}

// ---- both ends ----

static ValueId add_stem(Net *n)
{
    const Recipe *r = n->r;
    Graph *g = n->g;
    int64_t table[] = {5, r->dim[n->axis]}, dim[5];
    int k = 0;

    n->layer = MAX_LAYERS;
    if (r->stem % 4 != 3 || !r->is_last) {
        ValueId x = graph_value(g, VALUE_INPUT, "x", F32, r->rank, r->dim);
        return r->stem % 4 == 1   ? net_linear(n, x, n->axis, r->dim[n->axis], true, false)
               : r->stem % 4 == 2 ? net_activation(n, x, 10, 0)
                                  : x;
    }
    // Tokens. In one variant a row of the embedding gets no gradient.
    for (int i = 0; i + 1 < r->rank; i++)
        dim[k++] = r->dim[i];
    ValueId tokens = graph_value(g, VALUE_INPUT, "tokens", I64, k, dim);
    ValueId rows = graph_value(g, VALUE_PARAMETER, "embedding", F32, 2, table);
    return r->stem % 8 == 7 ? make_gather_but(g, rows, tokens, 0, 0, 1)
                            : make_gather(g, rows, tokens, 0, 0);
}

// The table of tokens; 0: there is none of the width of the features.
static ValueId find_table(const Net *n)
{
    const Graph *g = n->g;

    for (ValueId v = 1; v < g->n_values; v++)
        if (g->values[v].name && !strcmp(g->values[v].name, "embedding"))
            return v;
    return 0;
}

static const char *equation_of_head(const Net *n, int rank)
{
    static const char letters[] = "abcde";

    return arena_string(n->g->arena, "%.*s,z%c->%.*sz", rank, letters, letters[rank - 1], rank - 1,
                        letters);
}

static ValueId add_head(Net *n, ValueId x)
{
    Graph *g = n->g;
    int rank = net_rank(n, x), k = 0;
    int64_t axes[MAX_RANK];

    n->block = 0;
    n->layer = MAX_LAYERS + 1;
    n->part = 0;
    if (n->r->tied && find_table(n) && n->axis == rank - 1)
        return make_dot(g, x, find_table(n), equation_of_head(n, rank));
    switch (n->r->head % 4) {
    case 1:
        return net_linear(n, x, n->axis, 3, true, false);
    case 2:  // the mean over all dims except batch and features, then classes
        for (int i = 1; i < rank; i++)
            if (i != n->axis)
                axes[k++] = i;
        x = k ? make_mean(g, x, k, axes) : x;
        return net_linear(n, x, 1, 4, true, false);
    case 3: {  // flattened
        Value v = *value_of(g, x);
        int64_t dim[] = {v.dim[0], 1};
        for (int i = 1; i < rank; i++)
            dim[1] *= v.dim[i];
        return net_linear(n, make_reshape(g, x, 2, dim), 1, 3, false, false);
    }
    default:
        return x;
    }
}

// Makes the output a scalar that is the loss itself.
static ValueId as_loss(Net *n, ValueId y)
{
    Graph *g = n->g;
    int64_t axes[MAX_RANK];
    int rank = net_rank(n, y);

    for (int i = 0; i < rank; i++)
        axes[i] = i;
    return make_mean(g, make_mul(g, y, y), rank, axes);
}

// Adds outputs that the loss doesn't use: a value, and a product of it.
static void add_outputs(Net *n, ValueId hidden)
{
    int more = n->r->more % 4;

    n->layer = MAX_LAYERS + 2;
    n->part = 0;
    if (more % 2)
        graph_output(n->g, "hidden", hidden, OUTPUT_MODEL);
    if (more / 2) {
        ValueId z = net_linear(n, hidden, n->axis, 2, true, false);
        graph_output(n->g, "other", net_activation(n, z, 0, 0), OUTPUT_MODEL);
    }
}

Graph *net_graph(Arena *a, const Recipe *r, bool training, Diag *d)
{
    Net n = {.r = r, .training = training};
    Graph *g = n.g = graph_new(a, "net");
    bool is_scalar = !strcmp(recipe_loss(r), "y");

    g->training = training;
    g->diag = d;
    n.axis = r->is_last ? r->rank - 1 : 1;
    ValueId x = add_stem(&n);
    x = x ? add_blocks(&n, x) : 0;
    ValueId hidden = x;
    x = x ? add_head(&n, x) : 0;
    x = x && is_scalar ? as_loss(&n, x) : x;
    if (!x || d->errors)
        return NULL;
    graph_output(g, "y", x, OUTPUT_MODEL);
    add_outputs(&n, hidden);
    for (int i = 0; i < n.n_buffers; i++)
        graph_carry(g, n.buffer[i], n.now[i], SCOPE_STEP);
    return g;
}
