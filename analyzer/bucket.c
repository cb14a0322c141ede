// What small steps cost that are joined to one: each its bytes, and of the latency as much as it is
// of a bucket, the bytes that take as long as that; but no less than of one of eight, as buckets
// are seldom full.
#include <math.h>

#include "analyzer/internal.h"

double bucket_share(const Mesh *m, StepKind kind, int axis, int64_t bytes)
{
    static const double MOST = 1 << 25;  // bytes, of links that are all latency
    double bucket = fmin(m->alpha[axis] / fmax(m->beta[axis], 1e-30), MOST);
    double whole = (double)bytes * (kind == STEP_ALL_GATHER ? m->size[axis] : 1);
    bool joins = kind == STEP_ALL_GATHER || kind == STEP_ALL_REDUCE || kind == STEP_REDUCE_SCATTER;

    return joins && whole < bucket ? whole / bucket : 1;
}

void step_join(const Mesh *m, Step *s)
{
    double latency = (double)step_picoseconds(m, s->kind, 1U << s->axis, 0, 0, 0);
    double share = bucket_share(m, s->kind, s->axis, s->bytes);

    s->spared = llround(latency * (1 - fmax(share, 1.0 / 8)));
    s->picoseconds -= s->spared;
}

// Readers of a later phase aren't waited for; nor is what no node makes waited with.
bool *values_join(const Graph *g, const Alike *k, Arena *a)
{
    bool *joins = arena_array(a, bool, g->n_values), *waits = arena_array(a, bool, g->n_values);

    for (NodeId n = 1; n < g->n_nodes; n++)
        for (int i = 0; i < g->nodes[n].n_in; i++) {
            ValueId v = g->nodes[n].in[i];
            NodeId made = value_of(g, v)->producer;
            waits[k->value[v]] |= made && g->nodes[made].phase == g->nodes[n].phase;
        }
    for (ValueId v = 1; v < g->n_values; v++)
        joins[v] = !waits[k->value[v]];
    return joins;
}
