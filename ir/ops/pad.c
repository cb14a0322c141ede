// pad: adds `value` before, after and between the input's elements, in each dim.
#include "ir/operator/atoms.h"
#include "ir/operator/operator.h"

enum { LOW, HIGH, INNER, VALUE };

static bool pad_infer(Graph *g, Node *n, Diag *d)
{
    const Value *x = in(g, n, 0);
    int64_t dim[MAX_RANK], most = (int64_t)1 << 48;

    for (int i = LOW; i <= INNER; i++)
        if (n->attr[i].n != x->rank)
            return node_error(g, n, d, "low, high and inner must be lists of %d", x->rank);
    for (int i = 0; i < x->rank; i++) {
        int64_t low = n->attr[LOW].v[i], high = n->attr[HIGH].v[i], inner = n->attr[INNER].v[i];

        if (low < 0 || high < 0 || inner < 0 || low > most || high > most ||
            !mul_size(x->dim[i] ? x->dim[i] - 1 : 0, inner, &inner) || inner > most)
            return node_error(g, n, d, "padding of dim %d is out of range", i);
        dim[i] = low + x->dim[i] + inner + high;
    }
    return infer_set(g, n, 0, x->dtype, x->rank, dim, d);
}

static void pad_rule(const Graph *g, const Node *n, Rule *r)
{
    rule_elementwise(g, n, r);
    for (int i = 0; i < in(g, n, 0)->rank; i++)
        if (in(g, n, 0)->dim[i] != out(g, n)->dim[i])
            rule_kind(r, LETTERS[i], FACTOR_BLOCKED);
    r->joint = n->attr[VALUE].f == 0;
}

static void pad_grad(Graph *g, const Node *n, const ValueId *dy, const bool *want, ValueId *dx)
{
    const Value *x = in(g, n, 0);
    int64_t stride[MAX_RANK];

    for (int i = 0; i < x->rank; i++)
        stride[i] = x->dim[i] > 1 ? n->attr[INNER].v[i] + 1 : 1;
    dx[0] = make_slice(g, dy[0], n->attr[LOW].v, x->dim, stride);
}

static void pad_eval(const Graph *g, const Node *n, const NodeShard *p, const Tensor *x, Tensor *y)
{
    int64_t index[MAX_RANK] = {0}, to[MAX_RANK];

    for (int64_t k = 0; k < tensor_count(y); k++) {
        if (y->f)
            y->f[k] = n->attr[VALUE].f;
        else
            y->i[k] = int_of_float(y->dtype, n->attr[VALUE].f);
    }
    for (int64_t k = 0; k < tensor_count(x); k++, index_next(index, x->rank, x->dim)) {
        for (int i = 0; i < x->rank; i++)
            to[i] = n->attr[LOW].v[i] + index[i] * (n->attr[INNER].v[i] + 1);
        element_copy(y, index_at(to, y->rank, y->dim), x, k);
    }
}

static void pad_subview(const Graph *g, const Node *n, int i, const int64_t *out_stride,
                        int64_t *in_stride, int64_t *offset)
{
    *offset = 0;
    for (int j = 0; j < in(g, n, i)->rank; j++) {
        in_stride[j] = out_stride[j] * (n->attr[INNER].v[j] + 1);
        *offset += out_stride[j] * n->attr[LOW].v[j];
    }
}

static double pad_fill(const Node *n) { return n->attr[VALUE].f; }

// The rule blocks padded dims, so each of them is still one dim here.
static ValueId pad_split(Graph *g, const Node *n, const Split *s)
{
    const Refined *x = &s->operand[0];
    int64_t low[MAX_RANK] = {0}, high[MAX_RANK] = {0}, inner[MAX_RANK] = {0};

    for (int i = 0; i < n->attr[LOW].n; i++) {
        if (!n->attr[LOW].v[i] && !n->attr[HIGH].v[i] && !n->attr[INNER].v[i])
            continue;
        low[x->first[i]] = n->attr[LOW].v[i];
        high[x->first[i]] = n->attr[HIGH].v[i];
        inner[x->first[i]] = n->attr[INNER].v[i];
    }
    return make_pad(g, s->in[0], low, high, inner, n->attr[VALUE].f);
}

const OpDef op_pad = {
    .name = "pad",
    .n_in = 1,
    .attrs = {{"low", ATTR_INTS}, {"high", ATTR_INTS}, {"inner", ATTR_INTS}, {"value", ATTR_FLOAT}},
    .infer = pad_infer,
    .rule = pad_rule,
    .split = pad_split,
    .grad = pad_grad,
    .eval = pad_eval,
    .subview = pad_subview,
    .fill = pad_fill,
    .no_split = "shards of a padded dim would hold different parts of the padding",
};
