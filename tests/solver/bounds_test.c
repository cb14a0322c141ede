// Tests bounds by ascent and choices by search against trying every choice.
#include <float.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "solver/assign/ascent.h"
#include "solver/assign/search.h"
#include "tests/sanitized.h"
#include "tests/solver/random.h"

enum { PROBLEMS = IS_SANITIZED ? 83 : 500, WORK = 200000 };

// A bound is never above the optimum, equals the bound of its dual, and more work doesn't lower
// it.
static void bounds(void **state)
{
    Deadline w = deadline_start(0);

    for (uint64_t seed = 0; seed < PROBLEMS; seed++) {
        Arena *a = arena_new();
        Problem p = random_problem(a, seed);
        Best best = brute_force(&p);
        Dual dual = {0};
        Wide once = ascent(a, &p, false, &dual, WORK / 10, &w);

        assert_true(dual_bound(&p, &dual) == once);
        assert_true(!best.is_feasible || once <= best.cost);
        Wide twice = ascent(a, &p, false, &dual, WORK, &w);
        assert_true(dual_bound(&p, &dual) == twice);
        assert_true(twice >= once && (!best.is_feasible || twice <= best.cost));
        arena_free(a);
    }
}

static int root_of(const int *above, int i)
{
    while (above[i] != i)
        i = above[i];
    return i;
}

static bool is_forest(const Problem *p)
{
    int above[MAX_RANDOM_NODES];

    for (int i = 0; i < p->n_nodes; i++)
        above[i] = i;
    for (int e = 0; e < p->n_edges; e++) {
        int a = root_of(above, p->edge[e].a), b = root_of(above, p->edge[e].b);
        if (a == b)
            return false;
        above[a] = b;
    }
    return true;
}

// For a tree whose bytes don't bind, the bound is the optimum up to rounding. This fails for a few
// problems with costs so large that doubles can't hold forbidden ones above their sum.
static void trees(void **state)
{
    Deadline w = deadline_start(0);
    int n_trees = 0, n_tight = 0;

    for (uint64_t seed = 0; seed < PROBLEMS; seed++) {
        Arena *a = arena_new();
        Problem p = random_problem(a, seed);
        Dual dual = {0};

        p.limit = INT64_MAX;
        Best best = brute_force(&p);
        if (best.is_allowed && is_forest(&p)) {
            double bound = (double)ascent(a, &p, false, &dual, WORK, &w), cost = (double)best.cost;
            n_tight += bound >= cost - 1 - 1e-9 * (cost < 0 ? -cost : cost);
            n_trees++;
        }
        arena_free(a);
    }
    assert_true(n_trees > PROBLEMS / 5 && n_tight >= n_trees * 98 / 100);
}

// A choice that the search finds is allowed and has the cost that the search says. It is mostly
// the cheapest one, within the precision of doubles. The same seed gives the same choice.
static void searches(void **state)
{
    Deadline w = deadline_start(0);
    int n_feasible = 0, n_found = 0, n_best = 0;

    for (uint64_t seed = 0; seed < PROBLEMS; seed++) {
        Arena *a = arena_new();
        Problem p = random_problem(a, seed);
        Best best = brute_force(&p);
        int choice[MAX_RANDOM_NODES], again[MAX_RANDOM_NODES];
        Wide cost, same;
        Dual dual = {0};

        ascent(a, &p, false, &dual, WORK / 10, &w);
        bool is_found = search(&p, &dual, false, choice, &cost, seed, WORK, &w, (Listener){0});
        n_feasible += best.is_feasible;
        n_found += is_found;
        assert_true(search(&p, &dual, false, again, &same, seed, WORK, &w, (Listener){0}) ==
                    is_found);
        if (is_found) {
            ChoicePrice price = problem_price(&p, choice);
            assert_true(!price.is_forbidden && price.peak <= p.limit && price.cost == cost);
            assert_true(best.is_feasible && cost >= best.cost);
            assert_memory_equal(choice, again, (size_t)p.n_nodes * sizeof *choice);
            n_best += (double)(cost - best.cost) <= 1e-12 * (double)(cost < 0 ? -cost : cost);
        }
        arena_free(a);
    }
    print_message("%d feasible, %d found, %d cheapest\n", n_feasible, n_found, n_best);
    assert_true(n_found > n_feasible * 95 / 100 && n_best > n_feasible * 90 / 100);
}

// No choice that has a certain alternative is cheaper than the ascent's lower bound for the
// alternative.
static void lower_bounds(void **state)
{
    Deadline w = deadline_start(0);

    for (uint64_t seed = 0; seed < PROBLEMS; seed++) {
        Arena *a = arena_new();
        Problem p = random_problem(a, seed), only = p;
        Ascent *s = ascent_new(a, float_problem_new(a, &p));
        int n = p.first[p.n_nodes];

        ascent_converge(s, (ClimbOptions){0, 0, WORK / 100, DBL_MAX, &w});
        ascent_save_best(s);
        ascent_climb(s, (ClimbOptions){0.03, 1, WORK / 20, DBL_MAX, &w});
        s->lower = arena_array(a, double, n);
        ascent_sweep(s, false);  // after a forward sweep
        if (seed % 2)
            ascent_sweep(s, true);
        only.cost = arena_array(a, int64_t, n);
        for (int i = 0; i < p.n_nodes; i++)
            for (int k = p.first[i]; k < p.first[i + 1]; k++) {
                memcpy(only.cost, p.cost, (size_t)n * sizeof *p.cost);
                for (int l = p.first[i]; l < p.first[i + 1]; l++)
                    only.cost[l] = l == k ? p.cost[l] : COST_FORBIDDEN;
                Best best = brute_force(&only);
                double cost = (double)best.cost, size = cost < 0 ? -cost : cost;
                assert_true(!best.is_feasible || s->lower[k] <= cost + 0.01 + 1e-12 * size);
            }
        arena_free(a);
    }
}

typedef struct Heard {
    const Problem *p;
    bool is_any;
    Wide cost;
} Heard;

static void listen(void *to, const int *choice, Wide cost)
{
    Heard *h = to;
    ChoicePrice price = problem_price(h->p, choice);

    assert_true(!price.is_forbidden && price.peak <= h->p->limit && price.cost == cost);
    assert_true(!h->is_any || cost < h->cost);
    h->is_any = true;
    h->cost = cost;
}

// Branching ends. The last choice it reports is within the gap of the bound, and no choice is
// below the bound. Half of the problems start with prices, but without messages.
static void branches(void **state)
{
    Deadline w = deadline_start(0);
    int n_done = 0;

    for (uint64_t seed = 0; seed < PROBLEMS; seed++) {
        Arena *a = arena_new();
        Problem p = random_problem(a, seed);
        Best best = brute_force(&p);
        Heard heard = {&p};
        Wide cutoff = (Wide)1 << 80, bound = -cutoff;
        Dual dual = {0};
        ascent(a, &p, false, &dual, WORK / 10, &w);
        Dual prices = dual_prices(a, &dual);
        bool is_done = branch_by_ascent(&p, seed % 2 ? &prices : NULL, cutoff, 1e-6, &bound, seed,
                                        20 * WORK, &w, (Listener){listen, &heard});

        n_done += is_done;
        assert_true(!best.is_feasible || bound <= best.cost);
        assert_true(!is_done || heard.is_any == best.is_feasible);
        if (is_done && heard.is_any) {
            double cost = (double)heard.cost, size = cost < 0 ? -cost : cost;
            assert_true((double)(heard.cost - bound) <= 1 + 1.01e-6 * size);
        }
        arena_free(a);
    }
    print_message("%d of %d done\n", n_done, PROBLEMS);
    assert_true(n_done > PROBLEMS * 8 / 10);
}

// Tests bounds by cores that start with one or two alternatives per node. The core search also
// finds choices.
static void cores(void **state)
{
    Deadline w = deadline_start(0);
    int n_feasible = 0, n_found = 0, n_near = 0;

    for (uint64_t seed = 0; seed < PROBLEMS; seed++) {
        Arena *a = arena_new();
        Problem p = random_problem(a, seed);
        Best best = brute_force(&p);
        Heard heard = {&p};
        Dual dual = {0};
        SolveOptions o = {.threads = 1, .seed = seed, .skips_certificate = true};
        CoreOptions options = {WIDE_MAX, 0, 1 + (int)(seed % 2), &o};
        Wide bound = core_ascent(a, &p, &dual, options, &w, (Listener){listen, &heard});

        assert_true(dual_bound(&p, &dual) == bound);
        assert_true(!best.is_feasible || bound <= best.cost);
        n_feasible += best.is_feasible;
        n_found += best.is_feasible && heard.is_any;
        n_near += best.is_feasible && heard.is_any && answer_gap(heard.cost, best.cost) < 0.01;
        arena_free(a);
    }
    print_message("%d feasible, %d found, %d near\n", n_feasible, n_found, n_near);
    assert_true(n_found > n_feasible * 3 / 4);
}

// The least peak is between the bound and the peak of the choice found, and mostly equals both.
static void least_peaks(void **state)
{
    Deadline w = deadline_start(0);
    int n_allowed = 0, n_found = 0, n_bound = 0, n_least = 0;

    for (uint64_t seed = 0; seed < PROBLEMS; seed++) {
        Arena *a = arena_new();
        Problem p = random_problem(a, seed);
        Best best = brute_force(&p);
        int choice[MAX_RANDOM_NODES];
        LowestPeak least = lowest_peak(&p, choice, seed, WORK, &w);

        assert_true(!best.is_allowed || least.bound <= best.least);
        if (least.is_found) {
            ChoicePrice price = problem_price(&p, choice);
            assert_true(best.is_allowed && !price.is_forbidden && price.peak == least.peak);
            assert_true(price.at == least.at && least.peak >= best.least);
        }
        n_allowed += best.is_allowed;
        n_found += least.is_found;
        n_least += least.is_found && least.peak == best.least;
        n_bound += best.is_allowed && least.bound >= best.least - best.least / 100 - 1;
        arena_free(a);
    }
    print_message("%d allowed, %d found, %d least, %d near\n", n_allowed, n_found, n_least,
                  n_bound);
    assert_true(n_found > n_allowed * 9 / 10 && n_least > n_allowed * 8 / 10);
    assert_true(n_bound > n_allowed / 2);
}

// Tests the segment tree against an array.
static void profiles(void **state)
{
    uint64_t r = 1;

    for (int n = 1; n < 40; n++) {
        Arena *a = arena_new();
        Profile p = profile_new(a, n);
        int64_t held[40] = {0};
        for (int i = 0; i < 200; i++) {
            int first = below(&r, n), last = first + 1 + below(&r, n - first), peak = 0;
            int64_t bytes = below(&r, 100) - 20;
            profile_add(&p, first, last, bytes);
            for (int t = first; t < last; t++)
                held[t] += bytes;
            for (int t = 0; t < n; t++)
                peak = held[t] > held[peak] ? t : peak;
            if (held[peak] > 0) {
                assert_int_equal(profile_peak(&p), held[peak]);
                assert_int_equal(profile_fullest(&p), peak);
            }
        }
        arena_free(a);
    }
}

// Rows of costs become doubles and floats as by C conversions, in vectors and in the remainder.
static void images(void **state)
{
    static const int64_t costs[] = {0,
                                    1,
                                    -1,
                                    INT64_C(4294967295),
                                    INT64_C(-4294967296),
                                    INT64_C(2147483648),
                                    INT64_C(9007199254740993),
                                    INT64_C(-9007199254740995),
                                    COST_FORBIDDEN - 1,
                                    1 - COST_FORBIDDEN,
                                    COST_FORBIDDEN,
                                    INT64_MAX};
    enum { MAX_COSTS = 40, N = sizeof costs / sizeof *costs };
    int64_t row[MAX_COSTS], low, high;
    double exact[MAX_COSTS];
    float rough[MAX_COSTS];

    for (int n = 0; n < MAX_COSTS; n++) {
        int64_t least = INT64_MAX, most = -COST_FORBIDDEN;
        for (int i = 0; i < n; i++) {
            row[i] = costs[(7 * n + 5 * i) % N];
            bool is_there = row[i] < COST_FORBIDDEN;
            least = is_there && row[i] < least ? row[i] : least;
            most = is_there && row[i] > most ? row[i] : most;
        }
        row_image(row, n, 0x1p70, exact);
        row_rough(row, n, 0x1p70, rough);
        row_range(row, n, &low, &high);
        assert_true(low == least && high == most);
        for (int i = 0; i < n; i++) {
            double x = row[i] < COST_FORBIDDEN ? (double)row[i] : 0x1p70;
            assert_true(exact[i] == x && rough[i] == (float)x);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bounds),      cmocka_unit_test(cores),        cmocka_unit_test(trees),
        cmocka_unit_test(searches),    cmocka_unit_test(lower_bounds), cmocka_unit_test(branches),
        cmocka_unit_test(least_peaks), cmocka_unit_test(profiles),     cmocka_unit_test(images),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
