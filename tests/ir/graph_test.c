// Tests building, rewriting, pruning and verifying graphs, and block labels.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <string.h>
#include <time.h>

#include "ir/build.h"
#include "ir/internal.h"

static Graph *parse(Arena *a, const char *text, Diag *d)
{
    Graph *g = graph_parse(a, text, strlen(text), d);

    if (!g)
        fail_msg("%s\n%s", text, d->to->s);
    return g;
}

static void check_print(const Graph *g, const char *expected)
{
    Text t = {0};

    graph_print(g, &t);
    assert_string_equal(t.s, expected);
    text_free(&t);
}

// ---- verification ----

#define GRAPH(lines) "graph \"g\" {\n" lines "}\n"

static const struct {
    const char *text, *message;  // "": the graph is valid
} verified[] = {
    {GRAPH("  input %x f32[2]\n  state %m f32[2] = 0\n  %y f32[2] = add(%x, %m)\n"
           "  output model \"y\" %y\n  carry step %m %y\n"),
     ""},
    {GRAPH("  state %m f32[2] = 0\n  %y f32[2] = neg(%m)\n  %z f32[2] = neg(%m)\n"
           "  carry step %m %y\n"),
     "error: carry of 'y' to 'm' comes before the old value's last use\n"},
    {GRAPH("  state %m f32[2] = 0\n  input %x f32[3]\n  carry step %m %x\n"),
     "error: carry of 'x' to 'm' changes the type\n"},
    {GRAPH("  state %m f32[2] = 0\n  carry step %m %m\n  carry micro %m %m\n"),
     "error: carry of 'm' to 'm' is the second one\n"},
    {"graph \"g\" {\n  input %x f32[4] labels\n  input %y f32[4] labels\n"
     "  %z f32[4] = sub(%x, %y)\n  output model \"z\" %z\n}\n",
     "error: 2 inputs are labels, but a loss has one\n"},
    {GRAPH("  input %x f32[2]\n  carry step %x %x\n"),
     "error: carry of 'x' to 'x' writes a value that isn't kept\n"},
    {GRAPH("  hyper %lr f32[2] = 0\n"), "error: value 'lr' is a hyper-parameter but no scalar\n"},
    {GRAPH("  input %x f32[2]\n  output loss_sum \"loss\" %x\n"),
     "error: output 'loss' is f32[2], not f32[]\n"},
    {GRAPH("  input %x f32[]\n  output bad_label \"bad\" %x ignored -100\n"),
     "error: output 'bad' is f32[], not i64[]\n"},
    {GRAPH("  input %x f32[2]\n  %y f32[2] = neg(%x) update\n  %z f32[2] = neg(%y)\n"),
     "error: node 'z' (neg): input 0 is of a later phase\n  in 0  y f32[2]\n"},
};

static void test_verify(void **state)
{
    (void)state;
    for (int i = 0; i < COUNT(verified); i++) {
        Arena *a = arena_new();
        Text messages = {0};
        Diag d = {.to = &messages};
        Graph *g = parse(a, verified[i].text, &d);
        assert_int_equal(graph_verify(g, &d), !verified[i].message[0]);
        assert_string_equal(messages.n ? messages.s : "", verified[i].message);
        text_free(&messages);
        arena_free(a);
    }
}

// Messages about graphs that no text can express; break_graph makes them.
static const char *const broken[] = {
    "error: value 'y' has no valid type\n",
    "error: value 'y' and its producer disagree\n",
    "error: value 'v1' has no name\n",
    "error: value 'c' is a constant without data or larger than 1 MiB\n",
    "error: value 'y' is in a block that doesn't exist\n",
    "error: node 'y' (neg): input 0 is computed later\n  in 0  z f32[2]\n",
    ("error: node 'y' (neg): result 0 is f32[2], not f32[3]\n  in 0  x f32[2]\n"
     "error: node 'z' (neg): result 0 is f32[3], not f32[2]\n  in 0  y f32[3]\n"),
    "error: node 1 has an input that doesn't exist\n",
};

static void break_graph(Graph *g, int how)
{
    Value *y = value_edit(g, 3);
    Node *first = &g->nodes[1];

    if (how == 0)
        y->dim[0] = -1;
    else if (how == 1)
        y->producer = 2;
    else if (how == 2)
        g->values[1].name = NULL;
    else if (how == 3)
        g->values[2].data = NULL;
    else if (how == 4)
        y->block.cls = 1;
    else if (how == 5)
        first->in[0] = 4;
    else if (how == 6)
        y->dim[0] = 3;
    else
        first->in[0] = 99;
}

static void test_verify_broken(void **state)
{
    (void)state;
    for (int i = 0; i < COUNT(broken); i++) {
        Arena *a = arena_new();
        Text messages = {0};
        Diag d = {.to = &messages};
        Graph *g = parse(a,
                         GRAPH("  input %x f32[2]\n  constant %c f32[] = 1\n"
                               "  %y f32[2] = neg(%x)\n  %z f32[2] = neg(%y)\n"),
                         &d);
        break_graph(g, i);
        assert_false(graph_verify(g, &d));
        assert_string_equal(messages.s, broken[i]);
        text_free(&messages);
        arena_free(a);
    }
}

static void test_unique_names(void **state)
{
    (void)state;
    Arena *a = arena_new();
    Text messages = {0};
    Diag d = {.to = &messages};
    Graph *g = graph_new(a, "g");
    graph_value(g, VALUE_PARAMETER, "w", F32, 0, NULL);
    graph_value(g, VALUE_CONSTANT, "w", F32, 0, NULL);
    graph_value(g, VALUE_STATE, "w", F32, 0, NULL);
    value_edit(g, 2)->data = &(float){1};
    assert_false(graph_verify(g, &d));
    assert_string_equal(messages.s, "error: value 'w' has the name of another one\n");
    text_free(&messages);
    arena_free(a);
}

// ---- rewriting ----

static void test_prune(void **state)
{
    (void)state;
    Arena *a = arena_new();
    Diag d = {0};
    Graph *g = parse(a,
                     GRAPH("  input %x f32[2]\n  input %unused f32[1]\n"
                           "  state %m f32[2] = 0\n"
                           "  constant %c f32[2] = [1, 2]\n  constant %dead f32[] = 1\n"
                           "  %a f32[2] = neg(%x)\n  %b f32[2] = add(%x, %c)\n"
                           "  %e f32[2] = neg(%a)\n  %k f32[2] = neg(%m)\n"
                           "  output model \"b\" %b\n  carry step %m %k\n"),
                     &d);
    graph_prune(g);
    assert_true(graph_verify(g, &d));
    check_print(g, GRAPH("  input %x f32[2]\n  input %unused f32[1]\n  state %m f32[2] = 0\n"
                         "  constant %c f32[2] = [1, 2]\n"
                         "  %b f32[2] = add(%x, %c)\n  %k f32[2] = neg(%m)\n"
                         "  output model \"b\" %b\n  carry step %m %k\n"));
    arena_free(a);
}

// Replaces every neg of a neg by its operand; copies the other nodes with their attributes and
// labels.
static void test_rewrite(void **state)
{
    (void)state;
    Arena *a = arena_new();
    Diag d = {0};
    Graph *g = parse(a,
                     GRAPH("  class 1 \"h\" 1\n  input %x f32[2]\n"
                           "  %y f32[2] = neg(%x)\n  %z f32[2] = neg(%y)\n"
                           "  %w f32[2] own [2,1] = abs(%z) from \"n\" \"s\" backward block "
                           "1.0.0\n"
                           "  %s f32[2], %i i64[2] = top_k(%w) k=2 backward\n"
                           "  output model \"w\" %w\n  output model \"s\" %s\n"),
                     &d);
    Rewrite r = rewrite_begin(g);
    for (NodeId i = 1; i < g->n_nodes; i++) {
        const Node *n = &g->nodes[i], *before = producer(g, n->in[0]);
        if (n->op == &op_neg && before->op == &op_neg)
            r.map[n->out[0]] = r.map[before->in[0]];
        else
            rewrite_copy(&r, i, &d);
    }
    assert_true(rewrite_end(&r, &d));
    assert_true(graph_verify(g, &d));
    check_print(g, GRAPH("  class 1 \"h\" 1\n  input %x f32[2]\n"
                         "  %w f32[2] own [2,1] = abs(%x) from \"n\" \"s\" backward block 1.0.0\n"
                         "  %s f32[2], %i i64[2] = top_k(%w) k=2 backward\n"
                         "  output model \"w\" %w\n  output model \"s\" %s\n"));
    arena_free(a);
}

// After an error the old graph is unchanged.
static void test_rewrite_error(void **state)
{
    (void)state;
    Arena *a = arena_new();
    Text messages = {0};
    Diag d = {.to = &messages};
    const char *text = GRAPH("  input %x f32[2]\n  %y f32[2] = neg(%x)\n"
                             "  %z f32[2] = add(%x, %y)\n  output model \"z\" %z\n");
    Graph *g = parse(a, text, &d);
    Rewrite r = rewrite_begin(g);
    r.map[2] = graph_scalar(r.to, F32, 1);  // a value of another shape for y
    assert_int_equal(rewrite_copy(&r, 2, &d), 0);
    assert_false(rewrite_end(&r, &d));
    assert_string_equal(messages.s, "error: node 'v3' (add): operands differ: f32[2] and f32[]\n"
                                    "  in 0  x f32[2]\n  in 1  v2 f32[]\n");
    check_print(g, text);
    text_free(&messages);
    arena_free(a);
}

// Builders that get the result of a failed builder fail too, without another message.
static void test_builders_pass_errors_on(void **state)
{
    (void)state;
    Arena *a = arena_new();
    Text messages = {0};
    Diag d = {.to = &messages};
    Graph *g = graph_new(a, "g");
    g->diag = &d;
    ValueId x = graph_value(g, VALUE_INPUT, "x", F32, 1, (int64_t[]){2});
    ValueId y = graph_value(g, VALUE_INPUT, "y", F32, 1, (int64_t[]){3});
    int nodes = g->n_nodes, values = g->n_values;
    ValueId bad = make_add(g, x, y);
    assert_int_equal(make_softmax(g, make_sigmoid(g, bad), 0), 0);
    assert_int_equal(make_attention(g, x, bad, x, 0, &(Attention){.eq = ""}), 0);
    assert_int_equal(make_concat(g, 2, (ValueId[]){x, bad}, 0), 0);
    assert_int_equal(graph_output_of(g, make_top_k(g, bad, 0, 1), 1), 0);
    assert_int_equal(broadcast_to(g, bad, 1, (int64_t[]){2}), 0);
    assert_int_equal(d.errors, 1);
    assert_int_equal(g->n_nodes, nodes);
    assert_int_equal(g->n_values, values);
    assert_int_equal(broadcast_to(g, x, 1, (int64_t[]){4}), 0);
    assert_int_equal(d.errors, 2);
    text_free(&messages);
    arena_free(a);
}

// ---- blocks ----

#define CLASS3(lines) "graph \"g\" {\n  class 1 \"h\" 3\n  input %x f32[4]\n" lines "}\n"

#define CARRIES(lines)                                                                             \
    CLASS3("  buffer %v f32[4]\n  buffer %w0 f32[4] block 1.0.0\n"                                 \
           "  buffer %w1 f32[4] block 1.1.0\n  buffer %w2 f32[4] block 1.2.0\n"                    \
           "  %a0 f32[4] = neg(%x) block 1.0.0\n  %a1 f32[4] = neg(%a0) block 1.1.0\n"             \
           "  %a2 f32[4] = neg(%a1) block 1.2.0\n" lines)

static const struct {
    const char *text, *why;  // "": isomorphic
} classes[] = {
    // A chain whose nodes have a parameter each and a shared operand, and the chain's backward
    // part.
    {CLASS3("  parameter %w0 f32[4] block 1.0.0\n  parameter %w1 f32[4] block 1.1.0\n"
            "  parameter %w2 f32[4] block 1.2.0\n"
            "  %a0 f32[4] = mul(%x, %w0) block 1.0.0\n  %b0 f32[4] = add(%a0, %x) block 1.0.1\n"
            "  %a1 f32[4] = mul(%b0, %w1) block 1.1.0\n  %b1 f32[4] = add(%a1, %x) block 1.1.1\n"
            "  %a2 f32[4] = mul(%b1, %w2) block 1.2.0\n  %b2 f32[4] = add(%a2, %x) block 1.2.1\n"
            "  %d f32[4] = neg(%b2) backward\n"
            "  %d2 f32[4] = mul(%d, %a2) backward block 1.2.2\n"
            "  %d1 f32[4] = mul(%d2, %a1) backward block 1.1.2\n"
            "  %d0 f32[4] = mul(%d1, %a0) backward block 1.0.2\n"),
     ""},
    {CLASS3("  %a0 f32[4] = neg(%x) block 1.0.0\n  %a1 f32[4] = neg(%a0) block 1.1.0\n"
            "  %a2 f32[4] = abs(%a1) block 1.2.0\n"),
     "iteration 2, position 0 (abs): another operator, phase or number of inputs than iteration "
     "0"},
    {CLASS3("  %a0 f32[4] = neg(%x) block 1.0.0\n  %a1 f32[4] = neg(%a0) block 1.1.0\n"),
     "iteration 2 has 0 nodes, iteration 0 has 1"},
    {CLASS3("  %a0 f32[4] = neg(%x) block 1.0.0\n  %a1 f32[4] = neg(%a0) block 1.1.0\n"
            "  %a2 f32[4] = neg(%a0) block 1.2.0\n"),
     "iteration 2, position 0 (neg): an input has another source than in the other iterations"},
    {CLASS3("  input %y f32[4]\n  %a0 f32[4] = neg(%x) block 1.0.0\n"
            "  %a1 f32[4] = neg(%y) block 1.1.0\n  %a2 f32[4] = neg(%x) block 1.2.0\n"),
     "iteration 1, position 0 (neg): an input has another source than in the other iterations"},
    {CLASS3("  %a0 f32[4] = neg(%x) block 1.0.1\n  %a1 f32[4] = neg(%a0) block 1.1.0\n"
            "  %a2 f32[4] = neg(%a1) block 1.2.0\n"),
     "iteration 0, position 1 (neg): is out of order"},
    {CLASS3("  parameter %w0 f32[4] block 1.0.0\n  parameter %w1 f32[4] block 1.1.1\n"
            "  parameter %w2 f32[4] block 1.2.0\n  %a0 f32[4] = mul(%x, %w0) block 1.0.0\n"
            "  %a1 f32[4] = mul(%x, %w1) block 1.1.0\n  %a2 f32[4] = mul(%x, %w2) block 1.2.0\n"),
     "value 'w1' has position 1, which is too large"},
    {CLASS3("  parameter %w0 f32[4] block 1.0.0\n  parameter %w1 f32[4] block 1.1.0\n"
            "  buffer %w2 f32[4] block 1.2.0\n  %a0 f32[4] = mul(%x, %w0) block 1.0.0\n"
            "  %a1 f32[4] = mul(%x, %w1) block 1.1.0\n  %a2 f32[4] = mul(%x, %w2) block 1.2.0\n"),
     "value 'w2' differs from 'w0' in kind, type or fill"},
    // A slice's start may grow by a fixed step per iteration; its stride may not.
    {CLASS3("  %a0 f32[2] = slice(%x) start=[0] size=[2] stride=[1] block 1.0.0\n"
            "  %a1 f32[2] = slice(%x) start=[1] size=[2] stride=[1] block 1.1.0\n"
            "  %a2 f32[2] = slice(%x) start=[2] size=[2] stride=[1] block 1.2.0\n"),
     ""},
    {CLASS3("  %a0 f32[2] = slice(%x) start=[0] size=[2] stride=[1] block 1.0.0\n"
            "  %a1 f32[2] = slice(%x) start=[1] size=[2] stride=[1] block 1.1.0\n"
            "  %a2 f32[2] = slice(%x) start=[0] size=[2] stride=[1] block 1.2.0\n"),
     "iteration 2, position 0 (slice): other attributes than iteration 0"},
    {CLASS3("  %a0 f32[2] = slice(%x) start=[0] size=[2] stride=[1] block 1.0.0\n"
            "  %a1 f32[2] = slice(%x) start=[0] size=[2] stride=[2] block 1.1.0\n"
            "  %a2 f32[2] = slice(%x) start=[0] size=[2] stride=[3] block 1.2.0\n"),
     "iteration 1, position 0 (slice): other attributes than iteration 0"},
    // Each iteration's node writes over a buffer of its own; one of them doesn't; one writes over
    // another's; all write over a buffer outside.
    {CARRIES("  carry step %w0 %a0\n  carry step %w1 %a1\n  carry step %w2 %a2\n"), ""},
    {CARRIES("  carry step %w0 %a0\n  carry step %w2 %a2\n"),
     "iteration 0, position 0 (neg): not every iteration has its carry"},
    {CARRIES("  carry step %w1 %a0\n  carry step %w0 %a1\n  carry step %w2 %a2\n"),
     "iteration 0, position 0 (neg): a carry writes over a value of another position"},
    {CARRIES("  carry step %v %a2\n"),
     "iteration 2, position 0 (neg): a carry writes over a value of another position"},
};

static void test_blocks(void **state)
{
    (void)state;
    for (int i = 0; i < COUNT(classes); i++) {
        Arena *a = arena_new();
        Text messages = {0}, why = {0};
        Diag d = {.to = &messages};
        const char *text = classes[i].text;
        Graph *g = parse(a, text, &d);
        assert_int_equal(block_check(g, 1, &why), !classes[i].why[0]);
        assert_string_equal(why.n ? why.s : "", classes[i].why);
        assert_int_equal(graph_verify(g, &d), !classes[i].why[0]);
        text_free(&messages);
        text_free(&why);
        arena_free(a);
    }
}

static void test_number_blocks(void **state)
{
    (void)state;
    Arena *a = arena_new();
    Diag d = {0};
    Graph *g = parse(a,
                     "graph \"g\" {\n  class 1 \"h\" 2\n  input %x f32[4]\n"
                     "  state %s0 f32[4] = 0 block 1.0.0\n  state %s1 f32[4] = 0 block 1.1.0\n"
                     "  parameter %w1 f32[4] block 1.1.0\n  parameter %w0 f32[4] block 1.0.0\n"
                     "  %a0 f32[4] = neg(%x) block 1.0.0\n"
                     "  %b0 f32[4] = mul(%a0, %w0) block 1.0.0\n"
                     "  %a1 f32[4] = neg(%b0) block 1.1.0\n"
                     "  %b1 f32[4] = mul(%a1, %w1) block 1.1.0\n}\n",
                     &d);
    graph_number_blocks(g);
    check_print(g, "graph \"g\" {\n  class 1 \"h\" 2\n  input %x f32[4]\n"
                   "  state %s0 f32[4] = 0 block 1.0.1\n  state %s1 f32[4] = 0 block 1.1.1\n"
                   "  parameter %w1 f32[4] block 1.1.0\n  parameter %w0 f32[4] block 1.0.0\n"
                   "  %a0 f32[4] = neg(%x) block 1.0.0\n"
                   "  %b0 f32[4] = mul(%a0, %w0) block 1.0.1\n"
                   "  %a1 f32[4] = neg(%b0) block 1.1.0\n"
                   "  %b1 f32[4] = mul(%a1, %w1) block 1.1.1\n}\n");
    assert_true(graph_verify(g, &d));
    arena_free(a);
}

// ---- size ----

// The processor's seconds: the machine may have other work.
static double seconds(void) { return (double)clock() / CLOCKS_PER_SEC; }

// A graph of 50,000 nodes of one name and one class passes everything in linear time.
static void test_large(void **state)
{
    enum { NODES = 50000 };
    (void)state;
    Arena *a = arena_new();
    Text messages = {0}, printed = {0}, again = {0};
    Diag d = {.to = &messages};
    Graph *g = graph_new(a, "large");
    double start = seconds();

    *arena_push(a, g->classes, g->n_classes, g->cap_classes) = (BlockClass){"h", NODES / 2};
    ValueId x = graph_value(g, VALUE_INPUT, "x", F32, 2, (int64_t[]){4, 8});
    for (int i = 0; i < NODES / 2; i++) {
        g->block = (Block){1, i, 0};
        x = make_add(g, x, make_neg(g, x));
        value_edit(g, x)->name = "x";
    }
    graph_output(g, "x", x, OUTPUT_MODEL);
    graph_number_blocks(g);
    graph_print(g, &printed);
    Graph *h = graph_parse(a, printed.s, printed.n, &d);
    assert_non_null(h);
    Rewrite r = rewrite_begin(h);
    for (NodeId i = 1; i < h->n_nodes; i++)
        rewrite_copy(&r, i, &d);
    assert_true(rewrite_end(&r, &d));
    assert_true(graph_verify(h, &d));
    graph_print(h, &again);
    print_message("%d nodes: %.3f s\n", NODES, seconds() - start);
    assert_string_equal(again.s, printed.s);
    assert_int_equal(h->n_nodes, NODES + 1);
    assert_true(seconds() - start < 30);  // quadratic time would be minutes
    text_free(&messages);
    text_free(&printed);
    text_free(&again);
    arena_free(a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_verify),
        cmocka_unit_test(test_verify_broken),
        cmocka_unit_test(test_unique_names),
        cmocka_unit_test(test_prune),
        cmocka_unit_test(test_rewrite),
        cmocka_unit_test(test_rewrite_error),
        cmocka_unit_test(test_builders_pass_errors_on),
        cmocka_unit_test(test_blocks),
        cmocka_unit_test(test_number_blocks),
        cmocka_unit_test(test_large),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
