// Relates dims as products of atoms: unification of dims that can be split.
//
// Every dim of every value is a term. Equal terms are joined by union-find. A term is a leaf, or
// the product of an outer and an inner term. To relate two sequences of dims of equal product,
// leaves are split until both sequences have the same leaves, and these are joined. One pass is
// enough, as in unification, because a split leaf is split in all dims that contain it.
#include <assert.h>

#include "ir/operator/atoms.h"

// A sequence of leaves. A dim below 2^48 has at most 48 leaves of size 2 or more.
enum { MAX_LEAVES = 48 * MAX_RANK };
typedef struct Leaves {
    int n;
    int32_t at[MAX_LEAVES];
} Leaves;

static int32_t term_root(Relation *r, int32_t t)
{
    while (r->terms[t].up) {
        int32_t up = r->terms[t].up;

        if (r->terms[up].up)
            r->terms[t].up = r->terms[up].up;
        t = up;
    }
    return t;
}

int32_t term_new(Relation *r, int64_t size)
{
    Term *t = arena_push(r->arena, r->terms, r->n_terms, r->cap_terms);

    *t = (Term){.size = size};
    return r->n_terms - 1;
}

int32_t term_of(Relation *r, int operand, int dim)
{
    const Node *n = r->node;
    ValueId v = operand < n->n_in ? n->in[operand] : n->out[operand - n->n_in];

    return term_root(r, r->first[v] + dim);
}

// Splits a leaf into an outer part and `inner`, a proper divisor of its size.
static void term_split(Relation *r, int32_t t, int64_t inner)
{
    int32_t a = term_new(r, r->terms[t].size / inner), b = term_new(r, inner);

    r->terms[t].outer = a;
    r->terms[t].inner = b;
    r->changed = true;
}

int term_sizes(Relation *r, int32_t t, int64_t *size, int max)
{
    t = term_root(r, t);
    if (r->terms[t].inner) {
        int n = term_sizes(r, r->terms[t].outer, size, max);

        return n + term_sizes(r, r->terms[t].inner, size + n, max > n ? max - n : 0);
    }
    if (r->terms[t].size == 1 && !r->terms[t].is_whole)
        return 0;
    if (max > 0)
        *size = r->terms[t].size;
    return 1;
}

// Appends the leaves of size ≠ 1 below t.
static void leaves_add(Relation *r, int32_t t, Leaves *l)
{
    t = term_root(r, t);
    if (r->terms[t].inner) {
        leaves_add(r, r->terms[t].outer, l);
        leaves_add(r, r->terms[t].inner, l);
    } else if (r->terms[t].size != 1) {
        assert(l->n < MAX_LEAVES);
        l->at[l->n++] = t;
    }
}

// Can an inner part of size `b` be split off the remaining size `a` of `leaf`?
static bool can_cut(const Relation *r, int32_t leaf, int64_t a, int64_t b)
{
    return a % b == 0 && (a == b || !r->terms[leaf].is_whole);
}

// Can both sequences be split into the same leaves? They have the same product.
static bool leaves_match(const Relation *r, const Leaves *a, const Leaves *b)
{
    int i = a->n, j = b->n;
    int64_t x = 1, y = 1;  // the remaining sizes of leaves i and j

    for (;;) {
        if (x == 1 && i > 0)
            x = r->terms[a->at[--i]].size;
        if (y == 1 && j > 0)
            y = r->terms[b->at[--j]].size;
        if (x == 1 || y == 1)
            return x == y;
        if (x >= y ? !can_cut(r, a->at[i], x, y) : !can_cut(r, b->at[j], y, x))
            return false;
        int64_t least = x < y ? x : y;
        x /= least;
        y /= least;
    }
}

// Joins two leaves of equal size.
static void leaf_join(Relation *r, int32_t a, int32_t b)
{
    if (a == b)
        return;
    r->terms[b].up = a;
    r->terms[a].is_whole |= r->terms[b].is_whole;
    r->changed = true;
}

// Removes the last leaf of `l`, or, if it is larger than `least`, its inner part of that size.
// False if a leaf that is in both sequences was split at other positions.
static bool leaf_take(Relation *r, Leaves *l, int64_t least, int32_t *leaf)
{
    int32_t t = l->at[--l->n];

    if (r->terms[t].inner) {
        leaves_add(r, t, l);
        return leaf_take(r, l, least, leaf);
    }
    if (r->terms[t].size == least) {
        *leaf = t;
        return true;
    }
    if (r->terms[t].size < least || !can_cut(r, t, r->terms[t].size, least))
        return false;
    term_split(r, t, least);
    *leaf = r->terms[t].inner;
    l->at[l->n++] = r->terms[t].outer;
    return true;
}

static int64_t leaves_last(Relation *r, Leaves *l)
{
    int32_t t = term_root(r, l->at[l->n - 1]);

    l->at[l->n - 1] = t;
    while (r->terms[t].inner)
        t = term_root(r, r->terms[t].inner);
    return r->terms[t].size;
}

// Splits both sequences into the same leaves and joins these. False if that is impossible.
static bool leaves_join(Relation *r, Leaves *a, Leaves *b)
{
    if (!leaves_match(r, a, b))
        return false;
    while (a->n > 0 && b->n > 0) {
        int64_t x = leaves_last(r, a), y = leaves_last(r, b);
        int32_t s, t;

        if (!leaf_take(r, a, x < y ? x : y, &s))
            return false;
        leaves_last(r, b);
        if (!leaf_take(r, b, x < y ? x : y, &t))
            return false;
        leaf_join(r, term_root(r, s), term_root(r, t));
    }
    return true;
}

bool term_join(Relation *r, int32_t a, int32_t b)
{
    Leaves x = {0}, y = {0};

    a = term_root(r, a);
    b = term_root(r, b);
    if (a == b)
        return true;
    if (r->terms[a].size != r->terms[b].size)
        return false;
    bool is_leaf = !r->terms[a].inner && !r->terms[b].inner;
    if (!is_leaf) {
        leaves_add(r, a, &x);
        leaves_add(r, b, &y);
        if (!leaves_join(r, &x, &y))
            return false;
        if (!r->terms[a].inner || !r->terms[b].inner)
            return true;
    }
    leaf_join(r, a, b);
    return true;
}

bool terms_join(Relation *r, int n_a, const int32_t *a, int n_b, const int32_t *b)
{
    Leaves x = {0}, y = {0};

    for (int i = 0; i < n_a; i++)
        leaves_add(r, a[i], &x);
    for (int i = 0; i < n_b; i++)
        leaves_add(r, b[i], &y);
    return leaves_join(r, &x, &y);
}

int term_leaves(Relation *r, int32_t t, int32_t *leaf, int max)
{
    Leaves l = {0};

    leaves_add(r, t, &l);
    for (int i = 0; i < l.n && i < max; i++)
        leaf[i] = l.at[i];
    return l.n;
}

void term_keep(Relation *r, int32_t t)
{
    t = term_root(r, t);
    if (!r->terms[t].inner)
        r->terms[t].is_whole = true;
}

void relate_whole(Relation *r, int operand, int dim) { term_keep(r, term_of(r, operand, dim)); }

void relate_unit(Relation *r, int operand, int dim)
{
    const Term *t = &r->terms[term_of(r, operand, dim)];

    if (t->inner && r->terms[term_root(r, t->outer)].size == 1)
        term_keep(r, t->outer);
}

void relate_products(Relation *r, int a, int a0, int a1, int b, int b0, int b1)
{
    int32_t x[MAX_RANK], y[MAX_RANK];

    if (r->only_whole)
        return;
    for (int i = a0; i < a1; i++)
        x[i - a0] = term_of(r, a, i);
    for (int i = b0; i < b1; i++)
        y[i - b0] = term_of(r, b, i);
    terms_join(r, a1 - a0, x, b1 - b0, y);
}

// Sets *l to the last leaves of t, whose product is `size`; may split one. False if there are none.
static bool leaves_inner(Relation *r, int32_t t, int64_t size, Leaves *l)
{
    Leaves all = {0};
    int64_t left = size;

    leaves_add(r, t, &all);
    int i = all.n;
    while (left > 1 && i > 0 && left % r->terms[all.at[i - 1]].size == 0)
        left /= r->terms[all.at[--i]].size;
    if (left > 1) {
        if (i == 0 || !can_cut(r, all.at[i - 1], r->terms[all.at[i - 1]].size, left))
            return false;
        term_split(r, all.at[i - 1], left);
        l->at[l->n++] = r->terms[all.at[i - 1]].inner;
    }
    for (; i < all.n; i++)
        l->at[l->n++] = all.at[i];
    return true;
}

// The largest divisor of `size` that is less than `below` and at which t is already split; 1: none.
static int64_t term_cut(Relation *r, int32_t t, int64_t size, int64_t below)
{
    int64_t inner = 1, best = 1;
    Leaves l = {0};

    leaves_add(r, t, &l);
    for (int i = l.n - 1; i >= 0; i--) {
        inner *= r->terms[l.at[i]].size;
        if (inner < below && size % inner == 0)
            best = inner;
    }
    return best;
}

// Gives a dim that is all inner part an outer part of size 1, because concat joins outer parts.
static void add_unit(Relation *r, int32_t t, int64_t inner)
{
    const Term *x = &r->terms[t];

    if (x->size == inner && !x->inner && !x->is_whole)
        term_split(r, t, inner);
}

void relate_inner(Relation *r, int a, int a_dim, int b, int b_dim, int64_t size, bool cut)
{
    int32_t s = term_of(r, a, a_dim), t = term_of(r, b, b_dim);
    int64_t at = size;

    if (r->only_whole || size < 1 || r->terms[s].size == 0 || r->terms[t].size == 0)
        return;
    if (!cut) {
        int64_t x = term_cut(r, s, size, size + 1), y = term_cut(r, t, size, size + 1);
        at = x > y ? x : y;
    }
    while (at > 1) {
        Leaves x = {0}, y = {0};

        add_unit(r, s, at);
        add_unit(r, t, at);
        if (leaves_inner(r, s, at, &x) && leaves_inner(r, t, at, &y) && leaves_join(r, &x, &y))
            return;
        int64_t u = term_cut(r, s, size, at), v = term_cut(r, t, size, at);
        at = u > v ? u : v;
    }
}
