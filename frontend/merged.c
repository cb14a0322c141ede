// Finds parameters that the exporter has merged because their values were equal, as the weights
// and biases of all norms are in a model that isn't trained yet. They would be trained as one, or
// filled by --weights.
//
// PyTorch's older exporter writes an Identity, without metadata, instead of each merged one.
// The newer one (optimize=True) leaves a trace in the metadata alone: a node's call of PyTorch
// names its parameters, as %p_layers_0_bias. Tied parameters have one name there.
#include <ctype.h>

#include "frontend/internal.h"

// A float initializer that is trained.
typedef struct Merged {
    const char *name;
    bool has_owner;      // a node's call names it
    const char *node;    // the first node whose call names other parameters alone
    const char *called;  // the first of these
} Merged;

typedef struct Merges {
    Import *x;
    Map at;  // name → 1 + index in `list`
    Merged *list;
    int n;
} Merges;

// The next parameter or buffer that a call names, and its length; NULL: there is none.
static const char *next_named(const char *call, size_t *n)
{
    while ((call = strchr(call, '%')))
        if ((call[1] == 'p' || call[1] == 'b') && call[2] == '_') {
            *n = 3;
            while (call[*n] == '_' || isalnum((unsigned char)call[*n]))
                ++*n;
            return call;
        } else {
            call++;
        }
    return NULL;
}

// Is "%p_layers_0_bias" the exported form of "layers.0.bias"?
static bool is_named(const char *called, size_t n, const char *name)
{
    const char *s = called + 3;

    if (strlen(name) != n - 3)
        return false;
    for (; *name; name++, s++) {
        bool is_word = isalnum((unsigned char)*name);
        if (tolower((unsigned char)*s) != (is_word ? tolower((unsigned char)*name) : '_'))
            return false;
    }
    return true;
}

static Merged *find(const Merges *m, const char *name)
{
    int at = name ? map_get(&m->at, name) : 0;

    return at ? &m->list[at - 1] : NULL;
}

static bool is_name_of_input(const Onnx__NodeProto *node, const char *called, size_t n)
{
    for (size_t i = 0; i < node->n_input; i++)
        if (is_named(called, n, node->input[i]))
            return true;
    return false;
}

// Notes how the node's call names an initializer that it reads.
static void note_call(const Merges *m, const Onnx__NodeProto *node, const char *call, Merged *of)
{
    const char *other = NULL;
    size_t n, other_n = 0;

    for (const char *s = call; (s = next_named(s, &n)); s += n) {
        if (is_named(s, n, of->name)) {
            of->has_owner = true;
            return;
        }
        if (!other && !is_name_of_input(node, s, n)) {
            other = s;
            other_n = n;
        }
    }
    if (other && !of->called) {
        of->called = arena_copy(m->x->scratch, other + 1, other_n - 1);
        of->node = node->name ? node->name : "";
    }
}

static bool is_output(const Onnx__GraphProto *g, const char *name)
{
    for (size_t i = 0; i < g->n_output; i++)
        if (g->output[i]->name && !strcmp(g->output[i]->name, name))
            return true;
    return false;
}

// Is the node what the older exporter writes instead of a merged parameter?
static bool stands_for(const Merges *m, const Onnx__NodeProto *node)
{
    const Onnx__ModelProto *model = m->x->model;

    return node->op_type && !strcmp(node->op_type, "Identity") && !node->n_metadata_props &&
           node->n_input == 1 && node->n_output == 1 && model->producer_name &&
           !strcmp(model->producer_name, "pytorch") && !params_is_made_up(node->output[0]) &&
           !is_output(model->graph, node->output[0]);
}

// Must the initializer be one parameter alone? One that isn't trained must if it is filled.
static bool is_own(const Import *x, const Onnx__TensorProto *t)
{
    return params_is_trained(x, t) ||
           (x->fills && dtype_is_float(dtype_of_onnx(t->data_type)) && !params_is_made_up(t->name));
}

static void list_initializers(Merges *m)
{
    const Onnx__GraphProto *g = m->x->model->graph;

    m->at.arena = m->x->scratch;
    m->list = arena_array(m->x->scratch, Merged, g->n_initializer + 1);
    for (size_t i = 0; i < g->n_initializer; i++) {
        const char *name = g->initializer[i]->name;
        if (!name || !is_own(m->x, g->initializer[i]))
            continue;
        m->list[m->n++].name = name;
        map_set(&m->at, name, m->n);
    }
}

bool merged_check(Import *x)
{
    const Onnx__GraphProto *g = x->model->graph;
    Merges m = {.x = x};
    const Merged *first = NULL;
    const char *copy = NULL;
    int n_copies = 0;

    const char *done = x->o->has_loss ? "trained" : "filled";
    list_initializers(&m);
    for (size_t i = 0; i < g->n_node; i++) {
        const Onnx__NodeProto *node = g->node[i];
        const char *call = strstr(fx_node_of(node), "](args = (");
        for (size_t k = 0; k < node->n_input; k++) {
            Merged *of = find(&m, node->input[k]);
            if (of && call)
                note_call(&m, node, call, of);
            if (of && stands_for(&m, node)) {
                first = first ? first : of;
                copy = copy ? copy : node->output[0];
                n_copies += of == first;
            }
        }
    }
    if (copy) {
        diag_error(x->diag,
                   "'%.200s' and %d more parameters, the first is '%.200s', had equal values when "
                   "the file was written, so the exporter has made them one, which would be %s "
                   "as one: torch.onnx.export with training=TrainingMode.TRAINING and "
                   "do_constant_folding=False, or with dynamo=True and optimize=False, keeps them "
                   "apart",
                   first->name, n_copies, copy, done);
        return false;
    }
    for (int i = 0; i < m.n; i++)
        if (m.list[i].has_owner && m.list[i].called) {
            diag_error(x->diag,
                       "'%.200s' and other parameters had equal values when the file was written, "
                       "so the exporter has made them one, which would be %s as one: node "
                       "'%.200s' has '%.200s' there (torch.onnx.export: optimize=False keeps them "
                       "apart)",
                       m.list[i].name, done, m.list[i].node, m.list[i].called);
            return false;
        }
    return true;
}
