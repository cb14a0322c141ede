// The training loop.
#include <assert.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/trainer/checkpoint.h"
#include "runtime/trainer/files.h"
#include "runtime/trainer/run_report.h"
#include "runtime/trainer/spike.h"
#include "runtime/trainer/trainer.h"
#include "runtime/trainer/watch.h"

typedef struct Train {
    RtRun *run;
    const RtData *data, *eval;
    int64_t first, steps;  // the step to begin with; all steps, those before it included
    int64_t evaluated;     // the step that was evaluated last; -1: none was
    double lr;             // the maximum of the schedule
    const RtTensor *loss_sum, *loss_count, *grad_norm, *loss_scale;
    int skipped;   // steps in a row, up to now, whose gradients weren't finite
    double began;  // start of the step
    // The last step's; its waits for the loader; rt_comm_seconds when it began; saving since the
    // step before.
    double seconds, data_seconds, communication_began, saving_seconds;
    RtLoader *loader;
    RtLog log;
    RtEventFile events;
    RtStepWork work;
    RtSpike spike;
    bool goes_back;  // the last step was a spike, and is undone
    // The samples of a step whose gradients aren't finite, as far as they have been read again.
    int64_t *samples, n_samples;
    RtProgress progress;
    RtSaver weights;
    RtGradients gradients;
    RtProfile profile;
} Train;

static bool open_files(Train *t)
{
    RtRun *run = t->run;
    const RtModel *m = run->model;

    if ((run->o.save && !rt_weights_open(&t->weights, run)) ||
        (run->o.save_gradients && !rt_gradients_open(&t->gradients, run)) ||
        (run->o.trace && !rt_trace_check(m, run->o.trace)))
        return false;
    int64_t before = run->checkpoints ? run->checkpoints->log : -1;
    if (!rt_log_open(&t->log, m, run->o.log, run->step > 0, before))
        return false;
    rt_log_begin(&t->log, &run->rt);
    return rt_events_open(&t->events, m, run->o.tensorboard, run->step);
}

// Data begins where the steps before have ended, those that were undone included.
static void start_loader(Train *t)
{
    const RtRun *run = t->run;
    int64_t micros = run->model->accumulate, step = t->data->batch * micros;
    int64_t skipped = run->checkpoints ? run->checkpoints->skipped : 0;

    t->loader =
        rt_loader_start(t->data, (run->step + skipped) * micros, (t->steps + skipped) * micros,
                        t->data->samples / step * step, !run->o.no_shuffle, run->o.seed);
}

static bool open_train(Train *t)
{
    const RtRun *run = t->run;
    const RtModel *m = run->model;
    const RtOptions *o = &run->o;
    int64_t step = t->data->batch * m->accumulate, an_epoch = t->data->samples / step;

    t->loss_sum = rt_find(m->train, m->n_train, RT_LOSS_SUM);
    t->loss_count = rt_find(m->train, m->n_train, RT_LOSS_COUNT);
    assert(t->loss_sum && t->loss_count);
    t->grad_norm = rt_find(m->train, m->n_train, RT_GRAD_NORM);
    t->loss_scale = rt_find(m->train, m->n_train, RT_LOSS_SCALE);
    int64_t epochs = o->epochs > 0 ? o->epochs : 1;
    if (__builtin_mul_overflow(an_epoch, epochs, &t->steps) || t->steps > RT_MAX_STEPS)
        t->steps = RT_MAX_STEPS;
    if (o->steps >= 0 && (!o->epochs || o->steps < t->steps))
        t->steps = o->steps;
    t->lr = rt_full_rate(run);
    if (!open_files(t))
        return false;
    t->work = rt_step_work(run, t->data);
    t->progress = rt_progress_start(run);
    t->spike.factor = run->rank == 0 ? o->spike : 0;
    if (t->spike.factor > 0 && run->checkpoints) {
        t->spike.loss = run->checkpoints->loss;
        t->spike.norm = run->checkpoints->grad_norm;
    }
    t->first = run->step;
    start_loader(t);
    return true;
}

static bool close_train(Train *t)
{
    if (t->loader)
        rt_loader_stop(t->loader);
    rt_saver_close(&t->weights);
    rt_gradients_close(&t->gradients);
    rt_profile_close(&t->profile);
    t->run->rt.profile = NULL;
    bool ok = rt_events_close(&t->events);
    return rt_log_close(&t->log) && ok;
}

static void run_part(Train *t, RtPart part, const char *name)
{
    Rt *rt = &t->run->rt;

    if (!part)
        return;
    rt_profile_part(rt->profile, name);
    rt->device->run(rt, part);
    rt_profile_part(rt->profile, NULL);
}

// Puts the next micro-batch, number k of its step, into the arena and returns its samples; NULL if
// any rank failed.
static const int64_t *next_micro(Train *t, int k)
{
    RtRun *run = t->run;
    const char *staging;

    if (k > 0)
        rt_watch_next(run->rt.watch);
    else
        rt_watch_begin(run->rt.watch, RT_TRAINING);
    double start = rt_seconds();
    const int64_t *sample = rt_loader_next(t->loader, &staging);
    t->data_seconds += rt_seconds() - start;
    rt_data_copy_in(t->data, staging, &run->rt);
    bool ok = rt_check_data(run, t->data, sample, staging);
    rt_loader_release(t->loader);
    for (int64_t i = 0; i < t->data->batch && t->samples; i++)
        t->samples[t->n_samples++] = sample[i];
    return rt_agree(run, ok) ? sample : NULL;
}

// Runs forward and backward of all micro-batches; the first one is already in the arena. Reports
// the loss before the update.
static bool run_micros(Train *t, const int64_t *sample, RtReport *r)
{
    RtRun *run = t->run;
    const RtModel *m = run->model;

    for (int i = 0; i < m->n_tensors; i++)
        if (m->tensors[i].role == RT_ZERO)
            rt_fill_tensor(&run->rt, m, &m->tensors[i], m->tensors[i].fill);
    run_part(t, m->prepare, "prepare");
    if (m->prepare)
        rt_watch_share(run->rt.watch);
    for (int k = 0; k < m->accumulate; k++) {
        if (k > 0 && !(sample = next_micro(t, k)))
            return false;
        rt_set_hypers(run, run->step, k, r->lr);
        run_part(t, m->micro, "micro");
        if (!rt_check_batch(run, m->train, m->n_train, t->data, sample))
            return false;
    }
    run_part(t, m->reduce, "reduce");
    r->loss = rt_get_scalar(&run->rt, t->loss_sum) / rt_get_scalar(&run->rt, t->loss_count);
    r->grad_norm = t->grad_norm ? rt_get_scalar(&run->rt, t->grad_norm) : NAN;
    r->scale = t->loss_scale ? rt_get_scalar(&run->rt, t->loss_scale) : NAN;
    return true;
}

static void begin_times(Train *t)
{
    t->began = rt_seconds();
    t->data_seconds = 0;
    t->communication_began = rt_comm_seconds(t->run->rt.comm);
}

static void end_times(const Train *t, RtReport *r)
{
    r->seconds = rt_seconds() - t->began;
    r->communication = rt_comm_seconds(t->run->rt.comm) - t->communication_began;
    r->data = t->data_seconds;
    r->saving = t->saving_seconds;
    r->arena_bytes = (double)t->run->model->arena_bytes;
    r->resident_bytes = rt_resident_bytes();
}

// ---- steps that are no good ----

enum { WHY = 2048 };  // capacity for what is wrong with a step

enum { MAX_SKIPPED = 200 };  // steps in a row that may be skipped

static const char *what_is(double x) { return isnan(x) ? "NaN" : "infinite"; }

static bool is_finite(const Train *t, const RtReport *r)
{
    return isfinite(r->loss) && (!t->grad_norm || isfinite(r->grad_norm));
}

// Runs the micro-batches again, which a program that updates at the end can do, and says which
// gradient isn't finite. Otherwise the parameters show it.
static bool search(Train *t, const int64_t *sample, double norm, char why[WHY / 2])
{
    RtRun *run = t->run;
    RtReport again = {.lr = rt_schedule(&run->o, t->lr, run->step, t->steps)};
    RtGradients found;
    RtSaver weights;
    char text[WHY / 4];

    snprintf(why, WHY / 2, "the norm of the gradients is %s", what_is(norm));
    if (run->model->update) {
        rt_gradients_search(&found, run);
        bool ok = run_micros(t, sample, &again);
        rt_gradients_found(&found);
        if (ok && !rt_saver_judge(&found.file, text, sizeof text))
            snprintf(why, WHY / 2, "the gradient of %s", text);
        rt_gradients_close(&found);
        return ok;
    }
    rt_weights_search(&weights, run);
    if (!rt_saver_judge(&weights, text, sizeof text))
        snprintf(why, WHY / 2, "the norm of the gradients is %s, and %s after the update",
                 what_is(norm), text);
    rt_saver_close(&weights);
    return true;
}

// Says what is wrong with gradients that aren't finite, and of which samples they are: those are
// read again.
static bool explain_gradients(Train *t, const RtReport *r, char why[WHY])
{
    const RtModel *m = t->run->model;
    int64_t n = t->data->batch * m->accumulate;

    char found[WHY / 2] = "", samples[WHY / 4], skipped[WHY / 8] = "";

    rt_loader_stop(t->loader);
    start_loader(t);
    t->samples = rt_alloc((size_t)n, sizeof *t->samples);
    const int64_t *sample = next_micro(t, 0);
    bool ok = sample && search(t, sample, r->grad_norm, found);
    rt_samples_print(samples, sizeof samples, t->samples, t->n_samples);
    if (r->is_skipped)
        snprintf(skipped, sizeof skipped,
                 "%d steps in a row were skipped, with a loss scale of %g at last: ", t->skipped,
                 r->scale);
    snprintf(why, WHY, "%s%s (%s)", skipped, found, samples);
    free(t->samples);
    t->samples = NULL;
    t->n_samples = 0;
    return ok;
}

// Says what is wrong with the step, if something is. Rank 0 alone looks for spikes. Returns false
// after an error.
static bool find_fault(Train *t, const RtReport *r, char why[WHY])
{
    if (r->is_skipped && t->skipped < MAX_SKIPPED)
        return true;
    if (r->is_skipped || (isfinite(r->loss) && !is_finite(t, r)))
        return explain_gradients(t, r, why);
    if (isfinite(r->loss))
        rt_spike_step(&t->spike, r, why);
    else
        snprintf(why, WHY, "the loss is %s", what_is(r->loss));
    return true;
}

// Decides what happens after a step that is no good, which `why` says on rank 0, on all ranks
// alike. `is_lost`: it can't go on. Returns false after a message if the run has to stop.
static bool judge(Train *t, long long step, const char *text, bool is_lost)
{
    const RtRun *run = t->run;
    const RtModel *m = run->model;
    RtOnSpike action = (RtOnSpike)(run->o.on_spike > 0 ? run->o.on_spike : RT_WARN);
    long long most = run->o.max_rollbacks;

    rt_progress_clear(&t->progress);
    bool stops = action == RT_STOP || (action == RT_WARN && is_lost) ||
                 (action == RT_ROLLBACK && run->checkpoints->rollbacks >= most);
    if (stops)
        rt_checkpoints_wait(run->checkpoints);
    if (stops && action != RT_ROLLBACK)
        return rt_error(m, "step %lld: %s; stopped, nothing is saved", step, text);
    if (stops)
        return rt_error(m, "step %lld: %s; stopped after %lld rollback%s, nothing is saved", step,
                        text, most, most == 1 ? "" : "s");
    if (run->rank == 0)
        rt_warn(m, "step %lld: %s%s", step, text,
                action == RT_ROLLBACK ? "; goes back to the last checkpoint" : "");
    t->goes_back = action == RT_ROLLBACK;
    return true;
}

// Judges a step by its numbers. Returns false after a message if the run has to stop.
static bool judge_step(Train *t, const RtReport *r)
{
    char why[WHY] = "";

    if (!find_fault(t, r, why))
        return false;
    bool is_bad = *why;
    if (t->run->o.on_spike > 0 && t->run->o.on_spike != RT_WARN)
        is_bad = rt_comm_max(t->run->rt.comm, is_bad);
    return !is_bad || judge(t, r->step, why, !is_finite(t, r));
}

// Goes on from the last checkpoint with the data after that of step `last`.
static bool roll_back(Train *t, int64_t last)
{
    RtRun *run = t->run;

    t->goes_back = false;
    t->first = -1;  // its gradients are saved
    if (!rt_checkpoints_roll_back(run->checkpoints, last))
        return false;
    rt_loader_stop(t->loader);
    start_loader(t);
    rt_log_cut(&t->log, run->checkpoints->log);
    rt_events_restart(&t->events, run->step);
    return true;
}

static bool run_step(Train *t, const int64_t *sample)
{
    RtRun *run = t->run;
    const RtModel *m = run->model;
    RtReport r = {.step = run->step + 1, .steps = t->steps, .work = &t->work};

    r.lr = rt_schedule(&run->o, t->lr, run->step, t->steps);
    bool saves = run->step == t->first && run->o.save_gradients;
    if (saves && !rt_gradients_begin(&t->gradients))
        return false;
    if (!run_micros(t, sample, &r) || (saves && !rt_gradients_end(&t->gradients)))
        return false;
    r.is_skipped = t->loss_scale && !isfinite(r.grad_norm);
    t->skipped = r.is_skipped ? t->skipped + 1 : 0;
    bool is_fine = r.is_skipped || is_finite(t, &r);
    if (is_fine)
        run_part(t, m->update, "update");
    run->rt.device->synchronise(&run->rt);
    end_times(t, &r);
    t->seconds = r.seconds;
    rt_profile_step(run->rt.profile, r.seconds);
    rt_log_step(&t->log, &r);
    rt_events_step(&t->events, &r);
    if (!is_fine && !rt_watch_check(run->rt.watch))
        return false;
    if (!judge_step(t, &r))
        return false;
    if (t->goes_back)
        return true;
    rt_progress_step(&t->progress, &r);
    run->step++;
    if (run->checkpoints) {
        run->checkpoints->loss = t->spike.loss;
        run->checkpoints->grad_norm = t->spike.norm;
    }
    return rt_watch_end(run->rt.watch);
}

static bool evaluate(Train *t)
{
    double loss, start = rt_seconds();
    int64_t batches = t->eval->samples / t->eval->batch;

    if (!rt_evaluate(t->run, t->eval, &loss))
        return t->run->interrupted != 0;
    rt_progress_eval(&t->progress, t->run->step, loss);
    rt_log_eval(&t->log, t->run->step, loss, batches * t->eval->batch, rt_seconds() - start);
    rt_events_eval(&t->events, t->run->step, loss);
    rt_checkpoints_eval(t->run->checkpoints, loss);
    t->evaluated = t->run->step;
    return true;
}

// Evaluates the last step if that is due. If the run is ended before, the one that goes on does it.
static bool evaluate_if(Train *t, bool is_due)
{
    const RtRun *run = t->run;
    bool is_fine = !is_due || run->interrupted || evaluate(t);

    if (run->checkpoints)
        run->checkpoints->evaluation = !is_due                     ? RT_NOT_EVALUATED
                                       : t->evaluated == run->step ? RT_EVALUATION_DONE
                                                                   : RT_EVALUATION_DUE;
    return is_fine;
}

// The evaluation of the step that the run goes on after.
static bool catch_up(Train *t)
{
    const RtCheckpoints *c = t->run->checkpoints;
    RtEvaluation was = c ? c->evaluation : RT_NOT_EVALUATED;

    if (was == RT_EVALUATION_DONE)
        t->evaluated = t->run->step;
    return was != RT_EVALUATION_DUE || !t->eval || evaluate_if(t, true);
}

// The time that the run may take is over: rank 0 stops it as a signal does.
static void check_time(const RtRun *run)
{
    double most = run->o.max_time;

    if (run->rank == 0 && most > 0 && rt_seconds() - run->began >= most)
        raise(SIGUSR1);
}

// Goes back from a checkpoint that wasn't saved, as it isn't finite, or stops after a message.
static bool go_back(Train *t)
{
    const RtCheckpoints *c = t->run->checkpoints;

    return judge(t, c->last, c->broken, true) && roll_back(t, t->run->step);
}

static bool run_to_end(Train *t)
{
    RtRun *run = t->run;
    int64_t every = run->o.eval_every;

    while (run->step < t->steps && !run->interrupted) {
        check_time(run);
        begin_times(t);
        const int64_t *sample = next_micro(t, 0);
        if (sample && run->interrupted)
            break;
        if (!sample || !run_step(t, sample))
            return false;
        if (t->goes_back) {
            if (!roll_back(t, run->step + 1))
                return false;
            continue;
        }
        if (!evaluate_if(t, t->eval && every > 0 && run->step % every == 0))
            return false;
        double start = rt_seconds();
        bool is_fine = rt_checkpoints_step(run->checkpoints, &t->log, t->seconds);
        t->saving_seconds = rt_seconds() - start;
        if (!is_fine && !go_back(t))
            return false;
    }
    return true;
}

static bool run_steps(Train *t)
{
    RtRun *run = t->run;

    if (!catch_up(t) || !run_to_end(t))
        return false;
    while (!rt_checkpoints_end(run->checkpoints, &t->log))
        if (!go_back(t) || !run_to_end(t))
            return false;
    rt_progress_end(&t->progress);
    return !t->eval || run->interrupted || t->evaluated == run->step || evaluate(t);
}

// Writes what the options ask for after the last step.
static bool write_results(Train *t)
{
    const RtRun *run = t->run;

    if (run->o.profile)
        rt_profile_log(&t->profile, run->model, &t->log);
    if (run->o.save && !rt_saver_write(&t->weights))
        return false;
    if (run->o.save && !run->o.quiet)
        fprintf(stderr, "wrote %s\n", run->o.save);
    if (run->o.profile && run->rank == 0)
        rt_profile_print(&t->profile);
    return !run->o.trace || rt_trace_write(&t->profile, run->model, run->o.trace);
}

bool rt_train(RtRun *run, const RtData *data, const RtData *eval)
{
    Train t = {.run = run,
               .data = data,
               .eval = eval,
               .evaluated = -1,
               .log.fd = -1,
               .events.file.fd = -1,
               .profile.rt = &run->rt};
    bool ok = open_train(&t);

    if (eval && eval->samples % eval->batch && !run->o.quiet && ok)
        fprintf(stderr, "eval: %lld of %lld samples don't fill a batch and are left out\n",
                (long long)(eval->samples % eval->batch), (long long)eval->samples);
    if (run->o.profile || run->o.trace)
        run->rt.profile = &t.profile;
    ok = rt_agree(run, ok && run_steps(&t)) && write_results(&t);
    return close_train(&t) && ok;
}
