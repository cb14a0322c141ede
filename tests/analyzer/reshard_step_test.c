// Executes reshard steps: all ranks in one process, each with a buffer of the chunk's size.
// Collectives are plain loops that know only the step and the sizes of the buffers. The result
// must be what the spec says, element by element.
//
// reshard_step_test all    every shape, and more of the reshard paths
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "analyzer/sharding/internal.h"
#include "tests/analyzer/specs.h"

enum { RANKS = 8, MAX_VALUES = 512, DIMS = 3 };

static const int64_t sizes[] = {1, 5, 7, 8};
static const int64_t POISON = 1000000007;  // padding: elements of no rank's shard

static bool is_thorough;

// ---- buffers ----

typedef struct Box {
    int64_t dim[DIMS];
    int64_t x[MAX_VALUES];
} Box;

typedef struct World {
    const Mesh *m;
    Value v;
    Box rank[RANKS];
    // The groups of a spec: ranks that differ only along partial axes. For each rank, its group's
    // first rank and its index in the group.
    int first[RANKS], member[RANKS], group_size;
} World;

static int64_t count(const Box *b) { return b->dim[0] * b->dim[1] * b->dim[2]; }

static int64_t *element(Box *b, const int64_t at[DIMS])
{
    return &b->x[(at[0] * b->dim[1] + at[1]) * b->dim[2] + at[2]];
}

static int64_t combine(int kind, int64_t a, int64_t b)
{
    if (kind == SPEC_SUM)
        return a + b;
    return kind == SPEC_MAX ? (a > b ? a : b) : (a < b ? a : b);
}

static int64_t identity(int kind)
{
    return kind == SPEC_SUM ? 0 : kind == SPEC_MAX ? INT64_MIN : INT64_MAX;
}

static void set_dims(const World *w, const Spec *s, Box *b)
{
    for (int k = 0; k < DIMS; k++) {
        int64_t begin, end;
        b->dim[k] = k < w->v.rank ? cut(w->m, s, k, w->v.dim[k], 0, &begin, &end) : 1;
    }
    assert_true(count(b) <= MAX_VALUES);
    for (int64_t i = 0; i < count(b); i++)
        b->x[i] = POISON;
}

// Copies a block of that size from `from`, at from_at along from_dim, to `to`, at to_at along
// to_dim. Elements outside either box are skipped. `kind` says how elements are combined;
// SPEC_REPLICATED overwrites.
static void put(Box *to, int to_dim, int64_t to_at, Box *from, int from_dim, int64_t from_at,
                const int64_t size[DIMS], int kind)
{
    int64_t i[DIMS];

    for (i[0] = 0; i[0] < size[0]; i[0]++)
        for (i[1] = 0; i[1] < size[1]; i[1]++)
            for (i[2] = 0; i[2] < size[2]; i[2]++) {
                int64_t t[DIMS] = {i[0], i[1], i[2]}, f[DIMS] = {i[0], i[1], i[2]};
                t[to_dim] += to_at;
                f[from_dim] += from_at;
                if (t[to_dim] >= to->dim[to_dim] || f[from_dim] >= from->dim[from_dim])
                    continue;
                int64_t *y = element(to, t), x = *element(from, f);
                *y = kind == SPEC_REPLICATED ? x : combine(kind, *y, x);
            }
}

// ---- collectives ----

// Computes the buffer of rank r after the step.
static void receive(World *w, const Box *old, const ReshardStep *s, int r, Box *y)
{
    static Box from;  // a copy, because `element` takes no const pointer
    int c = coordinate(w->m, s->axis, r), stride = mesh_stride(w->m, s->axis);
    int kind = s->from_dim < SPEC_REPLICATED ? s->from_dim : SPEC_REPLICATED;

    if (s->kind == RESHARD_PERMUTE) {
        int p = w->m->size[s->axis], q = w->m->size[s->other];
        int j = coordinate(w->m, s->other, r), k = j * p + c;
        from = old[r + (k / q - c) * stride + (k % q - j) * mesh_stride(w->m, s->other)];
        put(y, 0, 0, &from, 0, 0, y->dim, SPEC_REPLICATED);
        return;
    }
    if (s->kind == RESHARD_SLICE || s->kind == RESHARD_MASK) {
        int dim = s->to_dim < 0 ? 0 : s->to_dim;
        from = old[r];
        put(y, 0, 0, &from, dim, s->kind == RESHARD_SLICE ? c * y->dim[dim] : 0, y->dim,
            SPEC_REPLICATED);
        for (int64_t i = 0; s->kind == RESHARD_MASK && c && i < count(y); i++)
            y->x[i] = identity(s->to_dim);
        return;
    }
    for (int k = 0; k < w->m->size[s->axis]; k++) {
        int to_dim = s->from_dim < 0 ? 0 : s->from_dim, from_dim = s->to_dim < 0 ? 0 : s->to_dim;
        from = old[r + (k - c) * stride];
        int64_t size[DIMS] = {from.dim[0], from.dim[1], from.dim[2]};
        if (s->to_dim >= 0)
            size[s->to_dim] = y->dim[s->to_dim];
        put(y, to_dim, s->from_dim < 0 ? 0 : k * from.dim[s->from_dim], &from, from_dim,
            s->to_dim < 0 ? 0 : c * y->dim[s->to_dim], size, k ? kind : SPEC_REPLICATED);
    }
}

static void perform(World *w, const ReshardStep *s)
{
    static Box old[RANKS];

    memcpy(old, w->rank, sizeof old);
    for (int r = 0; r < RANKS; r++) {
        set_dims(w, &s->after, &w->rank[r]);
        receive(w, old, s, r, &w->rank[r]);
    }
}

// ---- what a spec means ----

static int64_t noise(uint64_t a, uint64_t b)
{
    const uint64_t both[] = {a, b};

    return (int64_t)(hash_bytes(both, sizeof both, 0) % 1000);
}

static void find_groups(World *w, const Spec *s)
{
    for (int r = 0; r < RANKS; r++) {
        w->first[r] = r;
        w->member[r] = 0;
        w->group_size = 1;
        for (int a = 0; a < w->m->n_axes; a++)
            if (s->at[a] < SPEC_REPLICATED) {
                int c = coordinate(w->m, a, r);
                w->first[r] -= c * mesh_stride(w->m, a);
                w->member[r] = w->member[r] * w->m->size[a] + c;
                w->group_size *= w->m->size[a];
            }
    }
}

// The part that member `member` of n has of element i, whose reduced value is `whole`.
static int64_t part_of(int kind, int64_t whole, int64_t i, int member, int n)
{
    int64_t others = 0;

    if (kind == SPEC_REPLICATED)
        return whole;
    if (kind != SPEC_SUM) {
        int64_t less = member == i % n ? 0 : noise((uint64_t)i, (uint64_t)member);
        return kind == SPEC_MAX ? whole - less : whole + less;
    }
    for (int k = 1; k < n; k++)
        others += noise((uint64_t)i, (uint64_t)k);
    return member ? noise((uint64_t)i, (uint64_t)member) : whole - others;
}

// Calls `visit` for the elements of rank r's shard, with the index in the rank's buffer and the
// index in the whole value.
static void each(World *w, const Spec *s, int r,
                 void (*visit)(World *w, const Spec *s, int r, const int64_t at[DIMS], int64_t i))
{
    int64_t begin[DIMS] = {0}, end[DIMS] = {1, 1, 1}, dim[DIMS] = {1, 1, 1}, at[DIMS];

    for (int k = 0; k < w->v.rank; k++) {
        dim[k] = w->v.dim[k];
        cut(w->m, s, k, dim[k], r, &begin[k], &end[k]);
    }
    for (at[0] = 0; at[0] < end[0] - begin[0]; at[0]++)
        for (at[1] = 0; at[1] < end[1] - begin[1]; at[1]++)
            for (at[2] = 0; at[2] < end[2] - begin[2]; at[2]++)
                visit(w, s, r, at,
                      ((begin[0] + at[0]) * dim[1] + begin[1] + at[1]) * dim[2] + begin[2] + at[2]);
}

static void set(World *w, const Spec *s, int r, const int64_t at[DIMS], int64_t i)
{
    *element(&w->rank[r], at) =
        part_of(spec_partial(s), noise((uint64_t)i, 99), i, w->member[r], w->group_size);
}

static void check(World *w, const Spec *s, int r, const int64_t at[DIMS], int64_t i)
{
    int64_t sum = *element(&w->rank[r], at);
    int kind = spec_partial(s);

    if (kind != SPEC_REPLICATED && w->first[r] != r)
        return;
    for (int q = r + 1; q < RANKS && kind != SPEC_REPLICATED; q++)
        if (w->first[q] == r)
            sum = combine(kind, sum, *element(&w->rank[q], at));
    assert_int_equal(sum, noise((uint64_t)i, 99));
}

static void lay(World *w, const Spec *s)
{
    find_groups(w, s);
    for (int r = 0; r < RANKS; r++) {
        set_dims(w, s, &w->rank[r]);
        each(w, s, r, set);
    }
}

static void check_all(World *w, const Spec *s)
{
    find_groups(w, s);
    for (int r = 0; r < RANKS; r++)
        each(w, s, r, check);
}

// ---- tests ----

static Value shape(int rank, int which)
{
    Value v = {.dtype = I64, .rank = rank, .own_rank = -1};

    for (int k = 0; k < rank; k++, which /= COUNT(sizes))
        v.dim[k] = sizes[which % COUNT(sizes)];
    return v;
}

// Executes every step from every spec of every shape. Reshard paths consist of these steps.
static void every_step(void **state)
{
    static const int n_shapes[] = {1, 4, 16, 64};
    static World w, start;
    static Spec spec[MAX_SPECS];
    ReshardStep step[MAX_RESHARD_STEPS];
    int kinds[N_RESHARD_KINDS] = {0};

    for (int i = 0; i < COUNT(meshes) * 4; i++) {
        int rank = i % 4, n_specs = all_specs(&meshes[i / 4], rank, spec);
        for (int shapes = 0; shapes < n_shapes[rank]; shapes += rank < 3 || is_thorough ? 1 : 5)
            for (int k = 0; k < n_specs; k++) {
                start.m = &meshes[i / 4];
                start.v = shape(rank, shapes);
                lay(&start, &spec[k]);
                int n = reshard_steps_from(start.m, &start.v, &spec[k], ~0U, step);
                for (int j = 0; j < n; j++) {
                    w = start;
                    perform(&w, &step[j]);
                    check_all(&w, &step[j].after);
                    kinds[step[j].kind]++;
                }
            }
    }
    for (int k = 0; k < N_RESHARD_KINDS; k++)
        assert_true(kinds[k] > 0);
}

// Executes all reshard paths of a sample of spec pairs.
static void pairs_from(const Mesh *m, const Value *v, int first, int stride)
{
    static World w;
    static Spec spec[MAX_SPECS];
    Arena *a = arena_new();
    Resharder *l = resharder_new(a, m);
    int n_specs = all_specs(m, v->rank, spec);
    const ReshardPath *path;
    ReshardStep step[MAX_STEPS];

    w.m = m;
    w.v = *v;
    for (int k = first; k < n_specs * n_specs; k += stride) {
        const Spec *from = &spec[k / n_specs], *to = &spec[k % n_specs];
        for (int j = reshard_paths(l, v, *from, *to, &path) - 1; j >= 0; j--) {
            assert_true(path[j].n_steps <= MAX_STEPS);
            reshard_path_steps(l, v, *from, *to, &path[j], step);
            lay(&w, from);
            for (int x = 0; x < path[j].n_steps; x++)
                perform(&w, &step[x]);
            check_all(&w, to);
        }
    }
    arena_free(a);
}

static void every_pair(void **state)
{
    for (int i = 0; i < COUNT(meshes); i++) {
        for (int k = 0; k < 16; k++) {
            Value v = shape(2, k);
            pairs_from(&meshes[i], &v, k % 7, is_thorough ? 1 : 7);
        }
        for (int k = 0; k < 64; k++) {
            Value v = shape(3, k);
            pairs_from(&meshes[i], &v, k, is_thorough ? 97 : 1999);
        }
    }
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(every_step), cmocka_unit_test(every_pair)};

    is_thorough = argc > 1 && !strcmp(argv[1], "all");
    return cmocka_run_group_tests(tests, NULL, NULL);
}
