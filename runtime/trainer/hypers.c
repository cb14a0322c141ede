// Sets the hyper-parameters: those that the user may choose, and those that the trainer counts.
#include <math.h>
#include <string.h>

#include "runtime/trainer/run.h"

double rt_full_rate(const RtRun *run)
{
    const RtModel *m = run->model;

    for (int i = 0; i < m->n_tensors; i++)
        if (m->tensors[i].role == RT_HYPER && strcmp(m->tensors[i].name, "lr") == 0)
            return isnan(run->o.hyper[i]) ? m->tensors[i].fill : run->o.hyper[i];
    return 0;
}

void rt_set_hypers(RtRun *run, int64_t step, int64_t micro, double lr)
{
    Rt *rt = &run->rt;

    for (int i = 0; i < run->model->n_tensors; i++) {
        const RtTensor *t = &run->model->tensors[i];

        if (t->role != RT_HYPER)
            continue;
        if (strcmp(t->name, "lr") == 0)
            rt_set_scalar(rt, t, lr);
        else if (strcmp(t->name, "step") == 0)
            rt_set_scalar(rt, t, (double)(step + 1));
        else if (strcmp(t->name, "step_index") == 0)
            rt_set_scalar_int(rt, t, step);
        else if (strcmp(t->name, "seed") == 0)
            rt_set_scalar_int(rt, t, run->o.seed);
        else if (strcmp(t->name, "micro") == 0)
            rt_set_scalar_int(rt, t, micro);
        else
            rt_set_scalar(rt, t, isnan(run->o.hyper[i]) ? t->fill : run->o.hyper[i]);
    }
}
