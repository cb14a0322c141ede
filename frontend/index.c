// Reads the indices of operators that take or put elements by index, and brings them to the form of
// gather and scatter: a table's dims are batch dims, dims that no index names, and the indexed one.
#include <string.h>

#include "frontend/internal.h"

bool index_is_integer(Op *o, int i)
{
    DType t = arg_value(o, i)->dtype;

    return t == I32 || t == I64 || op_error(o, "indices must be i32 or i64");
}

ValueId index_from_end(Op *o, ValueId index, int64_t n)
{
    const Tensor *t = known_of(o->x, index);
    Graph *g = o->g;
    bool has_negative = !t;

    for (int64_t i = 0; t && i < tensor_count(t); i++)
        has_negative |= t->i[i] < 0;
    if (!has_negative)
        return index;
    ValueId is_negative = make_lt(g, index, scalar_like(g, index, 0));
    ValueId from_end = make_add(g, index, scalar_like(g, index, (double)n));
    return make_select(g, is_negative, from_end, index);
}

ValueId index_wrap(Op *o, ValueId index, int64_t n)
{
    const Tensor *t = known_of(o->x, index);

    for (int64_t i = 0; t && i < tensor_count(t); i++) {
        if (t->i[i] >= -n && t->i[i] < n)
            continue;
        op_error(o, "index %" PRId64 " is out of range for a dim of %" PRId64, t->i[i], n);
        return 0;
    }
    return index_from_end(o, index, n);
}

// ---- an index for each element ----

// Do the elements of v repeat along its dim? They do where a dim is broadcast.
static bool repeats_along(Op *o, ValueId v, int dim)
{
    const Tensor *t = known_of(o->x, v);
    const Node *n = producer(o->g, v);
    Rule r;

    if (t)
        return t->dim[dim] == 1;
    if (!n->op || !n->op->view)
        return false;
    node_rule(o->x->scratch, o->g, n, &r);
    for (int i = 0; i < in(o->g, n, 0)->rank; i++)
        if (r.dim[0][i] == r.dim[n->n_in][dim])
            return false;
    return r.kind[r.dim[n->n_in][dim]] == FACTOR_PARALLEL;
}

bool index_elements(Op *o, int64_t axis, ElementIndex *e)
{
    Graph *g = o->g;
    Dims d = dims_of(g, arg(o, 0)), di = dims_of(g, arg(o, 1));
    ValueId index = arg(o, 1);
    int64_t order[MAX_RANK];
    bool is_free[MAX_RANK];
    int n = 0, kept = 0;

    if (!op_axis(o, &axis, d.rank) || !index_is_integer(o, 1))
        return false;
    if (d.rank != di.rank)
        return op_error(o, "ranks differ: %d and %d", d.rank, di.rank);
    for (int i = 0; i < d.rank; i++) {
        if (i != axis && di.dim[i] > d.dim[i])
            return op_error(o, "dim %d of the indices is larger than the data's", i);
        is_free[i] = i == axis || repeats_along(o, arg(o, 1), i);
    }
    e->batch = e->axis = 0;
    for (int i = 0; i < d.rank; i++)
        if (!is_free[i]) {
            order[e->batch] = kept++;
            e->perm[e->batch++] = i;
        } else if (i == axis) {
            order[d.rank - 1] = kept++;  // the indexed dim comes after the batch dims
        }
    order[e->batch] = order[d.rank - 1];
    n = e->batch;
    for (int i = 0; i < d.rank; i++)
        if (is_free[i]) {
            e->axis = i == axis ? n : e->axis;
            e->perm[n++] = i;
        }
    for (int i = 0; i < d.rank; i++)
        e->back[e->perm[i]] = i;
    for (int i = d.rank - 1; i >= 0; i--)
        if (is_free[i] && i != axis)
            index = drop_dim(g, slice_axis(g, index, i, 0, 1, 1), i);
    e->index = index_wrap(o, transpose_to(g, index, order), d.dim[axis]);
    return e->index != 0;
}

// ---- tuples of indices ----

ValueId index_part(Op *o, int i, int64_t k)
{
    const Symbol *index = &o->in[1];
    int last = arg_value(o, 1)->rank - 1;
    ValueId v = index->n == k && index->axis == last ? index->element[i] : 0;

    if (!v || value_of(o->g, v)->dim[last] != 1)
        v = slice_axis(o->g, arg(o, 1), last, i, 1, 1);
    return drop_dim(o->g, v, last);
}

// Is the part of an index 0, 1, 2 … along one of its dims, as many as there are?
static bool counts_along(Op *o, ValueId part, int dim, int64_t n)
{
    const Tensor *t = known_of(o->x, part);
    int64_t first, step;
    int along;

    if (!t || value_of(o->g, part)->dim[dim] != n || !known_affine(t, &along, &first, &step))
        return false;
    return first == 0 && (n == 1 ? along < 0 : along == dim && step == 1);
}

bool index_tuples(Op *o, int64_t batch, TupleIndex *t)
{
    Graph *g = o->g;
    Dims d = dims_of(g, arg(o, 0)), di = dims_of(g, arg(o, 1));
    int64_t k = di.rank ? di.dim[di.rank - 1] : 0, count = 1;
    ValueId at = 0;

    if (!index_is_integer(o, 1))
        return false;
    if (k < 1 || batch < 0 || batch + k > d.rank || batch >= di.rank ||
        di.rank - 1 + d.rank - k > MAX_RANK)
        return op_error(
            o, "indices of %" PRId64 " numbers and %" PRId64 " batch dims don't fit the data", k,
            batch);
    t->n = (int)k;
    for (int i = 0; i < k; i++)
        t->part[i] = index_part(o, i, k);
    // Numbers that count along a dim of the index make a batch dim.
    int first = 0;
    while (first + 1 < k && batch + first < di.rank - 1 &&
           counts_along(o, t->part[first], (int)batch + first, d.dim[batch + first]))
        first++;
    t->batch = (int)batch + first;
    t->table = (Dims){.rank = t->batch + 1};
    memcpy(t->table.dim, d.dim, sizeof *d.dim * (size_t)t->batch);
    for (int i = first; i < k; i++) {
        int64_t n = d.dim[batch + i];
        ValueId v = index_wrap(o, t->part[i], n);
        if (!v)
            return false;
        at = at ? make_add(g, make_mul(g, at, scalar_like(g, at, (double)n)), v) : v;
        count *= n;
    }
    t->table.dim[t->batch] = count;
    for (int i = (int)(batch + k); i < d.rank; i++)
        t->table.dim[t->table.rank++] = d.dim[i];
    t->index = at;
    return true;
}
