// Recomputation: the graph that a policy makes, and the policies of single layers from which a
// graph's policy chooses.
#ifndef SHARDCC_LOWER_RECOMPUTE_POLICIES_H
#define SHARDCC_LOWER_RECOMPUTE_POLICIES_H

#include "lower/lower.h"

// Makes a new training graph of g, in which the backward part recomputes what the policy says.
// Changes no result. NULL after reporting errors. Source: kept.c, policies.c.
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

enum { MAX_LAYER_POLICIES = 8 };  // of a class

// Which kernels of a layer run again in the backward part; the rest of what that needs is kept.
typedef struct LayerPolicy {
    const NodeId *again;  // the kernels that run again, in iteration 0; ascending
    int n_again;
    int64_t bytes;   // kept of the whole forward part, if all layers of the class keep like this
    double seconds;  // of the kernels that run again, in all layers
} LayerPolicy;

// The policies of a class, from the one that keeps the most to the one that keeps the least. Class
// 0 has the nodes outside of classes.
typedef struct ClassPolicies {
    int32_t cls;
    LayerPolicy *policy;
    int n_policies;  // at least one: it runs no kernel again
} ClassPolicies;

// Finds the policies of each class of a training graph, by the number of the class. `c` gives the
// seconds of kernels; NULL: an assumed machine does. NULL after reporting errors.
ClassPolicies *recompute_policies(Arena *a, const Graph *g, const Target *t, const Cluster *c,
                                  Diag *d);

// Sets *to to what the texts of --recompute say of the graph: "none", "full", "CLASS=N". `rule` is
// for all that they don't say. Returns false after reporting that a text is wrong.
bool recompute_choose(Arena *a, const Graph *g, RecomputeRule rule, const char *const *text,
                      int n_texts, const Target *t, RecomputePolicy *to, Diag *d);

#endif
