// Tests the order in which the dims of named values lie in memory, and the copies that transpose
// them.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "lower/lower.h"

#define CONV "stride=[1,1] low=[0,0] high=[0,0] dilation=[1,1] groups=1"
#define POOL "size=[2,2] stride=[2,2] low=[0,0] high=[0,0] dilation=[1,1]"

#define PRODUCTS                                                                                   \
    "graph \"g\" {\n"                                                                              \
    "  input %x bf16[2,3,4,16]\n"                                                                  \
    "  input %w bf16[16,31]\n"                                                                     \
    "  input %v bf16[31,5]\n"                                                                      \
    "  %a bf16[2,3,4,31] = dot(%x, %w) eq=\"abmk,kn->abmn\"\n"                                     \
    "  %wide f32[2,3,4,31] = cast(%a) to=f32\n"                                                    \
    "  %t f32[2,3,4,31] = tanh(%wide)\n"                                                           \
    "  %h bf16[2,3,4,31] = cast(%t) to=bf16\n"                                                     \
    "  %b bf16[2,3,4,5] = dot(%h, %v) eq=\"abmk,kn->abmn\"\n"                                      \
    "  %c f32[2,3,4,5] = cast(%b) to=f32\n"                                                        \
    "  %y f32[2,3,4,5] = sin(%c)\n"                                                                \
    "  output model \"y\" %y\n"                                                                    \
    "}\n"

// `made` has an entry for each item that makes a value of four dims: its operators, the value, its
// strides.
static const struct {
    const char *name, *text, *made;
    bool of_ranks;
    const Target *target;  // NULL: CPUs
} cases[] = {
    {"channels lie last from the first convolution to the output, which the trainer reads",
     "graph \"g\" {\n"
     "  input %x f32[2,3,4,4]\n"
     "  parameter %w f32[5,3,1,1]\n"
     "  %c f32[2,5,4,4] = conv(%x, %w) " CONV "\n"
     "  %t f32[2,5,4,4] = tanh(%c)\n"
     "  %p f32[2,5,2,2] = max_pool(%t) " POOL "\n"
     "  %y f32[2,5,2,2] = sin(%p)\n"
     "  output model \"y\" %y\n"
     "}\n",
     "conv c 80,1,20,5\n"
     "tanh t 80,1,20,5\n"
     "max_pool p 20,1,10,5\n"
     "sin y 20,4,2,1\n"},
    {"without convolutions the order is that of the dims",
     "graph \"g\" {\n"
     "  input %x f32[2,5,4,4]\n"
     "  %t f32[2,5,4,4] = tanh(%x)\n"
     "  %m f32[2,4,4] = reduce_max(%t) axes=[1]\n"
     "  output model \"m\" %m\n"
     "}\n",
     "tanh t 80,16,4,1\n"},
    {"a transpose of channels to the end costs nothing",
     "graph \"g\" {\n"
     "  input %x f32[2,3,4,4]\n"
     "  parameter %w f32[5,3,1,1]\n"
     "  parameter %v f32[5,6]\n"
     "  %c f32[2,5,4,4] = conv(%x, %w) " CONV "\n"
     "  %r f32[2,5,16] = reshape(%c) shape=[2,5,16]\n"
     "  %s f32[2,16,5] = transpose(%r) perm=[0,2,1]\n"
     "  %y f32[2,16,6] = dot(%s, %v) eq=\"bmk,kn->bmn\"\n"
     "  output model \"y\" %y\n"
     "}\n",
     "conv c 80,1,20,5\n"},
    {"channels put together lie last too, slices are seen in place",
     "graph \"g\" {\n"
     "  input %x f32[2,3,4,4]\n"
     "  parameter %w f32[5,3,1,1]\n"
     "  %c f32[2,5,4,4] = conv(%x, %w) " CONV "\n"
     "  %t f32[2,5,4,4] = tanh(%c)\n"
     "  %k f32[2,10,4,4] = concat(%c, %t) axis=1\n"
     "  %s f32[2,4,4,4] = slice(%k) start=[0,3,0,0] size=[2,4,4,4] stride=[1,1,1,1]\n"
     "  %u f32[2,4,4,4] = mul(%s, %s)\n"
     "  %p f32[2,4,2,2] = sum_pool(%u) " POOL "\n"
     "  %y f32[2,4,2,2] = sin(%p)\n"
     "  output model \"y\" %y\n"
     "}\n",
     "conv c 80,1,20,5\n"
     "tanh t 160,1,40,10\n"
     "copy k 160,1,40,10\n"
     "mul u 64,1,16,4\n"
     "sum_pool p 16,1,8,4\n"
     "sin y 16,4,2,1\n"},
    {"values put together in one row are made there, whatever their dims",
     "graph \"g\" {\n"
     "  input %x f32[2,3,4,4]\n"
     "  parameter %v f32[4,4]\n"
     "  %d f32[2,3,4,4] = dot(%x, %v) eq=\"abmk,kn->abmn\"\n"
     "  %t f32[2,3,4,4] = tanh(%d)\n"
     "  %a f32[1,1,1,96] = reshape(%d) shape=[1,1,1,96]\n"
     "  %b f32[1,1,1,96] = reshape(%t) shape=[1,1,1,96]\n"
     "  %k f32[1,1,1,192] = concat(%a, %b) axis=3\n"
     "  %r f32[4,3,4,4] = reshape(%k) shape=[4,3,4,4]\n"
     "  %y f32[4,3,4,4] = dot(%r, %v) eq=\"abmk,kn->abmn\"\n"
     "  output model \"y\" %y\n"
     "}\n",
     "dot d 48,16,4,1\n"
     "tanh t 48,16,4,1\n"
     "dot y 48,16,4,1\n"},
    {"the sums of channels are made with what they add",
     "graph \"g\" {\n"
     "  input %x f32[2,3,4,4]\n"
     "  parameter %w f32[8,3,1,1]\n"
     "  %c f32[2,8,4,4] = conv(%x, %w) " CONV "\n"
     "  %t f32[2,8,4,4] = tanh(%c)\n"
     "  %s f32[8] = reduce_sum(%t) axes=[0,2,3]\n"
     "  %q f32[2,8] = reduce_sum(%t) axes=[2,3]\n"
     "  output model \"s\" %s\n"
     "  output model \"q\" %q\n"
     "}\n",
     "conv c 128,1,32,8\n"
     "tanh,reduce_sum t 128,1,32,8\n"},
    {"deviations from a mean are made again by each group that reads them",
     "graph \"g\" {\n"
     "  input %x f32[2,3,4,4]\n"
     "  parameter %w f32[8,3,1,1]\n"
     "  %c f32[2,8,4,4] = conv(%x, %w) " CONV "\n"
     "  %m f32[8] = reduce_sum(%c) axes=[0,2,3]\n"
     "  %mb f32[2,8,4,4] = broadcast(%m) shape=[2,8,4,4] dims=[1]\n"
     "  %d f32[2,8,4,4] = sub(%c, %mb)\n"
     "  %q f32[2,8,4,4] = mul(%d, %d)\n"
     "  %v f32[8] = reduce_sum(%q) axes=[0,2,3]\n"
     "  %vb f32[2,8,4,4] = broadcast(%v) shape=[2,8,4,4] dims=[1]\n"
     "  %n f32[2,8,4,4] = mul(%d, %vb)\n"
     "  %p f32[2,8,2,2] = max_pool(%n) " POOL "\n"
     "  %y f32[2,8,2,2] = sin(%p)\n"
     "  output model \"y\" %y\n"
     "}\n",
     "conv c 128,1,32,8\n"
     "sub,mul n 128,1,32,8\n"
     "max_pool p 32,1,16,8\n"
     "sin y 32,4,2,1\n"},
    {"ranks exchange channels as they lie",
     "graph \"g\" {\n"
     "  input %x f32[2,3,4,4]\n"
     "  parameter %w f32[4,3,1,1]\n"
     "  %c f32[2,4,4,4] = conv(%x, %w) " CONV "\n"
     "  %g f32[2,8,4,4] = all_gather(%c) axes=[0] ranks=[2] dim=1 size=8\n"
     "  %t f32[2,8,4,4] = tanh(%g)\n"
     "  %h f32[2,4,8,4] = all_to_all(%t) axes=[0] ranks=[2] join=2 cut=1 size=8\n"
     "  %p f32[2,4,4,2] = max_pool(%h) " POOL "\n"
     "  %r f32[1,4,4,2] = reduce_scatter(%p) axes=[0] ranks=[2] dim=0 op=\"sum\"\n"
     "  %y f32[1,4,4,2] = sin(%r)\n"
     "  output model \"y\" %y\n"
     "}\n",
     "conv c 64,1,16,4\n"
     "all_gather g 128,1,32,8\n"
     "tanh t 128,1,32,8\n"
     "all_to_all h 128,1,16,4\n"
     "max_pool p 32,1,8,4\n"
     "reduce_scatter r 32,1,8,4\n"
     "sin y 32,8,2,1\n",
     .of_ranks = true},
    {"rows of halves of products are padded for GPUs, if the padding is short", PRODUCTS,
     "dot a 384,128,32,1\n"
     "cast,tanh,cast h 384,128,32,1\n"
     "dot b 60,20,5,1\n"
     "cast,sin y 60,20,5,1\n",
     .target = &target_cuda},
    {"CPUs widen rows of halves wherever they begin", PRODUCTS,
     "dot a 372,124,31,1\n"
     "cast,tanh,cast h 372,124,31,1\n"
     "dot b 60,20,5,1\n"
     "cast,sin y 60,20,5,1\n"},
    {"outputs, rows that ranks exchange, and rows made in others have no padding",
     "graph \"g\" {\n"
     "  input %x bf16[2,3,4,16]\n"
     "  input %w bf16[16,31]\n"
     "  %a bf16[2,3,4,31] = dot(%x, %w) eq=\"abmk,kn->abmn\"\n"
     "  %g bf16[2,6,4,31] = all_gather(%a) axes=[0] ranks=[2] dim=1 size=6\n"
     "  %b bf16[2,6,4,16] = dot(%g, %w) eq=\"abmn,kn->abmk\"\n"
     "  %c bf16[2,6,4,31] = dot(%b, %w) eq=\"abmk,kn->abmn\"\n"
     "  %s bf16[2,6,8,31] = concat(%c, %g) axis=2\n"
     "  %d bf16[2,6,8,16] = dot(%s, %w) eq=\"abmn,kn->abmk\"\n"
     "  %y bf16[2,6,8,31] = dot(%d, %w) eq=\"abmk,kn->abmn\"\n"
     "  output model \"y\" %y\n"
     "}\n",
     "dot a 372,124,31,1\n"
     "all_gather g 744,124,31,1\n"
     "dot b 384,64,16,1\n"
     "dot c 1488,248,31,1\n"
     "copy s 1488,248,31,1\n"
     "dot d 768,128,16,1\n"
     "dot y 1488,248,31,1\n",
     .of_ranks = true, .target = &target_cuda},
};

static void list(const Set *s, Text *t)
{
    for (int i = 0; i < s->n_items; i++) {
        const Item *it = &s->items[i];
        for (int k = it->n_in; k < it->n_in + it->n_out; k++) {
            const Operand *o = &it->operands[k];
            if (value_of(s->g, o->value)->rank != 4)
                continue;
            for (int j = 0; j < it->n_nodes; j++)
                text_printf(t, "%s%s", j ? "," : "", s->g->nodes[it->nodes[j]].op->name);
            text_printf(t, "%s %s ", it->n_nodes ? "" : "copy", value_of(s->g, o->value)->name);
            for (int d = 0; d < 4; d++)
                text_printf(t, "%s%" PRId64, d ? "," : "", o->stride[d]);
            text_printf(t, "\n");
        }
    }
}

// Makes a Sharded in which each of two ranks runs the whole graph: no value is a shard of another.
static Sharded *each_rank(Arena *a, const Graph *g)
{
    Sharded *s = arena_alloc(a, 1, sizeof *s);
    Plan *plan = arena_alloc(a, 1, sizeof *plan);

    plan->mesh.n_axes = 1;
    plan->mesh.size[0] = 2;
    *s = (Sharded){.whole = g, .plan = plan, .g = (Graph *)g};
    s->n_values = s->cap_values = g->n_values;
    s->n_nodes = s->cap_nodes = g->n_nodes;
    s->value = arena_alloc(a, (size_t)g->n_values, sizeof *s->value);
    s->node = arena_alloc(a, (size_t)g->n_nodes, sizeof *s->node);
    for (int i = 0; i < g->n_values; i++)
        s->value[i].spec = spec_replicated();
    return s;
}

static void test_orders(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        Arena *a = arena_new();
        Diag d = {.file = "case"};
        Text made = {0};
        Graph *g = graph_parse(a, cases[i].text, strlen(cases[i].text), &d);

        printf("# %s\n", cases[i].name);
        assert_non_null(g);
        LowerOptions o = {.target = cases[i].target ? cases[i].target : &target_cpu,
                          .fuse = true,
                          .accumulate = 1,
                          .sharded = {[SET_PREDICT] = cases[i].of_ranks ? each_rank(a, g) : NULL}};
        Program *p = lower(a, NULL, g, &o, &d);
        assert_true(p && program_check(p, &d));
        list(&p->set[SET_PREDICT], &made);
        assert_string_equal(made.s ? made.s : "", cases[i].made);
        text_free(&made);
        arena_free(a);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_orders)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
