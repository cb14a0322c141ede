// The relaxation of a problem as a linear program in an engine.
#ifndef SHARDCC_RELAX_H
#define SHARDCC_RELAX_H

#include "solver/assign/mip.h"

// Column first[i] + k is the share of alternative k that node i takes; these sum to 1. From `pairs`
// on there is one column for each finite pair of an edge. The columns of a row or column of an
// edge's matrix sum to the share of the end's alternative (the local polytope: Werner 2007). Rows:
// one for each node, then for each edge one by alternative of a and b, then times at which the
// bytes must stay within the limit, which are added as they are needed.
enum { MAX_RELAX_PAIRS = 600000 };  // pairs beyond which no engine is asked
typedef struct Model {
    const Problem *p;
    FloatProblem *floats;
    Engine *engine;
    Arena *arena;
    int n_columns, pairs;
    int *first_row;  // by edge
    int first_memory, n_memory, cap_memory;
    int *memory;                  // slots of `floats` that have a row
    bool *has_memory;             // by slot
    double cost_unit, byte_unit;  // costs and bytes are divided by these
    // Costs are reduced by the dual `from`: its messages and prices are applied and its least terms
    // taken off. So the program only says how much better the dual can be made, and its simplex
    // starts from that dual.
    Dual from;
    double *cost;   // by alternative
    double *least;  // by edge: taken off its pairs
    double *price;  // by slot
    double base;    // the sum of all that was taken off
    double most;    // the highest reduced cost
} Model;

// Builds the model in an engine, starting from a dual of p, which may be {0}.
Model *model_new(Arena *a, const Problem *p, Engine *e, const Dual *from);
// Adds rows for the times at which x (by alternative) exceeds the limit most: at most 12, which
// keep a distance. Returns how many.
int model_cut(Model *m, const double *x);
// ---- relax_model.c ----
// Turns the duals of the program's rows into a dual of the problem, in the arena.
Dual model_dual(Arena *a, const Model *m, const double *row_dual);

// ---- relax.c ----
#define NO_CUTOFF ((Wide)1 << 120)

// Solves the linear program, and adds rows until no time exceeds the limit. x, by column, is valid
// until the next call of the engine.
MipStatus model_relax(Arena *a, Model *m, const double **x, Dual *dual);
// Takes, for each node, the alternative with the largest share in x.
void model_round(const Model *m, const double *x, int *choice);
// Branches for choices cheaper than the cutoff (NO_CUTOFF: any), within `nodes` nodes. Adds rows
// for times at which choices exceed the limit. Gives every choice within the limit to `l`. Raises
// *bound, which no choice is cheaper than, at most to the cutoff.
MipStatus model_branch(Model *m, Wide cutoff, int64_t nodes, Listener l, Wide *bound);

#endif
