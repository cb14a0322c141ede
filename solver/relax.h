// The relaxation of a problem as a linear program in an engine.
#ifndef SHARDCC_RELAX_H
#define SHARDCC_RELAX_H

#include "solver/mip.h"

// Column first[i] + k says how much of alternative k node i takes: these add up to 1. From `pairs`
// on, one column for each finite pair of an edge, whose rows and columns add up to its ends' (the
// local polytope: Werner 2007). Rows: nodes, then for each edge a's alternatives and b's, then
// times at which the bytes are held to the limit, added as they are needed.
enum { MAX_RELAX_PAIRS = 600000 };  // beyond these an engine isn't asked
typedef struct Model {
    const Problem *p;
    FloatProblem *floats;
    Engine *engine;
    Arena *arena;
    int n_columns, pairs;
    int *first_row;  // of each edge, in rows
    int first_memory, n_memory, cap_memory;
    int *memory;                  // times, in slots of the field
    bool *has_memory;             // by slot
    double cost_unit, byte_unit;  // costs and bytes are divided by these
    // Costs are those that a dual leaves, its least terms taken off: the program says only how
    // much better it can be made, and its simplex starts from that dual.
    Dual from;
    double *cost;   // by alternative
    double *least;  // by edge, taken off its pairs
    double *price;  // by slot
    double base;    // what was taken off in all
    double most;    // the highest cost
} Model;

// From a dual of p; zero is one.
Model *model_new(const Problem *p, Engine *e, const Dual *from, Arena *a);
// Adds rows for the times at which x (by alternative) holds most over the limit, up to a dozen well
// apart. How many were added.
int model_cut(Model *m, const double *x);
// ---- relax_model.c ----
// The duals of the program's rows as a dual of the problem.
Dual model_dual(const Model *m, const double *row_dual, Arena *a);

// ---- relax.c ----
#define NO_CUTOFF ((Wide)1 << 120)

// Solves the linear program, adding times until none is over the limit. x, by column, is the
// engine's until it is used again.
MipStatus model_relax(Model *m, const double **x, Dual *dual, Arena *a);
// The alternative of each node that x has most of.
void model_round(const Model *m, const double *x, int *choice);
// Branches for choices cheaper than the cutoff (NO_CUTOFF: any), within `nodes`, adding times as
// choices break them; hears of every choice within the limit. No choice is cheaper than *bound,
// which it raises, but not above the cutoff.
MipStatus model_branch(Model *m, Wide cutoff, int64_t nodes, Listener l, Wide *bound);

#endif
