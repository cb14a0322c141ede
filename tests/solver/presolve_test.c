// Tests presolve against every choice: the reduced problem has the same optimum, and its choices
// map to choices of the whole.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "tests/sanitized.h"
#include "tests/solver/random.h"

enum { PROBLEMS = IS_SANITIZED ? 3333 : 20000 };

// A choice of the reduced problem maps to one of the same cost that is allowed and within the
// limit.
static void check_choice(uint64_t seed, const Problem *p, const Presolved *r, const int *choice)
{
    int original[MAX_RANDOM_NODES + 1] = {0};
    ChoicePrice small = problem_price(&r->problem, choice);

    presolve_undo(r, choice, original);
    ChoicePrice price = problem_price(p, original);
    if (small.is_forbidden || small.peak > r->problem.limit)
        return;
    if (price.is_forbidden || price.peak > p->limit || price.cost != small.cost + r->offset)
        fail_msg("seed %d: a choice changes when it is undone: %.0f, %.0f", (int)seed,
                 (double)price.cost, (double)(small.cost + r->offset));
}

static void check(Arena *a, uint64_t seed, const Problem *p, const Dual *dual, Wide cutoff)
{
    Best best = brute_force(p);
    Presolved r;
    bool is_wanted = best.is_feasible && (!dual || best.cost < cutoff);

    if (!presolve(a, p, dual, cutoff, &r)) {
        if (is_wanted)
            fail_msg("seed %d: a choice that costs %.0f is lost", (int)seed, (double)best.cost);
        return;
    }
    Best left = brute_force(&r.problem);
    if (is_wanted && (!left.is_feasible || left.cost + r.offset != best.cost))
        fail_msg("seed %d: %.0f becomes %.0f", (int)seed, (double)best.cost,
                 (double)(left.cost + r.offset));
    if (!best.is_feasible && left.is_feasible)
        fail_msg("seed %d: a choice appears", (int)seed);
    if (left.is_feasible)
        check_choice(seed, p, &r, left.choice);
}

static void keeps_the_optimum(void **state)
{
    for (uint64_t seed = 0; seed < PROBLEMS; seed++) {
        Arena *a = arena_new();
        Problem p = random_problem(a, seed);
        check(a, seed, &p, NULL, 0);
        arena_free(a);
    }
}

// Tries cutoffs from above the optimum down to one that no choice is below.
static void fixes_only_what_costs_too_much(void **state)
{
    for (uint64_t seed = 0; seed < PROBLEMS; seed++) {
        Arena *a = arena_new();
        uint64_t random = seed;
        Problem p = random_problem(a, seed);
        Best best = brute_force(&p);
        Dual dual = {0};
        Deadline w = deadline_start(0);
        if (chance(&random, 50))
            dual = random_dual(a, &p, &random, 8);
        else
            ascent(a, &p, false, &dual, 100000, &w);
        check(a, seed, &p, &dual, best.cost + below(&random, 3) - (best.is_feasible ? 0 : 1));
        arena_free(a);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(keeps_the_optimum),
        cmocka_unit_test(fixes_only_what_costs_too_much),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
