// The passes over a graph, in their one order.
#ifndef SHARDCC_PASSES_H
#define SHARDCC_PASSES_H

#include "driver/driver.h"
#include "frontend/frontend.h"

// Imports the model and runs the passes that apply. `training` false: the forward-only graph. NULL
// after errors, or when --dump-after's pass was printed (`*dumped`).
Graph *passes_run(Arena *a, const Options *o, bool training, Weights *w, Diag *d, bool *dumped);

const char *const *pass_names(int *n);
bool pass_needs_loss(const char *name);
// Is it the split graph that --dump-after asks for?
bool dumps_split(const Options *o);

#endif
