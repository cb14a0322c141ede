// Plans of forward-only graphs.
#ifndef SHARDCC_FIT_PLAN_PREDICTIONS_H
#define SHARDCC_FIT_PLAN_PREDICTIONS_H

#include "compile/fit/fit_memory.h"

// A plan that was found, and what it depends on: the graph's blocks, the mesh, the storage specs of
// parameters and buffers, and the limit of memory.
typedef struct Prediction Prediction;
struct Prediction {
    const Graph *g;
    Mesh mesh;
    const Pin *pin;
    int n_pins;
    int64_t memory;
    bool stops_early;
    Planned planned;
    const Prediction *next;
};

// Those of one compilation.
struct Predictions {
    const Prediction *first;
};

// Finds the plan of a training graph's forward-only graph g on the mesh of `plan`. Parameters and
// buffers, matched by name, keep their storage specs of `plan`; all else is free. Layers whose
// storage specs differ lose their block labels and become no loop. A plan that was found before is
// taken from `all`, and a new one is added; NULL: each is searched for. `all` is of one model,
// cluster and request, and has the arena `a`. NULL after an error.
const Planned *plan_predict(Arena *a, Predictions *all, Graph *g, const Graph *training,
                            const Plan *plan, const Cluster *c, const PlanOptions *o, Diag *d);

#endif
