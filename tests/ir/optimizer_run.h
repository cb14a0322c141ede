// Runs optimizers on a graph of one parameter, for their tests; includes cmocka's headers.
#ifndef SHARDCC_TESTS_OPTIMIZER_RUN_H
#define SHARDCC_TESTS_OPTIMIZER_RUN_H

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "ir/internal.h"

static Graph *parse(Arena *a, const char *text, Diag *d)
{
    Graph *g = graph_parse(a, text, strlen(text), d);

    if (!g)
        fail_msg("%s\n%s", text, d->to->s);
    return g;
}

static ValueId named(const Graph *g, const char *name)
{
    for (ValueId v = 1; v < g->n_values; v++)
        if (g->values[v].name && strcmp(g->values[v].name, name) == 0)
            return v;
    fail_msg("no value '%s'", name);
    return 0;
}

// Element k of tensor `number`, as in reference.py.
static double number(int64_t k, int number) { return (double)((7 * k + 5 * number) % 13 - 6) / 4; }

// A graph whose gradients are inputs; parameter i starts as tensor i.
#define ONE_PARAMETER                                                                              \
    "graph \"g\" training {\n"                                                                     \
    "  input %g f32[2,3]\n"                                                                        \
    "  parameter %w f32[2,3]\n"                                                                    \
    "  output gradient \"w\" %g\n"                                                                 \
    "}\n"

typedef struct Run {
    Arena *arena;
    Graph *g;
    Tensor *values;
    Text said;
} Run;

static Run run_new(const char *graph, const OptimizerOptions *o)
{
    Run r = {.arena = arena_new()};
    Diag d = {.file = "g", .to = &r.said};

    r.g = parse(r.arena, graph, &d);
    if (!clip_add(r.g, &d) || !optimizer_add(r.g, o, &d) || !graph_verify(r.g, &d))
        fail_msg("%s: %s", o->text, r.said.s);
    r.values = arena_array(r.arena, Tensor, r.g->n_values);
    for (ValueId v = 1; v < r.g->n_values; v++) {
        const Value *x = value_of(r.g, v);

        if (x->producer || x->kind == VALUE_CONSTANT)
            continue;
        r.values[v] = tensor_new(r.arena, x->dtype, x->rank, x->dim);
        for (int64_t k = 0; k < tensor_count(&r.values[v]); k++)
            r.values[v].f[k] = x->kind == VALUE_PARAMETER ? number(k, 0) : x->fill;
        tensor_round(&r.values[v]);
    }
    return r;
}

static void run_free(Run *r)
{
    text_free(&r->said);
    arena_free(r->arena);
}

// Runs one step. The gradient inputs are tensor `t`, which counts from 1, with `bad` as their last
// element, if it isn't finite.
static void run_step_with(Run *r, int t, double bad)
{
    for (ValueId v = 1; v < r->g->n_values; v++) {
        const Value *x = value_of(r->g, v);

        if (x->kind == VALUE_HYPER && strcmp(x->name, "step") == 0)
            r->values[v].f[0] = t;
        for (int64_t k = 0; x->kind == VALUE_INPUT && k < tensor_count(&r->values[v]); k++)
            r->values[v].f[k] = number(k, t);
        if (x->kind == VALUE_INPUT && !isfinite(bad))
            r->values[v].f[tensor_count(&r->values[v]) - 1] = bad;
    }
    graph_eval(r->arena, r->g, r->values);
    for (int i = 0; i < r->g->n_carries; i++)
        r->values[r->g->carries[i].in] = r->values[r->g->carries[i].out];
}

static void run_step(Run *r, int t) { run_step_with(r, t, 0); }

static void check(const char *text, int step, int64_t k, double got, double want)
{
    if (!(fabs(got - want) <= 2e-6 * (1 + fabs(want))))
        fail_msg("%s: element %d after step %d is %.9g, not %.9g", text, (int)k, step, got, want);
}

// ---- PyTorch's numbers ----

#define NUMBERS(...)                                                                               \
    COUNT(((float[]){__VA_ARGS__})), (const float[]) { __VA_ARGS__ }
#define REFERENCE(text, ...) {text, NUMBERS(__VA_ARGS__)},
static const struct {
    const char *text;  // "clip=NUMBER optimizer"
    int n;
    const float *want;  // w after every step
} references[] = {
#include "tests/ir/optimizer.def"
};

#endif
