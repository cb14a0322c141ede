// Rounds parameters' gradients to halves where ranks add them up: each rank sends half of the
// bytes, and a sum has the rounding of all its parts.
#include <string.h>

#include "ir/passes/train/training.h"

bool reduce_add(Graph *g, int type, Diag *d)
{
    Trained *list;
    int n = trained_list(g, &list);

    g->diag = d;
    for (int i = 0; i < n; i++) {
        Value was = *value_of(g, list[i].gradient);
        if (was.dtype != F32)
            continue;
        g->block = list[i].block;
        g->source = graph_source(g, "reduce", value_of(g, list[i].parameter)->name);
        // Sums between two phases may join buckets.
        g->phase = was.producer ? producer(g, list[i].gradient)->phase : UPDATE;
        ValueId half = make_cast_parts(g, list[i].gradient, (DType)type);
        g->phase = UPDATE;
        ValueId v = make_cast(g, half, F32);
        if (!v)
            return false;
        value_edit(g, v)->own_rank = was.own_rank;
        memcpy(value_edit(g, v)->own_dim, was.own_dim, sizeof was.own_dim);
        g->outputs[list[i].order].value = v;
    }
    g->phase = FORWARD;
    g->block = (Block){0};
    graph_number_blocks(g);
    return true;
}
