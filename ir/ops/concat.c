// concat: joins the inputs one after the other along one dim.
#include <string.h>

#include "ir/operator/atoms.h"
#include "ir/operator/operator.h"

enum { AXIS };

static bool concat_infer(Graph *g, Node *n, Diag *d)
{
    const Value *x = in(g, n, 0);
    int64_t axis = n->attr[AXIS].i, dim[MAX_RANK];

    if (!infer_axis(g, n, "axis", axis, x->rank, d))
        return false;
    for (int i = 0; i < x->rank; i++)
        dim[i] = x->dim[i];
    for (int i = 1; i < n->n_in; i++) {
        const Value *v = in(g, n, i);
        bool fits = v->rank == x->rank && v->dtype == x->dtype;

        for (int j = 0; fits && j < x->rank; j++)
            fits = j == axis || v->dim[j] == x->dim[j];
        if (!fits)
            return node_error(g, n, d, "operand %d is %s, which does not fit %s", i,
                              type_text(g->arena, v), type_text(g->arena, x));
        dim[axis] += v->dim[axis];  // no overflow: at most 2^16 inputs of 2^48 elements
    }
    return infer_set(g, n, 0, x->dtype, x->rank, dim, d);
}

static void concat_rule(const Graph *g, const Node *n, Rule *r)
{
    rule_elementwise(g, n, r);
    rule_kind(r, LETTERS[n->attr[AXIS].i], FACTOR_BLOCKED);
    // The mask has 64 bits. With more inputs the node isn't linear, so partial inputs are reduced
    // first.
    if (n->n_in <= 64)
        r->joint = UINT64_MAX >> (64 - n->n_in);
}

static void concat_grad(Graph *g, const Node *n, const ValueId *dy, const bool *want, ValueId *dx)
{
    int64_t start[MAX_RANK] = {0}, stride[MAX_RANK], axis = n->attr[AXIS].i;

    for (int i = 0; i < MAX_RANK; i++)
        stride[i] = 1;
    for (int i = 0; i < n->n_in; i++) {
        if (want[i])
            dx[i] = make_slice(g, dy[0], start, in(g, n, i)->dim, stride);
        start[axis] += in(g, n, i)->dim[axis];
    }
}

static void concat_eval(const Graph *g, const Node *n, const NodeShard *p, const Tensor *x,
                        Tensor *y)
{
    int axis = (int)n->attr[AXIS].i;
    int64_t first = 0;

    for (int i = 0; i < n->n_in; i++) {
        int64_t index[MAX_RANK] = {0};

        for (int64_t k = 0; k < tensor_count(&x[i]); k++) {
            int64_t to = 0;

            for (int j = 0; j < y->rank; j++)
                to = to * y->dim[j] + index[j] + (j == axis ? first : 0);
            element_copy(y, to, &x[i], k);
            index_next(index, x[i].rank, x[i].dim);
        }
        first += x[i].dim[axis];
    }
}

static void concat_subview(const Graph *g, const Node *n, int i, const int64_t *out_stride,
                           int64_t *in_stride, int64_t *offset)
{
    int64_t axis = n->attr[AXIS].i;

    *offset = 0;
    for (int j = 0; j < i; j++)
        *offset += in(g, n, j)->dim[axis] * out_stride[axis];
    for (int j = 0; j < in(g, n, i)->rank; j++)
        in_stride[j] = out_stride[j];
}

// The joined dim may be split at an inner part that all operands have. Its outer part stays a dim
// of each operand, even of size 1.
static void concat_relate(const Graph *g, const Node *n, Relation *r)
{
    int axis = (int)n->attr[AXIS].i;
    int64_t first = 0, whole = out(g, n)->dim[axis];

    for (int i = 0; i < n->n_in; i++) {
        int64_t size = in(g, n, i)->dim[axis];

        if (size == 1)
            relate_whole(r, i, axis);
        else if (size != whole)
            relate_inner(r, i, axis, n->n_in, axis, gcd(gcd(first, size), whole), false);
        relate_unit(r, i, axis);
        first += size;
    }
}

// Reshapes an input to y's atoms. An input that has the inner part alone gets a dim of size 1
// before it.
static ValueId concat_part(Graph *g, ValueId part, const Refined *x, const Refined *y, int axis)
{
    int at = y->first[axis], n_y = y->first[axis + 1] - at, n_x = x->first[axis + 1] - at;
    Value v = *value_of(g, part);

    if (n_x < n_y - 1 || n_x > n_y)
        return 0;
    for (int i = 1; i < n_y; i++)
        if (y->dim[at + i] != x->dim[at + i - (n_y - n_x)])
            return 0;
    if (n_x == n_y)
        return part;
    memmove(v.dim + at + 1, v.dim + at, sizeof *v.dim * (size_t)(v.rank - at));
    v.dim[at] = 1;
    return make_reshape(g, part, v.rank + 1, v.dim);
}

static ValueId concat_split(Graph *g, const Node *n, const Split *s)
{
    ValueId *part = arena_array(g->arena, ValueId, n->n_in);
    const Refined *y = &s->operand[n->n_in];
    int axis = (int)n->attr[AXIS].i;

    for (int i = 0; i < n->n_in; i++) {
        part[i] = concat_part(g, s->in[i], &s->operand[i], y, axis);
        if (!part[i])
            return 0;
    }
    return make_concat(g, n->n_in, part, y->first[axis]);
}

const OpDef op_concat = {
    .name = "concat",
    .n_in = MIN_INPUTS(1),
    .attrs = {{"axis", ATTR_INT}},
    .infer = concat_infer,
    .rule = concat_rule,
    .relate = concat_relate,
    .split = concat_split,
    .grad = concat_grad,
    .eval = concat_eval,
    .subview = concat_subview,
    .no_split = "shards of a joined dim would hold different inputs",
};
