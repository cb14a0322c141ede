// Adds parameters and buffers to the graph, and notes where their bytes are.
#include <string.h>

#include "frontend/weight_file.h"

static const char *free_name(Import *x, const char *name)
{
    const char *s = arena_string(x->arena, "%s", name);

    for (int i = 2; map_get(&x->taken, s); i++)
        s = arena_string(x->arena, "%s.%d", name, i);
    map_set(&x->taken, s, 1);
    return s;
}

// A key for the bytes: their position in the external file, or the initializer itself, which the
// body of a Loop uses once per trip.
static const char *bytes_key(Import *x, const Literal *l)
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
void params_note(Import *x, const Onnx__TensorProto *t, ValueId v)
{
    char key[PART_KEY];

    if (map_get(&x->is_stored, part_key(key, t)))
        return;
    map_set(&x->is_stored, arena_string(x->scratch, "%s", key), 1);
    *arena_push(x->arena, x->stored, x->n_stored, x->cap_stored) =
        (WeightTensor){.offset = (int64_t)t->offset,
                       .name = value_of(x->g, v)->name,
                       .added = t->has_offset ? NULL : added_tensor(x, t)};
    fill_note(x, t, value_of(x->g, v)->name);
}

Weight params_weight(const Import *x, const char *name, const Literal *l)
{
    Weight w = {.name = name,
                .dtype = l->dtype,
                .wide = dtype_widened(l->dtype),
                .bytes = l->bytes,
                .value = l->value};
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
    const char *key = bytes_key(x, l);
    ValueId v = map_get(&x->by_bytes, key);

    if (v && !memcmp(value_of(x->g, v)->dim, l->dim, sizeof l->dim) &&
        value_of(x->g, v)->dtype == dtype_widened(l->dtype)) {
        params_note(x, l->origin, v);
        return v;
    }
    if (x->o->half && kind == VALUE_PARAMETER && dtype_is_half(l->dtype))
        *x->o->half = l->dtype;
    Weight *w = arena_push(x->arena, x->weights, x->n_weights, x->cap_weights);
    *w = params_weight(x, free_name(x, name), l);
    v = graph_value(x->g, kind, w->name, dtype_widened(l->dtype), l->rank, l->dim);
    map_set(&x->by_bytes, key, v);
    params_note(x, l->origin, v);
    return v;
}

const Onnx__TensorProto *tie_first(const Import *x, const Onnx__TensorProto *t)
{
    char key[PART_KEY];
    int32_t i;

    while ((i = map_get(&x->tied, part_key(key, t))))
        t = x->tie_first[i - 1];
    return t;
}
