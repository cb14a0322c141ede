// Tests which elements of a tensor a rank has, and where, by looking at all elements on all ranks.
#include "tests/runtime/small.h"

#include "runtime/core/core.h"

static const RtMesh meshes[] = {
    {1, {2}}, {1, {3}}, {1, {5}}, {2, {2, 2}}, {2, {2, 3}}, {3, {2, 2, 2}}, {2, {3, 2}},
};

// Tensors of up to three dims, with a letter for each axis that splits a dim, outermost first.
static const struct {
    int64_t dim[3];
    const char *cut[3];
} tensors[] = {
    {{8}, {"a"}},
    {{7}, {"a"}},
    {{1}, {"a"}},
    {{5}, {"ab"}},
    {{5}, {"ba"}},
    {{50}, {"abc"}},
    {{3}, {"cba"}},
    {{4, 3}, {"a", ""}},
    {{4, 3}, {"", "a"}},
    {{5, 7}, {"a", "b"}},
    {{5, 7}, {"b", "a"}},
    {{2, 3, 5}, {"", "a", ""}},
    {{2, 3, 5}, {"", "", "ab"}},
    {{2, 3, 5}, {"a", "", "b"}},
    {{4, 1, 6}, {"b", "", "a"}},
    {{0, 4}, {"a", "b"}},
    {{4, 0}, {"a", ""}},
    {{3, 2, 2}, {"", "", ""}},
};

typedef struct Case {
    RtModel m;
    RtTensor t;
    RtCut cut[3];
} Case;

// Makes the case; returns false if the mesh has no such axis.
static bool set_case(Case *x, const RtMesh *mesh, int which)
{
    *x = (Case){.m = {.mesh = *mesh}, .t = {.type = RT_I64, .rank = 3, .n_parts = 3}};
    for (int i = 0; i < 3; i++) {
        const char *cut = tensors[which].cut[i] ? tensors[which].cut[i] : "";
        bool is_there = tensors[which].cut[i] != NULL;

        x->t.dim[i] = x->t.part[i] = is_there ? tensors[which].dim[i] : 1;
        if (!*cut)
            continue;
        RtCut *c = &x->cut[x->m.n_cuts];
        c->whole = x->t.part[i];
        for (; *cut; cut++) {
            if (*cut - 'a' >= mesh->n_axes)
                return false;
            c->axis[c->n_axes++] = *cut - 'a';
        }
        x->t.cut[i] = ++x->m.n_cuts;
    }
    x->m.cuts = x->cut;
    return true;
}

// Does the rank's chunk hold element `i` of a dim? The axes take the digits of i: each one divides
// by the next smaller chunk size, and the digit must be the rank's coordinate. *rest is the rest.
static bool is_in_chunk(const RtMesh *mesh, const RtCut *c, int64_t i, int rank, int64_t *rest)
{
    int64_t chunk = c->whole;

    for (int k = 0; k < c->n_axes; k++) {
        int size = mesh->size[c->axis[k]];
        chunk = (chunk + size - 1) / size;
        if (i / chunk != rt_mesh_coordinate(mesh, c->axis[k], rank))
            return false;
        i %= chunk;
    }
    *rest = i;
    return true;
}

// The index of the tensor's element `at` in the rank's shard; -1 if the rank doesn't have it.
static int64_t find_element(const Case *x, int64_t at, int rank)
{
    int64_t index[3], own = 0;

    for (int i = 2; i >= 0; i--) {
        index[i] = at % x->t.part[i];
        at /= x->t.part[i];
    }
    for (int i = 0; i < 3; i++) {
        const RtCut *c = x->t.cut[i] ? &x->cut[x->t.cut[i] - 1] : NULL;
        int64_t rest = index[i];

        if (c && !is_in_chunk(&x->m.mesh, c, index[i], rank, &rest))
            return -1;
        own = own * (c ? rt_chunk(&x->m.mesh, c) : x->t.part[i]) + rest;
    }
    return own;
}

// Checks the rank's shard; returns how many elements it has.
static int64_t check_rank(const Case *x, const int64_t *whole, int rank)
{
    int64_t room = rt_count(&x->m, &x->t), n = 0, last = -1, in_runs = 0;
    int64_t *expected = rt_alloc((size_t)room, sizeof *expected);
    int64_t *own = rt_alloc((size_t)room, sizeof *own);
    RtShard *shard = rt_shards(&x->m, rank);

    for (int64_t e = 0; e < rt_whole_count(&x->t); e++) {
        int64_t at = find_element(x, e, rank);
        if (at < 0)
            continue;
        assert_true(at < room);
        expected[at] = whole[e];
        n++;
    }
    rt_load_shard(&(Rt){.device = &rt_cpu, .arena = (char *)own, .shard = shard}, &x->m, &x->t, 0,
                  x->t.type, whole);
    assert_memory_equal(own, expected, (size_t)room * sizeof *own);
    for (RtRuns r = rt_runs(&x->m, &x->t, shard); rt_runs_next(&r);) {
        assert_true(r.whole > last && r.count > 0);
        last = r.whole + r.count - 1;
        in_runs += r.count;
    }
    assert_int_equal(in_runs, n);
    free(expected);
    free(own);
    free(shard);
    return n;
}

static void every_element_is_someones(void **state)
{
    int64_t whole[64];

    for (int64_t e = 0; e < N(whole); e++)
        whole[e] = 1 + e;
    for (int k = 0; k < N(meshes); k++)
        for (int i = 0; i < N(tensors); i++) {
            Case x;
            int64_t saved = 0;

            if (!set_case(&x, &meshes[k], i))
                continue;
            for (int r = 0; r < rt_mesh_ranks(&x.m.mesh); r++) {
                int64_t n = check_rank(&x, whole, r);
                saved += rt_is_first(&x.m, &x.t, r) ? n : 0;
            }
            assert_int_equal(saved, rt_whole_count(&x.t));
        }
}

// Shards computed by hand, as the compiler defines them.
static void knows_shards(void **state)
{
    static const struct {
        int64_t whole;
        int rank;
        RtShard shard;
    } cases[] = {
        {50257, 0, {0, 12565}}, {50257, 3, {37694, 12563}}, {12, 1, {3, 3}}, {5, 3, {5, 0}},
        {5, 1, {2, 1}},
    };
    const RtMesh mesh = {2, {2, 2}};

    for (int i = 0; i < N(cases); i++) {
        RtCut c = {cases[i].whole, 2, {0, 1}};
        RtShard p = rt_shard_of(&mesh, &c, cases[i].rank);
        assert_int_equal(p.offset, cases[i].shard.offset);
        assert_int_equal(p.extent, cases[i].shard.extent);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_element_is_someones),
        cmocka_unit_test(knows_shards),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
