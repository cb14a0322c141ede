// Decides which initializers are learned. A float initializer is a parameter unless the exporter
// marked it as a buffer (torch.export's graph signature), --freeze names it, or its name is one
// that exporters give to numbers of their own. Batch norm makes its running statistics buffers
// itself. Two initializers with the same bytes of the same external file are one parameter.
#include "frontend/internal.h"

typedef enum Mark { MARK_NONE, MARK_PARAMETER, MARK_BUFFER } Mark;

static void scan_mark(Import *x, const char *name, size_t n, Onnx__StringStringEntryProto **prop)
{
    for (size_t i = 0; i < n && name; i++) {
        if (!prop[i]->key || !prop[i]->value ||
            strcmp(prop[i]->key, "pkg.torch.export.graph_signature.InputSpec.kind"))
            continue;
        bool is_parameter = !strcmp(prop[i]->value, "PARAMETER");
        if (is_parameter || !strcmp(prop[i]->value, "BUFFER") ||
            !strcmp(prop[i]->value, "CONSTANT_TENSOR"))
            map_set(&x->marks, name, is_parameter ? MARK_PARAMETER : MARK_BUFFER);
        x->has_marks = true;
    }
}

void params_scan(Import *x)
{
    const Onnx__GraphProto *m = x->model->graph;

    x->taken.arena = x->scratch;
    map_set(&x->taken, "__metadata__", 1);  // safetensors forbids this name for tensors
    x->marks.arena = x->scratch;
    x->balances.arena = x->scratch;
    x->by_bytes.arena = x->scratch;
    x->is_stored.arena = x->scratch;
    x->is_file.arena = x->scratch;
    x->origins.arena = x->scratch;
    x->literals.arena = x->scratch;
    for (size_t i = 0; i < m->n_value_info; i++)
        scan_mark(x, m->value_info[i]->name, m->value_info[i]->n_metadata_props,
                  m->value_info[i]->metadata_props);
    for (size_t i = 0; i < m->n_initializer; i++) {
        scan_mark(x, m->initializer[i]->name, m->initializer[i]->n_metadata_props,
                  m->initializer[i]->metadata_props);
        literal_file(x, m->initializer[i]);
    }
}

// Has the name a form that exporters give to numbers of their own, like "onnx::Mul_12" or
// "/h.0/Constant_output_0"?
bool params_is_made_up(const char *name)
{
    return strstr(name, "::") || name[0] == '/' || !strncmp(name, "val_", 4) ||
           !strncmp(name, "_val_", 5);
}

// A buffer of one half is a number, too: modules that train in f32 keep some (Gemma's normalizer).
bool params_holds_number(const Import *x, const Literal *l, const char *name)
{
    int32_t mark = map_get(&x->marks, name);

    if (l->bytes != dtype_size(l->dtype))
        return false;
    if (mark)
        return mark == MARK_BUFFER && (l->dtype == F16 || l->dtype == BF16);
    return x->has_marks || params_is_made_up(name);
}

void params_mark(Import *x, const char *name, bool is_buffer)
{
    map_set(&x->marks, name, is_buffer ? MARK_BUFFER : MARK_PARAMETER);
}

bool params_is_computed(const Import *x, const char *name)
{
    return params_is_made_up(name) || (x->has_marks && !map_get(&x->marks, name));
}

bool params_is_number(const Import *x, const Onnx__TensorProto *t)
{
    Literal l = {.dtype = dtype_of_onnx(t->data_type)};

    l.bytes = dtype_size(l.dtype);
    for (size_t i = 0; i < t->n_dims; i++)
        l.bytes = t->dims[i] == 1 ? l.bytes : 0;
    return params_holds_number(x, &l, t->name);
}

static bool is_frozen(const Import *x, const char *name)
{
    for (int i = 0; i < x->o->n_freeze; i++)
        if (glob_match(x->o->freeze[i], name))
            return true;
    return false;
}

bool params_is_trained(const Import *x, const Onnx__TensorProto *t)
{
    return dtype_is_float(dtype_of_onnx(t->data_type)) &&
           map_get(&x->marks, t->name) != MARK_BUFFER && !params_is_made_up(t->name) &&
           !is_frozen(x, t->name);
}

bool params_is_buffer(Import *x, const char *name)
{
    Mark mark = (Mark)map_get(&x->marks, name);
    bool is_buffer = mark == MARK_BUFFER || is_frozen(x, name);

    if (x->has_marks && !mark && !is_buffer && !x->n_unmarked++)
        x->unmarked = name;
    return is_buffer;
}
