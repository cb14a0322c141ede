// A fused group as a C function over a range of rows.
#include <stdlib.h>
#include <string.h>

#include "generator/walk.h"

// ---- one element ----

enum { INLINE = 76 };  // characters of an expression that is put into its only reader

typedef struct Body {
    Gen *g;
    bool after;  // printing what follows the row: one number a row
    const Item *it;
    const Walk *w;
    const char **expr;  // by NodeId: the name or the expression of its element
    int *uses;          // by NodeId: readers in the group
    int n_variables;
    int *sum, n_sums;  // operands that the row's sums go to
    int *slot;         // operand → which place of those passed: equal ones are passed once
    Text text;
    bool uses_layer;
} Body;

static const char *operand_type(const Body *b, int k)
{
    return dtype_c_type(value_of(b->g->s->g, b->it->operands[k].value)->dtype);
}

// " + i0 * 768 + i1": operand k's place along the dims [0, n).
static char *index_text(const Body *b, int k, int n)
{
    Text t = {0};

    for (int d = 0; d < n; d++) {
        int64_t stride = b->w->stride[k][d];
        if (stride == 1)
            text_printf(&t, " + i%d", d);
        else if (stride)
            text_printf(&t, " + i%d * %" PRId64, d, stride);
    }
    char *s = arena_copy(b->g->arena, t.s ? t.s : "", t.n);
    text_free(&t);
    return s;
}

// An operand that has one number a row, without a pointer of its own.
static void print_row_operand(const Body *b, int k, Text *t)
{
    const char *at = index_text(b, k, b->w->rows);

    text_printf(t, "((%s%s *)p[%d])[%s]", k < b->it->n_in ? "const " : "", operand_type(b, k),
                b->slot[k], *at ? at + 3 : "0");
}

static void print_operand(Body *b, int k, Text *t)
{
    int64_t stride = b->w->rank ? b->w->stride[k][b->w->rank - 1] : 0;
    const char *name = k < b->it->n_in ? "x" : "y";
    int i = k < b->it->n_in ? k : k - b->it->n_in;

    if (b->after) {
        print_row_operand(b, k, t);
        return;
    }
    if (stride == 0 && k < b->it->n_in)
        text_printf(t, "%s%d", name, i);
    else if (stride == 0)
        text_printf(t, "%s%d[0]", name, i);
    else if (stride == 1)
        text_printf(t, "%s%d[i]", name, i);
    else
        text_printf(t, "%s%d[i * %" PRId64 "]", name, i, stride);
}

static void print_source(Body *b, const Node *n, int k, int source, Text *t)
{
    const Graph *g = b->g->s->g;
    double c = 0;

    if (source >= 0) {
        print_operand(b, source, t);
    } else if (source == SOURCE_SPLAT) {
        value_splat(g, n->in[k], &c);
        print_number(t, in(g, n, k)->dtype, c);
    } else {
        text_printf(t, "%s", b->expr[value_of(g, n->in[k])->producer]);
    }
}

// An attribute that grows with the iteration, as an expression of `layer`.
static void print_layer_attr(Body *b, const Node *n, int k, Text *t)
{
    int64_t first = n->attr[k].i - n->block.iter;

    if (!b->it->region) {
        text_printf(t, "%" PRId64, n->attr[k].i);
        return;
    }
    text_printf(t, first ? "layer + %" PRId64 : "layer", first);
    b->uses_layer = true;
}

// The node's expression with its operands put in; `source` are the group's, from this node's on.
static void print_expr(Body *b, const Node *n, const int *source, Text *t)
{
    const Walk *w = b->w;

    for (const char *s = n->op->expr(b->g->s->g, n); *s; s++) {
        if (*s != '$') {
            text_put(t, s, 1);
        } else if (s[1] == 'i') {
            char *end;
            int dim = (int)strtol(s + 2, &end, 10);
            text_printf(t, dim == w->rank - 1 ? "i" : "i%d", dim);
            s = end - 1;
        } else if (s[1] == 'a') {
            print_layer_attr(b, n, s[2] - '0', t);
            s += 2;
        } else {
            s++;
            print_source(b, n, *s - '0', source[*s - '0'], t);
        }
    }
}

static int output_of(const Item *it, ValueId v)
{
    for (int k = 0; k < it->n_out; k++)
        if (it->operands[it->n_in + k].value == v)
            return k;
    return -1;
}

static void count_uses(Body *b)
{
    const Graph *g = b->g->s->g;
    const int *source = b->it->source;

    for (int i = 0; i < b->it->n_nodes; i++) {
        const Node *n = &g->nodes[b->it->nodes[i]];
        for (int k = 0; k < n->n_in; k++, source++)
            if (*source == SOURCE_NODE)
                b->uses[value_of(g, n->in[k])->producer]++;
        if (output_of(b->it, n->out[0]) >= 0)
            b->uses[b->it->nodes[i]] += 2;  // it has a name to be stored by
    }
}

// The sum's variable and, after the row, its place.
static void add_sum(Body *b, const Node *n, const int *source, int indent)
{
    int k = output_of(b->it, n->out[0]), number = b->n_sums++;
    const Graph *g = b->g->s->g;

    text_printf(&b->text, "%*ss%d += ", indent, "", number);
    print_source(b, n, 0, source[0], &b->text);
    text_printf(&b->text, ";\n");
    b->sum[number] = k < 0 ? -1 : b->it->n_in + k;
    b->expr[value_of(g, n->out[0])->producer] = arena_string(b->g->arena, "s%d", number);
}

// Is the node one number a row, made after the row's sums?
static bool is_after(const Body *b, const Node *n)
{
    return b->it->has_sum && n->op->expr && out(b->g->s->g, n)->rank != b->it->rank;
}

// Is node i of the group the last of this part of the row? A sum is of the row itself.
static bool is_last(const Body *b, int i)
{
    for (int k = i + 1; k < b->it->n_nodes; k++) {
        const Node *n = &b->g->s->g->nodes[b->it->nodes[k]];
        if ((n->op->expr || !b->after) && is_after(b, n) == b->after)
            return false;
    }
    return true;
}

static void print_store(Body *b, int k, const char *value, int indent)
{
    Text t = {0};

    print_operand(b, b->it->n_in + k, &t);
    text_printf(&t, " = %s;", value);
    print_wrapped(&b->text, indent, t.s);
    text_free(&t);
}

// Stores come last: an output may lie over an input. The last expression is stored as it is.
static void print_element(Body *b, int indent)
{
    const Graph *g = b->g->s->g;
    const int *source = b->it->source;
    Text stores = {0};

    for (int i = 0; i < b->it->n_nodes; i++) {
        const Node *n = &g->nodes[b->it->nodes[i]];
        int k = output_of(b->it, n->out[0]);
        Text t = {0};
        if (is_after(b, n) != b->after || (b->after && !n->op->expr)) {
            source += n->n_in;
            continue;
        }
        if (!n->op->expr) {
            add_sum(b, n, source, indent);
            source += n->n_in;
            continue;
        }
        print_expr(b, n, source, &t);
        source += n->n_in;
        if (k >= 0 && b->uses[b->it->nodes[i]] == 2 && is_last(b, i)) {
            print_store(b, k, t.s, indent);
            text_free(&t);
            continue;
        }
        if (b->uses[b->it->nodes[i]] == 1 && t.n < INLINE) {
            b->expr[b->it->nodes[i]] = arena_string(b->g->arena, "(%s)", t.s);
            text_free(&t);
            continue;
        }
        const char *name = arena_string(b->g->arena, "v%d", ++b->n_variables);
        char *line = arena_string(b->g->arena, "const %s %s = %s;", dtype_c_type(out(g, n)->dtype),
                                  name, t.s);
        print_wrapped(&b->text, indent, line);
        b->expr[b->it->nodes[i]] = name;
        text_free(&t);
        if (k >= 0) {
            text_printf(&stores, "%*s", indent, "");
            print_operand(b, b->it->n_in + k, &stores);
            text_printf(&stores, " = %s;\n", name);
        }
    }
    text_put(&b->text, stores.s ? stores.s : "", stores.n);
    text_free(&stores);
}

// ---- the function ----

// Is the operand used within the row, other than by what follows it?
static bool is_used(const Body *b, int k)
{
    const Graph *g = b->g->s->g;
    const int *source = b->it->source;

    for (int i = 0; i < b->it->n_nodes; i++) {
        const Node *n = &g->nodes[b->it->nodes[i]];
        bool here = !is_after(b, n);
        if (here && n->op->expr && k >= b->it->n_in && n->out[0] == b->it->operands[k].value)
            return true;
        for (int j = 0; j < n->n_in; j++, source++)
            if (here && *source == k && k < b->it->n_in)
                return true;
    }
    return false;
}

static void print_pointer(Body *b, int k, int indent)
{
    const Item *it = b->it;
    const Walk *w = b->w;
    const char *type = operand_type(b, k);
    bool is_in = k < it->n_in;
    bool is_scalar = is_in && (!w->rank || w->stride[k][w->rank - 1] == 0);
    const char *at = index_text(b, k, w->rank - 1);

    if (!is_used(b, k))
        return;
    text_printf(&b->text, "%*s%s%s %s%s%d = ", indent, "", is_in ? "const " : "", type,
                is_scalar ? "" : "*", is_in ? "x" : "y", is_in ? k : k - it->n_in);
    if (is_scalar)
        text_printf(&b->text, "((const %s *)p[%d])[%s];\n", type, b->slot[k], *at ? at + 3 : "0");
    else
        text_printf(&b->text, "(%s%s *)p[%d]%s;\n", is_in ? "const " : "", type, b->slot[k], at);
}

static void print_indices(Body *b)
{
    const Walk *w = b->w;
    int64_t below = 1;

    for (int d = w->rows - 1; w->rows > 1 && d >= 0; d--) {
        text_printf(&b->text, "        const int64_t i%d = r", d);
        if (below > 1)
            text_printf(&b->text, " / %" PRId64, below);
        if (d)
            text_printf(&b->text, " %% %" PRId64, w->dim[d]);
        text_printf(&b->text, ";\n");
        below *= w->dim[d];
    }
}

static void print_flat(Body *b)
{
    for (int k = 0; k < b->it->n_in + b->it->n_out; k++)
        print_pointer(b, k, 4);
    text_printf(&b->text, "\n");
    text_printf(&b->text, "    RT_SIMD\n    for (int64_t i = first; i < last; i++) {\n");
    print_element(b, 8);
    text_printf(&b->text, "    }\n");
}

// The loop over the last dim, in one of the others that a row has beside it.
static void print_inner(Body *b, int indent)
{
    Text before = b->text;

    b->text = (Text){0};
    print_element(b, indent + 4);
    Text element = b->text;
    b->text = before;
    for (int k = 0; k < b->it->n_in + b->it->n_out; k++)
        print_pointer(b, k, indent);
    text_printf(&b->text, "%*sRT_SIMD", indent, "");
    for (int i = 0; i < b->n_sums; i++)
        text_printf(&b->text, "%ss%d%s", i ? ", " : "_SUM(", i, i + 1 < b->n_sums ? "" : ")");
    text_printf(&b->text, "\n%*sfor (int64_t i = 0; i < %" PRId64 "; i++) {\n", indent, "",
                b->w->dim[b->w->rank - 1]);
    text_put(&b->text, element.s, element.n);
    text_printf(&b->text, "%*s}\n", indent, "");
    text_free(&element);
}

static int count_sums(const Body *b, const char **type)
{
    int n = 0;

    for (int i = 0; i < b->it->n_nodes; i++) {
        const Node *x = &b->g->s->g->nodes[b->it->nodes[i]];
        n += x->op->is_sum;
        if (x->op->is_sum)
            type[n - 1] = dtype_c_type(out(b->g->s->g, x)->dtype);
    }
    return n;
}

static void print_rows(Body *b)
{
    const Walk *w = b->w;
    const char *type[128];
    int indent = 8, n = count_sums(b, type);

    const char *row = w->rows == 1 ? "i0" : "r";
    text_printf(&b->text, "    for (int64_t %s = first; %s < last; %s++) {\n", row, row, row);
    print_indices(b);
    for (int i = 0; i < n; i++)
        text_printf(&b->text, "        %s s%d = 0;\n", type[i], i);
    for (int d = w->rows; d < w->rank - 1; d++, indent += 4)
        text_printf(&b->text, "%*sfor (int64_t i%d = 0; i%d < %" PRId64 "; i%d++) {\n", indent, "",
                    d, d, w->dim[d], d);
    print_inner(b, indent);
    for (int d = w->rows; d < w->rank - 1; d++)
        text_printf(&b->text, "%*s}\n", indent -= 4, "");
    b->after = true;
    print_element(b, 8);
    b->after = false;
    for (int i = 0; i < n; i++) {
        if (b->sum[i] < 0)
            continue;
        text_printf(&b->text, "        ");
        print_row_operand(b, b->sum[i], &b->text);
        text_printf(&b->text, " = s%d;\n", i);
    }
    text_printf(&b->text, "    }\n");
}

// Groups whose functions have the same text share one.
static int function_of(Gen *g, const Body *b)
{
    char *text = arena_copy(g->arena, b->text.s, b->text.n);
    int number = map_get(&g->functions, text);

    if (number)
        return number;
    map_set(&g->functions, text, ++g->n_groups);
    text_printf(g->groups,
                "static void rows%d(char *const *p, int64_t first, int64_t last)\n{\n%s}\n\n",
                g->n_groups, text);
    return g->n_groups;
}

// The places to pass; returns how many. What is updated in place is passed once; other places may
// coincide by chance, which is no reason for another function.
static int find_slots(Body *b, const char **place)
{
    const Gen *g = b->g;
    int n = 0;

    for (int k = 0; k < b->it->n_in + b->it->n_out; k++) {
        const char *s = place_text(b->g, &b->it->operands[k]);
        int32_t buffer = g->s->storage[b->it->operands[k].base].buffer;
        int i = g->p->buffers[buffer].kind == BUFFER_PERSISTENT ? 0 : n;
        while (i < n && strcmp(place[i], s))
            i++;
        place[i] = s;
        n += i == n;
        b->slot[k] = i;
    }
    return n;
}

void generate_group(Gen *g, const Item *it, Text *t, int indent)
{
    Walk w = make_walk(g, it);
    Body b = {.g = g, .it = it, .w = &w};
    int64_t rows = 1;
    Text call = {0};

    b.expr = arena_array(g->arena, const char *, g->s->g->n_nodes);
    b.uses = arena_array(g->arena, int, g->s->g->n_nodes);
    b.sum = arena_array(g->arena, int, it->n_nodes);
    count_uses(&b);
    b.slot = arena_array(g->arena, int, it->n_in + it->n_out);
    const char **place = arena_array(g->arena, const char *, it->n_in + it->n_out);
    int n_places = find_slots(&b, place);
    for (int d = 0; d < w.rows; d++)
        rows *= w.dim[d];
    if (w.rank < 2 && !it->has_sum)
        print_flat(&b);
    else
        print_rows(&b);
    if (b.uses_layer) {
        Text body = b.text;
        b.text = (Text){0};
        text_printf(&b.text, "    const int64_t layer = *(const int64_t *)p[%d];\n%s", n_places,
                    body.s);
        text_free(&body);
    }
    text_printf(&call, "rt_rows(rt, rows%d, (char *[]){", function_of(g, &b));
    for (int k = 0; k < n_places; k++)
        text_printf(&call, "%s%s", k ? ", " : "", place[k]);
    int64_t elements = 1;
    for (int d = 0; d < w.rank; d++)
        elements *= w.dim[d];
    text_printf(&call, "%s}, %" PRId64 ", %" PRId64 ");", b.uses_layer ? ", (char *)&layer" : "",
                rows, elements * it->n_nodes);
    print_statement(g, it, t, indent, call.s);
    text_free(&call);
    text_free(&b.text);
}
