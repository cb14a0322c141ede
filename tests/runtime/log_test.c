// Tests the first line of a run's log: what exchanges, and the variables that have an influence on
// it, whatever they hold; a run that goes back to a checkpoint keeps it.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "runtime/collectives.h"
#include "runtime/trainer/run_report.h"

static const RtModel model = {.name = "model"};
static const char before[] = "{\"step\": 1}\n", path[] = "log_test.jsonl";

static void describe(const Rt *rt, RtDescription *to)
{
    *to = (RtDescription){"rings \"of\" copper", 7, "LOG_TEST_"};
}

static void check_file(const char *expected)
{
    char found[4096] = "";
    FILE *f = fopen(path, "r");

    assert_non_null(f);
    assert_true(fread(found, 1, sizeof found - 1, f) > 0);
    fclose(f);
    assert_string_equal(found, expected);
}

static RtLog opened(const Rt *rt)
{
    RtLog l;

    assert_true(rt_log_open(&l, &model, path, false, -1));
    rt_log_write(&l, before, strlen(before));
    rt_log_begin(&l, rt);
    return l;
}

static void first_line(void **state)
{
    static const RtCollectives by = {.describe = describe};
    static const char line[] =
        "{\"ranks\": 1, \"exchange\": \"rings \\\"of\\\" copper\", \"exchange_bytes\": 7, "
        "\"environment\": {\"LOG_TEST_A\\\"\": \"=\\\\\\u000a\\u00ff\"}}\n";
    char expected[512], longer[600];
    Rt rt = {.collectives = &by};

    setenv("LOG_TEST_A\"", "=\\\n\xff", 1);
    setenv("LOG_TES", "none", 1);
    snprintf(expected, sizeof expected, "%s%s", before, line);
    RtLog l = opened(&rt);
    check_file(expected);
    rt_log_eval(&l, 2, 0.5, 4, 1);
    snprintf(longer, sizeof longer,
             "%s{\"step\": 2, \"eval_loss\": 0.5, \"samples\": 4, \"seconds\": 1}\n", expected);
    check_file(longer);
    rt_log_cut(&l, -1);
    check_file(longer);
    rt_log_cut(&l, (int64_t)strlen(before));
    check_file(expected);
    assert_true(rt_log_close(&l));
    remove(path);
}

static void without(void **state)
{
    static const RtCollectives says_nothing = {.name = "messages"};
    const Rt one = {0}, several = {.collectives = &says_nothing};
    RtLog none = {.fd = -1};

    for (int i = 0; i < 2; i++) {
        RtLog l = opened(i ? &several : &one);
        check_file(before);
        rt_log_cut(&l, 0);
        assert_true(rt_log_close(&l));
    }
    rt_log_begin(&none, &several);
    remove(path);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(first_line), cmocka_unit_test(without)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
