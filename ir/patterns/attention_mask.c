// Masks of attention: what becomes of the scores that they mask, and in which order. Masks known by
// their indices become causal, offset and window, the positional limits; at most one other mask
// stays an operand, the bias. The walk goes from the softmax towards the product, so it meets the
// mask first that is applied last.
#include <math.h>
#include <string.h>

#include "ir/patterns/attention.h"

// Is x a number that exporters mask with? Attention is right for any number; a row of scores that
// aren't far above it takes twice the time.
static bool is_masking(double x) { return x <= -1e4; }

bool masks(const Match *m, ValueId v, double *x)
{
    return value_splat(m->g, v, x) && is_masking(*x);
}

int32_t leaf_of(Relation *r, int32_t t)
{
    int32_t leaf[2];

    return term_leaves(r, t, leaf, 2) == 1 ? leaf[0] : 0;
}

// ---- limits ----

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

static bool add_limits(Found *f, const Fact *fact, const Value *v, const int32_t *dim, Keep keep)
{
    Affine outside;

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

static bool same_masking(const Masking *a, const Masking *b)
{
    return a->number == b->number && a->is_added == b->is_added;
}

// May the limits of an inner mask, which `f` has, be joined with those of the outer ones? Each
// score must become what it becomes by one mask after the other.
static bool may_join(const Found *outer, const Found *f, const Masking *inner)
{
    bool both_high = outer->high != MASK_UNBOUNDED && f->high != MASK_UNBOUNDED;
    bool both_low = outer->low != -MASK_UNBOUNDED && f->low != -MASK_UNBOUNDED;

    if (!outer->query || outer->limits.step == inner->step)
        return true;
    // The node has attributes for one number only. What two limits of one side add would count
    // twice.
    return same_masking(&outer->limits, inner) && !(inner->is_added && (both_high || both_low));
}

static bool add_known(Found *f, const Fact *fact, const Value *v, const int32_t *dim, Keep keep,
                      const Masking *how)
{
    Found before = *f;

    if (keep == KEEP_ALL)
        return true;
    f->low = -MASK_UNBOUNDED;
    f->high = MASK_UNBOUNDED;
    if (add_limits(f, fact, v, dim, keep) && may_join(&before, f, how)) {
        f->low = before.low > f->low ? before.low : f->low;
        f->high = before.high < f->high ? before.high : f->high;
        f->limits = before.query ? before.limits : *how;
        f->inner_limits = how->step;
        return true;
    }
    before.r = f->r;
    *f = before;
    return false;
}

static bool is_uniform(const Fact *fact, int rank)
{
    for (int i = 0; i < rank; i++)
        if (fact->value.a[i] != 0)
            return false;
    return true;
}

// For a condition: scores stay where it is true (false, if is_inverted).
static Keep keep_where(const Fact *fact, int rank, bool is_inverted)
{
    bool x = (fact->value.c != 0) != is_inverted, y = (fact->other != 0) != is_inverted;

    if (!is_uniform(fact, rank))
        return KEEP_UNKNOWN;
    if (!fact->n_predicates || x == y)
        return x ? KEEP_ALL : KEEP_UNKNOWN;
    return x ? KEEP_INSIDE : KEEP_OUTSIDE;
}

// For what is added to scores: they stay where it is 0, and it is *number elsewhere.
static Keep keep_added(const Fact *fact, int rank, double *number)
{
    double x = fact->value.c, y = fact->other;

    if (!is_uniform(fact, rank))
        return KEEP_UNKNOWN;
    if (!fact->n_predicates)
        return x == 0 ? KEEP_ALL : KEEP_UNKNOWN;
    *number = x == 0 ? y : x;
    if (x == 0 && is_masking(y))
        return KEEP_INSIDE;
    return y == 0 && is_masking(x) ? KEEP_OUTSIDE : KEEP_UNKNOWN;
}

// ---- the other mask ----

// Adds the one mask that isn't known by its indices, as bias: a condition (`how`), or what is added
// to scores (NULL).
static bool add_bias(Found *f, ValueId v, const int32_t *dim, const Masking *how, bool is_inverted)
{
    DType t = value_of(f->m->g, v)->dtype;

    if (f->has_bias || f->m->is_learned[v] || !view_of(f->m, &f->r, v, THROUGH_BROADCAST, &f->bias))
        return false;
    if (!how && t != F32 && t != value_of(f->m->g, f->inside)->dtype)
        return false;
    for (int i = 0; i < f->bias.rank; i++)
        if (!term_join(&f->r, dim[i], f->bias.dim[i]))
            return false;
    f->has_bias = true;
    f->keeps = how;
    f->bias_masking = how ? *how : (Masking){.is_added = true, .step = f->n_steps++};
    f->is_inverted = is_inverted;
    return true;
}

enum { MAX_PARTS = 64 };  // bounds the walk: shared nodes give a mask more parts than nodes

// Adds the mask of condition v, part by part if it is a conjunction: `how` masks a score unless v
// is true (false, if is_inverted). dim: the terms of v's dims.
static bool add_condition(Found *f, ValueId v, const int32_t *dim, const Masking *how,
                          bool is_inverted)
{
    const Match *m = f->m;
    const Value *x = value_of(m->g, v);
    const Node *n = x->producer ? producer(m->g, v) : NULL;
    const Fact *fact = fact_of(m->facts, v);
    int32_t up[MAX_RANK];

    if (f->n_parts++ == MAX_PARTS)
        return false;
    if (fact && add_known(f, fact, x, dim, keep_where(fact, x->rank, is_inverted), how))
        return true;
    if (n && !n->op->is_elementwise && view_through(m, &f->r, n, dim, up))
        return add_condition(f, n->in[0], up, how, is_inverted);
    if (n && n->op == &op_not)
        return add_condition(f, n->in[0], dim, how, !is_inverted);
    if (n && n->op == (is_inverted ? &op_or : &op_and))
        return add_condition(f, n->in[0], dim, how, is_inverted) &&
               add_condition(f, n->in[1], dim, how, is_inverted);
    return add_bias(f, v, dim, how, is_inverted);
}

// ---- what is added ----

// A number of a mask that is added.
static Masking masking_of(Found *f, double number)
{
    bool is_minus_inf = number == -INFINITY;

    // Added to -inf, nothing is left of a score.
    return (Masking){.number = is_minus_inf ? -INFINITY : number,
                     .is_added = !is_minus_inf,
                     .step = f->n_steps++};
}

// If v = select(c, x, number), or with the branches exchanged, sets *x and *number, and
// *is_inverted if the number is where c is true. Else false.
static bool is_masked(const Match *m, const Node *n, ValueId *x, double *number, bool *is_inverted)
{
    if (!n || n->op != &op_select)
        return false;
    *is_inverted = !masks(m, n->in[2], number);
    *x = n->in[*is_inverted ? 2 : 1];
    return !*is_inverted || masks(m, n->in[1], number);
}

// Adds v, which is added to scores that `how` doesn't mask yet: it must be 0 or how's number.
static bool add_same(Found *f, ValueId v, const int32_t *dim, const Masking *how)
{
    const Match *m = f->m;
    const Value *x = value_of(m->g, v);
    const Node *n = x->producer ? producer(m->g, v) : NULL;
    const Fact *fact = fact_of(m->facts, v);
    double number = how->number;
    int32_t up[MAX_RANK];
    bool is_inverted;
    ValueId inner;

    if (f->n_parts++ == MAX_PARTS)
        return false;
    if (fact) {
        Keep keep = keep_added(fact, x->rank, &number);
        if (number == how->number && add_known(f, fact, x, dim, keep, how))
            return true;
    }
    if (n && !n->op->is_elementwise && view_through(m, &f->r, n, dim, up))
        return add_same(f, n->in[0], up, how);
    return is_masked(m, n, &inner, &number, &is_inverted) && number == how->number &&
           add_condition(f, n->in[0], dim, how, is_inverted) && add_same(f, inner, dim, how);
}

// Adds v, which is added to scores, part by part if it is a sum or selected. dim: the terms of its
// dims.
static bool add_added(Found *f, ValueId v, const int32_t *dim)
{
    const Match *m = f->m;
    const Value *x = value_of(m->g, v);
    const Node *n = x->producer ? producer(m->g, v) : NULL;
    const Fact *fact = fact_of(m->facts, v);
    int32_t up[MAX_RANK];
    bool is_inverted;
    double number;
    ValueId inner;

    if (f->n_parts++ == MAX_PARTS)
        return false;
    if (fact) {
        Keep keep = keep_added(fact, x->rank, &number);
        Masking how =
            keep == KEEP_INSIDE || keep == KEEP_OUTSIDE ? masking_of(f, number) : (Masking){0};
        if (add_known(f, fact, x, dim, keep, &how))
            return true;
    }
    if (n && !n->op->is_elementwise && view_through(m, &f->r, n, dim, up))
        return add_added(f, n->in[0], up);
    if (n && n->op == &op_add)
        return add_added(f, n->in[0], dim) && add_added(f, n->in[1], dim);
    if (is_masked(m, n, &inner, &number, &is_inverted)) {
        Masking how = masking_of(f, number);
        return add_condition(f, n->in[0], dim, &how, is_inverted) &&
               (how.is_added ? add_same(f, inner, dim, &how) : add_added(f, inner, dim));
    }
    return add_bias(f, v, dim, NULL, false);
}

// ---- both ----

// Is there an order in which limits and bias give what the masks give that were met?
static bool has_order(const Found *f)
{
    const Masking *limits = &f->limits, *bias = &f->bias_masking;
    int outer = limits->step, inner = f->inner_limits;
    bool is_within = bias->step > outer && bias->step < inner;

    if (!f->query || !f->has_bias || outer == inner || bias->step < outer || bias->step > inner)
        return true;
    // The bias is between limits, or is of a step with some of them.
    if (f->keeps && same_masking(limits, bias) && !bias->is_added)
        return true;
    if (limits->number == -INFINITY)
        return bias->is_added;
    return limits->is_added && bias->is_added && (is_within || !f->keeps);
}

AttentionOrder order_of(const Found *f)
{
    const Masking *limits = &f->limits, *bias = &f->bias_masking;

    if (!f->query || !f->has_bias)
        return LIMITS_LAST;
    if (bias->is_added ? limits->number == -INFINITY : same_masking(limits, bias))
        return LIMITS_LAST;  // in any order
    if (bias->step == limits->step)
        return MASKED_ONCE;
    return bias->step < limits->step ? LIMITS_FIRST : LIMITS_LAST;
}

// Goes on with the mask as a whole, as the bias, if its parts don't fit.
static bool add_whole(Found *f, const Found *before, ValueId v, const Masking *how,
                      bool is_inverted)
{
    Relation r = f->r;

    *f = *before;
    f->r = r;
    return add_bias(f, v, f->dim, how, is_inverted) && has_order(f);
}

bool add_mask(Found *f, ValueId v)
{
    Found before = *f;

    return (add_added(f, v, f->dim) && has_order(f)) || add_whole(f, &before, v, NULL, false);
}

bool add_selected(Found *f, ValueId condition, double number, bool is_inverted)
{
    Masking how = {.number = number, .step = f->n_steps++};
    Found before = *f;

    return (add_condition(f, condition, f->dim, &how, is_inverted) && has_order(f)) ||
           add_whole(f, &before, condition, &how, is_inverted);
}
