// Tests the pass scatter_onto, which adds rows onto a kernel's result, against
// tests/cases/onto.cases.
#include "tests/ir/pass_cases.h"

static void golden(void **state)
{
    (void)state;
    cases_check("tests/cases/onto.cases", scatter_onto);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(golden)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
