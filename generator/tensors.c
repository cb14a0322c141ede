// Prints the tables of tensors that the trainer loads, sets, reads and saves.
#include <stdlib.h>
#include <string.h>

#include "generator/internal.h"

// ---- names of a block's layers ----

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

// The pattern of the layers' names, with the number's first value and step; NULL if there is none.
static char *name_pattern(Gen *g, const TensorEntry *e, long *first, long *by)
{
    size_t before, after;
    long next;

    if (!split_number(e->name[0], e->name[1], &before, &after, first, &next))
        return NULL;
    *by = next - *first;
    for (int i = 0; i < e->n; i++) {
        char *s = arena_string(g->arena, "%.*s%ld%s", (int)before, e->name[0], *first + i * *by,
                               e->name[0] + after);
        if (strcmp(s, e->name[i]))
            return NULL;
    }
    return arena_string(g->arena, "%.*s{}%s", (int)before, e->name[0], e->name[0] + after);
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
static void print_address(const Gen *g, Text *t, const TensorEntry *e)
{
    const Address *address = g->s->address;
    bool has_address = e->role != RT_GRADIENT;
    int64_t at = address[e->value[0]].at;

    if (has_address)
        text_printf(t, ", .at = %" PRId64, at);
    if (e->n > 1)
        text_printf(t, has_address ? ", %d" : ", .layers = %d", e->n);
    if (has_address && e->n > 1)
        text_printf(t, ", %" PRId64, address[e->value[1]].at - at);
}

// Prints the name, the shape and the offset, then what differs between layers.
static void print_names(Gen *g, Text *t, const TensorEntry *e, const Value *v)
{
    long first = 0, by = 0;
    char *pattern = e->n > 1 ? name_pattern(g, e, &first, &by) : NULL;
    const char *name =
        e->role == RT_CONSTANT ? given_name(value_of(g->s->g, e->value[0])) : e->name[0];

    text_printf(t, ", ");
    print_string(t, pattern ? pattern : name, 4);
    print_shape(t, v);
    print_address(g, t, e);
    if (first)
        text_printf(t, ", .first = %ld", first);
    if (pattern && by != 1)
        text_printf(t, ", .by = %ld", by);
    if (e->n > 1 && !pattern) {
        text_printf(t, ", .names = (const char *const[]){");
        for (int i = 0; i < e->n; i++) {
            text_printf(t, "%s", i ? ", " : "");
            print_string(t, e->name[i], 4);
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
            node_rule(g->arena, graph, n, &r);
            return r.single >> k & 1;
        }
    }
    return false;
}

// Prints the bytes of all layers, one after the other.
static void print_bytes(const Gen *g, Text *t, const TensorEntry *e)
{
    int64_t n = value_bytes(value_of(g->s->g, e->value[0]));

    text_printf(t, ", .data = \"");
    for (int64_t i = 0; i < n * e->n; i++) {
        const uint8_t *data = value_of(g->s->g, e->value[i / n])->data;
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

static int64_t bound_of(const Graph *g, ValueId v)
{
    for (int i = 0; i < g->n_outputs; i++)
        if (output_has_bound(g->outputs[i].role) && g->outputs[i].value == v)
            return g->outputs[i].bound;
    return 0;
}

// Parameters that are added share a gradient: it has the number of the first one's entry.
int gradient_number(const Gen *g, ValueId v)
{
    const TensorTable *table = &g->s->tensors;
    int number = 0;

    for (int i = 0; i < table->n; i++) {
        const TensorEntry *e = &table->entry[i];
        for (int k = 0; k < e->n && e->role == RT_GRADIENT; k++)
            if (e->value[k] == v)
                return number;
        number += e->role == RT_GRADIENT;
    }
    return -1;
}

// Prints the fields that only tensors of that role have.
static void print_special(Gen *g, Text *t, const TensorEntry *e, const Value *v)
{
    if (is_scale(g, e->value[0]))
        text_printf(t, ", .is_one = true");
    if (e->role == RT_GRADIENT)
        text_printf(t, ", .gradient = %d", gradient_number(g, e->value[0]));
    if (e->role == RT_INPUT)
        print_range(t, whole_graph(g->s), whole_value(g->s, e->value[0]));
    if (e->role == RT_BAD_INDEX || e->role == RT_BAD_SIZES)
        text_printf(t, ", .bound = %" PRId64, bound_of(g->s->g, e->value[0]));
    if (v->is_labels)
        text_printf(t, ", .is_labels = true");
    if (e->is_for_loss)
        text_printf(t, ", .is_for_loss = true");
    if (e->role == RT_CONSTANT)
        print_bytes(g, t, e);
}

static const char *role_text(RtRole r)
{
    static const char *const names[] = {
        [RT_PARAMETER] = "RT_PARAMETER",   [RT_BUFFER] = "RT_BUFFER",
        [RT_STATE] = "RT_STATE",           [RT_ZERO] = "RT_ZERO",
        [RT_HYPER] = "RT_HYPER",           [RT_CONSTANT] = "RT_CONSTANT",
        [RT_INPUT] = "RT_INPUT",           [RT_OUTPUT] = "RT_OUTPUT",
        [RT_GRADIENT] = "RT_GRADIENT",     [RT_LOSS_SUM] = "RT_LOSS_SUM",
        [RT_LOSS_COUNT] = "RT_LOSS_COUNT", [RT_GRAD_NORM] = "RT_GRAD_NORM",
        [RT_BAD_LABEL] = "RT_BAD_LABEL",   [RT_BAD_INDEX] = "RT_BAD_INDEX",
        [RT_BAD_SIZES] = "RT_BAD_SIZES",   [RT_LOSS_SCALE] = "RT_LOSS_SCALE",
    };
    return names[r];
}

static void print_tensor(Gen *g, const TensorEntry *e)
{
    Text line = {0};

    g->s = &g->p->set[e->set];
    const Value *v = value_of(whole_graph(g->s), whole_value(g->s, e->value[0]));
    text_printf(&line, "{%s, %s", role_text(e->role), dtype_rt(v->dtype));
    print_names(g, &line, e, v);
    print_parts(g, e->value[0], &line);
    if (v->fill != 0) {
        text_printf(&line, ", .fill = ");
        print_number(&line, F64, v->fill);
    }
    print_special(g, &line, e, v);
    text_printf(&line, "},");
    print_wrapped(g->tables, 4, line.s);
    text_free(&line);
}

static void print_table(Gen *g, const TensorTable *t, const char *name)
{
    text_printf(g->tables, "static const RtTensor %s[] = {\n", name);
    for (int i = 0; i < t->n; i++)
        print_tensor(g, &t->entry[i]);
    text_printf(g->tables, "};\n\n");
}

void generate_tensors(Gen *g)
{
    static const char *const own[] = {"train_tensors", "predict_tensors"};

    if (g->p->tensors.n)
        text_printf(g->tables,
                    "// Role, type, name, rank, shape and offset; of layers also how many, and "
                    "the bytes between two.\n");
    if (g->p->tensors.n)
        print_table(g, &g->p->tensors, "tensors");
    for (int i = 0; i < N_SETS; i++)
        if (g->p->set[i].g)
            print_table(g, &g->p->set[i].tensors, own[i]);
}
