// Reads files of tokens. Sample i of a file is the window [i·T, i·T + T); its labels are the same
// window one token later. The samples of a folder are those of its files, one file after the other.
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/rt_tokens.h"
#include "runtime/trainer/data.h"
#include "runtime/trainer/run.h"

// Half of the maps that Linux lets a process have (vm.max_map_count, 65530).
enum { MAX_FILES = 32768 };

bool rt_is_tokens(const RtTensor *t)
{
    return t->role == RT_INPUT && t->rank == 2 && !rt_type_is_float(t->type) && t->type != RT_BOOL;
}

// The bytes of a token in a file without a header, if --token-bytes does not say it.
static int usual_bytes(const RtModel *m)
{
    return m->vocabulary > 0 && m->vocabulary <= 256 ? 1 : 2;
}

// Are there an input of tokens and, if labels are needed, labels of the same shape?
static bool check_inputs(const RtData *d, const RtModel *m, RtUse use, const char *path)
{
    bool ok = d->n == (use == RT_PREDICT ? 1 : 2);

    for (int i = 0; i < d->n && ok; i++) {
        const RtTensor *t = d->column[i].input, *first = d->column[0].input;
        ok =
            rt_is_tokens(t) && t->dim[0] == d->batch && t->dim[1] == first->dim[1] && t->dim[1] > 0;
    }
    if (ok && use != RT_PREDICT)
        ok = d->column[0].input->is_labels != d->column[1].input->is_labels;
    if (ok)
        return true;
    rt_error(m,
             "%s: a file of tokens serves inputs of tokens and labels, both [batch, time]; give "
             "a folder with a .npy file for each of these",
             path);
    for (int i = 0; i < d->n; i++) {
        char text[300];
        rt_tensor_print(d->column[i].input, text, sizeof text);
        rt_note("%s", text);
    }
    return false;
}

// ---- the files ----

static bool is_tokens_name(const char *name)
{
    size_t n = strlen(name);

    return name[0] != '.' && n > 4 && strcmp(name + n - 4, ".bin") == 0;
}

static int is_visible(const struct dirent *entry) { return entry->d_name[0] != '.'; }

bool rt_has_tokens(const char *folder)
{
    DIR *d = opendir(folder);
    const struct dirent *entry;
    bool has = false;

    while (d && !has && (entry = readdir(d)))
        has = is_tokens_name(entry->d_name);
    if (d)
        closedir(d);
    return has;
}

static void add_file(RtData *d, const char *folder, const char *name)
{
    size_t capacity = strlen(folder) + strlen(name) + 2;
    char *path = rt_alloc(capacity, 1);

    snprintf(path, capacity, "%s%s%s", folder, *folder ? "/" : "", name);
    d->file[d->n_files++].path = path;
}

// Adds the `n` entries of a folder if all of them are names of files of tokens.
static bool add_files(RtData *d, const RtModel *m, const char *folder, struct dirent **entry, int n)
{
    const char *tokens = "", *other = NULL;

    for (int i = 0; i < n; i++)
        if (is_tokens_name(entry[i]->d_name))
            tokens = entry[i]->d_name;
        else
            other = entry[i]->d_name;
    if (other)
        return rt_error(m,
                        "%s: it has files of tokens, '%s', and also '%s'; a folder of files of "
                        "tokens (*.bin) has no others",
                        folder, tokens, other);
    if (n > MAX_FILES)
        return rt_error(m, "%s: %d files; at most %d are possible", folder, n, MAX_FILES);
    d->file = rt_alloc((size_t)n, sizeof *d->file);
    for (int i = 0; i < n; i++)
        add_file(d, folder, entry[i]->d_name);
    return true;
}

static bool list_folder(RtData *d, const RtModel *m, const char *folder)
{
    struct dirent **entry;
    int n = scandir(folder, &entry, is_visible, alphasort);

    if (n < 0)
        return rt_error(m, "%s: %s", folder, strerror(errno));
    bool ok = add_files(d, m, folder, entry, n);
    while (n > 0)
        free(entry[--n]);
    free(entry);
    rt_limits_open(d->n_files);
    return ok;
}

static bool list_files(RtData *d, const RtModel *m, const char *path, bool is_folder)
{
    if (is_folder)
        return list_folder(d, m, path);
    d->file = rt_alloc(1, sizeof *d->file);
    add_file(d, "", path);
    return true;
}

// ---- windows ----

// Counts the windows of a file. *bytes: of a token in the files before it; 0: there are none.
static bool open_file(RtData *d, const RtModel *m, RtUse use, RtDataFile *f, int said, int *bytes)
{
    RtFileError e;
    RtTokens found;

    if (!rt_map(&f->map, f->path, &e) ||
        !rt_tokens_parse(&found, f->map.data, f->map.size, said, usual_bytes(m), &e))
        return rt_error(m, "%s: %s", f->path, e.text);
    if (*bytes && found.bytes != *bytes)
        return rt_error(m, "%s: tokens of %d bytes, but %s has tokens of %d", f->path, found.bytes,
                        d->file[0].path, *bytes);
    *bytes = found.bytes;
    f->rows = found.first;
    f->first = d->samples;
    if (d->documents == RT_CUT)
        return rt_documents_cut(d, found.first, found.n, found.bytes) ||
               rt_error(m, "%s: memory ran out", f->path);
    int64_t used = found.n - (use == RT_PREDICT ? 0 : 1);
    d->samples += used > 0 ? used / d->window : 0;
    return true;
}

// Can labels of that type have the number?
static bool can_ignore(const RtTensor *labels, int64_t ignored)
{
    char element[8];

    rt_set_int(labels->type, element, ignored);
    return rt_get_int(labels->type, element) == ignored;
}

static bool set_columns(RtData *d, const RtModel *m, const char *path, int bytes)
{
    for (int i = 0; i < d->n; i++) {
        RtColumn *c = &d->column[i];
        bool is_labels = c->input->is_labels;

        c->file = d->file;
        c->n_files = d->n_files;
        c->type = bytes == 1 ? RT_U8 : bytes == 2 ? RT_U16 : RT_U32;
        if (!rt_type_converts(c->type, c->input->type))
            return rt_error(m, "%s: tokens of %d bytes don't fit input '%s' of type %s", path,
                            bytes, c->input->name, rt_type_name(c->input->type));
        c->skip = is_labels ? bytes : 0;
        c->row_bytes = d->window * bytes;
        c->start = d->start;
        c->ends = is_labels && d->documents == RT_PACKED;
        c->end = d->document_end;
        if (c->ends && !can_ignore(c->input, m->ignored_label))
            return rt_error(m, "--documents: input '%s' of type %s has no label %lld to ignore",
                            c->input->name, rt_type_name(c->input->type),
                            (long long)m->ignored_label);
    }
    return true;
}

bool rt_tokens_open(RtData *d, const RtModel *m, RtUse use, const char *path, bool is_folder,
                    const RtTokenOptions *o)
{
    int bytes = 0;
    bool ok = check_inputs(d, m, use, path) && list_files(d, m, path, is_folder);

    d->window = d->column[0].input->dim[1];
    if (use != RT_PREDICT) {
        d->documents = o->documents;
        d->document_end = o->document_end;
    }
    for (int i = 0; i < d->n_files && ok; i++)
        ok = open_file(d, m, use, &d->file[i], o->bytes, &bytes);
    return ok && set_columns(d, m, path, bytes);
}
