// Tests the requests for kernels. The samples of all operators make requests, whose texts are read
// back; texts that aren't requests are refused.
#include "analyzer/target.h"
#include "tests/ir/sample.h"

// Asks for the kernel of a sample's node as if each factor were split, in iteration 3 of a loop.
static void request(const Sample *s, Kernel *k)
{
    enum { ITERATION = 3 };
    const Node *n = &s->node;
    int count = n->n_in + n->n_out;
    int64_t(*stride)[MAX_RANK] = arena_alloc(s->arena, (size_t)count, sizeof *stride);
    Rule r;

    node_rule(s->g, n, s->arena, &r);
    *k = (Kernel){.want = arena_alloc(s->arena, (size_t)count, sizeof *stride),
                  .whole = r.size,
                  .cut = ((uint64_t)1 << r.n_factors) - 1};
    for (int i = 0; i < count; i++) {
        const Value *v = value_of(s->g, nth_operand(n, i));
        dense_strides(v->rank, v->dim, stride[i]);
    }
    node_kernel(s->g, n, (const int64_t(*)[MAX_RANK])stride, k);
    kernel_settle(k, ITERATION);
}

// Every kernel that an operator asks for, with at least one field of every sample not zero.
static void texts_are_read_back(void **state)
{
    int n = 0, n_terms = 0;

    for (int i = 0; i < COUNT(samples); i++) {
        Sample s = sample_read(&samples[i], false);
        Kernel k = {0}, again = {0};
        Text text = {0}, other = {0}, why = {0};

        if (s.g && s.node.op->kernel)
            request(&s, &k);
        if (k.def) {
            kernel_print_text(&k, &text);
            const char *at = text.s;
            again = k;
            if (!kernel_read_text(&at, &again, &why) || *at)
                fail_msg("%s: %s before '%s'", text.s, why.s, at);
            kernel_print_text(&again, &other);
            assert_string_equal(text.s, other.s);
            assert_true(kernel_equal(&k, &again));
            n++;
            n_terms += k.n_terms;
        }
        text_free(&text);
        text_free(&other);
        text_free(&why);
        sample_free(&s);
    }
    assert_true(n > 50 && n_terms > 5);
}

static const struct {
    const char *text, *message;
} wrong[] = {
    {"dott{.m = 1}", "there is no kernel 'dott'"},
    {"dot", "expected field 'm'"},
    {"{.m = 1}", "there is no kernel ''"},
    {"dot{.m = 1, .k = 2}", "expected field 'n'"},
    {"dot{.m = x}", "cannot read field 'm'"},
    {"dot{.m = 9223372036854775808}", "cannot read field 'm'"},
    {"top_k{.type = RT_F33, .outer = 1}", "cannot read field 'type'"},
    {"top_k{.type = RT_F32, .outer = 1, .n = 2, .inner = 3, .k = 1", "expected '}'"},
    {"reduce{.op = RT_SUM, .type = RT_F32, .rank = 13, .dim = {1}}", "cannot read field 'dim'"},
    {"reduce{.op = RT_SUM, .type = RT_F32, .rank = 2, .dim = {1}}", "cannot read field 'dim'"},
    {"reduce{.op = RT_SUM, .type = RT_F32, .rank = -1}", "cannot read field 'rank'"},
    {"reduce{.op = RT_SUM, .type = RT_F32, .rank = 1, .stride = {1}}", "expected field 'dim'"},
    {"top_k{.type = RT_F32, .outer = 1+2*depth, .n = 2}", "cannot read field 'outer'"},
    {"top_k{.type = RT_F32, .outer = 1+2*shard[24], .n = 2}", "cannot read field 'outer'"},
};

static void wrong_texts_are_refused(void **state)
{
    for (int i = 0; i < COUNT(wrong); i++) {
        const char *at = wrong[i].text;
        Kernel k = {0};
        Text why = {0};

        assert_false(kernel_read_text(&at, &k, &why));
        assert_string_equal(why.s, wrong[i].message);
        text_free(&why);
    }
}

// A target refuses types that its kernel doesn't take, instead of computing in another.
static void types_are_refused(void **state)
{
    static const struct {
        RtType a, b, y;
        bool is_taken;
    } cases[] = {
        {RT_F32, RT_F32, RT_F32, true},    {RT_F64, RT_F64, RT_F64, true},
        {RT_BF16, RT_BF16, RT_F32, false}, {RT_F16, RT_F16, RT_F16, false},
        {RT_F32, RT_F64, RT_F64, false},   {RT_I32, RT_I32, RT_I32, false},
    };
    Arena *a = arena_new();
    Text said = {0};
    Diag d = {.file = "case", .to = &said};
    static const char text[] = "graph \"g\" {\n  input %a f32[2,3]\n  input %b f32[3,4]\n"
                               "  %y f32[2,4] = dot(%a, %b) eq=\"mk,kn->mn\"\n"
                               "  output model \"y\" %y\n}\n";
    Graph *g = graph_parse(a, text, sizeof text - 1, &d);

    assert_non_null(g);
    for (int i = 0; i < COUNT(cases); i++) {
        Kernel k = {.def = kernel_find("dot"),
                    .type = {cases[i].a, cases[i].b, cases[i].y},
                    .n_in = 2,
                    .n_out = 1};
        assert_int_equal(target_takes(&target_cpu, g, &g->nodes[1], &k, &d), cases[i].is_taken);
    }
    assert_non_null(strstr(said.s, "the target cpu computes it with operands of one type, f32 or "
                                   "f64 only"));
    text_free(&said);
    arena_free(a);
}

// Fewer threads never need more workspace.
static void workspaces_grow_with_threads(void **state)
{
    Target few = target_cpu, more = target_cpu;
    Kernel k = {
        .def = kernel_find("attention"),
        .params.attention = {.n_batch = 1, .batch = {100}, .s = 64, .t = 64, .e = 32, .f = 32}};

    for (int i = 1; i < 64; i++) {
        few.threads = i;
        more.threads = i + 1;
        assert_int_equal(target_workspace(&few, &k) * (i + 1), target_workspace(&more, &k) * i);
    }
    assert_int_equal(target_workspace(&more, &k), target_workspace(&target_cpu, &k));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(texts_are_read_back),
        cmocka_unit_test(wrong_texts_are_refused),
        cmocka_unit_test(types_are_refused),
        cmocka_unit_test(workspaces_grow_with_threads),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
