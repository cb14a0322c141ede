// Emits each constant in one form: a broadcast scalar, iota with scalar arithmetic, comparisons of
// iotas, or dense elements. Later passes see no other form.
#include "ir/passes/fold/fold.h"

#include <string.h>

static ValueId scalar(Folder *f, DType t, double x)
{
    return fold_share(f, graph_scalar(f->g, t, x));
}

static ValueId splat(Folder *f, DType t, const Value *like, double x)
{
    ValueId s = scalar(f, t, x);

    return like->rank ? fold_share(f, make_broadcast(f->g, s, like->rank, like->dim, NULL)) : s;
}

static ValueId indices(Folder *f, DType t, const Value *like, int axis)
{
    return fold_share(f, make_iota(f->g, t, like->rank, like->dim, axis));
}

// c + Σ sign · a[d] · (index along dim d), over the dims d whose sign · a[d] is positive.
static ValueId one_side(Folder *f, DType t, const Value *like, const Affine *x, double sign,
                        double c)
{
    ValueId sum = 0;

    for (int i = 0; i < like->rank; i++) {
        double k = sign * x->a[i];
        if (k <= 0)
            continue;
        ValueId term = indices(f, t, like, i);
        if (k != 1)
            term = fold_share(f, make_mul(f->g, term, splat(f, t, like, k)));
        sum = sum ? fold_share(f, make_add(f->g, sum, term)) : term;
    }
    if (sum && c != 0)
        sum = fold_share(f, make_add(f->g, sum, splat(f, t, like, c)));
    return sum ? sum : splat(f, t, like, c);
}

// x ≥ 0 as left ≤ right: terms with a negative factor change sides.
static ValueId emit_predicate(Folder *f, const Value *like, const Affine *x)
{
    ValueId left = one_side(f, I64, like, x, -1, 0);
    ValueId right = one_side(f, I64, like, x, 1, x->c);

    return fold_share(f, make_le(f->g, left, right));
}

static ValueId emit_mask(Folder *f, const Value *like, const Fact *x)
{
    ValueId mask = emit_predicate(f, like, &x->predicate[0]);

    for (int i = 1; i < x->n_predicates; i++)
        mask = fold_share(f, make_and(f->g, mask, emit_predicate(f, like, &x->predicate[i])));
    if (like->dtype != BOOL) {
        ValueId other = splat(f, like->dtype, like, x->other);
        ValueId value = splat(f, like->dtype, like, x->value.c);
        return fold_share(f, make_select(f->g, mask, value, other));
    }
    return x->value.c == 1 ? mask : fold_share(f, make_not(f->g, mask));
}

// The only dim along which an affine value varies; -1: none or several. *n is their number.
static int only_axis(const Fact *x, const Value *v, int *n)
{
    int axis = -1;

    *n = 0;
    for (int i = 0; i < v->rank; i++)
        if (x->value.a[i] != 0) {
            axis = i;
            ++*n;
        }
    return *n == 1 ? axis : -1;
}

static ValueId emit_progression(Folder *f, const Value *like, const Fact *x, int axis)
{
    DType t = like->dtype;
    ValueId v = indices(f, t, like, axis);

    if (x->value.a[axis] != 1)
        v = fold_share(f, make_mul(f->g, v, splat(f, t, like, x->value.a[axis])));
    if (x->value.c != 0)
        v = fold_share(f, make_add(f->g, v, splat(f, t, like, x->value.c)));
    return v;
}

// A constant with the elements of `v`; `v` itself if it is one or has too many.
static ValueId emit_dense(Folder *f, ValueId v)
{
    Value like = *value_of(f->g, v);
    const Tensor *t = like.kind == VALUE_CONSTANT ? NULL : tensor_value(f, v);

    if (!t)
        return v;
    const void *data = tensor_pack(f->g->arena, t);
    return fold_share(f, graph_constant(f->g, like.dtype, like.rank, like.dim, data));
}

// Is a value that varies along `axis` worth an iota? Two elements are always a progression, and
// three numbers of a model may be one by chance.
static bool is_progression(const Value *v, int axis)
{
    return axis >= 0 && (v->rank > 1 || v->dim[0] > SMALL_COUNT) && v->dim[axis] > 3;
}

ValueId fold_constant(Folder *f, ValueId v)
{
    Value like = *value_of(f->g, v);
    const Fact *x = fact_of(f, v);
    const Node *n = like.producer ? producer(f->g, v) : NULL;
    int n_axes;

    if (like.rank == 0)
        return emit_dense(f, v);
    bool is_small = like.rank == 1 && like.dim[0] <= SMALL_COUNT;
    if (is_small && dtype_is_int(like.dtype))
        return emit_dense(f, v);
    if (x && x->n_predicates)
        return emit_mask(f, &like, x);
    if (x) {
        int axis = only_axis(x, &like, &n_axes);
        if (!n_axes)
            return splat(f, like.dtype, &like, x->value.c);
        if (is_progression(&like, axis))
            return emit_progression(f, &like, x, axis);
        if (n && !is_small)
            return v;
    }
    // A broadcast's input has fewer bytes than its result.
    return n && n->op == &op_broadcast ? v : emit_dense(f, v);
}
