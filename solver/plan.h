// Plans: how a graph is spread over a mesh, chosen by the core, which knows nothing of graphs.
#ifndef SHARDCC_SOLVER_PLAN_H
#define SHARDCC_SOLVER_PLAN_H

#include "analyzer/analyzer.h"
#include "solver/solver.h"

typedef enum PinKind {
    PIN_REST,      // of a value, where it rests
    PIN_USE,       // of a value, as a phase uses it
    PIN_STRATEGY,  // of a node
} PinKind;

// A decision made beforehand, for all that must be alike.
typedef struct Pin {
    PinKind kind;
    int32_t id;     // ValueId or NodeId
    Phase phase;    // of PIN_USE
    Spec spec;      // or Strategy
    bool is_given;  // of PIN_REST: also where no strategy makes or wants it
} Pin;

typedef struct PlanOptions {
    int accumulate;  // micro-batches
    int64_t memory;  // bytes of a rank
    const Pin *pin;
    int n_pins;
    SolveOptions solve;
} PlanOptions;

// What holds memory.
typedef enum Holder {
    HOLDS_PARAMETERS,  // and buffers
    HOLDS_STATES,      // of the optimizer
    HOLDS_GRADIENTS,
    HOLDS_ACTIVATIONS,  // all else that is made
    HOLDS_COPIES,       // of values that are used otherwise than they rest
    HOLDERS
} Holder;

// The best alternative to a decision with all others held, and what it costs more (picoseconds a
// step; less than nothing only where the core hasn't proved its answer).
typedef struct Next {
    bool is_there;
    Spec spec;  // or Strategy
    int64_t cost;
} Next;

typedef struct Planned {
    Plan plan;      // where answer.choice isn't NULL
    Answer answer;  // costs are picoseconds a step; at: the node at which most is held
    // Where answer.choice isn't NULL:
    int64_t compute, communication;  // picoseconds a step, which add up to the cost
    int64_t held[HOLDERS];           // bytes when most is held
    Next *rest;                      // by ValueId
    Next *use;                       // by 3 · ValueId + phase, as Plan.use
    Next *strategy;                  // by NodeId
} Planned;

// The cheapest plan on the mesh under the cost model, with what is proved of it; where nothing
// fits, the answer says so, and the plan is that of the lowest peak. False after an error: a pin
// that no strategy reaches.
bool plan_find(const Graph *g, const Cluster *c, const Mesh *m, const PlanOptions *o, Planned *to,
               Arena *a, Diag *d);

#endif
