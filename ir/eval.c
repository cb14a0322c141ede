// The reference evaluator: defines the meaning of a graph by slow, plain code.
#include "ir/internal.h"

// Is the node computed in int64? It is if all its operands are integers or BOOL; others take
// double.
static bool is_integral(const Node *n, const Tensor *x, const Tensor *y)
{
    for (int i = 0; i < n->n_in; i++) {
        if (x[i].f)
            return false;
    }
    return !y->f && n->op->scalar_int;
}

static void eval_elementwise(const Node *n, const Tensor *x, Tensor *y)
{
    enum { MAX_OPERANDS = 3 };
    int64_t count = tensor_count(y), whole[MAX_OPERANDS];
    double number[MAX_OPERANDS];
    bool integral = is_integral(n, x, y);

    for (int64_t j = 0; j < count; j++) {
        for (int i = 0; i < n->n_in; i++) {
            if (integral)
                whole[i] = x[i].i[j];
            else
                number[i] = x[i].f ? x[i].f[j] : float_of_int(x[i].dtype, x[i].i[j]);
        }
        if (integral)
            y->i[j] = n->op->scalar_int(n, whole);
        else if (y->f)
            y->f[j] = n->op->scalar(n, number);
        else
            y->i[j] = int_of_float(y->dtype, n->op->scalar(n, number));
    }
}

void node_eval_shard(const Graph *g, const Node *n, const NodeShard *p, const Tensor *x, Tensor *y)
{
    if (n->op->is_elementwise)
        eval_elementwise(n, x, y);
    else
        n->op->eval(g, n, p, x, y);
    for (int i = 0; i < n->n_out; i++)
        tensor_round(&y[i]);
}

void node_eval(Arena *a, const Graph *g, const Node *n, const Tensor *x, Tensor *y)
{
    for (int i = 0; i < n->n_out; i++) {
        const Value *v = value_of(g, n->out[i]);
        y[i] = tensor_new(a, v->dtype, v->rank, v->dim);
    }
    node_eval_shard(g, n, NULL, x, y);
}

static Tensor filled(Arena *a, const Value *v)
{
    Tensor t = tensor_new(a, v->dtype, v->rank, v->dim);
    int64_t count = tensor_count(&t);

    for (int64_t i = 0; i < count; i++) {
        if (t.f)
            t.f[i] = v->fill;
        else
            t.i[i] = int_of_float(v->dtype, v->fill);
    }
    tensor_round(&t);
    return t;
}

void graph_fill(Arena *a, const Graph *g, Tensor *values)
{
    for (ValueId v = 1; v < g->n_values; v++) {
        const Value *x = value_of(g, v);
        bool has_fill = x->kind == VALUE_STATE || x->kind == VALUE_ZERO || x->kind == VALUE_HYPER;
        if (x->kind == VALUE_CONSTANT)
            values[v] = tensor_of(a, x);
        else if (has_fill && !values[v].f && !values[v].i)
            values[v] = filled(a, x);
    }
}

void graph_eval(Arena *a, const Graph *g, Tensor *values)
{
    graph_fill(a, g, values);
    for (NodeId i = 1; i < g->n_nodes; i++) {
        const Node *n = &g->nodes[i];
        Arena *scratch = arena_new();
        Tensor *x = arena_array(scratch, Tensor, n->n_in), y[MAX_OUTPUTS];
        for (int j = 0; j < n->n_in; j++)
            x[j] = n->in[j] ? values[n->in[j]] : (Tensor){0};
        node_eval(a, g, n, x, y);
        for (int j = 0; j < n->n_out; j++)
            values[n->out[j]] = y[j];
        arena_free(scratch);
    }
}
