// The main program of a trainer: sets up options, memory and weights, and then trains, evaluates,
// predicts and generates, as asked for, in this order.
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>

#include "runtime/collectives.h"
#include "runtime/trainer/checkpoint.h"
#include "runtime/trainer/files.h"
#include "runtime/trainer/run_report.h"
#include "runtime/trainer/trainer.h"
#include "runtime/trainer/watch.h"

// The status of a run that was asked to stop for others, and can go on another time: EX_TEMPFAIL of
// sysexits.h.
enum { TRY_AGAIN = 75 };

// The arena has zeros, which aren't written once more: the first step then touches those pages. The
// watch has filled it with NaN.
static void start_tensors(RtRun *run)
{
    const RtModel *m = run->model;

    for (int i = 0; i < m->n_tensors; i++) {
        const RtTensor *t = &m->tensors[i];
        bool has_fill = t->role == RT_STATE || t->role == RT_ZERO;

        if (has_fill && (t->fill != 0 || run->rt.watch))
            rt_fill_tensor(&run->rt, m, t, t->fill);
        else if (t->n_parts && run->rt.watch)  // also fills the padding of chunks
            rt_fill_tensor(&run->rt, m, t, 0);
        for (int l = 0; l < rt_layers(t) && t->role == RT_CONSTANT && t->data; l++)
            rt_load_shard(&run->rt, m, t, l, t->type,
                          (const char *)t->data + l * rt_whole_bytes(t));
    }
}

static bool open_data(RtData *d, const RtRun *run, RtUse use, const char *path)
{
    const RtOptions *o = &run->o;
    RtTokenOptions tokens = {.bytes = o->token_bytes,
                             .documents = (RtDocuments)(o->documents + 1),
                             .document_end = o->document_end};

    if (!path)
        return true;
    if (!rt_data_open(d, run->model, run->rt.shard, use, path, &tokens))
        return false;
    if (d->documents == RT_CUT && !o->quiet)
        fprintf(stderr, "%s: %lld documents, %lld windows; %lld of %lld tokens are left out\n",
                path, (long long)d->n_documents, (long long)d->samples, (long long)d->n_left_out,
                (long long)d->n_tokens);
    return true;
}

// --eval-samples: only the first ones.
static bool limit_eval(RtData *d, const RtRun *run)
{
    long long n = run->o.eval_samples;

    if (!n)
        return true;
    if (n > d->samples)
        return rt_error(run->model, "--eval-samples: %s: samples found: %lld, not %lld",
                        run->o.eval_data, (long long)d->samples, n);
    if (n < d->batch)
        return rt_error(run->model, "--eval-samples: %lld; a batch takes %lld", n,
                        (long long)d->batch);
    d->samples = n;
    return true;
}

static bool open_inputs(RtInputs *x, const RtRun *run)
{
    const RtModel *m = run->model;
    const RtOptions *o = &run->o;

    if (o->data && !m->micro)
        return rt_error(m, "--data: it was compiled without a loss and can't be trained");
    if (o->eval_data && !rt_find(m->predict, m->n_predict, RT_LOSS_SUM))
        return rt_error(m, "--eval-data: it was compiled without a loss");
    return open_data(&x->train, run, RT_TRAIN, o->data) &&
           open_data(&x->eval, run, RT_EVAL, o->eval_data) && limit_eval(&x->eval, run) &&
           open_data(&x->predict, run, RT_PREDICT, o->predict);
}

// Weights and states are those of a checkpoint, else the ones to begin with.
static bool start_weights(RtRun *run, const RtInputs *x)
{
    const RtData *eval = run->o.eval_data ? &x->eval : NULL;

    if (run->o.checkpoint && !rt_agree(run, rt_checkpoints_open(run, &x->train, eval)))
        return false;
    if (run->o.resume && !rt_checkpoints_load(run->checkpoints))
        return false;
    return (run->o.resume && run->checkpoints->has_loaded) || rt_weights_start(run);
}

// "gpt2: 8 ranks exchange by NCCL 2.28.9 …"
static void say_exchanges(const RtRun *run)
{
    RtDescription by;

    if (rt_collectives_describe(&run->rt, &by))
        fprintf(stderr, "%s: %d ranks exchange by %s\n", run->model->name,
                rt_comm_ranks(run->rt.comm), by.text);
}

static bool start(RtRun *run, const RtInputs *x)
{
    const RtModel *m = run->model;

    run->rt.gpu = (RtGpuOptions){.number = (int)run->o.gpu,
                                 .exchanges = (RtGpuExchanges)(run->o.collectives + 1),
                                 .has_graphs = !run->o.no_graph,
                                 .has_tf32 = run->o.tf32,
                                 .tunes = run->o.tune,
                                 .libraries = run->o.libraries};
    if (run->o.tf32 && m->precision && run->rank == 0)
        rt_warn(m, "--tf32 has no effect on products in %s", m->precision);
    bool is_open = !run->rt.device->open || run->rt.device->open(&run->rt, m);
    if (!rt_agree(run, is_open))  // the collectives begin with messages of all ranks
        return false;
    if (!rt_collectives_open(&run->rt, m, !run->o.no_overlap))
        return false;
    if (run->rank == 0 && !run->o.quiet)
        say_exchanges(run);
    if (!run->rt.device->allocate(&run->rt, m))
        return false;
    if (!run->rt.device->start_threads(&run->rt, m, run->share, (int)run->o.threads, run->o.pin))
        return false;
    run->rt.kernel = rt_alloc((size_t)m->n_kernels, sizeof(void *));
    if (m->init)
        m->init(&run->rt);
    if (run->rt.device->tune && !run->rt.device->tune(&run->rt, m))
        return false;
    if (run->o.check_arena)
        rt_watch_open(&run->rt, m);
    start_tensors(run);
    return start_weights(run, x);
}

// Evaluates the weights as they are, and reports the loss as the evaluations of a training run.
static bool evaluate_and_log(RtRun *run, const RtData *d, RtLog *log, RtEventFile *events)
{
    double loss, start = rt_seconds();

    if (!rt_evaluate(run, d, &loss))
        return false;
    if (run->rank == 0)
        printf("eval_loss %.9g\n", loss);
    rt_log_eval(log, run->step, loss, d->samples / d->batch * d->batch, rt_seconds() - start);
    rt_events_eval(events, run->step, loss);
    return true;
}

static bool evaluate_only(RtRun *run, const RtData *d)
{
    RtLog log = {.fd = -1};
    RtEventFile events = {.file.fd = -1};
    bool ok = rt_log_open(&log, run->model, run->o.log, false, -1) &&
              rt_events_open(&events, run->model, run->o.tensorboard, run->step);

    rt_log_begin(&log, &run->rt);
    ok = rt_agree(run, ok) && evaluate_and_log(run, d, &log, &events);
    ok = rt_events_close(&events) && ok;
    return rt_log_close(&log) && ok;
}

static bool run_all(RtRun *run, const RtInputs *x)
{
    const RtOptions *o = &run->o;
    bool ok = true;

    if (o->data && !rt_train(run, &x->train, o->eval_data ? &x->eval : NULL))
        return false;
    if (!o->data && o->eval_data)
        ok = evaluate_only(run, &x->eval);
    if (ok && o->predict && !run->interrupted)
        ok = rt_predict(run, &x->predict);
    if (ok && o->generate && !run->interrupted)
        ok = rt_generate(run);
    return ok || run->interrupted;
}

// Clears the options that only rank 0 carries out. It decides whether all measure a profile.
static void follow(RtOptions *o)
{
    o->quiet = true;
    o->log = o->trace = o->tensorboard = NULL;
}

// `status`: exit status of this rank so far.
static int run_rank(RtRun *run, RtInputs *x, int status)
{
    const RtModel *m = run->model;

    RtJob job = rt_options_job(&run->o);
    int ranks, rank;

    // A launcher's ranks agree on whose message is printed; a rank started by hand prints its own.
    if (status &&
        (rt_options_has_job(&run->o) || !rt_launched(m, &job, &ranks, &rank) || ranks == 1))
        return status;
    int spawns = run->o.spawn ? (int)run->o.spawn : run->o.stdin_signals;
    if (spawns && !rt_spawn(m, spawns, &job, &status))
        return status;
    if (!rt_comm_open(&run->rt.comm, m, &job))
        return status ? status : 1;
    run->rank = rt_comm_rank(run->rt.comm);
    run->rt.shard = rt_shards(m, run->rank);
    run->share = run->rt.device->share(run->rt.comm);
    if (run->rank == 0)
        rt_flush_messages(run);
    if (!rt_agree(run, !status))
        return status;
    if (!rt_agree(run, rt_is_same_run(run)))
        return 1;
    if (run->rank > 0)
        follow(&run->o);
    run->o.profile = rt_comm_max(run->rt.comm, run->rank == 0 && run->o.profile);
    bool is_fine = open_inputs(x, run) && (run->rank > 0 || rt_outputs_check(run, x));
    if (!rt_agree(run, is_fine) || !rt_agree(run, rt_is_same_data(run, x)))
        return 1;
    if (!rt_agree(run, start(run, x)))
        return 1;
    rt_kept_agree(run);
    rt_catch_signals();
    bool ok = rt_agree(run, run_all(run, x));
    if (ok && run->interrupted == SIGUSR1)
        return TRY_AGAIN;
    return !ok ? 1 : run->interrupted ? 128 + run->interrupted : 0;
}

int rt_main(const RtModel *model, int argc, char **argv)
{
    RtRun run = {.model = model, .rt.device = model->device, .began = rt_seconds()};
    RtInputs inputs = {0};

    rt_open_streams();
    if (!rt_limits_check(model))
        return 1;
    if (rt_mesh_ranks(&model->mesh) > 1)
        rt_buffer_messages(&run);
    int status = rt_options_parse(&run.o, model, argc, argv);
    if (!status && run.o.help)
        rt_help(model);
    else if (!status && run.o.info)
        rt_info(model, run.o.libraries);
    else
        status = run_rank(&run, &inputs, status);
    if ((fflush(stdout) != 0 || ferror(stdout)) && !status) {
        rt_error(model, "cannot write to stdout");
        status = 1;
    }
    rt_data_close(&inputs.predict);
    rt_data_close(&inputs.eval);
    rt_data_close(&inputs.train);
    rt_checkpoints_close(run.checkpoints);
    rt_watch_close(run.rt.watch);
    rt_collectives_close(&run.rt, !status);
    run.rt.device->close(&run.rt, model);
    free(run.rt.kernel);
    free(run.kept);
    rt_comm_close(run.rt.comm);
    free(run.rt.shard);
    rt_options_free(&run.o);
    rt_flush_messages(&run);
    return status;
}
