// Finds the half copies of parameters, which all micro-batches of a step share.
#include "ir/facts.h"

// A graph, and what is known of its nodes.
typedef struct HalfCopies {
    Arena *arena;
    const Graph *g;
    const bool *is_kept;  // by ValueId; NULL: what a cast makes
    bool *is_of;          // by NodeId: parameters alone decide its result
    bool *serves;         // by NodeId: the answer
    int *first;           // by class: where the class begins in `differs`
    bool *differs;        // by class and position: some iteration's node isn't among them
} HalfCopies;

// Only a cast makes elements of a half one by one from those of another type.
static bool is_cast_to_half(const Graph *g, const Node *n)
{
    return n->op->expr && n->n_in == 1 && dtype_is_half(out(g, n)->dtype) &&
           !dtype_is_half(in(g, n, 0)->dtype);
}

// Does a value have the same elements in all micro-batches?
static bool is_of_parameters(const HalfCopies *x, ValueId v)
{
    NodeId made = value_of(x->g, v)->producer;

    return v && (made ? x->is_of[made] : value_of(x->g, v)->kind == VALUE_PARAMETER);
}

static void find_of_parameters(HalfCopies *x)
{
    for (NodeId i = 1; i < x->g->n_nodes; i++) {
        const Node *n = &x->g->nodes[i];
        bool moves = n->op->view || n->op->subview || n->op->exchange;
        x->is_of[i] = n->phase == FORWARD && (moves || is_cast_to_half(x->g, n));
        for (int k = 0; k < n->n_in && x->is_of[i]; k++)
            x->is_of[i] = is_of_parameters(x, n->in[k]);
    }
}

// Is the node's result a half copy in the form in which it is kept?
static bool makes_kept(const HalfCopies *x, NodeId i)
{
    const Node *n = &x->g->nodes[i];

    return x->is_kept ? x->is_kept[n->out[0]] : is_cast_to_half(x->g, n);
}

// A node serves half copies if it makes one, or if others that do so read it and nothing else does.
static void find_serving(HalfCopies *x)
{
    const Graph *g = x->g;
    int *readers = arena_array(x->arena, int, g->n_nodes);
    int *serving = arena_array(x->arena, int, g->n_nodes);

    for (NodeId i = g->n_nodes - 1; i > 0; i--) {
        const Node *n = &g->nodes[i];
        x->serves[i] =
            x->is_of[i] && (makes_kept(x, i) || (readers[i] && readers[i] == serving[i]));
        for (int k = 0; k < n->n_in; k++) {
            NodeId made = value_of(g, n->in[k])->producer;
            readers[made]++;
            serving[made] += x->serves[i];
        }
    }
    for (int i = 0; i < g->n_outputs; i++)
        x->serves[value_of(g, g->outputs[i].value)->producer] = false;
}

// ---- what serves must be ready, and alike in all iterations ----

static bool *differs_of(const HalfCopies *x, NodeId i)
{
    Block b = x->g->nodes[i].block;

    return b.cls ? &x->differs[x->first[b.cls] + b.pos] : NULL;
}

static void find_positions(HalfCopies *x)
{
    const Graph *g = x->g;
    int n = 0;

    x->first = arena_array(x->arena, int, g->n_classes + 1);
    for (NodeId i = 1; i < g->n_nodes; i++) {
        Block b = g->nodes[i].block;
        if (b.cls && b.pos >= x->first[b.cls])
            x->first[b.cls] = b.pos + 1;
    }
    for (int c = 0; c < g->n_classes; c++) {
        int positions = x->first[c];
        x->first[c] = n;
        n += positions;
    }
    x->differs = arena_array(x->arena, bool, n + 1);
}

// Drops the nodes that read another value than parameters and results of nodes that serve, and the
// nodes that aren't alike in all iterations. Returns whether there were some.
static bool drop(HalfCopies *x)
{
    const Graph *g = x->g;
    bool has_dropped = false;

    for (NodeId i = 1; i < g->n_nodes; i++) {
        const Node *n = &g->nodes[i];
        bool *differs = differs_of(x, i), ok = x->serves[i];
        for (int k = 0; k < n->n_in && ok; k++)
            ok = !value_of(g, n->in[k])->producer || x->serves[value_of(g, n->in[k])->producer];
        if (differs)
            *differs |= !ok;
        has_dropped |= x->serves[i] && !ok;
        x->serves[i] = ok;
    }
    for (NodeId i = 1; i < g->n_nodes; i++)
        if (x->serves[i] && differs_of(x, i) && *differs_of(x, i)) {
            x->serves[i] = false;
            has_dropped = true;
        }
    return has_dropped;
}

static bool has_cast_to_half(const Graph *g)
{
    for (NodeId i = 1; i < g->n_nodes; i++)
        if (is_cast_to_half(g, &g->nodes[i]))
            return true;
    return false;
}

bool *graph_half_copies(Arena *a, const Graph *g, const bool *is_kept)
{
    if (!has_cast_to_half(g))
        return arena_array(a, bool, g->n_nodes);
    HalfCopies x = {.arena = a,
                    .g = g,
                    .is_kept = is_kept,
                    .is_of = arena_array(a, bool, g->n_nodes),
                    .serves = arena_array(a, bool, g->n_nodes)};

    find_of_parameters(&x);
    find_serving(&x);
    find_positions(&x);
    while (drop(&x))
        ;
    return x.serves;
}
