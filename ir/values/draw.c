// Draws numbers for the values of a graph that have no producer.
#include <float.h>
#include <math.h>
#include <string.h>

#include "ir/values/internal.h"

const char *const edge_names[N_EDGES] = {
    [EDGE_NONE] = "ordinary data",
    [EDGE_NO_KEY] = "masks that hide whole rows by -inf",
    [EDGE_LOWEST] = "masks that hide whole rows by the least number of f32",
    [EDGE_LOW] = "masks that hide whole rows by -1e9",
    [EDGE_TRUTH] = "masks of 0 and 1 that hide whole rows",
    [EDGE_TIES] = "equal numbers, at kinks",
    [EDGE_ZERO] = "zeros",
    [EDGE_CONSTANT] = "constant rows",
    [EDGE_SMALL] = "data × 1e-6",
    [EDGE_LARGE] = "data × 300",
    [EDGE_SPIKE] = "one element of 1e4",
};

// ---- what is known of an input ----

static bool takes_maximum(const Graph *g, const Node *n)
{
    Arena *a = arena_new();
    Rule r;
    bool has = false;

    node_rule(a, g, n, &r);
    for (int i = 0; i < r.n_factors; i++)
        has |= r.kind[i] == FACTOR_MAX;
    arena_free(a);
    return has;
}

// Does the input reach a softmax, whose maximum comes first, before a product?
static bool is_mask(const Graph *g, ValueId input)
{
    Arena *a = arena_new();
    bool *from = arena_array(a, bool, g->n_values), has_maximum = false, is_data = false;

    from[input] = true;
    for (NodeId i = 1; i < g->n_nodes && !is_data && !has_maximum; i++) {
        const Node *n = &g->nodes[i];
        for (int k = 0; k < n->n_in; k++) {
            if (!n->in[k] || !from[n->in[k]])
                continue;
            bool is_bias = n->op->is_attention && n->op->no_grad_in >> k & 1;
            is_data |= (n->op->is_product || n->op->is_attention) && !is_bias;
            has_maximum |= is_bias || (!is_data && !n->op->is_elementwise && takes_maximum(g, n));
            if (n->op->is_elementwise || n->op->view || n->op->subview)
                from[n->out[0]] = true;
        }
    }
    arena_free(a);
    return has_maximum;
}

static const Output *find_bad_label(const Graph *g)
{
    for (int i = 0; i < g->n_outputs; i++)
        if (g->outputs[i].role == OUTPUT_BAD_LABEL)
            return &g->outputs[i];
    return NULL;
}

// The part of the graph that judges labels. NULL: there is none.
static Graph *label_part(Arena *a, const Graph *g)
{
    const Output *bad = find_bad_label(g);
    Graph *part = bad ? graph_clone(a, g) : NULL;

    if (!part)
        return NULL;
    part->outputs[0] = *bad;
    part->n_outputs = 1;
    part->n_carries = 0;
    graph_prune(part);
    return part;
}

static bool reads(const Graph *g, const char *name)
{
    for (NodeId i = 1; i < g->n_nodes; i++)
        for (int k = 0; k < g->nodes[i].n_in; k++) {
            const Value *x = in(g, &g->nodes[i], k);
            if (x->kind == VALUE_INPUT && x->name && !strcmp(x->name, name))
                return true;
        }
    return false;
}

// Are all labels below `bound` classes of the loss?
static bool are_labels(const Draws *d, const Graph *part)
{
    Arena *a = arena_new();
    Tensor *t = draw_all(a, d, EDGE_NONE, part, 0);

    graph_eval(a, part, t);
    bool ok = !t[part->outputs[0].value].i[0];
    arena_free(a);
    return ok;
}

static void find_classes(Draws *d, int first, const Graph *g)
{
    static const int64_t bounds[] = {7, 3, 2, 1};
    Arena *a = arena_new();
    Graph *part = label_part(a, g);

    for (int i = 0; part && i < COUNT(bounds); i++) {
        for (int k = first; k < d->n; k++)
            if (d->of[k].is_label)
                d->of[k].range.bound = bounds[i];
        if (are_labels(d, part))
            break;
    }
    arena_free(a);
}

static Drawn drawn_of(const Graph *g, ValueId v, const Graph *labels)
{
    const Value *x = value_of(g, v);
    Drawn w = {0};

    if (dtype_is_float(x->dtype)) {
        w.is_mask = x->kind == VALUE_INPUT && is_mask(g, v);
        return w;
    }
    w.range = input_range(g, v);
    w.is_truth = !w.range.bound;
    if (labels && x->kind == VALUE_INPUT && !w.range.bound && reads(labels, x->name)) {
        w.is_label = true;
        w.ignored = labels->outputs[0].ignored;
    }
    return w;
}

static bool is_drawn(const Value *x)
{
    return !x->producer && x->name && x->kind != VALUE_CONSTANT && x->kind != VALUE_ZERO &&
           x->kind != VALUE_HYPER;
}

void draws_learn(Draws *d, const Graph *g)
{
    bool is_first = !d->n, has_data = false;
    int first = d->n;
    Arena *a = arena_new();
    const Graph *labels = label_part(a, g);

    d->known.arena = d->arena;
    for (ValueId v = 1; v < g->n_values; v++) {
        const Value *x = value_of(g, v);
        if (!is_drawn(x) || map_get(&d->known, x->name))
            continue;
        *arena_push(d->arena, d->of, d->n, d->cap) = drawn_of(g, v, labels);
        map_set(&d->known, arena_string(d->arena, "%s", x->name), d->n);
        has_data |= x->kind == VALUE_INPUT && dtype_is_float(x->dtype) && !d->of[d->n - 1].is_mask;
    }
    if (is_first)
        d->moves_weights = !has_data;
    find_classes(d, first, g);
    arena_free(a);
}

bool draws_edge(const Draws *d, Edge e)
{
    bool has_mask = false, has_truth = false;

    for (int i = 0; i < d->n; i++) {
        has_mask |= d->of[i].is_mask;
        has_truth |= d->of[i].is_mask || d->of[i].is_truth || d->of[i].is_label;
    }
    return e == EDGE_TRUTH ? has_truth : e < EDGE_NO_KEY || e > EDGE_TRUTH || has_mask;
}

// ---- numbers ----

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

static double plain(const Value *v, uint64_t seed, int64_t i)
{
    double x = unit(seed, i);
    int rank = v->own_rank >= 0 ? v->own_rank : v->rank;

    if (v->kind == VALUE_STATE || ends_in(v->name, "var"))
        return 0.6 + 0.5 * x;
    if (v->kind != VALUE_PARAMETER || rank < 2)
        return (v->kind == VALUE_INPUT ? 1.4 : 0.6) * x;
    return 1.6 * x / sqrt(1 + sqrt((double)value_count(v)) / 2);
}

static int64_t row_length(const Value *v)
{
    int rank = v->own_rank >= 0 ? v->own_rank : v->rank;
    const int64_t *dim = v->own_rank >= 0 ? v->own_dim : v->dim;

    return rank && dim[rank - 1] ? dim[rank - 1] : 1;
}

static double edged(const Value *v, Edge e, uint64_t seed, int64_t i)
{
    static const double kinks[] = {-3, -1, -0.5, 0, 0.5, 1, 3, 6};
    int64_t row = i / row_length(v);

    switch (e) {
    case EDGE_TIES:
        return kinks[(int)floor((unit(seed, i) + 1) * 3.999)];
    case EDGE_ZERO:
        return 0;
    case EDGE_CONSTANT:
        return row ? 1.4 * unit(seed, row) : 0.7;
    case EDGE_SMALL:
        return 1e-6 * plain(v, seed, i);
    case EDGE_LARGE:
        return 300 * plain(v, seed, i);
    case EDGE_SPIKE:
        return i == (int64_t)(seed % (uint64_t)value_count(v)) ? 1e4 : plain(v, seed, i);
    default:
        return plain(v, seed, i);
    }
}

// Does a mask show the element? Its rows show nothing, one element, some, or all of them.
static bool is_shown(const Value *v, uint64_t seed, int64_t i)
{
    int64_t n = row_length(v), row = i / n;

    switch (row % 4) {
    case 0:
        return false;
    case 1:
        return i % n == (int64_t)(seed % (uint64_t)n);
    case 2:
        return unit(seed, i) > -0.2;
    default:
        return true;
    }
}

static bool hides_rows(Edge e) { return e >= EDGE_NO_KEY && e <= EDGE_TRUTH; }

static double masked(const Value *v, Edge e, uint64_t seed, int64_t i)
{
    bool shows = is_shown(v, seed, i);

    if (e == EDGE_TRUTH)
        return shows;
    return shows ? 0 : e == EDGE_NO_KEY ? -INFINITY : e == EDGE_LOWEST ? -(double)FLT_MAX : -1e9;
}

static double draw_float(const Draws *d, const Drawn *w, const Value *v, Edge e, uint64_t seed,
                         int64_t i)
{
    bool is_input = v->kind == VALUE_INPUT;
    bool is_weight = v->kind == VALUE_PARAMETER && (d->moves_weights || e == EDGE_TIES);

    if (w->is_mask && hides_rows(e))
        return masked(v, e, seed, i);
    return is_input || is_weight ? edged(v, e, seed, i) : plain(v, seed, i);
}

static int64_t draw_int(const Drawn *w, const Value *v, Edge e, uint64_t seed, int64_t i)
{
    int64_t range = w->range.bound - w->range.least;

    if (w->is_label && hides_rows(e) && i % 3 == 1)
        return w->ignored;
    if (w->range.bound)
        return w->range.least + (int64_t)((unit(seed, i) + 1) / 2.001 * (double)range);
    return hides_rows(e) ? is_shown(v, seed, i) : unit(seed, i) > -0.5;
}

static Tensor draw_value(Arena *a, const Draws *d, Edge e, const Value *v, int micro)
{
    static const Drawn none = {0};
    Tensor t = tensor_new(a, v->dtype, v->rank, v->dim);
    uint64_t seed = hash_bytes(v->name, strlen(v->name), 31);
    int at = map_get(&d->known, v->name);
    const Drawn *w = at ? &d->of[at - 1] : &none;

    if (v->kind == VALUE_INPUT)
        seed += (uint64_t)micro;
    for (int64_t i = 0; i < tensor_count(&t); i++) {
        if (t.f)
            t.f[i] = (double)(float)draw_float(d, w, v, e, seed, i);
        else
            t.i[i] = draw_int(w, v, e, seed, i);
    }
    return t;
}

static Tensor draw_hyper(Arena *a, const Value *v, int micro)
{
    Tensor t = tensor_new(a, v->dtype, v->rank, v->dim);
    const char *name = v->name ? v->name : "";
    double x = !strcmp(name, "step")         ? 3
               : !strcmp(name, "step_index") ? 2
               : !strcmp(name, "seed")       ? 11
               : !strcmp(name, "micro")      ? micro
                                             : v->fill;

    if (t.f)
        t.f[0] = x;
    else
        t.i[0] = (int64_t)x;
    return t;
}

Tensor *draw_all(Arena *a, const Draws *d, Edge e, const Graph *g, int micro)
{
    Tensor *t = arena_array(a, Tensor, g->n_values);

    for (ValueId v = 1; v < g->n_values; v++) {
        const Value *x = value_of(g, v);
        if (x->kind == VALUE_HYPER)
            t[v] = draw_hyper(a, x, micro);
        else if (is_drawn(x))
            t[v] = draw_value(a, d, e, x, micro);
    }
    return t;
}
