// Lists the single steps from a spec, with the bytes that they move and the time that they take.
#include <math.h>

#include "analyzer/sharding/internal.h"

static const double MAX_SUMMABLE_PICOSECONDS = 1e17;  // sums of a few don't overflow

static int64_t times(int64_t a, int64_t b)
{
    int64_t product;

    return mul_size(a, b, &product) && product < MAX_SUMMABLE_BYTES ? product : MAX_SUMMABLE_BYTES;
}

// ---- specs ----

// Is the axis the innermost on its dim?
static bool is_innermost(const Spec *s, int axis)
{
    for (int a = 0; a < MAX_AXES; a++)
        if (s->at[a] == s->at[axis] && s->level[a] > s->level[axis])
            return false;
    return true;
}

// The spec after an axis moves to `to` (a dim, or SPEC_…). Before, the axis was innermost on its
// dim, or split nothing.
static Spec moved(const Spec *s, int axis, int to)
{
    int axes[MAX_AXES];
    Spec after = *s;

    after.level[axis] = (int8_t)(to >= 0 ? spec_axes(s, to, axes) : 0);
    after.at[axis] = (int8_t)to;
    return after;
}

static Spec exchanged(const Spec *s, int a, int b)
{
    Spec after = *s;

    after.at[a] = s->at[b];
    after.level[a] = s->level[b];
    after.at[b] = s->at[a];
    after.level[b] = s->level[a];
    return after;
}

// ---- bytes ----

// The bytes that one rank sends another: the intersection of its chunks under the two specs.
static int64_t common_bytes(const Mesh *m, const Value *v, const Spec *a, const Spec *b)
{
    int64_t bytes = dtype_size(v->dtype);

    for (int k = 0; k < v->rank; k++) {
        int64_t x = spec_chunk(m, a, k, v->dim[k]), y = spec_chunk(m, b, k, v->dim[k]);
        bytes = times(bytes, x < y ? x : y);
    }
    return bytes;
}

// An axis splits a dim into shards. Are they of the same size, and consecutive in a buffer of the
// whole?
static bool is_in_place(const Mesh *m, const Value *v, const Spec *whole, const Spec *split,
                        int axis)
{
    int dim = split->at[axis];
    int64_t size = spec_chunk(m, whole, dim, v->dim[dim]);

    for (int k = 0; k < dim; k++)
        if (spec_chunk(m, whole, k, v->dim[k]) != 1)
            return false;
    return size == m->size[axis] * spec_chunk(m, split, dim, v->dim[dim]);
}

// ---- steps ----

static ReshardKind kind_of(int from, int to)
{
    if (from == SPEC_REPLICATED)
        return to >= 0 ? RESHARD_SLICE : RESHARD_MASK;
    if (from >= 0)
        return to >= 0 ? RESHARD_ALL_TO_ALL : RESHARD_ALL_GATHER;
    return to >= 0 ? RESHARD_REDUCE_SCATTER : RESHARD_ALL_REDUCE;
}

// Written bytes count twice, because the cache fetches a line before it is written.
int64_t reshard_step_picoseconds(const Mesh *m, ReshardKind kind, unsigned axes, double sent,
                                 double read, double written)
{
    double seconds =
        collective_seconds(m, kind, axes, sent) + m->launch + m->copy * (read + 2 * written);

    return (int64_t)(fmin(seconds * 1e12, MAX_SUMMABLE_PICOSECONDS) + 0.5);
}

// Shards that are staged are read and written once more.
static void set_cost(const Mesh *m, const Value *v, const Spec *before, ReshardStep *s,
                     unsigned axes)
{
    double read = (double)spec_bytes(m, before, v) + (double)s->staging;
    double written = (double)spec_bytes(m, &s->after, v) + (double)s->staging;

    s->picoseconds = reshard_step_picoseconds(m, s->kind, axes, (double)s->bytes, read, written);
}

static bool is_free(const Mesh *m, const Value *v, const Spec *before, const ReshardStep *s)
{
    return s->kind == RESHARD_SLICE && is_sliced_in_place(v) &&
           is_in_place(m, v, before, &s->after, s->axis);
}

static ReshardStep reshard_step_move(const Mesh *m, const Value *v, const Spec *before, int axis,
                                     int to)
{
    int from = before->at[axis], p = m->size[axis];
    ReshardStep s = {.kind = kind_of(from, to),
                     .axis = axis,
                     .other = -1,
                     .from_dim = from,
                     .to_dim = to,
                     .after = moved(before, axis, to)};
    int64_t shard_bytes = common_bytes(m, v, before, &s.after), all = times(shard_bytes, p);

    bool sends_shards = from != SPEC_REPLICATED && to >= 0, receives_shards = from >= 0;
    if (from != SPEC_REPLICATED)
        s.bytes = sends_shards ? all : shard_bytes;
    if (sends_shards && !is_in_place(m, v, before, &s.after, axis))
        s.staging += all;
    if (receives_shards && !is_in_place(m, v, &s.after, before, axis))
        s.staging += all;
    if (!is_free(m, v, before, &s))
        set_cost(m, v, before, &s, 1U << axis);
    return s;
}

// Do the shards of a dim stay the same if axis `a` moves from just outside `b` to just inside? With
// p and q ranks, they do if both orders give p · q consecutive chunks of one size.
static bool commutes(const Mesh *m, const Value *v, const Spec *s, int a, int b)
{
    int dim = s->at[a], p = m->size[a], q = m->size[b];

    if (dim < 0 || s->at[b] != dim || s->level[b] != s->level[a] + 1)
        return false;
    int64_t n = v->dim[dim];
    for (int o = 0; o < m->n_axes; o++)
        if (s->at[o] == dim && s->level[o] < s->level[a])
            n = divide_up(n, m->size[o]);
    int64_t chunk = divide_up(n, (int64_t)p * q);
    return n <= 1 || (divide_up(n, p) == q * chunk && divide_up(n, q) == p * chunk);
}

static ReshardStep reshard_step_permute(const Mesh *m, const Value *v, const Spec *s, int a, int b)
{
    ReshardStep step = {.kind = RESHARD_PERMUTE,
                        .axis = a,
                        .other = b,
                        .from_dim = s->at[a],
                        .to_dim = s->at[b],
                        .after = exchanged(s, a, b),
                        .bytes = spec_bytes(m, s, v)};

    set_cost(m, v, s, &step, 1U << a | 1U << b);
    return step;
}

static int reshard_permutes_from(const Mesh *m, const Value *v, const Spec *s, ReshardStep *step)
{
    int n = 0;

    for (int a = 0; a < m->n_axes; a++)
        for (int b = a + 1; b < m->n_axes; b++) {
            bool differ = s->at[a] != s->at[b] || s->level[a] != s->level[b];
            if (differ && (m->size[a] == m->size[b] || commutes(m, v, s, a, b)))
                step[n++] = reshard_step_permute(m, v, s, a, b);
            else if (commutes(m, v, s, b, a))
                step[n++] = reshard_step_permute(m, v, s, b, a);
        }
    return n;
}

int reshard_steps_from(const Mesh *m, const Value *v, const Spec *s, unsigned partials,
                       ReshardStep step[MAX_RESHARD_STEPS])
{
    int n = 0, parts = spec_partial(s);

    for (int a = 0; a < m->n_axes; a++) {
        int from = s->at[a];
        if (from >= 0 && !is_innermost(s, a))
            continue;
        if (from != SPEC_REPLICATED)
            step[n++] = reshard_step_move(m, v, s, a, SPEC_REPLICATED);
        for (int to = 0; to < v->rank; to++)
            if (to != from)
                step[n++] = reshard_step_move(m, v, s, a, to);
        for (int to = SPEC_MIN; from == SPEC_REPLICATED && to <= SPEC_SUM; to++)
            if (partials & PARTIAL_BIT(to) && (parts == SPEC_REPLICATED || parts == to))
                step[n++] = reshard_step_move(m, v, s, a, to);
    }
    return n + reshard_permutes_from(m, v, s, step + n);
}
