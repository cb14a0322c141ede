// The gradients of the first step, saved one by one as the program shows them: it may keep none of
// them for longer.
#include "runtime/internal.h"

bool rt_gradients_begin(RtGradients *g, const RtModel *m)
{
    RtFileError e;

    if (!rt_out_open(&g->out, g->saver.path, &e))
        return rt_error(m, "%s: %s", g->saver.path, e.text);
    g->model = m;
    rt_out_write(&g->out, g->saver.header, (size_t)g->saver.header_bytes);
    return true;
}

static void write_layer(RtGradients *g, int entry, const void *data)
{
    int64_t place = g->saver.header_bytes;

    for (int k = 0; k < entry; k++)
        place += g->saver.entries.item[k].bytes;
    rt_out_write_at(&g->out, place, data, (size_t)g->saver.entries.item[entry].bytes);
}

// Parameters that are added up have one gradient.
void rt_gradient(Rt *rt, int gradient, int64_t layer, const void *data)
{
    RtGradients *g = rt->gradients;
    int entry = 0;

    for (int i = 0; g && i < g->model->n_train; i++) {
        const RtTensor *t = &g->model->train[i];
        if (t->role != RT_GRADIENT)
            continue;
        if (t->gradient == gradient)
            write_layer(g, entry + (int)layer, data);
        entry += rt_layers(t);
    }
}

bool rt_gradients_end(RtGradients *g)
{
    RtFileError e;
    const RtModel *m = g->model;

    g->model = NULL;
    return rt_out_commit(&g->out, &e) || rt_error(m, "%s: not saved: %s", g->saver.path, e.text);
}

void rt_gradients_close(RtGradients *g)
{
    if (g->model)
        rt_out_cancel(&g->out);
    rt_saver_close(&g->saver);
}
