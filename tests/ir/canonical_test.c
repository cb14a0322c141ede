// Tests the passes fold, patterns, refine and fold in sequence, on blocks as exporters write them.
#include "tests/ir/pass_cases.h"

static bool canonical(Graph *g, Diag *d)
{
    return fold(g, d) && patterns(g, d) && guards(g, d) && means(g, d) && refine(g, d) &&
           simplify(g, d);
}

static void golden(void **state)
{
    (void)state;
    cases_check("tests/cases/canonical.cases", canonical);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(golden)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
