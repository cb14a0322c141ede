// Manifests of checkpoints: what is written is read; files that are malformed are refused, and so
// is every file of which one bit is another.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "runtime/rt_manifest.h"

static RtManifest manifest(void)
{
    RtManifest m = {.program = "gpt2",
                    .step = 500,
                    .step_samples = 16,
                    .data_samples = 1000,
                    .seed = 7,
                    .shuffles = true,
                    .log = 53211,
                    .has_sum = true,
                    .data_sum = 0x5f0e12aa,
                    .best = {true, 400, 0.1, 1000, 0x77ab01c3},
                    .rollbacks = 2,
                    .skipped = 17,
                    .evaluation = RT_EVALUATION_DUE,
                    .loss = {{2.5, 0.1, -1e300, 3}, 4, 4},
                    .grad_norm = {.n = RT_RECENT, .next = 5}};

    for (int i = 0; i < RT_RECENT; i++)
        m.grad_norm.value[i] = -0x1.fffffffffffffp-1022 / (1 + i);  // 24 characters

    assert_true(rt_manifest_add(&m, "model-00001-of-00001.safetensors", 4977, 0x1c9a77f0));
    assert_true(rt_manifest_add(&m, "optimizer-00001-of-00001.safetensors", INT64_MAX, 0));
    for (int i = 0; i < 40; i++)
        assert_true(rt_manifest_keep(&m, i * i));
    return m;
}

static void is_read_again(void **state)
{
    RtManifest m = manifest(), x;
    RtFileError e;
    size_t n;

    char *text = rt_manifest_print(&m, &n);
    assert_true(rt_manifest_parse(&x, (uint8_t *)text, n, &e));
    assert_string_equal(x.program, "gpt2");
    assert_int_equal(x.step, 500);
    assert_int_equal(x.step_samples, 16);
    assert_int_equal(x.data_samples, 1000);
    assert_int_equal(x.seed, 7);
    assert_true(x.shuffles);
    assert_int_equal(x.log, 53211);
    assert_true(x.has_sum);
    assert_int_equal(x.data_sum, 0x5f0e12aa);
    assert_true(x.best.is_known);
    assert_int_equal(x.best.step, 400);
    assert_true(x.best.loss == 0.1);
    assert_int_equal(x.best.samples, 1000);
    assert_int_equal(x.best.data_sum, 0x77ab01c3);
    assert_int_equal(x.rollbacks, 2);
    assert_int_equal(x.skipped, 17);
    assert_int_equal(x.evaluation, RT_EVALUATION_DUE);
    assert_int_equal(x.loss.n, 4);
    assert_int_equal(x.loss.next, 4);
    assert_memory_equal(x.loss.value, m.loss.value, sizeof x.loss.value);
    assert_int_equal(x.grad_norm.n, RT_RECENT);
    for (int i = 0; i < RT_RECENT; i++)  // the oldest first
        assert_true(x.grad_norm.value[(x.grad_norm.next + i) % RT_RECENT] ==
                    m.grad_norm.value[(m.grad_norm.next + i) % RT_RECENT]);
    assert_int_equal(x.n, 2);
    assert_string_equal(x.file[0].name, "model-00001-of-00001.safetensors");
    assert_int_equal(x.file[0].sum, 0x1c9a77f0);
    assert_int_equal(x.file[1].bytes, INT64_MAX);
    assert_int_equal(x.n_kept, 40);
    assert_true(rt_manifest_keeps(&x, 36) && !rt_manifest_keeps(&x, 35));
    rt_manifest_free(&x);
    rt_manifest_free(&m);
    free(text);
}

// Manifests of other versions lack some of the lines.
static void lines_are_optional(void **state)
{
    for (int without = 0; without < 3 << 5; without++) {
        RtManifest m = manifest(), x;
        RtFileError e;
        size_t n, again;

        m.has_sum &= without & 1;
        m.best.is_known &= without >> 1 & 1;
        m.rollbacks *= without >> 2 & 1;
        m.loss.n *= without >> 3 & 1;
        m.grad_norm.n *= without >> 4 & 1;
        m.evaluation = without >> 5;
        char *text = rt_manifest_print(&m, &n);
        assert_true(rt_manifest_parse(&x, (uint8_t *)text, n, &e));
        char *other = rt_manifest_print(&x, &again);
        assert_int_equal(again, n);
        assert_memory_equal(text, other, n);
        rt_manifest_free(&x);
        rt_manifest_free(&m);
        free(text);
        free(other);
    }
}

static void every_bit_counts(void **state)
{
    RtManifest m = manifest(), x;
    RtFileError e;
    size_t n;

    char *text = rt_manifest_print(&m, &n);
    for (size_t bit = 0; bit < 8 * n; bit++) {
        text[bit / 8] = (char)(text[bit / 8] ^ 1 << bit % 8);
        assert_false(rt_manifest_parse(&x, (uint8_t *)text, n, &e));
        text[bit / 8] = (char)(text[bit / 8] ^ 1 << bit % 8);
    }
    for (size_t less = 0; less < n; less++)
        assert_false(rt_manifest_parse(&x, (uint8_t *)text, less, &e));
    rt_manifest_free(&m);
    free(text);
}

#define HEAD(version)                                                                              \
    "shardcc checkpoint " version                                                                  \
    "\nprogram p\nstep 1\nstep_samples 1\ndata_samples 1\nseed 0\nshuffle no\nlog none\n"

static const struct {
    const char *text, *error;
} bad[] = {
    {"", "it is cut short in line 1"},
    {"other\n", "it begins with 'other', not with 'shardcc checkpoint 1'"},
    {HEAD("2"), "it is of version 2; this program reads version 1"},
    {"shardcc checkpoint 1\nprogram \n", "line 2 isn't as --checkpoint writes it: 'program '"},
    {"shardcc checkpoint 1\nprogram p\nstep -1\n",
     "line 3 isn't as --checkpoint writes it: 'step -1'"},
    {"shardcc checkpoint 1\nprogram p\nstep 9223372036854775808\n",
     "line 3 isn't as --checkpoint writes it: 'step 9223372036854775808'"},
    {HEAD("1"), "it is cut short in line 9"},
    {HEAD("1") "data 5f0e12a\n", "line 9 isn't as --checkpoint writes it: 'data 5f0e12a'"},
    {HEAD("1") "data 0000000a\ndata 0000000a\n",
     "line 10 isn't as --checkpoint writes it: 'data 0000000a'"},
    {HEAD("1") "best 1 1 2 0000000a\ndata 0000000a\n",
     "line 10 isn't as --checkpoint writes it: 'data 0000000a'"},
    {HEAD("1") "best 2 1 2 0000000a\n",
     "line 9 isn't as --checkpoint writes it: 'best 2 1 2 0000000a'"},
    {HEAD("1") "best 1 1 2\n", "line 9 isn't as --checkpoint writes it: 'best 1 1 2'"},
    {HEAD("1") "best 1 1 2 a\n", "line 9 isn't as --checkpoint writes it: 'best 1 1 2 a'"},
    {HEAD("1") "best 1 1 -2 0000000a\n",
     "line 9 isn't as --checkpoint writes it: 'best 1 1 -2 0000000a'"},
    {HEAD("1") "best 1 1.0\n", "line 9 isn't as --checkpoint writes it: 'best 1 1.0'"},
    {HEAD("1") "best 1  1\n", "line 9 isn't as --checkpoint writes it: 'best 1  1'"},
    {HEAD("1") "best 1 inf\n", "line 9 isn't as --checkpoint writes it: 'best 1 inf'"},
    {HEAD("1") "best 1 1x\n", "line 9 isn't as --checkpoint writes it: 'best 1 1x'"},
    {HEAD("1") "best 1 1 2 0000000a\nbest 1 1 2 0000000a\n",
     "line 10 isn't as --checkpoint writes it: 'best 1 1 2 0000000a'"},
    {HEAD("1") "file a 1 00000000\nbest 1 1\n",
     "line 10 isn't as --checkpoint writes it: 'best 1 1'"},
    {HEAD("1") "rollbacks 0 0\n", "line 9 isn't as --checkpoint writes it: 'rollbacks 0 0'"},
    {HEAD("1") "rollbacks 1 1099511627777\n",
     "line 9 isn't as --checkpoint writes it: 'rollbacks 1 1099511627777'"},
    {HEAD("1") "rollbacks 1 1\nbest 1 1\n", "line 10 isn't as --checkpoint writes it: 'best 1 1'"},
    {HEAD("1") "evaluation dues\n", "line 9 isn't as --checkpoint writes it: 'evaluation dues'"},
    {HEAD("1") "loss 1\nrollbacks 1 1\n",
     "line 10 isn't as --checkpoint writes it: 'rollbacks 1 1'"},
    {HEAD("1") "loss \n", "line 9 isn't as --checkpoint writes it: 'loss '"},
    {HEAD("1") "loss 1 \n", "line 9 isn't as --checkpoint writes it: 'loss 1 '"},
    {HEAD("1") "loss 1 2.0\n", "line 9 isn't as --checkpoint writes it: 'loss 1 2.0'"},
    {HEAD("1") "loss nan\n", "line 9 isn't as --checkpoint writes it: 'loss nan'"},
    {HEAD("1") "grad_norm 1\nloss 1\n", "line 10 isn't as --checkpoint writes it: 'loss 1'"},
    {HEAD("1") "file a 1 00000000\nloss 1\n", "line 10 isn't as --checkpoint writes it: 'loss 1'"},
    {HEAD("1") "file ../x 1 00000000\n",
     "line 9 isn't as --checkpoint writes it: 'file ../x 1 00000000'"},
    {HEAD("1") "file .x 1 00000000\n",
     "line 9 isn't as --checkpoint writes it: 'file .x 1 00000000'"},
    {HEAD("1") "file a/b 1 00000000\n",
     "line 9 isn't as --checkpoint writes it: 'file a/b 1 00000000'"},
    {HEAD("1") "file a 1 0000000g\n",
     "line 9 isn't as --checkpoint writes it: 'file a 1 0000000g'"},
    {HEAD("1") "kept 1\n", "line 9 isn't as --checkpoint writes it: 'kept 1'"},
    {HEAD("1") "file a 1 00000000\nkept -1\n",
     "line 10 isn't as --checkpoint writes it: 'kept -1'"},
    {HEAD("1") "file a 1 00000000\nkept 1\nkept 1\n",
     "line 11 isn't as --checkpoint writes it: 'kept 1'"},
    {HEAD("1") "file a 1 00000000\nkept 1\nfile b 1 00000000\n",
     "line 11 isn't as --checkpoint writes it: 'file b 1 00000000'"},
    {HEAD("1") "end 1 00000000\n", "line 9 isn't as --checkpoint writes it: 'end 1 00000000'"},
    {HEAD("1") "end 0 00000000\n", "its checksum is wrong"},
};

// A line has 64 numbers at most.
static void too_many(void **state)
{
    for (int n = RT_RECENT; n <= RT_RECENT + 1; n++) {
        char text[600] = HEAD("1") "grad_norm 1";
        RtManifest m;
        RtFileError e;

        for (int i = 1; i < n; i++)
            strcat(text, " 1");
        strcat(text, "\n");
        assert_false(rt_manifest_parse(&m, (const uint8_t *)text, strlen(text), &e));
        assert_int_equal(strcmp(e.text, "it is cut short in line 10") == 0, n == RT_RECENT);
    }
}

static void malformed(void **state)
{
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        RtManifest m;
        RtFileError e;
        assert_false(rt_manifest_parse(&m, (const uint8_t *)bad[i].text, strlen(bad[i].text), &e));
        assert_string_equal(e.text, bad[i].error);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(is_read_again), cmocka_unit_test(every_bit_counts),
        cmocka_unit_test(malformed),     cmocka_unit_test(lines_are_optional),
        cmocka_unit_test(too_many),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
