// The state of a dual ascent: messages, prices and the bound that they prove.
#ifndef SHARDCC_SOLVER_ASCENT_H
#define SHARDCC_SOLVER_ASCENT_H

#include "solver/assign/internal.h"

typedef struct Ascent {
    const FloatProblem *f;
    int64_t *first_message;  // by edge: where its messages begin, to a's alternatives, then to b's
    double *message;         // the costs that an edge gives to its ends' alternatives
    double *price, *sum;     // prices of a byte by slot, and their prefix sums
    double *byte_cost;       // by alternative: the cost of its bytes at the prices
    double *into, *from;     // scratch costs of one node's alternatives
    int *choice;             // the choice that the last sweep made
    double *live_bytes, *mean;  // bytes by slot, of the choice and averaged over the last choices
    double *taken;              // by alternative: the share of the last choices that took it
    // By node: its part of the bound, and the part that each of its edges ahead carries.
    double *node_bound, *edge_bound;
    double *lower;  // by alternative: no choice with it is cheaper; NULL: not computed
    bool *is_priced;
    bool chooses;  // sweeps make choices; only prices of bytes and branching need them
    double size;   // the scale of the bound, which gains are relative to
    double bound;
    double best;  // the best bound so far, with its messages and prices
    double *best_message, *best_price;
    int64_t work;
} Ascent;

// ---- ascent.c: messages ----
Ascent *ascent_new(Arena *a, const FloatProblem *f);
void ascent_update_byte_costs(Ascent *s);  // after each change of prices
// Visits all nodes in order, or from the last to the first, and renews the messages, the bound and
// the choice. `lower` is valid after a sweep that follows one in the other direction at the same
// prices.
void ascent_sweep(Ascent *s, bool is_forward);
// The part of node i's cost that each of its edges ahead takes. An edge is ahead if the sweep
// visits its other end after node i.
double ascent_share(const Ascent *s, int i, bool is_forward, int *n_ahead);
// Writes the costs of node i's alternatives with all messages to them, and returns the least.
double ascent_gather(const Ascent *s, int i, double *into);
double *ascent_message(const Ascent *s, int node, HalfEdge l);  // messages to the node

// ---- ascent_price.c: prices ----
typedef struct ClimbOptions {
    double gain;         // gain that the first step aims at, as a part of the bound
    double step_growth;  // factor of the aimed gain after a step that succeeds
    int64_t work;        // stops when the ascent's work reaches this
    double enough;       // stops when the best bound reaches this
    const Deadline *deadline;
    double min_gain;  // stops after a pair of sweeps that gains less of the bound; 0: default
} ClimbOptions;

// Sweeps at the same prices until a pair of sweeps gains little.
void ascent_converge(Ascent *s, ClimbOptions c);
// The same with momentum, starting each pair of sweeps from messages extrapolated in the direction
// of the last change (Nesterov 1983; restarted where the bound falls, as in O'Donoghue and Candès,
// "Adaptive restart for accelerated gradient schemes", 2015). This is sound as any messages give a
// valid bound. Overwrites the saved best state, and `lower`.
void ascent_accelerate(Ascent *s, ClimbOptions c);
// Raises the bound by better prices. Each step starts from the best prices so far.
void ascent_climb(Ascent *s, ClimbOptions c);
void ascent_save_best(Ascent *s);     // saves the current state as the best
void ascent_restore_best(Ascent *s);  // restores the best state

// ---- ascent_dual.c: in exact numbers ----
void ascent_warm_start(Ascent *s, const Dual *d);  // takes a dual's prices and messages
// Finds better prices, starting with the current messages, then better messages at the best prices.
void ascent_reprice(Ascent *s, ClimbOptions c);
// Writes the dual of the state after a forward sweep. This uses the state up.
void ascent_to_dual(Arena *a, Ascent *s, Dual *d);

#endif
