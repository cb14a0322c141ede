// Tests problems too large for many sweeps: chains in which bytes bind must be solved quickly.
// Compares with dynamic programming over all bytes, and two threads with one.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "tests/sanitized.h"
#include "tests/solver/random.h"

enum { NODES = 6, WIDTH = 660, MAX_BYTES = 12, LIMIT = NODES * MAX_BYTES / 3 };

// An alternative with fewer bytes costs more.
static Problem random_chain(Arena *a, uint64_t seed)
{
    int n = NODES * WIDTH, pairs = WIDTH * WIDTH;
    Problem p = {.n_nodes = NODES, .n_edges = NODES - 1, .limit = LIMIT};

    p.first = arena_array(a, int, NODES + 1);
    p.cost = arena_array(a, int64_t, n);
    p.first_live = arena_array(a, int, n + 1);
    p.live = arena_array(a, LiveBytes, n);
    p.edge = arena_array(a, Edge, NODES - 1);
    for (int i = 0; i <= NODES; i++)
        p.first[i] = i * WIDTH;
    for (int k = 0; k < n; k++) {
        p.live[k] = (LiveBytes){0, 1, 1 + below(&seed, MAX_BYTES)};
        p.first_live[k + 1] = k + 1;
        p.cost[k] = 20000 + 1000 * (MAX_BYTES - p.live[k].bytes) + below(&seed, 5000);
    }
    for (int e = 0; e < NODES - 1; e++) {
        int64_t *cost = arena_array(a, int64_t, pairs);
        for (int i = 0; i < pairs; i++)
            cost[i] = below(&seed, 5000);
        p.edge[e] = (Edge){e, e + 1, cost};
    }
    return p;
}

// The least cost of the chain: by last alternative and by total bytes, node by node.
static int64_t cheapest(Arena *a, const Problem *p)
{
    enum { ROOM = LIMIT + 1 };
    int64_t *before = NULL, least = COST_FORBIDDEN;

    for (int i = 0; i < NODES; i++) {
        int64_t *now = arena_array(a, int64_t, WIDTH * ROOM);
        for (int at = 0; at < WIDTH * ROOM; at++) {
            int l = at / ROOM, left = at % ROOM - (int)p->live[p->first[i] + l].bytes;
            now[at] = !i && !left ? 0 : COST_FORBIDDEN;
            for (int k = 0; i && left >= 0 && k < WIDTH; k++) {
                int64_t x = before[k * ROOM + left] + p->edge[i - 1].cost[k * WIDTH + l];
                now[at] = x < now[at] ? x : now[at];
            }
            now[at] += p->cost[p->first[i] + l];
        }
        before = now;
    }
    for (int at = 0; at < WIDTH * ROOM; at++)
        least = before[at] < least ? before[at] : least;
    return least;
}

static void chains(void **state)
{
    for (uint64_t seed = 0; seed < (IS_SANITIZED ? 1 : 3); seed++) {
        Arena *a = arena_new();
        Problem p = random_chain(a, seed);
        Answer s[2];

        for (int i = 0; i < 2; i++) {
            SolveOptions o = {.threads = i + 1, .seed = 1, .skips_certificate = true};
            o.gap = seed % 2 ? 1e-2 : 1e-3;
            solve(a, &p, &o, &s[i], NULL);
        }
        int64_t least = cheapest(a, &p);
        ChoicePrice price = problem_price(&p, s[0].choice);
        print_message("cost %.0f of %.0f, bound %.0f\n", (double)s[0].cost, (double)least,
                      (double)s[0].bound);
        assert_true(is_found(s[0].outcome) && price.peak <= LIMIT && price.cost == s[0].cost);
        assert_true(s[0].bound <= least && least <= s[0].cost);
        assert_true(s[0].cost == s[1].cost && s[0].bound == s[1].bound);
        assert_memory_equal(s[0].choice, s[1].choice, NODES * sizeof *s[0].choice);
        arena_free(a);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(chains)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
