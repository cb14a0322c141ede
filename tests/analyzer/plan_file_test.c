// Tests plan files: those that are read print as the same text, and wrong ones are refused with
// the right message. Plans of graphs come back unchanged from their files.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "analyzer/sharding/plan_file.h"
#include "tests/lower/plans.h"

static const char good[] =
    "{\n  \"version\": 1,\n  \"model\": \"m.onnx\",\n  \"model_hash\": \"0123456789abcdef\",\n"
    "  \"cluster\": \"h100x4\",\n  \"cluster_hash\": \"00000000000000ff\",\n"
    "  \"options\": [\"--loss\", \"mse(y, \\\"a b\\\")\"],\n  \"ranks\": 4,\n  \"memory\": "
    "80000000000,\n"
    "  \"recompute\": \"none\",\n  \"recompute_solved\": \"min_cut\",\n"
    "  \"mesh\": [\n    {\"name\": \"dp\", \"size\": 4, \"link\": \"NVLink\"}\n  ],\n"
    "  \"seconds\": 0.25,\n  \"compute\": 0.125,\n  \"communication\": 0.125,\n"
    "  \"bound\": 0.2,\n  \"meshes\": 3,\n  \"excluded\": 1,\n  \"bytes\": 1048576,\n"
    "  \"fullest\": \"in backward\",\n"
    "  \"holders\": [\n    {\"kind\": \"parameters\", \"bytes\": 1000},\n    {\"kind\": "
    "\"states\", \"bytes\": 0}\n  ],\n"
    "  \"presets\": [\n    {\"name\": \"ddp\", \"fits\": false, \"bytes\": 100}\n  ],\n"
    "  \"blocks\": [\n    {\"name\": \"h\", \"layers\": 12}\n  ],\n"
    "  \"values\": [\n    {\"name\": \"w\", \"kind\": \"parameter\", \"type\": \"f32[4,6]\", "
    "\"block\": 1, \"spec\": \"[dp,-]\", \"solved\": \"[-,-]\", \"pin\": true, "
    "\"read\": \"fwd [-,-]\", \"next\": \"[-,dp]\", \"next_seconds\": 0.0112, \"seconds\": "
    "1e-06, \"bytes\": 24}\n  ],\n"
    "  \"nodes\": [\n    {\"name\": \"y\", \"kind\": \"dot\", \"type\": \"mk,kn->mn\", \"phase\": "
    "\"forward\", \"reads\": [\"x\", \"w\"], \"module\": \"h.0\", \"spec\": \"m:dp\", "
    "\"solved\": \"m:dp\"}\n  ],\n"
    "  \"collectives\": [\n    {\"kind\": \"all_gather\", \"value\": \"w\", \"axis\": \"dp\", "
    "\"phase\": \"forward\", \"before\": \"y\", \"block\": 1, \"bucket\": 2, \"times\": 12, "
    "\"bytes\": 24, "
    "\"seconds\": 1e-06}\n  ]\n}\n";

static void read_and_printed(void **state)
{
    Arena *a = arena_new();
    Diag d = {.file = "p"};
    Text t = {0};
    PlanFile f;

    assert_true(plan_file_parse(a, good, strlen(good), &f, &d));
    assert_string_equal(f.option[1], "mse(y, \"a b\")");
    assert_true(f.cluster_hash == 255 && f.value[0].pin && f.value[0].next_seconds == 0.0112);
    plan_file_print(&f, &t);
    assert_string_equal(t.s, good);
    text_free(&t);
    arena_free(a);
}

// Each case is the good text with its first `from` replaced by `to`.
static const struct {
    const char *from, *to, *message;
} cases[] = {
    {"{", "", "not JSON: byte 12: found ':'"},
    {good, "7", "the top level must be an object, found 7"},
    {good, "{}", "version must be 1, as shardcc plan writes it"},
    {"\"version\": 1", "\"version\": 2", "version must be 1, as shardcc plan writes it"},
    {"\"ranks\"", "\"rank\"", "rank is unknown"},
    {"\"ranks\": 4,", "", "ranks is missing"},
    {"\"ranks\": 4", "\"ranks\": 4.5", "ranks must be a whole number from 0 to 4194304, found 4.5"},
    {"\"ranks\": 4", "\"ranks\": 4, \"ranks\": 4", "ranks occurs twice"},
    {"80000000000", "1e17",
     "memory must be a whole number from 0 to 9007199254740992, found 1e+17"},
    {"80000000000", "-1", "memory must be a whole number from 0 to 9007199254740992, found -1"},
    {"0.25", "1e13",
     "seconds must be a number from -1000000000000 to 1000000000000, found 10000000000000"},
    {"0.25", "\"1\"", "seconds must be a number from -1000000000000 to 1000000000000, found '1'"},
    {"0123456789abcdef", "0123456789ABCDEF",
     "model_hash must be a text of 16 digits 0 to f, found '0123456789ABCDEF'"},
    {"0123456789abcdef", "abc", "model_hash must be a text of 16 digits 0 to f, found 'abc'"},
    {"m.onnx", "m\303\266.onnx", "model must be a text of printable ASCII, found 'm\303\266.onnx'"},
    {"\"m.onnx\"", "7", "model must be a text of printable ASCII, found 7"},
    {"[\"--loss\"", "[7", "options must be a text of printable ASCII, found 7"},
    {"\"options\": [\"--loss\", \"mse(y, \\\"a b\\\")\"]", "\"options\": 7",
     "options must be a list of texts, found 7"},
    {"\"mesh\": [\n    {\"name\": \"dp\", \"size\": 4, \"link\": \"NVLink\"}\n  ]", "\"mesh\": 7",
     "mesh must be a list, found 7"},
    {"{\"name\": \"dp\", \"size\": 4, \"link\": \"NVLink\"}", "", "mesh must have 1 to 4 axes"},
    {"\"none\"", "\"mincut\"", "recompute is 'mincut', expected 'none' or 'min_cut'"},
    {"\"none\"", "7", "recompute must be a text of printable ASCII, found 7"},
    {"\"min_cut\"", "\"all\"", "recompute_solved is 'all', expected 'none' or 'min_cut'"},
    {"  \"recompute\": \"none\",\n", "", "recompute is missing"},
    {"{\"name\": \"dp\", \"size\": 4, \"link\": \"NVLink\"}", "8",
     "mesh[0] must be an object, found 8"},
    {"\"size\": 4", "\"size\": \"4\"",
     "mesh[0].size must be a whole number from 0 to 4194304, found '4'"},
    {"\"spec\": \"[dp,-]\", ", "", "values[0].spec is missing"},
    {"\"spec\": \"[dp,-]\", ", "\"spce\": \"[dp,-]\", ", "values[0].spce is unknown"},
    {"\"pin\": true", "\"pin\": 1", "values[0].pin must be true or false, found 1"},
    {"\"block\": 1", "\"block\": 2", "values[0].block is 2, but there are 1 blocks"},
    {"\"before\": \"y\", \"block\": 1", "\"before\": \"y\", \"block\": 3",
     "collectives[0].block is 3, but there are 1 blocks"},
};

static char *replaced(Arena *a, const char *text, const char *from, const char *to)
{
    const char *at = strstr(text, from);

    assert_non_null(at);
    return arena_string(a, "%.*s%s%s", (int)(at - text), text, to, at + strlen(from));
}

static void refused(void **state)
{
    for (int i = 0; i < COUNT(cases); i++) {
        Arena *a = arena_new();
        Text said = {0};
        Diag d = {.file = "p", .to = &said};
        char *text = replaced(a, good, cases[i].from, cases[i].to);
        PlanFile f;

        assert_false(plan_file_parse(a, text, strlen(text), &f, &d));
        assert_string_equal(said.s, arena_string(a, "p: error: %s\n", cases[i].message));
        text_free(&said);
        arena_free(a);
    }
}

// ---- plans of graphs ----

static const char layers[] =
    "graph \"two layers\" training {\n"
    "  class 1 \"h\" 2\n"
    "  input %\"the x\" f32[4,6]\n"
    "  hyper %lr f32[] = 0.001\n"
    "  parameter %h.0.w f32[6,6] block 1.0.0\n"
    "  parameter %h.1.w f32[6,6] block 1.1.0\n"
    "  parameter %u f32[6,2,3] own [6,6]\n"
    "  %a f32[4,6] = dot(%\"the x\", %h.0.w) eq=\"mk,kn->mn\" from \"n\" \"h.0\" block 1.0.0\n"
    "  %b f32[4,6] = exp(%a) block 1.0.1\n"
    "  %c f32[4,6] = dot(%b, %h.1.w) eq=\"mk,kn->mn\" from \"n\" \"h.1\" block 1.1.0\n"
    "  %d f32[4,6] = exp(%c) block 1.1.1\n"
    "  %y f32[4,2,3] = dot(%d, %u) eq=\"mk,kab->mab\"\n"
    "  %e f32[4,6] = exp(%d) backward block 1.1.2\n"
    "  %f f32[4,6] = exp(%b) backward block 1.0.2\n"
    "  %gu f32[6,2,3] = dot(%d, %y) eq=\"mk,mab->kab\" backward\n"
    "  %s f32[6,2,3] = broadcast(%lr) shape=[6,2,3] dims=[] update\n"
    "  %p f32[6,2,3] = mul(%gu, %s) update\n"
    "  %v f32[6,2,3] = sub(%u, %p) update\n"
    "  output gradient \"u\" %gu\n"
    "  carry step %u %v\n}\n";

static Graph *graph_of(Arena *a)
{
    static Diag d = {.file = "graph"};
    Graph *g = graph_parse(a, layers, strlen(layers), &d);

    assert_true(g && graph_verify(g, &d));
    return g;
}

static Cluster cluster_of(Arena *a)
{
    Cluster c;

    assert_true(cluster_open(a, "h100x8", 8, &c, NULL));
    return c;
}

static void check_same(const Graph *g, const Plan *x, const Plan *y)
{
    for (ValueId v = 1; v < g->n_values; v++)
        for (int k = -1; k < 3; k++)
            assert_true(k < 0 ? spec_equal(&x->storage_spec[v], &y->storage_spec[v])
                              : spec_equal(x->compute_spec ? &x->compute_spec[3 * v + k]
                                                           : &x->storage_spec[v],
                                           &y->compute_spec[3 * v + k]));
    for (NodeId n = 1; n < g->n_nodes; n++)
        assert_true(spec_equal(&x->strategy[n], &y->strategy[n]));
}

// Writes a plan to a file and checks that the file gives the same plan.
static void check_trip(Arena *a, const Graph *g, const Cluster *c, const Plan *p)
{
    Diag d = {.file = "p"};
    Text t = {0}, again = {0};
    PlanFile f, copy;
    PlanPins pins;
    Plan q;

    assert_true(plan_check(g, p, &d));
    plan_file_make(a, &f, g, c, p, 1);
    f.model = f.cluster = "";
    f.model_hash = graph_hash(g);
    plan_file_print(&f, &t);
    assert_true(plan_file_parse(a, t.s, t.n, &copy, &d));
    plan_file_print(&copy, &again);
    assert_string_equal(again.s, t.s);
    assert_true(plan_file_check(&copy, g, c, &d) && plan_file_read(a, &copy, g, c, &q, &pins, &d));
    assert_int_equal(pins.n_values + pins.n_nodes, 0);
    check_same(g, p, &q);
    text_free(&t);
    text_free(&again);
}

static void of_plans(void **state)
{
    static const char *const meshes[] = {"8", "2x4", "dp=4,tp=2", "2x2x2"};
    Dice d = {12345};

    for (int i = 0; i < 40; i++) {
        Arena *a = arena_new();
        Graph *g = graph_of(a);
        Cluster c = cluster_of(a);
        Seen *seen = arena_array(a, Seen, g->n_nodes);
        Mesh m;

        assert_true(mesh_parse(a, &c, 8, meshes[i % COUNT(meshes)], &m, NULL));
        Plan p = roll_plan(a, g, &m, &d, seen, 0, NULL);
        check_trip(a, g, &c, &p);
        arena_free(a);
    }
}

// Each case is the file of a replicated plan with its first `from` replaced by `to`.
static const struct {
    const char *from, *to, *message;
} misfits[] = {
    {"\"model_hash\": \"", "\"model_hash\": \"0000000000000000\", \"x\": \"", "x is unknown\n"},
    {"{\"name\": \"the x\"", "{\"name\": \"x\"",
     "values[0].name is 'x', expected 'the x' as in the graph\n"},
    {"{\"name\": \"a\"", "{\"name\": \"aa\"",
     "values[4].name is 'aa', expected 'a' as in the graph\n"},
    {"\"size\": 8", "\"size\": 4", "mesh '4' has 4 ranks, expected 8\n"},
    {"\"ranks\": 8", "\"ranks\": 9", "9 ranks, but the cluster has 8 devices\n"},
    {"\"name\": \"x0\"", "\"name\": \"x 0\"",
     "mesh 'x 0=8': expected a name of letters, digits and '_' before each '='\n"},
    {"\"spec\": \"[-,-]\"", "\"spec\": \"[dp,-]\"",
     "spec '[dp,-]': the mesh has no axis 'dp'\n  in  values[0], 'the x'\n"},
    {"\"spec\": \"[-,-]\"", "\"spec\": \"[-]\"",
     "spec '[-]': found 1 dims, but the value has 2\n  in  values[0], 'the x'\n"},
    {"\"spec\": \"-\"", "\"spec\": \"z:x0\"",
     "strategy 'z:x0': the rule has no such factor at byte 0\n  in  nodes[0], 'a'\n"},
    {"\"spec\": \"-\"", "\"spec\": \"m:x1\"",
     "strategy 'm:x1': the mesh has no such axis at byte 2\n  in  nodes[0], 'a'\n"},
    {"\"spec\": \"-\"", "\"spec\": \"m:x0 k:x0\"",
     "strategy 'm:x0 k:x0': the axis occurs twice at byte 7\n  in  nodes[0], 'a'\n"},
    {"\"spec\": \"-\"", "\"spec\": \"linear:x0\"",
     "strategy 'linear:x0': the node can't be split like this\n  in  nodes[0], 'a'\n"},
    {"\"spec\": \"-\"", "\"spec\": \"linear.1\"",
     "strategy 'linear.1': expected ':' at byte 8\n  in  nodes[0], 'a'\n"},
    {"\"spec\": \"-\"", "\"spec\": \"\"",
     "strategy '': expected a factor or 'linear', and ':', at byte 0\n"
     "  in  nodes[0], 'a'\n"},
    {"\"spec\": \"[-,-]\", \"solved\": \"[-,-]\"",
     "\"spec\": \"[-,-] sum:x0\", \"solved\": \"[-,-] sum:x0\"",
     "value 'the x' can't be partial: no node computes it\n"},
};

static char *file_of(Arena *a, const Graph *g, const Cluster *c)
{
    Text t = {0};
    PlanFile f;
    Mesh m;

    assert_true(mesh_parse(a, c, 8, "8", &m, NULL));
    Plan p = {.mesh = m,
              .storage_spec = arena_array(a, Spec, g->n_values),
              .strategy = arena_array(a, Strategy, g->n_nodes)};
    for (ValueId v = 1; v < g->n_values; v++)
        p.storage_spec[v] = spec_replicated();
    for (NodeId n = 1; n < g->n_nodes; n++)
        p.strategy[n] = spec_replicated();
    plan_file_make(a, &f, g, c, &p, 1);
    f.model = f.cluster = "";
    f.model_hash = graph_hash(g);
    plan_file_print(&f, &t);
    char *s = arena_copy(a, t.s, t.n);
    text_free(&t);
    return s;
}

static void misfit(void **state)
{
    for (int i = 0; i < COUNT(misfits); i++) {
        Arena *a = arena_new();
        Text said = {0};
        Diag d = {.file = "p", .to = &said};
        Graph *g = graph_of(a);
        Cluster c = cluster_of(a);
        char *text = replaced(a, file_of(a, g, &c), misfits[i].from, misfits[i].to);
        PlanFile f;
        PlanPins pins;
        Plan p;

        assert_false(plan_file_parse(a, text, strlen(text), &f, &d) &&
                     plan_file_read(a, &f, g, &c, &p, &pins, &d));
        assert_string_equal(said.s, arena_string(a, "p: error: %s", misfits[i].message));
        text_free(&said);
        arena_free(a);
    }
}

// Tests that a file of another graph or cluster is refused.
static void of_others(void **state)
{
    Arena *a = arena_new();
    Text said = {0};
    Diag d = {.file = "p", .to = &said};
    Graph *g = graph_of(a), *other = graph_of(a);
    Cluster c = cluster_of(a), another = c;
    char *text = file_of(a, g, &c);
    PlanFile f;

    assert_true(plan_file_parse(a, text, strlen(text), &f, &d));
    other->name = "other";
    another.launch *= 2;
    assert_false(plan_file_check(&f, other, &another, &d));
    assert_string_equal(
        said.s,
        arena_string(a,
                     "p: error: model_hash is %016" PRIx64 ", expected %016" PRIx64
                     ": the plan was made for another model or by another version of "
                     "shardcc\n"
                     "p: error: cluster_hash is %016" PRIx64 ", expected %016" PRIx64
                     ": the plan was made for another cluster\n",
                     graph_hash(g), graph_hash(other), cluster_hash(&c), cluster_hash(&another)));
    text_free(&said);
    arena_free(a);
}

// Tests that entries that are edited or marked as pins become pins.
static void pinned(void **state)
{
    Arena *a = arena_new();
    Diag d = {.file = "p"};
    Graph *g = graph_of(a);
    Cluster c = cluster_of(a);
    char *text = replaced(a, file_of(a, g, &c), "\"spec\": \"[-,-]\"", "\"spec\": \"[x0,-]\"");
    PlanFile f;
    PlanPins pins;
    Plan p;

    text = replaced(a, text, "\"solved\": \"-\"", "\"solved\": \"-\", \"pin\": true");
    assert_true(plan_file_parse(a, text, strlen(text), &f, &d));
    assert_true(plan_file_read(a, &f, g, &c, &p, &pins, &d));
    assert_true(pins.n_values == 1 && pins.n_nodes == 1);
    assert_string_equal(value_of(g, pins.value[0])->name, "the x");
    assert_int_equal(p.storage_spec[pins.value[0]].at[0], 0);
    assert_ptr_equal(g->nodes[pins.node[0]].op, &op_dot);
    arena_free(a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(read_and_printed), cmocka_unit_test(refused),   cmocka_unit_test(of_plans),
        cmocka_unit_test(misfit),           cmocka_unit_test(of_others), cmocka_unit_test(pinned),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
