// Computes the outputs for given inputs and writes them as an npz with one array per output.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "runtime/trainer/files.h"
#include "runtime/trainer/trainer.h"
#include "runtime/trainer/watch.h"

enum { PART = 1 << 14 };  // elements of an unsharded output that are copied at a time

typedef struct Output {
    const RtTensor *tensor;
    int64_t each;  // elements of a sample; 0: the output has no sample axis, and the file has one
                   // row per batch
    int64_t part;  // elements that are collected at a time
    char *buffer;  // see rt_collect
    float *wide;   // a part of a bf16 output as f32, as it is written to the file; else NULL
    char name[256];
} Output;

static void describe(Output *o, RtNpzEntry *x, const RtTensor *t, const RtData *d)
{
    int64_t batches = (d->samples + d->batch - 1) / d->batch;
    bool has_samples = t->rank > 0 && t->dim[0] % d->batch == 0 && t->dim[0] > 0;

    o->tensor = t;
    o->each = has_samples ? rt_whole_count(t) / d->batch : 0;
    // Each collection of a sharded tensor goes through all of its runs.
    o->part = t->n_parts || rt_whole_count(t) < PART ? rt_whole_count(t) : PART;
    o->buffer = rt_alloc((t->n_parts ? 2 : 1) * (size_t)o->part, (size_t)rt_element_bytes(t));
    if (t->type == RT_BF16)
        o->wide = rt_alloc((size_t)o->part, sizeof *o->wide);
    rt_file_name(t, o->name, sizeof o->name);
    const char *dtype = rt_type_name(o->wide ? RT_F32 : t->type);
    x->t = (RtStored){.name = o->name, .dtype = dtype, .rank = t->rank};
    memcpy(x->t.dim, t->dim, sizeof t->dim);
    if (has_samples) {
        x->t.dim[0] = t->dim[0] / d->batch * d->samples;
        return;
    }
    // Adds a first axis of batches. A tensor of eight dims can't get a ninth, so its last two are
    // merged.
    if (t->rank == RT_FILE_RANK)
        x->t.dim[RT_FILE_RANK - 2] *= x->t.dim[RT_FILE_RANK - 1];
    memmove(x->t.dim + 1, x->t.dim, (RT_FILE_RANK - 1) * sizeof *x->t.dim);
    x->t.dim[0] = batches;
    x->t.rank = t->rank < RT_FILE_RANK ? t->rank + 1 : RT_FILE_RANK;
}

static bool predict_batch(RtRun *run, const RtData *d, int64_t first)
{
    rt_watch_begin(run->rt.watch, RT_FORWARD);
    // An incomplete last batch is filled up with its last sample.
    for (int64_t r = 0; r < d->batch; r++)
        d->sample[r] = first + r < d->samples ? first + r : d->samples - 1;
    rt_data_stage(d, d->sample, d->staging);
    for (int i = 0; i < run->model->n_predict; i++)  // also those for the loss
        if (run->model->predict[i].role == RT_INPUT)
            rt_fill_tensor(&run->rt, run->model, &run->model->predict[i], 0);
    rt_data_copy_in(d, d->staging, &run->rt);
    if (!rt_agree(run, rt_check_data(run, d, d->sample, d->staging)) || run->interrupted)
        return false;
    run->rt.device->run(&run->rt, run->model->forward);
    if (!rt_check_indices(run, run->model->predict, run->model->n_predict))
        return false;
    return rt_agree(run, rt_watch_end(run->rt.watch));
}

// Writes the first `count` elements of an output. All ranks call it; rank 0 writes.
static void write_output(RtRun *run, RtOut *out, const Output *o, RtNpzEntry *x, int64_t count)
{
    int64_t bytes = o->wide ? (int64_t)sizeof *o->wide : rt_element_bytes(o->tensor);

    for (int64_t at = 0, n; at < count; at += n) {
        n = count - at < o->part ? count - at : o->part;
        rt_collect(&run->rt, run->model, o->tensor, at, n, o->buffer);
        if (run->rank > 0)
            continue;
        if (o->wide)
            rt_widen(o->wide, o->buffer, n);
        rt_npz_write(out, x, o->wide ? (const void *)o->wide : o->buffer, (size_t)(n * bytes));
    }
}

// All ranks run the model; rank 0 writes.
static bool write_batches(RtRun *run, const RtData *d, Output *o, RtNpzEntry *entry, int n,
                          RtOut *out)
{
    for (int64_t first = 0; first < d->samples; first += d->batch) {
        int64_t rows = d->samples - first < d->batch ? d->samples - first : d->batch;

        rt_set_hypers(run, first / d->batch, 0, 0);  // each batch draws other numbers
        if (!predict_batch(run, d, first))
            return false;
        for (int i = 0; i < n; i++)
            write_output(run, out, &o[i], &entry[i],
                         o[i].each ? rows * o[i].each : rt_whole_count(o[i].tensor));
    }
    return true;
}

// All ranks know the file's name, so that any of them can remove it if another one is lost.
static bool write_all(RtRun *run, const RtData *d, Output *o, RtNpzEntry *entry, int n)
{
    bool writes = run->rank == 0;
    int64_t owner = rt_comm_max(run->rt.comm, writes ? getpid() : 0);
    RtOut out;
    RtFileError e;

    if (!(writes ? rt_out_try(run->o.out, &e) && rt_npz_begin(&out, entry, n, run->o.out, &e)
                 : rt_out_name(&out, run->o.out, owner, &e)))
        return rt_error(run->model, "%s: %s", run->o.out, e.text);
    rt_comm_file(run->rt.comm, out.temp);
    bool ok = write_batches(run, d, o, entry, n, &out);
    if (ok)
        ok = rt_agree(run, !writes || rt_npz_end(&out, entry, n, &e) ||
                               rt_error(run->model, "%s: not saved: %s", run->o.out, e.text));
    else if (writes)
        rt_out_cancel(&out);
    rt_comm_file(run->rt.comm, NULL);
    return ok;
}

bool rt_predict(RtRun *run, const RtData *d)
{
    const RtModel *m = run->model;
    Output *o = rt_alloc((size_t)m->n_predict, sizeof *o);
    RtNpzEntry *entry = rt_alloc((size_t)m->n_predict, sizeof *entry);
    int n = 0;

    for (int i = 0; i < m->n_predict; i++)
        if (m->predict[i].role == RT_OUTPUT) {
            describe(&o[n], &entry[n], &m->predict[i], d);
            n++;
        }
    bool ok = write_all(run, d, o, entry, n);
    if (ok && !run->o.quiet)
        fprintf(stderr, "wrote %s: %d output%s of %lld samples\n", run->o.out, n, n == 1 ? "" : "s",
                (long long)d->samples);
    for (int i = 0; i < n; i++) {
        free(o[i].buffer);
        free(o[i].wide);
    }
    free(o);
    free(entry);
    return ok;
}
