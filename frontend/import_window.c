// Imports convolution and pooling.
#include "frontend/internal.h"

// Padding of one dim under auto_pad SAME: output = ceil(n / stride). If the total is odd, the extra
// element is at the end (upper) or at the start.
static void same_pads(int64_t n, int64_t size, int64_t stride, int64_t dilation, bool upper,
                      int64_t *low, int64_t *high)
{
    int64_t out = (n + stride - 1) / stride;
    int64_t total = (out - 1) * stride + (size - 1) * dilation + 1 - n;

    total = total > 0 ? total : 0;
    *low = upper ? total / 2 : total - total / 2;
    *high = total - *low;
}

static bool is_sane(const Window *w)
{
    const int64_t most = 1 << 24;

    for (int i = 0; i < w->n; i++)
        if (w->size[i] < 1 || w->stride[i] < 1 || w->dilation[i] < 1 || w->low[i] < 0 ||
            w->high[i] < 0 || w->size[i] > most || w->stride[i] > most || w->dilation[i] > most ||
            w->low[i] > most || w->high[i] > most)
            return false;
    return true;
}

// Reads strides, dilations, pads and auto_pad of a window of `size` over the spatial dims of x.
// With the attribute ceil_mode, the padding at the end grows so that a last, partial window fits:
// by more[i] (NULL: the operator has no such attribute).
static bool read_window(Op *o, const Value *x, const int64_t *size, Window *w, int64_t *more)
{
    const char *auto_pad = attr_text(o, "auto_pad", "NOTSET");
    int64_t pads[6];

    *w = (Window){.n = x->rank - 2};
    if (w->n < 1 || w->n > 3)
        return op_error(o, "a value of rank 3 to 5 is expected");
    if (!attr_ints_of(o, "strides", w->n, 1, w->stride) ||
        !attr_ints_of(o, "dilations", w->n, 1, w->dilation) ||
        !attr_ints_of(o, "pads", 2 * w->n, 0, pads))
        return false;
    for (int i = 0; i < w->n; i++) {
        w->size[i] = size[i];
        w->low[i] = pads[i];
        w->high[i] = pads[w->n + i];
    }
    if (!is_sane(w))
        return op_error(o,
                        "its window is out of range: sizes, strides and dilations must be from 1 "
                        "to 2^24, pads from 0 to 2^24");
    bool upper = !strcmp(auto_pad, "SAME_UPPER");
    if (!strncmp(auto_pad, "SAME_", 5))
        for (int i = 0; i < w->n; i++)
            same_pads(x->dim[2 + i], size[i], w->stride[i], w->dilation[i], upper, &w->low[i],
                      &w->high[i]);
    for (int i = 0; more && i < w->n; i++)
        more[i] = 0;
    if (!more || !attr_int(o, "ceil_mode", 0))
        return true;
    for (int i = 0; i < w->n; i++) {
        int64_t span = (size[i] - 1) * w->dilation[i] + 1, n = x->dim[2 + i];
        int64_t left = (n + w->low[i] + w->high[i] - span) % w->stride[i];
        int64_t last = n + w->low[i] + w->high[i] - span - left + w->stride[i];
        // The last window must start inside the input or its padding at the start.
        if (left > 0 && last < n + w->low[i])
            more[i] = w->stride[i] - left;
        w->high[i] += more[i];
    }
    return true;
}

// ---- convolution ----

static bool read_kernel(Op *o, const Value *weight, int64_t *size)
{
    int n = weight->rank - 2;

    if (n < 1 || n > 3)
        return op_error(o, "a weight of rank 3 to 5 is expected");
    int64_t said[3];
    if (!attr_ints_of(o, "kernel_shape", n, 0, said))
        return false;
    for (int i = 0; i < n; i++) {
        size[i] = weight->dim[2 + i];
        if (said[i] && said[i] != size[i])
            return op_error(o, "kernel_shape and the weight differ");
    }
    return true;
}

static ValueId with_bias(Op *o, ValueId y)
{
    return has(o, 2) && y ? make_add(o->g, y, vector_at(o->g, arg(o, 2), y, 1)) : y;
}

static void import_conv(Op *o)
{
    const Value *x = arg_value(o, 0), *weight = arg_value(o, 1);
    int64_t size[3], group = attr_int(o, "group", 1);
    Window w;

    if (x->rank != weight->rank) {
        op_error(o, "ranks differ: %d and %d", x->rank, weight->rank);
        return;
    }
    if (read_kernel(o, weight, size) && read_window(o, x, size, &w, NULL))
        give(o, 0, with_bias(o, make_conv(o->g, arg(o, 0), arg(o, 1), &w, group)));
}

// Sets the pads and the output's size of spatial dim i of a transposed convolution.
static bool transposed_dim(Op *o, const Value *x, int i, int64_t more, int64_t shape, Window *w,
                           int64_t *dim)
{
    const char *auto_pad = attr_text(o, "auto_pad", "");
    bool is_same = !strncmp(auto_pad, "SAME_", 5), upper = !strcmp(auto_pad, "SAME_UPPER");
    int64_t span = (x->dim[2 + i] - 1) * w->stride[i] + (w->size[i] - 1) * w->dilation[i] + 1;

    if (shape || is_same) {
        int64_t total = span + more - (shape ? shape : x->dim[2 + i] * w->stride[i]);
        // A shape that is larger than the windows cover has zeros at the end.
        w->low[i] = total < 0 ? 0 : upper ? total / 2 : total - total / 2;
        w->high[i] = total - w->low[i];
    }
    *dim = span + more - w->low[i] - w->high[i];
    w->high[i] -= more;
    if (*dim >= 1 && *dim <= 1 << 30 && w->low[i] >= 0 && more >= 0)
        return true;
    return op_error(o, "output dim %d would be %" PRId64 ", with pads of %" PRId64 " and %" PRId64,
                    2 + i, *dim, w->low[i], w->high[i]);
}

// A transposed convolution is the gradient of a convolution with respect to its input. Output
// positions after the last window get no weight; they are padded afterwards.
static void import_conv_transpose(Op *o)
{
    const Value *x = arg_value(o, 0), *weight = arg_value(o, 1);
    int64_t size[3], group = attr_int(o, "group", 1), more[3], shape[3], dim[MAX_RANK];
    int64_t none[MAX_RANK] = {0}, high[MAX_RANK] = {0};
    bool pads = false;
    Window w;

    if (x->rank != weight->rank || group < 1 || group > 1 << 24) {
        op_error(o, "ranks differ: %d and %d", x->rank, weight->rank);
        return;
    }
    if (!read_kernel(o, weight, size) || !read_window(o, x, size, &w, NULL) ||
        !attr_ints_of(o, "output_padding", w.n, 0, more) ||
        !attr_ints_of(o, "output_shape", w.n, 0, shape))
        return;
    dim[0] = x->dim[0];
    dim[1] = weight->dim[1] * group;
    for (int i = 0; i < w.n; i++) {
        if (!transposed_dim(o, x, i, more[i], shape[i], &w, &dim[2 + i]))
            return;
        if (w.high[i] >= 0)
            continue;
        high[2 + i] = -w.high[i];
        dim[2 + i] += w.high[i];
        w.high[i] = 0;
        pads = true;
    }
    ValueId y = make_conv_input_grad(o->g, arg(o, 0), arg(o, 1), dim, &w, group);
    give(o, 0, with_bias(o, pads ? make_pad(o->g, y, none, high, none, 0) : y));
}

// ---- pooling ----

bool read_pool(Op *o, Window *w, int64_t *more)
{
    int64_t size[3];
    int n = arg_value(o, 0)->rank - 2;

    if (n < 1 || n > 3)
        return op_error(o, "a value of rank 3 to 5 is expected");
    return attr_ints_of(o, "kernel_shape", n, 0, size) &&
           read_window(o, arg_value(o, 0), size, w, more);
}

// Integers have 8 bits at most, all of which f32 holds.
static void import_max_pool(Op *o)
{
    Window w;
    int64_t more[3];

    if (!read_pool(o, &w, more))
        return;
    DType t = arg_value(o, 0)->dtype;
    ValueId x = dtype_is_float(t) ? arg(o, 0) : make_cast(o->g, arg(o, 0), F32);
    ValueId y = make_cast(o->g, make_max_pool(o->g, x, &w), t);
    give(o, 0, y);
    if (wants(o, 1) && y)
        give(o, 1, max_pool_indices(o, &w, y));
}

// The number of elements in each window: the same pooling of ones, for one sample and channel. With
// count_include_pad, padding counts, except for what ceil_mode has added.
static ValueId count_elements(Op *o, const Window *w, const int64_t *more)
{
    Graph *g = o->g;
    Dims one = dims_of(g, arg(o, 0));
    Window of_ones = *w;

    one.dim[0] = one.dim[1] = 1;
    for (int i = 0; i < w->n && attr_int(o, "count_include_pad", 0); i++) {
        one.dim[2 + i] += w->low[i] + w->high[i] - more[i];
        of_ones.low[i] = 0;
        of_ones.high[i] = more[i];
    }
    return make_sum_pool(g, full(g, arg_value(o, 0)->dtype, &one, 1), &of_ones);
}

static void import_average_pool(Op *o)
{
    Graph *g = o->g;
    Window w;
    bool padded = false, grown = false;
    int64_t area = 1, more[3];

    if (!read_pool(o, &w, more))
        return;
    for (int i = 0; i < w.n; i++) {
        area *= w.size[i];
        padded |= w.low[i] || w.high[i];
        grown |= more[i] != 0;
    }
    ValueId y = make_sum_pool(g, arg(o, 0), &w);
    if (!y || !padded || (attr_int(o, "count_include_pad", 0) && !grown)) {
        give(o, 0, make_mul(g, y, scalar_like(g, y, 1.0 / (double)area)));
        return;
    }
    Dims all = dims_of(g, y);
    ValueId count = count_elements(o, &w, more);
    give(o, 0, make_div(g, y, broadcast_to(g, count, all.rank, all.dim)));
}

// ---- norms of windows: (Σ |x|^p)^(1/p) ----

static ValueId to_power(Graph *g, ValueId x, int64_t p)
{
    ValueId size = make_abs(g, x);

    return p == 1   ? size
           : p == 2 ? make_square(g, x)
                    : make_pow(g, size, scalar_like(g, x, (double)p));
}

// At 0 the gradient is 0, as that of ReduceL2, and not infinite.
static ValueId root(Graph *g, ValueId x, int64_t p)
{
    if (p == 1)
        return x;
    ValueId zero = scalar_like(g, x, 0), is_zero = make_eq(g, x, zero);
    ValueId base = make_select(g, is_zero, scalar_like(g, x, 1), x);
    ValueId y = p == 2 ? make_sqrt(g, base) : make_pow(g, base, scalar_like(g, x, 1 / (double)p));

    return make_select(g, is_zero, zero, y);
}

// The attribute p. Returns false after an error.
static bool read_power(Op *o, int64_t *p)
{
    *p = attr_int(o, "p", 2);
    return (*p > 0 && *p <= 1 << 24) || op_error(o, "p is %" PRId64 ", expected 1 to 2^24", *p);
}

static void import_lp_pool(Op *o)
{
    Window w;
    int64_t more[3], p;

    if (read_power(o, &p) && read_pool(o, &w, more))
        give(o, 0, root(o->g, make_sum_pool(o->g, to_power(o->g, arg(o, 0), p), &w), p));
}

// Reduces x over its spatial dims, which become 1.
static ValueId global_pool(Op *o, ValueId x, ValueId (*f)(Graph *, ValueId, int, const int64_t *))
{
    Dims d = dims_of(o->g, x);
    int64_t axes[MAX_RANK];
    int n = 0;

    if (d.rank < 3) {
        op_error(o, "a value of rank 3 or more is expected");
        return 0;
    }
    for (int i = 2; i < d.rank; i++) {
        d.dim[i] = 1;
        axes[n++] = i;
    }
    return reshape_to(o->g, f(o->g, x, n, axes), &d);
}

static void import_global_average(Op *o) { give(o, 0, global_pool(o, arg(o, 0), make_mean)); }

static void import_global_max(Op *o) { give(o, 0, global_pool(o, arg(o, 0), make_reduce_max)); }

static void import_global_lp(Op *o)
{
    int64_t p;

    if (read_power(o, &p)) {
        ValueId sum = global_pool(o, to_power(o->g, arg(o, 0), p), make_reduce_sum);
        give(o, 0, root(o->g, sum, p));
    }
}

const OpImporter import_window[] = {
    {"AveragePool", 1, 1, .import = import_average_pool,
     .attrs = "auto_pad ceil_mode count_include_pad dilations kernel_shape pads strides",
     .refuses = "more than 3 spatial dims"},
    {"Col2Im", 3, 3, .import = import_col2im, .attrs = "dilations pads strides", .since = 18,
     .known = "image_shape, block_shape",
     .refuses = "more than 5 spatial dims; blocks that span more than 256 strides"},
    {"Conv", 2, 3, .import = import_conv,
     .attrs = "auto_pad dilations group kernel_shape pads strides",
     .refuses = "more than 3 spatial dims"},
    {"ConvTranspose", 2, 3, .import = import_conv_transpose,
     .attrs = "auto_pad dilations group kernel_shape output_padding output_shape pads strides",
     .refuses = "more than 3 spatial dims"},
    {"GlobalAveragePool", 1, 1, .import = import_global_average},
    {"GlobalLpPool", 1, 1, .import = import_global_lp, .attrs = "p"},
    {"GlobalMaxPool", 1, 1, .import = import_global_max},
    {"LpPool", 1, 1, .import = import_lp_pool,
     .attrs = "auto_pad ceil_mode dilations kernel_shape p pads strides",
     .refuses = "more than 3 spatial dims"},
    {"MaxPool", 1, 1, .import = import_max_pool,
     .attrs = "auto_pad ceil_mode dilations kernel_shape pads storage_order strides", .max_out = 2,
     .refuses = "more than 3 spatial dims; the output Indices of windows of more than 4096 "
                "elements"},
    {0},
};
