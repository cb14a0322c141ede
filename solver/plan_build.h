// What the files of plans share: a graph on a mesh as an assignment problem.
#ifndef SHARDCC_SOLVER_PLAN_BUILD_H
#define SHARDCC_SOLVER_PLAN_BUILD_H

#include <stdatomic.h>

#include "solver/plan.h"

// ---- plan_build.c ----
typedef enum VariableKind {
    VARIABLE_NODE,     // the strategy of a node
    VARIABLE_STORAGE,  // the spec of a value at rest
    VARIABLE_COMPUTE,  // the spec in which several readers of one phase share a value
} VariableKind;

// A node of the problem: `id` is a first one.
typedef struct Variable {
    VariableKind kind;
    int32_t id;
    Phase phase;  // VARIABLE_COMPUTE
    int n;
    Spec *spec;  // [n]: its alternatives; of a node, strategies
} Variable;

typedef struct PlanProblem {
    Problem problem;
    int64_t unit;  // of its costs, in picoseconds
    TiedValues tied;
    Variable *variable;  // by node of the problem
    int n_variables, cap_variables;
    int *of_node, *of_value;  // by id of a first one: its variable
    int *of_compute_spec;     // by 3 · first value + phase: its variable, or -1
    Rule *rule;               // by first node
} PlanProblem;

// A list of specs, each once.
typedef struct Specs {
    Spec *spec;
    int n, cap;
} Specs;

void specs_add(Arena *a, Specs *l, Spec s);

// Why two variables cost something together.
typedef enum PairingKind {
    PAIRING_PRODUCE,  // a node, the rest of its output `operand`
    PAIRING_CONSUME,  // a rest or use, the node whose input `operand` it is
    PAIRING_COPY,     // a rest, a use or another rest
} PairingKind;

typedef struct Pairing {
    PairingKind pairing_kind;
    int a, b, operand;
    ValueId value;  // of the ways
    int64_t count;  // how often in a step
} Pairing;

typedef struct Builder {
    PlanProblem *q;
    const Graph *g;
    const Cluster *cluster;
    const Mesh *mesh;
    bool *is_bucketed;  // by ValueId
    Traffic traffic;
    const LiveRanges *live_ranges;  // NULL: memory doesn't count
    const PlanOptions *o;
    Pairing *pairing;
    int n_pairings, cap_pairings;
    int *slot, n_slots;  // hash of pairings, + 1
    Specs **operand;     // by first node, what its strategies make of its operands, once asked for
    Arena *arena, *scratch;
} Builder;

// How often what belongs to a phase is done in a step.
static inline int64_t times_of(const Builder *b, Phase phase)
{
    return phase == UPDATE ? 1 : b->o->accumulate;
}

// What use by a node's input belongs to: 3 · first value + phase.
int compute_spec_of_input(const PlanProblem *q, const Graph *g, NodeId n, int i);

// Costs are picoseconds of a step of `accumulate` micro-batches. Pins have the variables and specs
// that they need, but decide nothing. False after an error: sums of costs are too large.
bool plan_build(PlanProblem *q, const Graph *g, const Cluster *c, const Mesh *m,
                const PlanOptions *o, const LiveRanges *live_ranges, Arena *a, Diag *d);

// What is known of a problem before it is built: no plan costs less than its nodes do, each for
// itself; and about how many pairs it would have.
typedef struct MeshBound {
    Wide cost;
    int64_t pairs;
} MeshBound;

MeshBound plan_mesh_bound(const Graph *g, const Cluster *c, const Mesh *m, const PlanOptions *o);

// ---- plan_price.c ----
void plan_nodes(Builder *b);  // nodes of the problem, with their uses

// ---- plan_edges.c ----
void plan_edges(Builder *b);  // … and what pairs of them cost

// ---- plan_bytes.c ----
void plan_bytes(Builder *b);  // uses of all alternatives

// ---- plan.c ----
// What a choice of the problem says, in the arena; the mesh stays.
void plan_of_choice(const PlanProblem *q, const Graph *g, const int *choice, Plan *p, Arena *a);
// plan_find, on a mesh that the preset fits; with `enough`, only what is cheaper is looked for.
bool plan_find_below(const Graph *g, const Cluster *c, const Mesh *m, const PlanOptions *o,
                     const LiveRanges *live_ranges, Wide enough, Planned *to, Arena *a, Diag *d);

// ---- plan_pin.c ----
// Takes the mark from all alternatives of pinned variables but the pinned ones. False, with errors,
// where there is no such alternative.
bool pins_apply(const PlanProblem *q, const Graph *g, const Mesh *m, const PlanOptions *o,
                bool *keep, Diag *d);

// ---- plan_preset.c ----
// By MAX_FACTORS · variable + what an axis splits there: the roles in which it does (bits).
unsigned *preset_roles(const PlanProblem *q, const Graph *g, Arena *a);
// Does the preset fit the mesh? Then the roles that each axis may split.
bool preset_fits(const Preset *p, const Mesh *m, unsigned axes[MAX_AXES]);
// Takes the mark from all alternatives that split what has none of these roles. False where that
// leaves nothing somewhere.
bool preset_apply(const PlanProblem *q, const unsigned *role, const unsigned axes[MAX_AXES],
                  bool *keep);
// … and from those that don't split a product as the axes are to, where it can be. Returns an axis
// along which no product can, or -1.
int preset_demand(const PlanProblem *q, const Graph *g, const unsigned *role, const Mesh *m,
                  const unsigned axes[MAX_AXES], bool *keep);
// Those that are tried on a mesh, single ones first; those that do the same along all axes only on
// the first mesh.
int presets_of(const Mesh *m, bool is_first, Preset to[MAX_PRESETS]);

// ---- plan_step.c ----
// A choice of the problem that may be the plan.
typedef struct PlanChoice {
    int *choice;
    int preset;  // its place among those reported; -1: it is of none
    int64_t peak;
    int at;
    int64_t compute, communication;  // as priced
    int64_t step;                    // of its program; 0: there was no use in making that
    bool fits;                       // … into the memory of a rank
    bool is_tried, is_made;
    double seconds;  // that its program computes
} PlanChoice;

// What plan_choose tries first, tried ahead of it, and of n what it tries next, until that is
// enough.
void plan_try(const PlanProblem *q, const Graph *g, const Mesh *m, const LowerOptions *o,
              PlanChoice *c, int n, atomic_bool *is_enough);
// The place of the choice whose program takes the shortest step, of n. A choice is tried if prices
// don't say that it takes longer than the best so far; the first always is.
int plan_choose(const PlanProblem *q, const Graph *g, const Mesh *m, const LowerOptions *o,
                int threads, PlanChoice *c, int n);

// ---- plan_report.c ----
// Picoseconds of nodes, and of all that moves values.
void choice_price(const PlanProblem *q, const int *choice, int64_t *compute,
                  int64_t *communication);
// What a plan that was found costs and holds, and what stands next to it.
void plan_report(const PlanProblem *q, const Graph *g, Planned *to, Arena *a);

#endif
