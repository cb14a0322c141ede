// The numbers of a step that logs, event files and the progress show.
#include <math.h>
#include <sys/resource.h>

#include "runtime/trainer/run_report.h"

RtStepWork rt_step_work(const RtRun *run, const RtData *d)
{
    const RtModel *m = run->model;
    double samples = (double)(d->batch * m->accumulate);
    const RtTensor *tokens = NULL;

    for (int i = 0; i < d->n; i++)
        if (rt_is_tokens(d->column[i].input) && (m->vocabulary > 0 || d->window > 0))
            tokens = d->column[i].input;
    return (RtStepWork){
        .items = tokens ? samples * (double)tokens->dim[1] : samples,
        .flops = m->flops,
        .peak = m->peak * rt_mesh_ranks(&m->mesh),
        .unit = tokens ? "tokens" : "samples",
        .rate = tokens ? "tokens_per_second" : "samples_per_second",
    };
}

int rt_report_scalars(const RtReport *r, RtScalar to[RT_SCALARS])
{
    const RtStepWork *w = r->work;
    double seconds = r->seconds > 1e-9 ? r->seconds : 1e-9;
    int n = 0;

    to[n++] = (RtScalar){"loss", r->loss};
    to[n++] = (RtScalar){"lr", r->lr};
    to[n++] = (RtScalar){"grad_norm", r->grad_norm};
    if (!isnan(r->scale))
        to[n++] = (RtScalar){"scale", r->scale};
    to[n++] = (RtScalar){"seconds", r->seconds};
    to[n++] = (RtScalar){w->rate, w->items / seconds};
    if (w->flops > 0)
        to[n++] = (RtScalar){"flops_per_second", w->flops / seconds};
    if (w->flops > 0 && w->peak > 0)
        to[n++] = (RtScalar){"share_of_peak", w->flops / seconds / w->peak};
    to[n++] = (RtScalar){"compute_seconds", r->seconds - r->communication - r->data};
    to[n++] = (RtScalar){"communication_seconds", r->communication};
    to[n++] = (RtScalar){"data_seconds", r->data};
    to[n++] = (RtScalar){"saving_seconds", r->saving};
    to[n++] = (RtScalar){"arena_bytes", r->arena_bytes, true};
    to[n++] = (RtScalar){"resident_bytes", r->resident_bytes, true};
    return n;
}

double rt_resident_bytes(void)
{
    struct rusage usage;

    return getrusage(RUSAGE_SELF, &usage) == 0 ? 1024.0 * (double)usage.ru_maxrss : NAN;
}
