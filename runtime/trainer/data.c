// Reads data as samples: of npy files, one per input, whose first axis is the sample, or of files
// of tokens.
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "runtime/trainer/data.h"

enum { PATH = 4096 };

// The expected contents of an input's file: "I64[samples,16]".
static void print_expected(const RtColumn *c, char *to, size_t capacity)
{
    const RtTensor *t = c->input;
    size_t n = (size_t)snprintf(to, capacity, "%s[%s", rt_type_name(t->type),
                                c->is_whole ? "" : "samples");

    for (int i = c->is_whole ? 0 : 1; i < t->rank && n < capacity; i++)
        n += (size_t)snprintf(to + n, capacity - n, "%s%lld", i ? "," : "", (long long)t->dim[i]);
    if (n < capacity)
        snprintf(to + n, capacity - n, "]");
}

// Checks that the file fits the input; fills in the column.
static bool use_file(RtColumn *c, RtDataFile *file, const RtModel *m, const RtStored *found,
                     int64_t *samples)
{
    const RtTensor *t = c->input;
    bool fits = rt_type_find(found->dtype, &c->type) && rt_type_converts(c->type, t->type) &&
                found->rank == t->rank;

    for (int i = c->is_whole ? 0 : 1; i < t->rank && fits; i++)
        fits = found->dim[i] == t->dim[i];
    if (!fits) {
        char is[200], should[200];
        rt_stored_print(is, sizeof is, found);
        print_expected(c, should, sizeof should);
        return rt_error(m, "%s: found %s, expected %s", file->path, is, should);
    }
    file->rows = found->data;
    c->file = file;
    c->n_files = 1;
    c->row_bytes = c->count * rt_dtype_bytes(found->dtype);
    *samples = c->is_whole ? -1 : found->dim[0];
    return true;
}

static bool open_file(RtData *d, int i, const RtModel *m, const char *path, int64_t *samples)
{
    RtDataFile *f = &d->file[d->n_files++];
    RtFileError e;
    RtStored found;

    f->path = strcpy(rt_alloc(strlen(path) + 1, 1), path);
    if (!rt_map(&f->map, path, &e) || !rt_npy_parse(&found, f->map.data, f->map.size, &e))
        return rt_error(m, "%s: %s", path, e.text);
    return use_file(&d->column[i], f, m, &found, samples);
}

// Two inputs may have the same file name, since some characters can't be in file names.
static bool check_names(const RtData *d, const RtModel *m)
{
    char a[256], b[256];

    for (int i = 0; i < d->n; i++)
        for (int j = 0; j < i; j++) {
            rt_file_name(d->column[i].input, a, sizeof a);
            rt_file_name(d->column[j].input, b, sizeof b);
            if (strcmp(a, b) == 0)
                return rt_error(m, "inputs '%s' and '%s' would both be read from %s.npy",
                                d->column[j].input->name, d->column[i].input->name, a);
        }
    return true;
}

static bool open_folder(RtData *d, const RtModel *m, const char *folder)
{
    char path[PATH], file[256], first[256] = "";
    bool ok = check_names(d, m);

    d->samples = -1;
    d->file = rt_alloc((size_t)d->n, sizeof *d->file);
    for (int i = 0; i < d->n && ok; i++) {
        int64_t samples = -1;

        rt_file_name(d->column[i].input, file, sizeof file);
        snprintf(path, sizeof path, "%s/%s.npy", folder, file);
        ok = open_file(d, i, m, path, &samples);
        if (!ok || samples < 0)
            continue;
        if (d->samples >= 0 && samples != d->samples)
            return rt_error(m, "%s: %lld samples, but %s.npy has %lld", path, (long long)samples,
                            first, (long long)d->samples);
        d->samples = samples;
        memcpy(first, file, sizeof first);
    }
    return ok;
}

// A single .npy file is enough for a program with one input.
static bool open_single(RtData *d, const RtModel *m, const char *path)
{
    if (d->n != 1)
        return rt_error(m, "%s: the model has %d inputs: give a folder with a file for each", path,
                        d->n);
    d->file = rt_alloc(1, sizeof *d->file);
    return open_file(d, 0, m, path, &d->samples);
}

// Lists the inputs to read and sets the batch size: the first dim of the labels, or else of the
// first input. An input with a different first dim is the same for all samples.
static void list_columns(RtData *d, const RtModel *m, RtUse use)
{
    const RtTensor *t = use == RT_TRAIN ? m->train : m->predict;
    int n = use == RT_TRAIN ? m->n_train : m->n_predict;
    const RtTensor *batch = NULL;

    d->column = rt_alloc((size_t)n, sizeof *d->column);
    for (int i = 0; i < n; i++) {
        if (t[i].role != RT_INPUT)
            continue;
        if (t[i].is_labels || (!batch && t[i].rank > 0))
            batch = &t[i];
        if (use != RT_PREDICT || !t[i].is_for_loss)
            d->column[d->n++].input = &t[i];
    }
    d->batch = d->n && batch && batch->rank > 0 ? batch->dim[0] : 1;
    for (int i = 0; i < d->n; i++) {
        RtColumn *c = &d->column[i];

        c->is_whole = c->input->rank == 0 || c->input->dim[0] != d->batch;
        c->count = rt_whole_count(c->input) / (c->is_whole || d->batch == 0 ? 1 : d->batch);
        c->staged_at = d->staged_bytes;
        d->staged_bytes += (rt_bytes(m, c->input) + 63) / 64 * 64;
    }
}

static bool open_any(RtData *d, const RtModel *m, RtUse use, const char *path,
                     const RtTokenOptions *tokens)
{
    struct stat st;
    size_t n = strlen(path);

    if (d->batch == 0)
        return rt_error(m, "%s: the model's batch has no samples", path);
    if (d->n == 0 && use != RT_PREDICT)
        return rt_error(m, "%s: the model has no inputs", path);
    if (d->n == 0) {  // the outputs are the same for any data
        d->samples = 1;
        return true;
    }
    if (stat(path, &st) != 0)
        return rt_error(m, "%s: %s", path, strerror(errno));
    bool is_folder = S_ISDIR(st.st_mode);
    if (is_folder && !rt_has_tokens(path))
        return open_folder(d, m, path);
    if (n > 4 && strcmp(path + n - 4, ".npy") == 0)
        return open_single(d, m, path);
    return rt_tokens_open(d, m, use, path, is_folder, tokens);
}

bool rt_data_open(RtData *d, const RtModel *m, const RtShard *shard, RtUse use, const char *path,
                  const RtTokenOptions *tokens)
{
    *d = (RtData){.model = m, .shard = shard};
    list_columns(d, m, use);
    if (!open_any(d, m, use, path, tokens)) {
        rt_data_close(d);
        return false;
    }
    if (tokens->documents && use != RT_PREDICT && !d->window) {
        rt_error(m, "--documents: %s: only files of tokens have documents", path);
        rt_data_close(d);
        return false;
    }
    d->samples = d->samples < 0 ? d->batch : d->samples;
    d->sum = rt_data_sum(d);
    // Predictions also use a last batch that isn't full.
    int64_t least = use == RT_PREDICT ? 1 : use == RT_EVAL ? d->batch : d->batch * m->accumulate;
    if (d->samples < least) {
        rt_error(m, "%s: samples found: %lld; %s takes %lld", path, (long long)d->samples,
                 use == RT_TRAIN ? "a step" : "a batch", (long long)least);
        rt_data_close(d);
        return false;
    }
    d->staging = rt_alloc((size_t)d->staged_bytes, 1);
    d->sample = rt_alloc((size_t)d->batch, sizeof *d->sample);
    return true;
}

void rt_data_close(RtData *d)
{
    while (d->n_files > 0) {  // the last one first: rt_unmap finds it soonest
        rt_unmap(&d->file[--d->n_files].map);
        free(d->file[d->n_files].path);
    }
    free(d->file);
    free(d->column);
    free(d->start);
    free(d->staging);
    free(d->sample);
    *d = (RtData){0};
}

const RtDataFile *rt_data_file(const RtColumn *c, int64_t sample)
{
    int low = 0, high = c->n_files;

    while (high - low > 1) {
        int middle = low + (high - low) / 2;

        if (c->file[middle].first <= sample)
            low = middle;
        else
            high = middle;
    }
    return &c->file[low];
}

const uint8_t *rt_data_row(const RtColumn *c, int64_t sample)
{
    const RtDataFile *f = rt_data_file(c, sample);

    int64_t start = c->start ? c->start[sample] : (sample - f->first) * c->row_bytes;

    return f->rows + c->skip + start;
}

// Masks the labels, of n staged at `to`, that follow the end of a document. `from`: the first label
// in the file, after the token before it.
static void ignore_ends(const RtColumn *c, int64_t ignored, const uint8_t *from, char *to,
                        int64_t n)
{
    int64_t bytes = rt_element_bytes(c->input);

    for (int64_t i = 0; i < n; i++)
        if (rt_get_int(c->type, from + i * c->skip - c->skip) == c->end)
            rt_set_int(c->input->type, to + i * bytes, ignored);
}

// Converts a run of elements of the micro-batch; the run may span several samples.
static void stage_run(const RtColumn *c, int64_t ignored, const int64_t *sample, const RtRuns *run,
                      char *to)
{
    int64_t bytes = rt_element_bytes(c->input), stored = rt_dtype_bytes(rt_type_name(c->type)), n;

    for (int64_t i = 0; i < run->count; i += n) {
        int64_t row = (run->whole + i) / c->count, first = (run->whole + i) % c->count;
        const uint8_t *from = rt_data_row(c, c->is_whole ? 0 : sample[row]);
        n = c->count - first < run->count - i ? c->count - first : run->count - i;
        rt_convert(c->input->type, to + (run->own + i) * bytes, c->type, from + first * stored, n);
        if (c->ends)
            ignore_ends(c, ignored, from + first * stored, to + (run->own + i) * bytes, n);
    }
}

void rt_data_stage(const RtData *d, const int64_t *sample, char *staging)
{
    for (int i = 0; i < d->n; i++) {
        const RtColumn *c = &d->column[i];

        for (RtRuns r = rt_runs(d->model, c->input, d->shard); rt_runs_next(&r);)
            stage_run(c, d->model->ignored_label, sample, &r, staging + c->staged_at);
    }
}

void rt_data_copy_in(const RtData *d, const char *staging, Rt *rt)
{
    for (int i = 0; i < d->n; i++) {
        const RtColumn *c = &d->column[i];
        rt->device->copy_in(rt, rt_tensor_at(c->input, 0), staging + c->staged_at,
                            rt_bytes(d->model, c->input));
    }
}
