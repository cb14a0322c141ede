// Walks over nodes: imports each, enters subgraphs and functions, and lists missing operators.
#include "frontend/internal.h"

const OpTable import_tables[] = {
    {"Elementwise", import_elementwise},
    {"Trigonometric and hyperbolic", import_trigonometry},
    {"Bits", import_bits},
    {"Activations", import_activation},
    {"Products", import_contraction},
    {"Attention", import_attention},
    {"Windows", import_window},
    {"Windows, inverse", import_unpool},
    {"Resampling", import_resampling},
    {"Norms", import_norm},
    {"Losses", import_loss},
    {"Reductions and orders", import_reduce},
    {"Shapes", import_shape},
    {"Parts", import_part},
    {"Padding", import_pads},
    {"Indexing", import_indexing},
    {"Scatters", import_scatter},
    {"Sources", import_source},
    {"Random numbers, dropout", import_random},
    {"Control", import_control},
    {"Recurrent layers", import_rnn},
    {"Sequences", import_sequence},
    {"Signals", import_signal},
    {"Sampling", import_sample},
    {"Regions", import_roi},
    {"Linear attention", import_linear},
    {0},
};

static const OpImporter *importer_find(const char *type)
{
    for (const OpTable *t = import_tables; t->theme; t++)
        for (const OpImporter *l = t->importer; l->type; l++)
            if (!strcmp(l->type, type))
                return l;
    return NULL;
}

// ---- where a node came from ----

// The exporter's module path: the last but one of "['', 'model', 'model.h.0', 'add']". Without that
// metadata, the folder of a name like "/model/h.0/Add".
static const char *scope_of(Import *x, const Onnx__NodeProto *node)
{
    const char *scopes =
        metadata_value(node->n_metadata_props, node->metadata_props, "pkg.torch.onnx.name_scopes");

    if (scopes) {
        const char *last = NULL, *before = NULL;
        size_t n_last = 0, n_before = 0;
        for (const char *s = strchr(scopes, '\''), *e; s && (e = strchr(s + 1, '\''));
             s = strchr(e + 1, '\'')) {
            before = last, n_before = n_last;
            last = s + 1, n_last = (size_t)(e - s - 1);
        }
        return before ? arena_copy(x->arena, before, n_before) : "";
    }
    const char *name = node->name ? node->name : "", *slash = strrchr(name, '/');
    if (name[0] != '/' || slash == name)
        return "";
    char *scope = arena_copy(x->arena, name + 1, (size_t)(slash - name - 1));
    for (char *c = scope; *c; c++)
        *c = *c == '/' ? '.' : *c;
    return scope;
}

// The names that the graph has for a node of the file. A body is walked in each trip, but its names
// are made only once.
typedef struct Origin {
    const Source *source;
    const char **out;  // names of the outputs
} Origin;

static const Source *source_of(Import *x, const Onnx__NodeProto *node)
{
    Source *s = arena_array(x->arena, Source, 1);
    const char *name = node->name && *node->name ? node->name
                       : node->n_output          ? node->output[0]
                       : node->op_type           ? node->op_type
                                                 : "";
    s->name = arena_string(x->arena, "%s", name);
    s->scope = scope_of(x, node);
    return s;
}

static Origin origin_of(Import *x, const Onnx__NodeProto *node)
{
    char key[PART_KEY];
    int32_t i = map_get(&x->origins, part_key(key, node));

    if (i)
        return x->origin[i - 1];
    Origin o = {source_of(x, node), arena_array(x->arena, const char *, node->n_output + 1)};
    for (size_t k = 0; k < node->n_output; k++)
        o.out[k] = arena_string(x->arena, "%s", node->output[k]);
    *arena_push(x->scratch, x->origin, x->n_origins, x->cap_origins) = o;
    map_set(&x->origins, arena_string(x->scratch, "%s", key), x->n_origins);
    return o;
}

// Counts the values and nodes that were made. Returns false if they are more than the importer may
// make, or if the model is too large; that error is reported once.
static bool is_within(Import *x)
{
    static const char what[] = "the model is too large once its loops are unrolled: more than";
    const int64_t most = MAX_UNROLLED + (int64_t)x->size / NODE_BYTES;
    const int64_t made = x->g->n_values + x->g->n_nodes - x->made;
    Diag *d = x->is_too_large ? NULL : x->diag;

    x->walked++;
    x->unrolled += x->bodies ? made : 0;
    x->made += made;
    x->is_too_large = true;
    if (x->walked > MAX_WALK)
        diag_error(d, "%s %d nodes of the file", what, MAX_WALK);
    else if (x->unrolled > most)
        diag_error(d, "%s %" PRId64 " values and nodes", what, most);
    else if (x->g->n_nodes > MAX_GRAPH)
        diag_error(d, "%s %d nodes", what, MAX_GRAPH);
    else if (x->named > MAX_NAMED + 8 * (int64_t)x->size)
        diag_error(d, "%s %d MiB of names", what, MAX_NAMED >> 20);
    else
        x->is_too_large = false;
    return budget_add(x->g->budget, BUDGET_importing, made) && !x->is_too_large;
}

// ---- graphs and functions ----

// Walks the body in its own frame.
static bool walk_body(Op *o, Frame *f, const Onnx__GraphProto *body, const Symbol *in, Symbol *out)
{
    Import *x = o->x;

    if (!frame_initializers(x, f, body))
        return false;
    for (size_t i = 0; i < body->n_input; i++) {
        Symbol *item = frame_define(x, f, body->input[i]->name ? body->input[i]->name : "");
        if (!item)
            return false;
        *item = in[i];
    }
    char **outputs = names_of(f->arena, body->n_output, body->output);
    bool is_whole = true;
    if (!is_within(x) || !walk_nodes(x, f, body->n_node, body->node, body->n_output, outputs))
        return false;
    for (size_t i = 0; i < body->n_output; i++) {
        const Symbol *item = frame_find(x, f, outputs[i]);
        if (!item)
            return op_error(o, "its subgraph's output '%.200s' is not defined", outputs[i]);
        out[i] = *item;
        is_whole &= !item->failed;
    }
    o->failed = !is_whole;
    return is_whole;
}

bool walk_subgraph(Op *o, const Onnx__GraphProto *body, int n_in, const Symbol *in, int n_out,
                   Symbol *out)
{
    Frame f;

    o->failed = true;
    o->ends_parts = true;
    if (body->n_input != (size_t)n_in || body->n_output != (size_t)n_out)
        return op_error(o, "its subgraph has %zu inputs and %zu outputs, expected %d and %d",
                        body->n_input, body->n_output, n_in, n_out);
    o->x->bodies++;
    bool ok = frame_open(o->x, &f, o->frame, NULL, NULL) && walk_body(o, &f, body, in, out);
    o->x->bodies--;
    frame_close(&f);
    return ok;
}

static void walk_definition(Op *o, Frame *f, const Onnx__FunctionProto *body)
{
    Import *x = o->x;

    for (size_t i = 0; i < body->n_input; i++) {
        Symbol *item = frame_define(x, f, body->input[i]);
        if (!item)
            return;
        if (i < (size_t)o->n_in)
            *item = o->in[i];
    }
    if (!walk_nodes(x, f, body->n_node, body->node, body->n_output, body->output))
        return;
    for (int i = 0; i < o->n_out; i++) {
        const Symbol *item = frame_find(x, f, body->output[i]);
        if (item)
            o->out[i] = *item;
        else if (wants(o, i))
            op_error(o, "output '%.200s' of function %.100s is not defined", body->output[i],
                     o->node->op_type);
    }
}

static void walk_function(Op *o, const Onnx__FunctionProto *body)
{
    Frame f;

    if ((size_t)o->n_in > body->n_input || (size_t)o->n_out > body->n_output) {
        op_error(o, "function %.100s has %zu inputs and %zu outputs, the call %d and %d",
                 o->node->op_type, body->n_input, body->n_output, o->n_in, o->n_out);
        return;
    }
    o->failed = true;  // errors in the body's outputs were reported there
    o->ends_parts = true;
    if (frame_open(o->x, &f, NULL, body, o))
        walk_definition(o, &f, body);
    frame_close(&f);
}

// ---- nodes ----

static bool is_default_domain(const char *domain)
{
    return !domain || !*domain || !strcmp(domain, "ai.onnx");
}

static int opset_of(const Frame *f)
{
    for (size_t i = 0; i < f->n_opset; i++)
        if (is_default_domain(f->opset[i]->domain))
            return (int)f->opset[i]->version;
    return 0;
}

static void report_missing(Import *x, const Op *o, const char *domain)
{
    const char *name = arena_string(x->scratch, "%.100s%s%.100s (opset %d)", domain,
                                    *domain ? "::" : "", o->node->op_type, o->opset);
    Missing *m = NULL;

    for (int i = 0; i < x->n_missing && !m; i++)
        if (!strcmp(x->missing[i].operator, name))
            m = &x->missing[i];
    if (!m) {
        m = arena_push(x->scratch, x->missing, x->n_missing, x->cap_missing);
        *m = (Missing){.operator= name };
    }
    const char **node = arena_push(x->scratch, m->node, m->n, m->cap);
    *node = o->g->source->name;
}

void walk_report(const Import *x)
{
    enum { SHOWN = 8 };

    for (int i = 0; i < x->n_missing; i++) {
        const Missing *m = &x->missing[i];
        diag_error(x->diag, "operator %s is not supported", m->operator);
        for (int k = 0; k < m->n && k < SHOWN; k++)
            diag_note(x->diag, "node '%.200s'", m->node[k]);
        if (m->n > SHOWN)
            diag_note(x->diag, "and %d more", m->n - SHOWN);
    }
}

static bool has_word(const char *words, const char *word)
{
    size_t n = strlen(word);

    for (const char *s = words; n && s && (s = strstr(s, word)); s += n)
        if ((s == words || s[-1] == ' ') && (!s[n] || s[n] == ' '))
            return true;
    return false;
}

// Refuses attributes that the importer doesn't know, because a newer operator set may use one to
// change what the operator means.
static bool check_attributes(Op *o, const OpImporter *l)
{
    for (size_t i = 0; i < o->node->n_attribute; i++) {
        const char *name = o->node->attribute[i]->name;
        if (!name || !has_word(l->attrs, name))
            return op_error(o, "attribute '%.100s' is not supported", name ? name : "");
    }
    return true;
}

static void import_by_table(Op *o, const OpImporter *l)
{
    if (!check_attributes(o, l))
        return;
    if (o->n_in < l->min_in || o->n_in > l->max_in) {
        op_error(o, "has %d inputs, expected %d to %d", o->n_in, l->min_in, l->max_in);
        return;
    }
    if (o->n_out > (l->max_out ? l->max_out : 1)) {
        op_error(o, "has %d outputs, expected %d at most", o->n_out, l->max_out ? l->max_out : 1);
        return;
    }
    for (int i = 0; i < l->min_in; i++)
        if (!has(o, i)) {
            op_error(o, "input %d is required", i);
            return;
        }
    if (l->unary) {
        give(o, 0, l->unary(o->g, arg(o, 0)));
    } else if (l->binary) {
        ValueId a = arg(o, 0), b = arg(o, 1);
        broadcast_pair(o, &a, &b);
        give(o, 0, l->binary(o->g, a, b));
    } else {
        l->import(o);
    }
}

static const Onnx__FunctionProto *function_of(Import *x, const Onnx__NodeProto *node)
{
    if (!x->model->n_functions)
        return NULL;
    const char *key = arena_string(x->scratch, "%s\n%s\n%s", node->domain ? node->domain : "",
                                   node->op_type, node->overload ? node->overload : "");
    int32_t i = map_get(&x->functions, key);
    return i ? x->model->functions[i - 1] : NULL;
}

// Finds the symbols of the node's inputs; `numbers` is the importer's mask. Returns false if one
// doesn't exist (reported) or could not be made.
static bool find_inputs(Op *o, uint32_t numbers)
{
    Symbol *in = arena_array(o->frame->arena, Symbol, o->n_in + 1);

    o->in = in;
    for (int i = 0; i < o->n_in; i++) {
        const char *name = o->node->input[i];
        if (!*name)
            continue;
        bool is_number = i < 32 && numbers >> i & 1;
        const Symbol *item = is_number ? NULL : frame_find(o->x, o->frame, name);
        if (is_number ? !frame_find_numbers(o->x, o->frame, name, &in[i]) : !item) {
            o->x->has_undefined = true;
            return op_error(o, "input '%.200s' is not defined before it", name);
        }
        if (item)
            in[i] = *item;
        if (in[i].failed)
            return false;
    }
    return true;
}

// Imports one node. After an error, which has been reported, its outputs stay empty.
static void import_node(Op *o)
{
    const char *domain = is_default_domain(o->node->domain) ? "" : o->node->domain;
    const Onnx__FunctionProto *f = function_of(o->x, o->node);
    const OpImporter *l = *domain ? NULL : importer_find(o->node->op_type);

    if (!f && !l) {
        report_missing(o->x, o, domain);
        o->failed = true;
        return;
    }
    if (!find_inputs(o, f ? 0 : l->numbers)) {
        o->failed = true;
        return;
    }
    if (f)
        walk_function(o, f);
    else
        import_by_table(o, l);
}

static bool is_nameless(const Op *o, int i)
{
    return o->out[i].value && !value_of(o->g, o->out[i].value)->name;
}

static bool walk_node(Import *x, Frame *f, const Onnx__NodeProto *node)
{
    Op o = {.x = x, .g = x->g, .node = node, .frame = f, .opset = opset_of(f)};

    const Source *before = x->g->source;
    Origin origin = origin_of(x, node);
    x->g->source = origin.source;
    if (!node->op_type) {
        diag_error(x->diag, "node '%.200s' has no operator", x->g->source->name);
        return false;
    }
    if (node->n_input > MAX_OPERANDS || node->n_output > MAX_OPERANDS) {
        diag_error(x->diag, "node '%.200s' (%.100s): %zu inputs and %zu outputs, at most %d each",
                   x->g->source->name, node->op_type, node->n_input, node->n_output, MAX_OPERANDS);
        return false;
    }
    o.n_in = (int)node->n_input;
    o.n_out = (int)node->n_output;
    x->named += o.n_in + o.n_out;  // inputs and outputs without a name take time too
    o.out = arena_array(f->arena, Symbol, o.n_out + 1);
    import_node(&o);
    if (o.in) {  // an operator that isn't supported gets no inputs
        stop_outputs(&o);
        ragged_check(&o);
    }
    for (int i = 0; i < o.n_out; i++) {
        if (!*node->output[i])
            continue;
        Symbol *item = frame_define(x, f, node->output[i]);
        if (!item)
            return false;
        *item = o.out[i];
        if (!item->value && !item->is_sequence) {
            if (!o.failed)
                op_error(&o, "output '%.200s' is not supported", node->output[i]);
            item->failed = true;
        }
        if (is_nameless(&o, i))
            value_edit(x->g, item->value)->name = origin.out[i];
        if (f->depth == 1 && item->value)
            bind_check(x, node->output[i], item->value);
    }
    x->g->source = before;
    known_update(x);
    return is_within(x);
}

static void need_graph(Map *needed, const Onnx__GraphProto *g, int depth);

static void need_node(Map *needed, const Onnx__NodeProto *node, int depth)
{
    for (size_t i = 0; i < node->n_input; i++)
        map_set(needed, node->input[i], 1);
    for (size_t i = 0; i < node->n_attribute; i++)
        if (node->attribute[i]->g)
            need_graph(needed, node->attribute[i]->g, depth + 1);
}

// A subgraph sees the names around it, so all names that it mentions are needed.
static void need_graph(Map *needed, const Onnx__GraphProto *g, int depth)
{
    for (size_t i = 0; i < g->n_node && depth < MAX_NESTING; i++)
        need_node(needed, g->node[i], depth);
    for (size_t i = 0; i < g->n_output; i++)
        if (g->output[i]->name)
            map_set(needed, g->output[i]->name, 1);
}

// Imports the nodes that the outputs need, in their order.
bool walk_nodes(Import *x, Frame *f, size_t n, Onnx__NodeProto **node, size_t n_outputs,
                char **outputs)
{
    Map needed = {.arena = f->arena};
    bool *is_needed = arena_array(f->arena, bool, n + 1);
    size_t size = 0;

    for (size_t i = 0; i < n_outputs; i++)
        map_set(&needed, outputs[i], 1);
    for (size_t i = n; i-- > 0;) {
        for (size_t k = 0; k < node[i]->n_output; k++)
            is_needed[i] |= *node[i]->output[k] && map_get(&needed, node[i]->output[k]);
        if (is_needed[i])
            need_node(&needed, node[i], 1);
        size += 1 + node[i]->n_input + node[i]->n_output;
    }
    budget_allow(x->g->budget, BUDGET_importing, (int64_t)size);
    for (size_t i = 0; i < n; i++)
        if (is_needed[i] && !walk_node(x, f, node[i]))
            return false;
    return true;
}
