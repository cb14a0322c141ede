// Models on random numbers, for tests that compare them with plain loops.
#ifndef SHARDCC_TESTS_RANDOM_MODEL_H
#define SHARDCC_TESTS_RANDOM_MODEL_H

#include "frontend/internal.h"
#include "tests/frontend/model_text.h"

// A number in [-1, 1) that depends on the seed alone.
static inline double draw(uint64_t *seed)
{
    *seed = *seed * 6364136223846793005u + 1442695040888963407u;
    return (double)(int64_t)(*seed >> 11) / 0x1p52 - 1;
}

static inline int64_t pick(uint64_t *seed, int64_t from, int64_t to)
{
    return from + (int64_t)((draw(seed) + 1) / 2 * (double)(to - from + 1));
}

// Fills the inputs of a graph, in their order, and evaluates it. Floats are in [-1, 1), integers 0
// or 1. `in` gets the inputs.
static inline Tensor *evaluate_random(Arena *a, const Graph *g, uint64_t seed, Tensor *in)
{
    Tensor *values = arena_array(a, Tensor, g->n_values + 1);
    int n = 0;

    for (ValueId v = 1; v < g->n_values; v++) {
        const Value *value = value_of(g, v);
        if (value->kind != VALUE_INPUT)
            continue;
        Tensor t = tensor_new(a, value->dtype, value->rank, value->dim);
        for (int64_t i = 0; i < tensor_count(&t); i++) {
            if (t.f)
                t.f[i] = (float)draw(&seed);
            else
                t.i[i] = pick(&seed, 0, 1);
        }
        values[v] = in[n++] = t;
    }
    graph_eval(a, g, values);
    return values;
}

// Imports and evaluates a model, within the bounds of a compilation. Returns its output `output`.
static inline Tensor model_value(Arena *a, const char *text, uint64_t seed, Tensor *in, int output)
{
    ImportOptions o = {.accumulate = 1, .budget = budget_new(a, 1)};
    Diag d = {.file = "m"};
    Weights w;
    size_t size;
    uint8_t *bytes = model_from_text(a, text, &size);
    Graph *g = import_bytes(a, bytes, size, &o, &w, &d);

    assert_true(g && graph_verify(g, &d) && budget_check(o.budget, &d));
    return evaluate_random(a, g, seed, in)[g->outputs[output].value];
}

#endif
