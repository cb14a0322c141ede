// Reads and prints cluster files, which are JSON.
#include <math.h>
#include <string.h>

#include "analyzer/machine/machine.h"
#include "base/json.h"

enum { MAX_CLUSTER_FILE_BYTES = 1 << 20, MAX_GEMM_RATES = 4096, MAX_LINKS = 8, MAX_LINK_NAME = 40 };

// A number of the file: its offset in the struct, and its limits.
typedef struct NumberField {
    const char *name;
    size_t at;
    bool is_whole;
    double least, most;
    bool is_optional;  // the number is 0 if it is missing, and isn't printed if it is 0
} NumberField;

static const NumberField host_fields[] = {
    {"devices_per_host", offsetof(Cluster, devices_per_host), true, 1, 1024},
};

static const NumberField device_fields[] = {
    {"threads", offsetof(Cluster, threads), true, 1, 4096},
    {"memory", offsetof(Cluster, memory), false, 1, 1e18},
    {"bandwidth", offsetof(Cluster, bandwidth), false, 1, 1e18},
    {"reading", offsetof(Cluster, read_bandwidth), false, 1, 1e18},
    {"launch", offsetof(Cluster, launch), false, 0, 1},
    {"vector", offsetof(Cluster, vector), false, 1, 1e21},
    {"attention", offsetof(Cluster, attention.forward), false, 1, 1e21, true},
    {"attention_grad", offsetof(Cluster, attention.grad), false, 1, 1e21, true},
};

static const NumberField half_fields[] = {
    {"half_attention", offsetof(Cluster, half_attention.forward), false, 1, 1e21, true},
    {"half_attention_grad", offsetof(Cluster, half_attention.grad), false, 1, 1e21, true},
};

static const NumberField exchange_fields[] = {
    {"base", offsetof(ExchangeMemory, base), false, 0, 1e18},
    {"communicator", offsetof(ExchangeMemory, communicator), false, 0, 1e18},
};

static const NumberField gemm_fields[] = {
    {"m", offsetof(GemmRate, m), false, 1, 1e9},
    {"n", offsetof(GemmRate, n), false, 1, 1e9},
    {"k", offsetof(GemmRate, k), false, 1, 1e9},
    {"flops", offsetof(GemmRate, flops), false, 1, 1e21},
    {"batch", offsetof(GemmRate, batch), false, 1, 1e9, true},
};

static const NumberField link_fields[] = {
    {"devices", offsetof(Link, devices), true, 2, 1 << 20},
    {"shared_by", offsetof(Link, shared_by), true, 1, 1 << 20},
    {"alpha", offsetof(Link, alpha), false, 0, 1},
    {"beta", offsetof(Link, beta), false, 0, 1},
    {"overhead", offsetof(Link, overhead), false, 0, 1, true},
};

static const NumberField messages_fields[] = {
    {"ranks", offsetof(Messages, ranks), true, 2, 128},
    {"tries", offsetof(Messages, tries), true, 1, 9},
};

int cluster_devices(const Cluster *c) { return c->n_links ? c->link[c->n_links - 1].devices : 1; }

double cluster_peak(const Cluster *c)
{
    double peak = 0;

    for (int i = 0; i < c->n_gemm; i++)
        if (c->gemm[i].type == F32 && c->gemm[i].flops > peak)
            peak = c->gemm[i].flops;
    return peak;
}

// ---- reading ----

typedef struct ClusterReader {
    Arena *a;
    Diag *d;
} ClusterReader;

// Returns the member of that name; NULL after an error. `path` is that of the object ("device."),
// for messages.
static const cJSON *member(const ClusterReader *r, const cJSON *object, const char *path,
                           const char *name)
{
    const cJSON *x = cJSON_GetObjectItemCaseSensitive(object, name);

    if (!x)
        diag_error(r->d, "%s%s is missing", path, name);
    return x;
}

static bool read_number(const ClusterReader *r, const cJSON *object, const char *path,
                        const NumberField *f, void *to)
{
    if (f->is_optional && !cJSON_GetObjectItemCaseSensitive(object, f->name))
        return true;
    const cJSON *x = member(r, object, path, f->name);
    if (!x)
        return false;
    double v = cJSON_IsNumber(x) ? x->valuedouble : NAN;
    if (!(v >= f->least && v <= f->most) || (f->is_whole && v != floor(v))) {
        diag_error(r->d, "%s%s must be a %snumber from %.15g to %.15g", path, f->name,
                   f->is_whole ? "whole " : "", f->least, f->most);
        return false;
    }
    if (f->is_whole)
        *(int *)((char *)to + f->at) = (int)v;
    else
        *(double *)((char *)to + f->at) = v;
    return true;
}

static bool read_numbers(const ClusterReader *r, const cJSON *object, const char *path,
                         const NumberField *f, int n, void *to)
{
    bool ok = true;

    for (int i = 0; i < n; i++)
        ok &= read_number(r, object, path, &f[i], to);
    return ok;
}

static bool is_object(const ClusterReader *r, const cJSON *x, const char *path)
{
    if (x && !cJSON_IsObject(x))
        diag_error(r->d, "%s must be an object", path);
    return x && cJSON_IsObject(x);
}

static bool read_rate(const ClusterReader *r, const cJSON *x, int i, GemmRate *to)
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

// Devices are GPUs if the file says so.
static bool read_is_gpu(const ClusterReader *r, const cJSON *device, Cluster *c)
{
    const cJSON *x = cJSON_GetObjectItemCaseSensitive(device, "is_gpu");

    c->is_gpu = cJSON_IsTrue(x);
    if (!x || cJSON_IsBool(x))
        return true;
    diag_error(r->d, "device.is_gpu must be true or false");
    return false;
}

static bool read_rates(const ClusterReader *r, const cJSON *device, Cluster *c)
{
    const cJSON *list = member(r, device, "device.", "gemm"), *x;
    int n = list && cJSON_IsArray(list) ? cJSON_GetArraySize(list) : 0;

    if (!list)
        return false;
    if (n < 1 || n > MAX_GEMM_RATES) {
        diag_error(r->d, "device.gemm must be a list of 1 to %d objects", MAX_GEMM_RATES);
        return false;
    }
    c->gemm = arena_array(r->a, GemmRate, n);
    cJSON_ArrayForEach(x, list) if (!read_rate(r, x, c->n_gemm, &c->gemm[c->n_gemm])) return false;
    else c->n_gemm++;
    return true;
}

// The name must be printable as it is, because it is never quoted.
static bool read_name(const ClusterReader *r, const cJSON *x, const char *path, const char **name)
{
    const cJSON *text = member(r, x, path, "name");
    const char *s = text && cJSON_IsString(text) ? text->valuestring : "";
    size_t n = 0;

    if (!text)
        return false;
    while (n <= MAX_LINK_NAME && s[n] >= ' ' && s[n] < 127 && s[n] != '"' && s[n] != '\\')
        n++;
    if (!n || n > MAX_LINK_NAME || s[n]) {
        diag_error(r->d, "%sname must have 1 to %d printable ASCII characters except \" and \\",
                   path, MAX_LINK_NAME);
        return false;
    }
    *name = arena_copy(r->a, s, n);
    return true;
}

// `below`: how many devices the level below joins.
static bool read_link(const ClusterReader *r, const cJSON *x, int i, int below, Link *to)
{
    char *path = arena_string(r->a, "links[%d]", i);
    const char *dot = arena_string(r->a, "%s.", path);

    if (!is_object(r, x, path) || !read_name(r, x, dot, &to->name) ||
        !read_numbers(r, x, dot, link_fields, COUNT(link_fields), to))
        return false;
    if (to->devices <= below || to->devices % below) {
        diag_error(r->d,
                   "%sdevices must be a larger multiple of %d, the devices of the level below", dot,
                   below);
        return false;
    }
    return true;
}

static bool read_list(const ClusterReader *r, const cJSON *object, const char *name, int n,
                      double most, double **to)
{
    const cJSON *list = member(r, object, "messages.", name), *x;
    int i = 0;

    *to = arena_array(r->a, double, n);
    if (!list)
        return false;
    bool ok = cJSON_IsArray(list) && cJSON_GetArraySize(list) == n;
    for (x = list->child; ok && x; x = x->next) {
        ok = cJSON_IsNumber(x) && x->valuedouble >= 0 && x->valuedouble <= most;
        (*to)[i++] = ok ? x->valuedouble : 0;
    }
    if (!ok)
        diag_error(r->d, "messages.%s must be a list of %d numbers from 0 to %.15g", name, n, most);
    return ok;
}

static bool read_messages(const ClusterReader *r, const cJSON *x, Cluster *c)
{
    Messages m = {0};

    if (!is_object(r, x, "messages") ||
        !read_numbers(r, x, "messages.", messages_fields, COUNT(messages_fields), &m))
        return false;
    if (!read_list(r, x, "alpha", m.ranks * m.ranks, 1, &m.alpha) ||
        !read_list(r, x, "beta", m.ranks * m.ranks, 1, &m.beta) ||
        !read_list(r, x, "times", m.tries * m.ranks, 1e6, &m.times) ||
        !read_list(r, x, "overhead", m.tries * m.ranks, 1, &m.overhead))
        return false;
    c->n_links = links_fit(r->a, &m, &c->link);
    return true;
}

static bool read_links(const ClusterReader *r, const cJSON *root, Cluster *c)
{
    const cJSON *list = member(r, root, "", "links"), *x;
    int n = list && cJSON_IsArray(list) ? cJSON_GetArraySize(list) : -1;

    if (!list)
        return false;
    if (n < 0 || n > MAX_LINKS) {
        diag_error(r->d, "links must be a list of 0 to %d objects", MAX_LINKS);
        return false;
    }
    c->link = arena_array(r->a, Link, n);
    for (x = list->child; x; x = x->next, c->n_links++)
        if (!read_link(r, x, c->n_links, cluster_devices(c), &c->link[c->n_links]))
            return false;
    return true;
}

// Reads the links, or fits them to the messages if the file has those.
static bool read_topology(const ClusterReader *r, const cJSON *root, Cluster *c)
{
    const cJSON *messages = cJSON_GetObjectItemCaseSensitive(root, "messages");

    if (messages ? !read_messages(r, messages, c) : !read_links(r, root, c))
        return false;
    int devices = cluster_devices(c);
    if (devices % c->devices_per_host)
        diag_error(r->d, "devices_per_host must divide %d, the number of devices", devices);
    return devices % c->devices_per_host == 0;
}

// Returns the version; 0 after an error.
static int read_version(const ClusterReader *r, const cJSON *root)
{
    const cJSON *x = member(r, root, "", "version");
    double version = x && cJSON_IsNumber(x) ? x->valuedouble : 0;

    if (version == CLUSTER_VERSION_2 || version == CLUSTER_VERSION)
        return (int)version;

    if (version == 1)
        diag_error(r->d,
                   "version 1 has no links: make the file again with shardcc detect, or add "
                   "\"links\": [] and set version %d",
                   CLUSTER_VERSION_2);
    else if (x)
        diag_error(r->d, "version must be %d, as shardcc detect writes it, or %d", CLUSTER_VERSION,
                   CLUSTER_VERSION_2);
    return 0;
}

static bool read_exchange_memory(const ClusterReader *r, const cJSON *device, Cluster *c)
{
    const cJSON *x = member(r, device, "device.", "exchange_memory");

    return is_object(r, x, "device.exchange_memory") &&
           read_numbers(r, x, "device.exchange_memory.", exchange_fields, COUNT(exchange_fields),
                        &c->exchange_memory);
}

static bool read_cluster(const ClusterReader *r, const cJSON *root, Cluster *c)
{
    int version = is_object(r, root, "the top level") ? read_version(r, root) : 0;

    if (!version)
        return false;
    bool ok = read_numbers(r, root, "", host_fields, COUNT(host_fields), c);
    ok = ok && read_topology(r, root, c);
    const cJSON *device = member(r, root, "", "device");
    if (!is_object(r, device, "device"))
        return false;
    ok &= read_is_gpu(r, device, c);
    ok &= read_numbers(r, device, "device.", device_fields, COUNT(device_fields), c);
    ok &= read_numbers(r, device, "device.", half_fields, COUNT(half_fields), c);
    if (version > CLUSTER_VERSION_2)
        ok &= read_exchange_memory(r, device, c);
    return read_rates(r, device, c) && ok;
}

bool cluster_parse(Arena *a, const char *text, size_t n, Cluster *c, Diag *d)
{
    const ClusterReader r = {a, d};
    cJSON *root = json_parse(text, n, MAX_CLUSTER_FILE_BYTES, "a cluster", d);

    *c = (Cluster){0};
    bool ok = root && read_cluster(&r, root, c);
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

static void print_numbers(Text *t, const char *between, const NumberField *f, int n,
                          const void *from)
{
    for (int i = 0; i < n; i++) {
        const char *at = (const char *)from + f[i].at;
        double v = f[i].is_whole ? *(const int *)at : *(const double *)at;
        if (f[i].is_optional && v == 0)
            continue;
        text_printf(t, "\"%s\": %.*g%s", f[i].name, v == floor(v) ? 15 : 4, v, between);
    }
}

void cluster_print(const Cluster *c, int version, Text *t)
{
    const ExchangeMemory *e = &c->exchange_memory;

    text_printf(t, "{\n  \"version\": %d,\n  ", version);
    print_numbers(t, ",\n  ", host_fields, COUNT(host_fields), c);
    text_printf(t, "\"links\": [%s", c->n_links ? "\n" : "");
    for (int i = 0; i < c->n_links; i++) {
        text_printf(t, "    {");
        print_numbers(t, ", ", link_fields, COUNT(link_fields), &c->link[i]);
        text_printf(t, "\"name\": \"%s\"}%s\n", c->link[i].name, i + 1 < c->n_links ? "," : "");
    }
    text_printf(t, "%s],\n  \"device\": {\n    ", c->n_links ? "  " : "");
    text_printf(t, "%s", c->is_gpu && version > CLUSTER_VERSION_2 ? "\"is_gpu\": true,\n    " : "");
    print_numbers(t, ",\n    ", device_fields, COUNT(device_fields), c);
    if (version > CLUSTER_VERSION_2) {
        print_numbers(t, ",\n    ", half_fields, COUNT(half_fields), c);
        text_printf(t, "\"exchange_memory\": {\"base\": %.15g, \"communicator\": %.15g},\n    ",
                    e->base, e->communicator);
    }
    text_printf(t, "\"gemm\": [\n");
    for (int i = 0; i < c->n_gemm; i++) {
        text_printf(t, "      {");
        print_numbers(t, ", ", gemm_fields, COUNT(gemm_fields), &c->gemm[i]);
        text_printf(t, "\"type\": \"%s\"}%s\n", dtype_name(c->gemm[i].type),
                    i + 1 < c->n_gemm ? "," : "");
    }
    text_printf(t, "    ]\n  }\n}\n");
}
