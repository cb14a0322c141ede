// Draws numbers for the values of a net.
#include <math.h>
#include <string.h>

#include "tests/nets/judge.h"

static bool ends_in(const char *s, const char *end)
{
    size_t n = strlen(s), k = strlen(end);

    return n >= k && !strcmp(s + n - k, end);
}

// Draws a number from -1 to 1.
static double unit(uint64_t seed, int64_t i)
{
    uint64_t key[2] = {seed, (uint64_t)i};

    return (double)(hash_bytes(key, sizeof key, 4) >> 20) / (double)(UINT64_C(1) << 43) - 1;
}

// The states of a scaled loss. This step is the third one, as hyper_of says.
static const struct {
    const char *name;
    double is;
} scale_states[] = {{"loss_scale", 16}, {"good_steps", 1}, {"optimizer_step", 2}};

static double number_of(const Value *v, uint64_t seed, int64_t i)
{
    double x = unit(seed, i);
    int rank = v->own_rank >= 0 ? v->own_rank : v->rank;

    for (int k = 0; k < COUNT(scale_states) && v->kind == VALUE_STATE; k++)
        if (!strcmp(v->name, scale_states[k].name))
            return scale_states[k].is;
    if (v->kind == VALUE_STATE || ends_in(v->name, "var"))
        return 0.6 + 0.5 * x;
    if (ends_in(v->name, "scale"))
        return 1 + 0.4 * x;
    if (v->kind != VALUE_PARAMETER || rank < 2)
        return (v->kind == VALUE_INPUT ? 1.4 : 0.6) * x;
    return 1.6 * x / sqrt(1 + sqrt((double)value_count(v)) / 2);
}

Tensor numbers_of(Arena *a, const Value *v, const Subject *s, int micro, int64_t bound)
{
    Tensor t = tensor_new(a, v->dtype, v->rank, v->dim);
    uint64_t key = hash_bytes(v->name, strlen(v->name), s->numbers + 31);

    if (v->kind == VALUE_INPUT)
        key += (uint64_t)micro;
    for (int64_t i = 0; i < tensor_count(&t); i++) {
        if (t.f)
            t.f[i] = (double)(float)number_of(v, key, i);
        else
            t.i[i] = (int64_t)((unit(key, i) + 1) / 2.001 * (double)(bound ? bound : 3));
    }
    data_apply(s->data, v, key, &t);
    return t;
}

static Tensor hyper_of(Arena *a, const Value *v, int micro)
{
    Tensor t = tensor_new(a, v->dtype, v->rank, v->dim);
    double x = !strcmp(v->name, "step")         ? 3
               : !strcmp(v->name, "step_index") ? 2
               : !strcmp(v->name, "seed")       ? 11
               : !strcmp(v->name, "micro")      ? micro
                                                : v->fill;

    if (t.f)
        t.f[0] = x;
    else
        t.i[0] = (int64_t)x;
    return t;
}

// Tokens select rows of a table of five.
static int64_t bound_of(const Subject *s, const char *name)
{
    return !strcmp(name, "t") ? s->classes : !strcmp(name, "tokens") ? 5 : 0;
}

Tensor *numbers_all(Arena *a, const Graph *g, const Subject *s, int micro)
{
    Tensor *t = arena_array(a, Tensor, g->n_values);

    for (ValueId v = 1; v < g->n_values; v++) {
        const Value *x = value_of(g, v);
        if (x->producer || x->kind == VALUE_CONSTANT || x->kind == VALUE_ZERO || !x->name)
            continue;
        t[v] = x->kind == VALUE_HYPER ? hyper_of(a, x, micro)
                                      : numbers_of(a, x, s, micro, bound_of(s, x->name));
    }
    return t;
}

static Tensor *draw(Arena *a, const void *subject, const Graph *g, int micro)
{
    return numbers_all(a, g, subject, micro);
}

Feed numbers_feed(const Subject *s) { return (Feed){draw, s}; }
