// Evaluates the graph that the passes make of a net and compares it with the oracle, and compares
// results of programs with it.
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "ir/operator/operator.h"
#include "tests/nets/judge.h"

const char *const outcome_names[N_OUTCOMES] = {
    "right",         "no net",  "refused", "wrong passes", "found by program_check",
    "wrong program", "wrong C", "crashed",
};

bool verdict_wrong(Verdict *v, Ruling o, const char *fmt, ...)
{
    va_list args;

    if (v->outcome)
        return false;
    v->outcome = o;
    va_start(args, fmt);
    vsnprintf(v->what, sizeof v->what, fmt, args);
    va_end(args);
    return false;
}

void verdict_add(Verdict *v, const char *text)
{
    size_t n = strlen(v->what);

    snprintf(v->what + n, sizeof v->what - n, "%s", text);
}

// The error of `got`, and the error that f32 allows: a part of the value's size, plus eight times
// the error of shaken results.
typedef struct Gap {
    double is, may;
} Gap;

// Where the allowed error is huge, the comparison says nothing.
static bool holds(Gap g) { return g.is <= g.may || !(g.may < 1e6); }

// ---- evaluation ----

Shake precision_shake(uint64_t seed, DType precision)
{
    double half = precision == BF16 ? 0x1p-8 : precision == F16 ? 0x1p-11 : 0;

    return (Shake){.seed = seed, .part = F32_ROUNDING, .products = half};
}

// By NodeId of `wide`, which is `g` in f64: the error of sums that ranks may add up in bf16. That
// of a part is a part of its own size, and parts may be larger than their sum.
static const double *parts_errors(Arena *a, const Graph *wide, const Graph *g, const ValueId *map)
{
    double *error = arena_array(a, double, wide->n_nodes);
    bool *is_rounded = arena_array(a, bool, g->n_values);

    for (NodeId i = g->n_nodes - 1; i > 0; i--) {
        const Node *n = &g->nodes[i];
        if (n->op == &op_cast && n->attr[1].i)
            is_rounded[n->in[0]] = true;
        if (!is_rounded[n->out[0]])
            continue;
        bool passes_on = n->op->is_elementwise || n->op->view || n->op->subview;
        for (int k = 0; k < n->n_in && passes_on; k++)
            is_rounded[n->in[k]] = true;
        if (!passes_on && map[n->out[0]])
            error[value_of(wide, map[n->out[0]])->producer] = 0x1p-8;
    }
    return error;
}

// Evaluates a training step of `wide`, which is `g` in f64, with the errors of f32 if `seed` isn't
// 0. The result is indexed by ValueId of g.
static Tensor *eval_step(Arena *a, const Graph *wide, const Graph *g, const ValueId *map,
                         const Subject *s, uint64_t seed)
{
    Feed feed = numbers_feed(s);
    Shake shake = precision_shake(seed, s->precision);

    shake.by_phase = s->on_ranks;
    shake.own = parts_errors(a, wide, g, map);
    Tensor *is = step_eval(a, wide, s->accumulate, &feed, seed ? &shake : NULL);
    Tensor *to = arena_array(a, Tensor, g->n_values);

    for (ValueId v = 1; v < g->n_values; v++)
        if (map[v])
            to[v] = is[map[v]];
    return to;
}

static double norm_of(const Tensor *t)
{
    double sum = 0;

    for (int64_t i = 0; i < tensor_count(t); i++)
        sum += t->f ? t->f[i] * t->f[i] : 0;
    return sqrt(sum);
}

static double output_of(const Reference *r, const Tensor *value, OutputRole role)
{
    for (int i = 0; i < r->g->n_outputs; i++)
        if (r->g->outputs[i].role == role)
            return value[r->g->outputs[i].value].f[0];
    return NAN;
}

bool reference_new(Arena *a, Reference *r, const Graph *g, const Subject *s, Diag *d)
{
    ValueId *map;
    Graph *wide = graph_widen(a, g, &map, d);

    *r = (Reference){.g = g, .n_values = g->n_values};
    if (!wide)
        return false;
    r->start = numbers_all(a, g, s, 0);
    r->wide = eval_step(a, wide, g, map, s, 0);
    // The large errors of halves cross kinks, of which few samples may miss one.
    Tensor *shaken[8];
    int n_shaken = dtype_is_half(s->precision) ? COUNT(shaken) : 3;
    for (int k = 0; k < n_shaken; k++)
        shaken[k] = eval_step(a, wide, g, map, s, (uint64_t)k + 2);
    r->narrow = arena_array(a, Tensor, g->n_values);
    ValueId *same = arena_array(a, ValueId, g->n_values);
    for (ValueId v = 1; v < g->n_values; v++)
        same[v] = v;
    Tensor *z = eval_step(a, g, g, same, s, 0);
    for (ValueId v = 1; v < g->n_values; v++)
        if (map[v]) {
            r->narrow[v] = z[v];
            for (int k = 0; k < n_shaken; k++)
                r->narrow[v] = tensor_rough(a, &r->wide[v], &r->narrow[v], &shaken[k][v]);
        }
    r->overflows = dtype_is_half(s->precision) && !isfinite(output_of(r, z, OUTPUT_GRAD_NORM));
    for (int i = 0; i < g->n_outputs; i++)
        if (g->outputs[i].role == OUTPUT_GRADIENT)
            r->most = fmax(r->most, norm_of(&r->wide[g->outputs[i].value]));
    return true;
}

// ---- comparing ----

static Gap gap_of(const Tensor *got, const Tensor *want, const Tensor *narrow, double size,
                  double part)
{
    double error = 0, rounding = 0;

    for (int64_t i = 0; i < tensor_count(want); i++) {
        double x = want->f ? want->f[i] : (double)want->i[i];
        double y = got->f ? got->f[i] : (double)got->i[i];
        double z = narrow->f ? narrow->f[i] : (double)narrow->i[i];
        error += (x - y) * (x - y);
        rounding += (x - z) * (x - z);
    }
    return (Gap){sqrt(error), part * size + 8 * sqrt(rounding)};
}

// The norm of the change that a carry makes; its error is compared with that.
static double change_of(const Tensor *old, const Tensor *new)
{
    double sum = 0;

    for (int64_t i = 0; i < tensor_count(new) && old->f; i++)
        sum += (old->f[i] - new->f[i]) * (old->f[i] - new->f[i]);
    return sqrt(sum);
}

// ---- against the oracle ----

static double loss_of(const Reference *r, const Tensor *value)
{
    return output_of(r, value, OUTPUT_LOSS_SUM) / output_of(r, value, OUTPUT_LOSS_COUNT);
}

static const Tensor *gradient_of(const Reference *r, const Tensor *value, const char *name)
{
    for (int i = 0; i < r->g->n_outputs; i++)
        if (r->g->outputs[i].role == OUTPUT_GRADIENT && !strcmp(r->g->outputs[i].name, name))
            return &value[r->g->outputs[i].value];
    return NULL;
}

static double dot(const double *x, const double *y, int64_t n)
{
    double sum = 0;

    for (int64_t i = 0; i < n; i++)
        sum += x[i] * y[i];
    return sum;
}

// Sets the direction to 0 in the row of an embedding that a gather skips, which gets no gradient.
static void hold_skipped(const Graph *g, ValueId v, double *direction)
{
    const Value *p = value_of(g, v);

    for (NodeId i = 1; i < g->n_nodes; i++) {
        const Node *n = &g->nodes[i];
        int64_t width = value_count(p) / (p->rank ? p->dim[0] : 1);
        int64_t row = n->op == &op_gather && n->in[0] == v ? n->attr[GATHER_SKIP].i : -1;
        for (int64_t k = 0; k < width && row >= 0; k++)
            direction[row * width + k] = 0;
    }
}

// Compares one parameter's gradient along a random direction. A missing gradient means zero.
static void judge_gradient(const Reference *r, const Oracle *o, ValueId v, Verdict *to)
{
    const Value *p = value_of(o->g, v);
    int64_t n = value_count(p);
    Arena *a = arena_new();
    double *direction = arena_array(a, double, n + 1), slope, noise = 0, size = 0, is = 0;
    const Tensor *wide = gradient_of(r, r->wide, p->name), *narrow;

    for (int64_t i = 0; i < n; i++) {
        int64_t key[2] = {v, i};
        direction[i] = hash_bytes(key, sizeof key, 9) % 2 ? 1 : -1;
        direction[i] *= 0.5 + (double)(hash_bytes(key, sizeof key, 10) % 1000) / 1000;
    }
    hold_skipped(o->g, v, direction);
    if (wide) {
        narrow = gradient_of(r, r->narrow, p->name);
        noise = 8 * gap_of(narrow, wide, wide, 0, 0).is;
        is = dot(wide->f, direction, n);
        size = norm_of(wide);
    }
    bool is_smooth = oracle_slope(o, v, direction, &slope);
    to->skipped += !is_smooth;
    to->compared += is_smooth;
    double may = 3e-5 * (size + fabs(slope)) + noise + 1e-5 * r->most + 2e-6;
    if (is_smooth && !holds((Gap){fabs(is - slope), may}))
        verdict_wrong(to, WRONG_PASSES, "gradient of %s: slope %.9g, differences say %.9g (± %.2g)",
                      p->name, is, slope, may);
    arena_free(a);
}

// A parameter must follow the update's formula; a buffer must get the value of the forward part.
static void judge_carry(const Reference *r, const Oracle *o, const Carry *c, Verdict *v)
{
    const Value *x = value_of(r->g, c->in);
    Tensor *is = &r->wide[c->out], *narrow = &r->narrow[c->out], want = *is;
    Arena *a = arena_new();

    if (x->kind == VALUE_BUFFER) {
        ValueId w = oracle_find(o->g, x->name);
        for (int i = 0; i < o->g->n_carries; i++)
            if (o->g->carries[i].in == w)
                want.f = o->value[o->s->accumulate - 1][o->g->carries[i].out].f;
    } else if (x->kind == VALUE_PARAMETER) {
        static const char *const names[][2] = {
            {"momentum_buffer", ""}, {"sum", ""}, {"exp_avg", "exp_avg_sq"}, {"square_avg", ""}};
        const Tensor *state[2] = {NULL}, *grad = gradient_of(r, r->wide, x->name);
        double norm = output_of(r, r->wide, OUTPUT_GRAD_NORM);
        Tensor clipped = tensor_new(a, F64, x->rank, x->dim);
        for (int k = 0; k < 2 * COUNT(names); k++) {
            ValueId w = oracle_find(r->g, arena_string(a, "%s.%s", x->name, names[k / 2][k % 2]));
            if (w)
                state[k % 2] = &r->start[w];
        }
        for (int64_t i = 0; i < value_count(x); i++)
            clipped.f[i] = grad->f[i] * (o->s->clip > 0 ? fmin(1, o->s->clip / (norm + 1e-6)) : 1);
        want.f = arena_array(a, double, value_count(x) + 1);
        if (!oracle_update(o->s, x->name, &r->start[c->in], &clipped, state, want.f))
            verdict_wrong(v, WRONG_PASSES, "%s: its states are missing", x->name);
    }
    Gap g = gap_of(is, &want, is, norm_of(&want) + 1e-3, 1e-5);
    g.may += 8 * gap_of(narrow, is, is, 0, 0).is;
    if (!holds(g))
        verdict_wrong(v, WRONG_PASSES, "%s after the step is off by %.3g (± %.2g)", x->name, g.is,
                      g.may);
    arena_free(a);
}

// The gradient norm must be the norm of the gradients that the graph outputs.
static void judge_norm(const Reference *r, Verdict *v)
{
    double sum = 0, is = output_of(r, r->wide, OUTPUT_GRAD_NORM);

    for (int i = 0; i < r->g->n_outputs; i++)
        if (r->g->outputs[i].role == OUTPUT_GRADIENT) {
            double n = norm_of(&r->wide[r->g->outputs[i].value]);
            sum += n * n;
        }
    if (!(fabs(is - sqrt(sum)) <= 1e-5 * is + 1e-7))
        verdict_wrong(v, WRONG_PASSES, "the norm of all gradients is %.9g, not %.9g", is,
                      sqrt(sum));
}

// Sums and choices are left out: masks, which mean minus infinity, have such values.
static bool is_product(const OpDef *op)
{
    return op == &op_dot || op == &op_conv || op == &op_attention || op == &op_mul ||
           op == &op_div || op == &op_pow || op == &op_exp;
}

static bool is_below(const Tensor *t, double most)
{
    for (int64_t e = 0; t->f && e < tensor_count(t); e++)
        if (isfinite(t->f[e]) && fabs(t->f[e]) > most)
            return false;
    return true;
}

static bool fits_f16(const Node *n, const Tensor *value)
{
    const double most = 1e4;
    bool fits = true;

    for (int k = 0; k < n->n_in && n->op->is_product; k++)
        fits &= !(n->op->narrow_in >> k & 1) || is_below(&value[n->in[k]], most);
    return fits && (!n->op->is_product || is_below(&value[n->out[0]], most));
}

bool products_fit(const Graph *g, const Tensor *value, DType precision)
{
    const double most = 1e30;

    for (NodeId i = 1; i < g->n_nodes; i++) {
        const Node *n = &g->nodes[i];
        for (int k = 0; k < n->n_out && is_product(n->op); k++)
            if (!is_below(&value[n->out[k]], most))
                return false;
        if (precision == F16 && !fits_f16(n, value))
            return false;
    }
    return true;
}

bool reference_fits(const Reference *r, DType precision)
{
    return !r->overflows && products_fit(r->g, r->wide, precision) &&
           fabs(loss_of(r, r->wide)) < 1e5;
}

void judge_reference(const Reference *r, const Oracle *o, Verdict *v)
{
    double is = loss_of(r, r->wide), want = o->sum / o->count;
    double rounding = fabs(loss_of(r, r->narrow) - is);

    if (!(fabs(is - want) <= 2e-5 * fabs(want) + 8 * rounding + 1e-6))
        verdict_wrong(v, WRONG_PASSES, "the loss is %.9g, not %.9g", is, want);
    for (ValueId p = 1; p < o->g->n_values && !v->outcome; p++)
        if (value_of(o->g, p)->kind == VALUE_PARAMETER)
            judge_gradient(r, o, p, v);
    judge_norm(r, v);
    for (int i = 0; i < r->g->n_carries && !v->outcome; i++)
        judge_carry(r, o, &r->g->carries[i], v);
}

// ---- programs against the reference ----

static void judge_value(const Reference *r, const Tensor *got, ValueId v, double size,
                        const char *name, const char *what, Ruling outcome, Verdict *to)
{
    Gap g = gap_of(got, &r->wide[v], &r->narrow[v], size, 1e-4);

    if (!holds(g))
        verdict_wrong(to, outcome, "%s %s is off by %.3g (± %.2g, size %.3g)", what, name, g.is,
                      g.may, norm_of(&r->wide[v]));
}

// Are the gradients nothing but rounding? Clipping and most optimizers divide them by their size.
static bool is_noise(const Reference *r)
{
    double is = output_of(r, r->wide, OUTPUT_GRAD_NORM);

    return fabs(output_of(r, r->narrow, OUTPUT_GRAD_NORM) - is) > is;
}

void judge_result(const Reference *r, const Result *x, Ruling o, Verdict *v)
{
    const Graph *g = r->g;
    bool is_rounding = is_noise(r);

    for (int i = 0; i < g->n_outputs; i++) {
        const Output *out = &g->outputs[i];
        bool is_gradient = out->role == OUTPUT_GRADIENT;
        if (out->role == OUTPUT_MODEL)
            continue;
        if (is_gradient && !x->output[i].f) {
            verdict_wrong(v, o, "the gradient of %s isn't shown", out->name);
            continue;
        }
        double size = norm_of(&r->wide[out->value]);
        size += is_gradient ? 0.02 * r->most + 1e-3 : 1e-2;
        judge_value(r, &x->output[i], out->value, size, out->name,
                    is_gradient ? "gradient of" : "output", o, v);
    }
    for (int i = 0; i < g->n_carries; i++) {
        const Carry *c = &g->carries[i];
        bool is_updated = value_of(g, c->in)->kind != VALUE_BUFFER;
        if (c->scope == SCOPE_MICRO || (is_updated && is_rounding))
            continue;
        double size = change_of(&r->wide[c->in], &r->wide[c->out]);
        size += 0.03 * norm_of(&r->wide[c->out]) + 1e-3;
        judge_value(r, &x->carried[i], c->out, size, value_of(g, c->in)->name, "after the step", o,
                    v);
    }
}

void judge_prediction(const Oracle *o, const Tensor *y, Ruling outcome, Verdict *v)
{
    const Tensor *want = &o->predicted[o->predict->outputs[0].value];
    Gap g;

    if (tensor_count(y) != tensor_count(want)) {
        verdict_wrong(v, outcome, "the prediction has another shape");
        return;
    }
    if (!(norm_of(want) < 1e6))
        return;
    g = gap_of(y, want, &o->roughly, norm_of(want) + 1e-2, 1e-4);
    if (!holds(g))
        verdict_wrong(v, outcome, "the prediction is off by %.3g (± %.2g, size %.3g)", g.is, g.may,
                      norm_of(want));
}
