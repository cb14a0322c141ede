// Tests the pass patterns against tests/cases/patterns.cases.
#include "tests/ir/pass_cases.h"

static void golden(void **state)
{
    (void)state;
    cases_check("tests/cases/patterns.cases", patterns);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(golden)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
