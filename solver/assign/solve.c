// solve(): presolves, finds a bound and cheap choices, presolves what these leave undecided as a
// smaller problem, and so on until it gets no smaller. Then branches. A problem that is too large
// to branch gets more work of the same kind.
#include <math.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "solver/assign/relax.h"
#include "solver/assign/solve_state.h"

// The pairs beyond which no engine is asked to branch in the first round.
enum { MAX_BRANCH_PAIRS = 40000 };

// For solves without a certificate: pairs beyond which a bound with prices of bytes uses a core,
// alternatives per node that a round adds to the core, the most work of one method, and the factor
// of that for branching where a core is used.
enum {
    MIN_CORE_PAIRS = 2000000,
    CORE_MEMBERS = 16,
    MAX_UNCERTIFIED_WORK = 2000000000,
    CORE_BRANCH_FACTOR = 6
};

// The work of a round's inexact methods, per alternative and pair. AFTER_BOUND_EFFORT is for a
// search after a bound. PROBE_EFFORT is for the search before a dive, which finds a choice if the
// bound is good.
enum {
    PROBE_EFFORT = 2,
    AFTER_BOUND_EFFORT = 20,
    EARLY_STOP_EFFORT = 120,
    UNCERTIFIED_EFFORT = 300,
    FIRST_EFFORT = 1000
};
// The work of the last round, per alternative and pair, and for solves without a certificate: that
// of a problem of any size, and that of a small one. Of 12 small plans that are hard to prove,
// rounds of four times the work made one 0.3 % cheaper, and took five times as long.
enum {
    LAST_EFFORT = 1000000,
    LAST_UNCERTIFIED_EFFORT = 16 * UNCERTIFIED_EFFORT,
    LAST_UNCERTIFIED_WORK = 50000000
};
enum { LOWEST_PEAK_EFFORT = 1000, ROUGH_PEAK_EFFORT = 5 };

// The part of the time limit after which only the certificate is worked on.
#define SEARCH_TIME_SHARE 0.95
// A large problem's choice whose gap is more than this times the wanted gap isn't refined in small
// steps.
enum { MAX_GAPS_TO_REFINE = 2 };
// A search ends at a choice that is within this part of the gap of the bound.
#define SEARCH_GAP_SHARE 1e-3

static bool is_large(const SolveState *c)
{
    return c->o->skips_certificate && !c->o->stops_early && c->n_levels &&
           problem_has_bytes(reduced_problem(c)) &&
           problem_pairs(reduced_problem(c)) > MIN_CORE_PAIRS;
}

// Is there a cost that a choice must be cheaper than to matter? Writes it.
static bool has_cutoff(const SolveState *c, Wide *cost)
{
    const Answer *a = c->answer;
    Wide enough = c->o->enough;

    *cost = a->choice && (!enough || a->cost < enough) ? a->cost : enough;
    return a->choice || enough;
}

// Is there nothing left to do, or nothing that can be done?
static bool is_over(const SolveState *c)
{
    Wide cost;

    return c->is_exhausted || c->is_empty || deadline_check(&c->deadline) != STOP_DONE ||
           budget_is_passed(c->o->budget, BUDGET_solving) ||
           (has_cutoff(c, &cost) && c->has_bound &&
            answer_gap(cost, c->answer->bound) <= c->o->gap);
}

// Is the choice of a large problem too far from the bound for refining in small steps?
static bool is_gap_wide(const SolveState *c)
{
    const Answer *a = c->answer;

    return is_large(c) && c->has_bound && a->choice &&
           answer_gap(a->cost, a->bound) > MAX_GAPS_TO_REFINE * c->o->gap;
}

// Adds a level: presolves the last level's problem. For a large problem the cutoff is lower by
// almost the gap, which drops choices that are cheaper than the known one by less than that.
static void level_add(SolveState *c)
{
    const Problem *p = c->n_levels ? reduced_problem(c) : c->p;
    Presolved *r = &c->level[c->n_levels];
    Wide cutoff;
    bool can_fix = has_cutoff(c, &cutoff) && c->has_dual;

    double began = phase_begin(c);
    if (can_fix && c->answer->choice && is_large(c))
        c->unsearched_bound = cutoff -= (Wide)(0.999 * c->o->gap * fabs((double)cutoff));
    bool is_left = presolve(c->arena, p, can_fix ? &c->dual : NULL, cutoff - c->offset, r);
    phase_end(c, PHASE_PRESOLVE, began);
    c->is_exhausted = !is_left;
    if (!is_left)
        return;
    c->n_levels++;
    c->offset += r->offset;
    c->at[c->n_levels] = arena_array(c->arena, int, r->problem.n_nodes);
    // The messages fit only the previous level; its prices are still a good guess.
    c->has_dual = false;
    c->dual.message = NULL;
}

static int64_t work_of(const SolveState *c, int64_t effort)
{
    int64_t work = effort * problem_size(reduced_problem(c));

    return c->o->skips_certificate && work > MAX_UNCERTIFIED_WORK ? MAX_UNCERTIFIED_WORK : work;
}

// The work that a method may do, which counts as done.
static int64_t grant(SolveState *c, int64_t effort)
{
    int64_t work = work_of(c, effort);

    budget_add(c->o->budget, BUDGET_solving, work);
    return work;
}

static void bound_by_ascent(SolveState *c, int64_t effort)
{
    const Problem *p = reduced_problem(c);
    const Answer *answer = c->answer;
    CoreOptions core_options = {answer->choice ? answer->cost - c->offset : WIDE_MAX, c->o->gap,
                                CORE_MEMBERS, c->o};
    double began = phase_begin(c);
    Wide bound = is_large(c) ? core_ascent(c->arena, p, &c->dual, core_options, &c->deadline,
                                           (Listener){solve_found_choice, c})
                             : ascent(c->arena, p, c->o->skips_certificate, &c->dual,
                                      grant(c, effort), &c->deadline);
    phase_end(c, PHASE_ASCENT, began);
    c->has_dual = true;
    keep_prices(c);
    bound_raise(c, bound);
}

static void choices_search(SolveState *c, int64_t effort)
{
    const Problem *p = reduced_problem(c);
    Arena *own = arena_new();  // c->arena is the other thread's
    int *choice = arena_array(own, int, p->n_nodes);
    Wide bound = c->answer->bound, cost;
    Wide enough = bound - c->offset + (Wide)(SEARCH_GAP_SHARE * c->o->gap * fabs((double)bound));
    Listener l = {solve_found_choice, c, c->has_bound ? &enough : NULL};

    double began = phase_begin(c);
    if (search(p, c->has_dual ? &c->dual : NULL, false, choice, &cost, c->o->seed, grant(c, effort),
               &c->deadline, l))
        solve_found_choice(c, choice, cost);
    phase_end(c, PHASE_SEARCH, began);
    arena_free(own);
}

static void *search_in_thread(void *solve_state)
{
    SolveState *c = solve_state;

    choices_search(c, c->effort);
    return NULL;
}

// One thread searches for choices, the other bounds. The result is the same with one thread:
// neither reads what the other writes.
static void choices_and_bound(SolveState *c)
{
    pthread_t searcher;
    bool is_threaded = c->o->threads > 1 && !pthread_create(&searcher, NULL, search_in_thread, c);
    Dual dual = c->dual;

    if (!is_threaded)
        choices_search(c, c->effort);
    double began = phase_begin(c);
    ascent(c->bound_arena, reduced_problem(c), c->o->skips_certificate, &dual, grant(c, c->effort),
           &c->deadline);
    phase_end(c, PHASE_ASCENT, began);
    if (is_threaded)
        pthread_join(searcher, NULL);
    take_dual_bound(c, &dual);
    if (!is_over(c))
        choices_search(c, AFTER_BOUND_EFFORT);
}

// Dives for a choice, unless a short search is enough. True: the dive found a cheaper one.
static bool choices_dive(SolveState *c)
{
    const Answer *a = c->answer;

    choices_search(c, PROBE_EFFORT);
    if (is_over(c))
        return false;
    Wide before = a->choice ? a->cost : WIDE_MAX;
    dive(reduced_problem(c), &c->dual, a->bound, c->o, &c->deadline,
         (Listener){solve_found_choice, c});
    return a->choice && a->cost < before;
}

static void bound_and_choices(SolveState *c, int64_t effort)
{
    bool is_without_bytes = c->o->skips_certificate && !problem_has_bytes(reduced_problem(c));

    bound_by_ascent(c, is_without_bytes && c->o->stops_early ? effort / 2 : effort);
    if (!is_over(c) && is_without_bytes && choices_dive(c) && c->o->stops_early)
        return;
    if (!is_over(c))
        choices_search(c, AFTER_BOUND_EFFORT);
    if (!is_over(c) && c->o->skips_certificate && !is_without_bytes && !is_gap_wide(c))
        dive(reduced_problem(c), &c->dual, c->answer->bound, c->o, &c->deadline,
             (Listener){solve_found_choice, c});
}

static void say_level(const SolveState *c)
{
    const Problem *p = reduced_problem(c);

    if (c->o->is_verbose)
        fprintf(stderr,
                "%7.2f s  level %d: %d nodes, %d alternatives, %d edges, %" PRId64 " pairs\n",
                deadline_seconds(&c->deadline), c->n_levels, p->n_nodes, p->first[p->n_nodes],
                p->n_edges, problem_pairs(p));
}

// Finds bounds and choices and adds levels, until the undecided problem gets no smaller.
static void levels_refine(SolveState *c)
{
    int64_t before = INT64_MAX;

    while (!is_over(c) && c->n_levels < MAX_PRESOLVE_LEVELS) {
        int64_t size = problem_size(reduced_problem(c));
        if (size > (is_large(c) ? before / 4 : before - before / 20))
            return;
        before = size;
        say_level(c);
        if (c->o->skips_certificate && !c->o->stops_early && !is_large(c))
            bound_and_choices(c, c->effort / 4);  // this may be enough
        if (!is_over(c))
            bound_and_choices(c, c->effort);
        if (!is_over(c) && !c->o->stops_early && !is_gap_wide(c))
            choices_and_bound(c);
        if (!is_over(c) && c->has_engine && problem_pairs(reduced_problem(c)) <= MAX_RELAX_PAIRS)
            bound_by_relaxing(c);
        if ((c->o->stops_early && c->answer->choice) || is_gap_wide(c))
            return;
        if (!is_over(c))
            level_add(c);
    }
}

static void branch(SolveState *c)
{
    Answer *a = c->answer;
    Wide bound = a->bound - c->offset, cutoff = a->choice ? a->cost - c->offset : NO_CUTOFF;
    double all = fmax(1, fabs((double)a->cost)), part = fmax(1, fabs((double)cutoff));
    int64_t work = (is_large(c) ? CORE_BRANCH_FACTOR : 1) * grant(c, c->effort);

    double began = phase_begin(c);
    bool is_done = branch_by_ascent(reduced_problem(c), &c->dual, cutoff,
                                    a->choice ? c->o->gap * all / part : 0, &bound, c->o->seed,
                                    work, &c->deadline, (Listener){solve_found_choice, c});
    c->is_empty = is_done && !a->choice;
    a->is_branched |= bound + c->offset > a->bound;
    if (a->choice)
        bound_raise(c, bound);
    phase_end(c, PHASE_BRANCH, began);
}

// Is it time to ask an engine to branch? The larger the problem, the more rounds of other methods
// come first.
static bool is_for_engine(const SolveState *c)
{
    int64_t most = MAX_BRANCH_PAIRS * (c->effort / FIRST_EFFORT);

    return problem_pairs(reduced_problem(c)) <= (most < MAX_RELAX_PAIRS ? most : MAX_RELAX_PAIRS);
}

// Was the last round's work the most that a problem gets?
static bool is_worked_out(const SolveState *c)
{
    int64_t work = work_of(c, c->effort), next = 4 * c->effort;

    return next > LAST_EFFORT || is_large(c) ||
           (c->o->skips_certificate &&
            (work == MAX_UNCERTIFIED_WORK ||
             (next > LAST_UNCERTIFIED_EFFORT && 4 * work > LAST_UNCERTIFIED_WORK)));
}

static void refine_until_done(SolveState *c)
{
    while (!is_over(c)) {
        levels_refine(c);
        if (!is_over(c) && !is_gap_wide(c) && !(c->o->stops_early && c->answer->choice))
            branch(c);
        if (!is_over(c) && (c->o->stops_early || c->o->is_single_pass)) {
            c->answer->stop = STOP_WORK;
            return;
        }
        if (!is_over(c) && c->has_engine && is_for_engine(c))
            branch_by_engine(c);
        if (!is_over(c) && is_worked_out(c)) {
            c->answer->stop = STOP_WORK;
            return;
        }
        c->effort *= 4;
    }
}

// Makes the certificate, whose bound may be better than the search's own.
static void prove(SolveState *c)
{
    Answer *a = c->answer;
    Deadline all = {c->deadline.start, c->o->time_limit};

    double began = phase_begin(c);
    certify(c->arena, c->p, c->o, a->cost, &c->prices, c->has_engine, &all, &a->proof);
    phase_end(c, PHASE_CERTIFY, began);
    if (!c->has_bound || a->proof.bound > a->bound)
        a->bound = a->proof.bound;
}

static void find_lowest_peak(SolveState *c)
{
    Answer *a = c->answer;
    int *choice = arena_array(c->arena, int, c->p->n_nodes);
    int64_t effort = c->o->is_peak_rough ? ROUGH_PEAK_EFFORT : LOWEST_PEAK_EFFORT;
    LowestPeak least =
        lowest_peak(c->p, choice, c->o->seed, effort * problem_size(c->p), &c->deadline);

    // No choice keeps to the limit, whatever bound of peaks was found.
    a->least_bound = least.bound > c->p->limit ? least.bound : c->p->limit + 1;
    if (least.is_found) {
        a->choice = choice;
        a->least = a->peak = least.peak;
        a->at = least.at;
    }
}

static Outcome conclude(SolveState *c)
{
    Answer *a = c->answer;
    Wide cutoff;

    if (c->is_exhausted && has_cutoff(c, &cutoff))
        bound_raise(c, cutoff - c->offset);
    if (!a->choice && !c->o->enough && (c->is_exhausted || c->is_empty)) {
        find_lowest_peak(c);
        return OUTCOME_INFEASIBLE;
    }
    if (!a->choice)
        return OUTCOME_NOTHING;
    if (!c->o->skips_certificate)
        prove(c);
    return answer_gap(a->cost, a->bound) <= c->o->gap ? OUTCOME_PROVED : OUTCOME_FOUND;
}

// Takes a known choice, if it is within the limit. Only cheaper ones count from now on.
static void take_start(SolveState *c, const int *start)
{
    ChoicePrice price = problem_price(c->p, start);

    if (price.is_forbidden || price.peak > c->p->limit)
        return;
    c->answer->choice = c->known_choice;
    memcpy(c->known_choice, start, (size_t)c->p->n_nodes * sizeof *start);
    c->answer->cost = price.cost;
    c->answer->peak = price.peak;
    c->answer->at = price.at;
}

void solve(Arena *a, const Problem *p, const SolveOptions *o, Answer *answer, Diag *d)
{
    SolveState *c = arena_array(a, SolveState, 1);

    *answer = (Answer){0};
    *c = (SolveState){.p = p,
                      .o = o,
                      .answer = answer,
                      .arena = a,
                      .bound_arena = arena_new(),
                      .d = d,
                      .effort = o->stops_early         ? EARLY_STOP_EFFORT
                                : o->skips_certificate ? UNCERTIFIED_EFFORT
                                                       : FIRST_EFFORT,
                      .unsearched_bound = WIDE_MAX,
                      .deadline = deadline_start(SEARCH_TIME_SHARE * o->time_limit),
                      .dual = o->prices,
                      .has_engine = !o->skips_certificate};
    c->at[0] = arena_array(a, int, p->n_nodes);
    c->known_choice = arena_array(a, int, p->n_nodes);
    if (o->start)
        take_start(c, o->start);
    level_add(c);
    if (c->n_levels)
        budget_allow(c->o->budget, BUDGET_solving, problem_size(reduced_problem(c)));
    answer->n_left = c->n_levels ? c->level[0].n_left : 0;
    refine_until_done(c);
    if (!c->is_exhausted && !c->is_empty && deadline_check(&c->deadline) != STOP_DONE)
        answer->stop = deadline_check(&c->deadline);
    engine_end(c->engine);
    answer->outcome = conclude(c);
    answer->prices = dual_prices(a, &c->prices);
    arena_free(c->bound_arena);
}
