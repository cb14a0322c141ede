// Facts of the values of a training graph: by which whoever prints it names them, and which values
// have to stay the same bits.
#ifndef SHARDCC_IR_FACTS_H
#define SHARDCC_IR_FACTS_H

#include "ir/ir.h"

// By ValueId: the value of the forward part that a value of the backward part makes again; 0: none.
ValueId *graph_made_again(Arena *a, const Graph *g);
// By ValueId: is it an adjoint? `again`: of graph_made_again. The gradient of the loss by itself is
// a factor of such a value of the backward part: it is the gradient of a value, or a part of one.
// Between the loss and the values that it reads, some have no such factor that is a value, and are
// missed.
bool *graph_adjoints(Arena *a, const Graph *g, const ValueId *again);

// By ValueId: do two nodes read the float for one comparison? In `x == max(x)` they must read the
// same bits: were x added in another order for one of them, no x might equal the maximum.
bool *graph_compared(Arena *a, const Graph *g);

// By NodeId: does the node only serve to make half copies of parameters, which are the same for all
// micro-batches of a step? It is of the forward part: a cast of a parameter to a half, or what
// moves elements before or after it. `is_kept`, by ValueId: the copies in the form in which they
// are kept through the step; NULL: what the casts make.
bool *graph_half_copies(Arena *a, const Graph *g, const bool *is_kept);

// By ValueId: "MEAN", "VARIANCE", "STD", "RSTD", "SQUARES" (their sum) of a norm; "ATTENTION", and
// "ATTENTION_MAX" and "ATTENTION_SUM" of its scores; "GELU", "SILU"; NULL: none of these.
const char **graph_roles(Arena *a, const Graph *g);
// Is it the role of a module's result? Where there is no module, the role is its name.
bool role_is_of_module(const char *role);

#endif
