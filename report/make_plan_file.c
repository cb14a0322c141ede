// Fills a plan's file from the result of a search.
#include "report/report.h"

#include <math.h>

static double seconds_of(Wide picoseconds) { return 1e-12 * (double)picoseconds; }

static const char *text_of(Arena *a, Text *t)
{
    char *s = arena_copy(a, t->s ? t->s : "", t->n);

    text_free(t);
    return s;
}

// Sets the best alternative of each entry if all else stays.
static void make_next(Arena *a, PlanFile *f, const Graph *g, const Planned *p)
{
    const Mesh *m = &p->plan.mesh;
    ValueId *value;
    NodeId *node;

    plan_file_values(a, g, &value);
    for (int i = 0; i < f->n_values; i++) {
        const BestAlternative *x = &p->next_storage_spec[value[i]];
        Text t = {0};
        if (!x->is_there)
            continue;
        spec_print(m, value_of(g, value[i]), &x->spec, &t);
        f->value[i].next = text_of(a, &t);
        f->value[i].next_seconds = seconds_of(x->cost);
    }
    plan_file_nodes(a, g, &node);
    for (int i = 0; i < f->n_nodes; i++) {
        const BestAlternative *x = &p->strategy[node[i]];
        Text t = {0};
        Rule r;
        if (!x->is_there)
            continue;
        node_rule(a, g, &g->nodes[node[i]], &r);
        strategy_print(&r, m, &x->spec, &t);
        f->node[i].next = text_of(a, &t);
        f->node[i].next_seconds = seconds_of(x->cost);
    }
}

static void make_presets(Arena *a, PlanFile *f, const Planned *p)
{
    f->n_rivals = p->n_presets;
    f->rival = arena_array(a, PlanPreset, p->n_presets);
    for (int i = 0; i < p->n_presets; i++) {
        const PresetPlan *x = &p->preset[i];
        bool fits = is_found(x->outcome);
        Text t = {0};
        preset_print(&x->preset, &t);
        f->rival[i] = (PlanPreset){text_of(a, &t), fits, fits ? seconds_of(x->cost) : 0,
                                   seconds_of(x->step), x->peak};
    }
}

void plan_make(Arena *a, PlanFile *f, const PlanResult *s)
{
    const Planned *p = &s->planned;
    const Sharded *sharded = s->program->set[SET_TRAIN].sharded;
    const Graph *g = sharded->whole;
    int accumulate = s->program->accumulate;

    f->seconds = seconds_of(p->compute + p->communication);
    if (p->answer.cost < p->compute + p->communication)
        f->cheapest = seconds_of(p->answer.cost);
    f->compute = seconds_of(p->compute);
    f->communication = seconds_of(p->communication);
    f->bound = seconds_of(p->answer.bound);
    f->least = seconds_of(p->step_bound);
    f->simulated = s->step.seconds;
    f->exposed = s->step.seconds - s->step.compute;
    // Rounding of the sums may make it negative.
    f->hidden = fmax(0, s->step.communication - f->exposed);
    f->meshes = p->n_searched + p->n_excluded + p->n_left_out;
    f->excluded = p->n_excluded;
    f->left_out = p->n_left_out;
    f->memory = s->options.memory;
    f->exchange_memory = s->exchange_bytes;
    make_next(a, f, g, p);
    make_presets(a, f, p);
    plan_make_memory(a, f, s->program);
    plan_make_collectives(a, f, sharded, accumulate);
}
