// What the reductions of a certificate leave of a problem, in code that shares nothing with
// presolve.
#ifndef SHARDCC_SOLVER_CHECK_H
#define SHARDCC_SOLVER_CHECK_H

#include "solver/internal.h"

// Above all costs: those of an instance come to less than 2^126 in the finest unit.
#define COST_EXCLUDED ((Wide)1 << 126)

typedef struct ResidualVertex {
    int n;         // alternatives, as in the instance
    bool *is_out;  // of these
    Wide *cost;    // in the round's unit, with what their bytes cost
    bool is_gone;
    int n_arcs, cap, *arc;      // some may be gone
    int merged_into, *partner;  // merged: where to, and its alternative by the holder's; else -1
} ResidualVertex;

// The costs between two points, row by row for all alternatives of a: the instance's, or those that
// a step made, in the round's unit.
typedef struct ResidualArc {
    int a, b;
    const int64_t *given;
    Wide *made;  // NULL: given; BARRED where forbidden
    bool is_gone, is_queued;
} ResidualArc;

typedef struct Residual {
    const Problem *p;
    Arena *arena;
    Diag *d;
    Wide unit;  // a cost of 1
    Wide base;  // of points that are gone and left it to nobody
    ResidualVertex *vertex;
    ResidualArc *arc;
    int n_arcs, cap;
    int *queue, n_queue, cap_queue;  // bonds to look at
    bool is_empty;                   // a point has no alternative left
} Residual;

// Pairs that earlier rounds ruled out: by alternative of a, then of b.
typedef struct ExcludedPairs {
    int a, b;
    bool *is_out;
} ExcludedPairs;

// The problem in the round's unit; `cost` and `is_out` are by alternative, and become its own.
void residual_build(Residual *r, const Problem *p, Wide unit, Wide *cost, bool *is_out,
                    const ExcludedPairs *excluded, int n_excluded_pairs, Arena *a, Diag *d);
// One step of a certificate. False, with an error, where it can't be gone.
bool residual_step(Residual *r, int64_t kind, int64_t node, int64_t other);
// ---- check.c ----
bool answer_wrong(Diag *d, const char *fmt, ...) PRINTF(2, 3);  // an error; false

// ---- check_full.c ----
// Marks what, with the least that all others hold, holds more than the limit at some time. False:
// all choices do.
bool residual_drop_full(Residual *r);

// ---- check_graph.c ----
ResidualArc *residual_find(const Residual *r, int64_t a, int64_t b);  // NULL if there is none
// Of alternative k of point `at`, an end of the bond, with l of the other end.
Wide residual_arc_cost(const Residual *r, const ResidualArc *e, int at, int k, int l);

#endif
