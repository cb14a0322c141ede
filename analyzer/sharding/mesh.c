// Lists, reads and prints meshes, and finds the links that an axis crosses.
#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/sharding/sharding.h"

static const char *const names[MAX_AXES] = {"x0", "x1", "x2", "x3"};

enum { MAX_AXIS_NAME = 16, MAX_RANKS_OF_4_AXES = 64 };

int mesh_stride(const Mesh *m, int axis)
{
    int stride = 1;

    for (int a = axis + 1; a < m->n_axes; a++)
        stride *= m->size[a];
    return stride;
}

int mesh_ranks(const Mesh *m) { return mesh_stride(m, -1); }

int mesh_coordinate(const Mesh *m, int axis, int rank)
{
    return rank / mesh_stride(m, axis) % m->size[axis];
}

int64_t mesh_exchange_bytes(const Mesh *m, const ExchangeMemory *e)
{
    int ranks = mesh_ranks(m), communicators = 1;

    for (int a = 0; a < m->n_axes; a++)
        communicators += m->size[a] > 1 && m->size[a] < ranks;
    return ranks > 1 ? (int64_t)(e->base + communicators * e->communicator) : 0;
}

int64_t mesh_memory_left(const Mesh *m, const ExchangeMemory *e, int64_t memory)
{
    int64_t left = memory - mesh_exchange_bytes(m, e);

    return left > 1 ? left : 1;
}

// ---- links ----

// The lowest level of links that joins two devices.
static int level_between(const Cluster *c, int a, int b)
{
    int i = 0;

    while (a / c->link[i].devices != b / c->link[i].devices)
        i++;
    return i;
}

// Every rank sends to the next one along the axis, and the last one to the first, as in a ring.
// Returns the largest number of ranks that use one link of that level at the same time. 0: the axis
// doesn't cross that level.
static int senders(const Cluster *c, const Mesh *m, int axis, int level)
{
    int stride = mesh_stride(m, axis), n = mesh_ranks(m), last = m->size[axis] - 1;
    int most = 0, here = 0;
    bool crosses = false;

    for (int r = 0; r < n; r++) {
        bool is_last = mesh_coordinate(m, axis, r) == last;
        int between = level_between(c, r, is_last ? r - last * stride : r + stride);
        here = r % c->link[level].shared_by ? here : 0;
        here += between >= level;
        most = here > most ? here : most;
        crosses |= between == level;
    }
    return crosses ? most : 0;
}

static void set_links(const Cluster *c, Mesh *m)
{
    m->launch = c->launch;
    m->copy = c->bandwidth > 0 ? 1 / c->bandwidth : 0;
    for (int a = 0; a < m->n_axes; a++)
        for (int i = 0; i < c->n_links; i++) {
            int n = senders(c, m, a, i);
            if (!n)
                continue;
            m->alpha[a] = fmax(m->alpha[a], c->link[i].alpha);
            m->beta[a] = fmax(m->beta[a], n * c->link[i].beta);
            m->overhead[a] = fmax(m->overhead[a], c->link[i].overhead);
        }
}

const char *mesh_link(const Cluster *c, const Mesh *m, int axis)
{
    const char *name = NULL;

    for (int i = 0; i < c->n_links; i++)
        if (senders(c, m, axis, i))
            name = c->link[i].name;
    return name;
}

static bool has_devices(const Cluster *c, int ranks, Diag *d)
{
    int n = cluster_devices(c);

    if (ranks > n)
        diag_error(d, "%d ranks, but the cluster has %d device%s", ranks, n, n == 1 ? "" : "s");
    return ranks <= n;
}

// ---- shapes ----

typedef struct Shapes {
    Arena *arena;
    Mesh *mesh;
    int n, cap, most_axes;
} Shapes;

// Adds all meshes that begin with the axes of `m` and have `left` ranks along the others.
static void add_shapes(Shapes *s, Mesh m, int left)
{
    if (left == 1)
        *arena_push(s->arena, s->mesh, s->n, s->cap) = m;
    if (m.n_axes == s->most_axes)
        return;
    m.name[m.n_axes] = names[m.n_axes];
    m.n_axes++;
    for (int size = 2; size <= left; size++)
        if (left % size == 0) {
            m.size[m.n_axes - 1] = size;
            add_shapes(s, m, left / size);
        }
}

// Does an axis begin wherever a group of a link level ends?
static bool is_aligned(const Cluster *c, const Mesh *m)
{
    int ranks = mesh_ranks(m);

    for (int i = 0; i < c->n_links; i++) {
        bool found = c->link[i].devices >= ranks || ranks % c->link[i].devices;
        for (int a = 0; a < m->n_axes; a++)
            found |= mesh_stride(m, a) == c->link[i].devices;
        if (!found)
            return false;
    }
    return true;
}

int mesh_shapes(Arena *a, const Cluster *c, int ranks, const Mesh **mesh, Diag *d)
{
    Shapes s = {.arena = a, .most_axes = ranks > MAX_RANKS_OF_4_AXES ? MAX_AXES - 1 : MAX_AXES};
    int n = 0;

    if (!has_devices(c, ranks, d))
        return 0;
    add_shapes(&s, (Mesh){0}, ranks);
    for (int i = 0; i < s.n; i++)
        if (is_aligned(c, &s.mesh[i]))
            s.mesh[n++] = s.mesh[i];
    n = n ? n : s.n;  // there are more levels than axes
    for (int i = 0; i < n; i++)
        set_links(c, &s.mesh[i]);
    *mesh = s.mesh;
    return n;
}

// ---- text ----

typedef struct MeshReader {
    Arena *a;
    const char *text, *at;
    Diag *d;
} MeshReader;

static const char form[] = "expected sizes such as 2x4, or names and sizes such as dp=2,tp=4";

static bool wrong(const MeshReader *r, const char *what)
{
    diag_error(r->d, "mesh '%.200s': %s", r->text, what);
    return false;
}

static bool read_size(MeshReader *r, int *size)
{
    if (!isdigit((unsigned char)*r->at))
        return wrong(r, form);
    for (*size = 0; isdigit((unsigned char)*r->at); r->at++)
        *size = *size < 1 << 20 ? *size * 10 + (*r->at - '0') : *size;
    return *size >= 2 || wrong(r, "expected at least 2 ranks along each axis");
}

static bool read_name(MeshReader *r, Mesh *m)
{
    size_t n = 0;

    while (isalnum((unsigned char)r->at[n]) || r->at[n] == '_')
        n++;
    if (r->at[n] != '=' || !isalpha((unsigned char)*r->at) || n > MAX_AXIS_NAME)
        return wrong(r, "expected a name of letters, digits and '_' before each '='");
    const char *name = arena_copy(r->a, r->at, n);
    for (int a = 0; a < m->n_axes; a++)
        if (!strcmp(m->name[a], name))
            return wrong(r, "two axes have the same name");
    m->name[m->n_axes] = name;
    r->at += n + 1;
    return true;
}

static bool read_axes(MeshReader *r, Mesh *m)
{
    bool has_names = strchr(r->text, '=') != NULL;
    const char between = has_names ? ',' : 'x';

    for (;; m->n_axes++) {
        if (m->n_axes == MAX_AXES)
            return wrong(r, "expected at most 4 axes");
        m->name[m->n_axes] = names[m->n_axes];
        if ((has_names && !read_name(r, m)) || !read_size(r, &m->size[m->n_axes]))
            return false;
        if (*r->at != between)
            break;
        r->at++;
    }
    m->n_axes++;
    return !*r->at || wrong(r, form);
}

bool mesh_read(Arena *a, const char *text, Mesh *m, Diag *d)
{
    MeshReader r = {a, text, text, d};
    int64_t product = 1;

    *m = (Mesh){0};
    if (!read_axes(&r, m))
        return false;
    for (int i = 0; i < m->n_axes; i++)
        if (!mul_size(product, m->size[i], &product) || product > MAX_MESH_RANKS) {
            diag_error(d, "mesh '%.200s': expected at most %d ranks", text, MAX_MESH_RANKS);
            return false;
        }
    return true;
}

bool mesh_parse(Arena *a, const Cluster *c, int ranks, const char *text, Mesh *m, Diag *d)
{
    if (!has_devices(c, ranks, d) || !mesh_read(a, text, m, d))
        return false;
    if (mesh_ranks(m) != ranks) {
        diag_error(d, "mesh '%.200s' has %d ranks, expected %d", text, mesh_ranks(m), ranks);
        return false;
    }
    set_links(c, m);
    return true;
}

void mesh_print(const Mesh *m, Text *t)
{
    bool has_names = false;

    for (int a = 0; a < m->n_axes; a++)
        has_names |= strcmp(m->name[a], names[a]) != 0;
    for (int a = 0; a < m->n_axes; a++) {
        text_put(t, has_names ? "," : "x", a > 0);
        if (has_names)
            text_printf(t, "%s=", m->name[a]);
        text_printf(t, "%d", m->size[a]);
    }
}

void mesh_print_axes(const Mesh *m, const int *axis, int n, Text *t)
{
    for (int i = 0; i < n; i++)
        text_printf(t, "%s%s", i ? "+" : "", m->name[axis[i]]);
}
