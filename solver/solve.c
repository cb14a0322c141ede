// The whole chain: presolve, a bound, cheap choices, what these two leave undecided as a smaller
// problem, and so on until nothing more goes; then branching, or more of the same where the rest is
// too large for that.
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "solver/chain.h"
#include "solver/relax.h"

// The size beyond which an engine isn't asked to branch in the first turn.
enum { BRANCH_PAIRS = 40000 };

// Where nothing needs to be certified: the pairs beyond which a bound with prices of bytes begins
// with a core, how many alternatives of a node it gets at a time, the most work of one kind, how
// much more of it branching gets then.
enum { CORE_PAIRS = 2000000, CORE_MEMBERS = 16, QUICK_WORK = 2000000000, CORE_BRANCHING = 6 };

// The work of one turn of what isn't exact, by alternative and pair; FOLLOW_TURN: behind a bound;
// GLIMPSE_TURN: so much of that as finds a choice where the bound is good, before a dive.
enum { GLIMPSE_TURN = 2, FOLLOW_TURN = 20, BRIEF_TURN = 120, QUICK_TURN = 300, FIRST_TURN = 1000 };
enum { LAST_TURN = 1000000, LEAST_TURN = 1000, ASIDE_TURN = 5 };

// The part of the time limit after which only the certified bound is worked on.
#define SEARCH_SHARE 0.95
// The pairs of a problem with bytes for which no engine is asked where nothing needs to be
// certified: it would take far longer than all before.
enum { TIGHT_PAIRS = 100000 };
// So many times the gap is too far from the bound of a large problem.
enum { FAR = 2 };
// The part of the gap within which a choice is as good as the bound: its search ends.
#define NEAR 1e-3

static bool is_large(const Chain *c)
{
    return c->o->is_quick && !c->o->is_brief && c->n_levels && problem_has_bytes(rest(c)) &&
           problem_pairs(rest(c)) > CORE_PAIRS;
}

double phase_begin(const Chain *c) { return watch_seconds(&c->watch); }

void phase_end(Chain *c, SolvePhase phase, double began)
{
    c->answer->seconds[phase] += watch_seconds(&c->watch) - began;
}

// Is there a cost that is of interest only if a choice falls below it?
static bool has_cutoff(const Chain *c, Wide *cost)
{
    const Answer *a = c->answer;
    Wide enough = c->o->enough;

    *cost = a->choice && (!enough || a->cost < enough) ? a->cost : enough;
    return a->choice || enough;
}

// Is there nothing left to do, or no way to do it?
static bool is_over(const Chain *c)
{
    Wide cost;

    return c->is_exhausted || c->is_empty || watch_stop(&c->watch) != STOP_DONE ||
           (has_cutoff(c, &cost) && c->has_bound &&
            answer_gap(cost, c->answer->bound) <= c->o->gap);
}

// Is the choice of a large problem too far from the bound for what is done in small steps?
static bool is_far(const Chain *c)
{
    const Answer *a = c->answer;

    return is_large(c) && c->has_bound && a->choice &&
           answer_gap(a->cost, a->bound) > FAR * c->o->gap;
}

static void report(const Chain *c)
{
    const Answer *a = c->answer;
    char cost[WIDE_DIGITS], bound[WIDE_DIGITS];
    FILE *to = c->o->progress;

    if (!to)
        return;
    fprintf(to, "%7.2f s  cost %s  bound %s", watch_seconds(&c->watch),
            a->choice ? wide_text(a->cost, cost) : "-",
            c->has_bound ? wide_text(a->bound, bound) : "-");
    if (a->choice && c->has_bound)
        fprintf(to, "  gap %.4f%%", 100 * answer_gap(a->cost, a->bound));
    fprintf(to, "\n");
    fflush(to);
}

void chain_found(void *to, const int *choice, Wide cost)
{
    Chain *c = to;
    Answer *a = c->answer;

    if (a->choice && cost + c->offset >= a->cost)
        return;
    memcpy(c->at[c->n_levels], choice, (size_t)rest(c)->n_nodes * sizeof *choice);
    for (int i = c->n_levels - 1; i >= 0; i--)
        presolve_undo(&c->level[i], c->at[i + 1], c->at[i]);
    Price price = problem_price(c->p, c->at[0]);
    if (price.is_forbidden || price.peak > c->p->limit || (a->choice && price.cost >= a->cost))
        return;
    if (!a->choice)
        a->choice = c->known;
    memcpy(a->choice, c->at[0], (size_t)c->p->n_nodes * sizeof *a->choice);
    a->cost = price.cost;
    a->peak = price.peak;
    a->at = price.at;
    report(c);
}

void bound_raise(Chain *c, Wide bound)
{
    Answer *a = c->answer;

    bound += c->offset;
    if (a->choice && bound > a->cost)
        bound = a->cost;
    bound = bound < c->floor ? bound : c->floor;
    if (c->has_bound && bound <= a->bound)
        return;
    a->bound = bound;
    c->has_bound = true;
    report(c);
}

// Presolves the last level's problem as one more. Of a large one goes, too, what is cheaper than
// the choice that is known by less than the gap.
static void level_add(Chain *c)
{
    const Problem *p = c->n_levels ? rest(c) : c->p;
    Presolved *r = &c->level[c->n_levels];
    Wide cutoff;
    bool can_fix = has_cutoff(c, &cutoff) && c->has_dual;

    double began = phase_begin(c);
    if (can_fix && c->answer->choice && is_large(c))
        c->floor = cutoff -= (Wide)(0.999 * c->o->gap * fabs((double)cutoff));
    bool is_left = presolve(p, can_fix ? &c->dual : NULL, cutoff - c->offset, r, c->arena);
    phase_end(c, PHASE_PRESOLVE, began);
    c->is_exhausted = !is_left;
    if (!is_left)
        return;
    c->n_levels++;
    c->offset += r->offset;
    c->at[c->n_levels] = arena_array(c->arena, int, r->problem.n_nodes);
    // Messages are those of the problem before; prices are a good guess still.
    c->has_dual = false;
    c->dual.message = NULL;
}

static int64_t work_of(const Chain *c, int64_t turn)
{
    int64_t work = turn * problem_size(rest(c));

    return c->o->is_quick && work > QUICK_WORK ? QUICK_WORK : work;
}

// Times are the original's only at the first level.
static void keep_prices(Chain *c)
{
    if (c->n_levels == 1 && c->dual.n_times)
        c->prices = c->dual;
}

void take_bound(Chain *c, const Dual *dual)
{
    c->dual = *dual;
    c->has_dual = true;
    keep_prices(c);
    bound_raise(c, dual_bound(rest(c), dual));
}

static void bound_by_ascent(Chain *c, int64_t turn)
{
    const Problem *p = rest(c);
    const Answer *answer = c->answer;
    Aim aim = {answer->choice ? answer->cost - c->offset : WIDE_MOST, c->o->gap, CORE_MEMBERS,
               c->o};
    double began = phase_begin(c);
    Wide bound =
        is_large(c) ? core_ascent(p, &c->dual, aim, &c->watch, (Listener){chain_found, c}, c->arena)
                    : ascent(p, c->o->is_quick, &c->dual, work_of(c, turn), &c->watch, c->arena);
    phase_end(c, PHASE_ASCENT, began);
    c->has_dual = true;
    keep_prices(c);
    bound_raise(c, bound);
}

static void choices_search(Chain *c, int64_t turn)
{
    const Problem *p = rest(c);
    int *choice = malloc((size_t)p->n_nodes * sizeof *choice + 1);
    Wide bound = c->answer->bound, cost;
    Wide enough = bound - c->offset + (Wide)(NEAR * c->o->gap * fabs((double)bound));
    Listener l = {chain_found, c, c->has_bound ? &enough : NULL};

    double began = phase_begin(c);
    if (choice && search(p, c->has_dual ? &c->dual : NULL, false, choice, &cost, c->o->seed,
                         work_of(c, turn), &c->watch, l))
        chain_found(c, choice, cost);
    phase_end(c, PHASE_SEARCH, began);
    free(choice);
}

static void *search_apart(void *chain)
{
    Chain *c = chain;

    choices_search(c, c->turn);
    return NULL;
}

// One thread searches for choices, the other bounds. What comes of it doesn't depend on whether
// there are two: neither reads what the other writes.
static void choices_and_bound(Chain *c)
{
    pthread_t searcher;
    bool is_apart = c->o->threads > 1 && !pthread_create(&searcher, NULL, search_apart, c);
    Dual dual = c->dual;

    if (!is_apart)
        choices_search(c, c->turn);
    double began = phase_begin(c);
    ascent(rest(c), c->o->is_quick, &dual, work_of(c, c->turn), &c->watch, c->bounds);
    phase_end(c, PHASE_ASCENT, began);
    if (is_apart)
        pthread_join(searcher, NULL);
    take_bound(c, &dual);
    if (!is_over(c))
        choices_search(c, FOLLOW_TURN);
}

// A dive, unless little work is enough. True: it has led to a cheaper choice.
static bool choices_dive(Chain *c)
{
    const Answer *a = c->answer;

    choices_search(c, GLIMPSE_TURN);
    if (is_over(c))
        return false;
    Wide before = a->choice ? a->cost : WIDE_MOST;
    dive(rest(c), &c->dual, a->bound, c->o, &c->watch, (Listener){chain_found, c});
    return a->choice && a->cost < before;
}

static void bound_and_choices(Chain *c, int64_t turn)
{
    bool is_light = c->o->is_quick && !problem_has_bytes(rest(c));

    bound_by_ascent(c, is_light && c->o->is_brief ? turn / 2 : turn);
    if (!is_over(c) && is_light && choices_dive(c) && c->o->is_brief)
        return;
    if (!is_over(c))
        choices_search(c, FOLLOW_TURN);
    if (!is_over(c) && c->o->is_quick && !is_light && !is_far(c))
        dive(rest(c), &c->dual, c->answer->bound, c->o, &c->watch, (Listener){chain_found, c});
}

static bool is_tight(const Chain *c)
{
    return c->o->is_quick && c->n_levels && problem_has_bytes(rest(c)) &&
           problem_pairs(rest(c)) > TIGHT_PAIRS;
}

static void say_level(const Chain *c)
{
    const Problem *p = rest(c);

    if (c->o->is_verbose)
        fprintf(stderr,
                "%7.2f s  level %d: %d nodes, %d alternatives, %d edges, %" PRId64 " pairs\n",
                watch_seconds(&c->watch), c->n_levels, p->n_nodes, p->first[p->n_nodes], p->n_edges,
                problem_pairs(p));
}

// Bounds and choices, until what they leave undecided gets no smaller.
static void levels_settle(Chain *c)
{
    int64_t before = INT64_MAX;

    while (!is_over(c) && c->n_levels < MOST_LEVELS) {
        int64_t size = problem_size(rest(c));
        if (size > (is_large(c) ? before / 4 : before - before / 20))
            return;
        before = size;
        say_level(c);
        if (c->o->is_quick && !c->o->is_brief && !is_large(c))
            bound_and_choices(c, c->turn / 4);  // may do
        if (!is_over(c))
            bound_and_choices(c, c->turn);
        if (!is_over(c) && !c->o->is_brief && !is_far(c))
            choices_and_bound(c);
        if (!is_over(c) && c->has_engine && problem_pairs(rest(c)) <= RELAX_PAIRS)
            bound_by_relaxing(c);
        if ((c->o->is_brief && c->answer->choice) || is_far(c))
            return;
        if (!is_over(c))
            level_add(c);
    }
}

static void branch(Chain *c)
{
    Answer *a = c->answer;
    Wide bound = a->bound - c->offset, cutoff = a->choice ? a->cost - c->offset : NO_CUTOFF;
    double all = fmax(1, fabs((double)a->cost)), part = fmax(1, fabs((double)cutoff));
    int64_t work = (is_large(c) ? CORE_BRANCHING : 1) * work_of(c, c->turn);

    double began = phase_begin(c);
    bool is_done =
        branch_by_ascent(rest(c), &c->dual, cutoff, a->choice ? c->o->gap * all / part : 0, &bound,
                         c->o->seed, work, &c->watch, (Listener){chain_found, c});
    c->is_empty = is_done && !a->choice;
    a->is_branched |= bound + c->offset > a->bound;
    if (a->choice)
        bound_raise(c, bound);
    phase_end(c, PHASE_BRANCH, began);
}

// The larger the problem, the longer all else is tried first.
static bool is_for_engine(const Chain *c)
{
    int64_t most = BRANCH_PAIRS * (c->turn / FIRST_TURN);

    return problem_pairs(rest(c)) <= (most < RELAX_PAIRS ? most : RELAX_PAIRS);
}

static void work_on(Chain *c)
{
    while (!is_over(c)) {
        levels_settle(c);
        if (!is_over(c) && !is_far(c) && !(c->o->is_brief && c->answer->choice))
            branch(c);
        if (!is_over(c) && (c->o->is_brief || c->o->is_short)) {
            c->answer->stop = STOP_WORK;
            return;
        }
        if (!is_over(c) && c->has_engine && is_for_engine(c))
            branch_by_engine(c);
        bool is_enough = is_large(c) || (c->o->is_quick && work_of(c, c->turn) == QUICK_WORK);
        c->turn *= 4;
        if (!is_over(c) && (is_enough || c->turn > LAST_TURN)) {
            c->answer->stop = STOP_WORK;
            return;
        }
    }
}

// The bound of what anyone can check, which may be better than the search's own.
static void prove(Chain *c)
{
    Answer *a = c->answer;
    Watch all = {c->watch.start, c->o->time_limit};

    double began = phase_begin(c);
    certify(c->p, c->o, a->cost, &c->prices, c->has_engine, &all, &a->proof, c->arena);
    phase_end(c, PHASE_CERTIFY, began);
    if (!c->has_bound || a->proof.bound > a->bound)
        a->bound = a->proof.bound;
}

static void find_least(Chain *c)
{
    Answer *a = c->answer;
    int *choice = arena_array(c->arena, int, c->p->n_nodes);
    int64_t turn = c->o->is_aside ? ASIDE_TURN : LEAST_TURN;
    Least least = least_peak(c->p, choice, c->o->seed, turn * problem_size(c->p), &c->watch);

    // Nothing keeps to the limit, whatever was found of peaks.
    a->least_bound = least.bound > c->p->limit ? least.bound : c->p->limit + 1;
    if (least.is_found) {
        a->choice = choice;
        a->least = a->peak = least.peak;
        a->at = least.at;
    }
}

static Outcome conclude(Chain *c)
{
    Answer *a = c->answer;
    Wide cutoff;

    if (c->is_exhausted && has_cutoff(c, &cutoff))
        bound_raise(c, cutoff - c->offset);
    if (!a->choice && !c->o->enough && (c->is_exhausted || c->is_empty)) {
        find_least(c);
        return OUTCOME_INFEASIBLE;
    }
    if (!a->choice)
        return OUTCOME_NOTHING;
    if (!c->o->is_quick)
        prove(c);
    return answer_gap(a->cost, a->bound) <= c->o->gap ? OUTCOME_PROVED : OUTCOME_FOUND;
}

// A choice that is known: only cheaper ones count.
static void begin_with(Chain *c, const int *start)
{
    Price price = problem_price(c->p, start);

    if (price.is_forbidden || price.peak > c->p->limit)
        return;
    c->answer->choice = c->known;
    memcpy(c->known, start, (size_t)c->p->n_nodes * sizeof *start);
    c->answer->cost = price.cost;
    c->answer->peak = price.peak;
    c->answer->at = price.at;
}

void solve(const Problem *p, const SolveOptions *o, Answer *answer, Arena *a, Diag *d)
{
    Chain *c = arena_array(a, Chain, 1);

    *answer = (Answer){0};
    *c = (Chain){.p = p,
                 .o = o,
                 .answer = answer,
                 .arena = a,
                 .bounds = arena_new(),
                 .d = d,
                 .turn = o->is_brief   ? BRIEF_TURN
                         : o->is_quick ? QUICK_TURN
                                       : FIRST_TURN,
                 .floor = WIDE_MOST,
                 .watch = watch_start(SEARCH_SHARE * o->time_limit),
                 .dual = o->prices,
                 .has_engine = !o->is_brief && !o->is_short};
    c->at[0] = arena_array(a, int, p->n_nodes);
    c->known = arena_array(a, int, p->n_nodes);
    if (o->start)
        begin_with(c, o->start);
    level_add(c);
    c->has_engine &= !is_tight(c);
    answer->n_left = c->n_levels ? c->level[0].n_left : 0;
    work_on(c);
    if (!c->is_exhausted && !c->is_empty && watch_stop(&c->watch) != STOP_DONE)
        answer->stop = watch_stop(&c->watch);
    answer->outcome = conclude(c);
    answer->prices = dual_prices(&c->prices, a);
    arena_free(c->bounds);
}
