// Reads the plan that the user gives as a file. The file's entries are of the graph that the policy
// of recomputation made when the plan was found. If the user has edited the policy, they are
// translated to the graph of the new policy. The two graphs have the model's values in common, and
// differ in those that the backward part makes again.
#include "solver/plan/follow_plan.h"
#include "lower/recompute/ways.h"

#include <assert.h>

// A graph that recomputation made of the model's graph.
typedef struct Recomputed {
    const Graph *g;
    ValueId *origin;  // by ValueId: the model's value that it is, or that it makes again
    bool *is_again;   // by ValueId
} Recomputed;

// ---- two graphs ----

// Recomputation keeps the source of a node, also where the node is run again, and the name of a
// value that no node makes. So it is done once more on a graph in which these tell where all is
// from. Ids depend on neither.
static Graph *tag(Arena *a, const Graph *model, Source *source)
{
    const char **name = graph_names(model, a);
    Graph *tagged = graph_clone(model, a);

    for (NodeId n = 1; n < tagged->n_nodes; n++)
        tagged->nodes[n].source = &source[n];
    for (ValueId v = 1; v < tagged->n_values; v++)
        if (!value_of(tagged, v)->producer)
            value_of(tagged, v)->name = name[v];
    return tagged;
}

static int output_index(const Graph *g, ValueId v)
{
    int i = 0;

    while (producer(g, v)->out[i] != v)
        i++;
    return i;
}

// The graph of a policy: `g`, if it was made already. Otherwise it has the tags.
static Recomputed find_origins(Arena *a, const PlannedStep *step, const Graph *g,
                               const RecomputePolicy *policy)
{
    const Graph *model = step->model;
    Source *source = arena_array(a, Source, model->n_nodes);
    Graph *tagged = tag(a, model, source);
    Map at = {.arena = a};
    Text said = {0};
    Diag quiet = {.file = "", .to = &said};

    for (ValueId v = 1; v < model->n_values; v++)
        if (!value_of(model, v)->producer)
            map_set(&at, value_of(tagged, v)->name, v);
    tagged = recompute(a, tagged, policy, step->target, &quiet);
    text_free(&said);
    assert(tagged && (!g || tagged->n_values == g->n_values));
    Recomputed r = {g ? g : tagged, arena_array(a, ValueId, tagged->n_values),
                    arena_array(a, bool, tagged->n_values)};
    for (ValueId v = 1; v < tagged->n_values; v++) {
        const Value *x = value_of(tagged, v);
        if (!x->producer) {
            r.origin[v] = map_get(&at, x->name);
            continue;
        }
        const Node *n = producer(tagged, v), *old = &model->nodes[n->source - source];
        r.origin[v] = old->out[output_index(tagged, v)];
        r.is_again[v] = n->phase != old->phase;
    }
    return r;
}

// By ValueId of the model: the value of `r` that it is or, if the forward part doesn't make it, the
// one that makes it again.
static ValueId *find_values(Arena *a, const Graph *model, const Recomputed *r)
{
    ValueId *value = arena_array(a, ValueId, model->n_values);

    for (ValueId v = 1; v < r->g->n_values; v++)
        if (!value[r->origin[v]] || !r->is_again[v])
            value[r->origin[v]] = v;
    return value;
}

// ---- a plan of the one for the other ----

static void translate_plan(Arena *a, const Graph *model, const Recomputed *from,
                           const Recomputed *to, Plan *p)
{
    const Graph *g = to->g;
    const ValueId *value = find_values(a, model, from);
    const Plan old = *p;
    TiedValues tied = tied_find(g, a);

    p->storage_spec = arena_array(a, Spec, g->n_values);
    p->compute_spec = arena_array(a, Spec, 3 * (size_t)g->n_values);
    p->strategy = arena_array(a, Strategy, g->n_nodes);
    for (ValueId v = 1; v < g->n_values; v++) {
        ValueId x = value[to->origin[tied.value[v]]];
        p->storage_spec[v] = old.storage_spec[x];
        for (int k = 0; k < 3; k++)
            p->compute_spec[3 * v + k] = old.compute_spec[3 * x + k];
    }
    for (NodeId n = 1; n < g->n_nodes; n++) {
        ValueId x = value[to->origin[g->nodes[tied.node[n]].out[0]]];
        p->strategy[n] = old.strategy[value_of(from->g, x)->producer];
    }
}

static bool translate_pins(Arena *a, const Recomputed *from, const Recomputed *to,
                           const PlannedStep *step, FollowedPlan *f, Diag *d)
{
    const char **name = graph_names(from->g, a);
    int errors = d->errors;

    for (int i = 0; i < f->n_pins; i++) {
        Pin *p = &f->pin[i];
        ValueId old = p->kind == PIN_STRATEGY ? from->g->nodes[p->id].out[0] : p->id, v = 1;
        while (v < to->g->n_values &&
               (to->origin[v] != from->origin[old] || to->is_again[v] != from->is_again[old]))
            v++;
        if (v == to->g->n_values)
            diag_error(d, "'%s' is pinned, but isn't there with recompute '%s'", name[old],
                       recompute_name(step->recompute->rule));
        else
            p->id = p->kind == PIN_STRATEGY ? value_of(to->g, v)->producer : v;
    }
    return d->errors == errors;
}

bool plan_translate(Arena *a, const PlannedStep *s, Plan *p, Diag *d)
{
    const Recomputed from = find_origins(a, s, NULL, &p->recompute),
                     to = find_origins(a, s, s->g, s->recompute);

    translate_plan(a, s->model, &from, &to, p);
    p->recompute = *s->recompute;
    return plan_check(s->g, p, d);
}

static bool translate(Arena *a, const PlannedStep *s, const Graph *g, FollowedPlan *f, Diag *d)
{
    const Recomputed from = find_origins(a, s, g, &f->plan.recompute),
                     to = find_origins(a, s, s->g, s->recompute);

    f->plan.recompute = *s->recompute;
    if (f->n_pins)
        return translate_pins(a, &from, &to, s, f, d);
    translate_plan(a, s->model, &from, &to, &f->plan);
    return plan_check(s->g, &f->plan, d);
}

// ---- the file ----

// Sets *to to the policy that the file's entries are of.
static bool read_policies(Arena *a, const PlanFile *f, const PlannedStep *s, RecomputePolicy *to,
                          Diag *d)
{
    RecomputePolicy given = {.rule = recompute_rule(f->recompute)};

    to->rule = recompute_rule(f->recompute_solved);
    if (!plan_keep_read(f->keep, f->n_keep, "keep", s->model, &given, a, d) ||
        !plan_keep_read(f->keep_solved, f->n_keep_solved, "keep_solved", s->model, to, a, d))
        return false;
    bool ok = recompute_policy_equal(&given, s->recompute);

    if (!ok)
        diag_error(d, "recompute is '%s', but the graph has no loss or is after recompute already",
                   f->recompute);
    return ok;
}

static Pin *pins_of(Arena *a, const Plan *p, const PlanPins *pins)
{
    Pin *pin = arena_array(a, Pin, pins->n_values + pins->n_nodes);
    int n = 0;

    for (int i = 0; i < pins->n_values; i++)
        pin[n++] = (Pin){
            .kind = PIN_STORAGE, .id = pins->value[i], .spec = p->storage_spec[pins->value[i]]};
    for (int i = 0; i < pins->n_nodes; i++)
        pin[n++] =
            (Pin){.kind = PIN_STRATEGY, .id = pins->node[i], .spec = p->strategy[pins->node[i]]};
    return pin;
}

bool plan_follow(Arena *a, const PlanFile *f, const PlannedStep *step, FollowedPlan *to, Diag *d)
{
    RecomputePolicy solved;
    const Graph *g = step->g;
    PlanPins pins;

    if (!plan_file_check(f, step->model, step->cluster, d) ||
        !read_policies(a, f, step, &solved, d))
        return false;
    if (!recompute_policy_equal(&solved, step->recompute))
        g = recompute(a, step->model, &solved, step->target, d);
    if (!g || !plan_file_read(f, g, step->cluster, &to->plan, &pins, a, d))
        return false;
    to->plan.recompute = solved;
    to->pin = pins_of(a, &to->plan, &pins);
    to->n_pins = pins.n_values + pins.n_nodes;
    return g == step->g || translate(a, step, g, to, d);
}
