// Plans: chooses how to shard a graph on a mesh. It builds an assignment problem, which solve()
// solves.
#ifndef SHARDCC_SOLVER_PLAN_H
#define SHARDCC_SOLVER_PLAN_H

#include "lower/lower.h"
#include "solver/assign/solver.h"

typedef enum PinKind {
    PIN_STORAGE,   // the storage spec of a value
    PIN_COMPUTE,   // the compute spec of a value in a phase
    PIN_STRATEGY,  // the strategy of a node
} PinKind;

// A decision that is given. It holds for all values or nodes that are tied to this one.
typedef struct Pin {
    PinKind kind;
    int32_t id;     // ValueId or NodeId
    Phase phase;    // of PIN_COMPUTE
    Spec spec;      // or Strategy
    bool is_given;  // of a spec: allowed even if no strategy makes or reads it
} Pin;

// One or several known rules to shard a step. Each covers the ranks that its size says (a single
// one may have size 0: all ranks), from slow axes to fast ones. Each axis of the mesh may split
// only what its part splits.
typedef struct PresetPart {
    int preset;  // index into the presets of preset.c
    int size;
} PresetPart;

typedef struct Preset {
    int n;
    PresetPart part[MAX_AXES];
} Preset;

// Parses "fsdp" or "ddp=2,megatron=4". The text is not trusted. False after an error.
bool preset_parse(const char *text, Preset *p, Diag *d);
void preset_print(const Preset *p, Text *t);

// If a node reads a value in another spec than its storage spec, the copy takes memory while the
// node runs. Copies says which copies count.
typedef enum Copies {
    COPIES_NONE,
    COPIES_SURE,  // copies for products: a lower bound, so bounds hold for all programs
    COPIES_ALL,   // all copies: an upper bound
} Copies;

// The Lagrange multiplier on the bytes that are live at one item between the forward and the
// backward loops, under any recomputation policy: the forward node that touches the most bytes, or
// the first backward node. A class with mixed policies counts the mean of what they keep.
typedef enum PricedItem { AT_LARGEST_FORWARD, AT_FIRST_BACKWARD, N_PRICED_ITEMS } PricedItem;

typedef struct BytePrice {
    double picoseconds;  // 0: bytes have no price
    PricedItem at;
} BytePrice;

// A graph that a policy of recomputation makes of the same model.
typedef struct OtherGraph {
    const Graph *g;
    const NodeId *node;  // by NodeId of g: the planned graph's node that it is, or that it repeats
} OtherGraph;

// The program of a plan as it is simulated.
typedef struct PlanTrial {
    bool is_made;                     // false: the plan can't be lowered
    bool fits;                        // in the memory of a rank
    double seconds, compute_seconds;  // of a step; of its computation
} PlanTrial;

// How programs are made of plans. Two threads may call it concurrently.
typedef struct PlanTrials {
    PlanTrial (*make)(const void *context, const Graph *g, const Plan *plan);
    const void *context;
} PlanTrials;

typedef struct PlanOptions {
    const Target *target;
    int accumulate;                  // micro-batches
    int64_t memory;                  // bytes of a rank, with those of its communicators
    ExchangeMemory exchange_memory;  // of them
    Copies copies;                   // copies that count in `memory`
    BytePrice byte_price;            // a part of the cost, and of nothing else
    // If there are others, a node costs the least that it costs in one of them, with all that
    // repeats it there. So the bound is one of all plans of these graphs.
    const OtherGraph *other;
    int n_others;
    const Pin *pin;
    int n_pins;
    int n_user_pins;       // moves keep to the first so many
    bool lists_moves;      // of the plan that is found
    const Preset *preset;  // the plan must follow it; NULL: none
    bool skips_presets;    // doesn't make a plan for every preset
    bool stops_early;      // takes the first plan that is found
    // If communication can overlap computation, the program of the plan takes the shortest step of
    // all plans found. NULL: the plan is the cheapest.
    const PlanTrials *trials;
    SolveOptions solve;  // the search sets start and enough; prices may be of another limit
} PlanOptions;

// Bytes of the cluster's devices that communicators of a target's programs take.
static inline ExchangeMemory exchange_memory_of(const Target *t, const Cluster *c)
{
    return t->has_communicators ? c->exchange_memory : (ExchangeMemory){0};
}

// The best alternative to a decision, all others being fixed, and what it costs more in picoseconds
// a step. That is negative only where the solver hasn't proved its answer.
typedef struct BestAlternative {
    bool is_there;
    Spec spec;  // or Strategy
    int64_t cost;
} BestAlternative;

// The cheapest plan that follows a preset.
typedef struct PresetPlan {
    Preset preset;
    Outcome outcome;
    int64_t cost;  // picoseconds a step, as priced, if a plan was found
    int64_t step;  // picoseconds that its program takes; 0: no program was made
    int64_t peak;  // bytes; if no plan fits, the lowest peak found
} PresetPlan;

// A decision that becomes another, all others being fixed. It holds for all tied values or nodes.
typedef struct PlanMove {
    Pin to;
    int rank;      // how many moves of the same decision cost less
    int64_t cost;  // picoseconds a step that the plan then costs more
} PlanMove;

enum { MAX_PRESETS = 64 };  // presets reported at most

typedef struct Planned {
    Plan plan;  // valid if answer.choice isn't NULL
    // cost and bound are picoseconds a step, of the cheapest plan that was found. choice, peak and
    // `at` are of `plan`; times are items of live_ranges_find.
    Answer answer;
    // Picoseconds: by the prices of nodes and edges, no plan's step is shorter, however much of its
    // communication overlaps with computation. A program may take less: prices don't know which
    // operands a fused group shares, nor which messages are sent together.
    Wide step_bound;
    // Valid if answer.choice isn't NULL:
    int64_t compute, communication;      // picoseconds a step, as priced
    int64_t step;                        // that the program takes, or else the sum of the two
    BestAlternative *next_storage_spec;  // by ValueId
    BestAlternative *next_compute_spec;  // by 3 · ValueId + phase, as Plan.compute_spec
    BestAlternative *strategy;           // by NodeId
    // All moves to which pins leave a choice, if the options list them. The best alternatives of
    // decisions come first, the cheapest for the bytes that they change leading.
    PlanMove *move;
    int n_moves;
    // Plans of the presets that fit the mesh, single presets first. None if the options give a
    // preset.
    PresetPlan preset[MAX_PRESETS];
    int n_presets;
    // How many meshes were searched, how many were excluded since none of their plans can be
    // cheaper, and how many were left out as too large. The bound doesn't cover those left out.
    int n_searched, n_excluded, n_left_out;
} Planned;

// Finds the cheapest plan on the mesh under the cost model, with a proved bound. If nothing fits,
// the answer says so and the plan has the lowest peak. False after an error, such as a pin that no
// strategy reaches.
bool plan_find(Arena *a, const Graph *g, const Cluster *c, const Mesh *m, const PlanOptions *o,
               Planned *to, Diag *d);

// The same over several meshes: the cheapest of all their plans. The bound covers all meshes except
// those left out as too large.
bool plan_search(Arena *a, const Graph *g, const Cluster *c, const Mesh *mesh, int n,
                 const PlanOptions *o, Planned *to, Diag *d);

#endif
