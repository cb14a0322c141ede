// Prints and reads structs as JSON.
#include "base/record.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static const double MAX_RECORD_BYTES = 9007199254740992, MAX_RECORD_SECONDS = 1e12,
                    MAX_RECORD_TIME = 1e18;

// Reads a pointer member at an offset. Only the table knows the type that it points to.
static void *pointer_at(const void *s, size_t at)
{
    void *p;

    memcpy(&p, (const char *)s + at, sizeof p);
    return p;
}

static void put_pointer(void *s, size_t at, const void *p) { memcpy((char *)s + at, &p, sizeof p); }

static int int_at(const void *s, size_t at) { return *(const int *)((const char *)s + at); }

// ---- printing ----

static bool is_zero(const RecordField *f, const void *s)
{
    const char *at = (const char *)s + f->at;

    switch (f->kind) {
    case FIELD_TEXT:
        return !pointer_at(s, f->at);
    case FIELD_SECONDS:
    case FIELD_TIME:
        return *(const double *)at == 0;
    case FIELD_INT:
        return !*(const int *)at;
    case FIELD_BYTES:
        return !*(const int64_t *)at;
    case FIELD_FLAG:
        return !*(const bool *)at;
    case FIELD_HASH:
        return !*(const uint64_t *)at;
    default:
        return !int_at(s, f->n_at);
    }
}

static void print_list(const RecordField *f, const void *s, Text *t)
{
    const char *item = pointer_at(s, f->at);
    int n = int_at(s, f->n_at);

    text_printf(t, "[");
    for (int i = 0; i < n; i++) {
        text_printf(t, "%s\n    {", i ? "," : "");
        record_print(f->of, item + (size_t)i * f->of->size, ", ", t);
        text_printf(t, "}");
    }
    text_printf(t, n ? "\n  ]" : "]");
}

static void print_field(const RecordField *f, const void *s, Text *t)
{
    const char *at = (const char *)s + f->at;
    const char **texts;

    switch (f->kind) {
    case FIELD_TEXT:
        text_quote(t, pointer_at(s, f->at));
        break;
    case FIELD_HASH:
        text_printf(t, "\"%016" PRIx64 "\"", *(const uint64_t *)at);
        break;
    case FIELD_SECONDS:
        text_printf(t, "%.9g", *(const double *)at);
        break;
    case FIELD_TIME:
        text_number(t, *(const double *)at);
        break;
    case FIELD_INT:
        text_printf(t, "%d", *(const int *)at);
        break;
    case FIELD_BYTES:
        text_printf(t, "%" PRId64, *(const int64_t *)at);
        break;
    case FIELD_FLAG:
        text_printf(t, "%s", *(const bool *)at ? "true" : "false");
        break;
    case FIELD_TEXTS:
        texts = pointer_at(s, f->at);
        text_printf(t, "[");
        for (int i = 0; i < int_at(s, f->n_at); i++) {
            text_printf(t, "%s", i ? ", " : "");
            text_quote(t, texts[i]);
        }
        text_printf(t, "]");
        break;
    case FIELD_LIST:
        print_list(f, s, t);
    }
}

void record_print(const RecordTable *k, const void *s, const char *between, Text *t)
{
    const char *before = "";

    for (int i = 0; i < k->n_fields; i++) {
        const RecordField *f = &k->field[i];
        if (!f->is_needed && is_zero(f, s))
            continue;
        text_printf(t, "%s\"%s\": ", before, f->name);
        print_field(f, s, t);
        before = between;
    }
}

// ---- reading ----

// Appends the path of the reader: "stages[3].keep[0]."
static void put_path(const RecordReader *r, Text *t)
{
    if (r->outer)
        put_path(r->outer, t);
    if (r->list)
        text_printf(t, "%s[%d].", r->list, r->i);
}

static bool wrong(const RecordReader *r, const char *name, const char *what)
{
    Text path = {0};

    put_path(r, &path);
    if (!*name)  // the item itself
        diag_error(r->d, "%.*s %s", (int)path.n - 1, path.s, what);
    else
        diag_error(r->d, "%s%.100s %s", path.n ? path.s : "", name, what);
    text_free(&path);
    return false;
}

bool record_wrong(const RecordReader *r, const char *name, const char *fmt, ...)
{
    char what[200];
    va_list args;

    va_start(args, fmt);
    vsnprintf(what, sizeof what, fmt, args);
    va_end(args);
    return wrong(r, name, what);
}

// Reports that member `name` is `x`, which isn't what it must be.
static bool mistaken(const RecordReader *r, const char *name, const char *expected, const cJSON *x)
{
    if (cJSON_IsNumber(x))
        return record_wrong(r, name, "must be %s, found %.16g", expected, x->valuedouble);
    if (cJSON_IsString(x))
        return record_wrong(r, name, "must be %s, found '%.40s'", expected, x->valuestring);
    return record_wrong(r, name, "must be %s, found %s", expected,
                        cJSON_IsObject(x)  ? "an object"
                        : cJSON_IsArray(x) ? "a list"
                        : cJSON_IsBool(x)  ? cJSON_IsTrue(x) ? "true" : "false"
                                           : "null");
}

static const char *printable(const cJSON *x)
{
    if (!cJSON_IsString(x))
        return NULL;
    for (const char *s = x->valuestring; *s; s++)
        if (*s < ' ' || *s > '~')
            return NULL;
    return x->valuestring;
}

static bool read_text(const RecordReader *r, const char *name, const cJSON *x, const char **to)
{
    const char *s = printable(x);

    if (!s)
        return mistaken(r, name, "a text of printable ASCII", x);
    *to = arena_copy(r->a, s, strlen(s));
    return true;
}

static bool read_hash(const RecordReader *r, const char *name, const cJSON *x, uint64_t *to)
{
    const char *s = printable(x);

    if (!s || strlen(s) != 16 || strspn(s, "0123456789abcdef") != 16)
        return mistaken(r, name, "a text of 16 digits 0 to f", x);
    *to = strtoull(s, NULL, 16);
    return true;
}

static bool read_number(const RecordReader *r, const char *name, const cJSON *x, double least,
                        double most, bool is_whole, double *to)
{
    *to = cJSON_IsNumber(x) ? x->valuedouble : NAN;
    if (*to >= least && *to <= most && (!is_whole || *to == floor(*to)))
        return true;
    char expected[80];
    snprintf(expected, sizeof expected, "a %snumber from %.16g to %.16g", is_whole ? "whole " : "",
             least, most);
    return mistaken(r, name, expected, x);
}

static bool read_texts(const RecordReader *r, const RecordField *f, const cJSON *x, void *to)
{
    int n = cJSON_IsArray(x) ? cJSON_GetArraySize(x) : -1;
    const char **s = arena_array(r->a, const char *, n > 0 ? n : 0);

    if (n < 0)
        return mistaken(r, f->name, "a list of texts", x);
    if (n > MAX_RECORD_ITEMS)
        return record_wrong(r, f->name, "has %d items, more than %d", n, MAX_RECORD_ITEMS);
    put_pointer(to, f->at, s);
    *(int *)((char *)to + f->n_at) = n;
    for (x = x->child; x; x = x->next)
        if (!read_text(r, f->name, x, s++))
            return false;
    return true;
}

static bool read_list(const RecordReader *r, const RecordField *f, const cJSON *x, void *to)
{
    int n = cJSON_IsArray(x) ? cJSON_GetArraySize(x) : -1;
    RecordReader inner = {r->a, r->d, f->name, 0, r};

    if (n < 0)
        return mistaken(r, f->name, "a list", x);
    if (n > MAX_RECORD_ITEMS)
        return record_wrong(r, f->name, "has %d items, more than %d", n, MAX_RECORD_ITEMS);
    char *item = arena_alloc(r->a, (size_t)n, f->of->size);
    put_pointer(to, f->at, item);
    *(int *)((char *)to + f->n_at) = n;
    for (x = x->child; x; x = x->next, inner.i++)
        if (!record_read(&inner, f->of, x, item + (size_t)inner.i * f->of->size))
            return false;
    return true;
}

static bool read_field(const RecordReader *r, const RecordField *f, const cJSON *x, void *to)
{
    char *at = (char *)to + f->at;
    const char *s = NULL;
    double number;

    switch (f->kind) {
    case FIELD_TEXT:
        if (!read_text(r, f->name, x, &s))
            return false;
        put_pointer(to, f->at, s);
        return true;
    case FIELD_HASH:
        return read_hash(r, f->name, x, (uint64_t *)at);
    case FIELD_SECONDS:
        return read_number(r, f->name, x, -MAX_RECORD_SECONDS, MAX_RECORD_SECONDS, false,
                           (double *)at);
    case FIELD_TIME:
        return read_number(r, f->name, x, 0, MAX_RECORD_TIME, false, (double *)at);
    case FIELD_INT:
        if (!read_number(r, f->name, x, 0, MAX_RECORD_ITEMS, true, &number))
            return false;
        *(int *)at = (int)number;
        return true;
    case FIELD_BYTES:
        if (!read_number(r, f->name, x, 0, MAX_RECORD_BYTES, true, &number))
            return false;
        *(int64_t *)at = (int64_t)number;
        return true;
    case FIELD_FLAG:
        if (!cJSON_IsBool(x))
            return mistaken(r, f->name, "true or false", x);
        *(bool *)at = cJSON_IsTrue(x);
        return true;
    case FIELD_TEXTS:
        return read_texts(r, f, x, to);
    default:
        return read_list(r, f, x, to);
    }
}

bool record_read(const RecordReader *r, const RecordTable *k, const cJSON *x, void *to)
{
    bool seen[MAX_FIELDS] = {false};

    assert(k->n_fields <= MAX_FIELDS);
    if (!cJSON_IsObject(x))
        return mistaken(r, r->list ? "" : "the top level", "an object", x);
    for (x = x->child; x; x = x->next) {
        int i = 0;
        while (i < k->n_fields && strcmp(k->field[i].name, x->string))
            i++;
        if (i == k->n_fields && k->has_version && !strcmp(x->string, "version"))
            continue;
        if (i == k->n_fields || seen[i])
            return record_wrong(r, x->string, i == k->n_fields ? "is unknown" : "occurs twice");
        seen[i] = true;
        if (!read_field(r, &k->field[i], x, to))
            return false;
    }
    for (int i = 0; i < k->n_fields; i++)
        if (k->field[i].is_needed && !seen[i])
            return record_wrong(r, k->field[i].name, "is missing");
    return true;
}
