// Reads the plan that the user gives as a file. The file's entries are of the graph that the policy
// of recomputation made when the plan was found. If the user has edited the policy, they are
// translated to the graph of the new policy. The two graphs have the model's values in common, and
// differ in those that the backward part makes again.
#include "solver/plan/follow_plan.h"

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

ModelPlan plan_of_model(Arena *a, const Graph *model, const Recomputed *from, const Plan *p)
{
    const ValueId *value = find_values(a, model, from);
    ModelPlan m = {p->mesh, arena_array(a, Spec, model->n_values),
                   arena_array(a, Spec, 3 * (size_t)model->n_values),
                   arena_array(a, Strategy, model->n_nodes)};

    for (ValueId v = 1; v < model->n_values; v++) {
        m.storage_spec[v] = p->storage_spec[value[v]];
        for (int k = 0; k < 3; k++)
            m.compute_spec[3 * v + k] = p->compute_spec[3 * value[v] + k];
    }
    for (NodeId n = 1; n < model->n_nodes; n++)
        m.strategy[n] = p->strategy[value_of(from->g, value[model->nodes[n].out[0]])->producer];
    return m;
}

// Gives a value that a single node reads in a phase the compute spec which that node needs.
static void set_single_readers(Arena *a, const Graph *g, const TiedValues *tied, Plan *p)
{
    const int *readers = tied_readers(a, g, tied);

    for (NodeId n = 1; n < g->n_nodes; n++) {
        Rule r;
        if (tied->node[n] != n)
            continue;
        node_rule(a, g, &g->nodes[n], &r);
        for (int i = 0; i < g->nodes[n].n_in; i++) {
            int at = 3 * tied->value[tied_input_value(g, tied, n, i)] + (int)g->nodes[n].phase;
            if (readers[at] == 1)
                p->compute_spec[at] = strategy_spec(&r, &p->strategy[n], i);
        }
    }
    for (int at = 3; at < 3 * g->n_values; at++)
        p->compute_spec[at] = p->compute_spec[3 * tied->value[at / 3] + at % 3];
}

bool plan_translate(Arena *a, const Graph *model, const ModelPlan *from, const Recomputed *to,
                    Plan *p, Diag *d)
{
    const Graph *g = to->g;
    TiedValues tied = tied_find(a, g);

    *p = (Plan){.mesh = from->mesh,
                .storage_spec = arena_array(a, Spec, g->n_values),
                .compute_spec = arena_array(a, Spec, 3 * (size_t)g->n_values),
                .strategy = arena_array(a, Strategy, g->n_nodes)};
    for (ValueId v = 1; v < g->n_values; v++) {
        ValueId x = to->origin[tied.value[v]];
        p->storage_spec[v] = from->storage_spec[x];
        for (int k = 0; k < 3; k++)
            p->compute_spec[3 * v + k] = from->compute_spec[3 * x + k];
    }
    for (NodeId n = 1; n < g->n_nodes; n++) {
        ValueId x = to->origin[g->nodes[tied.node[n]].out[0]];
        p->strategy[n] = from->strategy[value_of(model, x)->producer];
    }
    set_single_readers(a, g, &tied, p);
    return plan_check(g, p, d);
}

static bool translate_pins(Arena *a, const Recomputed *from, const Recomputed *to,
                           const PlannedStep *step, FollowedPlan *f, Diag *d)
{
    const char **name = graph_names(a, from->g);
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

static bool translate(Arena *a, const PlannedStep *s, const Recomputed *from, FollowedPlan *f,
                      Diag *d)
{
    const ModelPlan m = plan_of_model(a, s->model, from, &f->plan);
    bool ok = f->n_pins ? translate_pins(a, from, &s->made, s, f, d)
                        : plan_translate(a, s->model, &m, &s->made, &f->plan, d);

    f->plan.recompute = *s->recompute;
    return ok;
}

// ---- the file ----

// Sets *to to the policy that the file's entries are of.
static bool read_policies(Arena *a, const PlanFile *f, const PlannedStep *s, RecomputePolicy *to,
                          Diag *d)
{
    RecomputePolicy given = {.rule = recompute_rule(f->recompute)};

    to->rule = recompute_rule(f->recompute_solved);
    if (!plan_keep_read(a, f->keep, f->n_keep, "keep", s->model, &given, d) ||
        !plan_keep_read(a, f->keep_solved, f->n_keep_solved, "keep_solved", s->model, to, d))
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
    Recomputed from = step->made;
    PlanPins pins;

    if (!plan_file_check(f, step->model, step->cluster, d) ||
        !read_policies(a, f, step, &solved, d))
        return false;
    if (!recompute_policy_equal(&solved, step->recompute))
        from = recompute_traced(a, step->model, &solved, step->target, d);
    if (!from.g || !plan_file_read(a, f, from.g, step->cluster, &to->plan, &pins, d))
        return false;
    to->plan.recompute = solved;
    to->pin = pins_of(a, &to->plan, &pins);
    to->n_pins = pins.n_values + pins.n_nodes;
    return from.g == step->made.g || translate(a, step, &from, to, d);
}
