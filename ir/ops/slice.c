// slice: output element i is input element start + i * stride, in each dim; some dims of size 1 are
// dropped.
#include <stdlib.h>
#include <string.h>

#include "ir/operator/atoms.h"
#include "ir/operator/operator.h"

enum { START, SIZE, STRIDE, DROP };

static bool is_dropped(const Node *n, int i)
{
    for (int k = 0; k < n->attr[DROP].n; k++)
        if (n->attr[DROP].v[k] == i)
            return true;
    return false;
}

static bool check_dim(const Graph *g, const Node *n, int i, Diag *d)
{
    int64_t start = n->attr[START].v[i], size = n->attr[SIZE].v[i], stride = n->attr[STRIDE].v[i];
    int64_t whole = in(g, n, 0)->dim[i], last;

    if (stride == 0)
        return node_error(g, n, d, "stride 0 in dim %d", i);
    if (start < 0 || start > whole || size < 0 || size > whole || stride < -whole ||
        stride > whole + 1)
        return node_error(g, n, d, "start, size or stride of dim %d is out of range", i);
    if (size == 0)
        return true;
    if (!mul_size(size - 1, stride, &last) || !add_size(start, last, &last) || start == whole ||
        last < 0 || last >= whole)
        return node_error(g, n, d, "elements %" PRId64 " to %" PRId64 " of dim %d of size %" PRId64,
                          start, last, i, whole);
    return true;
}

static bool slice_infer(Graph *g, Node *n, Diag *d)
{
    const Value *x = in(g, n, 0);
    int64_t dim[MAX_RANK];
    int rank = 0;

    for (int i = START; i <= STRIDE; i++)
        if (n->attr[i].n != x->rank)
            return node_error(g, n, d, "start, size and stride must be lists of %d", x->rank);
    for (int i = 0; i < x->rank; i++)
        if (!check_dim(g, n, i, d))
            return false;
    if (!infer_ascending(g, n, DROP, x->rank, d))
        return false;
    for (int i = 0; i < x->rank; i++) {
        if (!is_dropped(n, i))
            dim[rank++] = n->attr[SIZE].v[i];
        else if (n->attr[SIZE].v[i] != 1)
            return node_error(g, n, d, "dim %d of size %" PRId64 " is dropped", i,
                              n->attr[SIZE].v[i]);
    }
    return infer_set(g, n, 0, x->dtype, rank, dim, d);
}

static bool is_whole(const Graph *g, const Node *n, int i)
{
    return n->attr[SIZE].v[i] == in(g, n, 0)->dim[i] &&
           (n->attr[STRIDE].v[i] == 1 || n->attr[SIZE].v[i] == 0);
}

static void slice_rule(const Graph *g, const Node *n, Rule *r)
{
    int rank = in(g, n, 0)->rank, at = 0;
    char y[MAX_RANK + 1] = "", text[RULE_TEXT];

    for (int i = 0; i < rank; i++)
        if (!is_dropped(n, i))
            y[at++] = LETTERS[i];
    snprintf(text, sizeof text, "%.*s->%s", rank, LETTERS, y);
    rule_set(g, n, r, text);
    for (int i = 0; i < rank; i++)
        if (!is_whole(g, n, i) || is_dropped(n, i))
            rule_kind(r, LETTERS[i], FACTOR_BLOCKED);
    r->joint = 1;
}

static void slice_localise(Arena *a, const Node *n, const Rule *r, const int64_t *size, Attr *attr)
{
    localise_dims(a, r, 0, size, &attr[SIZE]);
}

// Flips the dims of dy whose stride is negative, so that its elements ascend in x.
static ValueId ascending(Graph *g, const Node *n, ValueId dy)
{
    int64_t start[MAX_RANK], stride[MAX_RANK];
    const Attr *size = &n->attr[SIZE];
    bool is_flipped = false;

    for (int i = 0; i < size->n; i++) {
        bool flip = n->attr[STRIDE].v[i] < 0 && size->v[i] > 1;

        start[i] = flip ? size->v[i] - 1 : 0;
        stride[i] = flip ? -1 : 1;
        is_flipped |= flip;
    }
    return is_flipped ? make_slice(g, dy, start, size->v, stride) : dy;
}

static void slice_grad(Graph *g, const Node *n, const ValueId *dy, const bool *want, ValueId *dx)
{
    int64_t low[MAX_RANK], high[MAX_RANK], inner[MAX_RANK];
    ValueId dy0 = dy[0];

    if (n->attr[DROP].n)
        dy0 = make_reshape(g, dy0, n->attr[SIZE].n, n->attr[SIZE].v);
    for (int i = 0; i < in(g, n, 0)->rank; i++) {
        int64_t size = n->attr[SIZE].v[i], stride = n->attr[STRIDE].v[i];
        int64_t first = n->attr[START].v[i], last = first + (size - 1) * stride;

        low[i] = size ? first < last ? first : last : 0;
        high[i] = in(g, n, 0)->dim[i] - (size ? first < last ? last + 1 : first + 1 : 0);
        inner[i] = size > 1 ? llabs(stride) - 1 : 0;
    }
    dx[0] = make_pad(g, ascending(g, n, dy0), low, high, inner, 0);
}

static void slice_eval(const Graph *g, const Node *n, const NodeShard *p, const Tensor *x,
                       Tensor *y)
{
    int64_t index[MAX_RANK] = {0}, from[MAX_RANK];

    for (int64_t k = 0; k < tensor_count(y); k++, index_next(index, y->rank, y->dim)) {
        for (int i = 0, j = 0; i < x->rank; i++)
            from[i] =
                n->attr[START].v[i] + (is_dropped(n, i) ? 0 : index[j++] * n->attr[STRIDE].v[i]);
        element_copy(y, k, x, index_at(from, x->rank, x->dim));
    }
}

static bool slice_view(const Graph *g, const Node *n, const int64_t *in_stride, int64_t *out_stride,
                       int64_t *offset)
{
    *offset = 0;
    for (int i = 0, j = 0; i < in(g, n, 0)->rank; i++) {
        if (!is_dropped(n, i))
            out_stride[j++] = in_stride[i] * n->attr[STRIDE].v[i];
        *offset += in_stride[i] * n->attr[START].v[i];
    }
    return true;
}

// Relates the inner part of each dim that the slice keeps whole. A slice that takes one of several
// equal parts splits the dim into them: so q, k and v come out of qkv.
static void slice_relate(const Graph *g, const Node *n, Relation *r)
{
    for (int i = 0, j = 0; i < in(g, n, 0)->rank; i++) {
        int64_t size = n->attr[SIZE].v[i], start = n->attr[START].v[i];
        int64_t part = gcd(gcd(start, size), in(g, n, 0)->dim[i]);

        if (is_dropped(n, i))
            relate_whole(r, 0, i);
        else if (n->attr[STRIDE].v[i] != 1) {
            relate_whole(r, 0, i);
            relate_whole(r, 1, j++);
        } else if (is_whole(g, n, i))
            j++;
        else
            relate_inner(r, 0, i, 1, j++, part, part == size);
    }
}

// Sets the slice of dim i along its first atom of x; its other atoms are taken whole. The dim has
// n_y atoms in y, with sizes from `y` on. False if such a slice can't express it.
static bool split_dim(const Node *n, int i, const Refined *x, const int64_t *y, int n_y,
                      int64_t *start, int64_t *size, int64_t *stride)
{
    int at = x->first[i], n_x = x->first[i + 1] - at, same = 0;
    int64_t part = 1;

    while (same < n_y && same < n_x - 1 && x->dim[at + n_x - 1 - same] == y[n_y - 1 - same])
        part *= y[n_y - 1 - same++];
    *start = n->attr[START].v[i] / part;
    *size = n_y == same ? 1 : y[0];
    *stride = n->attr[STRIDE].v[i];
    return same == n_x - 1 && n_y - same <= 1 && n->attr[START].v[i] % part == 0 &&
           (*stride == 1 || n_x == 1);
}

static ValueId slice_split(Graph *g, const Node *n, const Split *s)
{
    int64_t start[MAX_RANK] = {0}, size[MAX_RANK], stride[MAX_RANK], drop[MAX_RANK];
    const Refined *x = &s->operand[0], *y = &s->operand[1];
    int n_drop = 0;

    for (int k = 0; k < x->rank; k++) {
        size[k] = x->dim[k];
        stride[k] = 1;
    }
    for (int i = 0, j = 0; i < n->attr[SIZE].n; i++) {
        int at = x->first[i], n_y = is_dropped(n, i) ? 0 : y->first[j + 1] - y->first[j];

        if (x->first[i + 1] > at) {
            if (!split_dim(n, i, x, y->dim + (n_y ? y->first[j] : 0), n_y, &start[at], &size[at],
                           &stride[at]))
                return 0;
            if (n_y < x->first[i + 1] - at)
                drop[n_drop++] = at;
        }
        j += !is_dropped(n, i);
    }
    return make_slice_drop(g, s->in[0], start, size, stride, n_drop, drop);
}

const OpDef op_slice = {
    .name = "slice",
    .n_in = 1,
    .attrs = {{"start", ATTR_INTS, .is_affine = true},
              {"size", ATTR_INTS},
              {"stride", ATTR_INTS},
              {"drop", ATTR_INTS}},
    .infer = slice_infer,
    .rule = slice_rule,
    .relate = slice_relate,
    .split = slice_split,
    .grad = slice_grad,
    .localise = slice_localise,
    .eval = slice_eval,
    .view = slice_view,
    .no_split = "shards of a sliced dim would hold different parts of the slice",
};
