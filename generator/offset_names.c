// Names values in the arena: parameters, results of modules or of operators in them, and gradients
// of these. A name is that of a value, so several names may be of one offset.
#include <string.h>

#include "generator/offset_names.h"
#include "generator/sizes.h"
#include "ir/facts.h"

// How well a value names the buffer that it is in, which may hold several one after the other: an
// output of the program names it best, then a module's result.
enum { OF_OPERATOR, OF_MODULE, OF_PROGRAM };

// The names of one graph.
typedef struct Namer {
    Gen *g;
    const Graph *graph;
    int set;
    const Output **output;  // by ValueId
    const char **module;    // by NodeId: its path
    // By ValueId: does another module, or another iteration of the block, read it in its phase?
    bool *leaves, *leaves_block;
    const bool *is_adjoint;  // by ValueId, as the two that follow: facts of the graph
    const ValueId *again;
    const char *const *role;
} Namer;

static const char *module_of(Gen *g, const Graph *graph, const Node *n)
{
    const Source *from = n->source;
    bool has_scope = from && from->scope && *from->scope && n->phase != UPDATE;
    const char *s = has_scope ? from->scope : from ? from->name : NULL;

    return layered_path(g->arena, graph, n->block, s ? s : "");
}

static const char *value_path(Gen *g, const Graph *graph, ValueId v, const char *name)
{
    return layered_path(g->arena, graph, value_block(graph, v), name ? name : "");
}

// Views only hand on the value: they leave the module if their result does.
static void find_leaving(Namer *x)
{
    const Graph *graph = x->graph;

    for (NodeId i = graph->n_nodes - 1; i > 0; i--) {
        const Node *n = &graph->nodes[i];
        for (int k = 0; k < n->n_in; k++) {
            NodeId from = value_of(graph, n->in[k])->producer;
            if (!from || graph->nodes[from].phase != n->phase)
                continue;
            x->leaves[n->in[k]] |=
                strcmp(x->module[from], x->module[i]) != 0 || (n->op->view && x->leaves[n->out[0]]);
            x->leaves_block[n->in[k]] |= !is_same_block(graph->nodes[from].block, n->block) ||
                                         (n->op->view && x->leaves_block[n->out[0]]);
        }
    }
}

static Namer namer_of(Gen *g, int set)
{
    const Graph *graph = g->p->set[set].g;
    Namer x = {.g = g, .graph = graph, .set = set};

    x.output = arena_array(g->arena, const Output *, graph->n_values);
    x.module = arena_array(g->arena, const char *, graph->n_nodes);
    x.leaves = arena_array(g->arena, bool, graph->n_values);
    x.leaves_block = arena_array(g->arena, bool, graph->n_values);
    x.again = graph_made_again(g->arena, graph);
    x.is_adjoint = graph_adjoints(g->arena, graph, x.again);
    x.role = g->role[set] = graph_roles(g->arena, graph);
    for (int i = graph->n_outputs - 1; i >= 0; i--)
        x.output[graph->outputs[i].value] = &graph->outputs[i];
    for (int c = 1; c < graph->n_classes; c++)
        identifiers_add(&g->identifiers, graph->classes[c].name ? graph->classes[c].name : "");
    for (NodeId i = 1; i < graph->n_nodes; i++) {
        x.module[i] = module_of(g, graph, &graph->nodes[i]);
        if (g->p->set[set].address[graph->nodes[i].out[0]].buffer)
            identifiers_add(&g->identifiers, x.module[i]);
    }
    for (ValueId v = 1; v < graph->n_values; v++)
        if (!value_of(graph, v)->producer && value_of(graph, v)->kind != VALUE_STATE)
            identifiers_add(&g->identifiers,
                            value_path(g, graph, v, given_name(value_of(graph, v))));
    find_leaving(&x);
    return x;
}

static char *upper(Gen *g, const char *path, int least)
{
    return identifier_of(&g->identifiers, path, least);
}

// "C_FC_WEIGHT"; of the optimizer "C_FC_WEIGHT_EXP_AVG". Copies into another layout, which lowering
// adds, have no name.
static char *input_name(Namer *x, ValueId v)
{
    Gen *g = x->g;
    const Value *value = value_of(x->graph, v);
    const char *given = value_path(g, x->graph, v, given_name(value));
    char *path = arena_copy(g->arena, given, strlen(given));
    char *dot = value->kind == VALUE_STATE ? strrchr(path, '.') : NULL;

    if (value->kind == VALUE_ACTIVATION)
        return "COPY";
    if (!*path)
        return upper(g, value_kind_names[value->kind], 1);
    if (!dot)
        return upper(g, path, 2);
    *dot = 0;
    return arena_string(g->arena, "%s_%s", upper(g, path, 2), upper(g, dot + 1, 1));
}

// The end of a name: what the value is in its module.
static const char *end_of_name(Namer *x, ValueId v)
{
    Gen *g = x->g;
    const Node *n = producer(x->graph, v);
    const char *op = strncmp(n->op->name, "reduce_", 7) ? n->op->name : n->op->name + 7;

    if (n->phase == UPDATE && n->source && n->source->scope && *n->source->scope)
        return arena_string(
            g->arena, "%s_%s",
            upper(g, layered_path(g->arena, x->graph, n->block, n->source->scope), 2),
            upper(g, op, 1));
    if (x->role[v] && !x->is_adjoint[v] && !role_is_of_module(x->role[v]))
        return x->role[v];
    if (!x->leaves[v] || (n->phase != FORWARD && !x->is_adjoint[v]))
        return upper(g, op, 1);
    return n->phase == BACKWARD ? "IN" : "OUT";
}

// Is the module a block, whose operators are in none of its modules?
static bool is_whole_block(const char *module)
{
    size_t n = strlen(module);

    return n >= 2 && !strcmp(module + n - 2, "{}");
}

// "GELU_OUT", "D_GELU_IN"; "LN_1_DIV" if no other module reads it; "ADAMW_C_FC_WEIGHT".
static char *made_name(Namer *x, ValueId v)
{
    Gen *g = x->g;
    const char *path = x->module[value_of(x->graph, v)->producer];
    const char *module = upper(g, path, 1), *end = end_of_name(x, v);
    const char *before = x->is_adjoint[v] ? "D_" : "";

    if (is_whole_block(path) && !x->is_adjoint[v] && x->role[v] && role_is_of_module(x->role[v]))
        module = x->role[v];
    else if (is_whole_block(path) && !strcmp(end, "OUT") && !x->leaves_block[v])
        end = upper(g, producer(x->graph, v)->op->name, 1);
    return arena_string(g->arena, "%s%s%s%s", before, module, *module ? "_" : "", end);
}

static const char *name_of(Namer *x, ValueId v)
{
    Gen *g = x->g;
    const Output *o = x->output[v];

    if (!value_of(x->graph, v)->producer)
        return input_name(x, v);
    if ((!o || !o->name) && x->again[v] && !x->is_adjoint[v])
        return arena_string(g->arena, "RECOMPUTED_%s", name_of(x, x->again[v]));
    if (!o || !o->name)
        return made_name(x, v);
    bool is_gradient = o->role == OUTPUT_GRADIENT;
    return arena_string(g->arena, "%s%s", is_gradient ? "D_" : "",
                        upper(g, value_path(g, x->graph, v, o->name), is_gradient ? 2 : 1));
}

static int rank_of(const Namer *x, ValueId v)
{
    return x->output[v] ? OF_PROGRAM : x->leaves[v] ? OF_MODULE : OF_OPERATOR;
}

// Instances of a block have one name. A persistent offset has that of its first value, as the
// others are written over it for the next step.
static char *offset_key(Gen *g, int set, int32_t buffer, int64_t offset, ValueId v)
{
    const Graph *graph = g->p->set[set].g;

    if (g->p->buffers[buffer].kind == BUFFER_PERSISTENT || !v)
        return arena_string(g->arena, "%d.%" PRId64, buffer, offset);
    Block b = value_block(graph, v);
    bool is_made = value_of(graph, v)->producer != 0;
    int k = 0;
    while (is_made && producer(graph, v)->out[k] != v)
        k++;
    if (!b.cls)
        return arena_string(g->arena, "%d.%" PRId64 ".%d", buffer, offset, v);
    return arena_string(g->arena, "%d.%" PRId64 ".%d.%d.%d.%d.%d", buffer, offset, b.cls, b.pos,
                        b.again, k, is_made);
}

// Notes that the value `v` of the graph, or no value, lies at an offset. The first step that it
// moves by with a loop's iterations is the stack's.
static void note_offset(Namer *x, int32_t buffer, int64_t offset, ValueId v, int64_t step)
{
    Gen *g = x->g;
    const Buffer *b = &g->p->buffers[buffer];
    char *key = offset_key(g, x->set, buffer, offset, v);
    int known = map_get(&g->offsets, key);

    if (!known) {
        *arena_push(g->arena, g->offset, g->n_offsets, g->cap_offsets) =
            (NamedOffset){.name = v                         ? name_of(x, v)
                                  : b->kind == BUFFER_POOLS ? "SLOTS"
                                                            : "WORK",
                          .group = b->kind == BUFFER_PERSISTENT ? N_SETS : b->set,
                          .rank = v ? rank_of(x, v) : OF_OPERATOR,
                          .buffer = offset ? 0 : buffer,
                          .is_work = !v,
                          .at = b->offset + offset};
        map_set(&g->offsets, key, known = g->n_offsets);
    }
    NamedOffset *at = &g->offset[known - 1];
    at->step = at->step ? at->step : step;
}

static void note_operands(Namer *x)
{
    const Set *s = &x->g->p->set[x->set];

    for (int i = 0; i < s->n_items; i++)
        for (int k = 0; s->items[i].kind != ITEM_NONE && k < s->items[i].n_in + s->items[i].n_out;
             k++) {
            const Operand *o = &s->items[i].operands[k];
            const Buffer *b = &x->g->p->buffers[o->address.buffer];
            if (o->address.buffer)
                note_offset(x, o->address.buffer, o->address.first - b->offset, o->base,
                            o->address.move[0].step);
        }
}

// Finds the name of each buffer: that of the value that names it best. Where it is a stack, so is
// that value.
static void name_buffers(Gen *g)
{
    g->buffer_offset = arena_array(g->arena, int, g->p->n_buffers);
    for (int i = 0; i < g->n_offsets; i++) {
        const NamedOffset *x = &g->offset[i];
        int *best = &g->buffer_offset[x->buffer];
        const NamedOffset *y = *best ? &g->offset[*best - 1] : NULL;
        if (!y || !x->step < !y->step || (!x->step == !y->step && x->rank > y->rank))
            *best = i + 1;
    }
}

// Makes the names unique. Values of one name at one offset share it.
static void make_unique(Gen *g)
{
    Map known = {.arena = g->arena};

    for (int i = 0; i < g->n_offsets; i++) {
        NamedOffset *x = &g->offset[i];
        bool is_second = x->group == SET_PREDICT && g->p->set[SET_TRAIN].g;
        const char *name = is_second ? arena_string(g->arena, "F_%s", x->name) : x->name;
        char *key = arena_string(g->arena, "%s %d %" PRId64 " %" PRId64, x->is_work ? "" : name,
                                 x->group, x->at, x->step);
        x->same = map_get(&known, key);
        if (!x->same)
            map_set(&known, key, i + 1);
        x->name = x->same ? g->offset[x->same - 1].name : identifier_take(&g->identifiers, name);
    }
}

void find_offset_names(Gen *g)
{
    Namer of[N_SETS] = {{0}};

    for (int i = 0; i < N_SETS; i++)
        if (g->p->set[i].g)
            of[i] = namer_of(g, i);
    for (int i = 1; i < g->p->n_buffers; i++)
        if (g->p->buffers[i].kind == BUFFER_PERSISTENT)
            note_offset(&of[g->p->buffers[i].set], i, 0, g->p->buffers[i].value, 0);
    for (int i = 0; i < N_SETS; i++)
        if (g->p->set[i].g)
            note_operands(&of[i]);
    for (int i = 1; i < g->p->n_buffers; i++)
        if (g->p->buffers[i].kind != BUFFER_PERSISTENT)
            note_offset(&of[g->p->buffers[i].set], i, 0, g->p->buffers[i].value, 0);
    find_sizes(g);
    name_buffers(g);
    make_unique(g);
}

static const NamedOffset *use(Gen *g, int number)
{
    NamedOffset *at = &g->offset[number - 1];
    NamedOffset *first = at->same ? &g->offset[at->same - 1] : at;

    first->is_used = true;
    return at;
}

const NamedOffset *use_offset(Gen *g, int32_t buffer, int64_t offset, ValueId v)
{
    return use(g, map_get(&g->offsets, offset_key(g, g->set, buffer, offset, v)));
}

const NamedOffset *use_buffer(Gen *g, int32_t buffer) { return use(g, g->buffer_offset[buffer]); }

// Declares the offsets of a group that are stacks, or the others.
static void declare_offsets(const Gen *g, int group, bool are_stacks, Text *t)
{
    const char *type = are_stacks ? "RtStack" : "int64_t";
    List l = {.t = t, .indent = 4, .between = ",", .end = ""};

    for (int k = 0; k < g->n_offsets; k++) {
        const NamedOffset *x = &g->offset[k];
        bool is_declared = x->is_used && x->group == group;
        if (!is_declared || !x->step == are_stacks)
            continue;
        if (!l.n) {
            text_printf(t, "static const %s", type);
            l.column = (int)strlen("static const ") + (int)strlen(type);
        }
        list_add(&l, offset_room(x->at),
                 are_stacks ? arena_string(g->arena, "%s = {%" PRId64 ", %" PRId64 "}", x->name,
                                           x->at, x->step)
                            : arena_string(g->arena, "%s = %" PRId64, x->name, x->at));
    }
    if (l.n)
        text_printf(t, ";\n");
}

void generate_offsets(Gen *g, Text *t)
{
    for (int i = 0; i <= N_SETS; i++) {
        int group = (i + N_SETS) % (N_SETS + 1);  // persistent values first
        declare_offsets(g, group, false, t);
        declare_offsets(g, group, true, t);
    }
    if (g->has_workspace)
        text_printf(t, "#define WITH(workspace) rt_with(rt, m + workspace)\n");
    if (g->has_addresses)
        text_printf(t, "#define AT(offset) ((void *)(m + (offset)))\n");
    if (g->has_stacks)
        text_printf(t, "#define OF(stack, layer) ((stack).first + (layer) * (stack).step)\n");
}
