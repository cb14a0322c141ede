// Loads tensors from safetensors: parameters and buffers, and the optimizer's states.
#include <errno.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "runtime/trainer/checkpoint.h"

enum { MAX_NAMED = 12 };  // differences that one message lists

static const unsigned WEIGHTS = 1u << RT_PARAMETER | 1u << RT_BUFFER;

// A list of differences, of which MAX_NAMED are printed.
typedef struct Faults {
    const RtModel *m;
    const char *path, *what;
    bool are_states;
    int n;
} Faults;

__attribute__((format(printf, 2, 3))) static void add_fault(Faults *f, const char *fmt, ...)
{
    char text[512];
    va_list args;

    va_start(args, fmt);
    vsnprintf(text, sizeof text, fmt, args);
    va_end(args);
    if (f->n++ == 0)
        rt_error(f->m, "%s: these are not %s of this model", f->path, f->what);
    if (f->n <= MAX_NAMED)
        rt_note("%s", text);
}

// Floats may be narrower in the file: f32 and f64 hold all their numbers.
static bool fits(const RtStored *a, const RtStored *b)
{
    RtType to, from;
    bool same = rt_type_find(a->dtype, &to) && rt_type_find(b->dtype, &from) &&
                (to == from || ((to == RT_F32 || to == RT_F64) && rt_type_is_float(from) &&
                                rt_dtype_bytes(b->dtype) < rt_dtype_bytes(a->dtype))) &&
                a->rank == b->rank;

    for (int i = 0; i < a->rank && same; i++)
        same = a->dim[i] == b->dim[i];
    return same;
}

// States of parameters are called PARAMETER.STATE. Those without a dot are of the loss's scale,
// which a program has by its precision.
static bool is_of_scale(const char *state) { return !strchr(state, '.'); }

// The state begins as if all steps before had been updates.
static void start_scale(RtRun *run, const RtTensor *t)
{
    bool counts = strncmp(t->name, "optimizer_step", strlen("optimizer_step")) == 0;

    rt_fill_tensor(&run->rt, run->model, t, counts ? (double)run->step : t->fill);
}

bool rt_scale_start(RtRun *run)
{
    const RtModel *m = run->model;
    bool is_alone = true;

    for (int i = 0; i < m->n_tensors; i++)
        is_alone &= m->tensors[i].role != RT_STATE || is_of_scale(m->tensors[i].name);
    for (int i = 0; i < m->n_tensors && is_alone; i++)
        if (m->tensors[i].role == RT_STATE)
            start_scale(run, &m->tensors[i]);
    return is_alone;
}

// Prints the differences between the model's weights and the file's; returns their number.
static int compare(const RtEntries *e, const RtShards *s, Faults *f)
{
    RtStored *wanted = rt_alloc((size_t)e->n, sizeof *wanted);
    int i = 0, j = 0;

    // Sorts by name, as the file's tensors are.
    memcpy(wanted, e->item, (size_t)e->n * sizeof *wanted);
    qsort(wanted, (size_t)e->n, sizeof *wanted, rt_stored_by_name);
    while (i < e->n || j < s->n) {
        const RtStored *want = &wanted[i], *have = &s->tensor[j];
        int order = i == e->n ? 1 : j == s->n ? -1 : strcmp(want->name, have->name);
        char a[200], b[200];

        if (f->are_states && order && is_of_scale(order < 0 ? want->name : have->name)) {
            // it begins anew, or isn't needed any more
        } else if (order < 0) {
            rt_stored_print(a, sizeof a, want);
            add_fault(f, "missing     %.120s %s", want->name, a);
        } else if (order > 0) {
            rt_stored_print(b, sizeof b, have);
            add_fault(f, "unexpected  %.120s %s", have->name, b);
        } else if (!fits(want, have)) {
            rt_stored_print(a, sizeof a, want);
            rt_stored_print(b, sizeof b, have);
            add_fault(f, "different   %.120s: found %s, expected %s", want->name, b, a);
        }
        i += order <= 0;
        j += order >= 0;
    }
    if (f->n > MAX_NAMED)
        rt_note("and %d more", f->n - MAX_NAMED);
    free(wanted);
    return f->n;
}

bool rt_tensors_load(RtRun *run, const char *path, unsigned roles, const char *what)
{
    const RtModel *m = run->model;
    RtFileError error;
    RtShards s;

    if (!rt_shards_open(&s, path, &error))
        return rt_error(m, "%s: %s", path, error.text);
    RtEntries e = rt_entries(m->tensors, m->n_tensors, roles);
    Faults f = {.m = m, .path = path, .what = what, .are_states = roles == 1u << RT_STATE};
    bool ok = compare(&e, &s, &f) == 0;
    for (int i = 0; i < e.n && ok; i++) {
        const RtStored *x = rt_shards_tensor(&s, e.item[i].name);
        RtType from = RT_NONE;
        if (!x) {
            start_scale(run, e.tensor[i]);
            continue;
        }
        rt_type_find(x->dtype, &from);
        rt_load_shard(&run->rt, m, e.tensor[i], e.layer[i], from, x->data);
        if (roles == WEIGHTS && run->o.data)
            rt_kept_note(run, &e, i, x);
    }
    if (ok && !rt_shards_check(&s, &error))
        ok = rt_error(m, "%s: %s", path, error.text);
    rt_entries_free(&e);
    rt_shards_close(&s);
    return ok;
}

// --load is a file, an index, a folder of one of these, or one of checkpoints.
static bool find_given(const RtModel *m, const char *load, char *path, size_t capacity)
{
    RtFileError e;
    int64_t step = rt_checkpoint_before(load, INT64_MAX);
    char folder[PATH_MAX];

    if (step >= 0 && !rt_checkpoint_path(folder, load, step, NULL))
        return rt_error(m, "%s: %s", load, strerror(ENAMETOOLONG));
    return rt_shards_find(step >= 0 ? folder : load, path, capacity, &e) ||
           rt_error(m, "%s: %s", load, e.text);
}

bool rt_weights_find(const RtRun *run, char *path, size_t capacity)
{
    const RtModel *m = run->model;

    *path = 0;
    if (run->o.load)
        return find_given(m, run->o.load, path, capacity);
    if (!rt_find(m->tensors, m->n_tensors, RT_PARAMETER) &&
        !rt_find(m->tensors, m->n_tensors, RT_BUFFER))
        return true;
    if (!rt_path_of(m, ".safetensors", path, capacity))
        return rt_error(m, "the program's own path isn't known; give --load");
    if (access(path, F_OK) == 0)
        return true;
    if (m->init_std == 0)
        return rt_error(m, "%s: %s; give --load", path, strerror(errno));
    *path = 0;
    return true;
}

bool rt_weights_start(RtRun *run)
{
    char path[PATH_MAX];

    if (!rt_weights_find(run, path, sizeof path))
        return false;
    return *path ? rt_tensors_load(run, path, WEIGHTS, "the weights") : rt_weights_draw(run);
}
