// Helpers for importers: broadcasting, and moving dims.
#include "frontend/internal.h"

Dims dims_of(const Graph *g, ValueId v)
{
    const Value *value = value_of(g, v);
    Dims d = {.rank = value->rank};

    memcpy(d.dim, value->dim, sizeof d.dim);
    return d;
}

static void print_dims(const Dims *d, Text *t)
{
    text_printf(t, "[");
    for (int i = 0; i < d->rank; i++)
        text_printf(t, "%s%" PRId64, i ? "," : "", d->dim[i]);
    text_printf(t, "]");
}

bool dims_broadcast(Op *o, Dims *a, const Dims *b)
{
    Dims y = {.rank = a->rank > b->rank ? a->rank : b->rank};

    for (int i = 0; i < y.rank; i++) {
        int ia = i - (y.rank - a->rank), ib = i - (y.rank - b->rank);
        int64_t na = ia < 0 ? 1 : a->dim[ia], nb = ib < 0 ? 1 : b->dim[ib];
        y.dim[i] = na == 1 ? nb : na;
        if (na == nb || na == 1 || nb == 1)
            continue;
        Text t = {0};
        print_dims(a, &t);
        text_printf(&t, " and ");
        print_dims(b, &t);
        op_error(o, "shapes %s can't be broadcast to each other", t.s);
        text_free(&t);
        return false;
    }
    *a = y;
    return true;
}

void broadcast_pair(Op *o, ValueId *a, ValueId *b)
{
    Dims d = dims_of(o->g, *a), db = dims_of(o->g, *b);

    bool ok = dims_broadcast(o, &d, &db);
    *a = ok ? broadcast_to(o->g, *a, d.rank, d.dim) : 0;
    *b = ok ? broadcast_to(o->g, *b, d.rank, d.dim) : 0;
}

ValueId reshape_to(Graph *g, ValueId x, const Dims *d)
{
    const Value *v = value_of(g, x);

    if (x && v->rank == d->rank && !memcmp(v->dim, d->dim, (size_t)d->rank * sizeof *d->dim))
        return x;
    return make_reshape(g, x, d->rank, d->dim);
}

ValueId insert_dims(Graph *g, ValueId x, int n, const int64_t *axes)
{
    Dims from = dims_of(g, x), to = {.rank = from.rank + n};

    if (!x || to.rank > MAX_RANK)
        return 0;
    for (int i = 0; i < n; i++)
        to.dim[axes[i]] = -1;
    for (int i = 0, k = 0; i < to.rank; i++)
        to.dim[i] = to.dim[i] == -1 ? 1 : from.dim[k++];
    return reshape_to(g, x, &to);
}

ValueId drop_dim(Graph *g, ValueId x, int axis)
{
    Dims d = dims_of(g, x);

    if (!x)
        return 0;
    d.rank--;
    memmove(d.dim + axis, d.dim + axis + 1, (size_t)(d.rank - axis) * sizeof *d.dim);
    return reshape_to(g, x, &d);
}

ValueId slice_axis(Graph *g, ValueId x, int axis, int64_t start, int64_t size, int64_t stride)
{
    Dims d = dims_of(g, x);
    int64_t first[MAX_RANK] = {0}, step[MAX_RANK];

    if (!x || (start == 0 && size == d.dim[axis] && stride == 1))
        return x;
    for (int i = 0; i < d.rank; i++)
        step[i] = 1;
    first[axis] = start;
    step[axis] = stride;
    d.dim[axis] = size;
    return make_slice(g, x, first, d.dim, step);
}

ValueId transpose_to(Graph *g, ValueId x, const int64_t *perm)
{
    bool moves = false;

    for (int i = 0; i < value_of(g, x)->rank; i++)
        moves |= perm[i] != i;
    return moves ? make_transpose(g, x, perm) : x;
}

ValueId full(Graph *g, DType t, const Dims *d, double v)
{
    ValueId s = graph_scalar(g, t, v);

    return d->rank ? make_broadcast(g, s, d->rank, d->dim, NULL) : s;
}

ValueId vector_at(Graph *g, ValueId v, ValueId like, int axis)
{
    Dims d = dims_of(g, like);
    int64_t dims[MAX_RANK] = {axis};  // a model's v may have more dims, which is an error

    return make_broadcast(g, v, d.rank, d.dim, dims);
}

ValueId constant_ints(Graph *g, int n, const int64_t *v)
{
    int64_t *data = arena_array(g->arena, int64_t, n + 1);

    if (n)
        memcpy(data, v, (size_t)n * sizeof *v);
    return graph_constant(g, I64, 1, &(int64_t){n}, data);
}
