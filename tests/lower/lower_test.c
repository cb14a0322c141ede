// Tests that lowered programs compute what their graphs compute. The graphs are small models in IR
// text after the training passes; the arena starts full of NaN.
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "lower/recompute/policies.h"
#include "tests/lower/programs.h"

// The largest difference; it is relative for large numbers.
static double difference(const Tensor *x, const Tensor *y)
{
    double worst = 0;

    assert_int_equal(tensor_count(x), tensor_count(y));
    for (int64_t i = 0; i < tensor_count(x); i++) {
        double e = x->f ? fabs(x->f[i] - y->f[i]) / fmax(1, fabs(x->f[i]))
                        : (double)llabs(x->i[i] - y->i[i]);
        worst = !(e <= worst) ? e : worst;
    }
    return worst;
}

// Compares the outputs and the carried values with the graph's own evaluation.
static void compare(const Machine *m, const Tensor *values, double most)
{
    const Graph *g = m->s->g;

    for (int i = 0; i < g->n_outputs + g->n_carries; i++) {
        bool is_out = i < g->n_outputs;
        ValueId v = is_out ? g->outputs[i].value : g->carries[i - g->n_outputs].in;
        ValueId w = is_out ? v : g->carries[i - g->n_outputs].out;
        if (is_out ? g->outputs[i].role == OUTPUT_GRADIENT : value_of(g, v)->kind == VALUE_ZERO)
            continue;  // an update may overwrite a gradient, and a gradient its accumulator
        Operand o = whole(m, v);
        Tensor t = load(m, &o, 0, value_of(g, v)->rank, value_of(g, v)->dim);
        double e = difference(&values[w], &t);
        if (!(e <= most))
            fail_msg("%s differs by %g", is_out ? g->outputs[i].name : value_of(g, v)->name, e);
    }
}

// Recomputing values changes no bit of the outputs. Returns the graph that recomputes.
static Graph *check_recompute(Arena *a, const Graph *g, Diag *d)
{
    Tensor *before = evaluate(a, g);
    Graph *x = recompute(a, g, &(RecomputePolicy){RECOMPUTE_MIN_CUT}, &target_cpu, d);

    assert_true(x && graph_verify(x, d));
    Tensor *after = evaluate(a, x);
    for (int i = 0; i < g->n_outputs; i++)
        assert_true(difference(&before[g->outputs[i].value], &after[x->outputs[i].value]) == 0);
    return x;
}

// Runs the program of a graph, for training or forward only.
static void check_program(Arena *a, Graph *g, const LowerOptions *lo, double most, Diag *d)
{
    int n_values = g->n_values;
    Program *p = g->training ? lower(a, g, NULL, lo, d) : lower(a, NULL, g, lo, d);

    assert_true(p && program_check(p, d));
    Machine m = {.p = p, .s = &p->set[g->training ? SET_TRAIN : SET_PREDICT]};
    int added = g->n_values - n_values;
    g->n_values = n_values;
    Tensor *values = evaluate(a, g);
    g->n_values += added;
    Tensor *all = arena_array(a, Tensor, g->n_values);
    memcpy(all, values, sizeof *values * (size_t)n_values);
    prepare(&m, all);
    run_items(&m, 0, m.s->n_items);
    compare(&m, all, most);
    arena_free(m.scratch);
    free(m.bytes);
}

// Checks one case. Without clip_norm, updates needn't wait for a norm and run in the backward
// part.
static void check(int i, bool fuse, double clip_norm)
{
    Arena *a = arena_new();
    Diag d = {.file = "case"};
    Graph *g = training(a, i, clip_norm, &d);
    LowerOptions lo = {.target = &target_cpu, .fuse = fuse, .accumulate = cases[i].accumulate};

    if (fuse)
        g = check_recompute(a, g, &d);
    // Without clipping, large gradients are squared.
    check_program(a, g, &lo, clip_norm > 0 ? 1e-5 : 5e-5, &d);
    arena_free(a);
}

static void check_forward(int i, bool fuse)
{
    Arena *a = arena_new();
    Diag d = {.file = "case"};
    Graph *g = graph_parse(a, cases[i].text, strlen(cases[i].text), &d);

    assert_non_null(g);
    g->diag = &d;
    g->training = false;
    assert_true(fold(g, &d) && patterns(g, &d) && guards(g, &d) && means(g, &d) && refine(g, &d) &&
                simplify(g, &d) && blocks(g, &d) && graph_verify(g, &d));
    check_program(a, g, &(LowerOptions){.target = &target_cpu, .fuse = fuse, .accumulate = 1}, 1e-5,
                  &d);
    arena_free(a);
}

static void test_programs(void **state)
{
    (void)state;
    for (int i = 0; i < COUNT(cases); i++)
        for (int k = 0; k < 4; k++) {
            printf("# %s%s%s\n", cases[i].name, k % 2 ? "" : ", not fused",
                   k / 2 ? ", clipped" : "");
            check(i, k % 2, k / 2);
        }
}

static void test_forward_programs(void **state)
{
    (void)state;
    for (int i = 0; i < COUNT(cases); i++)
        for (int fuse = 0; fuse < 2; fuse++) {
            printf("# %s, forward only%s\n", cases[i].name, fuse ? "" : ", not fused");
            check_forward(i, fuse);
        }
}

// One group computes a gradient and the update that reads it; the gradient is shown after the
// group.
static void test_update_in_one_pass(void **state)
{
    (void)state;
    Arena *a = arena_new();
    Diag d = {.file = "case"};
    LowerOptions lo = {.target = &target_cpu, .fuse = true, .accumulate = 1};
    Program *p = lower(a, training(a, COUNT(cases) - 1, 0, &d), NULL, &lo, &d);
    int groups = 0;

    assert_true(p && program_check(p, &d));
    const Set *s = &p->set[SET_TRAIN];
    for (int i = 0; i < s->n_items; i++) {
        const Item *it = &s->items[i];
        groups += it->kind == ITEM_GROUP && it->rank == 2 &&
                  s->g->nodes[it->nodes[it->n_nodes - 1]].phase == UPDATE;
    }
    assert_int_equal(groups, 1);
    arena_free(a);
}

// The item that shows the gradient of a value of this size.
static int gradient_of(const Set *s, int64_t count)
{
    for (int i = 0; i < s->n_items; i++)
        if (s->items[i].kind == ITEM_GRADIENT &&
            value_count(value_of(s->g, s->items[i].operands[0].base)) == count)
            return i;
    fail_msg("no gradient has %d elements", (int)count);
    return 0;
}

// The gradient of a head's weight takes more than what it is made of. It is the last one where all
// of them wait for their norm, and else the first one.
static void test_large_gradient(void **state)
{
    enum { CASE = COUNT(cases) - 2, HEAD = 64, OTHER = 16 };

    (void)state;
    for (int clip = 0; clip < 2; clip++) {
        Arena *a = arena_new();
        Diag d = {.file = "case"};
        LowerOptions lo = {.target = &target_cpu, .fuse = true, .accumulate = 1};
        Program *p = lower(a, training(a, CASE, clip, &d), NULL, &lo, &d);
        assert_true(p && program_check(p, &d));
        const Set *s = &p->set[SET_TRAIN];
        assert_true((gradient_of(s, HEAD) > gradient_of(s, OTHER)) == clip);
        arena_free(a);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_programs), cmocka_unit_test(test_forward_programs),
        cmocka_unit_test(test_update_in_one_pass), cmocka_unit_test(test_large_gradient)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
