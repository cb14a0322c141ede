// Imports padding: with a number, or with elements of the value itself.
#include "frontend/internal.h"

typedef enum Mode { CONSTANT, EDGE, REFLECT, WRAP } Mode;

// Pads with a constant. A negative pad cuts elements off.
static void pad_constant(Op *o, const int64_t *low, const int64_t *high, double value)
{
    Dims d = dims_of(o->g, arg(o, 0));
    ValueId y = arg(o, 0);
    int64_t more_low[MAX_RANK], more_high[MAX_RANK], none[MAX_RANK] = {0};
    bool pads = false;

    for (int i = 0; i < d.rank; i++) {
        bool fits = low[i] >= -d.dim[i] && high[i] >= -d.dim[i];
        fits = fits && low[i] <= 1 << 30 && high[i] <= 1 << 30;
        int64_t a = fits && low[i] < 0 ? -low[i] : 0, b = fits && high[i] < 0 ? -high[i] : 0;
        if (!fits || b > d.dim[i] - a) {
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

// Neighbours of a padded dim whose positions in the dim have equal steps: 1, -1, or 0 for a
// repeated one.
typedef struct Run {
    int64_t first, size, step;
} Run;

// The longest run at position `p` of a dim of n elements that is repeated without end to both
// sides.
static Run run_at(Mode mode, int64_t n, int64_t p)
{
    int64_t period = mode == REFLECT ? 2 * (n - 1) : n;

    if (mode == EDGE || n == 1)
        return p < 0 ? (Run){0, -p, 0} : p >= n ? (Run){n - 1, INT64_MAX, 0} : (Run){p, n - p, 1};
    p = (p % period + period) % period;
    return p < n ? (Run){p, n - p, 1} : (Run){period - p, period - p, -1};
}

static ValueId take(Graph *g, ValueId x, int axis, Run r)
{
    if (r.step)
        return slice_axis(g, x, axis, r.first, r.size, r.step);
    ValueId one = slice_axis(g, x, axis, r.first, 1, 1);
    Dims d = dims_of(g, x);
    d.dim[axis] = r.size;
    return one ? broadcast_to(g, one, d.rank, d.dim) : 0;
}

// Pads one dim with elements of itself. A negative pad cuts elements off.
static ValueId pad_dim(Op *o, ValueId x, Mode mode, int axis, int64_t low, int64_t high)
{
    enum { MAX_RUNS = 1 << 10 };
    int64_t n = value_of(o->g, x)->dim[axis];
    ValueId part[MAX_RUNS];
    int k = 0;

    bool fits = low >= -n && high >= -n && low <= 1 << 30 && high <= 1 << 30;
    int64_t size = fits ? low + n + high : -1;
    if (size < 0 || (n == 0 && size > 0)) {
        op_error(o, "its pads don't fit dim %d of %" PRId64, axis, n);
        return 0;
    }
    if (!size)
        return slice_axis(o->g, x, axis, 0, 0, 1);
    for (int64_t p = -low; p < size - low;) {
        Run r = run_at(mode, n, p);
        if (k == MAX_RUNS) {
            op_error(o, "its pads repeat dim %d of %" PRId64 " more than %d times", axis, n,
                     MAX_RUNS);
            return 0;
        }
        r.size = r.size < size - low - p ? r.size : size - low - p;
        part[k++] = take(o->g, x, axis, r);
        p += r.size;
    }
    return k == 1 ? part[0] : make_concat(o->g, k, part, axis);
}

static void pad_repeated(Op *o, Mode mode, const int64_t *low, const int64_t *high)
{
    ValueId y = arg(o, 0);
    int rank = arg_value(o, 0)->rank;

    for (int i = 0; i < rank && y; i++)
        if (low[i] || high[i])
            y = pad_dim(o, y, mode, i, low[i], high[i]);
    give(o, 0, y);
}

static void import_pad(Op *o)
{
    static const char *const modes[] = {"constant", "edge", "reflect", "wrap"};
    int rank = arg_value(o, 0)->rank, n = 0, n_axes = rank;
    int64_t pads[2 * MAX_RANK], axes[MAX_RANK], low[MAX_RANK] = {0}, high[MAX_RANK] = {0};
    const char *mode = attr_text(o, "mode", "constant");
    double value = attr_float(o, "value", 0);
    int m = 0;

    while (m < COUNT(modes) && strcmp(mode, modes[m]))
        m++;
    if (m == COUNT(modes)) {
        op_error(o, "mode '%.50s' is unknown, expected constant, edge, reflect or wrap", mode);
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
    if (m)
        pad_repeated(o, (Mode)m, low, high);
    else
        pad_constant(o, low, high, value);
}

// Cuts or pads with zeros on both sides, so that the middle stays.
static void import_center_crop_pad(Op *o)
{
    Dims d = dims_of(o->g, arg(o, 0));
    int64_t shape[MAX_RANK], axes[MAX_RANK], low[MAX_RANK] = {0}, high[MAX_RANK] = {0};
    int n = 0, n_axes = 0;
    const int64_t *v = attr_ints(o, "axes", &n_axes);

    if (!arg_ints(o, 1, "the shape", MAX_RANK, &n, shape))
        return;
    n_axes = v ? n_axes : d.rank;
    if (n_axes != n) {
        op_error(o, "has %d sizes for %d axes", n, n_axes);
        return;
    }
    for (int i = 0; i < n; i++) {
        axes[i] = v ? v[i] : i;
        if (!op_axis(o, &axes[i], d.rank))
            return;
        if (shape[i] < 0 || shape[i] > 1 << 30) {
            op_error(o, "a size is %" PRId64 ", expected 0 to 2^30", shape[i]);
            return;
        }
        int64_t more = shape[i] - d.dim[axes[i]];
        low[axes[i]] = more / 2;
        high[axes[i]] = more - more / 2;
    }
    pad_constant(o, low, high, 0);
}

const OpImporter import_pads[] = {
    {"CenterCropPad", 2, 2, .import = import_center_crop_pad, .attrs = "axes", .since = 18,
     .known = "shape"},
    {"Pad", 1, 4, .import = import_pad, .attrs = "mode pads value",
     .known = "pads, constant_value, axes"},
    {0},
};
