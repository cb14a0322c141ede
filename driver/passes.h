// The passes over a graph, in their one order.
#ifndef SHARDCC_PASSES_H
#define SHARDCC_PASSES_H

#include "driver/driver.h"
#include "frontend/frontend.h"

// Imports the model and runs the passes that apply. If `training` is false, it makes the
// forward-only graph. Returns NULL after errors, or after printing the pass that --dump-after names
// (`*dumped`).
Graph *passes_run(Arena *a, const Options *o, bool training, Weights *w, Diag *d, bool *dumped);

const char *const *pass_names(int *n);
bool pass_needs_loss(const char *name);
// Does --dump-after name the graph that partition makes?
bool dumps_split(const Options *o);

#endif
