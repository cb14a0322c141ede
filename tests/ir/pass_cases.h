// Runs the golden cases of a pass: a file of graphs, each with the text that the pass makes of it.
//
//     === a name, and why the case is there
//     graph "g" { … }
//     ---
//     graph "g" { … }
//
// The pass must give that text, keep what graph_verify checks, and give the same text again when
// it runs on its own result. It must leave unchanged what the graph computes. UPDATE=1 rewrites
// the file.
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "ir/internal.h"
#include "tests/ir/case_numbers.h"

typedef bool (*Pass)(Graph *g, Diag *d);

// Evaluates the graph; the result is indexed by ValueId.
static Tensor *case_eval(Arena *a, const Graph *g)
{
    Tensor *t = arena_array(a, Tensor, g->n_values);

    for (ValueId v = 1; v < g->n_values; v++)
        if (!value_of(g, v)->producer && value_of(g, v)->kind != VALUE_CONSTANT)
            t[v] = case_numbers(a, value_of(g, v));
    graph_eval(a, g, t);
    return t;
}

static bool is_near(const Tensor *x, const Tensor *y, int64_t i)
{
    double relative = x->dtype == F64 ? 1e-12 : 2e-5;

    if (!x->f)
        return x->i[i] == y->i[i];
    if (isnan(x->f[i]) || isinf(x->f[i]))
        return isnan(x->f[i]) ? isnan(y->f[i]) : x->f[i] == y->f[i];
    return fabs(x->f[i] - y->f[i]) <= relative * fmax(1, fabs(x->f[i]));
}

static void case_same_results(Arena *a, const Graph *g, const Graph *h)
{
    Tensor *x = case_eval(a, g), *y = case_eval(a, h);

    assert_int_equal(g->n_outputs, h->n_outputs);
    for (int i = 0; i < g->n_outputs; i++) {
        const Tensor *s = &x[g->outputs[i].value], *t = &y[h->outputs[i].value];

        assert_int_equal(tensor_count(s), tensor_count(t));
        for (int64_t k = 0; k < tensor_count(s); k++)
            if (!is_near(s, t, k)) {
                if (s->f)
                    fail_msg("output %s[%d] was %.17g, is %.17g", g->outputs[i].name, (int)k,
                             s->f[k], t->f[k]);
                fail_msg("output %s[%d] differs", g->outputs[i].name, (int)k);
            }
    }
}

static Graph *case_parse(Arena *a, const char *s, size_t n, Diag *d)
{
    Graph *g = graph_parse(a, s, n, d);

    if (!g)
        fail_msg("%.*s", (int)n, s);
    g->diag = d;
    return g;
}

// Runs the pass on the graph in `s`; appends the result to `to`.
static void case_run(Pass pass, const char *s, size_t n, Text *to)
{
    Arena *a = arena_new();
    Diag d = {.file = "case"};
    Graph *before = case_parse(a, s, n, &d), *g = case_parse(a, s, n, &d);
    size_t start = to->n;
    Text again = {0};

    assert_true(graph_verify(before, &d));
    assert_true(pass(g, &d));
    assert_true(graph_verify(g, &d));
    graph_print(g, to);
    case_same_results(a, before, g);
    Graph *h = case_parse(a, to->s + start, to->n - start, &d);
    assert_true(pass(h, &d));
    graph_print(h, &again);
    assert_string_equal(to->s + start, again.s);
    assert_int_equal(d.errors, 0);
    text_free(&again);
    arena_free(a);
}

static void cases_check(const char *path, Pass pass)
{
    Diag d = {0};
    File f;
    Text is = {0}, was = {0};

    assert_true(file_map(path, &f, &d));
    text_put(&was, (const char *)f.data, f.size);
    file_unmap(&f);
    for (const char *s = was.s; *s;) {
        const char *body = strchr(s, '\n') + 1, *end = strstr(body, "\n---\n");

        assert_true(strncmp(s, "=== ", 4) == 0 && end);
        printf("# %.*s\n", (int)(body - s - 5), s + 4);
        text_put(&is, s, (size_t)(end + 5 - s));
        case_run(pass, body, (size_t)(end + 1 - body), &is);
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
