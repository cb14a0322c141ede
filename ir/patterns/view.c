// Views: sees a value as a rearrangement of another one. Exporters put reshapes, transposes and
// broadcasts between a product and its operands.
#include <string.h>

#include "ir/patterns/match.h"

enum { MAX_STEPS = 64 };  // nodes; bounds the time for long chains, which would be quadratic

static void terms_of(Relation *r, const Value *v, int32_t *dim)
{
    for (int i = 0; i < v->rank; i++)
        dim[i] = term_new(r, v->dim[i]);
}

bool view_through(const Match *m, Relation *r, const Node *n, const int32_t *y, int32_t *x)
{
    const Value *from = in(m->g, n, 0);

    if (n->op == &op_reshape) {
        terms_of(r, from, x);
        return value_count(from) && terms_join(r, from->rank, x, out(m->g, n)->rank, y);
    }
    if (n->op == &op_transpose) {
        for (int i = 0; i < from->rank; i++)
            x[n->attr[0].v[i]] = y[i];
        return true;
    }
    if (n->op == &op_broadcast) {
        for (int i = 0; i < from->rank; i++)
            x[i] = y[n->attr[1].v[i]];
        return true;
    }
    return false;
}

// The input of the node that makes v, if v is a view or a multiple of it, else 0. Multiplies *scale
// by the factor.
static ValueId step_up(const Match *m, ValueId v, unsigned through, double *scale)
{
    const Node *n = producer(m->g, v);
    bool scaled = through & THROUGH_SCALE;
    double number;
    ValueId x;

    if (!value_of(m->g, v)->producer)
        return 0;
    if (n->op == &op_reshape || n->op == &op_transpose)
        return n->in[0];
    if (n->op == &op_broadcast)
        return through & THROUGH_BROADCAST ? n->in[0] : 0;
    if (scaled && made_with_number(m, v, &op_mul, &x, &number)) {
        *scale *= number;
        return x;
    }
    if (scaled && made_with_number(m, v, &op_div, &x, &number) && number != 0) {
        *scale /= number;
        return x;
    }
    return 0;
}

bool view_of(const Match *m, Relation *r, ValueId v, unsigned through, View *w)
{
    int32_t dim[MAX_RANK];

    memset(w, 0, sizeof *w);
    w->scale = 1;
    w->base = v;
    w->rank = value_of(m->g, v)->rank;
    terms_of(r, value_of(m->g, v), w->dim);
    memcpy(w->base_dim, w->dim, sizeof w->dim);
    for (int i = 0; i < MAX_STEPS; i++) {
        ValueId x = step_up(m, w->base, through, &w->scale);

        if (!x)
            break;
        const Node *n = producer(m->g, w->base);
        if (!n->op->is_elementwise) {
            if (!view_through(m, r, n, w->base_dim, dim))
                return false;
            memcpy(w->base_dim, dim, sizeof dim);
        }
        w->base = x;
    }
    w->base_rank = value_of(m->g, w->base)->rank;
    return true;
}

ValueId view_build(const Match *m, Relation *r, const View *w, int *n, int32_t *leaf)
{
    int64_t dim[MAX_RANK];

    *n = 0;
    for (int i = 0; i < w->base_rank; i++) {
        *n += term_leaves(r, w->base_dim[i], leaf + *n, MAX_RANK - *n);
        if (*n > MAX_RANK)
            return 0;
    }
    const Value *base = value_of(m->g, w->base);
    bool same = *n == base->rank;
    for (int i = 0; i < *n; i++) {
        dim[i] = r->terms[leaf[i]].size;
        same &= i < base->rank && base->dim[i] == dim[i];
    }
    ValueId v = now(m, w->base);
    return same ? v : make_reshape(m->r->to, v, *n, dim);
}
