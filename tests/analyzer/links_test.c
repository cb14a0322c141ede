// Tests that links_fit finds the levels of links from noisy measurements: the true levels in every
// draw, with the devices that share them and their overhead on computation.
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

#include "analyzer/sharding/sharding.h"

enum { DRAWS = 400, MAX_RANKS = 64, MAX_LEVELS = 4, TRIES = 5 };

static const struct {
    int n, n_links;
    Link link[MAX_LEVELS];
} cases[] = {
    {2, 1, {{"", 2, 1, 1e-6, 1e-10}}},
    {2, 1, {{"", 2, 2, 1e-6, 1e-10, 3e-11}}},
    {5, 1, {{"", 5, 1, 1e-6, 1e-10}}},
    {8, 1, {{"", 8, 1, 1e-6, 1e-10}}},
    {4, 2, {{"", 2, 1, 1e-6, 1e-10}, {"", 4, 1, 3e-5, 8e-9}}},
    {6, 2, {{"", 2, 1, 1e-6, 1e-10}, {"", 6, 1, 2e-6, 2e-10}}},
    {6, 2, {{"", 3, 1, 1e-6, 1e-10}, {"", 6, 1, 1e-6, 2e-10}}},  // only the bandwidth differs
    {12, 2, {{"", 4, 2, 1e-6, 1e-10}, {"", 12, 1, 2e-6, 1e-10, 2e-11}}},  // only the latency does
    {16, 2, {{"", 8, 1, 3e-6, 2.8e-12}, {"", 16, 8, 8e-6, 2.4e-11, 5e-12}}},
    {16,
     4,
     {{"", 2, 1, 1e-6, 1e-11},
      {"", 4, 1, 2e-6, 2e-11},
      {"", 8, 1, 4e-6, 4e-11},
      {"", 16, 1, 8e-6, 8e-11}}},
    {64, 3, {{"", 4, 1, 1e-6, 1e-10}, {"", 8, 1, 2e-6, 2e-10}, {"", 64, 1, 3e-5, 1e-9}}},
};

// A random factor between 0.85 and 1.15.
static double jitter(uint64_t *seed)
{
    *seed = *seed * 6364136223846793005u + 1442695040888963407u;
    return 0.85 + 0.3 * (double)(*seed >> 11) / 9007199254740992.0;
}

static double alpha[MAX_RANKS * MAX_RANKS], beta[MAX_RANKS * MAX_RANKS], times[TRIES * MAX_RANKS],
    overhead[TRIES * MAX_RANKS];

// Draws measurements of the links. Two of the tries are wrong by a factor from 1/20 to 20, as if
// another program ran.
static Messages draw(const Link *link, int n_links, int n, uint64_t *seed)
{
    for (int i = 0; i < n * n; i++) {
        int level = 0;
        while (i / n != i % n && i / n / link[level].devices != i % n / link[level].devices)
            level++;
        alpha[i] = i / n == i % n ? 0 : link[level].alpha * jitter(seed);
        beta[i] = i / n == i % n ? 0 : link[level].beta * jitter(seed);
    }
    for (int level = 0; level < n_links; level++)
        for (int i = 0; i < TRIES; i++) {
            int k = i * n + (level ? link[level - 1].devices : 1);
            double wrong = i % 3 ? 1 : exp((jitter(seed) - 1) * 20);
            times[k] = link[level].shared_by * jitter(seed) * wrong;
            overhead[k] = link[level].overhead * jitter(seed) * wrong;
        }
    return (Messages){n, TRIES, alpha, beta, times, overhead};
}

static void check_link(const Link *found, const Link *link)
{
    assert_int_equal(found->devices, link->devices);
    assert_int_equal(found->shared_by, link->shared_by);
    assert_true(fabs(found->alpha / link->alpha - 1) <= 0.15);
    assert_true(fabs(found->beta / link->beta - 1) <= 0.15);
    assert_true(fabs(found->overhead - link->overhead) <= 0.15 * link->overhead);
}

static void levels_found(void **state)
{
    uint64_t seed = 1;

    for (int i = 0; i < COUNT(cases) * DRAWS; i++) {
        int n = cases[i / DRAWS].n, n_links = cases[i / DRAWS].n_links;
        const Link *link = cases[i / DRAWS].link;
        Link *found;

        if (n == MAX_RANKS && i % 10)  // large ones take long and have the smallest errors
            continue;
        Arena *a = arena_new();
        Messages m = draw(link, n_links, n, &seed);
        assert_int_equal(links_fit(a, &m, &found), n_links);
        for (int k = 0; k < n_links; k++)
            check_link(&found[k], &link[k]);
        arena_free(a);
    }
}

// Tests that single measurements may be entirely wrong.
static void outliers(void **state)
{
    const Link link[] = {{"", 4, 1, 1e-6, 1e-10}, {"", 16, 4, 2e-5, 1e-9}};
    uint64_t seed = 2;

    for (int i = 0; i < DRAWS; i++) {
        Arena *a = arena_new();
        Link *found;

        Messages m = draw(link, 2, 16, &seed);
        for (int k = 0; k < 256; k++)
            if (jitter(&seed) > 1.12) {  // one in ten
                alpha[k] *= 20;
                beta[k] *= 20;
            }
        assert_int_equal(links_fit(a, &m, &found), 2);
        assert_int_equal(found[0].devices, 4);
        assert_int_equal(found[1].shared_by, 4);
        arena_free(a);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(levels_found), cmocka_unit_test(outliers)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
