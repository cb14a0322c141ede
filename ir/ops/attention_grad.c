// attention_grad: the gradients of attention's q, k and v. Computes the weights again from the
// scores and the rows' maxima and sums, as in FlashAttention (Dao et al. 2022), algorithm 4.
#include <math.h>
#include <string.h>

#include "ir/operator/contract.h"

enum { Q, K, V, BIAS, Y = 7, MAX, SUM, DY };

static bool like(const Graph *g, const Node *n, int i, DType t, const char *dims,
                 const int64_t *size, Diag *d)
{
    static const char *const name[] = {[Y] = "y", [MAX] = "max", [SUM] = "sum", [DY] = "dy"};
    Value want = {.dtype = t, .rank = (int)strlen(dims)};

    letters_dims(dims, size, want.dim);
    if (same_type(&want, in(g, n, i)))
        return true;
    return node_error(g, n, d, "%s must be %s, not %s", name[i], type_text(g->arena, &want),
                      type_text(g->arena, in(g, n, i)));
}

static bool attention_grad_infer(Graph *g, Node *n, Diag *d)
{
    DType t = in(g, n, Q)->dtype;
    int64_t size[N_LETTERS];
    AttentionDims a;

    if (!infer_attention(g, n, &a, size, d))
        return false;
    if (!like(g, n, Y, t, a.eq.dims[3], size, d) || !like(g, n, DY, t, a.eq.dims[3], size, d) ||
        !like(g, n, MAX, t == F64 ? F64 : F32, a.rows, size, d) ||
        !like(g, n, SUM, t == F64 ? F64 : F32, a.rows, size, d))
        return false;
    for (int i = 0; i < 3; i++)
        if (!infer_set(g, n, i, t, in(g, n, i)->rank, in(g, n, i)->dim, d))
            return false;
    return true;
}

// A shard of the queries gives its shard of dq and partial dk and dv.
static void attention_grad_rule(const Graph *g, const Node *n, Rule *r)
{
    AttentionDims a;
    char text[16 * MAX_RANK];

    attention_read(n, &a);
    const char *q = a.eq.dims[0], *k = a.eq.dims[1], *v = a.eq.dims[2], *y = a.eq.dims[3];
    snprintf(text, sizeof text, "%s,%s,%s,%s,,,,%s,%s,%s,%s->%s,%s,%s", q, k, v, a.bias, y, a.rows,
             a.rows, y, q, k, v);
    rule_attention(g, n, text, r);
    for (const char *s = a.queries; *s; s++)
        rule_kind(r, *s, FACTOR_SUM);
    r->single = 1 << DY;
}

// Returns what rounding of y adds to dy·y: dy times the difference of y and the sum of the weighted
// v.
static double rounding_of_y(AttentionRow *r, const Tensor *x)
{
    const char *values = r->dims.values, *v = r->dims.eq.dims[2], *y = r->dims.eq.dims[3];
    int64_t *at = r->at, *t = &at[(int)*r->dims.keys],
            step = letters_stride(*r->dims.keys, v, &x[V]);
    double sum = 0;

    for (bool f = letters_begin(at, values, r->size); f; f = letters_next(at, values, r->size)) {
        double exact = 0;

        *t = 0;
        const double *to = x[V].f + letters_at(at, v, &x[V]);
        for (int64_t i = 0; i < r->count; i++)
            exact += r->p[i] * r->keep[i] * to[i * step];
        sum += x[DY].f[letters_at(at, y, &x[DY])] * (x[Y].f[letters_at(at, y, &x[Y])] - exact);
    }
    return sum;
}

// Adds the gradients of one row: p = exp(score - max) / sum, dp = keep dy·v, ds = p (dp - dy·y); dv
// += p keep dy, dq += ds k, dk += ds q. The sum of p dp over the keys is dy·y, with dropout too
// (appendix B.4); so added up, it is the same as each dp where all are equal. A score that a mask's
// number replaced has no gradient. Rows of padding, whose sum is 0, have no weights.
static void eval_row(AttentionRow *r, const Node *n, const Tensor *x, Tensor *y)
{
    const char *dq = r->dims.eq.dims[0], *dk = r->dims.eq.dims[1], *dv = r->dims.eq.dims[2];
    const char *dy = r->dims.eq.dims[3], *inner = r->dims.inner, *values = r->dims.values;
    double max = x[MAX].f[letters_at(r->at, r->dims.rows, &x[MAX])];
    double sum = x[SUM].f[letters_at(r->at, r->dims.rows, &x[SUM])];
    int64_t *at = r->at, *size = r->size, *t = &at[(int)*r->dims.keys];

    attention_scores(r, n, x);
    for (int64_t i = 0; i < r->count; i++)
        r->p[i] = isinf(sum) || sum == 0 ? 0 : exp(r->p[i] - max) / sum;
    double delta = rounding_of_y(r, x);
    for (*t = 0; *t < r->count; ++*t)
        delta += r->p[*t] * r->keep[*t] * letters_dot(at, values, size, dy, &x[DY], dv, &x[V]);
    for (*t = 0; *t < r->count; ++*t) {
        double p = r->p[*t], keep = r->keep[*t];
        double dp = letters_dot(at, values, size, dy, &x[DY], dv, &x[V]);
        double ds = r->is_set[*t] ? 0 : r->options.scale * p * (keep * dp - delta);

        letters_add(at, values, size, p * keep, dy, &x[DY], dv, &y[V]);
        letters_add(at, inner, size, ds, dk, &x[K], dq, &y[Q]);
        letters_add(at, inner, size, ds, dq, &x[Q], dk, &y[K]);
    }
}

static void attention_grad_eval(const Graph *g, const Node *n, const NodeShard *p, const Tensor *x,
                                Tensor *y)
{
    Arena *a = arena_new();
    AttentionRow r = attention_row(a, g, n, p, x);
    const char *rows = r.dims.rows;

    for (bool row = letters_begin(r.at, rows, r.size); row; row = letters_next(r.at, rows, r.size))
        eval_row(&r, n, x, y);
    arena_free(a);
}

// Two products along the inner dims (dq, dk) and two along the value dims (dp, dv). The recomputed
// scores don't count as work.
static double attention_grad_work(const Graph *g, const Node *n)
{
    return work_attention(g, n, 2, 2);
}

const OpDef op_attention_grad = {
    .name = "attention_grad",
    .n_in = 11,
    .n_optional = 4,
    .optional_at = BIAS,
    .n_out = 3,
    .attrs = ATTENTION_ATTRS,
    .infer = attention_grad_infer,
    .rule = attention_grad_rule,
    .eval = attention_grad_eval,
    .kernel = kernel_attention,
    .is_product = true,
    .is_attention = true,
    .is_attention_grad = true,
    .work = attention_grad_work,
    .no_grad = "a gradient itself: only gradients of gradients would need it",
    .no_split = ATTENTION_NO_SPLIT,
};
