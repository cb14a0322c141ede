// Operators that move elements about and compute nothing.
#include "frontend/internal.h"

// ---- reshape and the like ----

// Resolves 0 (the input's dim) and -1 (what is left over) in an ONNX shape.
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

static void lower_reshape(Op *o)
{
    Dims x = dims_of(o->g, arg(o, 0)), d;

    if (arg_ints(o, 1, "the shape", MAX_RANK, &d.rank, d.dim) &&
        resolve_shape(o, &x, &d, attr_int(o, "allowzero", 0)))
        give(o, 0, reshape_to(o->g, arg(o, 0), &d));
}

static void lower_flatten(Op *o)
{
    Dims x = dims_of(o->g, arg(o, 0)), d = {.rank = 2, .dim = {1, 1}};
    int64_t axis = attr_int(o, "axis", 1);

    if (axis < -x.rank || axis > x.rank) {
        op_error(o, "axis %" PRId64 " of a value of rank %d", axis, x.rank);
        return;
    }
    axis += axis < 0 ? x.rank : 0;
    for (int i = 0; i < x.rank; i++)
        d.dim[i >= axis] *= x.dim[i];
    give(o, 0, reshape_to(o->g, arg(o, 0), &d));
}

// The axes: an attribute before opset 13, then an input.
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

static void lower_squeeze(Op *o)
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
            op_error(o, "dim %d is %" PRId64 ", not 1", i, x.dim[i]);
            return;
        }
        if (!(n ? drop[i] : x.dim[i] == 1))
            d.dim[d.rank++] = x.dim[i];
    }
    give(o, 0, reshape_to(o->g, arg(o, 0), &d));
}

static void lower_unsqueeze(Op *o)
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

static void lower_transpose(Op *o)
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

static void lower_expand(Op *o)
{
    Dims x = dims_of(o->g, arg(o, 0)), d;

    if (!arg_ints(o, 1, "the shape", MAX_RANK, &d.rank, d.dim))
        return;
    for (int i = 0; i < d.rank; i++)
        if (d.dim[i] < 0) {
            op_error(o, "dim %d of the shape is %" PRId64, i, d.dim[i]);
            return;
        }
    if (dims_broadcast(o, &d, &x))
        give(o, 0, broadcast_to(o->g, arg(o, 0), d.rank, d.dim));
}

// Each dim n that repeats r times: [n] → [r, n] → [r · n].
static void lower_tile(Op *o)
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

// ---- joining and splitting ----

static void lower_concat(Op *o)
{
    ValueId *x = arena_array(o->x->scratch, ValueId, o->n_in + 1);
    int64_t axis = attr_int(o, "axis", 0);
    int n = 0;

    for (int i = 0; i < o->n_in; i++)
        if (arg(o, i))
            x[n++] = arg(o, i);
    if (!n) {
        op_error(o, "has no inputs");
        return;
    }
    if (!op_axis(o, &axis, value_of(o->g, x[0])->rank))
        return;
    give(o, 0, n == 1 ? x[0] : make_concat(o->g, n, x, (int)axis));
    o->out[0].n = n;
    o->out[0].axis = (int)axis;
    o->out[0].element = x;
}

static void lower_split(Op *o)
{
    const Value *x = arg_value(o, 0);
    int64_t axis = attr_int(o, "axis", 0), start = 0;
    int64_t *size = arena_array(o->x->scratch, int64_t, o->n_out + 1);
    int n = 0, parts = (int)attr_int(o, "num_outputs", o->n_out);

    if (!op_axis(o, &axis, x->rank))
        return;
    const int64_t *v = attr_ints(o, "split", &n);
    if (has(o, 1)) {
        if (!arg_ints(o, 1, "split", o->n_out, &n, size))
            return;
        v = size;
    }
    if ((n && n != o->n_out) || parts != o->n_out) {
        op_error(o, "splits into %d, but has %d outputs", n ? n : parts, o->n_out);
        return;
    }
    int64_t whole = x->dim[axis], each = (whole + parts - 1) / (parts ? parts : 1);
    for (int i = 0; i < o->n_out; i++) {
        int64_t left = whole - start, k = n ? v[i] : each < left ? each : left;
        if (k < 0 || k > left || (i == o->n_out - 1 && k != left)) {
            op_error(o, "its parts don't add up to %" PRId64, whole);
            return;
        }
        give(o, i, slice_axis(o->g, arg(o, 0), (int)axis, start, k, 1));
        start += k;
    }
}

static int64_t clamp(int64_t v, int64_t low, int64_t high)
{
    return v < low ? low : v > high ? high : v;
}

// starts, ends, axes, steps: attributes in opset 9 and before (no steps then), inputs since.
static bool read_slice(Op *o, int *n, int64_t *start, int64_t *end, int64_t *axes, int64_t *step)
{
    static const char *const names[] = {"starts", "ends", "axes", "steps"};
    int64_t *part[] = {start, end, axes, step};
    int count[4] = {0};

    for (int k = 0; k < 4; k++) {
        if (has(o, k + 1)) {
            if (!arg_ints(o, k + 1, names[k], MAX_RANK, &count[k], part[k]))
                return false;
            continue;
        }
        const int64_t *v = attr_ints(o, names[k], &count[k]);
        if (count[k] > MAX_RANK)
            return op_error(o, "more than %d %s", MAX_RANK, names[k]);
        if (count[k])
            memcpy(part[k], v, (size_t)count[k] * sizeof *v);
    }
    *n = count[0];
    for (int i = 0; i < *n; i++) {
        axes[i] = count[2] ? axes[i] : i;
        step[i] = count[3] ? step[i] : 1;
    }
    if (count[1] != *n || (count[2] && count[2] != *n) || (count[3] && count[3] != *n))
        return op_error(o, "has %d starts, %d ends, %d axes and %d steps", count[0], count[1],
                        count[2], count[3]);
    return true;
}

static void lower_slice(Op *o)
{
    Dims x = dims_of(o->g, arg(o, 0));
    int64_t start[MAX_RANK], end[MAX_RANK], axes[MAX_RANK], step[MAX_RANK];
    int64_t first[MAX_RANK] = {0}, stride[MAX_RANK];
    int n = 0;
    bool changes = false;

    if (!read_slice(o, &n, start, end, axes, step))
        return;
    for (int i = 0; i < x.rank; i++)
        stride[i] = 1;
    Dims y = x;
    for (int i = 0; i < n; i++) {
        if (!op_axis(o, &axes[i], x.rank))
            return;
        int64_t a = axes[i], size = x.dim[a], s = step[i];
        if (s == 0 || s < -size - 1 || s > ((int64_t)1 << 40)) {
            s = s > 0 ? size + 1 : s < 0 ? -size - 1 : 0;
            if (!s) {
                op_error(o, "step 0");
                return;
            }
        }
        int64_t from = start[i] < 0 ? (start[i] < -size ? -1 : start[i] + size) : start[i];
        int64_t to = end[i] < 0 ? (end[i] < -size ? -1 : end[i] + size) : end[i];
        from = s > 0 ? clamp(from, 0, size) : clamp(from, -1, size - 1);
        from = s < 0 && start[i] < -size ? -1 : from;
        to = s > 0 ? clamp(to, 0, size) : clamp(to, -1, size - 1);
        int64_t span = s > 0 ? to - from : from - to;
        int64_t each = s > 0 ? s : -s;
        first[a] = span > 0 ? from : 0;
        stride[a] = span > 0 ? s : 1;
        y.dim[a] = span > 0 ? (span + each - 1) / each : 0;
        changes |= first[a] != 0 || stride[a] != 1 || y.dim[a] != size;
    }
    give(o, 0, changes ? make_slice(o->g, arg(o, 0), first, y.dim, stride) : arg(o, 0));
}

// ---- padding ----

// A negative pad takes away.
static void pad_constant(Op *o, const int64_t *low, const int64_t *high, double value)
{
    Dims d = dims_of(o->g, arg(o, 0));
    ValueId y = arg(o, 0);
    int64_t more_low[MAX_RANK], more_high[MAX_RANK], none[MAX_RANK] = {0};
    bool pads = false;

    for (int i = 0; i < d.rank; i++) {
        int64_t a = low[i] < 0 ? -low[i] : 0, b = high[i] < 0 ? -high[i] : 0;
        if (a > d.dim[i] || b > d.dim[i] - a || low[i] > 1 << 30 || high[i] > 1 << 30) {
            op_error(o, "its pads don't fit dim %d of %" PRId64, i, d.dim[i]);
            return;
        }
        y = slice_axis(o->g, y, i, a, d.dim[i] - a - b, 1);
        more_low[i] = low[i] > 0 ? low[i] : 0;
        more_high[i] = high[i] > 0 ? high[i] : 0;
        pads |= more_low[i] || more_high[i];
    }
    give(o, 0, pads ? make_pad(o->g, y, more_low, more_high, none, value) : y);
}

static void lower_pad(Op *o)
{
    int rank = arg_value(o, 0)->rank, n = 0, n_axes = rank;
    int64_t pads[2 * MAX_RANK], axes[MAX_RANK], low[MAX_RANK] = {0}, high[MAX_RANK] = {0};
    const char *mode = attr_text(o, "mode", "constant");
    double value = attr_float(o, "value", 0);

    if (strcmp(mode, "constant")) {
        op_error(o, "mode '%.50s' is not supported", mode);
        return;
    }
    for (int i = 0; i < rank; i++)
        axes[i] = i;
    if (has(o, 1)) {
        if (!arg_ints(o, 1, "pads", 2 * MAX_RANK, &n, pads) ||
            (has(o, 2) && !arg_number(o, 2, "the value", &value)) ||
            (has(o, 3) && !arg_ints(o, 3, "axes", MAX_RANK, &n_axes, axes)))
            return;
    } else {
        const int64_t *v = attr_ints(o, "pads", &n);
        if (n <= 2 * MAX_RANK && n)
            memcpy(pads, v, (size_t)n * sizeof *v);
    }
    if (n != 2 * n_axes) {
        op_error(o, "has %d pads for %d axes", n, n_axes);
        return;
    }
    for (int i = 0; i < n_axes; i++) {
        if (!op_axis(o, &axes[i], rank))
            return;
        low[axes[i]] = pads[i];
        high[axes[i]] = pads[n_axes + i];
    }
    pad_constant(o, low, high, value);
}

// ---- shapes as values ----

static void lower_shape_of(Op *o)
{
    const Value *x = arg_value(o, 0);
    int64_t start = attr_int(o, "start", 0), end = attr_int(o, "end", x->rank);

    start = clamp(start < 0 ? start + x->rank : start, 0, x->rank);
    end = clamp(end < 0 ? end + x->rank : end, start, x->rank);
    give(o, 0, constant_ints(o->g, (int)(end - start), x->dim + start));
}

static void lower_size(Op *o)
{
    give(o, 0, graph_scalar(o->g, I64, (double)value_count(arg_value(o, 0))));
}

// The triangle where column - row ≥ k (upper) or ≤ k; zero elsewhere.
static void lower_trilu(Op *o)
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

static void lower_depth_to_space(Op *o)
{
    static const int64_t dcr[] = {0, 3, 4, 1, 5, 2}, crd[] = {0, 1, 4, 2, 5, 3};
    bool is_dcr = !strcmp(attr_text(o, "mode", "DCR"), "DCR");
    Dims x = dims_of(o->g, arg(o, 0));
    int64_t b = attr_int(o, "blocksize", 0);

    if (x.rank != 4 || b < 1 || b > 1 << 15 || x.dim[1] % (b * b)) {
        op_error(o, "a block of %" PRId64 " doesn't fit", b);
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

static void lower_space_to_depth(Op *o)
{
    static const int64_t perm[] = {0, 3, 5, 1, 2, 4};
    Dims x = dims_of(o->g, arg(o, 0));
    int64_t b = attr_int(o, "blocksize", 0);

    if (x.rank != 4 || b < 1 || b > 1 << 15 || x.dim[2] % b || x.dim[3] % b) {
        op_error(o, "a block of %" PRId64 " doesn't fit", b);
        return;
    }
    Dims parts = {6, {x.dim[0], x.dim[1], x.dim[2] / b, b, x.dim[3] / b, b}};
    Dims y = {4, {x.dim[0], x.dim[1] * b * b, x.dim[2] / b, x.dim[3] / b}};
    ValueId v = make_transpose(o->g, reshape_to(o->g, arg(o, 0), &parts), perm);
    give(o, 0, reshape_to(o->g, v, &y));
}

const Lowering lower_shape[] = {
    {"Concat", 1, MAX_OPERANDS, .lower = lower_concat},
    {"DepthToSpace", 1, 1, .lower = lower_depth_to_space},
    {"Expand", 2, 2, .lower = lower_expand},
    {"Flatten", 1, 1, .lower = lower_flatten},
    {"Pad", 1, 4, .lower = lower_pad},
    {"Reshape", 2, 2, .lower = lower_reshape},
    {"Shape", 1, 1, .lower = lower_shape_of},
    {"Size", 1, 1, .lower = lower_size},
    {"Slice", 1, 5, .lower = lower_slice},
    {"SpaceToDepth", 1, 1, .lower = lower_space_to_depth},
    {"Split", 1, 2, .lower = lower_split},
    {"Squeeze", 1, 2, .lower = lower_squeeze},
    {"Tile", 2, 2, .lower = lower_tile},
    {"Transpose", 1, 1, .lower = lower_transpose},
    {"Trilu", 1, 2, .lower = lower_trilu},
    {"Unsqueeze", 1, 2, .lower = lower_unsqueeze},
    {0},
};
