// Finds where the forward part narrows outside of classes: all that follows goes through few
// values. If kernels were run again past such a point, the backward part would make a long piece of
// the forward part again in one go, and hold all of it.
#include "base/search.h"
#include "lower/recompute/recompute.h"

// The separators between two products. One of them at least is kept.
typedef struct Stage {
    int64_t bytes;       // of the smallest one
    ValueId value;       // the last one that the forward part stores
    NodeId first, last;  // nodes between which they are made
    bool is_made_once;   // a kernel makes one, or a class hands one on: those are kept
    bool has_next;       // products follow
    bool is_dropped;
} Stage;

typedef struct Separators {
    const Recompute *r;
    NodeId *last_reader;  // by ValueId: in the forward part
    bool *is_separator;   // by NodeId: does it make one?
    Stage *stage;
    int n_stages, cap_stages;
} Separators;

static void find_last_readers(Separators *s)
{
    const Graph *g = s->r->g;

    for (NodeId i = 1; i < g->n_nodes; i++)
        for (int k = 0; k < g->nodes[i].n_in && g->nodes[i].phase == FORWARD; k++)
            s->last_reader[s->r->l.view[g->nodes[i].in[k]].base] = i;
}

static bool counts(const Separators *s, NodeId i, ValueId v)
{
    return v && s->r->l.view[v].base == v && canonical_of(s->r, v) && s->last_reader[v] > i;
}

// A value that a class hands on is kept anyway.
static bool can_separate(const Separators *s, NodeId i)
{
    const Node *n = &s->r->g->nodes[i];
    bool is_handed_on = n->block.cls && s->r->is_source[canonical_of(s->r, n->out[0])];

    return counts(s, i, n->out[0]) && (s->r->rerun->is_outside[i] || is_handed_on);
}

// Goes through the forward part, and adds up the bytes that are read later.
static void mark_separators(Separators *s)
{
    const Graph *g = s->r->g;
    int64_t *ended = arena_array(s->r->arena, int64_t, g->n_nodes), live = 0;

    for (NodeId i = 1; i < g->n_nodes; i++) {
        const Node *n = &g->nodes[i];
        live -= ended[i];
        for (int o = 0; o < n->n_out && n->phase == FORWARD; o++)
            if (counts(s, i, n->out[o])) {
                int64_t bytes = value_bytes(value_of(g, n->out[o]));
                live += bytes;
                ended[s->last_reader[n->out[o]]] += bytes;
            }
        s->is_separator[i] = can_separate(s, i) && live - value_bytes(out(g, n)) <=
                                                       value_bytes(out(g, n)) / LIVE_PER_REST;
    }
}

static void add_to_stage(Separators *s, Stage *to, NodeId i)
{
    const Node *n = &s->r->g->nodes[i];
    int64_t bytes = value_bytes(out(s->r->g, n));

    to->bytes = to->value && to->bytes < bytes ? to->bytes : bytes;
    to->is_made_once |= !is_elementwise_work(n) || n->block.cls;
    to->first = to->value ? to->first : i;
    to->last = i;
    if (!to->value || s->r->is_stored[canonical_of(s->r, n->out[0])])
        to->value = n->out[0];
}

static void find_stages(Separators *s)
{
    const Graph *g = s->r->g;
    Stage *open = NULL;

    for (NodeId i = 1; i < g->n_nodes; i++) {
        const Node *n = &g->nodes[i];
        if (n->phase == FORWARD && n->op->is_product) {
            for (int k = s->n_stages - 1; k >= 0 && !s->stage[k].has_next; k--)
                s->stage[k].has_next = true;
            open = NULL;
        }
        if (!s->is_separator[i])
            continue;
        if (!open) {
            open = arena_push(s->r->arena, s->stage, s->n_stages, s->cap_stages);
            *open = (Stage){0};
        }
        add_to_stage(s, open, i);
    }
}

static const Stage *neighbour(const Separators *s, int i, int step)
{
    for (i += step; i >= 0 && i < s->n_stages && s->stage[i].is_dropped;)
        i += step;
    return i >= 0 && i < s->n_stages ? &s->stage[i] : NULL;
}

// Drops stages that are larger than both of their neighbours: their values are made again from the
// smaller one before. What follows the last product is needed immediately.
static void drop_wide_stages(Separators *s)
{
    bool is_new = true;

    while (is_new) {
        is_new = false;
        for (int i = 0; i < s->n_stages; i++) {
            Stage *x = &s->stage[i];
            const Stage *before = neighbour(s, i, -1), *after = neighbour(s, i, 1);
            if (x->is_dropped || !x->has_next || !before || !after || x->bytes <= before->bytes ||
                x->bytes <= after->bytes)
                continue;
            x->is_dropped = is_new = true;
        }
    }
}

bool *find_separators(const Recompute *r)
{
    const Graph *g = r->g;
    bool *is_separator = arena_array(r->arena, bool, g->n_values);
    Separators s = {.r = r,
                    .last_reader = arena_array(r->arena, NodeId, g->n_values),
                    .is_separator = arena_array(r->arena, bool, g->n_nodes)};

    find_last_readers(&s);
    mark_separators(&s);
    find_stages(&s);
    drop_wide_stages(&s);
    for (int i = 0; i < s.n_stages; i++) {
        const Stage *x = &s.stage[i];
        if (x->is_dropped)
            continue;
        if (!x->is_made_once)
            is_separator[canonical_of(r, x->value)] = true;
        for (NodeId k = x->first; k <= x->last; k++)
            if (s.is_separator[k] && !is_elementwise_work(&g->nodes[k]))
                is_separator[canonical_of(r, g->nodes[k].out[0])] = true;
    }
    return is_separator;
}
