// The pattern of rotary embeddings (Su et al. 2021) with rotate_half.
//
//     x · cos + concat(-x₂, x₁) · sin,  x = concat(x₁, x₂)
//
// becomes concat(x₁ · cos₁ - x₂ · sin₁, x₂ · cos₂ + x₁ · sin₂). The halves of x are views, and both
// parts are written into the result of the only concat. Every product and sum stays the same. If x
// is a transpose, as q and k are, the result is transposed instead, and attention absorbs that
// transpose.
#include <string.h>

#include "ir/patterns/match.h"

// A rotation of x, which is `base` or its transpose by `perm`.
typedef struct Rotation {
    ValueId x, base;
    const Attr *perm;  // NULL: none
    int64_t half;      // where the second half of its last dim begins
    ValueId cos, sin;
} Rotation;

// If v is a transpose that keeps the last dim last, returns its input and sets *perm; else returns
// v.
static ValueId without_transpose(const Match *m, ValueId v, const Attr **perm)
{
    const Node *n = made_by(m, v, &op_transpose);
    int last = value_of(m->g, v)->rank - 1;

    *perm = n && n->attr[0].v[last] == last ? &n->attr[0] : NULL;
    return *perm ? n->in[0] : v;
}

static bool same_perm(const Attr *a, const Attr *b) { return a && b ? same_axes(a, b) : a == b; }

// Is v the half of t->base that begins at `start` of the last dim, transposed by t->perm?
static bool is_part(const Match *m, ValueId v, int64_t start, const Rotation *t)
{
    const Attr *perm;
    ValueId part = without_transpose(m, v, &perm);
    const Node *n = made_by(m, part, &op_slice);
    int last = value_of(m->g, v)->rank - 1;

    if (!n || n->attr[3].n || n->in[0] != t->base || !same_perm(perm, t->perm))
        return false;
    for (int i = 0; i <= last; i++) {
        bool whole = n->attr[0].v[i] == 0 && n->attr[1].v[i] == in(m->g, n, 0)->dim[i];

        if (n->attr[2].v[i] != 1 || (i < last ? !whole : n->attr[0].v[i] != start))
            return false;
    }
    return true;
}

// Is v = concat(-x₂, x₁)?
static bool is_rotate_half(const Match *m, ValueId v, Rotation *t)
{
    const Node *n = made_by(m, v, &op_concat), *negative;
    int last = value_of(m->g, v)->rank - 1;

    if (!n || n->n_in != 2 || n->attr[0].i != last || !(negative = made_by(m, n->in[0], &op_neg)))
        return false;
    t->half = in(m->g, n, 1)->dim[last];
    return in(m->g, n, 0)->dim[last] == t->half && is_part(m, n->in[1], 0, t) &&
           is_part(m, negative->in[0], t->half, t) && m->uses[v] == 1;
}

// Is n = x · cos + rotate_half(x) · sin, with operands in any order?
static bool find_rotation(const Match *m, const Node *n, Rotation *t)
{
    for (int order = 0; order < 8; order++) {
        const Node *a = made_by(m, n->in[order & 1], &op_mul);
        const Node *b = made_by(m, n->in[1 - (order & 1)], &op_mul);

        if (!a || !b)
            return false;
        int x = order >> 1 & 1, rotated = order >> 2 & 1;
        t->x = a->in[x];
        t->base = without_transpose(m, t->x, &t->perm);
        t->cos = a->in[1 - x];
        t->sin = b->in[1 - rotated];
        if (is_rotate_half(m, b->in[rotated], t))
            return true;
    }
    return false;
}

// A half of v along its last dim. The half of a broadcast is a broadcast of the input's half.
static ValueId half_of(const Match *m, ValueId v, int64_t start, int64_t size)
{
    const Node *n = made_by(m, v, &op_broadcast);
    Graph *g = m->r->to;
    Value x = *value_of(m->g, v);
    int64_t first[MAX_RANK] = {0}, stride[MAX_RANK];

    for (int i = 0; i < MAX_RANK; i++)
        stride[i] = 1;
    x.dim[x.rank - 1] = size;
    if (n && n->attr[1].n && n->attr[1].v[n->attr[1].n - 1] == x.rank - 1)
        return make_broadcast(g, half_of(m, n->in[0], start, size), x.rank, x.dim, n->attr[1].v);
    first[x.rank - 1] = start;
    return make_slice(g, now(m, v), first, x.dim, stride);
}

// A half of v, cos or sin, which multiplies x, rearranged so that it multiplies base.
static ValueId factor_half(const Match *m, const Rotation *t, ValueId v, int64_t start)
{
    const Node *n = made_by(m, v, &op_broadcast);
    const Value *base = value_of(m->g, t->base);
    int64_t dims[MAX_RANK], dim[MAX_RANK], inverse[MAX_RANK];
    bool ascends = n && n->attr[1].n;

    if (!t->perm)
        return half_of(m, v, start, t->half);
    for (int i = 0; i < base->rank; i++) {
        inverse[t->perm->v[i]] = i;
        dim[i] = base->dim[i];
    }
    for (int i = 0; ascends && i < n->attr[1].n; i++) {
        dims[i] = t->perm->v[n->attr[1].v[i]];
        ascends = i == 0 || dims[i] > dims[i - 1];
    }
    if (!ascends || dims[n->attr[1].n - 1] != base->rank - 1)
        return make_transpose(m->r->to, half_of(m, v, start, t->half), inverse);
    dim[base->rank - 1] = t->half;
    return make_broadcast(m->r->to, half_of(m, n->in[0], start, t->half), base->rank, dim, dims);
}

bool match_rotary(const Match *m, const Node *n)
{
    Graph *g = m->r->to;
    Rotation t;

    if (n->op != &op_add || out(m->g, n)->rank < 1 || !find_rotation(m, n, &t))
        return false;
    ValueId x1 = half_of(m, t.base, 0, t.half), x2 = half_of(m, t.base, t.half, t.half);
    ValueId x2_s = make_mul(g, x2, factor_half(m, &t, t.sin, 0));
    ValueId x1_c = make_mul(g, x1, factor_half(m, &t, t.cos, 0)), y[2];
    y[0] = make_sub(g, x1_c, x2_s);
    ValueId x1_s = make_mul(g, x1, factor_half(m, &t, t.sin, t.half));
    ValueId x2_c = make_mul(g, x2, factor_half(m, &t, t.cos, t.half));
    y[1] = make_add(g, x2_c, x1_s);
    ValueId v = make_concat(g, 2, y, out(m->g, n)->rank - 1);
    return replace(m, n, t.perm ? make_transpose(g, v, t.perm->v) : v);
}
