// Decides which initializers are learned. A float initializer is a parameter unless the exporter
// marked it as a buffer (torch.export's graph signature), --freeze names it, or its name is one
// that exporters give to numbers of their own. Batch norm makes its running statistics buffers
// itself. Two initializers at the same place of the same external file are one parameter.
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
    x->places.arena = x->scratch;
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
static bool is_number(const Import *x, const Literal *l, const char *name)
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
    return is_number(x, &l, t->name);
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

static const char *free_name(Import *x, const char *name)
{
    const char *s = arena_string(x->arena, "%s", name);

    for (int i = 2; map_get(&x->taken, s); i++)
        s = arena_string(x->arena, "%s.%d", name, i);
    map_set(&x->taken, s, 1);
    return s;
}

// A key for the place of the bytes: the position in the external file, or the initializer itself,
// which the body of a Loop uses once per trip.
static const char *place_of(Import *x, const Literal *l)
{
    return l->location ? arena_string(x->scratch, "%s\n%" PRId64 "\n%" PRId64, l->location,
                                      l->offset, l->bytes)
                       : arena_string(x->scratch, "%p", (const void *)l->origin);
}

static const AddedTensor *added_tensor(Import *x, const Onnx__TensorProto *t)
{
    AddedTensor *to = arena_array(x->arena, AddedTensor, 1);

    *to = (AddedTensor){.name = arena_string(x->arena, "%s", t->name),
                        .dtype = dtype_of_onnx(t->data_type),
                        .rank = (int)t->n_dims};
    memcpy(to->dim, t->dims, t->n_dims * sizeof *t->dims);
    return to;
}

// Notes that a tensor of the file holds the weight. The body of a Loop adds it once per trip.
static void note_tensor(Import *x, const Onnx__TensorProto *t, ValueId v)
{
    char key[PART_KEY];

    if (map_get(&x->is_stored, part_key(key, t)))
        return;
    map_set(&x->is_stored, arena_string(x->scratch, "%s", key), 1);
    *arena_push(x->arena, x->stored, x->n_stored, x->cap_stored) =
        (WeightTensor){.place = (int64_t)t->place,
                       .name = value_of(x->g, v)->name,
                       .added = t->has_place ? NULL : added_tensor(x, t)};
    fill_note(x, t, value_of(x->g, v)->name);
}

Weight params_weight(const Import *x, const char *name, const Literal *l)
{
    Weight w = {.name = name, .dtype = l->dtype, .bytes = l->bytes, .value = l->value};
    const uint8_t *data = l->data;

    if (l->value)
        return w;
    if (l->location) {
        w.path = arena_string(x->arena, "%s", l->location);
        w.offset = l->offset;
    } else if (data >= x->data && data < x->data + x->size) {
        w.path = "";
        w.offset = data - x->data;
    } else {
        w.data = data;
    }
    return w;
}

ValueId params_add(Import *x, ValueKind kind, const char *name, const Literal *l)
{
    const char *place = place_of(x, l);
    ValueId v = map_get(&x->places, place);

    if (v && !memcmp(value_of(x->g, v)->dim, l->dim, sizeof l->dim) &&
        value_of(x->g, v)->dtype == l->dtype) {
        note_tensor(x, l->origin, v);
        return v;
    }
    Weight *w = arena_push(x->arena, x->weights, x->n_weights, x->cap_weights);
    *w = params_weight(x, free_name(x, name), l);
    v = graph_value(x->g, kind, w->name, l->dtype, l->rank, l->dim);
    map_set(&x->places, place, v);
    note_tensor(x, l->origin, v);
    return v;
}

ValueId params_value(Import *x, const Onnx__TensorProto *of)
{
    const Onnx__TensorProto *t = tie_first(x, of);
    Literal l;

    if (!literal_read(x, t, t->name, &l))
        return 0;
    if (!dtype_is_float(l.dtype) || is_number(x, &l, t->name))
        return literal_value(x, t, t->name);
    Mark mark = (Mark)map_get(&x->marks, t->name);
    bool is_buffer = mark == MARK_BUFFER || is_frozen(x, t->name);
    if (x->has_marks && !mark && !is_buffer && !x->n_unmarked++)
        x->unmarked = t->name;
    ValueId v = params_add(x, is_buffer ? VALUE_BUFFER : VALUE_PARAMETER, t->name, &l);
    note_tensor(x, of, v);
    return v;
}
