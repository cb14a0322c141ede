// Finds the cheapest plan of several meshes.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/search.h"
#include "solver/plan/build_problem.h"

typedef struct Candidate {
    int mesh;
    MeshBound lower_bound;
} Candidate;

// Sorts small problems first: their plans exclude large ones.
static int compare_candidates(const void *x, const void *y)
{
    const Candidate *a = x, *b = y;

    if (a->lower_bound.pairs != b->lower_bound.pairs)
        return a->lower_bound.pairs < b->lower_bound.pairs ? -1 : 1;
    return a->mesh - b->mesh;
}

static bool is_same_preset(const Preset *a, const Preset *b)
{
    Text x = {0}, y = {0};

    preset_print(a, &x);
    preset_print(b, &y);
    bool same = !strcmp(x.s, y.s);
    text_free(&x);
    text_free(&y);
    return same;
}

// Keeps the cheapest plan of each preset, or else the one of the lowest peak.
static void join_presets(Planned *to, const Planned *from)
{
    for (int i = 0; i < from->n_presets; i++) {
        const PresetPlan *x = &from->preset[i];
        int k = 0;
        while (k < to->n_presets && !is_same_preset(&to->preset[k].preset, &x->preset))
            k++;
        if (k == MAX_PRESETS)
            continue;
        PresetPlan *y = &to->preset[k];
        bool is_better = is_found(x->outcome) && is_found(y->outcome)
                             ? x->cost < y->cost
                             : is_found(x->outcome) || (!is_found(y->outcome) && x->peak < y->peak);
        if (k == to->n_presets || is_better)
            *y = *x;
        to->n_presets += k == to->n_presets;
    }
}

// The bytes of a rank at the plan's peak, with those of its communicators.
static int64_t peak_of(const Planned *x, const PlanOptions *o)
{
    return x->answer.peak + mesh_exchange_bytes(&x->plan.mesh, &o->exchange_memory);
}

// Is x better than the best result so far?
static bool is_better(const Planned *x, const Planned *best, const PlanOptions *o)
{
    if (!best->n_searched || !x->answer.choice)
        return !best->n_searched;
    if (is_found(x->answer.outcome) != is_found(best->answer.outcome))
        return is_found(x->answer.outcome);
    return is_found(x->answer.outcome) ? x->step < best->step : peak_of(x, o) < peak_of(best, o);
}

static bool is_there(const Planned *x) { return x->n_searched && is_found(x->answer.outcome); }

static void add_result(Planned *to, const Planned *x, const PlanOptions *o)
{
    Planned all = is_better(x, to, o) ? *x : *to;

    if (is_there(to) && is_found(x->answer.outcome))  // the plan of the shorter step may cost more
        all.answer.cost = to->answer.cost < x->answer.cost ? to->answer.cost : x->answer.cost;
    all.n_searched = to->n_searched + 1;
    all.n_excluded = to->n_excluded;
    memcpy(all.preset, to->preset, sizeof all.preset);
    all.n_presets = to->n_presets;
    join_presets(&all, x);
    *to = all;
}

// Sets the bounds of all meshes, and the outcome.
static void conclude(Planned *to, Wide bound, Wide least, double gap)
{
    Answer *x = &to->answer;

    to->step_bound = least;
    x->bound = bound < x->cost ? bound : x->cost;
    x->outcome = answer_gap(x->cost, x->bound) <= gap ? OUTCOME_PROVED : OUTCOME_FOUND;
}

static Wide least_mesh_bound(const Graph *g, const Cluster *c, const Mesh *mesh, int n,
                             const PlanOptions *o)
{
    Wide least = WIDE_MAX;

    for (int i = 0; i < n; i++) {
        Wide cost = plan_mesh_bound(g, c, &mesh[i], o).cost;
        least = cost < least ? cost : least;
    }
    return least;
}

// Sets cost and bounds where nothing fits: the cost of the plan of the lowest peak, and the least
// work of its nodes.
static void conclude_infeasible(Planned *to, Wide lower_bound)
{
    to->answer.cost = to->compute + to->communication;
    to->step_bound = to->answer.bound =
        lower_bound < to->answer.cost ? lower_bound : to->answer.cost;
}

static bool no_preset(const Preset *p, const Mesh *m, int n, Diag *d)
{
    Text preset = {0}, mesh = {0};

    preset_print(p, &preset);
    mesh_print(m, &mesh);
    if (n == 1)
        diag_error(d, "preset '%s' doesn't fit the mesh %s", preset.s, mesh.s);
    else
        diag_error(d, "preset '%s' fits no mesh of %d ranks", preset.s, mesh_ranks(m));
    text_free(&preset);
    text_free(&mesh);
    return false;
}

// Lists the meshes that the preset fits, or all without a preset, with their bounds. Returns how
// many.
static int find_candidates(const Graph *g, const Cluster *c, const Mesh *mesh, int n,
                           const PlanOptions *o, Candidate *to)
{
    unsigned axes[MAX_AXES];
    int count = 0;

    for (int i = 0; i < n; i++)
        if (!o->preset || preset_fits(o->preset, &mesh[i], axes))
            to[count++] = (Candidate){i, {0, 0}};
    for (int i = 0; i < count && count > 1; i++)
        to[i].lower_bound = plan_mesh_bound(g, c, &mesh[to[i].mesh], o);
    qsort(to, (size_t)count, sizeof *to, compare_candidates);
    return count;
}

// A problem with more than MAX_MESH_PAIRS isn't built, unless its bound leaves more than
// MIN_MESH_GAIN of the best plan's step to gain: the limit grows in proportion to that gain.
static bool is_too_large(const MeshBound *f, const Planned *best)
{
    double most = (double)MAX_MESH_PAIRS;

    if (is_there(best))
        most *= fmax(1, (1 - (double)f->cost / (double)best->step) / MIN_MESH_GAIN);
    return best->n_searched && (double)f->pairs > most;
}

bool plan_search(Arena *a, const Graph *g, const Cluster *c, const Mesh *mesh, int n,
                 const PlanOptions *o, Planned *to, Diag *d)
{
    Candidate *all = arena_array(a, Candidate, n);
    int count = find_candidates(g, c, mesh, n, o, all);
    Wide bound = WIDE_MAX, least = WIDE_MAX;  // over meshes on which a plan fits
    LiveRanges live_ranges;

    *to = (Planned){.plan.mesh = mesh[0]};
    if (!live_ranges_find(a, g, o->target, o->accumulate, &live_ranges, d))
        return false;
    for (int i = 0; i < count; i++) {
        Wide enough = is_there(to) ? to->answer.cost : 0;
        Planned x;
        if (enough && all[i].lower_bound.cost >= enough) {
            to->n_excluded++;
        } else if (is_too_large(&all[i].lower_bound, to)) {
            to->n_left_out++;
        } else {
            if (!budget_add(o->solve.budget, BUDGET_problems, 1) ||
                !plan_find_below(a, g, c, &mesh[all[i].mesh], o, &live_ranges, enough, &x, d))
                return false;
            if (x.answer.outcome != OUTCOME_INFEASIBLE) {
                bound = x.answer.bound < bound ? x.answer.bound : bound;
                least = x.step_bound < least ? x.step_bound : least;
            }
            add_result(to, &x, o);
        }
    }
    if (!count)
        return no_preset(o->preset, mesh, n, d);
    if (is_found(to->answer.outcome))
        conclude(to, bound, least, o->solve.gap);
    else if (to->answer.choice)
        conclude_infeasible(to, least_mesh_bound(g, c, mesh, n, o));
    return true;
}

bool plan_find(Arena *a, const Graph *g, const Cluster *c, const Mesh *m, const PlanOptions *o,
               Planned *to, Diag *d)
{
    return plan_search(a, g, c, m, 1, o, to, d);
}
