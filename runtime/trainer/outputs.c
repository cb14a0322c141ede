// Checks that a run's outputs overwrite neither its inputs nor one another, before any file is
// opened for writing.
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "runtime/trainer/files.h"

// Identifies an existing file by its inode, and a missing one by its folder's inode and its name.
typedef struct FileId {
    dev_t device;
    ino_t inode;
    char name[NAME_MAX + 1];
} FileId;

typedef struct Output {
    const char *option, *path;
    FileId file;
    bool is_known;
} Output;

// Replaces `path` by the target of the symbolic links at its end: there the file would be made.
static void follow_links(char path[PATH_MAX])
{
    enum { MAX_LINKS = 40 };
    char link[PATH_MAX], next[2 * PATH_MAX];

    for (int i = 0; i < MAX_LINKS; i++) {
        ssize_t n = readlink(path, link, sizeof link - 1);
        const char *slash = strrchr(path, '/');

        if (n < 0)
            return;
        link[n] = 0;
        int folder = link[0] == '/' || !slash ? 0 : (int)(slash - path) + 1;
        snprintf(next, sizeof next, "%.*s%s", folder, path, link);
        snprintf(path, PATH_MAX, "%.*s", PATH_MAX - 1, next);
    }
}

// Returns false if the file can't be overwritten: a device, or a folder that can't be written to.
static bool identify(FileId *p, const char *name)
{
    char path[PATH_MAX];
    struct stat st;

    *p = (FileId){0};
    if (stat(name, &st) == 0) {
        p->device = st.st_dev;
        p->inode = st.st_ino;
        return S_ISREG(st.st_mode);
    }
    if (strlen(name) >= sizeof path)
        return false;
    memcpy(path, name, strlen(name) + 1);
    follow_links(path);
    char *slash = strrchr(path, '/'), *last = slash ? slash + 1 : path;
    if (strlen(last) > NAME_MAX)
        return false;
    memcpy(p->name, last, strlen(last) + 1);
    *last = 0;
    if (stat(*path ? path : ".", &st) != 0)
        return false;
    p->device = st.st_dev;
    p->inode = st.st_ino;
    return true;
}

static bool same_file(const FileId *a, const FileId *b)
{
    return a->device == b->device && a->inode == b->inode && strcmp(a->name, b->name) == 0;
}

// May the output overwrite the file `path`, which the run reads as `what`?
static bool check_input(const RtModel *m, const Output *o, const char *path, const char *what)
{
    FileId in;

    if (!o->is_known || !identify(&in, path) || !same_file(&o->file, &in))
        return true;
    return rt_error(m, "%s: '%s' can't be written: this run reads it, %s", o->option, o->path,
                    what);
}

static bool check_data(const RtModel *m, const Output *o, const RtData *d, const char *what)
{
    for (int i = 0; i < d->n_files; i++)
        if (!check_input(m, o, d->file[i].path, what))
            return false;
    return true;
}

// weights: the path of the weights that the run loads; empty if it loads none.
static bool check_inputs(const RtModel *m, const Output *o, const RtInputs *x, const char *weights)
{
    return check_data(m, o, &x->train, "as --data") &&
           check_data(m, o, &x->eval, "as --eval-data") &&
           check_data(m, o, &x->predict, "for --predict") &&
           (!*weights || check_input(m, o, weights, "as its weights")) &&
           check_input(m, o, "/proc/self/exe", "as its program");
}

bool rt_outputs_check(const RtRun *run, const RtInputs *x)
{
    const RtOptions *r = &run->o;
    Output out[] = {
        {.option = "--save", .path = r->save},
        {.option = "--save-gradients", .path = r->save_gradients},
        {.option = "--log", .path = r->log},
        {.option = "--trace", .path = r->trace},
        {.option = "-o", .path = r->out},
        {.option = "--tune"},
    };
    char weights[PATH_MAX], tuned[PATH_MAX];

    if (r->tune && rt_path_of(run->model, ".tune", tuned, sizeof tuned))
        out[sizeof out / sizeof *out - 1].path = tuned;
    if (!rt_weights_find(run, weights, sizeof weights))
        return false;
    for (size_t i = 0; i < sizeof out / sizeof *out; i++) {
        Output *o = &out[i];

        o->is_known = o->path && identify(&o->file, o->path);
        if (!check_inputs(run->model, o, x, weights))
            return false;
        for (size_t k = 0; k < i; k++)
            if (o->is_known && out[k].is_known && same_file(&o->file, &out[k].file))
                return rt_error(run->model, "%s and %s: '%s' is the same file", out[k].option,
                                o->option, o->path);
    }
    return true;
}
