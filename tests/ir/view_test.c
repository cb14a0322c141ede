// Tests operators without work against eval, with operands in several layouts: a view reads its
// input's bytes in place, and `subview` says where inputs lie in the output.
#include "tests/ir/sample.h"

typedef enum Layout { DENSE, REVERSED, SPACED, LAYOUTS } Layout;

// Gives the strides of a tensor: row-major, column-major, or row-major with a gap after each
// element and row.
static void strides_of(Layout layout, int rank, const int64_t *dim, int64_t *stride)
{
    int64_t step = layout == SPACED ? 2 : 1;

    for (int k = 0; k < rank; k++) {
        int i = layout == REVERSED ? k : rank - 1 - k;

        stride[i] = step;
        step *= dim[i] + (layout == SPACED);
    }
}

static int64_t offset_of(const int64_t *index, int rank, const int64_t *stride)
{
    int64_t at = 0;

    for (int i = 0; i < rank; i++)
        at += index[i] * stride[i];
    return at;
}

// Buffers hold each number as a double or int64 of 8 bytes.
enum { ROOM = 4096 };

typedef struct Buffer {
    double f[ROOM];
    int64_t i[ROOM];
} Buffer;

static void copy(Buffer *b, Tensor *t, const int64_t *stride, int64_t offset, bool to_buffer)
{
    int64_t index[MAX_RANK] = {0};

    for (int64_t k = 0; k < tensor_count(t); k++, index_next(index, t->rank, t->dim)) {
        int64_t at = offset + offset_of(index, t->rank, stride);

        assert_in_range(at, 0, ROOM - 1);
        if (t->f)
            *(to_buffer ? &b->f[at] : &t->f[k]) = to_buffer ? t->f[k] : b->f[at];
        else
            *(to_buffer ? &b->i[at] : &t->i[k]) = to_buffer ? t->i[k] : b->i[at];
    }
}

static Tensor tensor_like(const Sample *s, ValueId v)
{
    const Value *x = value_of(s->g, v);

    return tensor_new(s->arena, x->dtype, x->rank, x->dim);
}

// Checks the output as a view of the input in that layout. Returns false if there is no such view.
static bool check_view(Sample *s, const char *name, Layout layout)
{
    Buffer *b = arena_array(s->arena, Buffer, 1);
    int64_t from[MAX_RANK] = {0}, to[MAX_RANK] = {0}, offset = 0;
    Tensor y = tensor_like(s, s->node.out[0]), want;

    strides_of(layout, s->in[0].rank, s->in[0].dim, from);
    if (!s->node.op->view(s->g, &s->node, from, to, &offset))
        return false;
    copy(b, &s->in[0], from, 0, true);
    copy(b, &y, to, offset, false);
    node_eval(s->arena, s->g, &s->node, s->in, &want);
    if (!is_near(&y, &want, 0))
        fail_msg("%s: the view of layout %d is wrong", name, (int)layout);
    return true;
}

static void check_subviews(Sample *s, const char *name, Layout layout)
{
    const OpDef *op = s->node.op;
    Buffer *b = arena_array(s->arena, Buffer, 1);
    int64_t to[MAX_RANK] = {0}, from[MAX_RANK] = {0}, offset = 0;
    Tensor y = tensor_like(s, s->node.out[0]), want;

    for (int k = 0; k < ROOM; k++) {
        // 99 shows where neither an input nor `fill` writes the output.
        b->f[k] = op->fill ? op->fill(&s->node) : 99;
        b->i[k] = op->fill ? (int64_t)op->fill(&s->node) : 99;
    }
    strides_of(layout, y.rank, y.dim, to);
    for (int i = 0; i < s->node.n_in; i++) {
        op->subview(s->g, &s->node, i, to, from, &offset);
        copy(b, &s->in[i], from, offset, true);
    }
    copy(b, &y, to, 0, false);
    node_eval(s->arena, s->g, &s->node, s->in, &want);
    if (!is_near(&y, &want, 0))
        fail_msg("%s: the inputs' subviews in layout %d are wrong", name, (int)layout);
}

static void views_are_eval(void **state)
{
    for (int i = 0; i < COUNT(samples); i++) {
        Sample s = {0};

        if (samples[i].rule)
            s = sample_read(&samples[i], false);
        if (s.g && s.node.op->view && !check_view(&s, samples[i].node, DENSE))
            fail_msg("%s is no view of a dense input", samples[i].node);
        for (int k = REVERSED; s.g && s.node.op->view && k < LAYOUTS; k++)
            check_view(&s, samples[i].node, (Layout)k);
        if (s.arena)
            sample_free(&s);
    }
}

static void subviews_are_eval(void **state)
{
    for (int i = 0; i < COUNT(samples); i++) {
        Sample s = {0};

        if (samples[i].rule)
            s = sample_read(&samples[i], false);
        for (int k = DENSE; s.g && s.node.op->subview && k < LAYOUTS; k++)
            check_subviews(&s, samples[i].node, (Layout)k);
        if (s.arena)
            sample_free(&s);
    }
}

// A column-major matrix can't be flattened row by row, but one of its dims can be split.
static void reshape_knows_what_it_cannot(void **state)
{
    static const struct {
        SampleText text;
        Layout layout;
        bool is_view;
    } cases[] = {
        {{"reshape(f32[2,3]) shape=[6]", "f32[6]", ""}, REVERSED, false},
        {{"reshape(f32[6,2]) shape=[2,3,2]", "f32[2,3,2]", ""}, REVERSED, true},
        {{"reshape(f32[2,3]) shape=[6]", "f32[6]", ""}, SPACED, false},
        {{"reshape(f32[2,6]) shape=[2,1,3,2]", "f32[2,1,3,2]", ""}, SPACED, true},
        {{"reshape(f32[4,6]) shape=[2,12]", "f32[2,12]", ""}, SPACED, false},
    };

    for (int i = 0; i < COUNT(cases); i++) {
        Sample s = sample_read(&cases[i].text, false);

        assert_non_null(s.g);
        assert_int_equal(check_view(&s, cases[i].text.node, cases[i].layout), cases[i].is_view);
        sample_free(&s);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(views_are_eval),
        cmocka_unit_test(subviews_are_eval),
        cmocka_unit_test(reshape_knows_what_it_cannot),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
