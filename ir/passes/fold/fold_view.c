// Identities of operators that move elements: simpler reshapes, slices, concats and gathers.
#include "ir/passes/fold/fold.h"

#include <string.h>

static const Node *made_by(const Folder *f, ValueId v, const OpDef *op)
{
    const Node *n = producer(f->g, v);

    return n->op == op ? n : NULL;
}

ValueId fold_reshape(Folder *f, const Node *n)
{
    const Node *x = made_by(f, n->in[0], &op_reshape);
    Value y = *out(f->g, n);

    if (same_shape(in(f->g, n, 0), &y))
        return n->in[0];
    return x ? fold_value(f, make_reshape(f->g, x->in[0], y.rank, y.dim)) : 0;
}

static bool is_identity(const int64_t *perm, int n)
{
    for (int i = 0; i < n; i++)
        if (perm[i] != i)
            return false;
    return true;
}

static ValueId transposed(Folder *f, ValueId x, const int64_t *perm, int rank)
{
    return is_identity(perm, rank) ? x : fold_value(f, make_transpose(f->g, x, perm));
}

// transpose(broadcast(x)) becomes broadcast(transpose(x)), which moves fewer elements.
static ValueId transpose_below(Folder *f, const Node *n, const Node *broadcast)
{
    int64_t perm[MAX_RANK], dims[MAX_RANK];
    const Attr *from = &broadcast->attr[1];
    Value y = *out(f->g, n);
    int k = 0;

    for (int i = 0; i < y.rank; i++)
        for (int j = 0; j < from->n; j++)
            if (from->v[j] == n->attr[0].v[i]) {
                perm[k] = j;
                dims[k++] = i;
            }
    ValueId x = transposed(f, broadcast->in[0], perm, k);
    return fold_value(f, make_broadcast(f->g, x, y.rank, y.dim, dims));
}

ValueId fold_transpose(Folder *f, const Node *n)
{
    const Node *x = made_by(f, n->in[0], &op_transpose);
    const Node *b = made_by(f, n->in[0], &op_broadcast);
    const Attr *perm = &n->attr[0];
    int64_t both[MAX_RANK];

    if (is_identity(perm->v, perm->n))
        return n->in[0];
    if (b)
        return transpose_below(f, n, b);
    if (!x)
        return 0;
    for (int i = 0; i < perm->n; i++)
        both[i] = x->attr[0].v[perm->v[i]];
    return transposed(f, x->in[0], both, perm->n);
}

ValueId fold_broadcast(Folder *f, const Node *n)
{
    const Node *x = made_by(f, n->in[0], &op_broadcast);
    Value y = *out(f->g, n);
    int64_t dims[MAX_RANK];

    if (in(f->g, n, 0)->rank == y.rank)
        return n->in[0];
    if (!x)
        return 0;
    for (int i = 0; i < x->attr[1].n; i++)
        dims[i] = n->attr[1].v[x->attr[1].v[i]];
    return fold_value(f, make_broadcast(f->g, x->in[0], y.rank, y.dim, dims));
}

// ---- slice ----

enum { DROP = 3 };  // index of slice's attribute drop

typedef struct Range {
    int64_t start[MAX_RANK], size[MAX_RANK], stride[MAX_RANK];
} Range;

static Range range_of(const Node *slice)
{
    Range r;
    size_t bytes = (size_t)slice->attr[0].n * sizeof(int64_t);

    memset(&r, 0, sizeof r);
    if (bytes) {
        memcpy(r.start, slice->attr[0].v, bytes);
        memcpy(r.size, slice->attr[1].v, bytes);
        memcpy(r.stride, slice->attr[2].v, bytes);
    }
    return r;
}

enum { SLICE_DROP = 3 };  // index of slice's attribute drop: dims that the result lacks

static bool is_all(const Range *r, const Value *x, int i)
{
    return r->size[i] == x->dim[i] && (r->size[i] < 2 || r->stride[i] == 1);
}

static bool is_whole(const Range *r, const Value *x)
{
    for (int i = 0; i < x->rank; i++)
        if (!is_all(r, x, i))
            return false;
    return true;
}

static ValueId sliced(Folder *f, ValueId x, const Range *r)
{
    if (is_whole(r, value_of(f->g, x)))
        return x;
    return fold_value(f, make_slice(f->g, x, r->start, r->size, r->stride));
}

static ValueId slice_of_slice(Folder *f, const Range *r, const Node *x)
{
    Range inner = range_of(x);

    for (int i = 0; i < x->attr[0].n; i++) {  // one element may have any stride, so it gets 1
        inner.start[i] += r->start[i] * (inner.size[i] > 1 ? inner.stride[i] : 1);
        inner.stride[i] = r->size[i] > 1 ? inner.stride[i] * r->stride[i] : 1;
        inner.size[i] = r->size[i];
    }
    return sliced(f, x->in[0], &inner);
}

// A slice that lies within one operand of a concat is a slice of that operand.
static ValueId slice_of_concat(Folder *f, const Range *r, const Node *x)
{
    int axis = (int)x->attr[0].i;
    int64_t first = r->start[axis], last = first + (r->size[axis] - 1) * r->stride[axis], at = 0;
    int64_t low = first < last ? first : last, high = first < last ? last : first;
    Range part = *r;

    for (int i = 0; i < x->n_in && r->size[axis]; i++) {
        int64_t n = in(f->g, x, i)->dim[axis];
        if (low >= at && high < at + n) {
            part.start[axis] -= at;
            return sliced(f, x->in[i], &part);
        }
        at += n;
    }
    return 0;
}

static ValueId slice_of_broadcast(Folder *f, const Range *r, const Node *x)
{
    int rank = out(f->g, x)->rank;
    Range part;

    memset(&part, 0, sizeof part);
    for (int i = 0; i < x->attr[1].n; i++) {
        int at = (int)x->attr[1].v[i];
        part.start[i] = r->start[at];
        part.size[i] = r->size[at];
        part.stride[i] = r->stride[at];
    }
    ValueId v = sliced(f, x->in[0], &part);
    return fold_value(f, make_broadcast(f->g, v, rank, r->size, x->attr[1].v));
}

// slice(transpose(x)) becomes transpose(slice(x)): transposes move towards their readers, whose
// equations absorb them.
static ValueId slice_of_transpose(Folder *f, const Node *n, const Node *x)
{
    const Attr *perm = &x->attr[0], *dropped = &n->attr[DROP];
    int64_t drop[MAX_RANK], order[MAX_RANK];
    bool is_gone[MAX_RANK] = {false};
    int at[MAX_RANK], n_drop = 0, rank = 0;
    Range r = range_of(n), y = r;

    for (int i = 0; i < dropped->n; i++)
        is_gone[perm->v[dropped->v[i]]] = true;
    for (int i = 0; i < perm->n; i++) {
        y.start[perm->v[i]] = r.start[i];
        y.size[perm->v[i]] = r.size[i];
        y.stride[perm->v[i]] = r.stride[i];
        at[i] = i - n_drop;
        if (is_gone[i])
            drop[n_drop++] = i;
    }
    for (int i = 0; i < perm->n; i++)
        if (!is_gone[perm->v[i]])
            order[rank++] = at[perm->v[i]];
    ValueId v =
        fold_value(f, make_slice_drop(f->g, x->in[0], y.start, y.size, y.stride, n_drop, drop));
    return fold_value(f, make_transpose(f->g, v, order));
}

ValueId fold_slice(Folder *f, const Node *n)
{
    Range r = range_of(n);
    Node x = *producer(f->g, n->in[0]);

    if (x.op == &op_transpose)
        return slice_of_transpose(f, n, &x);
    if (n->attr[DROP].n || (x.op == &op_slice && x.attr[DROP].n))
        return 0;
    if (is_whole(&r, in(f->g, n, 0)))
        return n->in[0];
    if (x.op == &op_slice)
        return slice_of_slice(f, &r, &x);
    if (x.op == &op_concat)
        return slice_of_concat(f, &r, &x);
    return x.op == &op_broadcast ? slice_of_broadcast(f, &r, &x) : 0;
}

ValueId fold_pad(Folder *f, const Node *n)
{
    return same_shape(in(f->g, n, 0), out(f->g, n)) ? n->in[0] : 0;
}

// ---- concat ----

// A concat of consecutive slices of x is one slice of x.
static ValueId concat_of_slices(Folder *f, const Node *n)
{
    int axis = (int)n->attr[0].i;
    ValueId x = 0;
    Range all;

    for (int i = 0; i < n->n_in; i++) {
        const Node *s = made_by(f, n->in[i], &op_slice);
        if (!s || s->attr[DROP].n || (x && s->in[0] != x))
            return 0;
        Range r = range_of(s);
        x = s->in[0];
        for (int k = 0; k < s->attr[0].n; k++)
            if (k == axis ? r.stride[k] != 1 : !is_all(&r, value_of(f->g, x), k))
                return 0;
        if (i && r.start[axis] != all.start[axis] + all.size[axis])
            return 0;
        if (i)
            all.size[axis] += r.size[axis];
        else
            all = r;
    }
    return sliced(f, x, &all);
}

ValueId fold_concat(Folder *f, const Node *n)
{
    int axis = (int)n->attr[0].i, k = 0;
    ValueId *part = arena_array(f->scratch, ValueId, n->n_in);

    for (int i = 0; i < n->n_in; i++)
        if (in(f->g, n, i)->dim[axis])
            part[k++] = n->in[i];
    if (k == 1)
        return part[0];
    if (k && k < n->n_in)
        return fold_value(f, make_concat(f->g, k, part, axis));
    return concat_of_slices(f, n);
}

// ---- gather ----

// Is the index of a gather affine along one dim at most, and all of it within the table? Then
// *along is that dim; -1: the index is one number.
static bool read_index(Folder *f, const Node *n, const Fact *index, int *along)
{
    const Value *v = in(f->g, n, 1);
    double least, most;

    *along = -1;
    if (!index || index->n_predicates || n->attr[1].i != 0 ||
        !affine_range(&index->value, v, &least, &most))
        return false;
    for (int i = 0; i < v->rank; i++) {
        if (index->value.a[i] != 0 && *along >= 0)
            return false;
        if (index->value.a[i] != 0)
            *along = i;
    }
    return least >= 0 && most < (double)in(f->g, n, 0)->dim[n->attr[0].i];
}

// A gather of evenly spaced rows is a slice, repeated along the index's other dims.
ValueId fold_gather(Folder *f, const Node *n)
{
    const Fact *index = n->attr[1].i || n->attr[2].i >= 0 ? NULL : fact_of(f, n->in[1]);
    Value table = *in(f->g, n, 0), y = *out(f->g, n);
    int axis = (int)n->attr[0].i, along, n_index = in(f->g, n, 1)->rank, k = 0;
    int64_t dim[MAX_RANK], dims[MAX_RANK];
    Range r;

    if (!read_index(f, n, index, &along))
        return 0;
    memset(&r, 0, sizeof r);
    for (int i = 0; i < table.rank; i++) {
        r.size[i] = table.dim[i];
        r.stride[i] = 1;
    }
    r.start[axis] = (int64_t)index->value.c;
    r.size[axis] = along < 0 ? 1 : in(f->g, n, 1)->dim[along];
    if (along >= 0)
        r.stride[axis] = (int64_t)index->value.a[along];
    for (int i = 0; i < table.rank; i++) {
        if (i == axis && along < 0)
            continue;
        dim[k] = r.size[i];
        dims[k++] = i < axis ? i : i == axis ? axis + along : i + n_index - 1;
    }
    ValueId rows = fold_value(f, make_reshape(f->g, sliced(f, n->in[0], &r), k, dim));
    return fold_value(f, make_broadcast(f->g, rows, y.rank, y.dim, dims));
}
