// Imports the indices of maxima in windows, and their inverse: MaxPool's output Indices, MaxUnpool.
// Indices count the elements of the whole tensor, batch and channels included.
#include "frontend/internal.h"

static ValueId number(Graph *g, ValueId like, double v) { return scalar_like(g, like, v); }

// The elements of a window that come first in all windows, then the second ones, and so on.
typedef struct Windows {
    Op *o;
    Graph *g;
    const Window *w;
    Dims x, y;
    ValueId padded;
    int64_t step[3];  // how many elements are between neighbours along a spatial dim
} Windows;

// A number below all others of the type, or one of the smallest ones.
static double least_of(DType t)
{
    bool is_signed = t >= I8 && t <= I64;

    return dtype_is_float(t) ? -INFINITY : is_signed ? -ldexp(1, 8 * dtype_size(t) - 1) : 0;
}

static void start(Windows *p)
{
    int64_t low[MAX_RANK] = {0}, high[MAX_RANK] = {0}, none[MAX_RANK] = {0}, step = 1;
    bool is_column_major = attr_int(p->o, "storage_order", 0) != 0, pads = false;
    int n = p->w->n;

    for (int i = 0; i < n; i++) {
        int at = is_column_major ? i : n - 1 - i;
        p->step[at] = step;
        step *= p->x.dim[2 + at];
        low[2 + i] = p->w->low[i];
        high[2 + i] = p->w->high[i];
        pads |= low[2 + i] || high[2 + i];
    }
    p->padded = arg(p->o, 0);
    if (pads)
        p->padded = make_pad(p->g, p->padded, low, high, none, least_of(arg_value(p->o, 0)->dtype));
}

// Element k[0], k[1], … of all windows.
static ValueId elements(const Windows *p, const int64_t *k)
{
    int64_t first[MAX_RANK] = {0}, stride[MAX_RANK] = {1, 1};

    for (int i = 0; i < p->w->n; i++) {
        first[2 + i] = k[i] * p->w->dilation[i];
        stride[2 + i] = p->w->stride[i];
    }
    return make_slice(p->g, p->padded, first, p->y.dim, stride);
}

// Along spatial dim i, where in x the window begins.
static ValueId begin(const Windows *p, int i)
{
    ValueId at = make_iota(p->g, I64, p->y.rank, p->y.dim, 2 + i);

    at = make_mul(p->g, at, number(p->g, at, (double)p->w->stride[i]));
    return make_sub(p->g, at, number(p->g, at, (double)p->w->low[i]));
}

// Is element k of each window one of x, and no padding? 0: all are.
static ValueId in_input(const Windows *p, const int64_t *k)
{
    Graph *g = p->g;
    ValueId all = 0;

    for (int i = 0; i < p->w->n; i++) {
        if (!p->w->low[i] && !p->w->high[i])
            continue;
        ValueId at = begin(p, i), one;
        at = make_add(g, at, number(g, at, (double)(k[i] * p->w->dilation[i])));
        one = make_and(g, make_le(g, number(g, at, 0), at),
                       make_lt(g, at, number(g, at, (double)p->x.dim[2 + i])));
        all = all ? make_and(g, all, one) : one;
    }
    return all;
}

// The number of the first element of each window's sample and channel, and of its begin.
static ValueId base(const Windows *p)
{
    Graph *g = p->g;
    int64_t plane = 1;
    ValueId at = 0;

    for (int i = 0; i < p->w->n; i++) {
        ValueId one = begin(p, i);
        one = make_mul(g, one, number(g, one, (double)p->step[i]));
        at = at ? make_add(g, at, one) : one;
        plane *= p->x.dim[2 + i];
    }
    for (int i = 1; i >= 0; i--) {
        ValueId one = make_iota(g, I64, p->y.rank, p->y.dim, i);
        at = make_add(g, at, make_mul(g, one, number(g, one, (double)plane)));
        plane *= p->x.dim[i];
    }
    return at;
}

static bool next_element(const Window *w, int64_t *k)
{
    for (int i = w->n - 1; i >= 0; i--) {
        if (++k[i] < w->size[i])
            return true;
        k[i] = 0;
    }
    return false;
}

// The index of the first maximum of each window: elements are compared one after the other.
ValueId max_pool_indices(Op *o, const Window *w, ValueId y)
{
    enum { MAX_WINDOW = 1 << 12 };
    Graph *g = o->g;
    Windows p = {.o = o, .g = g, .w = w, .x = dims_of(g, arg(o, 0)), .y = dims_of(g, y)};
    int64_t k[3] = {0}, size = 1;

    for (int i = 0; i < w->n; i++)
        if (!mul_size(size, w->size[i], &size) || size > MAX_WINDOW) {
            op_error(o, "the output Indices of windows of more than %d elements is not supported",
                     MAX_WINDOW);
            return 0;
        }
    budget_allow(g->budget, BUDGET_importing, size);
    start(&p);
    ValueId best = elements(&p, k), seen = in_input(&p, k), index = full(g, I64, &p.y, 0);
    while (next_element(w, k)) {
        ValueId x = elements(&p, k), is_more = make_lt(g, best, x), inside = in_input(&p, k);
        int64_t at = 0;
        for (int i = 0; i < w->n; i++)
            at += k[i] * w->dilation[i] * p.step[i];
        if (seen) {
            is_more = make_and(g, inside, make_or(g, is_more, make_not(g, seen)));
            seen = make_or(g, seen, inside);
        }
        index = make_select(g, is_more, number(g, index, (double)at), index);
        best = make_select(g, is_more, x, best);
    }
    return make_add(g, base(&p), index);
}

// ---- the inverse ----

// The dims that MaxPool with this window would have had. Returns false after an error.
static bool unpooled_dims(Op *o, Dims *d)
{
    int n = d->rank - 2;
    int64_t size[3], stride[3], pads[6];

    if (n < 1 || n > 3)
        return op_error(o, "a value of rank 3 to 5 is expected");
    if (!attr_ints_of(o, "kernel_shape", n, 0, size) || !attr_ints_of(o, "strides", n, 1, stride) ||
        !attr_ints_of(o, "pads", 2 * n, 0, pads))
        return false;
    for (int i = 0; i < n; i++) {
        const int64_t most = 1 << 24;
        int64_t out = (d->dim[2 + i] - 1) * stride[i] + size[i] - pads[i] - pads[n + i];
        if (size[i] < 1 || size[i] > most || stride[i] < 1 || stride[i] > most || pads[i] < 0 ||
            pads[i] > most || pads[n + i] < 0 || pads[n + i] > most || out < 1 || out > 1 << 30)
            return op_error(o,
                            "its window is out of range, or dim %d would have %" PRId64 " elements",
                            2 + i, out);
        d->dim[2 + i] = out;
    }
    return true;
}

// Pads with zeros at the end to the dims of input 2.
static ValueId pad_to_shape(Op *o, ValueId y)
{
    Dims d = dims_of(o->g, y);
    int64_t shape[MAX_RANK], none[MAX_RANK] = {0}, high[MAX_RANK] = {0};
    int n;

    if (!arg_ints(o, 2, "the output's shape", MAX_RANK, &n, shape))
        return 0;
    bool fits = n == d.rank, pads = false;
    for (int i = 0; i < n && fits; i++) {
        high[i] = shape[i] - d.dim[i];
        fits = shape[i] >= d.dim[i] && shape[i] <= 1 << 30 && (i > 1 || !high[i]);
        pads |= high[i] != 0;
    }
    if (!fits) {
        op_error(o, "its output's shape doesn't hold what its windows cover");
        return 0;
    }
    return pads ? make_pad(o->g, y, none, high, none, 0) : y;
}

static void import_max_unpool(Op *o)
{
    Graph *g = o->g;
    Dims x = dims_of(g, arg(o, 0)), index = dims_of(g, arg(o, 1)), y = x, rows = {3, {0}};

    if (x.rank != index.rank || memcmp(x.dim, index.dim, (size_t)x.rank * sizeof *x.dim) ||
        arg_value(o, 1)->dtype != I64) {
        op_error(o, "each element needs an index, i64");
        return;
    }
    if (!unpooled_dims(o, &y))
        return;
    int64_t plane = 1;
    rows.dim[0] = x.dim[0];
    rows.dim[1] = x.dim[1];
    rows.dim[2] = 1;
    for (int i = 2; i < x.rank; i++) {
        rows.dim[2] *= x.dim[i];
        if (!mul_size(plane, y.dim[i], &plane))
            plane = INT64_MAX;
    }
    ValueId v = reshape_to(g, arg(o, 0), &rows), at = reshape_to(g, arg(o, 1), &rows);
    ValueId sample = make_iota(g, I64, 3, rows.dim, 0), channel = make_iota(g, I64, 3, rows.dim, 1);
    sample = make_mul(g, sample, number(g, sample, (double)x.dim[1]));
    sample = make_add(g, sample, channel);
    at = make_sub(g, at, make_mul(g, sample, number(g, sample, (double)plane)));
    Dims flat = {3, {rows.dim[0], rows.dim[1], plane}};
    ValueId zeros = full(g, arg_value(o, 0)->dtype, &flat, 0);
    v = make_scatter(g, v, at, zeros, "last", 2, 2, plane);
    v = v ? reshape_to(g, v, &y) : 0;
    give(o, 0, has(o, 2) && v ? pad_to_shape(o, v) : v);
}

const OpImporter import_unpool[] = {
    {"MaxUnpool", 2, 3, .import = import_max_unpool, .attrs = "kernel_shape pads strides",
     .since = 9, .known = "output_shape", .refuses = "more than 3 spatial dims"},
    {0},
};
