// Fills the arena of a net's program before a step, and reads the results from it afterwards.
#ifndef SHARDCC_TESTS_NETS_MACHINE_H
#define SHARDCC_TESTS_NETS_MACHINE_H

#include "tests/lower/interpret.h"
#include "tests/nets/judge.h"

// ---- memory ----

static inline void put(const Machine *m, ValueId v, const Tensor *t)
{
    Operand o;

    if (!(t->f || t->i) || !m->s->address[v].buffer)
        return;
    o = whole(m, v);
    store(m, &o, 0, t);
}

// Puts the data and hypers of a micro-batch into the arena.
static inline void put_data(const Machine *m, const Subject *s, int n_values, int micro)
{
    const Graph *g = m->s->g;
    Tensor *t = numbers_all(m->scratch, g, s, micro);

    for (ValueId v = 1; v < n_values; v++)
        if (value_of(g, v)->kind == VALUE_INPUT || value_of(g, v)->kind == VALUE_HYPER)
            put(m, v, &t[v]);
}

static inline void put_all(const Machine *m, const Subject *s)
{
    const Graph *g = m->s->g;
    Tensor *t = numbers_all(m->scratch, g, s, 0);

    for (ValueId v = 1; v < g->n_values; v++) {
        const Value *x = value_of(g, v);
        if (x->producer)
            continue;
        if (x->kind == VALUE_CONSTANT)
            t[v] = tensor_of(m->scratch, x);
        if (x->kind == VALUE_ZERO)
            t[v] = splat(m, x, x->fill);
        put(m, v, &t[v]);
    }
}

// Copies a tensor into `a`, because a machine's scratch is freed earlier.
static inline Tensor kept(Arena *a, const Tensor *t)
{
    Tensor y = tensor_new(a, t->dtype, t->rank, t->dim);

    memcpy(y.f ? (void *)y.f : y.i, t->f ? (void *)t->f : t->i, 8 * (size_t)tensor_count(t));
    return y;
}

static inline Tensor get(Arena *a, const Machine *m, ValueId v)
{
    Operand o = whole(m, v);
    Tensor t = load(m, &o, 0, value_of(m->s->g, v)->rank, value_of(m->s->g, v)->dim);

    return kept(a, &t);
}

static inline Machine machine_new(const Program *p, int set, char *bytes)
{
    Machine m = {.p = p, .s = &p->set[set], .bytes = bytes, .scratch = arena_new()};

    memset(bytes, 0xff, (size_t)p->arena_bytes);
    return m;
}

static inline Result result_new(Arena *a, const Reference *r)
{
    return (Result){arena_array(a, Tensor, r->g->n_outputs + 1),
                    arena_array(a, Tensor, r->g->n_carries + 1)};
}

// Reads the outputs and the carried values of the step from the arena.
static inline void read_results(Arena *a, const Machine *m, const Reference *r, Result *to)
{
    for (int i = 0; i < r->g->n_outputs; i++)
        if (r->g->outputs[i].role != OUTPUT_GRADIENT &&
            m->s->address[r->g->outputs[i].value].buffer)
            to->output[i] = get(a, m, r->g->outputs[i].value);
    for (int i = 0; i < r->g->n_carries; i++)
        if (r->g->carries[i].scope == SCOPE_STEP)
            to->carried[i] = get(a, m, r->g->carries[i].in);
}

#endif
