// Tests values and gradients at kinks, ties, zeros and infinities against PyTorch's, which
// tests/frontend/kinks.py made: models as both of its exporters write them, imported, taken through
// the graph passes with and without patterns, and evaluated.
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "frontend/internal.h"
#include "ir/build.h"
#include "tests/frontend/model_text.h"

typedef struct Kink {
    const char *name, *model;
    int n_y, n;
    const float *want;  // the n_y elements of y, then those of the gradient of Σ (k + 1) y[k] by w
} Kink;

#define KINK(name, model, n_y, ...)                                                                \
    {name, model, n_y, COUNT(((float[]){__VA_ARGS__})), (const float[]){__VA_ARGS__}},
static const Kink kinks[] = {
#include "tests/frontend/kinks.def"
#include "tests/frontend/kinks_ends.def"
#include "tests/frontend/kinks_old.def"
};

// The gradients taken where the file doesn't say which of PyTorch's operators it was, and where
// PyTorch has no such operator.
static const Kink taken[] = {
    // max over a dim by the older exporter: as amax
    KINK("max_dim",
         "input d f32[3]; init w f32[3] 1 1 0; v0 = Add(w, d); y = ReduceMax(v0) axes=[0]; "
         "opset 17; output y",
         1, 1, 0.5, 0.5, 0)
    // topk of equal elements: the first ones
    KINK("topk",
         "input d f32[4]; init w f32[4] 1 1 1 0; init k i64[1] 2; v0 = Add(w, d); y, i = "
         "TopK(v0, k); output y",
         2, 1, 1, 1, 2, 0, 0)
    // cosine similarity by the older exporter: divided by the root of the product of the squares
    KINK("cosine_similarity",
         "input d f32[4]; init w f32[4] 0 0 3 4; v0 = Add(w, d); a, b = Split(v0) num_outputs=2; "
         "ab = Mul(a, b); p = ReduceSum(ab) keepdims=0; aa = Mul(a, a); q = ReduceSum(aa) "
         "keepdims=0; bb = Mul(b, b); r = ReduceSum(bb) keepdims=0; qr = Mul(q, r); s = Sqrt(qr); "
         "init val_1 f32[] 1e-8; m = Max(s, val_1); y = Div(p, m); output y",
         1, 0, 3e8F, 4e8F, 0, 0) KINK("lp_pool",
                                      "input d f32[1,1,6]; init w f32[1,1,6] 0 0 3 4 0 -5; v0 = "
                                      "Add(w, d); y = LpPool(v0) "
                                      "kernel_shape=[2] strides=[2] p=2; output y",
                                      3, 0, 5, 5, 0, 0, 1.2F, 1.6F, 0, -3)
        KINK("lp_normalization",
             "input d f32[2,2]; init w f32[2,2] 0 0 3 4; v0 = Add(w, d); y = LpNormalization(v0); "
             "output y",
             4, 0, 0, 0.6F, 0.8F, 0, 0, 0, 0) KINK("lp_normalization_1",
                                                   "input d f32[2,2]; init w f32[2,2] 0 0 1 3; v0 "
                                                   "= Add(w, d); y = LpNormalization(v0) p=1; "
                                                   "output y",
                                                   4, 0, 0, 0.25, 0.75, 0, 0, -0.1875F, 0.0625)};

static Graph *import(Arena *a, const Kink *k, Weights *w, Diag *d)
{
    ImportOptions o = {.accumulate = 1, .training = true};
    size_t size;
    uint8_t *bytes = model_from_text(a, k->model, &size);
    Graph *g = import_bytes(a, bytes, size, &o, w, d);

    if (!g)
        return NULL;
    g->diag = d;
    ValueId y = g->outputs[0].value;
    Value like = *value_of(g, y);
    ValueId flat = make_reshape(g, y, 1, (int64_t[]){value_count(&like)});
    ValueId factor = make_iota(g, F32, 1, value_of(g, flat)->dim, 0);
    factor = make_add(g, factor, scalar_like(g, factor, 1));
    ValueId sum = make_reduce_sum(g, make_mul(g, flat, factor), 1, (int64_t[]){0});
    graph_output(g, "loss", sum, OUTPUT_LOSS_SUM);
    graph_output(g, "count", graph_scalar(g, F32, 1), OUTPUT_LOSS_COUNT);
    return g;
}

// Sets inputs to 0 and parameters and buffers to their numbers in the file.
static Tensor *fill(Arena *a, const Graph *g, const Weights *w)
{
    Tensor *t = arena_array(a, Tensor, g->n_values);

    for (ValueId v = 1; v < g->n_values; v++) {
        Value x = *value_of(g, v);
        if (x.kind == VALUE_INPUT)
            t[v] = tensor_new(a, x.dtype, x.rank, x.dim);
        for (int i = 0; i < w->n && (x.kind == VALUE_PARAMETER || x.kind == VALUE_BUFFER); i++)
            if (!strcmp(w->weight[i].name, x.name)) {
                x.data = w->weight[i].data;
                t[v] = tensor_of(a, &x);
            }
    }
    return t;
}

static bool is_near(double got, double want)
{
    if (isnan(want) || isinf(want))
        return isnan(want) ? isnan(got) : got == want;
    return fabs(got - want) <= 2e-6 * fabs(want) + 1e-12;
}

static int compare(const Kink *k, const char *what, const Tensor *t, const float *want)
{
    int wrong = 0;

    for (int64_t i = 0; i < tensor_count(t); i++)
        if (!is_near(t->f[i], (double)want[i])) {
            print_error("%s: %s[%d] is %.9g, PyTorch has %.9g\n", k->name, what, (int)i, t->f[i],
                        (double)want[i]);
            wrong++;
        }
    return wrong;
}

static int check(const Kink *k, bool has_patterns)
{
    Arena *a = arena_new();
    Text said = {0};
    Diag d = {.file = k->name, .to = &said};
    Weights w;
    int wrong = 0;
    Graph *g = import(a, k, &w, &d);

    if (!g || !fold(g, &d) || (has_patterns && !patterns(g, &d)) || !refine(g, &d) ||
        !simplify(g, &d) || !autodiff(g, 1, &d) || !graph_verify(g, &d))
        fail_msg("%s: %s", k->name, said.n ? said.s : "");
    Tensor *t = fill(a, g, &w);
    graph_eval(a, g, t);
    for (int i = 0; i < g->n_outputs; i++) {
        const Tensor *y = &t[g->outputs[i].value];
        if (g->outputs[i].role == OUTPUT_MODEL) {
            assert_int_equal(tensor_count(y), k->n_y);
            wrong += compare(k, "y", y, k->want);
        } else if (g->outputs[i].role == OUTPUT_GRADIENT && !strcmp(g->outputs[i].name, "w")) {
            assert_int_equal(tensor_count(y), k->n - k->n_y);
            wrong += compare(k, "gradient", y, k->want + k->n_y);
        }
    }
    text_free(&said);
    arena_free(a);
    return wrong;
}

static void check_all(const Kink *k, int n)
{
    int wrong = 0;

    for (int i = 0; i < n; i++)
        for (int has_patterns = 0; has_patterns < 2; has_patterns++)
            wrong += check(&k[i], has_patterns) != 0;
    assert_int_equal(wrong, 0);
}

static void kinks_are_as_in_pytorch(void **state) { check_all(kinks, COUNT(kinks)); }

static void untold_kinks_are_as_documented(void **state) { check_all(taken, COUNT(taken)); }

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(kinks_are_as_in_pytorch),
        cmocka_unit_test(untold_kinks_are_as_documented),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
