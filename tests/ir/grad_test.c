// Tests every operator's gradient against central differences of its own eval, in f64.
#include "tests/ir/sample.h"

static const double step = 1e-5, tolerance = 2e-7;

static bool is_float(const Sample *s, ValueId v)
{
    return v && dtype_is_float(value_of(s->g, v)->dtype);
}

// Are all floats f64, and is there an input and an output to differentiate?
static bool is_checkable(const Sample *s)
{
    bool from = false, to = false;

    for (int i = 0; i < s->node.n_in + s->node.n_out; i++) {
        ValueId v = i < s->node.n_in ? s->node.in[i] : s->node.out[i - s->node.n_in];

        if (!is_float(s, v))
            continue;
        if (value_of(s->g, v)->dtype != F64)
            return false;
        *(i < s->node.n_in ? &from : &to) = true;
    }
    return from && to;
}

// The number whose gradient is checked: Σ weight · output.
static double loss(const Sample *s, const Tensor *weight)
{
    Arena *a = arena_new();
    Tensor y[MAX_OUTPUTS];
    double sum = 0;

    node_eval(a, s->g, &s->node, s->in, y);
    for (int i = 0; i < s->node.n_out; i++)
        for (int64_t k = 0; weight[i].f && k < tensor_count(&y[i]); k++)
            sum += weight[i].f[k] * y[i].f[k];
    arena_free(a);
    return sum;
}

static double difference(Sample *s, const Tensor *weight, int input, int64_t k)
{
    double x = s->in[input].f[k];

    s->in[input].f[k] = x + step;
    double above = loss(s, weight);
    s->in[input].f[k] = x - step;
    double below = loss(s, weight);
    s->in[input].f[k] = x;
    return (above - below) / (2 * step);
}

// Appends the gradient of input i to the graph, evaluates it and removes it again. `weight` holds
// the dy. An input without gradient gives zeros.
static Tensor gradient(Sample *s, const Tensor *weight, int i)
{
    ValueId dy[MAX_OUTPUTS] = {0}, dx[SAMPLE_INPUTS] = {0};
    bool want[SAMPLE_INPUTS] = {false};
    int n_nodes = s->g->n_nodes, n_values = s->g->n_values;

    for (int k = 0; k < s->node.n_out; k++)
        if (weight[k].f)
            dy[k] = graph_value(s->g, VALUE_INPUT, NULL, F64, weight[k].rank, weight[k].dim);
    want[i] = true;
    s->node.op->grad(s->g, &s->node, dy, want, dx);
    Tensor *values = arena_array(s->arena, Tensor, s->g->n_values);
    for (int k = 0; k < s->node.n_in; k++)
        values[s->node.in[k]] = s->in[k];
    for (int k = 0; k < s->node.n_out; k++)
        values[dy[k]] = weight[k];
    graph_eval(s->arena, s->g, values);
    s->g->n_nodes = n_nodes;
    s->g->n_values = n_values;
    return dx[i] ? values[dx[i]] : tensor_new(s->arena, F64, s->in[i].rank, s->in[i].dim);
}

static void check_input(Sample *s, const SampleText *t, const Tensor *weight, int i)
{
    Tensor dx = gradient(s, weight, i), want = tensor_new(s->arena, F64, dx.rank, dx.dim);

    if (tensor_count(&dx) != tensor_count(&s->in[i]) || dx.rank != s->in[i].rank)
        fail_msg("%s: the gradient of input %d has another shape", t->node, i);
    for (int64_t k = 0; k < tensor_count(&dx); k++) {
        want.f[k] = difference(s, weight, i, k);
        if (!(fabs(dx.f[k] - want.f[k]) <= tolerance * (1 + fabs(want.f[k]))))
            fail_msg("%s: gradient of input %d at %" PRId64 " is %.9g, differences say %.9g",
                     t->node, i, k, dx.f[k], want.f[k]);
    }
}

static bool check_sample(const SampleText *t)
{
    Sample s = sample_read(t, true);
    Tensor weight[MAX_OUTPUTS] = {{0}};

    if (!s.g)
        fail_msg("%s in f64: %s", t->node, s.message);
    bool checked = is_checkable(&s);
    for (int i = 0; checked && i < s.node.n_out; i++)
        if (is_float(&s, s.node.out[i]) && !(s.node.op->no_grad_out >> i & 1))
            weight[i] = sample_tensor(s.arena, value_of(s.g, s.node.out[i]), "", 5 + i);
    for (int i = 0; checked && i < s.node.n_in; i++)
        if (is_float(&s, s.node.in[i]) && !(s.node.op->no_grad_in >> i & 1))
            check_input(&s, t, weight, i);
    sample_free(&s);
    return checked;
}

static void gradients_are_differences(void **state)
{
    for (int i = 0; op_table[i]; i++) {
        int checked = 0;

        if (!op_table[i]->grad || op_table[i]->no_grad_in || op_table[i]->no_grad_out)
            print_reason(op_table[i], op_table[i]->no_grad);
        if (!op_table[i]->grad)
            continue;
        for (int k = 0; k < COUNT(samples); k++)
            if (is_of(&samples[k], op_table[i]) && samples[k].rule)
                checked += check_sample(&samples[k]);
        if (!checked)
            fail_msg("no sample of %s can be checked", op_table[i]->name);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(gradients_are_differences)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
