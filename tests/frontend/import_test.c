// Tests the import of ONNX operators on small models, evaluated by the reference evaluator.
// tests/frontend/refuse_test.c tests the messages, and tests/e2e compares whole models with
// PyTorch.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "frontend/internal.h"
#include "tests/frontend/import_cases.h"
#include "tests/frontend/model_text.h"

// Reads the numbers of all inputs in order, then those of parameters and buffers.
static void fill(Arena *a, const Graph *g, const Weights *w, const char *s, Tensor *values)
{
    for (ValueId v = 1; v < g->n_values; v++) {
        const Value *x = value_of(g, v);
        if (x->kind == VALUE_PARAMETER || x->kind == VALUE_BUFFER) {
            for (int i = 0; i < w->n; i++)
                if (!strcmp(w->weight[i].name, x->name)) {
                    Value constant = *x;
                    constant.data = w->weight[i].data;
                    constant.dtype = w->weight[i].dtype;
                    values[v] = tensor_of(a, &constant);
                    values[v].dtype = x->dtype;
                }
            continue;
        }
        if (x->kind != VALUE_INPUT)
            continue;
        values[v] = tensor_new(a, x->dtype, x->rank, x->dim);
        for (int64_t i = 0; i < value_count(x); i++) {
            char *end = (char *)s;
            double number = strtod(s, &end);
            if (values[v].f)
                values[v].f[i] = number;
            else
                values[v].i[i] = (int64_t)number;
            s = end;
        }
        s += *s == ';';
    }
}

static char *evaluate(Arena *a, const char *text, const char *in, Diag *d)
{
    ImportOptions o = {.accumulate = 1};
    Weights w;
    size_t size;
    uint8_t *bytes = model_from_text(a, text, &size);
    Graph *g = import_bytes(a, bytes, size, &o, &w, d);
    Text t = {0};

    if (!g || !graph_verify(g, d))
        return NULL;
    Tensor *values = arena_array(a, Tensor, g->n_values + 1);
    fill(a, g, &w, in, values);
    graph_eval(a, g, values);
    const Tensor *y = &values[g->outputs[0].value];
    text_printf(&t, "[");
    for (int i = 0; i < y->rank; i++)
        text_printf(&t, "%s%" PRId64, i ? "," : "", y->dim[i]);
    text_printf(&t, "]");
    for (int64_t i = 0; i < tensor_count(y); i++)
        text_printf(&t, " %.5g", y->f ? y->f[i] : (double)y->i[i]);
    char *s = arena_string(a, "%s", t.s);
    text_free(&t);
    return s;
}

static void test_operators(void **state)
{
    int failed = 0;

    for (int i = 0; i < COUNT(cases); i++) {
        Arena *a = arena_new();
        Diag d = {.file = "model"};
        char *out = evaluate(a, cases[i].model, cases[i].in, &d);
        if (!out || strcmp(out, cases[i].out)) {
            print_message("%s\n  expected %s\n  found    %s\n", cases[i].model, cases[i].out,
                          out ? out : "an error");
            failed++;
        }
        arena_free(a);
    }
    assert_int_equal(failed, 0);
}

// Programs train in f32, so a buffer of one half must be a number that needs no node of its type.
static void test_numbers_in_halves(void **state)
{
    static const char *const models[] = {
        "input x f32[2]; buffer n bf16[] 16565; c = Cast(n) to=1; y = Mul(x, c); output y",
        "input x f32[2]; buffer n f16[1] 17832; c = CastLike(n, x); y = Mul(x, c); output y"};

    for (int i = 0; i < COUNT(models); i++) {
        Arena *a = arena_new();
        Diag d = {.file = "model"};
        ImportOptions o = {.accumulate = 1, .training = true};
        Weights w;
        size_t size;
        uint8_t *bytes = model_from_text(a, models[i], &size);
        Graph *g = import_bytes(a, bytes, size, &o, &w, &d);
        assert_non_null(g);
        for (NodeId n = 1; n < g->n_nodes; n++)
            for (int k = 0; k < g->nodes[n].n_in; k++)
                assert_int_equal(value_of(g, g->nodes[n].in[k])->dtype, F32);
        assert_string_equal(evaluate(a, models[i], "1 2;", &d), "[2] 5.6562 11.312");
        arena_free(a);
    }
}

// Counts the cases of an operator, and the fewest and the most inputs that any of them has.
static int count_inputs(const char *type, int *fewest, int *most)
{
    char call[80];
    int n = 0;

    snprintf(call, sizeof call, "= %s(", type);
    for (int i = 0; i < COUNT(cases); i++)
        for (const char *s = cases[i].model; (s = strstr(s, call)); n++) {
            s += strlen(call);
            int inputs = *s != ')';
            for (; *s != ')'; s++)
                inputs += *s == ',';
            *fewest = n && *fewest < inputs ? *fewest : inputs;
            *most = n && *most > inputs ? *most : inputs;
        }
    return n;
}

static void test_all_operators(void **state)
{
    enum { MANY = 7 };  // operators that take this many need no case with all of them
    int missing = 0;

    for (const OpTable *t = import_tables; t->theme; t++)
        for (const OpImporter *l = t->importer; l->type; l++) {
            int fewest = 0, most = 0, n = count_inputs(l->type, &fewest, &most);
            // Loops, and resizing, which needs one of two optional inputs, take more than the
            // fewest.
            bool has_more = t->importer == import_control || t->importer == import_resampling;
            if (n && (has_more || fewest == l->min_in) && (l->max_in >= MANY || most == l->max_in))
                continue;
            print_message("%s has %d cases, of %d to %d inputs: expected %d to %d\n", l->type, n,
                          fewest, most, l->min_in, l->max_in);
            missing++;
        }
    assert_int_equal(missing, 0);
}

// Writes the models to files, as seeds for tests/fuzz/onnx_fuzz.c.
static int write_models(const char *folder)
{
    for (int i = 0; i < COUNT(cases); i++) {
        Arena *a = arena_new();
        size_t size;
        uint8_t *bytes = model_from_text(a, cases[i].model, &size);
        FILE *f = fopen(arena_string(a, "%s/%d.onnx", folder, i), "wb");
        bool ok = f && fwrite(bytes, 1, size, f) == size && !fclose(f);
        arena_free(a);
        if (!ok)
            return 1;
    }
    return 0;
}

// With a folder as argument, writes the models there instead.
int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_operators),
                                       cmocka_unit_test(test_numbers_in_halves),
                                       cmocka_unit_test(test_all_operators)};

    return argc > 1 ? write_models(argv[1]) : cmocka_run_group_tests(tests, NULL, NULL);
}
