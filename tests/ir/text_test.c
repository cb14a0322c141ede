// Tests the text form of graphs: a text that is read prints as the same text, and mistakes give
// messages.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdlib.h>
#include <string.h>

#include "ir/ir.h"

// These texts are printed as they were read.
static const char *const same[] = {
    "graph \"empty\" {\n}\n",
    // Every kind of value, own dims, names that need quotes.
    "graph \"all \\\"kinds\\\" \\xc3\\xa9\" training {\n"
    "  class 1 \"transformer.h\" 2\n"
    "  input %input_ids i64[4,16]\n"
    "  parameter %\"h/0 w\" f32[48,3,4,12] own [48,144] block 1.0.0\n"
    "  parameter %\"h/1 w\" f32[48,3,4,12] own [48,144] block 1.1.0\n"
    "  buffer %mean f32[8]\n"
    "  hyper %lr f32[] = 0.001\n"
    "  state %m f32[48,144] = 0\n"
    "  zero %acc f32[3] = -0\n"
    "  constant %c1 f32[2] = [0.5, 1]\n"
    "  constant %c2 f64[] = 0.1\n"
    "  constant %c3 f32[3] = [0.1, nan, -inf]\n"
    "  constant %c4 u64[1] = [18446744073709551615]\n"
    "  constant %c5 bool[2,1] = [1, 0]\n"
    "  constant %c6 i8[0] = []\n"
    "  constant %c7 f16[2] = [0.1, 6.55e+04]\n"
    "}\n",
    // Nodes: sources, phases, several results, an absent input, attributes of every type.
    "graph \"nodes\" {\n"
    "  class 1 \"h\" 1\n"
    "  parameter %w f32[10,4]\n"
    "  input %i i64[2]\n"
    "  %h f32[2,4] = gather(%w, %i) from \"node_1\" \"model.wte\"\n"
    "  %t f32[4,2] = transpose(%h) perm=[1,0] from \"node_2\" block 1.0.0\n"
    "  %u f32[4,2] = transpose(%h) perm=[1,0] backward block 1.0.1 again 1\n"
    "  %s f32[2,1], %at i64[2,1] = top_k(%h) axis=1 k=1 backward\n"
    "  %v17 f16[4,2] = cast(%t) to=f16 update\n"
    "  output model \"logits\" %s\n"
    "  output gradient \"w\" %t\n"
    "  carry step %w %w\n"
    "  carry micro %w %w\n"
    "}\n",
    "graph \"attention\" {\n"
    "  input %q f32[2,3,4]\n"
    "  %y f32[2,3,4], %m f32[2,3], %sum f32[2,3] = attention(%q, %q, %q) "
    "eq=\"bse,bte,btf->bsf\" query=1 scale=0.5 causal=1\n"
    "  %dq f32[2,3,4], %dk f32[2,3,4], %dv f32[2,3,4] = attention_grad(%q, %q, %q, _, _, _, _, %y, "
    "%m, %sum, %y) eq=\"bse,bte,btf->bsf\" query=1 scale=0.5 causal=1 backward\n"
    "}\n",
};

static Graph *parse(Arena *a, const char *text, Diag *d)
{
    // A copy without a final 0: the parser must not read beyond the end.
    size_t n = strlen(text);
    char *copy = malloc(n ? n : 1);

    memcpy(copy, text, n);
    Graph *g = graph_parse(a, copy, n, d);
    free(copy);
    return g;
}

static void check_text(const char *text, const char *expected)
{
    Arena *a = arena_new();
    Text messages = {0}, printed = {0};
    Diag d = {.to = &messages};
    Graph *g = parse(a, text, &d);

    if (!g)
        fail_msg("%s\n%s", text, messages.s);
    graph_print(g, &printed);
    assert_string_equal(printed.s, expected);
    text_free(&printed);
    text_free(&messages);
    arena_free(a);
}

static void test_same(void **state)
{
    (void)state;
    for (int i = 0; i < COUNT(same); i++)
        check_text(same[i], same[i]);
}

// Other texts of the same graph are printed in one canonical form.
static const struct {
    const char *text, *printed;
} forms[] = {
    {"\n// a comment\ngraph \"g\" { // another\n\n  input\t%\"x\" f32[ 2, 3 ]\n"
     "  %y f32[2,3] = neg(%x) // and one\n}\n\n",
     "graph \"g\" {\n  input %x f32[2,3]\n  %y f32[2,3] = neg(%x)\n}\n"},
    {"graph \"g\" {\n  input %x f32[2]\n  %y f32[2] = neg(%x)\n  constant %c f32[] = 1e0\n}",
     "graph \"g\" {\n  input %x f32[2]\n  constant %c f32[] = 1\n  %y f32[2] = neg(%x)\n}\n"},
};

static void test_forms(void **state)
{
    (void)state;
    for (int i = 0; i < COUNT(forms); i++)
        check_text(forms[i].text, forms[i].printed);
}

#define IN_GRAPH(lines) "graph \"g\" {\n  input %x f32[2,3]\n" lines "}\n"

static const struct {
    const char *text, *message;
} wrong[] = {
    {"", "error: line 1: 'graph' expected, not the end\n"},
    {"graph g {", "error: line 1: a quoted text expected, not 'g'\n"},
    {"graph \"g", "error: line 1: a quoted text does not end\n"},
    {"graph \"\\q\" {", "error: line 1: bad character in a quoted text\n"},
    {"graph \"g\" {\n", "error: line 2: '}' expected, not the end\n"},
    {"graph \"g\" {\n}\nmore", "error: line 3: the end expected, not 'more'\n"},
    {IN_GRAPH("  ?\n"), "error: line 3: a character that means nothing here\n"},
    {IN_GRAPH("  % f32[]\n"), "error: line 3: '%' without a name\n"},
    {IN_GRAPH("  activation %a f32[]\n"),
     "error: line 3: a value, node, output or carry expected, not 'activation'\n"},
    {IN_GRAPH("  input %a f33[]\n"), "error: line 3: unknown type 'f33'\n"},
    {IN_GRAPH("  input %a f32[2\n"), "error: line 3: ',' expected, not the line's end\n"},
    {IN_GRAPH("  input %a f32[-1]\n"), "error: line 3: the value has a negative dim\n"},
    {IN_GRAPH("  input %a f32[1,1,1,1,1,1,1,1,1,1,1,1,1]\n"),
     "error: line 3: a list of more than 12 numbers\n"},
    {IN_GRAPH("  input %a f32[16777216,16777217]\n"),
     "error: line 3: the value has more than 2^48 elements\n"},
    {IN_GRAPH("  input %a f32[0,4611686018427387904]\n"),
     "error: line 3: the value has more than 2^48 elements\n"},
    {IN_GRAPH("  input %a f32[99999999999999999999]\n"),
     "error: line 3: 99999999999999999999 is out of range\n"},
    {IN_GRAPH("  input %a f32[1x]\n"), "error: line 3: an integer expected, not '1x'\n"},
    {IN_GRAPH("  input %x f32[]\n"), "error: line 3: '%x' is defined twice\n"},
    {IN_GRAPH("  input %\"\\xff\" f32[]\n"), "error: line 3: a name that isn't UTF-8\n"},
    {IN_GRAPH("  input %a f32[6] own [2,2]\n"), "error: line 3: own dims of another size\n"},
    {IN_GRAPH("  hyper %lr f32[]\n"), "error: line 3: '=' expected, not the line's end\n"},
    {IN_GRAPH("  hyper %lr f32[] = x\n"), "error: line 3: a number expected, not 'x'\n"},
    {IN_GRAPH("  constant %c i8[1] = [128]\n"), "error: line 3: element 0 does not fit in i8\n"},
    {IN_GRAPH("  constant %c f32[2] = [1]\n"), "error: line 3: ',' expected, not ']'\n"},
    {IN_GRAPH("  constant %c f32[1000000] = [1]\n"),
     "error: line 3: a constant of more than 1048576 bytes\n"},
    {IN_GRAPH("  input %a f32[] block 1.0.0\n"), "error: line 3: class 1 is not defined\n"},
    {IN_GRAPH("  class 2 \"c\" 3\n"), "error: line 3: class 1 expected\n"},
    {IN_GRAPH("  class 1 \"c\" 0\n"), "error: line 3: a class of 0 iterations\n"},
    {IN_GRAPH("  class 1 \"c\" 2\n  input %a f32[] block 1.2.0\n"),
     "error: line 4: class 1 has no iteration 2\n"},
    {IN_GRAPH("  class 1 \"c\" 2\n  input %a f32[] block 1.1.0 again 0\n"),
     "error: line 4: an iteration is made again at most 1024 times\n"},
    {IN_GRAPH("  class 1 \"c\" 2\n  input %a f32[] block 1.1\n"),
     "error: line 4: class.iteration.position expected, not '1.1'\n"},
    {IN_GRAPH("  output model \"y\" %y\n  carry step %x %y\n"),
     "error: line 3: '%y' is not defined\n"},
    {IN_GRAPH("  output best \"x\" %x\n"),
     "error: line 3: the output's role expected, not 'best'\n"},
    {IN_GRAPH("  carry week %x %x\n"), "error: line 3: 'step' or 'micro' expected, not 'week'\n"},
    {IN_GRAPH("  %y f32[2,3] = twice(%x)\n"), "error: line 3: unknown operator 'twice'\n"},
    {IN_GRAPH("  %y f32[2,3] = neg(%x) to=f32\n"), "error: line 3: neg has no attribute 'to'\n"},
    {IN_GRAPH("  %y f16[2,3] = cast(%x) to=f16 to=f16\n"),
     "error: line 3: attribute 'to' occurs twice\n"},
    {IN_GRAPH("  %y f16[2,3] = cast(%x) to=5\n"), "error: line 3: a dtype expected, not '5'\n"},
    {IN_GRAPH("  %y f32[2,3] = neg(_)\n"), "error: line 3: input 0 of neg is missing\n"},
    {IN_GRAPH("  %y f32[2,3] = neg(%x) up\n"), "error: line 3: neg has no attribute 'up'\n"},
    {IN_GRAPH("  %y f32[2,3] = neg(%x) backward update\n"),
     "error: line 3: the line's end expected, not 'update'\n"},
    {IN_GRAPH("  %y f32[2,4] = neg(%x)\n"), "error: line 3: '%y' is f32[2,3], not f32[2,4]\n"},
    {IN_GRAPH("  %y f32[2,3], %z f32[2,3] = neg(%x)\n"),
     "error: line 3: neg has 1 results, not 2\n"},
    {IN_GRAPH("  %x f32[2,3] = neg(%x)\n"), "error: line 3: '%x' is defined twice\n"},
    {IN_GRAPH("  %y f32[2,3] = neg(%x, %x)\n"),
     "error: node 'v2' (neg): takes 1 inputs, not 2\n"
     "  in 0  x f32[2,3]\n  in 1  x f32[2,3]\n  line 3\n"},
    // A mistake gives one message, and the rest of the file is still checked.
    {IN_GRAPH("  input %b f32[4]\n  %y f32[2,3] = add(%x, %b) from \"Add_1\" \"h.0\"\n"
              "  %z f32[2,3] = neg(%y)\n  %u f32[] = nig(%x)\n"),
     "error: node 'Add_1' (add): operands differ: f32[2,3] and f32[4]\n"
     "  in 0  x f32[2,3]\n  in 1  b f32[4]\n  from  h.0\n  line 4\n"
     "error: line 6: unknown operator 'nig'\n"},
};

static void test_wrong(void **state)
{
    (void)state;
    for (int i = 0; i < COUNT(wrong); i++) {
        Arena *a = arena_new();
        Text messages = {0};
        Diag d = {.to = &messages};
        assert_null(parse(a, wrong[i].text, &d));
        assert_string_equal(messages.s, wrong[i].message);
        text_free(&messages);
        arena_free(a);
    }
}

// Every prefix of a text is refused or read, without a crash.
static void test_prefixes(void **state)
{
    (void)state;
    for (int i = 0; i < COUNT(same); i++) {
        for (size_t n = 0; n < strlen(same[i]); n++) {
            Arena *a = arena_new();
            Text messages = {0};
            Diag d = {.to = &messages};
            char *copy = malloc(n + 1);
            memcpy(copy, same[i], n);
            Graph *g = graph_parse(a, copy, n, &d);
            assert_true(g ? !d.errors : d.errors);
            free(copy);
            text_free(&messages);
            arena_free(a);
        }
    }
}

// Names are made unique in the order of the text. A value without a name gets an unused one.
static void test_names(void **state)
{
    (void)state;
    Arena *a = arena_new();
    Graph *g = graph_new(a, "g");
    ValueId x = graph_value(g, VALUE_INPUT, "x", F32, 0, NULL);
    ValueId y = graph_node(g, &op_neg, 1, &x, NULL);
    value_edit(g, y)->name = "x";
    ValueId z = graph_node(g, &op_neg, 1, &y, NULL);
    value_edit(g, z)->name = "x.2";
    value_edit(g, graph_node(g, &op_neg, 1, &z, NULL))->name = "x";
    graph_value(g, VALUE_ZERO, "v6", F32, 0, NULL);
    graph_node(g, &op_neg, 1, &z, NULL);
    Text t = {0};
    graph_print(g, &t);
    assert_string_equal(t.s, "graph \"g\" {\n"
                             "  input %x f32[]\n"
                             "  zero %v6 f32[] = 0\n"
                             "  %x.2 f32[] = neg(%x)\n"
                             "  %x.2.2 f32[] = neg(%x.2)\n"
                             "  %x.3 f32[] = neg(%x.2.2)\n"
                             "  %v6.2 f32[] = neg(%x.2.2)\n"
                             "}\n");
    text_free(&t);
    arena_free(a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_same),     cmocka_unit_test(test_forms), cmocka_unit_test(test_wrong),
        cmocka_unit_test(test_prefixes), cmocka_unit_test(test_names),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
