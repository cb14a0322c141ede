// Imports operators that sample between the elements of a value.
#include "frontend/internal.h"

// Numbers along the last dim of x, as a value of x's type and dims.
static ValueId along_last(Graph *g, ValueId x, const double *v)
{
    Dims d = dims_of(g, x);
    int64_t n = d.dim[d.rank - 1];
    Tensor t = tensor_new(g->arena, value_of(g, x)->dtype, 1, &n);
    bool is_one = true;

    for (int64_t i = 0; i < n; i++) {
        t.f[i] = v[i];
        is_one &= v[i] == v[0];
    }
    if (is_one)
        return scalar_like(g, x, v[0]);
    ValueId c = graph_constant(g, t.dtype, 1, &n, tensor_pack(g->arena, &t));
    return make_broadcast(g, c, d.rank, d.dim, &(int64_t){d.rank - 1});
}

// ---- GridSample ----

// The mode by the name that it has from opset 20 on; NULL if there is none.
static const char *mode_of(const char *name)
{
    static const char *const names[][2] = {{"bilinear", "linear"},
                                           {"bicubic", "cubic"},
                                           {"linear", "linear"},
                                           {"cubic", "cubic"},
                                           {"nearest", "nearest"}};

    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (!strcmp(name, names[i][0]))
            return names[i][1];
    return NULL;
}

// Positions in elements from coordinates, where -1 and 1 are the centres of the outermost elements
// (corners), or their outer edges. The order of operations is PyTorch's, as what is nearest depends
// on the last digit.
static ValueId positions(Graph *g, ValueId grid, const Dims *x, bool corners)
{
    int n = x->rank - 2;
    double size[MAX_RANK];
    ValueId from = make_add(g, grid, scalar_like(g, grid, 1));

    for (int i = 0; i < n; i++)
        size[i] = (double)(x->dim[x->rank - 1 - i] - corners);
    if (corners)
        return make_mul(g, make_mul(g, from, scalar_like(g, from, 0.5)), along_last(g, from, size));
    ValueId wide = make_mul(g, from, along_last(g, from, size));
    return make_mul(g, make_sub(g, wide, scalar_like(g, wide, 1)), scalar_like(g, wide, 0.5));
}

static bool is_float_input(Op *o, int i)
{
    return dtype_is_float(arg_value(o, i)->dtype) || op_error(o, "input %d must hold floats", i);
}

// Halves are sampled as F32: a half says where an element is in vectors of up to 2048 alone.
static ValueId widen(Graph *g, ValueId x)
{
    return make_cast(g, x, value_of(g, x)->dtype == F64 ? F64 : F32);
}

static void import_grid_sample(Op *o)
{
    Graph *g = o->g;
    const char *mode = attr_text(o, "mode", "linear");
    Sampling s = {mode_of(mode), attr_text(o, "padding_mode", "zeros"),
                  attr_int(o, "align_corners", 0) != 0};
    DType t = arg_value(o, 0)->dtype;
    Dims d = dims_of(g, arg(o, 0)), points = dims_of(g, arg(o, 1));

    if (!is_float_input(o, 0) || !is_float_input(o, 1))
        return;
    if (!s.mode) {
        op_error(o, "mode '%.100s' is not linear, nearest or cubic", mode);
        return;
    }
    if (strcmp(s.padding, "zeros") && strcmp(s.padding, "border") &&
        strcmp(s.padding, "reflection")) {
        op_error(o, "padding_mode '%.100s' is not zeros, border or reflection", s.padding);
        return;
    }
    if (d.rank < 3 || d.rank > 5 || points.rank != d.rank ||
        points.dim[points.rank - 1] != d.rank - 2 || points.dim[0] != d.dim[0]) {
        op_error(o, "expected a value of rank 3 to 5 and a grid of that rank, with as many samples "
                    "and a last dim that is the rank less 2");
        return;
    }
    ValueId x = widen(g, arg(o, 0)), grid = make_cast(g, arg(o, 1), value_of(g, x)->dtype);
    ValueId y = make_grid_sample(g, x, positions(g, grid, &d, s.corners), &s);
    give(o, 0, y ? make_cast(g, y, t) : 0);
}

// ---- AffineGrid ----

// The coordinates of the elements of one dim, in F64 as in PyTorch's and ONNX's definitions: from
// -1 to 1 between the centres of the outermost elements (corners), or between their edges. A dim of
// one element with corners has coordinate 0, as in PyTorch; ONNX divides by zero there.
static ValueId coordinates(Graph *g, DType t, const Dims *d, int axis, bool corners)
{
    double n = (double)d->dim[axis], steps = corners ? n - 1 : n;
    ValueId i = make_iota(g, F64, d->rank, d->dim, axis);

    if (corners && n == 1)
        return full(g, t, d, 0);
    i = make_add(g, make_mul(g, i, scalar_like(g, i, 2)), scalar_like(g, i, corners ? 0 : 1));
    i = make_sub(g, make_mul(g, i, scalar_like(g, i, 1 / steps)), scalar_like(g, i, 1));
    return make_cast(g, i, t);
}

// Row i of a matrix theta [n, r, r + 1] gives coordinate i of a point: the product with the point's
// own coordinates, the last dim first, and 1.
static void import_affine_grid(Op *o)
{
    Graph *g = o->g;
    bool corners = attr_int(o, "align_corners", 0) != 0;
    DType type = arg_value(o, 0)->dtype;
    Dims theta = dims_of(g, arg(o, 0)), y = {0};
    int64_t size[5];
    int n;

    if (!is_float_input(o, 0) || !arg_ints(o, 1, "size", 5, &n, size))
        return;
    int r = n - 2;
    if (r < 2 || theta.rank != 3 || theta.dim[0] != size[0] || theta.dim[1] != r ||
        theta.dim[2] != r + 1) {
        op_error(o, "expected a size of 4 or 5 numbers and theta [size[0],r,r+1] for its r last");
        return;
    }
    y.dim[y.rank++] = size[0];
    for (int i = 0; i < r; i++) {
        y.dim[y.rank++] = size[2 + i];
        if (size[2 + i] < 1 || size[2 + i] > 1 << 24) {
            op_error(o, "size %d is %" PRId64 ", expected 1 to 2^24", 2 + i, size[2 + i]);
            return;
        }
    }
    y.dim[y.rank++] = r;
    ValueId x = widen(g, arg(o, 0)), sum = 0;
    DType t = value_of(g, x)->dtype;
    for (int k = 0; k <= r; k++) {
        ValueId column = drop_dim(g, slice_axis(g, x, 2, k, 1, 1), 2);
        ValueId part = make_broadcast(g, column, y.rank, y.dim, (int64_t[]){0, y.rank - 1});
        if (k < r)
            part = make_mul(g, part, coordinates(g, t, &y, y.rank - 2 - k, corners));
        sum = sum ? make_add(g, sum, part) : part;
    }
    give(o, 0, make_cast(g, sum, type));
}

const OpImporter import_sample[] = {
    {"AffineGrid", 2, 2, .import = import_affine_grid, .attrs = "align_corners", .since = 20,
     .known = "size"},
    {"GridSample", 2, 2, .import = import_grid_sample, .attrs = "align_corners mode padding_mode",
     .since = 16, .refuses = "X of integers; more than 3 spatial dims"},
    {0},
};
