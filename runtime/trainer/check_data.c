// Stops at invalid data: indices outside of tables, labels that aren't classes, and files that were
// truncated while they were read.
#include <stdio.h>
#include <string.h>

#include "runtime/trainer/files.h"

enum { WHERE = 80 };

// "sample 5, position 2: ", without the parts that the input doesn't have.
static void print_where(char to[WHERE], const RtColumn *c, int64_t sample, int64_t position)
{
    size_t n = 0;

    *to = 0;
    if (!c->is_whole)
        n = (size_t)snprintf(to, WHERE, "sample %lld%s", (long long)sample,
                             c->count > 1 ? ", " : ": ");
    if (c->count > 1)
        snprintf(to + n, WHERE - n, "position %lld: ", (long long)position);
}

// The position in the batch of the first element of an input, staged at p, that is no valid index;
// -1 if all are valid.
static int64_t find_bad(const RtRun *run, const RtTensor *t, const char *p, int64_t *found)
{
    int64_t bytes = rt_element_bytes(t);

    for (RtRuns r = rt_runs(run->model, t, run->rt.shard); rt_runs_next(&r);)
        for (int64_t i = 0; i < r.count; i++) {
            *found = rt_get_int(t->type, p + (r.own + i) * bytes);
            if (*found < t->least || *found >= t->bound)
                return r.whole + i;
        }
    return -1;
}

// Checks the files that these samples are in.
static bool check_files(const RtRun *run, const RtData *d, const int64_t *sample)
{
    const RtDataFile *last = NULL;
    RtFileError e;

    for (int i = 0; i < d->n; i++)
        for (int64_t r = 0; r < (d->column[i].n_files > 1 ? d->batch : 1); r++) {
            const RtDataFile *f = rt_data_file(&d->column[i], sample[r]);

            if (f != last && !rt_map_check(&f->map, &e))
                return rt_error(run->model, "%s: %s", f->path, e.text);
            last = f;
        }
    return true;
}

bool rt_check_data(const RtRun *run, const RtData *d, const int64_t *sample, const char *staging)
{
    if (!check_files(run, d, sample))
        return false;
    for (int i = 0; i < d->n; i++) {
        const RtColumn *c = &d->column[i];
        const RtTensor *t = c->input;
        int64_t found, at = t->bound ? find_bad(run, t, staging + c->staged_at, &found) : -1;

        if (at < 0)
            continue;
        char where[WHERE];
        print_where(where, c, sample[at / c->count], at % c->count);
        return rt_error(run->model, "input '%s': %s%lld is out of range, %lld to %lld", t->name,
                        where, (long long)found, (long long)t->least, (long long)t->bound - 1);
    }
    return true;
}

// Reports the number that a check has found.
static bool report_check(const RtModel *m, const char *step, const RtTensor *t, int64_t bad)
{
    long long x = bad % 2 ? bad / 2 : -(bad / 2), bound = t->bound;

    if (t->role == RT_BAD_INDEX)
        return rt_error(m, "%snode '%s': index %lld is out of range for a dim of %lld", step,
                        t->name, x, bound);
    if (x < 0)
        return rt_error(m, "%snode '%s': a part has the size %lld", step, t->name, x);
    return rt_error(m, "%snode '%s': its parts add up to %lld, in a dim of %lld", step, t->name, x,
                    bound);
}

bool rt_check_indices(RtRun *run, const RtTensor *set, int n)
{
    char step[32] = "";

    if (set == run->model->train)
        snprintf(step, sizeof step, "step %lld: ", (long long)run->step + 1);
    for (int i = 0; i < n; i++) {
        bool is_check = set[i].role == RT_BAD_INDEX || set[i].role == RT_BAD_SIZES;
        int64_t bad = is_check ? rt_get_scalar_int(&run->rt, &set[i]) : 0;

        if (bad)
            return report_check(run->model, step, &set[i], bad);
    }
    return true;
}

static bool check_labels(RtRun *run, const RtTensor *set, int n, const RtData *d,
                         const int64_t *sample)
{
    const RtModel *m = run->model;
    const RtTensor *bad = rt_find(set, n, RT_BAD_LABEL);
    int64_t at = bad ? rt_get_scalar_int(&run->rt, bad) - 1 : -1;
    long long step = (long long)run->step + 1;
    const RtColumn *c = NULL;

    if (at < 0)
        return true;
    for (int i = 0; i < d->n; i++)
        if (d->column[i].input->is_labels)
            c = &d->column[i];
    if (!c || c->is_whole || at >= rt_whole_count(c->input))
        return rt_error(m, "step %lld: a label is out of range", step);
    // Reads the label from the file, because in the arena it may be overwritten by now.
    int64_t row = sample[at / c->count], position = at % c->count;
    const uint8_t *label = rt_data_row(c, row) + position * (c->row_bytes / c->count);
    char where[WHERE];
    print_where(where, c, row, position);
    return rt_error(m, "step %lld: %slabel %lld is out of range", step, where,
                    (long long)rt_get_int(c->type, label));
}

bool rt_check_batch(RtRun *run, const RtTensor *set, int n, const RtData *d, const int64_t *sample)
{
    return check_labels(run, set, n, d, sample) && rt_check_indices(run, set, n);
}
