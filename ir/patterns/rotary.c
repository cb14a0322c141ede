// Rotary embeddings (Su et al. 2021) with rotate_half:
//
//     x · cos + concat(-x₂, x₁) · sin,  x = concat(x₁, x₂)
//
// becomes concat(x₁ · cos₁ - x₂ · sin₁, x₂ · cos₂ + x₁ · sin₂): the halves of x are views, and the
// one concat is of results, which are written where they belong. Every product and sum is the same.
#include <string.h>

#include "ir/patterns/match.h"

// Is v the part of *x from `start` on along the last dim, all else whole?
static bool is_part(const Match *m, ValueId v, int64_t start, ValueId *x)
{
    const Node *n = made_by(m, v, &op_slice);
    int last = value_of(m->g, v)->rank - 1;

    if (!n || n->attr[3].n)
        return false;
    for (int i = 0; i <= last; i++) {
        bool whole = n->attr[0].v[i] == 0 && n->attr[1].v[i] == in(m->g, n, 0)->dim[i];

        if (n->attr[2].v[i] != 1 || (i < last ? !whole : n->attr[0].v[i] != start))
            return false;
    }
    *x = n->in[0];
    return true;
}

// Is v = concat(-x₂, x₁)? Then *x, and where x₂ begins.
static bool is_half_turn(const Match *m, ValueId v, ValueId *x, int64_t *half)
{
    const Node *n = made_by(m, v, &op_concat), *negative;
    int last = value_of(m->g, v)->rank - 1;
    ValueId y;

    if (!n || n->n_in != 2 || n->attr[0].i != last || !(negative = made_by(m, n->in[0], &op_neg)))
        return false;
    *half = in(m->g, n, 1)->dim[last];
    return is_part(m, n->in[1], 0, x) && is_part(m, negative->in[0], *half, &y) && *x == y &&
           value_of(m->g, y)->dim[last] == value_of(m->g, v)->dim[last] &&
           in(m->g, n, 0)->dim[last] == *half && m->uses[v] == 1;
}

// x and what it is multiplied by, where v = x · factor.
static bool is_product_of(const Match *m, ValueId v, ValueId x, ValueId *factor)
{
    const Node *n = made_by(m, v, &op_mul);

    if (!n || (n->in[0] != x && n->in[1] != x))
        return false;
    *factor = n->in[0] == x ? n->in[1] : n->in[0];
    return true;
}

// The first (second) half of v along its last dim; of a broadcast, the broadcast of the half.
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

bool match_rotary(const Match *m, const Node *n)
{
    Graph *g = m->r->to;
    ValueId x, turned, sin, cos;
    int64_t half;

    if (n->op != &op_add || out(m->g, n)->rank < 1)
        return false;
    for (int i = 0; i < 2; i++) {
        const Node *product = made_by(m, n->in[i], &op_mul);

        for (int k = 0; product && k < 2; k++) {
            turned = product->in[k];
            sin = product->in[1 - k];
            if (!is_half_turn(m, turned, &x, &half) || !is_product_of(m, n->in[1 - i], x, &cos))
                continue;
            ValueId x1 = half_of(m, x, 0, half), x2 = half_of(m, x, half, half);
            ValueId y[2] = {
                make_sub(g, make_mul(g, x1, half_of(m, cos, 0, half)),
                         make_mul(g, x2, half_of(m, sin, 0, half))),
                make_add(g, make_mul(g, x2, half_of(m, cos, half, half)),
                         make_mul(g, x1, half_of(m, sin, half, half))),
            };
            return replace(m, n, make_concat(g, 2, y, out(m->g, n)->rank - 1));
        }
    }
    return false;
}
