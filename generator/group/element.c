// Prints expressions and statements of a fused group.
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "generator/group/element.h"
#include "generator/group/expression.h"

enum { INLINE = 76 };  // characters: longer expressions aren't put into their only reader

static const Node *node_of(const Body *b, int i) { return &b->g->s->g->nodes[b->it->nodes[i]]; }

const char *operand_type(const Body *b, int k)
{
    return dtype_c_type(value_of(b->g->s->g, b->it->operands[k].value)->dtype);
}

int first_at_slot(const Body *b, int slot)
{
    int k = 0;

    while (b->slot[k] != slot || is_column_output(b->g, b->it, k))
        k++;
    return k;
}

char *index_text(const Body *b, int k, int n)
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

int output_of(const Item *it, ValueId v)
{
    for (int k = 0; k < it->n_out; k++)
        if (it->operands[it->n_in + k].value == v)
            return k;
    return -1;
}

// ---- what is selected ----

static bool is_number(const Body *b, int i) { return b->it->group.is_row_scalar[i]; }

static bool is_element(const Body *b, int i) { return node_of(b, i)->op->expr && !is_number(b, i); }

// Did an earlier pass store the node's elements, so that this one reads them back?
static bool is_stored(const Body *b, int i)
{
    return is_element(b, i) && !b->of_row && b->it->group.pass[i] < b->pass &&
           (b->is_kept[i] || output_of(b->it, node_of(b, i)->out[0]) >= 0);
}

// How many inputs the nodes before node i have.
static int inputs_before(const Body *b, int i)
{
    int n = 0;

    for (int j = 0; j < i; j++)
        n += node_of(b, j)->n_in;
    return n;
}

// The sources of node i's inputs.
static const int *sources_of(const Body *b, int i)
{
    return b->it->group.source + inputs_before(b, i);
}

// By input of node i: the node of the group that makes it; -1: it comes from elsewhere.
static const int *makers_of(const Body *b, int i)
{
    return b->it->group.maker + inputs_before(b, i);
}

// Does a node after what is being printed read node i?
static bool is_read_later(const Body *b, int i)
{
    for (int k = i + 1; k < b->it->n_nodes; k++) {
        const Node *n = node_of(b, k);
        const int *maker = makers_of(b, k);
        if (is_number(b, k) && b->it->group.pass[k] == b->pass)
            continue;
        for (int j = 0; j < n->n_in; j++)
            if (maker[j] == i)
                return true;
    }
    return false;
}

// Inputs of row scalars exist for the whole row. Elements exist for their pass only.
void select_pass(Body *b, int pass, bool of_row)
{
    b->pass = pass;
    b->of_row = of_row;
    memset(b->uses, 0, sizeof *b->uses * (size_t)b->it->n_nodes);
    for (int i = b->it->n_nodes - 1; i >= 0; i--) {
        const Node *n = node_of(b, i);
        const int *maker = makers_of(b, i);
        bool is_now = is_number(b, i) == of_row && b->it->group.pass[i] == pass;
        bool is_out = output_of(b->it, n->out[0]) >= 0 || b->is_kept[i];
        b->is_selected[i] = of_row ? is_now
                                   : (is_now && (n->op->is_sum || is_out)) ||
                                         (b->uses[i] && is_element(b, i) && !is_stored(b, i));
        if (b->is_selected[i] && !n->op->is_sum &&
            ((is_now && is_out) || (of_row && is_read_later(b, i))))
            b->uses[i] += 2;
        for (int k = 0; b->is_selected[i] && k < n->n_in; k++)
            if (maker[k] >= 0)
                b->uses[maker[k]]++;
    }
}

// Doesn't keep what no later pass reads: the elements that are made of it are kept themselves.
static void drop_unread(Body *b)
{
    bool *is_read = arena_array(b->g->arena, bool, b->it->n_nodes);

    for (int pass = 0; pass < b->it->group.n_passes; pass++) {
        select_pass(b, pass, false);
        for (int i = 0; i < b->it->n_nodes; i++)
            is_read[i] |= b->uses[i] && b->it->group.pass[i] < pass;
    }
    for (int i = 0; i < b->it->n_nodes; i++)
        b->is_kept[i] &= is_read[i];
}

// Elements are kept only if a row is one loop: they go into an array as long as it.
void find_kept(Body *b, int64_t most)
{
    const Walk *w = b->w;
    bool *again = arena_array(b->g->arena, bool, b->it->n_nodes);

    b->is_kept = arena_array(b->g->arena, bool, b->it->n_nodes);
    if (!w->rank || w->rows != w->rank - 1 || w->dim[w->rank - 1] > most)
        return;
    for (int pass = b->it->group.n_passes - 1; pass >= 0; pass--) {
        select_pass(b, pass, false);
        for (int i = 0; i < b->it->n_nodes; i++)
            if (!b->is_selected[i])
                continue;
            else if (b->it->group.pass[i] < pass)
                again[i] = true;
            else
                b->is_kept[i] = again[i] && node_of(b, i)->op->flops >= COSTLY_FLOPS &&
                                out(b->g->s->g, node_of(b, i))->dtype == F32;
    }
    drop_unread(b);
}

bool is_sum_of(const Body *b, int i, int pass)
{
    return node_of(b, i)->op->is_sum && b->it->group.pass[i] == pass &&
           !b->it->group.is_column_sum[i];
}

static bool is_in_word(char c) { return isalnum((unsigned char)c) || c == '_'; }

bool has_word(const char *text, const char *name)
{
    size_t n = strlen(name);

    for (const char *s = text; (s = strstr(s, name)); s += n)
        if ((s == text || !is_in_word(s[-1])) && !is_in_word(s[n]))
            return true;
    return false;
}

// Does the node's element depend on its input k? A random number may not depend on the micro-batch.
static bool reads_input(const Body *b, const Node *n, int k)
{
    const char *s = n->op->expr ? n->op->expr(b->g->s->g, n) : NULL;

    return !s || has_word(s, (char[]){'$', (char)('0' + k), 0});
}

bool is_used(const Body *b, int k)
{
    for (int i = 0; i < b->it->n_nodes; i++) {
        const Node *n = node_of(b, i);
        const int *source = sources_of(b, i);
        if (k >= b->it->n_in && n->op->expr && n->out[0] == b->it->operands[k].value &&
            (b->is_selected[i] ? b->it->group.pass[i] == b->pass : b->uses[i] && is_stored(b, i)))
            return true;
        for (int j = 0; j < n->n_in && b->is_selected[i]; j++)
            if (source[j] == k && k < b->it->n_in && reads_input(b, n, j))
                return true;
    }
    return false;
}

// ---- expressions ----

void print_row_result(Body *b, int k, Text *t)
{
    const char *at = index_text(b, k, b->w->rows);

    b->is_row_result[k] = true;
    text_printf(t, "%s[%s]", b->name[k], *at ? at + 3 : "0");
}

// Input k of node i as an expression.
static const char *source_text(const Body *b, int i, int k)
{
    const Graph *g = b->g->s->g;
    int source = sources_of(b, i)[k], from = makers_of(b, i)[k];
    Text t = {0};
    double c = 0;

    if (source < 0 && source != SOURCE_SPLAT && !is_stored(b, from))
        return b->expr[b->it->nodes[from]];
    if (source >= 0) {
        b->names->operand(b, source, &t);
    } else if (source == SOURCE_SPLAT) {
        value_splat(g, node_of(b, i)->in[k], &c);
        print_number(&t, in(g, node_of(b, i), k)->dtype, c);
    } else if (b->is_kept[from]) {
        b->names->kept(b, from, &t);
    } else {
        b->names->operand(b, b->it->n_in + output_of(b->it, node_of(b, from)->out[0]), &t);
    }
    const char *s = arena_copy(b->g->arena, t.s, t.n);
    text_free(&t);
    return s;
}

bool print_layer_attr(const Item *it, const Node *n, const char **s, Text *t)
{
    int k = (int)strtol(*s + 2, (char **)s, 10);
    int64_t first = n->attr[k].i - n->block.iter;
    bool is_of_loop = it->region && n->block.cls == it->cls;

    if (is_of_loop)
        text_printf(t, first ? "layer + %" PRId64 : "layer", first);
    else
        text_printf(t, "%" PRId64, n->attr[k].i);
    return is_of_loop;
}

// The number of rt->shard[shard] among those that the function is passed.
static int passed_shard(Body *b, int shard)
{
    int k = 0;

    while (k < b->n_shards && b->shard[k] != shard)
        k++;
    b->shard[k] = shard;
    b->n_shards += k == b->n_shards;
    return k;
}

static const char *index_name(const Body *b, int dim)
{
    int depth = 0;

    while (b->w->axis[depth] != dim)
        depth++;
    return depth == b->w->rank - 1 ? b->names->last_index(b)
                                   : arena_string(b->g->arena, "i%d", depth);
}

// The element's index along a dim of a node that has no inputs of that shape. The node's factors
// are then its dims.
static const char *node_index(Body *b, const Node *n, int dim)
{
    int shard = node_shard(b->g, (NodeId)(n - b->g->s->g->nodes), dim);

    if (shard < 0)
        return index_name(b, dim);
    return arena_string(b->g->arena, "o%d + %s", passed_shard(b, shard), index_name(b, dim));
}

// Prints node i's expression with its operands inserted.
static void print_expr(Body *b, int i, Text *t)
{
    const Node *n = node_of(b, i);
    const char *pattern = n->op->expr(b->g->s->g, n);

    for (const char *s = pattern; *s;) {
        const char *hole = s, *operand = NULL;
        if (*s != '$') {
            text_put(t, s++, 1);
        } else if (s[1] == 'i') {
            operand = node_index(b, n, (int)strtol(s + 2, (char **)&s, 10));
        } else if (s[1] == 'n') {
            int dim = (int)strtol(s + 2, (char **)&s, 10);
            text_printf(t, "%" PRId64, whole_size(b->g, (NodeId)(n - b->g->s->g->nodes), dim));
        } else if (s[1] == 'a') {
            b->uses_layer |= print_layer_attr(b->it, n, &s, t);
        } else {
            operand = source_text(b, i, s[1] - '0');
            s += 2;
        }
        if (operand)
            print_operand_at(t, pattern, hole, s, operand);
    }
}

// ---- statements ----

// "i < e0 && i1 < e1": the condition that excludes padding from a sum, where a rank has less than a
// chunk of the summed dim; else "".
static const char *limits_text(Body *b, int i)
{
    const Attr *dims = &node_of(b, i)->attr[0];
    const char *s = "";

    for (int k = 0; k < dims->n; k++) {
        int dim = (int)dims->v[k], shard = sum_shard(b->g, b->it->nodes[i], dim);
        if (shard >= 0)
            s = arena_string(b->g->arena, "%s%s%s < e%d", s, *s ? " && " : "", index_name(b, dim),
                             passed_shard(b, shard));
    }
    return s;
}

static void print_sum(Body *b, int i, int indent)
{
    Text t = {0};

    b->names->sum(b, i, &t);
    text_printf(&t, " += ");
    DType type = in(b->g->s->g, node_of(b, i), 0)->dtype;
    const char *limits = limits_text(b, i), *x = source_text(b, i, 0);
    if (dtype_is_half(type))
        x = arena_string(b->g->arena, "rt_from_%s(%s)", dtype_name(type), x);
    const char *pattern = *limits ? arena_string(b->g->arena, "%s ? $ : 0;", limits) : "$;";
    const char *hole = strchr(pattern, '$');
    text_put(&t, pattern, (size_t)(hole - pattern));
    print_operand_at(&t, pattern, hole, hole + 1, x);
    text_printf(&t, "%s", hole + 1);
    print_wrapped(&b->text, indent, t.s);
    text_free(&t);
}

static void print_store(Body *b, int k, const char *value, int indent, Text *to)
{
    Text t = {0};

    to = b->of_row && b->row_stores ? b->row_stores : to;
    if (b->of_row)
        print_row_result(b, b->it->n_in + k, &t);
    else
        b->names->operand(b, b->it->n_in + k, &t);
    text_printf(&t, " = %s;", value);
    print_wrapped(to, indent, t.s);
    text_free(&t);
}

// Is node i the last selected one?
static bool is_last(const Body *b, int i)
{
    for (int k = i + 1; k < b->it->n_nodes; k++)
        if (b->is_selected[k])
            return false;
    return true;
}

// The only node whose expression reads node i, whose uses are 1; -1: a sum reads it.
static int reader_of(const Body *b, int i)
{
    for (int k = i + 1; k < b->it->n_nodes; k++)
        for (int j = 0; j < node_of(b, k)->n_in && b->is_selected[k]; j++)
            if (makers_of(b, k)[j] == i)
                return node_of(b, k)->op->expr ? k : -1;
    return -1;
}

// Does node i widen a half in memory, in an expression that may skip it? CPUs have no masked loads
// of halves: a loop that skips some isn't vectorized.
static bool is_skipped_half(const Body *b, int i)
{
    const Graph *g = b->g->s->g;
    const Node *n = node_of(b, i);

    if (!n->n_in || !dtype_is_half(in(g, n, 0)->dtype) || makers_of(b, i)[0] >= 0)
        return false;
    for (int k = i; b->uses[k] == 1;) {
        k = reader_of(b, k);
        const char *expr = k < 0 ? NULL : node_of(b, k)->op->expr(g, node_of(b, k));
        if (!expr || strchr(expr, '?'))
            return expr;
    }
    return false;
}

// Prints a node's expression: as a store, into its only reader, or as a named constant.
static void print_node(Body *b, int i, int indent, Text *stores)
{
    const Node *n = node_of(b, i);
    bool is_now = b->it->group.pass[i] == b->pass;
    int k = is_now ? output_of(b->it, n->out[0]) : -1;
    Text t = {0};

    print_expr(b, i, &t);
    bool is_only_stored = k >= 0 && b->uses[i] == 2 && !(b->of_row && is_read_later(b, i));
    if (is_only_stored && is_last(b, i) && !b->of_row) {
        print_store(b, k, t.s, indent, &b->text);
    } else if (is_only_stored && !strchr(t.s, '[')) {
        print_store(b, k, t.s, indent,
                    stores);  // it reads no memory, so it may follow other stores
    } else if (b->uses[i] == 1 && t.n < INLINE && !is_skipped_half(b, i)) {
        b->expr[b->it->nodes[i]] = arena_copy(b->g->arena, t.s, t.n);
    } else {
        const char *name = arena_string(b->g->arena, "v%d", ++b->n_variables);
        print_wrapped(&b->text, indent,
                      arena_string(b->g->arena, "const %s %s = %s;",
                                   dtype_c_type(out(b->g->s->g, n)->dtype), name, t.s));
        b->expr[b->it->nodes[i]] = name;
        if (k >= 0)
            print_store(b, k, name, indent, stores);
        if (b->is_kept[i]) {
            text_printf(stores, "%*s", indent, "");
            b->names->kept(b, i, stores);
            text_printf(stores, " = %s;\n", name);
        }
    }
    text_free(&t);
}

// Stores come last, as an output may lie over an input.
void print_element(Body *b, int indent)
{
    Text stores = {0};

    for (int i = 0; i < b->it->n_nodes; i++) {
        if (!b->is_selected[i])
            continue;
        if (node_of(b, i)->op->is_sum)
            print_sum(b, i, indent);
        else
            print_node(b, i, indent, &stores);
    }
    text_put(&b->text, stores.s ? stores.s : "", stores.n);
    text_free(&stores);
}
