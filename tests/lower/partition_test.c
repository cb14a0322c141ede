// Tests that sharded nodes compute what whole nodes compute: every operator under its strategies,
// on meshes whose axes divide no size evenly. `partition_test all` tries all strategies of each
// sample.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

#include "tests/ir/sample.h"
#include "tests/lower/models.h"
#include "tests/lower/plans.h"
#include "tests/lower/ranks.h"
#include "tests/sanitized.h"

// ---- nodes ----

static void fail_at(const char *what, const Plan *p, const Graph *g, ValueId v)
{
    Text t = {0};

    for (int a = 0; a < p->mesh.n_axes; a++)
        text_printf(&t, "%s%d", a ? "x" : "mesh ", p->mesh.size[a]);
    text_printf(&t, ", value %d as ", (int)v);
    spec_print(&p->mesh, value_of(g, v), &p->storage_spec[v], &t);
    fail_msg("%s: %s", what, t.s);
}

// Checks a plan of the sample's graph in which the node has that strategy.
static void check_strategy(const Sample *s, const char *text, const Mesh *m,
                           const Strategy *strategy, Dice *d)
{
    Arena *a = arena_new();
    Diag diag = {.file = text};
    Plan p = roll_plan(a, s->g, m, d, NULL, 0, strategy);
    Sharded *sharded = partition(a, s->g, &p, &diag);
    Tensor *whole = arena_array(a, Tensor, s->g->n_values);

    if (!sharded || !graph_verify(sharded->g, &diag))
        fail_at(text, &p, s->g, s->node.out[0]);
    for (int i = 0; i < s->node.n_in; i++)
        whole[s->node.in[i]] = s->in[i];
    graph_eval(a, s->g, whole);
    RankTensors c = all_ranks_eval(a, sharded, whole);
    for (ValueId v = 1; v < sharded->g->n_values; v++) {
        bool same = true;
        Tensor got = join_shards(&c, v, &same);
        ValueId of = sharded->value[v].of;
        if (!same || !is_near(&got, &whole[of], whole[of].dtype == BF16 ? 1e-2 : 2e-5))
            fail_at(text, &p, s->g, of);
    }
    arena_free(a);
}

// Checks the strategies of a sample: all of them, or about `most`.
static int check_sample(const SampleText *t, const Mesh *m, int most, Dice *d)
{
    Sample s = sample_read(t, false);
    Strategy *all;
    Rule r;

    node_rule(s.arena, s.g, &s.node, &r);
    int n = s.node.op->exchange ? 0 : strategies_of(s.arena, &r, m, &all);
    int step = n / most + 1, tried = 0;
    for (int i = 0; i < n; i += step, tried++) {
        int k = i + roll(d, n - i < step ? n - i : step);
        assert_true(strategy_is_legal(&r, m, &all[k]));
        check_strategy(&s, t->node, m, &all[k], d);
    }
    sample_free(&s);
    return tried;
}

static int samples_tried = IS_SANITIZED ? 6 : 24;

static void nodes_of_every_operator(void **state)
{
    Dice d = {1};
    int tried = 0;

    for (int k = 0; k < COUNT(samples); k++) {
        const Mesh large = mesh_of(4, (int[]){2, 2, 3, 2});
        for (int i = 0; i < COUNT(meshes) && samples[k].rule; i++) {
            Mesh m = mesh_of(meshes[i].n_axes, meshes[i].size);
            tried += check_sample(&samples[k], &m, samples_tried, &d);
        }
        if (samples[k].rule)
            tried += check_sample(&samples[k], &large, samples_tried / 4, &d);
    }
    print_message("%d splits of nodes\n", tried);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(nodes_of_every_operator)};

    if (argc > 1 && !strcmp(argv[1], "all"))
        samples_tried = MAX_STRATEGIES;
    return cmocka_run_group_tests(tests, NULL, NULL);
}
