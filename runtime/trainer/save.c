// Saves tensors to a file that all ranks write to. Rank 0 makes a temporary file, and renames it
// when the shards of all ranks are on disk.
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "runtime/rt_element.h"
#include "runtime/trainer/files.h"

enum { STAGING_BYTES = 1 << 16 };  // bytes that are copied from the arena at a time

// Gives the entries of f32 and f64 another type in the file.
static void round_entries(RtEntries *e, const char *dtype)
{
    for (int i = 0; i < e->n; i++) {
        RtStored *x = &e->item[i];
        RtType t = e->tensor[i]->type;
        if (t != RT_F32 && t != RT_F64)
            continue;
        x->bytes = x->bytes / rt_dtype_bytes(x->dtype) * rt_dtype_bytes(dtype);
        x->dtype = dtype;
    }
}

bool rt_saver_open(RtSaver *s, RtRun *run, RtEntries entries, const char *path)
{
    RtFileError e;

    *s = (RtSaver){.run = run, .entries = entries, .path = path};
    s->staging = rt_alloc(STAGING_BYTES, 1);
    s->gathered = rt_alloc(RT_OUT_GATHERED + RT_OUT_BLOCK, 1);
    if (path && run->rank == 0 && !rt_out_try(path, &e))
        return rt_error(run->model, "%s: %s", path, e.text);
    s->header = rt_safe_header(entries.item, entries.n, &s->header_bytes);
    s->begin = rt_alloc((size_t)entries.n + 1, sizeof *s->begin);
    s->begin[0] = s->header_bytes;
    for (int i = 0; i < entries.n; i++)
        s->begin[i + 1] = s->begin[i] + entries.item[i].bytes;
    if (!s->header && s->header_bytes > RT_MAX_HEADER)
        return rt_error(run->model, "names of tensors make a header of %lld bytes, more than %d",
                        (long long)s->header_bytes, RT_MAX_HEADER);
    return s->header || rt_error(run->model, "out of memory");
}

int64_t rt_saver_bytes(const RtSaver *s) { return s->begin[s->entries.n]; }

static bool agree(const RtSaver *s, bool ok)
{
    return s->is_optional ? rt_agree_to_try(s->run, ok) : rt_agree(s->run, ok);
}

static bool fail(const RtSaver *s, const char *what, const RtFileError *e)
{
    if (s->is_optional)
        rt_warn(s->run->model, "%s: %s%s", s->path, what, e->text);
    else
        rt_error(s->run->model, "%s: %s%s", s->path, what, e->text);
    return false;
}

void rt_saver_cancel(RtSaver *s)
{
    if (s->is_begun) {
        rt_comm_file(s->run->rt.comm, NULL);
        rt_out_cancel(&s->out);
    }
    s->is_begun = false;
}

// Writes in chunks aligned to the gathered chunks of the file. `pace` says when to go on after each
// chunk; NULL: immediately.
static void put(RtSaver *s, int64_t at, const char *data, int64_t bytes, RtPace *pace)
{
    for (int64_t n; bytes > 0; bytes -= n, at += n, data += n) {
        n = RT_OUT_GATHERED - at % RT_OUT_GATHERED;
        n = bytes < n ? bytes : n;
        rt_checksum_add(&s->sum, at, data, (size_t)n);
        rt_out_write_at(&s->out, at, data, (size_t)n);
        if (pace)
            rt_pace_wait(pace, n);
    }
}

// All ranks know the temporary file's name before it is made, so that any of them can remove it if
// another one is lost.
bool rt_saver_begin(RtSaver *s)
{
    RtRun *run = s->run;
    RtFileError e;
    bool makes = run->rank == 0;
    int64_t owner = rt_comm_max(run->rt.comm, makes ? getpid() : 0);
    bool ok = rt_out_name(&s->out, s->path, owner, &e);

    s->is_begun = true;
    s->sum = (RtChecksum){0};
    s->bad = (RtNonfinite){0};
    if (ok)
        rt_comm_file(run->rt.comm, s->out.temp);
    if (ok && makes)
        ok = rt_out_open(&s->out, s->path, &e);
    bool is_made = rt_comm_max(run->rt.comm, makes && ok);
    if (ok && !makes && is_made)
        ok = rt_out_join(&s->out, s->path, owner, &e);
    if (!ok)
        fail(s, "", &e);
    else
        rt_out_gather(&s->out, s->gathered + (-(uintptr_t)s->gathered % RT_OUT_BLOCK));
    if (ok && makes)
        put(s, 0, s->header, s->header_bytes, NULL);
    return agree(s, ok);
}

// The runs of an entry that this rank writes: none if another rank with the same shard does.
static RtRuns own_runs(const RtSaver *s, int entry)
{
    const RtTensor *t = s->entries.tensor[entry];
    int replicas, replica = rt_replica(s->run->model, t, s->run->rank, &replicas);

    return replica == entry % replicas ? rt_runs(s->run->model, t, s->run->rt.shard)
                                       : (RtRuns){.is_ended = true};
}

// Looks through bytes of an entry as the file has it, which begin at `at` in the whole of it.
static void look(RtSaver *s, int entry, int64_t at, const char *data, int64_t n)
{
    const RtStored *t = &s->entries.item[entry];
    int64_t bytes = rt_dtype_bytes(t->dtype);
    RtNonfiniteKind kind;

    const bool *kept = s->are_weights ? s->run->kept : NULL;
    if (!s->judges || s->bad.tensor || (kept && kept[entry]))
        return;
    int64_t i = rt_nonfinite_find(t->dtype, data, n / bytes, &kind);
    if (i >= 0)
        s->bad = (RtNonfinite){entry + 1, at / bytes + i, kind};
}

// Stages this rank's runs of an entry part by part, in the file's type. `puts`: into the file.
static void stage(RtSaver *s, int entry, int64_t from, bool puts)
{
    Rt *rt = &s->run->rt;
    RtType type = s->entries.tensor[entry]->type, to = type;
    int64_t bytes = rt_element_bytes(s->entries.tensor[entry]), most = STAGING_BYTES / bytes;
    int64_t of_file = rt_dtype_bytes(s->entries.item[entry].dtype);

    rt_type_find(s->entries.item[entry].dtype, &to);
    for (RtRuns r = own_runs(s, entry); rt_runs_next(&r);)
        for (int64_t at = 0, n; at < r.count; at += n) {
            int64_t whole = (r.whole + at) * of_file;
            n = r.count - at < most ? r.count - at : most;
            rt->device->copy_out(rt, s->staging, from + (r.own + at) * bytes, n * bytes);
            if (to != type)
                rt_round_floats(to, s->staging, type, s->staging, n);
            look(s, entry, whole, s->staging, n * of_file);
            if (puts)
                put(s, s->begin[entry] + whole, s->staging, n * of_file, NULL);
        }
}

void rt_saver_put(RtSaver *s, int entry, int64_t at) { stage(s, entry, at, true); }

void rt_saver_look(RtSaver *s, int entry, int64_t at) { stage(s, entry, at, false); }

bool rt_saver_judge(const RtSaver *s, char *text, size_t capacity)
{
    RtNonfinite f = s->bad;

    rt_nonfinite_agree(s->run, &f);
    if (f.tensor)
        rt_nonfinite_print(text, capacity, &s->entries.item[f.tensor - 1], &f);
    return !f.tensor;
}

bool rt_saver_put_all(RtSaver *s)
{
    bool ok = true;

    // Agreeing after each tensor bounds the wait of ranks without a shard to the time of one
    // tensor, which must be below --timeout.
    for (int i = 0; i < s->entries.n && ok; i++) {
        rt_saver_put(s, i, rt_tensor_at(s->entries.tensor[i], s->entries.layer[i]));
        ok = agree(s, true);
    }
    return ok;
}

// The offset of a run in the copy, whose runs so far end at `end`; the run begins at `at` in the
// file. A long run lies in blocks of memory as in blocks of the file, and is written from there.
static int64_t offset_in_copy(int64_t end, int64_t at, int64_t bytes)
{
    int64_t more = (at - end) % RT_OUT_BLOCK;

    return bytes < RT_OUT_LONG ? end : end + more + (more < 0 ? RT_OUT_BLOCK : 0);
}

typedef struct CopiedRun {
    int entry;
    int64_t own;  // its first byte in the rank's shard
    int64_t at;   // in the file
    int64_t to;   // in the copy
    int64_t bytes;
} CopiedRun;

typedef void RunUse(RtSaver *s, const CopiedRun *r, char *copy);

// Uses all runs that this rank writes. Returns the bytes of the copy, whole blocks.
static int64_t use_runs(RtSaver *s, RunUse *use, char *copy)
{
    int64_t end = 0;

    for (int i = 0; i < s->entries.n; i++) {
        int64_t element = rt_element_bytes(s->entries.tensor[i]);
        for (RtRuns r = own_runs(s, i); rt_runs_next(&r);) {
            CopiedRun x = {.entry = i,
                           .own = r.own * element,
                           .at = s->begin[i] + r.whole * element,
                           .bytes = r.count * element};
            x.to = offset_in_copy(end, x.at, x.bytes);
            if (use)
                use(s, &x, copy);
            end = x.to + x.bytes;
        }
    }
    return end + (-end & (RT_OUT_BLOCK - 1));
}

int64_t rt_saver_copy_bytes(RtSaver *s) { return use_runs(s, NULL, NULL); }

static void copy_run(RtSaver *s, const CopiedRun *r, char *copy)
{
    Rt *rt = &s->run->rt;
    int64_t at = rt_tensor_at(s->entries.tensor[r->entry], s->entries.layer[r->entry]);

    rt->device->copy_out(rt, copy + r->to, at + r->own, r->bytes);
}

void rt_saver_copy(RtSaver *s, char *to) { use_runs(s, copy_run, to); }

static void put_run(RtSaver *s, const CopiedRun *r, char *copy)
{
    look(s, r->entry, r->at - s->begin[r->entry], copy + r->to, r->bytes);
    put(s, r->at, copy + r->to, r->bytes, s->pace);
}

void rt_saver_put_copy(RtSaver *s, char *copy) { use_runs(s, put_run, copy); }

bool rt_saver_finish(RtSaver *s, RtFileError *e) { return rt_out_finish(&s->out, e); }

bool rt_saver_rename(RtSaver *s)
{
    RtRun *run = s->run;
    RtFileError e;
    bool ok = run->rank > 0 || rt_out_rename(&s->out, &e) || fail(s, "not saved: ", &e);

    s->is_begun = !agree(s, ok);
    rt_comm_file(run->rt.comm, NULL);
    return !s->is_begun;
}

bool rt_saver_end(RtSaver *s)
{
    RtFileError e;
    bool ok = rt_saver_finish(s, &e) || fail(s, "not saved: ", &e);

    return agree(s, ok) && rt_saver_rename(s);
}

// Is it finite, as far as that is asked?
static bool is_finite(RtSaver *s)
{
    RtFileError e;
    bool ok = !s->judges || rt_saver_judge(s, e.text, sizeof e.text) || fail(s, "not saved: ", &e);

    return agree(s, ok);
}

bool rt_saver_write(RtSaver *s)
{
    bool ok = rt_saver_begin(s) && rt_saver_put_all(s) && is_finite(s) && rt_saver_end(s);

    if (!ok)
        rt_saver_cancel(s);
    return ok;
}

bool rt_weights_open(RtSaver *s, RtRun *run)
{
    static const char *const dtypes[] = {"BF16", "F16"};
    const RtModel *m = run->model;
    RtEntries e = rt_entries(m->tensors, m->n_tensors, 1u << RT_PARAMETER | 1u << RT_BUFFER);

    if (run->o.save_dtype >= 0)
        round_entries(&e, dtypes[run->o.save_dtype]);
    bool ok = rt_saver_open(s, run, e, run->o.save);
    s->judges = s->are_weights = true;
    return ok;
}

void rt_weights_search(RtSaver *s, RtRun *run)
{
    const RtModel *m = run->model;

    rt_saver_open(s, run,
                  rt_entries(m->tensors, m->n_tensors, 1u << RT_PARAMETER | 1u << RT_BUFFER), NULL);
    s->judges = s->are_weights = true;
    for (int i = 0; i < s->entries.n; i++)
        rt_saver_look(s, i, rt_tensor_at(s->entries.tensor[i], s->entries.layer[i]));
}

void rt_saver_close(RtSaver *s)
{
    rt_saver_cancel(s);
    rt_entries_free(&s->entries);
    free(s->header);
    free(s->begin);
    free(s->staging);
    free(s->gathered);
    *s = (RtSaver){0};
}
