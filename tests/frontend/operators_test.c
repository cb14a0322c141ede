// Tests what docs/onnx.md says of the operators of ONNX: the page is made from the importer's
// tables, and each form that they call refused, and each input that must be known, is tried.
// UPDATE=1 rewrites the page. Which operators give a gradient is tried with the cases of
// import_test.c.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "frontend/internal.h"
#include "ir/internal.h"
#include "tests/frontend/import_cases.h"
#include "tests/frontend/model_text.h"

static const char *const path = "docs/onnx.md";

#define BODY                                                                                       \
    "body={ input i i64[]; input c bool[]; input s f32[]; t = Add(s, s); d = Identity(c); output " \
    "d; output t }"
#define SCAN                                                                                       \
    " num_scan_inputs=1 body={ input a f32[]; input b f32[]; s = Add(a, b); t = Identity(s); "     \
    "output s; output t }; output y"
#define CUBE "input x f32[1,1,2,2,2,2]; init w f32[1,1,1,1,1,1] 1; "
#define RECURRENT(type, gates)                                                                     \
    {type, "clip",                                                                                 \
     "input x f32[2,1,1]; init w f32[1," gates ",1] 0; init r f32[1," gates ",1] 0; y = " type     \
     "(x, w, r) hidden_size=1 clip=1f; output y"},                                                 \
    {                                                                                              \
        type, "activations but Sigmoid, Tanh and Relu",                                            \
            "input x f32[2,1,1]; init w f32[1," gates ",1] 0; init r f32[1," gates                 \
            ",1] 0; y = " type "(x, w, r) hidden_size=1 activations=['Affine']; output y"          \
    }

// An operator, a form that it refuses, and a model with that form.
static const struct {
    const char *type, *form, *model;
} refused[] = {
    {"Attention", "nonpad_kv_seqlen",
     "opset 24; input q f32[1,1,2,1]; init n i64[1] 2; y = Attention(q, q, q, , , , n); output y"},
    {"Attention", "the output qk_matmul_output",
     "opset 23; input q f32[1,1,2,1]; y, k, v, s = Attention(q, q, q); output s"},
    {"AveragePool", "more than 3 spatial dims",
     CUBE "y = AveragePool(x) kernel_shape=[1,1,1,1]; output y"},
    {"BatchNormalization", "spatial=0",
     "opset 8; input x f32[2,1]; init s f32[1] 1; y = BatchNormalization(x, s, s, s, s) spatial=0; "
     "output y"},
    {"Cast", "types but floats of 16 to 64 bits, integers of 8 to 64 bits and BOOL",
     "input x f32[2]; y = Cast(x) to=8; output y"},
    {"Constant", "value_string, value_strings and sparse_value",
     "y = Constant() value_string='a'; output y"},
    {"Conv", "more than 3 spatial dims", CUBE "y = Conv(x, w); output y"},
    {"ConvTranspose", "more than 3 spatial dims", CUBE "y = ConvTranspose(x, w); output y"},
    {"Loop", "more than 16384 trips",
     "input x f32[]; init n i64[] 16385; y = Loop(n, , x) " BODY "; output y"},
    {"LpPool", "more than 3 spatial dims", CUBE "y = LpPool(x) kernel_shape=[1,1,1,1]; output y"},
    {"MaxPool", "more than 3 spatial dims", CUBE "y = MaxPool(x) kernel_shape=[1,1,1,1]; output y"},
    {"MaxPool", "the output Indices of windows of more than 4096 elements",
     "input x f32[1,1,5000]; y, i = MaxPool(x) kernel_shape=[4097]; output i"},
    {"Resize", "more than 2^24 elements along a resized axis",
     "input x f32[2]; init z i64[1] 20000000; y = Resize(x, , , z); output y"},
    {"MaxUnpool", "more than 3 spatial dims",
     "input x f32[1,1,1,1,1,1]; init i i64[1,1,1,1,1,1] 0; y = MaxUnpool(x, i) "
     "kernel_shape=[1,1,1,1]; output y"},
    {"Scan", "the form of opset 8",
     "opset 8; input x f32[3]; init z f32[] 0; l, y = Scan(z, x)" SCAN},
    {"Scan", "more than 16384 trips", "input x f32[16385]; init z f32[] 0; l, y = Scan(z, x)" SCAN},
    {"ScatterElements", "reductions of BOOL",
     "input x bool[3]; input i i64[1]; input u bool[1]; y = ScatterElements(x, i, u) "
     "reduction='max'; output y"},
    {"ScatterND", "reductions of BOOL",
     "input x bool[3]; input i i64[1,1]; input u bool[1]; y = ScatterND(x, i, u) "
     "reduction='max'; output y"},
    RECURRENT("GRU", "3"),
    RECURRENT("LSTM", "4"),
    RECURRENT("RNN", "1"),
#include "tests/frontend/signal_refused.def"
    {"Split", "parts of parts whose sizes are computed",
     "input x f32[3]; input n i64[2]; a, b = Split(x, n); y, c = Split(b, n); output y"},
    {"SplitToSequence", "parts of parts whose sizes are computed",
     "input x f32[3]; input n i64[2]; a, b = Split(x, n); s = SplitToSequence(b, n); "
     "y = ConcatFromSequence(s) axis=0; output y"},
    {"Upsample", "more than 2^24 elements along a resized axis",
     "opset 9; input x f32[2]; init s f32[1] 1e7; y = Upsample(x, s); output y"},
};

#define REDUCTION(type)                                                                            \
    {                                                                                              \
        type, "axes", "input x f32[2]; input a i64[1]; y = " type "(x, a); output y"               \
    }
#define SLICE(starts, ends, axes, steps)                                                           \
    "input x f32[5]; init a i64[1] 0; input b i64[1]; y = Slice(x, " starts ", " ends ", " axes    \
    ", " steps "); output y"

// An operator, an input that it must know when compiling, and a model that gives it as data.
static const struct {
    const char *type, *input, *model;
} known[] = {
    {"Compress", "condition", "input x f32[2]; input c bool[2]; y = Compress(x, c); output y"},
    {"ConstantOfShape", "input", "input s i64[1]; y = ConstantOfShape(s); output y"},
    {"CenterCropPad", "shape", "input x f32[2]; input s i64[1]; y = CenterCropPad(x, s); output y"},
    {"CumProd", "axis", "input x f32[2]; input a i64[]; y = CumProd(x, a); output y"},
    {"CumSum", "axis", "input x f32[2]; input a i64[]; y = CumSum(x, a); output y"},
    {"Dropout", "ratio", "input x f32[2]; input r f32[]; y = Dropout(x, r); output y"},
    {"Expand", "shape", "input x f32[2]; input s i64[1]; y = Expand(x, s); output y"},
    {"If", "cond",
     "input c bool[]; input x f32[]; y = If(c) then_branch={ t = Neg(x); output t } else_branch={ "
     "e = Abs(x); output e }; output y"},
    {"Loop", "M", "input x f32[]; input n i64[]; y = Loop(n, , x) " BODY "; output y"},
    {"Loop", "cond",
     "input x f32[]; input b bool[]; init n i64[] 2; y = Loop(n, b, x) " BODY "; output y"},
    {"NonZero", "X", "input x f32[2]; y = NonZero(x); output y"},
    {"MaxUnpool", "output_shape",
     "input x f32[1,1,2]; input i i64[1,1,2]; input s i64[3]; y = MaxUnpool(x, i, s) "
     "kernel_shape=[2] strides=[2]; output y"},
    {"OneHot", "depth",
     "input i i64[2]; input d i64[]; init v f32[2] 0 5; y = OneHot(i, d, v); output y"},
    {"Pad", "pads", "input x f32[2]; input p i64[2]; y = Pad(x, p); output y"},
    {"Pad", "constant_value",
     "input x f32[2]; init p i64[2] 1 1; input v f32[]; y = Pad(x, p, v); output y"},
    {"Pad", "axes",
     "input x f32[2]; init p i64[2] 1 1; input a i64[1]; y = Pad(x, p, , a); output y"},
    {"Range", "start",
     "input s i64[]; init a i64[] 4; init b i64[] 1; y = Range(s, a, b); output y"},
    {"Range", "limit",
     "input s i64[]; init a i64[] 4; init b i64[] 1; y = Range(a, s, b); output y"},
    {"Range", "delta",
     "input s i64[]; init a i64[] 4; init b i64[] 1; y = Range(b, a, s); output y"},
    REDUCTION("ReduceL1"),
    REDUCTION("ReduceL2"),
    REDUCTION("ReduceLogSum"),
    REDUCTION("ReduceLogSumExp"),
    REDUCTION("ReduceMax"),
    REDUCTION("ReduceMean"),
    REDUCTION("ReduceMin"),
    REDUCTION("ReduceProd"),
    REDUCTION("ReduceSum"),
    REDUCTION("ReduceSumSquare"),
    {"Resize", "roi",
     "input x f32[2]; input r f32[2]; init s f32[1] 2; y = Resize(x, r, s) "
     "coordinate_transformation_mode='tf_crop_and_resize'; output y"},
    {"Resize", "scales", "input x f32[2]; input s f32[1]; y = Resize(x, , s); output y"},
    {"Resize", "sizes", "input x f32[2]; input s i64[1]; y = Resize(x, , , s); output y"},
    {"Reshape", "shape", "input x f32[2]; input s i64[1]; y = Reshape(x, s); output y"},
    {"SequenceAt", "position",
     "input x f32[2]; input i i64[]; s = SequenceConstruct(x, x); y = SequenceAt(s, i); output y"},
    {"SequenceInsert", "position",
     "input x f32[2]; input i i64[]; s = SequenceConstruct(x, x); t = SequenceInsert(s, x, i); "
     "y = SequenceLength(t); output y"},
    {"Slice", "starts", SLICE("b", "a", "a", "a")},
    {"Slice", "ends", SLICE("a", "b", "a", "a")},
    {"Slice", "axes", SLICE("a", "a", "b", "a")},
    {"Slice", "steps", SLICE("a", "a", "a", "b")},
    {"SplitToSequence", "a scalar split",
     "input x f32[3]; input n i64[]; s = SplitToSequence(x, n); y = SequenceLength(s); output y"},
    {"Squeeze", "axes", "input x f32[1]; input a i64[1]; y = Squeeze(x, a); output y"},
    {"Tile", "repeats", "input x f32[2]; input r i64[1]; y = Tile(x, r); output y"},
    {"TopK", "K", "input x f32[4]; input k i64[1]; y, i = TopK(x, k); output y"},
    {"Trilu", "k", "input x f32[2,2]; input k i64[]; y = Trilu(x, k); output y"},
    {"Upsample", "scales", "opset 9; input x f32[2]; input s f32[1]; y = Upsample(x, s); output y"},
    {"Unsqueeze", "axes", "input x f32[1]; input a i64[1]; y = Unsqueeze(x, a); output y"},
#include "tests/frontend/signal_known.def"
};

static const OpImporter *find_importer(const char *type)
{
    for (const OpTable *t = import_tables; t->theme; t++)
        for (const OpImporter *l = t->importer; l->type; l++)
            if (!strcmp(l->type, type))
                return l;
    fail_msg("no operator %s", type);
    return NULL;
}

// Fails unless the model is refused, at a node of that operator.
static void check_refused(const char *type, const char *what, const char *model, const char *why)
{
    Arena *a = arena_new();
    Text said = {0};
    Diag d = {.file = "m", .to = &said};
    ImportOptions o = {.accumulate = 1, .training = true};
    size_t size;
    uint8_t *bytes = model_from_text(a, model, &size);

    if (import_bytes(a, bytes, size, &o, NULL, &d))
        fail_msg("%s, %s: not refused", type, what);
    if (!strstr(said.s, arena_string(a, "(%s): ", type)) || !strstr(said.s, why))
        fail_msg("%s, %s: %s", type, what, said.s);
    text_free(&said);
    arena_free(a);
}

// Removes `part` from a list; false if it isn't one of its parts.
static bool take_part(char *list, const char *between, const char *part)
{
    size_t n = strlen(part), gap = strlen(between);

    for (char *s = list; (s = strstr(s, part)); s++) {
        bool ends = !s[n] || !strncmp(s + n, between, gap);
        if ((s != list && strncmp(s - gap, between, gap)) || !ends)
            continue;
        memmove(s, s + n, strlen(s + n) + 1);
        return true;
    }
    return false;
}

// Has every part of the list been taken?
static bool is_taken(const char *list) { return !list[strspn(list, ";, ")]; }

static void test_refused(void **state)
{
    Arena *a = arena_new();

    for (const OpTable *t = import_tables; t->theme; t++)
        for (const OpImporter *l = t->importer; l->type; l++) {
            char *forms = arena_string(a, "%s", l->refuses ? l->refuses : "");
            char *inputs = arena_string(a, "%s", l->known ? l->known : "");
            for (int i = 0; i < COUNT(refused); i++)
                if (!strcmp(refused[i].type, l->type) && !take_part(forms, "; ", refused[i].form))
                    fail_msg("%s has no form '%s'", l->type, refused[i].form);
            for (int i = 0; i < COUNT(known); i++)
                if (!strcmp(known[i].type, l->type) && !take_part(inputs, ", ", known[i].input))
                    fail_msg("%s has no input '%s'", l->type, known[i].input);
            if (!is_taken(forms) || !is_taken(inputs))
                fail_msg("%s: no case for '%s%s'", l->type, forms, inputs);
        }
    for (int i = 0; i < COUNT(refused); i++)
        check_refused(find_importer(refused[i].type)->type, refused[i].form, refused[i].model, "");
    for (int i = 0; i < COUNT(known); i++)
        check_refused(find_importer(known[i].type)->type, known[i].input, known[i].model,
                      "must be known when compiling");
    arena_free(a);
}

// ---- gradients ----

// The operator that makes a model's output, which it declares last: "y, i = TopK(x, k); output y".
static const char *last_operator(Arena *a, const char *model)
{
    const char *name = strstr(model, "output "), *next, *call = NULL;

    while ((next = strstr(name + 1, "output ")))
        name = next;
    name += strlen("output ");
    for (const char *s = model; (s = strstr(s, " = ")); s += 3) {
        const char *from = s;
        while (from > model && !strchr(";{}", from[-1]))
            from--;
        for (const char *at = from; (at = strstr(at, name)) && at < s; at++)
            if ((at == from || strchr(" ,", at[-1])) && strchr(" ,", at[strlen(name)]))
                call = s + 3;
    }
    return call ? arena_copy(a, call, strcspn(call, "(")) : "";
}

// Does a case's output give a gradient to anything that it is made of?
static bool gives_gradient(Arena *a, const char *model)
{
    ImportOptions o = {.accumulate = 1, .training = true};
    size_t size;
    uint8_t *bytes = model_from_text(a, model, &size);
    Text said = {0};
    Diag d = {.file = "model", .to = &said};
    Graph *g = import_bytes(a, bytes, size, &o, NULL, &d);
    int64_t axes[MAX_RANK];
    bool any = false;

    assert_non_null(g);
    ValueId y = g->outputs[0].value;
    for (ValueId v = 1; v < g->n_values; v++)
        if (g->values[v].kind == VALUE_INPUT && dtype_is_float(g->values[v].dtype))
            g->values[v].kind = VALUE_PARAMETER;
    if (dtype_is_float(value_of(g, y)->dtype)) {
        for (int i = 0; i < value_of(g, y)->rank; i++)
            axes[i] = i;
        if (value_of(g, y)->rank)
            y = make_reduce_sum(g, y, value_of(g, y)->rank, axes);
        graph_output(g, "loss", y, OUTPUT_LOSS_SUM);
        graph_output(g, "count", graph_scalar(g, F32, 1), OUTPUT_LOSS_COUNT);
        if (!autodiff(g, 1, &d))
            fail_msg("%s: %s", model, said.s);
        for (int i = 0; i < g->n_outputs; i++)
            any |= g->outputs[i].role == OUTPUT_GRADIENT;
    }
    text_free(&said);
    return any;
}

// Which operators give a gradient, as the importer's tables say. An operator whose results are
// sequences only is judged by the cases that it occurs in.
static void test_gradients(void **state)
{
    Arena *a = arena_new();
    Map gives = {.arena = a}, is_last = {.arena = a};
    int wrong = 0;

    for (int i = 0; i < COUNT(cases); i++) {
        const char *last = last_operator(a, cases[i].model);
        map_set(&is_last, last, 1);
        if (!gives_gradient(a, cases[i].model))
            continue;
        map_set(&gives, last, 1);
        for (const OpImporter *l = import_sequence; l->type; l++)
            if (strstr(cases[i].model, arena_string(a, "= %s(", l->type)) && !l->no_gradient)
                map_set(&gives, l->type, 1);
    }
    for (const OpTable *t = import_tables; t->theme; t++)
        for (const OpImporter *l = t->importer; l->type; l++)
            if (map_get(&gives, l->type) == (l->no_gradient != NULL)) {
                print_message("%s: %s gradient, its table says %s\n", l->type,
                              map_get(&gives, l->type) ? "a" : "no", l->no_gradient);
                wrong++;
            }
    assert_true(map_get(&is_last, "TopK") && map_get(&is_last, "Scan"));
    arena_free(a);
    assert_int_equal(wrong, 0);
}

// ---- the page ----

static void put_list(Text *t, const char *words)
{
    for (const char *s = words ? words : ""; *s; s += strspn(s, " ")) {
        int n = (int)strcspn(s, " ");
        text_printf(t, "%s`%.*s`", s == words ? "" : " ", n, s);
        s += n;
    }
}

static void put_row(Text *t, const OpImporter *l)
{
    text_printf(t, "| %s | %d | ", l->type, l->since ? l->since : FIRST_OPSET);
    put_list(t, l->attrs);
    text_printf(t, " | %s | %s | %s |\n", l->known ? l->known : "", l->refuses ? l->refuses : "",
                l->no_gradient ? l->no_gradient : "yes");
}

static void put_page(Text *t)
{
    int n = 0;

    for (const OpTable *table = import_tables; table->theme; table++)
        for (const OpImporter *l = table->importer; l->type; l++)
            n++;
    text_printf(
        t,
        "# The operators of ONNX\n\n"
        "`tests/frontend/operators_test.c` makes this page from the importer's tables "
        "(`frontend/import_*.c`), and tries what it\nsays; `UPDATE=1` rewrites it. A file may have "
        "IR versions %d to %d and opsets %d to %d of the default domain, and functions of\nits "
        "own. Shapes are fixed when a model is compiled. Element types are floats of 16 to 64 "
        "bits, integers of 8 to 64 bits and\nBOOL; strings and complex numbers are refused, and so "
        "is every attribute that a row doesn't list.\n\n"
        "- *opset*: the first one that has the operator, %d or later; all its versions up to opset "
        "%d are read.\n"
        "- *known*: inputs that must be known when compiling: constants, or what follows from "
        "constants and shapes.\n"
        "- *refused*: forms of the operator that stop the compilation, with a message that names "
        "the node.\n"
        "- *gradient*: does one flow through it to inputs that are floats? Indices and truth "
        "values "
        "get none in any case.\n\n"
        "Split and SplitToSequence also take sizes that are computed, as those of the tokens that "
        "each expert gets. A part keeps\nall rows then, and the Concat or ConcatFromSequence of "
        "all parts takes each row from the part that it belongs to; so each\nexpert computes all "
        "rows. Up to there, operators must treat each row alone, as products with weights do; "
        "others are refused.\nSizes that don't add up stop the run.\n\n"
        "%d operators:\n",
        FIRST_IR, LAST_IR, FIRST_OPSET, LAST_OPSET, FIRST_OPSET, LAST_OPSET, n);
    for (const OpTable *table = import_tables; table->theme; table++) {
        text_printf(t,
                    "\n## %s\n\n| operator | opset | attributes | known | refused | gradient |\n"
                    "|---|---|---|---|---|---|\n",
                    table->theme);
        for (const OpImporter *l = table->importer; l->type; l++)
            put_row(t, l);
    }
}

static void test_page(void **state)
{
    Text is = {0}, was = {0};
    Diag d = {0};
    File f;

    put_page(&is);
    if (getenv("UPDATE")) {
        FILE *to = fopen(path, "w");
        assert_non_null(to);
        fputs(is.s, to);
        assert_int_equal(fclose(to), 0);
    }
    assert_true(file_map(path, &f, &d));
    text_put(&was, (const char *)f.data, f.size);
    file_unmap(&f);
    assert_string_equal(was.s, is.s);
    text_free(&is);
    text_free(&was);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_refused),
                                       cmocka_unit_test(test_gradients),
                                       cmocka_unit_test(test_page)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
