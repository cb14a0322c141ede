// Tests the pass fold against tests/cases/fold.cases, on masks too large to be evaluated, and that
// it makes no constant too large for a graph.
#include "tests/ir/pass_cases.h"

static void golden(void **state)
{
    (void)state;
    cases_check("tests/cases/fold.cases", fold);
}

// A causal mask of 64 GiB is described by a fact about its indices.
static void large(void **state)
{
    static const char before[] =
        "graph \"g\" {\n"
        "  input %x bool[262144,262144]\n"
        "  %i i64[262144] = iota() shape=[262144] axis=0 dtype=i64\n"
        "  %r i64[262144,262144] = broadcast(%i) shape=[262144,262144] dims=[0]\n"
        "  %c i64[262144,262144] = broadcast(%i) shape=[262144,262144] dims=[1]\n"
        "  %later bool[262144,262144] = lt(%r, %c)\n"
        "  %seen bool[262144,262144] = not(%later)\n"
        "  %first bool[262144,262144] = le(%c, %c)\n"
        "  %mask bool[262144,262144] = and(%seen, %first)\n"
        "  %y bool[262144,262144] = or(%x, %mask)\n"
        "  output model \"y\" %y\n"
        "}\n";
    static const char after[] =
        "graph \"g\" {\n"
        "  input %x bool[262144,262144]\n"
        "  %r i64[262144,262144] = iota() shape=[262144,262144] dtype=i64\n"
        "  %c i64[262144,262144] = iota() shape=[262144,262144] axis=1 dtype=i64\n"
        "  %seen bool[262144,262144] = le(%c, %r)\n"
        "  %y bool[262144,262144] = or(%x, %seen)\n"
        "  output model \"y\" %y\n"
        "}\n";
    Arena *a = arena_new();
    Diag d = {0};
    Text t = {0};

    (void)state;
    Graph *g = graph_parse(a, before, strlen(before), &d);
    assert_non_null(g);
    assert_true(fold(g, &d));
    graph_print(g, &t);
    assert_string_equal(t.s, after);
    text_free(&t);
    arena_free(a);
}

// fold makes no constant above 1 MiB; the nodes stay.
static void stays(void **state)
{
    Arena *a = arena_new();
    Diag d = {0};
    Graph *g = graph_new(a, "g");

    (void)state;
    g->diag = &d;
    for (int64_t n = 262144; n <= 262145; n++) {
        ValueId x = make_cos(g, make_iota(g, F32, 1, &n, 0));
        graph_output(g, "y", x, OUTPUT_MODEL);
    }
    assert_true(fold(g, &d));
    assert_int_equal(value_of(g, g->outputs[0].value)->kind, VALUE_CONSTANT);
    assert_ptr_equal(producer(g, g->outputs[1].value)->op, &op_cos);
    arena_free(a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(golden), cmocka_unit_test(large),
                                       cmocka_unit_test(stays)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
