// Sliding windows of convolution and pooling: attributes, checks, rules and the elements that taps
// read.
#include <math.h>
#include <string.h>

#include "ir/operator/contract.h"

enum {
    MAX_WINDOW = 1 << 30,  // largest entry of an attribute; products stay below 2^62
    MAX_TAPS = 1 << 24,    // most elements of a window
};

// Entry i of an ints attribute; `missing` if the attribute is absent.
static int64_t entry(const Attr *a, int i, int64_t missing) { return a->n ? a->v[i] : missing; }

void window_read(const Node *n, int first, int spatial, const int64_t *size, Window *w)
{
    const Attr *a = &n->attr[first];

    w->n = spatial;
    for (int i = 0; i < spatial; i++) {
        w->size[i] = size[i];
        w->stride[i] = entry(&a[0], i, 1);
        w->low[i] = entry(&a[1], i, 0);
        w->high[i] = entry(&a[2], i, 0);
        w->dilation[i] = entry(&a[3], i, 1);
    }
}

static bool in_range(const Graph *g, const Node *n, const char *what, const int64_t *v, int count,
                     int64_t least, Diag *d)
{
    for (int i = 0; i < count; i++)
        if (v[i] < least || v[i] > MAX_WINDOW)
            return node_error(g, n, d, "%s %" PRId64 " of spatial dim %d is out of range", what,
                              v[i], i);
    return true;
}

bool infer_window(const Graph *g, const Node *n, int first, int spatial, const int64_t *size,
                  const int64_t *x, int64_t *y, Diag *d)
{
    Window w;

    if (spatial < 1 || spatial > 3)
        return node_error(g, n, d, "needs 1 to 3 spatial dims, not %d", spatial);
    for (int i = first; i < first + 4; i++)
        if (n->attr[i].n && n->attr[i].n != spatial)
            return node_error(g, n, d, "%s has %d entries for %d spatial dims",
                              n->op->attrs[i].name, n->attr[i].n, spatial);
    window_read(n, first, spatial, size, &w);
    if (!in_range(g, n, "window size", w.size, spatial, 1, d) ||
        !in_range(g, n, "stride", w.stride, spatial, 1, d) ||
        !in_range(g, n, "padding", w.low, spatial, 0, d) ||
        !in_range(g, n, "padding", w.high, spatial, 0, d) ||
        !in_range(g, n, "dilation", w.dilation, spatial, 1, d))
        return false;
    int64_t taps = 1;
    for (int i = 0; i < spatial; i++) {
        taps *= w.size[i];
        if (taps > MAX_TAPS)
            return node_error(g, n, d, "a window of more than %d elements", MAX_TAPS);
        int64_t padded = x[i] + w.low[i] + w.high[i];
        int64_t span = (w.size[i] - 1) * w.dilation[i] + 1;

        if (span > padded)
            return node_error(g, n, d,
                              "window of %" PRId64 " in spatial dim %d, which has %" PRId64
                              " elements with padding",
                              span, i, padded);
        y[i] = (padded - span) / w.stride[i] + 1;
    }
    return true;
}

int64_t window_at(const Window *w, const int64_t *y, const int64_t *tap, const int64_t *x_dim)
{
    int64_t at = 0;

    for (int i = 0; i < w->n; i++) {
        int64_t x = y[i] * w->stride[i] + tap[i] * w->dilation[i] - w->low[i];

        if (x < 0 || x >= x_dim[i])
            return -1;
        at = at * x_dim[i] + x;
    }
    return at;
}

void rule_window(const Graph *g, const Node *n, Rule *r, const char *text)
{
    rule_set(g, n, r, text);
    for (const char *s = WINDOW_LETTERS; *s; s++)
        if (strchr(text, *s))
            rule_kind(r, *s, FACTOR_WINDOW);
}

// ---- pooling ----

// Checks the five attributes of a pooling node, which begin at index `size`, and sets y's dims from
// the `rank` dims x.
static bool pool_infer_dims(const Graph *g, const Node *n, int size, int rank, const int64_t *x,
                            int64_t *y, Diag *d)
{
    const Attr *a = &n->attr[size];

    if (a->n != rank - 2)
        return node_error(g, n, d, "size has %d entries for an operand of rank %d", a->n, rank);
    y[0] = x[0];
    y[1] = x[1];
    return infer_window(g, n, size + 1, rank - 2, a->v, x + 2, y + 2, d);
}

static bool pool_infer_type(const Graph *g, const Node *n, Diag *d)
{
    const Value *x = in(g, n, 0);

    if (!dtype_is_float(x->dtype))
        return node_error(g, n, d, "needs floats, not %s", dtype_name(x->dtype));
    if (x->rank < 3 || x->rank > 5)
        return node_error(g, n, d, "the rank must be 3 to 5, not %d", x->rank);
    return true;
}

bool infer_pool(Graph *g, Node *n, Diag *d)
{
    const Value *x = in(g, n, 0);
    int64_t y[MAX_RANK];

    return pool_infer_type(g, n, d) && pool_infer_dims(g, n, 0, x->rank, x->dim, y, d) &&
           infer_set(g, n, 0, x->dtype, x->rank, y, d);
}

bool infer_pool_grad(Graph *g, Node *n, int size, int rank, const int64_t *x, Diag *d)
{
    const Value *dy = in(g, n, n->n_in - 1);
    int64_t y[MAX_RANK];

    if (!pool_infer_type(g, n, d))
        return false;
    if (dy->dtype != in(g, n, 0)->dtype)
        return node_error(g, n, d, "needs two operands of one type, not %s and %s",
                          dtype_name(in(g, n, 0)->dtype), dtype_name(dy->dtype));
    if (rank != dy->rank)
        return node_error(g, n, d, "an input of rank %d has no pooled gradient of rank %d", rank,
                          dy->rank);
    if (!infer_set(g, n, 0, dy->dtype, rank, x, d) || !pool_infer_dims(g, n, size, rank, x, y, d))
        return false;
    for (int i = 0; i < rank; i++)
        if (y[i] != dy->dim[i])
            return node_error(g, n, d, "dim %d of the pooled input is %" PRId64 ", not %" PRId64, i,
                              y[i], dy->dim[i]);
    return true;
}

void rule_pool(const Graph *g, const Node *n, Rule *r)
{
    int k = out(g, n)->rank - 2;
    char text[32];

    if (n->n_in == 1)
        snprintf(text, sizeof text, "nc%.*s->nc%.*s", k, "uvz", k, "uvz");
    else
        snprintf(text, sizeof text, "nc%.*s,nc%.*s->nc%.*s", k, "uvz", k, "uvz", k, "uvz");
    rule_window(g, n, r, text);
}

void pool_window(const Node *n, int size, Window *w)
{
    window_read(n, size + 1, n->attr[size].n, n->attr[size].v, w);
}

Pool pool_of(const Node *n, int size, const Tensor *x, const Tensor *y)
{
    Pool p = {.x_dim = x->dim + 2, .y_dim = y->dim + 2, .count = tensor_count(y), .taps = 1};

    pool_window(n, size, &p.window);
    p.x_plane = p.y_plane = 1;
    for (int i = 0; i < p.window.n; i++) {
        p.taps *= p.window.size[i];
        p.x_plane *= p.x_dim[i];
        p.y_plane *= p.y_dim[i];
    }
    return p;
}

static void unravel(int64_t at, int rank, const int64_t *dim, int64_t *index)
{
    for (int i = rank - 1; i >= 0; i--) {
        index[i] = at % dim[i];
        at /= dim[i];
    }
}

int64_t pool_at(const Pool *p, int64_t y, int64_t k)
{
    int64_t position[3], tap[3];

    unravel(y % p->y_plane, p->window.n, p->y_dim, position);
    unravel(k, p->window.n, p->window.size, tap);
    int64_t at = window_at(&p->window, position, tap, p->x_dim);
    return at < 0 ? -1 : y / p->y_plane * p->x_plane + at;
}

int64_t pool_max(const Pool *p, const double *x, int64_t y)
{
    int64_t best = -1;

    for (int64_t k = 0; k < p->taps; k++) {
        int64_t at = pool_at(p, y, k);

        if (at >= 0 && (best < 0 || x[at] > x[best] || (isnan(x[at]) && !isnan(x[best]))))
            best = at;
    }
    return best;
}

double work_pool(const Node *n, int size, const Value *y)
{
    double taps = 1;

    for (int i = 0; i < n->attr[size].n; i++)
        taps *= (double)n->attr[size].v[i];
    return taps * (double)value_count(y);
}
