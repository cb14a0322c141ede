// What the reductions of a certificate leave of a problem, in code that shares nothing with
// presolve.
#ifndef SHARDCC_SOLVER_CHECK_H
#define SHARDCC_SOLVER_CHECK_H

#include "solver/internal.h"

// Above all costs: those of an instance come to less than 2^126 in the finest unit.
#define BARRED ((Wide)1 << 126)

typedef struct Point {
    int n;         // alternatives, as in the instance
    bool *is_out;  // of these
    Wide *cost;    // in the round's unit, with what their bytes cost
    bool is_gone;
    int n_bonds, cap, *bond;  // some may be gone
    int holder, *partner;     // merged: where to, and its alternative by the holder's; else -1
} Point;

// The costs between two points, row by row for all alternatives of a: the instance's, or those that
// a step made, in the round's unit.
typedef struct Bond {
    int a, b;
    const int64_t *given;
    Wide *made;  // NULL: given; BARRED where forbidden
    bool is_gone, is_waiting;
} Bond;

typedef struct Remains {
    const Problem *p;
    Arena *arena;
    Diag *d;
    Wide unit;  // a cost of 1
    Wide base;  // of points that are gone and left it to nobody
    Point *point;
    Bond *bond;
    int n_bonds, cap;
    int *queue, n_queue, cap_queue;  // bonds to look at
    bool is_empty;                   // a point has no alternative left
} Remains;

// Pairs that earlier rounds ruled out: by alternative of a, then of b.
typedef struct Barred {
    int a, b;
    bool *is_out;
} Barred;

// The problem in the round's unit; `cost` and `is_out` are by alternative, and become its own.
void remains_build(Remains *r, const Problem *p, Wide unit, Wide *cost, bool *is_out,
                   const Barred *barred, int n_barred, Arena *a, Diag *d);
// One step of a certificate. False, with an error, where it can't be gone.
bool remains_step(Remains *r, int64_t kind, int64_t node, int64_t other);
// ---- check.c ----
bool answer_wrong(Diag *d, const char *fmt, ...) PRINTF(2, 3);  // an error; false

// ---- check_full.c ----
// Marks what, with the least that all others hold, holds more than the limit at some time. False:
// all choices do.
bool remains_full(Remains *r);

// ---- check_graph.c ----
Bond *remains_find(const Remains *r, int64_t a, int64_t b);  // NULL if there is none
// Of alternative k of point `at`, an end of the bond, with l of the other end.
Wide bond_cost(const Remains *r, const Bond *e, int at, int k, int l);

#endif
