// The state of the passes over one graph.
#ifndef SHARDCC_COMPILE_INTERNAL_H
#define SHARDCC_COMPILE_INTERNAL_H

#include "compile/compile.h"
#include "ir/values/values.h"

// The indices of the passes over graphs, in their order.
enum {
#define GRAPH_PASS(name, needs, text) PASS_##name,
#define PLAN_PASS(name, text) PASS_##name,
#include "compile/passes.def"
    N_PASSES
};

// When a pass runs.
enum {
    LOSS = 1,      // if the graph has a loss, or is to get one
    TRAINING = 2,  // on the graph of training alone
    FUSING = 4,    // without --no-fuse
    ONE_RANK = 8,  // if one rank does it all
    SPLITS = 16,   // with micro-batches
    HALVES = 32,   // if --reduce asks for halves
};

typedef struct Run {
    Arena *a;
    const CompileRequest *q;
    const Target *target;
    OptimizerOptions optimizer;
    int last;              // index of the last pass to run
    const char *dump;      // the name of the pass whose graph is asked for; NULL: none was named
    bool is_early;         // without a loss, stop before `loss`, so that the text can still get one
    bool verifies;         // the graph's form, after each pass: a tenth of a compilation's time
    bool is_planned;       // a planner gets the training graph: it recomputes, as its plan says
    RecomputePolicy left;  // if is_planned: the policy that it applies
    bool is_left;          // recomputation is left to the planner, with what comes after it
    CompileStatus status;  // after an error, if it isn't COMPILE_WRONG
    ValueCheck *values;    // compares values before and after passes; NULL: it isn't asked for
    Graph *text[2];        // of a file .ir: its first graph, and its second one, if there is one
    bool is_training;      // the graph is one of training
    Weights *weights;      // gets the model's, if it isn't NULL
    Graph *g;
    DType half;      // the type of the model's parameters in its file; DT_NONE if it is no half
    Budget *budget;  // of the whole compilation
    Diag *d;
} Run;

// Takes the text's graph of training, or the forward-only one, which may have to be made of the
// former. Returns the index of the pass that made it; -1 after an error.
int enter_text(Run *r);

unsigned pass_needs(int pass);

bool has_loss(const Graph *g);
// Does the model behave differently in training, by batch statistics or dropout?
bool has_training_mode(const Graph *g);
// Reduces a graph with gradients or updates to its forward-only part: the nodes that the model's
// own outputs need.
void drop_training_only(Graph *g);

// May the loss of the model be summed over micro-batches? See the pass `micro`.
bool passes_may_split(const CompileRequest *q, const char *file);

#endif
