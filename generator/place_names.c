// Names each place in the arena after what lies there: a parameter, a result of a module or of an
// operator in it, or a gradient of these.
#include <string.h>

#include "generator/place_names.h"
#include "generator/sizes.h"

// How well a value names its place, which may hold several one after the other: an output of the
// program names it best, then a module's result.
enum { OF_OPERATOR, OF_MODULE, OF_PROGRAM };

// The names of one graph.
typedef struct Namer {
    Gen *g;
    const Graph *graph;
    int set;
    const Output **output;  // by ValueId
    const char **module;    // by NodeId: its path
    bool *leaves;           // by ValueId: does another module read it, in the same phase?
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

// "GELU_OUT", "D_GELU_IN"; "LN_1_DIV" if no other module reads it; "ADAMW_C_FC_WEIGHT".
static char *made_name(Namer *x, ValueId v)
{
    Gen *g = x->g;
    const Node *n = producer(x->graph, v);
    const char *module = upper(g, x->module[value_of(x->graph, v)->producer], 1);
    const char *op = strncmp(n->op->name, "reduce_", 7) ? n->op->name : n->op->name + 7;
    const char *end = !x->leaves[v] ? upper(g, op, 1) : n->phase == BACKWARD ? "IN" : "OUT";

    if (n->phase == UPDATE && n->source && n->source->scope && *n->source->scope)
        end = upper(g, layered_path(g->arena, x->graph, n->block, n->source->scope), 2);
    return arena_string(g->arena, "%s%s%s%s", n->phase == BACKWARD ? "D_" : "", module,
                        *module ? "_" : "", end);
}

static const char *name_of(Namer *x, ValueId v)
{
    Gen *g = x->g;
    const Output *o = x->output[v];

    if (!value_of(x->graph, v)->producer)
        return input_name(x, v);
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

static char *place_key(Gen *g, int32_t buffer, int64_t offset)
{
    return arena_string(g->arena, "%d.%" PRId64, buffer, offset);
}

// Notes that the value `v` of the graph, or no value, lies at a place. The first step that it moves
// by with a loop's iterations is the stack's.
static void note_place(Namer *x, int32_t buffer, int64_t offset, ValueId v, int64_t step)
{
    Gen *g = x->g;
    const Buffer *b = &g->p->buffers[buffer];
    char *key = place_key(g, buffer, offset);
    int known = map_get(&g->places, key);

    if (!known) {
        *arena_push(g->arena, g->place, g->n_places, g->cap_places) =
            (PlaceName){.group = b->kind == BUFFER_PERSISTENT ? N_SETS : b->set,
                        .rank = -1,
                        .at = b->offset + offset};
        map_set(&g->places, key, known = g->n_places);
    }
    PlaceName *place = &g->place[known - 1];
    int rank = v ? rank_of(x, v) : OF_OPERATOR;
    place->step = place->step ? place->step : step;
    if (rank <= place->rank)
        return;
    place->name = v ? name_of(x, v) : b->kind == BUFFER_POOLS ? "SLOTS" : "WORK";
    place->rank = rank;
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
                note_place(x, o->address.buffer, o->address.first - b->offset, o->base,
                           o->address.move[0].step);
        }
}

void find_place_names(Gen *g)
{
    Namer of[N_SETS] = {{0}};

    for (int i = 0; i < N_SETS; i++)
        if (g->p->set[i].g)
            of[i] = namer_of(g, i);
    for (int i = 1; i < g->p->n_buffers; i++)
        if (g->p->buffers[i].kind == BUFFER_PERSISTENT)
            note_place(&of[g->p->buffers[i].set], i, 0, g->p->buffers[i].value, 0);
    for (int i = 0; i < N_SETS; i++)
        if (g->p->set[i].g)
            note_operands(&of[i]);
    for (int i = 1; i < g->p->n_buffers; i++)
        if (g->p->buffers[i].kind != BUFFER_PERSISTENT)
            note_place(&of[g->p->buffers[i].set], i, 0, g->p->buffers[i].value, 0);
    find_sizes(g);
    for (int i = 0; i < g->n_places; i++) {
        PlaceName *place = &g->place[i];
        bool is_second = place->group == SET_PREDICT && g->p->set[SET_TRAIN].g;
        place->name = identifier_take(
            &g->identifiers, is_second ? arena_string(g->arena, "F_%s", place->name) : place->name);
    }
}

const PlaceName *use_place(Gen *g, int32_t buffer, int64_t offset)
{
    PlaceName *place = &g->place[map_get(&g->places, place_key(g, buffer, offset)) - 1];

    place->is_used = true;
    return place;
}

const char *place_offset(Gen *g, int32_t buffer, int64_t offset)
{
    const PlaceName *place = use_place(g, buffer, offset);

    return place->step ? arena_string(g->arena, "%s.first", place->name) : place->name;
}

// Declares the places of a group that are stacks, or those that are not.
static void declare_places(const Gen *g, int group, bool are_stacks, Text *t)
{
    const char *type = are_stacks ? "RtStack" : "int64_t";
    List l = {.t = t, .indent = 4, .between = ",", .end = ""};

    for (int k = 0; k < g->n_places; k++) {
        const PlaceName *x = &g->place[k];
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

void generate_places(Gen *g, Text *t)
{
    for (int i = 0; i <= N_SETS; i++) {
        int group = (i + N_SETS) % (N_SETS + 1);  // persistent places first
        declare_places(g, group, false, t);
        declare_places(g, group, true, t);
    }
    if (g->has_workspace)
        text_printf(t, "#define WITH(workspace) rt_with(rt, m + workspace)\n");
    if (g->has_stacks)
        text_printf(t, "#define AT(stack, layer) (m + (stack).first + (layer) * (stack).step)\n");
}
