#include "driver/export_model.h"

#include "frontend/frontend.h"

static bool spares_values(const WeightFile *values, const Strings *written, Diag *d)
{
    int n;
    const char *const *path = weight_file_paths(values, &n);

    for (int i = 0; i < n; i++)
        if (!out_spares(written, path[i], "a file of the checkpoint", d))
            return false;
    return true;
}

// Is no file that is read about to be overwritten?
static bool spares_inputs(Arena *a, const ExportModel *o, const WeightFile *values,
                          const Weights *w, const Strings *written, Diag *d)
{
    bool ok = out_spares(written, o->model, "the model", d) && spares_values(values, written, d);

    for (int i = 0; i < w->n_files && ok; i++)
        ok = out_spares(written, arena_string(a, "%s/%s", folder_name(a, o->model), w->file[i]),
                        "a file of the model's weights", d);
    return ok;
}

static bool write_copy(Arena *a, const ExportModel *o, const ModelFile *m, const WeightFile *values,
                       bool *has_data, Diag *d)
{
    // A batch of 1 does if the user says nothing: the weights don't depend on it.
    ImportOptions i = {.model = m,
                       .bind = o->bind.s,
                       .n_bind = o->bind.n,
                       .shape = o->shape.s,
                       .n_shape = o->shape.n,
                       .tie = o->tie.s,
                       .n_tie = o->tie.n,
                       .only_weights = true,
                       .values = values,
                       .unbound = 1,
                       .accumulate = 1,
                       .training = true};
    const char *files[] = {o->output, arena_string(a, "%s.data", o->output)};
    Strings written = {.s = files, .n = COUNT(files)};
    Weights w;
    BlockedSignals h;

    Graph *g = frontend_import(a, &i, &w, d);
    if (!g || !spares_inputs(a, o, values, &w, &written, d))
        return false;
    for (int k = 0; k < written.n; k++)
        if (!output_is_writable(a, written.s[k], d))
            return false;
    signals_block(&h);
    bool ok = weights_export(&w, g, values, o->output, has_data, d);
    signals_unblock(&h);
    return ok;
}

bool export_model(Arena *a, const ExportModel *o, bool *has_data, Diag *d)
{
    const char *file = d->file;
    WeightFile *values = weight_file_open(a, o->weights, NULL, d);

    if (!values)
        return false;
    d->file = base_name(o->model);
    ModelFile *m = model_open(a, o->model, d);
    bool ok = m && write_copy(a, o, m, values, has_data, d);
    d->file = file;
    model_close(m);
    weight_file_close(values);
    return ok;
}
