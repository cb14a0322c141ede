// Imports a model as a whole: its functions, inputs, initializers, nodes, outputs and weights.
#include "frontend/weight_file.h"

static void scan_functions(Import *x)
{
    x->functions.arena = x->scratch;
    for (size_t i = 0; i < x->model->n_functions; i++) {
        const Onnx__FunctionProto *f = x->model->functions[i];
        map_set(&x->functions,
                arena_string(x->scratch, "%s\n%s\n%s", f->domain ? f->domain : "",
                             f->name ? f->name : "", f->overload ? f->overload : ""),
                (int32_t)i + 1);
    }
}

static void add_outputs(Import *x, const Frame *f, size_t n, char **outputs)
{
    if (!n)
        diag_error(x->diag, "the model has no outputs");
    Map seen = {.arena = x->scratch};
    for (size_t i = 0; i < n; i++) {
        const Symbol *symbol = frame_find(x, f, outputs[i]);
        bool is_second = map_get(&seen, outputs[i]);

        map_set(&seen, outputs[i], 1);
        if (is_second)
            diag_error(x->diag, "two outputs are named '%.200s'", outputs[i]);
        else if (!symbol)
            diag_error(x->diag, "the model's output '%.200s' is not defined", outputs[i]);
        else if (symbol->is_sequence)
            diag_error(x->diag, "the model's output '%.200s' is a sequence", outputs[i]);
        else if (!symbol->failed && ragged_check_output(x, outputs[i], symbol->value))
            graph_output(x->g, arena_string(x->arena, "%s", outputs[i]), symbol->value,
                         OUTPUT_MODEL);
    }
}

// Drops parameters whose shape alone was read. (Unused constants are pruned elsewhere.)
static void drop_unused(Import *x)
{
    Graph *g = x->g;
    bool *used = arena_array(x->scratch, bool, g->n_values);

    for (NodeId n = 1; n < g->n_nodes; n++)
        for (int i = 0; i < g->nodes[n].n_in; i++)
            used[g->nodes[n].in[i]] = true;
    for (int i = 0; i < g->n_outputs; i++)
        used[g->outputs[i].value] = true;
    for (int i = 0; i < g->n_carries; i++)
        used[g->carries[i].in] = true;
    for (ValueId v = 1; v < g->n_values; v++) {
        ValueKind kind = g->values[v].kind;
        if (!used[v] && (kind == VALUE_PARAMETER || kind == VALUE_BUFFER))
            g->values[v].kind = VALUE_CONSTANT;
    }
    graph_prune(g);
}

// Replaces the lowest number of f16 in masks of the file's type: buffers, and inputs, which a cast
// has widened.
static bool read_masks(Import *x)
{
    const Graph *g = x->g;
    bool *is_f16 = arena_array(x->scratch, bool, g->n_values), any = false;
    Map is_half = {.arena = x->scratch};

    for (int i = 0; i < x->n_weights; i++)
        map_set(&is_half, x->weights[i].name, x->weights[i].dtype == F16);
    for (ValueId v = 1; v < g->n_values; v++) {
        const Value *value = value_of(g, v);
        const Node *n = producer(g, v);
        is_f16[v] = value->producer ? n->n_in == 1 && in(g, n, 0)->dtype == F16
                                    : value->kind == VALUE_BUFFER && map_get(&is_half, value->name);
        any |= is_f16[v];
    }
    return !any || half_masks_read(x->g, is_f16, x->diag);
}

// Lists the weights of the graph's parameters and buffers, in the graph's order.
static void list_weights(const Import *x, Weights *w)
{
    Map index = {.arena = x->scratch};

    for (int i = 0; i < x->n_weights; i++)
        map_set(&index, x->weights[i].name, i + 1);
    *w = (Weights){.weight = arena_array(x->arena, Weight, x->n_weights + 1),
                   .tensor = x->stored,
                   .n_tensors = x->n_stored,
                   .model = model_path(x->o->model),
                   .file = x->file,
                   .n_files = x->n_files,
                   .values = x->fills ? x->o->values : NULL};
    for (ValueId v = 1; v < x->g->n_values; v++) {
        const Value *value = &x->g->values[v];
        if (value->kind == VALUE_PARAMETER || value->kind == VALUE_BUFFER)
            w->weight[w->n++] = x->weights[map_get(&index, value->name) - 1];
    }
}

static void warn_padding(const Import *x)
{
    for (int i = 0; i < x->o->n_padding; i++)
        if (!x->padding_used[i] && x->o->training)
            diag_warn(x->diag, "--padding-index '%.200s': no embedding table has such a name",
                      x->o->padding[i]);
}

// Walks the model's nodes, and names its outputs. Returns false after an error.
static bool walk_model(Import *x, Frame *f)
{
    const Onnx__GraphProto *m = x->model->graph;
    int errors = x->diag->errors;

    if (!frame_open(x, f, NULL, NULL, NULL) || !frame_initializers(x, f, m))
        return false;
    bind_inputs(x, f);
    if (x->diag->errors != errors)
        return false;
    char **outputs = names_of(x->scratch, m->n_output, m->output);
    bool walked = walk_nodes(x, f, m->n_node, m->node, m->n_output, outputs);
    walk_report(x);
    if (!walked || x->diag->errors != errors) {
        if (x->o->accumulate > 1 && x->has_fixed_batch)
            diag_note(x->diag, "micro-batches need a model exported with a dynamic batch");
        if (x->has_undefined && !x->o->values)
            diag_note(x->diag, "a model that was exported without its parameters needs --weights");
        return false;
    }
    add_outputs(x, f, m->n_output, outputs);
    checks_give(&x->checks, x->g);
    return x->diag->errors == errors;
}

static void warn(const Import *x)
{
    if (x->n_unmarked)
        diag_warn(
            x->diag,
            "%d weights, the first is '%.200s', aren't parameters of the module: the exporter "
            "computed them from parameters (torch.onnx.export: optimize=False)",
            x->n_unmarked, x->unmarked);
    warn_padding(x);
    if (x->n_biased && !x->o->only_weights)
        diag_warn(x->diag,
                  "batch norms exported in training mode (%d, the first is node '%.200s') have the "
                  "running variance of a batch's values, as ONNX defines it, and not PyTorch's, "
                  "which is %" PRId64 "/%" PRId64 " times as large there (export model.eval() to "
                  "get that)",
                  x->n_biased, x->biased, x->biased_count, x->biased_count - 1);
    if (!x->o->only_weights)
        stop_warn(x);
    if (x->o->training && x->o->has_loss) {
        folded_warn(x);
        balance_warn(x);
    }
    if (x->has_batch_statistics)
        diag_warn(x->diag, "batch norms in training mode use each batch's statistics: samples that "
                           "fill up an incomplete last batch count too");
}

Graph *import_model(Import *x, Weights *w)
{
    const Onnx__GraphProto *m = x->model->graph;
    Frame f;

    x->g =
        graph_new(x->arena, m->name && *m->name ? arena_string(x->arena, "%s", m->name) : "model");
    x->g->training = x->o->training;
    x->g->diag = x->diag;
    x->g->budget = x->o->budget;
    x->padding_used = arena_array(x->scratch, bool, x->o->n_padding + 1);
    x->stop_used = arena_array(x->scratch, bool, x->o->n_stop + 1);
    scan_functions(x);
    params_scan(x);
    bool is_filled = x->o->values && !x->o->only_weights;
    if (!fill_scan(x) || !tie_scan(x) ||
        ((is_filled || (x->o->training && x->o->has_loss)) && !merged_check(x)))
        return NULL;
    bool ok = walk_model(x, &f);
    frame_close(&f);
    if (!ok)
        return NULL;
    warn(x);
    x->g->source = NULL;
    if (!fold(x->g, x->diag) || !read_masks(x) || !guards_read(x->g, x->diag))
        return NULL;
    drop_unused(x);
    if (w && !fill_report(x))
        return NULL;
    if (x->o->training && !x->o->only_weights)
        tie_warn(x);
    if (w)
        list_weights(x, w);
    return x->g;
}
