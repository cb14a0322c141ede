// Makes graphs: only this file appends values and nodes.
#include "ir/internal.h"

#include <assert.h>
#include <string.h>

Graph *graph_new(Arena *a, const char *name)
{
    Graph *g = arena_array(a, Graph, 1);

    g->arena = a;
    g->name = name;
    *arena_push(a, g->values, g->n_values, g->cap_values) = (Value){.own_rank = -1};
    *arena_push(a, g->nodes, g->n_nodes, g->cap_nodes) = (Node){0};
    *arena_push(a, g->classes, g->n_classes, g->cap_classes) = (BlockClass){0};
    return g;
}

static void *copy_list(Arena *a, const void *list, int n, size_t size)
{
    void *copy = arena_alloc(a, (size_t)n, size);

    if (n)
        memcpy(copy, list, (size_t)n * size);
    return copy;
}

Graph *graph_clone(Arena *a, const Graph *g)
{
    Graph *clone = copy_list(a, g, 1, sizeof *g);

    clone->arena = a;
    clone->values = copy_list(a, g->values, g->n_values, sizeof *g->values);
    clone->nodes = copy_list(a, g->nodes, g->n_nodes, sizeof *g->nodes);
    clone->carries = copy_list(a, g->carries, g->n_carries, sizeof *g->carries);
    clone->outputs = copy_list(a, g->outputs, g->n_outputs, sizeof *g->outputs);
    clone->classes = copy_list(a, g->classes, g->n_classes, sizeof *g->classes);
    clone->cap_values = g->n_values;
    clone->cap_nodes = g->n_nodes;
    clone->cap_carries = g->n_carries;
    clone->cap_outputs = g->n_outputs;
    clone->cap_classes = g->n_classes;
    for (NodeId i = 1; i < g->n_nodes; i++) {
        Node *n = &clone->nodes[i];
        n->in = copy_list(a, n->in, n->n_in, sizeof *n->in);
    }
    return clone;
}

int *graph_count_uses(Arena *a, const Graph *g)
{
    int *uses = arena_array(a, int, g->n_values);

    for (NodeId i = 1; i < g->n_nodes; i++)
        for (int k = 0; k < g->nodes[i].n_in; k++)
            uses[g->nodes[i].in[k]]++;
    for (int i = 0; i < g->n_outputs; i++)
        uses[g->outputs[i].value]++;
    for (int i = 0; i < g->n_carries; i++)
        uses[g->carries[i].out]++;
    return uses;
}

bool *graph_learned(Arena *a, const Graph *g)
{
    bool *learned = arena_array(a, bool, g->n_values);

    for (ValueId v = 1; v < g->n_values; v++)
        learned[v] =
            value_of(g, v)->kind == VALUE_PARAMETER && dtype_is_float(value_of(g, v)->dtype);
    for (NodeId i = 1; i < g->n_nodes; i++) {
        const Node *n = &g->nodes[i];
        bool any = false;
        for (int k = 0; k < n->n_in; k++)
            any |= learned[n->in[k]];
        for (int k = 0; k < n->n_out; k++)
            learned[n->out[k]] =
                any && !n->op->is_flat && dtype_is_float(value_of(g, n->out[k])->dtype);
    }
    return learned;
}

static ValueId append_value(Graph *g, Value v)
{
    *arena_push(g->arena, g->values, g->n_values, g->cap_values) = v;
    return g->n_values - 1;
}

ValueId graph_value(Graph *g, ValueKind kind, const char *name, DType t, int rank,
                    const int64_t *dim)
{
    Value v = {.name = name, .dtype = t, .rank = rank, .kind = kind, .own_rank = -1};
    const char *problem = shape_problem(rank, dim);

    if (problem) {
        diag_error(g->diag, "value '%s': %s", name ? name : "", problem);
        return 0;
    }
    if (rank)
        memcpy(v.dim, dim, (size_t)rank * sizeof *dim);
    return append_value(g, v);
}

bool input_is_optional(const OpDef *op, int i)
{
    int first = op->optional_at ? op->optional_at : op->n_in - op->n_optional;

    return op->n_optional && i >= first && i < first + op->n_optional;
}

// How many inputs the node gets; optional inputs at the end may be left out.
static int count_inputs(const OpDef *op, int n)
{
    int count = n;

    while (count < op->n_in && input_is_optional(op, count))
        count++;
    return count == op->n_in ? count : n;
}

static void copy_attrs(Graph *g, Node *n, const Attr *attr)
{
    for (int i = 0; attr && i < MAX_ATTRS && n->op->attrs[i].name; i++) {
        Attr *a = &n->attr[i];
        *a = attr[i];
        if (n->op->attrs[i].type == ATTR_INTS) {
            int64_t *v = arena_array(g->arena, int64_t, a->n);
            if (a->n)
                memcpy(v, attr[i].v, (size_t)a->n * sizeof *v);
            a->v = v;
        } else if (n->op->attrs[i].type == ATTR_TEXT && a->s) {
            a->s = arena_copy(g->arena, a->s, strlen(a->s));
        }
    }
}

static bool check_input_count(const Graph *g, const Node *n)
{
    int need = n->op->n_in;

    if (n->n_in > MAX_INPUTS)
        return node_error(g, n, g->diag, "has more than %d inputs", MAX_INPUTS);
    if (need >= 0 && n->n_in != need)
        return node_error(g, n, g->diag, "takes %d inputs, not %d", need, n->n_in);
    if (need < 0 && n->n_in < -need)
        return node_error(g, n, g->diag, "takes at least %d inputs, not %d", -need, n->n_in);
    return true;
}

ValueId graph_node(Graph *g, const OpDef *op, int n_in, const ValueId *inputs, const Attr *attr)
{
    int values = g->n_values;

    for (int i = 0; i < n_in; i++) {
        assert(inputs[i] >= 0 && inputs[i] < g->n_values);
        if (!inputs[i] && !input_is_optional(op, i))
            return 0;
    }
    Node *n = arena_push(g->arena, g->nodes, g->n_nodes, g->cap_nodes);
    *n = (Node){.op = op,
                .n_in = count_inputs(op, n_in),
                .n_out = op->n_out ? op->n_out : 1,
                .phase = g->phase,
                .block = g->block,
                .source = g->source};
    n->in = arena_array(g->arena, ValueId, n->n_in);
    if (n_in)
        memcpy(n->in, inputs, (size_t)n_in * sizeof *inputs);
    copy_attrs(g, n, attr);
    for (int i = 0; i < n->n_out; i++)
        n->out[i] = append_value(g, (Value){.producer = g->n_nodes - 1, .own_rank = -1});
    if (check_input_count(g, n) && op->infer(g, n, g->diag))
        return n->out[0];
    g->n_nodes--;
    g->n_values = values;
    return 0;
}

ValueId graph_output_of(const Graph *g, ValueId v, int i) { return v ? producer(g, v)->out[i] : 0; }

const Source *graph_source(Graph *g, const char *name, const char *scope)
{
    Source *s = arena_array(g->arena, Source, 1);

    *s = (Source){name ? name : "", scope ? scope : ""};
    return s;
}

void graph_carry(Graph *g, ValueId from, ValueId to, Scope scope)
{
    *arena_push(g->arena, g->carries, g->n_carries, g->cap_carries) = (Carry){from, to, scope};
}

void graph_output(Graph *g, const char *name, ValueId v, OutputRole role)
{
    *arena_push(g->arena, g->outputs, g->n_outputs, g->cap_outputs) = (Output){name, v, role, 0};
}

void graph_output_like(Graph *g, const Output *like, ValueId v)
{
    *arena_push(g->arena, g->outputs, g->n_outputs, g->cap_outputs) =
        (Output){like->name, v, like->role, like->ignored, like->bound};
}

ValueId output_of_role(const Graph *g, OutputRole role)
{
    for (int i = 0; i < g->n_outputs; i++)
        if (g->outputs[i].role == role)
            return g->outputs[i].value;
    return 0;
}

ValueId graph_constant(Graph *g, DType t, int rank, const int64_t *dim, const void *data)
{
    ValueId v = graph_value(g, VALUE_CONSTANT, NULL, t, rank, dim);

    if (v)
        value_edit(g, v)->data = data;
    return v;
}

ValueId graph_scalar(Graph *g, DType t, double x)
{
    Tensor one = tensor_new(g->arena, t, 0, NULL);

    if (one.f)
        one.f[0] = x;
    else
        one.i[0] = int_of_float(t, x);
    tensor_round(&one);
    return graph_constant(g, t, 0, NULL, tensor_pack(g->arena, &one));
}

bool node_error(const Graph *g, const Node *n, Diag *d, const char *fmt, ...)
{
    enum { MAX_SHOWN = 8 };
    va_list args;

    if (!d)
        return false;
    va_start(args, fmt);
    const char *text = arena_vstring(g->arena, fmt, args);
    va_end(args);
    const char *name = n->source && n->source->name ? n->source->name : NULL;
    if (!name)
        name = value_label(g->arena, g, n->out[0]);
    diag_error(d, "node '%s' (%s): %s", name, n->op->name, text);
    for (int i = 0; i < n->n_in && i < MAX_SHOWN; i++) {
        if (n->in[i])
            diag_note(d, "in %d  %s %s", i, value_label(g->arena, g, n->in[i]),
                      type_text(g->arena, in(g, n, i)));
    }
    if (n->source && n->source->scope && n->source->scope[0])
        diag_note(d, "from  %s", n->source->scope);
    return false;
}
