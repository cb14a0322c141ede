// Tests --weights: which tensor of a file a parameter gets, by its name or by the map, and what is
// said of those that don't fit. tests/e2e/weights_test.py compiles whole models.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>
#include <unistd.h>

#include "frontend/weight_file.h"
#include "runtime/rt_element.h"
#include "tests/frontend/model_text.h"

static char folder[] = "/tmp/weights_test.XXXXXX";

// A tensor's numbers are 1, 2, 3 …, or `first`, first + 1 …: "w F32[2,3]", "w F32[2,3] 7".
typedef struct Case {
    const char *model, *tensors, *map;
    const char *result;  // the weights, or the messages
    bool predicts;       // no parameter is trained
    const char *tie;
} Case;

#define LINEAR(w) "input x f32[2,3]; init " w "; y = MatMul(x, "
#define OF_TWO                                                                                     \
    "input x f32[2]; init a.w f32[2]; init b.w f32[2]; z = Mul(x, a.w); y = Add(z, b.w); output y"

static const Case cases[] = {
    // ---- names ----
    {LINEAR("w f32[3,2]") "w); output y", "w F32[3,2]", .result = "w F32[3,2] 1 2 3 4 5 6\n"},
    {LINEAR("h.0.w f32[3,2]") "h.0.w); output y", "transformer.h.0.w F32[3,2]",
     .result = "h.0.w F32[3,2] 1 2 3 4 5 6\n"},
    {LINEAR("m.h.0.w f32[3,2]") "m.h.0.w); output y", "h.0.w F32[3,2]",
     .result = "m.h.0.w F32[3,2] 1 2 3 4 5 6\n"},
    {LINEAR("m/w f32[3,2]") "m/w); output y", "w F32[3,2]", .result = "m/w F32[3,2] 1 2 3 4 5 6\n"},
    // The end of a name is whole components.
    {LINEAR("w f32[3,2]") "w); output y", "raw F32[3,2]",
     .result = "m: error: no tensor of 'w.safetensors' has the name of a parameter of the model\n"
               "  the file has 'raw' and 0 more\n"
               "  the model has 'w' and 0 more; --weight-map pairs other names\n"},
    // An equal name comes first, and the tensor isn't the other one's too.
    {OF_TWO, "b.w F32[2]; a.w F32[2] 5; x.a.w F32[2] 9",
     .result = "a.w F32[2] 5 6\nb.w F32[2] 1 2\n"
               "m: warning: 1 tensor of 'w.safetensors' is no parameter of the model: 'x.a.w'\n"},
    // A tensor goes to the longest name that it ends in.
    {"input x f32[2]; init norm.w f32[2]; init h.0.norm.w f32[2]; z = Mul(x, norm.w); y = Add(z, "
     "h.0.norm.w); output y",
     "model.norm.w F32[2]; model.h.0.norm.w F32[2] 7",
     .result = "norm.w F32[2] 1 2\nh.0.norm.w F32[2] 7 8\n"},
    {LINEAR("w f32[3,2]") "w); output y", "a.w F32[3,2]; b.w F32[3,2]",
     .result = "m: error: names of 'w.safetensors' match the model's twice: --weight-map says "
               "which\n  ambiguous   w: 'a.w' or 'b.w'\n"},
    {OF_TWO, "w F32[2]",
     .result = "m: error: names of 'w.safetensors' match the model's twice: --weight-map says "
               "which\n  ambiguous   tensor w: of 'a.w' or of 'b.w'\n"},
    // ---- types ----
    {LINEAR("w f32[3,2]") "w); output y", "w F16[3,2] -1", .result = "w F32[3,2] -1 0 1 2 3 4\n"},
    {LINEAR("w f32[3,2]") "w); output y", "w BF16[3,2] 255",
     .result = "w F32[3,2] 255 256 256 258 260 260\n"},
    {LINEAR("w f32[3,2]") "w); output y", "w F64[3,2]", .result = "w F32[3,2] 1 2 3 4 5 6\n"},
    {LINEAR("w f32[3,2]") "w); output y", "w I64[3,2]",
     .result = "m: error: tensors of 'w.safetensors' don't fit the model\n"
               "  different   w: 'w' is I64[3,2], expected F32[3,2]: not a type of floats\n"},
    // Weights of a model in halves are f32.
    {"input x f16[2]; init w f16[2]; y = Mul(x, w); output y", "w F32[2] 2049",
     .result = "w F32[2] 2049 2050\n"},
    {"input x f16[2]; init w f16[2]; y = Mul(x, w); output y", "w BF16[2] 256",
     .result = "w F32[2] 256 256\n"},
    {"input x f32[1]; init w f32[1]; y = Mul(x, w); output y", "w F64[1] 1e39",
     .result = "w F32[1] inf\n"
               "m: warning: 1 numbers of 1 weights, the first is 'w', are too large for the "
               "weight's type and became infinite\n"},
    // ---- shapes ----
    {LINEAR("h.w f32[3,2]") "h.w); output y", "m.h.w F32[2,3]",
     .result = "m: error: tensors of 'w.safetensors' don't fit the model\n"
               "  different   h.w: 'm.h.w' is F32[2,3], expected F32[3,2], which is transposed: "
               "--weight-map takes the line h.w = transpose(m.h.w)\n"},
    {LINEAR("h.w f32[3,2]") "h.w); output y", "h.w F32[3,3]",
     .result = "m: error: tensors of 'w.safetensors' don't fit the model\n"
               "  different   h.w: 'h.w' is F32[3,3], expected F32[3,2]\n"},
    // ---- what is left ----
    {OF_TWO, "a.w F32[2] 3",
     .result = "a.w F32[2] 3 4\nb.w F32[2] 0 0\n"
               "m: warning: 1 parameter is not in 'w.safetensors' and stays as the model has it: "
               "'b.w'\n"},
    {"input x f32[2]; extern a.w f32[2] w.bin 0; extern b.w f32[2] w.bin 8; z = Mul(x, a.w); y = "
     "Add(z, b.w); output y",
     "a.w F32[2]; b.v F32[2]; c F32[3]",
     .result = "m: error: tensors have no bytes in the model's files, and none in "
               "'w.safetensors'\n  missing     b.w F32[2]; the nearest is 'b.v' F32[2]\n  not used "
               "   'b.v', 'c'\n"},
    {"input x f32[2]; init a.w f32[2]; init onnx::Mul_7 f32[2]; z = Mul(x, a.w); y = Mul(z, "
     "onnx::Mul_7); output y",
     "a.w F32[2]; scale F32[2]",
     .result = "m: error: tensors that the exporter has computed, perhaps of parameters, aren't in "
               "'w.safetensors' and would stay as they are: torch.onnx.export with optimize=False "
               "(do_constant_folding=False of the older one) keeps the parameters; or a line of "
               "--weight-map makes them, or says keep\n"
               "  computed    onnx::Mul_7 F32[2]; the nearest is 'scale' F32[2]\n  not used    "
               "'scale'\n"},
    {"input x f32[2]; init a.w f32[2]; init onnx::Mul_7 f32[2] 4; z = Mul(x, a.w); y = Mul(z, "
     "onnx::Mul_7); output y",
     "a.w F32[2]", "keep onnx::*", .result = "a.w F32[2] 1 2\nonnx::Mul_7 F32[2] 4 4\n"},
    // A number that the exporter made is a constant, and integers aren't weights.
    {"input x f32[2]; init w f32[2]; init onnx::Mul_7 f32[] 3; init n i64[1] 2; z = Mul(x, w); u = "
     "Mul(z, onnx::Mul_7); y = Reshape(u, n); output y",
     "w F32[2]; n I64[1]",
     .result = "w F32[2] 1 2\n"
               "m: warning: 1 tensor of 'w.safetensors' is no parameter of the model: 'n'\n"},
    // ---- tensors that are one ----
    {"input x f32[2]; extern a.w f32[2] w.bin 0; extern b.w f32[2] w.bin 0; z = Mul(x, b.w); y = "
     "Add(z, a.w); output y",
     "a.w F32[2]", .result = "b.w F32[2] 1 2\n"},
    {"input x f32[2]; extern a.w f32[2] w.bin 0; extern b.w f32[2] w.bin 0; z = Mul(x, b.w); y = "
     "Add(z, a.w); output y",
     "a.w F32[2]; b.w F32[2] 2",
     .result = "m: error: 'a.w' and 'b.w' are one tensor of the model, but have two values in "
               "'w.safetensors'\n"},
    {OF_TWO, "b.w F32[2] 3", .tie = "a.w=b.w", .result = "a.w F32[2] 3 4\n"},
    {OF_TWO, "a.w F32[2] 3; b.w F32[2] 3", .tie = "a.w=b.w", .result = "a.w F32[2] 3 4\n"},
    {OF_TWO, "a.w F32[2] 3; b.w F32[2] 4", .tie = "a.w=b.w",
     .result = "m: error: 'a.w' and 'b.w' are one tensor of the model, but have two values in "
               "'w.safetensors'\n"},
    {OF_TWO, "w F32[2]", "a.w = w\nb.w = w\n", .result = "a.w F32[2] 1 2\nb.w F32[2] 1 2\n"},
    // Halves of large parameters with equal bytes are named as those of the model are.
    {"input x f32[600]; init a.w f32[600]; init b.w f32[600]; z = Mul(x, a.w); y = Add(z, b.w); "
     "output y",
     "a.w F16[600]; b.w F16[600]",
     .result = "a.w F32[600] 1 2 3 4 5 6 ...\nb.w F32[600] 1 2 3 4 5 6 ...\n"
               "m: warning: 'a.w' and 'b.w' have equal bytes, and each is trained on its own: if "
               "the file has one tensor twice, --tie 'a.w=b.w' makes it one\n"},
    // ---- models that were exported without their parameters ----
    {"input x f32[2,3]; input w f32[3,2]; y = MatMul(x, w); output y", "w F32[3,2]",
     .result = "w F32[3,2] 1 2 3 4 5 6\n"},
    {"input x f32[2]; input a.w f32[2]; input b f32[2]; z = Mul(x, a.w); y = Add(z, b); output y",
     "m.a.w F32[2]; c F32[2]",
     .result =
         "m: error: tensors have no bytes in the model's files, and none in "
         "'w.safetensors'\n  missing     b F32[2]; the nearest is 'c' F32[2]\n  not used    'c'\n"},
    // A data input isn't taken for a parameter by the end of a name; one of a module is named.
    {"input x f32[2]; init a.w f32[2]; y = Mul(x, a.w); output y", "m.x F32[2]; a.w F32[2]",
     .result = "a.w F32[2] 1 2\n"
               "m: warning: 1 tensor of 'w.safetensors' is no parameter of the model: 'm.x'\n"},
    {"input k.x f32[2]; input a.w f32[2]; y = Mul(k.x, a.w); output y", "a.w F32[2]",
     .result = "a.w F32[2] 1 2\n"
               "m: warning: 'k.x' isn't in 'w.safetensors', and stays an input of the model\n"},
    {"input x f32[2,3]; y = MatMul(x, w); output y f32[2,2]", "w F16[3,2]",
     .result = "w F32[3,2] 1 2 3 4 5 6\n"},
    {"input x i64[2]; info y f16[2,2]; y = Gather(m.w, x); output y", "w F32[3,2]",
     .result = "m.w F32[3,2] 1 2 3 4 5 6\n"},
    {"input x f32[2]; z = Mul(x, a.w) fx='aten.mul](args = (%b_a_w'; y = Add(z, a.b) "
     "fx='aten.add](args = (%p_a_b'; output y",
     "a.w F32[2]; a.b F32[2]", .result = "a.w F32[2] 1 2 buffer\na.b F32[2] 1 2\n"},
    {"input x f32[2]; z = Mul(x, a.w); y = Add(z, val_3); output y", "a.w F32[2]",
     .result = "m: error: the model's file lacks tensors that 'w.safetensors' doesn't have either\n"
               "  missing     val_3\n"
               "  1 of them are constants of the exporter: torch.onnx.export with optimize=False "
               "keeps constants in the file when it leaves parameters out\n"},
    {"input x f32[2,3]; z = MatMul(x, lm.weight); y = Neg(z); output y", "wte.weight F32[3,2]",
     "wte.weight = wte.weight",
     .result = "w.map: error: line 1: the model has no parameter 'wte.weight' (did you mean "
               "'lm.weight'?)\n"},
    {"input x f32[2,3]; z = MatMul(x, lm.weight); u = Mul(z, a); y = Neg(u); output y",
     "a F32[2]; wte.v F32[3,2]",
     .result = "m: error: the model's file lacks tensors that 'w.safetensors' doesn't have either\n"
               "  missing     lm.weight; 'wte.v' is the nearest\n  not used    'wte.v'\n"},
    {"input x f32[2]; init n i64[] 2; y = Loop(n, , x) body={ input i i64[]; input c bool[]; "
     "input s f32[2]; t = Add(s, w); d = Identity(c); output d; output t }; output y",
     "w F32[2]", .result = "w F32[2] 1 2\n"},
    // ---- the map ----
    {LINEAR("h.w f32[3,2]") "h.w); output y", "a.w F32[2,3]", "h.w = transpose(a.w)",
     .result = "h.w F32[3,2] 1 4 2 5 3 6\n"},
    {"input x f32[2,3]; init h.1.w f32[3,2]; init h.2.w f32[2,2]; z = MatMul(x, h.1.w); y = "
     "MatMul(z, h.2.w); output y",
     "a.1.v F32[3,2]; a.2.v F32[2,2] 7", "# all layers\nh.*.w = a.*.v  # of them\n",
     .result = "h.1.w F32[3,2] 1 2 3 4 5 6\nh.2.w F32[2,2] 7 8 9 10\n"},
    {"input x f32[2,1,2]; init e.w f32[2,2,2]; y = MatMul(x, e.w); output y",
     "e.0.w F32[2,2]; e.1.w F16[2,2] 11", "e.w = stack(e.{0..1}.w)",
     .result = "e.w F32[2,2,2] 1 2 3 4 11 12 ...\n"},
    {"input x f32[2,1,2]; init h.0.e f32[2,2,2]; y = MatMul(x, h.0.e); output y",
     "m.0.a.0 F32[1,2]; m.0.b.0 F32[1,2] 11; m.0.a.1 F32[1,2] 21; m.0.b.1 F32[1,2] 31",
     "h.*.e = stack(concat(m.*.a.{0..1}, m.*.b.{0..1}))",
     .result = "h.0.e F32[2,2,2] 1 2 11 12 21 22 ...\n"},
    {LINEAR("qkv f32[3,4]") "qkv); output y", "q F32[1,3]; k F32[2,3] 11; v F32[1,3] 31",
     "qkv = transpose(concat(q, k, v))", .result = "qkv F32[3,4] 1 11 14 31 2 12 ...\n"},
    {LINEAR("qkv f32[3,2]") "qkv); output y", "q F32[2,2]; k F32[2,1] 11",
     "qkv = concat(transpose(q), transpose(k))", .result = "qkv F32[3,2] 1 3 2 4 11 12\n"},
    {LINEAR("\"a b\" f32[3,2]") "\"a b\"); output y", "c*d F32[3,2]", "\"a b\" = \"c*d\"",
     .result = "a b F32[3,2] 1 2 3 4 5 6\n"},
    {LINEAR("keep f32[3,2]") "keep); output y", "w F32[3,2]", "keep = w",
     .result = "keep F32[3,2] 1 2 3 4 5 6\n"},
    {LINEAR("h.w f32[3,2]") "h.w); output y", "a.w F32[3,2]", "h.w = a.v",
     .result = "w.map: error: line 1: 'w.safetensors' has no tensor 'a.v' (did you mean 'a.w'?)\n"},
    {LINEAR("h.w f32[3,2]") "h.w); output y", "a.w F32[3,2]", "\nh.v = a.w",
     .result = "w.map: error: line 2: the model has no parameter 'h.v' (did you mean 'h.w'?)\n"},
    {LINEAR("h.w f32[3,2]") "h.w); output y", "a.w F32[3,2]", "h.w = a.w\n\nh.* = a.*\n",
     .result = "w.map: error: line 3: 'h.w' is in line 1 already\n"},
    {LINEAR("h.w f32[3,2]") "h.w); output y", "a.w F32[2,3]", "h.w = a.w",
     .result = "m: error: tensors of 'w.safetensors' don't fit the model\n"
               "  different   h.w: line 1 of 'w.map' is F32[2,3], expected F32[3,2], which is "
               "transposed\n"},
    {LINEAR("h.w f32[3,2]") "h.w); output y", "a F32[3]; b F32[2]", "h.w = stack(a, b)",
     .result = "w.map: error: line 1: stack joins [3] and [2]\n"},
    {LINEAR("h.w f32[3,2]") "h.w); output y", "a F32[3,1]; b F32[2,2]", "h.w = concat(a, b)",
     .result = "w.map: error: line 1: concat joins [3,1] and [2,2]\n"},
    {LINEAR("h.w f32[3,2]") "h.w); output y", "a F32[]", "h.w = concat(a)",
     .result = "w.map: error: line 1: concat takes tensors with dims, found one number\n"},
    {LINEAR("h.w f32[3,2]") "h.w); output y", "a F32[3]", "h.w = transpose(a)",
     .result = "w.map: error: line 1: transpose takes a matrix, found [3]\n"},
    {LINEAR("h.w f32[3,2]") "h.w); output y", "a F32[3,2]", "h.w = transpose(transpose(a))",
     .result = "w.map: error: line 1: transpose of what is transposed already\n"},
    // ---- parameters that the exporter has merged ----
    {"input x f32[2]; init a.w f32[2]; init b.w f32[2]; z = Mul(x, a.w) "
     "fx='aten.mul](args = (%p_a_w'; y = Add(z, a.w) node=y fx='aten.add](args = (%p_b_w'; output "
     "y",
     "a.w F32[2]; b.w F32[2]",
     .result = "m: error: 'a.w' and other parameters had equal values when the file was written, "
               "so the exporter has made them one, which would be filled as one: node 'y' has "
               "'p_b_w' there (torch.onnx.export: optimize=False keeps them apart)\n",
     .predicts = true},
    {"input x f32[2]; z = Mul(x, a.w) fx='aten.mul](args = (%p_a_w'; y = Add(z, a.w) node=y "
     "fx='aten.add](args = (%p_b_w'; output y",
     "a.w F32[2]; b.w F32[2]",
     .result = "m: error: 'a.w' and other parameters had equal values when the file was written, "
               "so the exporter has made them one, which would be trained as one: node 'y' has "
               "'p_b_w' there (torch.onnx.export: optimize=False keeps them apart)\n"},
    // An integer that is lost is a constant, not a weight.
    {"input x f32[2]; input a.w f32[2]; input n i64[1]; z = Mul(x, a.w); y = Reshape(z, n); output "
     "y",
     "a.w F32[2]", .result = "m: error: tensor 'n' has no bytes in the model's file\n"},
    {"input x f32[2]; input a.w f32[2]; input n i64[1]; z = Mul(x, a.w); y = Reshape(z, n); output "
     "y",
     "a.w F32[2]; n I64[1] 2", .result = "a.w F32[2] 1 2\n"},
};

// ---- files ----

static const char *in_folder(Arena *a, const char *name)
{
    return arena_string(a, "%s/%s", folder, name);
}

static void put_numbers(Text *body, const RtStored *t, double first)
{
    static const char *const types[] = {"F32", "F64", "F16", "BF16"};
    int64_t size = rt_dtype_bytes(t->dtype), n = t->bytes / size;
    RtType type = RT_I64;

    for (int i = 0; i < COUNT(types); i++)
        type = strcmp(t->dtype, types[i]) ? type : (RtType)(RT_F32 + i);
    for (int64_t i = 0; i < n; i++) {
        uint64_t bits = rt_element_bits(type, first + (double)i);
        text_put(body, (const char *)&bits, (size_t)size);
    }
}

static void write_tensors(Arena *a, const char *path, const char *text)
{
    RtStored t[8] = {0};
    Text body = {0}, whole = {0};
    int64_t bytes;
    int n = 0;

    for (const char *s = text; *s; s += strspn(s, "; ")) {
        char name[100], dtype[10], dims[100];
        int used;
        double first = 1;
        assert_true(sscanf(s, "%99[^ ] %9[A-Z0-9][%99[0-9,]]%n", name, dtype, dims, &used) == 3 ||
                    (sscanf(s, "%99[^ ] %9[A-Z0-9][]%n", name, dtype, &used) == 2 && !(*dims = 0)));
        t[n] = (RtStored){.name = arena_string(a, "%s", name), .dtype = rt_dtype_find(dtype)};
        t[n].bytes = rt_dtype_bytes(dtype);
        for (char *d = strtok(dims, ","); d; d = strtok(NULL, ",")) {
            t[n].dim[t[n].rank++] = atoll(d);
            t[n].bytes *= atoll(d);
        }
        s += used;
        if (*s == ' ')
            first = strtod(s, (char **)&s);
        put_numbers(&body, &t[n++], first);
    }
    char *header = rt_safe_header(t, n, &bytes);
    text_put(&whole, header, (size_t)bytes);
    text_put(&whole, body.s, body.n);
    assert_true(out_write(path, whole.s, whole.n, NULL));
    free(header);
    text_free(&body);
    text_free(&whole);
}

// ---- results ----

static void print_tensor(const RtStored *t, bool is_buffer, Text *to)
{
    enum { MAX_SHOWN = 6 };
    char type[100];
    int64_t size = rt_dtype_bytes(t->dtype), n = t->bytes / size;

    rt_stored_print(type, sizeof type, t);
    text_printf(to, "%s %s", t->name, type);
    for (int64_t i = 0; i < n && i < MAX_SHOWN; i++) {
        float x;
        RtType from = strcmp(t->dtype, "F16") ? RT_F32 : RT_F16;
        rt_round_floats(RT_F32, &x, from, t->data + i * size, 1);
        text_printf(to, " %g", (double)x);
    }
    text_printf(to, "%s%s\n", n > MAX_SHOWN ? " ..." : "", is_buffer ? " buffer" : "");
}

// Writes the weights, and prints them in the graph's order.
static void print_weights(Arena *a, const Graph *g, const Weights *w, Text *to, Diag *d)
{
    const char *path = in_folder(a, "out.safetensors");
    RtFileError e;
    RtSafe s;

    assert_true(weights_write(w, g, path, d));
    assert_true(rt_safe_open(&s, path, &e));
    assert_int_equal(s.n, w->n);
    for (ValueId v = 1; v < g->n_values; v++) {
        const Value *value = value_of(g, v);
        if (value->kind == VALUE_PARAMETER || value->kind == VALUE_BUFFER)
            print_tensor(rt_safe_find(&s, value->name), value->kind == VALUE_BUFFER, to);
    }
    rt_safe_close(&s);
}

static void run_case(const Case *c, Text *to)
{
    Arena *a = arena_new();
    Text said = {0};
    Diag d = {.file = "m", .to = &said};
    size_t size;
    Weights w;
    const char *path = in_folder(a, "w.safetensors"), *map = in_folder(a, "w.map");

    write_tensors(a, path, c->tensors);
    if (c->map)
        assert_true(out_write(map, c->map, strlen(c->map), NULL));
    uint8_t *bytes = model_from_text(a, c->model, &size);
    WeightFile *f = weight_file_open(a, path, c->map ? map : NULL, &d);
    ImportOptions o = {.accumulate = 1,
                       .training = !c->predicts,
                       .has_loss = !c->predicts,
                       .values = f,
                       .tie = &c->tie,
                       .n_tie = c->tie != NULL};
    Graph *g = f ? import_bytes(a, bytes, size, &o, &w, &d) : NULL;
    if (g)
        print_weights(a, g, &w, to, &d);
    assert_true(!g == (d.errors > 0));
    if (said.n)
        text_put(to, said.s, said.n);
    weight_file_close(f);
    text_free(&said);
    arena_free(a);
}

static void test_cases(void **state)
{
    int failed = 0;

    for (int i = 0; i < COUNT(cases); i++) {
        Text t = {0};
        run_case(&cases[i], &t);
        if (strcmp(t.s, cases[i].result)) {
            print_message("%s\n%s\n--- expected\n%s--- found\n%s", cases[i].model, cases[i].tensors,
                          cases[i].result, t.s);
            failed++;
        }
        text_free(&t);
    }
    assert_int_equal(failed, 0);
}

// Every prefix of a model without its parameters, and every model with one flipped bit, gives a
// message or a graph.
static void test_damage(void **state)
{
    static const char text[] =
        "input x f32[2,3]; input a.w f32[3,2]; extern b.w f32[2,2] w.bin 0; extern c.w f32[2,2] "
        "w.bin 0; init d.w f32[2] 1 2; y = MatMul(x, a.w); z = MatMul(y, b.w); u = MatMul(z, c.w); "
        "v = Mul(u, d.w); t = Add(v, e.w) fx='aten.add](args = (%b_e_w'; output t f32[2,2]";
    Arena *a = arena_new();
    Diag quiet = {.to = &(Text){0}};
    size_t size;
    const char *path = in_folder(a, "w.safetensors"), *map = in_folder(a, "w.map");

    write_tensors(a, path, "m.a.w F32[3,2]; b.w F16[2,2]; d.w F32[2]; e F32[2]");
    assert_true(out_write(map, "e.* = e", 7, NULL));
    uint8_t *bytes = model_from_text(a, text, &size);
    WeightFile *f = weight_file_open(a, path, map, &quiet);
    assert_non_null(f);
    for (size_t i = 0; i < 9 * size; i++) {
        Arena *b = arena_new();
        Text said = {0};
        Diag d = {.to = &said};
        Weights w;
        ImportOptions o = {.accumulate = 1, .training = true, .values = f};
        bool is_prefix = i < size;

        bytes[i / 9] ^= is_prefix ? 0 : (uint8_t)(1 << i % 8);
        Graph *g = import_bytes(b, bytes, is_prefix ? i : size, &o, &w, &d);
        bytes[i / 9] ^= is_prefix ? 0 : (uint8_t)(1 << i % 8);
        assert_true(!g == (d.errors > 0));
        text_free(&said);
        arena_free(b);
    }
    weight_file_close(f);
    text_free(quiet.to);
    arena_free(a);
}

static int make_folder(void **state) { return mkdtemp(folder) ? 0 : -1; }

static int remove_folder(void **state)
{
    static const char *const names[] = {"w.safetensors", "w.map", "out.safetensors"};
    Arena *a = arena_new();

    for (int i = 0; i < COUNT(names); i++)
        unlink(in_folder(a, names[i]));
    arena_free(a);
    return rmdir(folder);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_cases), cmocka_unit_test(test_damage)};
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
