// Tests factor rules. Every factor that may be split is split in two shards, uneven ones and an
// empty one. The shards, evaluated at their offsets and joined as the factor's kind says, must be
// the whole. An operator must also be linear in the inputs for which its rule says so. The
// expected rules are in tests/ir/samples.def.
#include "tests/ir/sample.h"

static const double tolerance = 2e-5;

static const Value *operand(const Sample *s, int i)
{
    const Node *n = &s->node;

    return value_of(s->g, i < n->n_in ? n->in[i] : n->out[i - n->n_in]);
}

// ---- evaluating ----

static void eval_whole(const Sample *s, const Tensor *x, Tensor *y)
{
    node_eval(s->arena, s->g, &s->node, x, y);
}

// ---- shards ----

// The dim of an operand that is factor f; -1 if none is.
static int dim_of(const Sample *s, const Rule *r, int operand_number, int f)
{
    for (int i = 0; i < operand(s, operand_number)->rank; i++)
        if (r->dim[operand_number][i] == f)
            return i;
    return -1;
}

// Copies between a tensor and the part [first, first + n) of one dim of a larger one.
static void copy_part(Tensor *part, Tensor *whole, int dim, int64_t first, bool into_whole)
{
    int64_t index[MAX_RANK] = {0}, at[MAX_RANK];

    for (int64_t k = 0; k < tensor_count(part); k++, index_next(index, part->rank, part->dim)) {
        memcpy(at, index, sizeof at);
        at[dim] += first;
        int64_t j = index_at(at, whole->rank, whole->dim);

        if (part->f)
            *(into_whole ? &whole->f[j] : &part->f[k]) = into_whole ? part->f[k] : whole->f[j];
        else
            *(into_whole ? &whole->i[j] : &part->i[k]) = into_whole ? part->i[k] : whole->i[j];
    }
}

static Tensor shard_of(const Sample *s, const Value *v, int dim, int64_t n)
{
    int64_t dims[MAX_RANK];

    memcpy(dims, v->dim, sizeof dims);
    if (dim >= 0)
        dims[dim] = n;
    return tensor_new(s->arena, v->dtype, v->rank, dims);
}

static void eval_shard(const Sample *s, const Rule *r, int f, int64_t first, int64_t n, Tensor *y)
{
    Tensor x[SAMPLE_INPUTS];
    NodeShard p = {{0}, {0}};

    for (int i = 0; i < r->n_factors; i++)
        p.whole[i] = r->size[i];
    p.offset[f] = first;
    for (int i = 0; i < s->node.n_in; i++) {
        int dim = s->node.in[i] ? dim_of(s, r, i, f) : -1;

        x[i] = s->in[i];
        if (dim < 0)
            continue;
        x[i] = shard_of(s, operand(s, i), dim, n);
        copy_part(&x[i], (Tensor *)&s->in[i], dim, first, false);
    }
    for (int i = 0; i < s->node.n_out; i++) {
        int at = s->node.n_in + i;

        y[i] = shard_of(s, operand(s, at), dim_of(s, r, at, f), n);
    }
    node_eval_shard(s->g, &s->node, &p, x, y);
}

// ---- joining ----

static double join_float(FactorKind kind, double a, double b)
{
    if (kind == FACTOR_MAX)
        return a > b || a != a ? a : b;
    if (kind == FACTOR_MIN)
        return a < b || a != a ? a : b;
    return a + b;
}

static int64_t join_int(FactorKind kind, int64_t a, int64_t b)
{
    if (kind == FACTOR_MAX)
        return a > b ? a : b;
    if (kind == FACTOR_MIN)
        return a < b ? a : b;
    return a + b;
}

static Tensor join(const Sample *s, FactorKind kind, const Tensor *a, const Tensor *b)
{
    Tensor y = tensor_new(s->arena, a->dtype, a->rank, a->dim);

    for (int64_t k = 0; k < tensor_count(&y); k++) {
        if (y.f)
            y.f[k] = join_float(kind, a->f[k], b->f[k]);
        else
            y.i[k] = join_int(kind, a->i[k], b->i[k]);
    }
    tensor_round(&y);
    return y;
}

static void check_cut(const Sample *s, const SampleText *t, const Rule *r, int f, int64_t cut)
{
    Tensor a[MAX_OUTPUTS], b[MAX_OUTPUTS], whole[MAX_OUTPUTS];

    eval_whole(s, s->in, whole);
    eval_shard(s, r, f, 0, cut, a);
    eval_shard(s, r, f, cut, r->size[f] - cut, b);
    for (int i = 0; i < s->node.n_out; i++) {
        int dim = dim_of(s, r, s->node.n_in + i, f);
        Tensor y;

        if (dim >= 0) {
            y = shard_of(s, operand(s, s->node.n_in + i), -1, 0);
            copy_part(&a[i], &y, dim, 0, true);
            copy_part(&b[i], &y, dim, cut, true);
        } else {
            y = join(s, r->kind[f], &a[i], &b[i]);
        }
        if (!is_near(&y, &whole[i], tolerance))
            fail_msg("%s: output %d differs when '%c' is cut at %" PRId64, t->node, i, r->letter[f],
                     cut);
    }
}

static void check_factor(const Sample *s, const SampleText *t, const Rule *r, int f)
{
    int64_t n = r->size[f];

    for (int i = 0; i < r->n_in + r->n_out; i++)
        for (int k = 0; (i >= r->n_in || s->node.in[i]) && k < operand(s, i)->rank; k++)
            if (r->dim[i][k] == f)
                assert_int_equal(operand(s, i)->dim[k], n);
    check_cut(s, t, r, f, (n + 2) / 3 < n ? (n + 2) / 3 : n);
    check_cut(s, t, r, f, 0);
}

// ---- linear inputs ----

// Checks f(x + x') = f(x) + f(x'), where x and x' differ in the inputs of `mask`.
static void check_linear(const Sample *s, const SampleText *t, uint64_t mask)
{
    Tensor x[SAMPLE_INPUTS], both[SAMPLE_INPUTS];
    Tensor y1[MAX_OUTPUTS], y2[MAX_OUTPUTS], y[MAX_OUTPUTS];

    for (int i = 0; i < s->node.n_in; i++) {
        x[i] = both[i] = s->in[i];
        if (mask >> i & 1) {
            x[i] = sample_tensor(s->arena, operand(s, i), s->marks[i], i + 3);
            both[i] = join(s, FACTOR_SUM, &s->in[i], &x[i]);
        }
    }
    eval_whole(s, s->in, y1);
    eval_whole(s, x, y2);
    eval_whole(s, both, y);
    for (int i = 0; i < s->node.n_out; i++) {
        Tensor sum = join(s, FACTOR_SUM, &y1[i], &y2[i]);
        bool is_half = y[i].dtype == BF16 || both[0].dtype == BF16;

        if (!is_near(&sum, &y[i], is_half ? 1e-2 : tolerance))
            fail_msg("%s: output %d is not linear in inputs %" PRIx64, t->node, i, mask);
    }
}

// ---- the loop ----

static void check_sample(const SampleText *t)
{
    Sample s = sample_read(t, false);
    Text text = {0};
    Rule r;

    if (!s.g)
        fail_msg("%s: %s", t->node, s.message);
    node_rule(s.arena, s.g, &s.node, &r);
    rule_print(&r, &text);
    if (strcmp(text.s, t->rule))
        fail_msg("%s: the rule is\n  %s, expected\n  %s", t->node, text.s, t->rule);
    text_free(&text);
    for (int f = 0; f < r.n_factors; f++)
        if (r.kind[f] < FACTOR_WINDOW)
            check_factor(&s, t, &r, f);
    if (r.joint)
        check_linear(&s, t, r.joint);
    for (int i = 0; i < s.node.n_in; i++)
        if (r.single >> i & 1)
            check_linear(&s, t, (uint64_t)1 << i);
    sample_free(&s);
}

static bool has_blocked(const SampleText *t)
{
    return t->rule && (strstr(t->rule, "blocked:") || strstr(t->rule, "window:"));
}

static void shards_make_the_whole(void **state)
{
    for (int i = 0; op_table[i]; i++) {
        bool is_blocked = false;

        for (int k = 0; k < COUNT(samples); k++) {
            if (!is_of(&samples[k], op_table[i]) || !samples[k].rule)
                continue;
            check_sample(&samples[k]);
            is_blocked |= has_blocked(&samples[k]);
        }
        if (is_blocked)
            print_reason(op_table[i], op_table[i]->no_split);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(shards_make_the_whole)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
