// Tests operators on given numbers: the special cases of their definitions in ir/build.h, and
// gradients where differences say nothing (ties, kinks, zeros).
#include "tests/ir/sample.h"

// `in` holds the numbers of the inputs, separated by ';'; an absent operand is blank. `out` holds
// the numbers of the outputs. With `grad`, the outputs are the gradients of the float inputs for a
// dy of all ones.
static const struct {
    const char *node, *types, *in, *out;
    bool grad;
} cases[] = {
    {"neg(i32[2])", "i32[2]", "-2147483648 3", "-2147483648 -3", false},
    {"abs(i8[2])", "i8[2]", "-128 -3", "-128 3", false},
    {"sign(f32[4])", "f32[4]", "-2 0 3 nan", "-1 0 1 nan", false},
    {"round(f32[5])", "f32[5]", "0.5 1.5 -2.5 2.4 inf", "0 2 -2 2 inf", false},
    {"floor(f32[3])", "f32[3]", "-0.5 1.5 -inf", "-1 1 -inf", false},
    {"is_nan(f32[3])", "bool[3]", "nan inf 0", "1 0 0", false},
    {"cast(f32[5]) to=i32", "i32[5]", "-1.9 1.9 1e20 -1e20 nan", "-1 1 2147483647 -2147483648 0",
     false},
    {"cast(f32[3]) to=bool", "bool[3]", "0 0.1 nan", "0 1 1", false},
    {"cast(i64[3]) to=u8", "u8[3]", "256 257 -1", "0 1 255", false},
    {"cast(f32[2]) to=bf16", "bf16[2]", "1.00390625 1.01171875", "1 1.015625", false},
    {"add(u8[2], u8[2])", "u8[2]", "255 1;1 1", "0 2", false},
    {"sub(u8[1], u8[1])", "u8[1]", "0;1", "255", false},
    {"mul(i32[1], i32[1])", "i32[1]", "65536;65536", "0", false},
    {"div(i32[4], i32[4])", "i32[4]", "7 -7 7 -2147483648;2 2 0 -1", "3 -3 0 -2147483648", false},
    {"div(f32[2], f32[2])", "f32[2]", "1 -1;0 0", "inf -inf", false},
    {"mod(i64[4], i64[4])", "i64[4]", "7 -7 7 7;3 3 0 -1", "1 -1 0 0", false},
    {"mod(f32[2], f32[2])", "f32[2]", "7.5 -7.5;2 2", "1.5 -1.5", false},
    {"log1p(f32[5])", "f32[5]", "-2 -1 0 1e-20 inf", "nan -inf 0 1e-20 inf", false},
    {"expm1(f32[5])", "f32[5]", "-inf -100 0 1e-20 inf", "-1 -1 0 1e-20 inf", false},
    {"pow(f32[3], f32[3])", "f32[3]", "2 0 -8;3 0 2", "8 1 64", false},
    {"max(f32[4], f32[4])", "f32[4]", "1 nan 2 -inf;2 0 nan inf", "2 nan nan inf", false},
    {"min(f32[4], f32[4])", "f32[4]", "1 nan 2 -inf;2 0 nan inf", "1 nan nan -inf", false},
    {"eq(f32[3], f32[3])", "bool[3]", "1 nan 0;1 nan 1", "1 0 0", false},
    {"le(f32[3], f32[3])", "bool[3]", "1 nan 2;1 0 1", "1 0 0", false},
    {"lt(i64[2], i64[2])", "bool[2]", "9007199254740992 2;9007199254740993 1", "1 0", false},
    {"select(bool[2], f32[2], f32[2])", "f32[2]", "1 0;1 nan;nan 4", "1 4", false},
    {"iota() shape=[2,3] axis=1 dtype=i64", "i64[2,3]", "", "0 1 2 0 1 2", false},
    {"broadcast(f32[2]) shape=[2,2] dims=[0]", "f32[2,2]", "1 2", "1 1 2 2", false},
    {"broadcast(f32[2]) shape=[2,2] dims=[1]", "f32[2,2]", "1 2", "1 2 1 2", false},
    {"transpose(f32[2,3]) perm=[1,0]", "f32[3,2]", "1 2 3 4 5 6", "1 4 2 5 3 6", false},
    {"slice(f32[5]) start=[4] size=[3] stride=[-2]", "f32[3]", "1 2 3 4 5", "5 3 1", false},
    {"slice(f32[2,2]) start=[1,0] size=[1,2] stride=[1,1] drop=[0]", "f32[2]", "1 2 3 4", "3 4",
     false},
    {"pad(f32[2]) low=[1] high=[2] inner=[1] value=9", "f32[6]", "1 2", "9 1 9 2 9 9", false},
    {"pad(f32[0]) low=[1] high=[1] inner=[1] value=9", "f32[2]", "", "9 9", false},
    {"concat(f32[2,1], f32[2,2]) axis=1", "f32[2,3]", "1 2;3 4 5 6", "1 3 4 2 5 6", false},
    {"reduce_sum(f32[0]) axes=[0]", "f32[]", "", "0", false},
    {"reduce_max(f32[0]) axes=[0]", "f32[]", "", "-inf", false},
    {"reduce_min(f32[0]) axes=[0]", "f32[]", "", "inf", false},
    {"reduce_max(i8[0]) axes=[0]", "i8[]", "", "-128", false},
    {"reduce_min(u16[0]) axes=[0]", "u16[]", "", "65535", false},
    {"reduce_max(f32[3]) axes=[0]", "f32[]", "1 nan 2", "nan", false},
    {"reduce_max(bool[2,2]) axes=[1]", "bool[2]", "0 1 0 0", "1 0", false},
    {"reduce_min(bool[2,2]) axes=[1]", "bool[2]", "0 1 1 1", "0 1", false},
    {"arg_max(f32[2,3]) axis=1", "i64[2]", "1 3 3 2 nan 9", "1 1", false},
    {"cumsum(i32[4]) axis=0", "i32[4]", "1 2 3 4", "1 3 6 10", false},
    {"cumsum(i32[4]) axis=0 exclusive=1", "i32[4]", "1 2 3 4", "0 1 3 6", false},
    {"cumsum(i32[4]) axis=0 reverse=1", "i32[4]", "1 2 3 4", "10 9 7 4", false},
    {"cumsum(f32[2,2]) axis=0 exclusive=1 reverse=1", "f32[2,2]", "1 2 3 4", "3 4 0 0", false},
    {"top_k(f32[4]) axis=0 k=3", "f32[3], i64[3]", "2 5 5 nan", "nan 5 5;3 1 2", false},
    {"gather(f32[2,2], i64[3]) axis=0", "f32[3,2]", "1 2 3 4;1 -1 2", "3 4 0 0 0 0", false},
    {"gather(f32[2,2], i64[2]) axis=1 batch=1", "f32[2]", "1 2 3 4;1 0", "2 3", false},
    {"scatter(f32[3,1], i64[3]) axis=0 n=2 reduction=\"add\"", "f32[2,1]", "1 2 3;1 1 2", "0 3",
     false},
    {"scatter(f32[3,1], i64[3], f32[2,1]) axis=0 n=2 reduction=\"add\"", "f32[2,1]",
     "1 2 3;1 1 2;4 5", "4 8", false},
    {"scatter(f32[3,1], i64[3], f32[2,1]) axis=0 n=2 reduction=\"last\"", "f32[2,1]",
     "1 2 3;1 1 2;4 5", "4 2", false},
    {"scatter(i32[3,2], i64[3,2], i32[3,2]) axis=1 batch=1 n=2 reduction=\"mul\"", "i32[3,2]",
     "2 3 4 5 6 7;0 1 1 1 -1 2;1 -1 2 3 4 5", "2 -3 2 60 4 5", false},
    {"scatter(f32[3], i64[3], f32[2]) axis=0 n=2 reduction=\"max\"", "f32[2]", "1 nan 3;0 1 0;2 9",
     "3 nan", false},
    {"scatter(i64[3], i64[3], i64[2]) axis=0 n=2 reduction=\"min\"", "i64[2]", "1 -2 3;0 1 0;2 9",
     "1 -2", false},
    {"scatter(i64[2], i64[2]) axis=1 batch=1 n=2 reduction=\"add\"", "i64[2,2]", "5 6;0 1",
     "5 0 0 6", false},

    {"abs(f64[3])", "f64[3]", "-2 0 2", "-1 0 1", true},
    {"max(f64[3], f64[3])", "f64[3]", "1 2 3;2 2 2", "0 0.5 1;1 0.5 0", true},
    {"min(f64[3], f64[3])", "f64[3]", "1 2 3;2 2 2", "1 0.5 0;0 0.5 1", true},
    {"reduce_max(f64[2,3]) axes=[1]", "f64[2]", "1 1 0 2 3 1", "0.5 0.5 0 0 1 0", true},
    {"reduce_min(f64[2,3]) axes=[1]", "f64[2]", "1 1 0 2 1 1", "0 0 1 0 0.5 0.5", true},
    {"reduce_max(f64[2,3]) axes=[1] first=1", "f64[2]", "1 1 0 2 3 3", "1 0 0 0 1 0", true},
    {"reduce_max(f64[2,3]) axes=[0,1] first=1", "f64[]", "1 1 0 2 3 3", "0 0 0 0 1 0", true},
    {"reduce_min(f64[2,3]) axes=[1] first=1", "f64[2]", "1 1 0 2 1 1", "0 0 1 0 1 0", true},
    {"sqrt(f64[2])", "f64[2]", "0 1", "inf 0.5", true},
    {"log1p(f64[3])", "f64[3]", "-1 0 1", "inf 1 0.5", true},
    {"pow(f64[4], f64[4])", "f64[4]", "0 2 0 -2;0 0 2 2", "0 0 0 -4;0 0.693147180559945 0 nan",
     true},
    {"select(bool[2], f64[2], f64[2])", "f64[2]", "1 0;1 nan;nan 4", "1 0;0 1", true},
    {"gather(f64[2], i64[3]) axis=0", "f64[3]", "1 2;1 -1 1", "0 2", true},
    {"top_k(f64[3]) axis=0 k=2", "f64[2], i64[2]", "3 3 1", "1 1 0", true},
};

// Reads the numbers of one operand; returns the text after its ';'.
static const char *read_numbers(Tensor *t, const char *s)
{
    for (int64_t k = 0; k < tensor_count(t); k++) {
        char *end;

        if (t->f)
            t->f[k] = strtod(s, &end);
        else
            t->i[k] = strtoll(s, &end, 10);
        assert_ptr_not_equal(s, end);
        s = end;
    }
    s += strspn(s, " ");
    assert_true(*s == ';' || *s == 0);
    return *s ? s + 1 : s;
}

static bool is_same_number(const Tensor *a, const Tensor *b, int64_t k)
{
    if (!a->f)
        return a->i[k] == b->i[k];
    return a->f[k] == b->f[k] || fabs(a->f[k] - b->f[k]) < 1e-12 ||
           (a->f[k] != a->f[k] && b->f[k] != b->f[k]);
}

static const char *check(const char *node, const Tensor *y, const char *expected)
{
    Arena *a = arena_new();
    Tensor want = tensor_new(a, y->dtype, y->rank, y->dim);

    expected = read_numbers(&want, expected);
    for (int64_t k = 0; k < tensor_count(y); k++)
        if (!is_same_number(y, &want, k))
            fail_msg("%s: element %" PRId64 " is %.15g, expected %.15g", node, k,
                     y->f ? y->f[k] : (double)y->i[k], want.f ? want.f[k] : (double)want.i[k]);
    arena_free(a);
    return expected;
}

static void check_values(Sample *s, const char *node, const char *expected)
{
    Tensor y[MAX_OUTPUTS];

    node_eval(s->arena, s->g, &s->node, s->in, y);
    for (int i = 0; i < s->node.n_out; i++)
        expected = check(node, &y[i], expected);
    assert_string_equal(expected, "");
}

static void check_gradients(Sample *s, const char *node, const char *expected)
{
    ValueId dy[MAX_OUTPUTS] = {0}, dx[SAMPLE_INPUTS] = {0};
    bool want[SAMPLE_INPUTS];
    const Value *v = out(s->g, &s->node);

    for (int i = 0; i < s->node.n_in; i++)
        want[i] = s->in[i].f;
    dy[0] = graph_value(s->g, VALUE_ZERO, NULL, F64, v->rank, v->dim);
    value_edit(s->g, dy[0])->fill = 1;
    s->node.op->grad(s->g, &s->node, dy, want, dx);
    Tensor *values = arena_array(s->arena, Tensor, s->g->n_values);
    for (int i = 0; i < s->node.n_in; i++)
        values[s->node.in[i]] = s->in[i];
    graph_eval(s->arena, s->g, values);
    for (int i = 0; i < s->node.n_in; i++)
        if (want[i])
            expected = check(node, &values[dx[i]], expected);
    assert_string_equal(expected, "");
}

static void check_cases(bool grad)
{
    for (int i = 0; i < COUNT(cases); i++) {
        SampleText t = {cases[i].node, cases[i].types, ""};
        const char *numbers = cases[i].in;
        Sample s;

        if (cases[i].grad != grad)
            continue;
        s = sample_read(&t, false);
        if (!s.g)
            fail_msg("%s: %s", t.node, s.message);
        for (int k = 0; k < s.node.n_in && s.node.in[k]; k++)
            numbers = read_numbers(&s.in[k], numbers);
        (grad ? check_gradients : check_values)(&s, t.node, cases[i].out);
        sample_free(&s);
    }
}

static void values_are_as_defined(void **state) { check_cases(false); }

static void gradients_are_as_defined(void **state) { check_cases(true); }

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(values_are_as_defined),
        cmocka_unit_test(gradients_are_as_defined),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
