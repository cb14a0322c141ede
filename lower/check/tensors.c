// Checks the tables of tensors: the trainer loads, reads and saves what they say. Each entry's
// layers are those of one value, in their order, and evenly apart; each tensor is in one entry.
#include <string.h>

#include "lower/check/check.h"

// The index of the value among its node's outputs; 0 for a value without producer.
static int output_index(const Graph *g, ValueId v)
{
    NodeId n = value_of(g, v)->producer;
    int k = 0;

    while (n && g->nodes[n].out[k] != v)
        k++;
    return k;
}

// Is `v` the instance of `first` in iteration `iter` of its class?
static bool is_instance(const Graph *g, ValueId first, ValueId v, int iter)
{
    Block a = value_block(g, first), b = value_block(g, v);

    return a.cls && a.cls == b.cls && a.pos == b.pos && b.iter == iter &&
           !value_of(g, first)->producer == !value_of(g, v)->producer &&
           output_index(g, first) == output_index(g, v);
}

static bool same_tensor(const Value *a, const Value *b)
{
    return a->kind == b->kind && a->dtype == b->dtype && a->rank == b->rank &&
           !memcmp(a->dim, b->dim, sizeof *a->dim * (size_t)a->rank) &&
           a->own_rank == b->own_rank && !memcmp(&a->fill, &b->fill, sizeof a->fill);
}

static void entry_fail(Check *c, const TensorEntry *e, const char *what)
{
    check_fail(c, NULL, "the table's %s '%s' %s", tensor_role_names[e->role], e->name[0], what);
}

// An entry of several layers has all of them: a gradient's number and a layer select it, and
// addresses follow from those of the first two.
static void check_layers(Check *c, const TensorEntry *e)
{
    const Graph *g = c->g;
    Block b = value_block(g, e->value[0]);
    Address first = {0}, next = {0}, at = {0};
    bool has_address = value_address(c->p, c->s, e->value[0], &first);

    if (e->n > 1 && (!b.cls || e->n != g->classes[b.cls].length)) {
        entry_fail(c, e, "has other layers than its block");
        return;
    }
    for (int i = 0; i < e->n && e->n > 1; i++)
        if (!is_instance(g, e->value[0], e->value[i], i) ||
            !same_tensor(value_of(g, e->value[0]), value_of(g, e->value[i]))) {
            entry_fail(c, e, "has a layer of another value");
            return;
        }
    if (e->role == RT_GRADIENT)
        return;
    if (!has_address) {
        entry_fail(c, e, "has no address");
        return;
    }
    value_address(c->p, c->s, e->value[e->n > 1], &next);
    for (int i = 0; i < e->n; i++) {
        bool has_layer = value_address(c->p, c->s, e->value[i], &at);
        if (!has_layer || at.buffer != first.buffer ||
            at.at != first.at + (next.at - first.at) * i) {
            entry_fail(c, e, "has layers that aren't evenly apart");
            return;
        }
    }
}

static void check_count(Check *c, int n, const char *what, const char *name)
{
    if (n != 1)
        check_fail(c, NULL, "%s '%s' is in %d entries of the tables", what, name ? name : "", n);
}

// ---- tensors that outlive a step ----

// Names of the values that entries of other sets have.
static Map other_names(const Check *c)
{
    Map names = {.arena = c->arena};

    for (int i = 0; i < c->p->tensors.n; i++) {
        const TensorEntry *e = &c->p->tensors.entry[i];
        for (int k = 0; k < e->n; k++)
            if (&c->p->set[e->set] != c->s && e->role != RT_CONSTANT)
                map_set(&names, e->name[k], 1 + map_get(&names, e->name[k]));
    }
    return names;
}

static void check_persistent_entry(Check *c, const TensorEntry *e, int *count)
{
    for (int k = 0; k < e->n; k++) {
        const Value *v = value_of(c->g, e->value[k]);
        if (v->producer || v->kind == VALUE_ACTIVATION || v->kind == VALUE_INPUT ||
            value_tensor_role(v->kind) != e->role || strcmp(v->name ? v->name : "", e->name[k])) {
            entry_fail(c, e, "is another kind of value");
            return;
        }
        count[e->value[k]]++;
    }
    check_layers(c, e);
}

static void check_persistent(Check *c)
{
    int *count = arena_array(c->arena, int, c->g->n_values);
    Map others = other_names(c);
    Address a;

    for (int i = 0; i < c->p->tensors.n; i++)
        if (&c->p->set[c->p->tensors.entry[i].set] == c->s)
            check_persistent_entry(c, &c->p->tensors.entry[i], count);
    for (ValueId v = 1; v < c->g->n_values; v++) {
        const Value *x = value_of(c->g, v);
        if (x->producer || x->kind == VALUE_ACTIVATION || x->kind == VALUE_INPUT)
            continue;
        int n = count[v];
        if (x->kind != VALUE_CONSTANT && x->name)
            n += map_get(&others, x->name);
        if (n || value_address(c->p, c->s, v, &a))
            check_count(c, n, value_kind_names[x->kind], x->name);
    }
}

// ---- inputs and outputs ----

static void check_input(Check *c, const TensorEntry *e, int *count)
{
    const Sharded *s = c->s->sharded;
    bool predicts = c->s == &c->p->set[SET_PREDICT];
    const Value *v = value_of(c->g, e->value[0]);

    if (e->n != 1 || v->kind != VALUE_INPUT || strcmp(v->name, e->name[0])) {
        entry_fail(c, e, "is another kind of value");
        return;
    }
    count[e->value[0]]++;
    check_layers(c, e);
    ValueId whole = s ? s->value[e->value[0]].of : e->value[0];
    if (e->is_for_loss != (predicts && !output_depends(s ? s->whole : c->g, whole)))
        entry_fail(c, e, e->is_for_loss ? "is not for the loss alone" : "is for the loss alone");
}

// Counts the output of that role, name and value. Its index; -1: there is none.
static int find_output(const Check *c, const TensorEntry *e, int layer)
{
    for (int i = 0; i < c->g->n_outputs; i++) {
        const Output *o = &c->g->outputs[i];
        if (o->value == e->value[layer] && output_tensor_role(o->role) == e->role &&
            !strcmp(o->name ? o->name : "", e->name[layer]))
            return i;
    }
    return -1;
}

static void check_output(Check *c, const TensorEntry *e, int *count)
{
    if (e->n > 1 && e->role != RT_GRADIENT)
        entry_fail(c, e, "has layers");
    for (int k = 0; k < e->n; k++) {
        int at = find_output(c, e, k);
        if (at < 0) {
            entry_fail(c, e, "is no such output");
            return;
        }
        count[at]++;
    }
    check_layers(c, e);
}

static void check_own(Check *c)
{
    int *inputs = arena_array(c->arena, int, c->g->n_values);
    int *outputs = arena_array(c->arena, int, c->g->n_outputs + 1);

    for (int i = 0; i < c->s->tensors.n; i++) {
        const TensorEntry *e = &c->s->tensors.entry[i];
        if (&c->p->set[e->set] != c->s)
            entry_fail(c, e, "is of another set");
        else if (e->role == RT_INPUT)
            check_input(c, e, inputs);
        else
            check_output(c, e, outputs);
    }
    for (ValueId v = 1; v < c->g->n_values; v++)
        if (value_of(c->g, v)->kind == VALUE_INPUT)
            check_count(c, inputs[v], "input", value_of(c->g, v)->name);
    for (int i = 0; i < c->g->n_outputs; i++)
        check_count(c, outputs[i], "output", c->g->outputs[i].name);
}

void check_tensors(Check *c)
{
    check_persistent(c);
    check_own(c);
}

void check_shown_gradient(Check *c, ValueId v)
{
    int layer = c->it->region ? c->iteration[0] : 0, found = 0;

    for (int i = 0; i < c->s->tensors.n; i++) {
        const TensorEntry *e = &c->s->tensors.entry[i];
        bool has_layers = e->n > 1;
        if (e->role == RT_GRADIENT && has_layers == (c->it->region != 0) && layer < e->n)
            found += e->value[layer] == v;
    }
    if (!found)
        check_fail(c, producer(c->g, v), "the gradient is shown as another layer's than its entry");
}
