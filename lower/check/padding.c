// Checks shards that are smaller than their chunk: the rest of the chunk is padding, which must not
// count where a kernel reduces over it.
#include <math.h>
#include <string.h>

#include "lower/check/check.h"

Footprint check_unpadded(const Check *c, const Footprint *f, ValueId v)
{
    const Sharded *s = c->s->sharded;
    Footprint own = *f;

    if (s && v < s->n_values)
        sharded_dims(s, v, c->rank, own.dim);
    return own;
}

// The elements after the rank's shard along an axis of value v, whose dim is split like `factor` of
// node n. False if there are none.
static bool find_padding(const Check *c, NodeId n, int factor, const Footprint *f, int axis,
                         Footprint *pad)
{
    const Sharded *s = c->s->sharded;
    const ShardedNode *x = &s->node[n];
    int64_t offset, extent;

    spec_shard(&s->plan->mesh, &s->plan->strategy[x->of], factor, x->size[factor], c->rank, &offset,
               &extent);
    *pad = *f;
    pad->at += extent * f->stride[axis];
    pad->dim[axis] -= extent;
    return pad->dim[axis] > 0;
}

static double identity_of(RtReduceOp op)
{
    return op == RT_SUM ? 0 : op == RT_MAX ? -INFINITY : INFINITY;
}

void check_pad(Check *c, const Footprint *f)
{
    const Item *it = c->it;
    Footprint pad;

    if (find_padding(c, it->nodes[0], it->pad.factor, f, it->pad.axis, &pad))
        shadow_fill(c->shadow, &pad, identity_of(it->pad.op));
}

static bool is_in_output(const Rule *r, const Graph *g, const Node *n, int k, int factor)
{
    for (int i = 0; i < value_of(g, n->out[k])->rank; i++)
        if (r->dim[n->n_in + k][i] == factor)
            return true;
    return false;
}

static bool is_summed(const Rule *r, const Graph *g, const Node *n, int factor)
{
    for (int k = 0; k < n->n_out; k++)
        if (!is_in_output(r, g, n, k, factor))
            return true;
    return false;
}

static bool holds_number(const Check *c, const Footprint *f, double x)
{
    const Element want = {.kind = ELEMENT_FILL, .fill = x};
    int64_t index[MAX_RANK];

    for (int at = 0; sample_next(f, &at, index);) {
        Element has = shadow_get(c->shadow, footprint_address(f, index));
        if (!element_equal(&want, &has))
            return false;
    }
    return true;
}

// Checks the padding of input k of the node along the factor. An input that is broadcast along it
// has no padding. A chunk of one element may be all padding on some ranks.
static void check_input(Check *c, const Node *n, int k, const Footprint *f, const Rule *r,
                        int factor)
{
    double x = identity_of(r->kind[factor] == FACTOR_MAX   ? RT_MAX
                           : r->kind[factor] == FACTOR_MIN ? RT_MIN
                                                           : RT_SUM);
    Footprint pad;

    for (int i = 0; i < f->rank; i++)
        if (r->dim[k][i] == factor && (f->stride[i] || f->dim[i] == 1) &&
            find_padding(c, (NodeId)(n - c->g->nodes), factor, f, i, &pad) &&
            !holds_number(c, &pad, x))
            check_fail(c, n, "padding of input %d isn't %g", k, x);
}

void check_pads(Check *c, const Node *n, const Footprint *f)
{
    const Sharded *s = c->s->sharded;
    Arena *a = NULL;
    RtCut cut;
    Rule r;

    for (int i = 0; s && i < s->node[n - c->g->nodes].n_factors; i++) {
        if (!node_split(s, (NodeId)(n - c->g->nodes), i, &cut) ||
            !split_is_uneven(&s->plan->mesh, &cut))
            continue;
        if (!a)
            node_rule(a = arena_new(), c->g, n, &r);
        for (int k = 0; k < n->n_in && is_summed(&r, c->g, n, i); k++)
            if (n->in[k])
                check_input(c, n, k, &f[k], &r, i);
    }
    if (a)
        arena_free(a);
}
