// Fuzzes maps of --weight-map: any bytes are refused, or print as a map that reads as the same one;
// and what they make of a few tensors has the bytes that its dims say.
#include <stdlib.h>
#include <string.h>

#include "frontend/weight_file.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { MAX_BYTES = 1 << 20 };  // of a value

static const uint8_t bytes[24];
static RtStored tensors[] = {
    {.name = "a.0", .dtype = "F32", .rank = 2, .dim = {2, 3}, .data = bytes, .bytes = 24},
    {.name = "a.1", .dtype = "F16", .rank = 2, .dim = {4, 3}, .data = bytes, .bytes = 24},
    {.name = "b", .dtype = "BF16", .rank = 1, .dim = {0}, .data = bytes, .bytes = 0},
    {.name = "n", .dtype = "F64", .rank = 0, .data = bytes, .bytes = 8},
};

static void check_same(Arena *a, const WeightMap *m, Diag *d)
{
    Text first = {0}, second = {0};
    WeightMap again;

    weight_map_print(m, &first);
    if (!weight_map_parse(a, first.s ? first.s : "", first.n, &again, d))
        abort();
    weight_map_print(&again, &second);
    if (first.n != second.n || (first.n && memcmp(first.s, second.s, first.n)))
        abort();
    text_free(&first);
    text_free(&second);
}

static void make_value(Arena *a, const WeightFile *f, const MapLine *l, const char *name, Diag *d)
{
    const char *star[MAX_STARS];
    size_t length[MAX_STARS];
    bool used[COUNT(tensors)];
    int64_t size = 4;

    if (!l->value || !weight_map_match(l, name, star, length))
        return;
    const WeightValue *v = weight_value_make(a, f, l, star, length, used, d);
    for (int i = 0; v && i < v->rank; i++)
        if (!mul_size(size, v->dim[i], &size) || size > MAX_BYTES)
            return;
    uint8_t *to = malloc((size_t)size + 1);
    if (v && weight_value_misfit(v, F32))
        abort();
    if (v && !weight_value_copy(v, F32, to, d))
        abort();
    free(to);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char *const names[] = {"h.0.w", "h.1.w", "h 1", "b", "c"};
    Arena *a = arena_new();
    Text messages = {0};
    Diag d = {.file = "fuzz", .to = &messages};
    WeightFile f = {.path = "f", .name = "f", .index.arena = a};
    WeightMap m;

    f.shards = (RtShards){.tensor = tensors, .n = COUNT(tensors)};
    for (int i = 0; i < COUNT(tensors); i++)
        map_set(&f.index, tensors[i].name, i + 1);
    if (weight_map_parse(a, (const char *)data, size, &m, &d)) {
        check_same(a, &m, &d);
        for (int i = 0; i < m.n; i++)
            for (int k = 0; k < COUNT(names); k++)
                make_value(a, &f, &m.line[i], names[k], &d);
    } else if (!d.errors) {
        abort();
    }
    text_free(&messages);
    arena_free(a);
    return 0;
}
