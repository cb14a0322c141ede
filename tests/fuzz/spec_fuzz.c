// Fuzzes specs, meshes and clusters: any bytes are refused with messages, or are printed as a text
// that reads back as the same.
#include <stdlib.h>
#include <string.h>

#include "analyzer/sharding/sharding.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const Mesh grid = {
    .n_axes = 4, .size = {2, 3, 4, 5}, .name = {"dp", "tp", "x2", "x3"}, .alpha = {1}, .beta = {1}};
static const Value weight = {
    .dtype = F32, .rank = 4, .dim = {3, 4, 12, 48}, .own_rank = 2, .own_dim = {144, 48}};
static Link links[] = {{"", 8, 1, 1, 1}, {"", 64, 8, 1, 1}};

static void promise(bool kept)
{
    if (!kept)
        abort();
}

static void try_spec(const char *text, Diag *d)
{
    Text t = {0};
    Spec s, again;

    bool ok = spec_parse(&grid, &weight, text, &s, d);
    promise(d->errors == !ok);
    if (ok) {
        promise(spec_is_valid(&grid, weight.rank, &s));
        spec_print(&grid, &weight, &s, &t);
        promise(spec_parse(&grid, &weight, t.s, &again, NULL) && spec_equal(&s, &again));
    }
    text_free(&t);
}

static void try_mesh(Arena *a, const char *text, Diag *d)
{
    const Cluster c = {.link = links, .n_links = COUNT(links)};
    Text t = {0};
    Mesh m, again;

    bool ok = mesh_parse(a, &c, 24, text, &m, d);
    promise(d->errors == !ok);
    if (ok) {
        promise(mesh_ranks(&m) == 24);
        mesh_print(&m, &t);
        promise(mesh_parse(a, &c, 24, t.s, &again, NULL) && again.n_axes == m.n_axes);
    }
    text_free(&t);
}

static void try_cluster(Arena *a, const char *text, size_t size, Diag *d)
{
    const Mesh *shapes;
    Text t = {0}, twice = {0};
    Cluster c, again;

    bool ok = cluster_parse(a, text, size, &c, d);
    promise((d->errors == 0) == ok);
    if (ok) {
        int n = cluster_devices(&c);
        promise(mesh_shapes(a, &c, n < 64 ? n : 64, &shapes, NULL) > 0);
        cluster_print(&c, CLUSTER_VERSION, &t);
        promise(cluster_parse(a, t.s, t.n, &again, NULL));
        cluster_print(&again, CLUSTER_VERSION, &twice);
        promise(!strcmp(t.s, twice.s));
    }
    text_free(&t);
    text_free(&twice);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    Arena *a = arena_new();
    Text messages = {0};
    Diag d = {.file = "fuzz", .to = &messages};
    const char *text = arena_copy(a, (const char *)data, size);

    try_spec(text, &d);
    d.errors = 0;
    try_mesh(a, text, &d);
    d.errors = 0;
    try_cluster(a, text, size, &d);
    text_free(&messages);
    arena_free(a);
    return 0;
}
