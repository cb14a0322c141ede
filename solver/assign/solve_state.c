// The state of solve(): what its steps have found.
#include <stdio.h>
#include <string.h>

#include "solver/assign/solve_state.h"

double phase_begin(const SolveState *c) { return deadline_seconds(&c->deadline); }

void phase_end(SolveState *c, SolvePhase phase, double began)
{
    c->answer->seconds[phase] += deadline_seconds(&c->deadline) - began;
}

static void report(const SolveState *c)
{
    const Answer *a = c->answer;
    char cost[WIDE_DIGITS], bound[WIDE_DIGITS];
    FILE *to = c->o->progress;

    if (!to)
        return;
    fprintf(to, "%7.2f s  cost %s  bound %s", deadline_seconds(&c->deadline),
            a->choice ? wide_text(a->cost, cost) : "-",
            c->has_bound ? wide_text(a->bound, bound) : "-");
    if (a->choice && c->has_bound)
        fprintf(to, "  gap %.4f%%", 100 * answer_gap(a->cost, a->bound));
    fprintf(to, "\n");
    fflush(to);
}

void solve_found_choice(void *to, const int *choice, Wide cost)
{
    SolveState *c = to;
    Answer *a = c->answer;

    if (a->choice && cost + c->offset >= a->cost)
        return;
    memcpy(c->at[c->n_levels], choice, (size_t)reduced_problem(c)->n_nodes * sizeof *choice);
    for (int i = c->n_levels - 1; i >= 0; i--)
        presolve_undo(&c->level[i], c->at[i + 1], c->at[i]);
    ChoicePrice price = problem_price(c->p, c->at[0]);
    if (price.is_forbidden || price.peak > c->p->limit || (a->choice && price.cost >= a->cost))
        return;
    if (!a->choice)
        a->choice = c->known_choice;
    memcpy(a->choice, c->at[0], (size_t)c->p->n_nodes * sizeof *a->choice);
    a->cost = price.cost;
    a->peak = price.peak;
    a->at = price.at;
    report(c);
}

void bound_raise(SolveState *c, Wide bound)
{
    Answer *a = c->answer;

    bound += c->offset;
    if (a->choice && bound > a->cost)
        bound = a->cost;
    bound = bound < c->unsearched_bound ? bound : c->unsearched_bound;
    if (c->has_bound && bound <= a->bound)
        return;
    a->bound = bound;
    c->has_bound = true;
    report(c);
}

void keep_prices(SolveState *c)
{
    if (c->n_levels == 1 && c->dual.n_times)
        c->prices = c->dual;
}

void take_dual_bound(SolveState *c, const Dual *dual)
{
    c->dual = *dual;
    c->has_dual = true;
    keep_prices(c);
    bound_raise(c, dual_bound(reduced_problem(c), dual));
}
