// Runs a net's compiled program, on an arena that starts full of NaN.
#include <stdlib.h>

#include "runtime/core/core.h"
#include "runtime/device.h"
#include "tests/nets/machine.h"

// The place where nets_gradient stores gradients; net programs call it instead of rt_gradient.
static struct {
    RtEntries entries;
    const RtModel *model;
    const Reference *r;
    Result *to;
    Arena *arena;
} shown;

void nets_gradient(Rt *rt, int gradient, int64_t layer, const void *data);

static void take_gradient(const char *name, const float *data)
{
    const Graph *g = shown.r->g;

    for (int i = 0; i < g->n_outputs; i++) {
        const Value *v = value_of(g, g->outputs[i].value);
        if (g->outputs[i].role != OUTPUT_GRADIENT || strcmp(g->outputs[i].name, name))
            continue;
        Tensor t = tensor_new(shown.arena, v->dtype, v->rank, v->dim);
        for (int64_t k = 0; k < tensor_count(&t); k++)
            t.f[k] = (double)data[k];
        shown.to->output[i] = t;
    }
}

void nets_gradient(Rt *rt, int gradient, int64_t layer, const void *data)
{
    int entry = 0;

    (void)rt;
    for (int i = 0; i < shown.model->n_train; i++) {
        const RtTensor *t = &shown.model->train[i];
        if (t->role != RT_GRADIENT)
            continue;
        if (t->gradient == gradient)
            take_gradient(shown.entries.item[entry + layer].name, data);
        entry += rt_layers(t);
    }
}

// ---- the arena ----

static void begin(Rt *rt, const RtModel *m)
{
    *rt = (Rt){.threads = 1, .kernel = rt_alloc((size_t)m->n_kernels + 1, sizeof *rt->kernel)};
    if (posix_memalign((void **)&rt->arena, 64, (size_t)m->arena_bytes + 64))
        abort();
}

static void end(Rt *rt, const RtModel *m, Machine *machine)
{
    rt_kernels_free(rt, m->n_kernels);
    free(rt->kernel);
    free(rt->arena);
    arena_free(machine->scratch);
}

// Copies the program's own constants over those that the graph has.
static void put_constants(const RtModel *m, char *arena)
{
    for (int i = 0; i < m->n_tensors; i++) {
        const RtTensor *t = &m->tensors[i];
        for (int l = 0; l < rt_layers(t) && t->role == RT_CONSTANT && t->data; l++)
            memcpy(arena + rt_place(t, l), (const char *)t->data + l * rt_whole_bytes(t),
                   (size_t)rt_whole_bytes(t));
    }
}

Result run_model(const RtModel *m, const Program *p, const Reference *r, const Subject *s, Arena *a)
{
    Result to = result_new(r, a);
    Rt rt;

    begin(&rt, m);
    Machine x = machine_new(p, SET_TRAIN, rt.arena);
    put_all(&x, s);
    put_constants(m, rt.arena);
    shown.entries = rt_entries(m->train, m->n_train, 1u << RT_GRADIENT);
    shown.model = m;
    shown.r = r;
    shown.to = &to;
    shown.arena = a;
    m->init(&rt);
    for (int k = 0; k < s->accumulate; k++) {
        put_data(&x, s, r->n_values, k);
        m->micro(&rt, rt.arena);
    }
    if (m->reduce)
        m->reduce(&rt, rt.arena);
    if (m->update)
        m->update(&rt, rt.arena);
    read_results(&x, r, &to, a);
    rt_entries_free(&shown.entries);
    end(&rt, m, &x);
    return to;
}

Tensor predict_model(const RtModel *m, const Program *p, const Subject *s, Arena *a)
{
    Rt rt;

    begin(&rt, m);
    Machine x = machine_new(p, SET_PREDICT, rt.arena);
    put_all(&x, s);
    put_constants(m, rt.arena);
    m->init(&rt);
    m->forward(&rt, rt.arena);
    Tensor y = get(&x, prediction_of(x.s->g), a);
    end(&rt, m, &x);
    return y;
}
