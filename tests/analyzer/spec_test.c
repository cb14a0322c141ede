// Tests specs: their text, which ones are valid, and the ranks' shards.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "analyzer/sharding/sharding.h"

static const Mesh mesh = {.n_axes = 3, .size = {2, 3, 4}, .name = {"dp", "tp", "x2"}};

static const Value plain = {.dtype = F32, .rank = 2, .dim = {8, 9}, .own_rank = -1};
static const Value scalar = {.dtype = F32, .own_rank = -1};
static const Value wide = {.dtype = F32, .rank = 2, .dim = {8, 9}, .own_rank = 1, .own_dim = {72}};
static const Value qkv = {
    .dtype = F32, .rank = 4, .dim = {3, 4, 12, 48}, .own_rank = 2, .own_dim = {144, 48}};
static const Value ones = {
    .dtype = F32, .rank = 4, .dim = {5, 1, 2, 1}, .own_rank = 4, .own_dim = {1, 5, 2, 1}};
// The dims of this value aren't products of atoms: they represent themselves.
static const Value odd = {.dtype = F32, .rank = 2, .dim = {4, 6}, .own_rank = 2, .own_dim = {3, 8}};

static const struct {
    const Value *v;
    const char *text, *printed;  // printed NULL: the text prints as it was
} texts[] = {
    {&scalar, "[]", NULL},           {&scalar, "[] sum:dp+tp", NULL},
    {&plain, "[-,-]", NULL},         {&plain, "[dp,tp]", NULL},
    {&plain, "[dp+tp,x2]", NULL},    {&plain, "[-,x2+dp+tp]", NULL},
    {&plain, "[-,tp] sum:dp", NULL}, {&plain, "[-,-] max:tp+dp", "[-,-] max:dp+tp"},
    {&plain, "[dp,-] min:x2", NULL}, {&wide, "[dp]", NULL},
    {&wide, "[-.dp]", NULL},         {&wide, "[tp.-]", "[tp]"},
    {&qkv, "[tp,dp]", NULL},         {&qkv, "[-.tp.-,-]", NULL},
    {&qkv, "[dp.x2+tp.-,-]", NULL},  {&qkv, "[-.-.-,-]", "[-,-]"},
    {&ones, "[-,dp,tp,-]", NULL},    {&odd, "[-,dp]", NULL},
};

static const struct {
    const Value *v;
    const char *text, *message;
} refusals[] = {
    {&plain, "", "expected '[' at byte 0"},
    {&plain, "[-]", "found 1 dims, but the value has 2"},
    {&plain, "[-,-,-]", "found 3 dims, but the value has 2"},
    {&scalar, "[-]", "found 1 dims, but the value has 0"},
    {&plain, "[,-]", "expected an axis at byte 1"},
    {&plain, "[-,-", "expected ']' at byte 4"},
    {&plain, "[-,dp x2]", "expected ']' at byte 5"},
    {&plain, "[-,zp]", "the mesh has no axis 'zp'"},
    {&plain, "[-,d]", "the mesh has no axis 'd'"},
    {&plain, "[-,dpp]", "the mesh has no axis 'dpp'"},
    {&plain, "[dp,dp]", "axis 'dp' occurs twice"},
    {&plain, "[dp,-] sum:dp", "axis 'dp' occurs twice"},
    {&plain, "[dp+,-]", "expected an axis at byte 4"},
    {&plain, "[dp+-,-]", "expected an axis at byte 4"},
    {&plain, "[-.dp,-]", "expected ',' at byte 2"},
    {&plain, "[-,-] ", "expected sum, max or min at byte 6"},
    {&plain, "[-,-]sum:dp", "expected ' ' at byte 5"},
    {&plain, "[-,-] sum", "expected ':' at byte 9"},
    {&plain, "[-,-] mean:dp", "expected sum, max or min at byte 6"},
    {&plain, "[-,-] sum:dp max:tp", "a value can have one partial kind: sum, max or min"},
    {&qkv, "[-.-,-]", "expected '.' at byte 4"},
    {&qkv, "[-.-.-.-,-]", "expected ',' at byte 6"},
    {&ones, "[dp,-,-,-]", "byte 1: a dim of size 1 can't be split"},
};

static void text_and_back(void **state)
{
    for (int i = 0; i < COUNT(texts); i++) {
        const char *expected = texts[i].printed ? texts[i].printed : texts[i].text;
        Text t = {0};
        Spec s, again;

        assert_true(spec_parse(&mesh, texts[i].v, texts[i].text, &s, NULL));
        assert_true(spec_is_valid(&mesh, texts[i].v->rank, &s));
        spec_print(&mesh, texts[i].v, &s, &t);
        assert_string_equal(t.s, expected);
        assert_true(spec_parse(&mesh, texts[i].v, t.s, &again, NULL));
        assert_true(spec_equal(&s, &again));
        text_free(&t);
    }
}

static void refused(void **state)
{
    for (int i = 0; i < COUNT(refusals); i++) {
        Text said = {0}, expected = {0};
        Diag d = {.file = "pin", .to = &said};
        Spec s;

        assert_false(spec_parse(&mesh, refusals[i].v, refusals[i].text, &s, &d));
        text_printf(&expected, "pin: error: spec '%s': %s\n", refusals[i].text,
                    refusals[i].message);
        assert_string_equal(said.s, expected.s);
        text_free(&said);
        text_free(&expected);
    }
}

// ---- all specs ----

static const struct {
    Spec s;
    bool is_valid;
} specs[] = {
    {{{-1, -1, -1, -1}, {0}}, true},     {{{0, 0, 0, -1}, {2, 0, 1, 0}}, true},
    {{{-2, -2, 1, -1}, {0}}, true},      {{{-3, -1, -3, -1}, {0}}, true},
    {{{-2, -3, 1, -1}, {0}}, false},      // a sum and a maximum
    {{{-5, -1, -1, -1}, {0}}, false},     // no such kind
    {{{2, -1, -1, -1}, {0}}, false},      // no such dim
    {{{-1, -1, -1, 0}, {0}}, false},      // no such axis
    {{{0, 0, -1, -1}, {0, 0}}, false},    // one level twice
    {{{0, 0, -1, -1}, {0, 2}}, false},    // a level missing
    {{{0, 1, -1, -1}, {0, 1}}, false},    // level 0 is missing
    {{{-1, -1, -1, -1}, {0, 1}}, false},  // a level where no dim is split
    {{{0, -1, -1, -1}, {-1, 0}}, false}, {{{0, -1, -1, -1}, {4, 0}}, false},
};

static void valid_or_not(void **state)
{
    for (int i = 0; i < COUNT(specs); i++)
        assert_int_equal(spec_is_valid(&mesh, 2, &specs[i].s), specs[i].is_valid);
}

// ---- shards ----

static const struct {
    const char *spec;
    int64_t n, chunk, offset[24], extent[24];
} shards[] = {
    {"[tp]",
     8,
     3,
     {0, 0, 0, 0, 3, 3, 3, 3, 6, 6, 6, 6, 0, 0, 0, 0, 3, 3, 3, 3, 6, 6, 6, 6},
     {3, 3, 3, 3, 3, 3, 3, 3, 2, 2, 2, 2, 3, 3, 3, 3, 3, 3, 3, 3, 2, 2, 2, 2}},
    {"[dp+x2]",
     10,
     2,
     {0, 2, 4, 5, 0, 2, 4, 5, 0, 2, 4, 5, 5, 7, 9, 10, 5, 7, 9, 10, 5, 7, 9, 10},
     {2, 2, 1, 0, 2, 2, 1, 0, 2, 2, 1, 0, 2, 2, 1, 0, 2, 2, 1, 0, 2, 2, 1, 0}},
    {"[x2+dp]",
     10,
     2,
     {0, 3, 6, 9, 0, 3, 6, 9, 0, 3, 6, 9, 2, 5, 8, 10, 2, 5, 8, 10, 2, 5, 8, 10},
     {2, 2, 2, 1, 2, 2, 2, 1, 2, 2, 2, 1, 1, 1, 1, 0, 1, 1, 1, 0, 1, 1, 1, 0}},
    {"[x2]",
     1,
     1,
     {0, 1, 1, 1, 0, 1, 1, 1, 0, 1, 1, 1, 0, 1, 1, 1, 0, 1, 1, 1, 0, 1, 1, 1},
     {1, 0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0}},
};

static void shards_of_ranks(void **state)
{
    assert_int_equal(mesh_ranks(&mesh), 24);
    for (int i = 0; i < COUNT(shards); i++) {
        const Value v = {.dtype = F64, .rank = 1, .dim = {shards[i].n}, .own_rank = -1};
        Spec s;

        assert_true(spec_parse(&mesh, &v, shards[i].spec, &s, NULL));
        assert_int_equal(spec_chunk(&mesh, &s, 0, v.dim[0]), shards[i].chunk);
        assert_int_equal(spec_bytes(&mesh, &s, &v), 8 * shards[i].chunk);
        for (int r = 0; r < 24; r++) {
            int64_t offset, extent;
            spec_shard(&mesh, &s, 0, v.dim[0], r, &offset, &extent);
            assert_int_equal(offset, shards[i].offset[r]);
            assert_int_equal(extent, shards[i].extent[r]);
        }
    }
}

// Whatever the size, each element is in the shards of exactly the ranks that replicate it, and no
// shard is larger than the chunk.
static void shards_cover(void **state)
{
    static const char *const all[] = {"[dp]",       "[tp]",       "[x2]",       "[dp+tp]",
                                      "[tp+x2]",    "[x2+dp]",    "[dp+tp+x2]", "[x2+tp+dp]",
                                      "[tp+dp+x2]", "[-] sum:tp", "[x2] sum:dp"};

    for (int i = 0; i < COUNT(all) * 51; i++) {
        const int64_t n = i % 51;
        const Value v = {.dtype = F32, .rank = 1, .dim = {n}, .own_rank = -1};
        int times[51] = {0}, axes[MAX_AXES], shards_of_dim = 1;
        Spec s;

        assert_true(spec_parse(&mesh, &v, all[i / 51], &s, NULL));
        for (int k = spec_axes(&s, 0, axes); k > 0; k--)
            shards_of_dim *= mesh.size[axes[k - 1]];
        for (int r = 0; r < 24; r++) {
            int64_t offset, extent;
            spec_shard(&mesh, &s, 0, n, r, &offset, &extent);
            assert_in_range(extent, 0, spec_chunk(&mesh, &s, 0, n));
            for (int64_t k = offset; k < offset + extent; k++)
                times[k]++;
        }
        for (int64_t k = 0; k < n; k++)
            assert_int_equal(times[k], 24 / shards_of_dim);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(text_and_back), cmocka_unit_test(refused),
        cmocka_unit_test(valid_or_not),  cmocka_unit_test(shards_of_ranks),
        cmocka_unit_test(shards_cover),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
