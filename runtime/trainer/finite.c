// Tells where tensors aren't finite. Weights that aren't when they are loaded, masks with -inf say,
// are kept as they are; nothing else that isn't finite is saved.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/trainer/files.h"

void rt_nonfinite_agree(const RtRun *run, RtNonfinite *f)
{
    struct RtComm *c = run->rt.comm;
    int64_t tensor = rt_comm_max(c, f->tensor ? INT32_MAX - f->tensor : -1);

    if (tensor < 0)
        return;
    bool has = f->tensor == INT32_MAX - tensor;
    int64_t element = rt_comm_max(c, has ? INT64_MAX - f->element : -1);
    has = has && f->element == INT64_MAX - element;
    f->kind = (RtNonfiniteKind)rt_comm_max(c, has ? (int64_t)f->kind : -1);
    f->tensor = (int)(INT32_MAX - tensor);
    f->element = INT64_MAX - element;
}

// ---- what is kept ----

void rt_kept_note(RtRun *run, const RtEntries *e, int entry, const RtStored *found)
{
    int64_t bytes = rt_dtype_bytes(found->dtype);
    RtNonfiniteKind kind;

    if (!run->kept)
        run->kept = rt_alloc((size_t)e->n, sizeof *run->kept);
    for (RtRuns r = rt_runs(run->model, e->tensor[entry], run->rt.shard);
         !run->kept[entry] && rt_runs_next(&r);)
        run->kept[entry] =
            rt_nonfinite_find(found->dtype, found->data + r.whole * bytes, r.count, &kind) >= 0;
    run->n_kept = e->n;
}

void rt_kept_agree(RtRun *run)
{
    bool any = false;

    for (int i = 0; i < run->n_kept; i++)
        any |= run->kept[i];
    if (!rt_comm_max(run->rt.comm, any))
        return;
    for (int i = 0; i < run->n_kept; i++)
        run->kept[i] = rt_comm_max(run->rt.comm, run->kept[i]);
}

bool rt_kept_list(const RtRun *run, const RtEntries *e, RtManifest *m)
{
    int *rank = rt_alloc((size_t)e->n, sizeof *rank), n = 0;
    bool ok = true;

    for (int i = 0; i < run->n_kept; i++) {
        int before = 0;
        for (int k = 0; run->kept[i] && k < e->n; k++)
            before += strcmp(e->item[k].name, e->item[i].name) < 0;
        if (run->kept[i])
            rank[n++] = before;
    }
    for (int next = 0; n && ok && next < e->n; next++)
        for (int i = 0; i < n; i++)
            if (rank[i] == next)
                ok = ok && rt_manifest_keep(m, next);
    free(rank);
    return ok;
}

// ---- what is said ----

static int by_number(const void *a, const void *b)
{
    const int64_t *x = a, *y = b;

    return (*x > *y) - (*x < *y);
}

void rt_samples_print(char *to, size_t capacity, int64_t *sample, int64_t n)
{
    enum { RANGES = 24 };
    int64_t i = 0;
    size_t at = 0;

    qsort(sample, (size_t)n, sizeof *sample, by_number);
    for (int k = 0; k < RANGES && i < n && at < capacity; k++) {
        int64_t last = i;
        while (last + 1 < n && sample[last + 1] <= sample[last] + 1)
            last++;
        at += (size_t)snprintf(to + at, capacity - at, "%s%lld",
                               k       ? ", "
                               : n > 1 ? "samples "
                                       : "sample ",
                               (long long)sample[i]);
        if (last > i && at < capacity)
            at += (size_t)snprintf(to + at, capacity - at, " to %lld", (long long)sample[last]);
        i = last + 1;
    }
    if (i < n && at < capacity)
        snprintf(to + at, capacity - at, " and %lld more", (long long)(n - i));
}
