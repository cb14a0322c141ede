// Decides whether a run of the canonical order is a block class: where its iterations begin,
// whether they are isomorphic, and whether a loop over them is worth it.
#include <string.h>

#include "ir/passes/blocks/blocks.h"

enum { FEW_NODES = 8 };  // iterations of fewer nodes are a class only if each reads the one before

// ---- rotation ----

// The values that cross a cut between two iterations: their bytes, and the number of their readers.
typedef struct Cut {
    int64_t bytes, reads;
} Cut;

// Adds bytes and reads to the cuts from `from` to `to`, those that are among the n_cuts, as steps:
// prefix sums give the totals.
static void add_steps(Cut *step, int n_cuts, int from, int to, int64_t bytes, int64_t reads)
{
    from = from < 0 ? 0 : from;
    to = to >= n_cuts ? n_cuts - 1 : to;
    if (from > to)
        return;
    step[from].bytes += bytes;
    step[from].reads += reads;
    step[to + 1].bytes -= bytes;
    step[to + 1].reads -= reads;
}

// Adds each value that nodes [begin, end) make to the cuts up to its last reader among them.
static void add_crossings(const Finder *f, int begin, int end, int first, int n_cuts, Cut *step)
{
    const Graph *g = f->g;
    int *last_reader = f->last_reader;

    for (int i = begin; i < end; i++) {
        const Node *n = &g->nodes[f->order[i]];
        for (int k = 0; k < n->n_out; k++)
            last_reader[n->out[k]] = -1;
        for (int k = 0; k < n->n_in; k++) {
            NodeId from = value_of(g, n->in[k])->producer;
            last_reader[n->in[k]] = i;
            if (from && f->position[from] >= begin)
                add_steps(step, n_cuts, f->position[from] + 1 - first, i - first, 0, 1);
        }
    }
    for (int i = begin; i < end; i++) {
        const Node *n = &g->nodes[f->order[i]];
        for (int k = 0; k < n->n_out; k++)
            if (last_reader[n->out[k]] >= 0)
                add_steps(step, n_cuts, i + 1 - first, last_reader[n->out[k]] - first,
                          value_bytes(value_of(g, n->out[k])), 0);
    }
}

// Prefers the cuts that the fewest bytes cross; among these the cut whose values have most readers,
// because that is the residual stream between layers and not a step within one.
int block_rotations(const Finder *f, const Run *r, int *offset, int most)
{
    int n_iter = (r->end - r->begin) / r->period, n_cuts = (r->end - r->begin) % r->period + 1;
    int first = r->begin + n_iter / 2 * r->period, n = 0;
    int end = first + n_cuts + r->period < r->end ? first + n_cuts + r->period : r->end;
    Cut *cut = arena_array(f->arena, Cut, n_cuts + 1);

    add_crossings(f, first - r->period, end, first, n_cuts, cut);
    for (int i = 0; i < n_cuts; i++) {
        int at = n < most ? n++ : most;
        if (i) {
            cut[i].bytes += cut[i - 1].bytes;
            cut[i].reads += cut[i - 1].reads;
        }
        for (; at > 0; at--) {
            const Cut *c = &cut[offset[at - 1]];
            if (c->bytes < cut[i].bytes || (c->bytes == cut[i].bytes && c->reads >= cut[i].reads))
                break;
            if (at < most)
                offset[at] = offset[at - 1];
        }
        if (at < most)
            offset[at] = i;
    }
    while (n > 1 && cut[offset[n - 1]].bytes > cut[offset[0]].bytes)
        n--;
    return n;
}

// ---- are two iterations alike? ----

// Has `v` no producer and is it read in iteration k only?
static bool is_own(const Finder *f, const Series *s, ValueId v, int k)
{
    const Readers *r = &f->readers[v];
    int begin = s->begin + k * s->period;

    return !value_of(f->g, v)->producer && r->first > begin && r->last <= begin + s->period;
}

static int output_index(const Graph *g, ValueId v)
{
    const Node *n = producer(g, v);
    int i = 0;

    while (n->out[i] != v)
        i++;
    return i;
}

// Are a and b, read at the same position of iterations k and k + 1, instances of each other, or one
// value for all iterations?
static bool same_input(const Finder *f, Series *s, ValueId a, ValueId b, int k)
{
    const Graph *g = f->g;
    int from = s->begin + k * s->period, to = from + s->period;

    if (!a || !b)
        return a == b;
    NodeId p = value_of(g, a)->producer, q = value_of(g, b)->producer;
    int at_a = p ? f->position[p] : -1, at_b = q ? f->position[q] : -1;
    if (at_b >= to || at_a >= from)  // made within the iteration
        return at_a >= from && at_b - at_a == s->period && output_index(g, a) == output_index(g, b);
    if (at_b >= from) {  // made by the iteration before; for the first one, outside
        s->is_chained = true;
        if (k == s->first && !f->stand_in[b])
            f->stand_in[b] = a;
        if (k == s->first)
            return at_a < from && f->stand_in[b] == a;
        return at_b - at_a == s->period && output_index(g, a) == output_index(g, b);
    }
    if (a == b)
        return at_a < s->begin + s->first * s->period;
    if (!is_own(f, s, a, k) || !is_own(f, s, b, k + 1))
        return false;
    const Readers *x = &f->readers[a], *y = &f->readers[b];
    const Value *v = value_of(g, a), *w = value_of(g, b);
    return x->first + s->period == y->first && x->slot == y->slot && v->kind == w->kind &&
           v->own_rank == w->own_rank && !memcmp(v->own_dim, w->own_dim, sizeof v->own_dim) &&
           !memcmp(&v->fill, &w->fill, sizeof v->fill);
}

static bool step_of(int64_t a, int64_t b, int64_t *step)
{
    return a != INT64_MIN && add_size(b, -a, step);
}

static bool same_list(const Attr *a, const Attr *b, const Attr *before)
{
    if (a->n != b->n)
        return false;
    for (int i = 0; i < a->n; i++) {
        int64_t step, step_before;
        if (!step_of(a->v[i], b->v[i], &step))
            return false;
        if (before && (!step_of(before->v[i], a->v[i], &step_before) || step != step_before))
            return false;
    }
    return true;
}

// Do affine attributes grow evenly? Attribute layer is not compared: ir/passes/blocks/blocks.c sets
// it.
static bool same_steps(const Node *a, const Node *b, const Node *before)
{
    for (int i = 0; i < MAX_ATTRS && a->op->attrs[i].name; i++)
        if (a->op->attrs[i].is_affine && a->op->attrs[i].type == ATTR_INTS &&
            !same_list(&a->attr[i], &b->attr[i], before ? &before->attr[i] : NULL))
            return false;
    return true;
}

bool block_same_attrs(const Node *a, const Node *b) { return same_steps(a, b, a); }

static void forget_stand_ins(const Finder *f, const Series *s, int k)
{
    for (int at = s->begin + k * s->period; at < s->begin + (k + 1) * s->period; at++) {
        const Node *n = &f->g->nodes[f->order[at]];
        for (int i = 0; i < n->n_in; i++)
            f->stand_in[n->in[i]] = 0;
    }
}

bool block_matches(const Finder *f, Series *s, int k)
{
    if (k == s->first)
        forget_stand_ins(f, s, k + 1);
    for (int pos = 0; pos < s->period; pos++) {
        int at = s->begin + k * s->period + pos;
        const Node *a = &f->g->nodes[f->order[at]], *b = &f->g->nodes[f->order[at + s->period]];
        const Node *before = k > s->first ? &f->g->nodes[f->order[at - s->period]] : NULL;
        if (f->hash[f->order[at]] != f->hash[f->order[at + s->period]] || !same_steps(a, b, before))
            return false;
        for (int i = 0; i < a->n_in; i++)
            if (!same_input(f, s, a->in[i], b->in[i], k))
                return false;
    }
    return true;
}

// ---- is it worth a class? ----

static bool is_contraction(const Finder *f, const Node *n)
{
    Arena *a = arena_new();
    bool has_sum = false;
    Rule r;

    node_rule(a, f->g, n, &r);
    for (int i = 0; i < r.n_factors; i++)
        has_sum |= r.kind[i] == FACTOR_SUM;
    arena_free(a);
    return has_sum && (r.single & (r.single - 1));
}

bool block_is_worth(const Finder *f, const Series *s)
{
    if (!s->is_chained && s->period < FEW_NODES)
        return false;
    for (int i = 0; i < s->period; i++) {
        const Node *n = &f->g->nodes[f->order[s->begin + s->first * s->period + i]];
        if (is_contraction(f, n))
            return true;
    }
    return false;
}
