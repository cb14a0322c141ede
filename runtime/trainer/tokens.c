// Reads a file of tokens. Sample i is the window [i·T, i·T + T); its labels are the same window one
// token later.
#include <stdio.h>
#include <string.h>

#include "runtime/rt_tokens.h"
#include "runtime/trainer/data.h"

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

bool rt_tokens_open(RtData *d, const RtModel *m, RtUse use, const char *path, int token_bytes)
{
    RtFileError e;
    RtTokens found;
    RtMap *file = &d->column[0].file;  // all columns use this map

    if (!check_inputs(d, m, use, path))
        return false;
    d->column[0].path = strcpy(rt_alloc(strlen(path) + 1, 1), path);
    if (!rt_map(file, path, &e) ||
        !rt_tokens_parse(&found, file->data, file->size, token_bytes, usual_bytes(m), &e))
        return rt_error(m, "%s: %s", path, e.text);
    d->window = d->column[0].input->dim[1];
    int64_t needed = found.n - (use == RT_PREDICT ? 0 : 1);
    d->samples = needed > 0 ? needed / d->window : 0;
    for (int i = 0; i < d->n; i++) {
        RtColumn *c = &d->column[i];
        bool is_labels = m->labels && strcmp(m->labels, c->input->name) == 0;

        c->type = found.bytes == 1 ? RT_U8 : found.bytes == 2 ? RT_U16 : RT_U32;
        if (!rt_type_converts(c->type, c->input->type))
            return rt_error(m, "%s: tokens of %d bytes don't fit input '%s' of type %s", path,
                            found.bytes, c->input->name, rt_type_name(c->input->type));
        c->rows = found.first + (is_labels ? found.bytes : 0);
        c->row_bytes = d->window * found.bytes;
    }
    return true;
}
