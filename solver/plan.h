// Plans: how a graph is spread over a mesh, chosen by the core, which knows nothing of graphs.
#ifndef SHARDCC_SOLVER_PLAN_H
#define SHARDCC_SOLVER_PLAN_H

#include "lower/lower.h"
#include "solver/solver.h"

typedef enum PinKind {
    PIN_STORAGE,   // of a value, where it rests
    PIN_COMPUTE,   // of a value, as a phase uses it
    PIN_STRATEGY,  // of a node
} PinKind;

// A decision made beforehand, for all that must be alike.
typedef struct Pin {
    PinKind kind;
    int32_t id;     // ValueId or NodeId
    Phase phase;    // of PIN_COMPUTE
    Spec spec;      // or Strategy
    bool is_given;  // of PIN_STORAGE: also where no strategy makes or wants it
} Pin;

// A known way to spread a step, or several, each over as many ranks as its size says (of one alone,
// 0: all), from slow axes to fast ones. Each axis of the mesh may then split what that way splits.
typedef struct PresetPart {
    int preset;  // its number
    int size;
} PresetPart;

typedef struct Preset {
    int n;
    PresetPart part[MAX_AXES];
} Preset;

// "fsdp", "ddp=2,megatron=4". The text is not trusted; false after an error.
bool preset_parse(const char *text, Preset *p, Diag *d);
void preset_print(const Preset *p, Text *t);

// What a node needs of a value that rests otherwise takes memory beside it while the node runs.
typedef enum Copies {
    COPIES_NONE,
    COPIES_SURE,  // those of products, rather too little: bounds hold for all programs
    COPIES_ALL,   // rather too much
} Copies;

typedef struct PlanOptions {
    int accumulate;  // micro-batches
    int64_t memory;  // bytes of a rank
    Copies copies;   // that count in them
    const Pin *pin;
    int n_pins;
    const Preset *preset;  // that the plan keeps to; NULL: none
    bool skips_presets;    // without the plans of all presets beside it …
    bool stops_early;      // … and the first one that is found
    // How programs are made of plans: where exchanges can go on beside computation, the plan is of
    // those that were found the one whose program takes the shortest step. NULL: the cheapest.
    const LowerOptions *program;
    SolveOptions solve;  // start and enough are the search's; prices may be of another limit
} PlanOptions;

// The best alternative to a decision with all others held, and what it costs more (picoseconds a
// step; less than nothing only where the core hasn't proved its answer).
typedef struct BestAlternative {
    bool is_there;
    Spec spec;  // or Strategy
    int64_t cost;
} BestAlternative;

// The cheapest plan that keeps to a preset.
typedef struct PresetPlan {
    Preset preset;
    Outcome outcome;
    int64_t cost;  // picoseconds a step, where there is one
    int64_t step;  // … as its program takes; 0: that wasn't made
    int64_t peak;  // bytes; where none fits, the least
} PresetPlan;

enum { MAX_PRESETS = 64 };  // that are reported

typedef struct Planned {
    Plan plan;  // where answer.choice isn't NULL
    // Costs are picoseconds a step, of the cheapest plan that was found; choice and bytes, which
    // are those of live_ranges_find, are the plan's.
    Answer answer;
    Wide step_bound;  // picoseconds: whatever goes on beside what, no plan's step is priced at less
    // Where answer.choice isn't NULL:
    int64_t compute, communication;      // picoseconds a step, as priced …
    int64_t step;                        // … and as the program takes them, or else their sum
    BestAlternative *next_storage_spec;  // by ValueId
    BestAlternative *next_compute_spec;  // by 3 · ValueId + phase, as Plan.use
    BestAlternative *strategy;           // by NodeId
    // Those that fit the mesh, single ones first; none where the plan has to keep to one.
    PresetPlan preset[MAX_PRESETS];
    int n_presets;
    // Meshes: searched; left out as none of their plans can be cheaper; and as they are too large,
    // which the bound doesn't cover.
    int n_searched, n_excluded, n_left_out;
} Planned;

// The cheapest plan on the mesh under the cost model, with what is proved of it; where nothing
// fits, the answer says so, and the plan is that of the lowest peak. False after an error: a pin
// that no strategy reaches.
bool plan_find(const Graph *g, const Cluster *c, const Mesh *m, const PlanOptions *o, Planned *to,
               Arena *a, Diag *d);

// The same over several meshes: the cheapest of all their plans. The bound is of all that weren't
// left out as too large.
bool plan_search(const Graph *g, const Cluster *c, const Mesh *mesh, int n, const PlanOptions *o,
                 Planned *to, Arena *a, Diag *d);

// The plan of the forward-only graph of a training graph that has a plan, on its mesh: parameters
// and buffers, by their names, rest as they do there; all else is as is cheapest. Layers that rest
// otherwise from one to the next lose their labels.
bool plan_predict(Graph *g, const Graph *training, const Plan *plan, const Cluster *c,
                  const PlanOptions *o, Planned *to, Arena *a, Diag *d);

#endif
