// The values of graphs: evaluates graphs in f64 on drawn numbers, with errors and by differences,
// and checks that a pass leaves what a graph computes.
#ifndef SHARDCC_IR_VALUES_H
#define SHARDCC_IR_VALUES_H

#include "ir/ir.h"

// ---- evaluation ----

// Copies a graph in f64. `map` gives its values, indexed by the values of `g`. NULL after an error.
Graph *graph_widen(Arena *a, const Graph *g, ValueId **map, Diag *d);

// Errors in results, relative to them. With even seeds, equal numbers get equal errors, so that
// values computed twice stay equal. With odd seeds they part, as do values that are equal in theory
// and are summed in different orders. Operators that only move or choose numbers are exact. Is it
// `by_phase`, then what the backward part makes again parts from what the forward part made, as on
// several ranks, where sums of parts may be added in another order.
typedef struct Shake {
    uint64_t seed;
    double part;         // of most results
    double products;     // of products' operands and results, as they are in a half; 0: as others
    const bool *coarse;  // by NodeId: results with the rounding error of f32; NULL: none
    const double *own;   // by NodeId: the error of the result and what it adds up; 0: as others
    bool by_phase;
} Shake;

#define F32_ROUNDING 0x1p-23

// Evaluates a graph as graph_eval does, with an error in each result.
void graph_shake(Arena *a, const Graph *g, Tensor *value, const Shake *s);
// Returns `wide` plus the larger of the distances of x and y from it.
Tensor tensor_rough(Arena *a, const Tensor *wide, const Tensor *x, const Tensor *y);

// Gives the numbers of all values without a producer, except constants and zeros, by ValueId.
typedef struct Feed {
    Tensor *(*draw)(Arena *a, const void *context, const Graph *g, int micro);
    const void *context;
} Feed;

// Evaluates the micro-batches of a training step; accumulators and the carries of the forward part
// pass from one to the next. Returns the values of the last one. `s` (may be NULL) shakes them.
Tensor *step_eval(Arena *a, const Graph *g, int accumulate, const Feed *feed, const Shake *s);

// ---- slopes ----

// A function of one number, smooth around 0 or not.
typedef struct Curve {
    double (*at)(const void *context, double x);
    const void *context;
} Curve;

// The slope of a curve at 0, whose value there is `here`, by differences. False at a kink.
bool curve_slope(const Curve *c, double here, double *slope);

// ---- passes ----

// Checks passes over one graph: draws numbers for it, among them edges as masks that hide whole
// rows, zeros and ties, and compares what the graph computes before and after each pass.
typedef struct ValueCheck ValueCheck;

// Tries all edges if `seed` is 0, else ordinary data and one edge that the seed draws.
ValueCheck *value_check_new(Arena *a, int accumulate, uint64_t seed);

// Compares the graph with the one of the call before, after `pass` ran: outputs, gradients and
// values that a step writes, as far as both have them. Where the graph has a loss and no gradients
// yet, autodiff makes them for the comparison. New gradients are compared with differences. A graph
// that takes too long to evaluate isn't compared, with a warning, nor are later graphs. False
// after reporting a difference that rounding doesn't explain.
bool value_check(ValueCheck *c, const Graph *g, const char *pass, Diag *d);
void value_check_end(ValueCheck *c);

#endif
