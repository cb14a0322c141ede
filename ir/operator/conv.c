// Convolution and its gradients share this code.
//
// A convolution has three tensors: x [n, c, spatial…], w [o, c / groups, window…] and y [n, o,
// spatial'…]. conv and its two gradients each make one of them from the other two, as sums of the
// same products. They differ only in which tensor is the result.
#include <assert.h>

#include "ir/operator/contract.h"

enum { STRIDE, LOW, HIGH, DILATION, GROUPS, TO };

// The index of attribute stride. Attribute 0 of a gradient is the shape of its result.
static int first_attr(const ConvPart *order) { return order[2] == CONV_Y ? 0 : 1; }

static int64_t groups_of(const Node *n, const ConvPart *order)
{
    return n->attr[first_attr(order) + GROUPS].i;
}

static bool infer_dims(const Graph *g, const Node *n, const ConvPart *order, const int64_t *x,
                       const int64_t *w, int64_t *y, Diag *d)
{
    int64_t groups = groups_of(n, order);

    if (groups < 1 || x[1] % groups != 0 || x[1] / groups != w[1])
        return node_error(g, n, d,
                          "a weight for %" PRId64 " channels does not fit %" PRId64
                          " channels in %" PRId64 " groups",
                          w[1], x[1], groups);
    if (w[0] % groups != 0)
        return node_error(g, n, d, "%" PRId64 " output channels cannot be in %" PRId64 " groups",
                          w[0], groups);
    y[0] = x[0];
    y[1] = w[0];
    return infer_window(g, n, first_attr(order), in(g, n, 0)->rank - 2, w + 2, x + 2, y + 2, d);
}

static bool infer_from_shape(Graph *g, Node *n, const ConvPart *order, DType result, Diag *d)
{
    const Value *part[3] = {NULL};
    const Attr *shape = &n->attr[0];
    int64_t y[MAX_RANK];
    int rank = in(g, n, 0)->rank;

    if (shape->n != rank)
        return node_error(g, n, d, "shape has %d dims for operands of rank %d", shape->n, rank);
    if (!infer_set(g, n, 0, result, rank, shape->v, d))
        return false;
    part[order[0]] = in(g, n, 0);
    part[order[1]] = in(g, n, 1);
    part[order[2]] = out(g, n);
    if (!infer_dims(g, n, order, part[CONV_X]->dim, part[CONV_W]->dim, y, d))
        return false;
    for (int i = 0; i < rank; i++)
        if (y[i] != part[CONV_Y]->dim[i])
            return node_error(g, n, d, "dim %d of the convolution is %" PRId64 ", not %" PRId64, i,
                              y[i], part[CONV_Y]->dim[i]);
    return true;
}

bool infer_conv(Graph *g, Node *n, const ConvPart *order, Diag *d)
{
    const Value *a = in(g, n, 0), *b = in(g, n, 1);
    int64_t y[MAX_RANK];
    DType result;

    if (!infer_product(g, n, first_attr(order) + TO, &result, d))
        return false;
    if (a->rank < 3 || a->rank > 5 || a->rank != b->rank)
        return node_error(g, n, d, "ranks must be equal and 3 to 5, not %d and %d", a->rank,
                          b->rank);
    if (order[2] != CONV_Y)
        return infer_from_shape(g, n, order, result, d);
    return infer_dims(g, n, order, a->dim, b->dim, y, d) &&
           infer_set(g, n, 0, result, a->rank, y, d);
}

// With one group, c is contracted. With a group per channel (depthwise), c and o are one factor.
// With another number of groups, no factor has whole groups in both c and o, so both are blocked.
void rule_conv(const Graph *g, const Node *n, const ConvPart *order, Rule *r)
{
    int k = out(g, n)->rank - 2;
    int64_t groups = groups_of(n, order);
    const Value *part[3] = {NULL};
    char text[3][8], all[32];

    part[order[0]] = in(g, n, 0);
    part[order[1]] = in(g, n, 1);
    part[order[2]] = out(g, n);
    bool depthwise = groups > 1 && groups == part[CONV_X]->dim[1] && groups == part[CONV_W]->dim[0];
    snprintf(text[CONV_X], 8, "n%c%.*s", depthwise ? 'o' : 'c', k, "uvz");
    snprintf(text[CONV_W], 8, "o%c%.*s", groups > 1 ? 'd' : 'c', k, "rst");
    snprintf(text[CONV_Y], 8, "no%.*s", k, "uvz");
    snprintf(all, sizeof all, "%s,%s->%s", text[order[0]], text[order[1]], text[order[2]]);
    rule_window(g, n, r, all);
    if (groups > 1)
        rule_kind(r, 'd', FACTOR_BLOCKED);
    if (groups > 1 && !depthwise) {
        rule_kind(r, 'c', FACTOR_BLOCKED);
        rule_kind(r, 'o', FACTOR_BLOCKED);
    }
    r->single = 1 << 0 | 1 << 1;
}

// A shard of a depthwise convolution has fewer groups. Other convolutions are split along channels
// only if they have one group.
void localise_conv(Arena *a, const Node *n, const ConvPart *order, const Rule *r,
                   const int64_t *size, Attr *attr)
{
    int y = order[0] == CONV_Y ? 0 : order[1] == CONV_Y ? 1 : 2, channels = r->dim[y][1];

    if (order[2] != CONV_Y)
        localise_shape(a, n, r, size, attr);
    if (groups_of(n, order) > 1 && r->kind[channels] == FACTOR_PARALLEL)
        attr[first_attr(order) + GROUPS].i = size[channels];
}

// Appends the node that makes tensor `p` from the other two tensors of `v`.
static ValueId make_part(Graph *g, ConvPart p, const ValueId *v, const int64_t *dim,
                         const Window *win, int64_t groups)
{
    if (p == CONV_X)
        return make_conv_input_grad(g, v[CONV_Y], v[CONV_W], dim, win, groups);
    if (p == CONV_W)
        return make_conv_weight_grad(g, v[CONV_X], v[CONV_Y], dim, win, groups);
    return make_conv(g, v[CONV_X], v[CONV_W], win, groups);
}

// The sum is linear in each of the three tensors. So the gradient of an operand is the same sum
// with dy as the result and the other operand as it is.
void grad_conv(Graph *g, const Node *n, const ConvPart *order, ValueId dy, const bool *want,
               ValueId *dx)
{
    int64_t groups = groups_of(n, order);
    Value part[3];  // copies: the graph's values move while nodes are appended
    ValueId v[3];
    Window win;

    part[order[0]] = *in(g, n, 0);
    part[order[1]] = *in(g, n, 1);
    part[order[2]] = *out(g, n);
    v[order[0]] = n->in[0];
    v[order[1]] = n->in[1];
    v[order[2]] = product_gradient(g, n, dy);
    window_read(n, first_attr(order), part[0].rank - 2, part[CONV_W].dim + 2, &win);
    for (int i = 0; i < 2; i++)
        if (want[i])
            dx[i] = make_part(g, order[i], v, part[order[i]].dim, &win, groups);
}

static int64_t spatial_count(const Tensor *t)
{
    int64_t count = 1;

    for (int i = 2; i < t->rank; i++)
        count *= t->dim[i];
    return count;
}

// For each element of a plane of y and each tap, the element of x that the tap meets; -1 in the
// padding. The same for all planes.
static int64_t *window_elements(Arena *a, const Window *win, const Tensor *const *part)
{
    int64_t n = spatial_count(part[CONV_Y]) * spatial_count(part[CONV_W]);
    int64_t position[3] = {0}, tap[3] = {0}, *at = arena_array(a, int64_t, n);

    for (int64_t i = 0; i < n; i++) {
        at[i] = window_at(win, position, tap, part[CONV_X]->dim + 2);
        if (!index_next(tap, win->n, part[CONV_W]->dim + 2))
            index_next(position, win->n, part[CONV_Y]->dim + 2);
    }
    return at;
}

// Adds all products of a plane of x, a window of w and a plane of y to the plane of `to`. `at` is
// by window_elements.
static void eval_plane(const int64_t *at, int64_t y_size, int64_t w_size, ConvPart to, double *x,
                       double *w, double *y)
{
    for (int64_t j = 0; j < y_size; j++)
        for (int64_t k = 0; k < w_size; k++) {
            int64_t i = *at++;

            if (i >= 0 && to == CONV_X)
                x[i] += w[k] * y[j];
            else if (i >= 0 && to == CONV_W)
                w[k] += x[i] * y[j];
            else if (i >= 0)
                y[j] += x[i] * w[k];
        }
}

// The number of groups is taken from the operands: a shard of a depthwise convolution has fewer
// groups than the attribute says.
void eval_conv(const Node *n, const ConvPart *order, const Tensor *in, const Tensor *out)
{
    const Tensor *part[3] = {NULL};
    Window win;

    part[order[0]] = &in[0];
    part[order[1]] = &in[1];
    part[order[2]] = out;
    const Tensor *x = part[CONV_X], *w = part[CONV_W], *y = part[CONV_Y];
    window_read(n, first_attr(order), x->rank - 2, w->dim + 2, &win);
    int64_t c = w->dim[1], o = y->dim[1];
    if (c == 0 || o == 0)
        return;
    Arena *a = arena_new();
    const int64_t *at = window_elements(a, &win, part);
    int64_t groups = x->dim[1] / c;
    int64_t x_size = spatial_count(x), w_size = spatial_count(w), y_size = spatial_count(y);
    for (int64_t b = 0; b < y->dim[0]; b++)
        for (int64_t oi = 0; oi < o; oi++)
            for (int64_t ci = 0; ci < c; ci++) {
                int64_t xc = oi / (o / groups) * c + ci;

                eval_plane(at, y_size, w_size, order[2], x->f + (b * x->dim[1] + xc) * x_size,
                           w->f + (oi * c + ci) * w_size, y->f + (b * o + oi) * y_size);
            }
    arena_free(a);
}

double work_conv(const Graph *g, const Node *n, const ConvPart *order)
{
    const Value *part[3] = {NULL};

    part[order[0]] = in(g, n, 0);
    part[order[1]] = in(g, n, 1);
    part[order[2]] = out(g, n);
    double outputs = (double)part[CONV_W]->dim[0];
    double taps = outputs ? (double)value_count(part[CONV_W]) / outputs : 0;
    return 2 * taps * (double)value_count(part[CONV_Y]);
}
