// The problem that the reductions of a certificate leave. This code shares nothing with presolve.
#ifndef SHARDCC_SOLVER_CHECK_H
#define SHARDCC_SOLVER_CHECK_H

#include "solver/assign/internal.h"

// The cost of an excluded pair. It is above all costs, whose sums stay below 2^126 in the finest
// unit.
#define COST_EXCLUDED ((Wide)1 << 126)

typedef struct ResidualVertex {
    int n;         // alternatives, as in the instance
    bool *is_out;  // by alternative: it was dropped
    Wide *cost;    // in the round's unit, with the cost of their bytes
    bool is_gone;
    int n_arcs, cap, *arc;  // arcs of this vertex; some may be gone
    // If merged: the vertex that it joined, and its alternative by that vertex's; else -1.
    int merged_into, *partner;
} ResidualVertex;

// The costs between two vertices, row by row for all alternatives of a, from the instance or from
// a step, in the round's unit.
typedef struct ResidualArc {
    int a, b;
    const int64_t *given;
    Wide *made;  // NULL: `given` holds; COST_EXCLUDED where forbidden
    bool is_gone, is_queued;
} ResidualArc;

typedef struct Residual {
    const Problem *p;
    Arena *arena;
    Diag *d;
    Wide unit;  // a cost of 1
    Wide base;  // cost of eliminated vertices that had no neighbour
    ResidualVertex *vertex;
    ResidualArc *arc;
    int n_arcs, cap;
    int *queue, n_queue, cap_queue;  // arcs to look at
    bool is_empty;                   // a vertex has no alternative left
} Residual;

// The pairs of nodes a and b that earlier rounds excluded: by alternative of a, then of b.
typedef struct ExcludedPairs {
    int a, b;
    bool *is_out;
} ExcludedPairs;

// Builds the problem in the round's unit. `cost` and `is_out` are by alternative; r keeps and
// changes them.
void residual_build(Arena *a, Residual *r, const Problem *p, Wide unit, Wide *cost, bool *is_out,
                    const ExcludedPairs *excluded, int n_excluded_pairs, Diag *d);
// Repeats one step of a certificate. False, with an error, where the step isn't valid.
bool residual_step(Residual *r, int64_t kind, int64_t node, int64_t other);
// ---- check.c ----
bool answer_wrong(Diag *d, const char *fmt, ...) PRINTF(2, 3);  // reports an error; false

// ---- check_full.c ----
// Drops the alternatives that hold more than the limit at some time even if all other vertices hold
// their least. False: no choice is within the limit.
bool residual_drop_full(Residual *r);

// ---- check_graph.c ----
ResidualArc *residual_find(const Residual *r, int64_t a, int64_t b);  // NULL if there is none
// The cost of alternative k of vertex `at`, an end of the arc, with alternative l of the other end.
Wide residual_arc_cost(const Residual *r, const ResidualArc *e, int at, int k, int l);

#endif
