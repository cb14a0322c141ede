// Rewriting: builds a new graph next to the old one, then replaces the old one by it. Pruning and
// the numbers of block positions are here too.
#include "ir/internal.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

Rewrite rewrite_begin(Graph *g)
{
    Rewrite r = {.from = g, .to = graph_new(g->arena, g->name)};

    r.map = arena_array(g->arena, ValueId, g->n_values);
    r.to->training = g->training;
    r.to->diag = g->diag;
    r.to->budget = g->budget;
    for (int i = 1; i < g->n_classes; i++)
        *arena_push(g->arena, r.to->classes, r.to->n_classes, r.to->cap_classes) = g->classes[i];
    for (ValueId v = 1; v < g->n_values; v++) {
        const Value *x = value_of(g, v);
        if (x->producer)
            continue;
        r.map[v] = graph_value(r.to, x->kind, x->name, x->dtype, x->rank, x->dim);
        *value_edit(r.to, r.map[v]) = *x;
    }
    return r;
}

void rewrite_at(Rewrite *r, NodeId n)
{
    const Node *old = &r->from->nodes[n];

    r->to->phase = old->phase;
    r->to->block = old->block;
    r->to->source = old->source;
}

// Gives the new value `v` the name and own shape of `old` if it has none.
static void inherit(const Value *old, Value *v)
{
    if (!v->name)
        v->name = old->name;
    if (v->own_rank < 0 && old->own_rank >= 0) {
        v->own_rank = old->own_rank;
        memcpy(v->own_dim, old->own_dim, sizeof v->own_dim);
    }
}

void rewrite_put(Rewrite *r, ValueId old, ValueId v)
{
    r->map[old] = v;
    inherit(value_of(r->from, old), value_edit(r->to, v));
}

NodeId rewrite_copy(Rewrite *r, NodeId n, Diag *d)
{
    const Node *old = &r->from->nodes[n];
    Diag *listener = r->to->diag;
    Arena *scratch = arena_new();
    ValueId *inputs = arena_array(scratch, ValueId, old->n_in);

    for (int i = 0; i < old->n_in; i++)
        inputs[i] = r->map[old->in[i]];
    rewrite_at(r, n);
    r->to->diag = d;
    ValueId first = graph_node(r->to, old->op, old->n_in, inputs, old->attr);
    r->to->diag = listener;
    arena_free(scratch);
    if (!first)
        return 0;
    for (int i = 0; i < old->n_out; i++)
        rewrite_put(r, old->out[i], graph_output_of(r->to, first, i));
    return value_of(r->to, first)->producer;
}

// Puts outputs and carries of the old graph before those that the pass made. False if one of their
// values has no new value, which happens only after an error.
static bool translate_ends(Rewrite *r)
{
    Graph *from = r->from, *to = r->to, made = *to;
    bool whole = true;

    to->outputs = NULL;
    to->carries = NULL;
    to->n_outputs = to->cap_outputs = to->n_carries = to->cap_carries = 0;
    for (int i = 0; i < from->n_outputs; i++) {
        const Output *o = &from->outputs[i];
        graph_output_like(to, o, r->map[o->value]);
        whole &= r->map[o->value] != 0;
    }
    for (int i = 0; i < from->n_carries; i++) {
        const Carry *c = &from->carries[i];
        graph_carry(to, r->map[c->in], r->map[c->out], c->scope);
        whole &= r->map[c->in] && r->map[c->out];
    }
    for (int i = 0; i < made.n_outputs; i++)
        graph_output_like(to, &made.outputs[i], made.outputs[i].value);
    for (int i = 0; i < made.n_carries; i++)
        graph_carry(to, made.carries[i].in, made.carries[i].out, made.carries[i].scope);
    return whole;
}

bool rewrite_end(Rewrite *r, Diag *d)
{
    Graph *g = r->from, *to = r->to;
    bool whole = translate_ends(r);

    arena_drop(g->arena, r->map, (size_t)g->n_values, sizeof *r->map);
    if (d && d->errors)
        return false;
    assert(whole);
    if (!whole)
        return false;
    arena_drop(g->arena, g->values, (size_t)g->cap_values, sizeof *g->values);
    arena_drop(g->arena, g->nodes, (size_t)g->cap_nodes, sizeof *g->nodes);
    *g = *to;
    g->phase = FORWARD;
    g->block = (Block){0};
    g->source = NULL;
    graph_prune(g);
    return true;
}

// ---- pruning ----

bool *graph_needed(Arena *a, const Graph *g)
{
    bool *needed = arena_array(a, bool, g->n_values);

    for (int i = 0; i < g->n_outputs; i++)
        needed[g->outputs[i].value] = true;
    for (int i = 0; i < g->n_carries; i++)
        needed[g->carries[i].in] = needed[g->carries[i].out] = true;
    for (NodeId i = g->n_nodes - 1; i > 0; i--) {
        const Node *n = &g->nodes[i];
        bool live = false;
        for (int j = 0; j < n->n_out; j++)
            live |= needed[n->out[j]];
        for (int j = 0; live && j < n->n_out; j++)
            needed[n->out[j]] = true;
        for (int j = 0; live && j < n->n_in; j++)
            needed[n->in[j]] = true;
    }
    return needed;
}

static void renumber(Graph *g, const ValueId *value, const NodeId *node)
{
    for (ValueId v = 1; v < g->n_values; v++)
        g->values[v].producer = node[g->values[v].producer];
    for (NodeId i = 1; i < g->n_nodes; i++) {
        Node *n = &g->nodes[i];
        for (int j = 0; j < n->n_in; j++)
            n->in[j] = value[n->in[j]];
        for (int j = 0; j < n->n_out; j++)
            n->out[j] = value[n->out[j]];
    }
    for (int i = 0; i < g->n_outputs; i++)
        g->outputs[i].value = value[g->outputs[i].value];
    for (int i = 0; i < g->n_carries; i++) {
        g->carries[i].in = value[g->carries[i].in];
        g->carries[i].out = value[g->carries[i].out];
    }
}

void graph_prune(Graph *g)
{
    Arena *a = arena_new();
    bool *needed = graph_needed(a, g);
    ValueId *value = arena_array(a, ValueId, g->n_values);
    NodeId *node = arena_array(a, NodeId, g->n_nodes);
    int n_values = 1, n_nodes = 1;

    for (ValueId v = 1; v < g->n_values; v++) {
        const Value *x = value_of(g, v);
        bool is_source = !x->producer && x->kind != VALUE_CONSTANT;
        if (!needed[v] && !is_source)
            continue;
        value[v] = n_values;
        g->values[n_values++] = *x;
    }
    for (NodeId i = 1; i < g->n_nodes; i++) {
        if (!needed[g->nodes[i].out[0]])
            continue;
        node[i] = n_nodes;
        g->nodes[n_nodes++] = g->nodes[i];
    }
    g->n_values = n_values;
    g->n_nodes = n_nodes;
    renumber(g, value, node);
    arena_free(a);
}

// ---- blocks ----

// The next positions of a node and of a value, by iteration of all classes.
typedef struct Numbering {
    Graph *g;
    int32_t *first;  // by class: its first iteration
    int32_t *next_node, *next_value;
    bool *is_done;  // by ValueId
} Numbering;

static void number_value(Numbering *x, ValueId v)
{
    Block *b = &value_edit(x->g, v)->block;

    b->pos = x->next_value[x->first[b->cls] + b->iter]++;
    x->is_done[v] = true;
}

static void number_node(Numbering *x, Node *n)
{
    if (!n->block.cls)
        return;
    n->block.pos = x->next_node[x->first[n->block.cls] + n->block.iter]++;
    for (int i = 0; i < n->n_in; i++) {
        const Value *v = in(x->g, n, i);
        bool is_own = v->block.cls == n->block.cls && v->block.iter == n->block.iter;
        if (!v->producer && is_own && !x->is_done[n->in[i]])
            number_value(x, n->in[i]);
    }
}

static int by_position(const void *a, const void *b)
{
    const int32_t *x = a, *y = b;

    return x[0] != y[0] ? (x[0] > y[0]) - (x[0] < y[0]) : (x[1] > y[1]) - (x[1] < y[1]);
}

// Numbers the values that no node of their iteration reads as they were numbered. A state comes
// after its parameter, whose position it was given.
static void number_rest(Arena *a, Numbering *x)
{
    int32_t(*rest)[2] = arena_alloc(a, (size_t)x->g->n_values, sizeof *rest);
    int n = 0;

    for (ValueId v = 1; v < x->g->n_values; v++) {
        const Value *y = value_of(x->g, v);
        if (y->producer || !y->block.cls || x->is_done[v])
            continue;
        rest[n][0] = y->block.pos;
        rest[n++][1] = v;
    }
    qsort(rest, (size_t)n, sizeof *rest, by_position);
    for (int i = 0; i < n; i++)
        number_value(x, rest[i][1]);
}

void graph_number_blocks(Graph *g)
{
    Arena *a = arena_new();
    Numbering x = {.g = g, .first = arena_array(a, int32_t, g->n_classes)};
    int32_t total = 0;

    for (int c = 1; c < g->n_classes; c++) {
        x.first[c] = total;
        total += g->classes[c].length;
    }
    x.next_node = arena_array(a, int32_t, total);
    x.next_value = arena_array(a, int32_t, total);
    x.is_done = arena_array(a, bool, g->n_values);
    for (NodeId i = 1; i < g->n_nodes; i++)
        number_node(&x, &g->nodes[i]);
    number_rest(a, &x);
    arena_free(a);
}

void graph_write_out(Graph *g, int32_t cls)
{
    for (NodeId n = 1; n < g->n_nodes; n++)
        if (g->nodes[n].block.cls == cls)
            g->nodes[n].block = (Block){0};
    for (ValueId v = 1; v < g->n_values; v++)
        if (value_of(g, v)->block.cls == cls)
            value_edit(g, v)->block = (Block){0};
}
