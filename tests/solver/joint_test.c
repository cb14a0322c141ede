// Compares joint plans, of sharding and recomputation together, with all that there are. The steps
// are small and have three equal layers: specs, strategies, policies and counts of layers
// are enumerated, and the program of each plan is made (joint_all.h). Pins leave so few decisions
// free that this is possible. Each step is planned within five memories between the least that any
// plan takes and what the fastest one takes.
//
//     joint [--count N] [--seed S]
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "compile/fit/fit_memory.h"
#include "tests/sanitized.h"
#include "tests/solver/joint_all.h"

// MAX_PLANS: of a step. MIN_RANGE: percent of the memory that choices have to save of what the
// fastest plan takes; other steps don't count.
enum { MEMORIES = 5, MAX_PLANS = 300, MIN_RANGE = 5 };

// How much longer the step of a plan may be than the shortest one: on average, and at worst.
static const double MAX_MEAN_GAP = 0.005, MAX_GAP = 0.05;

enum { STEPS = IS_SANITIZED ? 1 : 3, MAX_ALWAYS = IS_SANITIZED ? 1 : 100 };

static struct {
    int count;
    uint64_t seed;
} asked = {STEPS, 946};  // of which the first and the last step need local search

// Steps that are tried with any others. 910: a strategy has to change together with the copy that
// its node reads; 4331: so does a storage spec. 20261130: one move fits and is better than the
// several that come first. 4328: all layers have to change at an index where only some of them run
// again, and the plan that is changed fits with less overlap. 9009: a weight and another value of
// its shape are sliced, only the one without a copy. 20261184: a plan of which more runs again
// costs less by the prices of nodes, as what isn't kept needn't be written.
static const uint64_t always[] = {910, 4328, 4331, 9009, 20261130, 20261184};

typedef struct Sums {
    int steps, plans, found, not_found, above_gap, high_bounds, high_step_bounds;
    double gap, worst_gap;
} Sums;

static CompileStatus find(Arena *a, const Joint *j, int64_t memory, PlanResult *to, Diag *d)
{
    const Step *s = j->step;
    const char **pin = arena_array(a, const char *, (size_t)s->train->n_nodes + s->train->n_values);
    const PlanRequest r = {.target = &target_cpu,
                           .ranks = mesh_ranks(&s->mesh),
                           .accumulate = 1,
                           .memory = memory,
                           .mesh = s->mesh_text,
                           .pin = pin,
                           .n_pins = joint_pins(j, pin),
                           .recompute = {.rule = RECOMPUTE_MIN_CUT},
                           .chooses_recompute = true,
                           .fuse = true};

    return fit_recompute(a, &r, &s->cluster, s->train, s->predict, to, d);
}

// Checks a plan that was found against the best of all that fit.
static void judge(const Joint *j, int64_t memory, const PlanResult *x, uint64_t seed, Sums *sums)
{
    const Planned *p = &x->planned;
    const Least least = joint_least(j, memory);
    double gap = x->step.seconds / least.seconds - 1;

    assert_true(x->program->arena_bytes <= memory);
    sums->found++;
    sums->gap += gap > 0 ? gap : 0;
    sums->worst_gap = gap > sums->worst_gap ? gap : sums->worst_gap;
    sums->above_gap += gap > MAX_GAP;
    sums->high_bounds += p->answer.bound > least.price;
    sums->high_step_bounds += p->step_bound > least.overlap;
    if (gap > MAX_GAP || p->answer.bound > least.price)
        print_message("step %d, memory %.0f: %.1f us, least %.1f us; bound %.0f ns, least price "
                      "%.0f ns\n",
                      (int)seed, (double)memory, 1e6 * x->step.seconds, 1e6 * least.seconds,
                      1e-3 * (double)p->answer.bound, 1e-3 * (double)least.price);
}

// Checks the price that the plan reports against one that is added up here.
static void check_price(Arena *a, const Joint *j, const PlanResult *x)
{
    const Planned *p = &x->planned;

    for (int i = 0; i < j->n_policies; i++)
        if (recompute_policy_equal(&j->policy[i].policy, &p->plan.recompute)) {
            const Priced y = plan_price(a, j, &j->policy[i], &p->plan);
            assert_int_equal(y.compute, p->compute);
            assert_int_equal(y.communication, p->communication);
        }
}

static void plan_within(const Joint *j, int64_t memory, uint64_t seed, Sums *sums)
{
    Arena *a = arena_new();
    Text said = {0};
    Diag d = {.file = "joint", .to = &said};
    PlanResult x = {0};

    if (find(a, j, memory, &x, &d) == COMPILE_DONE) {
        judge(j, memory, &x, seed, sums);
        check_price(a, j, &x);
    } else {
        print_message("step %d, memory %.0f: %s", (int)seed, (double)memory, said.s);
        sums->not_found++;
    }
    text_free(&said);
    arena_free(a);
}

static void try_step(uint64_t seed, Sums *sums)
{
    Arena *a = arena_new();
    Text said = {0};
    Diag d = {.file = "joint", .to = &said};
    Dice dice = {seed * 0x2545f4914f6cdd1d + 1};
    Step s;

    roll(&dice, 2);
    if (!draw_step(a, &dice, &s, &d))
        fail_msg("step %d: %s", (int)seed, said.n ? said.s : "its layers are no class");
    Joint *j = joint_new(a, &s, &dice, MAX_PLANS, &d);
    joint_enumerate(j);
    int64_t least = joint_fewest_bytes(j), most = joint_least(j, INT64_MAX).bytes;
    if (100 * (most - least) > MIN_RANGE * most) {
        sums->steps++;
        sums->plans += j->n_priced;
        for (int i = 0; i < MEMORIES; i++)
            plan_within(j, least + (most - least) * (2 * i + 1) / (2 * MEMORIES), seed, sums);
    }
    text_free(&said);
    arena_free(a);
}

static void as_good_as_all_plans(void **state)
{
    Sums s = {0};

    for (uint64_t seed = asked.seed; s.steps < asked.count; seed++)
        try_step(seed, &s);
    for (size_t i = 0; i < COUNT(always) && i < MAX_ALWAYS; i++)
        try_step(always[i], &s);
    print_message("%d steps, %d plans enumerated, %d found, %d not found; gap %.3f %% on average, "
                  "%.2f %% at worst, %d above %.0f %%; bounds above the least: %d of prices, %d of "
                  "steps\n",
                  s.steps, s.plans, s.found, s.not_found, 100 * s.gap / s.found, 100 * s.worst_gap,
                  s.above_gap, 100 * MAX_GAP, s.high_bounds, s.high_step_bounds);
    assert_int_equal(s.not_found, 0);
    assert_int_equal(s.high_bounds, 0);
    assert_int_equal(s.high_step_bounds, 0);
    assert_true(s.gap <= MAX_MEAN_GAP * s.found && s.worst_gap <= MAX_GAP);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(as_good_as_all_plans)};

    for (int i = 1; i + 1 < argc; i += 2)
        if (!strcmp(argv[i], "--count"))
            asked.count = atoi(argv[i + 1]);
        else if (!strcmp(argv[i], "--seed"))
            asked.seed = strtoull(argv[i + 1], NULL, 10);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
