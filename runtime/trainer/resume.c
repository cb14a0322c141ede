// Goes on from a checkpoint: the last one of which every file has the bytes that its manifest says.
#include <stdio.h>
#include <string.h>

#include "runtime/trainer/checkpoint.h"

// ---- is a checkpoint whole? ----

static bool warn(const RtCheckpoints *c, const char *what)
{
    rt_warn(c->run->model, "%s: %s; the checkpoint before is taken", c->path, what);
    return false;
}

static bool read_manifest(RtCheckpoints *c, int64_t step, RtManifest *m)
{
    RtFileError e;

    *m = (RtManifest){0};
    if (!rt_checkpoint_path(c->path, c->run->o.checkpoint, step, RT_MANIFEST_FILE))
        return warn(c, "the path is too long");
    return rt_manifest_read(m, c->path, &e) || warn(c, e.text);
}

// Each rank reads its part of the file, which another one may need.
static uint32_t sum_part(const RtCheckpoints *c, const RtMap *map)
{
    int64_t size = (int64_t)map->size, ranks = rt_comm_ranks(c->run->rt.comm);
    int64_t part = size / ranks + 1, first = part * c->run->rank;
    RtChecksum sum = {0};

    if (first < size)
        rt_checksum_add(&sum, first, map->data + first,
                        (size_t)(part < size - first ? part : size - first));
    return rt_checksum_parts(&sum, size);
}

// Each rank looks through some of the tensors.
static bool check_tensors(RtCheckpoints *c, const RtManifest *m, const RtManifestFile *f,
                          const RtMap *map)
{
    const RtRun *run = c->run;
    RtFileError e;

    return rt_checkpoint_finite(m, f->name, map, run->rank, rt_comm_ranks(run->rt.comm), &e) ||
           warn(c, e.text);
}

static bool check_file(RtCheckpoints *c, int64_t step, const RtManifest *m, const RtManifestFile *f)
{
    RtRun *run = c->run;
    RtFileError e;
    RtMap map = {0};
    char text[96];
    bool ok = rt_checkpoint_path(c->path, run->o.checkpoint, step, f->name);

    ok = ok ? rt_map(&map, c->path, &e) || warn(c, e.text) : warn(c, "the path is too long");
    if (ok && (int64_t)map.size != f->bytes) {
        snprintf(text, sizeof text, RT_WRONG_SIZE, (long long)map.size, (long long)f->bytes);
        ok = warn(c, text);
    }
    if (rt_agree_to_try(run, ok)) {
        uint32_t sum = rt_checksum_whole(rt_join_bits(run, sum_part(c, &map)), f->bytes);
        ok = sum == f->sum || warn(c, RT_WRONG_BYTES);
        ok = rt_agree_to_try(run, ok && check_tensors(c, m, f, &map));
    } else {
        ok = false;
    }
    rt_unmap(&map);
    return ok;
}

static const RtManifestFile *find_file(const RtManifest *m, const char *name)
{
    for (int i = 0; i < m->n; i++)
        if (strcmp(m->file[i].name, name) == 0)
            return &m->file[i];
    return NULL;
}

static bool is_whole(RtCheckpoints *c, int64_t step, RtManifest *m)
{
    bool ok = rt_agree_to_try(c->run, read_manifest(c, step, m));

    for (int i = 0; i < m->n && ok; i++)
        ok = check_file(c, step, m, &m->file[i]);
    return ok;
}

// ---- loading ----

static bool differs(const RtCheckpoints *c, const char *what, int64_t then, int64_t now)
{
    return rt_error(c->run->model, "--resume: %s: %s: then %lld, now %lld", c->run->o.checkpoint,
                    what, (long long)then, (long long)now);
}

// The samples of the steps before are counted, so they and their order must be the same.
static bool check_order(const RtCheckpoints *c, const RtManifest *m)
{
    const RtRun *run = c->run;
    int64_t step_samples = c->data->batch * run->model->accumulate;

    if (m->step_samples != step_samples)
        return differs(c, "samples of a step", m->step_samples, step_samples);
    if (m->data_samples != c->data->samples)
        return differs(c, "samples of the data", m->data_samples, c->data->samples);
    if (m->has_sum && m->data_sum != c->data->sum)
        return rt_error(run->model,
                        "--resume: %s: other data: then of checksum %08x, now %08x; --load begins "
                        "with a checkpoint's weights and other data",
                        run->o.checkpoint, m->data_sum, c->data->sum);
    if (m->shuffles == run->o.no_shuffle)
        return rt_error(run->model, "--resume: %s: then %s --no-shuffle", run->o.checkpoint,
                        m->shuffles ? "without" : "with");
    return m->seed == run->o.seed || differs(c, "--seed", m->seed, run->o.seed);
}

// Losses on other samples don't compare.
static void warn_of_other_eval(const RtCheckpoints *c)
{
    const RtRun *run = c->run;

    if (run->o.keep_best && run->rank == 0 && rt_best_is_other(c, &c->best))
        rt_warn(run->model,
                "--keep-best: step %lld was the best on other samples of --eval-data: the first "
                "evaluation of this run counts as better",
                (long long)c->best.step);
}

static void say_precision(const RtCheckpoints *c, const RtManifest *m)
{
    const RtRun *run = c->run;
    const char *now = run->model->precision ? run->model->precision : "f32";
    const char *then = *m->precision ? m->precision : "f32";

    if (run->rank == 0 && strcmp(now, then))
        rt_warn(run->model, "%s: step %lld was made by products in %s; they are in %s from here on",
                run->o.checkpoint, (long long)m->step, then, now);
}

static bool load(RtCheckpoints *c, int64_t step, const RtManifest *m)
{
    RtRun *run = c->run;

    if (!check_order(c, m))
        return false;
    run->step = c->last = m->step;
    for (int i = 0; i < RT_CHECKPOINT_FILES; i++) {
        const RtCheckpointFile *f = &rt_checkpoint_files[i];
        bool is_there = find_file(m, f->name);
        if (!is_there &&
            (!c->file[i].entries.n || (f->roles == 1u << RT_STATE && rt_scale_start(run))))
            continue;
        if (!rt_checkpoint_path(c->path, run->o.checkpoint, step, f->name))
            return rt_error(run->model, "--resume: the path is too long");
        if (!rt_tensors_load(run, c->path, f->roles, f->what))
            return false;
    }
    c->log = m->log;
    c->best = m->best;
    warn_of_other_eval(c);
    c->rollbacks = m->rollbacks;
    c->skipped = m->skipped;
    c->evaluation = m->evaluation;
    c->loss = m->loss;
    c->grad_norm = m->grad_norm;
    c->has_loaded = true;
    *c->broken = 0;
    if (run->rank == 0)
        rt_checkpoints_trim(run->o.checkpoint, m->step, run->o.keep, &c->best);
    say_precision(c, m);
    if (!run->o.quiet)
        fprintf(stderr, "goes on after step %lld\n", (long long)m->step);
    return true;
}

// Rank 0 looks into the folder: others may not see it as it is yet.
static int64_t step_before(const RtCheckpoints *c, int64_t before)
{
    const RtRun *run = c->run;
    int64_t step = run->rank == 0 ? rt_checkpoint_before(run->o.checkpoint, before) : -1;

    return rt_comm_max(run->rt.comm, step + 1) - 1;
}

// Leaves has_loaded false if there is no checkpoint.
static bool load_last(RtCheckpoints *c, const char *option)
{
    RtRun *run = c->run;
    bool is_damaged = false;

    c->has_loaded = false;
    for (int64_t step = INT64_MAX; (step = step_before(c, step)) >= 0; is_damaged = true) {
        RtManifest m;
        bool ok = is_whole(c, step, &m), is_loaded = ok && load(c, step, &m);
        rt_manifest_free(&m);
        if (ok || run->has_failed)
            return is_loaded;
    }
    return !is_damaged ||
           rt_error(run->model, "%s: no checkpoint in '%s' is whole", option, run->o.checkpoint);
}

bool rt_checkpoints_load(RtCheckpoints *c)
{
    const RtRun *run = c->run;
    bool ok = load_last(c, "--resume");

    if (ok && !c->has_loaded && !run->o.quiet)
        fprintf(stderr, "no checkpoint in %s yet: begins with step 1\n", run->o.checkpoint);
    return ok;
}

bool rt_checkpoints_roll_back(RtCheckpoints *c, int64_t last)
{
    const RtRun *run = c->run;
    int64_t rollbacks = c->rollbacks + 1, next = last + c->skipped;

    rt_checkpoints_wait(c);
    if (!load_last(c, "--on-spike"))
        return false;
    if (!c->has_loaded)
        return rt_error(run->model, "--on-spike: there is no checkpoint in '%s' to go back to",
                        run->o.checkpoint);
    c->rollbacks = rollbacks;
    c->skipped = next - run->step;
    return true;
}
