// Draws initial weights when there is no file of them.
#include <math.h>
#include <stdlib.h>

#include "runtime/rt_philox.h"
#include "runtime/trainer/files.h"

// See shuffle.c.
static const int64_t INIT_STREAM = -1;

// The random stream of a layer, from its name: independent of the layout of the program.
static uint64_t name_stream(const char *name)
{
    uint64_t x = 0;

    for (; *name; name++)
        x = rt_mix(x + (unsigned char)*name);
    return x;
}

// The Box-Muller transform (1958). A pair of normals uses neighbouring numbers of the stream.
static double normal(int64_t seed, uint64_t stream, int64_t i)
{
    const double pi = 3.14159265358979323846;
    int64_t site = (int64_t)(stream >> 32), layer = (int64_t)(uint32_t)stream;
    double u = rt_uniform(seed, INIT_STREAM, site, layer, i | 1);
    double v = rt_uniform(seed, INIT_STREAM, site, layer, i & ~(int64_t)1);
    double r = sqrt(-2 * log(1 - u));

    return i & 1 ? r * sin(2 * pi * v) : r * cos(2 * pi * v);
}

// Elements of a tensor to be drawn, from element `first` of the whole tensor on: so weights don't
// depend on the sharding.
typedef struct Drawing {
    const RtTensor *tensor;
    double std;
    int64_t seed, first;
    uint64_t stream;
    char *to;
} Drawing;

static void draw_part(void *context, int64_t first, int64_t last)
{
    const Drawing *d = context;
    const RtTensor *t = d->tensor;
    int64_t bytes = rt_element_bytes(t);

    for (int64_t i = first; i < last; i++)
        rt_set(t->type, d->to + i * bytes,
               t->rank >= 2 ? d->std * normal(d->seed, d->stream, d->first + i) : t->is_one);
}

static void draw(RtRun *run, const RtTensor *t, int layer, const char *name)
{
    enum { CHUNK = 1 << 17, MIN_PART = 1 << 10 };  // elements; a thread is worth the second
    int64_t at = rt_tensor_at(t, layer), bytes = rt_element_bytes(t);
    char *chunk = rt_alloc(CHUNK, (size_t)bytes);
    Drawing d = {t, run->model->init_std, run->o.seed, 0, name_stream(name), chunk};

    for (RtRuns r = rt_runs(run->model, t, run->rt.shard); rt_runs_next(&r);)
        for (int64_t i = 0, n; i < r.count; i += n) {
            n = r.count - i < CHUNK ? r.count - i : CHUNK;
            d.first = r.whole + i;
            rt_parallel(n < MIN_PART ? 1 : run->share.threads, n, draw_part, &d);
            run->rt.device->copy_in(&run->rt, at + (r.own + i) * bytes, chunk, n * bytes);
        }
    free(chunk);
}

bool rt_weights_draw(RtRun *run)
{
    static const unsigned weights = 1u << RT_PARAMETER | 1u << RT_BUFFER;
    const RtModel *m = run->model;
    bool ok = true;

    for (int i = 0; i < m->n_tensors; i++)
        if (weights >> m->tensors[i].role & 1 && m->tensors[i].role != RT_PARAMETER)
            ok = rt_error(m, "the trainer can't draw '%s'; give --load", m->tensors[i].name);
    RtEntries e = rt_entries(m->tensors, m->n_tensors, weights);
    for (int i = 0; i < e.n && ok; i++)
        draw(run, e.tensor[i], e.layer[i], e.item[i].name);
    rt_entries_free(&e);
    return ok;
}
