// Saves the gradients of the first step, as the program completes them, or looks through those of a
// step.
#include "runtime/trainer/files.h"

bool rt_gradients_open(RtGradients *g, RtRun *run)
{
    const RtModel *m = run->model;

    return rt_saver_open(&g->file, run, rt_entries(m->train, m->n_train, 1u << RT_GRADIENT),
                         run->o.save_gradients);
}

bool rt_gradients_begin(RtGradients *g)
{
    g->file.run->rt.gradients = g;
    return rt_saver_begin(&g->file);
}

bool rt_gradients_end(RtGradients *g)
{
    g->file.run->rt.gradients = NULL;
    return rt_saver_end(&g->file);
}

void rt_gradients_search(RtGradients *g, RtRun *run)
{
    const RtModel *m = run->model;

    *g = (RtGradients){.searches = true};
    rt_saver_open(&g->file, run, rt_entries(m->train, m->n_train, 1u << RT_GRADIENT), NULL);
    g->file.judges = true;
    run->rt.gradients = g;
}

void rt_gradients_found(RtGradients *g) { g->file.run->rt.gradients = NULL; }

void rt_gradients_close(RtGradients *g) { rt_saver_close(&g->file); }

// Parameters that are summed have one gradient, so several tensors may have the same number.
void rt_gradient(Rt *rt, int gradient, int64_t layer, const void *data)
{
    RtSaver *s = rt->gradients ? &rt->gradients->file : NULL;
    int entry = 0;

    for (int i = 0; s && i < s->run->model->n_train; i++) {
        const RtTensor *t = &s->run->model->train[i];
        if (t->role != RT_GRADIENT)
            continue;
        if (t->gradient == gradient)
            (rt->gradients->searches ? rt_saver_look : rt_saver_put)(s, entry + (int)layer,
                                                                     rt_operand_at(rt, data));
        entry += rt_layers(t);
    }
}
