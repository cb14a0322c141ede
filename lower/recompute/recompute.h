// Shared by the files of lower/recompute/: the facts that decide what the forward part keeps for
// the backward part.
//
// Facts are by canonical value or node: the instance of iteration 0, of a value its base. All
// iterations of a block keep the same values.
#ifndef SHARDCC_LOWER_RECOMPUTE_H
#define SHARDCC_LOWER_RECOMPUTE_H

#include "lower/internal.h"
#include "lower/recompute/policies.h"

// The work that may run again in addition to the elementwise work of forward's own groups.
typedef struct Rerun {
    bool *may;         // by NodeId: kernels that may run again
    bool *is_relaxed;  // by NodeId: chains of elementwise work that run again may be of any length
    bool *is_outside;  // by NodeId: outside of classes, in a run: separators are kept
    bool *is_handed_on;  // by ValueId: an iteration makes it for others; it isn't made again
    bool keeps_rest;     // outside of runs nothing is made again
} Rerun;

typedef struct Recompute {
    Lowering l;  // the graph as it is: its views, instances and inlined values
    Arena *arena;
    Graph *g;
    const Rerun *rerun;
    int *kernels;  // by NodeId: the number of forward kernels up to it
    // By canonical value.
    bool *is_source;         // can't be recomputed
    bool *is_stored;         // the forward part needs it in memory
    bool *is_chained;        // an elementwise node of the forward part reads it
    bool *is_live_out;       // is kept in any case
    bool *is_read_backward;  // the backward part reads it
    bool *is_kept;
} Recompute;

// Finds the facts of a graph whose views and order are known. Nothing is kept yet.
Recompute recompute_facts(const Lowering *l, const Rerun *rerun);

// 0: the value isn't made by the forward part, or is made by each of its readers.
ValueId canonical_of(const Recompute *r, ValueId v);
// Is the node elementwise work, or no work at all?
bool is_elementwise_work(const Node *n);
// Do the node's facts have to be looked at? All iterations are alike, except for the values that
// replace a neighbour at the ends.
bool is_representative(const Recompute *r, const Node *n);

// The cost of keeping a value: KEEP_COST for each byte of all iterations, and the cost of a write
// if the forward part would write it only for this.
int64_t keep_cost(const Recompute *r, ValueId h);

// Sets `is_kept` to the fewest bytes. `price`, by canonical NodeId, is the cost of running a kernel
// again; negative: it can't. Sets by canonical NodeId whether the kernel runs again.
void find_kept_values(Recompute *r, const int64_t *price, bool *is_again);

// Finds the values outside of classes that are kept because all that follows goes through few
// values, of which they are one. By canonical value.
bool *find_separators(const Recompute *r);

// Makes again in the backward part what isn't kept. Views, order and other analyses of the graph
// are void afterwards. False after reporting errors.
bool recompute_rebuild(Recompute *r, Diag *d);

// Gives each node a source of its own, with the same texts. By NodeId.
Source *tag_nodes(Arena *a, Graph *g);

// Finds where the values of `g` are from, which was made of a copy of the model's graph with these
// tags. Nodes get the model's sources back.
Recomputed find_origins(Arena *a, const Graph *model, Graph *g, const Source *tag);

// The policies of each class, by its number, in `a`. `c` NULL: of an assumed machine.
ClassPolicies *find_policies(Arena *a, const Lowering *l, const Cluster *c);

#endif
