// Tells apart what the backward part computes: adjoints, values of the forward part that it makes
// again, and factors of adjoints.
#include <string.h>

#include "ir/facts.h"
#include "ir/internal.h"

// ---- what is made again ----

// Values that are known to be equal have one number: a value's own or that of an equal one before.
typedef struct Numbers {
    const Graph *g;
    ValueId *number;  // by ValueId
    NodeId *table;    // nodes of the forward part by their hash
    uint64_t mask;
} Numbers;

// Equal constants of one element have one number.
static void number_constants(Arena *a, Numbers *x)
{
    Map known = {.arena = a};

    for (ValueId v = 1; v < x->g->n_values; v++) {
        const Value *c = value_of(x->g, v);
        uint64_t bits = 0;
        x->number[v] = v;
        if (c->kind != VALUE_CONSTANT || c->rank)
            continue;
        memcpy(&bits, c->data, (size_t)dtype_size(c->dtype));
        const char *key = arena_string(a, "%d:%" PRIx64, c->dtype, bits);
        if (map_get(&known, key))
            x->number[v] = map_get(&known, key);
        else
            map_set(&known, key, v);
    }
}

static uint64_t hash_of(const Numbers *x, const Node *n)
{
    uint64_t h = hash_bytes(n->op->name, strlen(n->op->name), 0);

    for (int i = 0; i < n->n_in; i++)
        h = hash_bytes(&x->number[n->in[i]], sizeof *x->number, h);
    for (int i = 0; i < MAX_ATTRS && n->op->attrs[i].name; i++)
        h = hash_attr(&n->op->attrs[i], &n->attr[i], h);
    return h;
}

static bool is_same(const Numbers *x, const Node *a, const Node *b)
{
    if (a->op != b->op || a->n_in != b->n_in)
        return false;
    for (int i = 0; i < a->n_in; i++)
        if (x->number[a->in[i]] != x->number[b->in[i]])
            return false;
    for (int i = 0; i < MAX_ATTRS && a->op->attrs[i].name; i++)
        if (!attr_equal(&a->op->attrs[i], &a->attr[i], &b->attr[i]))
            return false;
    return true;
}

// The table's slot of a node of the forward part that equals n, or the free slot for it.
static NodeId *find(const Numbers *x, const Node *n)
{
    uint64_t i = hash_of(x, n) & x->mask;

    while (x->table[i] && !is_same(x, n, &x->g->nodes[x->table[i]]))
        i = (i + 1) & x->mask;
    return &x->table[i];
}

ValueId *graph_made_again(Arena *a, const Graph *g)
{
    Arena *scratch = arena_new();
    Numbers x = {.g = g, .number = arena_array(scratch, ValueId, g->n_values), .mask = 1};
    ValueId *again = arena_array(a, ValueId, g->n_values);

    while (x.mask < 2 * (uint64_t)g->n_nodes)
        x.mask = 2 * x.mask + 1;
    x.table = arena_array(scratch, NodeId, x.mask + 1);
    number_constants(scratch, &x);
    for (NodeId i = 1; i < g->n_nodes; i++) {
        const Node *n = &g->nodes[i];
        if (n->phase == UPDATE)
            continue;
        NodeId *same = find(&x, n);
        if (n->phase == FORWARD && !*same)
            *same = i;
        for (int k = 0; k < n->n_out && n->phase == BACKWARD && *same; k++)
            again[n->out[k]] = x.number[n->out[k]] = g->nodes[*same].out[k];
    }
    arena_free(scratch);
    return again;
}

// ---- adjoints ----

// By NodeId: the last node of the forward part that is from the same node of the model; 0: none is.
static NodeId *find_models_nodes(Arena *a, const Graph *g)
{
    Map last = {.arena = a};
    NodeId *from = arena_array(a, NodeId, g->n_nodes);

    for (int pass = 0; pass < 2; pass++)
        for (NodeId i = 1; i < g->n_nodes; i++) {
            const Node *n = &g->nodes[i];
            if (!n->source || n->phase == UPDATE)
                continue;
            const char *key = arena_string(a, "%s\n%s", n->source->name, n->source->scope);
            if (pass)
                from[i] = map_get(&last, key);
            else if (n->phase == FORWARD)
                map_set(&last, key, i);
        }
    return from;
}

static bool is_carried(const Graph *g, ValueId v)
{
    for (int i = 0; i < g->n_carries; i++)
        if (g->carries[i].out == v)
            return true;
    return false;
}

// The gradient of the loss by itself is the reciprocal of its count.
static void find_seeds(const Graph *g, bool *is_adjoint)
{
    ValueId count = output_of_role(g, OUTPUT_LOSS_COUNT);

    for (NodeId i = 1; i < g->n_nodes && count; i++) {
        const Node *n = &g->nodes[i];
        for (int k = 0; k < n->n_in && n->phase == BACKWARD; k++)
            if (n->in[k] == count && !is_carried(g, n->out[0]))
                is_adjoint[n->out[0]] = true;
    }
}

// Gradients go from the end of the model to its start, all else that the backward part reads goes
// in the other direction. Moves of a value to other ranks, and views, are as the value.
static void find_handed_back(Arena *a, const Graph *g, const ValueId *again, bool *is_adjoint)
{
    const NodeId *from = find_models_nodes(a, g);

    for (NodeId i = 1; i < g->n_nodes; i++) {
        const Node *n = &g->nodes[i];
        for (int k = 0; k < n->n_in && n->phase == BACKWARD && from[i]; k++) {
            NodeId maker = value_of(g, n->in[k])->producer;
            const Node *m = &g->nodes[maker];
            if (maker && m->phase == BACKWARD && from[i] < from[maker] && !again[n->in[k]] &&
                !m->op->view && !m->op->exchange)
                is_adjoint[n->in[k]] = true;
        }
    }
}

bool *graph_adjoints(Arena *a, const Graph *g, const ValueId *again)
{
    Arena *scratch = arena_new();
    bool *is_adjoint = arena_array(a, bool, g->n_values);

    find_seeds(g, is_adjoint);
    find_handed_back(scratch, g, again, is_adjoint);
    for (NodeId i = 1; i < g->n_nodes; i++) {
        const Node *n = &g->nodes[i];
        bool has_adjoint = false;
        for (int k = 0; k < n->n_in; k++)
            has_adjoint |= is_adjoint[n->in[k]];
        for (int k = 0; k < n->n_out && n->phase == BACKWARD; k++)
            is_adjoint[n->out[k]] |= has_adjoint;
    }
    for (int i = 0; i < g->n_outputs; i++)
        is_adjoint[g->outputs[i].value] |= g->outputs[i].role == OUTPUT_GRADIENT;
    arena_free(scratch);
    return is_adjoint;
}
