// Draws numbers for the values of a net, and makes its graph in f64.
#include <math.h>
#include <string.h>

#include "ir/build.h"
#include "tests/nets/judge.h"

static bool ends_in(const char *s, const char *end)
{
    size_t n = strlen(s), k = strlen(end);

    return n >= k && !strcmp(s + n - k, end);
}

// Draws a number from -1 to 1.
static double unit(uint64_t seed, int64_t i)
{
    uint64_t key[2] = {seed, (uint64_t)i};

    return (double)(hash_bytes(key, sizeof key, 4) >> 20) / (double)(UINT64_C(1) << 43) - 1;
}

static double number_of(const Value *v, uint64_t seed, int64_t i)
{
    double x = unit(seed, i);
    int rank = v->own_rank >= 0 ? v->own_rank : v->rank;

    if (v->kind == VALUE_STATE || ends_in(v->name, "var"))
        return 0.6 + 0.5 * x;
    if (ends_in(v->name, "scale"))
        return 1 + 0.4 * x;
    if (v->kind != VALUE_PARAMETER || rank < 2)
        return (v->kind == VALUE_INPUT ? 1.4 : 0.6) * x;
    return 1.6 * x / sqrt(1 + sqrt((double)value_count(v)) / 2);
}

Tensor numbers_of(Arena *a, const Value *v, uint64_t seed, int micro, int64_t bound)
{
    Tensor t = tensor_new(a, v->dtype, v->rank, v->dim);
    uint64_t key = hash_bytes(v->name, strlen(v->name), seed + 31);

    if (v->kind == VALUE_INPUT)
        key += (uint64_t)micro;
    for (int64_t i = 0; i < tensor_count(&t); i++) {
        if (t.f)
            t.f[i] = (double)(float)number_of(v, key, i);
        else
            t.i[i] = (int64_t)((unit(key, i) + 1) / 2.001 * (double)(bound ? bound : 3));
    }
    return t;
}

static Tensor hyper_of(Arena *a, const Value *v, int micro)
{
    Tensor t = tensor_new(a, v->dtype, v->rank, v->dim);
    double x = !strcmp(v->name, "step")         ? 3
               : !strcmp(v->name, "step_index") ? 2
               : !strcmp(v->name, "seed")       ? 11
               : !strcmp(v->name, "micro")      ? micro
                                                : v->fill;

    if (t.f)
        t.f[0] = x;
    else
        t.i[0] = (int64_t)x;
    return t;
}

// Tokens select rows of a table of five.
static int64_t bound_of(const Subject *s, const char *name)
{
    return !strcmp(name, "t") ? s->classes : !strcmp(name, "tokens") ? 5 : 0;
}

Tensor *numbers_all(const Graph *g, const Subject *s, int micro, Arena *a)
{
    Tensor *t = arena_array(a, Tensor, g->n_values);

    for (ValueId v = 1; v < g->n_values; v++) {
        const Value *x = value_of(g, v);
        if (x->producer || x->kind == VALUE_CONSTANT || x->kind == VALUE_ZERO || !x->name)
            continue;
        t[v] = x->kind == VALUE_HYPER ? hyper_of(a, x, micro)
                                      : numbers_of(a, x, s->numbers, micro, bound_of(s, x->name));
    }
    return t;
}

// ---- in f64 ----

static DType widened(DType t) { return t == F32 ? F64 : t; }

static ValueId widen_value(Graph *to, const Value *x, Arena *a)
{
    Value *y;
    ValueId v;

    if (x->kind == VALUE_CONSTANT && x->dtype == F32) {
        Tensor t = tensor_of(a, x);
        return graph_constant(to, F64, x->rank, x->dim, t.f);
    }
    if (x->kind == VALUE_CONSTANT)
        return graph_constant(to, x->dtype, x->rank, x->dim, x->data);
    v = graph_value(to, x->kind, x->name, widened(x->dtype), x->rank, x->dim);
    y = value_of(to, v);
    y->fill = x->fill;
    y->own_rank = x->own_rank;
    memcpy(y->own_dim, x->own_dim, sizeof y->own_dim);
    return v;
}

static bool widen_node(Graph *to, const Node *n, ValueId *map)
{
    ValueId *in = arena_array(to->arena, ValueId, n->n_in + 1);
    Attr attr[MAX_ATTRS];

    memcpy(attr, n->attr, sizeof attr);
    for (int i = 0; i < n->n_in; i++)
        in[i] = map[n->in[i]];
    for (int i = 0; i < MAX_ATTRS; i++)
        if (n->op->attrs[i].is_dtype)
            attr[i].i = (int64_t)widened((DType)attr[i].i);
    to->source = n->source;
    ValueId y = graph_node(to, n->op, n->n_in, in, attr);
    for (int i = 0; i < n->n_out && y; i++) {
        ValueId z = graph_output_of(to, y, i);
        map[n->out[i]] = value_of(to, z)->dtype == F32 ? make_cast(to, z, F64) : z;
    }
    return y != 0;
}

Graph *graph_widen(const Graph *g, Arena *a, ValueId **map, Diag *d)
{
    Graph *to = graph_new(a, "wide");
    ValueId *m = *map = arena_array(a, ValueId, g->n_values);

    to->training = g->training;
    to->diag = d;
    for (ValueId v = 1; v < g->n_values; v++)
        if (!value_of(g, v)->producer)
            m[v] = widen_value(to, value_of(g, v), a);
    for (NodeId n = 1; n < g->n_nodes; n++)
        if (!widen_node(to, &g->nodes[n], m))
            return NULL;
    for (int i = 0; i < g->n_outputs; i++)
        graph_output_like(to, &g->outputs[i], m[g->outputs[i].value]);
    for (int i = 0; i < g->n_carries; i++)
        graph_carry(to, m[g->carries[i].in], m[g->carries[i].out], g->carries[i].scope);
    return to;
}

// ---- rounding errors of f32 ----

// Adds relative errors. With even seeds, equal numbers get equal errors, so that values computed
// twice stay equal. With odd seeds they part, as do values that are equal in theory and are summed
// in different orders.
static void shake(Tensor *t, uint64_t seed)
{
    for (int64_t i = 0; t->f && i < tensor_count(t); i++) {
        uint64_t key =
            hash_bytes(&t->f[i], sizeof t->f[i], seed + (seed % 2 ? (uint64_t)i << 8 : 0));
        t->f[i] *= 1 + ((double)(key % 2001) / 1000 - 1) * 0x1p-23;
    }
}

static Tensor shaken(Arena *a, const Tensor *t, uint64_t seed)
{
    Tensor y = *t;

    if (!t->f)
        return y;
    y = tensor_new(a, t->dtype, t->rank, t->dim);
    memcpy(y.f, t->f, sizeof *y.f * (size_t)tensor_count(t));
    shake(&y, seed);
    return y;
}

// An operator that only moves or selects numbers is exact.
static bool is_exact(const OpDef *op)
{
    static const OpDef *const exact[] = {
        &op_neg,      &op_abs,    &op_sign, &op_floor,      &op_round,     &op_max,     &op_min,
        &op_select,   &op_cast,   &op_iota, &op_random,     &op_top_k,     &op_arg_max, &op_gather,
        &op_max_pool, &op_concat, &op_pad,  &op_reduce_max, &op_reduce_min};

    for (int i = 0; i < COUNT(exact); i++)
        if (op == exact[i])
            return true;
    return op->view != NULL;
}

void graph_shake(const Graph *g, Arena *a, Tensor *value, uint64_t seed)
{
    for (ValueId v = 1; v < g->n_values; v++)
        if (value_of(g, v)->kind == VALUE_CONSTANT)
            value[v] = tensor_of(a, value_of(g, v));
        else if (value_of(g, v)->kind == VALUE_ZERO && !value[v].f && !value[v].i)
            value[v] =
                tensor_new(a, value_of(g, v)->dtype, value_of(g, v)->rank, value_of(g, v)->dim);
    for (NodeId i = 1; i < g->n_nodes; i++) {
        const Node *n = &g->nodes[i];
        bool is_off = !is_exact(n->op);
        Tensor *x = arena_array(a, Tensor, n->n_in + 1), y[MAX_OUTPUTS];
        for (int k = 0; k < n->n_in; k++) {
            x[k] = n->in[k] ? value[n->in[k]] : (Tensor){0};
            if (is_off && n->in[k] && !n->op->is_elementwise)
                x[k] = shaken(a, &x[k], seed);
        }
        node_eval(g, n, a, x, y);
        for (int k = 0; k < n->n_out; k++) {
            if (is_off)
                shake(&y[k], seed);
            value[n->out[k]] = y[k];
        }
    }
}

// Returns `wide` plus the larger of the distances of x and y from it.
Tensor tensor_rough(Arena *a, const Tensor *wide, const Tensor *x, const Tensor *y)
{
    Tensor t = *wide;

    if (!wide->f)
        return t;
    t = tensor_new(a, wide->dtype, wide->rank, wide->dim);
    for (int64_t i = 0; i < tensor_count(&t); i++)
        t.f[i] = wide->f[i] + fmax(fabs(x->f[i] - wide->f[i]), fabs(y->f[i] - wide->f[i]));
    return t;
}
