// Tests that program_check finds mistakes. Programs are changed at one random point, and those
// that then compute something else must not pass, nor those with wrong tables of tensors. The
// programs before the change are right: training steps of the cases on one rank, and of tiny models
// on several. `mutant_test N` tries N mutants of each.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

#include "tests/lower/machines.h"
#include "tests/lower/models.h"
#include "tests/lower/mutations.h"
#include "tests/lower/plans.h"
#include "tests/lower/programs.h"
#include "tests/sanitized.h"

// ---- what programs compute ----

typedef struct Outcome {
    uint64_t hash;
    bool is_lost;
} Outcome;

// Adds the outputs and the carried values of one rank to the hash.
static void add_ends(const Machine *m, uint64_t *hash)
{
    const Graph *g = m->s->g;

    for (int i = 0; i < g->n_outputs + g->n_carries; i++) {
        bool is_out = i < g->n_outputs;
        ValueId v = is_out ? g->outputs[i].value : g->carries[i - g->n_outputs].in;
        if ((is_out && g->outputs[i].role == OUTPUT_GRADIENT) || !m->s->address[v].buffer)
            continue;
        Operand o = whole(m, v);
        *hash = hash_value(m, &o, 0, *hash);
    }
}

// A program that can be run repeatedly.
typedef struct Subject {
    const char *name;
    Program *p;
    Graph *g;       // for one rank
    Tensor *value;  // for one rank: the values without producer
    Sharded *s;     // for several ranks
    const Model *model;
} Subject;

static Outcome run_alone(Arena *a, const Subject *x)
{
    Outcome o = {0};
    Machine m = {.p = x->p, .s = &x->p->set[SET_TRAIN], .is_lost = &o.is_lost, .shown = &o.hash};

    (void)a;
    prepare(&m, x->value);
    run_items(&m, 0, m.s->n_items);
    add_ends(&m, &o.hash);
    arena_free(m.scratch);
    free(m.bytes);
    return o;
}

static void run_all_ranks(Arena *a, const Subject *x, bool exchanges_at_wait, Outcome *o)
{
    Machines all = machines_new(a, x->s);

    all.exchanges_at_wait = exchanges_at_wait;
    machines_start(&all, x->p, x->model->value);
    for (int r = 0; r < all.all_ranks.n; r++) {
        all.m[r].is_lost = &o->is_lost;
        all.m[r].shown = &o->hash;
    }
    run_program(&all);
    for (int r = 0; r < all.all_ranks.n; r++)
        add_ends(&all.m[r], &o->hash);
    machines_end(&all);
}

static Outcome run(const Subject *x)
{
    Arena *a = arena_new();
    Outcome o = {0};

    if (x->s) {
        run_all_ranks(a, x, false, &o);
        run_all_ranks(a, x, true, &o);
    } else {
        o = run_alone(a, x);
    }
    arena_free(a);
    return o;
}

static bool passes(const Subject *x)
{
    int ranks = x->s ? mesh_ranks(&x->s->plan->mesh) : 1;
    bool ok = true;

    for (int r = 0; r < ranks && ok; r++)
        ok = set_check(x->p, SET_TRAIN, r, NULL);
    return ok;
}

// ---- mutants ----

static struct {
    int tried, differ, missed, found;  // found: whether or not the mutants differ
} counts[COUNT(mutations)];

typedef Subject (*Maker)(Arena *a, int i, uint64_t plan);

// Changes program i once and checks the mutant; `k` is the kind of mutation.
static void try_mutant(Maker make, int i, uint64_t plan, int k, uint64_t dice, const Outcome *right)
{
    Arena *a = arena_new();
    Subject x = make(a, i, plan);
    Dice d = {dice};
    bool is_changed = false;

    for (int tries = 0; !is_changed && tries < 20; tries++)
        is_changed = mutations[k].change(x.p, &x.p->set[SET_TRAIN], &d);
    if (is_changed && !mutations[k].is_stored)
        program_finish(x.p);
    if (is_changed) {
        Outcome o = run(&x);
        bool differs = o.is_lost || o.hash != right->hash || mutations[k].is_table;
        bool is_found = !passes(&x);
        counts[k].tried++;
        counts[k].differ += differs;
        counts[k].found += is_found;
        counts[k].missed += differs && !is_found;
        if (differs && !is_found)
            printf("# missed: %s, program %d of plan %" PRIu64 ", dice %" PRIu64 ": %s\n", x.name,
                   i, plan, dice, mutations[k].name);
    }
    arena_free(a);
}

static void try_program(Maker make, int i, uint64_t plan, int mutants, Dice *d)
{
    Arena *a = arena_new();
    Subject x = make(a, i, plan);
    Outcome right = run(&x);

    if (right.is_lost || !passes(&x))
        fail_msg("%s: a good program is refused", x.name);
    for (int n = 0; n < mutants; n++)
        try_mutant(make, i, plan, roll(d, COUNT(mutations)), d->state, &right);
    arena_free(a);
}

static Subject make_case(Arena *a, int i, uint64_t plan)
{
    Diag *d = arena_array(a, Diag, 1);
    LowerOptions lo = {.target = &target_cpu, .fuse = i % 3 > 0, .accumulate = cases[i].accumulate};
    Subject x = {.name = cases[i].name};

    (void)plan;
    d->file = x.name;
    x.g = training(a, i, i % 2, d);
    Tensor *value = evaluate(a, x.g);
    int n_values = x.g->n_values;
    x.p = lower(a, x.g, NULL, &lo, d);
    assert_non_null(x.p);
    x.value = arena_array(a, Tensor, x.g->n_values);
    memcpy(x.value, value, sizeof *value * (size_t)n_values);
    return x;
}

static Model split_models[COUNT(models)];

static Subject make_split(Arena *a, int i, uint64_t plan)
{
    Diag *diag = arena_array(a, Diag, 1);
    int at = (i + (int)plan) % 4;
    Dice d = {16 * plan + (uint64_t)i};
    double rate = pow(10, 5 + roll(&d, 4));  // at 1e5 many collectives overlap computation
    const Cluster cluster = {.bandwidth = rate, .read_bandwidth = rate, .vector = rate};
    Subject x = {.name = models[i].name, .model = &split_models[i]};

    if (!split_models[i].g)
        split_models[i] = model_new(i);
    diag->file = x.name;
    Mesh mesh = mesh_of(meshes[at].n_axes, meshes[at].size);
    Seen *seen = arena_array(a, Seen, x.model->g->n_nodes);
    Plan *rolled = arena_array(a, Plan, 1);
    *rolled = roll_plan(a, x.model->g, &mesh, &d, seen, 0, NULL);
    x.s = bucket(a, partition(a, x.model->g, rolled, diag));
    LowerOptions o = {.target = &target_cpu,
                      .fuse = true,
                      .accumulate = 1,
                      .sharded = {x.s},
                      .cluster = &cluster};
    x.p = lower(a, x.s->g, NULL, &o, diag);
    assert_non_null(x.p);
    return x;
}

enum { MANY = 100 };
static int asked_mutants = IS_SANITIZED ? 20 : MANY;  // of each program

static void test_mutants(void **state)
{
    static const char *const split[] = {"regress", "mlp", "cnn", "gpt_dropout", "mixer"};
    enum { PLANS = 3 };
    int differ = 0, missed = 0;
    Dice d = {77};

    (void)state;
    for (int i = 0; i < COUNT(cases); i++)
        try_program(make_case, i, 0, asked_mutants, &d);
    for (int i = 0; i < COUNT(models); i++)
        for (int k = 0; k < COUNT(split); k++)
            for (int plan = 0; plan < PLANS && !strcmp(models[i].name, split[k]); plan++)
                try_program(make_split, i, (uint64_t)plan, asked_mutants / 24, &d);
    for (int k = 0; k < COUNT(mutations); k++) {
        printf("# %-24s %4d tried, %4d differ, %4d found, %d missed\n", mutations[k].name,
               counts[k].tried, counts[k].differ, counts[k].found, counts[k].missed);
        differ += counts[k].differ;
        missed += counts[k].missed;
    }
    printf("# %d mutants compute something else\n", differ);
    assert_int_equal(missed, 0);
    assert_true(differ >= 500 || asked_mutants < MANY);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_mutants)};

    if (argc > 1)
        asked_mutants = atoi(argv[1]);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
