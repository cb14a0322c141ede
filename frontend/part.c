// Parts of the model's file: their keys in maps, their element types, and where their bytes are.
#include <stdlib.h>

#include "frontend/internal.h"

const char *part_key(char *to, const void *part)
{
    snprintf(to, PART_KEY, "%p", part);
    return to;
}

DType dtype_of_onnx(int32_t t)
{
    static const DType table[] = {
        DT_NONE, F32, U8,  I8,  U16, I16,     I32,     I64,  DT_NONE,
        BOOL,    F16, F64, U32, U64, DT_NONE, DT_NONE, BF16,
    };
    return t > 0 && t < COUNT(table) ? table[t] : DT_NONE;
}

DType dtype_widened(DType t) { return dtype_is_half(t) ? F32 : t; }

DType dtype_in_graph(int32_t t) { return dtype_widened(dtype_of_onnx(t)); }

int32_t dtype_to_onnx(DType t)
{
    int32_t i = 1;

    while (dtype_of_onnx(i) != t)
        i++;
    return i;
}

int64_t literal_entry(const Onnx__TensorProto *t, const char *key, int64_t missing)
{
    for (size_t i = 0; i < t->n_external_data; i++) {
        const Onnx__StringStringEntryProto *e = t->external_data[i];
        char *end;
        if (!e->key || !e->value || strcmp(e->key, key))
            continue;
        long long v = strtoll(e->value, &end, 10);
        return *end || v < 0 ? -1 : v;
    }
    return missing;
}

const char *literal_file(Import *x, const Onnx__TensorProto *t)
{
    const char *path = NULL;

    for (size_t i = 0; i < t->n_external_data && t->data_location == EXTERNAL; i++)
        if (t->external_data[i]->key && !strcmp(t->external_data[i]->key, "location"))
            path = t->external_data[i]->value;
    if (path && *path && !map_get(&x->is_file, path)) {
        map_set(&x->is_file, path, 1);
        *arena_push(x->arena, x->file, x->n_files, x->cap_files) =
            arena_string(x->arena, "%s", path);
    }
    return path;
}

int64_t literal_offset(const Onnx__TensorProto *t) { return literal_entry(t, "offset", 0); }

int64_t literal_bytes(const Onnx__TensorProto *t)
{
    int64_t bytes = dtype_size(dtype_of_onnx(t->data_type));

    for (size_t i = 0; i < t->n_dims; i++)
        if (t->dims[i] < 0 || !mul_size(bytes, t->dims[i], &bytes))
            return INT64_MAX;
    return bytes;
}
