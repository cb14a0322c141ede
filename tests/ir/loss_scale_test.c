// Tests the scale of the loss: parameters after steps of which some aren't finite, and the scale
// after each step by the rule of torch.amp.GradScaler.
#include "tests/ir/optimizer_run.h"

// The graph of one parameter, with a scale of the loss.
#define SCALED                                                                                     \
    "graph \"g\" training {\n"                                                                     \
    "  input %g f32[2,3]\n"                                                                        \
    "  parameter %w f32[2,3]\n"                                                                    \
    "  state %loss_scale f32[] = 8\n"                                                              \
    "  constant %least f32[] = 1.1754944e-38\n"                                                    \
    "  %scale f32[] = max(%loss_scale, %least)\n"                                                  \
    "  output loss_scale \"loss_scale\" %scale\n"                                                  \
    "  output gradient \"w\" %g\n"                                                                 \
    "}\n"

// Steps whose gradients aren't finite change nothing but the scale.
static void bad_steps_are_skipped(void **state)
{
    for (int i = 0; i < COUNT(references); i++) {
        const char *text = references[i].text;
        OptimizerOptions o = {.text = strchr(text, ' ') + 1,
                              .clip_norm = atof(text + 5),
                              .loss_scale = "dynamic(growth_interval=2)"};
        Run r = run_new(SCALED, &o);

        for (int t = 1; 6 * t <= references[i].n; t++) {
            run_step_with(&r, t, t % 2 ? INFINITY : NAN);
            run_step(&r, t);
            for (int64_t k = 0; k < 6; k++)
                check(text, t, k, r.values[named(r.g, "w")].f[k],
                      references[i].want[6 * (t - 1) + k]);
        }
        run_free(&r);
    }
}

typedef struct Scale {
    const char *text;
    int n;
    const char *good;  // a letter a step: g, b
    double want[8];    // the scale after it
} Scale;

static void scales_are_pytorch_s(void **state)
{
    static const Scale cases[] = {
        {"dynamic(growth_interval=2)", 7, "ggggbgg", {8, 16, 16, 32, 16, 16, 32}},
        {"dynamic(growth_interval=2)", 5, "gbgbg", {8, 4, 4, 2, 2}},
        {"dynamic(growth_interval=1, growth_factor=3, backoff_factor=0.25)", 3, "gbg", {24, 6, 18}},
        {"dynamic(growth_factor=1e38, growth_interval=1)", 2, "gg", {8, 8}},
        {NULL, 3, "gbb", {8, 4, 2}},
    };

    for (int i = 0; i < COUNT(cases); i++) {
        OptimizerOptions o = {.text = "sgd", .loss_scale = cases[i].text};
        Run r = run_new(SCALED, &o);
        for (int t = 0; t < cases[i].n; t++) {
            run_step_with(&r, t + 1, cases[i].good[t] == 'g' ? 0 : NAN);
            assert_true(r.values[named(r.g, "loss_scale")].f[0] == cases[i].want[t]);
        }
        run_free(&r);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bad_steps_are_skipped),
        cmocka_unit_test(scales_are_pytorch_s),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
