// Finds the values through which no gradient flows. PyTorch's detach() is an Identity, which only
// the exporter's metadata tell from others: the node's namespace ends with aten.detach.default.
// --stop-gradient names values and modules for what leaves no trace in the file.
#include "frontend/internal.h"

// Does the text of an exporter's metadata end with the operator detach, detach_ or detach_copy?
static bool ends_with_detach(const char *s)
{
    const char *at = NULL;

    for (const char *next = s; (next = strstr(next, "aten.detach")); next++)
        at = next;
    if (!at || at == s || !strchr(" '", at[-1]))
        return false;
    at += strlen("aten.detach");
    at += strspn(at, "_copy");
    return !strcmp(at, ".default") || !strcmp(at, ".default']");
}

static bool is_detach(const Onnx__NodeProto *node)
{
    for (size_t i = 0; i < node->n_metadata_props; i++) {
        const Onnx__StringStringEntryProto *p = node->metadata_props[i];
        bool says =
            p->key && p->value &&
            (!strcmp(p->key, "namespace") || !strcmp(p->key, "pkg.torch.onnx.class_hierarchy"));
        if (says && ends_with_detach(p->value))
            return true;
    }
    return false;
}

// Was the node exported with an operand that was detached? Its arguments still say so if the
// exporter has dropped the detach() itself.
static bool reads_detached(const Onnx__NodeProto *node)
{
    const char *args = strstr(fx_node_of(node), "](args = (");

    for (const char *s = args; s && (s = strstr(s, "%detach")); s++) {
        const char *end = s + strlen("%detach");
        end += strspn(end, "_0123456789");
        if (strchr(",)]", *end))
            return true;
    }
    return false;
}

// Does the glob match the module's path, or that of a module around it?
static bool matches_module(Import *x, const char *glob, const char *scope)
{
    for (const char *end = scope; *end; end++) {
        const char *dot = strchr(end, '.');
        end = dot ? dot : end + strlen(end);
        if (glob_match(glob, arena_copy(x->scratch, scope, (size_t)(end - scope))))
            return true;
        if (!dot)
            break;
    }
    return false;
}

// Does --stop-gradient name output i of the node, or its module?
static bool is_named(Import *x, const Onnx__NodeProto *node, int i)
{
    bool any = false;

    for (int k = 0; k < x->o->n_stop; k++)
        if (glob_match(x->o->stop[k], node->output[i]) ||
            matches_module(x, x->o->stop[k], x->g->source->scope))
            x->stop_used[k] = any = true;
    return any;
}

bool is_learned(Import *x, ValueId of)
{
    const Graph *g = x->g;

    while (x->n_learned < g->n_values) {
        ValueId v = x->n_learned;
        const Value *value = value_of(g, v);
        const Node *n = value->producer ? producer(g, v) : NULL;
        bool any = value->kind == VALUE_PARAMETER;
        for (int i = 0; n && !n->op->is_flat && i < n->n_in; i++)
            any |= x->learned[n->in[i]];
        *arena_push(x->scratch, x->learned, x->n_learned, x->cap_learned) =
            any && dtype_is_float(value->dtype);
    }
    return x->learned[of];
}

static ValueId stopped(Import *x, ValueId v)
{
    return v && is_learned(x, v) ? make_stop_gradient(x->g, v) : v;
}

static void stop_symbol(Import *x, Symbol *s)
{
    ValueId *element = arena_array(x->scratch, ValueId, s->n + 1);

    s->value = stopped(x, s->value);
    for (int i = 0; i < s->n; i++)
        element[i] = stopped(x, s->element[i]);
    s->element = element;
}

void stop_outputs(Op *o)
{
    Import *x = o->x;
    bool detaches = is_detach(o->node);

    if (!x->o->training)
        return;
    x->has_detach |= detaches;
    for (int i = 0; i < o->n_out; i++)
        if (wants(o, i) && (is_named(x, o->node, i) || detaches))
            stop_symbol(x, &o->out[i]);
    for (int i = 0; i < o->n_in && !x->lost_detach; i++)
        if (arg(o, i) && is_learned(x, arg(o, i)) && reads_detached(o->node))
            x->lost_detach = x->g->source->name;
}

void stop_warn(const Import *x)
{
    for (int i = 0; i < x->o->n_stop; i++)
        if (!x->stop_used[i] && x->o->training)
            diag_warn(x->diag,
                      "--stop-gradient '%.200s': no node's output and no module has such "
                      "a name",
                      x->o->stop[i]);
    if (x->lost_detach && !x->has_detach)
        diag_warn(x->diag,
                  "the exporter has dropped a detach() before node '%.200s': gradients flow there "
                  "(torch.onnx.export: optimize=False keeps it; or use --stop-gradient)",
                  x->lost_detach);
}
