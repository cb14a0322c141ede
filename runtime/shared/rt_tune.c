// Reads and writes the file of --tune.
#include "runtime/rt_tune.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char FIRST[] = "shardcc tune 1";
enum { MOST_LIBRARY = 99999999 };

// ---- products ----

bool rt_tune_add(RtTune *t, const char *product, int algorithm)
{
    if (t->n == RT_TUNE_PRODUCTS)
        return false;
    if (t->n == t->room) {
        int room = t->room ? 2 * t->room : 16;
        RtTuned *grown = realloc(t->product, (size_t)room * sizeof *grown);
        if (!grown)
            return false;
        t->product = grown;
        t->room = room;
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
    enum { REST = 64 };  // bytes of a line beside the name
    size_t room = (size_t)(t->n + 5) * (RT_TUNE_TEXT + REST);
    char *to = malloc(room);

    if (!to)
        return NULL;
    size_t n = (size_t)snprintf(to, room, "%s\ngpu %s\ncublaslt %d\ntf32 %s\n", FIRST, t->gpu,
                                t->library, t->has_tf32 ? "yes" : "no");
    for (int i = 0; i < t->n; i++)
        n += (size_t)snprintf(to + n, room - n, "algorithm %d of %s\n", t->product[i].algorithm,
                              t->product[i].product);
    n += (size_t)snprintf(to + n, room - n, "end %d\n", t->n);
    *bytes = n;
    return to;
}

bool rt_tune_write(const RtTune *t, const char *path, RtFileError *e)
{
    size_t bytes;
    char *text = rt_tune_print(t, &bytes);
    RtOut out;

    if (!text)
        return rt_file_fail(e, "out of memory");
    bool is_fine = rt_out_open(&out, path, e);
    if (is_fine) {
        rt_out_write(&out, text, bytes);
        is_fine = rt_out_commit(&out, e);
    }
    free(text);
    return is_fine;
}

// ---- reading ----

typedef struct Lines {
    const char *at, *end;
    int number;  // of `line`, from 1
    char line[RT_TUNE_TEXT + 64];
    RtFileError *error;
} Lines;

static bool fail_line(const Lines *l)
{
    return rt_file_fail(l->error, "line %d isn't as --tune writes it: '%.60s'", l->number, l->line);
}

static bool next_line(Lines *l)
{
    const char *end = l->at < l->end ? memchr(l->at, '\n', (size_t)(l->end - l->at)) : NULL;
    size_t n = 0;

    l->number++;
    if (!end)
        return rt_file_fail(l->error, "it is cut short in line %d", l->number);
    for (; l->at < end && n + 1 < sizeof l->line && *l->at; l->at++)
        l->line[n++] = *l->at;
    l->line[n] = 0;
    return l->at++ == end || fail_line(l);
}

// If the text begins with `word`, moves behind it.
static bool take(const char **at, const char *word)
{
    size_t n = strlen(word);

    if (strncmp(*at, word, n) != 0)
        return false;
    *at += n;
    return true;
}

static bool take_number(const char **at, int most, int *to)
{
    int64_t v = 0;
    const char *p = *at;

    for (; *p >= '0' && *p <= '9' && v <= most; p++)
        v = 10 * v + (*p - '0');
    if (p == *at || v > most)
        return false;
    *at = p;
    *to = (int)v;
    return true;
}

static bool take_text(const char **at, char *to)
{
    size_t n = strlen(*at);

    if (n == 0 || n >= RT_TUNE_TEXT)
        return false;
    memcpy(to, *at, n + 1);
    *at += n;
    return true;
}

static bool read_head(Lines *l, RtTune *t)
{
    const char *at = l->line;

    if (!next_line(l))
        return false;
    if (strcmp(at, FIRST) != 0)
        return rt_file_fail(l->error, "it begins with '%.60s', not with '%s'", at, FIRST);
    if (!next_line(l))
        return false;
    if (!take(&at, "gpu ") || !take_text(&at, t->gpu))
        return fail_line(l);
    at = l->line;
    if (!next_line(l))
        return false;
    if (!take(&at, "cublaslt ") || !take_number(&at, MOST_LIBRARY, &t->library) || *at)
        return fail_line(l);
    if (!next_line(l))
        return false;
    t->has_tf32 = strcmp(l->line, "tf32 yes") == 0;
    return t->has_tf32 || strcmp(l->line, "tf32 no") == 0 || fail_line(l);
}

static bool read_product(Lines *l, RtTune *t)
{
    const char *at = l->line;
    char product[RT_TUNE_TEXT];
    int algorithm;

    if (!take(&at, "algorithm ") || !take_number(&at, RT_TUNE_ALGORITHMS - 1, &algorithm) ||
        !take(&at, " of ") || !take_text(&at, product))
        return fail_line(l);
    return rt_tune_add(t, product, algorithm) ||
           rt_file_fail(l->error, "it has more than %d products, or memory ran out",
                        RT_TUNE_PRODUCTS);
}

// The last line has the number of products, so that a file that is cut short is found out.
static bool read_products(Lines *l, RtTune *t)
{
    for (;;) {
        const char *at = l->line;
        int n;

        if (!next_line(l))
            return false;
        if (take(&at, "end ")) {
            if (!take_number(&at, RT_TUNE_PRODUCTS, &n) || *at || n != t->n)
                return fail_line(l);
            return l->at == l->end ||
                   rt_file_fail(l->error, "it goes on after its end in line %d", l->number);
        }
        if (!read_product(l, t))
            return false;
    }
}

bool rt_tune_parse(RtTune *t, const uint8_t *data, size_t size, RtFileError *e)
{
    const char *text = (const char *)data;
    Lines l = {.at = text, .end = text ? text + size : NULL, .error = e};

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
