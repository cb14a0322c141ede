// Tests which values of the forward part the backward part of small graphs keeps, and which it
// recomputes.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "lower/lower.h"
#include "lower/recompute/policies.h"

static const struct {
    const char *name, *text, *kept;
} cases[] = {
    {"an activation is made again from what a kernel gave",
     "graph \"g\" training {\n"
     "  input %x f32[4,6]\n"
     "  parameter %w f32[6,6]\n"
     "  parameter %b f32[6]\n"
     "  parameter %v f32[6,6]\n"
     "  %h f32[4,6] = dot(%x, %w) eq=\"mk,kn->mn\"\n"
     "  %bs f32[4,6] = broadcast(%b) shape=[4,6] dims=[1]\n"
     "  %hb f32[4,6] = add(%h, %bs)\n"
     "  %t f32[4,6] = tanh(%hb)\n"
     "  %s f32[4,6] = mul(%t, %hb)\n"
     "  %y f32[4,6] = dot(%s, %v) eq=\"mk,kn->mn\"\n"
     "  output model \"y\" %y\n"
     "}\n",
     "h y"},
    {"what a kernel of both parts reads is kept as it reads it",
     "graph \"g\" training {\n"
     "  input %x f32[4,6]\n"
     "  parameter %w f32[6,6]\n"
     "  parameter %b f32[6]\n"
     "  parameter %v f32[6,6]\n"
     "  %h f32[4,6] = dot(%x, %w) eq=\"mk,kn->mn\"\n"
     "  %bs f32[4,6] = broadcast(%b) shape=[4,6] dims=[1]\n"
     "  %hb f32[4,6] = add(%h, %bs)\n"
     "  %y f32[4,6] = dot(%hb, %v) eq=\"mk,kn->mn\"\n"
     "  output model \"y\" %y\n"
     "}\n",
     "hb y"},
    {"numbers of a row are kept, rows made again",
     "graph \"g\" training {\n"
     "  input %x f32[4,6]\n"
     "  parameter %w f32[6,6]\n"
     "  parameter %v f32[6,6]\n"
     "  %h f32[4,6] = dot(%x, %w) eq=\"mk,kn->mn\"\n"
     "  %e f32[4,6] = exp(%h)\n"
     "  %z f32[4] = reduce_sum(%e) axes=[1]\n"
     "  %zb f32[4,6] = broadcast(%z) shape=[4,6] dims=[0]\n"
     "  %p f32[4,6] = div(%e, %zb)\n"
     "  %y f32[4,6] = dot(%p, %v) eq=\"mk,kn->mn\"\n"
     "  output model \"y\" %y\n"
     "}\n",
     "h z y"},
    {"what is compared with a maximum is kept, not made again in other bits",
     "graph \"g\" training {\n"
     "  input %x f32[4,6]\n"
     "  parameter %w f32[6,6]\n"
     "  parameter %b f32[6]\n"
     "  parameter %v f32[6,6]\n"
     "  %h f32[4,6] = dot(%x, %w) eq=\"mk,kn->mn\"\n"
     "  %bs f32[4,6] = broadcast(%b) shape=[4,6] dims=[1]\n"
     "  %hb f32[4,6] = add(%h, %bs)\n"
     "  %m f32[4] = reduce_max(%hb) axes=[1]\n"
     "  %mb f32[4,6] = broadcast(%m) shape=[4,6] dims=[0]\n"
     "  %hs f32[4,6] = sin(%h)\n"
     "  %s f32[4,6] = add(%mb, %hs)\n"
     "  %y f32[4,6] = dot(%s, %v) eq=\"mk,kn->mn\"\n"
     "  output model \"y\" %y\n"
     "}\n",
     "h hb m y"},
    {"the stream of residuals is kept, not summed up again",
     "graph \"g\" training {\n"
     "  input %x f32[4,6]\n"
     "  parameter %w0 f32[6,6]\n"
     "  parameter %w1 f32[6,6]\n"
     "  parameter %w2 f32[6,6]\n"
     "  %y0 f32[4,6] = dot(%x, %w0) eq=\"mk,kn->mn\"\n"
     "  %t1 f32[4,6] = sin(%y0)\n"
     "  %a1 f32[4,6] = dot(%t1, %w1) eq=\"mk,kn->mn\"\n"
     "  %y1 f32[4,6] = add(%y0, %a1)\n"
     "  %t2 f32[4,6] = sin(%y1)\n"
     "  %a2 f32[4,6] = dot(%t2, %w2) eq=\"mk,kn->mn\"\n"
     "  %y2 f32[4,6] = add(%y1, %a2)\n"
     "  output model \"y2\" %y2\n"
     "}\n",
     "y0 y1 y2"},
    {"layers stay alike where the one before reads its result backward and what is before them not",
     "graph \"g\" training {\n"
     "  input %u f32[4,6]\n"
     "  parameter %e f32[6,6]\n"
     "  %x f32[4,6] = dot(%u, %e) eq=\"mk,kn->mn\"\n"
     "  parameter %w0 f32[6,6]\n"
     "  parameter %w1 f32[6,6]\n"
     "  parameter %w2 f32[6,6]\n"
     "  %r0 f32[4,6] = sin(%x)\n"
     "  %d0 f32[4,6] = dot(%r0, %w0) eq=\"mk,kn->mn\"\n"
     "  %a0 f32[4,6] = add(%x, %d0)\n"
     "  %h0 f32[4,6] = tanh(%a0)\n"
     "  %r1 f32[4,6] = sin(%h0)\n"
     "  %d1 f32[4,6] = dot(%r1, %w1) eq=\"mk,kn->mn\"\n"
     "  %a1 f32[4,6] = add(%h0, %d1)\n"
     "  %h1 f32[4,6] = tanh(%a1)\n"
     "  %r2 f32[4,6] = sin(%h1)\n"
     "  %d2 f32[4,6] = dot(%r2, %w2) eq=\"mk,kn->mn\"\n"
     "  %a2 f32[4,6] = add(%h1, %d2)\n"
     "  %h2 f32[4,6] = tanh(%a2)\n"
     "  output model \"h2\" %h2\n"
     "}\n",
     "x h0 h1 h2"},
};

// Lists the values of the forward part that nodes of the backward part read, also through views,
// in the order of their producers.
static void list_kept(const Graph *g, Text *t)
{
    bool *read = calloc((size_t)g->n_values, sizeof *read);

    for (NodeId i = g->n_nodes - 1; i > 0; i--) {
        const Node *n = &g->nodes[i];
        for (int k = 0; k < n->n_in; k++)
            if (n->phase != FORWARD || (n->op->view && read[n->out[0]]))
                read[n->in[k]] = true;
    }
    for (ValueId v = 1; v < g->n_values; v++)
        if (read[v] && value_of(g, v)->producer && producer(g, v)->phase == FORWARD &&
            !producer(g, v)->op->view && value_of(g, v)->name)
            text_printf(t, "%s%s", t->n ? " " : "", value_of(g, v)->name);
    free(read);
}

static void test_kept(void **state)
{
    (void)state;
    for (int i = 0; i < COUNT(cases); i++) {
        Arena *a = arena_new();
        Diag d = {.file = "case"};
        Text kept = {0};
        Graph *g = graph_parse(a, cases[i].text, strlen(cases[i].text), &d);

        printf("# %s\n", cases[i].name);
        assert_non_null(g);
        g->diag = &d;
        const char *last = g->outputs[0].name;
        assert_true(loss_add(g, arena_string(a, "mse(%s, target)", last), &d) && blocks(g, &d) &&
                    autodiff(g, 1, &d));
        g = recompute(a, g, &(RecomputePolicy){RECOMPUTE_MIN_CUT}, &target_cpu, &d);
        assert_true(g && graph_verify(g, &d));
        list_kept(g, &kept);
        assert_string_equal(kept.s ? kept.s : "", cases[i].kept);
        text_free(&kept);
        arena_free(a);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_kept)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
