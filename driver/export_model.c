#include "driver/export_model.h"

#include "frontend/frontend.h"

// Is no file that is read about to be overwritten?
static bool spares_inputs(Arena *a, const ExportModel *o, const Weights *w, const Strings *written,
                          Diag *d)
{
    bool ok = output_spares(written, o->model, "the model", d) &&
              output_spares(written, o->weights, "a file of the checkpoint", d);

    for (int i = 0; i < w->n_files && ok; i++)
        ok =
            output_spares(written, arena_string(a, "%s/%s", output_folder(a, o->model), w->file[i]),
                          "a file of the model's weights", d);
    return ok;
}

static bool write_copy(Arena *a, const ExportModel *o, const RtSafe *values, bool *has_data,
                       Diag *d)
{
    // A batch of 1 does if the user says nothing: the weights don't depend on it.
    ImportOptions i = {.path = o->model,
                       .bind = o->bind.s,
                       .n_bind = o->bind.n,
                       .shape = o->shape.s,
                       .n_shape = o->shape.n,
                       .tie = o->tie.s,
                       .n_tie = o->tie.n,
                       .only_weights = true,
                       .unbound = 1,
                       .accumulate = 1,
                       .training = true};
    const char *files[] = {o->output, arena_string(a, "%s.data", o->output)};
    Strings written = {.s = files, .n = COUNT(files)};
    Weights w;
    BlockedSignals h;

    Graph *g = frontend_import(a, &i, &w, d);
    if (!g || !spares_inputs(a, o, &w, &written, d))
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
    RtSafe values;
    RtFileError e;

    if (!rt_safe_open(&values, o->weights, &e)) {
        diag_error(d, "'%.200s': %s", base_name(o->weights), e.text);
        return false;
    }
    d->file = base_name(o->model);
    bool ok = write_copy(a, o, &values, has_data, d);
    d->file = file;
    rt_safe_close(&values);
    return ok;
}
