// Tests recomputation of chains: schedules against all sequences of operations, their bytes by
// replay, known chains, and slots against exact tables. With arguments N and SEED it searches N
// chains from SEED on.
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "solver/chain/internal.h"
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

static void compare(Arena *a, const ChainProblem *p, const Search *s, const ChainTable *t,
                    int64_t memory)
{
    ChainSchedule x = {0};
    double time = time_found(s, memory);

    assert_true(chain_time(t, memory) == time);
    assert_int_equal(chain_schedule(a, t, memory, &x), time < INFINITY);
    if (time < INFINITY)
        assert_true(chain_replay(a, p, &x) && x.time == time && x.peak <= memory);
}

// Compares at every memory at which the time changes, a byte below, and between.
static int compare_all(Arena *a, uint64_t seed)
{
    static const int stages[] = {1, 2, 2, 3, 3, 3, 4, 4, 4, 4, 5, 5, 5, 6};
    uint64_t r = seed;
    int n_stages = stages[below(&r, COUNT(stages))], n = 0;
    ChainProblem p = random_chain(a, seed, n_stages, 1 + below(&r, n_stages < 6 ? 3 : 2));
    Search s = search_schedules(a, &p);
    ChainTable *t = chain_solve(a, &p, INT64_MAX, 0);

    assert_true(!chain_slots(t) && s.n_found > 0);
    assert_int_equal(chain_least(t), s.found[s.n_found - 1].peak);
    for (int i = 0; i < s.n_found; i++) {
        int64_t peak = s.found[i].peak, below_it = i + 1 < s.n_found ? s.found[i + 1].peak : 0;
        int64_t between = below_it + (peak - below_it) / (1 + below(&r, 5));
        compare(a, &p, &s, t, peak);
        compare(a, &p, &s, t, peak - 1);
        compare(a, &p, &s, chain_solve(a, &p, between, 0), between);
        n += 3;
    }
    return n;
}

static void all_schedules(void **state)
{
    int n = 0;

    for (int i = 0; i < n_searched; i++) {
        Arena *a = arena_new();
        n += compare_all(a, first_seed + (uint64_t)i);
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
        ChainProblem p = random_chain(a, seed, n_stages, 3);
        ChainTable *exact = chain_solve(a, &p, INT64_MAX, 0);
        int64_t least = chain_least(exact);
        ChainSchedule fastest = {0}, x = {0};

        chain_by_rule(a, &p, CHAIN_NONE, &fastest);
        bool is_fine = fastest.peak < 100000;
        ChainTable *t = chain_solve(a, &p, INT64_MAX, is_fine ? 100000 : cut);
        assert_true(!chain_slots(exact) && chain_slots(t) <= 200000);
        assert_int_equal(chain_least(t), least);
        for (int i = 0; i < 30; i++, n++) {
            int64_t memory = least + (fastest.peak - least) * i / 25;
            assert_true(chain_schedule(a, t, memory, &x) && chain_replay(a, &p, &x));
            assert_true(x.peak <= memory && x.time <= chain_time(t, memory));
            assert_true(x.time >= chain_time(exact, memory));
            assert_true(!is_fine || x.time == chain_time(exact, memory));
            n_slower += x.time > chain_time(exact, memory);
        }
        assert_false(chain_schedule(a, t, least - 1, &x));
        arena_free(a);
    }
    printf("# %d schedules, %d slower than the optimum\n", n, n_slower);
}

// No schedule of a table with slots exceeds its memory, and rules are never faster at theirs.
static void replays(void **state)
{
    int n = 0;

    for (uint64_t seed = first_seed; seed < first_seed + (uint64_t)n_searched / 4; seed++) {
        Arena *a = arena_new();
        uint64_t r = seed;
        ChainProblem p = random_chain(a, seed, 1 + below(&r, 30), 4);
        ChainSchedule s = {0}, by_rule[CHAIN_RULES] = {{0}};

        for (int i = 0; i < CHAIN_RULES; i++) {
            chain_by_rule(a, &p, (ChainRule)i, &by_rule[i]);
            assert_true(chain_replay(a, &p, &by_rule[i]));
        }
        ChainTable *t = chain_solve(a, &p, by_rule[CHAIN_NONE].peak, 300 + below(&r, 300));
        int64_t least = chain_least(t);
        for (int i = 0; i < 100; i++, n++) {
            int64_t memory = least + (by_rule[CHAIN_NONE].peak - least) / 100 * i;
            assert_true(chain_schedule(a, t, memory, &s) && chain_replay(a, &p, &s));
            assert_true(s.peak <= memory && s.time <= chain_time(t, memory));
            assert_true(s.time >= by_rule[CHAIN_NONE].time);
        }
        for (int i = 0; i < CHAIN_RULES; i++)
            assert_true(least <= by_rule[i].peak);
        arena_free(a);
    }
    printf("# %d schedules\n", n);
}

static void write_ops(const ChainProblem *p, const ChainSchedule *s, Text *t)
{
    static const char *const names[] = {"forward", "checkpoint", "save", "backward"};

    t->n = 0;
    for (int i = 0; i < s->n_ops; i++) {
        const ChainOp *o = &s->op[i];
        text_printf(t, "%s%s %s", i ? ", " : "", names[o->kind], p->stage[o->stage].name);
        if (o->kind == CHAIN_SAVE && p->stage[o->stage].n_policies > 1)
            text_printf(t, "/%d", o->policy);
    }
}

// A chain that is small enough to be looked through.
static StagePolicy a_policies[] = {{30, 1, 2}, {12, 1, 2.5}}, b_policies[] = {{20, 1, 2}},
                   loss_policies[] = {{1, 0.5, 0.5}};
static ChainStage stages[] = {{"a", 10, 1, 11, 1, 2, a_policies},
                              {"b", 10, 1, 12, 1, 1, b_policies},
                              {"c", 10, 1, 12, 1, 1, b_policies},
                              {"loss", 1, 0, 10, 0.5, 1, loss_policies}};
static const ChainProblem small = {10, 4, stages};

static const struct {
    int64_t memory;  // the least with this schedule, so its peak too
    double time;
    const char *ops;
} known[] = {
    {62, 13,
     "checkpoint a, forward b, save c, save loss, backward loss, backward c, checkpoint a, save b, "
     "backward b, save a/0, backward a"},
    {64, 12.5,
     "checkpoint a, forward b, save c, save loss, backward loss, backward c, save a/1, save b, "
     "backward b, backward a"},
    {72, 12,
     "checkpoint a, checkpoint b, save c, save loss, backward loss, backward c, save b, backward "
     "b, save a/0, backward a"},
    {74, 11.5,
     "save a/1, checkpoint b, save c, save loss, backward loss, backward c, save b, backward b, "
     "backward a"},
    {82, 11,
     "checkpoint a, save b, save c, save loss, backward loss, backward c, backward b, save a/0, "
     "backward a"},
    {84, 10.5,
     "save a/1, save b, save c, save loss, backward loss, backward c, backward b, backward a"},
    {102, 10,
     "save a/0, save b, save c, save loss, backward loss, backward c, backward b, backward a"},
};

static void known_schedules(void **state)
{
    Arena *a = arena_new();
    Text t = {0};

    for (int i = 0; i < COUNT(known); i++) {
        ChainSchedule s = {0};
        assert_true(
            chain_schedule(a, chain_solve(a, &small, known[i].memory, 0), known[i].memory, &s));
        write_ops(&small, &s, &t);
        assert_string_equal(t.s, known[i].ops);
        assert_true(s.time == known[i].time && s.peak == known[i].memory);
    }
    text_free(&t);
    arena_free(a);
}

// A schedule that drops the input of b and makes it again is refused, though nothing is missing.
static void not_persistent(void **state)
{
    enum { A, B, C, LOSS };
    ChainOp op[] = {
        {CHAIN_CHECKPOINT, A},  {CHAIN_CHECKPOINT, B}, {CHAIN_FORWARD, C},  {CHAIN_SAVE, LOSS},
        {CHAIN_BACKWARD, LOSS}, {CHAIN_FORWARD, B},    {CHAIN_SAVE, C},     {CHAIN_BACKWARD, C},
        {CHAIN_CHECKPOINT, A},  {CHAIN_SAVE, B},       {CHAIN_BACKWARD, B}, {CHAIN_SAVE, A},
        {CHAIN_BACKWARD, A},
    };
    Arena *a = arena_new();
    ChainSchedule s = {op, COUNT(op)};

    assert_false(chain_replay(a, &small, &s));
    arena_free(a);
}

// Equal subchains are solved once.
static void folded(void **state)
{
    static const struct {
        int n_stages, period, n_rows;
    } chains[] = {{96, 1, 192}, {96, 2, 286}, {7, 7, 29}, {1, 1, 2}};

    for (int i = 0; i < COUNT(chains); i++) {
        Arena *a = arena_new();
        ChainProblem p = {10, chains[i].n_stages, arena_array(a, ChainStage, chains[i].n_stages)};
        for (int j = 0; j < p.n_stages; j++) {
            p.stage[j] = stages[0];
            p.stage[j].output += j % chains[i].period;
        }
        assert_int_equal(chain_solve(a, &p, 1000, 100)->n_rows, chains[i].n_rows);
        arena_free(a);
    }
}

// A schedule without one of its operations, or that drops a checkpoint, is refused.
static void wrong_schedules(void **state)
{
    for (uint64_t seed = 1; seed <= 100; seed++) {
        Arena *a = arena_new();
        uint64_t r = seed;
        ChainProblem p = random_chain(a, seed, 1 + below(&r, 8), 3);
        ChainTable *t = chain_solve(a, &p, INT64_MAX, 0);
        ChainSchedule s = {0};

        assert_true(chain_schedule(a, t, chain_least(t), &s));
        for (int i = 0; i < s.n_ops; i++) {
            ChainSchedule less = {arena_array(a, ChainOp, s.n_ops), s.n_ops - 1};
            for (int j = 0; j < less.n_ops; j++)
                less.op[j] = s.op[j + (j >= i)];
            assert_false(chain_replay(a, &p, &less));
            ChainOp *o = &s.op[i], was = *o;
            o->kind = o->kind == CHAIN_CHECKPOINT ? CHAIN_FORWARD : CHAIN_OP_KINDS;
            assert_false(chain_replay(a, &p, &s));
            *o = was;
            o->stage = o->kind == CHAIN_BACKWARD ? o->stage - 1 : p.n_stages;
            assert_false(chain_replay(a, &p, &s));
            *o = was;
        }
        arena_free(a);
    }
}

int main(int argc, char **argv)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(all_schedules),   cmocka_unit_test(slots),
        cmocka_unit_test(replays),         cmocka_unit_test(known_schedules),
        cmocka_unit_test(not_persistent),  cmocka_unit_test(folded),
        cmocka_unit_test(wrong_schedules),
    };

    n_searched = argc > 1 ? atoi(argv[1]) : n_searched;
    first_seed = argc > 2 ? strtoull(argv[2], NULL, 10) : first_seed;
    return cmocka_run_group_tests(tests, NULL, NULL);
}
