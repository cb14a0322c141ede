// The names, sizes and kinds of the element types.
#include "ir/ir.h"

#include <string.h>

static const struct {
    const char *name;
    int size;
} types[N_DTYPES] = {
    [DT_NONE] = {"none", 0}, [F32] = {"f32", 4},   [F64] = {"f64", 8}, [F16] = {"f16", 2},
    [BF16] = {"bf16", 2},    [I8] = {"i8", 1},     [I16] = {"i16", 2}, [I32] = {"i32", 4},
    [I64] = {"i64", 8},      [U8] = {"u8", 1},     [U16] = {"u16", 2}, [U32] = {"u32", 4},
    [U64] = {"u64", 8},      [BOOL] = {"bool", 1},
};

const char *dtype_name(DType t) { return types[t].name; }

DType dtype_find(const char *name)
{
    for (int t = DT_NONE + 1; t < N_DTYPES; t++) {
        if (!strcmp(types[t].name, name))
            return (DType)t;
    }
    return DT_NONE;
}

int dtype_size(DType t) { return types[t].size; }

bool dtype_is_float(DType t) { return t >= F32 && t <= BF16; }

bool dtype_is_half(DType t) { return t == F16 || t == BF16; }

bool dtype_is_int(DType t) { return t >= I8 && t <= U64; }

bool dtype_is_within(DType a, DType b)
{
    if (a == BOOL)
        return true;
    if (dtype_is_float(a))
        return b == F64 || (b == F32 && a != F64);
    return dtype_is_int(b) && dtype_size(b) > dtype_size(a) && b >= I8 && b <= I64;
}
