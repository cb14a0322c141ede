// What the passes of lower/ share: one set while it is being lowered.
#ifndef SHARDCC_LOWER_INTERNAL_H
#define SHARDCC_LOWER_INTERNAL_H

#include "lower/lower.h"

// How a value lies in its base, the value that has the bytes.
typedef struct View {
    ValueId base;
    int64_t offset;  // elements
    int64_t stride[MAX_RANK];
    RankSlice rank_slice;
} View;

// All iterations of one block class in one phase and part: a loop. `rep` is the iteration whose
// nodes stand for all; its neighbour inputs come from within the loop, so it is the second to run.
typedef struct Region {
    int32_t cls;
    Phase phase;
    Part part;
    bool is_reverse;
    int representative,
        other;      // `other`: one more iteration, to tell what depends on the iteration
    NodeId *nodes;  // of rep, in order of execution
    int n_nodes;
} Region;

// Before the loop of `region`, `from` is copied to the place that the twin of `to` has `delta`
// iterations beyond the end of the class.
typedef struct InitialValue {
    int region;
    ValueId to, from;
    int delta;  // -1 or 1
} InitialValue;

// The nodes and producer-less values of a class by (iteration, position).
typedef struct ClassTable {
    int n_nodes, n_values;  // per iteration
    NodeId *nodes;          // [iter * n_nodes + pos]
    ValueId *values;
} ClassTable;

typedef struct Lowering {
    Program *p;
    Set *s;
    Graph *g;
    Diag *d;
    const LowerOptions *o;
    bool *is_channels_last;         // by ValueId: walked with channels (dim 1) last
    bool *is_stored_channels_last;  // by ValueId: also kept so, if its maker can
    View *view;                     // by ValueId
    NodeId *placed_in;       // by ValueId: the node (a concat) in whose result the value is made
    Part *part;              // by NodeId
    int64_t *priority;       // by NodeId: when it would like to run
    bool has_early_updates;  // updates are in the backward part, each when its gradient is there
    ClassTable *table;       // by class
    Region *regions;         // [0] is unused: no loop
    int n_regions, cap_regions;
    int32_t *region;  // by NodeId
    int32_t *order;   // nodes (positive) and regions (negative) of the top level, in order
    int n_order;
    InitialValue *initials;
    int n_initials, cap_initials;
    ValueId *carried_in;  // by ValueId: the carry's `in`, of its `out`
    bool *can_inline;     // by NodeId: made again by each reader where no other needs it in memory
    bool *needs_memory;   // by ValueId: read otherwise than element by element
    int32_t *item_of;   // by ValueId (bases): 1 + the item that makes it, a loop's end from outside
    bool *is_gradient;  // by ValueId: an output of that role
    bool *is_copied;    // by ValueId: a carry's `out` that has bytes of its own
    int cap_values;     // room in arrays by ValueId: lower_items adds values for copies
} Lowering;

Program *program_new(Arena *a, int accumulate);  // without sets
// All passes but the arena's over one set, until no class is in their way. False after errors.
bool lower_set(Program *p, int set, Graph *g, const LowerOptions *o, Diag *d);

ClassTable *class_tables(const Graph *g, Arena *a);  // by class
// The value or node that stands at `iter` where `v` stands in its iteration.
ValueId value_instance(const Lowering *l, ValueId v, int iter);
NodeId node_instance(const Lowering *l, NodeId n, int iter);

// Strides of bytes that lie densely in that order.
void layout_strides(int rank, const int64_t *dim, bool is_channels_last, int64_t *stride);

bool is_view_node(const Lowering *l, const Node *n);  // no item: its output is a view

// Value `v` as seen by a node of region `r` (0: top level); `other` is what its twin at
// regions[r].other sees in its place.
Operand operand_of(const Lowering *l, int r, ValueId v, ValueId other);
Operand input_operand(const Lowering *l, int r, NodeId n, int k);
Operand output_operand(const Lowering *l, int r, NodeId n, int k);

// Finds what is made again by every group that reads it, rather than stored: what is elementwise
// over scalars and indices only, and once it is known what the backward part makes again, also what
// is as quickly made as read. Is `v`?
void find_inlinable(Lowering *l);
void find_inlinable_one_flop(Lowering *l);
bool is_inlined(const Lowering *l, ValueId v);

// Takes the labels of a class away and sets `again`; false.
bool unroll_class(Lowering *l, int32_t cls, bool *retry);

enum { COPY_ROUNDS = 2 };  // so often a kernel may want copies of its operands

// ---- partition.c ----
Sharded *sharded_new(Arena *a, const Graph *whole, const Plan *plan, Diag *d);
// What is known of the value and of the node that were appended last.
void sharded_note_value(Arena *a, Sharded *s, ValueId v, ShardedValue known);
void sharded_note_node(Arena *a, Sharded *s, NodeId n, ShardedNode known);
// Outputs and carries are those of `from`, whose values stand in `map`.
void sharded_add_outputs(Sharded *s, const Graph *from, const ValueId *map);
// Attributes for a piece of the node: chunks of its factors.
void localise_node(const Node *n, const Rule *r, const Mesh *m, const Strategy *s, Arena *a,
                   Attr *attr);
const char *reduction_name(int at);  // of SPEC_SUM, SPEC_MAX or SPEC_MIN

// Nodes of one iteration and phase that can run in one go: the first and the last.
typedef struct Segment {
    NodeId first, last;
} Segment;

Segment **segments_find(const Graph *g, Arena *a);  // by NodeId, NULL outside of iterations

// Finds the order of each value's dims in memory.
void lower_layout(Lowering *l);
// The passes, in this order. False after reporting errors; or with `again` set, when a class of
// repeated blocks can't be a loop: its labels are gone and the set is to be lowered anew.
bool lower_views(Lowering *l);
bool lower_order(Lowering *l, bool *retry);
// Finds the initial values of all loops. A class whose iterations can't share a place for them, or
// that reads what it overwrites, is dissolved.
bool lower_initials(Lowering *l, bool *retry);
// Rewrites the graph, once views and order are known: the backward part makes again what needn't be
// kept. What was known of the graph before is void.
bool lower_recompute(Lowering *l);
bool lower_items(Lowering *l);
uint64_t split_factors(const Sharded *s, NodeId n);  // Kernel.cut of a node; `s` may be NULL
bool has_parallel_rows(const Item *it, int rows);
bool is_row_broadcast(const Lowering *l, ValueId v, int rows);
bool is_assembled(const Lowering *l, ValueId v);
bool is_direct_result(const Lowering *l, ValueId v);
// Of the items [begin, end): a loop's body before the loop ends, or a part's.
void merge_groups(Lowering *l, int begin, int end);
void finish_groups(Lowering *l);
// Starts communication ahead of its first reader, and has what needs it wait for it.
void lower_overlap(Lowering *l);
bool lower_storage(Lowering *l, bool *retry);
// A group's output takes over the place of an input that ends there.
void lower_in_place(Program *p, Set *s);
bool lower_arena(Program *p, Diag *d);

#endif
