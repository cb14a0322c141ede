// Prints the tables of tensors that the trainer loads, sets, reads and saves.
#include <stdlib.h>
#include <string.h>

#include "generator/internal.h"

// ---- names of a block's instances ----

// The instances of `v` (of iteration 0) in all iterations.
typedef struct Instances {
    ValueId *value;
    int n;
} Instances;

// Splits "h.3.w" into "h." 3 ".w" at the first number by which `a` and `b` differ.
static bool split_number(const char *a, const char *b, size_t *before, size_t *after, long *first,
                         long *next)
{
    size_t i = 0;
    char *end_a, *end_b;

    while (a[i] && a[i] == b[i])
        i++;
    while (i > 0 && a[i - 1] >= '0' && a[i - 1] <= '9')
        i--;
    if (a[i] < '0' || a[i] > '9' || b[i] < '0' || b[i] > '9' || strstr(a, "{}"))
        return false;
    *first = strtol(a + i, &end_a, 10);
    *next = strtol(b + i, &end_b, 10);
    *before = i;
    *after = (size_t)(end_a - a);
    return !strcmp(end_a, end_b) && *first < 1 << 24 && *next < 1 << 24;
}

// The pattern of the instances' names, with the number's first value and step; NULL if there is
// none.
static char *name_pattern(Gen *g, const Instances *t, const char *const *names, long *first,
                          long *by)
{
    size_t before, after;
    long next;

    if (!split_number(names[0], names[1], &before, &after, first, &next))
        return NULL;
    *by = next - *first;
    for (int i = 0; i < t->n; i++) {
        char *s = arena_string(g->arena, "%.*s%ld%s", (int)before, names[0], *first + i * *by,
                               names[0] + after);
        if (strcmp(s, names[i]))
            return NULL;
    }
    return arena_string(g->arena, "%.*s{}%s", (int)before, names[0], names[0] + after);
}

// Prints the shape that the user knows. A refined constant, which the user doesn't see, may have
// more dims than a tensor of the trainer: it is one row of elements.
static void print_shape(Text *t, const Value *v)
{
    int rank = v->own_rank < 0 ? v->rank : v->own_rank;
    const int64_t *dim = v->own_rank < 0 ? v->dim : v->own_dim;
    int64_t n = value_count(v);

    if (rank > COUNT(((RtTensor *)NULL)->dim)) {
        rank = 1;
        dim = &n;
    }
    text_printf(t, ", %d, {", rank);
    for (int i = 0; i < rank; i++)
        text_printf(t, "%s%" PRId64, i ? ", " : "", dim[i]);
    text_printf(t, rank ? "}" : "0}");
}

// Prints the offset, and of layers how many there are and the step from one to the next.
static void print_place(const Gen *g, Text *t, const Instances *instances, bool has_place)
{
    const Address *address = g->s->address;
    int64_t at = address[instances->value[0]].at;

    if (has_place)
        text_printf(t, ", .at = %" PRId64, at);
    if (instances->n > 1)
        text_printf(t, has_place ? ", %d" : ", .layers = %d", instances->n);
    if (has_place && instances->n > 1)
        text_printf(t, ", %" PRId64, address[instances->value[1]].at - at);
}

// Prints the name, the shape and the place, then what differs between instances.
static void print_names(Gen *g, Text *t, const Instances *instances, const char *const *names,
                        const Value *v, bool has_place)
{
    long first = 0, by = 0;
    char *pattern = instances->n > 1 ? name_pattern(g, instances, names, &first, &by) : NULL;

    text_printf(t, ", ");
    print_string(t, pattern ? pattern : names[0], 4);
    print_shape(t, v);
    print_place(g, t, instances, has_place);
    if (first)
        text_printf(t, ", .first = %ld", first);
    if (pattern && by != 1)
        text_printf(t, ", .by = %ld", by);
    if (instances->n > 1 && !pattern) {
        text_printf(t, ", .names = (const char *const[]){");
        for (int i = 0; i < instances->n; i++) {
            text_printf(t, "%s", i ? ", " : "");
            print_string(t, names[i], 4);
        }
        text_printf(t, "}");
    }
}

// ---- one tensor ----

// Does a vector scale what it is applied to? Else it is added, and begins at 0.
static bool is_scale(const Gen *g, ValueId v)
{
    const Graph *graph = whole_graph(g->s);
    v = whole_value(g->s, v);
    const Value *x = value_of(graph, v);
    int rank = x->own_rank < 0 ? x->rank : x->own_rank;
    bool *seen = arena_array(g->arena, bool, graph->n_values);

    if (x->kind != VALUE_PARAMETER || rank >= 2)
        return false;
    seen[v] = true;
    for (NodeId i = 1; i < graph->n_nodes; i++) {
        const Node *n = &graph->nodes[i];
        for (int k = 0; k < n->n_in; k++) {
            if (!seen[n->in[k]])
                continue;
            if (n->op->view) {
                seen[n->out[0]] = true;
                continue;
            }
            Rule r = {0};
            node_rule(graph, n, g->arena, &r);
            return r.single >> k & 1;
        }
    }
    return false;
}

// Prints the bytes of all layers, one after the other.
static void print_bytes(const Gen *g, Text *t, const Instances *instances)
{
    int64_t n = value_bytes(value_of(g->s->g, instances->value[0]));

    text_printf(t, ", .data = \"");
    for (int64_t i = 0; i < n * instances->n; i++) {
        const uint8_t *data = value_of(g->s->g, instances->value[i / n])->data;
        text_printf(t, "%s\\%03o", i && i % 20 == 0 ? "\"\n    \"" : "", data[i % n]);
    }
    text_printf(t, "\"");
}

static void print_range(Text *t, const Graph *g, ValueId input)
{
    IndexRange r = input_range(g, input);

    if (r.least)
        text_printf(t, ", .least = %" PRId64, r.least);
    if (r.bound)
        text_printf(t, ", .bound = %" PRId64, r.bound);
}

// The index of the value among its node's outputs.
static int output_index(const Graph *graph, ValueId v)
{
    int k = 0;

    while (producer(graph, v)->out[k] != v)
        k++;
    return k;
}

// Are the two values instances of one block value?
static bool are_instances(const Graph *graph, ValueId v, ValueId w)
{
    Block a = value_block(graph, v), b = value_block(graph, w);

    return a.cls && a.cls == b.cls && a.pos == b.pos &&
           output_index(graph, v) == output_index(graph, w);
}

// Is there a gradient at the value's place in every iteration? Then they are one tensor. If all
// iterations share a parameter, only one has its gradient, which is a tensor of its own.
static bool are_all_gradients(const Gen *g, ValueId v)
{
    const Graph *graph = g->s->g;
    Block b = value_block(graph, v);
    int length = b.cls ? graph->classes[b.cls].length : 0, n = 0;
    bool *is_there = arena_array(g->arena, bool, length + 1);

    for (int i = 0; b.cls && i < graph->n_outputs; i++) {
        ValueId w = graph->outputs[i].value;
        int iter = value_block(graph, w).iter;
        if (graph->outputs[i].role != OUTPUT_GRADIENT || !are_instances(graph, v, w))
            continue;
        n += !is_there[iter];
        is_there[iter] = true;
    }
    return b.cls && n == length;
}

int gradient_number(Gen *g, ValueId v)
{
    const Graph *graph = g->s->g;
    Block b = value_block(graph, v);
    int k = output_index(graph, v);
    const char *key = are_all_gradients(g, v) ? arena_string(g->arena, "%d.%d.%d", b.cls, b.pos, k)
                                              : arena_string(g->arena, "%d", v);
    if (!map_get(&g->gradients, key))
        map_set(&g->gradients, key, ++g->n_gradients);
    return map_get(&g->gradients, key) - 1;
}

// Prints the fields that only tensors of that role have.
static void print_special(Gen *g, Text *t, const char *role, const Instances *instances)
{
    if (is_scale(g, instances->value[0]))
        text_printf(t, ", .is_one = true");
    if (!strcmp(role, "RT_GRADIENT"))
        text_printf(t, ", .gradient = %d", gradient_number(g, instances->value[0]));
    if (!strcmp(role, "RT_INPUT"))
        print_range(t, whole_graph(g->s), whole_value(g->s, instances->value[0]));
    if (!strcmp(role, "RT_CONSTANT"))
        print_bytes(g, t, instances);
}

static void print_tensor(Gen *g, Text *t, const char *role, const char *const *names,
                         const Instances *instances)
{
    ValueId id = instances->value[0];
    const Value *v = value_of(whole_graph(g->s), whole_value(g->s, id));
    bool has_place = strcmp(role, "RT_GRADIENT") != 0;

    Text line = {0};
    text_printf(&line, "{%s, %s", role, dtype_rt(v->dtype));
    print_names(g, &line, instances, names, v, has_place);
    print_parts(g, id, &line);
    if (v->fill != 0) {
        text_printf(&line, ", .fill = ");
        print_number(&line, F64, v->fill);
    }
    print_special(g, &line, role, instances);
    text_printf(&line, "},");
    print_wrapped(t, 4, line.s);
    text_free(&line);
}

// ---- tables ----

static Instances instances_of(Gen *g, ValueId v, const ValueId *by_place, int stride)
{
    const Graph *graph = g->s->g;
    Block b = value_of(graph, v)->block;
    Instances t = {.n = b.cls ? graph->classes[b.cls].length : 1};

    t.value = arena_array(g->arena, ValueId, t.n);
    t.value[0] = v;
    for (int i = 1; i < t.n; i++)
        t.value[i] = by_place[(int64_t)i * stride + b.pos];
    return t;
}

// The values without producer of a class, by iteration and position. `stride` gets the number of
// positions.
static ValueId *class_values(Gen *g, int cls, int *stride)
{
    const Graph *graph = g->s->g;
    ValueId *by_place;

    *stride = 0;
    for (ValueId v = 1; v < graph->n_values; v++) {
        const Value *x = value_of(graph, v);
        if (!x->producer && x->block.cls == cls && x->block.pos >= *stride)
            *stride = x->block.pos + 1;
    }
    by_place = arena_array(g->arena, ValueId, (int64_t)*stride * graph->classes[cls].length);
    for (ValueId v = 1; v < graph->n_values; v++) {
        const Value *x = value_of(graph, v);
        if (!x->producer && x->block.cls == cls)
            by_place[(int64_t)x->block.iter * *stride + x->block.pos] = v;
    }
    return by_place;
}

static const char *persistent_role(ValueKind k)
{
    switch (k) {
    case VALUE_PARAMETER:
        return "RT_PARAMETER";
    case VALUE_BUFFER:
        return "RT_BUFFER";
    case VALUE_STATE:
        return "RT_STATE";
    case VALUE_ZERO:
        return "RT_ZERO";
    case VALUE_HYPER:
        return "RT_HYPER";
    case VALUE_CONSTANT:
        return "RT_CONSTANT";
    default:
        return NULL;
    }
}

static const char **value_names(Gen *g, const Instances *t)
{
    const char **names = arena_array(g->arena, const char *, t->n);

    for (int i = 0; i < t->n; i++) {
        names[i] = given_name(value_of(g->s->g, t->value[i]));
    }
    return names;
}

// Prints the persistent tensors that this set has and earlier sets don't.
static void print_persistent(Gen *g, Map *done)
{
    const Graph *graph = g->s->g;
    ValueId **by_place = arena_array(g->arena, ValueId *, graph->n_classes + 1);
    int *stride = arena_array(g->arena, int, graph->n_classes + 1);

    for (int c = 1; c < graph->n_classes; c++)
        by_place[c] = class_values(g, c, &stride[c]);
    for (ValueId v = 1; v < graph->n_values; v++) {
        const Value *x = value_of(graph, v);
        const char *role = x->producer ? NULL : persistent_role(x->kind);
        if (!role || x->block.iter || !g->s->address[v].buffer ||
            (x->kind != VALUE_CONSTANT && x->name && map_get(done, x->name)))
            continue;
        Instances t = instances_of(g, v, by_place[x->block.cls], stride[x->block.cls]);
        const char **names = value_names(g, &t);
        if (!g->n_persistent++)
            text_printf(g->tables,
                        "// Role, type, name, rank, shape and place; of layers also how many, and "
                        "the bytes between two.\n"
                        "static const RtTensor tensors[] = {\n");
        print_tensor(g, g->tables, role, names, &t);
        for (int i = 0; i < t.n; i++)
            if (x->kind != VALUE_CONSTANT && *names[i])
                map_set(done, names[i], 1);
    }
}

static const char *output_role(OutputRole r)
{
    static const char *const names[] = {
        [OUTPUT_MODEL] = "RT_OUTPUT",          [OUTPUT_LOSS_SUM] = "RT_LOSS_SUM",
        [OUTPUT_LOSS_COUNT] = "RT_LOSS_COUNT", [OUTPUT_GRADIENT] = "RT_GRADIENT",
        [OUTPUT_GRAD_NORM] = "RT_GRAD_NORM",   [OUTPUT_BAD_LABEL] = "RT_BAD_LABEL",
    };
    return names[r];
}

// The output's instances: gradients of a block's instances are one tensor.
static Instances output_instances(Gen *g, int at, const char ***names, bool *done)
{
    const Graph *graph = g->s->g;
    const Output *o = &graph->outputs[at];
    Block b = value_block(graph, o->value);
    Instances t = {.n = 1};
    bool are_all = o->role == OUTPUT_GRADIENT && are_all_gradients(g, o->value);
    int length = are_all && !b.iter ? graph->classes[b.cls].length : 1;

    t.value = arena_array(g->arena, ValueId, length);
    *names = arena_array(g->arena, const char *, length);
    for (int i = at; i < graph->n_outputs; i++) {
        bool is_instance = length > 1 && graph->outputs[i].role == OUTPUT_GRADIENT &&
                           are_instances(graph, o->value, graph->outputs[i].value);
        if (i != at && !is_instance)
            continue;
        int k = is_instance ? value_block(graph, graph->outputs[i].value).iter : 0;
        if (!t.value[k]) {
            t.value[k] = graph->outputs[i].value;
            (*names)[k] = graph->outputs[i].name ? graph->outputs[i].name : "";
            done[i] = true;
        }
    }
    for (int i = 0; i < length && t.value[i]; i++)
        t.n = i + 1;
    return t;
}

static int print_own(Gen *g)
{
    const Graph *graph = g->s->g;
    bool *done = arena_array(g->arena, bool, graph->n_outputs + 1);
    int n = 0;

    for (ValueId v = 1; v < graph->n_values; v++)
        if (value_of(graph, v)->kind == VALUE_INPUT) {
            Instances t = {.value = &v, .n = 1};
            print_tensor(g, g->tables, "RT_INPUT", value_names(g, &t), &t);
            n++;
        }
    for (int pass = 0; pass < 2; pass++)  // 0: first iterations, which lead the others
        for (int i = 0; i < graph->n_outputs; i++) {
            if (done[i] || (!pass && value_block(graph, graph->outputs[i].value).iter))
                continue;
            const char **names;
            Instances t = output_instances(g, i, &names, done);
            print_tensor(g, g->tables, output_role(graph->outputs[i].role), names, &t);
            n++;
        }
    return n;
}

void generate_tensors(Gen *g)
{
    static const char *const own[] = {"train", "predict"};
    Map done = {.arena = g->arena};

    for (int i = 0; i < N_SETS; i++) {
        g->s = &g->p->set[i];
        if (g->s->g)
            print_persistent(g, &done);
    }
    if (g->n_persistent)
        text_printf(g->tables, "};\n\n");
    for (int i = 0; i < N_SETS; i++) {
        g->s = &g->p->set[i];
        if (!g->s->g)
            continue;
        text_printf(g->tables, "static const RtTensor %s_tensors[] = {\n", own[i]);
        print_own(g);
        text_printf(g->tables, "};\n\n");
    }
}
