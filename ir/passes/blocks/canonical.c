// The canonical order of the nodes: the post-order of a depth-first walk from the outputs.
//
// The walk visits the input of a node to which most paths lead first, so that the chain through all
// layers precedes its side branches. Values that several layers share precede all their readers.
#include "ir/passes/blocks/canonical.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

// ---- hashes ----

static uint64_t mix(uint64_t h, uint64_t x)
{
    h = (h ^ x) * 0x9e3779b97f4a7c15u;
    return h ^ h >> 29;
}

static uint64_t type_hash(uint64_t h, const Value *v)
{
    h = mix(h, (uint64_t)v->dtype * 32 + (uint64_t)v->rank);
    for (int i = 0; i < v->rank; i++)
        h = mix(h, (uint64_t)v->dim[i]);
    return h;
}

static uint64_t attr_hash(uint64_t h, const AttrDef *def, const Attr *a)
{
    if (def->is_affine)
        return h;
    switch (def->type) {
    case ATTR_INTS:
        for (int i = 0; i < a->n; i++)
            h = mix(h, (uint64_t)a->v[i]);
        return mix(h, (uint64_t)a->n);
    case ATTR_TEXT:
        return a->s ? mix(h, hash_bytes(a->s, strlen(a->s), 0)) : h;
    default:
        return mix(h, (uint64_t)a->i);
    }
}

uint64_t *node_hashes(Arena *a, const Graph *g)
{
    uint64_t *hash = arena_array(a, uint64_t, g->n_nodes);

    for (NodeId i = 1; i < g->n_nodes; i++) {
        const Node *n = &g->nodes[i];
        uint64_t h = hash_bytes(n->op->name, strlen(n->op->name), (uint64_t)n->phase);
        for (int k = 0; k < MAX_ATTRS && n->op->attrs[k].name; k++)
            h = attr_hash(h, &n->op->attrs[k], &n->attr[k]);
        for (int k = 0; k < n->n_in; k++)
            h = n->in[k] ? type_hash(h, in(g, n, k)) : mix(h, 1);
        for (int k = 0; k < n->n_out; k++)
            h = type_hash(h, value_of(g, n->out[k]));
        hash[i] = h;
    }
    return hash;
}

uint64_t *cone_hashes(Arena *a, const Graph *g, const uint64_t *hash, int radius)
{
    size_t bytes = (size_t)g->n_nodes * sizeof *hash;
    uint64_t *now = arena_array(a, uint64_t, g->n_nodes);
    uint64_t *next = arena_array(a, uint64_t, g->n_nodes);

    memcpy(now, hash, bytes);
    for (int r = 0; r < radius; r++) {
        for (NodeId i = 1; i < g->n_nodes; i++) {
            const Node *n = &g->nodes[i];
            next[i] = now[i];
            for (int k = 0; k < n->n_in; k++)
                next[i] = mix(next[i], now[value_of(g, n->in[k])->producer] + (uint64_t)k);
        }
        memcpy(now, next, bytes);
    }
    return now;
}

// By NodeId: a hash of the node and its descendants up to `radius` nodes on.
static uint64_t *reader_hashes(Arena *a, const Graph *g, const uint64_t *hash, int radius)
{
    size_t bytes = (size_t)g->n_nodes * sizeof *hash;
    uint64_t *now = arena_array(a, uint64_t, g->n_nodes);
    uint64_t *sum = arena_array(a, uint64_t, g->n_nodes);

    memcpy(now, hash, bytes);
    for (int r = 0; r < radius; r++) {
        memset(sum, 0, bytes);
        for (NodeId i = 1; i < g->n_nodes; i++)
            for (int k = 0; k < g->nodes[i].n_in; k++)
                sum[value_of(g, g->nodes[i].in[k])->producer] += mix(now[i], (uint64_t)k);
        for (NodeId i = 1; i < g->n_nodes; i++)
            now[i] = mix(hash[i], sum[i]);
    }
    return now;
}

// ---- the walk ----

typedef struct Walk {
    const Graph *g;
    Arena *arena;
    bool *is_early;     // by NodeId: precedes all its readers and counts as an input of the graph
    int64_t *richness;  // by NodeId: log of the number of paths that lead to it, in 1/1024
    int *depth;         // by NodeId: nodes of the longest path that leads to it
    int *position;      // by NodeId: 1 + index in `order`; 0: not visited
    // If a carry writes node i's value over another one, the readers of that one must precede node
    // i. They are the entries [first_reader[i], first_reader[i + 1]).
    NodeId *reader;
    int *first_reader;
    NodeId *order;
    int n;
    // The nodes being visited, each with its inputs in the order of their visit.
    struct Frame {
        NodeId node;
        int next, n;
        NodeId *from;
    } * stack;
    int cap_stack;
} Walk;

// Sets richness and depth. The number of paths grows exponentially, so its logarithm is summed; it
// is rounded, so that rounding errors don't make equal nodes differ.
static void measure(Walk *w)
{
    const Graph *g = w->g;
    double *paths = arena_array(w->arena, double, g->n_nodes);

    for (NodeId i = 1; i < g->n_nodes; i++) {
        const Node *n = &g->nodes[i];
        double most = 0, sum;
        w->depth[i] = 1;
        for (int k = 0; k < n->n_in; k++) {
            NodeId from = value_of(g, n->in[k])->producer;
            if (!from || w->is_early[from])
                continue;
            most = fmax(most, paths[from]);
            if (w->depth[from] >= w->depth[i])
                w->depth[i] = w->depth[from] + 1;
        }
        sum = exp(-most);
        for (int k = 0; k < n->n_in; k++) {
            NodeId from = value_of(g, n->in[k])->producer;
            if (from && !w->is_early[from])
                sum += exp(paths[from] - most);
        }
        paths[i] = most + log(sum);
        w->richness[i] = (int64_t)(paths[i] * 1024 + 0.5);
    }
}

static bool visits_before(const Walk *w, NodeId a, NodeId b)
{
    if (w->is_early[a] != w->is_early[b])
        return w->is_early[b];  // an early node is visited already, or is last here
    if (w->richness[a] != w->richness[b])
        return w->richness[a] > w->richness[b];
    return w->depth[a] > w->depth[b];
}

// The nodes that must precede node i and aren't visited yet, in the order of their visit.
static struct Frame frame_of(Walk *w, NodeId i)
{
    const Node *n = &w->g->nodes[i];
    int n_readers = w->first_reader[i + 1] - w->first_reader[i];
    struct Frame f = {.node = i, .from = arena_array(w->arena, NodeId, n->n_in + n_readers)};

    for (int k = 0; k < n->n_in + n_readers; k++) {
        NodeId from = k < n->n_in ? value_of(w->g, n->in[k])->producer
                                  : w->reader[w->first_reader[i] + k - n->n_in];
        int at = f.n;
        if (!from || from == i || w->position[from])
            continue;
        for (; at > 0 && visits_before(w, from, f.from[at - 1]); at--)
            f.from[at] = f.from[at - 1];
        f.from[at] = from;
        f.n++;
    }
    return f;
}

// Sets Walk.reader: lists the readers of carried values by the nodes that overwrite them.
static void list_readers(Walk *w)
{
    const Graph *g = w->g;
    NodeId *writer = arena_array(w->arena, NodeId, g->n_values);

    w->first_reader = arena_array(w->arena, int, g->n_nodes + 2);
    for (int i = 0; i < g->n_carries; i++)
        writer[g->carries[i].in] = value_of(g, g->carries[i].out)->producer;
    for (int fill = 0; fill < 2; fill++) {
        for (NodeId i = 1; i < g->n_nodes; i++)
            for (int k = 0; k < g->nodes[i].n_in; k++) {
                NodeId to = writer[g->nodes[i].in[k]];
                if (to && fill)
                    w->reader[--w->first_reader[to]] = i;
                else if (to)
                    w->first_reader[to]++;
            }
        for (NodeId i = 1; i <= g->n_nodes && !fill; i++)
            w->first_reader[i] += w->first_reader[i - 1];
        if (!fill)
            w->reader = arena_array(w->arena, NodeId, w->first_reader[g->n_nodes]);
    }
}

static void visit(Walk *w, NodeId root)
{
    int top = 0;

    if (!root || w->position[root])
        return;
    *arena_push(w->arena, w->stack, top, w->cap_stack) = frame_of(w, root);
    while (top) {
        struct Frame *f = &w->stack[top - 1];
        while (f->next < f->n && w->position[f->from[f->next]])
            f->next++;
        if (f->next == f->n) {
            w->order[w->n++] = f->node;
            w->position[f->node] = w->n;
            top--;
            continue;
        }
        struct Frame inner = frame_of(w, f->from[f->next++]);
        *arena_push(w->arena, w->stack, top, w->cap_stack) = inner;
    }
}

static void walk_reset(Walk *w)
{
    w->n = 0;
    memset(w->position, 0, (size_t)w->g->n_nodes * sizeof *w->position);
    measure(w);
}

// ---- the roots of the walk ----

// The nodes that make outputs and carried values; the loss is first if there is one.
static NodeId *list_ends(Arena *a, const Graph *g, int *n)
{
    NodeId *ends = arena_array(a, NodeId, g->n_outputs + g->n_carries + 1);

    *n = 0;
    for (int loss = 1; loss >= 0; loss--)
        for (int i = 0; i < g->n_outputs; i++)
            if ((g->outputs[i].role == OUTPUT_LOSS_SUM) == loss)
                ends[(*n)++] = value_of(g, g->outputs[i].value)->producer;
    for (int i = 0; i < g->n_carries; i++)
        ends[(*n)++] = value_of(g, g->carries[i].out)->producer;
    return ends;
}

typedef struct Reader {
    NodeId from, node;
    uint64_t like;  // hash of the reader and of how it reads
} Reader;

static int compare_readers(const void *a, const void *b)
{
    const Reader *p = a, *q = b;

    if (p->from != q->from)
        return p->from < q->from ? -1 : 1;
    return p->like < q->like ? -1 : p->like > q->like;
}

static bool same_affine(const Node *a, const Node *b)
{
    for (int k = 0; k < MAX_ATTRS && a->op->attrs[k].name; k++) {
        const Attr *x = &a->attr[k], *y = &b->attr[k];
        if (a->op->attrs[k].is_affine && a->op->attrs[k].type == ATTR_INTS && x->n == y->n &&
            x->n && memcmp(x->v, y->v, (size_t)x->n * sizeof *x->v))
            return false;
    }
    return true;
}

// Sets is_early for values that layers or time steps share: a mask, an encoder's result, a sequence
// that each step slices. Their readers have equal hashes of what surrounds them, yet differ in
// richness, depth or affine attributes.
static void find_early(Walk *w)
{
    enum { SOURCE_RADIUS = 3, READER_RADIUS = 2 };
    const Graph *g = w->g;
    uint64_t *hash = node_hashes(w->arena, g);
    uint64_t *by_sources = cone_hashes(w->arena, g, hash, SOURCE_RADIUS);
    uint64_t *by_readers = reader_hashes(w->arena, g, hash, READER_RADIUS);
    int n = 0, total = 0;

    for (NodeId i = 1; i < g->n_nodes; i++)
        total += g->nodes[i].n_in;
    Reader *r = arena_array(w->arena, Reader, total);
    for (NodeId i = 1; i < g->n_nodes; i++)
        for (int k = 0; k < g->nodes[i].n_in; k++) {
            NodeId from = value_of(g, g->nodes[i].in[k])->producer;
            if (from)
                r[n++] = (Reader){from, i, mix(mix(by_sources[i], by_readers[i]), (uint64_t)k)};
        }
    if (n)
        qsort(r, (size_t)n, sizeof *r, compare_readers);
    for (int i = 0; i + 1 < n; i++) {
        NodeId a = r[i].node, b = r[i + 1].node;
        if (r[i].from != r[i + 1].from || r[i].like != r[i + 1].like || a == b)
            continue;
        if (w->richness[a] != w->richness[b] || w->depth[a] != w->depth[b] ||
            !same_affine(&g->nodes[a], &g->nodes[b]))
            w->is_early[r[i].from] = true;
    }
}

typedef struct Root {
    NodeId node;
    bool is_end;
    int key, tie;
} Root;

static int compare_roots(const void *a, const void *b)
{
    const Root *p = a, *q = b;

    if (p->is_end != q->is_end)
        return p->is_end ? 1 : -1;
    return p->key != q->key ? (p->key < q->key ? -1 : 1) : p->tie - q->tie;
}

// The roots of the second walk: early values, then ends. Each is sorted by the position, in the
// first walk, of its last ancestor on the path to the main end. So a side branch (running
// statistics) follows the node that it branches off.
static Root *list_roots(Walk *w, const NodeId *ends, int n_ends, int n_main, int *n)
{
    const Graph *g = w->g;
    int *key = arena_array(w->arena, int, g->n_nodes);
    Root *roots = arena_array(w->arena, Root, g->n_nodes + n_ends);

    *n = 0;
    for (NodeId i = 1; i < g->n_nodes; i++) {
        const Node *x = &g->nodes[i];
        key[i] = w->position[i] <= n_main ? w->position[i] : 0;
        for (int k = 0; k < x->n_in && w->position[i] > n_main; k++)
            if (key[value_of(g, x->in[k])->producer] > key[i])
                key[i] = key[value_of(g, x->in[k])->producer];
        if (w->is_early[i] && w->position[i])
            roots[(*n)++] = (Root){i, false, key[i], w->position[i]};
    }
    for (int i = 0; i < n_ends; i++)
        if (ends[i])
            roots[(*n)++] = (Root){ends[i], true, key[ends[i]], w->position[ends[i]]};
    if (*n)
        qsort(roots, (size_t)*n, sizeof *roots, compare_roots);
    return roots;
}

NodeId *canonical_order(Arena *a, const Graph *g, int *n)
{
    Walk w = {.g = g, .arena = arena_new()};
    int n_ends, n_main = 0, n_roots;

    w.is_early = arena_array(w.arena, bool, g->n_nodes);
    w.richness = arena_array(w.arena, int64_t, g->n_nodes);
    w.depth = arena_array(w.arena, int, g->n_nodes);
    w.position = arena_array(w.arena, int, g->n_nodes);
    w.order = arena_array(a, NodeId, g->n_nodes);
    NodeId *ends = list_ends(w.arena, g, &n_ends);
    list_readers(&w);
    walk_reset(&w);
    for (int i = 0; i < n_ends; i++) {
        visit(&w, ends[i]);
        if (i == 0)
            n_main = w.n;
    }
    find_early(&w);
    Root *roots = list_roots(&w, ends, n_ends, n_main, &n_roots);
    walk_reset(&w);
    for (int i = 0; i < n_roots; i++)
        visit(&w, roots[i].node);
    *n = w.n;
    arena_free(w.arena);
    return w.order;
}
