// Tests copies of models with other weights: where the bytes of each tensor go. tests/e2e/
// export_test.py compares whole files, and tests/fuzz/export_fuzz.c copies any model.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "frontend/copy.h"
#include "tests/frontend/model_text.h"

// A model, the most bytes of the copy, and what becomes of its weights: whether their bytes are in
// the copy, or where in the other file.
static const struct {
    const char *model;
    int64_t most;
    const char *becomes;
} cases[] = {
    {"input x f32[2]; init w f32[2] 1; y = Add(x, w); output y", INT32_MAX, "w: inline\n"},
    {"input x f32[256]; init w f32[256] 1; init b f32[1] 1; z = Mul(x, w); y = Add(z, b); output y",
     INT32_MAX, "w: inline\nb: inline\n"},
    // 1 KiB moves if the copy would be too large, and less doesn't.
    {"input x f32[256]; init w f32[256] 1; init b f32[1] 1; z = Mul(x, w); y = Add(z, b); output y",
     800, "w: at 0\nb: inline\n"},
    {"input x f32[255]; init w f32[255] 1; y = Mul(x, w); output y", 500,
     "error: the model takes 1084 bytes without its large tensors, a file holds 500\n"},
    {"input x f32[300]; init w f32[300] 1; init v f32[300] 1; z = Mul(x, w); y = Add(z, v); "
     "output y",
     800, "w: at 0\nv: at 4096\n"},
    // Tensors at one offset of a file are tied. Others don't share an offset, not even empty ones.
    {"input x f32[2]; extern w f32[2] 8; extern v f32[2] 8; z = Mul(x, w); y = Add(z, v); output y",
     INT32_MAX, "w: at 0\n"},
    {"input x f32[2]; extern w f32[2] 0; extern v f32[2] 8; z = Mul(x, w); y = Add(z, v); output y",
     INT32_MAX, "w: at 0\nv: at 4096\n"},
    // A tensor that no node reads stays as it is.
    {"input x f32[2]; init w f32[2] 1; init unread f32[2] 5; y = Add(x, w); output y", INT32_MAX,
     "w: inline\n"},
    // Subgraphs, whose lengths change too.
    {"input x f32[2]; init n i64[] 3; y = Loop(n, , x) body={ input i i64[]; input c bool[]; "
     "input s f32[2]; init w f32[2] 1; t = Add(s, w); d = Identity(c); output d; output t }; "
     "output y",
     INT32_MAX, "w: inline\n"},
};

static uint8_t *join(Arena *a, const Pieces *from)
{
    uint8_t *to = arena_alloc(a, (size_t)from->bytes + 1, 1);

    for (int i = 0; i < from->n; i++)
        memcpy(to + from->piece[i].to, from->piece[i].from.data, (size_t)from->piece[i].from.bytes);
    return to;
}

// Describes the weights of the copy, and checks their values.
static void describe(Arena *a, const ModelCopy *c, const ImportOptions *o, Diag *d, Text *t)
{
    uint8_t *data = join(a, &c->model);
    Weights w;

    assert_non_null(import_bytes(a, data, (size_t)c->model.bytes, o, &w, d));
    assert_int_equal(w.n, c->weights->n);
    for (int i = 0; i < w.n; i++) {
        const Weight *x = &w.weight[i];
        bool is_inline = x->path && !*x->path;
        if (is_inline) {
            assert_memory_equal(data + x->offset, c->value[i].data, (size_t)x->bytes);
            text_printf(t, "%s: inline\n", x->name);
        } else {
            assert_string_equal(x->path, "copy.data");
            text_printf(t, "%s: at %" PRId64 "\n", x->name, x->offset);
        }
    }
    for (int i = 0; i < c->other.n; i++)
        assert_true(c->other.piece[i].to + c->other.piece[i].from.bytes <= c->other.bytes);
}

static const Weight *make_values(Arena *a, const Weights *w)
{
    Weight *to = arena_array(a, Weight, w->n + 1);

    for (int i = 0; i < w->n; i++) {
        to[i] = (Weight){.name = w->weight[i].name, .bytes = w->weight[i].bytes};
        to[i].data =
            memset(arena_alloc(a, (size_t)to[i].bytes + 1, 1), 'a' + i, (size_t)to[i].bytes);
    }
    return to;
}

static void copies(void **state)
{
    for (int i = 0; i < COUNT(cases); i++) {
        Arena *a = arena_new();
        Text text = {0};
        Diag d = {.to = &text};
        ImportOptions o = {.accumulate = 1, .training = true};
        size_t size;
        uint8_t *data = model_from_text(a, cases[i].model, &size);
        Weights w;

        Graph *g = import_bytes(a, data, size, &o, &w, &d);
        assert_non_null(g);
        const Weight *value = make_values(a, &w);
        ModelCopy c = {.arena = a,
                       .data = data,
                       .size = size,
                       .weights = &w,
                       .value = value,
                       .location = "copy.data",
                       .most_bytes = cases[i].most};
        if (copy_model(&c, &d))
            describe(a, &c, &o, &d, &text);
        assert_string_equal(text.s, cases[i].becomes);
        text_free(&text);
        arena_free(a);
    }
}

// A file that changes after it was imported is an error, or gives a copy; it is never read past its
// end.
static void changes(void **state)
{
    Arena *a = arena_new();
    ImportOptions o = {.accumulate = 1, .training = true};
    Text text = {0};
    Diag d = {.to = &text};
    size_t size;
    uint8_t *data = model_from_text(a, cases[8].model, &size);
    Weights w;

    Graph *g = import_bytes(a, data, size, &o, &w, &d);
    assert_non_null(g);
    const Weight *value = make_values(a, &w);
    for (size_t i = 0; i < 9 * size; i++) {
        Arena *b = arena_new();
        size_t n = i < size ? i : size;
        uint8_t *part = malloc(n + 1);

        memcpy(part, data, n);
        if (i >= size)
            part[i % size] ^= (uint8_t)(1 << (i / size - 1));
        int errors = d.errors;
        ModelCopy c = {.arena = b,
                       .data = part,
                       .size = n,
                       .weights = &w,
                       .value = value,
                       .location = "copy.data",
                       .most_bytes = INT32_MAX};
        assert_true(copy_model(&c, &d) == (d.errors == errors));
        free(part);
        arena_free(b);
    }
    text_free(&text);
    arena_free(a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(copies),
        cmocka_unit_test(changes),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
