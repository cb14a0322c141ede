// Graphs of fused groups with sums: rows of all lengths, each gone through several times, and
// columns of values that lie with channels last.
#ifndef SHARDCC_TESTS_GENERATOR_GROUP_GRAPH_H
#define SHARDCC_TESTS_GENERATOR_GROUP_GRAPH_H

#include "tests/generator/operator_graph.h"

static inline void add_check(Test *t, const Line *line, ValueId v, int64_t terms)
{
    Cases *a = &t->cases;

    graph_output(a->g, arena_string(a->arena, "y%d", t->n_checks), v, OUTPUT_MODEL);
    *arena_push(a->arena, t->checks, t->n_checks, t->cap_checks) =
        (Check){v, line, t->n_checks, (double)terms};
}

static inline ValueId along_rows(Graph *g, ValueId v, int64_t rows, int64_t n)
{
    return make_broadcast(g, v, 2, (int64_t[]){rows, n}, (int64_t[]){0});
}

// A norm: the sum of squares of what is left after the mean was subtracted, and its root.
static inline void add_norm(Test *t, int64_t rows, int64_t n)
{
    static const Line line = {BOUND_SUM, 0, "f32", "norm"};
    Graph *g = t->cases.g;
    const int64_t dim[] = {rows, n}, axis[] = {1};
    ValueId x = add_input(&t->cases, F32, 2, dim, (Mark){0});
    ValueId w = add_input(&t->cases, F32, 1, &n, (Mark){0});
    ValueId total = make_reduce_sum(g, x, 1, axis);
    ValueId mean = make_mul(g, total, scalar_like(g, total, 1 / (double)n));
    ValueId left = make_sub(g, x, along_rows(g, mean, rows, n));
    ValueId sum = make_reduce_sum(g, make_mul(g, left, left), 1, axis);
    ValueId root = make_sqrt(g, make_add(g, sum, scalar_like(g, sum, 1)));
    ValueId y = make_div(g, left, along_rows(g, root, rows, n));

    add_check(t, &line, root, n);
    add_check(t, &line, make_mul(g, y, make_broadcast(g, w, 2, dim, (int64_t[]){1})), n);
}

// Shares of a sum of exponentials, which cost more to compute again than to keep. Two dims are
// summed that lie apart.
static inline void add_shares(Test *t, int64_t rows, int64_t n)
{
    static const Line line = {BOUND_SUM, 0, "f32", "shares"};
    Graph *g = t->cases.g;
    const int64_t from[] = {n, rows, 4}, dim[] = {rows, n, 4}, axes[] = {1, 2};
    ValueId x =
        make_transpose(g, add_input(&t->cases, F32, 3, from, (Mark){0}), (int64_t[]){1, 0, 2});
    ValueId e = make_exp(g, x), sum = make_reduce_sum(g, e, 2, axes);
    ValueId y = make_div(g, e, make_broadcast(g, sum, 3, dim, (int64_t[]){0}));

    add_check(t, &line, y, 4 * n);
    add_check(t, &line, make_reduce_sum(g, make_mul(g, y, e), 2, axes), 4 * n);
}

static inline void make_row_graph(Test *t, Diag *d)
{
    static const int64_t lengths[] = {1,   2,   5,    32,   33,   48,   128,  129,  500,
                                      512, 768, 1000, 1027, 2052, 4096, 5003, 8192, 20000};

    t->cases = (Cases){.arena = arena_new(), .r = {5}};
    t->cases.g = graph_new(t->cases.arena, "rows");
    t->cases.g->diag = d;
    for (int i = 0; i < COUNT(lengths); i++) {
        add_norm(t, i % 3 ? 1 + i % 5 : 64 + i, lengths[i]);
        add_shares(t, 1 + i % 4, lengths[i] < 4096 ? lengths[i] : 100 + i);
    }
    assert_true(graph_verify(t->cases.g, d));
}

// Sums over every set of dims of a convolution's result, of which only some channels are summed, so
// that no pass can move the sum before the convolution. All sizes differ, so that a wrong order of
// dims shows.
static inline void add_channel_sums(Test *t, const int64_t *image, int64_t channels)
{
    static const Line line = {BOUND_SUM, 0, "f32", "sums"};
    const Window plain = {.n = 2, .stride = {1, 1}, .dilation = {1, 1}};
    const int64_t window[] = {channels + 1, image[1], 1, 1}, stride[] = {1, 1, 1, 1};
    const int64_t part[] = {image[0], channels, image[2], image[3]};
    Cases *c = &t->cases;

    for (int subset = 1; subset < 16; subset++) {
        int64_t axes[4], n = 0, terms = image[1];
        for (int i = 0; i < 4; i++)
            if (subset >> i & 1) {
                axes[n++] = i;
                terms *= part[i];
            }
        ValueId x = add_input(c, F32, 4, image, (Mark){0});
        ValueId w = add_input(c, F32, 4, window, (Mark){0});
        ValueId y = make_conv(c->g, x, w, &plain, 1);
        ValueId low = make_slice(c->g, y, (int64_t[]){0, 0, 0, 0}, part, stride);
        ValueId high = make_slice(c->g, y, (int64_t[]){0, 1, 0, 0}, part, stride);
        ValueId product = make_mul(c->g, low, high);
        add_check(t, &line, make_reduce_sum(c->g, product, (int)n, axes), terms);
        add_check(t, &line, make_reduce_sum(c->g, make_mul(c->g, product, product), (int)n, axes),
                  terms * image[1]);
    }
}

static inline void make_column_graph(Test *t, Diag *d)
{
    t->cases = (Cases){.arena = arena_new(), .r = {3}};
    t->cases.g = graph_new(t->cases.arena, "columns");
    t->cases.g->diag = d;
    add_channel_sums(t, (int64_t[]){3, 5, 6, 7}, 11);
    add_channel_sums(t, (int64_t[]){2, 3, 5, 20}, 12);
    add_channel_sums(t, (int64_t[]){3, 2, 9, 13}, 132);
    add_channel_sums(t, (int64_t[]){1, 2, 3, 2}, 45);
    assert_true(graph_verify(t->cases.g, d));
}

#endif
