// Tests problems too large to try every choice: the whole solver with each engine, and the engines
// alone. No bound of one may be above the cost of a choice that another finds.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "solver/assign/relax.h"
#include "tests/solver/programs.h"
#include "tests/solver/random.h"

static int n_problems = 100;

enum { MAX_ALTERNATIVES = 5, REACH = 6 };

// Expensive alternatives hold few bytes. Choosing the largest everywhere exceeds the limit.
static void middle_nodes(Maker *m, int n)
{
    int64_t *held = arena_array(m->a, int64_t, 2 * n + 20), most = 0;
    uint64_t *r = &m->random;
    int n_live = 0, cap = 0, total = 0;

    m->p.n_nodes = n;
    m->p.first = arena_array(m->a, int, n + 1);
    m->p.cost = arena_array(m->a, int64_t, n * MAX_ALTERNATIVES);
    m->p.first_live = arena_array(m->a, int, n *MAX_ALTERNATIVES + 1);
    for (int i = 0; i < n; i++) {
        int size = 2 + below(r, MAX_ALTERNATIVES - 1), first = below(r, n),
            last = first + 1 + below(r, 12);
        int64_t bytes = 20 + below(r, 40);
        for (int k = 0; k < size; k++, total++) {
            m->p.cost[total] = below(r, 60) * (k + 1);
            m->p.first_live[total] = n_live;
            *arena_push(m->a, m->p.live, n_live, cap) = (LiveBytes){first, last, bytes};
            for (int t = first; t < last && (k == 0 || k == size - 1); t++)
                held[t] += bytes;
            bytes = 1 + bytes * below(r, 100) / 100;
        }
        m->p.first[i + 1] = total;
    }
    m->p.first_live[total] = n_live;
    for (int t = 0; t < 2 * n + 20; t++)
        most = held[t] > most ? held[t] : most;
    m->p.limit = most * PICK(r, 42, 46, 50, 60) / 100;
}

static void middle_edges(Maker *m)
{
    for (int i = 1; i < m->p.n_nodes; i++)
        for (int j = 1 + below(&m->random, 2); j > 0; j--)
            random_edge(m, i - 1 - below(&m->random, i < REACH ? i : REACH), i);
    if (!problem_join_edges(m->a, &m->p, NULL))
        abort();
}

static Problem middle_problem(Arena *a, uint64_t seed)
{
    Maker m = {.random = seed, .a = a};

    m.style = (Style){.forbidden = 10, .scale = PICK(&m.random, 1, 5, 30)};
    middle_nodes(&m, 15 + below(&m.random, 50));
    middle_edges(&m);
    return m.p;
}

// The least cost found for a problem, and the highest bound.
typedef struct Known {
    const Problem *p;
    bool is_any;
    Wide cost, bound;
} Known;

static void hear(void *to, const int *choice, Wide cost)
{
    Known *k = to;
    ChoicePrice price = problem_price(k->p, choice);

    if (price.is_forbidden || price.peak > k->p->limit)
        return;
    assert_true(price.cost == cost);
    k->cost = k->is_any && k->cost < cost ? k->cost : cost;
    k->is_any = true;
}

// Returns true if the solver proves that the problem is infeasible.
static bool by_chain(Arena *a, Known *k, uint64_t seed, const char *engine)
{
    SolveOptions o = {.seed = seed, .engine = engine, .programs = programs(a), .threads = 1};
    Answer s;

    solve(a, k->p, &o, &s, NULL);
    if (s.outcome == OUTCOME_INFEASIBLE)
        return true;
    assert_int_equal(s.outcome, OUTCOME_PROVED);
    assert_true(answer_write(NULL, k->p, &o, &s, "1", NULL));
    hear(k, s.choice, s.cost);
    k->bound = s.bound > k->bound ? s.bound : k->bound;
    return false;
}

static bool by_engine(Arena *a, Known *k, const char *engine)
{
    Deadline w = deadline_start(0);
    Engine *e = engine_start(programs(a), engine, &w, NULL);
    assert_non_null(e);
    Model *m = model_new(a, k->p, e, &(Dual){0});
    Wide bound = -NO_CUTOFF;

    MipStatus status = model_branch(m, NO_CUTOFF, 100000, (Listener){hear, k}, &bound);
    engine_end(e);
    if (status != MIP_INFEASIBLE)
        k->bound = bound > k->bound ? bound : k->bound;
    return status == MIP_INFEASIBLE;
}

static void agree(void **state)
{
    int n_any = 0;

    for (int seed = 0; seed < n_problems; seed++) {
        Arena *a = arena_new();
        Problem p = middle_problem(a, (uint64_t)seed);
        Known k = {.p = &p, .bound = -NO_CUTOFF};
        int n_none =
            by_chain(a, &k, (uint64_t)seed, "cbc") + by_chain(a, &k, (uint64_t)seed, "glpk");
        n_none += by_engine(a, &k, "cbc");
        if (n_none && k.is_any)
            fail_msg("seed %d: %d of 3 say that there is no choice", seed, n_none);
        if (k.is_any && k.bound > k.cost)
            fail_msg("seed %d: a bound of %.0f, a choice that costs %.0f", seed, (double)k.bound,
                     (double)k.cost);
        n_any += k.is_any;
        arena_free(a);
    }
    print_message("%d of %d have a choice\n", n_any, n_problems);
    assert_true(n_any > n_problems / 4);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(agree)};

    if (argc > 1)
        n_problems = atoi(argv[1]);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
