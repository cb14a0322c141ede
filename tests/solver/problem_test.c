// Tests prices of choices and bounds of duals against trying every choice.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "tests/solver/random.h"

enum { PROBLEMS = 3000 };

// Joining edges changes no cost, and the price of any choice is within brute_force's results.
static void prices(void **state)
{
    for (uint64_t seed = 0; seed < PROBLEMS; seed++) {
        Arena *a = arena_new();
        Problem raw = random_unjoined(a, seed), p = random_problem(a, seed);
        Best x = brute_force(&raw), y = brute_force(&p);
        uint64_t r = seed;
        int choice[MAX_RANDOM_NODES];

        assert_memory_equal(&x.cost, &y.cost, sizeof x.cost);
        assert_true(x.is_allowed == y.is_allowed && x.is_feasible == y.is_feasible);
        assert_true(x.least == y.least && x.most == y.most);
        for (int i = 0; i < p.n_nodes; i++)
            choice[i] = below(&r, n_alternatives(&p, i));
        ChoicePrice price = problem_price(&p, choice);
        if (!price.is_forbidden) {
            assert_true(x.is_allowed && x.least <= price.peak && price.peak <= x.most);
            assert_true(price.peak > p.limit || x.cost <= price.cost);
        }
        arena_free(a);
    }
}

// If only one choice is allowed, its price is the optimum.
static void one_choice(void **state)
{
    for (uint64_t seed = 0; seed < PROBLEMS; seed++) {
        Arena *a = arena_new();
        Problem p = random_problem(a, seed);
        uint64_t r = seed;
        int choice[MAX_RANDOM_NODES];
        int64_t *cost = arena_array(a, int64_t, p.first[p.n_nodes]);

        memcpy(cost, p.cost, (size_t)p.first[p.n_nodes] * sizeof *cost);
        p.cost = cost;
        p.limit = INT64_MAX;
        for (int i = 0; i < p.n_nodes; i++) {
            choice[i] = below(&r, n_alternatives(&p, i));
            for (int k = 0; k < n_alternatives(&p, i); k++)
                if (k != choice[i])
                    cost[p.first[i] + k] = COST_FORBIDDEN;
        }
        Best b = brute_force(&p);
        ChoicePrice price = problem_price(&p, choice);
        assert_true(price.is_forbidden == !b.is_allowed);
        assert_true(price.is_forbidden || (price.cost == b.cost && price.peak == b.least));
        arena_free(a);
    }
}

// Any prices and messages give a bound.
static void bounds(void **state)
{
    for (uint64_t seed = 0; seed < PROBLEMS; seed++) {
        Arena *a = arena_new();
        Problem p = random_problem(a, seed);
        Best best = brute_force(&p);
        uint64_t r = seed;
        Dual d = random_dual(a, &p, &r, 60);

        assert_true(!best.is_feasible || dual_bound(&p, &d) <= best.cost);
        arena_free(a);
    }
}

// A bound computed by hand: units of 1/4, one time that has a price, one edge.
static void a_bound(void **state)
{
    static const int64_t matrix[] = {3, 0, 7, COST_FORBIDDEN};
    int first[] = {0, 2, 4}, first_live[] = {0, 1, 2, 3, 3}, time[] = {5, 9};
    int64_t cost[] = {0, 2, 1, 6}, price[] = {1, 2}, message[] = {-2, 1, 0, 3};
    LiveBytes live[] = {{0, 6, 4}, {6, 9, 9}, {5, 10, 1}};
    Edge edge = {0, 1, matrix};
    Problem p = {NULL, 2, 1, first, cost, first_live, live, &edge, 2};
    Dual d = {2, 2, time, price, message};

    // Node 0: min(0 + 4 * 1 + 2, 8 - 1) = 6. Node 1: min(4 + 1 * 3, 24 - 3) = 7. The edge:
    // min(12 - 2 + 0, 0 - 2 + 3, 28 + 1 + 0) = 1. The limit: 2 * 3. In all 8 / 4.
    assert_true(dual_bound(&p, &d) == 2);
    p.limit = 3;  // 5 / 4, rounded up
    assert_true(dual_bound(&p, &d) == 2);
    p.limit = 100;  // -286 / 4, rounded up
    assert_true(dual_bound(&p, &d) == -71);
}

// Checks paths by repeated steps, with the loops in another order.
static void metrics(void **state)
{
    for (uint64_t seed = 0; seed < PROBLEMS; seed++) {
        Arena *a = arena_new();
        uint64_t r = seed;
        PathStep step[20];
        Metric m = {1 + below(&r, 7), below(&r, COUNT(step) + 1), step};
        int point[7];

        for (int i = 0; i < m.n_points; i++)
            point[i] = i;
        for (int i = 0; i < m.n_steps; i++)
            step[i] = (PathStep){below(&r, m.n_points), below(&r, m.n_points),
                                 (int64_t)next_random(&r) >> (4 + below(&r, 55))};
        for (int i = 0; i < m.n_steps; i++)
            step[i].cost = step[i].cost < 0 ? -step[i].cost : step[i].cost;
        const int64_t *x = metric_matrix(a, &m, point, m.n_points, point, m.n_points);
        for (int from = 0; from < m.n_points; from++) {
            Wide best[7];
            for (int i = 0; i < m.n_points; i++)
                best[i] = i == from ? 0 : COST_FORBIDDEN;
            for (int round = 0; round < m.n_points; round++)
                for (int i = 0; i < m.n_steps; i++)
                    if (best[step[i].from] + step[i].cost < best[step[i].to])
                        best[step[i].to] = best[step[i].from] + step[i].cost;
            for (int i = 0; i < m.n_points; i++)
                assert_true(x[from * m.n_points + i] == best[i]);
        }
        arena_free(a);
    }
}

// Each kind of random problem occurs often.
static void kinds(void **state)
{
    int infeasible = 0, forbidden = 0, tight = 0, loose = 0, single = 0, several = 0;

    for (uint64_t seed = 0; seed < PROBLEMS; seed++) {
        Arena *a = arena_new();
        Problem p = random_problem(a, seed);
        Best b = brute_force(&p);
        forbidden += !b.is_allowed;
        infeasible += b.is_allowed && !b.is_feasible;
        tight += b.is_feasible && b.most > p.limit;
        loose += b.is_feasible && b.most <= p.limit;
        for (int i = 0; i < p.n_nodes; i++)
            single += n_alternatives(&p, i) == 1;
        for (int k = 0; k < p.first[p.n_nodes]; k++)
            several += p.first_live[k + 1] - p.first_live[k] > 1;
        arena_free(a);
    }
    assert_true(infeasible > 100 && forbidden > 100 && tight > 500 && loose > 500);
    assert_true(single > 1000 && several > 1000);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(prices),  cmocka_unit_test(one_choice),
                                       cmocka_unit_test(bounds),  cmocka_unit_test(a_bound),
                                       cmocka_unit_test(metrics), cmocka_unit_test(kinds)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
