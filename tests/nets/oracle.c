// Finds a net's loss and gradients by evaluating the graph as it was built, and by nothing else.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tests/nets/judge.h"

// ---- evaluation ----

ValueId oracle_find(const Graph *g, const char *name)
{
    for (ValueId v = 1; v < g->n_values; v++)
        if (g->values[v].name && !strcmp(g->values[v].name, name))
            return v;
    return 0;
}

// Evaluates one node on its inputs' values.
static void eval_one(Arena *a, const Graph *g, const Node *n, Tensor *value)
{
    Tensor x[32] = {0}, y[MAX_OUTPUTS];

    for (int i = 0; i < n->n_in; i++)
        x[i] = n->in[i] ? value[n->in[i]] : (Tensor){0};
    node_eval(a, g, n, x, y);
    for (int i = 0; i < n->n_out; i++)
        value[n->out[i]] = y[i];
}

// Evaluates one micro-batch after the other. Buffers keep their values from one to the next.
static void eval_micros(Oracle *o)
{
    const Graph *g = o->g;

    o->value = arena_array(o->arena, Tensor *, o->s->accumulate);
    for (int k = 0; k < o->s->accumulate; k++) {
        o->value[k] = numbers_all(o->arena, g, o->s, k);
        for (int i = 0; k && i < g->n_carries; i++)
            o->value[k][g->carries[i].in] = o->value[k - 1][g->carries[i].out];
        graph_eval(o->arena, g, o->value[k]);
    }
}

// ---- losses, by their formulas ----

static double row_loss(const double *x, int64_t n, int64_t label, double smooth)
{
    double most = x[0], sum = 0, mean = 0;

    for (int64_t i = 0; i < n; i++)
        most = fmax(most, x[i]);
    for (int64_t i = 0; i < n; i++) {
        sum += exp(x[i] - most);
        mean += x[i] / (double)n;
    }
    // Differences are taken first, because next to a huge maximum the logarithm would be rounded
    // away.
    return log(sum) + (1 - smooth) * (most - x[label]) + smooth * (most - mean);
}

static void add_classes(const Subject *s, const Tensor *y, const Tensor *t, double *sum,
                        double *count)
{
    int64_t n = y->dim[y->rank - 1];

    for (int64_t i = 0; i < tensor_count(t); i++) {
        if (strstr(s->loss, "ignore_index=1") && t->i[i] == 1)
            continue;
        *sum += row_loss(y->f + i * n, n, t->i[i], strstr(s->loss, "smoothing") ? 0.1 : 0);
        *count += 1;
    }
}

static void add_loss(const Subject *s, const Tensor *y, const Tensor *t, double *sum, double *count)
{
    if (!strncmp(s->loss, "cross", 5)) {
        add_classes(s, y, t, sum, count);
        return;
    }
    for (int64_t i = 0; i < tensor_count(y); i++) {
        double x = y->f[i], z = t->f ? t->f[i] : 0;
        if (!strncmp(s->loss, "mse", 3))
            *sum += (x - z) * (x - z);
        else if (!strncmp(s->loss, "l1", 2))
            *sum += fabs(x - z);
        else if (!strncmp(s->loss, "bce", 3))
            *sum += fmax(x, 0) - x * z + log1p(exp(-fabs(x)));
        else
            *sum += x;
        *count += 1;
    }
}

static void make_targets(Oracle *o)
{
    const Value *y = value_of(o->g, o->g->outputs[0].value);
    bool is_classes = !strncmp(o->s->loss, "cross", 5);
    Value t = {.name = "t", .kind = VALUE_INPUT, .dtype = is_classes ? I64 : F64, .own_rank = -1};

    t.rank = y->rank - is_classes;
    memcpy(t.dim, y->dim, sizeof t.dim);
    o->target = arena_array(o->arena, Tensor, o->s->accumulate);
    for (int k = 0; k < o->s->accumulate && strcmp(o->s->loss, "y"); k++)
        o->target[k] = numbers_of(o->arena, &t, o->s, k, o->s->classes);
}

bool oracle_new(Arena *a, Oracle *o, const Subject *s, Diag *d)
{
    ValueId *map;

    *o = (Oracle){.s = s, .arena = a};
    o->g = graph_widen(a, s->train, &map, d);
    o->predict = graph_widen(a, s->predict, &map, d);
    return o->g && o->predict;
}

// The forward node of `g` that draws random numbers for `source`, a use of a layer. NULL if the
// passes removed the draw.
static const Node *find_draw(const Graph *g, const Source *source)
{
    for (NodeId i = 1; i < g->n_nodes; i++) {
        const Node *n = &g->nodes[i];
        if (n->phase == FORWARD && node_site(n) && n->source &&
            !strcmp(n->source->name, source->name))
            return n;
    }
    return NULL;
}

// Numbers the net's random nodes like those of `made`, the graph after the passes. A layer has at
// most one.
static void renumber_draws(Graph *g, const Graph *made)
{
    for (NodeId i = 1; i < g->n_nodes; i++) {
        Node *n = &g->nodes[i];
        int at = node_site(n);
        const Node *from = at ? find_draw(made, n->source) : NULL;
        if (from) {
            n->attr[at] = from->attr[node_site(from)];
            n->attr[at + 1] = from->attr[node_site(from) + 1];
        }
    }
}

static void eval_loss(Oracle *o)
{
    eval_micros(o);
    o->sum = o->count = 0;
    for (int k = 0; k < o->s->accumulate; k++)
        add_loss(o->s, &o->value[k][o->g->outputs[0].value], &o->target[k], &o->sum, &o->count);
}

// Does f32 hold the output and the values that depend on it, and all products? The loss doesn't
// show that: a label may be ignored, its class may have the largest logit by far, or a norm may
// divide large values by themselves.
static bool fits_f32(const Oracle *o)
{
    const double most = 1e30;

    if (!products_fit(o->predict, o->predicted, o->s->precision))
        return false;
    for (int k = 0; k < o->s->accumulate; k++) {
        const Tensor *y = &o->value[k][o->g->outputs[0].value];
        for (int64_t i = 0; y->f && i < tensor_count(y); i++)
            if (!(fabs(y->f[i]) < most))
                return false;
        if (!products_fit(o->g, o->value[k], o->s->precision))
            return false;
    }
    return true;
}

bool oracle_eval(Oracle *o, const Graph *made)
{
    renumber_draws(o->g, made);
    make_targets(o);
    eval_loss(o);
    o->predicted = numbers_all(o->arena, o->predict, o->s, 0);
    graph_eval(o->arena, o->predict, o->predicted);
    ValueId y = o->predict->outputs[0].value;
    Tensor *rough[2];
    for (int k = 0; k < 2; k++) {
        rough[k] = numbers_all(o->arena, o->predict, o->s, 0);
        Shake shake = precision_shake((uint64_t)k + 1, o->s->precision);
        graph_shake(o->arena, o->predict, rough[k], &shake);
    }
    o->roughly = tensor_rough(o->arena, &o->predicted[y], &rough[0][y], &rough[1][y]);
    // Where numbers are huge, a comparison in f32 proves nothing.
    return fabs(o->sum / o->count) < 1e5 && fits_f32(o);
}

// ---- slopes ----

// A parameter that moves along a direction.
typedef struct Move {
    const Oracle *o;
    ValueId v;
    const double *direction;
    const bool *is_moved;  // by ValueId: depends on v
} Move;

// The loss after the parameter moves by `h`. Evaluates only the nodes that depend on it.
static double moved_loss(const void *move, double h)
{
    const Move *m = move;
    const Oracle *o = m->o;
    const Graph *g = o->g;
    ValueId v = m->v;
    Arena *a = arena_new();
    Tensor *value = arena_array(a, Tensor, g->n_values);
    double sum = 0, count = 0;

    for (int k = 0; k < o->s->accumulate; k++) {
        memcpy(value, o->value[k], sizeof *value * (size_t)g->n_values);
        Tensor p = tensor_new(a, F64, value[v].rank, value[v].dim);
        for (int64_t i = 0; i < tensor_count(&p); i++)
            p.f[i] = value[v].f[i] + h * m->direction[i];
        value[v] = p;
        for (NodeId n = 1; n < g->n_nodes; n++)
            if (m->is_moved[g->nodes[n].out[0]])
                eval_one(a, g, &g->nodes[n], value);
        add_loss(o->s, &value[g->outputs[0].value], &o->target[k], &sum, &count);
    }
    arena_free(a);
    return sum / count;
}

static bool *find_moved(Arena *a, const Graph *g, ValueId v)
{
    bool *is_moved = arena_array(a, bool, g->n_values);

    is_moved[v] = true;
    for (NodeId i = 1; i < g->n_nodes; i++) {
        const Node *n = &g->nodes[i];
        bool is = false;
        for (int k = 0; k < n->n_in; k++)
            is |= is_moved[n->in[k]];
        for (int k = 0; k < n->n_out; k++)
            is_moved[n->out[k]] = is;
    }
    return is_moved;
}

bool oracle_slope(const Oracle *o, ValueId v, const double *direction, double *slope)
{
    Arena *a = arena_new();
    Move m = {o, v, direction, find_moved(a, o->g, v)};
    bool is_smooth = curve_slope(&(Curve){moved_loss, &m}, o->sum / o->count, slope);

    arena_free(a);
    return is_smooth;
}

// ---- updates, by PyTorch's formulas ----

static double option(const Subject *s, const char *name, double missing)
{
    const char *at = strstr(s->optimizer, name);

    return at ? strtod(at + strlen(name), NULL) : missing;
}

typedef struct Rates {
    double lr, decay, momentum, alpha, beta1, beta2, rest1,
        rest2;  // rest1, rest2: 1 - beta^step
    bool is_nesterov, is_adamw;
} Rates;

static double adam_ratio(const Rates *r, double m, double v, double eps)
{
    return m / r->rest1 / (sqrt(v / r->rest2) + eps);
}

static double updated(const Subject *s, const Rates *r, double p, double g, double s0, double s1)
{
    if (!strncmp(s->optimizer, "sgd", 3)) {
        g += r->decay * p;
        double b = r->momentum > 0 ? r->momentum * s0 + g : g;
        return p - r->lr * (r->is_nesterov ? g + r->momentum * b : b);
    }
    if (!strncmp(s->optimizer, "adagrad", 7))
        return p - r->lr * g / (sqrt(s0 + g * g) + 1e-10);
    if (!strncmp(s->optimizer, "rmsprop", 7))
        return p - r->lr * g / (sqrt(r->alpha * s0 + (1 - r->alpha) * g * g) + 1e-8);
    if (r->is_adamw)
        p *= 1 - r->lr * r->decay;
    else
        g += r->decay * p;
    double m = r->beta1 * s0 + (1 - r->beta1) * g, v = r->beta2 * s1 + (1 - r->beta2) * g * g;
    return p - r->lr * adam_ratio(r, m, v, 1e-8);
}

static void update_lamb(const Rates *r, const Tensor *p, const Tensor *g, const Tensor *state[2],
                        double *to)
{
    double norm_p = 0, norm_r = 0;

    for (int64_t i = 0; i < tensor_count(p); i++) {
        double m = r->beta1 * state[0]->f[i] + (1 - r->beta1) * g->f[i];
        double v = r->beta2 * state[1]->f[i] + (1 - r->beta2) * g->f[i] * g->f[i];
        to[i] = adam_ratio(r, m, v, 1e-6) + r->decay * p->f[i];
        norm_p += p->f[i] * p->f[i];
        norm_r += to[i] * to[i];
    }
    double trust = norm_p > 0 && norm_r > 0 ? sqrt(norm_p / norm_r) : 1;
    for (int64_t i = 0; i < tensor_count(p); i++)
        to[i] = p->f[i] - r->lr * trust * to[i];
}

bool oracle_update(const Subject *s, const char *name, const Tensor *p, const Tensor *grad,
                   const Tensor *state[2], double *to)
{
    Rates r = {.lr = option(s, "lr=", 0),
               .decay = option(s, "weight_decay=", 0),
               .momentum = option(s, "momentum=", 0),
               .alpha = option(s, "alpha=", 0.99),
               .beta1 = 0.9,
               .beta2 = 0.999,
               .is_nesterov = strstr(s->optimizer, "nesterov"),
               .is_adamw = !strncmp(s->optimizer, "adamw", 5)};
    if (s->no_decay && glob_match(s->no_decay, name))
        r.decay = 0;
    bool is_sgd = !strncmp(s->optimizer, "sgd", 3);
    bool is_single = !strncmp(s->optimizer, "adagrad", 7) || !strncmp(s->optimizer, "rmsprop", 7);
    int n_states = is_sgd ? r.momentum > 0 : is_single ? 1 : 2;

    r.rest1 = 1 - pow(r.beta1, 3);
    r.rest2 = 1 - pow(r.beta2, 3);
    for (int k = 0; k < n_states; k++)
        if (!state[k] || !state[k]->f)
            return false;
    if (!strncmp(s->optimizer, "lamb", 4)) {
        update_lamb(&r, p, grad, state, to);
        return true;
    }
    for (int64_t i = 0; i < tensor_count(p); i++)
        to[i] = updated(s, &r, p->f[i], grad->f[i], n_states > 0 ? state[0]->f[i] : 0,
                        n_states > 1 ? state[1]->f[i] : 0);
    return true;
}
