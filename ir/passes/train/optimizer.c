// Adds the optimizer to the graph: the states of every parameter, the hyper values that the trainer
// sets, the nodes of the update, and the carries to the next step.
#include <string.h>

#include "ir/passes/train/optimizer.h"

static const OptimizerDef *const table[] = {
#define OPTIMIZER(name) &optimizer_##name,
#include "ir/optimizers.def"
#undef OPTIMIZER
};

// A name that no value has yet.
static const char *state_name(Graph *g, Map *names, const char *parameter, const char *state)
{
    const char *name = arena_string(g->arena, "%s.%s", parameter, state);

    while (map_get(names, name))
        name = arena_string(g->arena, "%s_", name);
    map_set(names, name, 1);
    return name;
}

static ValueId add_state(Graph *g, Map *names, const Value *p, const StateDef *s)
{
    DType t = p->dtype == F64 ? F64 : F32;
    ValueId v =
        graph_value(g, VALUE_STATE, state_name(g, names, p->name, s->name), t, p->rank, p->dim);
    Value *state = value_edit(g, v);

    state->block = p->block;
    state->own_rank = p->own_rank;
    memcpy(state->own_dim, p->own_dim, sizeof state->own_dim);
    state->fill = s->fill;
    return v;
}

// `next`, or `old` where the step is skipped.
static ValueId kept(const Optimizer *o, ValueId next, ValueId old)
{
    Graph *g = o->g;

    if (!o->is_finite)
        return next;
    return make_select(g, broadcast_like(g, o->is_finite, old), next, old);
}

static bool add_update(const Optimizer *o, const Trained *t, ValueId scale, Map *names)
{
    Graph *g = o->g;
    Value p = *value_of(g, t->parameter);
    DType type = p.dtype == F64 ? F64 : F32;
    StateDef def[MAX_STATES] = {{NULL}};
    int n = o->def->states(o, def);
    Update u = {.decays = t->decays};

    for (int i = 0; i < n; i++)
        u.state[i] = add_state(g, names, &p, &def[i]);
    g->block = t->block;
    g->source = graph_source(g, o->def->name, p.name);
    u.p = make_cast(g, t->parameter, type);
    u.grad = make_cast(g, t->gradient, type);
    if (scale)
        u.grad = scaled(g, u.grad, scale);
    ValueId next = kept(o, make_cast(g, o->def->update(o, &u), p.dtype), t->parameter);
    for (int i = 0; i < n; i++)
        u.next[i] = kept(o, u.next[i], u.state[i]);
    g->block = (Block){0};
    if (!next)
        return false;
    graph_carry(g, t->parameter, next, SCOPE_STEP);
    for (int i = 0; i < n; i++)
        graph_carry(g, u.state[i], u.next[i], SCOPE_STEP);
    return true;
}

static bool read_text(Arena *a, const char *text, Optimizer *o, Diag *d)
{
    const char *names[COUNT(table)];
    Call c;

    if (!call_parse(a, "--optimizer", text, &c, d))
        return false;
    for (int i = 0; i < COUNT(table); i++) {
        names[i] = table[i]->name;
        if (strcmp(names[i], c.name) == 0)
            o->def = table[i];
    }
    if (!o->def)
        return call_unknown(&c, "optimizer", names, COUNT(table), d);
    if (c.n_args) {
        diag_error(d, "--optimizer: '%s' is not of the form key=value", c.arg[0]);
        return false;
    }
    return call_options(&c, o->def->options, o->option, d) &&
           (!o->def->check || o->def->check(o->option, d));
}

bool optimizer_check(const char *text, Diag *d)
{
    Arena *a = arena_new();
    Optimizer o = {NULL};
    bool ok = read_text(a, text, &o, d);

    arena_free(a);
    return ok;
}

bool optimizer_add(Graph *g, const OptimizerOptions *options, Diag *d)
{
    Optimizer o = {.g = g};
    Map names = {.arena = g->arena};
    Trained *list;
    bool ok = true;

    if (!read_text(g->arena, options->text, &o, d))
        return false;
    int n = trained_list(g, &list);
    trained_by_decay(g, options, list, n, d);
    for (ValueId v = 1; v < g->n_values; v++)
        if (g->values[v].name)
            map_set(&names, g->values[v].name, 1);
    g->diag = d;
    g->phase = UPDATE;
    g->block = (Block){0};
    o.is_finite = all_finite(g);
    g->source = graph_source(g, o.def->name, "");
    o.def->prepare(&o);
    ValueId scale = clip_scale(g, options);
    for (int i = 0; i < n; i++)
        ok = add_update(&o, &list[i], scale, &names) && ok;
    ok = (!o.is_finite || loss_scale_update(g, options->loss_scale, o.is_finite, d)) && ok;
    g->phase = FORWARD;
    graph_number_blocks(g);
    return ok;
}
