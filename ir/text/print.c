// Prints a graph as text, which ir/text/parse.c reads back.
#include "ir/text/text.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

// The shortest decimal that reads back as the same element of dtype `t`.
static void put_number(Text *out, DType t, double x)
{
    int digits = t == F32 ? 6 : 2;
    char s[40];

    if (t == F64 || isnan(x)) {
        text_number(out, x);
        return;
    }
    do
        snprintf(s, sizeof s, "%.*g", digits, x);
    while (digits++ < 17 && round_float(t, strtod(s, NULL)) != x);
    text_put(out, s, strlen(s));
}

static void put_ints(Text *out, int n, const int64_t *v)
{
    text_put(out, "[", 1);
    for (int i = 0; i < n; i++)
        text_printf(out, "%s%" PRId64, i ? "," : "", v[i]);
    text_put(out, "]", 1);
}

// ---- names ----

// Returns `base`, or `base` with a number if it is used. `used`: name → the next number.
static const char *choose_name(Map *used, const char *base)
{
    int32_t next = map_get(used, base);
    const char *name = base;

    if (next) {
        do
            name = arena_string(used->arena, "%s.%d", base, (int)++next);
        while (map_get(used, name));
        map_set(used, base, next);
    }
    map_set(used, name, 1);
    return name;
}

// Chooses names in the order of the text, so that the first value of a name keeps it.
const char **graph_names(Arena *a, const Graph *g)
{
    const char **name = arena_array(a, const char *, g->n_values);
    Map used = {.arena = a};

    for (ValueId v = 1; v < g->n_values; v++)
        if (!value_of(g, v)->producer)
            name[v] = choose_name(&used, value_label(a, g, v));
    for (NodeId i = 1; i < g->n_nodes; i++)
        for (int j = 0; j < g->nodes[i].n_out; j++) {
            ValueId v = g->nodes[i].out[j];
            name[v] = choose_name(&used, value_label(a, g, v));
        }
    return name;
}

typedef struct Printer {
    const Graph *g;
    const char **name;  // by ValueId
    Text *out;
} Printer;

// ---- definitions ----

static void put_definition(Printer *p, ValueId v)
{
    const Value *x = value_of(p->g, v);

    text_name(p->out, p->name[v]);
    text_put(p->out, " ", 1);
    value_print_type(x, p->out);
    if (x->own_rank >= 0) {
        text_put(p->out, " own ", 5);
        put_ints(p->out, x->own_rank, x->own_dim);
    }
}

static void put_block(Text *out, Block b)
{
    if (b.cls)
        text_printf(out, " block %d.%d.%d", (int)b.cls, (int)b.iter, (int)b.pos);
    if (b.cls && b.again)
        text_printf(out, " again %d", (int)b.again);
}

static void put_data(Printer *p, const Value *x)
{
    Arena *a = arena_new();
    Tensor t = tensor_of(a, x);
    int64_t count = tensor_count(&t);

    text_printf(p->out, " = %s", x->rank ? "[" : "");
    for (int64_t i = 0; i < count; i++) {
        if (i)
            text_put(p->out, ", ", 2);
        if (t.f)
            put_number(p->out, x->dtype, t.f[i]);
        else if (x->dtype == U64)
            text_printf(p->out, "%" PRIu64, (uint64_t)t.i[i]);
        else
            text_printf(p->out, "%" PRId64, t.i[i]);
    }
    if (x->rank)
        text_put(p->out, "]", 1);
    arena_free(a);
}

const char *const value_kind_names[N_VALUE_KINDS] = {
    [VALUE_ACTIVATION] = "activation", [VALUE_INPUT] = "input",   [VALUE_HYPER] = "hyper",
    [VALUE_PARAMETER] = "parameter",   [VALUE_BUFFER] = "buffer", [VALUE_STATE] = "state",
    [VALUE_CONSTANT] = "constant",     [VALUE_ZERO] = "zero",
};

bool value_kind_has_fill(ValueKind k)
{
    return k == VALUE_HYPER || k == VALUE_STATE || k == VALUE_ZERO;
}

static void put_value(Printer *p, ValueId v)
{
    const Value *x = value_of(p->g, v);

    text_printf(p->out, "  %s ", value_kind_names[x->kind]);
    put_definition(p, v);
    if (x->is_labels)
        text_put(p->out, " labels", 7);
    if (x->kind == VALUE_CONSTANT)
        put_data(p, x);
    if (value_kind_has_fill(x->kind)) {
        text_put(p->out, " = ", 3);
        put_number(p->out, F64, x->fill);
    }
    put_block(p->out, x->block);
    text_put(p->out, "\n", 1);
}

// ---- nodes ----

static bool is_missing(const AttrDef *def, const Attr *a)
{
    if (def->type == ATTR_INT)
        return a->i == (int64_t)def->missing;
    if (def->type == ATTR_FLOAT)
        return a->f == def->missing && signbit(a->f) == signbit(def->missing);
    return def->type == ATTR_INTS ? !a->n : !a->s;
}

static void put_attr(Text *out, const AttrDef *def, const Attr *a)
{
    if (is_missing(def, a))
        return;
    text_printf(out, " %s=", def->name);
    if (def->type == ATTR_FLOAT)
        put_number(out, F64, a->f);
    else if (def->type == ATTR_INTS)
        put_ints(out, a->n, a->v);
    else if (def->type == ATTR_TEXT)
        text_quote(out, a->s);
    else if (def->is_dtype)
        text_printf(out, "%s", dtype_name((DType)a->i));
    else
        text_printf(out, "%" PRId64, a->i);
}

static void put_source(Text *out, const Source *s)
{
    if (!s)
        return;
    text_put(out, " from ", 6);
    text_quote(out, s->name ? s->name : "");
    if (s->scope && s->scope[0]) {
        text_put(out, " ", 1);
        text_quote(out, s->scope);
    }
}

static void put_node(Printer *p, const Node *n)
{
    static const char *const phases[] = {"", " backward", " update"};

    text_put(p->out, "  ", 2);
    for (int i = 0; i < n->n_out; i++) {
        text_printf(p->out, "%s", i ? ", " : "");
        put_definition(p, n->out[i]);
    }
    text_printf(p->out, " = %s(", n->op->name);
    int n_in = n->n_in;
    while (n_in && !n->in[n_in - 1])
        n_in--;
    for (int i = 0; i < n_in; i++) {
        text_printf(p->out, "%s", i ? ", " : "");
        if (n->in[i])
            text_name(p->out, p->name[n->in[i]]);
        else
            text_put(p->out, "_", 1);
    }
    text_put(p->out, ")", 1);
    for (int i = 0; i < MAX_ATTRS && n->op->attrs[i].name; i++)
        put_attr(p->out, &n->op->attrs[i], &n->attr[i]);
    put_source(p->out, n->source);
    text_printf(p->out, "%s", phases[n->phase]);
    put_block(p->out, n->block);
    text_put(p->out, "\n", 1);
}

// ---- the whole ----

const char *const output_role_names[] = {"model",       "loss_sum",  "loss_count", "gradient",
                                         "grad_norm",   "bad_label", "bad_index",  "bad_sizes",
                                         "loss_factor", "loss_scale"};

static void put_ends(Printer *p)
{
    const Graph *g = p->g;

    for (int i = 0; i < g->n_outputs; i++) {
        const Output *o = &g->outputs[i];
        text_printf(p->out, "  output %s ", output_role_names[o->role]);
        text_quote(p->out, o->name ? o->name : "");
        text_put(p->out, " ", 1);
        text_name(p->out, p->name[o->value]);
        if (o->role == OUTPUT_BAD_LABEL)
            text_printf(p->out, " ignored %" PRId64, o->ignored);
        if (output_has_bound(o->role))
            text_printf(p->out, " bound %" PRId64, o->bound);
        text_put(p->out, "\n", 1);
    }
    for (int i = 0; i < g->n_carries; i++) {
        const Carry *c = &g->carries[i];
        text_printf(p->out, "  carry %s ", c->scope == SCOPE_STEP ? "step" : "micro");
        text_name(p->out, p->name[c->in]);
        text_put(p->out, " ", 1);
        text_name(p->out, p->name[c->out]);
        text_put(p->out, "\n", 1);
    }
}

void graph_print(const Graph *g, Text *t)
{
    Arena *a = arena_new();
    Printer p = {g, graph_names(a, g), t};

    text_put(t, "graph ", 6);
    text_quote(t, g->name ? g->name : "");
    text_printf(t, "%s", g->training ? " training" : "");
    if (g->after)
        text_printf(t, " after %s", g->after);
    if (g->accumulate > 1)
        text_printf(t, " accumulate %d", g->accumulate);
    text_put(t, " {\n", 3);
    for (int i = 1; i < g->n_classes; i++) {
        text_printf(t, "  class %d ", i);
        text_quote(t, g->classes[i].name ? g->classes[i].name : "");
        text_printf(t, " %d\n", (int)g->classes[i].length);
    }
    for (ValueId v = 1; v < g->n_values; v++) {
        if (!g->values[v].producer && g->values[v].kind != VALUE_ACTIVATION)
            put_value(&p, v);
    }
    for (NodeId i = 1; i < g->n_nodes; i++)
        put_node(&p, &g->nodes[i]);
    put_ends(&p);
    text_put(t, "}\n", 2);
    arena_free(a);
}
