// The shards of a rank: chunk sizes, extents and their contiguous runs.
#include <string.h>

#include "runtime/core/core.h"

int64_t rt_chunk(const RtMesh *m, const RtCut *c)
{
    int64_t chunk = c->whole;

    for (int i = 0; i < c->n_axes; i++)
        chunk = (chunk + m->size[c->axis[i]] - 1) / m->size[c->axis[i]];
    return chunk;
}

int64_t rt_count(const RtModel *m, const RtTensor *t)
{
    int64_t n = t->n_parts ? 1 : rt_whole_count(t);

    for (int i = 0; i < t->n_parts; i++)
        n *= t->cut[i] ? rt_chunk(&m->mesh, &m->cuts[t->cut[i] - 1]) : t->part[i];
    return n;
}

int64_t rt_bytes(const RtModel *m, const RtTensor *t)
{
    return rt_count(m, t) * rt_element_bytes(t);
}

RtShard rt_shard_of(const RtMesh *m, const RtCut *c, int rank)
{
    RtShard p = {0, c->whole};
    int64_t chunk = c->whole;

    for (int i = 0; i < c->n_axes; i++)
        chunk =
            rt_shard_split(&p, chunk, m->size[c->axis[i]], rt_mesh_coordinate(m, c->axis[i], rank));
    return p;
}

RtShard *rt_shards(const RtModel *m, int rank)
{
    RtShard *p = rt_alloc((size_t)m->n_cuts, sizeof *p);

    for (int i = 0; i < m->n_cuts; i++)
        p[i] = rt_shard_of(&m->mesh, &m->cuts[i], rank);
    return p;
}

// Ranks with the same shard differ only along axes that don't split the tensor.
int rt_replica(const RtModel *m, const RtTensor *t, int rank, int *n)
{
    bool splits[RT_MAX_AXES] = {false};
    int before = 0;

    for (int i = 0; i < t->n_parts; i++)
        for (int k = 0; t->cut[i] && k < m->cuts[t->cut[i] - 1].n_axes; k++)
            splits[m->cuts[t->cut[i] - 1].axis[k]] = true;
    *n = 1;
    for (int a = 0; a < m->mesh.n_axes; a++)
        if (!splits[a]) {
            before = before * m->mesh.size[a] + rt_mesh_coordinate(&m->mesh, a, rank);
            *n *= m->mesh.size[a];
        }
    return before;
}

bool rt_is_first(const RtModel *m, const RtTensor *t, int rank)
{
    int n;

    return rt_replica(m, t, rank, &n) == 0;
}

// ---- runs ----

RtRuns rt_runs(const RtModel *m, const RtTensor *t, const RtShard *shard)
{
    RtRuns r = {.count = 1};
    int64_t whole = 1, own = 1;  // elements of the inner dims
    bool is_dense = true;

    if (t->n_parts == 0)
        r.count = rt_whole_count(t);
    for (int i = t->n_parts - 1; i >= 0; i--) {
        const RtCut *c = t->cut[i] ? &m->cuts[t->cut[i] - 1] : NULL;
        RtShard p = c ? shard[t->cut[i] - 1] : (RtShard){0, t->part[i]};
        r.whole += p.offset * whole;
        if (is_dense)
            r.count *= p.extent;
        else
            r.dim[r.n++] = (RtRunsDim){p.extent, whole, own};
        is_dense &= p.extent == t->part[i];
        whole *= t->part[i];
        own *= c ? rt_chunk(&m->mesh, c) : t->part[i];
    }
    r.is_ended = r.count == 0;
    for (int i = 0; i < r.n; i++)
        r.is_ended |= r.dim[i].extent == 0;
    return r;
}

bool rt_runs_next(RtRuns *r)
{
    if (r->is_ended || !r->is_begun) {
        r->is_begun = true;
        return !r->is_ended;
    }
    for (int i = 0; i < r->n; i++) {
        RtRunsDim *d = &r->dim[i];
        r->whole += d->whole;
        r->own += d->own;
        if (++d->at < d->extent)
            return true;
        r->whole -= d->at * d->whole;
        r->own -= d->at * d->own;
        d->at = 0;
    }
    r->is_ended = true;
    return false;
}
