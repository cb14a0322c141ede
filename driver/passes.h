// The passes over a graph, in their one order, which lower/passes.def gives.
#ifndef SHARDCC_PASSES_H
#define SHARDCC_PASSES_H

#include "base/budget.h"
#include "driver/driver.h"
#include "frontend/frontend.h"

typedef struct Graphs {
    Graph *train;    // one step; NULL: the program only predicts
    Graph *predict;  // the forward-only graph
    // The policy that the planner applies to `train`, or chooses. None if there is no planner, as
    // for one rank without --memory, or if `train` recomputes already.
    RecomputePolicy recompute;
    bool chooses_recompute;
    int exit_status;  // after an error, if it isn't EXIT_USER: a wrong option, or a bug of ours
    Budget *budget;   // of the whole compilation
    Weights weights;  // of `train`, or of `predict` if there is no other
} Graphs;

// Reads the model and runs the passes that apply. A graph's text enters after the pass that it
// names. False after reporting errors.
bool passes_run(Arena *a, const Options *o, Graphs *to, Diag *d);

// May the loss of the model be summed over micro-batches? See the pass `micro`.
bool passes_may_split(const Options *o, const char *file);

// Prints the graphs as they are after a pass: that of training, and the forward-only graph if it
// differs. Read back, they give the same program. `pass` NULL: after the optimizer, or without a
// loss before one could be added. False after reporting errors, with the exit status.
bool passes_print(Arena *a, const Options *o, const char *pass, Text *t, int *exit_status, Diag *d);

// Does a step write running statistics? Those of a batch differ from those of its parts.
bool has_batch_statistics(const Graph *g);
// Does the model behave differently in training, by batch statistics or dropout?
bool has_training_mode(const Graph *g);
// Reduces a graph with gradients or updates to its forward-only part: the nodes that the model's
// own outputs need.
void drop_training_only(Graph *g);

const char *const *pass_names(int *n);
bool pass_needs_loss(const char *name);
// Does --dump-after name the graph that partition makes?
bool dumps_split(const Options *o);

#endif
