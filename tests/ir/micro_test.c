// Losses that may be summed over micro-batches: their loss and gradients are those of the whole
// batch. Losses that may not are refused, with the node.
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "frontend/frontend.h"
#include "ir/internal.h"

enum { BATCH = 4 };

// Comes before the lines of a case. $B is the batch, $R its reciprocal, $T three times the batch,
// $Q its reciprocal.
static const char head[] = "graph \"g\" training {\n"
                           "  input %x f32[$B,3]\n"
                           "  input %m f32[$B]\n"
                           "  input %i i64[$B]\n"
                           "  parameter %w f32[3,5]\n"
                           "  parameter %b f32[5]\n"
                           "  constant %half f32[] = 0.5\n"
                           "  constant %tenth f32[] = 0.1\n"
                           "  constant %one f32[] = 1\n"
                           "  constant %zero f32[] = 0\n"
                           "  constant %four f32[] = 4\n"
                           "  constant %r f32[] = $R\n"
                           "  constant %q f32[] = $Q\n"
                           "  %xw f32[$B,5] = dot(%x, %w) eq=\"bk,kn->bn\"\n"
                           "  %bs f32[$B,5] = broadcast(%b) shape=[$B,5] dims=[1]\n"
                           "  %z f32[$B,5] = add(%xw, %bs)\n"
                           "  %y f32[$B,5] = tanh(%z)\n"
                           "  %y2 f32[$B,5] = mul(%y, %y)\n"
                           "  %e f32[$B] = reduce_sum(%y2) axes=[1]\n";

// The mean of e, the sum of e with the mask m, and that of m.
#define MEAN                                                                                       \
    "  %es f32[] = reduce_sum(%e) axes=[0]\n"                                                      \
    "  %mean f32[] = mul(%es, %r)\n"
#define MASKED                                                                                     \
    "  %em f32[$B] = mul(%e, %m)\n"                                                                \
    "  %s f32[] = reduce_sum(%em) axes=[0]\n"                                                      \
    "  %c f32[] = reduce_sum(%m) axes=[0]\n"
#define POSITIVE                                                                                   \
    "  %e0 f32[$B] = broadcast(%tenth) shape=[$B] dims=[]\n"                                       \
    "  %ep f32[$B] = add(%e, %e0)\n"

static const struct {
    const char *what, *text, *loss;  // the loss is %l, or as --loss says
} accepted[] = {
    {"a mean", MEAN "  %l f32[] = mul(%mean, %one)\n", "l"},
    {"a sum", "  %l f32[] = reduce_sum(%e) axes=[0]\n", "l"},
    {"cross-entropy, of which labels are ignored", "", "cross_entropy(z, i, ignore_index=2)"},
    {"mse", "  %t f32[$B,5] = mul(%y2, %y)\n", "mse(z, t)"},
    {"a masked mean", MASKED "  %l f32[] = div(%s, %c)\n", "l"},
    {"a masked mean times a number",
     MASKED "  %d f32[] = div(%s, %c)\n  %l f32[] = mul(%half, %d)\n", "l"},
    {"a masked mean by a count of at least 4",
     MASKED "  %c4 f32[] = max(%c, %four)\n  %l f32[] = div(%s, %c4)\n", "l"},
    {"a masked mean by a count and a little",
     MASKED "  %c1 f32[] = add(%c, %tenth)\n  %l f32[] = div(%s, %c1)\n", "l"},
    {"a masked mean by two means",
     MASKED "  %sm f32[] = mul(%s, %r)\n  %cm f32[] = mul(%c, %r)\n  %l f32[] = div(%sm, %cm)\n",
     "l"},
    {"a masked sum by the root of its count",
     MASKED "  %c2 f32[] = sqrt(%c)\n  %l f32[] = div(%s, %c2)\n", "l"},
    {"a mask of comparisons",
     "  constant %two i64[] = 2\n"
     "  %tb i64[$B] = broadcast(%two) shape=[$B] dims=[]\n"
     "  %is bool[$B] = lt(%i, %tb)\n"
     "  %is2 f32[$B] = cast(%is) to=f32\n"
     "  %zb f32[$B] = broadcast(%zero) shape=[$B] dims=[]\n"
     "  %k f32[$B] = select(%is, %e, %zb)\n"
     "  %s f32[] = reduce_sum(%k) axes=[0]\n"
     "  %c f32[] = reduce_sum(%is2) axes=[0]\n"
     "  %l f32[] = div(%s, %c)\n",
     "l"},
    {"a mean and a term of weights alone",
     MEAN "  %w2 f32[3,5] = mul(%w, %w)\n"
          "  %ws f32[] = reduce_sum(%w2) axes=[0,1]\n"
          "  %l2 f32[] = mul(%ws, %tenth)\n"
          "  %l f32[] = add(%mean, %l2)\n",
     "l"},
    {"a mean over flattened rows",
     "  %a f32[$B,3,5] = broadcast(%z) shape=[$B,3,5] dims=[0,2]\n"
     "  %x3 f32[$B,3,5] = broadcast(%x) shape=[$B,3,5] dims=[0,1]\n"
     "  %p f32[$B,3,5] = mul(%a, %x3)\n"
     "  %f f32[$T,5] = reshape(%p) shape=[$T,5]\n"
     "  %t f32[$T,5] = tanh(%f)\n"
     "  %rows f32[$T] = reduce_sum(%t) axes=[1]\n"
     "  %s f32[] = reduce_sum(%rows) axes=[0]\n"
     "  %l f32[] = mul(%s, %q)\n",
     "l"},
    {"rows of one's own of flattened ones",
     "  %a f32[$B,3,5] = broadcast(%z) shape=[$B,3,5] dims=[0,2]\n"
     "  %x3 f32[$B,3,5] = broadcast(%x) shape=[$B,3,5] dims=[0,1]\n"
     "  %p f32[$B,3,5] = mul(%a, %x3)\n"
     "  %f f32[$T,5] = reshape(%p) shape=[$T,5]\n"
     "  %n i64[$B] = iota() shape=[$B] axis=0 dtype=i64\n"
     "  constant %three i64[] = 3\n"
     "  %t3 i64[$B] = broadcast(%three) shape=[$B] dims=[]\n"
     "  %n3 i64[$B] = mul(%n, %t3)\n"
     "  %ii i64[$B] = mod(%i, %t3)\n"
     "  %at i64[$B] = add(%n3, %ii)\n"
     "  %g f32[$B,5] = gather(%f, %at) axis=0 batch=0\n"
     "  %h f32[$B,5] = tanh(%g)\n"
     "  %s f32[] = reduce_sum(%h) axes=[0,1]\n"
     "  %l f32[] = mul(%s, %r)\n",
     "l"},
    {"softmax and deviations within a sample",
     "  %ex f32[$B,5] = exp(%z)\n"
     "  %se f32[$B] = reduce_sum(%ex) axes=[1]\n"
     "  %sb f32[$B,5] = broadcast(%se) shape=[$B,5] dims=[0]\n"
     "  %p f32[$B,5] = div(%ex, %sb)\n"
     "  %top f32[$B] = reduce_max(%p) axes=[1]\n"
     "  %lg f32[$B] = log(%top)\n"
     "  %s f32[] = reduce_sum(%lg) axes=[0]\n"
     "  %l f32[] = mul(%s, %r)\n",
     "l"},
    {"a mean of samples and a mean that all of them get",
     MEAN "  %mb f32[$B] = broadcast(%mean) shape=[$B] dims=[]\n"
          "  %n f32[$B] = sub(%m, %e)\n"
          "  %nm f32[$B] = add(%n, %mb)\n"
          "  %ns f32[] = reduce_sum(%nm) axes=[0]\n"
          "  %l f32[] = mul(%ns, %r)\n",
     "l"},
    {"a product along the batch",
     "  %t f32[$B,3] = tanh(%x)\n"
     "  %p f32[5,3] = dot(%y, %t) eq=\"bn,bk->nk\"\n"
     "  %pw f32[] = dot(%p, %w) eq=\"nk,kn->\"\n"
     "  %l f32[] = mul(%pw, %r)\n",
     "l"},
};

static const struct {
    const char *what, *text;
    const char *node;  // is named
} refused[] = {
    {"products of samples with each other",
     "  %p f32[$B,$B] = dot(%y, %y) eq=\"in,jn->ij\"\n"
     "  %l f32[] = reduce_sum(%p) axes=[0,1]\n",
     "'p' (dot)"},
    {"differences of samples",
     "  %a f32[$B,$B] = broadcast(%e) shape=[$B,$B] dims=[0]\n"
     "  %c f32[$B,$B] = broadcast(%e) shape=[$B,$B] dims=[1]\n"
     "  %p f32[$B,$B] = sub(%a, %c)\n"
     "  %l f32[] = reduce_sum(%p) axes=[0,1]\n",
     "'p' (sub)"},
    {"variance",
     MEAN "  %mb f32[$B] = broadcast(%mean) shape=[$B] dims=[]\n"
          "  %d f32[$B] = sub(%e, %mb)\n"
          "  %d2 f32[$B] = mul(%d, %d)\n"
          "  %l f32[] = reduce_sum(%d2) axes=[0]\n",
     "'d2' (mul)"},
    {"the root of a mean", MEAN "  %l f32[] = sqrt(%mean)\n", "'l' (sqrt)"},
    {"the logarithm of a sum of exponentials",
     "  %ex f32[$B] = exp(%e)\n"
     "  %s f32[] = reduce_sum(%ex) axes=[0]\n"
     "  %l f32[] = log(%s)\n",
     "'l' (log)"},
    {"the largest", "  %l f32[] = reduce_max(%e) axes=[0]\n", "'l' (reduce_max)"},
    {"shares of a batch's load",
     "  %f f32[5] = reduce_sum(%y2) axes=[0]\n"
     "  %p f32[5] = reduce_sum(%y) axes=[0]\n"
     "  %fp f32[5] = mul(%f, %p)\n"
     "  %l f32[] = reduce_sum(%fp) axes=[0]\n",
     "'fp' (mul)"},
    {"softmax over the batch",
     "  %ex f32[$B] = exp(%e)\n"
     "  %s f32[] = reduce_sum(%ex) axes=[0]\n"
     "  %sb f32[$B] = broadcast(%s) shape=[$B] dims=[]\n"
     "  %p f32[$B] = div(%ex, %sb)\n"
     "  %p2 f32[$B] = mul(%p, %m)\n"
     "  %l f32[] = reduce_sum(%p2) axes=[0]\n",
     "'p' (div)"},
    {"a mean by a count that weights change",
     POSITIVE MASKED "  %cp f32[] = reduce_sum(%ep) axes=[0]\n  %l f32[] = div(%s, %cp)\n",
     "'l' (div)"},
    {"masked means by two counts",
     MASKED "  %m2 f32[$B] = mul(%m, %m)\n"
            "  %c2 f32[] = reduce_sum(%m2) axes=[0]\n"
            "  %d f32[] = div(%s, %c)\n"
            "  %d2 f32[] = div(%s, %c2)\n"
            "  %l f32[] = add(%d, %d2)\n",
     "'d' (div)"},
    {"a masked mean and a mean",
     MASKED MEAN "  %d f32[] = div(%s, %c)\n  %l f32[] = add(%d, %mean)\n", "'d' (div)"},
    {"the first sample",
     "  %f f32[1] = slice(%e) start=[0] size=[1] stride=[1] drop=[]\n"
     "  %l f32[] = reshape(%f) shape=[]\n",
     "'f' (slice)"},
    {"sums from the first sample on",
     "  %f f32[$B] = cumsum(%e) axis=0 exclusive=0 reverse=0\n"
     "  %l f32[] = reduce_sum(%f) axes=[0]\n",
     "'f' (cumsum)"},
    {"two halves that are joined",
     "  %f f32[8] = concat(%e, %m) axis=0\n"
     "  %l f32[] = reduce_sum(%f) axes=[0]\n",
     "'f' (concat)"},
    {"weights by the position in the batch",
     "  %n f32[$B] = iota() shape=[$B] axis=0 dtype=f32\n"
     "  %f f32[$B] = mul(%n, %e)\n"
     "  %l f32[] = reduce_sum(%f) axes=[0]\n",
     "'f' (mul)"},
    {"a product with weights by the position in the batch",
     "  %n f32[$B,3] = iota() shape=[$B,3] axis=0 dtype=f32\n"
     "  %eb f32[$B,3] = broadcast(%e) shape=[$B,3] dims=[0]\n"
     "  %f f32[$B] = dot(%n, %eb) eq=\"bk,bk->b\"\n"
     "  %l f32[] = reduce_sum(%f) axes=[0]\n",
     "'f' (dot)"},
    {"rows of the next sample",
     "  %n i64[$B] = iota() shape=[$B] axis=0 dtype=i64\n"
     "  %at i64[$B] = add(%n, %i)\n"
     "  %g f32[$B] = gather(%e, %i) axis=0 batch=0\n"
     "  %l f32[] = reduce_sum(%g) axes=[0]\n",
     "'g' (gather)"},
    {"a sum and a mean",
     MEAN "  %w1 f32[$B,5] = mul(%y, %y2)\n"
          "  %s f32[] = reduce_sum(%w1) axes=[0,1]\n"
          "  %l f32[] = add(%mean, %s)\n",
     "'l' (add)"},
};

// ---- graphs ----

static Graph *make(Arena *a, const char *text, const char *loss, int batch, Diag *d)
{
    Text t = {0};

    for (int part = 0; part < 2; part++)
        for (const char *s = part ? text : head; *s; s++) {
            if (*s != '$') {
                text_put(&t, s, 1);
                continue;
            }
            s++;
            int n = *s == 'T' || *s == 'Q' ? 3 * batch : batch;
            if (*s == 'R' || *s == 'Q')
                text_printf(&t, "%.9g", 1.0 / n);
            else
                text_printf(&t, "%d", n);
        }
    text_printf(&t, "}\n");
    Graph *g = graph_parse(a, t.s, t.n, d);
    if (!g)
        fail_msg("%s\n%s", t.s, d->to->s);
    for (ValueId v = 1; v < g->n_values; v++)  // sources name nodes in messages
        if (value_of(g, v)->producer)
            g->nodes[value_of(g, v)->producer].source =
                graph_source(g, value_of(g, v)->name, "module");
    assert_true(loss_add(g, loss, d));
    text_free(&t);
    return g;
}

static double number(uint64_t x)
{
    x = (x + 1) * 0x9e3779b97f4a7c15;
    x ^= x >> 29;
    return (double)(x * 0xbf58476d1ce4e5b9 >> 11) / 0x1p53 * 2 - 1;
}

// The values of inputs and parameters: of the samples from `first` on.
static Tensor *values_of(Arena *a, const Graph *g, int first)
{
    Tensor *t = arena_array(a, Tensor, g->n_values);

    for (ValueId v = 1; v < g->n_values; v++) {
        const Value *x = value_of(g, v);
        if (x->producer || x->kind == VALUE_CONSTANT)
            continue;
        t[v] = tensor_new(a, x->dtype, x->rank, x->dim);
        int64_t batch = x->own_rank < 0 ? x->dim[0] : x->own_dim[0];
        int64_t row = x->kind == VALUE_INPUT ? tensor_count(&t[v]) / batch : 0;
        uint64_t from = (uint64_t)(row * first);
        uint64_t name = x->name ? (uint64_t)x->name[0] * 1000 : 0;
        for (int64_t i = 0; i < tensor_count(&t[v]); i++) {
            uint64_t k = from + (uint64_t)i;
            if (t[v].i)
                t[v].i[i] = (int64_t)(k * 7 % 5);
            else if (x->kind == VALUE_ZERO)
                t[v].f[i] = x->fill;
            else if (x->name && x->name[0] == 'm')
                t[v].f[i] = k % 4 != 1;
            else
                t[v].f[i] = number(name + k);
        }
    }
    return t;
}

static const Tensor *output_of(const Graph *g, const Tensor *t, OutputRole role, const char *name)
{
    for (int i = 0; i < g->n_outputs; i++)
        if (g->outputs[i].role == role && (!name || !strcmp(g->outputs[i].name, name)))
            return &t[g->outputs[i].value];
    fail_msg("no output %d %s", role, name ? name : "");
    return NULL;
}

// Runs all micro-batches; the values after the last one.
static Tensor *run(Arena *a, const Graph *g, int accumulate)
{
    Tensor *t = NULL, *before = NULL;

    for (int k = 0; k < accumulate; k++, before = t) {
        t = values_of(a, g, k * BATCH / accumulate);
        for (int c = 0; c < g->n_carries && before; c++)
            t[g->carries[c].in] = before[g->carries[c].out];
        graph_eval(a, g, t);
    }
    return t;
}

static double loss_of(const Graph *g, const Tensor *t)
{
    return output_of(g, t, OUTPUT_LOSS_SUM, NULL)->f[0] /
           output_of(g, t, OUTPUT_LOSS_COUNT, NULL)->f[0];
}

static void check(const char *what, const char *kind, double is, double want)
{
    if (!(fabs(is - want) <= 2e-5 * (0.1 + fabs(want))))
        fail_msg("%s: %s is %.8g, not %.8g", what, kind, is, want);
}

static void accept(const char *what, const char *text, const char *loss, int accumulate)
{
    Arena *a = arena_new();
    Text said = {0};
    Diag d = {.file = "case", .to = &said};
    Graph *whole = make(a, text, loss, BATCH, &d), *g = make(a, text, loss, BATCH / accumulate, &d);

    if (!micro_batches(g, whole, accumulate, &d))
        fail_msg("%s: %s", what, said.s);
    if (!graph_verify(g, &d) || !fold(g, &d) || !refine(g, &d) || !simplify(g, &d) ||
        !autodiff(g, accumulate, &d) || !graph_verify(g, &d) || !autodiff(whole, 1, &d))
        fail_msg("%s: %s", what, said.s);
    Tensor *of_parts = run(a, g, accumulate), *of_whole = run(a, whole, 1);
    check(what, "the loss", loss_of(g, of_parts), loss_of(whole, of_whole));
    for (int i = 0; i < whole->n_outputs; i++) {
        const Output *o = &whole->outputs[i];
        if (o->role != OUTPUT_GRADIENT)
            continue;
        const Tensor *x = output_of(g, of_parts, OUTPUT_GRADIENT, o->name);
        for (int64_t k = 0; k < tensor_count(x); k++)
            check(what, o->name, x->f[k], of_whole[o->value].f[k]);
    }
    text_free(&said);
    arena_free(a);
}

static void are_accepted(void **state)
{
    for (size_t i = 0; i < sizeof accepted / sizeof *accepted; i++)
        for (int k = 2; k <= BATCH; k += 2)
            accept(accepted[i].what, accepted[i].text, accepted[i].loss, k);
}

static void are_refused(void **state)
{
    for (size_t i = 0; i < sizeof refused / sizeof *refused; i++) {
        Arena *a = arena_new();
        Text said = {0};
        Diag d = {.file = "case", .to = &said};
        Graph *whole = make(a, refused[i].text, "l", BATCH, &d);
        Graph *g = strstr(refused[i].text, "[8]") ? whole : make(a, refused[i].text, "l", 2, &d);

        if (micro_batches(g, whole, 2, &d))
            fail_msg("%s: it is accepted", refused[i].what);
        char *want = arena_string(a, "case: error: node %s: --accumulate: ", refused[i].node);
        if (strncmp(said.s, want, strlen(want)) || !strstr(said.s, "\n  from  module"))
            fail_msg("%s: %s", refused[i].what, said.s);
        text_free(&said);
        arena_free(a);
    }
}

// No model of ours is refused, be it with batch norm, dropout, convolutions, heads or time steps.
static void of_models(void **state)
{
    static const char *const names[] = {
        "bert", "cnn",       "encoder", "gpt2", "gpt_dropout", "llama",   "lstm",   "mixer",
        "mlp",  "mobilenet", "nanogpt", "opt",  "qwen3",       "regress", "resnet", "vit"};

    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        Arena *a = arena_new();
        Text said = {0};
        Diag d = {.file = names[i], .to = &said};
        ModelFile *m = model_open(a, arena_string(a, "models/tiny/%s.onnx", names[i]), &d);
        ImportOptions o = {.model = m, .accumulate = 1, .training = true};
        const char *loss =
            strcmp(names[i], "regress") ? "cross_entropy(logits, labels)" : "mse(logits, labels)";
        Graph *g = m ? frontend_import(a, &o, NULL, &d) : NULL;

        if (!g || !fold(g, &d) || !loss_add(g, loss, &d) || !micro_batches(g, NULL, 2, &d))
            fail_msg("%s: %s", names[i], said.s);
        model_close(m);
        text_free(&said);
        arena_free(a);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(are_accepted),
        cmocka_unit_test(are_refused),
        cmocka_unit_test(of_models),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
