// Compares what two graphs compute, and finds out whether rounding explains a difference.
#include <float.h>
#include <math.h>
#include <string.h>

#include "ir/values/internal.h"

static Tensor *draw(Arena *a, const void *context, const Graph *g, int micro)
{
    const DrawEdge *e = context;

    return draw_all(a, e->draws, e->edge, g, micro);
}

Feed edge_feed(const DrawEdge *e) { return (Feed){draw, e}; }

int side_accumulate(const ValueCheck *c, const Side *s)
{
    return s->g->training ? c->accumulate : 1;
}

Tensor *side_eval(Arena *a, const ValueCheck *c, const Side *s, Edge e, const Shake *shake)
{
    DrawEdge edge = {&c->draws, e};
    Feed feed = edge_feed(&edge);

    return step_eval(a, s->wide, side_accumulate(c, s), &feed, shake);
}

double tensor_at(const Tensor *t, int64_t i)
{
    double x = t->f ? t->f[i] : (double)t->i[i];

    return isnan(x) ? (double)NAN : x;  // without a sign, which messages would show
}

double tensor_scale(const Tensor *t)
{
    double most = 0;

    for (int64_t i = 0; t->f && i < tensor_count(t); i++)
        if (isfinite(t->f[i]))
            most = fmax(most, fabs(t->f[i]));
    return most;
}

static bool is_alike(double x, double y)
{
    return isnan(x) ? isnan(y) : isinf(x) ? x == y : isfinite(y);
}

bool is_near(double x, double y, double scale, double part)
{
    return is_alike(x, y) && (!isfinite(x) || fabs(x - y) <= part * scale + FLT_TRUE_MIN);
}

// ---- rounding ----

enum { N_SHAKES = 3 };

// How far rounding may move the results of two sides.
typedef struct Doubt {
    const ValueCheck *check;
    const Side *was, *now;
    Edge edge;
    Arena *arena;
    Tensor *still;                        // of `was`, by ValueId of its wide graph; NULL: not yet
    Tensor *shaken[N_SHAKES];             // of `was`, by ValueId of its wide graph; NULL: not yet
    Tensor *narrow[2], *rough[N_SHAKES];  // in f32: of both; of `was`, shaken; by ValueId of g
    bool overflows;                       // a node of `was` makes of finite numbers one that isn't
    double most;                          // the largest element of all gradients of `was`
    // How rounding moves the elements of result `of`, and a typical distance.
    ValueId of;
    double *may, typical;
} Doubt;

// A pass may compute constants in f32, and move them across products. By NodeId: the results that
// follow from constants, and products with them.
static bool *find_coarse(Arena *a, const Graph *g)
{
    bool *is_known = arena_array(a, bool, g->n_values), *coarse = arena_array(a, bool, g->n_nodes);

    for (ValueId v = 1; v < g->n_values; v++)
        is_known[v] = value_of(g, v)->kind == VALUE_CONSTANT;
    for (NodeId i = 1; i < g->n_nodes; i++) {
        const Node *n = &g->nodes[i];
        bool all = true, any = false;
        Rule r;
        for (int k = 0; k < n->n_in; k++) {
            all &= !n->in[k] || is_known[n->in[k]];
            any |= is_known[n->in[k]];
        }
        if (any && !all)
            node_rule(a, g, n, &r);
        coarse[i] = all || (any && !(r.joint & (r.joint - 1)));
        for (int k = 0; k < n->n_out; k++)
            is_known[n->out[k]] = all;
    }
    return coarse;
}

static bool is_finite(const Tensor *t)
{
    for (int64_t i = 0; t->f && i < tensor_count(t); i++)
        if (!isfinite(t->f[i]))
            return false;
    return true;
}

static bool find_overflow(const Graph *g, const Tensor *value)
{
    for (NodeId i = 1; i < g->n_nodes; i++) {
        const Node *n = &g->nodes[i];
        bool is_input_finite = true;
        for (int k = 0; k < n->n_in; k++)
            is_input_finite &= !n->in[k] || is_finite(&value[n->in[k]]);
        if (is_input_finite && !is_finite(&value[n->out[0]]))
            return true;
    }
    return false;
}

static void shake_wide(Doubt *d)
{
    enum { SEED = 1 };
    const Side *s = d->was;
    Shake shake = {.part = 0x1p-50, .coarse = find_coarse(d->arena, s->wide)};

    for (int k = 0; k < N_SHAKES; k++) {
        shake.seed = (uint64_t)(SEED + k);
        d->shaken[k] = side_eval(d->arena, d->check, s, d->edge, &shake);
    }
    d->still = side_eval(d->arena, d->check, s, d->edge, NULL);
    d->overflows = find_overflow(s->wide, d->still);
}

static void eval_narrow(Doubt *d)
{
    DrawEdge edge = {&d->check->draws, d->edge};
    Feed feed = edge_feed(&edge);
    int accumulate = side_accumulate(d->check, d->was);
    Shake shake = {.part = F32_ROUNDING};

    d->narrow[0] = step_eval(d->arena, d->was->g, accumulate, &feed, NULL);
    d->narrow[1] = step_eval(d->arena, d->now->g, accumulate, &feed, NULL);
    for (int k = 0; k < N_SHAKES; k++) {
        shake.seed = (uint64_t)(1 + k);
        d->rough[k] = step_eval(d->arena, d->was->g, accumulate, &feed, &shake);
    }
}

// A model may mean what it computes in f32: scores that are masked by -1e9 are all equal there. The
// later side is right if it computes that in f32, where it is another number than in f64.
static bool is_right_in_f32(Doubt *d, ValueId was, ValueId now, int64_t i, double wide, double is)
{
    double may = 0;

    if (!d->narrow[0])
        eval_narrow(d);
    double x = tensor_at(&d->narrow[0][was], i), y = tensor_at(&d->narrow[1][now], i);
    if (is_alike(x, wide) && isfinite(x) && isfinite(is) && fabs(x - wide) < fabs(is - wide) / 4)
        return false;
    if (is_alike(x, wide) && !is_alike(is, wide))
        return false;
    for (int k = 0; k < N_SHAKES; k++)
        may = fmax(may, fabs(tensor_at(&d->rough[k][was], i) - x));
    return is_alike(x, y) && (!isfinite(x) || fabs(x - y) <= 8 * may + 1e-6 * fabs(x));
}

// Finds the distances of a result's shaken elements. An element may be near by chance; the typical
// distance is a mean of roots, which outliers hardly move. NaN: shakes decide whether the element
// is a number.
static void measure(Doubt *d, ValueId v)
{
    const Tensor *x, *z;
    double sum = 0;

    if (!d->shaken[0])
        shake_wide(d);
    x = &d->still[d->was->map[v]];
    d->of = v;
    d->may = arena_array(d->arena, double, tensor_count(x) + 1);
    for (int64_t i = 0; i < tensor_count(x); i++) {
        for (int k = 0; k < N_SHAKES; k++) {
            z = &d->shaken[k][d->was->map[v]];
            double a = tensor_at(x, i), b = tensor_at(z, i);
            double is = !is_alike(a, b) ? (double)NAN : isfinite(a) ? fabs(a - b) : 0;
            d->may[i] = isnan(is) || is > d->may[i] ? is : d->may[i];
        }
        sum += isfinite(d->may[i]) ? sqrt(d->may[i]) : 0;
    }
    d->typical = tensor_count(x) ? pow(sum / (double)tensor_count(x), 2) : 0;
}

// A gradient may become a number: a form that gives 0 · NaN where the slope is 0 isn't what a model
// means. Differences judge it after autodiff.
//
// Does rounding explain that element i of a result, `was`, became another one?
static bool is_explained(Doubt *d, const End *was, ValueId now, int64_t i, double x, double y,
                         double scale)
{
    double least = 1e-11 * scale + (was->role == OUTPUT_GRADIENT ? 1e-13 * d->most : 0);

    if (isfinite(x) && isfinite(y) && fabs(x - y) <= least)
        return true;
    if (d->of != was->v)
        measure(d, was->v);
    if (isnan(d->may[i]))
        return true;
    if (fmin(d->may[i], d->typical) > scale)  // rounding errors alone, of any size
        return true;
    if (isfinite(x) && isfinite(y) && fabs(x - y) <= 8 * fmax(d->may[i], d->typical) + least)
        return true;
    if (!isfinite(x) && isfinite(y) && (d->overflows || was->role == OUTPUT_GRADIENT))
        return true;
    return is_right_in_f32(d, was->v, now, i, x, y);
}

// ---- results ----

static int find_end(const Side *s, const End *e)
{
    for (int i = 0; i < s->n_ends; i++)
        if (s->end[i].role == e->role && !strcmp(s->end[i].name, e->name))
            return i;
    return -1;
}

// Finds the first element of a result that isn't what it was.
static bool end_differs(Doubt *d, int i, Difference *to)
{
    const Side *was = d->was, *now = d->now;
    int at = find_end(was, &now->end[i]);

    if (at < 0)
        return false;
    const Tensor *x = &was->result[d->edge][at], *y = &now->result[d->edge][i];
    double scale = tensor_scale(x);
    *to = (Difference){i, 0, 0, 0};
    if (tensor_count(x) != tensor_count(y))
        return true;
    for (int64_t k = 0; k < tensor_count(x); k++) {
        double a = tensor_at(x, k), b = tensor_at(y, k);
        if (is_near(a, b, scale, 1e-12) ||
            is_explained(d, &was->end[at], now->end[i].v, k, a, b, scale))
            continue;
        *to = (Difference){i, k, a, b};
        return true;
    }
    return false;
}

bool sides_differ(const ValueCheck *c, const Side *was, const Side *now, Edge e, Difference *to)
{
    Doubt d = {.check = c, .was = was, .now = now, .edge = e, .arena = arena_new()};
    bool differs = false;

    for (int i = 0; i < was->n_ends; i++)
        if (was->end[i].role == OUTPUT_GRADIENT)
            d.most = fmax(d.most, tensor_scale(&was->result[e][i]));
    for (int i = 0; i < now->n_ends && !differs; i++)
        differs = end_differs(&d, i, to);
    arena_free(d.arena);
    return differs;
}
