// Levels of links from noisy measurements: found as they are in every draw.
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

#include "analyzer/analyzer.h"

enum { DRAWS = 400, MOST = 64, MOST_LEVELS = 4 };

static const struct {
    int n, n_links;
    Link link[MOST_LEVELS];
} cases[] = {
    {1, 0, {{0}}},
    {2, 1, {{"", 2, 1, 1e-6, 1e-10}}},
    {5, 1, {{"", 5, 1, 1e-6, 1e-10}}},
    {8, 1, {{"", 8, 1, 1e-6, 1e-10}}},
    {4, 2, {{"", 2, 1, 1e-6, 1e-10}, {"", 4, 1, 3e-5, 8e-9}}},
    {6, 2, {{"", 2, 1, 1e-6, 1e-10}, {"", 6, 1, 2e-6, 2e-10}}},
    {6, 2, {{"", 3, 1, 1e-6, 1e-10}, {"", 6, 1, 1e-6, 2e-10}}},    // only the bandwidth differs
    {12, 2, {{"", 4, 1, 1e-6, 1e-10}, {"", 12, 1, 2e-6, 1e-10}}},  // only the latency does
    {16, 2, {{"", 8, 1, 3e-6, 2.8e-12}, {"", 16, 1, 8e-6, 2.4e-11}}},
    {16,
     4,
     {{"", 2, 1, 1e-6, 1e-11},
      {"", 4, 1, 2e-6, 2e-11},
      {"", 8, 1, 4e-6, 4e-11},
      {"", 16, 1, 8e-6, 8e-11}}},
    {64, 3, {{"", 4, 1, 1e-6, 1e-10}, {"", 8, 1, 2e-6, 2e-10}, {"", 64, 1, 3e-5, 1e-9}}},
};

// Between 0.85 and 1.15.
static double jitter(uint64_t *seed)
{
    *seed = *seed * 6364136223846793005u + 1442695040888963407u;
    return 0.85 + 0.3 * (double)(*seed >> 11) / 9007199254740992.0;
}

static void draw(const Link *link, int n, uint64_t *seed, double *alpha, double *beta)
{
    for (int i = 0; i < n * n; i++) {
        int level = 0;
        while (i / n != i % n && i / n / link[level].devices != i % n / link[level].devices)
            level++;
        alpha[i] = i / n == i % n ? 0 : link[level].alpha * jitter(seed);
        beta[i] = i / n == i % n ? 0 : link[level].beta * jitter(seed);
    }
}

static void levels_found(void **state)
{
    static double alpha[MOST * MOST], beta[MOST * MOST];
    uint64_t seed = 1;

    for (int i = 0; i < COUNT(cases) * DRAWS; i++) {
        int n = cases[i / DRAWS].n, n_links = cases[i / DRAWS].n_links;
        const Link *link = cases[i / DRAWS].link;
        Link *found;

        if (n == MOST && i % 10)  // large ones take long, and err least
            continue;
        Arena *a = arena_new();
        draw(link, n, &seed, alpha, beta);
        assert_int_equal(links_fit(a, n, alpha, beta, &found), n_links);
        for (int k = 0; k < n_links; k++) {
            assert_int_equal(found[k].devices, link[k].devices);
            assert_true(fabs(found[k].alpha / link[k].alpha - 1) <= 0.15);
            assert_true(fabs(found[k].beta / link[k].beta - 1) <= 0.15);
        }
        arena_free(a);
    }
}

// Some measurements may be wrong altogether: another program ran.
static void outliers(void **state)
{
    static double alpha[MOST * MOST], beta[MOST * MOST];
    const Link link[] = {{"", 4, 1, 1e-6, 1e-10}, {"", 16, 1, 2e-5, 1e-9}};
    uint64_t seed = 2;

    for (int i = 0; i < DRAWS; i++) {
        Arena *a = arena_new();
        Link *found;

        draw(link, 16, &seed, alpha, beta);
        for (int k = 0; k < 256; k++)
            if (jitter(&seed) > 1.12) {  // one of ten
                alpha[k] *= 20;
                beta[k] *= 20;
            }
        assert_int_equal(links_fit(a, 16, alpha, beta, &found), 2);
        assert_int_equal(found[0].devices, 4);
        arena_free(a);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(levels_found), cmocka_unit_test(outliers)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
