// Lists the tensors that the trainer knows by name: those that outlive a step, of both sets, and
// the inputs and outputs of each. The layers of a repeated block are one entry.
#include <string.h>

#include "lower/internal.h"

const char *const tensor_role_names[] = {
    [RT_PARAMETER] = "parameter",   [RT_BUFFER] = "buffer",
    [RT_STATE] = "state",           [RT_ZERO] = "zero",
    [RT_HYPER] = "hyper",           [RT_CONSTANT] = "constant",
    [RT_INPUT] = "input",           [RT_OUTPUT] = "output",
    [RT_GRADIENT] = "gradient",     [RT_LOSS_SUM] = "loss_sum",
    [RT_LOSS_COUNT] = "loss_count", [RT_GRAD_NORM] = "grad_norm",
    [RT_LOSS_SCALE] = "loss_scale", [RT_BAD_LABEL] = "bad_label",
    [RT_BAD_INDEX] = "bad_index",   [RT_BAD_SIZES] = "bad_sizes"};

RtRole output_tensor_role(OutputRole r)
{
    static const RtRole roles[] = {
        [OUTPUT_MODEL] = RT_OUTPUT,          [OUTPUT_LOSS_SUM] = RT_LOSS_SUM,
        [OUTPUT_LOSS_COUNT] = RT_LOSS_COUNT, [OUTPUT_GRADIENT] = RT_GRADIENT,
        [OUTPUT_GRAD_NORM] = RT_GRAD_NORM,   [OUTPUT_BAD_LABEL] = RT_BAD_LABEL,
        [OUTPUT_BAD_INDEX] = RT_BAD_INDEX,   [OUTPUT_BAD_SIZES] = RT_BAD_SIZES,
        [OUTPUT_LOSS_SCALE] = RT_LOSS_SCALE,
    };
    return roles[r];
}

RtRole value_tensor_role(ValueKind k)
{
    static const RtRole roles[N_VALUE_KINDS] = {
        [VALUE_INPUT] = RT_INPUT,       [VALUE_HYPER] = RT_HYPER, [VALUE_PARAMETER] = RT_PARAMETER,
        [VALUE_BUFFER] = RT_BUFFER,     [VALUE_STATE] = RT_STATE, [VALUE_ZERO] = RT_ZERO,
        [VALUE_CONSTANT] = RT_CONSTANT,
    };
    return roles[k];
}

// Lists the tensors of one set.
typedef struct Lister {
    Program *p;
    int set;
    const Set *s;
    const Graph *g;
    Lowering l;  // for instances: only its graph, its table and its counts of gradients
    // Gradients that are one value: by ValueId 1 + the first output, by output 1 + the next one.
    int *first_output, *next_output;
    bool *is_listed;  // by output
} Lister;

static TensorEntry entry_new(const Lister *x, RtRole role, int n)
{
    return (TensorEntry){.role = role,
                         .set = x->set,
                         .n = n,
                         .value = arena_array(x->p->arena, ValueId, n),
                         .name = arena_array(x->p->arena, const char *, n)};
}

static void add_entry(const Lister *x, TensorTable *to, TensorEntry e)
{
    *arena_push(x->p->arena, to->entry, to->n, to->cap) = e;
}

static const char *name_of(const Value *v) { return v->name ? v->name : ""; }

// ---- tensors that outlive a step ----

static bool is_persistent(const Value *v)
{
    return !v->producer && v->kind != VALUE_ACTIVATION && v->kind != VALUE_INPUT;
}

// Constants have no names in the trainer: each set has its own.
static bool is_done(const Map *done, const Value *v)
{
    return v->kind != VALUE_CONSTANT && v->name && map_get(done, v->name);
}

// Are all layers of the value still to be listed? Else each is an entry of its own.
static bool is_whole(const Lister *x, ValueId v, const Map *done)
{
    int length = value_block(x->g, v).cls ? x->g->classes[value_block(x->g, v).cls].length : 1;

    for (int i = 0; i < length; i++)
        if (is_done(done, value_of(x->g, value_instance(&x->l, v, i))))
            return false;
    return length > 1;
}

static void list_value(const Lister *x, ValueId v, Map *done)
{
    const Value *first = value_of(x->g, v);
    bool has_layers = is_whole(x, v, done);
    int n = has_layers ? x->g->classes[first->block.cls].length : 1;
    TensorEntry e = entry_new(x, value_tensor_role(first->kind), n);

    for (int i = 0; i < n; i++) {
        e.value[i] = has_layers ? value_instance(&x->l, v, i) : v;
        e.name[i] = name_of(value_of(x->g, e.value[i]));
        if (first->kind != VALUE_CONSTANT && *e.name[i])
            map_set(done, e.name[i], 1);
    }
    add_entry(x, &x->p->tensors, e);
}

static void list_persistent(const Lister *x, Map *done)
{
    Address a;

    for (ValueId v = 1; v < x->g->n_values; v++) {
        const Value *f = value_of(x->g, v);
        if (!is_persistent(f) || is_done(done, f) || !value_address(x->p, x->s, v, &a))
            continue;
        bool is_listed = f->block.iter && is_whole(x, value_instance(&x->l, v, 0), done);
        if (!is_listed)
            list_value(x, v, done);
    }
}

// ---- inputs and outputs ----

bool output_depends(const Graph *g, ValueId input)
{
    Arena *a = arena_new();
    bool *depends = arena_array(a, bool, g->n_values), found = false;

    depends[input] = true;
    for (NodeId i = 1; i < g->n_nodes; i++) {
        const Node *n = &g->nodes[i];
        bool reads = false;
        for (int k = 0; k < n->n_in; k++)
            reads |= depends[n->in[k]];
        for (int k = 0; k < n->n_out && reads; k++)
            depends[n->out[k]] = true;
    }
    for (int i = 0; i < g->n_outputs; i++)
        found |= g->outputs[i].role == OUTPUT_MODEL && depends[g->outputs[i].value];
    arena_free(a);
    return found;
}

static void list_inputs(const Lister *x, TensorTable *to)
{
    const Sharded *s = x->s->sharded;

    for (ValueId v = 1; v < x->g->n_values; v++) {
        const Value *f = value_of(x->g, v);
        if (f->kind != VALUE_INPUT)
            continue;
        TensorEntry e = entry_new(x, RT_INPUT, 1);
        e.value[0] = v;
        e.name[0] = name_of(f);
        // A training step has lost the outputs. Collectives may join what depends on the input with
        // what doesn't: the whole graph has none.
        e.is_for_loss =
            x->set == SET_PREDICT && !output_depends(s ? s->whole : x->g, s ? s->value[v].of : v);
        add_entry(x, to, e);
    }
}

static void link_gradients(Lister *x)
{
    Arena *a = x->p->arena;

    x->first_output = arena_array(a, int, x->g->n_values);
    x->next_output = arena_array(a, int, x->g->n_outputs + 1);
    for (int i = x->g->n_outputs - 1; i >= 0; i--) {
        const Output *o = &x->g->outputs[i];
        if (o->role != OUTPUT_GRADIENT)
            continue;
        x->next_output[i] = x->first_output[o->value];
        x->first_output[o->value] = 1 + i;
    }
}

// The output `k` of those that are gradients and the value.
static int nth_gradient(const Lister *x, ValueId v, int k)
{
    int i = x->first_output[v] - 1;

    while (k--)
        i = x->next_output[i] - 1;
    return i;
}

// Adds the output's entry. Parameters of a layer that are added share their gradients: the first of
// each layer are one entry, the second ones another.
static void list_output(Lister *x, TensorTable *to, int at)
{
    const Output *o = &x->g->outputs[at];
    Block b = value_block(x->g, o->value);
    bool has_layers = o->role == OUTPUT_GRADIENT && b.cls && are_all_gradients(&x->l, o->value);
    TensorEntry e =
        entry_new(x, output_tensor_role(o->role), has_layers ? x->g->classes[b.cls].length : 1);
    int k = 0;

    while (has_layers && nth_gradient(x, o->value, k) != at)
        k++;
    for (int i = 0; i < e.n; i++) {
        int layer = has_layers ? nth_gradient(x, value_instance(&x->l, o->value, i), k) : at;
        e.value[i] = x->g->outputs[layer].value;
        e.name[i] = x->g->outputs[layer].name ? x->g->outputs[layer].name : "";
        x->is_listed[layer] = true;
    }
    add_entry(x, to, e);
}

static void list_outputs(Lister *x, TensorTable *to)
{
    link_gradients(x);
    x->is_listed = arena_array(x->p->arena, bool, x->g->n_outputs + 1);
    for (int pass = 0; pass < 2; pass++)  // 0: first iterations, which lead the others
        for (int i = 0; i < x->g->n_outputs; i++)
            if (!x->is_listed[i] && (pass || !value_block(x->g, x->g->outputs[i].value).iter))
                list_output(x, to, i);
}

void lower_tensors(Program *p)
{
    Map done = {.arena = p->arena};

    for (int i = 0; i < N_SETS; i++) {
        Set *s = &p->set[i];
        if (!s->g)
            continue;
        Lister x = {.p = p, .set = i, .s = s, .g = s->g};
        x.l = (Lowering){.g = s->g,
                         .table = class_tables(p->arena, s->g),
                         .n_gradients = count_gradients(p->arena, s->g)};
        list_persistent(&x, &done);
        list_inputs(&x, &s->tensors);
        list_outputs(&x, &s->tensors);
    }
}
