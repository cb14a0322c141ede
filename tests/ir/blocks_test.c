// Tests the pass blocks against tests/cases/blocks.cases, on shuffled nodes, and its time on a
// deep graph.
#include <time.h>

#include "tests/ir/pass_cases.h"

static void golden(void **state)
{
    (void)state;
    cases_check("tests/cases/blocks.cases", blocks);
}

// ---- independence of the order in which an exporter writes nodes ----

// Puts the nodes into a random topological order.
static void shuffle(Graph *g, uint64_t seed)
{
    int n = g->n_nodes, n_done = 1;
    NodeId *order = arena_array(g->arena, NodeId, n), *to = arena_array(g->arena, NodeId, n);
    Node *old = arena_array(g->arena, Node, n);

    memcpy(old, g->nodes, (size_t)n * sizeof *old);
    while (n_done < n) {
        uint64_t key[2] = {seed, (uint64_t)n_done};
        int skip = (int)(hash_bytes(key, sizeof key, 0) % (uint64_t)n);
        NodeId i = 0;
        while (skip >= 0) {
            i = i + 1 < n ? i + 1 : 1;
            bool ready = !to[i];
            for (int k = 0; k < old[i].n_in && ready; k++) {
                NodeId from = value_of(g, old[i].in[k])->producer;
                ready = !from || to[from];
            }
            skip -= ready;
        }
        order[n_done] = i;
        to[i] = n_done++;
    }
    for (int i = 1; i < n; i++)
        g->nodes[i] = old[order[i]];
    for (ValueId v = 1; v < g->n_values; v++)
        g->values[v].producer = to[g->values[v].producer];
}

static void check_shuffled(const char *s, size_t n, uint64_t seed)
{
    Arena *a = arena_new();
    Diag d = {0};
    Graph *g = case_parse(a, s, n, &d), *h = case_parse(a, s, n, &d);
    Text x = {0}, y = {0};

    shuffle(h, seed);
    assert_true(graph_verify(h, &d));
    assert_true(blocks(g, &d) && blocks(h, &d));
    graph_print(g, &x);
    graph_print(h, &y);
    assert_string_equal(x.s, y.s);
    text_free(&x);
    text_free(&y);
    arena_free(a);
}

static void shuffled(void **state)
{
    File f;
    Diag d = {0};

    (void)state;
    assert_true(file_map("tests/cases/blocks.cases", &f, &d));
    Text all = {0};
    text_put(&all, (const char *)f.data, f.size);
    file_unmap(&f);
    for (const char *s = strstr(all.s, "graph "); s; s = strstr(strstr(s, "\n=== "), "graph ")) {
        const char *end = strstr(s, "\n---\n");
        for (uint64_t seed = 0; seed < 20; seed++)
            check_shuffled(s, (size_t)(end + 1 - s), seed);
        if (!strstr(s, "\n=== "))
            break;
    }
    text_free(&all);
}

// ---- 50,000 nodes ----

static void deep(void **state)
{
    enum { LAYERS = 2500, PARTS = 6 };
    Arena *a = arena_new();
    Diag d = {0};
    Graph *g = graph_new(a, "g");
    struct timespec start, end;

    (void)state;
    g->diag = &d;
    ValueId x = graph_value(g, VALUE_INPUT, "x", F32, 2, (int64_t[]){4, 8});
    for (int i = 0; i < LAYERS; i++) {
        ValueId h = x;
        for (int k = 0; k < PARTS; k++) {
            ValueId w = graph_value(g, VALUE_PARAMETER, arena_string(a, "w%d.%d", i, k), F32, 2,
                                    (int64_t[]){8, 8});
            ValueId y = make_dot(g, h, w, "bi,ij->bj");
            h = k % 2 ? make_add(g, make_tanh(g, y), h) : make_sin(g, make_mul(g, y, h));
        }
        x = make_add(g, make_mul(g, h, x), x);
    }
    graph_output(g, "x", x, OUTPUT_MODEL);
    clock_gettime(CLOCK_MONOTONIC, &start);
    assert_true(blocks(g, &d));
    clock_gettime(CLOCK_MONOTONIC, &end);
    double ms =
        (double)(end.tv_sec - start.tv_sec) * 1e3 + (double)(end.tv_nsec - start.tv_nsec) / 1e6;
    printf("# %d nodes in %.0f ms\n", g->n_nodes - 1, ms);
    assert_int_equal(g->n_classes - 1, 1);
    assert_int_equal(g->classes[1].length, LAYERS);
    assert_true(graph_verify(g, &d));
    arena_free(a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(golden), cmocka_unit_test(shuffled),
                                       cmocka_unit_test(deep)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
