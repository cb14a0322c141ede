// Names sizes: B, T, C, HEADS … Names are by role: of the inputs, the model's output, attention,
// and the module that makes the dim. Other dims stay numbers.
#include <string.h>

#include "generator/dims.h"
#include "generator/sizes.h"

// Shorter dims get no name but by their role.
enum { MIN_NAMED = 8 };

typedef struct SizeName {
    const char *name;
    int64_t size;
    bool is_used;
} SizeName;

struct Sizes {
    Dims *d;
    int *named;           // by root: 1 + the index of its name; 0: none
    int *layers[N_SETS];  // the same by class, for its length
    SizeName *name;
    int n_names, cap_names;
    Map shorter;  // sizes that windows make of a named one, by its name and their number
};

// ---- names ----

static int add_name(Gen *g, const char *name, int64_t size)
{
    Sizes *s = g->sizes;

    *arena_push(g->arena, s->name, s->n_names, s->cap_names) =
        (SizeName){.name = identifier_take(&g->identifiers, name), .size = size};
    return s->n_names;
}

static void name_dim(Gen *g, int set, ValueId v, int i, const char *name)
{
    Sizes *s = g->sizes;
    int root = dim_root(s->d, set, v, i);

    if (!s->named[root] && s->d->size[root] > 1)
        s->named[root] = add_name(g, name, s->d->size[root]);
}

// Batch, positions of tokens, height and width of images.
static void name_inputs(Gen *g, int set)
{
    const Graph *graph = g->sizes->d->graph[set];

    for (ValueId v = 1; v < graph->n_values; v++) {
        const Value *x = value_of(graph, v);
        if (x->kind != VALUE_INPUT || !x->rank)
            continue;
        name_dim(g, set, v, 0, "B");
        if (x->rank == 2 && dtype_is_int(x->dtype))
            name_dim(g, set, v, 1, "T");
        for (int i = 2; x->rank == 4 && i < 4; i++)
            name_dim(g, set, v, i, i == 2 ? "H" : "W");
    }
}

static void name_outputs(Gen *g, int set)
{
    const Graph *graph = g->sizes->d->graph[set];
    bool has_loss = false;

    for (int i = 0; i < graph->n_outputs; i++)
        has_loss |= graph->outputs[i].role == OUTPUT_BAD_LABEL;
    for (int i = 0; i < graph->n_outputs; i++) {
        ValueId v = graph->outputs[i].value;
        int rank = value_of(graph, v)->rank;
        if (graph->outputs[i].role == OUTPUT_MODEL && rank && (has_loss || g->o->vocabulary))
            name_dim(g, set, v, rank - 1, g->o->vocabulary ? "VOCAB" : "CLASSES");
    }
}

// Is a factor a dim of the operand?
static bool has_factor(const Graph *graph, const Node *n, const Rule *r, int k, int f)
{
    ValueId v = k < n->n_in + n->n_out ? nth_operand(n, k) : 0;

    for (int i = 0; v && i < value_of(graph, v)->rank; i++)
        if (r->dim[k][i] == f)
            return true;
    return false;
}

// Heads are in query, key, value and result; the size of a head is summed over.
static void name_attention(Gen *g, int set, const Node *n, const Rule *r)
{
    const Graph *graph = g->sizes->d->graph[set];

    for (int i = 0; i < value_of(graph, n->in[0])->rank; i++) {
        int f = r->dim[0][i];
        if (!has_factor(graph, n, r, 1, f))
            continue;
        bool is_in_result = has_factor(graph, n, r, n->n_in, f);
        name_dim(g, set, n->in[0], i, is_in_result ? "HEADS" : "HEAD_SIZE");
    }
}

// The dim in which most parameters meet is the width of the model.
static void name_width(Gen *g, int set)
{
    Sizes *s = g->sizes;
    const Graph *graph = s->d->graph[set];
    int best = -1, most = 0;
    int *uses = arena_array(g->arena, int, s->d->n);

    if (graph->n_classes < 2)
        return;
    for (ValueId v = 1; v < graph->n_values; v++) {
        const Value *x = value_of(graph, v);
        for (int i = 0; x->kind == VALUE_PARAMETER && !x->block.iter && i < x->rank; i++) {
            int root = dim_root(s->d, set, v, i);
            if (!s->named[root] && s->d->size[root] > 1 && ++uses[root] > most) {
                most = uses[root];
                best = root;
            }
        }
    }
    if (most > 1)
        s->named[best] = add_name(g, "C", s->d->size[best]);
}

static bool has_window(const Rule *r)
{
    for (int f = 0; f < r->n_factors; f++)
        if (r->kind[f] == FACTOR_WINDOW)
            return true;
    return false;
}

// Names a dim after the module of a node: "FC_SIZE".
static void name_of_module(Gen *g, int set, const Node *n, ValueId v, int i, const char *ending)
{
    const Source *from = n->source;

    if (!from || !from->scope || !*from->scope)
        return;
    const char *path = layered_path(g->arena, g->sizes->d->graph[set], n->block, from->scope);
    name_dim(g, set, v, i,
             arena_string(g->arena, "%s_%s", identifier_of(&g->identifiers, path, 1), ending));
}

// Without a window, a dim that a parameter alone has is that of the rows of a table.
static void name_tables(Gen *g, int set, const Node *n, const Rule *r)
{
    const Graph *graph = g->sizes->d->graph[set];

    for (int k = 0; k < n->n_in && !has_window(r); k++) {
        const Value *x = value_of(graph, n->in[k]);
        for (int i = 0; x->kind == VALUE_PARAMETER && i < x->rank; i++) {
            bool is_own = x->dim[i] >= MIN_NAMED && n->n_in > 1;
            for (int j = 0; j < n->n_in + n->n_out && r->dim[k][i] >= 0; j++)
                is_own &= j == k || !has_factor(graph, n, r, j, r->dim[k][i]);
            if (is_own)
                name_of_module(g, set, n, n->in[k], i, "ROWS");
        }
    }
}

// A dim that only a parameter brings into a node's result is named after the module. Channels of
// convolutions are numbered as the heights and widths of their images.
static void name_by_module(Gen *g, int set, const Node *n, const Rule *r)
{
    const Graph *graph = g->sizes->d->graph[set];

    for (int i = 0; i < value_of(graph, n->out[0])->rank; i++) {
        int f = r->dim[n->n_in][i], n_inputs = 0, n_parameters = 0;
        for (int k = 0; k < n->n_in; k++) {
            bool has = has_factor(graph, n, r, k, f);
            n_inputs += has;
            n_parameters += has && value_of(graph, n->in[k])->kind == VALUE_PARAMETER;
        }
        bool is_made = n_inputs == 1 && n_parameters && out(graph, n)->dim[i] >= MIN_NAMED;
        if (is_made && has_window(r))
            name_dim(g, set, n->out[0], i, "C");
        if (is_made)
            name_of_module(g, set, n, n->out[0], i, "SIZE");
    }
}

static void name_shorter(Gen *g, int whole, int root)
{
    Sizes *s = g->sizes;
    char *key = arena_string(g->arena, "%d.%" PRId64, whole, s->d->size[root]);

    if (s->named[root] || s->d->size[root] < 2)
        return;
    if (!map_get(&s->shorter, key))
        map_set(&s->shorter, key,
                add_name(g, arena_copy(g->arena, s->name[whole - 1].name, 1), s->d->size[root]));
    s->named[root] = map_get(&s->shorter, key);
}

// A window that makes a named dim shorter: H_2 is made of H, in both graphs.
static void name_by_window(Gen *g, int set, const Node *n, const Rule *r)
{
    Sizes *s = g->sizes;
    const Graph *graph = s->d->graph[set];

    for (int i = 0; i < value_of(graph, n->in[0])->rank; i++) {
        int f = r->dim[0][i];
        int named = s->named[dim_root(s->d, set, n->in[0], i)];
        if (r->kind[f] != FACTOR_WINDOW || !named)
            continue;
        for (int k = 0; k < value_of(graph, n->out[0])->rank; k++)
            if (r->dim[n->n_in][k] == f)
                name_shorter(g, named, dim_root(s->d, set, n->out[0], k));
    }
}

static void name_by_nodes(Gen *g, int set, bool is_attention)
{
    const Graph *graph = g->sizes->d->graph[set];

    for (NodeId i = 1; i < graph->n_nodes; i++) {
        const Node *n = &graph->nodes[i];
        Rule r = {0};
        if (n->phase != FORWARD || !n->n_in || n->op->is_attention != is_attention)
            continue;
        node_rule(g->arena, graph, n, &r);
        if (is_attention) {
            name_attention(g, set, n, &r);
        } else {
            name_by_module(g, set, n, &r);
            name_tables(g, set, n, &r);
        }
        name_by_window(g, set, n, &r);
    }
}

static void name_layers(Gen *g, int set)
{
    Sizes *s = g->sizes;
    const Graph *graph = s->d->graph[set];

    s->layers[set] = arena_array(g->arena, int, graph->n_classes + 1);
    for (int c = 1; c < graph->n_classes; c++) {
        const BlockClass *x = &graph->classes[c];
        const char *name = identifier_of(&g->identifiers, x->name ? x->name : "", 1);
        const char *full = graph->n_classes == 2
                               ? "LAYERS"
                               : arena_string(g->arena, "%s%sLAYERS", name, *name ? "_" : "");
        for (int i = 0; set == SET_PREDICT && i < s->n_names; i++)
            if (!strcmp(s->name[i].name, full) && s->name[i].size == x->length)
                s->layers[set][c] = i + 1;
        if (!s->layers[set][c])
            s->layers[set][c] = add_name(g, full, x->length);
    }
}

void find_sizes(Gen *g)
{
    Sizes *s = g->sizes = arena_array(g->arena, Sizes, 1);

    s->d = find_dims(g);
    s->named = arena_array(g->arena, int, s->d->n);
    s->shorter.arena = g->arena;
    for (int set = 0; set < N_SETS; set++)
        if (s->d->graph[set]) {
            name_layers(g, set);
            name_inputs(g, set);
            name_outputs(g, set);
        }
    name_width(g, s->d->graph[SET_TRAIN] ? SET_TRAIN : SET_PREDICT);
    for (int set = 0; set < N_SETS; set++)
        if (s->d->graph[set]) {
            name_by_nodes(g, set, true);
            name_by_nodes(g, set, false);
        }
}

// ---- texts ----

const char *size_text(Gen *g, int named)
{
    g->sizes->name[named - 1].is_used = true;
    return g->sizes->name[named - 1].name;
}

const char *layers_text(Gen *g, int cls) { return size_text(g, g->sizes->layers[g->set][cls]); }

int named_dim(Gen *g, ValueId v, int i, int64_t *parts)
{
    Sizes *s = g->sizes;
    ValueId w = whole_value(g->s, v);
    const Value *shard = value_of(g->s->g, v), *whole = w ? value_of(s->d->graph[g->set], w) : NULL;

    if (!whole || whole->rank != shard->rank || shard->dim[i] < 2 || whole->dim[i] % shard->dim[i])
        return 0;
    *parts = whole->dim[i] / shard->dim[i];
    return s->named[dim_root(s->d, g->set, w, i)];
}

char *count_text(Gen *g, ValueId v, uint32_t dims, int64_t by)
{
    const Value *x = value_of(g->s->g, v);
    Text t = {0};
    int64_t parts;

    for (int i = 0; i < x->rank; i++) {
        int named = dims >> i & 1 ? named_dim(g, v, i, &parts) : 0;
        if (named)
            text_printf(&t, parts > 1 ? " * %s / %" PRId64 : " * %s", size_text(g, named), parts);
        else if (dims >> i & 1)
            by *= x->dim[i];
    }
    char *s = !t.n      ? arena_string(g->arena, "%" PRId64, by)
              : by == 1 ? arena_copy(g->arena, t.s + 3, t.n - 3)
                        : arena_string(g->arena, "%" PRId64 "%s", by, t.s);
    text_free(&t);
    return s;
}

static bool has_dims(const Gen *g, ValueId v, const Item *it)
{
    const Value *x = value_of(g->s->g, v);

    return x->rank == it->rank && !memcmp(x->dim, it->dim, sizeof *x->dim * (size_t)x->rank);
}

static int count_names(Gen *g, ValueId v)
{
    int n = 0;
    int64_t parts;

    for (int i = 0; i < value_of(g->s->g, v)->rank; i++)
        n += named_dim(g, v, i, &parts) != 0;
    return n;
}

// Takes v instead of *best if it has the item's dims, and names for more of them.
static void take_named(Gen *g, const Item *it, ValueId v, ValueId *best)
{
    bool is_better =
        v && has_dims(g, v, it) && (!*best || count_names(g, v) > count_names(g, *best));

    *best = is_better ? v : *best;
}

// A value of the item that has its dims, with as many names as one has; 0: none has them.
static ValueId walked_value(Gen *g, const Item *it)
{
    ValueId best = 0;

    for (int i = 0; i < it->n_nodes; i++) {
        const Node *n = &g->s->g->nodes[it->nodes[i]];
        for (int k = 0; k < n->n_in + n->n_out; k++)
            take_named(g, it, nth_operand(n, k), &best);
    }
    for (int k = 0; k < it->n_in + it->n_out; k++)
        take_named(g, it, it->operands[k].value, &best);
    return best;
}

char *item_count_text(Gen *g, const Item *it, uint32_t dims, int64_t by)
{
    ValueId v = walked_value(g, it);

    for (int i = 0; i < it->rank && !v; i++)
        by *= dims >> i & 1 ? it->dim[i] : 1;
    return count_text(g, v, v ? dims : 0, by);
}

char *walk_count_text(Gen *g, const Item *it, int from, int to, int64_t by)
{
    uint32_t dims = 0;

    for (int i = from; i < to; i++)
        dims |= 1u << it->group.axis[i];
    return item_count_text(g, it, dims, by);
}

bool find_inner(int rank, const int64_t *dim, const int64_t *stride, int i, uint32_t *inner)
{
    int64_t n = 1;

    *inner = 0;
    for (int k = 0; k < rank; k++)
        if (dim[k] > 1 && stride[k] && stride[k] < stride[i]) {
            *inner |= 1u << k;
            n *= dim[k];
        }
    return n == stride[i];
}

void generate_sizes(Gen *g, Text *t)
{
    const Sizes *s = g->sizes;
    Text names = {0};

    for (int i = 0; i < s->n_names; i++)
        if (s->name[i].is_used)
            text_printf(&names, "%s %s = %" PRId64, names.n ? "," : "", s->name[i].name,
                        s->name[i].size);
    if (names.n)
        print_wrapped(t, 0, arena_string(g->arena, "static const int64_t%s;", names.s));
    text_free(&names);
}
