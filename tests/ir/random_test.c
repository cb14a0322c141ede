// Tests random numbers: Philox against the test vectors of its authors' Random123 library
// (kat_vectors), and the properties that the operator `random` promises.
#include "runtime/rt_philox.h"
#include "tests/ir/sample.h"

static const struct {
    uint32_t counter[4], key[2], out[4];
} vectors[] = {
    {{0, 0, 0, 0}, {0, 0}, {0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}},
    {{UINT32_MAX, UINT32_MAX, UINT32_MAX, UINT32_MAX},
     {UINT32_MAX, UINT32_MAX},
     {0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}},
    {{0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344},
     {0xa4093822, 0x299f31d0},
     {0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}},
};

static void philox_gives_its_vectors(void **state)
{
    for (int i = 0; i < COUNT(vectors); i++) {
        uint32_t c[4];

        memcpy(c, vectors[i].counter, sizeof c);
        rt_philox(c, vectors[i].key[0], vectors[i].key[1]);
        assert_memory_equal(c, vectors[i].out, sizeof c);
    }
}

// The mean and variance of [0, 1), and of products of neighbours, are within five standard
// deviations.
static void numbers_are_uniform(void **state)
{
    enum { N = 1 << 16 };
    double sum = 0, squares = 0, products = 0, last = 0.5;

    for (int64_t i = 0; i < N; i++) {
        double x = (double)rt_uniform(1, 2, 3, 4, i);

        assert_true(x >= 0 && x < 1);
        sum += x;
        squares += x * x;
        products += (x - 0.5) * (last - 0.5);
        last = x;
    }
    assert_true(fabs(sum / N - 0.5) < 5 * sqrt(1.0 / 12 / N));
    assert_true(fabs(squares / N - 1.0 / 3) < 5 * sqrt(4.0 / 45 / N));
    assert_true(fabs(products / N) < 5 * sqrt(1.0 / 144 / N));
}

// Another seed, step, site or layer gives another stream.
static void streams_differ(void **state)
{
    for (int64_t i = 0; i < 64; i++) {
        float x = rt_uniform(1, 2, 3, 4, i);

        assert_true(x != rt_uniform(2, 2, 3, 4, i) && x != rt_uniform(1, 3, 3, 4, i));
        assert_true(x != rt_uniform(1, 2, 4, 4, i) && x != rt_uniform(1, 2, 3, 5, i));
        assert_true(x != rt_uniform(2, 1, 3, 4, i) && x != rt_uniform(1, 2, 4, 3, i));
    }
}

static void eval_random(const SampleText *t, int64_t micro, double *numbers)
{
    Sample s = sample_read(t, false);
    Tensor y;

    assert_non_null(s.g);
    s.in[2].i[0] = micro;
    node_eval(s.arena, s.g, &s.node, s.in, &y);
    memcpy(numbers, y.f, sizeof *numbers * (size_t)tensor_count(&y));
    sample_free(&s);
}

// Two micro-batches of 3 × 2 are the whole batch of 3 × 4, split along dim 1.
static void micro_batches_are_the_whole(void **state)
{
    const SampleText whole = {"random(i64[]=3, i64[]=7, i64[]=0) shape=[3,4] micro_axis=1 micro=1",
                              "f32[3,4]", ""};
    const SampleText part = {"random(i64[]=3, i64[]=7, i64[]=0) shape=[3,2] micro_axis=1 micro=2",
                             "f32[3,2]", ""};
    double y[12], y0[6], y1[6];

    eval_random(&whole, 0, y);
    eval_random(&part, 0, y0);
    eval_random(&part, 1, y1);
    for (int i = 0; i < 12; i++)
        assert_true(y[i] == (i % 4 < 2 ? y0 : y1)[i / 4 * 2 + i % 2]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(philox_gives_its_vectors),
        cmocka_unit_test(numbers_are_uniform),
        cmocka_unit_test(streams_differ),
        cmocka_unit_test(micro_batches_are_the_whole),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
