// Between which numbers the elements of values lie, as far as it follows from the operators. It
// shows that indices are in range.
#include "ir/passes/span.h"

#include <math.h>

#include "ir/operator/operator.h"

static const Span any = {-INFINITY, INFINITY};

// All numbers of a dtype.
static Span all_of(DType t)
{
    return dtype_is_float(t) ? any : (Span){(double)dtype_least(t), (double)dtype_most(t)};
}

static Span join(Span a, Span b) { return (Span){fmin(a.least, b.least), fmax(a.most, b.most)}; }

static bool is_point(Span s) { return s.least == s.most; }

// The elements of a constant.
static Span span_of_constant(const Graph *g, ValueId v)
{
    Arena *a = arena_new();
    Tensor t = tensor_of(a, value_of(g, v));
    Span s = {INFINITY, -INFINITY};

    for (int64_t i = 0; i < tensor_count(&t); i++) {
        double x = t.f ? t.f[i] : (double)t.i[i];
        s = x != x ? any : join(s, (Span){x, x});
    }
    arena_free(a);
    return s;
}

static Span span_of_source(const Graph *g, ValueId v)
{
    const Value *x = value_of(g, v);
    IndexRange r = x->kind == VALUE_INPUT ? input_range(g, v) : (IndexRange){0};

    if (x->dtype == BOOL)
        return (Span){0, 1};
    if (x->kind == VALUE_CONSTANT)
        return span_of_constant(g, v);
    return r.bound ? (Span){(double)r.least, (double)r.bound - 1} : all_of(x->dtype);
}

// ---- operators, by the spans of their inputs ----

typedef Span SpanOf(const Graph *g, const Node *n, const Span *in);

static Span first(const Graph *g, const Node *n, const Span *in) { return in[0]; }

// Elements of all inputs.
static Span all(const Graph *g, const Node *n, const Span *in)
{
    Span s = in[0];

    for (int i = 1; i < n->n_in; i++)
        s = n->in[i] ? join(s, in[i]) : s;
    return s;
}

static Span count(const Graph *g, const Node *n, const Span *in)
{
    return (Span){0, (double)out(g, n)->dim[n->attr[1].i] - 1};
}

static Span position(const Graph *g, const Node *n, const Span *in)
{
    return (Span){0, (double)value_of(g, n->in[0])->dim[n->attr[0].i] - 1};
}

// Whole numbers: towards 0 from floats, of which NaN becomes 0.
static Span cast(const Graph *g, const Node *n, const Span *in)
{
    DType from = value_of(g, n->in[0])->dtype, to = out(g, n)->dtype;

    if (to == BOOL)
        return (Span){0, 1};
    if (dtype_is_float(to))
        return in[0];
    Span s = {trunc(in[0].least), trunc(in[0].most)};
    if (dtype_is_float(from)) {  // they are clamped
        s.least = fmax(s.least, (double)dtype_least(to));
        s.most = fmin(s.most, (double)dtype_most(to));
        s = join(s, (Span){0, 0});
    }
    return s;
}

static Span lower(const Graph *g, const Node *n, const Span *in)
{
    return (Span){floor(in[0].least), floor(in[0].most)};
}

static Span rounded(const Graph *g, const Node *n, const Span *in)
{
    return (Span){rint(in[0].least), rint(in[0].most)};
}

static Span negative(const Graph *g, const Node *n, const Span *in)
{
    return (Span){-in[0].most, -in[0].least};
}

static Span size(const Graph *g, const Node *n, const Span *in)
{
    double most = fmax(fabs(in[0].least), fabs(in[0].most));

    return (Span){in[0].least >= 0 ? in[0].least : in[0].most <= 0 ? -in[0].most : 0, most};
}

static Span sum(const Graph *g, const Node *n, const Span *in)
{
    return (Span){in[0].least + in[1].least, in[0].most + in[1].most};
}

static Span difference(const Graph *g, const Node *n, const Span *in)
{
    return (Span){in[0].least - in[1].most, in[0].most - in[1].least};
}

static Span product(const Graph *g, const Node *n, const Span *in)
{
    double x[] = {in[0].least * in[1].least, in[0].least * in[1].most, in[0].most * in[1].least,
                  in[0].most * in[1].most};
    Span s = {INFINITY, -INFINITY};

    for (int i = 0; i < 4; i++)
        s = x[i] != x[i] ? any : join(s, (Span){x[i], x[i]});
    return s;
}

static Span larger(const Graph *g, const Node *n, const Span *in)
{
    return (Span){fmax(in[0].least, in[1].least), fmax(in[0].most, in[1].most)};
}

static Span smaller(const Graph *g, const Node *n, const Span *in)
{
    return (Span){fmin(in[0].least, in[1].least), fmin(in[0].most, in[1].most)};
}

// By a positive number; the sign is the dividend's.
static Span remainder_of(const Graph *g, const Node *n, const Span *in)
{
    double rest = in[1].most - (dtype_is_float(out(g, n)->dtype) ? 0 : 1);

    if (in[1].least <= 0)
        return any;
    return (Span){in[0].least < 0 ? fmax(in[0].least, -rest) : 0,
                  in[0].most > 0 ? fmin(in[0].most, rest) : 0};
}

// By a positive number.
static Span quotient(const Graph *g, const Node *n, const Span *in)
{
    bool is_whole = !dtype_is_float(out(g, n)->dtype);

    if (!is_point(in[1]) || in[1].least <= 0)
        return any;
    Span s = {in[0].least / in[1].least, in[0].most / in[1].least};
    return is_whole ? (Span){trunc(s.least), trunc(s.most)} : s;
}

// In select(x < c, x + d, x) and select(x < c, a, x) only numbers from c on are left of x.
static Span selected(const Graph *g, const Node *n, const Span *span)
{
    const Node *is = producer(g, n->in[0]), *moved = producer(g, n->in[1]);
    Span low = span[n->in[1]], x = span[n->in[2]];

    if (is->op != &op_lt || is->in[0] != n->in[2] || !is_point(span[is->in[1]]))
        return join(low, x);
    double c = span[is->in[1]].least;
    Span high = {fmax(x.least, c), x.most};
    if (moved->op == &op_add && moved->in[0] == n->in[2] && is_point(span[moved->in[1]])) {
        double d = span[moved->in[1]].least;
        low = (Span){x.least + d, fmin(x.most, dtype_is_float(out(g, n)->dtype) ? c : c - 1) + d};
    }
    return x.least >= c ? high : x.most < c ? low : join(low, high);
}

static Span padded(const Graph *g, const Node *n, const Span *in)
{
    return join(in[0], (Span){n->attr[3].f, n->attr[3].f});
}

// Rows of a table; 0 where an index is out of range.
static Span looked_up(const Graph *g, const Node *n, const Span *in)
{
    return join(in[0], (Span){0, 0});
}

// Rows that are listed in a table; sums and products of them may be any number.
static Span put(const Graph *g, const Node *n, const Span *in)
{
    char kind = n->attr[SCATTER_REDUCTION].s[0];

    return kind == 'l' || (kind == 'm' && n->attr[SCATTER_REDUCTION].s[1] != 'u')
               ? join(in[0], in[SCATTER_ONTO])
               : any;
}

// Sums of at most as many elements as there are for a result.
static Span total(const Graph *g, const Node *n, const Span *in)
{
    double terms = 1;

    if (n->op == &op_cumsum)
        terms = (double)value_of(g, n->in[0])->dim[n->attr[0].i];
    for (int i = 0; n->op == &op_reduce_sum && i < n->attr[REDUCE_AXES].n; i++)
        terms *= (double)value_of(g, n->in[0])->dim[n->attr[REDUCE_AXES].v[i]];
    return (Span){fmin(0, in[0].least * terms), fmax(0, in[0].most * terms)};
}

static const struct {
    const OpDef *op;
    SpanOf *of;
    bool may_wrap;  // whole numbers around the ends of their dtype
} operators[] = {
    {&op_iota, count},           {&op_arg_max, position},
    {&op_cast, cast, true},      {&op_floor, lower},
    {&op_round, rounded},        {&op_neg, negative, true},
    {&op_abs, size, true},       {&op_add, sum, true},
    {&op_sub, difference, true}, {&op_mul, product, true},
    {&op_max, larger},           {&op_min, smaller},
    {&op_mod, remainder_of},     {&op_div, quotient},
    {&op_pad, padded},           {&op_concat, all},
    {&op_gather, looked_up},     {&op_scatter, put},
    {&op_cumsum, total, true},   {&op_reduce_sum, total, true},
    {&op_reduce_max, first},     {&op_reduce_min, first},
    {&op_broadcast, first},      {&op_reshape, first},
    {&op_transpose, first},      {&op_slice, first},
    {&op_stop_gradient, first},
};

// Away from 0 to a number that the dtype may round x to.
static double outward(double x, double to, DType t)
{
    if (t != F32 || x != x || (double)(float)x == x)
        return x;
    return (double)nextafterf((float)x, (float)to);
}

// The elements of a dtype that are in s before they are rounded to it, or wrap around.
static Span checked(Span s, DType t, bool may_wrap)
{
    const double exact = 0x1p53;
    Span all = all_of(t);

    if (s.least != s.least || s.most != s.most || s.least > s.most || t == F16 || t == BF16)
        return all;
    if (dtype_is_float(t))
        return (Span){outward(s.least, -INFINITY, t), outward(s.most, INFINITY, t)};
    bool wraps = s.least < all.least || s.most > all.most || s.least < -exact || s.most > exact;
    if (may_wrap && wraps)
        return all;
    return (Span){fmax(s.least, all.least), fmin(s.most, all.most)};
}

// `in` has capacity for the node's inputs.
static Span span_of_node(const Graph *g, const Node *n, const Span *span, Span *in)
{
    DType t = value_of(g, n->out[0])->dtype;
    bool is_empty = false;

    for (int i = 0; i < n->n_in; i++) {
        in[i] = span[n->in[i]];
        is_empty |= n->in[i] && !value_count(value_of(g, n->in[i]));
    }
    if (n->op == &op_select && !is_empty)
        return checked(selected(g, n, span), t, true);
    for (int i = 0; i < COUNT(operators) && !is_empty; i++)
        if (operators[i].op == n->op)
            return checked(operators[i].of(g, n, in), t, operators[i].may_wrap);
    return all_of(t);
}

const Span *value_spans(Arena *a, const Graph *g)
{
    Span *span = arena_array(a, Span, g->n_values), *in;
    int most = 0;

    for (NodeId i = 1; i < g->n_nodes; i++)
        most = g->nodes[i].n_in > most ? g->nodes[i].n_in : most;
    in = arena_array(a, Span, most + 1);
    for (ValueId v = 1; v < g->n_values; v++)
        if (!value_of(g, v)->producer)
            span[v] = span_of_source(g, v);
    for (NodeId i = 1; i < g->n_nodes; i++) {
        const Node *n = &g->nodes[i];
        for (int k = 1; k < n->n_out; k++)
            span[n->out[k]] = all_of(value_of(g, n->out[k])->dtype);
        span[n->out[0]] = span_of_node(g, n, span, in);
        if (n->op == &op_top_k) {
            span[n->out[0]] = span[n->in[0]];
            span[n->out[1]] = position(g, n, NULL);
        }
    }
    return span;
}
