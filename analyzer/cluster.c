// What is known of a cluster, from and to JSON.
#include <cjson/cJSON.h>
#include <math.h>
#include <string.h>

#include "analyzer/analyzer.h"

enum { VERSION = 1, MOST_BYTES = 1 << 20, MOST_RATES = 4096 };

// A number of the file: where it is kept, and what it may be.
typedef struct Field {
    const char *name;
    size_t at;
    bool is_whole;
    double least, most;
} Field;

static const Field host_fields[] = {
    {"devices_per_host", offsetof(Cluster, devices_per_host), true, 1, 1024},
};

static const Field device_fields[] = {
    {"threads", offsetof(Cluster, threads), true, 1, 4096},
    {"memory", offsetof(Cluster, memory), false, 1, 1e18},
    {"bandwidth", offsetof(Cluster, bandwidth), false, 1, 1e18},
    {"reading", offsetof(Cluster, reading), false, 1, 1e18},
    {"launch", offsetof(Cluster, launch), false, 0, 1},
    {"vector", offsetof(Cluster, vector), false, 1, 1e21},
};

static const Field gemm_fields[] = {
    {"m", offsetof(GemmRate, m), false, 1, 1e9},
    {"n", offsetof(GemmRate, n), false, 1, 1e9},
    {"k", offsetof(GemmRate, k), false, 1, 1e9},
    {"flops", offsetof(GemmRate, flops), false, 1, 1e21},
};

// ---- reading ----

typedef struct Reader {
    Arena *a;
    Diag *d;
} Reader;

// The member of that name; NULL after an error. `path` is the object's: "device.".
static const cJSON *member(const Reader *r, const cJSON *object, const char *path, const char *name)
{
    const cJSON *x = cJSON_GetObjectItemCaseSensitive(object, name);

    if (!x)
        diag_error(r->d, "%s%s is missing", path, name);
    return x;
}

static bool read_number(const Reader *r, const cJSON *object, const char *path, const Field *f,
                        void *to)
{
    const cJSON *x = member(r, object, path, f->name);

    if (!x)
        return false;
    double v = cJSON_IsNumber(x) ? x->valuedouble : NAN;
    if (!(v >= f->least && v <= f->most) || (f->is_whole && v != floor(v))) {
        diag_error(r->d, "%s%s must be a %snumber from %g to %g", path, f->name,
                   f->is_whole ? "whole " : "", f->least, f->most);
        return false;
    }
    if (f->is_whole)
        *(int *)((char *)to + f->at) = (int)v;
    else
        *(double *)((char *)to + f->at) = v;
    return true;
}

static bool read_numbers(const Reader *r, const cJSON *object, const char *path, const Field *f,
                         int n, void *to)
{
    bool ok = true;

    for (int i = 0; i < n; i++)
        ok &= read_number(r, object, path, &f[i], to);
    return ok;
}

static bool is_object(const Reader *r, const cJSON *x, const char *path)
{
    if (x && !cJSON_IsObject(x))
        diag_error(r->d, "%s must be an object", path);
    return x && cJSON_IsObject(x);
}

static bool read_rate(const Reader *r, const cJSON *x, int i, GemmRate *to)
{
    char *path = arena_string(r->a, "device.gemm[%d]", i);
    const char *dot = arena_string(r->a, "%s.", path);

    if (!is_object(r, x, path) || !read_numbers(r, x, dot, gemm_fields, COUNT(gemm_fields), to))
        return false;
    const cJSON *type = member(r, x, dot, "type");
    to->type = type && cJSON_IsString(type) ? dtype_find(type->valuestring) : DT_NONE;
    if (type && !dtype_is_float(to->type))
        diag_error(r->d, "%stype must be f32, f64, f16 or bf16", dot);
    return dtype_is_float(to->type);
}

static bool read_rates(const Reader *r, const cJSON *device, Cluster *c)
{
    const cJSON *list = member(r, device, "device.", "gemm"), *x;
    int n = list && cJSON_IsArray(list) ? cJSON_GetArraySize(list) : 0;

    if (!list)
        return false;
    if (n < 1 || n > MOST_RATES) {
        diag_error(r->d, "device.gemm must be a list of 1 to %d objects", MOST_RATES);
        return false;
    }
    c->gemm = arena_array(r->a, GemmRate, n);
    cJSON_ArrayForEach(x, list) if (!read_rate(r, x, c->n_gemm, &c->gemm[c->n_gemm])) return false;
    else c->n_gemm++;
    return true;
}

static bool read_cluster(const Reader *r, const cJSON *root, Cluster *c)
{
    if (!is_object(r, root, "the whole"))
        return false;
    const cJSON *version = member(r, root, "", "version");
    if (!version)
        return false;
    if (!cJSON_IsNumber(version) || version->valuedouble != VERSION) {
        diag_error(r->d, "version must be %d: shardcc detect makes such files", VERSION);
        return false;
    }
    bool ok = read_numbers(r, root, "", host_fields, COUNT(host_fields), c);
    const cJSON *device = member(r, root, "", "device");
    if (!is_object(r, device, "device"))
        return false;
    ok &= read_numbers(r, device, "device.", device_fields, COUNT(device_fields), c);
    return read_rates(r, device, c) && ok;
}

bool cluster_parse(Arena *a, const char *text, size_t n, Cluster *c, Diag *d)
{
    const Reader r = {a, d};
    const char *end = NULL;

    *c = (Cluster){0};
    if (n > MOST_BYTES) {
        diag_error(d, "%zu bytes are too many for a cluster", n);
        return false;
    }
    cJSON *root = cJSON_ParseWithLengthOpts(text, n, &end, false);
    while (root && end < text + n && memchr(" \t\r\n", *end, 4))
        end++;
    bool is_json = root && end == text + n;
    if (!is_json)
        diag_error(d, "not JSON: byte %td", end ? end - text : 0);
    bool ok = is_json && read_cluster(&r, root, c);
    cJSON_Delete(root);
    return ok;
}

bool cluster_read(Arena *a, const char *path, Cluster *c, Diag *d)
{
    File f;

    if (!file_map(path, &f, d))
        return false;
    bool ok = cluster_parse(a, (const char *)f.data, f.size, c, d);
    file_unmap(&f);
    return ok;
}

// ---- writing ----

static void print_numbers(Text *t, const char *between, const Field *f, int n, const void *from)
{
    for (int i = 0; i < n; i++) {
        const char *at = (const char *)from + f[i].at;
        double v = f[i].is_whole ? *(const int *)at : *(const double *)at;
        text_printf(t, "\"%s\": %.*g%s", f[i].name, v == floor(v) ? 15 : 4, v, between);
    }
}

void cluster_print(const Cluster *c, Text *t)
{
    text_printf(t, "{\n  \"version\": %d,\n  ", VERSION);
    print_numbers(t, ",\n  ", host_fields, COUNT(host_fields), c);
    text_printf(t, "\"device\": {\n    ");
    print_numbers(t, ",\n    ", device_fields, COUNT(device_fields), c);
    text_printf(t, "\"gemm\": [\n");
    for (int i = 0; i < c->n_gemm; i++) {
        text_printf(t, "      {");
        print_numbers(t, ", ", gemm_fields, COUNT(gemm_fields), &c->gemm[i]);
        text_printf(t, "\"type\": \"%s\"}%s\n", dtype_name(c->gemm[i].type),
                    i + 1 < c->n_gemm ? "," : "");
    }
    text_printf(t, "    ]\n  }\n}\n");
}
