// Plans of forward-only graphs.
#ifndef SHARDCC_FIT_PLAN_PREDICTIONS_H
#define SHARDCC_FIT_PLAN_PREDICTIONS_H

#include "solver/plan/plan.h"

// Finds the plan of a training graph's forward-only graph g on the mesh of `plan`. Parameters and
// buffers, matched by name, keep their storage specs of `plan`; all else is free. Layers whose
// storage specs differ lose their block labels and become no loop.
bool plan_predict(Arena *a, Graph *g, const Graph *training, const Plan *plan, const Cluster *c,
                  const PlanOptions *o, Planned *to, Diag *d);

#endif
