// Runs a net's program: items through the operators' own eval, on an arena that starts full of
// NaN.
#include "tests/nets/machine.h"

// ---- items ----

// A set that runs, and the buffer for the gradients that it shows.
typedef struct Run {
    Machine m;
    const Reference *r;
    Result *to;
    Arena *arena;
} Run;

// The index of a value among the results of its node.
static int index_in_node(const Graph *g, ValueId v)
{
    int k = 0;

    while (value_of(g, v)->producer && producer(g, v)->out[k] != v)
        k++;
    return k;
}

// Is v the operand's value, or its instance at iteration `layer`?
static bool is_in(const Graph *g, const Operand *o, const int *layer, ValueId v)
{
    Block want = value_block(g, o->value), is = value_block(g, v);

    if (!o->is_instance)
        return v == o->value;
    return is.cls == want.cls && is.pos == want.pos && is.iter == layer[o->loop] + o->delta &&
           index_in_node(g, v) == index_in_node(g, o->value);
}

// Stores a gradient that the program shows. Outputs of the same value all get it.
static void show(const Run *r, const Operand *o, const int *layer)
{
    const Graph *g = r->m.s->g;
    const Value *v = value_of(g, o->value);
    Tensor t = load(&r->m, o, layer, v->rank, v->dim);

    for (int i = 0; i < r->r->g->n_outputs; i++) {
        const Output *out = &r->r->g->outputs[i];
        if (out->role == OUTPUT_GRADIENT && is_in(g, o, layer, out->value))
            r->to->output[i] = kept(r->arena, &t);
    }
}

static void run_one(void *run, const Item *it, const int *layer)
{
    Run *r = run;

    if (it->kind == ITEM_GRADIENT)
        show(r, &it->operands[0], layer);
    run_item(&r->m, it, layer);
}

static void rest(void *run) { machine_free_scratch(&((Run *)run)->m); }

// Runs the functions of that timing.
static void run_functions(Run *r, Timing timing)
{
    const Set *s = r->m.s;

    for (int i = 0; i < s->n_functions; i++)
        if (s->functions[i].timing == timing)
            walk_items(s, s->functions[i].begin, s->functions[i].end, r, run_one, rest);
}

Result run_items_of(Arena *a, const Program *p, const Reference *r, const Subject *s)
{
    char *bytes = arena_alloc(a, (size_t)p->arena_bytes + 64, 1);
    Result to = result_new(a, r);
    Run run = {.m = machine_new(p, SET_TRAIN, bytes), .r = r, .to = &to, .arena = a};

    put_all(&run.m, s);
    for (int k = 0; k < s->accumulate; k++) {
        put_data(&run.m, s, r->n_values, k);
        if (!k)
            run_functions(&run, TIMING_PREPARE);
        run_functions(&run, TIMING_MICRO);
    }
    run_functions(&run, TIMING_REDUCE);
    run_functions(&run, TIMING_UPDATE);
    read_results(a, &run.m, r, &to);
    arena_free(run.m.scratch);
    return to;
}

Tensor predict_items(Arena *a, const Program *p, const Subject *s)
{
    char *bytes = arena_alloc(a, (size_t)p->arena_bytes + 64, 1);
    Machine m = machine_new(p, SET_PREDICT, bytes);

    put_all(&m, s);
    run_items(&m, 0, m.s->n_items);
    Tensor y = get(a, &m, prediction_of(m.s->g));
    arena_free(m.scratch);
    return y;
}
