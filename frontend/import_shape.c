// Imports operators that move elements and compute nothing.
#include "frontend/internal.h"

// ---- reshape and the like ----

// Resolves 0 (the input's dim) and -1 (the rest of the elements) in an ONNX shape.
static bool resolve_shape(Op *o, const Dims *x, Dims *d, bool allow_zero)
{
    int open = -1;
    int64_t count = 1, total = 1;
    bool ok = true;

    for (int i = 0; i < x->rank; i++)
        total *= x->dim[i];
    for (int i = 0; i < d->rank; i++) {
        if (d->dim[i] == 0 && !allow_zero && i < x->rank)
            d->dim[i] = x->dim[i];
        if (d->dim[i] == -1 && open < 0)
            open = i;
        else
            ok &= d->dim[i] >= 0 && mul_size(count, d->dim[i], &count);
    }
    if (ok && open >= 0) {
        ok = count > 0 && total % count == 0;
        d->dim[open] = ok ? total / count : 0;
        count = total;
    }
    if (ok && count == total)
        return true;
    Text t = {0};
    for (int i = 0; i < d->rank; i++)
        text_printf(&t, "%s%" PRId64, i ? "," : "", d->dim[i]);
    op_error(o, "%" PRId64 " elements can't take the shape [%s]", total, t.n ? t.s : "");
    text_free(&t);
    return false;
}

static void import_reshape(Op *o)
{
    Dims x = dims_of(o->g, arg(o, 0)), d;

    if (arg_ints(o, 1, "the shape", MAX_RANK, &d.rank, d.dim) &&
        resolve_shape(o, &x, &d, attr_int(o, "allowzero", 0)))
        give(o, 0, reshape_to(o->g, arg(o, 0), &d));
}

static void import_flatten(Op *o)
{
    Dims x = dims_of(o->g, arg(o, 0)), d = {.rank = 2, .dim = {1, 1}};
    int64_t axis = attr_int(o, "axis", 1);

    if (axis < -x.rank || axis > x.rank) {
        op_error(o, "axis %" PRId64 " is out of range for rank %d", axis, x.rank);
        return;
    }
    axis += axis < 0 ? x.rank : 0;
    for (int i = 0; i < x.rank; i++)
        d.dim[i >= axis] *= x.dim[i];
    give(o, 0, reshape_to(o->g, arg(o, 0), &d));
}

// The axes: an attribute before opset 13, an input since.
static bool read_axes(Op *o, int *n, int64_t *axes)
{
    const int64_t *v;

    if (has(o, 1))
        return arg_ints(o, 1, "axes", MAX_RANK, n, axes);
    v = attr_ints(o, "axes", n);
    if (*n > MAX_RANK)
        return op_error(o, "more than %d axes", MAX_RANK);
    if (*n)
        memcpy(axes, v, (size_t)*n * sizeof *v);
    return true;
}

static void import_squeeze(Op *o)
{
    Dims x = dims_of(o->g, arg(o, 0)), d = {0};
    int64_t axes[MAX_RANK];
    int n;
    bool drop[MAX_RANK] = {false};

    if (!read_axes(o, &n, axes) || !op_axes(o, n, axes, x.rank))
        return;
    for (int i = 0; i < n; i++)
        drop[axes[i]] = true;
    for (int i = 0; i < x.rank; i++) {
        if (drop[i] && x.dim[i] != 1) {
            op_error(o, "dim %d is %" PRId64 ", expected 1", i, x.dim[i]);
            return;
        }
        if (!(n ? drop[i] : x.dim[i] == 1))
            d.dim[d.rank++] = x.dim[i];
    }
    give(o, 0, reshape_to(o->g, arg(o, 0), &d));
}

static void import_unsqueeze(Op *o)
{
    int64_t axes[MAX_RANK];
    int n, rank = arg_value(o, 0)->rank;

    if (!read_axes(o, &n, axes))
        return;
    if (rank + n > MAX_RANK)
        op_error(o, "more than %d dims", MAX_RANK);
    else if (op_axes(o, n, axes, rank + n))
        give(o, 0, insert_dims(o->g, arg(o, 0), n, axes));
}

static void import_transpose(Op *o)
{
    int rank = arg_value(o, 0)->rank, n;
    const int64_t *v = attr_ints(o, "perm", &n);
    int64_t perm[MAX_RANK], sorted[MAX_RANK];

    if (n && n != rank) {
        op_error(o, "attribute perm has %d numbers for a value of rank %d", n, rank);
        return;
    }
    for (int i = 0; i < rank; i++)
        perm[i] = sorted[i] = n ? v[i] : rank - 1 - i;
    if (!op_axes(o, rank, sorted, rank))
        return;
    for (int i = 0; i < rank; i++)
        perm[i] += perm[i] < 0 ? rank : 0;
    give(o, 0, transpose_to(o->g, arg(o, 0), perm));
}

// ---- repeating ----

static void import_expand(Op *o)
{
    Dims x = dims_of(o->g, arg(o, 0)), d;

    if (!arg_ints(o, 1, "the shape", MAX_RANK, &d.rank, d.dim))
        return;
    for (int i = 0; i < d.rank; i++)
        if (d.dim[i] < 0) {
            op_error(o, "dim %d of the shape is %" PRId64 ", expected at least 0", i, d.dim[i]);
            return;
        }
    if (dims_broadcast(o, &d, &x))
        give(o, 0, broadcast_to(o->g, arg(o, 0), d.rank, d.dim));
}

// Repeats each dim n by r: [n] → [r, n] → [r · n].
static void import_tile(Op *o)
{
    Dims x = dims_of(o->g, arg(o, 0)), wide = {0}, y = x;
    int64_t repeats[MAX_RANK], dims[MAX_RANK];
    int n;

    if (!arg_ints(o, 1, "repeats", MAX_RANK, &n, repeats))
        return;
    bool ok = n == x.rank;
    for (int i = 0; i < n && ok; i++) {
        ok = repeats[i] >= 0 && mul_size(x.dim[i], repeats[i], &y.dim[i]);
        if (repeats[i] != 1) {
            if (wide.rank + 2 + x.rank - i - 1 > MAX_RANK)
                ok = false;
            else
                wide.dim[wide.rank++] = repeats[i];
        }
        if (ok) {
            dims[i] = wide.rank;
            wide.dim[wide.rank++] = x.dim[i];
        }
    }
    if (!ok) {
        op_error(o, "its repeats don't fit the input");
        return;
    }
    ValueId v = wide.rank == x.rank ? arg(o, 0)
                                    : make_broadcast(o->g, arg(o, 0), wide.rank, wide.dim, dims);
    give(o, 0, reshape_to(o->g, v, &y));
}

// ---- shapes as values ----

static int64_t clamp(int64_t v, int64_t low, int64_t high)
{
    return v < low ? low : v > high ? high : v;
}

static void import_shape_of(Op *o)
{
    const Value *x = arg_value(o, 0);
    int64_t start = attr_int(o, "start", 0), end = attr_int(o, "end", x->rank);

    start = clamp(start < 0 ? start + x->rank : start, 0, x->rank);
    end = clamp(end < 0 ? end + x->rank : end, start, x->rank);
    give(o, 0, constant_ints(o->g, (int)(end - start), x->dim + start));
}

static void import_size(Op *o)
{
    give(o, 0, graph_scalar(o->g, I64, (double)value_count(arg_value(o, 0))));
}

// Keeps the triangle where column - row ≥ k (upper) or ≤ k (lower); the rest is zero.
static void import_trilu(Op *o)
{
    Graph *g = o->g;
    ValueId x = arg(o, 0);
    Dims d = dims_of(g, x);
    double k = 0;

    if (d.rank < 2) {
        op_error(o, "a matrix is expected");
        return;
    }
    if (has(o, 1) && !arg_number(o, 1, "k", &k))
        return;
    ValueId row = make_iota(g, I64, d.rank, d.dim, d.rank - 2);
    ValueId column = make_iota(g, I64, d.rank, d.dim, d.rank - 1);
    ValueId limit = k == 0 ? row : make_add(g, row, scalar_like(g, row, k));
    ValueId keep = attr_int(o, "upper", 1) ? make_le(g, limit, column) : make_le(g, column, limit);
    give(o, 0, make_select(g, keep, x, scalar_like(g, x, 0)));
}

// ---- depth and space ----

static void import_depth_to_space(Op *o)
{
    static const int64_t dcr[] = {0, 3, 4, 1, 5, 2}, crd[] = {0, 1, 4, 2, 5, 3};
    bool is_dcr = !strcmp(attr_text(o, "mode", "DCR"), "DCR");
    Dims x = dims_of(o->g, arg(o, 0));
    int64_t b = attr_int(o, "blocksize", 0);

    if (x.rank != 4 || b < 1 || b > 1 << 15 || x.dim[1] % (b * b)) {
        op_error(o, "blocksize %" PRId64 " doesn't fit the input", b);
        return;
    }
    int64_t c = x.dim[1] / (b * b);
    Dims parts = {6, {x.dim[0], b, b, c, x.dim[2], x.dim[3]}};
    if (!is_dcr)
        parts = (Dims){6, {x.dim[0], c, b, b, x.dim[2], x.dim[3]}};
    Dims y = {4, {x.dim[0], c, x.dim[2] * b, x.dim[3] * b}};
    ValueId v = reshape_to(o->g, arg(o, 0), &parts);
    give(o, 0, reshape_to(o->g, make_transpose(o->g, v, is_dcr ? dcr : crd), &y));
}

static void import_space_to_depth(Op *o)
{
    static const int64_t dcr[] = {0, 3, 5, 1, 2, 4}, crd[] = {0, 1, 3, 5, 2, 4};
    bool is_dcr = !strcmp(attr_text(o, "mode", "DCR"), "DCR");
    Dims x = dims_of(o->g, arg(o, 0));
    int64_t b = attr_int(o, "blocksize", 0);

    if (x.rank != 4 || b < 1 || b > 1 << 15 || x.dim[2] % b || x.dim[3] % b) {
        op_error(o, "blocksize %" PRId64 " doesn't fit the input", b);
        return;
    }
    Dims parts = {6, {x.dim[0], x.dim[1], x.dim[2] / b, b, x.dim[3] / b, b}};
    Dims y = {4, {x.dim[0], x.dim[1] * b * b, x.dim[2] / b, x.dim[3] / b}};
    ValueId v = make_transpose(o->g, reshape_to(o->g, arg(o, 0), &parts), is_dcr ? dcr : crd);
    give(o, 0, reshape_to(o->g, v, &y));
}

const OpImporter import_shape[] = {
    {"DepthToSpace", 1, 1, .import = import_depth_to_space, .attrs = "blocksize mode"},
    {"Expand", 2, 2, .import = import_expand, .since = 8, .known = "shape"},
    {"Flatten", 1, 1, .import = import_flatten, .attrs = "axis"},
    {"Reshape", 2, 2, .import = import_reshape, .attrs = "allowzero", .known = "shape"},
    {"Shape", 1, 1, .import = import_shape_of, .attrs = "start end",
     .no_gradient = "none: a count"},
    {"Size", 1, 1, .import = import_size, .no_gradient = "none: a count"},
    {"SpaceToDepth", 1, 1, .import = import_space_to_depth, .attrs = "blocksize mode"},
    {"Squeeze", 1, 2, .import = import_squeeze, .attrs = "axes", .known = "axes"},
    {"Tile", 2, 2, .import = import_tile, .known = "repeats"},
    {"Transpose", 1, 1, .import = import_transpose, .attrs = "perm"},
    {"Trilu", 1, 2, .import = import_trilu, .attrs = "upper", .since = 14, .known = "k"},
    {"Unsqueeze", 1, 2, .import = import_unsqueeze, .attrs = "axes", .known = "axes"},
    {0},
};
