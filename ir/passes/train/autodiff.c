// Reverse-mode differentiation. The backward nodes of a forward node get its block label, so that a
// forward loop has a backward loop.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "ir/internal.h"
#include "ir/passes/train/adjoint.h"
#include "ir/passes/train/untrained.h"

typedef struct Autodiff {
    Graph *g;
    int n_nodes, n_values;  // of the forward graph
    bool *needs;            // by ValueId: a gradient flows from it to a parameter
    bool *live;             // by ValueId: so it does, and the loss gives it one
    ClassNodes *classes;
    Adjoint adjoint;
} Autodiff;

// ---- which gradients are needed ----

static bool any_live(const Autodiff *a, const Node *n)
{
    for (int k = 0; k < n->n_out; k++)
        if (a->live[n->out[k]])
            return true;
    return false;
}

static void find_live(Autodiff *a, ValueId loss)
{
    const Graph *g = a->g;

    a->live = arena_array(g->arena, bool, a->n_values);
    a->live[loss] = a->needs[loss];
    for (NodeId i = a->n_nodes - 1; i > 0; i--) {
        const Node *n = &g->nodes[i];
        for (int k = 0; k < n->n_in && any_live(a, n); k++)
            a->live[n->in[k]] |= a->needs[n->in[k]];
    }
}

// Does the loss depend on some node of the iteration?
static bool is_iteration_live(const Autodiff *a, const ClassNodes *c, int iter)
{
    for (int pos = 0; pos < c->n_pos; pos++)
        if (any_live(a, &a->g->nodes[c->node[(int64_t)iter * c->n_pos + pos]]))
            return true;
    return false;
}

// Do iterations `iter` and `iter` + 1 need the same gradients?
static bool needs_alike(const Autodiff *a, const ClassNodes *c, int iter)
{
    const Graph *g = a->g;

    if (is_iteration_live(a, c, iter) != is_iteration_live(a, c, iter + 1))
        return false;
    for (int pos = 0; pos < c->n_pos; pos++) {
        const Node *x = &g->nodes[c->node[(int64_t)iter * c->n_pos + pos]];
        const Node *y = &g->nodes[c->node[(int64_t)(iter + 1) * c->n_pos + pos]];
        for (int k = 0; k < x->n_in; k++)
            if (a->needs[x->in[k]] != a->needs[y->in[k]])
                return false;
    }
    return true;
}

// Splits classes whose iterations need different gradients: the first layer needs no gradient of
// the data, a frozen layer needs none of its parameters, a layer after the loss needs none at all.
static void split_classes(Autodiff *a)
{
    Graph *g = a->g;
    int n_classes = g->n_classes;

    a->classes = class_nodes(g->arena, g);
    for (int c = 1; c < n_classes; c++)
        for (int iter = a->classes[c].length - 2; iter >= 0; iter--)
            if (!needs_alike(a, &a->classes[c], iter))
                class_split(g, c, iter + 1);
    class_compact(g);
    a->classes = class_nodes(g->arena, g);
}

// Sets Adjoint.returns: the values whose next iteration gives them a gradient.
static void find_returns(Autodiff *a)
{
    const Graph *g = a->g;
    bool *returns = arena_array(g->arena, bool, a->n_values);

    for (NodeId i = 1; i < a->n_nodes; i++) {
        const Node *n = &g->nodes[i];
        Block b = n->block;
        if (!b.cls || !any_live(a, n))
            continue;
        for (int k = 0; k < n->n_in; k++) {
            const Value *v = value_of(g, n->in[k]);
            if (!a->live[n->in[k]] || !v->producer)
                continue;
            const Node *from = &g->nodes[v->producer];
            if (from->block.cls != b.cls || from->block.iter != b.iter - 1)
                continue;
            int last = g->classes[b.cls].length - 1, o = 0;
            while (from->out[o] != n->in[k])
                o++;
            returns[g->nodes[class_instance(a->classes, from, last)].out[o]] = true;
        }
    }
    a->adjoint.returns = returns;
}

// ---- the sweep ----

static bool node_backward(Autodiff *a, const Node *n, Diag *d)
{
    Graph *g = a->g;
    ValueId dy[MAX_OUTPUTS] = {0};
    bool any = false, *want = arena_array(g->arena, bool, n->n_in);

    for (int k = 0; k < n->n_out; k++) {
        dy[k] = a->needs[n->out[k]] ? adjoint_take(&a->adjoint, n->out[k]) : 0;
        any |= dy[k] != 0;
    }
    if (!any)
        return true;
    for (int k = 0; k < n->n_in; k++)
        want[k] = a->needs[n->in[k]];
    if (!n->op->grad)
        return node_error(g, n, d, "has no gradient: %s",
                          n->op->no_grad ? n->op->no_grad : "it isn't differentiable");
    ValueId *dx = arena_array(g->arena, ValueId, n->n_in);
    NodeId first = g->n_nodes;
    g->block = (Block){n->block.cls, n->block.iter, 0};
    g->source = n->source;
    n->op->grad(g, n, dy, want, dx);
    for (int k = 0; k < n->n_in; k++)
        if (want[k] && dx[k])
            adjoint_add(&a->adjoint, n, k, dx[k], first);
    return true;
}

static bool sweep(Autodiff *a, ValueId loss, ValueId seed, Diag *d)
{
    Graph *g = a->g;
    bool ok = true;

    a->adjoint.g = g;
    a->adjoint.classes = a->classes;
    a->adjoint.sums = arena_array(g->arena, Sums, a->n_values);
    a->adjoint.n_slices = 0;
    arena_push(g->arena, a->adjoint.slices, a->adjoint.n_slices, a->adjoint.cap_slices);
    a->adjoint.sums[loss].local = seed;
    for (NodeId i = a->n_nodes - 1; i > 0; i--) {
        Node n = g->nodes[i];  // a copy: the array moves while nodes are added
        ok &= node_backward(a, &n, d);
    }
    return ok;
}

// ---- results ----

static ValueId reciprocal(Graph *g, ValueId x)
{
    return make_div(g, graph_scalar(g, value_of(g, x)->dtype, 1), x);
}

static void set_labels(Graph *g, Phase phase, Block block, const Source *source)
{
    g->phase = phase;
    g->block = (Block){block.cls, block.iter, 0};
    g->source = source;
}

// The source of nodes that follow from the loss.
static const Source *loss_source(Graph *g)
{
    ValueId loss = output_of_role(g, OUTPUT_LOSS_SUM);

    return value_of(g, loss)->producer ? producer(g, loss)->source : NULL;
}

// Sums x over micro-batches in the accumulator `sum`, which is carried from one to the next.
// Returns its value after this micro-batch.
static ValueId accumulated_in(Graph *g, ValueId sum, ValueId x)
{
    const char *name = value_of(g, sum)->name;
    Block block = value_of(g, sum)->block;

    set_labels(g, BACKWARD, block, graph_source(g, "accumulate", name));
    ValueId next = make_add(g, sum, x);
    graph_carry(g, sum, next, SCOPE_MICRO);
    return next;
}

// The same in a new accumulator.
static ValueId accumulated(Graph *g, ValueId x, const char *name, Block block)
{
    Value like = *value_of(g, x);
    ValueId sum = graph_value(g, VALUE_ZERO, name, like.dtype, like.rank, like.dim);

    value_edit(g, sum)->block = block;
    return accumulated_in(g, sum, x);
}

// The accumulator that OUTPUT_LOSS_FACTOR is made of; 0: there is none.
static ValueId find_total(const Graph *g)
{
    for (ValueId v = 1; v < g->n_values && output_of_role(g, OUTPUT_LOSS_FACTOR); v++)
        if (value_of(g, v)->kind == VALUE_ZERO && !strcmp(value_of(g, v)->name, LOSS_COUNT_TOTAL))
            return v;
    return 0;
}

static void accumulate_outputs(Graph *g)
{
    ValueId total = find_total(g);

    for (int i = 0; i < g->n_outputs; i++) {
        Output o = g->outputs[i];
        if (o.role != OUTPUT_LOSS_SUM && o.role != OUTPUT_LOSS_COUNT)
            continue;
        bool is_count = o.role == OUTPUT_LOSS_COUNT;
        const char *name = is_count ? LOSS_COUNT_TOTAL : "loss.sum";
        g->outputs[i].value = is_count && total ? accumulated_in(g, total, o.value)
                                                : accumulated(g, o.value, name, (Block){0});
    }
}

static int compare_parameters(const void *a, const void *b)
{
    const Value *const *p = a, *const *q = b;
    Block x = (*p)->block, y = (*q)->block;

    if (x.cls != y.cls)
        return x.cls < y.cls ? -1 : 1;
    if (x.iter != y.iter)
        return x.iter < y.iter ? -1 : 1;
    return x.pos < y.pos ? -1 : x.pos > y.pos;
}

// Lists the parameters that the loss depends on. Those of a block are in the order of their
// positions, so that the nodes made for them are in the same order in all iterations.
static int live_parameters(const Autodiff *a, ValueId *list)
{
    const Graph *g = a->g;
    const Value **p = arena_array(g->arena, const Value *, a->n_values);
    int n = 0, n_free = 0;

    for (ValueId v = 1; v < a->n_values; v++)
        if (a->live[v] && value_of(g, v)->kind == VALUE_PARAMETER && !value_of(g, v)->block.cls)
            list[n_free++] = v;
    for (ValueId v = 1; v < a->n_values; v++)
        if (a->live[v] && value_of(g, v)->kind == VALUE_PARAMETER && value_of(g, v)->block.cls)
            p[n++] = value_of(g, v);
    if (n)
        qsort(p, (size_t)n, sizeof(Value *), compare_parameters);
    for (int i = 0; i < n; i++)
        list[n_free + i] = (ValueId)(p[i] - g->values);
    return n_free + n;
}

// Makes the gradient of a parameter an output, with micro-batches their sum; times `factor`, if it
// isn't 0.
static void add_gradient(Autodiff *a, ValueId v, bool accumulates, ValueId factor)
{
    Graph *g = a->g;
    Value p = *value_of(g, v);

    g->phase = BACKWARD;
    ValueId gradient = adjoint_take(&a->adjoint, v);
    if (!gradient)
        return;
    if (accumulates) {
        const char *name = arena_string(g->arena, "%s.grad", p.name ? p.name : "");
        gradient = accumulated(g, gradient, name, p.block);
    }
    if (factor) {
        const char *from = accumulates ? "accumulate" : "loss_scale";
        set_labels(g, UPDATE, p.block, graph_source(g, from, p.name));
        factor = make_cast(g, factor, p.dtype);
        gradient = make_mul(g, gradient, broadcast_like(g, factor, gradient));
    }
    value_edit(g, gradient)->own_rank = p.own_rank;
    memcpy(value_edit(g, gradient)->own_dim, p.own_dim, sizeof p.own_dim);
    graph_output(g, p.name, gradient, OUTPUT_GRADIENT);
}

// A copy of the scalar v that is made of `to` where v is made of `from`.
static ValueId made_of(Graph *g, ValueId v, ValueId from, ValueId to)
{
    if (v == from || !value_of(g, v)->producer)
        return v == from ? to : v;
    Node n = *producer(g, v);  // a copy: the array moves while nodes are added
    ValueId *in = arena_array(g->arena, ValueId, n.n_in);
    bool is_same = true;
    for (int i = 0; i < n.n_in; i++) {
        in[i] = made_of(g, n.in[i], from, to);
        is_same &= in[i] == n.in[i];
    }
    return is_same ? v : graph_node(g, n.op, n.n_in, in, n.attr);
}

// The factor of all gradients: the reciprocal of the count, or what OUTPUT_LOSS_FACTOR says, which
// is taken away. Then OUTPUT_LOSS_COUNT becomes its reciprocal.
static ValueId take_factor(Graph *g)
{
    ValueId total = output_of_role(g, OUTPUT_LOSS_COUNT),
            factor = output_of_role(g, OUTPUT_LOSS_FACTOR);
    int n = 0;

    if (!factor)
        return reciprocal(g, total);
    factor = made_of(g, factor, find_total(g), total);
    for (int i = 0; i < g->n_outputs; i++) {
        Output o = g->outputs[i];
        if (o.role == OUTPUT_LOSS_COUNT)
            o.value = reciprocal(g, factor);
        if (o.role != OUTPUT_LOSS_FACTOR)
            g->outputs[n++] = o;
    }
    g->n_outputs = n;
    return factor;
}

// How many losses a micro-batch has at most: the elements of which the count is a sum.
static double most_losses(const Graph *g)
{
    ValueId v = output_of_role(g, OUTPUT_LOSS_COUNT);
    double n;

    if (value_splat(g, v, &n))
        return n >= 1 ? n : 1;
    while (producer(g, v)->op == &op_reduce_sum || producer(g, v)->op == &op_cast)
        v = producer(g, v)->in[0];
    return (double)value_count(value_of(g, v));
}

// OUTPUT_LOSS_SCALE, by which the gradients of the mean loss are multiplied; 0: there is none. With
// micro-batches they are those of the sum, as its count isn't known yet: then a power of two near
// the count divides the scale.
static ValueId scale_of_sum(Graph *g, int accumulate)
{
    ValueId scale = output_of_role(g, OUTPUT_LOSS_SCALE);

    if (!scale || accumulate == 1)
        return scale;
    g->source = graph_source(g, "loss_scale", "");
    int k = (int)ceil(log2(accumulate * most_losses(g)));
    return make_mul(g, scale, graph_scalar(g, F32, ldexp(1, -k)));
}

static void add_outputs(Autodiff *a, int accumulate, ValueId scale)
{
    Graph *g = a->g;
    ValueId *list = arena_array(g->arena, ValueId, a->n_values), factor = 0;
    const Source *loss = loss_source(g);
    int n = live_parameters(a, list);

    if (accumulate > 1) {
        accumulate_outputs(g);
        set_labels(g, UPDATE, (Block){0}, loss);
        factor = take_factor(g);
    }
    if (scale) {
        set_labels(g, UPDATE, (Block){0}, graph_source(g, "loss_scale", ""));
        factor = factor ? make_div(g, factor, scale) : reciprocal(g, scale);
    }
    for (int i = 0; i < n; i++)
        add_gradient(a, list[i], accumulate > 1, factor);
}

// ---- cleaning up ----

// Drops the nodes that stop gradients: they have done their work.
static void drop_stops(Graph *g)
{
    ValueId *to = arena_array(g->arena, ValueId, g->n_values);

    for (ValueId v = 1; v < g->n_values; v++)
        to[v] = v;
    for (NodeId i = 1; i < g->n_nodes; i++) {
        Node *n = &g->nodes[i];
        for (int k = 0; k < n->n_in; k++)
            n->in[k] = to[n->in[k]];
        if (n->op == &op_stop_gradient)
            to[n->out[0]] = n->in[0];
    }
    for (int i = 0; i < g->n_outputs; i++)
        g->outputs[i].value = to[g->outputs[i].value];
    for (int i = 0; i < g->n_carries; i++)
        g->carries[i].out = to[g->carries[i].out];
}

// Merges equal new scalars. Gradients have many scalars 0, 1 and 2; the iterations of a class must
// read the same ones.
static void share_scalars(Graph *g, int n_values)
{
    Map known = {.arena = g->arena};
    ValueId *to = arena_array(g->arena, ValueId, g->n_values);

    for (ValueId v = 1; v < g->n_values; v++) {
        const Value *x = value_of(g, v);
        to[v] = v;
        if (x->kind != VALUE_CONSTANT || x->rank || x->block.cls)
            continue;
        uint64_t bits = 0;
        memcpy(&bits, x->data, (size_t)dtype_size(x->dtype));
        const char *key = arena_string(g->arena, "%d:%" PRIx64, x->dtype, bits);
        if (!map_get(&known, key))
            map_set(&known, key, v);
        else if (v >= n_values)
            to[v] = map_get(&known, key);
    }
    for (NodeId i = 1; i < g->n_nodes; i++)
        for (int k = 0; k < g->nodes[i].n_in; k++)
            g->nodes[i].in[k] = to[g->nodes[i].in[k]];
}

bool autodiff(Graph *g, int accumulate, Diag *d)
{
    Autodiff a = {.g = g, .n_nodes = g->n_nodes, .n_values = g->n_values};
    ValueId loss = output_of_role(g, OUTPUT_LOSS_SUM), count = output_of_role(g, OUTPUT_LOSS_COUNT);
    int errors = d->errors;

    if (!loss || !count) {
        diag_error(d, "the graph has no loss to differentiate");
        return false;
    }
    g->diag = d;
    a.needs = graph_learned(g->arena, g);
    find_live(&a, loss);
    split_classes(&a);
    find_returns(&a);
    set_labels(g, BACKWARD, (Block){0}, loss_source(g));
    ValueId scale = scale_of_sum(g, accumulate);
    ValueId seed = accumulate == 1 ? take_factor(g)
                   : scale         ? scale
                                   : graph_scalar(g, value_of(g, loss)->dtype, 1);
    if (scale && accumulate == 1)
        seed = make_mul(g, seed, scale);
    if (a.needs[loss] && !sweep(&a, loss, seed, d))
        return false;
    add_outputs(&a, accumulate, scale);
    warn_untrained(g, a.needs, a.n_values, loss, d);
    drop_stops(g);
    set_labels(g, FORWARD, (Block){0}, NULL);
    if (d->errors > errors)
        return false;
    share_scalars(g, a.n_values);
    graph_prune(g);
    graph_number_blocks(g);
    class_drop_unlike(g, "have different gradients", d);
    return true;
}
