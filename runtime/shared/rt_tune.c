// Reads and writes the file of --tune.
#include "runtime/rt_tune.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/rt_lines.h"

static const char FIRST[] = "shardcc tune 1";
enum { MAX_LIBRARY = 99999999 };

// ---- products ----

bool rt_tune_add(RtTune *t, const char *product, int algorithm)
{
    if (t->n == RT_TUNE_PRODUCTS)
        return false;
    if (t->n == t->capacity) {
        int capacity = t->capacity ? 2 * t->capacity : 16;
        RtTuned *grown = realloc(t->product, (size_t)capacity * sizeof *grown);
        if (!grown)
            return false;
        t->product = grown;
        t->capacity = capacity;
    }
    RtTuned *to = &t->product[t->n++];
    to->algorithm = algorithm;
    snprintf(to->product, sizeof to->product, "%s", product);
    return true;
}

const RtTuned *rt_tune_find(const RtTune *t, const char *product)
{
    for (int i = 0; i < t->n; i++)
        if (strcmp(t->product[i].product, product) == 0)
            return &t->product[i];
    return NULL;
}

void rt_tune_free(RtTune *t)
{
    free(t->product);
    *t = (RtTune){0};
}

// ---- writing ----

char *rt_tune_print(const RtTune *t, size_t *bytes)
{
    enum { REST = 64 };  // bytes of a line without the name
    size_t capacity = (size_t)(t->n + 5) * (RT_TUNE_TEXT + REST);
    char *to = malloc(capacity);

    if (!to)
        return NULL;
    size_t n = (size_t)snprintf(to, capacity, "%s\ngpu %s\ncublaslt %d\ntf32 %s\n", FIRST, t->gpu,
                                t->library, t->has_tf32 ? "yes" : "no");
    for (int i = 0; i < t->n; i++)
        n += (size_t)snprintf(to + n, capacity - n, "algorithm %d of %s\n", t->product[i].algorithm,
                              t->product[i].product);
    n += (size_t)snprintf(to + n, capacity - n, "end %d\n", t->n);
    *bytes = n;
    return to;
}

bool rt_tune_write(const RtTune *t, const char *path, RtFileError *e)
{
    size_t bytes = 0;
    char *text = rt_tune_print(t, &bytes);
    bool is_fine = rt_out_whole(path, text, bytes, e);

    free(text);
    return is_fine;
}

// ---- reading ----

static const char WHO[] = "--tune";

static bool read_head(RtLines *l, RtTune *t)
{
    int64_t library;

    if (!rt_lines_next(l))
        return false;
    if (strcmp(l->line, FIRST) != 0)
        return rt_file_fail(l->error, "it begins with '%.60s', not with '%s'", l->line, FIRST);
    if (!rt_lines_next(l))
        return false;
    if (!rt_take(l, "gpu ") || !rt_take_rest(l, t->gpu, sizeof t->gpu))
        return rt_lines_fail(l, WHO);
    if (!rt_lines_next(l))
        return false;
    if (!rt_take(l, "cublaslt ") || !rt_take_number(l, MAX_LIBRARY, &library) || !rt_take_end(l))
        return rt_lines_fail(l, WHO);
    t->library = (int)library;
    if (!rt_lines_next(l))
        return false;
    t->has_tf32 = strcmp(l->line, "tf32 yes") == 0;
    return t->has_tf32 || strcmp(l->line, "tf32 no") == 0 || rt_lines_fail(l, WHO);
}

static bool read_product(RtLines *l, RtTune *t)
{
    char product[RT_TUNE_TEXT];
    int64_t algorithm;

    if (!rt_take(l, "algorithm ") || !rt_take_number(l, RT_TUNE_ALGORITHMS - 1, &algorithm) ||
        !rt_take(l, " of ") || !rt_take_rest(l, product, sizeof product))
        return rt_lines_fail(l, WHO);
    return rt_tune_add(t, product, (int)algorithm) ||
           rt_file_fail(l->error, "it has more than %d products, or memory ran out",
                        RT_TUNE_PRODUCTS);
}

// The last line has the number of products, so that a file that is cut short is found out.
static bool read_products(RtLines *l, RtTune *t)
{
    int64_t n;

    for (;;) {
        if (!rt_lines_next(l))
            return false;
        if (rt_take(l, "end ")) {
            if (!rt_take_number(l, RT_TUNE_PRODUCTS, &n) || !rt_take_end(l) || n != t->n)
                return rt_lines_fail(l, WHO);
            return l->at == l->end ||
                   rt_file_fail(l->error, "it goes on after its end in line %d", l->number);
        }
        if (!read_product(l, t))
            return false;
    }
}

bool rt_tune_parse(RtTune *t, const uint8_t *data, size_t size, RtFileError *e)
{
    RtLines l = rt_lines(data, size, e);

    *t = (RtTune){0};
    if (read_head(&l, t) && read_products(&l, t))
        return true;
    rt_tune_free(t);
    return false;
}

bool rt_tune_read(RtTune *t, const char *path, RtFileError *e)
{
    RtMap m;

    *t = (RtTune){0};
    if (!rt_map(&m, path, e))
        return false;
    bool is_fine = rt_tune_parse(t, m.data, m.size, e) && rt_map_check(&m, e);
    if (!is_fine)
        rt_tune_free(t);
    rt_unmap(&m);
    return is_fine;
}

bool rt_tune_match(const RtTune *file, const RtTune *machine, RtFileError *e)
{
    if (strcmp(file->gpu, machine->gpu) != 0)
        return rt_file_fail(e, "it is for another GPU, %.100s; this is %.100s", file->gpu,
                            machine->gpu);
    if (file->library != machine->library)
        return rt_file_fail(e, "it is for cuBLASLt %d; this is %d", file->library,
                            machine->library);
    return file->has_tf32 == machine->has_tf32 ||
           rt_file_fail(e, "it was made %s --tf32", file->has_tf32 ? "with" : "without");
}
