// Dual ascent as bounds and branching use it: messages, prices, and the bound that they prove.
#ifndef SHARDCC_SOLVER_ASCENT_H
#define SHARDCC_SOLVER_ASCENT_H

#include "solver/internal.h"

typedef struct Ascent {
    const FloatProblem *f;
    int64_t *first_message;     // by edge: a's alternatives, then b's
    double *message;            // what an edge gives to its ends' alternatives
    double *price, *sum;        // of a byte, by slot
    double *byte_cost;          // of alternatives: what their bytes cost
    double *into, *from;        // of one node
    int *choice;                // made on the way of the last sweep
    double *live_bytes, *mean;  // bytes of the choice, and over the last ones, by slot
    double *taken;              // by alternative: how many of the last choices took it, 0 to 1
    double *node_bound,
        *edge_bound;  // by node: its part of the bound, what each edge ahead has of it
    double *lower;    // by alternative: no choice with it is cheaper; NULL: isn't kept
    bool *is_priced;
    bool chooses;  // sweeps make choices, which only prices of bytes and branching need
    double size;   // of the numbers that bounds are made of
    double bound;
    double best;  // of the steps until now, with
    double *best_message, *best_price;
    int64_t work;
} Ascent;

// ---- ascent.c: messages ----
Ascent *ascent_new(const FloatProblem *f, Arena *a);
void ascent_update_byte_costs(Ascent *s);  // after a change of prices
// All nodes in order, or from the last to the first: new messages, bound and choice. `lower` is
// true of a sweep that follows one the other way at the same prices.
void ascent_sweep(Ascent *s, bool is_forward);
// The part of node i's cost that each edge ahead takes on.
double ascent_share(const Ascent *s, int i, bool is_forward, int *n_ahead);
double ascent_gather(const Ascent *s, int i, double *into);     // the least of them
double *ascent_message(const Ascent *s, int node, HalfEdge l);  // to the node

// ---- ascent_price.c: prices ----
typedef struct ClimbOptions {
    double gain;         // that the first step aims at, in parts of the bound
    double step_growth;  // how much more behind a step that succeeds
    int64_t work;        // until the ascent's work is this
    double enough;       // or the best bound this
    const Deadline *deadline;
    double min_gain;  // of the bound: two sweeps that give less are the last; 0: as usual
} ClimbOptions;

// Sweeps at the same prices until they give little.
void ascent_converge(Ascent *s, ClimbOptions c);
// … with momentum: each pair of sweeps begins farther on in the direction of the one before
// (Nesterov 1983; begun anew where the bound falls, as in O'Donoghue and Candès, "Adaptive restart
// for accelerated gradient schemes", 2015), as any messages are as good to begin with. What was the
// best before, and `lower`, go.
void ascent_accelerate(Ascent *s, ClimbOptions c);
// Better and better prices, from the best ones, which it goes back to.
void ascent_climb(Ascent *s, ClimbOptions c);
void ascent_save_best(Ascent *s);     // takes the present state for the best
void ascent_restore_best(Ascent *s);  // goes back to the best

// ---- ascent_dual.c: in exact numbers ----
void ascent_warm_start(Ascent *s, const Dual *d);  // takes a dual's prices and messages
// Better prices from the present messages on, then better messages at the best of them.
void ascent_reprice(Ascent *s, ClimbOptions c);
// Of the state behind a sweep forward, which is used up.
void ascent_to_dual(Ascent *s, Dual *d, Arena *a);

#endif
