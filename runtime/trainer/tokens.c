// Reads a flat file of tokens. Sample i is the window [i·T, i·T + T); its labels are the same
// window one token later.
#include <stdio.h>
#include <string.h>

#include "runtime/trainer/data.h"

bool rt_is_tokens(const RtTensor *t)
{
    return t->role == RT_INPUT && t->rank == 2 && !rt_type_is_float(t->type) && t->type != RT_BOOL;
}

int64_t rt_token_bytes(const RtModel *m)
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
        ok = m->labels && (strcmp(m->labels, d->column[0].input->name) == 0) +
                                  (strcmp(m->labels, d->column[1].input->name) == 0) ==
                              1;
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

bool rt_tokens_open(RtData *d, const RtModel *m, RtUse use, const char *path, int64_t token_bytes)
{
    RtFileError e;
    RtMap *file = &d->column[0].file;  // all columns use this map

    if (!check_inputs(d, m, use, path))
        return false;
    d->column[0].path = strcpy(rt_alloc(strlen(path) + 1, 1), path);
    if (!rt_map(file, path, &e))
        return rt_error(m, "%s: %s", path, e.text);
    if (file->size % (size_t)token_bytes != 0)
        return rt_error(m,
                        "%s: %zu bytes are not a whole number of tokens of %lld bytes "
                        "(--token-bytes)",
                        path, file->size, (long long)token_bytes);
    int64_t tokens = (int64_t)file->size / token_bytes;
    d->window = d->column[0].input->dim[1];
    int64_t needed = tokens - (use == RT_PREDICT ? 0 : 1);
    d->samples = needed > 0 ? needed / d->window : 0;
    for (int i = 0; i < d->n; i++) {
        RtColumn *c = &d->column[i];
        bool is_labels = m->labels && strcmp(m->labels, c->input->name) == 0;

        c->type = token_bytes == 1 ? RT_U8 : token_bytes == 2 ? RT_U16 : RT_U32;
        if (!rt_type_converts(c->type, c->input->type))
            return rt_error(m, "%s: tokens of %lld bytes don't fit input '%s' of type %s", path,
                            (long long)token_bytes, c->input->name, rt_type_name(c->input->type));
        c->rows = file->data + (is_labels ? token_bytes : 0);
        c->row_bytes = d->window * token_bytes;
    }
    return true;
}
