// attention: dropout(softmax(scale · q·k + bias)) · v, with causal and sliding-window masks by
// position.
#include <math.h>
#include <string.h>

#include "ir/operator/atoms.h"
#include "ir/operator/contract.h"

enum { BIAS = 3, SEED };

static bool attention_infer(Graph *g, Node *n, Diag *d)
{
    DType t = in(g, n, 0)->dtype;
    int64_t size[N_LETTERS], dim[MAX_RANK];
    AttentionDims a;

    if (!infer_attention(g, n, &a, size, d))
        return false;
    letters_dims(a.eq.dims[3], size, dim);
    if (!infer_set(g, n, 0, t, (int)strlen(a.eq.dims[3]), dim, d))
        return false;
    letters_dims(a.rows, size, dim);
    return infer_set(g, n, 1, t == F64 ? F64 : F32, (int)strlen(a.rows), dim, d) &&
           infer_set(g, n, 2, t == F64 ? F64 : F32, (int)strlen(a.rows), dim, d);
}

static void attention_rule(const Graph *g, const Node *n, Rule *r)
{
    AttentionDims a;
    char text[16 * MAX_RANK];

    attention_read(n, &a);
    const char *q = a.eq.dims[0], *k = a.eq.dims[1], *v = a.eq.dims[2], *y = a.eq.dims[3];
    snprintf(text, sizeof text, "%s,%s,%s,%s,,,->%s,%s,%s", q, k, v, a.bias, y, a.rows, a.rows);
    rule_attention(g, n, text, r);
}

static void attention_grad(Graph *g, const Node *n, const ValueId *dy, const bool *want,
                           ValueId *dx)
{
    Attention options = attention_options(n);

    if (dy[1] || dy[2] || want[BIAS]) {
        const char *what = dy[1] ? "the maximum" : dy[2] ? "the sum" : "the bias";
        node_error(g, n, g->diag, "%s has no gradient", what);
        return;
    }
    ValueId dq = make_attention_grad(g, n->in[0], n->in[1], n->in[2], n->in[3], n->out[0],
                                     n->out[1], n->out[2], dy[0], &options);
    for (int i = 0; i < 3; i++)
        dx[i] = graph_output_of(g, dq, i);
}

// The maximum of a row of scores and the sum of exp(score - maximum).
typedef struct RowSum {
    double max, sum;
} RowSum;

// Replaces a row of scores by its weights. Without keys there are none, as with a guard.
static RowSum softmax(double *p, int64_t count, int guard)
{
    RowSum r = {.max = -INFINITY};

    for (int64_t t = 0; t < count; t++)
        r.max = p[t] > r.max || isnan(p[t]) ? p[t] : r.max;
    for (int64_t t = 0; t < count; t++) {
        p[t] = exp(p[t] - r.max);
        r.sum += p[t];
    }
    if (count == 0 || (isnan(r.sum) && (guard == 1 || (guard == 2 && r.max == -INFINITY))))
        r.sum = INFINITY;
    for (int64_t t = 0; t < count; t++)
        p[t] = isinf(r.sum) ? 0 : p[t] / r.sum;
    return r;
}

static void attention_eval(const Graph *g, const Node *n, const NodeShard *p, const Tensor *x,
                           Tensor *y)
{
    Arena *a = arena_new();
    AttentionRow r = attention_row(a, g, n, p, x);
    const char *values = r.dims.values, *rows = r.dims.rows;
    const char *v_dims = r.dims.eq.dims[2], *y_dims = r.dims.eq.dims[3];
    int64_t *t = &r.at[(int)*r.dims.keys], step = letters_stride(*r.dims.keys, v_dims, &x[2]);

    for (bool row = letters_begin(r.at, rows, r.size); row;
         row = letters_next(r.at, rows, r.size)) {
        attention_scores(&r, n, x);
        RowSum of = softmax(r.p, r.count, r.options.guard);
        y[1].f[letters_at(r.at, rows, &y[1])] = of.max;
        y[2].f[letters_at(r.at, rows, &y[2])] = of.sum;
        for (bool f = letters_begin(r.at, values, r.size); f;
             f = letters_next(r.at, values, r.size)) {
            double sum = 0;

            *t = 0;
            const double *v = x[2].f + letters_at(r.at, v_dims, &x[2]);
            for (int64_t i = 0; i < r.count; i++)
                sum += r.p[i] * r.keep[i] * v[i * step];
            y[0].f[letters_at(r.at, y_dims, &y[0])] = sum;
        }
    }
    arena_free(a);
}

static double attention_work(const Graph *g, const Node *n) { return work_attention(g, n, 1, 1); }

// Masks depend on the positions of keys and queries. So the key dim, and the query dim that has
// positions, aren't split.
static void attention_relate(const Graph *g, const Node *n, Relation *r)
{
    AttentionDims a;

    bool is_causal = attention_options(n).causal;

    attention_read(n, &a);
    for (int o = 0; o < 3; o++)
        for (int i = 0; a.eq.dims[o][i]; i++) {
            char c = a.eq.dims[o][i];
            bool has_position = c == *a.keys || (c == a.query && is_causal);
            bool has_role = c == a.query || strchr(a.inner, c) || strchr(a.values, c);

            if (has_position || (has_role && in(g, n, o)->dim[i] == 1))
                relate_whole(r, o, i);
        }
}

// Sets `text` to the letters of drop_eq over atoms, given those of q and k. Returns micro_axis in
// the new text.
static int64_t split_drop(const AttentionDims *a, const Split *s, char (*to)[MAX_RANK + 1],
                          int64_t micro_axis, char *text)
{
    int64_t axis = micro_axis < 0 ? -1 : 0;
    int n = 0;

    for (int i = 0; a->drop[i]; i++) {
        int from = a->drop[i] == *a->keys;  // 0: q, 1: k
        const Refined *v = &s->operand[from];
        int64_t k = strchr(a->eq.dims[from], a->drop[i]) - a->eq.dims[from];
        for (int j = v->first[k]; j < v->first[k + 1]; j++)
            text[n++] = to[from][j];
        if (i < micro_axis)
            axis = n;
    }
    text[n] = 0;
    return axis;
}

static ValueId attention_split(Graph *g, const Node *n, const Split *s)
{
    int at[] = {0, 1, 2, n->n_in, BIAS}, n_texts = n->in[BIAS] ? 5 : 4;
    char to[5][MAX_RANK + 1] = {""}, drop[MAX_RANK + 1];
    Attention options = attention_options(n);
    AttentionDims a;

    attention_read(n, &a);
    const char *dims[] = {a.eq.dims[0], a.eq.dims[1], a.eq.dims[2], a.eq.dims[3], a.bias};
    if (!split_letters(s, n_texts, dims, at, to))
        return 0;
    options.eq = arena_string(g->arena, "%s,%s,%s->%s", to[0], to[1], to[2], to[3]);
    options.bias_eq = n->in[BIAS] ? to[4] : NULL;
    options.query = s->operand[0].first[options.query];
    if (n->in[SEED]) {
        options.drop.micro_axis = split_drop(&a, s, to, options.drop.micro_axis, drop);
        options.drop.eq = drop;
        options.drop.seed = s->in[SEED];
        options.drop.step = s->in[SEED + 1];
        options.drop.micro = s->in[SEED + 2];
    }
    return make_attention(g, s->in[0], s->in[1], s->in[2], s->in[BIAS], &options);
}

static int attention_site(const Node *n) { return n->in[SEED] ? ATTENTION_SITE : 0; }

const OpDef op_attention = {
    .name = "attention",
    .n_in = 7,
    .n_optional = 4,
    .n_out = 3,
    .attrs = ATTENTION_ATTRS,
    .infer = attention_infer,
    .rule = attention_rule,
    .relate = attention_relate,
    .split = attention_split,
    .grad = attention_grad,
    .eval = attention_eval,
    .kernel = kernel_attention,
    .site = attention_site,
    .is_product = true,
    .narrow_in = 1 << 0 | 1 << 1 | 1 << 2,
    .is_attention = true,
    .work = attention_work,
    .no_grad_in = 1 << BIAS,
    .no_grad_out = 1 << 1 | 1 << 2,
    .no_grad = "of the bias, the maximum and the sum: the pattern leaves such biases alone",
    .no_split = ATTENTION_NO_SPLIT,
};
