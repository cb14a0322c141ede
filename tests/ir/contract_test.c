// Tests contractions, attention and windows against PyTorch's numbers, which tests/ir/reference.py
// made. Shapes, rules, gradients, shards and messages are in tests/ir/samples.def.
#include "tests/ir/sample.h"

#define NUMBERS(...)                                                                               \
    COUNT(((float[]){__VA_ARGS__})), (const float[]) { __VA_ARGS__ }
#define REFERENCE(node, types, ...) {{node, types, ""}, NUMBERS(__VA_ARGS__)},
static const struct {
    SampleText text;
    int n;
    const float *want;  // elements of all outputs
} references[] = {
#include "tests/ir/contract.def"
};

// Fills a tensor with the numbers of reference.py.
static void fill(Tensor *t, int number)
{
    for (int64_t k = 0; t->f && k < tensor_count(t); k++)
        t->f[k] = (double)((7 * k + 5 * number) % 13 - 6) / 4;
}

static void check_number(const char *node, int at, double got, double want)
{
    if (got != want && !(fabs(got - want) <= 2e-6 * (1 + fabs(want))))
        fail_msg("%s: element %d is %.9g, not %.9g", node, at, got, want);
}

static void numbers_are_pytorch_s(void **state)
{
    for (int i = 0; i < COUNT(references); i++) {
        Sample s = sample_read(&references[i].text, false);
        Tensor y[MAX_OUTPUTS];
        int at = 0;

        if (!s.g)
            fail_msg("%s: %s", references[i].text.node, s.message);
        for (int k = 0; k < s.node.n_in; k++)
            fill(&s.in[k], k);
        node_eval(s.arena, s.g, &s.node, s.in, y);
        for (int k = 0; k < s.node.n_out; k++)
            for (int64_t e = 0; e < tensor_count(&y[k]); e++, at++)
                check_number(references[i].text.node, at, y[k].f[e], references[i].want[at]);
        assert_int_equal(at, references[i].n);
        sample_free(&s);
    }
}

// A query with a window of three sees three keys, and the first queries see fewer. A shard of the
// queries sees the same keys.
static void windows_slide(void **state)
{
    static const SampleText text = {"attention(f32[4,1], f32[4,1], f32[4,4]) "
                                    "eq=\"se,te,tf->sf\" causal=1 window=3",
                                    "f32[4,4], f32[4], f32[4]", ""};
    Sample s = sample_read(&text, false);
    int64_t rows[] = {2, 4};
    Tensor whole[3], shard[3];
    NodeShard p = {{0}, {0}};
    Rule r;

    for (int i = 0; i < 3; i++)
        shard[i] = tensor_new(s.arena, F32, i == 0 ? 2 : 1, rows);
    for (int k = 0; k < 16; k++)
        s.in[2].f[k] = k % 5 == 0;  // v is the identity: y holds the weights
    node_eval(s.arena, s.g, &s.node, s.in, whole);
    for (int k = 0; k < 16; k++) {
        int row = k / 4, key = k % 4;

        assert_true((whole[0].f[k] > 0) == (key <= row && key > row - 3));
    }
    node_rule(s.arena, s.g, &s.node, &r);
    p.offset[r.dim[0][0]] = 2;
    s.in[0].dim[0] = 2;
    s.in[0].f += 2;
    node_eval_shard(s.g, &s.node, &p, s.in, shard);
    for (int k = 0; k < 8; k++)
        assert_true(shard[0].f[k] == whole[0].f[8 + k]);
    sample_free(&s);
}

// The flops are those of the work done, whatever factors the rule has.
static void work_is_counted(void **state)
{
    static const struct {
        SampleText text;
        double flops;
    } cases[] = {
        {{"conv(f32[2,4,5,5], f32[6,2,3,3]) groups=2", "f32[2,6,3,3]", ""},
         2.0 * 2 * 6 * 9 * 2 * 9},
        {{"conv_weight_grad(f32[2,3,5], f32[2,3,4]) shape=[3,1,2] groups=3", "f32[3,1,2]", ""},
         2.0 * 2 * 3 * 4 * 2},
        {{"attention(f32[2,3,4], f32[2,5,4], f32[2,5,6]) eq=\"bse,bte,btf->bsf\" query=1",
          "f32[2,3,6], f32[2,3], f32[2,3]", ""},
         2.0 * 2 * 3 * 5 * (4 + 6)},
        {{"attention_grad(f32[2,3,4], f32[2,5,4], f32[2,5,6], _, _, _, _, f32[2,3,6], f32[2,3], "
          "f32[2,3], f32[2,3,6]) "
          "eq=\"bse,bte,btf->bsf\" query=1",
          "f32[2,3,4], f32[2,5,4], f32[2,5,6]", ""},
         2.0 * 2 * 3 * 5 * 2 * (4 + 6)},
        {{"max_pool(f32[1,2,6]) size=[3] stride=[3]", "f32[1,2,2]", ""}, 12},
        {{"sum_pool_grad(f32[1,2,2]) shape=[1,2,6] size=[3] stride=[3]", "f32[1,2,6]", ""}, 12},
    };

    for (int i = 0; i < COUNT(cases); i++) {
        Sample s = sample_read(&cases[i].text, false);

        if (!s.g)
            fail_msg("%s: %s", cases[i].text.node, s.message);
        assert_true(s.node.op->work(s.g, &s.node) == cases[i].flops);
        sample_free(&s);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(numbers_are_pytorch_s),
        cmocka_unit_test(windows_slide),
        cmocka_unit_test(work_is_counted),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
