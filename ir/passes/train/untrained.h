// Parameters that the loss depends on and that get no gradient all the same.
#ifndef SHARDCC_IR_UNTRAINED_H
#define SHARDCC_IR_UNTRAINED_H

#include "ir/ir.h"

// Warns of the parameters of `g` that have no OUTPUT_GRADIENT though `loss` depends on them: every
// path to them goes through a node that stops gradients. Names those nodes. `needs`, of the values
// made before the gradients, is as of graph_learned.
void warn_untrained(const Graph *g, const bool *needs, int n_values, ValueId loss, Diag *d);

#endif
