// Imports operators that sample where other values say: RoiAlign and DeformConv.
#include "frontend/internal.h"

enum { MAX_SAMPLES = 1024 };  // of a bin along one dim

static bool are_floats(Op *o, int from, int to)
{
    for (int i = from; i < to; i++)
        if (has(o, i) && !dtype_is_float(arg_value(o, i)->dtype))
            return op_error(o, "input %d must hold floats", i);
    return true;
}

static ValueId widen(Graph *g, ValueId x)
{
    return x ? make_cast(g, x, value_of(g, x)->dtype == F64 ? F64 : F32) : 0;
}

static ValueId number(Graph *g, ValueId like, double v) { return scalar_like(g, like, v); }

// ---- RoiAlign ----
//
// A region is cut into bins, and a bin's samples form rows and columns. So the mean of a bin is
// linear in x with weights that are a product of one for the row and one for the column. They are
// computed for all rows (columns) of x, and the means are two products. How many samples there are
// is a number of the region alone; a row is next to five of them at most, if a bin has more than
// one and their distance is the smallest possible, half a row.

typedef struct Roi {
    Op *o;
    Graph *g;
    ValueId x, rois;  // F32 or F64
    int64_t count;    // regions
    int64_t bins[2];  // rows and columns
    int64_t samples;  // of a bin along one dim; 0: as many as it has rows or columns
    double scale;
    bool half_pixel;
} Roi;

static bool read_roi(Op *o, Roi *r)
{
    const char *mode = o->opset < 16 ? "output_half_pixel"
                                     : attr_text(o, "coordinate_transformation_mode", "half_pixel");
    const Value *x = arg_value(o, 0), *rois = arg_value(o, 1), *batch = arg_value(o, 2);

    if (!are_floats(o, 0, 2))
        return false;
    if (x->rank != 4 || rois->rank != 2 || rois->dim[1] != 4 || batch->rank != 1 ||
        batch->dim[0] != rois->dim[0])
        return op_error(o, "expected X of rank 4, rois [n,4] and batch_indices [n]");
    r->half_pixel = !strcmp(mode, "half_pixel");
    if (!r->half_pixel && strcmp(mode, "output_half_pixel"))
        return op_error(o,
                        "coordinate_transformation_mode '%.100s' is not half_pixel or "
                        "output_half_pixel",
                        mode);
    r->bins[0] = attr_int(o, "output_height", 1);
    r->bins[1] = attr_int(o, "output_width", 1);
    r->samples = attr_int(o, "sampling_ratio", 0);
    r->scale = attr_float(o, "spatial_scale", 1);
    if (r->bins[0] < 1 || r->bins[1] < 1 || r->bins[0] > 1 << 16 || r->bins[1] > 1 << 16 ||
        r->samples < 0 || r->samples > MAX_SAMPLES || x->dim[2] < 1 || x->dim[3] < 1)
        return op_error(o,
                        "expected output_height and output_width of 1 to 65536, sampling_ratio "
                        "of 0 to %d, and elements in X",
                        MAX_SAMPLES);
    r->count = rois->dim[0];
    r->x = widen(o->g, arg(o, 0));
    // PyTorch gives regions no gradient.
    r->rois = make_stop_gradient(o->g, make_cast(o->g, arg(o, 1), value_of(o->g, r->x)->dtype));
    return true;
}

// Where a region begins along a dim (0: rows, 1: columns), and the size of its bins, [n].
static void region(const Roi *r, int dim, ValueId *start, ValueId *bin)
{
    Graph *g = r->g;
    ValueId edge[2];

    for (int i = 0; i < 2; i++) {
        edge[i] = drop_dim(g, slice_axis(g, r->rois, 1, 2 * i + 1 - dim, 1, 1), 1);
        edge[i] = make_mul(g, edge[i], number(g, edge[i], r->scale));
        if (r->half_pixel)
            edge[i] = make_sub(g, edge[i], number(g, edge[i], 0.5));
    }
    ValueId size = make_sub(g, edge[1], edge[0]);
    if (!r->half_pixel)
        size = make_max(g, size, number(g, size, 1));
    *start = edge[0];
    *bin = make_div(g, size, number(g, size, (double)r->bins[dim]));
}

// A region's number in each element of a tensor whose first dim are the regions.
static ValueId of_region(Graph *g, ValueId v, const Dims *d)
{
    return make_broadcast(g, v, d->rank, d->dim, (int64_t[]){0});
}

static ValueId index_in(const Roi *r, const Dims *d, int axis)
{
    return make_iota(r->g, value_of(r->g, r->x)->dtype, d->rank, d->dim, axis);
}

// Positions of samples along a dim. `bin_axis` is the axis of d that counts bins, and `sample` the
// number of each sample in its bin; `samples` is how many a bin has. All have the dims d.
static ValueId sample_positions(const Roi *r, int dim, const Dims *d, int bin_axis, ValueId sample,
                                ValueId samples)
{
    Graph *g = r->g;
    ValueId start, bin;

    region(r, dim, &start, &bin);
    bin = of_region(g, bin, d);
    ValueId first = make_add(g, of_region(g, start, d), make_mul(g, index_in(r, d, bin_axis), bin));
    ValueId part = make_mul(g, make_add(g, sample, number(g, sample, 0.5)), bin);
    return make_add(g, first, make_div(g, part, samples));
}

// Is a position no further than one element outside of a dim of `size` elements?
static ValueId is_near(Graph *g, ValueId at, int64_t size)
{
    return make_and(g, make_le(g, number(g, at, -1), at),
                    make_le(g, at, number(g, at, (double)size)));
}

static ValueId clamped(Graph *g, ValueId x, double low, double high)
{
    return make_min(g, make_max(g, x, number(g, x, low)), number(g, x, high));
}

// How many samples a bin has along a dim, [n]: a whole number of at least 0.
static ValueId adaptive_samples(const Roi *r, int dim)
{
    Graph *g = r->g;
    ValueId start, bin;

    region(r, dim, &start, &bin);
    ValueId up = make_neg(g, make_floor(g, make_neg(g, bin)));
    return make_max(g, up, number(g, up, 0));
}

// The weight of each row (column) of x in the mean of each bin, [n, bins, size].
static ValueId mean_weights(const Roi *r, int dim, int64_t size)
{
    enum { BESIDE = 6 };  // samples that are tried for a row: five, and one for rounding
    Graph *g = r->g;
    bool is_fixed = r->samples > 0;
    Dims d = {4, {r->count, r->bins[dim], size, is_fixed ? r->samples : BESIDE}};
    ValueId i = index_in(r, &d, 3), row = index_in(r, &d, 2), count, is_there = 0;

    count =
        is_fixed ? number(g, i, (double)r->samples) : of_region(g, adaptive_samples(r, dim), &d);
    ValueId divisor = make_max(g, count, number(g, i, 1));
    if (!is_fixed) {
        // The first sample that may be next to the row: a row before it.
        ValueId zero = number(g, i, 0), start, bin;
        region(r, dim, &start, &bin);
        ValueId spacing = make_div(g, of_region(g, bin, &d), divisor);
        ValueId at = sample_positions(r, dim, &d, 1, zero, divisor);
        ValueId first = make_div(g, make_sub(g, make_sub(g, row, number(g, i, 1)), at), spacing);
        i = make_add(g, make_max(g, make_floor(g, first), zero), i);
        is_there = make_lt(g, i, count);
    }
    ValueId at = sample_positions(r, dim, &d, 1, i, divisor);
    ValueId is_in = is_near(g, at, size);
    is_in = is_there ? make_and(g, is_in, is_there) : is_in;
    ValueId away = make_abs(g, make_sub(g, clamped(g, at, 0, (double)size - 1), row));
    ValueId weight = make_max(g, make_sub(g, number(g, i, 1), away), number(g, i, 0));
    weight = make_div(g, make_select(g, is_in, weight, number(g, i, 0)), divisor);
    return make_reduce_sum(g, weight, 1, &(int64_t){3});
}

// A region reads its own sample of x: the weights of rows are 0 in all others.
static ValueId roi_mean(const Roi *r, ValueId batch)
{
    Graph *g = r->g;
    Dims x = dims_of(g, r->x);
    Dims d = {4, {r->count, r->bins[0], x.dim[0], x.dim[2]}};
    ValueId rows = make_broadcast(g, mean_weights(r, 0, x.dim[2]), 4, d.dim, (int64_t[]){0, 1, 3});
    ValueId is_own = make_eq(g, of_region(g, batch, &d), make_iota(g, I64, 4, d.dim, 2));
    rows = make_select(g, is_own, rows, number(g, rows, 0));
    ValueId y = make_dot(g, rows, r->x, "rpnh,nchw->rpcw");
    return make_dot(g, y, mean_weights(r, 1, x.dim[3]), "rpcw,rqw->rcpq");
}

// Positions along a dim, [n, bins, samples]; the pixel before each, and whether it is near x.
typedef struct Samples {
    ValueId low, part, is_near;
} Samples;

static Samples max_samples(const Roi *r, int dim, int64_t size)
{
    Graph *g = r->g;
    Dims d = {3, {r->count, r->bins[dim], r->samples}};
    ValueId i = index_in(r, &d, 2);
    ValueId at = sample_positions(r, dim, &d, 1, i, number(g, i, (double)r->samples));
    Samples s = {.is_near = is_near(g, at, size)};

    at = clamped(g, at, 0, (double)size - 1);
    s.low = make_floor(g, at);
    s.part = make_sub(g, at, s.low);
    return s;
}

// Spreads [n, bins, samples] of rows (dim 0) or columns over [1, n, rows, samples, columns,
// samples, 1].
static ValueId over_samples(const Roi *r, ValueId v, int dim)
{
    int64_t size[] = {1, r->count, r->bins[0], r->samples, r->bins[1], r->samples, 1};

    return make_broadcast(r->g, v, 7, size, (int64_t[]){1, 2 + 2 * dim, 3 + 2 * dim});
}

// The largest of the four weighted elements around each sample of a bin, as ONNX defines it. x is
// one sample of volumes, whose first dim are x's samples.
static ValueId roi_max(const Roi *r, ValueId batch)
{
    static const Sampling nearest = {"nearest", "zeros", false};
    Graph *g = r->g;
    Dims x = dims_of(g, r->x), volume = {5, {1, x.dim[1], x.dim[0], x.dim[2], x.dim[3]}};
    int64_t size[] = {1, r->count, r->bins[0], r->samples, r->bins[1], r->samples, 1};
    Samples s[] = {max_samples(r, 0, x.dim[2]), max_samples(r, 1, x.dim[3])};
    ValueId from = reshape_to(g, make_transpose(g, r->x, (int64_t[]){1, 0, 2, 3}), &volume), y = 0;
    ValueId of_batch =
        make_broadcast(g, make_cast(g, batch, value_of(g, from)->dtype), 7, size, (int64_t[]){1});
    for (int k = 0; k < 4; k++) {
        ValueId at[3] = {0, 0, of_batch}, weight = 0;
        for (int dim = 0; dim < 2; dim++) {
            int next = dim ? k & 1 : k >> 1;
            ValueId low = s[dim].low, part = s[dim].part;
            at[1 - dim] = over_samples(r, next ? make_add(g, low, number(g, low, 1)) : low, dim);
            part = over_samples(r, next ? part : make_sub(g, number(g, part, 1), part), dim);
            weight = weight ? make_mul(g, weight, part) : part;
        }
        ValueId v = make_grid_sample(g, from, make_concat(g, 3, at, 6), &nearest);
        Dims d = dims_of(g, v);
        Dims w = {6, {1, r->count, r->bins[0], r->samples, r->bins[1], r->samples}};
        weight = make_broadcast(g, reshape_to(g, weight, &w), d.rank, d.dim,
                                (int64_t[]){0, 2, 3, 4, 5, 6});
        v = make_mul(g, v, weight);
        y = y ? make_max(g, y, v) : v;
    }
    Dims d = dims_of(g, y), w = {6, {1, r->count, r->bins[0], r->samples, r->bins[1], r->samples}};
    ValueId is_in = reshape_to(
        g, make_and(g, over_samples(r, s[0].is_near, 0), over_samples(r, s[1].is_near, 1)), &w);
    is_in = make_broadcast(g, is_in, d.rank, d.dim, (int64_t[]){0, 2, 3, 4, 5, 6});
    y = make_select(g, is_in, y, number(g, y, 0));
    y = make_reduce_max(g, y, 3, (int64_t[]){0, 4, 6});  // [c, n, rows, columns]
    return make_transpose(g, y, (int64_t[]){1, 0, 2, 3});
}

static void import_roi_align(Op *o)
{
    Roi r = {.o = o, .g = o->g};
    const char *mode = attr_text(o, "mode", "avg");
    DType t = arg_value(o, 0)->dtype;

    if (!read_roi(o, &r))
        return;
    bool is_max = !strcmp(mode, "max");
    if (!is_max && strcmp(mode, "avg")) {
        op_error(o, "mode '%.100s' is not avg or max", mode);
        return;
    }
    if (is_max && !r.samples) {
        op_error(o,
                 "mode max needs a sampling_ratio: without it, the number of samples isn't known "
                 "when compiling");
        return;
    }
    ValueId batch = make_cast(o->g, arg(o, 2), I64);
    give(o, 0, make_cast(o->g, is_max ? roi_max(&r, batch) : roi_mean(&r, batch), t));
}

// ---- DeformConv ----

typedef struct Deform {
    int n;  // spatial dims
    int64_t kernel[3], stride[3], dilation[3], low[3], out[3];
    int64_t group, offset_group, taps;
} Deform;

static bool read_deform_window(Op *o, const Value *x, const Value *w, Deform *f)
{
    int64_t said[3], pads[6];
    const int64_t most = 1 << 24;

    if (!attr_ints_of(o, "kernel_shape", f->n, 0, said) ||
        !attr_ints_of(o, "strides", f->n, 1, f->stride) ||
        !attr_ints_of(o, "dilations", f->n, 1, f->dilation) ||
        !attr_ints_of(o, "pads", 2 * f->n, 0, pads))
        return false;
    f->taps = 1;
    for (int i = 0; i < f->n; i++) {
        f->kernel[i] = w->dim[2 + i];
        f->low[i] = pads[i];
        if (said[i] && said[i] != f->kernel[i])
            return op_error(o, "kernel_shape and the weight differ");
        if (f->kernel[i] < 1 || f->kernel[i] > most || f->stride[i] < 1 || f->stride[i] > most ||
            f->dilation[i] < 1 || f->dilation[i] > most || pads[i] < 0 || pads[i] > most ||
            pads[f->n + i] < 0 || pads[f->n + i] > most)
            return op_error(o, "its window is out of range: sizes, strides and dilations must be "
                               "from 1 to 2^24, pads from 0 to 2^24");
        int64_t span =
            x->dim[2 + i] + pads[i] + pads[f->n + i] - (f->kernel[i] - 1) * f->dilation[i] - 1;
        if (span < 0 || x->dim[2 + i] < 1)
            return op_error(o, "its window is larger than dim %d of the padded input", 2 + i);
        f->out[i] = span / f->stride[i] + 1;
        if (!mul_size(f->taps, f->kernel[i], &f->taps) || f->taps > most)
            return op_error(o, "its window is too large");
    }
    return true;
}

// Has input i [batch, rows, the output's dims…]?
static bool has_rows(Op *o, int i, int64_t batch, int64_t rows, const Deform *f)
{
    const Value *v = arg_value(o, i);
    bool fits = v->rank == 2 + f->n && v->dim[0] == batch && v->dim[1] == rows;

    for (int k = 0; fits && k < f->n; k++)
        fits = v->dim[2 + k] == f->out[k];
    return fits || op_error(o, "input %d must have %" PRId64 " rows of the output's size", i, rows);
}

static bool read_deform(Op *o, Deform *f)
{
    const Value *x = arg_value(o, 0), *w = arg_value(o, 1);

    f->n = x->rank - 2;
    f->group = attr_int(o, "group", 1);
    f->offset_group = attr_int(o, "offset_group", 1);
    if (!are_floats(o, 0, 5))
        return false;
    if (x->rank < 3 || x->rank > 5 || w->rank != x->rank)
        return op_error(o, "an input and a weight of rank 3 to 5 are expected");
    if (f->group < 1 || f->offset_group < 1 || x->dim[1] % f->group ||
        x->dim[1] % f->offset_group || w->dim[0] % f->group || w->dim[1] != x->dim[1] / f->group ||
        x->dim[1] < 1)
        return op_error(o, "group %" PRId64 " and offset_group %" PRId64 " don't fit the channels",
                        f->group, f->offset_group);
    if (!read_deform_window(o, x, w, f))
        return false;
    int64_t rows = f->offset_group * f->taps;
    return has_rows(o, 2, x->dim[0], rows * f->n, f) &&
           (!has(o, 4) || has_rows(o, 4, x->dim[0], rows, f));
}

// The points that are sampled, [batch · offset groups, kernel…, out…, spatial dims]: the window's
// own positions, and the offsets, the last dim first.
static ValueId deform_grid(Graph *g, ValueId offset, const Deform *f, int64_t batch)
{
    Dims d = {1, {batch * f->offset_group}}, one;
    ValueId at[3];
    int n = f->n;

    for (int i = 0; i < n; i++)
        d.dim[d.rank++] = f->kernel[i];
    one = d;
    one.dim[one.rank++] = n;
    for (int i = 0; i < n; i++)
        one.dim[one.rank++] = d.dim[d.rank++] = f->out[i];
    offset = reshape_to(g, offset, &one);
    DType t = value_of(g, offset)->dtype;
    for (int i = 0; i < n; i++) {
        ValueId tap = make_iota(g, t, d.rank, d.dim, 1 + i);
        ValueId out = make_iota(g, t, d.rank, d.dim, 1 + n + i);
        ValueId position = make_add(g, make_mul(g, tap, number(g, tap, (double)f->dilation[i])),
                                    make_mul(g, out, number(g, out, (double)f->stride[i])));
        position = make_sub(g, position, number(g, position, (double)f->low[i]));
        position = make_add(g, position, drop_dim(g, slice_axis(g, offset, 1 + n, i, 1, 1), 1 + n));
        at[n - 1 - i] = insert_dims(g, position, 1, &(int64_t){d.rank});
    }
    return n == 1 ? at[0] : make_concat(g, n, at, d.rank);
}

// Multiplies what was sampled, [batch, group, channels, kernel…, out…], by the weights.
static ValueId deform_product(Graph *g, ValueId x, ValueId w, const Deform *f, const Dims *all)
{
    static const char taps[] = "uvz", positions[] = "pqs";
    Dims parts = {3, {all->dim[0], f->group, all->dim[1] / f->group}}, weight = {0}, y = {2};
    char eq[64];

    for (int i = 0; i < 2 * f->n; i++)
        parts.dim[parts.rank++] = i < f->n ? f->kernel[i] : f->out[i - f->n];
    Dims v = dims_of(g, w);
    weight.dim[weight.rank++] = f->group;
    weight.dim[weight.rank++] = v.dim[0] / f->group;
    for (int i = 1; i < v.rank; i++)
        weight.dim[weight.rank++] = v.dim[i];
    snprintf(eq, sizeof eq, "ngc%.*s%.*s,gmc%.*s->ngm%.*s", f->n, taps, f->n, positions, f->n, taps,
             f->n, positions);
    y.dim[0] = all->dim[0];
    y.dim[1] = v.dim[0];
    for (int i = 0; i < f->n; i++)
        y.dim[y.rank++] = f->out[i];
    return reshape_to(g, make_dot(g, reshape_to(g, x, &parts), reshape_to(g, w, &weight), eq), &y);
}

static void import_deform_conv(Op *o)
{
    static const Sampling linear = {"linear", "zeros", false};
    Graph *g = o->g;
    DType t = arg_value(o, 0)->dtype;
    Deform f = {0};

    if (!read_deform(o, &f))
        return;
    ValueId x = widen(g, arg(o, 0)), offset = make_cast(g, arg(o, 2), value_of(g, x)->dtype);
    Dims all = dims_of(g, x), grouped = all;
    grouped.dim[0] *= f.offset_group;
    grouped.dim[1] /= f.offset_group;
    ValueId v = make_grid_sample(g, reshape_to(g, x, &grouped),
                                 deform_grid(g, offset, &f, all.dim[0]), &linear);
    if (has(o, 4)) {
        Dims d = dims_of(g, v), m = {1, {d.dim[0]}};
        int64_t dims[MAX_RANK] = {0};
        for (int i = 2; i < d.rank; i++) {
            dims[i - 1] = i;
            m.dim[m.rank++] = d.dim[i];
        }
        ValueId mask = reshape_to(g, make_cast(g, arg(o, 4), value_of(g, x)->dtype), &m);
        v = make_mul(g, v, make_broadcast(g, mask, d.rank, d.dim, dims));
    }
    ValueId w = make_cast(g, arg(o, 1), value_of(g, x)->dtype);
    ValueId y = make_cast(g, deform_product(g, v, w, &f, &all), t);
    give(o, 0, y && has(o, 3) ? make_add(g, y, vector_at(g, arg(o, 3), y, 1)) : y);
}

const OpImporter import_roi[] = {
    {"DeformConv", 3, 5, .import = import_deform_conv,
     .attrs = "dilations group kernel_shape offset_group pads strides", .since = 19,
     .refuses = "more than 3 spatial dims"},
    {"RoiAlign", 3, 3, .import = import_roi_align,
     .attrs = "coordinate_transformation_mode mode output_height output_width sampling_ratio "
              "spatial_scale",
     .since = 10, .refuses = "mode max without sampling_ratio"},
    {0},
};
