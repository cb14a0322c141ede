// Declarations that the plan files share: the assignment problem of a graph on a mesh.
#ifndef SHARDCC_SOLVER_PLAN_BUILD_H
#define SHARDCC_SOLVER_PLAN_BUILD_H

#include <stdatomic.h>

#include "solver/plan/plan.h"

// ---- build_problem.c ----
typedef enum VariableKind {
    VARIABLE_NODE,     // the strategy of a node
    VARIABLE_STORAGE,  // the storage spec of a value
    VARIABLE_COMPUTE,  // the compute spec that several readers of one phase share
} VariableKind;

// A node of the problem. `id` is the first of the tied values or nodes.
typedef struct Variable {
    VariableKind kind;
    int32_t id;
    Phase phase;  // VARIABLE_COMPUTE
    int n;
    Spec *spec;  // [n]: its alternatives; strategies for VARIABLE_NODE
} Variable;

typedef struct PlanProblem {
    Problem problem;
    int64_t unit;  // picoseconds per unit of cost
    TiedValues tied;
    Variable *variable;  // [n_variables]: by node of the problem
    int n_variables, cap_variables;
    int *of_node, *of_value;  // by id of the first tied one: its variable
    int *of_compute_spec;     // by 3 · first tied value + phase: its variable, or -1
    Rule *rule;               // by first tied node
} PlanProblem;

// A list of distinct specs.
typedef struct Specs {
    Spec *spec;
    int n, cap;
} Specs;

void specs_add(Arena *a, Specs *l, Spec s);

// Why two variables have a cost together.
typedef enum PairingKind {
    PAIRING_PRODUCE,  // a = the node, b = the storage spec of its output `operand`
    PAIRING_CONSUME,  // a = a storage or compute spec, b = the node whose input `operand` reads it
    PAIRING_COPY,     // a = a storage spec, b = a compute spec or another storage spec
} PairingKind;

typedef struct Pairing {
    PairingKind pairing_kind;
    int a, b, operand;
    ValueId value;  // the value that is resharded
    int64_t count;  // how often it is resharded in a step
} Pairing;

typedef struct Builder {
    PlanProblem *q;
    const Graph *g;
    const Cluster *cluster;
    const Mesh *mesh;
    bool *is_bucketed;  // by ValueId
    Traffic traffic;
    const LiveRanges *live_ranges;  // NULL: the problem ignores memory
    const PlanOptions *o;
    const int64_t *times;  // by NodeId: how often a step runs the node
    Pairing *pairing;
    int n_pairings, cap_pairings;
    int *slot, n_slots;  // hash table: index of pairing + 1
    Specs **operand;     // by first tied node and operand: the specs that its strategies give
    Arena *arena, *scratch;
} Builder;

// The index 3 · first tied value + phase of the compute spec that input i of node n reads.
int compute_spec_of_input(const PlanProblem *q, const Graph *g, NodeId n, int i);

// Builds the problem. Costs are picoseconds of a step of `accumulate` micro-batches, in q->unit.
// Pinned decisions get the variables and specs that they need, but nothing is decided yet. False
// after an error: sums of costs are too large, or pricing has passed its bound.
bool plan_build(Arena *a, PlanProblem *q, const Graph *g, const Cluster *c, const Mesh *m,
                const PlanOptions *o, const LiveRanges *live_ranges, Diag *d);

// A bound and a size of a problem that isn't built yet. No plan costs less than the sum of its
// nodes' least costs. `pairs` is about the number of pairs that the problem would have.
typedef struct MeshBound {
    Wide cost;
    int64_t pairs;
} MeshBound;

MeshBound plan_mesh_bound(const Graph *g, const Cluster *c, const Mesh *m, const PlanOptions *o);

// ---- price.c ----
void plan_nodes(Builder *b);  // nodes of the problem, with their costs and bytes

// ---- edges.c ----
void plan_edges(Builder *b);  // edges of the problem, with the costs of pairs

// ---- bytes.c ----
void plan_bytes(Builder *b);  // the bytes of all alternatives by item

// ---- price_bytes.c ----
// Adds the price of bytes to the costs of all alternatives that hold some.
void plan_price_bytes(const Builder *b);

// ---- find_plan.c ----
// Writes the plan that a choice of the problem means, in the arena. Leaves p->mesh as it is.
void plan_of_choice(Arena *a, const PlanProblem *q, const Graph *g, const int *choice, Plan *p);
// plan_find on a mesh that the preset fits. If `enough` isn't 0, looks only for plans that are
// cheaper.
bool plan_find_below(Arena *a, const Graph *g, const Cluster *c, const Mesh *m,
                     const PlanOptions *o, const LiveRanges *live_ranges, Wide enough, Planned *to,
                     Diag *d);

// ---- pin.c ----
// Clears the mark of all alternatives of pinned variables except the pinned ones. False, with
// errors, where the pinned alternative doesn't exist.
bool pins_apply(const PlanProblem *q, const Graph *g, const Mesh *m, const PlanOptions *o,
                bool *keep, Diag *d);

// ---- preset.c ----
// By MAX_FACTORS · variable + factor or dim that an axis splits: the bits of the roles in which it
// is split.
unsigned *preset_roles(Arena *a, const PlanProblem *q, const Graph *g);
// Does the preset fit the mesh? Then axes[] gets the roles that each axis may split.
bool preset_fits(const Preset *p, const Mesh *m, unsigned axes[MAX_AXES]);
// Clears the mark of all alternatives that split, along some axis, a factor or dim with none of the
// axis's roles. False where a variable keeps no alternative.
bool preset_apply(const PlanProblem *q, const unsigned *role, const unsigned axes[MAX_AXES],
                  bool *keep);
// Also clears the mark of strategies of products that don't split the product in the roles of each
// axis, where the product can be so split. Returns an axis along which no product can be split, or
// -1.
int preset_demand(const PlanProblem *q, const Graph *g, const unsigned *role, const Mesh *m,
                  const unsigned axes[MAX_AXES], bool *keep);
// Writes the presets that are tried on a mesh, single presets first, and returns how many. Presets
// with the same roles for all axes are tried only on the first mesh.
int presets_of(const Mesh *m, bool is_first, Preset to[MAX_PRESETS]);

// ---- shortest_step.c ----
// A choice of the problem that may become the plan.
typedef struct PlanChoice {
    int *choice;
    int preset;  // index into Planned.preset; -1: of no preset
    int64_t peak;
    int at;
    int64_t compute, communication;  // picoseconds a step, as priced
    int64_t step;                    // picoseconds of its program; 0: no program was made
    bool fits;                       // its program fits in the memory of a rank
    bool is_tried, is_made;
    double seconds;  // computation of its program
} PlanChoice;

// Makes and simulates the programs of the choices that plan_choose would try first, until
// *is_enough is set or all n were tried. plan_choose then need not try these again.
void plan_try(const PlanProblem *q, const Graph *g, const Mesh *m, const PlanTrials *trials,
              PlanChoice *c, int n, atomic_bool *is_enough);
// The index, of n choices, of the one whose program takes the shortest step. A choice is tried
// unless its prices show that it takes longer than the best so far. The first is always tried.
int plan_choose(const PlanProblem *q, const Graph *g, const Mesh *m, const PlanTrials *trials,
                int threads, PlanChoice *c, int n);

// ---- price_report.c ----
// Picoseconds of computation, the nodes' costs, and of communication, the edges' costs.
void choice_price(const PlanProblem *q, const int *choice, int64_t *compute,
                  int64_t *communication);
// By alternative: the cost of a step with it, all else fixed, less the cost of the choice, in
// q->unit.
int64_t *choice_changes(Arena *a, const Problem *p, const int *choice);
// Fills in the price of the plan that was found and the best alternative to each of its decisions.
void plan_report(Arena *a, const PlanProblem *q, const Graph *g, Planned *to);

// ---- plan_moves.c ----
// Lists the moves of the plan that was found.
void plan_moves(Arena *a, const PlanProblem *q, const Graph *g, const PlanOptions *o, Planned *to,
                Diag *d);

#endif
