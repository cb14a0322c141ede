// Tests optimizers, clipping and weight decay: parameters after some steps against PyTorch's,
// which tests/ir/reference.py made, and lamb's against the paper's algorithm in plain C; the
// graphs that they add; messages.
#include "tests/ir/optimizer_run.h"

static void numbers_are_pytorch_s(void **state)
{
    for (int i = 0; i < COUNT(references); i++) {
        const char *text = references[i].text;
        OptimizerOptions o = {.text = strchr(text, ' ') + 1, .clip_norm = atof(text + 5)};
        Run r = run_new(ONE_PARAMETER, &o);

        for (int t = 1; 6 * t <= references[i].n; t++) {
            run_step(&r, t);
            for (int64_t k = 0; k < 6; k++)
                check(text, t, k, r.values[named(r.g, "w")].f[k],
                      references[i].want[6 * (t - 1) + k]);
        }
        run_free(&r);
    }
}

// ---- lamb ----

static double norm(const double *x)
{
    double sum = 0;

    for (int k = 0; k < 6; k++)
        sum += x[k] * x[k];
    return sqrt(sum);
}

// Algorithm 2 of You et al. 2020, line by line, for one layer; λ is the weight decay.
static void lamb_step(double *x, double *m, double *v, int t, double lr, double beta1, double beta2,
                      double eps, double lambda)
{
    double u[6];

    for (int k = 0; k < 6; k++) {
        double g = number(k, t);

        m[k] = beta1 * m[k] + (1 - beta1) * g;
        v[k] = beta2 * v[k] + (1 - beta2) * g * g;
        double r = m[k] / (1 - pow(beta1, t)) / (sqrt(v[k] / (1 - pow(beta2, t))) + eps);
        u[k] = r + lambda * x[k];
    }
    double a = norm(x), b = norm(u), ratio = a > 0 && b > 0 ? a / b : 1;
    for (int k = 0; k < 6; k++)
        x[k] -= lr * ratio * u[k];
}

static void lamb_is_the_paper_s(void **state)
{
    static const struct {
        const char *text;
        double lr, beta1, beta2, eps, lambda;
    } cases[] = {
        {"lamb", 1e-3, 0.9, 0.999, 1e-6, 0.01},
        {"lamb(lr=0.1, beta1=0.7, beta2=0.8, eps=0.1, weight_decay=0.3)", 0.1, 0.7, 0.8, 0.1, 0.3},
    };

    for (int i = 0; i < COUNT(cases); i++) {
        OptimizerOptions o = {.text = cases[i].text};
        Run r = run_new(ONE_PARAMETER, &o);
        double x[6], m[6] = {0}, v[6] = {0};

        for (int k = 0; k < 6; k++)
            x[k] = number(k, 0);
        for (int t = 1; t <= 4; t++) {
            run_step(&r, t);
            lamb_step(x, m, v, t, cases[i].lr, cases[i].beta1, cases[i].beta2, cases[i].eps,
                      cases[i].lambda);
            for (int k = 0; k < 6; k++)
                check(o.text, t, k, r.values[named(r.g, "w")].f[k], x[k]);
        }
        run_free(&r);
    }
}

// Lamb also moves a parameter of zeros, whose norm is 0.
static void lamb_leaves_zero(void **state)
{
    OptimizerOptions o = {.text = "lamb(lr=0.5)"};
    Run r = run_new(ONE_PARAMETER, &o);

    memset(r.values[named(r.g, "w")].f, 0, 6 * sizeof(double));
    run_step(&r, 1);
    for (int64_t k = 0; k < 6; k++)
        check(o.text, 1, k, r.values[named(r.g, "w")].f[k],
              -0.5 * (number(k, 1) > 0) + 0.5 * (number(k, 1) < 0));
    run_free(&r);
}

// ---- the graph ----

// The hyperparameters are inputs, so that other numbers need no other graph.
static void numbers_may_change(void **state)
{
    OptimizerOptions slow = {.text = "sgd(lr=0.5)"}, fast = {.text = "sgd(lr=0.1)"};
    Run a = run_new(ONE_PARAMETER, &slow), b = run_new(ONE_PARAMETER, &fast);

    assert_true(a.values[named(a.g, "lr")].f[0] == 0.5);
    a.values[named(a.g, "lr")].f[0] = b.values[named(b.g, "lr")].f[0];
    run_step(&a, 1);
    run_step(&b, 1);
    for (int k = 0; k < 6; k++)
        assert_true(a.values[named(a.g, "w")].f[k] == b.values[named(b.g, "w")].f[k]);
    run_free(&a);
    run_free(&b);
}

static void check_print(const Graph *g, const char *from, const char *expected)
{
    Text t = {0};

    graph_print(g, &t);
    const char *at = strstr(t.s, from);
    assert_non_null(at);
    assert_string_equal(at, expected);
    text_free(&t);
}

static void updates_are_graphs(void **state)
{
    OptimizerOptions o = {.text = "sgd(lr=0.1, momentum=0.9)", .clip_norm = 1};
    Run r = run_new(ONE_PARAMETER, &o);

    check_print(r.g, "  %v4",
                "  %v4 f32[2,3] = mul(%g, %g) from \"grad_norm\" \"w\" update\n"
                "  %v5 f32[] = reduce_sum(%v4) axes=[0,1] from \"grad_norm\" \"w\" update\n"
                "  %v6 f32[] = add(%v3, %v5) from \"grad_norm\" update\n"
                "  %v7 f32[] = sqrt(%v6) from \"grad_norm\" update\n"
                "  %v9 f32[] = neg(%lr) from \"sgd\" update\n"
                "  %v14 f32[] = add(%v7, %v13) from \"clip_norm\" update\n"
                "  %v15 f32[] = div(%clip_norm, %v14) from \"clip_norm\" update\n"
                "  %v17 f32[] = min(%v15, %v16) from \"clip_norm\" update\n"
                "  %v19 f32[2,3] = broadcast(%v17) shape=[2,3] from \"sgd\" \"w\" update\n"
                "  %v20 f32[2,3] = mul(%g, %v19) from \"sgd\" \"w\" update\n"
                "  %v21 f32[2,3] = broadcast(%weight_decay) shape=[2,3] from \"sgd\" \"w\" update\n"
                "  %v22 f32[2,3] = mul(%w, %v21) from \"sgd\" \"w\" update\n"
                "  %v23 f32[2,3] = add(%v20, %v22) from \"sgd\" \"w\" update\n"
                "  %v24 f32[2,3] = broadcast(%momentum) shape=[2,3] from \"sgd\" \"w\" update\n"
                "  %v25 f32[2,3] = mul(%w.momentum_buffer, %v24) from \"sgd\" \"w\" update\n"
                "  %v26 f32[2,3] = add(%v25, %v23) from \"sgd\" \"w\" update\n"
                "  %v27 f32[2,3] = broadcast(%v9) shape=[2,3] from \"sgd\" \"w\" update\n"
                "  %v28 f32[2,3] = mul(%v26, %v27) from \"sgd\" \"w\" update\n"
                "  %v29 f32[2,3] = add(%w, %v28) from \"sgd\" \"w\" update\n"
                "  output gradient \"w\" %g\n"
                "  output grad_norm \"grad_norm\" %v7\n"
                "  carry step %w %v29\n"
                "  carry step %w.momentum_buffer %v26\n"
                "}\n");
    run_free(&r);
}

// Two iterations with two parameters, and one outside; refined dims and own dims.
#define LAYERS                                                                                     \
    "graph \"g\" training {\n"                                                                     \
    "  class 1 \"h\" 2\n"                                                                          \
    "  input %g f32[2]\n"                                                                          \
    "  parameter %wte f32[2]\n"                                                                    \
    "  parameter %h.0.w f32[2] own [2,1] block 1.0.1\n"                                            \
    "  parameter %h.1.w f32[2] own [2,1] block 1.1.1\n"                                            \
    "  parameter %h.1.b f32[2] block 1.1.0\n"                                                      \
    "  parameter %h.0.b f32[2] block 1.0.0\n"                                                      \
    "  %a f32[2] = add(%h.0.b, %h.0.w) block 1.0.0\n"                                              \
    "  %b f32[2] = add(%h.1.b, %h.1.w) block 1.1.0\n"                                              \
    "  output gradient \"h.0.w\" %a\n"                                                             \
    "  output gradient \"h.1.w\" %b\n"                                                             \
    "  output gradient \"wte\" %g\n"                                                               \
    "  output gradient \"h.1.b\" %b\n"                                                             \
    "  output gradient \"h.0.b\" %a\n"                                                             \
    "}\n"

// Each iteration sums its own squares, whatever the order of iterations. The sums are added
// afterwards.
static void norm_is_a_sum_of_blocks(void **state)
{
    Arena *a = arena_new();
    Text said = {0};
    Diag d = {.file = "g", .to = &said};
    Graph *g = parse(a, LAYERS, &d);

    assert_true(clip_add(g, &d) && graph_verify(g, &d));
    check_print(
        g, "  %v10",
        "  %v10 f32[2] = mul(%g, %g) from \"grad_norm\" \"wte\" update\n"
        "  %v11 f32[] = reduce_sum(%v10) axes=[0] from \"grad_norm\" \"wte\" update\n"
        "  %v12 f32[] = add(%v9, %v11) from \"grad_norm\" update\n"
        "  %v13 f32[2] = mul(%a, %a) from \"grad_norm\" \"h.0.b\" update block 1.0.1\n"
        "  %v14 f32[] = reduce_sum(%v13) axes=[0] from \"grad_norm\" \"h.0.b\" update block 1.0.2\n"
        "  %v15 f32[2] = mul(%a, %a) from \"grad_norm\" \"h.0.w\" update block 1.0.3\n"
        "  %v16 f32[] = reduce_sum(%v15) axes=[0] from \"grad_norm\" \"h.0.w\" update block 1.0.4\n"
        "  %v17 f32[] = add(%v14, %v16) from \"grad_norm\" \"h.0.w\" update block 1.0.5\n"
        "  %v18 f32[2] = mul(%b, %b) from \"grad_norm\" \"h.1.b\" update block 1.1.1\n"
        "  %v19 f32[] = reduce_sum(%v18) axes=[0] from \"grad_norm\" \"h.1.b\" update block 1.1.2\n"
        "  %v20 f32[2] = mul(%b, %b) from \"grad_norm\" \"h.1.w\" update block 1.1.3\n"
        "  %v21 f32[] = reduce_sum(%v20) axes=[0] from \"grad_norm\" \"h.1.w\" update block 1.1.4\n"
        "  %v22 f32[] = add(%v19, %v21) from \"grad_norm\" \"h.1.w\" update block 1.1.5\n"
        "  %v23 f32[1] = reshape(%v17) shape=[1] from \"grad_norm\" update\n"
        "  %v24 f32[1] = reshape(%v22) shape=[1] from \"grad_norm\" update\n"
        "  %v25 f32[2] = concat(%v23, %v24) from \"grad_norm\" update\n"
        "  %v26 f32[] = reduce_sum(%v25) axes=[0] from \"grad_norm\" update\n"
        "  %v27 f32[] = add(%v12, %v26) from \"grad_norm\" update\n"
        "  %v28 f32[] = sqrt(%v27) from \"grad_norm\" update\n"
        "  output gradient \"h.0.w\" %a\n"
        "  output gradient \"h.1.w\" %b\n"
        "  output gradient \"wte\" %g\n"
        "  output gradient \"h.1.b\" %b\n"
        "  output gradient \"h.0.b\" %a\n"
        "  output grad_norm \"grad_norm\" %v28\n"
        "}\n");
    arena_free(a);
}

static int labelled_updates(const Graph *g)
{
    int n = 0;

    for (NodeId i = 1; i < g->n_nodes; i++)
        n += g->nodes[i].phase == UPDATE && g->nodes[i].block.cls;
    return n;
}

// If --no-decay names a parameter of one iteration only, the updates of that parameter are written
// out for all iterations, because all iterations of a class must be equal.
static void no_decay(void **state)
{
    static const char *const parameters[] = {"wte", "h.0.b", "h.0.w", "h.1.b", "h.1.w"};
    static const struct {
        const char *glob;
        bool decays[5];
        int labelled;  // nodes with labels: 1 per iteration and 2 per parameter for the norm, 3 per
                       // update, 3 per decay
    } cases[] = {
        {"wte", {false, true, true, true, true}, 2 + 4 * 8},
        {"*.b", {true, false, true, false, true}, 2 + 2 * 5 + 2 * 8},
        {"h.0.w", {true, true, false, true, true}, 2 + 2 * 2 + 2 * 8},
        {"*", {false, false, false, false, false}, 2 + 4 * 5},
    };

    for (int i = 0; i < COUNT(cases); i++) {
        OptimizerOptions o = {
            .text = "sgd(lr=1, weight_decay=0.5)", .no_decay = &cases[i].glob, .n_no_decay = 1};
        Run r = run_new(LAYERS, &o);
        Tensor *t = r.values;

        assert_int_equal(labelled_updates(r.g), cases[i].labelled);
        graph_eval(r.arena, r.g, t);
        for (int c = 0; c < r.g->n_carries; c++) {
            const Carry *carry = &r.g->carries[c];
            const char *name = value_of(r.g, carry->in)->name;
            int at = 0;

            while (strcmp(parameters[at], name) != 0)
                at++;
            double gradient = at ? 2 * number(0, 0) : 0;
            double decay = cases[i].decays[at] ? 0.5 * number(0, 0) : 0;
            assert_true(t[carry->out].f[0] == number(0, 0) - gradient - decay);
        }
        run_free(&r);
    }
}

static void states_are_like_their_parameters(void **state)
{
    OptimizerOptions o = {.text = "adagrad(initial_accumulator_value=0.5)"};
    Run r = run_new(LAYERS, &o);
    const Value *s = value_of(r.g, named(r.g, "h.1.w.sum"));

    assert_int_equal(s->kind, VALUE_STATE);
    assert_true(s->fill == 0.5);
    assert_int_equal(s->own_rank, 2);
    assert_int_equal(s->block.cls, 1);
    assert_int_equal(s->block.iter, 1);
    assert_int_equal(r.g->n_carries, 10);
    run_free(&r);
}

static void state_names_are_new(void **state)
{
    OptimizerOptions o = {.text = "adagrad"};
    Run r = run_new("graph \"g\" training {\n"
                    "  input %g f32[2]\n"
                    "  parameter %w f32[2]\n"
                    "  parameter %w.sum f32[2]\n"
                    "  output gradient \"w\" %g\n"
                    "}\n",
                    &o);

    assert_int_equal(value_of(r.g, named(r.g, "w.sum"))->kind, VALUE_PARAMETER);
    assert_int_equal(value_of(r.g, named(r.g, "w.sum_"))->kind, VALUE_STATE);
    run_free(&r);
}

// ---- mistakes ----

static const struct {
    const char *text, *message;
} refused[] = {
    {"adamv(lr=1)", "g: error: --optimizer: unknown optimizer 'adamv' (did you mean 'adam'?)\n"
                    "  known  sgd, adam, adamw, adagrad, lamb, rmsprop\n"},
    {"adamw(learning_rate=1)", "g: error: --optimizer: adamw has no option 'learning_rate'\n"
                               "  options  lr, beta1, beta2, eps, weight_decay\n"},
    {"adamw(weight_decoy=1)",
     "g: error: --optimizer: adamw has no option 'weight_decoy' (did you mean 'weight_decay'?)\n"
     "  options  lr, beta1, beta2, eps, weight_decay\n"},
    {"adamw(3e-4)", "g: error: --optimizer: '3e-4' is not of the form key=value\n"},
    {"adamw(lr=fast)", "g: error: --optimizer: lr=fast: must be a number of at least 0\n"},
    {"adamw(lr=-1)", "g: error: --optimizer: lr=-1: must be a number of at least 0\n"},
    {"adamw(lr=nan)", "g: error: --optimizer: lr=nan: must be a number of at least 0\n"},
    {"adamw(lr=)", "g: error: --optimizer: lr=: must be a number of at least 0\n"},
    {"adam(beta1=1)", "g: error: --optimizer: beta1=1: must be a number from 0 to below 1\n"},
    {"sgd(nesterov=maybe, momentum=0.9)",
     "g: error: --optimizer: nesterov=maybe: must be true or false\n"},
    {"sgd(nesterov=true)",
     "g: error: --optimizer: sgd with nesterov=true needs a momentum above 0\n"},
    {"sgd(lr=1, lr=2)", "g: error: --optimizer: lr is given twice\n"},
    {"sgd(lr=1", "g: error: --optimizer: 'sgd(lr=1' is not of the form name(…)\n"},
    {"sgd(a=1,b=1,c=1,d=1,e=1,f=1,g=1,h=1,i=1)", "g: error: --optimizer: too many options\n"},
};

static void mistakes_are_named(void **state)
{
    for (int i = 0; i < COUNT(refused); i++) {
        Arena *a = arena_new();
        Text said = {0}, alone = {0};
        Diag d = {.file = "g", .to = &said}, d2 = {.file = "g", .to = &alone};
        Graph *g = parse(a, ONE_PARAMETER, &d);
        OptimizerOptions o = {.text = refused[i].text};

        assert_false(optimizer_add(g, &o, &d));
        assert_string_equal(said.s, refused[i].message);
        assert_false(optimizer_check(refused[i].text, &d2));
        assert_string_equal(alone.s, refused[i].message);
        text_free(&said);
        text_free(&alone);
        arena_free(a);
    }
}

static void globs_that_name_nothing(void **state)
{
    const char *glob = "bias*";
    OptimizerOptions o = {.text = "sgd", .no_decay = &glob, .n_no_decay = 1};
    Run r = run_new(ONE_PARAMETER, &o);

    assert_string_equal(r.said.s, "g: warning: --no-decay 'bias*' names no parameter\n");
    run_free(&r);
}

static void nothing_to_train(void **state)
{
    Arena *a = arena_new();
    Text said = {0};
    Diag d = {.file = "g", .to = &said};
    Graph *g = parse(a, "graph \"g\" training {\n  parameter %w f32[2]\n}\n", &d);

    assert_false(clip_add(g, &d));
    assert_string_equal(said.s, "g: error: the loss depends on no parameter\n");
    text_free(&said);
    arena_free(a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(numbers_are_pytorch_s),
        cmocka_unit_test(lamb_is_the_paper_s),
        cmocka_unit_test(lamb_leaves_zero),
        cmocka_unit_test(numbers_may_change),
        cmocka_unit_test(updates_are_graphs),
        cmocka_unit_test(norm_is_a_sum_of_blocks),
        cmocka_unit_test(no_decay),
        cmocka_unit_test(states_are_like_their_parameters),
        cmocka_unit_test(state_names_are_new),
        cmocka_unit_test(mistakes_are_named),
        cmocka_unit_test(globs_that_name_nothing),
        cmocka_unit_test(nothing_to_train),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
