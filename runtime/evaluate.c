// The loss on held-out data, and labels that no class has.
#include <assert.h>
#include <stdio.h>
#include <string.h>

#include "runtime/internal.h"

bool rt_check_labels(const RtRun *run, const RtTensor *set, int n, const RtData *d,
                     const int64_t *sample)
{
    const RtModel *m = run->model;
    const RtTensor *bad = rt_find(set, n, RT_BAD_LABEL);
    int64_t at = bad ? rt_get_int(bad->type, rt_place(bad, 0, run->arena.base)) - 1 : -1;
    long long step = (long long)run->step + 1;
    const RtColumn *c = NULL;

    if (at < 0)
        return true;
    for (int i = 0; i < d->n && m->labels; i++)
        if (strcmp(d->column[i].input->name, m->labels) == 0)
            c = &d->column[i];
    if (!c || c->is_whole || at >= rt_count(c->input))
        return rt_error(m, "step %lld: a label is out of range", step);
    // From the file: in the arena something else may lie there by now.
    int64_t row = sample[at / c->count], place = at % c->count;
    const uint8_t *label = c->rows + row * c->row_bytes + place * (c->row_bytes / c->count);
    char where[48] = "";
    if (c->count > 1)
        snprintf(where, sizeof where, ", place %lld", (long long)place);
    return rt_error(m, "step %lld: sample %lld%s: label %lld is out of range", step, (long long)row,
                    where, (long long)rt_get_int(c->type, label));
}

bool rt_evaluate(RtRun *run, const RtData *d, double *loss)
{
    const RtModel *m = run->model;
    const RtTensor *sum = rt_find(m->predict, m->n_predict, RT_LOSS_SUM);
    const RtTensor *count = rt_find(m->predict, m->n_predict, RT_LOSS_COUNT);
    char *base = run->arena.base;
    double total = 0, counted = 0;

    assert(sum && count);
    for (int64_t b = 0; b < d->samples / d->batch; b++) {
        if (rt_interrupted())
            return false;
        rt_arena_poison(&run->arena);
        for (int64_t r = 0; r < d->batch; r++)
            d->sample[r] = b * d->batch + r;
        rt_data_stage(d, d->sample, d->stage);
        rt_data_place(d, d->stage, base);
        m->forward(&run->rt, base);
        if (!rt_check_labels(run, m->predict, m->n_predict, d, d->sample))
            return false;
        total += rt_get(sum->type, rt_place(sum, 0, base));
        counted += rt_get(count->type, rt_place(count, 0, base));
    }
    *loss = total / counted;
    return rt_arena_check(&run->arena, m);
}
