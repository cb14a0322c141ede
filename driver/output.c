// Finds the paths of results, and checks that no result overwrites an input.
#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "driver/driver.h"

char *output_path(Arena *a, const Options *o)
{
    const char *base = base_name(o->request.input), *dot = strrchr(base, '.');
    size_t n = o->output ? strlen(o->output) : 0;

    while (n > 1 && o->emit == EMIT_SOURCE && o->output[n - 1] == '/')
        n--;
    if (o->output && o->emit != EMIT_C && o->emit != EMIT_KERNELS)
        return arena_copy(a, o->output, n);
    return arena_copy(a, base, dot && dot > base ? (size_t)(dot - base) : strlen(base));
}

char *program_path(Arena *a, const Options *o)
{
    char *path = output_path(a, o);

    for (int i = 0; i < o->n_fewer; i++)
        if (o->request.ranks == o->fewer[i])
            return arena_string(a, "%s.%d", path, o->request.ranks);
    return path;
}

char *program_folder(Arena *a)
{
    char path[4096];
    ssize_t n = readlink("/proc/self/exe", path, sizeof path - 1);

    char *own = n < 0 ? arena_copy(a, ".", 1) : folder_name(a, arena_copy(a, path, (size_t)n));
    char *installed = arena_string(a, "%s/../lib/shardcc", own);
    return access(arena_string(a, "%s/rt", own), F_OK) && !access(installed, F_OK) ? installed
                                                                                   : own;
}

char *runtime_folder(Arena *a) { return arena_string(a, "%s/rt", program_folder(a)); }

static const char *probe_of(Arena *a, const RtTransportRow *row)
{
    return arena_string(a, "%s/probe-%s", runtime_folder(a), row->name);
}

const char *probe_path(Arena *a, const RtTransportRow **row, bool must_spawn)
{
    const RtTransportRow *x = *row ? *row : rt_transport_table;

    while (!*row && x->name && ((must_spawn && !x->can_spawn) || access(probe_of(a, x), X_OK)))
        x++;
    *row = x->name ? x : rt_transport_table;
    return probe_of(a, *row);
}

bool output_is_writable(Arena *a, const char *path, Diag *d)
{
    const char *folder = folder_name(a, path);
    struct stat s;

    if (access(folder, W_OK | X_OK)) {
        diag_error(d, "cannot write into '%s': %s", folder, strerror(errno));
        return false;
    }
    if (stat(path, &s) || S_ISREG(s.st_mode))
        return true;
    diag_error(d, "cannot write '%s': it is %s", path,
               S_ISDIR(s.st_mode) ? "a folder" : "not a regular file");
    return false;
}

// Checks the files that the command line names. Files that the model names are checked when the
// model is read.
static bool spares_inputs(const Options *o, Diag *d)
{
    const Strings *w = &o->written;

    return out_spares(w, o->request.input, "the model", d) &&
           (!o->request.plan || out_spares(w, o->request.plan, "the plan", d)) &&
           (!o->cluster || out_spares(w, o->cluster, "the cluster's file", d)) &&
           (!o->cc || !strchr(o->cc, '/') || out_spares(w, o->cc, "the C compiler", d));
}

static void add_written(Arena *a, Options *o, const char *path)
{
    *arena_push(a, o->written.s, o->written.n, o->written.cap) = path;
}

bool output_check_file(Arena *a, Options *o, const char *path, Diag *d)
{
    add_written(a, o, path);
    return output_is_writable(a, path, d) && spares_inputs(o, d);
}

// Lists the files to be written to a folder. Whether existing files there are the user's own is
// checked when they are about to be replaced.
static bool check_folder(Arena *a, Options *o, const char *path, Diag *d)
{
    const char *name = base_name(path), *kernels = o->request.target->kernels_ending;
    struct stat s;

    add_written(a, o, arena_string(a, "%s/%s.c", path, name));
    if (kernels)
        add_written(a, o, arena_string(a, "%s/%s.%s", path, name, kernels));
    add_written(a, o, arena_string(a, "%s/%s.safetensors", path, name));
    add_written(a, o, arena_string(a, "%s/Makefile", path));
    if (stat(path, &s) || S_ISDIR(s.st_mode))
        return spares_inputs(o, d);
    diag_error(d, "cannot write into '%s': it is not a folder", path);
    return false;
}

bool output_check(Arena *a, Options *o, Diag *d)
{
    const char *kernels = o->request.target->kernels_ending;
    char *path = output_path(a, o);

    if (o->dump_after || (o->emit != EMIT_PROGRAM_FILE && o->emit != EMIT_SOURCE))
        return !o->output || output_check_file(a, o, o->output, d);
    if (o->emit == EMIT_SOURCE)
        return check_folder(a, o, path, d);
    for (int i = -1; i < o->n_fewer; i++) {
        const char *program = i < 0 ? path : arena_string(a, "%s.%d", path, o->fewer[i]);
        add_written(a, o, program);
        add_written(a, o, arena_string(a, "%s.c", program));
    }
    if (kernels)
        add_written(a, o, arena_string(a, "%s.%s", path, kernels));
    if (!o->no_weights)
        add_written(a, o, arena_string(a, "%s.safetensors", path));
    for (int i = 0; i < o->written.n; i++)
        if (!output_is_writable(a, o->written.s[i], d))
            return false;
    return spares_inputs(o, d);
}

static bool spares_values(const Options *o, Diag *d)
{
    int n;
    const char *const *path = weight_file_paths(o->request.values, &n);

    for (int i = 0; i < n; i++)
        if (!out_spares(&o->written, path[i], "a file of --weights", d))
            return false;
    return !o->weight_map || out_spares(&o->written, o->weight_map, "the map of weights", d);
}

bool open_weights(Arena *a, Options *o, Diag *d)
{
    if (!o->weights)
        return true;
    o->request.values = o->weight_file = weight_file_open(a, o->weights, o->weight_map, d);
    if (!o->weight_file || spares_values(o, d))
        return o->weight_file;
    weight_file_close(o->weight_file);
    return false;
}

bool output_text(const Options *o, const Text *t, Diag *d)
{
    if (o->output)
        return out_write(o->output, t->s, t->n, d);
    if (fwrite(t->s, 1, t->n, stdout) == t->n && !fflush(stdout))
        return true;
    diag_error(d, "cannot write to stdout: %s", strerror(errno));
    return false;
}
