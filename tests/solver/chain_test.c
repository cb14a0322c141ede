// Tests recomputation of chains: schedules against all sequences of operations, their bytes by
// replay, known chains, and slots against exact tables. With arguments N and SEED it searches N
// chains from SEED on.
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "tests/solver/chains.h"

static int n_searched = 1200;
static uint64_t first_seed = 1;

// The least time within the memory, of what the search found; infinite if there is none.
static double time_found(const Search *s, int64_t memory)
{
    for (int i = 0; i < s->n_found; i++)
        if (s->found[i].peak <= memory)
            return s->found[i].time;
    return INFINITY;
}

static void compare(const ChainProblem *p, const Search *s, const ChainTable *t, int64_t memory,
                    Arena *a)
{
    ChainSchedule x = {0};
    double time = time_found(s, memory);

    assert_true(chain_time(t, memory) == time);
    assert_int_equal(chain_schedule(t, memory, &x, a), time < INFINITY);
    if (time < INFINITY)
        assert_true(chain_replay(p, &x, a) && x.time == time && x.peak <= memory);
}

// Compares at every memory at which the time changes, a byte below, and between.
static int compare_all(uint64_t seed, Arena *a)
{
    static const int stages[] = {1, 2, 2, 3, 3, 3, 4, 4, 4, 4, 5, 5, 5, 6};
    uint64_t r = seed;
    int n_stages = stages[below(&r, COUNT(stages))], n = 0;
    ChainProblem p = random_chain(seed, n_stages, 1 + below(&r, n_stages < 6 ? 3 : 2), a);
    Search s = search_schedules(&p, a);
    ChainTable *t = chain_solve(&p, INT64_MAX, 0, a);

    assert_true(!chain_slots(t) && s.n_found > 0);
    assert_int_equal(chain_least(t), s.found[s.n_found - 1].peak);
    for (int i = 0; i < s.n_found; i++) {
        int64_t peak = s.found[i].peak, below_it = i + 1 < s.n_found ? s.found[i + 1].peak : 0;
        int64_t between = below_it + (peak - below_it) / (1 + below(&r, 5));
        compare(&p, &s, t, peak, a);
        compare(&p, &s, t, peak - 1, a);
        compare(&p, &s, chain_solve(&p, between, 0, a), between, a);
        n += 3;
    }
    return n;
}

static void all_schedules(void **state)
{
    int n = 0;

    for (int i = 0; i < n_searched; i++) {
        Arena *a = arena_new();
        n += compare_all(first_seed + (uint64_t)i, a);
        arena_free(a);
    }
    printf("# %d chains, %d memories\n", n_searched, n);
}

// Compares a table with slots to the exact one: where the slots are as fine as the sizes both are
// the same, and otherwise no schedule exceeds its memory or beats the exact one.
static void slots(void **state)
{
    int n = 0, n_slower = 0;

    for (uint64_t seed = first_seed; seed < first_seed + (uint64_t)n_searched / 4; seed++) {
        Arena *a = arena_new();
        uint64_t r = seed;
        int n_stages = 1 + below(&r, 12), cut = 1 + below(&r, 200);
        ChainProblem p = random_chain(seed, n_stages, 3, a);
        ChainTable *exact = chain_solve(&p, INT64_MAX, 0, a);
        int64_t least = chain_least(exact);
        ChainSchedule fastest = {0}, x = {0};

        chain_by_rule(&p, CHAIN_NONE, &fastest, a);
        bool is_fine = fastest.peak < 100000;
        ChainTable *t = chain_solve(&p, INT64_MAX, is_fine ? 100000 : cut, a);
        assert_true(!chain_slots(exact) && chain_slots(t) <= 100000);
        assert_int_equal(chain_least(t), least);
        for (int i = 0; i < 30; i++, n++) {
            int64_t memory = least + (fastest.peak - least) * i / 25;
            assert_true(chain_schedule(t, memory, &x, a) && chain_replay(&p, &x, a));
            assert_true(x.peak <= memory && x.time <= chain_time(t, memory));
            assert_true(x.time >= chain_time(exact, memory));
            assert_true(!is_fine || x.time == chain_time(exact, memory));
            n_slower += x.time > chain_time(exact, memory);
        }
        assert_false(chain_schedule(t, least - 1, &x, a));
        arena_free(a);
    }
    printf("# %d schedules, %d slower than the optimum\n", n, n_slower);
}

int main(int argc, char **argv)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(all_schedules),
        cmocka_unit_test(slots),
    };

    n_searched = argc > 1 ? atoi(argv[1]) : n_searched;
    first_seed = argc > 2 ? strtoull(argv[2], NULL, 10) : first_seed;
    return cmocka_run_group_tests(tests, NULL, NULL);
}
