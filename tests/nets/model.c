// Runs a net's compiled program, on an arena that starts full of NaN. The host has the arena's
// bytes in memory of its own: those of the device may be out of its reach.
#include <stdlib.h>

#include "runtime/core/core.h"
#include "runtime/device.h"
#include "tests/nets/machine.h"

// The buffer in which nets_gradient stores gradients; net programs call it instead of rt_gradient.
static struct {
    RtEntries entries;
    const RtModel *model;
    const Reference *r;
    Result *to;
    Arena *arena;
} shown;

void nets_gradient(Rt *rt, int gradient, int64_t layer, const void *data);

static void take_gradient(Rt *rt, const char *name, const float *data)
{
    const Graph *g = shown.r->g;

    for (int i = 0; i < g->n_outputs; i++) {
        const Value *v = value_of(g, g->outputs[i].value);
        if (g->outputs[i].role != OUTPUT_GRADIENT || strcmp(g->outputs[i].name, name))
            continue;
        Tensor t = tensor_new(shown.arena, v->dtype, v->rank, v->dim);
        int64_t n = tensor_count(&t);
        float *x = arena_array(shown.arena, float, n + 1);
        rt->device->copy_out(rt, x, rt_operand_at(rt, data), n * (int64_t)sizeof *x);
        for (int64_t k = 0; k < n; k++)
            t.f[k] = (double)x[k];
        shown.to->output[i] = t;
    }
}

void nets_gradient(Rt *rt, int gradient, int64_t layer, const void *data)
{
    int entry = 0;

    for (int i = 0; shown.model && i < shown.model->n_train; i++) {
        const RtTensor *t = &shown.model->train[i];
        if (t->role != RT_GRADIENT)
            continue;
        if (t->gradient == gradient)
            take_gradient(rt, shown.entries.item[entry + layer].name, data);
        entry += rt_layers(t);
    }
}

// ---- the arena ----

static void begin(Rt *rt, const RtModel *m, const Subject *s)
{
    *rt = (Rt){.device = m->device, .threads = 1, .gpu = {.has_graphs = true}};
    if (nets_target.begin)
        nets_target.begin(s->numbers);
    rt->kernel = rt_alloc((size_t)m->n_kernels + 1, sizeof *rt->kernel);
    if ((m->device->open && !m->device->open(rt, m)) || !m->device->allocate(rt, m))
        exit(1);
    m->init(rt);
}

static void end(Rt *rt, const RtModel *m, Machine *machine)
{
    m->device->close(rt, m);
    free(rt->kernel);
    free(machine->bytes);
    arena_free(machine->scratch);
}

static Machine start_machine(const Program *p, int set)
{
    char *bytes = rt_alloc((size_t)p->arena_bytes + 64, 1);

    return machine_new(p, set, bytes);
}

// Runs a function of the program, if it has that function.
static void run_part(Rt *rt, const Machine *x, RtPart part)
{
    int64_t bytes = x->p->arena_bytes;

    if (!part)
        return;
    rt->device->copy_in(rt, 0, x->bytes, bytes);
    rt->device->run(rt, part);
    rt->device->synchronise(rt);
    rt->device->copy_out(rt, x->bytes, 0, bytes);
}

// Copies the program's own constants over those that the graph has.
static void put_constants(const RtModel *m, char *arena)
{
    for (int i = 0; i < m->n_tensors; i++) {
        const RtTensor *t = &m->tensors[i];
        for (int l = 0; l < rt_layers(t) && t->role == RT_CONSTANT && t->data; l++)
            memcpy(arena + rt_tensor_at(t, l), (const char *)t->data + l * rt_whole_bytes(t),
                   (size_t)rt_whole_bytes(t));
    }
}

Result run_model(Arena *a, const RtModel *m, const Program *p, const Reference *r, const Subject *s)
{
    Machine x = start_machine(p, SET_TRAIN);
    Result to = result_new(a, r);
    Rt rt;

    begin(&rt, m, s);
    put_all(&x, s);
    put_constants(m, x.bytes);
    shown.entries = rt_entries(m->train, m->n_train, 1u << RT_GRADIENT);
    shown.model = m;
    shown.r = r;
    shown.to = &to;
    shown.arena = a;
    for (int k = 0; k < s->accumulate; k++) {
        put_data(&x, s, r->n_values, k);
        if (!k)
            run_part(&rt, &x, m->prepare);
        run_part(&rt, &x, m->micro);
    }
    run_part(&rt, &x, m->reduce);
    run_part(&rt, &x, m->update);
    read_results(a, &x, r, &to);
    rt_entries_free(&shown.entries);
    end(&rt, m, &x);
    return to;
}

Tensor predict_model(Arena *a, const RtModel *m, const Program *p, const Subject *s)
{
    Machine x = start_machine(p, SET_PREDICT);
    Rt rt;

    begin(&rt, m, s);
    put_all(&x, s);
    put_constants(m, x.bytes);
    run_part(&rt, &x, m->forward);
    Tensor y = get(a, &x, prediction_of(x.s->g));
    end(&rt, m, &x);
    return y;
}
