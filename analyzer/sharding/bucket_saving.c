// The saving of small steps that are joined into a bucket. A bucket holds as many bytes as take the
// time of one latency. A step in it pays for all of its bytes, but only its share of the latency.
// The share counts as at least 1/8, because buckets are seldom full.
#include <math.h>

#include "analyzer/sharding/internal.h"

double bucket_share(const Mesh *m, ReshardKind kind, int axis, int64_t bytes)
{
    static const double MAX_BUCKET_BYTES = 1 << 25;  // bytes, for links without a cost per byte
    double bucket = fmin(m->alpha[axis] / fmax(m->beta[axis], 1e-30), MAX_BUCKET_BYTES);
    double whole = (double)bytes * (kind == RESHARD_ALL_GATHER ? m->size[axis] : 1);
    bool is_bucketed =
        kind == RESHARD_ALL_GATHER || kind == RESHARD_ALL_REDUCE || kind == RESHARD_REDUCE_SCATTER;

    return is_bucketed && whole < bucket ? whole / bucket : 1;
}

void reshard_step_bucket(const Mesh *m, ReshardStep *s)
{
    double latency = (double)reshard_step_picoseconds(m, s->kind, 1U << s->axis, 0, 0, 0);
    double share = bucket_share(m, s->kind, s->axis, s->bytes);

    s->bucket_saving = llround(latency * (1 - fmax(share, 1.0 / 8)));
    s->picoseconds -= s->bucket_saving;
}

// A later phase doesn't make a collective wait: its readers have time. Values that no node makes
// are there from the beginning.
bool *values_bucketed(Arena *a, const Graph *g, const TiedValues *k)
{
    bool *is_bucketed = arena_array(a, bool, g->n_values),
         *is_read_in_phase = arena_array(a, bool, g->n_values);

    for (NodeId n = 1; n < g->n_nodes; n++)
        for (int i = 0; i < g->nodes[n].n_in; i++) {
            ValueId v = g->nodes[n].in[i];
            NodeId made = value_of(g, v)->producer;
            is_read_in_phase[k->value[v]] |= made && g->nodes[made].phase == g->nodes[n].phase;
        }
    for (ValueId v = 1; v < g->n_values; v++)
        is_bucketed[v] = !is_read_in_phase[k->value[v]];
    return is_bucketed;
}
