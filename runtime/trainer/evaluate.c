// Evaluates the loss on held-out data.
#include <assert.h>

#include "runtime/trainer/files.h"
#include "runtime/trainer/trainer.h"
#include "runtime/trainer/watch.h"

bool rt_evaluate(RtRun *run, const RtData *d, double *loss)
{
    const RtModel *m = run->model;
    const RtTensor *sum = rt_find(m->predict, m->n_predict, RT_LOSS_SUM);
    const RtTensor *count = rt_find(m->predict, m->n_predict, RT_LOSS_COUNT);
    double total = 0, counted = 0;

    assert(sum && count);
    for (int64_t b = 0; b < d->samples / d->batch; b++) {
        rt_set_hypers(run, b, 0, 0);  // each batch draws other numbers, the same in each evaluation
        rt_watch_begin(run->rt.watch, RT_FORWARD);
        for (int64_t r = 0; r < d->batch; r++)
            d->sample[r] = b * d->batch + r;
        rt_data_stage(d, d->sample, d->staging);
        rt_data_copy_in(d, d->staging, &run->rt);
        if (!rt_agree(run, rt_check_data(run, d, d->sample, d->staging)) || run->interrupted)
            return false;
        run->rt.device->run(&run->rt, m->forward);
        if (!rt_check_batch(run, m->predict, m->n_predict, d, d->sample))
            return false;
        if (!rt_watch_end(run->rt.watch))
            return false;
        total += rt_get_scalar(&run->rt, sum);
        counted += rt_get_scalar(&run->rt, count);
    }
    *loss = total / counted;
    return true;
}
