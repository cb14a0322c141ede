// Tests the resharder against plain relaxation over all specs, with steps and costs computed here:
// the time of every pair, and for a sample the whole trade-off of time and transient bytes.
//
// reshard_test all     the trade-off of every shape
// reshard_test time    prints the CPU time for all pairs of each shape
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>

#include "tests/analyzer/specs.h"

static bool is_thorough;

static const Value shapes[] = {
    {.dtype = F32, .own_rank = -1},
    {.dtype = F32, .rank = 1, .dim = {1000}, .own_rank = -1},
    {.dtype = F16, .rank = 2, .dim = {1, 4096}, .own_rank = -1},
    {.dtype = F32, .rank = 2, .dim = {50257, 768}, .own_rank = -1},
    {.dtype = F32, .rank = 3, .dim = {5, 7, 8}, .own_rank = -1},
    {.dtype = BF16, .rank = 3, .dim = {8, 1024, 4096}, .own_rank = -1},
    {.dtype = F32, .rank = 3, .dim = {3, 1, 100000}, .own_rank = -1},
};

// ---- single steps ----

typedef struct Edge {
    int from, to;
    int64_t picoseconds, staging;
} Edge;

typedef struct Net {
    Spec spec[MAX_SPECS];
    int64_t bytes[MAX_SPECS];  // of a rank's buffer
    int n_specs, n_edges;
    Edge edge[MAX_SPECS * 32];
} Net;

static int64_t chunk(const Mesh *m, const Value *v, const Spec *s, int dim)
{
    int64_t begin, end;

    return cut(m, s, dim, v->dim[dim], 0, &begin, &end);
}

static int64_t buffer(const Mesh *m, const Value *v, const Spec *s)
{
    int64_t n = dtype_size(v->dtype);

    for (int k = 0; k < v->rank; k++)
        n *= chunk(m, v, s, k);
    return n;
}

static bool innermost(const Mesh *m, const Spec *s, int axis)
{
    for (int a = 0; a < m->n_axes; a++)
        if (a != axis && s->at[a] == s->at[axis] && s->level[a] > s->level[axis])
            return false;
    return true;
}

// Returns the bytes of a copy that joins or cuts chunks along a dim between the specs `outer` and
// `inner`; 0 if no copy is needed.
static int64_t packing(const Mesh *m, const Value *v, const Spec *outer, const Spec *inner, int dim,
                       int p, int64_t bytes)
{
    for (int k = 0; k < dim; k++)
        if (chunk(m, v, outer, k) > 1)
            return bytes;
    return chunk(m, v, inner, dim) * p == chunk(m, v, outer, dim) ? 0 : bytes;
}

// Finds the cost of resharding from s to t by one step along `axis`. Returns false if no step does
// that.
static bool along(const Mesh *m, const Value *v, const Spec *s, const Spec *t, int axis, Edge *e)
{
    double a = m->alpha[axis], b = m->beta[axis], seconds = 0;
    int from = s->at[axis], to = t->at[axis], p = m->size[axis], lg = p == 4 ? 2 : 1;
    int64_t x = buffer(m, v, s), y = buffer(m, v, t);

    if ((from >= 0 && (!innermost(m, s, axis) || to < -1)) || (to >= 0 && !innermost(m, t, axis)) ||
        (from < -1 && to < -1))
        return false;
    e->staging = 0;
    if (from >= 0 && to == -1) {
        seconds = lg * a + (p - 1) * b * (double)x;
        e->staging = packing(m, v, t, s, from, p, p * x);
    } else if (from < -1 && to == -1) {
        seconds = lg * (a + b * (double)x);
        seconds = fmin(seconds, 2 * lg * a + 2 * b * (double)x * (p - 1) / p);
    } else if (from < -1) {
        seconds = lg * a + (p - 1) * b * (double)y;
        e->staging = packing(m, v, s, t, to, p, p * y);
    } else if (from >= 0) {
        int64_t block = x / chunk(m, v, s, to) * chunk(m, v, t, to);
        seconds =
            fmin(lg * a + (p == 4 ? 4 : 1) * b * (double)block, (p - 1) * (a + b * (double)block));
        e->staging =
            packing(m, v, s, t, to, p, p * block) + packing(m, v, t, s, from, p, p * block);
    }
    e->picoseconds = llround(seconds * 1e12);
    return true;
}

// Finds the cost of exchanging the roles of axes a and b by one step. Axes of different sizes must
// be adjacent on one dim, and must cut it into the same sequence of shards whichever is the outer
// one.
static bool exchanged(const Mesh *m, const Value *v, const Spec *s, const Spec *t, int a, int b,
                      Edge *e)
{
    int64_t n = buffer(m, v, s);

    if (s->at[a] != t->at[b] || s->level[a] != t->level[b] || s->at[b] != t->at[a] ||
        s->level[b] != t->level[a])
        return false;
    if (m->size[a] != m->size[b]) {
        if (s->at[a] < 0 || s->at[a] != s->at[b] || abs(s->level[a] - s->level[b]) != 1)
            return false;
        int dim = s->at[a], outer = s->level[a] < s->level[b] ? a : b, inner = a + b - outer;
        for (int r = 0; r < mesh_ranks(m); r++) {
            int i = coordinate(m, outer, r), j = coordinate(m, inner, r);
            int k = j * m->size[outer] + i, there = r;
            there += (k / m->size[inner] - i) * mesh_stride(m, outer);
            there += (k % m->size[inner] - j) * mesh_stride(m, inner);
            int64_t x, y, z, w;
            cut(m, t, dim, v->dim[dim], r, &x, &y);
            cut(m, s, dim, v->dim[dim], there, &z, &w);
            if (y - x != w - z || (y > x && x != z))
                return false;
        }
    }
    e->staging = 0;
    e->picoseconds =
        llround((fmax(m->alpha[a], m->alpha[b]) + fmax(m->beta[a], m->beta[b]) * (double)n) * 1e12);
    return true;
}

static bool leads(const Mesh *m, const Value *v, const Spec *s, const Spec *t, Edge *e)
{
    int differ[MAX_AXES], n = 0;

    for (int a = 0; a < m->n_axes; a++)
        if (s->at[a] != t->at[a] || s->level[a] != t->level[a])
            differ[n++] = a;
    if (n == 1)
        return along(m, v, s, t, differ[0], e);
    return n == 2 && exchanged(m, v, s, t, differ[0], differ[1], e);
}

static void build(const Mesh *m, const Value *v, Net *x)
{
    x->n_specs = all_specs(m, v->rank, x->spec);
    x->n_edges = 0;
    for (int i = 0; i < x->n_specs; i++) {
        x->bytes[i] = buffer(m, v, &x->spec[i]);
        for (int j = 0; j < x->n_specs; j++) {
            Edge e = {.from = i, .to = j};
            if (i != j && leads(m, v, &x->spec[i], &x->spec[j], &e)) {
                assert_true(x->n_edges < COUNT(x->edge));
                x->edge[x->n_edges++] = e;
            }
        }
    }
}

// ---- whole paths ----

static const int64_t FAR = INT64_MAX / 2;

// The least time from a spec to every other one, with at most `limit` transient bytes.
static void relax(const Net *x, int from, int64_t limit, int64_t time[MAX_SPECS])
{
    int64_t through[MAX_SPECS];  // as time, but with the buffer of the spec counted as transient
    bool changes = true;

    for (int i = 0; i < x->n_specs; i++)
        time[i] = through[i] = i == from ? 0 : FAR;
    while (changes) {
        changes = false;
        for (int i = 0; i < x->n_edges; i++) {
            const Edge *e = &x->edge[i];
            int64_t held = e->staging + (e->from == from ? 0 : x->bytes[e->from]);
            int64_t at = through[e->from] + e->picoseconds;
            if (held <= limit && at < time[e->to])
                time[e->to] = at;
            if (held + x->bytes[e->to] <= limit && at < through[e->to]) {
                through[e->to] = at;
                changes = true;
            }
        }
    }
}

static void check_path(Resharder *l, const Value *v, const Net *x, const ReshardPath *w, int from,
                       int to)
{
    ReshardStep step[MAX_STEPS];
    int64_t picoseconds = 0;

    assert_true(w->n_steps <= MAX_STEPS);
    reshard_path_steps(l, v, x->spec[from], x->spec[to], w, step);
    for (int k = 0; k < w->n_steps; k++)
        picoseconds += step[k].picoseconds;
    assert_int_equal(picoseconds, w->picoseconds);
    assert_true(
        spec_equal(w->n_steps ? &step[w->n_steps - 1].after : &x->spec[from], &x->spec[to]));
}

static void fastest(void **state)
{
    static Net x;
    int64_t time[MAX_SPECS];
    const ReshardPath *w;

    for (int i = 0; i < COUNT(meshes) * COUNT(shapes); i++) {
        const Mesh *m = &meshes[i / COUNT(shapes)];
        const Value *v = &shapes[i % COUNT(shapes)];
        Arena *a = arena_new();
        Resharder *l = resharder_new(a, m);
        build(m, v, &x);
        for (int s = 0; s < x.n_specs; s++) {
            relax(&x, s, FAR, time);
            for (int t = 0; t < x.n_specs; t++) {
                assert_true(reshard_paths(l, v, x.spec[s], x.spec[t], &w) > 0);
                assert_true(reshard_fastest(l, v, x.spec[s], x.spec[t]) == w->picoseconds);
                assert_int_equal(w[0].picoseconds, time[t]);
                check_path(l, v, &x, &w[0], s, t);
            }
        }
        arena_free(a);
    }
}

static int compare(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

    return (x > y) - (x < y);
}

// Lists the limits at which any path from that spec changes, ascending.
static int limits_from(Resharder *l, const Value *v, const Net *x, int from, int64_t *limit)
{
    int n = 0, kept = 0;
    const ReshardPath *w;

    for (int t = 0; t < x->n_specs; t++)
        for (int k = reshard_paths(l, v, x->spec[from], x->spec[t], &w) - 1; k >= 0; k--)
            limit[n++] = w[k].transient;
    qsort(limit, (size_t)n, sizeof *limit, compare);
    for (int i = 0; i < n; i++)
        if (!i || limit[i] != limit[i - 1])
            limit[kept++] = limit[i];
    return kept;
}

// Checks at every limit, and at one byte less, that the resharder gives the fastest path within
// it.
static void all_paths(void **state)
{
    static int64_t limit[MAX_SPECS * 32], time[MAX_SPECS];
    static Net x;
    const ReshardPath *w;

    for (int i = 0; i < COUNT(meshes) * COUNT(shapes); i++) {
        const Mesh *m = &meshes[i / COUNT(shapes)];
        const Value *v = &shapes[i % COUNT(shapes)];
        Arena *a = arena_new();
        Resharder *l = resharder_new(a, m);
        build(m, v, &x);
        for (int s = i % 9; s < x.n_specs; s += is_thorough ? 1 : 9) {
            int n_limits = limits_from(l, v, &x, s, limit);
            for (int k = 1; k < 2 * n_limits; k++) {  // the smallest limit is 0
                int64_t most = limit[k / 2] - (k + 1) % 2;
                relax(&x, s, most, time);
                for (int t = 0; t < x.n_specs; t++) {
                    int n = reshard_paths(l, v, x.spec[s], x.spec[t], &w), j = 0;
                    while (j < n && w[j].transient > most)
                        j++;
                    assert_int_equal(j < n ? w[j].picoseconds : FAR, time[t] < FAR ? time[t] : FAR);
                }
            }
        }
        arena_free(a);
    }
}

// ---- slices of replicated values ----

static const struct {
    ValueKind kind;
    NodeId producer;
    int64_t rows, columns;
    int dim;
    bool is_free;
} slices[] = {
    {VALUE_PARAMETER, 0, 4, 6, 0, true},   {VALUE_STATE, 0, 4, 6, 0, true},
    {VALUE_PARAMETER, 0, 1, 6, 1, true},   {VALUE_PARAMETER, 0, 4, 6, 1, false},
    {VALUE_PARAMETER, 0, 5, 6, 0, false},  {VALUE_INPUT, 0, 4, 6, 0, false},
    {VALUE_ACTIVATION, 1, 4, 6, 0, false},
};

// A slice that needs no copy takes no time, whichever value of a shape is asked for first.
static void shards_in_place(void **state)
{
    (void)state;
    const Mesh m = {.n_axes = 1, .size = {2}, .launch = 1e-6, .copy = 1e-9};
    Arena *a = arena_new();
    Resharder *l = resharder_new(a, &m);
    const ReshardPath *path;

    for (int i = 0; i < COUNT(slices); i++) {
        Value v = {.kind = slices[i].kind,
                   .dtype = F32,
                   .producer = slices[i].producer,
                   .rank = 2,
                   .dim = {slices[i].rows, slices[i].columns}};
        Spec to = spec_replicated();
        to.at[0] = (int8_t)slices[i].dim;
        assert_int_equal(reshard_paths(l, &v, spec_replicated(), to, &path), 1);
        assert_int_equal(path->picoseconds == 0, slices[i].is_free);
    }
    arena_free(a);
}

// Prints the time for specs with sums only, or with maxima and minima too.
static void print_time(const Mesh *m, const Value *v, bool all_kinds)
{
    static Spec spec[MAX_SPECS];
    int n = all_specs(m, v->rank, spec), kept = 0;
    Arena *a = arena_new();
    const ReshardPath *w;

    for (int i = 0; i < n; i++)
        if (all_kinds || spec_partial(&spec[i]) >= SPEC_SUM)
            spec[kept++] = spec[i];
    clock_t start = clock();
    Resharder *l = resharder_new(a, m);
    for (int k = 0; k < kept * kept; k++)
        reshard_paths(l, v, spec[k / kept], spec[k % kept], &w);
    printf("%d axes, %d dims, %d specs%s: %.1f ms\n", m->n_axes, v->rank, kept,
           all_kinds ? " with max and min" : "", 1e3 * (double)(clock() - start) / CLOCKS_PER_SEC);
    arena_free(a);
}

static int print_times(void)
{
    for (int i = 0; i < 2 * COUNT(meshes) * COUNT(shapes); i++)
        print_time(&meshes[i / 2 / COUNT(shapes)], &shapes[i / 2 % COUNT(shapes)], i % 2);
    return 0;
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(fastest), cmocka_unit_test(all_paths),
                                       cmocka_unit_test(shards_in_place)};

    if (argc > 1 && !strcmp(argv[1], "time"))
        return print_times();
    is_thorough = argc > 1 && !strcmp(argv[1], "all");
    return cmocka_run_group_tests(tests, NULL, NULL);
}
