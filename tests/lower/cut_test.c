// Tests minimum cuts of random graphs against all subsets of their nodes, and which of several
// minimum cuts is found.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

#include "lower/recompute/min_cut.h"

enum { MAX_NODES = 8, MAX_EDGES = 24, GRAPHS = 3000, SOURCE = 0, SINK = 1 };

typedef struct Edges {
    int n_nodes, n;
    int from[MAX_EDGES], to[MAX_EDGES];
    int64_t capacity[MAX_EDGES];
} Edges;

static uint64_t next_random(uint64_t *state)
{
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    return *state >> 33;
}

static Edges draw(uint64_t *state)
{
    Edges e = {.n_nodes = 2 + (int)(next_random(state) % (MAX_NODES - 1))};

    e.n = (int)(next_random(state) % (MAX_EDGES + 1));
    for (int i = 0; i < e.n; i++) {
        e.from[i] = (int)(next_random(state) % (uint64_t)e.n_nodes);
        e.to[i] = (int)(next_random(state) % (uint64_t)e.n_nodes);
        e.capacity[i] = (int64_t)(next_random(state) % 5);
    }
    return e;
}

// The capacity of the edges from the nodes of the set (one bit each) to the others.
static int64_t capacity_of(const Edges *e, unsigned above)
{
    int64_t sum = 0;

    for (int i = 0; i < e->n; i++)
        if ((above >> e->from[i] & 1) && !(above >> e->to[i] & 1))
            sum += e->capacity[i];
    return sum;
}

static void check(const Edges *e)
{
    Arena *a = arena_new();
    Cut c = cut_new(a, e->n_nodes);
    bool is_below[MAX_NODES];
    unsigned above = 0, most = 0;
    int64_t least = INT64_MAX;

    for (int i = 0; i < e->n; i++)
        cut_edge(&c, e->from[i], e->to[i], e->capacity[i]);
    int64_t found = cut_solve(&c, SOURCE, SINK, is_below);
    for (int i = 0; i < e->n_nodes; i++)
        above |= (unsigned)!is_below[i] << i;
    for (unsigned s = 0; s < 1u << e->n_nodes; s++)
        if ((s >> SOURCE & 1) && !(s >> SINK & 1)) {
            int64_t sum = capacity_of(e, s);
            if (sum <= least)
                most = sum < least ? s : most | s;  // minimum cuts are closed under union
            least = sum < least ? sum : least;
        }
    assert_int_equal(found, least);
    assert_int_equal(capacity_of(e, above), least);
    assert_int_equal(above, most);
    arena_free(a);
}

static void test_random(void **state)
{
    uint64_t seed = 1;

    (void)state;
    for (int i = 0; i < GRAPHS; i++) {
        Edges e = draw(&seed);
        check(&e);
    }
}

// Deep graphs need no deep call stack.
static void test_chain(void **state)
{
    enum { LENGTH = 200000 };
    Arena *a = arena_new();
    Cut c = cut_new(a, LENGTH);
    bool *is_below = arena_array(a, bool, LENGTH);

    (void)state;
    for (int i = 2; i < LENGTH; i++)
        cut_edge(&c, i == 2 ? SOURCE : i - 1, i, i == LENGTH / 2 ? 3 : 7);
    cut_edge(&c, LENGTH - 1, SINK, CUT_INFINITE);
    assert_int_equal(cut_solve(&c, SOURCE, SINK, is_below), 3);
    assert_false(is_below[LENGTH / 2 - 1]);
    assert_true(is_below[LENGTH / 2]);
    arena_free(a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_random), cmocka_unit_test(test_chain)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
