// Tests the texts of requests for kernels, with those that the samples of all operators make.
#include "analyzer/target/target.h"
#include "tests/ir/sample.h"

// Asks for the kernel of a sample's node as if each factor were split, in iteration 3 of a loop.
static void request(const Sample *s, Kernel *k)
{
    enum { ITERATION = 3 };
    const Node *n = &s->node;
    int count = n->n_in + n->n_out;
    int64_t(*stride)[MAX_RANK] = arena_alloc(s->arena, (size_t)count, sizeof *stride);
    Rule r;

    node_rule(s->arena, s->g, n, &r);
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

// The texts of any two requests that operators make are equal if and only if the requests are.
static void equal_texts_are_equal_requests(void **state)
{
    static Kernel k[COUNT(samples)];
    static Text text[COUNT(samples)];
    int n = 0, n_terms = 0, n_equal = 0;

    for (int i = 0; i < COUNT(samples); i++) {
        Sample s = sample_read(&samples[i], false);
        k[n] = (Kernel){0};
        if (s.g && s.node.op->kernel)
            request(&s, &k[n]);
        if (k[n].def) {
            kernel_print_text(&k[n], &text[n]);
            n_terms += k[n].n_terms;
            n++;
        }
        sample_free(&s);
    }
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++) {
            bool same = !strcmp(text[i].s, text[j].s);
            bool same_types = !memcmp(k[i].type, k[j].type, sizeof k[i].type);
            if (kernel_equal(&k[i], &k[j]) != (same && same_types))
                fail_msg("%s and %s", text[i].s, text[j].s);
            n_equal += same;
        }
    assert_true(n > 50 && n_terms > 5 && n_equal < n * n / 4);
    for (int i = 0; i < n; i++)
        text_free(&text[i]);
}

// A target refuses types that its kernel doesn't take, instead of computing in another.
static void types_are_refused(void **state)
{
    static const struct {
        RtType a, b, y;
        bool is_taken;
    } cases[] = {
        {RT_F32, RT_F32, RT_F32, true},    {RT_F64, RT_F64, RT_F64, true},
        {RT_BF16, RT_BF16, RT_F32, true},  {RT_F16, RT_F16, RT_F16, true},
        {RT_F32, RT_F64, RT_F64, false},   {RT_I32, RT_I32, RT_I32, false},
        {RT_BF16, RT_BF16, RT_F16, false}, {RT_F16, RT_BF16, RT_F32, false},
        {RT_F32, RT_F32, RT_BF16, false},  {RT_F16, RT_F16, RT_F64, false},
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
    assert_non_null(strstr(said.s, "the target cpu computes it with operands of one type of "
                                   "floats only"));
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
        cmocka_unit_test(equal_texts_are_equal_requests),
        cmocka_unit_test(types_are_refused),
        cmocka_unit_test(workspaces_grow_with_threads),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
