// Writes checkpoints, all ranks together. What is there before stays until the new one is whole.
#include "runtime/trainer/checkpoint.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

// ---- the folder ----

static bool open_folder(RtCheckpoints *c)
{
    const RtOptions *o = &c->run->o;
    const RtModel *m = c->run->model;

    if (mkdir(o->checkpoint, 0777) != 0 && errno != EEXIST)
        return rt_error(m, "--checkpoint: %s: %s", o->checkpoint, strerror(errno));
    if (!rt_checkpoints_lock(c, o->checkpoint))
        return false;
    if (!o->resume && rt_checkpoint_before(o->checkpoint, INT64_MAX) >= 0)
        return rt_error(m,
                        "--checkpoint: '%s' has checkpoints of another run; --resume goes on "
                        "from the last one",
                        o->checkpoint);
    return true;
}

static int64_t copied_bytes(const RtWriter *w)
{
    int64_t bytes = 0;

    for (int i = 0; i < RT_CHECKPOINT_FILES; i++)
        bytes += w->bytes[i];
    return bytes;
}

bool rt_checkpoints_open(RtRun *run, const RtData *data, const RtData *eval)
{
    RtCheckpoints *c = run->checkpoints = rt_alloc(1, sizeof *c);
    const RtModel *m = run->model;

    *c = (RtCheckpoints){.run = run, .data = data, .eval = eval, .lock = -1, .last = -1, .log = -1};
    for (int i = 0; i < RT_CHECKPOINT_FILES; i++) {
        RtSaver *s = &c->file[i];
        if (!rt_saver_open(
                s, run, rt_entries(m->tensors, m->n_tensors, rt_checkpoint_files[i].roles), NULL))
            return false;
        s->is_optional = s->judges = true;
        s->are_weights = i == RT_WEIGHTS;
        s->pace = &c->writer.pace;
        c->writer.bytes[i] = rt_saver_copy_bytes(s);
    }
    int64_t bytes = copied_bytes(&c->writer);
    bool has_next = run->o.every.steps || run->o.every.seconds > 0 || run->o.keep_best;
    bool copies = !run->o.in_place && has_next;
    if (copies && !(c->writer.copy = rt_alloc_large(run->share.threads, (size_t)bytes)))
        return rt_error(m,
                        "--checkpoint: no memory for a copy of %.1f MiB; --checkpoint-in-place "
                        "does without",
                        (double)bytes / (1 << 20));
    c->last_at = rt_seconds();
    return run->rank > 0 || open_folder(c);
}

// ---- threads ----

// Without a thread the work is done immediately.
static void start(RtThread *t, void *(*work)(void *), void *context)
{
    t->is_running = pthread_create(&t->id, NULL, work, context) == 0;
    if (!t->is_running)
        work(context);
}

static void join(RtThread *t)
{
    if (t->is_running)
        pthread_join(t->id, NULL);
    t->is_running = false;
}

// ---- removing ----

static void *remove_old(void *remover)
{
    const RtRemover *r = remover;

    rt_checkpoints_trim(r->folder, r->last, r->keep, &r->best);
    return NULL;
}

// Removes what the checkpoint of step `last` makes superfluous.
static void begin_removal(RtCheckpoints *c, int64_t last)
{
    RtRemover *r = &c->remover;

    join(&r->thread);
    *r = (RtRemover){
        .folder = c->run->o.checkpoint, .last = last, .keep = c->run->o.keep, .best = c->best};
    start(&r->thread, remove_old, r);
}

// ---- saving ----

static bool warn(const RtCheckpoints *c, const char *what)
{
    rt_warn(c->run->model, "%s: not saved: %s", c->path, what);
    return false;
}

// Rank 0 makes an empty folder. The remover would take it for one that a killed run has left.
static bool make_folder(RtCheckpoints *c)
{
    const char *folder = c->run->o.checkpoint;
    int64_t step = c->run->step;

    join(&c->remover.thread);
    rt_checkpoint_remove(folder, step);  // what a killed run has left, or what wasn't whole
    if (mkdir(c->path, 0777) != 0 && errno != EEXIST)
        return warn(c, strerror(errno));
    return rt_sync_folder(folder) || warn(c, strerror(errno));
}

// The log up to this step is on disk before the manifest says how much it is.
static int64_t sync_log(const RtLog *log)
{
    struct stat st;

    if (log->fd < 0 || fstat(log->fd, &st) != 0)
        return -1;
    fsync(log->fd);  // the run goes on without those lines
    return st.st_size - log->half;
}

// Describes the step that was done last. Returns false if memory runs out.
static bool describe(RtCheckpoints *c, const RtLog *log)
{
    const RtRun *run = c->run;
    RtManifest *m = &c->manifest;

    *m = (RtManifest){.step = run->step,
                      .step_samples = c->data->batch * run->model->accumulate,
                      .data_samples = c->data->samples,
                      .has_sum = true,
                      .data_sum = c->data->sum,
                      .seed = run->o.seed,
                      .shuffles = !run->o.no_shuffle,
                      .log = sync_log(log),
                      .best = c->improves ? c->latest : c->best,
                      .rollbacks = c->rollbacks,
                      .skipped = c->skipped,
                      .evaluation = c->evaluation,
                      .loss = c->loss,
                      .grad_norm = c->grad_norm};
    rt_printable(m->program, sizeof m->program, run->model->name);
    if (run->model->precision)
        snprintf(m->precision, sizeof m->precision, "%s", run->model->precision);
    return rt_kept_list(run, &c->file[RT_WEIGHTS].entries, m);
}

static bool begin_files(RtCheckpoints *c)
{
    RtRun *run = c->run;
    bool ok = rt_checkpoint_path(c->path, run->o.checkpoint, run->step, NULL) ||
              warn(c, strerror(ENAMETOOLONG));

    ok = rt_agree_to_try(run, ok && (run->rank > 0 || make_folder(c)));
    for (int i = 0; i < RT_CHECKPOINT_FILES && ok; i++) {
        if (!c->file[i].entries.n)
            continue;
        ok = rt_checkpoint_path(c->file_path[i], run->o.checkpoint, run->step,
                                rt_checkpoint_files[i].name) ||
             warn(c, strerror(ENAMETOOLONG));
        c->file[i].path = c->file_path[i];
        ok = rt_agree_to_try(run, ok) && rt_saver_begin(&c->file[i]);
    }
    return ok;
}

// The file gets its name and is added to the manifest.
static bool rename_file(RtCheckpoints *c, int i)
{
    RtSaver *s = &c->file[i];
    int64_t bytes = rt_saver_bytes(s);

    if (!rt_saver_rename(s))
        return false;
    uint32_t sum = rt_join_bits(c->run, rt_checksum_parts(&s->sum, bytes));
    bool ok = rt_manifest_add(&c->manifest, rt_checkpoint_files[i].name, bytes,
                              rt_checksum_whole(sum, bytes));
    return rt_agree_to_try(c->run, ok || warn(c, "out of memory"));
}

static bool save_manifest(RtCheckpoints *c)
{
    RtFileError e;

    if (!rt_checkpoint_path(c->path, c->run->o.checkpoint, c->manifest.step, RT_MANIFEST_FILE))
        return warn(c, strerror(ENAMETOOLONG));
    return rt_manifest_write(&c->manifest, c->path, &e) || warn(c, e.text);
}

// Are the tensors of all files finite? If not, no later step can be saved either.
static bool is_finite(RtCheckpoints *c)
{
    char text[RT_BROKEN / 2];

    for (int i = 0; i < RT_CHECKPOINT_FILES && !*c->broken; i++)
        if (!rt_saver_judge(&c->file[i], text, sizeof text))
            snprintf(c->broken, sizeof c->broken, "%s: %s", rt_checkpoint_files[i].name, text);
    return !*c->broken;
}

// Ends a checkpoint whose files are on disk if `ok`. One that can't be written is removed: the next
// one may need its space.
static void end(RtCheckpoints *c, bool ok)
{
    RtRun *run = c->run;

    ok = ok && is_finite(c);
    for (int i = 0; i < RT_CHECKPOINT_FILES && ok; i++)
        if (c->file[i].entries.n)
            ok = rename_file(c, i);
    ok = ok && rt_agree_to_try(run, run->rank > 0 || save_manifest(c));
    for (int i = 0; i < RT_CHECKPOINT_FILES; i++)
        rt_saver_cancel(&c->file[i]);
    if (ok)
        c->best = c->manifest.best;
    if (run->rank == 0 && ok)
        begin_removal(c, c->manifest.step);
    else if (run->rank == 0 && !run->has_failed)
        rt_checkpoint_remove(run->o.checkpoint, c->manifest.step);
    rt_manifest_free(&c->manifest);
}

// ---- the best ----

// Marks the checkpoint of this step, which has been written already.
static void mark_best(RtCheckpoints *c)
{
    const RtRun *run = c->run;
    const char *folder = run->o.checkpoint;
    RtManifest m;
    RtFileError e;

    c->improves = false;
    join(&c->remover.thread);
    if (run->rank > 0 || !rt_checkpoint_is_there(folder, run->step) ||
        !rt_checkpoint_path(c->path, folder, run->step, RT_MANIFEST_FILE))
        return;
    bool ok = rt_manifest_read(&m, c->path, &e);
    m.best = c->latest;
    ok = ok && rt_manifest_write(&m, c->path, &e);
    rt_manifest_free(&m);
    if (!ok) {
        warn(c, e.text);
        return;
    }
    c->best = c->latest;
    begin_removal(c, run->step);
}

bool rt_best_is_other(const RtCheckpoints *c, const RtBest *best)
{
    return best->is_known && (best->samples != c->eval->samples || best->data_sum != c->eval->sum);
}

// Rank 0 compares, so that no rounding can make ranks differ.
void rt_checkpoints_eval(RtCheckpoints *c, double loss)
{
    if (!c || !c->run->o.keep_best)
        return;
    const RtRun *run = c->run;
    const RtBest *best = c->is_writing ? &c->manifest.best : &c->best;
    bool is_best =
        isfinite(loss) && (!best->is_known || rt_best_is_other(c, best) || loss < best->loss);

    c->latest = (RtBest){true, run->step, loss, c->eval->samples, c->eval->sum};
    c->improves = rt_comm_max(run->rt.comm, run->rank == 0 && is_best);
    if (c->improves && c->last == run->step)
        mark_best(c);
}

// ---- in place ----

static bool finish_files(RtCheckpoints *c, RtFileError *e)
{
    for (int i = 0; i < RT_CHECKPOINT_FILES; i++)
        if (c->file[i].entries.n && !rt_saver_finish(&c->file[i], e))
            return false;
    return true;
}

static void save_in_place(RtCheckpoints *c)
{
    bool ok = begin_files(c);
    RtFileError e;

    for (int i = 0; i < RT_CHECKPOINT_FILES && ok; i++)
        ok = rt_saver_put_all(&c->file[i]);
    ok = ok && rt_agree_to_try(c->run, finish_files(c, &e) || warn(c, e.text));
    end(c, ok);
}

// ---- concurrently with the steps ----

// Steps have precedence: the thread takes the time that they leave, and writes at a pace.
static void *write_copy(void *checkpoints)
{
    RtCheckpoints *c = checkpoints;
    RtWriter *w = &c->writer;
    char *from = w->copy;

    setpriority(PRIO_PROCESS, (id_t)gettid(), 19);
    for (int i = 0; i < RT_CHECKPOINT_FILES; from += w->bytes[i++])
        if (c->file[i].entries.n)
            rt_saver_put_copy(&c->file[i], from);
    w->is_fine = finish_files(c, &w->error);
    atomic_store(&w->is_done, true);
    return NULL;
}

// `seconds`: since the checkpoint before.
static void begin_background(RtCheckpoints *c, double seconds)
{
    RtWriter *w = &c->writer;
    char *to = w->copy;

    if (!begin_files(c)) {
        end(c, false);
        return;
    }
    for (int i = 0; i < RT_CHECKPOINT_FILES; to += w->bytes[i++])
        rt_saver_copy(&c->file[i], to);
    c->is_writing = true;
    rt_pace_begin(&w->pace, copied_bytes(w), seconds);
    atomic_store(&w->is_done, false);
    start(&w->thread, write_copy, c);
}

// Ends the checkpoint that is being written if all ranks have written their parts. `waits`: until
// they have.
static void end_background(RtCheckpoints *c, bool waits)
{
    static const struct timespec pause = {0, 10 * 1000 * 1000};
    RtWriter *w = &c->writer;

    if (waits)
        rt_pace_hurry(&w->pace);
    // All ranks answer often, so that no one's wait comes near --timeout.
    while (c->is_writing && rt_comm_max(c->run->rt.comm, !atomic_load(&w->is_done))) {
        if (!waits)
            return;
        nanosleep(&pause, NULL);
    }
    if (!c->is_writing)
        return;
    join(&w->thread);
    c->is_writing = false;
    end(c, rt_agree_to_try(c->run, w->is_fine || warn(c, w->error.text)));
}

// ---- when ----

// The clock of rank 0 counts.
static bool is_due(const RtCheckpoints *c)
{
    const RtOptions *o = &c->run->o;

    if (c->improves)
        return true;
    if (o->every.seconds > 0)
        return rt_comm_max(c->run->rt.comm,
                           c->run->rank == 0 && rt_seconds() - c->last_at >= o->every.seconds);
    return o->every.steps > 0 && c->run->step % o->every.steps == 0;
}

// A second checkpoint waits for the first.
static void save(RtCheckpoints *c, const RtLog *log, bool is_last)
{
    end_background(c, true);
    if (*c->broken)
        return;
    bool ok = rt_agree_to_try(c->run, describe(c, log) || warn(c, "out of memory"));
    double before = c->last_at;
    c->improves = false;
    c->last = c->run->step;
    c->last_at = rt_seconds();
    if (!ok)
        rt_manifest_free(&c->manifest);
    else if (c->writer.copy && !is_last)
        begin_background(c, c->last_at - before);
    else
        save_in_place(c);
}

bool rt_checkpoints_step(RtCheckpoints *c, RtLog *log, double seconds)
{
    if (!c)
        return true;
    if (c->lock >= 0 && !c->has_noted)
        rt_checkpoints_note_step(c);
    rt_pace_step(&c->writer.pace, seconds, c->is_writing);
    end_background(c, false);
    if (!*c->broken && is_due(c))
        save(c, log, false);
    return !*c->broken;
}

void rt_checkpoints_wait(RtCheckpoints *c)
{
    if (!c)
        return;
    end_background(c, true);
    join(&c->remover.thread);
}

bool rt_checkpoints_end(RtCheckpoints *c, RtLog *log)
{
    if (!c)
        return true;
    end_background(c, true);
    if (!*c->broken && c->last != c->run->step)
        save(c, log, true);
    return !*c->broken;
}

void rt_checkpoints_close(RtCheckpoints *c)
{
    if (!c)
        return;
    rt_pace_hurry(&c->writer.pace);
    join(&c->writer.thread);
    join(&c->remover.thread);
    for (int i = 0; i < RT_CHECKPOINT_FILES; i++)
        rt_saver_close(&c->file[i]);
    rt_manifest_free(&c->manifest);
    if (c->lock >= 0)
        close(c->lock);
    free(c->writer.copy);
    free(c);
}
