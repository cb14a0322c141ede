// A model's tensors: their names, their addresses, and access to their elements.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/core/core.h"
#include "runtime/rt_cpu.h"
#include "runtime/rt_element.h"

static const struct {
    const char *name;
    int bits;  // bits of an integer without the sign; 0 for floats
    bool is_signed;
} types[] = {
    [RT_NONE] = {"", 0, false},    [RT_F32] = {"F32", 0, true},    [RT_F64] = {"F64", 0, true},
    [RT_F16] = {"F16", 0, true},   [RT_BF16] = {"BF16", 0, true},  [RT_I8] = {"I8", 7, true},
    [RT_I16] = {"I16", 15, true},  [RT_I32] = {"I32", 31, true},   [RT_I64] = {"I64", 63, true},
    [RT_U8] = {"U8", 8, false},    [RT_U16] = {"U16", 16, false},  [RT_U32] = {"U32", 32, false},
    [RT_U64] = {"U64", 64, false}, [RT_BOOL] = {"BOOL", 1, false},
};

const char *rt_type_name(RtType t) { return types[t].name; }

bool rt_type_find(const char *name, RtType *t)
{
    for (int i = RT_F32; i <= RT_BOOL; i++)
        if (strcmp(types[i].name, name) == 0) {
            *t = (RtType)i;
            return true;
        }
    return false;
}

bool rt_type_is_float(RtType t) { return types[t].bits == 0; }

bool rt_type_converts(RtType from, RtType to)
{
    if (from == to)
        return true;
    if (to == RT_F32 || to == RT_F64)
        return from == RT_F32 || from == RT_F64 ||
               (!rt_type_is_float(from) && types[from].bits <= (to == RT_F32 ? 24 : 53));
    return !rt_type_is_float(to) && !rt_type_is_float(from) && to != RT_BOOL &&
           types[from].bits <= types[to].bits && (types[to].is_signed || !types[from].is_signed);
}

// ---- elements ----

// f16 and bf16 aren't among them: the trainer copies them, and reads them as wider types.
// clang-format off
#define FLOATS(X) X(F32, float) X(F64, double)
#define INTEGERS(X)                                                                                \
    X(I8, int8_t) X(I16, int16_t) X(I32, int32_t) X(I64, int64_t) X(U8, uint8_t) X(U16, uint16_t)  \
    X(U32, uint32_t) X(U64, uint64_t) X(BOOL, uint8_t)
#define ALL_NUMBERS(X) FLOATS(X) INTEGERS(X)
// clang-format on

#define GET(T, C)                                                                                  \
    case RT_##T: {                                                                                 \
        C v;                                                                                       \
        memcpy(&v, p, sizeof v);                                                                   \
        return (Wide)v;                                                                            \
    }
#define SET(T, C)                                                                                  \
    case RT_##T:                                                                                   \
        *(C *)p = (C)value;                                                                        \
        break;

double rt_get(RtType t, const void *p)
{
    typedef double Wide;
    switch (t) {
        ALL_NUMBERS(GET)
    default:
        abort();
    }
}

int64_t rt_get_int(RtType t, const void *p)
{
    typedef int64_t Wide;
    switch (t) {
        ALL_NUMBERS(GET)
    default:
        abort();
    }
}

void rt_set(RtType t, void *p, double value)
{
    switch (t) {
        ALL_NUMBERS(SET)
    default:
        abort();
    }
}

void rt_set_int(RtType t, void *p, int64_t value)
{
    switch (t) {
        ALL_NUMBERS(SET)
    default:
        abort();
    }
}

// The loops of rt_convert: from any type to a wide one (double or int64_t), and back. Integers are
// converted to double through int64_t, since each loop takes a compiler a tenth of a second.
enum { CHUNK_ELEMENTS = 256 };  // at most in a call
#define LOAD(T, C)                                                                                 \
    case RT_##T:                                                                                   \
        for (int64_t i = 0; i < n; i++) {                                                          \
            C v;                                                                                   \
            memcpy(&v, (const char *)x + i * (int64_t)sizeof v, sizeof v);                         \
            y[i] = (Wide)v;                                                                        \
        }                                                                                          \
        break;
#define STORE(T, C)                                                                                \
    case RT_##T:                                                                                   \
        for (int64_t i = 0; i < n; i++)                                                            \
            ((C *)y)[i] = (C)x[i];                                                                 \
        break;

static void load_ints(int64_t *y, RtType t, const void *x, int64_t n)
{
    typedef int64_t Wide;
    switch (t) {
        INTEGERS(LOAD)
    default:
        abort();
    }
}

static void store_ints(RtType t, void *y, const int64_t *x, int64_t n)
{
    switch (t) {
        INTEGERS(STORE)
    default:
        abort();
    }
}

static void load_doubles(double *y, RtType t, const void *x, int64_t n)
{
    typedef double Wide;
    int64_t ints[CHUNK_ELEMENTS];

    switch (t) {
        FLOATS(LOAD)
    case RT_F16:
    case RT_BF16:
        rt_round_floats(RT_F64, y, t, x, n);
        break;
    default:
        load_ints(ints, t, x, n);
        for (int64_t i = 0; i < n; i++)
            y[i] = (double)ints[i];
    }
}

static void store_doubles(RtType t, void *y, const double *x, int64_t n)
{
    switch (t) {
        FLOATS(STORE)
    default:
        abort();
    }
}

void rt_convert(RtType to, void *y, RtType from, const void *x, int64_t n)
{
    int y_bytes = rt_dtype_bytes(rt_type_name(to)), x_bytes = rt_dtype_bytes(rt_type_name(from));
    union {
        double d[CHUNK_ELEMENTS];
        int64_t i[CHUNK_ELEMENTS];
    } wide;

    if (from == to) {
        memcpy(y, x, (size_t)(n * y_bytes));
        return;
    }
    for (int64_t at = 0; at < n; at += CHUNK_ELEMENTS) {
        int64_t k = n - at < CHUNK_ELEMENTS ? n - at : CHUNK_ELEMENTS;
        void *to_chunk = (char *)y + at * y_bytes;
        const void *of = (const char *)x + at * x_bytes;

        if (rt_type_is_float(to)) {
            load_doubles(wide.d, from, of, k);
            store_doubles(to, to_chunk, wide.d, k);
        } else {
            load_ints(wide.i, from, of, k);
            store_ints(to, to_chunk, wide.i, k);
        }
    }
}

void rt_widen(float *y, const void *x, int64_t n)
{
    for (int64_t i = 0; i < n; i++) {
        uint16_t half;

        memcpy(&half, (const char *)x + 2 * i, sizeof half);
        uint32_t bits = (uint32_t)half << 16;
        memcpy(&y[i], &bits, sizeof bits);
    }
}

// ---- tensors ----

int rt_layers(const RtTensor *t) { return t->layers > 0 ? t->layers : 1; }

int64_t rt_element_bytes(const RtTensor *t) { return rt_dtype_bytes(types[t->type].name); }

int64_t rt_whole_count(const RtTensor *t)
{
    int64_t n = 1;

    for (int i = 0; i < t->rank; i++)
        n *= t->dim[i];
    return n;
}

int64_t rt_whole_bytes(const RtTensor *t) { return rt_whole_count(t) * rt_element_bytes(t); }

const RtTensor *rt_find(const RtTensor *t, int n, RtRole role)
{
    for (int i = 0; i < n; i++)
        if (t[i].role == role)
            return &t[i];
    return NULL;
}

// Prints the name of one layer; returns its length, as snprintf does.
static int print_name(const RtTensor *t, int layer, char *to, size_t capacity)
{
    const char *name = t->name ? t->name : "";
    const char *hole = t->layers > 0 && !t->names ? strstr(name, "{}") : NULL;

    if (t->layers > 0 && t->names)
        return snprintf(to, capacity, "%s", t->names[layer]);
    if (!hole)
        return snprintf(to, capacity, "%s", name);
    return snprintf(to, capacity, "%.*s%d%s", (int)(hole - name), name,
                    t->first + layer * (t->by ? t->by : 1), hole + 2);
}

static RtStored stored(const RtTensor *t)
{
    RtStored s = {.name = t->name, .dtype = types[t->type].name, .rank = t->rank};

    memcpy(s.dim, t->dim, sizeof s.dim);
    s.bytes = rt_whole_bytes(t);
    return s;
}

void rt_tensor_print(const RtTensor *t, char *to, size_t capacity)
{
    RtStored s = stored(t);
    size_t n = (size_t)snprintf(to, capacity, "%s ", t->name);

    if (n < capacity)
        rt_stored_print(to + n, capacity - n, &s);
}

void rt_file_name(const RtTensor *t, char *to, size_t capacity)
{
    enum { MAX_LENGTH = 251 };  // with ".npy" the longest name that file systems accept
    size_t n = 0;

    capacity = capacity <= MAX_LENGTH ? capacity : MAX_LENGTH + 1;
    for (const char *c = t->name; *c && n + 1 < capacity; c++) {
        bool plain = (*c >= 'a' && *c <= 'z') || (*c >= 'A' && *c <= 'Z') ||
                     (*c >= '0' && *c <= '9') || strchr("_-", *c) || (*c == '.' && n > 0);
        to[n++] = plain ? *c : '_';
    }
    to[n] = 0;
}

RtEntries rt_entries(const RtTensor *t, int n, unsigned roles)
{
    RtEntries e = {0};
    size_t capacity = 0;

    for (int i = 0; i < n; i++)
        if (roles >> t[i].role & 1) {
            e.n += rt_layers(&t[i]);
            for (int l = 0; l < rt_layers(&t[i]); l++)
                capacity += (size_t)print_name(&t[i], l, NULL, 0) + 1;
        }
    e.item = rt_alloc((size_t)e.n, sizeof *e.item);
    e.tensor = rt_alloc((size_t)e.n, sizeof *e.tensor);
    e.layer = rt_alloc((size_t)e.n, sizeof *e.layer);
    e.names = rt_alloc(capacity, 1);
    char *name = e.names;
    RtStored *x = e.item;
    for (int i = 0; i < n; i++)
        for (int l = 0; l < rt_layers(&t[i]) && roles >> t[i].role & 1; l++, x++) {
            *x = stored(&t[i]);
            e.tensor[x - e.item] = &t[i];
            e.layer[x - e.item] = l;
            x->name = name;
            name += print_name(&t[i], l, name, (size_t)(e.names + capacity - name)) + 1;
        }
    return e;
}

void rt_entries_free(RtEntries *e)
{
    free(e->item);
    free(e->tensor);
    free(e->layer);
    free(e->names);
    *e = (RtEntries){0};
}
