// Initial weights where there is no file of them.
#include <math.h>

#include "runtime/internal.h"
#include "runtime/rt_philox.h"

// See shuffle.c.
static const int64_t INIT_STREAM = -1;

// Box and Muller 1958. Both numbers of a pair come from neighbours in the stream.
static double normal(int64_t seed, int64_t tensor, int64_t layer, int64_t i)
{
    const double pi = 3.14159265358979323846;
    double u = rt_uniform(seed, INIT_STREAM, tensor, layer, i | 1);
    double v = rt_uniform(seed, INIT_STREAM, tensor, layer, i & ~(int64_t)1);
    double r = sqrt(-2 * log(1 - u));

    return i & 1 ? r * sin(2 * pi * v) : r * cos(2 * pi * v);
}

// By the place in the whole: the same weights however ranks share them.
static void draw_layer(const RtRun *run, int tensor, int layer, char *to)
{
    const RtTensor *t = &run->model->tensors[tensor];
    int64_t bytes = rt_element_bytes(t);

    for (RtRuns r = rt_runs(run->model, t, run->rt.piece); rt_runs_next(&r);)
        for (int64_t i = 0; i < r.count; i++)
            rt_set(t->type, to + (r.own + i) * bytes,
                   run->model->init_std * normal(run->o.seed, tensor, layer, r.whole + i));
}

static bool draw(const RtRun *run, int tensor)
{
    const RtTensor *t = &run->model->tensors[tensor];
    char *base = run->arena.base;

    if (t->init == RT_INIT_NONE)
        return rt_error(run->model, "'%s' can't be drawn; give --load", t->name);
    if (t->init != RT_INIT_NORMAL)
        rt_fill_tensor(run->model, t, base, t->init == RT_INIT_ONE ? 1 : 0);
    for (int l = 0; l < rt_layers(t) && t->init == RT_INIT_NORMAL; l++)
        draw_layer(run, tensor, l, rt_place(t, l, base));
    return true;
}

bool rt_weights_draw(RtRun *run)
{
    const RtModel *m = run->model;
    bool ok = true;

    for (int i = 0; i < m->n_tensors; i++)
        if (m->tensors[i].role == RT_PARAMETER || m->tensors[i].role == RT_BUFFER)
            ok &= draw(run, i);
    return ok;
}
