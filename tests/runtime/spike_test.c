// Spikes: which steps are far above the median of the steps before.
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "runtime/trainer/spike.h"

// `before` steps whose losses go through `cycle` again and again, and then one more.
static const struct {
    double factor;
    int before;
    double cycle[4], loss;
    const char *says;  // NULL: it is no spike
} cases[] = {
    {3, 15, {1, 1, 1, 1}, 100, NULL},
    {3, 16, {1, 1, 1, 1}, 3, NULL},
    {3, 16, {1, 1, 1, 1}, 3.5, "the loss is 3.5, 3.5 times its median over the last 16 steps"},
    {0, 16, {1, 1, 1, 1}, 100, NULL},
    {3, 16, {1, 2, 3, 4}, 7.5, NULL},
    {3, 16, {1, 2, 3, 4}, 7.6, "the loss is 7.6, 3.04 times its median over the last 16 steps"},
    {3, 200, {1, 2, 3, 4}, 25, "the loss is 25, 10 times its median over the last 64 steps"},
    {3, 17, {0, 0, 0, 0}, 1, NULL},
    {3, 17, {-1, -1, -1, -1}, 1, NULL},
    {3, 20, {1, 1, NAN, 1}, 2, NULL},
    {3, 21, {1, 1, NAN, 1}, 4, "the loss is 4, 4 times its median over the last 16 steps"},
    {3, 16, {1, 1, 1, 1}, NAN, NULL},
};

static void of_cases(void **state)
{
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        RtSpike s = {.factor = cases[i].factor};
        RtReport r = {.grad_norm = NAN};
        char text[RT_SPIKE_TEXT] = "";

        for (int k = 0; k < cases[i].before; k++) {
            r.loss = cases[i].cycle[k % 4];
            assert_false(rt_spike_step(&s, &r, text));
        }
        r.loss = cases[i].loss;
        assert_int_equal(rt_spike_step(&s, &r, text), cases[i].says != NULL);
        assert_string_equal(text, cases[i].says ? cases[i].says : "");
    }
}

// The norm of the gradients counts, too. Of two spikes in a step the loss is told.
static void of_norms(void **state)
{
    RtSpike s = {.factor = 2};
    RtReport r = {.loss = 1, .grad_norm = 1};
    char text[RT_SPIKE_TEXT];

    for (int k = 0; k < RT_SPIKE_MIN; k++)
        assert_false(rt_spike_step(&s, &r, text));
    r.grad_norm = 5;
    assert_true(rt_spike_step(&s, &r, text));
    assert_string_equal(
        text, "the norm of the gradients is 5, 5 times its median over the last 16 steps");
    r.loss = 4;
    assert_true(rt_spike_step(&s, &r, text));
    assert_string_equal(text, "the loss is 4, 4 times its median over the last 17 steps");
}

// A new level isn't a spike any more when half of the steps have it.
static void of_levels(void **state)
{
    RtSpike s = {.factor = 2};
    RtReport r = {.loss = 1, .grad_norm = NAN};
    char text[RT_SPIKE_TEXT];
    int spikes = 0;

    for (int k = 0; k < RT_RECENT; k++)
        rt_spike_step(&s, &r, text);
    r.loss = 10;
    for (int k = 0; k < RT_RECENT; k++)
        spikes += rt_spike_step(&s, &r, text);
    assert_int_equal(spikes, RT_RECENT / 2);
}

// A run that goes on with the numbers in a manifest finds the spikes of one that never stopped.
static void of_runs_that_go_on(void **state)
{
    enum { STEPS = 200 };

    for (int stop = 0; stop < STEPS; stop += 13) {
        RtSpike whole = {.factor = 2}, part = {.factor = 2};
        int spikes = 0;

        for (int k = 0; k < STEPS; k++) {
            RtReport r = {.loss = k % 17 ? 1 + k % 7 / 10.0 : 5,
                          .grad_norm = k % 23 ? 0.1 * k : NAN};
            char text[2][RT_SPIKE_TEXT] = {"", ""};
            bool is_spike = rt_spike_step(&whole, &r, text[0]);

            assert_int_equal(rt_spike_step(&part, &r, text[1]), is_spike);
            assert_string_equal(text[0], text[1]);
            spikes += is_spike;
            if (k != stop)
                continue;
            RtManifest m = {.program = "p", .log = -1, .loss = part.loss, .grad_norm = part.norm},
                       x;
            RtFileError e;
            size_t n;
            char *printed = rt_manifest_print(&m, &n);
            assert_true(rt_manifest_parse(&x, (uint8_t *)printed, n, &e));
            part = (RtSpike){.factor = 2, .loss = x.loss, .norm = x.grad_norm};
            rt_manifest_free(&x);
            free(printed);
        }
        assert_true(spikes > 5);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(of_cases),
        cmocka_unit_test(of_norms),
        cmocka_unit_test(of_levels),
        cmocka_unit_test(of_runs_that_go_on),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
