// The program around a model: its options, its memory, its weights, and then what was asked for:
// train, evaluate, predict, generate, in this order.
#include <math.h>
#include <omp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "runtime/comm.h"
#include "runtime/internal.h"

// The one thing that must be global: a signal handler is given nothing else to write to.
static volatile sig_atomic_t interrupted;

static void interrupt(int signal) { interrupted = signal; }

int rt_interrupted(void) { return interrupted; }

// The first signal asks to stop after the step; the second finds the default action, and ends.
static void catch_signals(void)
{
    struct sigaction action = {.sa_handler = interrupt,
                               .sa_flags = (int)(SA_RESETHAND | SA_RESTART)};

    interrupted = 0;
    sigemptyset(&action.sa_mask);
    sigaction(SIGINT, &action, NULL);
    sigaction(SIGTERM, &action, NULL);
    // A file that reaches the limit for files is an error of write, like a full disk.
    signal(SIGXFSZ, SIG_IGN);
}

double rt_seconds(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

void rt_call(Rt *rt, const RtCall *call)
{
    if (rt->watch)
        rt_watch_call(rt->watch, call->what);
    if (rt->profile)
        rt_profile_call(rt->profile, call);
    rt_comm_at(rt->comm, call->what);
}

void rt_set_hypers(RtRun *run, int64_t step, int64_t micro, double lr)
{
    for (int i = 0; i < run->model->n_tensors; i++) {
        const RtTensor *t = &run->model->tensors[i];
        char *p = rt_place(t, 0, run->arena.base);

        if (t->role != RT_HYPER)
            continue;
        if (strcmp(t->name, "lr") == 0)
            rt_set(t->type, p, lr);
        else if (strcmp(t->name, "step") == 0)
            rt_set(t->type, p, (double)(step + 1));
        else if (strcmp(t->name, "step_index") == 0)
            rt_set_int(t->type, p, step);
        else if (strcmp(t->name, "seed") == 0)
            rt_set_int(t->type, p, run->o.seed);
        else if (strcmp(t->name, "micro") == 0)
            rt_set_int(t->type, p, micro);
        else
            rt_set(t->type, p, isnan(run->o.hyper[i]) ? t->fill : run->o.hyper[i]);
    }
}

static void start_tensors(RtRun *run)
{
    for (int i = 0; i < run->model->n_tensors; i++) {
        const RtTensor *t = &run->model->tensors[i];

        if (t->role == RT_STATE || t->role == RT_ZERO)
            rt_fill_tensor(t, run->arena.base, t->fill);
        for (int l = 0; l < rt_layers(t) && t->role == RT_CONSTANT && t->data; l++)
            memcpy(rt_place(t, l, run->arena.base), (const char *)t->data + l * rt_bytes(t),
                   (size_t)rt_bytes(t));
    }
}

// All data that was asked for: opened before anything that takes long.
typedef struct Inputs {
    RtData train, eval, predict;
} Inputs;

static bool open_inputs(Inputs *x, const RtRun *run)
{
    const RtModel *m = run->model;
    const RtOptions *o = &run->o;

    if (o->data && !m->micro)
        return rt_error(m, "--data: it was compiled without a loss and can't be trained");
    if (o->eval_data && !rt_find(m->predict, m->n_predict, RT_LOSS_SUM))
        return rt_error(m, "--eval-data: it was compiled without a loss");
    return (!o->data || rt_data_open(&x->train, m, RT_TRAIN, o->data, o->token_bytes)) &&
           (!o->eval_data || rt_data_open(&x->eval, m, RT_EVAL, o->eval_data, o->token_bytes)) &&
           (!o->predict || rt_data_open(&x->predict, m, RT_PREDICT, o->predict, o->token_bytes));
}

static bool start(RtRun *run)
{
    const RtModel *m = run->model;
    int threads = run->o.threads > 0 ? (int)run->o.threads : omp_get_max_threads();
    int pinned;

    if (!rt_arena_open(&run->arena, m))
        return false;
    threads = threads < RT_MAX_THREADS ? threads : RT_MAX_THREADS;
    omp_set_num_threads(threads);
    if (run->o.pin && (pinned = rt_pin(threads)) < threads)
        return rt_error(m, "--pin: %d threads, but CPUs for %d", threads, pinned);
    run->rt = (Rt){
        .arena = run->arena.base,
        .kernel = rt_alloc((size_t)m->n_kernels, sizeof(void *)),
        .threads = threads,
        .workspace = run->arena.base + m->workspace,
    };
    if (run->o.check_arena)
        rt_watch_open(run);
    start_tensors(run);
    if (!rt_weights_start(run))
        return false;
    if (m->init)
        m->init(&run->rt);
    return true;
}

static bool evaluate_only(RtRun *run, const RtData *d)
{
    double loss;

    rt_set_hypers(run, 0, 0, 0);
    if (!rt_evaluate(run, d, &loss))
        return false;
    printf("eval_loss %.9g\n", loss);
    return true;
}

static int run_all(RtRun *run, Inputs *x)
{
    const RtOptions *o = &run->o;
    bool ok = true;

    if (!open_inputs(x, run) || !start(run))
        return 1;
    catch_signals();
    if (o->data && !rt_train(run, &x->train, o->eval_data ? &x->eval : NULL))
        return 1;
    if (!o->data && o->eval_data)
        ok = evaluate_only(run, &x->eval);
    if (ok && o->predict && !rt_interrupted())
        ok = rt_predict(run, &x->predict);
    if (ok && o->generate && !rt_interrupted())
        ok = rt_generate(run);
    return rt_interrupted() ? 128 + rt_interrupted() : !ok;
}

int rt_main(const RtModel *model, int argc, char **argv)
{
    RtRun run = {.model = model};
    Inputs inputs = {0};
    int status = rt_options_parse(&run.o, model, argc, argv);

    if (!status && run.o.help)
        rt_help(model);
    else if (!status && run.o.info)
        rt_info(model);
    else if (!status)
        status = run_all(&run, &inputs);
    if (fflush(stdout) != 0 && !status) {
        rt_error(model, "stdout: can't be written to");
        status = 1;
    }
    if (run.rt.kernel)
        rt_kernels_free(&run.rt, model->n_kernels);
    free(run.rt.kernel);
    rt_data_close(&inputs.train);
    rt_data_close(&inputs.eval);
    rt_data_close(&inputs.predict);
    rt_watch_close(run.rt.watch);
    rt_arena_close(&run.arena);
    rt_options_free(&run.o);
    return status;
}
