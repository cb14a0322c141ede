// Tests that attention stays within its planned workspace, whichever thread takes a part of it.
// tests/generator/attention_test.c tests its results.
#include "tests/runtime/kernels.h"

// Runs attention over that many rows, which are one part, or several that threads share.
static void keeps_to_workspace(int rows)
{
    enum { T = 96, E = 80, F = 32, THREADS = 4 };
    RtAttention p = {.s = rows, .t = T, .e = E, .f = F, .scale = 0.1f};
    int64_t bytes = rt_attention_workspace(&p, THREADS), all = THREADS * bytes;
    char *workspace = malloc((size_t)all);
    Rt rt = {.threads = THREADS, .workspace = workspace};
    Random r = {1};

    p.q.row = p.k.row = E;
    p.v.row = p.y.row = F;
    p.q.col = p.k.col = p.v.col = p.y.col = p.lse.row = 1;
    float *q = draw_floats(&r, rows * E), *k = draw_floats(&r, T * E), *v = draw_floats(&r, T * F);
    float *y = draw_floats(&r, rows * F), *lse = draw_floats(&r, rows);
    memset(workspace, 7, (size_t)all);
    for (int again = 0; again < 100; again++)
        rt_attention(&rt, &p, y, lse, q, k, v, NULL, NULL, NULL, NULL);
    for (int64_t i = bytes; i < all; i++)
        assert_int_equal(workspace[i], 7);
    free(workspace);
    free(q);
    free(k);
    free(v);
    free(y);
    free(lse);
}

static void test_workspace(void **state)
{
    keeps_to_workspace(64);
    keeps_to_workspace(500);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_workspace)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
