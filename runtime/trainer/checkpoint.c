// Writes checkpoints, all ranks together. What is there before stays until the new one is whole.
#include "runtime/trainer/checkpoint.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

// ---- the folder ----

// Another run may have it: the file has the process that locked it.
static bool lock(RtCheckpoints *c, const char *folder)
{
    const RtModel *m = c->run->model;
    char text[64] = {0};

    if (snprintf(c->path, sizeof c->path, "%s/LOCK", folder) >= (int)sizeof c->path)
        return rt_error(m, "--checkpoint: %s", strerror(ENAMETOOLONG));
    c->lock = open(c->path, O_RDWR | O_CREAT | O_CLOEXEC, 0666);
    if (c->lock < 0)
        return rt_error(m, "--checkpoint: %s: %s", c->path, strerror(errno));
    if (flock(c->lock, LOCK_EX | LOCK_NB) != 0) {
        if (errno != EWOULDBLOCK)
            return rt_error(m, "--checkpoint: %s: %s", c->path, strerror(errno));
        ssize_t n = read(c->lock, text, sizeof text - 1);
        text[n > 0 ? strcspn(text, "\n") : 0] = 0;
        return rt_error(m, "--checkpoint: another run uses '%s'%s%s", folder,
                        *text ? ": process " : "", text);
    }
    int n = snprintf(text, sizeof text, "%lld\n", (long long)getpid());
    return (ftruncate(c->lock, 0) == 0 && pwrite(c->lock, text, (size_t)n, 0) == n) ||
           rt_error(m, "--checkpoint: %s: %s", c->path, strerror(errno));
}

static bool open_folder(RtCheckpoints *c)
{
    const RtOptions *o = &c->run->o;
    const RtModel *m = c->run->model;

    if (mkdir(o->checkpoint, 0777) != 0 && errno != EEXIST)
        return rt_error(m, "--checkpoint: %s: %s", o->checkpoint, strerror(errno));
    if (!lock(c, o->checkpoint))
        return false;
    if (!o->resume && rt_checkpoint_before(o->checkpoint, INT64_MAX) >= 0)
        return rt_error(m,
                        "--checkpoint: '%s' has checkpoints of another run; --resume goes on "
                        "from the last one",
                        o->checkpoint);
    return true;
}

bool rt_checkpoints_open(RtRun *run, const RtData *data)
{
    RtCheckpoints *c = run->checkpoints = rt_alloc(1, sizeof *c);
    const RtModel *m = run->model;

    *c = (RtCheckpoints){.run = run, .data = data, .lock = -1, .last = -1, .log = -1};
    for (int i = 0; i < RT_CHECKPOINT_FILES; i++) {
        RtSaver *s = &c->file[i];
        if (!rt_saver_open(
                s, run, rt_entries(m->tensors, m->n_tensors, rt_checkpoint_files[i].roles), NULL))
            return false;
        s->is_optional = true;
        s->path = c->path;
    }
    c->last_at = rt_seconds();
    return run->rank > 0 || open_folder(c);
}

void rt_checkpoints_close(RtCheckpoints *c)
{
    if (!c)
        return;
    for (int i = 0; i < RT_CHECKPOINT_FILES; i++)
        rt_saver_close(&c->file[i]);
    if (c->lock >= 0)
        close(c->lock);
    free(c);
}

// ---- saving ----

static bool warn(const RtCheckpoints *c, const char *what)
{
    rt_warn(c->run->model, "%s: not saved: %s", c->path, what);
    return false;
}

// Rank 0 makes an empty folder.
static bool make_folder(RtCheckpoints *c)
{
    const char *folder = c->run->o.checkpoint;
    int64_t step = c->run->step;

    rt_checkpoint_remove(folder, step);  // what a killed run has left, or what wasn't whole
    if (!rt_checkpoint_path(c->path, folder, step, NULL))
        return warn(c, strerror(ENAMETOOLONG));
    if (mkdir(c->path, 0777) != 0 && errno != EEXIST)
        return warn(c, strerror(errno));
    return rt_sync_folder(folder) || warn(c, strerror(errno));
}

// Writes a file and adds it to the manifest.
static bool save_file(RtCheckpoints *c, int i, RtManifest *m)
{
    RtRun *run = c->run;
    RtSaver *s = &c->file[i];
    const char *name = rt_checkpoint_files[i].name;
    bool ok = rt_checkpoint_path(c->path, run->o.checkpoint, run->step, name);

    if (!rt_agree_to_try(run, ok || warn(c, strerror(ENAMETOOLONG))) || !rt_saver_write(s))
        return false;
    int64_t bytes = rt_saver_bytes(s);
    uint32_t sum = rt_join_bits(run, rt_checksum_parts(&s->sum, bytes));
    ok = rt_manifest_add(m, name, bytes, rt_checksum_whole(sum, bytes));
    return rt_agree_to_try(run, ok || warn(c, "out of memory"));
}

// The log up to this step is on disk before the manifest says how much it is.
static int64_t sync_log(const RtLog *log)
{
    struct stat st;

    return log->fd >= 0 && fsync(log->fd) == 0 && fstat(log->fd, &st) == 0 ? st.st_size : -1;
}

static bool save_manifest(RtCheckpoints *c, RtManifest *m, const RtLog *log)
{
    const RtRun *run = c->run;
    RtFileError e;

    m->step = run->step;
    m->step_samples = c->data->batch * run->model->accumulate;
    m->data_samples = c->data->samples;
    m->seed = run->o.seed;
    m->shuffles = !run->o.no_shuffle;
    m->log = sync_log(log);
    rt_printable(m->program, sizeof m->program, run->model->name);
    if (!rt_checkpoint_path(c->path, run->o.checkpoint, run->step, "MANIFEST"))
        return warn(c, strerror(ENAMETOOLONG));
    return rt_manifest_write(m, c->path, &e) || warn(c, e.text);
}

static bool save_all(RtCheckpoints *c, const RtLog *log)
{
    RtRun *run = c->run;
    RtManifest m = {0};
    bool ok = rt_agree_to_try(run, run->rank > 0 || make_folder(c));

    for (int i = 0; i < RT_CHECKPOINT_FILES && ok; i++)
        if (c->file[i].entries.n)
            ok = save_file(c, i, &m);
    ok = ok && rt_agree_to_try(run, run->rank > 0 || save_manifest(c, &m, log));
    rt_manifest_free(&m);
    return ok;
}

// A checkpoint that can't be written is removed: the next one may need its room.
static void save(RtCheckpoints *c, const RtLog *log)
{
    RtRun *run = c->run;
    bool is_saved = save_all(c, log);

    c->last_at = rt_seconds();
    c->last = run->step;
    if (run->rank > 0 || run->has_failed)
        return;
    if (is_saved)
        rt_checkpoints_trim(run->o.checkpoint, run->step, run->o.keep);
    else
        rt_checkpoint_remove(run->o.checkpoint, run->step);
}

// The clock of rank 0 counts.
static bool is_due(const RtCheckpoints *c)
{
    const RtOptions *o = &c->run->o;

    if (o->every.seconds > 0)
        return rt_comm_max(c->run->rt.comm,
                           c->run->rank == 0 && rt_seconds() - c->last_at >= o->every.seconds);
    return o->every.steps > 0 && c->run->step % o->every.steps == 0;
}

void rt_checkpoints_step(RtCheckpoints *c, RtLog *log)
{
    if (c && is_due(c))
        save(c, log);
}

void rt_checkpoints_end(RtCheckpoints *c, RtLog *log)
{
    if (c && c->last != c->run->step)
        save(c, log);
}
