// Finds numbers that are NaN or infinite: all bits of their exponent are set.
#include "runtime/rt_finite.h"

#include <stdio.h>
#include <string.h>

enum { PART = 1024 };  // elements that are looked at together: without a branch for each

// Is one of n words of type T such a number?
#define HAS_NONFINITE(T)                                                                           \
    static bool has_##T(const char *x, int64_t n, uint64_t exponent)                               \
    {                                                                                              \
        T found = 0, mask = (T)exponent;                                                           \
                                                                                                   \
        for (int64_t i = 0; i < n; i++) {                                                          \
            T word;                                                                                \
            memcpy(&word, x + i * (int64_t)sizeof word, sizeof word);                              \
            found |= (word & mask) == mask;                                                        \
        }                                                                                          \
        return found;                                                                              \
    }

HAS_NONFINITE(uint16_t)
HAS_NONFINITE(uint32_t)
HAS_NONFINITE(uint64_t)

static const struct {
    const char *dtype;
    int bytes;
    uint64_t exponent;
    bool (*has)(const char *x, int64_t n, uint64_t exponent);
} floats[] = {
    {"F32", 4, 0x7f800000, has_uint32_t},
    {"F64", 8, 0x7ff0000000000000, has_uint64_t},
    {"F16", 2, 0x7c00, has_uint16_t},
    {"BF16", 2, 0x7f80, has_uint16_t},
};
enum { FLOATS = sizeof floats / sizeof *floats };

static uint64_t word_of(const char *x, int bytes)
{
    uint64_t word = 0;

    for (int i = 0; i < bytes; i++)
        word |= (uint64_t)(uint8_t)x[i] << 8 * i;
    return word;
}

static RtNonfiniteKind kind_of(uint64_t word, int bytes, uint64_t exponent)
{
    uint64_t sign = (uint64_t)1 << (8 * bytes - 1);

    return word & ~(sign | exponent) ? RT_NAN : word & sign ? RT_MINUS_INF : RT_INF;
}

int64_t rt_nonfinite_find(const char *dtype, const void *x, int64_t n, RtNonfiniteKind *kind)
{
    int k = 0;

    while (k < FLOATS && strcmp(floats[k].dtype, dtype))
        k++;
    if (k == FLOATS)
        return -1;
    for (int64_t at = 0, part; at < n; at += part) {
        const char *p = (const char *)x + at * floats[k].bytes;
        part = n - at < PART ? n - at : PART;
        if (!floats[k].has(p, part, floats[k].exponent))
            continue;
        int64_t i = 0;
        while (!floats[k].has(p + i * floats[k].bytes, 1, floats[k].exponent))
            i++;
        *kind = kind_of(word_of(p + i * floats[k].bytes, floats[k].bytes), floats[k].bytes,
                        floats[k].exponent);
        return at + i;
    }
    return -1;
}

void rt_nonfinite_print(char *to, size_t capacity, const RtStored *t, const RtNonfinite *f)
{
    static const char *const is[] = {[RT_NAN] = "NaN", [RT_INF] = "inf", [RT_MINUS_INF] = "-inf"};
    char name[160], index[RT_FILE_RANK * 22 + 4] = "";
    int64_t count = 1;
    size_t n = 0;

    rt_printable(name, sizeof name, t->name);
    for (int i = 0; i < t->rank; i++)
        count *= t->dim[i];
    for (int i = 0; i < t->rank; i++) {
        count /= t->dim[i];
        n += (size_t)snprintf(index + n, sizeof index - n, "%s%lld", i ? ", " : "[",
                              (long long)(f->element / count % t->dim[i]));
    }
    snprintf(to, capacity, "'%s'%s%s is %s", name, index, t->rank ? "]" : "", is[f->kind]);
}
