// Tests that lowered programs of several ranks compute what one rank computes, under random plans
// of the tiny models' training steps. All ranks run side by side, each on its own arena, which
// starts full of NaN, on chunks with their padding. Each program runs twice: overlapped
// collectives are done where they start, and where they are waited for. `machines_test N` tries N
// plans of each model.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include "tests/lower/machines.h"
#include "tests/lower/models.h"
#include "tests/lower/plans.h"
#include "tests/sanitized.h"

// ---- comparing ----

// Compares the carried values and the outputs, except gradients, which updates may overwrite, and
// accumulators, which gradients may overwrite.
static void compare(Machines *x, const Model *m, uint64_t dice)
{
    const Graph *g = x->all_ranks.s->g;
    bool same = true;
    double most = largest_gradient(m);

    for (int i = 0; i < g->n_outputs + g->n_carries; i++) {
        bool is_out = i < g->n_outputs;
        ValueId v = is_out ? g->outputs[i].value : g->carries[i - g->n_outputs].in;
        ValueId w = is_out ? v : g->carries[i - g->n_outputs].out;
        const Tensor *want = &m->value[x->all_ranks.s->value[w].of];
        bool may_be_gone =
            is_out ? g->outputs[i].role == OUTPUT_GRADIENT : value_of(g, v)->kind == VALUE_ZERO;
        if (!want->f || may_be_gone || (!is_out && !m->is_smooth))
            continue;
        for (int r = 0; r < x->all_ranks.n; r++) {
            Operand o = whole(&x->m[r], v);
            x->all_ranks.value[r][v] = load_shard(&x->m[r], v, &o, 0);
        }
        Tensor got = join_shards(&x->all_ranks, v, &same);
        double error = error_of(&got, want, is_out ? 0 : most);
        if (!(error <= 1e-5) || !same)
            fail_msg("%s on %d ranks, dice %" PRIu64 ": %s is off by %.2g%s", m->name,
                     x->all_ranks.n, dice, is_out ? g->outputs[i].name : value_of(g, v)->name,
                     error, same ? "" : "; ranks differ");
    }
}

static void run_and_compare(Machines *x, const Program *p, const Model *m, uint64_t dice)
{
    machines_start(x, p, m->value);
    run_program(x);
    compare(x, m, dice);
    machines_end(x);
}

// Counts programs with overlapped items, with skewed items, with loop fission, and those whose
// predicted time grows when messages keep ranks busy.
static int slots, skew, fission_part, slowed;

// A program takes at least its computation and at least its communication, and at most their sum.
// This also holds if messages keep the ranks from computing while they are in flight.
static void check_time(const Program *p, const Cluster *c, Mesh *mesh)
{
    Simulated t = program_simulate(p, SET_TRAIN, c);
    double most = t.compute + t.communication;

    assert_true(t.seconds <= most * (1 + 1e-9));
    assert_true(t.seconds >= fmax(t.compute, t.communication) * (1 - 1e-9));
    for (int a = 0; a < mesh->n_axes; a++)
        mesh->overhead[a] = mesh->beta[a];
    Simulated slow = program_simulate(p, SET_TRAIN, c);
    assert_true(slow.compute == t.compute && slow.communication == t.communication);
    assert_true(slow.seconds >= t.seconds * (1 - 1e-9) && slow.seconds <= most * (1 + 1e-9));
    slowed += slow.seconds > 1.01 * t.seconds;
}

static void check_plan(const Model *m, int at, Dice *d, Seen *seen)
{
    Arena *a = arena_new();
    // The machines range from slow ones, compared with their links, to ones that finish before any
    // message arrives.
    double rate = pow(10, 3 + roll(d, 8));
    Cluster cluster = {.bandwidth = rate, .read_bandwidth = rate, .vector = rate};
    Mesh mesh = mesh_of(meshes[at].n_axes, meshes[at].size);
    uint64_t dice = d->state;
    Diag diag = {.file = m->name};
    Plan plan = roll_plan(a, m->g, &mesh, d, seen, 0, NULL);
    Sharded *s = bucket(a, partition(a, m->g, &plan, &diag));
    LowerOptions o = {.target = &target_cpu,
                      .fuse = roll(d, 4) > 0,
                      .accumulate = 1,
                      .sharded = {s},
                      .cluster = &cluster,
                      .overlap_level = roll(d, 3)};
    Program *p = lower(a, s->g, NULL, &o, &diag);

    assert_true(p && program_check(p, &diag));
    check_time(p, &cluster, &plan.mesh);
    Machines x = machines_new(a, s);
    run_and_compare(&x, p, m, dice);
    x.exchanges_at_wait = true;
    run_and_compare(&x, p, m, dice);
    slots += p->n_slots;
    for (int i = 0; i < p->set[SET_TRAIN].n_items; i++) {
        const Item *it = &p->set[SET_TRAIN].items[i];
        skew += it->kind == ITEM_LOOP && it->loop.skew;
        fission_part += it->kind == ITEM_LOOP && it->loop.fission_part;
    }
    arena_free(a);
}

static Asked asked;

enum { EACH = IS_SANITIZED ? 4 : 1 };  // model is tried

static void programs_of_models(void **state)
{
    for (int i = 0; i < COUNT(models); i += EACH) {
        if (!is_asked(&asked, i))
            continue;
        Model m = model_new(i);
        Dice d = {101 + (uint64_t)i};
        Seen *seen = arena_array(m.arena, Seen, m.g->n_nodes);
        for (int k = 0; k < asked.plans; k++)
            check_plan(&m, (i + k) % COUNT(meshes), &d, seen);
        arena_free(m.arena);
    }
    if (IS_SANITIZED)
        return;
    assert_true(slots > asked.plans);
    assert_true(skew > 0);
    assert_true(fission_part > 0);
    assert_true(slowed > 0);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(programs_of_models)};

    asked = asked_of(argc, argv);
    asked.plans = asked.plans ? asked.plans : 1;
    return cmocka_run_group_tests(tests, NULL, NULL);
}
