// Numbers at which programs go wrong though they are right on numbers of a usual size: large and
// small ones, zeros, rows of one number, ties, one number far above all others.
#include <math.h>
#include <string.h>

#include "tests/nets/judge.h"

// Draws a number from 0 to bound - 1.
static int64_t draw(uint64_t key, int64_t i, int64_t bound)
{
    return (int64_t)(hash_bytes(&i, sizeof i, key + 57) % (uint64_t)bound);
}

static void scale(Tensor *t, double factor)
{
    for (int64_t i = 0; i < tensor_count(t); i++)
        t->f[i] *= factor;
}

// The value's rank and dims as the net has them; passes refine the others.
static int rank_of(const Value *v) { return v->own_rank >= 0 ? v->own_rank : v->rank; }

static const int64_t *dims_of(const Value *v) { return v->own_rank >= 0 ? v->own_dim : v->dim; }

// The elements of the last dim.
static int64_t row_of(const Value *v) { return rank_of(v) ? dims_of(v)[rank_of(v) - 1] : 1; }

static void clear_rows(const Value *v, Tensor *t, uint64_t key)
{
    int64_t n = row_of(v);

    for (int64_t i = 0; i < tensor_count(t); i++)
        if (draw(key, i / n, 2))
            t->f[i] = 0;
}

// Every second sample is one number, the rows of the others are one each.
static void level_rows(const Value *v, Tensor *t)
{
    int64_t n = row_of(v), sample = rank_of(v) ? tensor_count(t) / dims_of(v)[0] : 1;

    for (int64_t i = 0; i < tensor_count(t); i++)
        t->f[i] = t->f[i / sample % 2 ? i / sample * sample : i / n * n];
}

static void round_to(Tensor *t, double step)
{
    for (int64_t i = 0; i < tensor_count(t); i++)
        t->f[i] = round(t->f[i] / step) * step;
}

void data_apply(DataKind kind, const Value *v, uint64_t key, Tensor *t)
{
    bool is_input = v->kind == VALUE_INPUT && strcmp(v->name, "t") != 0;
    bool is_bias = v->kind == VALUE_PARAMETER && rank_of(v) < 2;
    int64_t n = tensor_count(t);

    if (!t->f || !n || (!is_input && v->kind != VALUE_PARAMETER))
        return;
    if (kind == DATA_TIES)
        round_to(t, is_input ? 0.5 : 0.25);
    else if (kind == DATA_ZEROS && is_bias)
        scale(t, 0);
    if (!is_input)
        return;
    if (kind == DATA_LARGE || kind == DATA_LEVEL)
        scale(t, 300);
    if (kind == DATA_SMALL)
        scale(t, 1e-6);
    if (kind == DATA_ZEROS)
        clear_rows(v, t, key);
    if (kind == DATA_LEVEL)
        level_rows(v, t);
    if (kind == DATA_SPIKE)
        t->f[draw(key, 0, n)] = 1e4;
    for (int64_t i = 0; i < n; i++)
        t->f[i] = (double)(float)t->f[i];
}
