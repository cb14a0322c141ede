// Tests the whole solver against every choice, with each of its engines, and the engines without
// presolve.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "solver/assign/relax.h"
#include "tests/sanitized.h"
#include "tests/solver/example.h"
#include "tests/solver/programs.h"
#include "tests/solver/random.h"

enum { PROBLEMS = IS_SANITIZED ? 500 : 3000 };

// Are costs so large that doubles don't distinguish neighbours? The optimum is then only found
// within the gap.
static bool is_large(const Problem *p)
{
    for (int k = 0; k < p->first[p->n_nodes]; k++)
        if (!is_forbidden(p->cost[k]) && p->cost[k] > INT64_C(1000000000000))
            return true;
    for (int e = 0; e < p->n_edges; e++)
        for (int i = 0; i < n_alternatives(p, p->edge[e].a) * n_alternatives(p, p->edge[e].b); i++)
            if (!is_forbidden(p->edge[e].cost[i]) && p->edge[e].cost[i] > INT64_C(1000000000000))
                return true;
    return false;
}

// Returns the text of the answer's file, after checking it.
static char *text_of(Arena *a, const Problem *p, const SolveOptions *o, const Answer *s)
{
    Text t = {0}, said = {0}, messages = {0};
    Diag d = {.file = "answer", .to = &messages};

    answer_print(&t, p, o, s, "1");
    if (!stored_check((File){(const uint8_t *)t.s, t.n}, p, &said, &d))
        fail_msg("%s", messages.s);
    char *text = arena_copy(a, t.s, t.n);
    text_free(&t);
    text_free(&said);
    return text;
}

static void judge(int seed, const SolveOptions *o, const Best *best, const Answer *s)
{
    if (!best->is_feasible) {
        if (s->outcome != OUTCOME_INFEASIBLE)
            fail_msg("seed %d: outcome %d", seed, s->outcome);
        if (s->least_bound > (best->is_allowed ? best->least : INT64_MAX))
            fail_msg("seed %d: a bound above the least peak", seed);
        return;
    }
    if (s->outcome != OUTCOME_PROVED || s->cost < best->cost ||
        answer_gap(s->cost, best->cost) > o->gap)
        fail_msg("seed %d: outcome %d, cost %.0f, not %.0f", seed, s->outcome, (double)s->cost,
                 (double)best->cost);
    if (s->bound > best->cost || s->proof.bound > s->bound)
        fail_msg("seed %d: bounds %.0f, %.0f of %.0f", seed, (double)s->bound,
                 (double)s->proof.bound, (double)best->cost);
}

static void check(uint64_t seed, const char *engine)
{
    Arena *a = arena_new();
    Problem p = random_problem(a, seed);
    Best best = brute_force(&p);
    SolveOptions o = {.threads = 1 + (int)(seed & 1), .seed = seed, .engine = engine};
    Answer s, again;
    Diag d = {0};

    o.gap = is_large(&p) ? 1e-6 : 0;
    o.programs = programs(a);
    solve(a, &p, &o, &s, &d);
    judge((int)seed, &o, &best, &s);
    char *text = text_of(a, &p, &o, &s);
    if (seed % 100 == 0) {
        solve(a, &p, &o, &again, &d);
        assert_string_equal(text, text_of(a, &p, &o, &again));
    }
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

// Starts from any choice, within the limit or not, with some alternatives left out, except those
// of the choice. Prices don't change, and the solver finds the optimum of the rest.
static void begins_with_a_choice(void **state)
{
    for (uint64_t seed = 0; seed < PROBLEMS; seed++) {
        Arena *a = arena_new();
        uint64_t r = seed + 1;
        Problem p = random_problem(a, seed);
        bool *keep = arena_array(a, bool, p.first[p.n_nodes]);
        int *start = arena_array(a, int, p.n_nodes), *original, *whole;
        for (int i = 0; i < p.n_nodes; i++)
            for (int k = p.first[i], chosen = below(&r, n_alternatives(&p, i)); k < p.first[i + 1];
                 k++)
                keep[k] = below(&r, 4) || k == p.first[i] + chosen;
        Problem kept = problem_restrict(a, &p, keep, &original);
        whole = arena_array(a, int, p.n_nodes);
        for (int i = 0; i < p.n_nodes; i++) {
            start[i] = below(&r, n_alternatives(&kept, i));
            whole[i] = original[kept.first[i] + start[i]];
        }
        ChoicePrice x = problem_price(&kept, start), y = problem_price(&p, whole);
        assert_true(x.cost == y.cost && x.peak == y.peak && x.is_forbidden == y.is_forbidden);
        SolveOptions o = {.threads = 1, .seed = seed, .engine = "cbc"};
        Best best = brute_force(&kept);
        Answer s;
        o.gap = is_large(&p) ? 1e-6 : 0;
        o.programs = programs(a);
        o.start = start;
        solve(a, &kept, &o, &s, NULL);
        judge((int)seed, &o, &best, &s);
        arena_free(a);
    }
}

// ---- without presolve ----

typedef struct Found {
    const Problem *p;
    bool is_any;
    Wide cost;
} Found;

static void hear(void *to, const int *choice, Wide cost)
{
    Found *f = to;
    ChoicePrice price = problem_price(f->p, choice);

    assert_true(!price.is_forbidden && price.cost == cost && price.peak <= f->p->limit);
    f->cost = f->is_any && f->cost < cost ? f->cost : cost;
    f->is_any = true;
}

static void check_branching(uint64_t seed, Engine *e)
{
    Arena *a = arena_new();
    Problem p = random_problem(a, seed);
    Best best = brute_force(&p);
    Model *m = model_new(a, &p, e, &(Dual){0});
    Found f = {&p};
    Wide cutoff = NO_CUTOFF, bound = -cutoff;

    if (!is_large(&p)) {
        MipStatus status = model_branch(m, cutoff, 1000000, (Listener){hear, &f}, &bound);
        if (f.is_any != best.is_feasible || (f.is_any && f.cost != best.cost))
            fail_msg("seed %d: cost %.0f, not %.0f", (int)seed, (double)f.cost, (double)best.cost);
        if (best.is_feasible && bound > best.cost)
            fail_msg("seed %d: status %d, bound %.0f of %.0f", (int)seed, status, (double)bound,
                     (double)best.cost);
    }
    engine_clear(e);
    arena_free(a);
}

// Gives every step-th problem to one engine.
static void branch_by(const char *engine, uint64_t step)
{
    Arena *a = arena_new();
    Deadline w = deadline_start(0);
    Engine *e = engine_start(programs(a), engine, &w, NULL);

    assert_non_null(e);
    for (uint64_t seed = 0; seed < PROBLEMS; seed += step)
        check_branching(seed, e);
    engine_end(e);
    arena_free(a);
}

static void branches_by_cbc(void **state) { branch_by("cbc", 3); }

static void branches_by_glpk(void **state) { branch_by("glpk", 1); }

// ---- one problem ----

static void the_example(void **state)
{
    static const char *const engines[] = {"cbc", "glpk"};

    for (int i = 0; i < COUNT(engines); i++) {
        Arena *a = arena_new();
        SolveOptions o = {.threads = 1, .seed = 1, .engine = engines[i], .programs = programs(a)};
        Problem p;
        Answer s;

        assert_true(problem_parse(a, (File){(const uint8_t *)example, strlen(example)}, &p, NULL));
        solve(a, &p, &o, &s, NULL);
        assert_true(s.outcome == OUTCOME_PROVED && s.cost == EXAMPLE_OPTIMUM);
        p.limit = EXAMPLE_MIN - 1;
        solve(a, &p, &o, &s, NULL);
        assert_true(s.outcome == OUTCOME_INFEASIBLE && s.least_bound == EXAMPLE_MIN);
        assert_true(s.choice && s.least == EXAMPLE_MIN);
        arena_free(a);
    }
}

static void no_nodes(void **state)
{
    Arena *a = arena_new();
    SolveOptions o = {.threads = 1, .engine = "glpk", .programs = programs(a)};
    Problem p = {.first = (int[]){0}, .first_live = (int[]){0}};
    Answer s;

    solve(a, &p, &o, &s, NULL);
    assert_true(s.outcome == OUTCOME_PROVED && s.cost == 0);
    arena_free(a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_example),          cmocka_unit_test(no_nodes),
        cmocka_unit_test(solves_by_cbc),        cmocka_unit_test(solves_by_glpk),
        cmocka_unit_test(begins_with_a_choice), cmocka_unit_test(branches_by_cbc),
        cmocka_unit_test(branches_by_glpk),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
