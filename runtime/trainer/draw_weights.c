// Draws initial weights when there is no file of them.
#include <math.h>

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

// Indexes by the position in the whole tensor, so that weights don't depend on the sharding.
static void draw(RtRun *run, const RtTensor *t, int layer, const char *name)
{
    enum { CHUNK = 64 };
    int64_t place = rt_place(t, layer), bytes = rt_element_bytes(t), seed = run->o.seed;
    double chunk[CHUNK];
    uint64_t stream = name_stream(name);
    double std = run->model->init_std;

    for (RtRuns r = rt_runs(run->model, t, run->rt.shard); rt_runs_next(&r);)
        for (int64_t i = 0, n; i < r.count; i += n) {
            n = r.count - i < CHUNK ? r.count - i : CHUNK;
            for (int64_t k = 0; k < n; k++)
                rt_set(t->type, (char *)chunk + k * bytes,
                       t->rank >= 2 ? std * normal(seed, stream, r.whole + i + k) : t->is_one);
            run->rt.device->copy_in(&run->rt, place + (r.own + i) * bytes, chunk, n * bytes);
        }
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
