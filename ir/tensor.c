// The evaluator's tensors: rounds elements to a dtype and reads and writes the dtype's own layout.
#include "ir/internal.h"

#include <math.h>
#include <string.h>

// ---- elements ----

// Rounds to `bits` significant bits, to nearest, ties to even. Numbers below 2^lowest have the step
// of 2^lowest; numbers from 2^highest on become infinite.
static double round_bits(double x, int bits, int lowest, int highest)
{
    int e;

    if (x == 0 || !isfinite(x))
        return x;
    frexp(x, &e);  // |x| is in [2^(e-1), 2^e)
    int step = (e - 1 < lowest ? lowest : e - 1) - (bits - 1);
    double y = ldexp(rint(ldexp(x, -step)), step);
    return fabs(y) >= ldexp(1, highest) ? copysign(INFINITY, x) : y;
}

double round_float(DType t, double x)
{
    if (t == F32)
        return (float)x;
    if (t == F16)
        return round_bits(x, 11, -14, 16);
    if (t == BF16)
        return round_bits(x, 8, -126, 128);
    return x;
}

int64_t wrap_int(DType t, int64_t x)
{
    switch (t) {
    case I8:
        return (int8_t)x;
    case I16:
        return (int16_t)x;
    case I32:
        return (int32_t)x;
    case U8:
        return (uint8_t)x;
    case U16:
        return (uint16_t)x;
    case U32:
        return (uint32_t)x;
    case BOOL:
        return x != 0;
    default:
        return x;
    }
}

int64_t int_of_float(DType t, double x)
{
    if (t == BOOL)
        return x != 0;
    if (isnan(x))
        return 0;
    if (t == U64)
        return x <= 0 ? 0 : x >= 0x1p64 ? -1 : (int64_t)(uint64_t)x;
    bool is_signed = t >= I8 && t <= I64;
    int bits = 8 * dtype_size(t) - is_signed;
    double above = ldexp(1, bits);  // the first number that is too large
    if (x >= above)
        return bits == 63 ? INT64_MAX : ((int64_t)1 << bits) - 1;
    double least = is_signed ? -above : 0;
    return (int64_t)(x < least ? least : x);
}

double float_of_int(DType t, int64_t x) { return t == U64 ? (double)(uint64_t)x : (double)x; }

static uint16_t f16_bits(double x)
{
    uint16_t sign = signbit(x) ? 0x8000 : 0;
    int e;

    if (isnan(x))
        return sign | 0x7e00;
    if (isinf(x))
        return sign | 0x7c00;
    if (fabs(x) < 0x1p-14)
        return (uint16_t)(sign | (uint16_t)ldexp(fabs(x), 24));
    double m = frexp(fabs(x), &e);  // the leading bit of ldexp(m, 11) adds 1 to the exponent
    return (uint16_t)(sign | (((e + 13) << 10) + (int)ldexp(m, 11)));
}

static double f16_value(uint16_t bits)
{
    int e = bits >> 10 & 31, m = bits & 1023;
    double x;

    if (e == 31)
        x = m ? (double)NAN : (double)INFINITY;
    else
        x = e ? ldexp(1024 + m, e - 25) : ldexp(m, -24);
    return bits >> 15 ? -x : x;
}

static uint16_t bf16_bits(double x)
{
    float f = (float)x;
    uint32_t bits;

    memcpy(&bits, &f, 4);
    return (uint16_t)(isnan(x) ? bits >> 16 | 0x40 : bits >> 16);
}

static double bf16_value(uint16_t half)
{
    uint32_t bits = (uint32_t)half << 16;
    float f;

    memcpy(&f, &bits, 4);
    return (double)f;
}

static double load_float(DType t, const char *p)
{
    uint16_t half;
    float f;
    double x;

    if (t == F64) {
        memcpy(&x, p, 8);
        return x;
    }
    if (t == F32) {
        memcpy(&f, p, 4);
        return (double)f;
    }
    memcpy(&half, p, 2);
    return t == F16 ? f16_value(half) : bf16_value(half);
}

static void store_float(DType t, char *p, double x)
{
    float f = (float)x;
    uint16_t half;

    if (t == F64) {
        memcpy(p, &x, 8);
    } else if (t == F32) {
        memcpy(p, &f, 4);
    } else {
        half = t == F16 ? f16_bits(x) : bf16_bits(x);
        memcpy(p, &half, 2);
    }
}

// ---- tensors ----

int64_t tensor_count(const Tensor *t)
{
    int64_t count = 1;

    for (int i = 0; i < t->rank; i++)
        count *= t->dim[i];
    return count;
}

Tensor tensor_new(Arena *a, DType t, int rank, const int64_t *dim)
{
    Tensor x = {.dtype = t, .rank = rank};

    if (rank)
        memcpy(x.dim, dim, (size_t)rank * sizeof *dim);
    if (dtype_is_float(t))
        x.f = arena_array(a, double, tensor_count(&x));
    else
        x.i = arena_array(a, int64_t, tensor_count(&x));
    return x;
}

void tensor_round(Tensor *t)
{
    int64_t count = tensor_count(t);

    if (t->dtype == F64)
        return;
    for (int64_t i = 0; i < count; i++) {
        if (t->dtype == F32)
            t->f[i] = (float)t->f[i];
        else if (t->f)
            t->f[i] = round_float(t->dtype, t->f[i]);
        else
            t->i[i] = wrap_int(t->dtype, t->i[i]);
    }
}

// Works on little-endian machines only, like all code that reads the files' bytes in place.
Tensor tensor_of(Arena *a, const Value *v)
{
    Tensor t = tensor_new(a, v->dtype, v->rank, v->dim);
    int64_t count = tensor_count(&t);
    int size = dtype_size(v->dtype);
    const char *p = v->data;

    for (int64_t i = 0; i < count; i++, p += size) {
        if (t.f) {
            t.f[i] = load_float(v->dtype, p);
        } else {
            memcpy(&t.i[i], p, (size_t)size);
            t.i[i] = wrap_int(v->dtype, t.i[i]);
        }
    }
    return t;
}

const void *tensor_pack(Arena *a, const Tensor *t)
{
    int64_t count = tensor_count(t);
    int size = dtype_size(t->dtype);
    char *data = arena_alloc(a, (size_t)count, (size_t)size), *p = data;

    for (int64_t i = 0; i < count; i++, p += size) {
        if (t->f)
            store_float(t->dtype, p, t->f[i]);
        else
            memcpy(p, &t->i[i], (size_t)size);
    }
    return data;
}

// ---- indices ----

bool index_next(int64_t *index, int rank, const int64_t *dim)
{
    for (int i = rank - 1; i >= 0; i--) {
        if (++index[i] < dim[i])
            return true;
        index[i] = 0;
    }
    return false;
}

int64_t index_at(const int64_t *index, int rank, const int64_t *dim)
{
    int64_t at = 0;

    for (int i = 0; i < rank; i++)
        at = at * dim[i] + index[i];
    return at;
}
