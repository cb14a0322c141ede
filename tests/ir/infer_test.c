// Tests which nodes are accepted, and their results' types. The table is tests/ir/samples.def.
#include "tests/ir/sample.h"

static void every_operator_has_a_sample(void **state)
{
    for (int i = 0; op_table[i]; i++) {
        bool found = false;

        for (int k = 0; k < COUNT(samples); k++)
            found |= is_of(&samples[k], op_table[i]) && samples[k].rule;
        if (!found)
            fail_msg("no sample of %s", op_table[i]->name);
    }
}

static void check_types(const SampleText *t)
{
    Sample s = sample_read(t, false);
    Text types = {0};

    if (!s.g)
        fail_msg("%s: %s", t->node, s.message);
    for (int i = 0; i < s.node.n_out; i++) {
        text_printf(&types, "%s", i ? ", " : "");
        value_print_type(value_of(s.g, s.node.out[i]), &types);
    }
    assert_string_equal(types.s, t->types);
    text_free(&types);
    sample_free(&s);
}

static void check_message(const SampleText *t)
{
    Sample s = sample_read(t, false);

    if (s.g)
        fail_msg("%s is accepted", t->node);
    if (!strstr(s.message, t->types))
        fail_msg("%s: expected \"%s\" in:\n%s", t->node, t->types, s.message);
    sample_free(&s);
}

static void samples_have_their_types(void **state)
{
    for (int i = 0; i < COUNT(samples); i++)
        if (samples[i].rule)
            check_types(&samples[i]);
}

static void bad_nodes_have_their_messages(void **state)
{
    for (int i = 0; i < COUNT(samples); i++)
        if (!samples[i].rule)
            check_message(&samples[i]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_operator_has_a_sample),
        cmocka_unit_test(samples_have_their_types),
        cmocka_unit_test(bad_nodes_have_their_messages),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
