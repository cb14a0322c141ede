// The values of the graph that represent tensors of the model's file.
#include <float.h>
#include <math.h>
#include <unistd.h>

#include "frontend/weight_file.h"
#include "runtime/rt_element.h"

static const void *read_small(Import *x, const Literal *l, const char *name)
{
    if (!model_path(x->o->model)) {
        diag_error(x->diag, "tensor '%.200s' is in another file", name);
        return NULL;
    }
    int fd = open_beneath(model_path(x->o->model), l->location, x->diag);
    if (fd < 0)
        return NULL;
    char *data = arena_alloc(x->arena, (size_t)l->bytes + 1, 1);
    ssize_t n = pread(fd, data, (size_t)l->bytes, l->offset);
    close(fd);
    if (n == l->bytes)
        return data;
    diag_error(x->diag, "tensor '%.200s': '%.200s' is too short", name, l->location);
    return NULL;
}

static const void *copy_value(Import *x, const Literal *l)
{
    uint8_t *data = arena_alloc(x->arena, (size_t)l->bytes + 1, 1);

    return weight_value_copy(l->value, l->dtype, data, x->diag) ? data : NULL;
}

// The elements in the type that the graph has for them. Masks have the lowest or the largest number
// of their type, so that of a half becomes that of f32.
static const void *widened(Import *x, const Literal *l, const void *data)
{
    int64_t n = l->bytes / dtype_size(l->dtype);
    float most = l->dtype == F16 ? 65504.0f : 0x1.fep127f;

    if (!dtype_is_half(l->dtype))
        return data;
    float *wide = arena_array(x->arena, float, n + 1);
    rt_round_floats(RT_F32, wide, (RtType)l->dtype, data, n);
    for (int64_t i = 0; i < n; i++)
        wide[i] = fabsf(wide[i]) == most ? copysignf(FLT_MAX, wide[i]) : wide[i];
    return wide;
}

static ValueId make_literal(Import *x, const Onnx__TensorProto *t, const char *name)
{
    Literal l;

    if (!literal_read(x, t, name, &l))
        return 0;
    if (l.bytes > MAX_CONSTANT)
        return params_add(x, VALUE_BUFFER, name, &l);
    if (l.value || l.location) {
        l.data = l.value ? copy_value(x, &l) : read_small(x, &l, name);
        if (!l.data)
            return 0;
    }
    if (!l.data) {
        diag_error(x->diag, "tensor '%.200s' has no bytes in the model's file", name);
        return 0;
    }
    // The file's bytes may be unaligned, so they are copied.
    char *data = arena_copy(x->arena, l.data, (size_t)l.bytes);
    if (l.dtype == BOOL)
        for (int64_t i = 0; i < l.bytes; i++)
            data[i] = data[i] != 0;
    ValueId v = graph_constant(x->g, dtype_widened(l.dtype), l.rank, l.dim, widened(x, &l, data));
    return known_canonical(x, v);
}

// The body of a Loop has the same tensors in each trip, so each is made once.
ValueId literal_value(Import *x, const Onnx__TensorProto *t, const char *name)
{
    char key[PART_KEY];
    ValueId v = map_get(&x->literals, part_key(key, t));

    if (v)
        return v;
    v = make_literal(x, t, name);
    map_set(&x->literals, arena_string(x->scratch, "%s", key), v);
    return v;
}

ValueId params_value(Import *x, const Onnx__TensorProto *of)
{
    const Onnx__TensorProto *t = tie_first(x, of);
    Literal l;

    if (!literal_read(x, t, t->name, &l))
        return 0;
    if (!dtype_is_float(l.dtype) || params_holds_number(x, &l, t->name))
        return literal_value(x, t, t->name);
    ValueKind kind = params_is_buffer(x, t->name) ? VALUE_BUFFER : VALUE_PARAMETER;
    ValueId v = params_add(x, kind, t->name, &l);
    params_note(x, of, v);
    return v;
}
