// Finds which dims are the same. Each dim of each value has a number; parent[] is a union-find
// forest over them.
#include <string.h>

#include "generator/dims.h"

static int find(Dims *s, int x)
{
    while (s->parent[x] != x)
        x = s->parent[x] = s->parent[s->parent[x]];
    return x;
}

// The lower number is the root, so that results don't depend on the order of unions.
static void unite(Dims *s, int x, int y)
{
    int a = find(s, x), b = find(s, y);

    if (s->size[a] == s->size[b])
        s->parent[a < b ? b : a] = a < b ? a : b;
}

static void unite_values(Dims *s, int set, ValueId v, int of, ValueId w)
{
    const Value *x = value_of(s->graph[set], v), *y = value_of(s->graph[of], w);

    for (int i = 0; x->rank == y->rank && i < x->rank; i++)
        unite(s, s->first[set][v] + i, s->first[of][w] + i);
}

static Dims *number_dims(Gen *g)
{
    Dims *s = arena_array(g->arena, Dims, 1);
    int n = 0;

    for (int set = 0; set < N_SETS; set++) {
        const Graph *graph = g->p->set[set].g ? whole_graph(&g->p->set[set]) : NULL;
        s->graph[set] = graph;
        s->first[set] = graph ? arena_array(g->arena, int, graph->n_values) : NULL;
        for (ValueId v = 1; graph && v < graph->n_values; v++) {
            s->first[set][v] = n;
            n += value_of(graph, v)->rank;
        }
    }
    s->parent = arena_array(g->arena, int, n);
    s->size = arena_array(g->arena, int64_t, n);
    s->n = n;
    for (int i = 0; i < n; i++)
        s->parent[i] = i;
    for (int set = 0; set < N_SETS; set++)
        for (ValueId v = 1; s->graph[set] && v < s->graph[set]->n_values; v++)
            for (int i = 0; i < value_of(s->graph[set], v)->rank; i++)
                s->size[s->first[set][v] + i] = value_of(s->graph[set], v)->dim[i];
    return s;
}

// Notes the values that represent equal ones wherever these are used: constants, and numbers in
// equal shapes. Their dims belong to nothing.
static void find_shared(Gen *g, Dims *s, int set)
{
    const Graph *graph = s->graph[set];
    bool *is_shared = s->is_shared[set] = arena_array(g->arena, bool, graph->n_values);

    for (ValueId v = 1; v < graph->n_values; v++) {
        ValueKind kind = value_of(graph, v)->kind;
        is_shared[v] =
            !value_of(graph, v)->producer && (kind == VALUE_CONSTANT || kind == VALUE_ZERO);
    }
    for (NodeId i = 1; i < graph->n_nodes; i++) {
        const Node *n = &graph->nodes[i];
        bool all = true;
        for (int k = 0; k < n->n_in; k++)
            all &= !n->in[k] || !value_of(graph, n->in[k])->rank || is_shared[n->in[k]];
        for (int k = 0; k < n->n_out; k++)
            is_shared[n->out[k]] = all;
    }
}

// A window that leaves a dim as long as it was counts as the same dim.
static void unite_by_rule(Dims *s, int set, const Node *n, const Rule *r)
{
    int of_factor[MAX_FACTORS];

    memset(of_factor, -1, sizeof of_factor);
    for (int k = 0; k < n->n_in + n->n_out; k++) {
        ValueId v = nth_operand(n, k);
        bool has_dims = v && !s->is_shared[set][v];
        for (int i = 0; has_dims && i < value_of(s->graph[set], v)->rank; i++) {
            int f = r->dim[k][i], dim = s->first[set][v] + i;
            if (f < 0)
                continue;
            if (of_factor[f] >= 0)
                unite(s, of_factor[f], dim);
            of_factor[f] = dim;
        }
    }
}

// Unites instances of block values, by a key of class and position.
static void unite_instances(Gen *g, Dims *s, int set)
{
    const Graph *graph = s->graph[set];
    Map known = {.arena = g->arena};

    for (ValueId v = 1; v < graph->n_values; v++) {
        Block b = value_block(graph, v);
        if (!b.cls)
            continue;
        int k = 0;
        while (value_of(graph, v)->producer && producer(graph, v)->out[k] != v)
            k++;
        char *key = arena_string(g->arena, "%d.%d.%d.%d", b.cls, b.pos, k,
                                 value_of(graph, v)->producer != 0);
        ValueId first = map_get(&known, key);
        if (first)
            unite_values(s, set, first, set, v);
        else
            map_set(&known, key, v);
    }
}

static void unite_graphs(Gen *g, Dims *s)
{
    Map known = {.arena = g->arena};

    for (int set = 0; set < N_SETS; set++)
        for (ValueId v = 1; s->graph[set] && v < s->graph[set]->n_values; v++) {
            const Value *x = value_of(s->graph[set], v);
            if (x->producer || !*given_name(x))
                continue;
            if (set == SET_TRAIN)
                map_set(&known, x->name, v);
            else if (map_get(&known, x->name))
                unite_values(s, SET_TRAIN, map_get(&known, x->name), set, v);
        }
}

// The norm of the gradients adds up dims of all parameters, which are equal by chance. Its squares
// and sums have one input.
static bool joins_gradients(const Node *n)
{
    bool is_of_norm = n->phase == UPDATE && n->source && !strcmp(n->source->name, "grad_norm");

    for (int k = 1; k < n->n_in; k++)
        if (n->in[k] != n->in[0])
            return is_of_norm;
    return false;
}

Dims *find_dims(Gen *g)
{
    Dims *s = number_dims(g);
    Rule r = {0};

    for (int set = 0; set < N_SETS; set++) {
        const Graph *graph = s->graph[set];
        if (!graph)
            continue;
        find_shared(g, s, set);
        for (NodeId i = 1; i < graph->n_nodes; i++) {
            if (joins_gradients(&graph->nodes[i]))
                continue;
            node_rule(g->arena, graph, &graph->nodes[i], &r);
            unite_by_rule(s, set, &graph->nodes[i], &r);
        }
        unite_instances(g, s, set);
    }
    unite_graphs(g, s);
    return s;
}

int dim_root(Dims *s, int set, ValueId v, int i) { return find(s, s->first[set][v] + i); }
