// Reads tensors of the file: their types, dims and bytes.
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include "frontend/weight_file.h"

enum { EXTERNAL = 1 };  // data_location

DType dtype_of_onnx(int32_t t)
{
    static const DType table[] = {
        DT_NONE, F32, U8,  I8,  U16, I16,     I32,     I64,  DT_NONE,
        BOOL,    F16, F64, U32, U64, DT_NONE, DT_NONE, BF16,
    };
    return t > 0 && t < COUNT(table) ? table[t] : DT_NONE;
}

int32_t dtype_to_onnx(DType t)
{
    int32_t i = 1;

    while (dtype_of_onnx(i) != t)
        i++;
    return i;
}

// Packs a typed field, which has one entry per element. For small dtypes the entries are wider than
// the dtype.
static const void *pack_typed(Import *x, const Onnx__TensorProto *t, DType type, int64_t count)
{
    size_t n = (size_t)count, size = (size_t)dtype_size(type);
    char *data = arena_alloc(x->arena, n + 1, size);

    if (!n)
        return data;
    if (type == F32 && t->n_float_data == n)
        memcpy(data, t->float_data, n * size);
    else if (type == F64 && t->n_double_data == n)
        memcpy(data, t->double_data, n * size);
    else if (type == I64 && t->n_int64_data == n)
        memcpy(data, t->int64_data, n * size);
    else if ((type == U64 || type == U32) && t->n_uint64_data == n)
        for (size_t i = 0; i < n; i++)
            memcpy(data + i * size, &t->uint64_data[i], size);  // the low bytes come first
    else if (t->n_int32_data == n && size <= 4 && type != F32 && type != U32)
        for (size_t i = 0; i < n; i++)
            memcpy(data + i * size, &t->int32_data[i], size);
    else
        return NULL;
    return data;
}

static int64_t entry_number(const Onnx__TensorProto *t, const char *key, int64_t missing)
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

int64_t literal_offset(const Onnx__TensorProto *t) { return entry_number(t, "offset", 0); }

static bool read_external(Import *x, const Onnx__TensorProto *t, const char *name, Literal *l)
{
    l->location = literal_file(x, t);
    l->offset = literal_offset(t);
    int64_t length = entry_number(t, "length", l->bytes);
    if (l->location && *l->location && l->offset >= 0 && length == l->bytes)
        return true;
    diag_error(x->diag,
               "tensor '%.200s': external data needs a file, an offset of at least 0 and a length "
               "of %" PRId64 " bytes",
               name, l->bytes);
    return false;
}

int64_t literal_bytes(const Onnx__TensorProto *t)
{
    int64_t bytes = dtype_size(dtype_of_onnx(t->data_type));

    for (size_t i = 0; i < t->n_dims; i++)
        if (t->dims[i] < 0 || !mul_size(bytes, t->dims[i], &bytes))
            return INT64_MAX;
    return bytes;
}

bool literal_read(Import *x, const Onnx__TensorProto *t, const char *name, Literal *l)
{
    int64_t count = 1;

    *l = (Literal){.dtype = dtype_of_onnx(t->data_type), .rank = (int)t->n_dims, .origin = t};
    if (!l->dtype) {
        diag_error(x->diag, "tensor '%.200s': element type %d is not supported", name,
                   t->data_type);
        return false;
    }
    bool ok = t->n_dims <= MAX_RANK;
    for (size_t i = 0; i < t->n_dims && ok; i++) {
        l->dim[i] = t->dims[i];
        ok = t->dims[i] >= 0 && mul_size(count, t->dims[i], &count) && count <= (int64_t)1 << 40;
    }
    if (!ok) {
        diag_error(x->diag,
                   "tensor '%.200s': expected at most %d dims, none negative, and 2^40 elements",
                   name, MAX_RANK);
        return false;
    }
    l->bytes = count * dtype_size(l->dtype);
    l->value = fill_value(x, t);
    if (t->data_location == EXTERNAL)
        return read_external(x, t, name, l);
    if (l->value || fill_lacks_bytes(x, t))
        return true;
    if (t->has_raw_bytes) {
        ok = (int64_t)t->raw_bytes == l->bytes;
        l->data = x->data + t->raw_offset;
    } else {
        // The fields are in memory, so there can't be more elements than the file has bytes.
        ok = (size_t)count <= x->size && (l->data = pack_typed(x, t, l->dtype, count));
    }
    if (!ok)
        diag_error(x->diag, "tensor '%.200s': the length of its data doesn't match its dims", name);
    return ok;
}

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
    ValueId v = graph_constant(x->g, l.dtype, l.rank, l.dim, data);
    return known_canonical(x, v);
}

// The body of a Loop has the same tensors in each trip, so each is made once.
ValueId literal_value(Import *x, const Onnx__TensorProto *t, const char *name)
{
    char place[PART_KEY];
    ValueId v = map_get(&x->literals, part_key(place, t));

    if (v)
        return v;
    v = make_literal(x, t, name);
    map_set(&x->literals, arena_string(x->scratch, "%s", place), v);
    return v;
}
