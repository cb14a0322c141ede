// Tests the messages of the importer, and parameters, shapes and paths from untrusted files.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <sys/stat.h>
#include <unistd.h>

#include "frontend/internal.h"
#include "tests/frontend/model_text.h"

static const struct {
    const char *model, *bind, *shape;
    int accumulate;
    const char *message;
} refusals[] = {
    {"ir 2; input x f32[1]; output x",
     .message = "m: error: IR version 2 is not supported, only 3 to 14 are\n"},
    {"opset 29; input x f32[1]; output x",
     .message = "m: error: operator set version 29 is not supported, only 7 to 28 are\n"},
    {"input x f32[1]; y = Foo(x) node=a; z = Bar(y) node=b in my; u = Foo(z) node=c; output u",
     .message = "m: error: operator Foo (opset 18) is not supported\n"
                "  node 'a'\n  node 'c'\n"
                "m: error: operator my::Bar (opset 18) is not supported\n  node 'b'\n"},
    {"input x f32[b,4]; y = Relu(x); output y",
     .message =
         "m: error: input 'x': dim 0 ('b') is not bound\n  say --bind b=N or --shape x=N,…\n"},
    {"input x f32[?,4]; y = Relu(x); output y",
     .message = "m: error: input 'x': dim 0 (no name) is not bound\n  say --shape x=N,…\n"},
    {"input x f32; y = Relu(x); output y",
     .message = "m: error: input 'x' has no shape: say --shape x=N,…\n"},
    {"input x f32[b]; output x", "c=4",
     .message =
         "m: error: input 'x': dim 0 ('b') is not bound\n  say --bind b=N or --shape x=N,…\n"},
    {"input x f32[4]; output x", "c=4",
     .message = "m: error: --bind 'c=4': the model has no dim of that name, only numbers\n"},
    {"input x f32[b]; output x", "b=4x", .message = "m: error: --bind 'b=4x': expected NAME=N\n"},
    {"input x f32[b]; output x", "b=4", "z=4",
     .message = "m: error: --shape 'z=4': the model has no input of that name, only 'x'\n"},
    {"input x f32[4]; output x", NULL, "x=5",
     .message = "m: error: input 'x': dim 0 is 4 in the model, --shape says 5\n"},
    {"input x f32[b]; output x", "b=4", "x=5",
     .message = "m: error: input 'x': dim 0 is 4 by --bind, 5 by --shape\n"},
    {"input x f32[b]; output x", NULL, "x=5,5",
     .message = "m: error: input 'x' has 1 dims, expected 2 by --shape\n"},
    {"input x f32[4]; output x", .accumulate = 3,
     .message = "m: error: input 'x': batch of 4 can't be split into 3 micro-batches\n"},
    {"input x f32[4]; init s i64[1] 4; y = Reshape(x, s); output y", .accumulate = 2,
     .message = "m: error: node 'y' (Reshape): 2 elements can't take the shape [4]\n"
                "  in 0  x f32[2]\n  in 1  s i64[1]\n"
                "  micro-batches need a model exported with a dynamic batch\n"},
#include "tests/frontend/refuse_operators.def"
    {"input x f32[-5]; output x",
     .message = "m: error: input 'x': dim 0 is -5, expected 0 to 1073741824\n"},
    {"input x f32[1000000000,1000000000]; output x",
     .message = "m: error: input 'x' is too large\n"},
#include "tests/frontend/ragged_refusals.def"
#include "tests/frontend/scatter_refusals.def"
    {"input x str[4]; output x", .message = "m: error: input 'x' is not a tensor of numbers\n"},
    {"input x f32[4]; y = Relu(z); output y",
     .message = "m: error: node 'y' (Relu): input 'z' is not defined before it\n"
                "  a model that was exported without its parameters needs --weights\n"},
    {"input x f32[4]; x = Relu(x); output x", .message = "m: error: 'x' is defined twice\n"},
    {"input x f32[4]; input x f32[3]; y = Relu(x); output y",
     .message = "m: error: two inputs are named 'x'\n"},
    {"ir 3; input x f32[4]; input w f32[]; input w f32[]; init w f32[] 1; y = Mul(x, w); output y",
     .message = "m: error: two inputs are named 'w'\n"},
    {"input x f32[4]; y = Relu(x); output y; output y",
     .message = "m: error: two outputs are named 'y'\n"},
    {"input x f32[4]; y, z = Relu(x); output y",
     .message = "m: error: node 'y' (Relu): has 2 outputs, expected 1 at most\n"
                "  in 0  x f32[4]\n"},
    {"input x f32[4]; y = Relu(x)", .message = "m: error: the model has no outputs\n"},
    {"input x f32[50000,0]; init n i64[] 3; s = SplitToSequence(x, n); i = SequenceLength(s); "
     "output i",
     .message =
         "m: error: node 's' (SplitToSequence): splits 50000 into parts of 3, more than 16384\n"
         "  in 0  x f32[50000,0]\n  in 1  n i64[]\n"},
    {"input x f32[5]; init n i64[2] 5 -1; s = SplitToSequence(x, n); i = SequenceLength(s); "
     "output i",
     .message = "m: error: node 's' (SplitToSequence): its parts don't add up to 5\n"
                "  in 0  x f32[5]\n  in 1  n i64[2]\n"},
    {"input x f32[5]; init n i64[2] 2 2; s = SplitToSequence(x, n); i = SequenceLength(s); "
     "output i",
     .message = "m: error: node 's' (SplitToSequence): its parts don't add up to 5\n"
                "  in 0  x f32[5]\n  in 1  n i64[2]\n"},
    {"input x f32[4]; output y", .message = "m: error: the model's output 'y' is not defined\n"},
    {"input x f32[2,3]; input w f32[2,3]; y = MatMul(x, w) node='/blk/mm'; output y",
     .message = "m: error: node '/blk/mm' (dot): dim 'k' differs: 3 and 2\n"
                "  in 0  x f32[2,3]\n  in 1  w f32[2,3]\n  from  blk\n"},
    {"input x f32[2]; input w f32[3]; y = Add(x, w); output y",
     .message = "m: error: node 'y' (Add): shapes [2] and [3] can't be broadcast to each other\n"
                "  in 0  x f32[2]\n  in 1  w f32[3]\n"},
    {"input x f32[2]; input s i64[1]; y = Reshape(x, s); output y",
     .message = "m: error: node 'y' (Reshape): the shape must be known when compiling, 's' is not\n"
                "  in 0  x f32[2]\n  in 1  s i64[1]\n"},
    {"input x f32[3]; init s i64[2] 2 -1; y = Reshape(x, s); output y",
     .message = "m: error: node 'y' (Reshape): 3 elements can't take the shape [2,0]\n"
                "  in 0  x f32[3]\n  in 1  s i64[2]\n"},
    {"input x f32[3]; y = Transpose(x) perm=[1]; output y",
     .message =
         "m: error: node 'y' (Transpose): axis 1 is out of range for rank 1\n  in 0  x f32[3]\n"},
    {"input x f32[3]; y = Relu(x, x); output y",
     .message = "m: error: node 'y' (Relu): has 2 inputs, expected 1 to 1\n"
                "  in 0  x f32[3]\n  in 1  x f32[3]\n"},
    {"init s i64[2] 99999999; y = ConstantOfShape(s); output y",
     .message = "m: error: node 'y' (broadcast): the result has more than 2^48 elements\n"
                "  in 0  v4 f32[]\n"},
    {"input x f32[]; input c bool[]; y = If(c) then_branch={ t = Neg(x); output t } "
     "else_branch={ e = Abs(x); output e }; output y",
     .message = "m: error: node 'y' (If): the condition must be known when compiling, 'c' is not\n"
                "  in 0  c bool[]\n"},
    {"input x f32[]; l = Loop(, , x) body={ input i i64[]; input c bool[]; input s f32[]; "
     "t = Identity(s); d = Identity(c); output d; output t }; output l",
     .message = "m: error: node 'l' (Loop): more than 16384 trips\n  in 2  x f32[]\n"},
    {"input x f32[2]; function my F(a) -> b { b = F(a) in my }; y = F(x) in my; output y",
     .message = "m: error: subgraphs and functions are nested more than 64 deep\n"},
    {"input x f32[4]; extern w i64[4] w.bin 0; y = Reshape(x, w); output y",
     .message = "m: error: tensor 'w' is in another file\n"},
    {"input x f32[2]; info y f32[3]; y = Relu(x); output y i64[?]",
     .message = "m: warning: 'y' is f32[2], the file says i64[?]\n"},
    {"input x f32[2]; y = SpaceToDepth(x) magic=1; output y",
     .message = "m: error: node 'y' (SpaceToDepth): attribute 'magic' is not supported\n"
                "  in 0  x f32[2]\n"},
    {"input x f32[2,4]; init s f32[2,2] 1 2 3 4; y = InstanceNormalization(x, s, s); output y",
     .message = "m: error: node 'y' (broadcast): dims must be ascending and below 2\n"
                "  in 0  s f32[2,2]\n"
                "m: error: node 'y' (broadcast): dims must be ascending and below 2\n"
                "  in 0  s f32[2,2]\n"},
    {"input x f32[4]; init w f32[-1] 1; y = Add(x, w); output y",
     .message =
         "m: error: tensor 'w': expected at most 12 dims, none negative, and 2^40 elements\n"},
#include "tests/frontend/resize_refusals.def"
#include "tests/frontend/signal_refusals.def"
};

static Graph *import(Arena *a, const char *text, ImportOptions *o, Weights *w, Diag *d)
{
    size_t size;
    uint8_t *bytes = model_from_text(a, text, &size);

    o->accumulate = o->accumulate ? o->accumulate : 1;
    return import_bytes(a, bytes, size, o, w, d);
}

static void test_refusals(void **state)
{
    int failed = 0;

    for (int i = 0; i < COUNT(refusals); i++) {
        Arena *a = arena_new();
        Text t = {0};
        Diag d = {.file = "m", .to = &t};
        ImportOptions o = {.accumulate = refusals[i].accumulate};
        Weights w;
        o.bind = &refusals[i].bind, o.n_bind = refusals[i].bind != NULL;
        o.shape = &refusals[i].shape, o.n_shape = refusals[i].shape != NULL;
        Graph *g = import(a, refusals[i].model, &o, &w, &d);
        const char *found = t.n ? t.s : "";
        if (refusals[i].message && strcmp(found, refusals[i].message)) {
            print_message("%s\n--- expected\n%s--- found\n%s", refusals[i].model,
                          refusals[i].message, found);
            failed++;
        }
        assert_true(!g == (d.errors > 0));
        text_free(&t);
        arena_free(a);
    }
    assert_int_equal(failed, 0);
}

// Every prefix of a model, and every model with one flipped bit, gives a message or a graph, and
// never a crash.
static void test_damage(void **state)
{
    static const char text[] =
        "input x f32[2,b]; init w f32[3,4] 1 2 3; init n i64[1] 2; s = Shape(x); y = MatMul(x, w); "
        "z = Loop(n, , y) body={ input i i64[]; input c bool[]; input s f32[2,4]; t = Tanh(s); "
        "d = Identity(c); output d; output t }; function my F(a) -> b { b = Elu(a) alpha=ref:q }; "
        "u = F(z) q=2f in my; p = AveragePool(u) kernel_shape=[2]; output u";
    Arena *a = arena_new();
    size_t size;
    uint8_t *bytes = model_from_text(a, text, &size);
    const char *bind[] = {"b=3"};
    ImportOptions o = {.accumulate = 1, .bind = bind, .n_bind = 1};
    Weights w;

    for (size_t i = 0; i < 9 * size; i++) {
        Arena *b = arena_new();
        Text t = {0};
        Diag d = {.file = "m", .to = &t};
        bool is_prefix = i < size;
        if (!is_prefix)
            bytes[i / 9] ^= (uint8_t)(1 << i % 8);
        Graph *g = import_bytes(b, bytes, is_prefix ? i : size, &o, &w, &d);
        if (!is_prefix)
            bytes[i / 9] ^= (uint8_t)(1 << i % 8);
        assert_true(!g == (d.errors > 0));
        assert_true(!g || graph_verify(g, &d));
        text_free(&t);
        arena_free(b);
    }
    arena_free(a);
}

static void test_parameters(void **state)
{
    static const char *const freeze[] = {"w*"};
    Arena *a = arena_new();
    Diag d = {.file = "m"};
    ImportOptions o = {.freeze = freeze, .n_freeze = 1};
    Weights w;
    Graph *g = import(a,
                      "input x f32[2]; init w1 f32[2] 1 2; init b f32[2] 3 4; init onnx::Mul_7 "
                      "f32[] 2; init shape f32[2]; n = Shape(shape); e = Expand(x, n); a = Mul(e, "
                      "w1); c = Mul(a, onnx::Mul_7); "
                      "y = Add(c, b); output y",
                      &o, &w, &d);

    assert_non_null(g);
    assert_int_equal(w.n, 2);
    assert_string_equal(w.weight[0].name, "w1");
    assert_string_equal(w.weight[1].name, "b");
    for (ValueId v = 1; v < g->n_values; v++)
        if (g->values[v].name && !strcmp(g->values[v].name, "w1"))
            assert_int_equal(g->values[v].kind, VALUE_BUFFER);
        else if (g->values[v].name && !strcmp(g->values[v].name, "b"))
            assert_int_equal(g->values[v].kind, VALUE_PARAMETER);
    arena_free(a);
}

static int count_carries(const char *text, ImportOptions o, Text *t)
{
    Arena *a = arena_new();
    Diag d = {.file = "m"};
    Weights w;
    Graph *g = import(a, text, &o, &w, &d);

    assert_non_null(g);
    assert_true(graph_verify(g, &d));
    graph_print(g, t);
    int n = g->n_carries;
    arena_free(a);
    return n;
}

// Batch norm updates its running statistics in training, unless it is frozen, and dropout draws
// random numbers.
static void test_training(void **state)
{
    static const char norm[] =
        "input x f32[4,2]; init s f32[2] 1; init b f32[2] 0; init m f32[2] 0; "
        "init v f32[2] 1; y = BatchNormalization(x, s, b, m, v); output y";
    static const char drop[] =
        "input x f32[b,2,3]; y = Dropout(x); init s i64[2] -1 3; r = Reshape(y, s); q = Relu(r); "
        "init n i64[3] -1 2 3; u = Reshape(q, n); t = Transpose(u); z = Dropout(t); output z";
    Text t = {0};

    assert_int_equal(count_carries(norm, (ImportOptions){.training = true}, &t), 2);
    assert_non_null(strstr(t.s, "buffer %m f32[2]"));
    assert_int_equal(count_carries(norm, (ImportOptions){0}, &t), 0);
    assert_int_equal(
        count_carries(norm, (ImportOptions){.training = true, .frozen_batch_norm = true}, &t), 0);
    t.n = 0;
    const char *bind[] = {"b=4"};
    ImportOptions micro = {.training = true, .accumulate = 2, .bind = bind, .n_bind = 1};
    count_carries(drop, micro, &t);
    assert_non_null(strstr(t.s, "shape=[3,2,2] site=1 micro_axis=2 micro=2"));
    assert_non_null(strstr(t.s, "hyper %seed i64[]"));
    text_free(&t);
}

// Buffers that are added to what TopK selects by, and how often a warning tells of them.
static void test_balance(void **state)
{
    static const char *const freeze[] = {"b*"};
    static const struct {
        const char *sum;
        bool warns;
    } cases[] = {
        {"s = Add(x, b)", true},
        {"t = Add(b, x); f = Flatten(t); s = Where(c, f, x)", true},
        {"s = Mul(x, b)", false},
        {"s = Add(x, w)", false},
        {"t = Add(x, b); s = Exp(t)", false},
    };

    for (int i = 0; i < COUNT(cases); i++) {
        Arena *a = arena_new();
        Text t = {0}, model = {0};
        Diag d = {.file = "m", .to = &t};
        ImportOptions o = {.training = true, .has_loss = true, .freeze = freeze, .n_freeze = 1};
        Weights w;
        text_printf(&model,
                    "input x f32[2,3]; input c bool[2,3]; init b f32[3] 1; init w f32[3] 1; "
                    "init k i64[1] 2; %s; y, i = TopK(s, k); z, j = TopK(s, k); output y; output z",
                    cases[i].sum);
        assert_non_null(import(a, model.s, &o, &w, &d));
        assert_string_equal(t.s ? t.s : "",
                            cases[i].warns
                                ? "m: warning: buffers (1, the first is 'b') are added to the "
                                  "scores that TopK selects by: a framework may move them as it "
                                  "trains, here they stay as they are\n"
                                : "");
        text_free(&t);
        text_free(&model);
        arena_free(a);
    }
}

// ---- files below the model's folder ----

static const struct {
    const char *path;
    bool opens;
} paths[] = {
    {"w.bin", true},
    {"sub/w.bin", true},
    {"./w.bin", true},
    {"../w.bin", false},
    {"sub/../../w.bin", false},
    {"/etc/passwd", false},
    {"link", false},
    {"sublink/w.bin", false},
    {"hard", false},
    {"hard2", false},
    {"fifo", false},
    {"sub", false},
    {"missing", false},
    {"", false},
};

// Writes a file at a path in the current folder of the test.
static void put(const char *path)
{
    FILE *f = fopen(path, "w");

    assert_non_null(f);
    fputs("0123456789abcdef", f);
    fclose(f);
}

// Makes and enters a folder of the test's own, which contains the model's folder `in`.
static int enter_folder(void **state)
{
    char *folder = strdup("/tmp/shardcc-test-XXXXXX");

    *state = folder;
    if (!mkdtemp(folder) || chdir(folder) || mkdir("in", 0700) || mkdir("in/sub", 0700))
        return -1;
    put("w.bin");
    put("in/w.bin");
    put("in/sub/w.bin");
    put("in/hard");
    return symlink("../w.bin", "in/link") || symlink("sub", "in/sublink") ||
           link("in/hard", "in/hard2") || mkfifo("in/fifo", 0600);
}

static int leave_folder(void **state)
{
    static const char *const files[] = {"in/link",   "in/sublink", "in/hard",      "in/hard2",
                                        "in/fifo",   "in/w.bin",   "in/sub/w.bin", "in/sub",
                                        "in/m.onnx", "in/out",     "in",           "w.bin"};

    for (int i = 0; i < COUNT(files); i++)
        remove(files[i]);
    remove(*state);
    free(*state);
    return 0;
}

static void test_beneath(void **state)
{
    Text t = {0};
    Diag d = {.file = "m", .to = &t};

    for (int i = 0; i < COUNT(paths); i++) {
        int fd = open_beneath("in/m.onnx", paths[i].path, &d);
        if ((fd >= 0) != paths[i].opens)
            fail_msg("%s: %s", paths[i].path, fd >= 0 ? "opened" : t.s);
        if (fd >= 0)
            close(fd);
    }
    assert_non_null(strstr(t.s, "external data '../w.bin': it is outside the model's folder"));
    text_free(&t);
}

static const struct {
    const char *external, *message;  // "": no message, the data is written
} externals[] = {
    {"w.bin 0", ""},
    {"sub/w.bin 4", ""},
    {"w.bin 8", "m: error: weight 'w' needs 12 bytes at 8 of 'w.bin', which has only 16\n"},
    {"w.bin 9223372036854775807",
     "m: error: weight 'w' needs 12 bytes at 9223372036854775807 of 'w.bin', which has only 16\n"},
    {"../w.bin 0", "m: error: external data '../w.bin': it is outside the model's folder\n"},
    {"gone.bin 0", "m: error: external data 'gone.bin': No such file or directory\n"
                   "  --weights takes them from elsewhere; --no-weights needs none, with --init "
                   "they are drawn\n"},
    {"hard 0", "m: error: external data 'hard': it is not a regular file without hard links\n"},
};

// External data is checked when it is copied, not before.
static void test_external(void **state)
{
    for (int i = 0; i < COUNT(externals); i++) {
        Arena *a = arena_new();
        Text t = {0};
        Diag d = {.file = "m", .to = &t};
        ImportOptions o = {.accumulate = 1};
        Weights w;
        size_t size;
        uint8_t *bytes = model_from_text(
            a,
            arena_string(a, "input x f32[3]; extern w f32[3] %s; y = Mul(x, w); output y",
                         externals[i].external),
            &size);
        FILE *f = fopen("in/m.onnx", "wb");
        assert_int_equal(fwrite(bytes, 1, size, f), size);
        fclose(f);
        ModelFile *m = model_open(a, "in/m.onnx", &d);
        assert_non_null(m);
        o.model = m;
        Graph *g = frontend_import(a, &o, &w, &d);
        assert_non_null(g);
        bool ok = weights_write(&w, g, "in/out", &d);
        assert_string_equal(t.n ? t.s : "", externals[i].message);
        assert_int_equal(ok, !*externals[i].message);
        assert_int_equal(access("in/out", F_OK) == 0, ok);
        remove("in/out");
        model_close(m);
        text_free(&t);
        arena_free(a);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_refusals),
        cmocka_unit_test(test_damage),
        cmocka_unit_test(test_parameters),
        cmocka_unit_test(test_training),
        cmocka_unit_test(test_balance),
        cmocka_unit_test_setup_teardown(test_beneath, enter_folder, leave_folder),
        cmocka_unit_test_setup_teardown(test_external, enter_folder, leave_folder),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
