// Writes a copy of a model with the weights of a checkpoint.
#include <stdlib.h>

#include "frontend/copy.h"
#include "frontend/weight_file.h"

enum { MAX_SHOWN = 12 };  // differences that one message lists

typedef struct Differences {
    Diag *diag;
    int n;
} Differences;

static void add_difference(Differences *x, const char *text)
{
    if (!x->n++)
        diag_error(x->diag, "the checkpoint's weights aren't those of the model");
    if (x->n <= MAX_SHOWN)
        diag_note(x->diag, "%s", text);
}

static void compare(Differences *x, const RtStored *want, const RtStored *have)
{
    char a[200], b[200], text[600];
    bool same = want && have && stored_becomes(have->dtype, want->dtype) &&
                want->rank == have->rank &&
                !memcmp(want->dim, have->dim, (size_t)want->rank * sizeof *want->dim);

    if (same)
        return;
    if (want)
        rt_stored_print(a, sizeof a, want);
    if (have)
        rt_stored_print(b, sizeof b, have);
    if (!have)
        snprintf(text, sizeof text, "missing     %.120s %s", want->name, a);
    else if (!want)
        snprintf(text, sizeof text, "unexpected  %.120s %s", have->name, b);
    else
        snprintf(text, sizeof text, "different   %.120s: found %s, expected %s", want->name, b, a);
    add_difference(x, text);
}

// Finds the values of the weights, which `t` describes, and reports all differences.
static bool find_values(Arena *arena, const Weights *w, const WeightFile *values, const RtStored *t,
                        Weight *to, Diag *d)
{
    const RtShards *s = &values->shards;
    Arena *a = arena_new();
    Map known = {.arena = a};
    Differences x = {.diag = d};

    for (int i = 0; i < w->n; i++) {
        const RtStored *have = weight_file_find(values, t[i].name);
        compare(&x, &t[i], have);
        map_set(&known, t[i].name, 1);
        to[i] =
            (Weight){.name = t[i].name, .dtype = w->weight[i].dtype, .bytes = w->weight[i].bytes};
        if (have)
            to[i].value = weight_value_of(arena, have);
    }
    for (int i = 0; i < s->n; i++)
        if (!map_get(&known, s->tensor[i].name))
            compare(&x, NULL, &s->tensor[i]);
    if (x.n > MAX_SHOWN)
        diag_note(d, "and %d more", x.n - MAX_SHOWN);
    arena_free(a);
    return !x.n;
}

static bool fail_file(const char *path, const RtFileError *e, Diag *d)
{
    diag_error(d, "'%.200s': %s", path, e->text);
    return false;
}

// Writes the pieces into a new file, which isn't renamed yet.
static bool write_pieces(const Weights *w, const Pieces *from, const char *path, RtOut *out,
                         Diag *d)
{
    Opened source = {0};
    RtFileError error;
    bool ok = true;

    if (!rt_out_open(out, path, &error))
        return fail_file(path, &error, d);
    for (int i = 0; i < from->n && ok; i++) {
        out->at = from->piece[i].to;
        ok = weights_copy(w, &from->piece[i].from, &source, out, d);
    }
    weights_warn_infinite(&source, d);
    weights_close(&source);
    if (!ok)
        rt_out_cancel(out);
    return ok && (rt_out_finish(out, &error) || fail_file(path, &error, d));
}

// Writes both files, and renames them when both are complete.
static bool write_files(const ModelCopy *c, const RtMap *model, const WeightFile *values,
                        const char *path, const char *other, Diag *d)
{
    RtOut out, data;
    RtFileError error;

    if (c->other.n && !write_pieces(c->weights, &c->other, other, &data, d))
        return false;
    bool ok = write_pieces(c->weights, &c->model, path, &out, d);
    if (ok && !((rt_map_check(model, &error) || fail_file(c->weights->model, &error, d)) &&
                weight_file_check(values, d))) {
        rt_out_cancel(&out);
        ok = false;
    }
    if (!ok) {
        if (c->other.n)
            rt_out_cancel(&data);
        return false;
    }
    if (c->other.n && !rt_out_rename(&data, &error)) {
        rt_out_cancel(&out);
        return fail_file(other, &error, d);
    }
    return rt_out_rename(&out, &error) || fail_file(path, &error, d);
}

bool weights_export(const Weights *w, const Graph *g, const WeightFile *values, const char *path,
                    bool *has_data, Diag *d)
{
    RtStored *t = calloc((size_t)w->n + 1, sizeof *t);
    Arena *a = arena_new();
    const char *other = arena_string(a, "%s.data", path);
    RtFileError error;
    RtMap model;

    Weight *value = arena_array(a, Weight, w->n + 1);
    bool ok = t && weights_describe(w, g, t, d) && find_values(a, w, values, t, value, d);
    if (ok && !rt_map(&model, w->model, &error)) {
        ok = fail_file(w->model, &error, d);
    } else if (ok) {
        ModelCopy c = {.arena = a,
                       .data = model.data,
                       .size = model.size,
                       .weights = w,
                       .value = value,
                       .location = base_name(other),
                       .most_bytes = INT32_MAX};
        ok = copy_model(&c, d) && write_files(&c, &model, values, path, other, d);
        *has_data = c.other.n > 0;
        rt_unmap(&model);
    }
    arena_free(a);
    free(t);
    return ok;
}
