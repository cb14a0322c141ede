// Tests meshes: the possible shapes, their text, and the links of their axes.
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "analyzer/sharding/sharding.h"

static Link host[] = {{"bus", 8, 4, 1e-6, 1e-10, 3e-11}};
static Link two[] = {{"fast", 4, 1, 1e-6, 1e-10}, {"wire", 64, 4, 1e-5, 1e-9, 2e-10}};
static Link own[] = {{"fast", 8, 1, 1e-6, 1e-10}, {"wire", 512, 1, 1e-5, 1e-9}};
static Link deep[] = {{"", 2, 1, 1e-6, 1e-10},
                      {"", 4, 1, 2e-6, 2e-10},
                      {"", 8, 1, 3e-6, 3e-10},
                      {"", 16, 1, 4e-6, 4e-10},
                      {"", 32, 1, 5e-6, 5e-10}};

static const struct {
    Link *link;
    int n_links, ranks;
    const char *shapes;
} cases[] = {
    {NULL, 0, 1, " "},
    {host, 1, 1, " "},
    {host, 1, 2, " 2"},
    {host, 1, 6, " 2x3 3x2 6"},
    {host, 1, 7, " 7"},
    {host, 1, 8, " 2x2x2 2x4 4x2 8"},
    {two, 2, 6, " 2x3 3x2 6"},  // no grid of 6 ranks has an axis of stride 4
    {two, 2, 8, " 2x2x2 2x4"},
    {two, 2, 12, " 3x2x2 3x4"},
    {two, 2, 16, " 2x2x2x2 2x2x4 4x2x2 4x4"},
    {own, 2, 64, " 2x2x2x8 2x4x2x4 2x4x4x2 2x4x8 4x2x2x4 4x2x4x2 4x2x8 8x2x2x2 8x2x4 8x4x2 8x8"},
    {own, 2, 128, " 2x8x8 4x4x8 8x2x8 16x2x4 16x4x2 16x8"},
    // With more levels than axes, the levels don't constrain the shapes.
    {deep, 5, 32,
     " 2x2x2x4 2x2x4x2 2x2x8 2x4x2x2 2x4x4 2x8x2 2x16 4x2x2x2 4x2x4 4x4x2 4x8 8x2x2 8x4 16x2 32"},
};

static void shapes_of_ranks(void **state)
{
    for (int i = 0; i < COUNT(cases); i++) {
        Cluster c = {.link = cases[i].link, .n_links = cases[i].n_links};
        Arena *a = arena_new();
        const Mesh *m;
        Text t = {0};

        int n = mesh_shapes(a, &c, cases[i].ranks, &m, NULL);
        for (int k = 0; k < n; k++) {
            text_put(&t, " ", 1);
            mesh_print(&m[k], &t);
            assert_int_equal(mesh_ranks(&m[k]), cases[i].ranks);
        }
        assert_string_equal(t.s, cases[i].shapes);
        text_free(&t);
        arena_free(a);
    }
}

// ---- exchange memory ----

static void bytes_of_communicators(void **state)
{
    static const struct {
        const char *mesh;
        int communicators;
    } meshes[] = {{"2", 1},     {"64", 1},    {"2x4", 3},    {"8x8", 3},
                  {"2x2x2", 4}, {"2x4x8", 4}, {"2x2x2x8", 5}};
    const ExchangeMemory e = {1000, 10}, none = {0};
    const Mesh one = {0};

    assert_int_equal(mesh_exchange_bytes(&one, &e), 0);
    assert_int_equal(mesh_memory_left(&one, &e, 7), 7);
    for (int i = 0; i < COUNT(meshes); i++) {
        Arena *a = arena_new();
        int64_t bytes = 1000 + 10 * meshes[i].communicators;
        Mesh m;

        assert_true(mesh_read(a, meshes[i].mesh, &m, NULL));
        assert_int_equal(mesh_exchange_bytes(&m, &e), bytes);
        assert_int_equal(mesh_exchange_bytes(&m, &none), 0);
        assert_int_equal(mesh_memory_left(&m, &e, bytes + 5), 5);
        assert_int_equal(mesh_memory_left(&m, &e, bytes - 5), 1);
        arena_free(a);
    }
}

// ---- links ----

static const struct {
    Link *link;
    int n_links, ranks;
    const char *mesh;
    double alpha[MAX_AXES], beta[MAX_AXES], overhead[MAX_AXES];
} axes[] = {
    // Four devices share the bus, and all of them send along an axis.
    {host, 1, 8, "8", {1e-6}, {4e-10}, {3e-11}},
    {host, 1, 2, "2", {1e-6}, {2e-10}, {3e-11}},
    {host, 1, 8, "2x4", {1e-6, 1e-6}, {4e-10, 4e-10}, {3e-11, 3e-11}},
    // All four ranks of a host send over its wire at the same time. Inside a host each has its own
    // link.
    {two, 2, 8, "2x4", {1e-5, 1e-6}, {4e-9, 1e-10}, {2e-10, 0}},
    {two, 2, 8, "2x2x2", {1e-5, 1e-6, 1e-6}, {4e-9, 1e-10, 1e-10}, {2e-10, 0, 0}},
    // One, two, then four rings cross the wire. In each ring only a host's last rank sends over
    // it.
    {two, 2, 8, "8", {1e-5}, {1e-9}, {2e-10}},
    {two, 2, 8, "4x2", {1e-5, 1e-6}, {2e-9, 1e-10}, {2e-10, 0}},
    {two, 2, 16, "2x8", {1e-5, 1e-5}, {4e-9, 1e-9}, {2e-10, 2e-10}},
    // Hosts of four and two ranks. Ranks 1 and 2 send to 4 and 5. Of 3, 4 and 5, one sends in
    // each direction.
    {two, 2, 6, "2x3", {1e-5, 1e-5}, {2e-9, 1e-9}, {2e-10, 2e-10}},
    {own, 2, 64, "8x8", {1e-5, 1e-6}, {1e-9, 1e-10}, {0}},
    {own, 2, 64, "2x4x8", {1e-5, 1e-5, 1e-6}, {1e-9, 1e-9, 1e-10}, {0}},
};

static void links_of_axes(void **state)
{
    for (int i = 0; i < COUNT(axes); i++) {
        Cluster c = {.link = axes[i].link, .n_links = axes[i].n_links};
        Arena *a = arena_new();
        Mesh m;

        assert_true(mesh_parse(a, &c, axes[i].ranks, axes[i].mesh, &m, NULL));
        for (int k = 0; k < MAX_AXES; k++) {
            assert_true(fabs(m.alpha[k] - axes[i].alpha[k]) < 1e-12);
            assert_true(fabs(m.beta[k] - axes[i].beta[k]) < 1e-15);
            assert_true(fabs(m.overhead[k] - axes[i].overhead[k]) < 1e-15);
        }
        arena_free(a);
    }
}

// ---- text ----

static const struct {
    const char *text;
    int ranks;
    const char *message;  // NULL: the text prints as it was
} texts[] = {
    {"8", 8, NULL},
    {"2x4", 8, NULL},
    {"2x2x2x2", 16, NULL},
    {"dp=2,tp=4", 8, NULL},
    {"tp_0=64", 64, NULL},
    {"x1=2,x0=4", 8, NULL},
    {"2x4", 6, "mesh '2x4' has 8 ranks, expected 6"},
    {"1000000x1000000x1000000x1000000", 8,
     "mesh '1000000x1000000x1000000x1000000': expected at most 65536 ranks"},
    {"99999999999999999999999", 8, "mesh '99999999999999999999999': expected at most 65536 ranks"},
    {"2x4", 65, "65 ranks, but the cluster has 64 devices"},
    {"", 8, "mesh '': expected sizes such as 2x4, or names and sizes such as dp=2,tp=4"},
    {"2x", 8, "mesh '2x': expected sizes such as 2x4, or names and sizes such as dp=2,tp=4"},
    {"2*4", 8, "mesh '2*4': expected sizes such as 2x4, or names and sizes such as dp=2,tp=4"},
    {"2,4", 8, "mesh '2,4': expected sizes such as 2x4, or names and sizes such as dp=2,tp=4"},
    {"-2x-4", 8, "mesh '-2x-4': expected sizes such as 2x4, or names and sizes such as dp=2,tp=4"},
    {"dp=", 8, "mesh 'dp=': expected sizes such as 2x4, or names and sizes such as dp=2,tp=4"},
    {"1x8", 8, "mesh '1x8': expected at least 2 ranks along each axis"},
    {"2x2x2x2x2", 32, "mesh '2x2x2x2x2': expected at most 4 axes"},
    {"dp=2,4", 8, "mesh 'dp=2,4': expected a name of letters, digits and '_' before each '='"},
    {"dp=2,=4", 8, "mesh 'dp=2,=4': expected a name of letters, digits and '_' before each '='"},
    {"d-p=2,tp=4", 8,
     "mesh 'd-p=2,tp=4': expected a name of letters, digits and '_' before each '='"},
    {"0=8", 8, "mesh '0=8': expected a name of letters, digits and '_' before each '='"},
    {"anameoftoomanycharacters=8", 8,
     "mesh 'anameoftoomanycharacters=8': expected a name of letters, digits and '_' before each "
     "'='"},
    {"dp=2,dp=4", 8, "mesh 'dp=2,dp=4': two axes have the same name"},
};

static void text_and_back(void **state)
{
    Cluster c = {.link = two, .n_links = COUNT(two)};

    for (int i = 0; i < COUNT(texts); i++) {
        Arena *a = arena_new();
        Text said = {0}, t = {0};
        Diag d = {.file = "m", .to = &said};
        Mesh m;

        assert_int_equal(mesh_parse(a, &c, texts[i].ranks, texts[i].text, &m, &d),
                         !texts[i].message);
        if (texts[i].message) {
            assert_string_equal(said.s, arena_string(a, "m: error: %s\n", texts[i].message));
        } else {
            mesh_print(&m, &t);
            assert_string_equal(t.s, texts[i].text);
        }
        text_free(&said);
        text_free(&t);
        arena_free(a);
    }
}

// ---- collectives ----

static const struct {
    ReshardKind kind;
    int p;
    double bytes, seconds;  // with alpha 1 s and beta 1 s/byte
} collectives[] = {
    {RESHARD_ALL_GATHER, 8, 10, 3 + 70},
    {RESHARD_ALL_GATHER, 6, 10, 3 + 50},
    {RESHARD_REDUCE_SCATTER, 8, 80, 3 + 70},
    {RESHARD_REDUCE_SCATTER, 5, 80, 3 + 64},
    {RESHARD_ALL_REDUCE, 8, 0.1, 3 * 1.1},       // recursive doubling
    {RESHARD_ALL_REDUCE, 8, 80, 6 + 140},        // reduce_scatter and all_gather
    {RESHARD_ALL_REDUCE, 5, 0.1, 4 * 1.1},       // reduced to 4 ranks first
    {RESHARD_ALL_TO_ALL, 8, 0.8, 3 + 0.1 * 12},  // Bruck: the numbers 0 to 7 have 12 one bits
    {RESHARD_ALL_TO_ALL, 8, 80, 7 + 70},         // each rank with each other one
    {RESHARD_ALL_TO_ALL, 6, 0.6, 3 + 0.1 * 7},
    {RESHARD_PERMUTE, 4, 10, 11},
    {RESHARD_SLICE, 4, 0, 0},
    {RESHARD_MASK, 4, 0, 0},
};

static void times_of_collectives(void **state)
{
    for (int i = 0; i < COUNT(collectives); i++) {
        Mesh m = {.n_axes = 2, .size = {9, collectives[i].p}, .alpha = {9, 1}, .beta = {9, 1}};
        double seconds = collective_seconds(&m, collectives[i].kind, 2, collectives[i].bytes);
        assert_true(fabs(seconds - collectives[i].seconds) < 1e-12);
    }
    // A collective along both axes is one of all ranks over the slower links. Only bytes take a
    // rank's own time.
    const Mesh m = {
        .n_axes = 2, .size = {2, 4}, .alpha = {9, 1}, .beta = {1, 2}, .overhead = {1, 3}};
    assert_true(fabs(collective_seconds(&m, RESHARD_ALL_GATHER, 3, 10) - (27 + 140)) < 1e-12);
    assert_true(fabs(collective_overhead(&m, RESHARD_ALL_GATHER, 3, 10) - 3 * 70) < 1e-12);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(shapes_of_ranks), cmocka_unit_test(bytes_of_communicators),
        cmocka_unit_test(links_of_axes), cmocka_unit_test(text_and_back),
        cmocka_unit_test(times_of_collectives)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
