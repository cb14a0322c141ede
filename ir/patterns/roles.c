// Names the parts of norms, attention and activations, for whoever prints a graph.
#include <string.h>

#include "ir/facts.h"
#include "ir/operator/operator.h"

// Nodes that are followed from a product to the function that makes it an activation.
enum { MAX_STEPS = 5 };

typedef struct Roles {
    const Graph *g;
    const char **role;
} Roles;

static const Node *made_by(const Roles *x, ValueId v, const OpDef *op)
{
    const Node *n = producer(x->g, v);

    return value_of(x->g, v)->producer && n->op == op ? n : NULL;
}

static bool is_number(const Roles *x, ValueId v)
{
    double number;

    return value_splat(x->g, v, &number);
}

static bool is_role(const Roles *x, ValueId v, const char *role)
{
    return x->role[v] && !strcmp(x->role[v], role);
}

// A sum times a number, or divided by one, is a mean: of squares it is a variance.
static const char *role_of_mean(const Roles *x, const Node *n)
{
    if (!is_number(x, n->in[1]) && !is_number(x, n->in[0]))
        return NULL;
    ValueId of = is_number(x, n->in[1]) ? n->in[0] : n->in[1];
    if (is_role(x, of, "SQUARES"))
        return "VARIANCE";
    return made_by(x, of, &op_reduce_sum) ? "MEAN" : NULL;
}

// Is v made of `op` by steps with a number each?
static bool is_made_of(const Roles *x, ValueId v, const OpDef *op, int steps)
{
    const Node *n = producer(x->g, v);

    if (!value_of(x->g, v)->producer || !steps)
        return false;
    if (n->op == op)
        return true;
    for (int k = 0; k < n->n_in && n->op->is_elementwise && n->n_in <= 2; k++) {
        bool is_step = n->n_in == 1 || is_number(x, n->in[1 - k]);
        if (is_step && is_made_of(x, n->in[k], op, steps - 1))
            return true;
    }
    return false;
}

// x · f(x), of which f decides.
static const char *role_of_product(const Roles *x, const Node *n)
{
    if (is_number(x, n->in[0]) || is_number(x, n->in[1]))
        return role_of_mean(x, n);
    for (int k = 0; k < 2; k++) {
        if (is_made_of(x, n->in[k], &op_erf, MAX_STEPS) ||
            is_made_of(x, n->in[k], &op_tanh, MAX_STEPS))
            return "GELU";
        const Node *sigmoid = made_by(x, n->in[k], &op_div);
        if (sigmoid && is_number(x, sigmoid->in[0]) &&
            is_made_of(x, sigmoid->in[1], &op_exp, MAX_STEPS))
            return "SILU";
    }
    return NULL;
}

static const char *role_of_quotient(const Roles *x, const Node *n)
{
    if (is_number(x, n->in[0]) && is_role(x, n->in[1], "STD"))
        return "RSTD";
    return is_number(x, n->in[1]) ? role_of_mean(x, n) : NULL;
}

static const char *role_of(const Roles *x, const Node *n)
{
    if (n->op == &op_reduce_sum) {
        const Node *square = made_by(x, n->in[0], &op_mul);
        return square && square->in[0] == square->in[1] ? "SQUARES" : NULL;
    }
    if (n->op == &op_mul)
        return role_of_product(x, n);
    if (n->op == &op_div)
        return role_of_quotient(x, n);
    if (n->op == &op_sqrt)
        return is_role(x, n->in[0], "VARIANCE") ? "STD" : NULL;
    if (n->op == &op_add && is_number(x, n->in[1]))
        return is_role(x, n->in[0], "VARIANCE") ? "VARIANCE" : NULL;
    if (n->op == &op_compensate || n->op == &op_broadcast || n->op == &op_reshape)
        return x->role[n->in[0]];
    return n->op == &op_attention ? "ATTENTION" : NULL;
}

const char **graph_roles(Arena *a, const Graph *g)
{
    static const char *const attention[] = {"ATTENTION", "ATTENTION_MAX", "ATTENTION_SUM"};
    Roles x = {g, arena_array(a, const char *, g->n_values)};

    for (NodeId i = 1; i < g->n_nodes; i++) {
        const Node *n = &g->nodes[i];
        if (n->phase == UPDATE)
            continue;
        x.role[n->out[0]] = role_of(&x, n);
        for (int k = 1; n->op == &op_attention && k < n->n_out; k++)
            x.role[n->out[k]] = attention[k];
    }
    return x.role;
}

bool role_is_of_module(const char *role)
{
    return !strcmp(role, "ATTENTION") || !strcmp(role, "GELU") || !strcmp(role, "SILU");
}
