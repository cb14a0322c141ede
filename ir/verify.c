// Verifies the invariants of a graph.
#include "ir/internal.h"

#include <string.h>

static bool bad_value(const Graph *g, ValueId v, Diag *d, const char *what)
{
    diag_error(d, "value '%s' %s", value_label(g->arena, g, v), what);
    return false;
}

static bool check_block(const Graph *g, Block b)
{
    if (!b.cls)
        return true;
    return b.cls > 0 && b.cls < g->n_classes && b.iter >= 0 && b.iter < g->classes[b.cls].length &&
           b.pos >= 0 && b.again >= 0;
}

// ---- values ----

static bool check_producer(const Graph *g, ValueId v)
{
    const Value *x = value_of(g, v);

    if ((x->kind == VALUE_ACTIVATION) != (x->producer != 0))
        return false;
    if (!x->producer)
        return true;
    if (x->producer < 0 || x->producer >= g->n_nodes)
        return false;
    const Node *n = &g->nodes[x->producer];
    for (int i = 0; i < n->n_out; i++) {
        if (n->out[i] == v)
            return true;
    }
    return false;
}

static bool must_have_name(ValueKind k)
{
    return k == VALUE_INPUT || k == VALUE_PARAMETER || k == VALUE_BUFFER || k == VALUE_STATE;
}

static bool check_own_shape(const Value *x)
{
    Value own = {.rank = x->own_rank};

    if (x->own_rank < 0)
        return true;
    if (shape_problem(x->own_rank, x->own_dim))
        return false;
    memcpy(own.dim, x->own_dim, sizeof own.dim);
    return value_count(&own) == value_count(x);
}

static bool check_value(const Graph *g, ValueId v, Diag *d)
{
    const Value *x = value_of(g, v);

    if (x->dtype <= DT_NONE || x->dtype >= N_DTYPES || shape_problem(x->rank, x->dim))
        return bad_value(g, v, d, "has no valid type");
    if (!check_producer(g, v))
        return bad_value(g, v, d, "and its producer disagree");
    if (must_have_name(x->kind) && !x->name)
        return bad_value(g, v, d, "has no name");
    if ((x->kind == VALUE_PARAMETER || x->kind == VALUE_BUFFER) && !strcmp(x->name, "__metadata__"))
        return bad_value(g, v, d, "has a name that no tensor of a safetensors file may have");
    if (x->kind == VALUE_HYPER && x->rank)
        return bad_value(g, v, d, "is a hyper-parameter but no scalar");
    if (x->kind == VALUE_CONSTANT && (!x->data || value_bytes(x) > MAX_CONSTANT_BYTES))
        return bad_value(g, v, d, "is a constant without data or larger than 1 MiB");
    if (!check_own_shape(x))
        return bad_value(g, v, d, "has own dims of another size");
    if (!check_block(g, x->block))
        return bad_value(g, v, d, "is in a block that doesn't exist");
    return true;
}

static bool check_names(const Graph *g, Diag *d)
{
    Map seen = {.arena = arena_new()};
    int errors = d->errors;

    for (ValueId v = 1; v < g->n_values; v++) {
        const Value *x = value_of(g, v);
        if (!must_have_name(x->kind))
            continue;
        if (map_get(&seen, x->name))
            bad_value(g, v, d, "has the name of another one");
        map_set(&seen, x->name, v);
    }
    arena_free(seen.arena);
    return d->errors == errors;
}

// ---- nodes ----

static bool check_inputs(const Graph *g, NodeId id, Diag *d)
{
    const Node *n = &g->nodes[id];

    if (!n->op || !check_block(g, n->block) || n->n_out < 1 || n->n_out > MAX_OUTPUTS) {
        diag_error(d, "node %d is malformed", (int)id);
        return false;
    }
    for (int i = 0; i < n->n_in; i++) {
        if (n->in[i] < 0 || n->in[i] >= g->n_values) {
            diag_error(d, "node %d has an input that doesn't exist", (int)id);
            return false;
        }
        if (!n->in[i] && !input_is_optional(n->op, i))
            return node_error(g, n, d, "input %d is missing", i);
        if (in(g, n, i)->producer >= id)
            return node_error(g, n, d, "input %d is computed later", i);
        if (producer(g, n->in[i])->phase > n->phase)
            return node_error(g, n, d, "input %d is of a later phase", i);
    }
    return true;
}

static bool check_outputs_of(const Graph *g, NodeId id, Diag *d)
{
    const Node *n = &g->nodes[id];

    for (int i = 0; i < n->n_out; i++) {
        if (n->out[i] <= 0 || n->out[i] >= g->n_values || value_of(g, n->out[i])->producer != id) {
            diag_error(d, "node %d has a result that isn't its own", (int)id);
            return false;
        }
    }
    return true;
}

// Infers the node's types again, on copies of its values in the graph `small`, and compares them.
static bool check_types(const Graph *g, const Node *n, Graph *small, Diag *d)
{
    Node copy = *n;

    copy.in = arena_array(small->arena, ValueId, n->n_in);
    small->n_values = 1;
    for (int i = 0; i < n->n_in; i++) {
        if (!n->in[i])
            continue;
        copy.in[i] = small->n_values;
        *arena_push(small->arena, small->values, small->n_values, small->cap_values) = *in(g, n, i);
    }
    for (int i = 0; i < n->n_out; i++) {
        const Value *x = value_of(g, n->out[i]);
        copy.out[i] = small->n_values;
        *arena_push(small->arena, small->values, small->n_values, small->cap_values) =
            (Value){.name = x->name, .own_rank = -1};
    }
    if (!n->op->infer(small, &copy, d))
        return false;
    for (int i = 0; i < n->n_out; i++) {
        const Value *x = value_of(g, n->out[i]), *y = value_of(small, copy.out[i]);
        if (!same_type(x, y))
            return node_error(g, n, d, "result %d is %s, not %s", i, type_text(g->arena, y),
                              type_text(g->arena, x));
    }
    return true;
}

static bool check_nodes(const Graph *g, Diag *d)
{
    Arena *a = arena_new();
    Graph *small = graph_new(a, g->name);
    int errors = d->errors;

    small->diag = d;
    for (NodeId i = 1; i < g->n_nodes; i++) {
        if (check_inputs(g, i, d) && check_outputs_of(g, i, d))
            check_types(g, &g->nodes[i], small, d);
    }
    arena_free(a);
    return d->errors == errors;
}

// ---- outputs and carries ----

static bool check_output(const Graph *g, const Output *o, Diag *d)
{
    static const DType scalar[] = {
        [OUTPUT_LOSS_SUM] = F32,    [OUTPUT_LOSS_COUNT] = F32, [OUTPUT_GRAD_NORM] = F32,
        [OUTPUT_BAD_LABEL] = I64,   [OUTPUT_BAD_INDEX] = I64,  [OUTPUT_BAD_SIZES] = I64,
        [OUTPUT_LOSS_FACTOR] = F32, [OUTPUT_LOSS_SCALE] = F32};

    if (o->value <= 0 || o->value >= g->n_values) {
        diag_error(d, "output '%s' has no value", o->name ? o->name : "");
        return false;
    }
    const Value *x = value_of(g, o->value);
    if (scalar[o->role] && (x->rank || x->dtype != scalar[o->role])) {
        diag_error(d, "output '%s' is %s, not %s[]", o->name ? o->name : "", type_text(g->arena, x),
                   dtype_name(scalar[o->role]));
        return false;
    }
    return true;
}

static bool bad_carry(const Graph *g, const Carry *c, Diag *d, const char *what)
{
    diag_error(d, "carry of '%s' to '%s' %s", value_label(g->arena, g, c->out),
               value_label(g->arena, g, c->in), what);
    return false;
}

static bool check_carry(const Graph *g, const Carry *c, const NodeId *last_reader, Diag *d)
{
    const Value *from = value_of(g, c->in), *to = value_of(g, c->out);

    if (from->producer || from->kind == VALUE_CONSTANT || from->kind == VALUE_HYPER ||
        from->kind == VALUE_INPUT)
        return bad_carry(g, c, d, "writes a value that isn't kept");
    if (!same_type(from, to))
        return bad_carry(g, c, d, "changes the type");
    if (to->producer && last_reader[c->in] > to->producer)
        return bad_carry(g, c, d, "comes before the old value's last use");
    return true;
}

static bool check_carries(const Graph *g, Diag *d)
{
    Arena *a = arena_new();
    NodeId *last_reader = arena_array(a, NodeId, g->n_values);
    bool *written = arena_array(a, bool, g->n_values);
    int errors = d->errors;

    for (NodeId i = 1; i < g->n_nodes; i++) {
        for (int j = 0; j < g->nodes[i].n_in; j++)
            last_reader[g->nodes[i].in[j]] = i;
    }
    for (int i = 0; i < g->n_carries; i++) {
        const Carry *c = &g->carries[i];
        if (c->in <= 0 || c->in >= g->n_values || c->out <= 0 || c->out >= g->n_values) {
            diag_error(d, "a carry has no value");
            continue;
        }
        if (written[c->in])
            bad_carry(g, c, d, "is the second one");
        written[c->in] = true;
        check_carry(g, c, last_reader, d);
    }
    arena_free(a);
    return d->errors == errors;
}

static bool check_classes(const Graph *g, Diag *d)
{
    int errors = d->errors;

    for (int32_t c = 1; c < g->n_classes; c++) {
        Text why = {0};
        if (!block_check(g, c, &why))
            diag_error(d, "class %d '%s': %s", (int)c, g->classes[c].name ? g->classes[c].name : "",
                       why.s);
        text_free(&why);
    }
    return d->errors == errors;
}

static bool check_labels(const Graph *g, Diag *d)
{
    int n = 0;

    for (ValueId v = 1; v < g->n_values; v++)
        n += value_of(g, v)->is_labels;
    if (n > 1)
        diag_error(d, "%d inputs are labels, but a loss has one", n);
    return n <= 1;
}

bool graph_verify(const Graph *g, Diag *d)
{
    int errors = d->errors;

    for (ValueId v = 1; v < g->n_values; v++)
        check_value(g, v, d);
    if (d->errors > errors || !check_nodes(g, d))
        return false;
    bool ok = check_names(g, d) & check_labels(g, d);
    for (int i = 0; i < g->n_outputs; i++)
        ok &= check_output(g, &g->outputs[i], d);
    return check_carries(g, d) & ok && check_classes(g, d);
}
