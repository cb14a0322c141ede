// Reads a trainer's log: the lines that --profile adds to it.
#include "report/run_file.h"

#include <string.h>

#include "base/record.h"

enum { MAX_LOG_BYTES = 1 << 30, MAX_LINE_BYTES = 1 << 16, MAX_CALLS = 1 << 20 };

#define FIELD(T, kind, name, field, is_needed)                                                     \
    {                                                                                              \
        name, FIELD_##kind, offsetof(T, field), 0, is_needed, NULL                                 \
    }

static const RecordField head_fields[] = {
    FIELD(RunFile, TEXT, "profile", program, true),
    FIELD(RunFile, HASH, "identity", identity, true),
    FIELD(RunFile, HASH, "plan_hash", plan_hash, false),
    FIELD(RunFile, TEXT, "plan", plan, true),
    FIELD(RunFile, TEXT, "device", device, true),
    FIELD(RunFile, INT, "ranks", ranks, true),
    FIELD(RunFile, INT, "steps", steps, true),
    FIELD(RunFile, TIME, "seconds", seconds, true),
    FIELD(RunFile, INT, "calls", n_promised, true),
};

static const RecordField call_fields[] = {
    FIELD(RunCall, TEXT, "call", what, true),
    FIELD(RunCall, TEXT, "part", part, true),
    FIELD(RunCall, TEXT, "block", block, false),
    FIELD(RunCall, INT, "layer", layer, false),
    FIELD(RunCall, INT, "calls", calls, true),
    FIELD(RunCall, TIME, "seconds", seconds, true),
    FIELD(RunCall, TIME, "least_seconds", least, true),
    FIELD(RunCall, TIME, "fastest_rank_seconds", fastest, false),
    FIELD(RunCall, TIME, "slowest_rank_seconds", slowest, false),
    FIELD(RunCall, TIME, "predicted_seconds", predicted, false),
    FIELD(RunCall, TIME, "flops", flops, true),
    FIELD(RunCall, TIME, "read_bytes", read, true),
    FIELD(RunCall, TIME, "written_bytes", written, true),
    FIELD(RunCall, TEXT, "axis", axis, false),
    FIELD(RunCall, TIME, "sent_bytes", sent, false),
    FIELD(RunCall, TIME, "exchange_seconds", exchange, false),
    FIELD(RunCall, TIME, "predicted_exchange_seconds", predicted_exchange, false),
};

static const RecordTable of_head = {TABLE(RunFile, head_fields)},
                         of_call = {TABLE(RunCall, call_fields)};

typedef struct LogReader {
    Arena *a;
    RunFile *f;
    int line;
    bool has_head;
    Diag *d;
} LogReader;

// ---- lines ----

static bool read_head(LogReader *r, const RecordReader *at, const cJSON *x)
{
    *r->f = (RunFile){0};
    r->has_head = record_read(at, &of_head, x, r->f);
    return r->has_head;
}

static bool read_call(LogReader *r, const RecordReader *at, const cJSON *x)
{
    RunFile *f = r->f;

    if (!r->has_head || f->n_calls == f->n_promised || f->n_calls == MAX_CALLS)
        return record_wrong(at, "call", "is number %d of a profile with %d calls", f->n_calls + 1,
                            r->has_head ? f->n_promised : 0);
    *arena_push(r->a, f->call, f->n_calls, f->cap_calls) = (RunCall){0};
    return record_read(at, &of_call, x, &f->call[f->n_calls - 1]);
}

// Lines of steps and evaluations are left out.
static bool read_object(LogReader *r, const cJSON *x, Diag *d)
{
    const RecordReader at = {r->a, d, NULL, 0, NULL};

    if (!cJSON_IsObject(x)) {
        diag_error(d, "must be an object");
        return false;
    }
    if (cJSON_GetObjectItemCaseSensitive(x, "profile"))
        return read_head(r, &at, x);
    return !cJSON_GetObjectItemCaseSensitive(x, "call") || read_call(r, &at, x);
}

static bool read_line(LogReader *r, const char *text, size_t n)
{
    char where[300];

    snprintf(where, sizeof where, "%.200s: line %d", r->d->file, r->line);
    Diag at = {.file = where, .to = r->d->to};
    cJSON *x = json_parse(text, n, MAX_LINE_BYTES, "a line", &at);
    bool ok = x && read_object(r, x, &at);
    cJSON_Delete(x);
    r->d->errors += at.errors;
    return ok;
}

// ---- the whole ----

static bool is_complete(const LogReader *r)
{
    if (!r->has_head)
        diag_error(r->d, "it has no calls: a run with --profile --log FILE writes them at its end");
    else if (r->f->n_calls < r->f->n_promised)
        diag_error(r->d, "it ends after %d of %d calls: the log was cut short", r->f->n_calls,
                   r->f->n_promised);
    return r->has_head && r->f->n_calls == r->f->n_promised;
}

bool run_file_parse(Arena *a, const char *text, size_t n, RunFile *f, Diag *d)
{
    LogReader r = {.a = a, .f = f, .d = d};

    *f = (RunFile){0};
    if (n > MAX_LOG_BYTES) {
        diag_error(d, "%zu bytes are too many for a log", n);
        return false;
    }
    for (const char *end = text + n, *next; text < end; text = next) {
        const char *newline = memchr(text, '\n', (size_t)(end - text));
        size_t length = (size_t)((newline ? newline : end) - text);
        next = newline ? newline + 1 : end;
        r.line++;
        if (!read_line(&r, text, length))
            return false;
    }
    return is_complete(&r);
}

bool run_file_open(Arena *a, const char *path, RunFile *f, Diag *d)
{
    File file;

    if (!file_map(path, &file, d))
        return false;
    bool ok = run_file_parse(a, (const char *)file.data, file.size, f, d);
    file_unmap(&file);
    return ok;
}

bool run_file_check(Arena *a, const RunFile *f, const PlanFile *p, Diag *d)
{
    uint64_t hash = plan_file_hash(p);
    const char *found = f->plan_hash
                            ? arena_string(a, "plan %016" PRIx64 " (%s)", f->plan_hash, f->plan)
                            : arena_string(a, "no plan (%s)", f->plan);

    if (f->plan_hash == hash)
        return true;
    diag_error(d, "it is of another program: '%s' with %s, expected plan %016" PRIx64 " (%d ranks)",
               f->program, found, hash, p->ranks);
    return false;
}
