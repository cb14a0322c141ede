// The cheapest plan of a graph on a mesh.
#include "solver/plan_build.h"

#include <math.h>
#include <string.h>

// What is decided by no variable: the use of a value with one reader is what that needs.
static void read_uses(const PlanProblem *q, const Graph *g, Plan *p, Arena *a)
{
    p->use = arena_array(a, Spec, 3 * (size_t)g->n_values);
    for (int at = 0; at < 3 * g->n_values; at++)
        p->use[at] = p->spec[at / 3];
    for (NodeId n = 1; n < g->n_nodes; n++)
        for (int i = 0; i < g->nodes[n].n_in && q->alike.node[n] == n; i++)
            if (g->nodes[n].in[i])
                p->use[use_of_input(q, g, n, i)] = strategy_spec(&q->rule[n], &p->strategy[n], i);
}

void plan_of_choice(const PlanProblem *q, const Graph *g, const int *choice, Plan *p, Arena *a)
{
    p->spec = arena_array(a, Spec, g->n_values);
    p->strategy = arena_array(a, Strategy, g->n_nodes);
    for (ValueId v = 1; v < g->n_values; v++) {
        int i = q->of_value[q->alike.value[v]];
        p->spec[v] = q->variable[i].spec[choice[i]];
    }
    for (NodeId n = 1; n < g->n_nodes; n++) {
        int i = q->of_node[q->alike.node[n]];
        p->strategy[n] = q->variable[i].spec[choice[i]];
    }
    read_uses(q, g, p, a);
    for (int at = 3; at < 3 * g->n_values; at++) {
        int first = 3 * q->alike.value[at / 3] + at % 3, i = q->of_use[first];
        p->use[at] = i < 0 ? p->use[first] : q->variable[i].spec[choice[i]];
    }
}

// ---- one mesh ----

// What is proved of presets' plans, where that is quick.
#define PRESET_GAP 5e-3

typedef struct Finder {
    const Graph *g;
    const Mesh *m;
    const PlanOptions *o;
    PlanProblem q;
    Wide enough;
    bool *keep;  // by alternative: pins allow it
    int n;       // of alternatives
    const unsigned *role;
    Planned *to;
    Arena *arena, *own;
    Diag *d;
} Finder;

// By node, which of the alternatives that are kept was chosen.
static int *kept_choice(const Problem *kept, const int *original, const int *choice, Arena *a)
{
    int *to = arena_array(a, int, kept->n_nodes);

    for (int i = 0; i < kept->n_nodes; i++)
        while (original[kept->first[i] + to[i]] != choice[i])
            to[i]++;
    return to;
}

// The cheapest choice of the alternatives that are kept, beginning with the choice and the prices
// of another answer (may be {0}). A brief search is for presets' plans, which are there to begin
// with and to compare.
static Answer solve_kept(const Finder *f, const bool *keep, const Answer *start, bool is_brief)
{
    Arena *own = arena_new();
    SolveOptions o = f->o->solve;
    int *original;
    Problem kept = problem_restrict(&f->q.problem, keep, &original, own);
    Answer answer;

    o.is_brief = is_brief;
    o.gap = is_brief ? fmax(o.gap, PRESET_GAP) : o.gap;
    o.enough = is_brief ? 0 : (f->enough + f->q.unit - 1) / f->q.unit;
    o.start = start->choice ? kept_choice(&kept, original, start->choice, own) : NULL;
    o.prices = start->prices;
    solve(&kept, &o, &answer, own, f->d);
    if (answer.choice) {
        int *choice = arena_array(f->arena, int, kept.n_nodes);
        for (int i = 0; i < kept.n_nodes; i++)
            choice[i] = original[kept.first[i] + answer.choice[i]];
        answer.choice = choice;
    }
    answer.prices = dual_prices(&answer.prices, f->arena);
    arena_free(own);
    answer.cost *= f->q.unit;
    answer.bound *= f->q.unit;
    return answer;
}

// What a preset that fits the mesh leaves of the alternatives that are kept. False where it leaves
// nothing somewhere; `idle` is then an axis that has nothing to split, or -1.
static bool keep_preset(const Finder *f, const Preset *p, bool *keep, int *idle)
{
    unsigned axes[MAX_AXES];

    *idle = -1;
    memcpy(keep, f->keep, (size_t)f->n * sizeof *keep);
    if (!preset_fits(p, f->m, axes) || !preset_apply(&f->q, f->role, axes, keep))
        return false;
    *idle = preset_demand(&f->q, f->g, f->role, f->m, axes, keep);
    return *idle < 0;
}

static bool no_preset(const Finder *f, int idle)
{
    Text t = {0};

    preset_print(f->o->preset, &t);
    if (idle < 0)
        diag_error(f->d, "no plan keeps to the preset '%s' and to what is pinned", t.s);
    else
        diag_error(f->d, "preset '%s': no product has what it splits along axis %s", t.s,
                   f->m->name[idle]);
    text_free(&t);
    return false;
}

// The cheapest plan of all presets' ({0}: none fits).
static Answer try_presets(Finder *f)
{
    Preset preset[MOST_PRESETS];
    bool *keep = arena_array(f->own, bool, f->n);
    Answer best = {0};
    int n = presets_of(f->m, !f->enough, preset), idle;

    for (int i = 0; i < n; i++) {
        if (!keep_preset(f, &preset[i], keep, &idle))
            continue;
        Answer x = solve_kept(f, keep, &(Answer){0}, true);
        f->to->preset[f->to->n_presets++] =
            (PresetPlan){preset[i], x.outcome, (int64_t)x.cost, x.peak};
        if (is_found(x.outcome) && (!best.choice || x.cost < best.cost))
            best = x;
    }
    return best;
}

// The cheapest choice of those that are kept; where nothing fits, of those with the lowest peak
// that was found.
static Answer find_cheapest(Finder *f, const bool *keep, const Answer *start)
{
    Answer answer = solve_kept(f, keep, start, f->o->is_brief);

    if (answer.outcome != OUTCOME_INFEASIBLE || !answer.choice)
        return answer;
    f->q.problem.limit = answer.least;
    Answer least = solve_kept(f, keep, &(Answer){.choice = answer.choice}, true);
    if (!least.choice)
        return answer;
    answer.choice = least.choice;
    answer.least = answer.peak = least.peak;
    answer.at = least.at;
    return answer;
}

static bool find_answer(Finder *f)
{
    const Graph *g = f->g;
    int idle;

    f->n = f->q.problem.first[f->q.problem.n_nodes];
    f->keep = arena_array(f->own, bool, f->n);
    f->role = preset_roles(&f->q, g, f->own);
    memset(f->keep, true, (size_t)f->n * sizeof *f->keep);
    if (!pins_apply(&f->q, g, f->m, f->o, f->keep, f->d))
        return false;
    if (!f->o->preset) {
        Answer start = {0};
        if (!f->o->is_alone && !f->o->is_brief)
            start = try_presets(f);
        f->to->answer = find_cheapest(f, f->keep, &start);
        return true;
    }
    bool *keep = arena_array(f->own, bool, f->n);
    if (!keep_preset(f, f->o->preset, keep, &idle))
        return no_preset(f, idle);
    f->to->answer = find_cheapest(f, keep, &(Answer){0});
    return true;
}

bool plan_find_below(const Graph *g, const Cluster *c, const Mesh *m, const PlanOptions *o,
                     const Lives *lives, Wide enough, Planned *to, Arena *a, Diag *d)
{
    Arena *own = arena_new();
    Finder f = {.g = g, .m = m, .o = o, .enough = enough, .to = to, .arena = a, .own = own, .d = d};

    *to = (Planned){.plan.mesh = *m, .n_searched = 1};
    bool ok = plan_build(&f.q, g, c, m, o, lives, own, d) && find_answer(&f);
    if (ok && to->answer.choice) {
        plan_of_choice(&f.q, g, to->answer.choice, &to->plan, a);
        plan_report(&f.q, g, to, a);
    }
    arena_free(own);
    return ok;
}
