// Warns of batch norms that the exporter has folded into the layers before them, as PyTorch's
// exporters do by default with a model in eval mode: what is trained is a model without them.
//
// The newer exporter lists the module's buffers in the graph's metadata, also those that are gone.
// The older one gives convolutions weights with names of its own.
#include "frontend/internal.h"

#define SIGNATURE "pkg.torch.export.ExportedProgram.graph_signature"
#define MEAN "running_mean"

// Warns of batch norms whose running mean the module has and the file hasn't.
static void warn_of_lost(const Import *x, const char *signature, const Map *names)
{
    static const char begin[] = ": BUFFER target='";
    const char *first = NULL;
    int n = 0;

    for (const char *s = signature; (s = strstr(s, begin));) {
        s += sizeof begin - 1;
        size_t length = strcspn(s, "'\n"), end = sizeof MEAN - 1;
        const char *name = arena_copy(x->scratch, s, length);
        bool is_mean = length >= end && !strcmp(name + length - end, MEAN);
        if (!is_mean || map_get(names, name))
            continue;
        n++;
        if (!first)
            first = arena_copy(x->scratch, name, length > end ? length - end - 1 : 0);
    }
    if (n)
        diag_warn(x->diag,
                  "%d batch norms of the module, the first is '%.200s', aren't in the file: the "
                  "exporter has folded them into the layers before them, so they aren't trained "
                  "(torch.onnx.export: optimize=False keeps them)",
                  n, first);
}

// Warns of convolutions whose weights have a name of the older exporter's own.
static void warn_of_made_up(const Import *x, const Map *names)
{
    const Onnx__GraphProto *g = x->model->graph;
    const char *first = NULL;
    int n = 0;

    for (size_t i = 0; i < g->n_node; i++) {
        const Onnx__NodeProto *node = g->node[i];
        bool is_conv = node->op_type && !strncmp(node->op_type, "Conv", 4) && node->n_input > 1;
        if (!is_conv || strncmp(node->input[1], "onnx::Conv", 10) ||
            !map_get(names, node->input[1]))
            continue;
        first = n++ ? first : node->name ? node->name : "";
    }
    if (n)
        diag_warn(
            x->diag,
            "the weights of %d convolutions, the first is node '%.200s', aren't parameters of "
            "the module: the exporter computed them, as it folds batch norms into them, which "
            "aren't trained then (torch.onnx.export: dynamo=True and optimize=False, or "
            "training=TrainingMode.TRAINING and do_constant_folding=False, keep them)",
            n, first);
}

void folded_warn(const Import *x)
{
    const Onnx__GraphProto *g = x->model->graph;
    const char *signature = metadata_value(g->n_metadata_props, g->metadata_props, SIGNATURE);
    Map names = {.arena = x->scratch};

    for (size_t i = 0; i < g->n_initializer; i++)
        if (g->initializer[i]->name)
            map_set(&names, g->initializer[i]->name, 1);
    if (signature)
        warn_of_lost(x, signature, &names);
    else
        warn_of_made_up(x, &names);
}
