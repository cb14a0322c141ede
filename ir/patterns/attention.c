// The attention pattern: recognises two products with a softmax between them, as exporters write
// it.
//
//     dot(dropout(guard(softmax(mask(scale · dot(q, k))))), v)
//
// Reshapes, transposes and broadcasts may be anywhere. The scale may be on q, on k, on both as √s,
// or on the product. Masks are added or selected. The guard select(is_nan(p), 0, p) of newer
// exporters becomes an attribute: a row whose scores are all masked gives 0.
//
// Nothing matches if the probabilities or the scores have other readers, or if a mask depends on a
// parameter, which would need a gradient.
#include <math.h>
#include <string.h>

#include "ir/operator/contract.h"
#include "ir/patterns/attention.h"

// ---- dropout ----

enum { SITE = 1, LAYER, MICRO_AXIS, MICRO };  // indices of attributes of random

// If v = select(rate <= random, p / (1 - rate), 0), as the frontend writes dropout, sets f->drop
// and returns p, else v. `dim`: the terms of its dims.
static ValueId without_dropout(Found *f, ValueId v, const int32_t *dim)
{
    const Match *m = f->m;
    const Node *n = made_by(m, v, &op_select), *keep, *u;
    double rate, scale;
    ValueId x;

    if (!n || !(keep = made_by(m, n->in[0], &op_le)) || !is_number(m, n->in[2], 0) ||
        !value_splat(m->g, keep->in[0], &rate) || !(u = made_by(m, keep->in[1], &op_random)) ||
        !made_with_number(m, n->in[1], &op_mul, &x, &scale))
        return v;
    // With other readers, the random numbers would be drawn twice, at two sites.
    if (fabs(scale * (1 - rate) - 1) > 1e-6 || !(rate >= 0 && rate < 1) ||
        m->uses[u->out[0]] != 1 || m->uses[n->in[0]] != 1 || m->uses[n->in[1]] != 1)
        return v;
    f->drop = (Dropout){.seed = now(m, u->in[0]),
                        .step = now(m, u->in[1]),
                        .micro = now(m, u->in[2]),
                        .rate = rate,
                        .site = u->attr[SITE].i,
                        .layer = u->attr[LAYER].i,
                        .micro_axis = u->attr[MICRO_AXIS].i,
                        .micro_batches = u->attr[MICRO].i};
    f->drop_rank = out(m->g, u)->rank;
    memcpy(f->drop_dim, dim, sizeof f->drop_dim);
    return x;
}

// ---- from the softmax to the first product ----

// Moves f->inside to `v`. False if v has another reader.
static bool go_to(Found *f, ValueId v)
{
    f->inside = v;
    return f->m->uses[v] == 1;
}

// Does v come from a product, `depth` nodes back at most? It tells which input of a mask's node has
// the scores.
static bool has_product(const Match *m, ValueId v, int depth)
{
    const Node *n = value_of(m->g, v)->producer ? producer(m->g, v) : NULL;

    if (!n || depth == 0)
        return false;
    if (n->op == &op_dot)
        return m->uses[v] == 1;
    if (n->op == &op_select)
        return has_product(m, n->in[1], depth - 1) || has_product(m, n->in[2], depth - 1);
    if (n->op == &op_add)
        return has_product(m, n->in[0], depth - 1) || has_product(m, n->in[1], depth - 1);
    if (n->op == &op_mul || n->op == &op_div || n->op == &op_reshape || n->op == &op_transpose) {
        double x;
        ValueId of;

        if (n->op == &op_reshape || n->op == &op_transpose)
            return has_product(m, n->in[0], depth - 1);
        return made_with_number(m, v, n->op, &of, &x) && has_product(m, of, depth - 1);
    }
    return false;
}

enum { MAX_STEPS = 8 };

// A number that the scale multiplies.
static double scaled(const Found *f, const Node *n, double number)
{
    return round_float(out(f->m->g, n)->dtype, f->scale * number);
}

// Moves f->inside by one node towards the product. False if the node doesn't fit.
static bool step(Found *f)
{
    const Match *m = f->m;
    const Node *n = producer(m->g, f->inside);
    int32_t up[MAX_RANK];
    double number;
    ValueId x;

    if (n->op == &op_add) {
        int scores = has_product(m, n->in[0], MAX_STEPS) ? 0 : 1;
        // A scale after the mask would scale the mask too.
        return f->scale == 1 && add_mask(f, n->in[1 - scores]) && go_to(f, n->in[scores]);
    }
    if (n->op == &op_select) {
        int scores = masks(m, n->in[1], &number) ? 2 : 1;
        return masks(m, n->in[3 - scores], &number) && f->scale > 0 &&
               add_selected(f, n->in[0], scaled(f, n, number), scores == 2) &&
               go_to(f, n->in[scores]);
    }
    if (made_with_number(m, f->inside, &op_mul, &x, &number)) {
        f->scale *= number;
        return go_to(f, x);
    }
    if (made_with_number(m, f->inside, &op_div, &x, &number) && number != 0) {
        f->scale /= number;
        return go_to(f, x);
    }
    if (n->op == &op_broadcast || !view_through(m, &f->r, n, f->dim, up))
        return false;
    memcpy(f->dim, up, sizeof up);
    return go_to(f, n->in[0]);
}

static bool find_product(Found *f)
{
    for (int i = 0; i < MAX_STEPS; i++) {
        if (!value_of(f->m->g, f->inside)->producer)
            return false;
        if (producer(f->m->g, f->inside)->op == &op_dot)
            return true;
        if (!step(f))
            return false;
    }
    return false;
}

// ---- the two products ----

// Joins the terms of dims that have the same letter.
static bool join_letters(Relation *r, const char *a, const int32_t *a_dim, const char *b,
                         const int32_t *b_dim)
{
    for (int i = 0; a[i]; i++) {
        const char *c = strchr(b, a[i]);
        if (c && !term_join(r, a_dim[i], b_dim[c - b]))
            return false;
    }
    return true;
}

static bool has_leaf(Relation *r, const View *w, int32_t t)
{
    int32_t leaf[MAX_RANK], key = leaf_of(r, t);

    for (int i = 0; i < w->base_rank; i++) {
        int n = term_leaves(r, w->base_dim[i], leaf, MAX_RANK);
        for (int k = 0; k < n && k < MAX_RANK; k++)
            if (leaf[k] == key)
                return true;
    }
    return false;
}

// Reads the first product: its operands become q and k.
static bool read_scores(Found *f)
{
    const Node *n = producer(f->m->g, f->inside);
    View w[2];
    Equation e;

    equation_read(n->attr[0].s, 2, &e);
    for (int i = 0; i < 2; i++) {
        unsigned through = THROUGH_SCALE | THROUGH_BROADCAST;
        if (!view_of(f->m, &f->r, n->in[i], through, &w[i]) ||
            !join_letters(&f->r, e.dims[i], w[i].dim, e.dims[2], f->dim))
            return false;
    }
    if (!join_letters(&f->r, e.dims[0], w[0].dim, e.dims[1], w[1].dim) || !leaf_of(&f->r, f->key))
        return false;
    int k = has_leaf(&f->r, &w[0], f->key) ? 0 : 1;
    f->q = w[1 - k];
    f->k = w[k];
    f->scale *= w[0].scale * w[1].scale;
    return true;
}

// Reads the second product: operand p is the softmax, the other one becomes v. y: the terms of the
// product's dims.
static bool read_product(Found *f, const Node *n, int p, int32_t *y)
{
    int axis;
    View probabilities;
    ValueId x;
    Equation e;

    equation_read(n->attr[0].s, 2, &e);
    if (!view_of(f->m, &f->r, n->in[p], 0, &probabilities) || f->m->uses[n->in[p]] != 1)
        return false;
    ValueId dropped = probabilities.base;
    ValueId guarded = without_dropout(f, dropped, probabilities.base_dim);
    ValueId base = without_guard(f->m, guarded);
    f->guard = base != guarded;
    if (f->m->uses[dropped] != 1 || !softmax_of(f->m, base, &x, &axis) ||
        (base == guarded && f->m->uses[base] != 1) || f->m->uses[guarded] != 1)
        return false;
    if (!view_of(f->m, &f->r, n->in[1 - p], THROUGH_BROADCAST, &f->v) ||
        !join_letters(&f->r, e.dims[p], probabilities.dim, e.dims[1 - p], f->v.dim))
        return false;
    for (int i = 0; e.dims[2][i]; i++) {
        const char *c = strchr(e.dims[p], e.dims[2][i]);
        y[i] = c ? probabilities.dim[c - e.dims[p]]
                 : f->v.dim[strchr(e.dims[1 - p], e.dims[2][i]) - e.dims[1 - p]];
    }
    f->inside = x;
    f->key = probabilities.base_dim[axis];
    memcpy(f->dim, probabilities.base_dim, sizeof f->dim);
    return true;
}

bool match_attention(const Match *m, const Node *n)
{
    int32_t y[MAX_RANK];

    if (n->op != &op_dot)
        return false;
    for (int p = 0; p < 2; p++) {
        Found f = {.m = m,
                   .r = {.arena = m->arena},
                   .scale = 1,
                   .low = -MASK_UNBOUNDED,
                   .high = MASK_UNBOUNDED};

        term_new(&f.r, 1);
        if (read_product(&f, n, p, y) && find_product(&f) && read_scores(&f) && isfinite(f.scale))
            return attention_build(&f, n, y);
    }
    return false;
}
