// Finds the order of execution: which nodes make up loops over repeated blocks, and a topological
// order of loops and the nodes outside of them.
#include <string.h>

#include "ir/facts.h"
#include "lower/internal.h"

// ---- functions ----

// May each parameter be updated as soon as its gradient is made? No if gradients are summed over
// micro-batches, or if an update needs the norm of all of them.
static bool can_update_early(const Lowering *l)
{
    const Graph *g = l->g;
    bool *waits = arena_array(l->p->arena, bool, g->n_nodes);
    NodeId norm = value_of(g, output_of_role(g, OUTPUT_GRAD_NORM))->producer;

    if (l->o->accumulate > 1)
        return false;
    for (NodeId i = norm + 1; norm && i < g->n_nodes; i++)
        for (int k = 0; k < g->nodes[i].n_in; k++) {
            NodeId from = value_of(g, g->nodes[i].in[k])->producer;
            waits[i] |= from && (from == norm || waits[from]);
        }
    for (int i = 0; i < g->n_carries; i++)
        if (waits[value_of(g, g->carries[i].out)->producer])
            return false;
    return norm != 0;
}

// A step of several micro-batches makes the half copies of parameters once, in `prepare`.
static void find_prepared(Lowering *l)
{
    const Sharded *s = l->s->sharded;
    const bool *serves =
        s ? sharded_half_copies(l->p->arena, s) : graph_half_copies(l->p->arena, l->g, NULL);

    for (NodeId i = 1; i < l->g->n_nodes; i++)
        if (serves[i])
            l->timing[i] = TIMING_PREPARE;
}

// The update's nodes that gradients and their norm depend on make a function of their own,
// `reduce`: the trainer may look at the norm before `update`. With early updates all nodes are in
// `micro`.
static void find_timings(Lowering *l)
{
    const Graph *g = l->g;
    Timing first = l->s == &l->p->set[SET_TRAIN] ? TIMING_MICRO : TIMING_FORWARD;

    l->timing = arena_array(l->p->arena, Timing, g->n_nodes);
    l->has_early_updates = can_update_early(l);
    for (NodeId i = 0; i < g->n_nodes; i++)
        l->timing[i] = first;
    if (g->training && l->o->accumulate > 1)
        find_prepared(l);
    if (l->has_early_updates)
        return;
    for (NodeId i = 1; i < g->n_nodes; i++)
        if (g->nodes[i].phase == UPDATE)
            l->timing[i] = TIMING_UPDATE;
    for (int i = 0; i < g->n_outputs; i++) {
        NodeId n = value_of(g, g->outputs[i].value)->producer;
        if (l->timing[n] == TIMING_UPDATE)
            l->timing[n] = TIMING_REDUCE;
    }
    for (NodeId i = g->n_nodes - 1; i > 0; i--)
        for (int k = 0; l->timing[i] == TIMING_REDUCE && k < g->nodes[i].n_in; k++) {
            NodeId n = value_of(g, g->nodes[i].in[k])->producer;
            if (l->timing[n] == TIMING_UPDATE)
                l->timing[n] = TIMING_REDUCE;
        }
}

// ---- regions ----

static int find_region(Lowering *l, const Node *n, Timing timing)
{
    Phase phase = l->has_early_updates && n->phase == UPDATE ? BACKWARD : n->phase;

    for (int r = 1; r < l->n_regions; r++) {
        const Region *x = &l->regions[r];
        if (x->cls == n->block.cls && x->phase == phase && x->again == n->block.again &&
            x->timing == timing)
            return r;
    }
    Region *x = arena_push(l->p->arena, l->regions, l->n_regions, l->cap_regions);
    *x = (Region){.cls = n->block.cls, .phase = phase, .again = n->block.again, .timing = timing};
    return l->n_regions - 1;
}

// Finds in which direction a loop runs, so that neighbours are made before they are read. False if
// it would have to run in both directions.
static bool find_direction(Lowering *l, int r)
{
    const Graph *g = l->g;
    bool up = false, down = false;
    Region *x = &l->regions[r];
    const ClassTable *t = &l->table[x->cls];

    for (NodeId i = 0; i < t->n_nodes * g->classes[x->cls].length; i++) {
        const Node *n = &g->nodes[t->nodes[i]];
        if (l->region[t->nodes[i]] != r)
            continue;
        for (int k = 0; k < n->n_in; k++) {
            NodeId from = value_of(g, n->in[k])->producer;
            if (from && l->region[from] == r) {
                up |= g->nodes[from].block.iter < n->block.iter;
                down |= g->nodes[from].block.iter > n->block.iter;
            }
        }
    }
    int last = g->classes[x->cls].length - 1;
    x->is_reverse = down;
    x->representative = down ? last - 1 : 1;
    x->other = last < 2 ? 1 - x->representative : down ? last - 2 : 2;
    return !(up && down);
}

static bool make_regions(Lowering *l)
{
    const Graph *g = l->g;

    l->region = arena_array(l->p->arena, int32_t, g->n_nodes);
    arena_push(l->p->arena, l->regions, l->n_regions, l->cap_regions);
    for (NodeId i = 1; i < g->n_nodes; i++)
        if (g->nodes[i].block.cls)
            l->region[i] = find_region(l, &g->nodes[i], l->timing[i]);
    for (int r = 1; r < l->n_regions; r++)
        if (!find_direction(l, r))
            return unroll_class(l, l->regions[r].cls);
    return true;
}

// ---- topological order ----

// The vertices (nodes or loops) and their edges: which must come before which. Each list of
// successors is linked.
typedef struct Order {
    Arena *arena;
    int n_vertices;
    int *head, *degree;  // by vertex
    int64_t *key;        // ready vertices run in the order of their keys
    struct Edge {
        int to, next;
    } * edges;
    int n_edges, cap_edges;
} Order;

static void order_add(Order *o, int from, int to)
{
    if (from == to || from < 0 || to < 0)
        return;
    struct Edge *e = arena_push(o->arena, o->edges, o->n_edges, o->cap_edges);
    *e = (struct Edge){to, o->head[from]};
    o->head[from] = o->n_edges - 1;
    o->degree[to]++;
}

static void heap_push(int *heap, int *n, const int64_t *key, int vertex)
{
    int i = (*n)++;

    for (; i > 0 && key[heap[(i - 1) / 2]] > key[vertex]; i = (i - 1) / 2)
        heap[i] = heap[(i - 1) / 2];
    heap[i] = vertex;
}

static int heap_pop(int *heap, int *n, const int64_t *key)
{
    int top = heap[0], last = heap[--*n], i = 0;

    for (int c = 1; c < *n; i = c, c = 2 * i + 1) {
        if (c + 1 < *n && key[heap[c + 1]] < key[heap[c]])
            c++;
        if (key[heap[c]] >= key[last])
            break;
        heap[i] = heap[c];
    }
    heap[i] = last;
    return top;
}

// Fills `vertices` with vertices in order. Returns how many; if they aren't all, there is a cycle.
static int order_run(Order *o, int *vertices)
{
    int *heap = arena_array(o->arena, int, o->n_vertices + 1), n_heap = 0, n = 0;

    for (int u = 0; u < o->n_vertices; u++)
        if (!o->degree[u])
            heap_push(heap, &n_heap, o->key, u);
    while (n_heap) {
        int u = heap_pop(heap, &n_heap, o->key);
        vertices[n++] = u;
        for (int e = o->head[u]; e >= 0; e = o->edges[e].next)
            if (--o->degree[o->edges[e].to] == 0)
                heap_push(heap, &n_heap, o->key, o->edges[e].to);
    }
    return n;
}

static Order order_new(Arena *a, int n_vertices)
{
    Order o = {.arena = a, .n_vertices = n_vertices};

    o.head = arena_array(a, int, n_vertices + 1);
    o.degree = arena_array(a, int, n_vertices + 1);
    o.key = arena_array(a, int64_t, n_vertices + 1);
    memset(o.head, -1, sizeof(int) * (size_t)(n_vertices + 1));
    return o;
}

// A node that reads a carried value comes before the node that overwrites it. It may read it
// through views. `vertex` gives the vertex of a node; -1: it isn't in this order.
static void add_carry_edges(const Lowering *l, Order *o, const int *vertex)
{
    const Graph *g = l->g;
    int *writer = arena_array(o->arena, int, g->n_values);

    for (int i = 0; i < g->n_carries; i++) {
        NodeId w = value_of(g, g->carries[i].out)->producer;
        if (w && vertex[w] >= 0)
            writer[g->carries[i].in] = 1 + vertex[w];
    }
    for (NodeId i = 1; i < g->n_nodes; i++)
        for (int k = 0; vertex[i] >= 0 && k < g->nodes[i].n_in; k++) {
            ValueId base = l->view[g->nodes[i].in[k]].base;
            if (writer[base])
                order_add(o, vertex[i], writer[base] - 1);
        }
}

// Is it better that the node runs when all others of its function have run? It is if none of them
// reads its result and this takes more bytes than what the node reads, which is kept till then: the
// gradient of a head's weight.
static bool is_better_last(const Lowering *l, NodeId i, const bool *is_read)
{
    const Node *n = &l->g->nodes[i];
    int64_t bytes = 0;

    if (n->phase != BACKWARD || l->region[i] || n->n_out != 1 || is_read[n->out[0]])
        return false;
    for (int k = 0; k < n->n_in; k++)
        bytes += value_bytes(value_of(l->g, l->view[n->in[k]].base));
    return bytes < value_bytes(value_of(l->g, n->out[0]));
}

static void put_last(const Lowering *l, int64_t *priority)
{
    const Graph *g = l->g;
    bool *is_read = arena_array(l->p->arena, bool, g->n_values);

    for (NodeId i = 1; i < g->n_nodes; i++)
        for (int k = 0; k < g->nodes[i].n_in && l->timing[i] == TIMING_MICRO; k++)
            is_read[g->nodes[i].in[k]] = true;
    for (NodeId i = 1; i < g->n_nodes; i++)
        if (is_better_last(l, i, is_read))
            priority[i] = g->n_nodes;
}

// By node, its priority: the graph's order, but for nodes that are better last. An early update
// comes right after the last gradient that it needs or, if it needs none, with its first reader.
static int64_t *find_priorities(const Lowering *l)
{
    const Graph *g = l->g;
    int64_t *priority = arena_array(l->p->arena, int64_t, g->n_nodes);
    int64_t *reader = arena_array(l->p->arena, int64_t, g->n_nodes);

    for (NodeId i = 1; i < g->n_nodes; i++) {
        const Node *n = &g->nodes[i];
        bool is_early = l->has_early_updates && n->phase == UPDATE;
        priority[i] = is_early ? 0 : i;
        for (int k = 0; k < n->n_in && is_early; k++) {
            int64_t needs = priority[value_of(g, n->in[k])->producer];
            priority[i] = needs > priority[i] ? needs : priority[i];
        }
    }
    for (NodeId i = g->n_nodes - 1; i > 0; i--) {
        const Node *n = &g->nodes[i];
        if (l->has_early_updates && n->phase == UPDATE && !priority[i])
            priority[i] = reader[i];
        for (int k = 0; k < n->n_in; k++) {
            NodeId from = value_of(g, n->in[k])->producer;
            if (!reader[from] || priority[i] < reader[from])
                reader[from] = priority[i];
        }
    }
    if (!l->o->chain)  // a stage of a chain has all that it reads in slots
        put_last(l, priority);
    for (NodeId i = 1; i < g->n_nodes; i++)
        priority[i] = priority[i] * g->n_nodes + i;
    return priority;
}

// Orders the nodes of the loop's representative iteration.
static void order_body(Lowering *l, int r)
{
    const Graph *g = l->g;
    Region *x = &l->regions[r];
    const ClassTable *t = &l->table[x->cls];
    int *vertex = arena_array(l->p->arena, int, g->n_nodes), n = 0;
    NodeId *body = arena_array(l->p->arena, NodeId, t->n_nodes + 1);

    memset(vertex, -1, sizeof(int) * (size_t)g->n_nodes);
    for (int pos = 0; pos < t->n_nodes; pos++) {
        NodeId i = t->nodes[(int64_t)x->representative * t->n_nodes + pos];
        if (i && l->region[i] == r) {
            vertex[i] = n;
            body[n++] = i;
        }
    }
    Order o = order_new(l->p->arena, n);
    for (int u = 0; u < n; u++) {
        const Node *node = &g->nodes[body[u]];
        o.key[u] = l->priority[body[u]];
        for (int k = 0; k < node->n_in; k++)
            order_add(&o, vertex[value_of(g, node->in[k])->producer], u);
    }
    add_carry_edges(l, &o, vertex);
    int *vertices = arena_array(l->p->arena, int, n + 1);
    x->n_nodes = order_run(&o, vertices);
    x->nodes = arena_array(l->p->arena, NodeId, n + 1);
    for (int u = 0; u < x->n_nodes; u++)
        x->nodes[u] = body[vertices[u]];
}

// Orders the top level. Vertices are the loops first (r - 1), then the nodes outside of loops.
static bool order_top(Lowering *l)
{
    const Graph *g = l->g;
    Arena *a = l->p->arena;
    int *vertex = arena_array(a, int, g->n_nodes), n = l->n_regions - 1;
    NodeId *node = arena_array(a, NodeId, g->n_nodes + l->n_regions);

    vertex[0] = -1;
    for (NodeId i = 1; i < g->n_nodes; i++) {
        vertex[i] = l->region[i] ? l->region[i] - 1 : n;
        if (!l->region[i])
            node[n++] = i;
    }
    Order o = order_new(a, n);
    for (NodeId i = g->n_nodes - 1; i > 0; i--) {
        o.key[vertex[i]] = ((int64_t)l->timing[i] << 48) + l->priority[i];
        for (int k = 0; k < g->nodes[i].n_in; k++)
            order_add(&o, vertex[value_of(g, g->nodes[i].in[k])->producer], vertex[i]);
    }
    add_carry_edges(l, &o, vertex);
    int *vertices = arena_array(a, int, n + 1);
    l->n_order = order_run(&o, vertices);
    l->order = arena_array(a, int32_t, n + 1);
    for (int u = 0; u < l->n_order; u++)
        l->order[u] = vertices[u] < l->n_regions - 1 ? -(vertices[u] + 1) : node[vertices[u]];
    if (l->n_order == n)
        return true;
    for (int r = 1; r < l->n_regions; r++)  // a cycle contains a loop that has no position
        if (o.degree[r - 1])
            return unroll_class(l, l->regions[r].cls);
    return true;
}

bool lower_order(Lowering *l)
{
    find_timings(l);
    if (!make_regions(l))
        return false;
    l->priority = find_priorities(l);
    for (int r = 1; r < l->n_regions; r++)
        order_body(l, r);
    return order_top(l);
}
