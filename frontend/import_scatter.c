// Imports operators that put elements by index. Where the indices are known and follow each other,
// the result is joined from parts of the data.
#include <string.h>

#include "frontend/internal.h"

// Rows that are put into a table, as make_scatter takes them.
typedef struct Put {
    ValueId table, rows, index;
    const char *reduction;  // of make_scatter
    int axis, batch;
} Put;

// PyTorch's exporter writes the mean of scatter_reduce, which ONNX lacks, as no reduction.
static bool is_lost_mean(const Op *o)
{
    const char *args = strstr(fx_node_of(o->node), "aten.scatter_reduce.two](args = (");

    return args && strstr(args, ", mean)");
}

// Reads the attribute `reduction`. NULL after an error.
static const char *reduction_of(Op *o)
{
    static const char *const names[] = {"none", "add", "mul", "max", "min"};
    const char *s = attr_text(o, "reduction", "none");
    bool is_bool = arg_value(o, 0)->dtype == BOOL;

    if (is_lost_mean(o)) {
        op_error(o,
                 "reduction %s, expected the mean of scatter_reduce, which the exporter can't "
                 "write: divide its sum by the count",
                 s);
        return NULL;
    }
    for (int i = 0; i < COUNT(names); i++) {
        if (strcmp(s, names[i]))
            continue;
        if (i > 0 && is_bool) {
            op_error(o, "reduction %s of truth values", s);
            return NULL;
        }
        return i ? names[i] : "last";
    }
    op_error(o, "reduction '%.200s', expected none, add, mul, max or min", s);
    return NULL;
}

static ValueId combined(Graph *g, const char *reduction, ValueId x, ValueId y)
{
    return !strcmp(reduction, "last")  ? y
           : !strcmp(reduction, "add") ? make_add(g, x, y)
           : !strcmp(reduction, "mul") ? make_mul(g, x, y)
           : !strcmp(reduction, "max") ? make_max(g, x, y)
                                       : make_min(g, x, y);
}

// x with the elements [first, first + n) along an axis replaced by y, which has n there.
static ValueId replaced(Graph *g, ValueId x, int axis, int64_t first, ValueId y)
{
    int64_t size = value_of(g, x)->dim[axis], n = value_of(g, y)->dim[axis], after = first + n;
    ValueId part[3];
    int count = 0;

    if (first > 0)
        part[count++] = slice_axis(g, x, axis, 0, first, 1);
    part[count++] = y;
    if (after < size)
        part[count++] = slice_axis(g, x, axis, after, size - after, 1);
    return count > 1 ? make_concat(g, count, part, axis) : y;
}

// Puts rows at a known index that counts up. Returns 0 if it doesn't, or differs along other dims.
static ValueId put_slice(Op *o, const Put *p)
{
    Graph *g = o->g;
    const Tensor *t = known_of(o->x, p->index);
    int rank = value_of(g, p->index)->rank, along;
    int64_t first, step, count = rank == p->batch + 1 ? value_of(g, p->index)->dim[p->batch] : 0;

    if (count < 1 || !t || !known_affine(t, &along, &first, &step))
        return 0;
    if (count > 1 && (along != p->batch || step != 1))
        return 0;
    ValueId part = slice_axis(g, p->table, p->axis, first, count, 1);
    ValueId y = combined(g, p->reduction, part, p->rows);
    return replaced(g, p->table, p->axis, first, y);
}

static ValueId put(Op *o, const Put *p)
{
    Graph *g = o->g;
    int64_t n = value_of(g, p->table)->dim[p->axis];
    ValueId y = put_slice(o, p);

    if (y)
        return y;
    // Sums are apart from the table, so that ranks may each add some rows.
    if (!strcmp(p->reduction, "add"))
        return make_add(g, p->table, make_scatter_add(g, p->rows, p->index, p->axis, p->batch, n));
    return make_scatter(g, p->rows, p->index, p->table, p->reduction, p->axis, p->batch, n);
}

static bool check_updates(Op *o, const Dims *want)
{
    const Value *v = arg_value(o, 2);

    if (v->dtype != arg_value(o, 0)->dtype)
        return op_error(o, "the types of data and updates differ");
    if (v->rank == want->rank && !memcmp(v->dim, want->dim, sizeof *v->dim * (size_t)v->rank))
        return true;
    Value expected = {.dtype = v->dtype, .rank = want->rank};
    memcpy(expected.dim, want->dim, sizeof expected.dim);
    Text t = {0};
    value_print_type(&expected, &t);
    op_error(o, "expected updates %s", t.s);
    text_free(&t);
    return false;
}

// y = data, except y[…, index[…, i, …], …] = updates[…, i, …]. If the index is shorter than the
// data in another dim, only the first elements there are changed.
static void import_scatter_elements(Op *o)
{
    Graph *g = o->g;
    Dims d = dims_of(g, arg(o, 0)), di = dims_of(g, arg(o, 1));
    const char *reduction = reduction_of(o);
    ElementIndex e;

    if (!reduction || !index_elements(o, attr_int(o, "axis", 0), &e) || !check_updates(o, &di))
        return;
    ValueId part[MAX_RANK + 1] = {arg(o, 0)};  // cut along one more dim each
    for (int i = 0; i < d.rank; i++)
        part[i + 1] = i == e.perm[e.axis] ? part[i] : slice_axis(g, part[i], i, 0, di.dim[i], 1);
    Put p = {.table = transpose_to(g, part[d.rank], e.perm),
             .rows = transpose_to(g, arg(o, 2), e.perm),
             .index = e.index,
             .reduction = reduction,
             .axis = e.axis,
             .batch = e.batch};
    ValueId y = transpose_to(g, put(o, &p), e.back);
    for (int i = d.rank - 1; i >= 0; i--)
        y = part[i] == part[i + 1] ? y : replaced(g, part[i], i, 0, y);
    give(o, 0, y);
}

static void import_scatter_nd(Op *o)
{
    Graph *g = o->g;
    Dims d = dims_of(g, arg(o, 0)), updates = dims_of(g, arg(o, 1));
    const char *reduction = reduction_of(o);
    TupleIndex t;

    if (!reduction || !index_tuples(o, 0, &t))
        return;
    updates.rank--;
    for (int i = t.n; i < d.rank; i++)
        updates.dim[updates.rank++] = d.dim[i];
    if (!check_updates(o, &updates))
        return;
    Put p = {.table = reshape_to(g, arg(o, 0), &t.table),
             .rows = arg(o, 2),
             .index = t.index,
             .reduction = reduction,
             .axis = t.batch,
             .batch = t.batch};
    give(o, 0, reshape_to(g, put(o, &p), &d));
}

// ---- TensorScatter ----

// The indices [b, t] where a sample's rows are put. They begin at the sample's own index, or at 0
// if none is given.
static ValueId write_indices(Op *o, int64_t samples, int64_t count, int64_t n, bool is_circular)
{
    Graph *g = o->g;
    int64_t dim[] = {samples, count}, dims[] = {0};
    ValueId index = make_iota(g, I64, 2, dim, 1);

    if (has(o, 2)) {
        ValueId first = make_cast(g, arg(o, 2), I64);
        index = make_add(g, index, make_broadcast(g, first, 2, dim, dims));
    }
    return is_circular ? make_mod(g, index, scalar_like(g, index, (double)n)) : index;
}

static void import_tensor_scatter(Op *o)
{
    Graph *g = o->g;
    Dims d = dims_of(g, arg(o, 0)), want = d, u = dims_of(g, arg(o, 1));
    int64_t axis = attr_int(o, "axis", -2);
    const char *mode = attr_text(o, "mode", "linear");
    bool is_circular = !strcmp(mode, "circular");
    ValueId index;

    if (!op_axis(o, &axis, d.rank))
        return;
    if (axis == 0) {
        op_error(o, "axis 0 is the batch");
        return;
    }
    if (!is_circular && strcmp(mode, "linear")) {
        op_error(o, "mode '%.200s', expected linear or circular", mode);
        return;
    }
    want.dim[axis] = u.rank == d.rank ? u.dim[axis] : 0;
    if (u.rank != d.rank || memcmp(u.dim, want.dim, sizeof *u.dim * (size_t)u.rank) ||
        u.dim[axis] > d.dim[axis] || arg_value(o, 1)->dtype != arg_value(o, 0)->dtype) {
        op_error(o, "the update doesn't fit the cache");
        return;
    }
    if (has(o, 2) && (!index_is_integer(o, 2) || arg_value(o, 2)->rank != 1 ||
                      arg_value(o, 2)->dim[0] != d.dim[0])) {
        if (!o->failed)
            op_error(o, "expected one write index for each of %" PRId64 " samples", d.dim[0]);
        return;
    }
    index = write_indices(o, d.dim[0], u.dim[axis], d.dim[axis], is_circular);
    index = index_wrap(o, index, d.dim[axis]);
    Put p = {arg(o, 0), arg(o, 1), index, "last", (int)axis, 1};
    give(o, 0, index ? put(o, &p) : 0);
}

const OpImporter import_scatter[] = {
    {"Scatter", 3, 3, .import = import_scatter_elements, .attrs = "axis", .since = 9},
    {"ScatterElements", 3, 3, .import = import_scatter_elements, .attrs = "axis reduction",
     .since = 11, .refuses = "reductions of BOOL"},
    {"ScatterND", 3, 3, .import = import_scatter_nd, .attrs = "reduction", .since = 11,
     .refuses = "reductions of BOOL"},
    {"TensorScatter", 2, 3, .import = import_tensor_scatter, .attrs = "axis mode", .since = 24},
    {0},
};
