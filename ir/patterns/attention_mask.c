// Masks of attention. Masks known by their indices become causal, offset and window; at most one
// other mask stays an operand.
#include <math.h>
#include <string.h>

#include "ir/patterns/attention.h"

// Is x a number that exporters mask with: -inf, or so low that its exponential is 0?
static bool is_masking(DType t, double x) { return x <= (t == F16 ? -3e4 : -1e9); }

bool masks(const Match *m, ValueId v)
{
    double x;

    return value_splat(m->g, v, &x) && is_masking(value_of(m->g, v)->dtype, x);
}

int32_t leaf_of(Relation *r, int32_t t)
{
    int32_t leaf[2];

    return term_leaves(r, t, leaf, 2) == 1 ? leaf[0] : 0;
}

// Adds c + Σ a[i] · index[i] ≥ 0 as a limit of t - s. False if it is none.
static bool add_limit(Found *f, const Affine *x, const Value *v, const int32_t *dim)
{
    int32_t s = 0, key = leaf_of(&f->r, f->key);
    double a_s = 0, a_t = 0;

    for (int i = 0; i < v->rank; i++) {
        if (x->a[i] == 0)
            continue;
        int32_t t = leaf_of(&f->r, dim[i]);
        if (!t || (t != key && s && t != s))
            return false;
        *(t == key ? &a_t : &a_s) += x->a[i];
        s = t == key ? s : t;
    }
    if (!s || !key || fabs(a_t) != 1 || a_s != -a_t || fabs(x->c) >= MASK_UNBOUNDED)
        return false;
    if (f->query && leaf_of(&f->r, f->query) != s)
        return false;
    f->query = s;
    if (a_t < 0 && x->c < (double)f->high)
        f->high = (int64_t)floor(x->c);
    if (a_t > 0 && -x->c > (double)f->low)
        f->low = (int64_t)ceil(-x->c);
    return true;
}

// The scores that a mask known by its indices keeps: all, those where all predicates hold (inside),
// or the others.
typedef enum Keep { KEEP_ALL, KEEP_INSIDE, KEEP_OUTSIDE, KEEP_UNKNOWN } Keep;

static bool add_known(Found *f, const Fact *fact, const Value *v, const int32_t *dim, Keep keep)
{
    Affine outside;

    if (keep == KEEP_ALL)
        return true;
    if (keep == KEEP_INSIDE) {
        for (int i = 0; i < fact->n_predicates; i++)
            if (!add_limit(f, &fact->predicate[i], v, dim))
                return false;
        return true;
    }
    if (keep == KEEP_UNKNOWN || fact->n_predicates != 1)
        return false;
    outside = fact->predicate[0];  // x is a whole number: not (x ≥ 0) is -x - 1 ≥ 0
    outside.c = -outside.c - 1;
    for (int i = 0; i < MAX_RANK; i++)
        outside.a[i] = -outside.a[i];
    return add_limit(f, &outside, v, dim);
}

static bool is_uniform(const Fact *fact, int rank)
{
    for (int i = 0; i < rank; i++)
        if (fact->value.a[i] != 0)
            return false;
    return true;
}

static Keep keep_of(const Fact *fact, const Value *v, bool keeps, bool is_inverted)
{
    double x = fact->value.c, y = fact->other;
    DType t = v->dtype;

    if (!is_uniform(fact, v->rank))
        return KEEP_UNKNOWN;
    if (!fact->n_predicates)
        return (keeps ? (x != 0) != is_inverted : isfinite(x) && !is_masking(t, x)) ? KEEP_ALL
                                                                                    : KEEP_UNKNOWN;
    if (keeps && (x != 0) == (y != 0))
        return (x != 0) != is_inverted ? KEEP_ALL : KEEP_UNKNOWN;
    if (keeps)
        return (x != 0) != is_inverted ? KEEP_INSIDE : KEEP_OUTSIDE;
    if (x == 0 && is_masking(t, y))
        return KEEP_INSIDE;
    return y == 0 && is_masking(t, x) ? KEEP_OUTSIDE : KEEP_UNKNOWN;
}

enum { MOST_PARTS = 64 };  // bounds the walk: shared nodes give a mask more parts than nodes

// Adds the one mask that isn't known by its indices, as bias.
static bool add_bias(Found *f, ValueId v, const int32_t *dim, bool keeps, bool is_inverted)
{
    DType t = value_of(f->m->g, v)->dtype;

    if (f->has_bias || f->m->is_learned[v] || !view_of(f->m, &f->r, v, THROUGH_BROADCAST, &f->bias))
        return false;
    if (!keeps && t != F32 && t != value_of(f->m->g, f->inside)->dtype)
        return false;
    for (int i = 0; i < f->bias.rank; i++)
        if (!term_join(&f->r, dim[i], f->bias.dim[i]))
            return false;
    f->has_bias = true;
    f->keeps = keeps;
    f->is_inverted = is_inverted;
    return true;
}

// Adds mask v, part by part if it is a sum or a conjunction. dim: the terms of its dims. keeps: v
// is true where scores stay (false there if is_inverted); else v is added to the scores.
static bool add_parts(Found *f, ValueId v, const int32_t *dim, bool keeps, bool is_inverted)
{
    const Match *m = f->m;
    const Value *x = value_of(m->g, v);
    const Node *n = x->producer ? producer(m->g, v) : NULL;
    const Fact *fact = fact_of(m->facts, v);
    int32_t up[MAX_RANK];

    if (f->n_parts++ == MOST_PARTS)
        return false;
    if (fact && add_known(f, fact, x, dim, keep_of(fact, x, keeps, is_inverted)))
        return true;
    if (n && !n->op->is_elementwise && view_through(m, &f->r, n, dim, up))
        return add_parts(f, n->in[0], up, keeps, is_inverted);
    if (n && keeps && n->op == &op_not)
        return add_parts(f, n->in[0], dim, keeps, !is_inverted);
    if (n && ((keeps && n->op == (is_inverted ? &op_or : &op_and)) || (!keeps && n->op == &op_add)))
        return add_parts(f, n->in[0], dim, keeps, is_inverted) &&
               add_parts(f, n->in[1], dim, keeps, is_inverted);
    if (n && !keeps && n->op == &op_select && masks(m, n->in[2]))
        return add_parts(f, n->in[0], dim, true, false) &&
               add_parts(f, n->in[1], dim, false, false);
    if (n && !keeps && n->op == &op_select && masks(m, n->in[1]))
        return add_parts(f, n->in[0], dim, true, true) && add_parts(f, n->in[2], dim, false, false);
    return add_bias(f, v, dim, keeps, is_inverted);
}

// Adds mask v part by part; if that fails, as a whole.
bool add_mask(Found *f, ValueId v, bool keeps, bool is_inverted)
{
    Found before = *f;
    int32_t *dim = f->dim;

    if (add_parts(f, v, dim, keeps, is_inverted))
        return true;
    Relation r = f->r;
    *f = before;
    f->r = r;
    return add_bias(f, v, dim, keeps, is_inverted);
}
