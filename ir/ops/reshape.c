// reshape: the same elements in row-major order under other dims.
#include "ir/operator/atoms.h"
#include "ir/operator/operator.h"

enum { SHAPE };

static bool reshape_infer(Graph *g, Node *n, Diag *d)
{
    const Value *x = in(g, n, 0);
    const Attr *shape = &n->attr[SHAPE];

    if (!infer_set(g, n, 0, x->dtype, shape->n, shape->v, d))
        return false;
    if (value_count(x) != value_count(out(g, n)))
        return node_error(g, n, d, "%" PRId64 " elements cannot become %" PRId64, value_count(x),
                          value_count(out(g, n)));
    return true;
}

// Sets *n_x and *n_y to the numbers of dims, from i of x and from j of y, that form the next group:
// the fewest dims of equal product. A dim of size 1 is a group of one side if the other side has
// none.
static void next_group(const Value *x, int i, const Value *y, int j, int *n_x, int *n_y)
{
    int64_t a = i < x->rank ? x->dim[i] : 1, b = j < y->rank ? y->dim[j] : 1;

    *n_x = i < x->rank && (a == 1 || j < y->rank);
    *n_y = j < y->rank && (b == 1 || i < x->rank);
    if (a == 1 && b != 1 && *n_x)
        *n_y = 0;
    else if (b == 1 && a != 1 && *n_y)
        *n_x = 0;
    else
        while (a != b && (a < b ? i + *n_x < x->rank : j + *n_y < y->rank)) {
            if (a < b)
                a *= x->dim[i + (*n_x)++];
            else
                b *= y->dim[j + (*n_y)++];
        }
}

// A group of one dim on each side is a parallel factor. The dims of other groups are blocked. Dims
// that remain at the end (of empty tensors) are groups of one side.
static void reshape_rule(const Graph *g, const Node *n, Rule *r)
{
    const Value *x = in(g, n, 0), *y = out(g, n);
    char to[MAX_RANK + 1] = "", blocked[2 * MAX_RANK + 1] = "", text[RULE_TEXT];
    int i = 0, j = 0, n_blocked = 0, next = x->rank;

    while (i < x->rank || j < y->rank) {
        int n_x, n_y;

        next_group(x, i, y, j, &n_x, &n_y);
        if (n_x + n_y == 0) {
            n_x = x->rank - i;
            n_y = y->rank - j;
        }
        if (n_x == 1 && n_y == 1 && x->dim[i] == y->dim[j]) {
            to[j++] = LETTERS[i++];
            continue;
        }
        while (n_x-- > 0)
            blocked[n_blocked++] = LETTERS[i++];
        while (n_y-- > 0)
            blocked[n_blocked++] = to[j++] = LETTERS[next++];
    }
    snprintf(text, sizeof text, "%.*s->%s", x->rank, LETTERS, to);
    rule_set(g, n, r, text);
    for (i = 0; i < n_blocked; i++)
        rule_kind(r, blocked[i], FACTOR_BLOCKED);
    r->joint = 1;
}

static void reshape_grad(Graph *g, const Node *n, const ValueId *dy, const bool *want, ValueId *dx)
{
    const Value *x = in(g, n, 0);

    dx[0] = make_reshape(g, dy[0], x->rank, x->dim);
}

static void reshape_eval(const Graph *g, const Node *n, const NodeShard *p, const Tensor *x,
                         Tensor *y)
{
    for (int64_t k = 0; k < tensor_count(y); k++)
        element_copy(y, k, x, k);
}

// Sets `dim` and `stride` to the input's dims, without those of size 1; adjacent dims that are
// nested by their strides are merged. Returns their number.
static int merge_dims(const Value *x, const int64_t *in_stride, int64_t *dim, int64_t *stride)
{
    int k = 0;

    for (int i = 0; i < x->rank; i++) {
        if (x->dim[i] == 1)
            continue;
        if (k && stride[k - 1] == in_stride[i] * x->dim[i]) {
            dim[k - 1] *= x->dim[i];
            stride[k - 1] = in_stride[i];
            continue;
        }
        dim[k] = x->dim[i];
        stride[k++] = in_stride[i];
    }
    return k;
}

// The output is a view if every output dim lies within one merged dim of the input.
static bool reshape_view(const Graph *g, const Node *n, const int64_t *in_stride,
                         int64_t *out_stride, int64_t *offset)
{
    const Value *x = in(g, n, 0), *y = out(g, n);
    int64_t dim[MAX_RANK], stride[MAX_RANK], left = 1;
    int at = merge_dims(x, in_stride, dim, stride);

    *offset = 0;
    if (value_count(x) == 0) {
        dense_strides(y->rank, y->dim, out_stride);
        return true;
    }
    for (int i = y->rank - 1; i >= 0; i--) {
        out_stride[i] = 0;
        if (y->dim[i] == 1)
            continue;
        if (left == 1)
            left = dim[--at];
        if (left % y->dim[i] != 0)
            return false;
        out_stride[i] = dim[at] / left * stride[at];
        left /= y->dim[i];
    }
    return true;
}

// The dims of a group have the same atoms on both sides.
static void reshape_relate(const Graph *g, const Node *n, Relation *r)
{
    const Value *x = in(g, n, 0), *y = out(g, n);
    int n_x, n_y;

    for (int i = 0, j = 0; value_count(x) && (i < x->rank || j < y->rank); i += n_x, j += n_y) {
        next_group(x, i, y, j, &n_x, &n_y);
        relate_products(r, 0, i, i + n_x, 1, j, j + n_y);
    }
}

static ValueId reshape_split(Graph *g, const Node *n, const Split *s)
{
    const Refined *x = &s->operand[0], *y = &s->operand[1];

    if (refined_equal(x, y))
        return s->in[0];
    return make_reshape(g, s->in[0], y->rank, y->dim);
}

const OpDef op_reshape = {
    .name = "reshape",
    .n_in = 1,
    .attrs = {{"shape", ATTR_INTS}},
    .infer = reshape_infer,
    .rule = reshape_rule,
    .relate = reshape_relate,
    .split = reshape_split,
    .grad = reshape_grad,
    .localise = localise_shape,
    .eval = reshape_eval,
    .view = reshape_view,
    .no_split = "a shard of a dim that is split or merged is not a range of the dims it becomes",
};
