// The choices of a search: solves restricted problems, keeps what a preset allows, makes plans.
#include <math.h>
#include <string.h>

#include "base/search.h"
#include "solver/plan/find_plan.h"

// Fills in the compute specs that no variable decides: a value with one reader in a phase has the
// spec that the reader's strategy needs.
static void read_compute_specs(Arena *a, const PlanProblem *q, const Graph *g, Plan *p)
{
    p->compute_spec = arena_array(a, Spec, 3 * (size_t)g->n_values);
    for (int at = 0; at < 3 * g->n_values; at++)
        p->compute_spec[at] = p->storage_spec[at / 3];
    for (NodeId n = 1; n < g->n_nodes; n++)
        for (int i = 0; i < g->nodes[n].n_in && q->tied.node[n] == n; i++)
            if (g->nodes[n].in[i])
                p->compute_spec[compute_spec_of_input(q, g, n, i)] =
                    strategy_spec(&q->rule[n], &p->strategy[n], i);
}

void plan_of_choice(Arena *a, const PlanProblem *q, const Graph *g, const int *choice, Plan *p)
{
    p->storage_spec = arena_array(a, Spec, g->n_values);
    p->strategy = arena_array(a, Strategy, g->n_nodes);
    for (ValueId v = 1; v < g->n_values; v++) {
        int i = q->of_value[q->tied.value[v]];
        p->storage_spec[v] = q->variable[i].spec[choice[i]];
    }
    for (NodeId n = 1; n < g->n_nodes; n++) {
        int i = q->of_node[q->tied.node[n]];
        p->strategy[n] = q->variable[i].spec[choice[i]];
    }
    read_compute_specs(a, q, g, p);
    for (int at = 3; at < 3 * g->n_values; at++) {
        int first = 3 * q->tied.value[at / 3] + at % 3, i = q->of_compute_spec[first];
        p->compute_spec[at] = i < 0 ? p->compute_spec[first] : q->variable[i].spec[choice[i]];
    }
}

Answer solve_kept(const Finder *f, const Problem *p, const bool *keep, const Answer *start,
                  bool stops_early)
{
    Arena *own = arena_new();
    SolveOptions o = f->o->solve;
    int *original;
    Problem kept = problem_restrict(own, p, keep, &original);
    Answer answer;

    o.stops_early = stops_early;
    o.gap = stops_early ? fmax(o.gap, PRESET_GAP) : o.gap;
    o.enough = stops_early ? 0 : (f->enough + f->q.unit - 1) / f->q.unit;
    o.start = start->choice ? restricted_choice(own, &kept, original, start->choice) : NULL;
    o.prices = start->prices.n_times ? start->prices : o.prices;
    solve(own, &kept, &o, &answer, f->d);
    if (answer.choice) {
        int *choice = arena_array(f->arena, int, kept.n_nodes);
        for (int i = 0; i < kept.n_nodes; i++)
            choice[i] = original[kept.first[i] + answer.choice[i]];
        answer.choice = choice;
    }
    answer.prices = dual_prices(f->arena, &answer.prices);
    arena_free(own);
    answer.cost *= f->q.unit;
    answer.bound *= f->q.unit;
    return answer;
}

bool keep_preset(const Finder *f, const Preset *p, bool *keep, int *idle)
{
    unsigned axes[MAX_AXES];

    *idle = -1;
    memcpy(keep, f->keep, (size_t)f->n * sizeof *keep);
    if (!preset_fits(p, f->m, axes) || !preset_apply(&f->q, f->role, axes, keep))
        return false;
    *idle = preset_demand(&f->q, f->g, f->role, f->m, axes, keep);
    return *idle < 0;
}

void add_choice(Finder *f, const Answer *x, int preset)
{
    if (is_found(x->outcome))
        f->choice[f->n_choices++] =
            (PlanChoice){.choice = x->choice, .preset = preset, .peak = x->peak, .at = x->at};
}
