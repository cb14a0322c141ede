// Checks that nets are right, for tests.
#ifndef SHARDCC_TESTS_NETS_CHECK_NETS_H
#define SHARDCC_TESTS_NETS_CHECK_NETS_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <cmocka.h>

#include "tests/nets/hunt.h"

// A net whose program was wrong once. Recipes stay valid because new layers and choices are added
// last (see net.h).
typedef struct FoundNet {
    const char *what, *recipe;
} FoundNet;

// Drawn recipes may make no net.
static inline void check_right(const Recipe *r, const Verdict *v, bool is_drawn, int number)
{
    const char *what = is_drawn ? "net" : "found net";
    Text t = {0};

    if (v->outcome == RIGHT || (v->outcome == NO_NET && is_drawn))
        return;
    recipe_print(r, &t);
    fail_msg("%s %d: %s: %s\nnets --recipe '%s'", what, number, outcome_names[v->outcome], v->what,
             t.s);
}

static inline void check_all(const Hunt *hunt, const Recipe *r, int n, bool is_drawn)
{
    char dir[] = "/tmp/nets_test.XXXXXX";
    Verdict *v = calloc((size_t)n, sizeof *v);
    Hunt h = *hunt;

    assert_non_null(mkdtemp(dir));
    h.dir = dir;
    hunt_many(&h, r, n, v);
    rmdir(dir);
    for (int i = 0; i < n; i++)
        check_right(&r[i], &v[i], is_drawn, i);
    free(v);
}

static inline void check_found(const Hunt *h, const FoundNet *found, int n)
{
    Recipe *r = calloc((size_t)n, sizeof *r);

    for (int i = 0; i < n; i++)
        assert_true(recipe_parse(found[i].recipe, &r[i]));
    check_all(h, r, n, false);
    free(r);
}

// How drawn nets are changed.
typedef enum Changed { AS_DRAWN, WIDENED, VARIED, IN_HALVES } Changed;

// Checks the nets that are drawn with seeds from `first` on.
static inline void check_drawn(const Hunt *h, uint64_t first, int n, Changed how)
{
    Recipe *r = calloc((size_t)n, sizeof *r);

    for (int i = 0; i < n; i++) {
        r[i] = recipe_draw(first + (uint64_t)i);
        if (how == WIDENED)
            recipe_widen(&r[i]);
        if (how == VARIED)
            recipe_vary(&r[i]);
        if (how == IN_HALVES)
            recipe_halve(&r[i]);
    }
    check_all(h, r, n, true);
    free(r);
}

#endif
