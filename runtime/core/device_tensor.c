// Reads and writes a model's tensors in the arena, through the device.
#include "runtime/device.h"

#include "runtime/core/core.h"

enum { MAX_BYTES = 8 };  // of an element

int64_t rt_tensor_at(const RtTensor *t, int layer) { return t->at + layer * t->step; }

void rt_fill_tensor(Rt *rt, const RtModel *m, const RtTensor *t, double value)
{
    char element[MAX_BYTES] = {0};
    int64_t bytes = value == 0 ? 1 : rt_element_bytes(t);  // zero is zero bytes in every type

    if (value != 0)
        rt_set(t->type, element, value);
    for (int l = 0; l < rt_layers(t); l++)
        rt->device->fill(rt, rt_tensor_at(t, l), element, bytes, rt_bytes(m, t) / bytes);
}

static void read_element(Rt *rt, const RtTensor *t, char to[MAX_BYTES])
{
    rt->device->copy_out(rt, to, rt_tensor_at(t, 0), rt_element_bytes(t));
}

double rt_get_scalar(Rt *rt, const RtTensor *t)
{
    char element[MAX_BYTES];

    read_element(rt, t, element);
    return rt_get(t->type, element);
}

int64_t rt_get_scalar_int(Rt *rt, const RtTensor *t)
{
    char element[MAX_BYTES];

    read_element(rt, t, element);
    return rt_get_int(t->type, element);
}

static void write_element(Rt *rt, const RtTensor *t, const char from[MAX_BYTES])
{
    rt->device->copy_in(rt, rt_tensor_at(t, 0), from, rt_element_bytes(t));
}

void rt_set_scalar(Rt *rt, const RtTensor *t, double value)
{
    char element[MAX_BYTES];

    rt_set(t->type, element, value);
    write_element(rt, t, element);
}

void rt_set_scalar_int(Rt *rt, const RtTensor *t, int64_t value)
{
    char element[MAX_BYTES];

    rt_set_int(t->type, element, value);
    write_element(rt, t, element);
}

// Copies n elements of another type to an offset in the arena.
static void copy_converted(Rt *rt, RtType to, int64_t to_at, RtType from, const char *x, int64_t n)
{
    enum { CHUNK = 4096 };
    char y[CHUNK * MAX_BYTES];
    int64_t to_bytes = rt_dtype_bytes(rt_type_name(to)),
            from_bytes = rt_dtype_bytes(rt_type_name(from));

    for (int64_t at = 0; at < n; at += CHUNK) {
        int64_t k = n - at < CHUNK ? n - at : CHUNK;
        rt_convert(to, y, from, x + at * from_bytes, k);
        rt->device->copy_in(rt, to_at + at * to_bytes, y, k * to_bytes);
    }
}

void rt_load_shard(Rt *rt, const RtModel *m, const RtTensor *t, int layer, RtType from,
                   const void *whole)
{
    int64_t bytes = rt_element_bytes(t), from_bytes = rt_dtype_bytes(rt_type_name(from)),
            at = rt_tensor_at(t, layer);

    for (RtRuns r = rt_runs(m, t, rt->shard); rt_runs_next(&r);) {
        const char *x = (const char *)whole + r.whole * from_bytes;
        if (from == t->type)
            rt->device->copy_in(rt, at + r.own * bytes, x, r.count * bytes);
        else
            copy_converted(rt, t->type, at + r.own * bytes, from, x, r.count);
    }
}
