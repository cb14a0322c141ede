// The C expressions of elements against eval: a program with a function per sample is written,
// compiled without a warning, loaded, and its results compared.
#include <dlfcn.h>
#include <stdio.h>
#include <unistd.h>

#include "tests/ir/sample.h"

// f32 functions are within 2 units in the last place; eval rounds the true value.
static const double tolerance = 4e-7;

static bool has_c_type(const Sample *s)
{
    DType t = out(s->g, &s->node)->dtype;

    return t != F16 && t != BF16;
}

// ---- writing ----

static void put_operand(FILE *f, const Sample *s, int i)
{
    const Value *v = in(s->g, &s->node, i);

    fprintf(f, "((const %s *)p[%d])[%s]", dtype_c_type(v->dtype), i, v->rank ? "k" : "0");
}

static void put_expression(FILE *f, const Sample *s, const char *e)
{
    for (; *e; e++) {
        if (*e != '$')
            fputc(*e, f);
        else if (e[1] == 'i')
            fprintf(f, "i%c", *(e += 2));
        else if (e[1] == 'a')
            fprintf(f, "%" PRId64, s->node.attr[*(e += 2) - '0'].i);
        else
            put_operand(f, s, *++e - '0');
    }
}

static void put_function(FILE *f, const Sample *s, int number)
{
    const Value *y = out(s->g, &s->node);
    const char *e = s->node.op->expr(s->g, &s->node);
    int64_t step = 1;

    fprintf(f, "void sample_%d(void **p);\nvoid sample_%d(void **p)\n{\n", number, number);
    fprintf(f, "    for (int64_t k = 0; k < %" PRId64 "; k++) {\n", value_count(y));
    for (int i = y->rank - 1; i >= 0; i--) {
        fprintf(f, "        int64_t i%d = k / %" PRId64 " %% %" PRId64 ";\n", i, step,
                y->dim[i] ? y->dim[i] : 1);
        fprintf(f, "        (void)i%d;\n", i);
        step *= y->dim[i] ? y->dim[i] : 1;
    }
    fprintf(f, "        ((%s *)p[%d])[k] = ", dtype_c_type(y->dtype), s->node.n_in);
    put_expression(f, s, e);
    fprintf(f, ";\n    }\n}\n\n");
}

// Samples of operators with an expression, narrow and in f64: number 2 k and 2 k + 1.
static bool read_sample(int number, Sample *s)
{
    const SampleText *t = &samples[number / 2];

    *s = (Sample){0};
    if (!t->rule)
        return false;
    *s = sample_read(t, number % 2);
    if (s->g && s->node.op->expr && has_c_type(s))
        return true;
    sample_free(s);
    return false;
}

static void write_program(const char *path)
{
    FILE *f = fopen(path, "w");

    assert_non_null(f);
    fprintf(f, "#include \"runtime/rt_math.h\"\n\n");
    for (int i = 0; i < 2 * COUNT(samples); i++) {
        Sample s;

        if (read_sample(i, &s)) {
            put_function(f, &s, i);
            sample_free(&s);
        }
    }
    assert_int_equal(fclose(f), 0);
}

// ---- comparing ----

static void check_sample(void *program, int number, Sample *s)
{
    const Value *v = out(s->g, &s->node);
    void *p[SAMPLE_INPUTS + 1];
    char name[32];
    Tensor want;

    snprintf(name, sizeof name, "sample_%d", number);
    void (*f)(void **) = (void (*)(void **))dlsym(program, name);
    assert_true(f);
    for (int i = 0; i < s->node.n_in; i++)
        p[i] = (void *)tensor_pack(s->arena, &s->in[i]);
    p[s->node.n_in] = arena_alloc(s->arena, (size_t)value_count(v), (size_t)dtype_size(v->dtype));
    f(p);
    Value result = *v;
    result.data = p[s->node.n_in];
    Tensor y = tensor_of(s->arena, &result);
    node_eval(s->g, &s->node, s->arena, s->in, &want);
    if (!is_near(&y, &want, tolerance))
        fail_msg("%s%s: the expression is not what eval says", samples[number / 2].node,
                 number % 2 ? " in f64" : "");
}

static void expressions_are_eval(void **state)
{
    char dir[] = "/tmp/expr_test.XXXXXX", c[64], so[64], command[512];

    assert_non_null(mkdtemp(dir));
    snprintf(c, sizeof c, "%s/expr.c", dir);
    snprintf(so, sizeof so, "%s/expr.so", dir);
    write_program(c);
    snprintf(command, sizeof command,
             "${CC:-cc} -std=c11 -O1 -Wall -Wextra -Werror -ffp-contract=off -I. -shared -fPIC "
             "-o %s %s -lm",
             so, c);
    int failed = system(command);
    void *program = failed ? NULL : dlopen(so, RTLD_NOW);
    unlink(c);
    unlink(so);
    rmdir(dir);
    assert_non_null(program);
    for (int i = 0; i < 2 * COUNT(samples); i++) {
        Sample s;

        if (read_sample(i, &s)) {
            check_sample(program, i, &s);
            sample_free(&s);
        }
    }
    dlclose(program);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(expressions_are_eval)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
