// Tests losses: values and gradients against PyTorch's, which tests/ir/reference.py made; the
// tensors that a text names; messages.
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "ir/internal.h"

static Graph *parse(Arena *a, const char *text, Diag *d)
{
    Graph *g = graph_parse(a, text, strlen(text), d);

    if (!g)
        fail_msg("%s\n%s", text, d->to->s);
    return g;
}

static ValueId named(const Graph *g, const char *name)
{
    for (ValueId v = 1; v < g->n_values; v++)
        if (g->values[v].name && strcmp(g->values[v].name, name) == 0)
            return v;
    return 0;
}

static ValueId output(const Graph *g, OutputRole role)
{
    for (int i = 0; i < g->n_outputs; i++)
        if (g->outputs[i].role == role)
            return g->outputs[i].value;
    return 0;
}

// Fills a tensor with the numbers of reference.py. Tensor 0 is x, 1 is a target of floats; labels
// are 5 k mod 6.
static void fill(Tensor *t, int number)
{
    for (int64_t k = 0; k < tensor_count(t); k++) {
        if (t->f)
            t->f[k] = (double)((7 * k + 5 * number) % 13 - 6) / 4;
        else
            t->i[k] = 5 * k % 6;
    }
}

static Tensor *numbers(Arena *a, const Graph *g)
{
    Tensor *t = arena_array(a, Tensor, g->n_values);
    ValueId x = named(g, "x"), target = named(g, "t");

    t[x] = tensor_new(a, value_of(g, x)->dtype, value_of(g, x)->rank, value_of(g, x)->dim);
    fill(&t[x], 0);
    if (target) {
        const Value *v = value_of(g, target);

        t[target] = tensor_new(a, v->dtype, v->rank, v->dim);
        fill(&t[target], 1);
    }
    return t;
}

// ---- PyTorch's numbers ----

#define NUMBERS(...)                                                                               \
    COUNT(((float[]){__VA_ARGS__})), (const float[]) { __VA_ARGS__ }
#define REFERENCE(text, ...) {text, NUMBERS(__VA_ARGS__)},
static const struct {
    const char *text;  // "dims of x: loss"
    int n;
    const float *want;  // sum, count, gradient of sum / count
} references[] = {
#include "tests/ir/loss.def"
};

static void check(const char *text, const char *what, double got, double want)
{
    if (!(fabs(got - want) <= 2e-6 * (1 + fabs(want))))
        fail_msg("%s: %s is %.9g, not %.9g", text, what, got, want);
}

static void numbers_are_pytorch_s(void **state)
{
    for (int i = 0; i < COUNT(references); i++) {
        const char *text = references[i].text, *loss = strchr(text, ':') + 2;
        Arena *a = arena_new();
        Text said = {0};
        Diag d = {.file = "g", .to = &said};
        Graph *g = parse(a,
                         arena_string(a, "graph \"g\" training {\n  parameter %%x f32[%.*s]\n}\n",
                                      (int)(loss - text - 2), text),
                         &d);

        if (!loss_add(g, loss, &d) || !autodiff(g, 1, &d) || !graph_verify(g, &d))
            fail_msg("%s: %s", text, said.s);
        Tensor *t = numbers(a, g);
        graph_eval(a, g, t);
        const Tensor *dx = &t[output(g, OUTPUT_GRADIENT)];
        const float *want = references[i].want;
        check(text, "sum", t[output(g, OUTPUT_LOSS_SUM)].f[0], want[0]);
        check(text, "count", t[output(g, OUTPUT_LOSS_COUNT)].f[0], want[1]);
        assert_int_equal(tensor_count(dx) + 2, references[i].n);
        for (int64_t k = 0; k < tensor_count(dx); k++)
            check(text, "gradient", dx->f[k], want[k + 2]);
        arena_free(a);
    }
}

// Tests a logit of exactly 0, where untrained models start, and large logits, which neither
// overflow nor lose precision.
static void hard_positions(void **state)
{
    static const struct {
        const char *loss;
        double x, target, sum, gradient;
    } cases[] = {
        {"bce_with_logits(x, t)", 0, 1, 0.693147181, -0.5},
        {"bce_with_logits(x, t)", 0, 0, 0.693147181, 0.5},
        {"bce_with_logits(x, t)", 300, 0, 300, 1},
        {"bce_with_logits(x, t)", -300, 1, 300, -1},
        {"l1(x, t)", 2, 2, 0, 0},
    };

    for (int i = 0; i < COUNT(cases); i++) {
        Arena *a = arena_new();
        Text said = {0};
        Diag d = {.file = "g", .to = &said};
        Graph *g = parse(a, "graph \"g\" training {\n  parameter %x f32[]\n}\n", &d);

        assert_true(loss_add(g, cases[i].loss, &d) && autodiff(g, 1, &d));
        Tensor *t = numbers(a, g);
        t[named(g, "x")].f[0] = cases[i].x;
        t[named(g, "t")].f[0] = cases[i].target;
        graph_eval(a, g, t);
        check(cases[i].loss, "sum", t[output(g, OUTPUT_LOSS_SUM)].f[0], cases[i].sum);
        check(cases[i].loss, "gradient", t[output(g, OUTPUT_GRADIENT)].f[0], cases[i].gradient);
        arena_free(a);
    }
}

// bad: 0, or 1 + the index of the first label that is neither a class number nor ignored.
static void bad_labels_are_found(void **state)
{
    static const struct {
        int64_t label[4], bad;
    } cases[] = {
        {{0, 1, 2, -100}, 0}, {{3, 1, 2, 0}, 1},         {{0, 1, -1, 5}, 3},
        {{0, 0, 0, -101}, 4}, {{0, INT64_MAX, 7, 7}, 2},
    };

    for (int i = 0; i < COUNT(cases); i++) {
        Arena *a = arena_new();
        Text said = {0};
        Diag d = {.file = "g", .to = &said};
        Graph *g = parse(a, "graph \"g\" training {\n  parameter %x f32[2,2,3]\n}\n", &d);

        assert_true(loss_add(g, "cross_entropy(x, t)", &d));
        Tensor *t = numbers(a, g);
        memcpy(t[named(g, "t")].i, cases[i].label, sizeof cases[i].label);
        graph_eval(a, g, t);
        assert_int_equal(t[output(g, OUTPUT_BAD_LABEL)].i[0], cases[i].bad);
        arena_free(a);
    }
}

// ---- tensors that a text names ----

#define MODEL                                                                                      \
    "graph \"g\" training {\n"                                                                     \
    "  input %ids i64[2,4]\n"                                                                      \
    "  input %weights f32[2,4]\n"                                                                  \
    "  parameter %w f32[2,4,5]\n"                                                                  \
    "  %\"lm head\" f32[2,4,5] = neg(%w)\n"                                                        \
    "  %total f32[] = reduce_sum(%\"lm head\") axes=[0,1,2]\n"                                     \
    "  %one f32[1,1] = reshape(%total) shape=[1,1]\n"                                              \
    "  output model \"logits\" %\"lm head\"\n"                                                     \
    "  output model \"f(x)\" %total\n"                                                             \
    "  output model \"a\\\"b\\\\(c, d\" %\"lm head\"\n"                                            \
    "}\n"

static const struct {
    const char *loss, *input;  // a new input's name and type; "": none
} accepted[] = {
    {"cross_entropy(logits, labels)", "labels i64[2,4]"},
    {" cross_entropy ( \"lm head\" , \"a, b\", ignore_index = -1 ) ", "a, b i64[2,4]"},
    {"cross_entropy(logits, ids)", ""},
    {"mse(logits, target)", "target f32[2,4,5]"},
    {"l1(weights, y)", "y f32[2,4]"},
    {"mse(\"a\\\"b\\\\(c, d\", \"e\\\"f\\x0a\\x2c,\")", "e\"f\n,, f32[2,4,5]"},
    {"total", ""},
    {"one", ""},
    {"f(x)", ""},
};

static void texts_name_tensors(void **state)
{
    for (int i = 0; i < COUNT(accepted); i++) {
        Arena *a = arena_new();
        Text said = {0}, input = {0};
        Diag d = {.file = "g", .to = &said};
        Graph *g = parse(a, MODEL, &d);
        int n = g->n_values;

        if (!loss_add(g, accepted[i].loss, &d) || !graph_verify(g, &d))
            fail_msg("%s: %s", accepted[i].loss, said.s);
        for (ValueId v = n; v < g->n_values; v++)
            if (g->values[v].kind == VALUE_INPUT) {
                text_printf(&input, "%s ", g->values[v].name);
                value_print_type(&g->values[v], &input);
            }
        assert_string_equal(input.n ? input.s : "", accepted[i].input);
        assert_true(output(g, OUTPUT_LOSS_SUM) && output(g, OUTPUT_LOSS_COUNT));
        text_free(&input);
        arena_free(a);
    }
}

#define BAD_QUOTES(text)                                                                           \
    "g: error: --loss: '" text "': between double quotes \\\" means a quote, \\\\ a "              \
    "backslash, \\xHH for any other byte\n"

static const struct {
    const char *loss, *message;
} refused[] = {
    {"cross_entropy(logitz, labels)",
     "g: error: --loss: the model has no value 'logitz' (did you mean 'logits'?)\n"
     "  output  logits f32[2,4,5]\n"
     "  output  f(x) f32[]\n"
     "  output  a\"b\\(c, d f32[2,4,5]\n"
     "  value  one f32[1,1]\n"
     "  value  total f32[]\n"
     "  value  lm head f32[2,4,5]\n"
     "  value  weights f32[2,4]\n"
     "  value  ids i64[2,4]\n"},
    {"cross_entrop(logits, labels)",
     "g: error: --loss: unknown loss 'cross_entrop' (did you mean 'cross_entropy'?)\n"
     "  known  cross_entropy, mse, l1, bce_with_logits\n"},
    {"cross_entropy(logits, labels, ignore=3)",
     "g: error: --loss: cross_entropy has no option 'ignore'\n"
     "  options  ignore_index, label_smoothing\n"},
    {"cross_entropy(logits, labels, label_smoothin=0.1)",
     "g: error: --loss: cross_entropy has no option 'label_smoothin' (did you mean "
     "'label_smoothing'?)\n"
     "  options  ignore_index, label_smoothing\n"},
    {"mse(logits, t, reduction=sum)", "g: error: --loss: mse has no option 'reduction'\n"},
    {"cross_entropy(logits, labels, label_smoothing=1.5)",
     "g: error: --loss: label_smoothing=1.5: must be a number from 0 to 1\n"},
    {"cross_entropy(logits, labels, ignore_index=1.5)",
     "g: error: --loss: ignore_index=1.5: must be an integer\n"},
    {"cross_entropy(logits, labels, ignore_index=1, ignore_index=1)",
     "g: error: --loss: ignore_index is given twice\n"},
    {"cross_entropy(logits)",
     "g: error: --loss: cross_entropy takes two tensors: cross_entropy(x, labels)\n"},
    {"l1(logits, logits)",
     "g: error: --loss: 'logits' and 'logits' are one value: l1 compares two\n"},
    {"mse", "g: error: --loss: mse takes two tensors: mse(x, target)\n"},
    {"mse()", "g: error: --loss: mse takes two tensors: mse(x, target)\n"},
    {"mse(logits, labels", "g: error: --loss: 'mse(logits, labels' is not of the form name(…)\n"},
    {"", "g: error: --loss: '' is not of the form name(…)\n"},
    {"mse(logits,, t)", "g: error: --loss: an empty argument in 'mse(logits,, t)'\n"},
    {"mse(a, b, c, d, e)", "g: error: --loss: too many arguments\n"},
    {"l1(logits, \"a\\nb\")", BAD_QUOTES("l1(logits, \"a\\nb\")")},
    {"l1(logits, \"a, b)", BAD_QUOTES("l1(logits, \"a, b)")},
    {"\"a\" b", BAD_QUOTES("\"a\" b")},
    {"mse(logits, x=1, t)", "g: error: --loss: 't' after an option\n"},
    {"mse(logits, ids)", "g: error: --loss: 'ids' is i64[2,4], not f32[2,4,5]\n"},
    {"cross_entropy(logits, weights)", "g: error: --loss: 'weights' is f32[2,4], not i64[2,4]\n"},
    {"cross_entropy(ids, labels)",
     "g: error: --loss: 'ids' is i64[2,4], not floats of rank 2 or more\n"},
    {"mse(ids, labels)", "g: error: --loss: 'ids' is i64[2,4], not floats\n"},
    {"logits", "g: error: --loss: 'logits' is f32[2,4,5], not one number\n"},
};

static void mistakes_are_named(void **state)
{
    for (int i = 0; i < COUNT(refused); i++) {
        Arena *a = arena_new();
        Text said = {0};
        Diag d = {.file = "g", .to = &said};
        Graph *g = parse(a, MODEL, &d);

        assert_false(loss_add(g, refused[i].loss, &d));
        assert_string_equal(said.s, refused[i].message);
        text_free(&said);
        arena_free(a);
    }
}

// Errors that the text alone shows are reported before a model is read.
static void texts_are_checked_alone(void **state)
{
    Text said = {0};
    Diag d = {.file = "g", .to = &said};

    assert_true(loss_check("cross_entropy(any, thing, ignore_index=3)", &d));
    assert_true(loss_check("anything", &d));
    assert_true(loss_check("\"mean(x)\"", &d));
    assert_int_equal(said.n, 0);
    assert_false(loss_check("huber(x, y)", &d));
    assert_false(loss_check("mse(x, y, z=1)", &d));
    text_free(&said);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(numbers_are_pytorch_s), cmocka_unit_test(hard_positions),
        cmocka_unit_test(bad_labels_are_found),  cmocka_unit_test(texts_name_tensors),
        cmocka_unit_test(mistakes_are_named),    cmocka_unit_test(texts_are_checked_alone),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
