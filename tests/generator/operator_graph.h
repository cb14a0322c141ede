// Graphs of many nodes of one operator, of sizes 0, 1, odd and large, and what their programs must
// give: the operator's own eval.
#ifndef SHARDCC_TESTS_GENERATOR_OPERATOR_GRAPH_H
#define SHARDCC_TESTS_GENERATOR_OPERATOR_GRAPH_H

#include <math.h>

#include "tests/generator/program.h"

// The least number of nodes of an operator and of a line.
enum { OP_NODES = 25, LINE_NODES = 2 * N_KINDS, OPS = 128 };

// An output of a node, or the concat that contains it.
typedef struct Check {
    ValueId v;
    const Line *line;
    int number;
    double terms;  // of each element's sum
} Check;

typedef struct Test {
    Cases cases;
    Check *checks;
    int n_checks, cap_checks;
    bool zero, one, odd, large;  // sizes that came up
    bool rounds_weights;         // the target does, of halves, before it multiplies them
} Test;

// ---- the graph ----

static inline void note_sizes(Test *t, const Value *v)
{
    for (int i = 0; i < v->rank; i++) {
        t->zero |= v->dim[i] == 0;
        t->one |= v->dim[i] == 1;
        t->odd |= v->dim[i] % 2 && v->dim[i] > 1;
        t->large |= v->dim[i] >= 1000;
    }
}

// The product of the sizes of all dims that the inputs have and output `k` lacks.
static inline double count_terms(const Graph *g, const Node *n, int k)
{
    Arena *a = arena_new();
    double terms = 1;
    Rule r;

    node_rule(a, g, n, &r);
    for (int f = 0; f < r.n_factors; f++) {
        bool is_in = false, is_out = false;
        for (int i = 0; i < n->n_in; i++)
            for (int d = 0; n->in[i] && d < in(g, n, i)->rank; d++)
                is_in |= r.dim[i][d] == f;
        for (int d = 0; d < value_of(g, n->out[k])->rank; d++)
            is_out |= r.dim[n->n_in + k][d] == f;
        if (is_in && !is_out && r.size[f] > 1)
            terms *= (double)r.size[f];
    }
    arena_free(a);
    return terms;
}

// Makes a value an output. A third of them are put into a concat first, where they have strides.
static inline void add_output(Test *t, Check check)
{
    Cases *a = &t->cases;
    Value y = *value_of(a->g, check.v);

    if (y.rank && draw(&a->r, 3) == 0) {
        int axis = (int)draw(&a->r, y.rank), side = (int)draw(&a->r, 2);
        ValueId both[2];
        y.dim[axis] = 1 + draw(&a->r, 2);
        both[side] = check.v;
        both[1 - side] = add_input(a, y.dtype, y.rank, y.dim, (Mark){0});
        check.v = make_concat(a->g, 2, both, axis);
    }
    graph_output(a->g, arena_string(a->arena, "y%d", t->n_checks), check.v, OUTPUT_MODEL);
    *arena_push(a->arena, t->checks, t->n_checks, t->cap_checks) = check;
}

static inline void add_node(Test *t, const Line *l, int number)
{
    Cases *a = &t->cases;
    const Node *made = read_line(a, l, number);

    if (!made)
        fail_msg("node %d of %s", number, l->node);
    Node n = *made;
    for (int i = 0; i < n.n_in; i++)
        if (n.in[i])
            note_sizes(t, in(a->g, &n, i));
    for (int i = 0; i < n.n_out; i++) {
        note_sizes(t, value_of(a->g, n.out[i]));
        add_output(t, (Check){n.out[i], l, number, count_terms(a->g, &n, i)});
    }
}

// seed 0: the nodes and numbers that are always tried.
static inline void make_graph(Test *t, const OpDef *op, int64_t volume, uint64_t seed, Diag *d)
{
    const Line *line[COUNT(lines)];
    int n = 0;

    t->cases = (Cases){.arena = arena_new(), .r = {seed + 1}, .volume = volume, .draws_bits = seed};
    t->cases.g = graph_new(t->cases.arena, op->name);
    t->cases.g->diag = d;
    for (int i = 0; i < COUNT(lines); i++)
        if (line_op(t->cases.arena, &lines[i]) == op)
            line[n++] = &lines[i];
    if (!n)
        fail_msg("%s has no line in kernels.def", op->name);
    for (int i = 0; i < n; i++)
        for (int k = 0; k < LINE_NODES || k * n < OP_NODES; k++)
            add_node(t, line[i], k);
    if (!t->zero || !t->one || !t->odd || !t->large)
        fail_msg("%s isn't checked with sizes 0, 1, odd and large", op->name);
    assert_true(graph_verify(t->cases.g, d));
}

// ---- comparing ----

// Maps floats to integers in their order: neighbours differ by 1.
static inline int64_t order_of(DType t, double x)
{
    float narrow = (float)x;
    int64_t i = 0;
    int32_t j;

    memcpy(&i, &x, sizeof x);
    memcpy(&j, &narrow, sizeof narrow);
    if (t == F32)
        return j < 0 ? INT32_MIN - (int64_t)j : j;
    return i < 0 ? INT64_MIN - i : i;
}

// The distance of a half to its neighbour of a larger size.
static inline double half_unit(DType t, double x)
{
    int exponent;

    if (!dtype_is_half(t))
        return 0;
    frexp(x, &exponent);
    return ldexp(1, t == BF16 ? exponent - 8 : exponent < -13 ? -24 : exponent - 11);
}

static inline bool is_right(const Check *c, DType t, bool rounds_weights, double got, double want)
{
    double unit = t == F64 ? 1e-14 : 1e-5;

    if (c->line->bound == BOUND_WEIGHTS && rounds_weights)
        unit += half_unit(t, 0.5);

    if (got == want || (isnan(got) && isnan(want)))
        return true;
    if (isnan(got) || isnan(want) || c->line->bound == BOUND_EXACT)
        return false;
    if (c->line->bound == BOUND_ULPS)
        return llabs(order_of(t, got) - order_of(t, want)) <= c->line->ulps;
    return fabs(got - want) <= unit * sqrt(c->terms) * (1 + fabs(want)) + half_unit(t, want);
}

static inline void compare(const Check *c, const Value *v, bool rounds_weights, const void *data,
                           const Tensor *want)
{
    Arena *a = arena_new();
    Value from = *v;

    from.data = data;
    Tensor got = tensor_of(a, &from);
    for (int64_t i = 0; i < tensor_count(&got); i++) {
        double x = got.f ? got.f[i] : (double)got.i[i], y = got.f ? want->f[i] : (double)want->i[i];
        if (got.f ? is_right(c, v->dtype, rounds_weights, x, y) : got.i[i] == want->i[i])
            continue;
        Text type = {0};
        value_print_type(v, &type);
        fail_msg("%s, node %d, %s: element %" PRId64 " is %.9g, eval says %.9g", c->line->node,
                 c->number, type.s, i, x, y);
    }
    arena_free(a);
}

// Compares all outputs in a program's arena.
static inline void check_outputs(const Test *t, const RtModel *m, const char *arena,
                                 const Tensor *values)
{
    const Graph *g = t->cases.g;

    for (int i = 0; i < t->n_checks; i++) {
        const Check *c = &t->checks[i];
        const RtTensor *y = find_tensor(m, g->outputs[i].name);
        compare(c, value_of(g, c->v), t->rounds_weights, arena + y->at, &values[c->v]);
    }
}

// Operators of several ranks have no kernel that one rank could run alone.
static inline bool is_tried(const OpDef *op, const char *asked_name)
{
    return !op->exchange && (!asked_name || !strcmp(op->name, asked_name));
}

#endif
