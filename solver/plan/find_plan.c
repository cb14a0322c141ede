// Finds the cheapest plan of a graph on a mesh, or the one whose program takes the shortest step.
#include "solver/plan/find_plan.h"

#include <math.h>
#include <pthread.h>
#include <string.h>

#include "base/search.h"

// ---- one mesh ----

static bool no_preset(const Finder *f, int idle)
{
    Text t = {0};

    preset_print(f->o->preset, &t);
    if (idle < 0)
        diag_error(f->d, "no plan has both the preset '%s' and the pins", t.s);
    else
        diag_error(f->d, "preset '%s': no product has a dim to split along axis %s", t.s,
                   f->m->name[idle]);
    text_free(&t);
    return false;
}

// Finds the cheapest choice among the kept alternatives. If nothing fits, finds the cheapest of the
// choices with the lowest peak that was found.
static Answer find_cheapest(Finder *f, const bool *keep, const Answer *start)
{
    Answer answer = solve_kept(f, &f->q.problem, keep, start, f->o->stops_early);

    if (answer.outcome != OUTCOME_INFEASIBLE || !answer.choice)
        return answer;
    f->q.problem.limit = answer.least;
    Answer least = solve_kept(f, &f->q.problem, keep, &(Answer){.choice = answer.choice}, true);
    if (!least.choice)
        return answer;
    answer.choice = least.choice;
    answer.least = answer.peak = least.peak;
    answer.at = least.at;
    return answer;
}

// The sum of the nodes' least costs, in picoseconds.
static Wide least_compute(const Finder *f, const bool *keep)
{
    const Problem *p = &f->q.problem;
    Wide sum = 0;

    for (int i = 0; i < p->n_nodes; i++) {
        int64_t least = INT64_MAX;
        for (int k = p->first[i]; k < p->first[i + 1]; k++)
            least = keep[k] && p->cost[k] < least ? p->cost[k] : least;
        sum += least;
    }
    return sum * f->q.unit;
}

// Finds the cheapest choice when communication counts half, as if computation hid half of it.
static Answer find_hiding(const Finder *f, const bool *keep, const Answer *start)
{
    Problem p = f->q.problem;
    int64_t *cost = arena_array(f->own, int64_t, f->n);

    for (int k = 0; k < f->n; k++)
        cost[k] = OVERLAP_COMPUTE_WEIGHT * p.cost[k];
    p.cost = cost;
    return solve_kept(f, &p, keep, start, true);
}

// Can overlap gain much over a plan of this cost? It can't if that is near the nodes' least cost.
static bool is_worth_hiding(const Finder *f, Wide compute, Wide cost)
{
    return f->hides && !f->o->stops_early && 100 * cost > MIN_OVERLAP_PERCENT * compute;
}

// The search for a choice that overlaps well, for a thread of its own that works on a copy of the
// Finder.
typedef struct HidingSearch {
    Finder f;
    const bool *keep;
    const Answer *start;
    Answer answer;
    atomic_bool is_done;
} HidingSearch;

static void *hide_in_thread(void *hiding_search)
{
    HidingSearch *h = hiding_search;

    h->f.arena = h->f.own = h->f.thread_arena;
    h->answer = find_hiding(&h->f, h->keep, h->start);
    atomic_store(&h->is_done, true);
    return NULL;
}

static void begin_choices(Finder *f, const Answer *x)
{
    f->choice[0] = (PlanChoice){.choice = x->choice, .preset = -1, .peak = x->peak, .at = x->at};
}

// Should both searches run concurrently? They then begin with a known plan, or with prices of a
// similar problem.
static bool begins_both(const Finder *f, const bool *keep, const Answer *start)
{
    if (f->n > MAX_THREADED_ALTERNATIVES)
        return false;
    if (start->choice)
        return is_worth_hiding(f, least_compute(f, keep), start->cost);
    return f->hides && !f->o->stops_early && f->o->solve.is_warm_start;
}

// Finds the cheapest plan and, if begins_both, the plan that overlaps best (*hiding), both starting
// from the best preset's plan. The second search mostly takes longer: meanwhile this thread tries
// programs. For a large problem bound_step searches second, since it then can begin with the first
// plan.
static Answer find_both(Finder *f, const bool *keep, const Answer *start, Answer *hiding)
{
    pthread_t other;
    HidingSearch h = {.f = *f, .keep = keep, .start = start};

    if (!begins_both(f, keep, start))
        return find_cheapest(f, keep, start);
    bool is_threaded = f->o->solve.threads > 1 && !pthread_create(&other, NULL, hide_in_thread, &h);
    Answer cheapest = find_cheapest(f, keep, start);
    begin_choices(f, &cheapest);
    if (is_threaded && is_found(cheapest.outcome))
        plan_try(&f->q, f->g, f->m, f->o->trials, f->choice, f->n_choices, &h.is_done);
    if (is_threaded)
        pthread_join(other, NULL);
    else
        hide_in_thread(&h);
    *hiding = h.answer;
    return cheapest;
}

// Bounds the step. If a plan's nodes cost c and its communication costs m, its step takes at least
// x · c + (1 - x) · m for any x from 1/2 to 1, however the two overlap. So a lower bound of such a
// sum is a lower bound of the step.
static void bound_step(Finder *f, const bool *keep, const Answer *hiding)
{
    Planned *to = f->to;
    Wide compute = least_compute(f, keep), half = to->answer.bound / 2;

    to->step_bound = to->answer.outcome == OUTCOME_INFEASIBLE || compute > half ? compute : half;
    if (!is_worth_hiding(f, compute, to->answer.cost))
        return;
    Answer x = hiding->choice ? *hiding : find_hiding(f, keep, &to->answer);
    add_choice(f, &x, -1);
    if (is_found(x.outcome) && x.bound / (OVERLAP_COMPUTE_WEIGHT + 1) > to->step_bound)
        to->step_bound = x.bound / (OVERLAP_COMPUTE_WEIGHT + 1);
}

// Chooses the plan among the choices that were found.
static void choose(Finder *f)
{
    Planned *to = f->to;
    int best =
        plan_choose(&f->q, f->g, f->m, f->o->trials, f->o->solve.threads, f->choice, f->n_choices);

    for (int i = 0; i < f->n_choices; i++)
        if (f->choice[i].preset >= 0)
            to->preset[f->choice[i].preset].step = f->choice[i].step;
    to->answer.choice = arena_array(f->arena, int, f->q.problem.n_nodes);
    memcpy(to->answer.choice, f->choice[best].choice,
           (size_t)f->q.problem.n_nodes * sizeof *to->answer.choice);
    to->answer.peak = f->choice[best].peak;
    to->answer.at = f->choice[best].at;
    to->step = f->choice[best].step;
}

static void find_answer(Finder *f, const bool *keep, const Answer *start)
{
    Answer *x = &f->to->answer, hiding = {0};

    *x = find_both(f, keep, start, &hiding);
    bound_step(f, keep, &hiding);
    if (!f->choice[0].is_tried)
        begin_choices(f, x);
    if (f->hides && is_found(x->outcome) && !f->o->n_others)
        choose(f);
}

static bool find_plan(Finder *f)
{
    bool *keep = arena_array(f->own, bool, f->n);
    Answer start = {0};
    int idle;

    if (!pins_apply(&f->q, f->g, f->m, f->o, f->keep, f->d))
        return false;
    if (f->o->preset && !keep_preset(f, f->o->preset, keep, &idle))
        return no_preset(f, idle);
    if (!f->o->preset && !f->o->skips_presets && !f->o->stops_early)
        start = try_presets(f);
    start.prices = (Dual){0};  // a preset's prices are too high: it has fewer alternatives
    find_answer(f, f->o->preset ? keep : f->keep, &start);
    return true;
}

static bool has_slow_axis(const Mesh *m)
{
    for (int a = 0; a < m->n_axes; a++)
        if (axis_is_slow(m, a))
            return true;
    return false;
}

bool plan_find_below(Arena *a, const Graph *g, const Cluster *c, const Mesh *m,
                     const PlanOptions *o, const LiveRanges *live_ranges, Wide enough, Planned *to,
                     Diag *d)
{
    Arena *own = arena_new();
    Finder f = {.g = g,
                .m = m,
                .o = o,
                .enough = enough,
                .hides = o->trials && has_slow_axis(m),
                .n_choices = 1,  // choice[0] is for the cheapest
                .to = to,
                .arena = a,
                .own = own,
                .thread_arena = arena_new(),
                .d = d};

    *to = (Planned){.plan.mesh = *m, .n_searched = 1};
    if (!plan_build(own, &f.q, g, c, m, o, live_ranges, d)) {
        arena_free(f.thread_arena);
        arena_free(own);
        return false;
    }
    f.n = f.q.problem.first[f.q.problem.n_nodes];
    f.keep = arena_array(own, bool, f.n);
    f.role = preset_roles(own, &f.q, g);
    memset(f.keep, true, (size_t)f.n * sizeof *f.keep);
    bool ok = find_plan(&f);
    if (ok && to->answer.choice) {
        plan_of_choice(a, &f.q, g, to->answer.choice, &to->plan);
        plan_report(a, &f.q, g, to);
        if (o->lists_moves)
            plan_moves(a, &f.q, g, o, to, d);
        to->step = to->step ? to->step : to->compute + to->communication;
    }
    arena_free(f.thread_arena);
    arena_free(own);
    return ok;
}
