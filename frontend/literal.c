// Reads tensors of the file: their types, dims and bytes.
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include "frontend/weight_file.h"

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

static bool read_external(Import *x, const Onnx__TensorProto *t, const char *name, Literal *l)
{
    l->location = literal_file(x, t);
    l->offset = literal_offset(t);
    int64_t length = literal_entry(t, "length", l->bytes);
    if (l->location && *l->location && l->offset >= 0 && length == l->bytes)
        return true;
    diag_error(x->diag,
               "tensor '%.200s': external data needs a file, an offset of at least 0 and a length "
               "of %" PRId64 " bytes",
               name, l->bytes);
    return false;
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
