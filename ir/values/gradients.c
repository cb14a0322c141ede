// Compares gradients with differences of the loss.
#include <math.h>
#include <string.h>

#include "ir/values/internal.h"

// The loss of a graph whose parameters move.
typedef struct Moving {
    const Graph *g;  // forward, in f64
    Arena *arena;
    int accumulate;
    Tensor **value;      // by micro-batch and ValueId: where nothing moves
    double **direction;  // by ValueId: of a parameter that moves
    bool *is_moved;      // by ValueId
} Moving;

// Evaluates the micro-batches one by one. Buffers pass from one to the next.
static void eval_micros(Moving *m, const Feed *feed)
{
    const Graph *g = m->g;

    m->value = arena_array(m->arena, Tensor *, m->accumulate);
    for (int k = 0; k < m->accumulate; k++) {
        m->value[k] = feed->draw(m->arena, feed->context, g, k);
        for (int i = 0; k && i < g->n_carries; i++)
            m->value[k][g->carries[i].in] = m->value[k - 1][g->carries[i].out];
        graph_eval(m->arena, g, m->value[k]);
    }
}

// A value that gets no gradient keeps its numbers: it jumps, or is an index or a truth value.
static bool is_held(const Graph *g, const Node *n, int i)
{
    return n->op->is_flat || !n->op->grad || n->op->no_grad_out >> i & 1 ||
           !dtype_is_float(value_of(g, n->out[i])->dtype);
}

static void find_moved(Moving *m)
{
    const Graph *g = m->g;

    for (ValueId v = 1; v < g->n_values; v++)
        m->is_moved[v] = m->direction[v] != NULL;
    for (NodeId i = 1; i < g->n_nodes; i++) {
        const Node *n = &g->nodes[i];
        bool any = false;
        for (int k = 0; k < n->n_in; k++)
            any |= m->is_moved[n->in[k]];
        for (int k = 0; k < n->n_out; k++)
            m->is_moved[n->out[k]] = any && !is_held(g, n, k);
    }
}

static bool any_moved(const Moving *m, const Node *n)
{
    for (int k = 0; k < n->n_out; k++)
        if (m->is_moved[n->out[k]])
            return true;
    return false;
}

// The input of a node, with elements that get no gradient where they were.
static Tensor moved_input(Arena *a, const Moving *m, const Node *n, int i, const Tensor *now,
                          const Tensor *was)
{
    Tensor x = *now;

    if (!n->op->holds || !x.f || x.f == was->f)
        return x;
    x = tensor_new(a, now->dtype, now->rank, now->dim);
    for (int64_t e = 0; e < tensor_count(&x); e++)
        x.f[e] = n->op->holds(m->g, n, i, e) ? was->f[e] : now->f[e];
    return x;
}

static void eval_moved(Arena *a, const Moving *m, const Node *n, Tensor *value, const Tensor *was)
{
    Tensor *x = arena_array(a, Tensor, n->n_in + 1), y[MAX_OUTPUTS];

    for (int k = 0; k < n->n_in; k++)
        x[k] = n->in[k] ? moved_input(a, m, n, k, &value[n->in[k]], &was[n->in[k]]) : (Tensor){0};
    node_eval(a, m->g, n, x, y);
    for (int k = 0; k < n->n_out; k++)
        if (m->is_moved[n->out[k]])
            value[n->out[k]] = y[k];
}

static void move_parameters(Arena *a, const Moving *m, double h, Tensor *value)
{
    for (ValueId v = 1; v < m->g->n_values; v++) {
        if (!m->direction[v])
            continue;
        Tensor p = tensor_new(a, F64, value[v].rank, value[v].dim);
        for (int64_t i = 0; i < tensor_count(&p); i++)
            p.f[i] = value[v].f[i] + h * m->direction[v][i];
        value[v] = p;
    }
}

// Does a sum of huge numbers lose how its operands move? Scores that are masked by an added number
// have a gradient, and their sums don't move.
static bool loses_moves(const Moving *m)
{
    const double most = 1e6;
    Arena *a = arena_new();
    bool loses = false;
    Rule r;

    for (NodeId i = 1; i < m->g->n_nodes && !loses; i++) {
        const Node *n = &m->g->nodes[i];
        if (!m->is_moved[n->out[0]] || !n->op->is_elementwise || n->n_in != 2)
            continue;
        node_rule(a, m->g, n, &r);
        for (int k = 0; k < m->accumulate && r.joint == 3; k++)
            loses |= tensor_scale(&m->value[k][n->out[0]]) > most;
    }
    arena_free(a);
    return loses;
}

// OUTPUT_LOSS_FACTOR, which is made of the total count, the only zero.
static double factor_of(Arena *a, const Graph *g, Tensor *value, double count)
{
    for (ValueId v = 1; v < g->n_values; v++)
        if (value_of(g, v)->kind == VALUE_ZERO) {
            value[v] = tensor_new(a, F64, 0, NULL);
            value[v].f[0] = count;
        }
    graph_eval(a, g, value);
    return value[output_of_role(g, OUTPUT_LOSS_FACTOR)].f[0];
}

static double moved_loss(const void *moving, double h)
{
    const Moving *m = moving;
    const Graph *g = m->g;
    Arena *a = arena_new();
    Tensor *value = arena_array(a, Tensor, g->n_values);
    double sum = 0, count = 0;

    for (int k = 0; k < m->accumulate; k++) {
        memcpy(value, m->value[k], sizeof *value * (size_t)g->n_values);
        move_parameters(a, m, h, value);
        for (NodeId n = 1; n < g->n_nodes; n++)
            if (any_moved(m, &g->nodes[n]))
                eval_moved(a, m, &g->nodes[n], value, m->value[k]);
        sum += value[output_of_role(g, OUTPUT_LOSS_SUM)].f[0];
        count += value[output_of_role(g, OUTPUT_LOSS_COUNT)].f[0];
    }
    double loss =
        output_of_role(g, OUTPUT_LOSS_FACTOR) ? sum * factor_of(a, g, value, count) : sum / count;
    arena_free(a);
    return loss;
}

static double *draw_direction(Arena *a, const Value *p, ValueId v)
{
    int64_t n = value_count(p);
    double *x = arena_array(a, double, n + 1);

    for (int64_t i = 0; i < n; i++) {
        int64_t key[2] = {v, i};
        x[i] = hash_bytes(key, sizeof key, 9) % 2 ? 1 : -1;
        x[i] *= 0.5 + (double)(hash_bytes(key, sizeof key, 10) % 1000) / 1000;
    }
    return x;
}

// ---- gradients ----

static const Tensor *gradient_of(const Side *s, Edge e, const char *name)
{
    for (int i = 0; i < s->n_ends; i++)
        if (s->end[i].role == OUTPUT_GRADIENT && !strcmp(s->end[i].name, name))
            return &s->result[e][i];
    return NULL;
}

// A slope as gradients have it, and the size of what it adds up.
typedef struct Sum {
    double is, size;
} Sum;

// Adds up gradient times direction; a parameter without a gradient has 0.
static Sum add_up(const Moving *m, const Side *now, Edge e)
{
    Sum sum = {0, 0};

    for (ValueId v = 1; v < m->g->n_values; v++) {
        const Tensor *t = m->direction[v] ? gradient_of(now, e, value_of(m->g, v)->name) : NULL;
        for (int64_t i = 0; t && i < tensor_count(t); i++) {
            double x = t->f[i] * m->direction[v][i];
            sum.is += x;
            sum.size += x * x;
        }
    }
    sum.size = sqrt(sum.size);
    return sum;
}

// Is the slope along the direction another one than the gradients say? Not at a kink.
static bool is_slope_wrong(Moving *m, const Side *now, Edge e, double slope[2])
{
    Sum sum = add_up(m, now, e);
    double here;

    find_moved(m);
    if (loses_moves(m))
        return false;
    here = moved_loss(m, 0);
    slope[0] = sum.is;
    if (!isfinite(here) || !isfinite(sum.is) ||
        !curve_slope(&(Curve){moved_loss, m}, here, &slope[1]))
        return false;
    double may = 3e-5 * (sum.size + fabs(slope[1])) + 1e-7 + 1e-9 * fabs(here);
    return !(fabs(slope[0] - slope[1]) <= may);
}

// Moves all parameters together, and then, if the slope is wrong, one by one.
static const char *find_wrong(Moving *m, const Side *now, Edge e, double slope[2])
{
    const Graph *g = m->g;
    double **all = arena_array(m->arena, double *, g->n_values);

    for (ValueId v = 1; v < g->n_values; v++)
        if (value_of(g, v)->kind == VALUE_PARAMETER && value_of(g, v)->dtype == F64)
            m->direction[v] = all[v] = draw_direction(m->arena, value_of(g, v), v);
    if (!is_slope_wrong(m, now, e, slope))
        return NULL;
    for (ValueId v = 1; v < g->n_values; v++) {
        if (!all[v])
            continue;
        memset(m->direction, 0, sizeof *m->direction * (size_t)g->n_values);
        m->direction[v] = all[v];
        if (is_slope_wrong(m, now, e, slope))
            return value_of(g, v)->name;
    }
    return NULL;
}

const char *find_wrong_slope(const ValueCheck *c, const Side *was, const Side *now, Edge e,
                             double slope[2])
{
    Arena *a = arena_new();
    DrawEdge edge = {&c->draws, e};
    Feed feed = edge_feed(&edge);
    ValueId *map;
    const char *name = NULL;
    Graph *g = graph_widen(a, was->base, &map, NULL);

    if (g && output_of_role(g, OUTPUT_LOSS_SUM) && output_of_role(g, OUTPUT_LOSS_COUNT)) {
        Moving m = {.g = g, .arena = a, .accumulate = side_accumulate(c, was)};
        m.direction = arena_array(a, double *, g->n_values);
        m.is_moved = arena_array(a, bool, g->n_values);
        eval_micros(&m, &feed);
        name = find_wrong(&m, now, e, slope);
    }
    name = name ? arena_string(now->arena, "%s", name) : NULL;
    arena_free(a);
    return name;
}
