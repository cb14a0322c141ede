// Specs: which are valid, and the chunks and shards that they give each rank.
#include <string.h>

#include "analyzer/sharding/internal.h"
#include "runtime/rt_shard_extent.h"

Spec spec_replicated(void)
{
    Spec s = {0};

    for (int a = 0; a < MAX_AXES; a++)
        s.at[a] = SPEC_REPLICATED;
    return s;
}

bool spec_equal(const Spec *a, const Spec *b) { return !memcmp(a, b, sizeof *a); }

int spec_partial(const Spec *s)
{
    for (int a = 0; a < MAX_AXES; a++)
        if (s->at[a] < SPEC_REPLICATED)
            return s->at[a];
    return SPEC_REPLICATED;
}

bool spec_is_valid(const Mesh *m, int rank, const Spec *s)
{
    unsigned levels[MAX_RANK] = {0};  // by dim: its levels as bits

    for (int a = 0; a < MAX_AXES; a++) {
        int at = s->at[a], level = s->level[a];
        if (at < SPEC_MIN || at >= rank || level < 0 || level >= MAX_AXES)
            return false;
        if ((a >= m->n_axes && at != SPEC_REPLICATED) || (at < 0 && level))
            return false;
        if (at < SPEC_REPLICATED && at != spec_partial(s))
            return false;
        if (at >= 0 && levels[at] & 1U << level)
            return false;
        if (at >= 0)
            levels[at] |= 1U << level;
    }
    for (int k = 0; k < rank; k++)
        if (levels[k] & (levels[k] + 1))  // a level is missing
            return false;
    return true;
}

int spec_axes(const Spec *s, int dim, int axis[MAX_AXES])
{
    int n = 0;

    for (int a = 0; a < MAX_AXES; a++)
        if (s->at[a] == dim) {
            axis[s->level[a]] = a;
            n++;
        }
    return n;
}

int64_t spec_chunk(const Mesh *m, const Spec *s, int dim, int64_t n)
{
    for (int a = 0; a < m->n_axes; a++)
        if (s->at[a] == dim)
            n = divide_up(n, m->size[a]);  // the order doesn't matter: ⌈⌈n/p⌉/q⌉ = ⌈n/(p·q)⌉
    return n;
}

void spec_shard(const Mesh *m, const Spec *s, int dim, int64_t n, int rank, int64_t *offset,
                int64_t *extent)
{
    int axis[MAX_AXES], n_axes = spec_axes(s, dim, axis);
    RtShard p = {0, n};
    int64_t chunk = n;

    for (int i = 0; i < n_axes; i++)
        chunk = rt_shard_split(&p, chunk, m->size[axis[i]], mesh_coordinate(m, axis[i], rank));
    *offset = p.offset;
    *extent = p.extent;
}

int64_t spec_bytes(const Mesh *m, const Spec *s, const Value *v)
{
    int64_t bytes = dtype_size(v->dtype);

    for (int k = 0; k < v->rank; k++)
        bytes *= spec_chunk(m, s, k, v->dim[k]);
    return bytes;
}
