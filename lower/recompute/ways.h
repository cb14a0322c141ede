// Recomputation: the graph that a policy makes, and the ways of keeping from which policies choose.
#ifndef SHARDCC_LOWER_RECOMPUTE_WAYS_H
#define SHARDCC_LOWER_RECOMPUTE_WAYS_H

#include "lower/lower.h"

// Makes a new training graph of g, in which the backward part recomputes what the policy says.
// Changes no result. NULL after reporting errors. Source: kept.c, ways.c.
Graph *recompute(Arena *a, const Graph *g, const RecomputePolicy *policy, const Target *t, Diag *d);

// A graph that recomputation made of another one, the model's.
typedef struct Recomputed {
    Graph *g;         // NULL after errors
    ValueId *origin;  // by ValueId: the model's value that it is, or that it makes again
    bool *is_again;   // by ValueId
} Recomputed;

// The same as recompute. It also tells where the values are from.
Recomputed recompute_traced(Arena *a, const Graph *model, const RecomputePolicy *policy,
                            const Target *t, Diag *d);

enum { MAX_WAYS = 8 };  // of a class

// One way in which the layers of a class can keep what their backward part needs.
typedef struct Way {
    const NodeId *again;  // the kernels that run again, in iteration 0; ascending
    int n_again;
    int64_t bytes;   // kept of the whole forward part, if all layers of the class keep like this
    double seconds;  // of the kernels that run again, in all layers
} Way;

// The ways of a class, those that keep the most first. Class 0: of the nodes outside of classes.
typedef struct ClassWays {
    int32_t cls;
    Way *way;
    int n_ways;  // at least one: it runs no kernel again
} ClassWays;

// Finds the ways of each class of a training graph, by its number. `c` gives the seconds of
// kernels; NULL: a fixed machine does. NULL after reporting errors.
ClassWays *recompute_ways(Arena *a, const Graph *g, const Target *t, const Cluster *c, Diag *d);

// Sets *to to what the texts of --recompute say of the graph: "none", "full", "CLASS=N". `rule` is
// for all that they don't say. Returns false after reporting that a text is wrong.
bool recompute_choose(Arena *a, const Graph *g, RecomputeRule rule, const char *const *text,
                      int n_texts, const Target *t, RecomputePolicy *to, Diag *d);

#endif
