// Checks that the iterations of a block class are isomorphic.
//
// Node k of every iteration must have the same operator, attributes and types. Each of its inputs
// must be, in every iteration, the value at one position of the same iteration or of the adjacent
// one, or one value for all iterations. If a carry writes its output over a value, then in every
// iteration, and over the value at one position of the same iteration.
#include "ir/internal.h"

#include <string.h>

typedef struct Iterations {
    const Graph *g;
    int32_t cls, length;
    int n_nodes, n_values;  // of one iteration
    NodeId *node;           // [iteration * n_nodes + position]
    ValueId *value;         // the same for values without a producer
    Arena *arena;
    Text *why;
} Iterations;

static bool differs(const Iterations *it, int32_t iter, NodeId n, const char *what)
{
    text_printf(it->why, "iteration %d, position %d (%s): %s", (int)iter,
                (int)it->g->nodes[n].block.pos, it->g->nodes[n].op->name, what);
    return false;
}

// ---- the nodes and values of an iteration ----

static bool count_nodes(Iterations *it, int32_t *count)
{
    const Graph *g = it->g;

    for (NodeId i = 1; i < g->n_nodes; i++) {
        Block b = g->nodes[i].block;
        if (b.cls != it->cls)
            continue;
        if (b.pos != count[b.iter])
            return differs(it, b.iter, i, "is out of order");
        count[b.iter]++;
    }
    it->n_nodes = count[0];
    for (int32_t k = 0; k < it->length; k++) {
        if (count[k] == it->n_nodes && it->n_nodes)
            continue;
        text_printf(it->why, "iteration %d has %d nodes, iteration 0 has %d", (int)k, (int)count[k],
                    it->n_nodes);
        return false;
    }
    return true;
}

static bool count_values(Iterations *it, int32_t *count)
{
    const Graph *g = it->g;

    for (ValueId v = 1; v < g->n_values; v++) {
        if (!g->values[v].producer && g->values[v].block.cls == it->cls)
            count[g->values[v].block.iter]++;
    }
    it->n_values = count[0];
    for (int32_t k = 0; k < it->length; k++) {
        if (count[k] == it->n_values)
            continue;
        text_printf(it->why, "iteration %d has %d values of its own, iteration 0 has %d", (int)k,
                    (int)count[k], it->n_values);
        return false;
    }
    return true;
}

// The counts of all iterations are equal, so each position is filled once unless one is wrong.
static bool fill_positions(Iterations *it)
{
    const Graph *g = it->g;

    for (ValueId v = 1; v < g->n_values; v++) {
        Block b = g->values[v].block;
        if (g->values[v].producer || b.cls != it->cls)
            continue;
        ValueId *at = &it->value[b.iter * it->n_values + b.pos];
        if (b.pos >= it->n_values || *at) {
            text_printf(it->why, "value '%s' has position %d, which %s",
                        value_label(it->arena, g, v), (int)b.pos,
                        b.pos < it->n_values ? "another one has" : "is too large");
            return false;
        }
        *at = v;
    }
    return true;
}

static bool collect(Iterations *it)
{
    const Graph *g = it->g;
    int32_t *count;

    if (it->length > g->n_nodes) {  // the check is before arrays of that size
        text_printf(it->why, "it has %d iterations but fewer nodes", (int)it->length);
        return false;
    }
    count = arena_array(it->arena, int32_t, it->length);
    if (!count_nodes(it, count))
        return false;
    it->node = arena_array(it->arena, NodeId, (size_t)it->length * (size_t)it->n_nodes);
    for (NodeId i = 1; i < g->n_nodes; i++) {
        Block b = g->nodes[i].block;
        if (b.cls == it->cls)
            it->node[b.iter * it->n_nodes + b.pos] = i;
    }
    if (!count_values(it, arena_array(it->arena, int32_t, it->length)))
        return false;
    it->value = arena_array(it->arena, ValueId, (size_t)it->length * (size_t)it->n_values);
    return fill_positions(it);
}

// ---- values of one iteration ----

static bool same_own_shape(const Value *a, const Value *b)
{
    if (a->own_rank != b->own_rank)
        return false;
    return a->own_rank < 0 ||
           !memcmp(a->own_dim, b->own_dim, (size_t)a->own_rank * sizeof *a->own_dim);
}

static bool check_values(const Iterations *it)
{
    for (int i = it->n_values; i < it->n_values * it->length; i++) {
        const Value *v = value_of(it->g, it->value[i]);
        const Value *first = value_of(it->g, it->value[i % it->n_values]);
        bool same_fill = !memcmp(&v->fill, &first->fill, sizeof v->fill);
        if (v->kind == first->kind && same_type(v, first) && same_own_shape(v, first) && same_fill)
            continue;
        text_printf(it->why, "value '%s' differs from '%s' in kind, type or fill",
                    value_label(it->arena, it->g, it->value[i]),
                    value_label(it->arena, it->g, it->value[i % it->n_values]));
        return false;
    }
    return true;
}

// ---- attributes ----

// Is x = first + k * (second - first)? Unsigned, because untrusted numbers may overflow.
static bool is_affine(int64_t x, int64_t first, int64_t second, int32_t k)
{
    uint64_t step = (uint64_t)second - (uint64_t)first;

    return (uint64_t)x == (uint64_t)first + step * (uint64_t)k;
}

static bool same_text(const char *a, const char *b) { return a == b || (a && b && !strcmp(a, b)); }

// Does attribute `a` of iteration k continue `first` and `second`, those of iterations 0 and 1?
static bool same_attr(const AttrDef *def, const Attr *a, const Attr *first, const Attr *second,
                      int32_t k)
{
    if (def->type == ATTR_TEXT)
        return same_text(a->s, first->s);
    if (def->type == ATTR_FLOAT)
        return !memcmp(&a->f, &first->f, sizeof a->f);
    if (!def->is_affine)
        second = first;
    if (def->type == ATTR_INT)
        return is_affine(a->i, first->i, second->i, k);
    if (a->n != first->n || a->n != second->n)
        return false;
    for (int i = 0; i < a->n; i++) {
        if (!is_affine(a->v[i], first->v[i], second->v[i], k))
            return false;
    }
    return true;
}

// ---- nodes ----

static bool check_node(const Iterations *it, int pos, int32_t k)
{
    const Graph *g = it->g;
    NodeId id = it->node[k * it->n_nodes + pos];
    const Node *n = &g->nodes[id], *first = &g->nodes[it->node[pos]];
    const Node *second = &g->nodes[it->node[(it->length > 1) * it->n_nodes + pos]];

    if (n->op != first->op || n->phase != first->phase || n->block.again != first->block.again ||
        n->n_in != first->n_in)
        return differs(it, k, id, "another operator, phase or number of inputs than iteration 0");
    for (int i = 0; i < MAX_ATTRS && n->op->attrs[i].name; i++) {
        if (!same_attr(&n->op->attrs[i], &n->attr[i], &first->attr[i], &second->attr[i], k))
            return differs(it, k, id, "other attributes than iteration 0");
    }
    for (int i = 0; i < n->n_out; i++) {
        if (!same_type(value_of(g, n->out[i]), value_of(g, first->out[i])))
            return differs(it, k, id, "another type than iteration 0");
    }
    for (int i = 0; i < n->n_in; i++) {
        if (!n->in[i] != !first->in[i] || !same_type(in(g, n, i), in(g, first, i)))
            return differs(it, k, id, "inputs of other types than iteration 0");
    }
    return true;
}

// ---- the origins of inputs ----

typedef struct Origin {
    bool inside;       // the value belongs to the class
    int32_t delta;     // inside: its iteration minus the reader's
    int32_t pos, out;  // inside: its position and which output it is; out -1: it has no producer
    ValueId value;     // if it is outside
} Origin;

static Origin origin_of(const Iterations *it, int pos, int input, int32_t k)
{
    const Graph *g = it->g;
    ValueId v = g->nodes[it->node[k * it->n_nodes + pos]].in[input];
    Block b = value_block(g, v);
    Origin o = {.value = v};

    if (!v || b.cls != it->cls)
        return o;
    o = (Origin){.inside = true, .delta = b.iter - k, .pos = b.pos, .out = -1};
    const Node *n = producer(g, v);
    for (int i = 0; i < n->n_out; i++) {
        if (n->out[i] == v)
            o.out = i;
    }
    return o;
}

static bool same_origin(const Origin *a, const Origin *b)
{
    return a->inside == b->inside && a->delta == b->delta && a->pos == b->pos && a->out == b->out &&
           a->value == b->value;
}

static bool check_origin(const Iterations *it, int pos, int input)
{
    Origin first = origin_of(it, pos, input, 0), second = origin_of(it, pos, input, 1);
    int32_t begin = 0, end = it->length, boundary = -1;
    Origin wanted = first;

    // In a chain each iteration reads a value of the one before, or each of the one after. The
    // iteration at the chain's begin reads a value from outside instead.
    if (second.inside && second.delta == -1) {
        wanted = second;
        begin = 1;
        boundary = 0;
    } else if (first.inside && first.delta == 1) {
        end = it->length - 1;
        boundary = end;
    } else if (first.inside && first.delta != 0) {
        return differs(it, 0, it->node[pos], "it reads an iteration that isn't adjacent");
    }
    for (int32_t k = begin; k < end; k++) {
        Origin o = origin_of(it, pos, input, k);
        if (!same_origin(&o, &wanted))
            return differs(it, k, it->node[k * it->n_nodes + pos],
                           "an input has another source than in the other iterations");
    }
    if (boundary >= 0 && origin_of(it, pos, input, boundary).inside)
        return differs(it, boundary, it->node[boundary * it->n_nodes + pos],
                       "the chain begins inside the block");
    return true;
}

// ---- carries ----

static int output_index(const Node *n, ValueId v)
{
    int i = 0;

    while (n->out[i] != v)
        i++;
    return i;
}

static bool check_carries(const Iterations *it)
{
    const Graph *g = it->g;
    int n_outputs = it->n_nodes * MAX_OUTPUTS;
    int32_t *count = arena_array(it->arena, int32_t, n_outputs);
    int32_t *pos = arena_array(it->arena, int32_t, n_outputs);

    for (int i = 0; i < g->n_carries; i++) {
        Block from = value_block(g, g->carries[i].out), to = value_block(g, g->carries[i].in);
        NodeId n = value_of(g, g->carries[i].out)->producer;
        if (from.cls != it->cls || !n)
            continue;
        int output = from.pos * MAX_OUTPUTS + output_index(&g->nodes[n], g->carries[i].out);
        if (!is_same_block(from, to) || (count[output] && pos[output] != to.pos))
            return differs(it, from.iter, n, "a carry writes over a value of another position");
        count[output]++;
        pos[output] = to.pos;
    }
    for (int i = 0; i < n_outputs; i++)
        if (count[i] && count[i] != it->length)
            return differs(it, 0, it->node[i / MAX_OUTPUTS], "not every iteration has its carry");
    return true;
}

static bool check_all(Iterations *it)
{
    if (!collect(it) || !check_values(it) || !check_carries(it))
        return false;
    for (int pos = 0; pos < it->n_nodes; pos++) {
        for (int32_t k = 0; k < it->length; k++) {
            if (!check_node(it, pos, k))
                return false;
        }
        int n_in = it->g->nodes[it->node[pos]].n_in;
        for (int i = 0; i < n_in && it->length > 1; i++) {
            if (!check_origin(it, pos, i))
                return false;
        }
    }
    return true;
}

// Does any node or value have a label of the class? None has after graph_write_out.
static bool has_members(const Graph *g, int32_t cls)
{
    for (NodeId i = 1; i < g->n_nodes; i++)
        if (g->nodes[i].block.cls == cls)
            return true;
    for (ValueId v = 1; v < g->n_values; v++)
        if (value_of(g, v)->block.cls == cls)
            return true;
    return false;
}

bool block_check(const Graph *g, int32_t cls, Text *why)
{
    if (!has_members(g, cls))
        return true;
    Iterations it = {
        .g = g, .cls = cls, .length = g->classes[cls].length, .arena = arena_new(), .why = why};
    bool ok = check_all(&it);

    arena_free(it.arena);
    return ok;
}
