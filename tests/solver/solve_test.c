// The whole chain against every choice, by each of its engines.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include <libgen.h>
#include <unistd.h>

#include "tests/solver/random.h"

enum { PROBLEMS = 3000 };

// The engines' programs lie above the folder of the tests.
static const char *programs(Arena *a)
{
    char path[4096] = "";
    ssize_t n = readlink("/proc/self/exe", path, sizeof path - 1);

    assert_true(n > 0);
    return arena_string(a, "%s/../..", dirname(path));
}

static void check(uint64_t seed, const char *engine)
{
    Arena *a = arena_new();
    Problem p = random_problem(seed, a);
    Best best = brute_force(&p);
    SolveOptions o = {.gap = 1e-6, .threads = 1, .seed = seed, .engine = engine};
    Answer s;
    Diag d = {0};

    o.programs = programs(a);
    assert_true(solve(&p, &o, &s, a, &d));
    if (!best.is_feasible)
        assert_int_equal(s.outcome, OUTCOME_INFEASIBLE);
    else if (s.outcome != OUTCOME_PROVED || s.cost < best.cost ||
             answer_gap(s.cost, best.cost) > o.gap)
        fail_msg("seed %d: outcome %d, cost %.0f, not %.0f", (int)seed, s.outcome, (double)s.cost,
                 (double)best.cost);
    else if (s.bound > best.cost || s.certified > s.bound)
        fail_msg("seed %d: bounds %.0f, %.0f of %.0f", (int)seed, (double)s.bound,
                 (double)s.certified, (double)best.cost);
    arena_free(a);
}

static void solves_by_cbc(void **state)
{
    for (uint64_t seed = 0; seed < PROBLEMS; seed++)
        check(seed, "cbc");
}

static void solves_by_glpk(void **state)
{
    for (uint64_t seed = 0; seed < PROBLEMS; seed++)
        check(seed, "glpk");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(solves_by_cbc),
        cmocka_unit_test(solves_by_glpk),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
