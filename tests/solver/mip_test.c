// Tests the engines on small programs, against each other, and the search without an engine.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include <libgen.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "solver/assign/mip.h"
#include "tests/solver/random.h"

static const char *const names[] = {"cbc", "glpk"};

static const char *programs(char *path, size_t size)
{
    ssize_t n = readlink("/proc/self/exe", path, size - 8);

    assert_true(n > 0);
    path[n] = 0;
    return strcat(dirname(path), "/../..");
}

static Engine *start(const char *name, const Deadline *w)
{
    char path[4096];
    Engine *e = engine_start(programs(path, sizeof path), name, w, NULL);

    assert_non_null(e);
    return e;
}

// Minimizes -2x - 3y - z with x + y + z <= 2.5 and each at most 1. The optimum is 1, 1, 0.5; in
// whole numbers it is 1, 1, 0.
static void fill(Engine *e)
{
    double zero[3] = {0}, one[3] = {1, 1, 1}, cost[3] = {-2, -3, -1}, low = -MIP_FREE, high = 2.5;
    char whole[3] = {1, 1, 1};
    int none[4] = {0}, first[2] = {0, 3}, index[3] = {0, 1, 2};
    Lines columns = {3, zero, one, cost, whole, none, index, one};
    Lines rows = {1, &low, &high, NULL, NULL, first, index, one};

    engine_columns(e, &columns);
    engine_rows(e, &rows);
}

// An engine solves one program after another.
static void relaxes(void **state)
{
    Deadline w = deadline_start(0);

    for (int i = 0; i < COUNT(names); i++) {
        Engine *e = start(names[i], &w);
        for (int n = 0; n < 3; n++) {
            fill(e);
            Relaxed r = engine_relax(e, 1000);
            assert_int_equal(r.status, MIP_OPTIMAL);
            assert_true(fabs(r.objective + 5.5) < 1e-9 && fabs(r.x[2] - 0.5) < 1e-9);
            assert_true(fabs(r.dual[0] + 1) < 1e-9);
            engine_clear(e);
        }
        engine_end(e);
    }
}

// Adds the row y + z >= 1.5, and then x >= 1.2, which has no solution because x is at most 1.
static void takes_more_rows(void **state)
{
    Deadline w = deadline_start(0);
    double low = 1.5, high = MIP_FREE, one[2] = {1, 1};
    int first[2] = {0, 2}, index[2] = {1, 2};
    Lines rows = {1, &low, &high, NULL, NULL, first, index, one};

    for (int i = 0; i < COUNT(names); i++) {
        Engine *e = start(names[i], &w);
        fill(e);
        engine_relax(e, 1000);
        low = 1.7;
        first[1] = 2;
        index[0] = 1;
        engine_rows(e, &rows);
        Relaxed r = engine_relax(e, 1000);
        assert_int_equal(r.status, MIP_OPTIMAL);
        assert_true(fabs(r.objective + 2 * 0.8 + 3 + 0.7) < 1e-9);
        low = 1.2;
        first[1] = 1;
        index[0] = 0;
        engine_rows(e, &rows);
        assert_int_equal(engine_relax(e, 1000).status, MIP_INFEASIBLE);
        engine_end(e);
    }
}

static void branches(void **state)
{
    static const struct {
        double cutoff;
        MipStatus status;
    } cases[] = {{MIP_FREE, MIP_OPTIMAL}, {-4.9, MIP_OPTIMAL}, {-5.1, MIP_INFEASIBLE}};
    Deadline w = deadline_start(0);

    for (int i = 0; i < COUNT(names); i++)
        for (int k = 0; k < COUNT(cases); k++) {
            Engine *e = start(names[i], &w);
            fill(e);
            Branched b = engine_branch(e, cases[k].cutoff, 0, 1000, (MipListener){0});
            assert_int_equal(b.status, cases[k].status);
            assert_int_equal(b.x != NULL, b.status == MIP_OPTIMAL);
            assert_true(!b.x || (fabs(b.objective + 5) < 1e-9 && fabs(b.bound + 5) < 1e-6));
            free(b.x);
            engine_end(e);
        }
}

// Tests a deadline that has passed, and an engine that isn't installed.
static void survives(void **state)
{
    Deadline over = deadline_start(1e-9);
    Text said = {0};
    Diag d = {.file = "solve", .to = &said};

    for (int i = 0; i < COUNT(names); i++) {
        Engine *e = start(names[i], &over);
        fill(e);
        assert_int_equal(engine_relax(e, 1000).status, MIP_STOPPED);
        assert_int_equal(engine_relax(e, 1000).status, MIP_STOPPED);
        assert_int_equal(engine_branch(e, MIP_FREE, 0, 1, (MipListener){0}).status, MIP_STOPPED);
        engine_end(e);
    }
    assert_null(engine_start("/nowhere", "cbc", &over, &d));
    assert_string_equal(said.s, "solve: warning: cannot run '/nowhere/shardcc-cbc', "
                                "a part of shardcc: No such file or directory\n");
    text_free(&said);
}

// If an engine exits immediately, the search warns and continues.
static void goes_on_without(void **state)
{
    char folder[] = "/tmp/engine_test_XXXXXX", path[64];
    Deadline w = deadline_start(0);

    assert_non_null(mkdtemp(folder));
    snprintf(path, sizeof path, "%s/shardcc-cbc", folder);
    FILE *f = fopen(path, "w");
    fputs("#!/bin/sh\nexit 1\n", f);
    fclose(f);
    chmod(path, 0700);
    Engine *e = engine_start(folder, "cbc", &w, NULL);
    fill(e);
    assert_int_equal(engine_relax(e, 1000).status, MIP_FAILED);
    engine_end(e);
    for (uint64_t seed = 0; seed < 300; seed++) {
        Arena *a = arena_new();
        Problem p = random_problem(a, seed);
        Best best = brute_force(&p);
        SolveOptions o = {.gap = 1e-6, .threads = 1, .engine = "cbc", .programs = folder};
        Text said = {0};
        Diag d = {.file = "solve", .to = &said};
        Answer s;
        solve(a, &p, &o, &s, &d);
        if (best.is_feasible &&
            (!s.choice || s.bound > best.cost || answer_gap(s.cost, best.cost) > o.gap))
            fail_msg("seed %d: outcome %d, cost %.0f of %.0f", (int)seed, s.outcome, (double)s.cost,
                     (double)best.cost);
        assert_true(best.is_feasible || !s.choice || s.outcome == OUTCOME_INFEASIBLE);
        if (said.n)
            assert_string_equal(said.s, "solve: warning: an engine of linear programs died; the "
                                        "search goes on without it\n");
        text_free(&said);
        arena_free(a);
    }
    unlink(path);
    rmdir(folder);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(relaxes),  cmocka_unit_test(takes_more_rows), cmocka_unit_test(branches),
        cmocka_unit_test(survives), cmocka_unit_test(goes_on_without),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
