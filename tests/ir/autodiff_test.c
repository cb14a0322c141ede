// Tests autodiff, after the pass blocks, against tests/cases/autodiff.cases, and against
// differences of the loss in f64: of these cases, with and without micro-batches, and of random
// graphs.
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "ir/internal.h"

static const char *const path = "tests/cases/autodiff.cases";

// ---- differences ----

static double number(uint64_t a, uint64_t b)
{
    uint64_t key[2] = {a, b};

    return (double)(hash_bytes(key, sizeof key, 3) % 2001) / 1000 - 1.0005;
}

static Tensor *fill(Arena *a, const Graph *g)
{
    Tensor *t = arena_array(a, Tensor, g->n_values);

    for (ValueId v = 1; v < g->n_values; v++) {
        const Value *x = value_of(g, v);
        if (x->producer || x->kind == VALUE_CONSTANT || x->kind == VALUE_ZERO)
            continue;
        t[v] = tensor_new(a, x->dtype, x->rank, x->dim);
        for (int64_t i = 0; i < tensor_count(&t[v]); i++)
            t[v].f[i] = number((uint64_t)v, (uint64_t)i);
    }
    return t;
}

static double output_number(const Graph *g, const Tensor *t, OutputRole role)
{
    for (int i = 0; i < g->n_outputs; i++)
        if (g->outputs[i].role == role)
            return t[g->outputs[i].value].f[0];
    fail_msg("no output of role %d", role);
    return 0;
}

static double loss(const Graph *g, const Tensor *values)
{
    Arena *a = arena_new();
    Tensor *t = arena_array(a, Tensor, g->n_values);

    memcpy(t, values, (size_t)g->n_values * sizeof *t);
    graph_eval(a, g, t);
    double x = output_number(g, t, OUTPUT_LOSS_SUM) / output_number(g, t, OUTPUT_LOSS_COUNT);
    arena_free(a);
    return x;
}

static void check_element(const Graph *g, Tensor *values, const char *name, double *x, double is)
{
    const double step = 1e-5, tolerance = 1e-6;
    double was = *x;

    *x = was + step;
    double above = loss(g, values);
    *x = was - step;
    double below = loss(g, values);
    *x = was;
    double want = (above - below) / (2 * step);
    if (!(fabs(is - want) <= tolerance * (1 + fabs(want))))
        fail_msg("gradient of %s is %.12g, differences say %.12g", name, is, want);
}

// Checks every OUTPUT_GRADIENT against differences of a few elements; returns their number.
static int check_differences(const Graph *g)
{
    enum { MAX_ELEMENTS = 16 };
    Arena *a = arena_new();
    Tensor *values = fill(a, g), *t = arena_array(a, Tensor, g->n_values);
    int n = 0;

    memcpy(t, values, (size_t)g->n_values * sizeof *t);
    graph_eval(a, g, t);
    for (ValueId v = 1; v < g->n_values; v++)
        for (int i = 0; i < g->n_outputs; i++) {
            const Output *o = &g->outputs[i];
            if (value_of(g, v)->kind != VALUE_PARAMETER || o->role != OUTPUT_GRADIENT ||
                strcmp(o->name, value_of(g, v)->name))
                continue;
            assert_int_equal(tensor_count(&t[o->value]), tensor_count(&t[v]));
            for (int64_t k = 0; k < tensor_count(&t[v]) && k < MAX_ELEMENTS; k++)
                check_element(g, values, o->name, &values[v].f[k], t[o->value].f[k]);
            n++;
        }
    arena_free(a);
    return n;
}

// ---- cases ----

// Appends the result of both passes on `s`. Without `to`, checks its numbers instead, in f64.
static void case_run(const char *s, size_t n, int accumulate, Text *to)
{
    Arena *a = arena_new();
    Text said = {0};
    Diag d = {.file = "case", .to = &said};
    Graph *g = graph_parse(a, s, n, &d);

    assert_non_null(g);
    assert_true(blocks(g, &d));
    assert_true(autodiff(g, accumulate, &d));
    assert_int_equal(said.n, 0);  // blocks dropped no class
    if (to) {
        assert_true(graph_verify(g, &d));
        graph_print(g, to);
    } else {
        assert_true(check_differences(g) > 0);
    }
    text_free(&said);
    arena_free(a);
}

static void in_f64(const char *s, size_t n)
{
    Text wide = {0};

    text_put(&wide, s, n);
    for (char *f = wide.s; (f = strstr(f, "f32"));)
        memcpy(f, "f64", 3);
    case_run(wide.s, wide.n, 1, NULL);
    case_run(wide.s, wide.n, 2, NULL);
    text_free(&wide);
}

static void golden(void **state)
{
    Diag d = {0};
    File f;
    Text is = {0}, was = {0};

    (void)state;
    assert_true(file_map(path, &f, &d));
    text_put(&was, (const char *)f.data, f.size);
    file_unmap(&f);
    for (const char *s = was.s; *s;) {
        const char *body = strchr(s, '\n') + 1, *end = strstr(body, "\n---\n");
        assert_true(strncmp(s, "=== ", 4) == 0 && end);
        text_put(&is, s, (size_t)(end + 5 - s));
        case_run(body, (size_t)(end + 1 - body), 1, &is);
        in_f64(body, (size_t)(end + 1 - body));
        const char *next = strstr(end, "\n=== ");
        s = next ? next + 1 : was.s + was.n;
    }
    if (getenv("UPDATE")) {
        FILE *to = fopen(path, "w");
        assert_non_null(to);
        fputs(is.s, to);
        assert_int_equal(fclose(to), 0);
    } else {
        assert_string_equal(was.s, is.s);
    }
    text_free(&is);
    text_free(&was);
}

// ---- micro-batches ----

static void accumulated(void **state)
{
    static const char before[] = "graph \"g\" training {\n"
                                 "  input %x f32[3]\n"
                                 "  parameter %w f32[3]\n"
                                 "  constant %count f32[] = 3\n"
                                 "  %y f32[3] = mul(%x, %w)\n"
                                 "  %l f32[] = reduce_sum(%y) axes=[0]\n"
                                 "  output loss_sum \"loss\" %l\n"
                                 "  output loss_count \"count\" %count\n"
                                 "}\n";
    static const char after[] =
        "graph \"g\" training {\n"
        "  input %x f32[3]\n"
        "  parameter %w f32[3]\n"
        "  constant %count f32[] = 3\n"
        "  constant %v6 f32[] = 1\n"
        "  zero %loss.sum f32[] = 0\n"
        "  zero %loss.count f32[] = 0\n"
        "  zero %w.grad f32[3] = 0\n"
        "  %y f32[3] = mul(%x, %w)\n"
        "  %l f32[] = reduce_sum(%y) axes=[0]\n"
        "  %v7 f32[3] = broadcast(%v6) shape=[3] backward\n"
        "  %v8 f32[3] = mul(%v7, %x) backward\n"
        "  %v10 f32[] = add(%loss.sum, %l) from \"accumulate\" \"loss.sum\" backward\n"
        "  %v12 f32[] = add(%loss.count, %count) from \"accumulate\" \"loss.count\" backward\n"
        "  %v13 f32[] = div(%v6, %v12) update\n"
        "  %v15 f32[3] = add(%w.grad, %v8) from \"accumulate\" \"w.grad\" backward\n"
        "  %v16 f32[3] = broadcast(%v13) shape=[3] from \"accumulate\" \"w\" update\n"
        "  %v17 f32[3] = mul(%v15, %v16) from \"accumulate\" \"w\" update\n"
        "  output loss_sum \"loss\" %v10\n"
        "  output loss_count \"count\" %v12\n"
        "  output gradient \"w\" %v17\n"
        "  carry micro %loss.sum %v10\n"
        "  carry micro %loss.count %v12\n"
        "  carry micro %w.grad %v15\n"
        "}\n";
    Text is = {0};

    (void)state;
    case_run(before, strlen(before), 4, &is);
    assert_string_equal(is.s, after);
    text_free(&is);
}

// ---- graphs that can't be differentiated ----

static void refused(void **state)
{
    static const struct {
        const char *graph, *message;
    } cases[] = {
        {"  input %x f32[1,1,4]\n"
         "  parameter %w f32[1,1,2]\n"
         "  constant %n f32[] = 4\n"
         "  %r f32[1,1,4] = max_pool_grad(%x, %w) size=[2] stride=[2] from \"/layer/Pool\"\n"
         "  %l f32[] = reduce_sum(%r) axes=[0,1,2]\n"
         "  output loss_sum \"loss\" %l\n"
         "  output loss_count \"count\" %n\n",
         "case: error: node '/layer/Pool' (max_pool_grad): has no gradient: a gradient itself: "
         "only "
         "gradients of gradients would need it\n  in 0  x f32[1,1,4]\n  in 1  w f32[1,1,2]\n"},
        {"  parameter %w f32[3]\n  output model \"w\" %w\n",
         "case: error: the graph has no loss to differentiate\n"},
    };

    (void)state;
    for (int i = 0; i < COUNT(cases); i++) {
        Arena *a = arena_new();
        Text said = {0};
        Diag d = {.file = "case", .to = &said};
        const char *s = arena_string(a, "graph \"g\" {\n%s}\n", cases[i].graph);
        Graph *g = graph_parse(a, s, strlen(s), &d);

        assert_non_null(g);
        assert_false(autodiff(g, 1, &d));
        assert_string_equal(said.s, cases[i].message);
        text_free(&said);
        arena_free(a);
    }
}

// ---- gradients that are stopped ----

// Appends what autodiff says, and then the graph's nodes and outputs.
static void stopped_run(const char *body, Text *to)
{
    Arena *a = arena_new();
    Text graph = {0};
    Diag d = {.file = "case", .to = to};
    const char *s = arena_string(a,
                                 "graph \"g\" training {\n"
                                 "  input %%x f32[3]\n"
                                 "  parameter %%w f32[3]\n"
                                 "  parameter %%v f32[3]\n"
                                 "  constant %%n f32[] = 3\n"
                                 "%s"
                                 "  %%l f32[] = reduce_sum(%%y) axes=[0]\n"
                                 "  output loss_sum \"loss\" %%l\n"
                                 "  output loss_count \"count\" %%n\n"
                                 "}\n",
                                 body);
    Graph *g = graph_parse(a, s, strlen(s), &d);

    assert_non_null(g);
    assert_true(autodiff(g, 1, &d) && graph_verify(g, &d));
    graph_print(g, &graph);
    for (const char *at = graph.s, *end; (end = strchr(at, '\n')); at = end + 1) {
        const char *line = arena_copy(a, at, (size_t)(end - at) + 1);
        if (strstr(line, " = ") && !strstr(line, "constant") && !strstr(line, "reduce_sum"))
            text_printf(to, "%s", line);
    }
    text_free(&graph);
    arena_free(a);
}

static void stopped(void **state)
{
    static const struct {
        const char *body, *result;
    } cases[] = {
        {"  %a f32[3] = mul(%w, %v)\n"  // two paths to w, one of them stopped
         "  %s f32[3] = stop_gradient(%a)\n"
         "  %y f32[3] = mul(%w, %s)\n",
         "case: warning: node 's' (stop_gradient) stops the gradient of parameters that the loss "
         "depends on by no other path, so they are not trained (--freeze says so): 'v'\n"
         "  %a f32[3] = mul(%w, %v)\n"
         "  %y f32[3] = mul(%w, %a)\n"
         "  %v9 f32[] = div(%v8, %n) backward\n"
         "  %v10 f32[3] = broadcast(%v9) shape=[3] backward\n"
         "  %v11 f32[3] = mul(%v10, %a) backward\n"},
        {"  %a f32[3] = floor(%w)\n"  // a comparison and a cast, not told of what isn't used
         "  %b f32[3] = mul(%a, %x)\n"
         "  %c bool[3] = lt(%v, %x)\n"
         "  %y f32[3] = select(%c, %b, %x)\n",
         "case: warning: node 'a' (floor) stops the gradient of parameters that the loss "
         "depends on by no other path, so they are not trained (--freeze says so): 'w'\n"
         "case: warning: node 'c' (lt) stops the gradient of parameters that the loss "
         "depends on by no other path, so they are not trained (--freeze says so): 'v'\n"
         "  %a f32[3] = floor(%w)\n"
         "  %b f32[3] = mul(%a, %x)\n"
         "  %c bool[3] = lt(%v, %x)\n"
         "  %y f32[3] = select(%c, %b, %x)\n"},
        {"  %y f32[3] = mul(%w, %x)\n", "  %y f32[3] = mul(%w, %x)\n"
                                        "  %v8 f32[] = div(%v7, %n) backward\n"
                                        "  %v9 f32[3] = broadcast(%v8) shape=[3] backward\n"
                                        "  %v10 f32[3] = mul(%v9, %x) backward\n"},
    };

    (void)state;
    for (int i = 0; i < COUNT(cases); i++) {
        Text is = {0};
        stopped_run(cases[i].body, &is);
        assert_string_equal(is.s, cases[i].result);
        text_free(&is);
    }
}

// Many nodes that stop gradients are told as a number.
static void stopped_often(void **state)
{
    Text body = {0}, said = {0};

    (void)state;
    for (int i = 0; i < 12; i++)
        text_printf(&body, "  parameter %%p%d f32[3]\n", i);
    for (int i = 0; i < 12; i++)
        text_printf(&body, "  %%r%d f32[3] = round(%%p%d)\n  %%s%d f32[3] = add(%s%d, %%r%d)\n", i,
                    i, i, i ? "%s" : "%p", i ? i - 1 : 0, i);
    text_printf(&body, "  %%y f32[3] = mul(%%s11, %%w)\n");
    stopped_run(body.s, &said);
    assert_non_null(strstr(said.s, "case: warning: node 'r8' (round)"));
    assert_null(strstr(said.s, "case: warning: node 'r9' (round)"));
    assert_non_null(strstr(said.s, "case: warning: 3 more parameters are not trained for such "
                                   "reasons\n"));
    text_free(&body);
    text_free(&said);
}

// ---- random graphs ----

typedef struct Random {
    Graph *g;
    uint64_t seed, n;
    ValueId pool[64];  // f64[4,6]
    int n_pool;
} Random;

static int draw(Random *r, int below)
{
    uint64_t key[2] = {r->seed, r->n++};

    return (int)(hash_bytes(key, sizeof key, 4) % (uint64_t)below);
}

static ValueId draw_value(Random *r) { return r->pool[draw(r, r->n_pool)]; }

static ValueId part(Random *r, ValueId x, int64_t start, int64_t size)
{
    return make_slice(r->g, x, (int64_t[]){0, start}, (int64_t[]){4, size}, (int64_t[]){1, 1});
}

static ValueId draw_node(Random *r)
{
    Graph *g = r->g;
    ValueId x = draw_value(r), y = draw_value(r), s;

    switch (draw(r, 10)) {
    case 0:
        return make_add(g, x, y);
    case 1:
        return make_mul(g, make_tanh(g, x), y);
    case 2:
        return make_sub(g, make_sin(g, x), y);
    case 3:
        s = graph_value(g, VALUE_PARAMETER, arena_string(g->arena, "w%d", g->n_values), F64, 2,
                        (int64_t[]){6, 6});
        return make_dot(g, x, s, "bi,ij->bj");
    case 4:
        s = make_dot(g, x, y, "bi,ci->bc");
        return make_dot(g, make_softmax(g, s, 1), y, "bc,ci->bi");
    case 5:
        return make_concat(g, 3, (ValueId[]){part(r, x, 4, 2), part(r, y, 1, 3), part(r, x, 3, 1)},
                           1);
    case 6:
        s = make_mean(g, x, 1, (int64_t[]){1});
        return make_mul(g, y, broadcast_over(g, make_tanh(g, s), y, 1, (int64_t[]){1}));
    case 7:
        s = make_transpose(g, make_reshape(g, x, 2, (int64_t[]){6, 4}), (int64_t[]){1, 0});
        return make_add(g, s, y);
    case 8:
        s = make_pad(g, part(r, x, 1, 4), (int64_t[]){0, 0}, (int64_t[]){0, 2}, (int64_t[]){0, 0},
                     0);
        return make_add(g, make_cumsum(g, s, 1, false, false), y);
    default:
        return make_div(g, x, scalar_like(g, x, 2));
    }
}

static void check_random(uint64_t seed)
{
    Arena *a = arena_new();
    Diag d = {0};
    Random r = {.g = graph_new(a, "g"), .seed = seed, .n_pool = 2};
    int n = 4;

    r.g->diag = &d;
    r.pool[0] = graph_value(r.g, VALUE_PARAMETER, "p", F64, 2, (int64_t[]){4, 6});
    r.pool[1] = graph_value(r.g, VALUE_INPUT, "x", F64, 2, (int64_t[]){4, 6});
    for (n += draw(&r, 20); r.n_pool < n; r.n_pool++)
        r.pool[r.n_pool] = draw_node(&r);
    ValueId y = make_add(r.g, r.pool[n - 1], r.pool[0]);
    graph_output(r.g, "loss", make_reduce_sum(r.g, y, 2, (int64_t[]){0, 1}), OUTPUT_LOSS_SUM);
    graph_output(r.g, "count", graph_scalar(r.g, F64, 7), OUTPUT_LOSS_COUNT);
    assert_true(blocks(r.g, &d));
    assert_true(autodiff(r.g, seed % 2 ? 3 : 1, &d));
    assert_true(check_differences(r.g) > 0);
    arena_free(a);
}

static void random_graphs(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < 60; seed++)
        check_random(seed);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(golden),        cmocka_unit_test(accumulated),
        cmocka_unit_test(refused),       cmocka_unit_test(stopped),
        cmocka_unit_test(stopped_often), cmocka_unit_test(random_graphs)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
