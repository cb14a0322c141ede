// Where results go.
#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "driver/driver.h"

const char *base_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

char *output_path(Arena *a, const Options *o)
{
    const char *base = base_name(o->input), *dot = strrchr(base, '.');
    size_t n = o->output ? strlen(o->output) : 0;

    while (n > 1 && o->emit == EMIT_SOURCE && o->output[n - 1] == '/')
        n--;
    if (o->output && o->emit != EMIT_C)
        return arena_copy(a, o->output, n);
    return arena_copy(a, base, dot && dot > base ? (size_t)(dot - base) : strlen(base));
}

char *output_folder(Arena *a, const char *path)
{
    size_t n = (size_t)(base_name(path) - path);

    return n ? arena_copy(a, path, n > 1 ? n - 1 : n) : arena_copy(a, ".", 1);
}

char *program_folder(Arena *a)
{
    char path[4096];
    ssize_t n = readlink("/proc/self/exe", path, sizeof path - 1);

    return n < 0 ? arena_copy(a, ".", 1) : output_folder(a, arena_copy(a, path, (size_t)n));
}

char *runtime_folder(Arena *a) { return arena_string(a, "%s/rt", program_folder(a)); }

bool is_same_file(const char *a, const char *b)
{
    struct stat s, t;
    return !stat(a, &s) && !stat(b, &t) && s.st_dev == t.st_dev && s.st_ino == t.st_ino;
}

bool output_check_file(Arena *a, const char *path, const char *input, const char *what, Diag *d)
{
    const char *folder = output_folder(a, path);
    struct stat s;

    if (access(folder, W_OK | X_OK)) {
        diag_error(d, "cannot write into '%s': %s", folder, strerror(errno));
        return false;
    }
    if (!stat(path, &s) && !S_ISREG(s.st_mode))
        diag_error(d, "cannot write '%s': it is %s", path,
                   S_ISDIR(s.st_mode) ? "a folder" : "no regular file");
    else if (is_same_file(path, input))
        diag_error(d, "cannot write '%s': it is the %s", path, what);
    else
        return true;
    return false;
}

static bool check_file(Arena *a, const Options *o, const char *path, Diag *d)
{
    return output_check_file(a, path, o->input, "model", d);
}

bool output_check(Arena *a, const Options *o, Diag *d)
{
    char *path = output_path(a, o);
    struct stat s;

    if (o->dump_after || (o->emit != EMIT_PROGRAM_FILE && o->emit != EMIT_SOURCE))
        return !o->output || check_file(a, o, o->output, d);
    if (o->emit == EMIT_SOURCE) {
        if (stat(path, &s) || S_ISDIR(s.st_mode))
            return true;
        diag_error(d, "cannot write into '%s': it is no folder", path);
        return false;
    }
    return check_file(a, o, path, d) && check_file(a, o, arena_string(a, "%s.c", path), d) &&
           check_file(a, o, arena_string(a, "%s.safetensors", path), d);
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
