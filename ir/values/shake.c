// Evaluates graphs with errors in their results, and steps of several micro-batches.
#include <math.h>
#include <string.h>

#include "ir/internal.h"
#include "ir/values/values.h"

// ---- which operators round ----

// Does the rule say that the node takes the largest or least of its inputs' elements, or that it
// isn't linear in them? Of operators that aren't elementwise, those that round are sums and
// products, which are linear.
static bool is_linear(Arena *a, const Graph *g, const Node *n)
{
    Rule r;

    node_rule(a, g, n, &r);
    return r.joint || r.single;
}

static bool has_float_input(const Graph *g, const Node *n)
{
    for (int i = 0; i < n->n_in; i++)
        if (n->in[i] && dtype_is_float(in(g, n, i)->dtype))
            return true;
    return false;
}

// An operator that only moves or chooses numbers is exact. Of elementwise ones, shake_result looks
// at each element.
static bool is_exact(Arena *a, const Graph *g, const Node *n)
{
    const OpDef *op = n->op;

    if (op->view || op->subview || op->is_flat || (op->flops == 0 && !op->work) ||
        !has_float_input(g, n))
        return true;
    return !op->is_elementwise && !op->is_attention && !op->is_product && !is_linear(a, g, n);
}

// ---- errors ----

static void shake(double *x, int64_t i, const Shake *s, double part)
{
    uint64_t key = hash_bytes(x, sizeof *x, s->seed + (s->seed % 2 ? (uint64_t)i << 8 : 0));

    *x *= 1 + ((double)(key % 2001) / 1000 - 1) * part;
}

// Is an element of an elementwise result one of the operands, perhaps with the other sign?
static bool is_chosen(const Node *n, const Tensor *x, double y, int64_t i)
{
    for (int k = 0; k < n->n_in; k++)
        if (x[k].f && fabs(x[k].f[i]) == fabs(y))
            return true;
    return false;
}

static void shake_result(const Node *n, const Tensor *x, Tensor *y, const Shake *s, double part)
{
    for (int64_t i = 0; y->f && i < tensor_count(y); i++)
        if (!n->op->is_elementwise || !is_chosen(n, x, y->f[i], i))
            shake(&y->f[i], i, s, part);
}

// A constant that is rounded has one error for all elements that it is multiplied with.
static void shake_alike(Tensor *y, NodeId i, const Shake *s)
{
    double factor = (double)i;

    shake(&factor, 0, s, F32_ROUNDING);
    for (int64_t k = 0; y->f && k < tensor_count(y); k++)
        y->f[k] *= factor / (double)i;
}

static Tensor shaken(Arena *a, const Tensor *t, const Shake *s, double part)
{
    Tensor y = *t;

    if (!t->f)
        return y;
    y = tensor_new(a, t->dtype, t->rank, t->dim);
    memcpy(y.f, t->f, sizeof *y.f * (size_t)tensor_count(t));
    for (int64_t i = 0; i < tensor_count(&y); i++)
        shake(&y.f[i], i, s, part);
    return y;
}

static void shake_node(Arena *a, const Graph *g, NodeId i, Tensor *value, const Shake *s)
{
    const Node *n = &g->nodes[i];
    Shake own = *s;
    bool is_coarse = s->coarse && s->coarse[i];
    bool is_half = s->products > 0 && n->op->is_product;
    double part = is_coarse ? F32_ROUNDING : is_half ? s->products : s->part;
    part = s->own ? fmax(part, s->own[i]) : part;
    Tensor *x = arena_array(a, Tensor, n->n_in + 1), y[MAX_OUTPUTS];
    bool is_off = !is_exact(a, g, n);

    own.seed += s->by_phase ? (uint64_t)n->phase << 32 : 0;
    for (int k = 0; k < n->n_in; k++) {
        x[k] = n->in[k] ? value[n->in[k]] : (Tensor){0};
        if (is_off && n->in[k] && !n->op->is_elementwise)
            x[k] = shaken(a, &x[k], &own, part);
    }
    node_eval(a, g, n, x, y);
    for (int k = 0; k < n->n_out; k++) {
        if (is_off) {
            shake_result(n, x, &y[k], &own, part);
            if (is_coarse)
                shake_alike(&y[k], i, &own);
            tensor_round(&y[k]);
        }
        value[n->out[k]] = y[k];
    }
}

void graph_shake(Arena *a, const Graph *g, Tensor *value, const Shake *s)
{
    graph_fill(a, g, value);
    for (NodeId i = 1; i < g->n_nodes; i++)
        shake_node(a, g, i, value, s);
}

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

// ---- steps ----

Tensor *step_eval(Arena *a, const Graph *g, int accumulate, const Feed *feed, const Shake *s)
{
    Tensor *was = NULL, *is = NULL;

    for (int k = 0; k < accumulate; k++, was = is) {
        is = feed->draw(a, feed->context, g, k);
        for (int i = 0; was && i < g->n_carries; i++) {
            const Carry *c = &g->carries[i];
            if (c->scope == SCOPE_MICRO || producer(g, c->out)->phase != UPDATE)
                is[c->in] = was[c->out];
        }
        if (s)
            graph_shake(a, g, is, s);
        else
            graph_eval(a, g, is);
    }
    return is;
}
