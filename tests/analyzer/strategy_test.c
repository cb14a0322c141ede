// Tests the strategies of a node on its axes: how many there are, and their specs.
// tests/lower/partition_test.c tests that each of them gives the right numbers.
#include "analyzer/sharding/sharding.h"
#include "tests/ir/sample.h"

// Prints for each axis the dim that it splits, followed by ' if another axis splits the dim
// outside of it; or - for replicated, and S, M, m for partial sum, maximum, minimum.
static void put_spec(Text *t, const Spec *s, int n_axes)
{
    for (int a = 0; a < n_axes; a++) {
        if (s->at[a] < 0)
            text_printf(t, "%c", "-SMm"[-1 - s->at[a]]);
        else
            text_printf(t, "%d%s", s->at[a], s->level[a] ? "'" : "");
    }
}

static const struct {
    const char *node, *types;
    int n_axes, count;
    const char *specs;  // of inputs, then of outputs; NULL: too many to list
} cases[] = {
    {"neg(f32[5])", "f32[5]", 1, 3, "- -; S S; 0 0"},
    {"exp(f32[5])", "f32[5]", 1, 2, "- -; 0 0"},
    {"add(f32[5], f32[5])", "f32[5]", 1, 3, "- - -; S S S; 0 0 0"},
    {"mul(f32[5], f32[5])", "f32[5]", 1, 4, "- - -; S - S; - S S; 0 0 0"},
    {"dot(f32[2,7], f32[7,3]) eq=\"mk,kn->mn\"", "f32[2,3]", 1, 6,
     "- - -; S - S; - S S; 1 0 S; - 1 1; 0 - 0"},
    {"reduce_max(f32[2,3]) axes=[1]", "f32[2]", 1, 3, "- -; 1 M; 0 0"},
    {"gather(f32[5,2], i64[3]<5) axis=0 batch=0", "f32[3,2]", 1, 5,
     "- - -; S - S; 0 - S; - 0 0; 1 - 1"},
    {"cumsum(f32[2,3]) axis=1", "f32[2,3]", 1, 3, "- -; S S; 0 0"},
    {"top_k(f32[2,5]) axis=1 k=3", "f32[2,3], i64[2,3]", 1, 2, "- - -; 0 0 0"},
    {"iota() shape=[4] axis=0 dtype=i64", "i64[4]", 1, 2, "-; 0"},
    {"exp(f32[5])", "f32[5]", 2, 5, "-- --; -0 -0; 0- 0-; 00' 00'; 0'0 0'0"},
    {"exp(f32[5])", "f32[5]", 3, 16, NULL},  // 1 + 3 + 3·2 + 3!
    {"exp(f32[5,1,2,4,3,1,1,1,2,2,2,2])", "f32[5,1,2,4,3,1,1,1,2,2,2,2]", 3, 2689, NULL},
    // On four axes the seven smallest dims are not split.
    {"exp(f32[5,1,2,4,3,1,1,1,2,2,2,2])", "f32[5,1,2,4,3,1,1,1,2,2,2,2]", 4, 2721, NULL},
};

static void strategies_come_from_factors(void **state)
{
    for (int i = 0; i < COUNT(cases); i++) {
        const SampleText text = {cases[i].node, cases[i].types, ""};
        const Mesh m = {.n_axes = cases[i].n_axes, .size = {2, 3, 4}};
        Sample s = sample_read(&text, false);
        Text got = {0};
        Strategy *all;
        Rule r;

        node_rule(s.arena, s.g, &s.node, &r);
        int n = strategies_of(s.arena, &r, &m, &all);
        for (int k = 0; k < n; k++) {
            text_printf(&got, "%s", k ? ";" : "");
            assert_true(strategy_is_legal(&r, &m, &all[k]));
            for (int o = 0; o < r.n_in + r.n_out; o++) {
                Spec spec = strategy_spec(&r, &all[k], o);
                text_printf(&got, "%s", k || o ? " " : "");
                put_spec(&got, &spec, m.n_axes);
            }
        }
        if (n != cases[i].count || (cases[i].specs && strcmp(got.s, cases[i].specs)))
            fail_msg("%s: %d strategies\n  %.400s", cases[i].node, n, got.s);
        text_free(&got);
        sample_free(&s);
    }
}

// Axes that split the same factor have the levels 0, 1, …
static void levels_are_dense(void **state)
{
    static const struct {
        Strategy s;
        bool is_legal;
    } legal[] = {
        {{{0, 0, -1, -1}, {0, 1}}, true},  {{{0, 0, -1, -1}, {1, 0}}, true},
        {{{0, 0, -1, -1}, {0, 0}}, false}, {{{0, 0, -1, -1}, {1, 1}}, false},
        {{{0, 0, -1, -1}, {0, 2}}, false}, {{{0, -1, -1, -1}, {1, 0}}, false},
    };
    const SampleText text = {"exp(f32[5])", "f32[5]", ""};
    const Mesh m = {.n_axes = 2, .size = {2, 3}};
    Sample s = sample_read(&text, false);
    Rule r;

    node_rule(s.arena, s.g, &s.node, &r);
    for (int i = 0; i < COUNT(legal); i++)
        assert_int_equal(strategy_is_legal(&r, &m, &legal[i].s), legal[i].is_legal);
    sample_free(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(strategies_come_from_factors),
                                       cmocka_unit_test(levels_are_dense)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
