// State and helpers that the passes of lower/ share while they lower one set.
#ifndef SHARDCC_LOWER_INTERNAL_H
#define SHARDCC_LOWER_INTERNAL_H

#include "lower/lower.h"
#include "packer/packer.h"

// How a value lies in its base, the value that has the bytes.
typedef struct View {
    ValueId base;
    int64_t offset;  // elements
    int64_t stride[MAX_RANK];
    RankSlice rank_slice;
} View;

// A loop: all iterations of one block class in one phase and function, made for the first time or
// `again`. The nodes of iteration `representative` represent all iterations. It is the second
// iteration to run, so that its neighbour inputs come from within the loop.
typedef struct Region {
    int32_t cls;
    Phase phase;
    int again;  // Block.again of its nodes
    Timing timing;
    bool is_reverse;
    int representative, other;  // `other`: a second one, to find what depends on the iteration
    NodeId *nodes;              // of the representative, in order of execution
    int n_nodes;
} Region;

// Before the loop of `region`, `from` is copied to the address of `to`'s instance `delta`
// iterations beyond the end of the class.
typedef struct InitialValue {
    int region;
    ValueId to, from;
    int delta;  // -1 or 1
} InitialValue;

// The nodes, and the values without producer, of a class by iteration and position.
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
    bool *is_stored_channels_last;  // by ValueId: also stored so, if its producer can write it
    int64_t *row;                   // by ValueId: as in Storage, where it has bytes of its own
    View *view;                     // by ValueId
    NodeId *made_in;         // by ValueId: the node (a concat) in whose result the value is made
    Timing *timing;          // by NodeId: which function runs it
    int64_t *priority;       // by NodeId: ready nodes run in this order, lowest first
    bool has_early_updates;  // updates are in the backward part, each after its gradient
    ClassTable *table;       // by class
    Region *regions;         // [0] is unused: no loop
    int n_regions, cap_regions;
    int32_t *region;  // by NodeId
    int32_t *order;   // nodes (positive) and regions (negative) of the top level, in order
    int n_order;
    InitialValue *initials;
    int n_initials, cap_initials;
    ValueId *carried_in;  // by ValueId: the carry's `in`, of its `out`
    bool *is_once;        // by NodeId: forward work that only changes states; NULL: no matter
    bool *can_inline;     // by NodeId: each reader makes it again, unless needs_memory is set
    bool *needs_memory;   // by ValueId: some reader doesn't read it element by element
    // By ValueId (bases): 1 + the item that makes it; seen from outside a loop, the loop's end.
    int32_t *item_of;
    int *n_gradients;  // by ValueId: of how many parameters it is the gradient
    bool *is_copied;   // by ValueId: a carry's `out` that has bytes of its own
    int cap_values;    // capacity of arrays by ValueId: lower_items adds values for copies
    bool retries;      // a class has lost its labels: the set must be lowered again
} Lowering;

// The state that the passes over a set start from.
Lowering lowering_new(Program *p, int set, Graph *g, const LowerOptions *o, Diag *d);
// An empty program: no sets lowered yet.
Program *program_new(Arena *a, const Target *t, int accumulate);
// Runs all passes except the arena's over one set. If a class can't be a loop, the set is lowered
// again without it. False after reporting errors.
bool lower_set(Program *p, int set, Graph *g, const LowerOptions *o, Diag *d);

// Reports nodes of types that trainers store, but don't compute in.
bool check_types(const Graph *g, Diag *d);

ClassTable *class_tables(Arena *a, const Graph *g);  // by class
// The value or node of iteration `iter` that corresponds to `v` or `n` in its own.
ValueId value_instance(const Lowering *l, ValueId v, int iter);
NodeId node_instance(const Lowering *l, NodeId n, int iter);

// The slot of iteration `iter` in a stack or a ring, which repeats; `iter` may be negative.
static inline int64_t ring_index(const Storage *s, int iter)
{
    return s->ring ? ((iter % s->ring) + s->ring) % s->ring : iter;
}

// Strides of a dense value whose dims lie in that order.
void layout_strides(int rank, const int64_t *dim, bool is_channels_last, int64_t *stride);

// Operand k of a node, inputs first.
static inline ValueId operand_value(const Node *n, int k)
{
    return k < n->n_in ? n->in[k] : n->out[k - n->n_in];
}

bool is_view_node(const Lowering *l, const Node *n);  // is its output a view? It needs no item

// Value `v` as a node of region `r` sees it (0: top level). `other` is what the node's instance of
// iteration regions[r].other sees as the same input.
Operand operand_of(const Lowering *l, int r, ValueId v, ValueId other);
Operand input_operand(const Lowering *l, int r, NodeId n, int k);
Operand output_operand(const Lowering *l, int r, NodeId n, int k);

// Find the values that every reader makes again instead of loading them. find_inlinable:
// elementwise values over scalars and indices only. find_inlinable_one_flop, after recomputation is
// decided: also values that are made as fast as they are loaded. is_inlined: is `v` one of them?
void find_inlinable(Lowering *l);
void find_inlinable_one_flop(Lowering *l);
bool is_inlined(const Lowering *l, ValueId v);

// Finds forward work that only changes states, where stages run forward again.
void find_once(Lowering *l);
// Must the two nodes not be in one group, as one may run more often than the other?
bool must_not_join(const Lowering *l, NodeId a, NodeId b);

// Takes the labels of a class away, sets `retries` and gives false.
bool unroll_class(Lowering *l, int32_t cls);

enum {
    COPY_ROUNDS = 2,       // how often a kernel may ask for copies of its operands
    LOOK_BACK = 64,        // items among which a node looks for a group; keeps lowering linear
    MAX_GROUP_NODES = 96,  // keeps a group's function readable
};

static const int64_t MAX_ARENA_BYTES = (int64_t)1 << 50;

// ---- what program_finish stores ----

// Does elementwise node `n` of group `it` make one number for each row?
bool node_is_row_scalar(const Graph *g, const Item *it, const Node *n);
// Is node `n` of group `it` a sum that keeps the innermost dim?
bool is_column_sum(const Item *it, const Node *n);
RtSums column_sums(const Graph *g, const Item *it);  // of the group
// Gives the dims from the outermost to the innermost: in their order, or with dim 1 last.
void layout_axes(int rank, bool is_channels_last, int *axis);
// The node of the group, by its index in it, that makes `v`, an input with SOURCE_NODE: as an
// element or, through views, as a row scalar. -1: none does.
int group_maker(const Graph *g, const Item *it, ValueId v);
// Is result k of a fused group written over one of its operands?
bool group_updates_in_place(const Program *p, const Set *s, const Item *it, int k);
// The address of operand `o` of an item of `s`.
Address operand_address(const Program *p, const Set *s, const Operand *o);
// The address of value v of `s` when it is read from outside all loops; false if it has none.
bool value_address(const Program *p, const Set *s, ValueId v, Address *a);
// How the mesh splits a factor of a node, or a dim of a value, of a split graph. False: it doesn't.
bool node_split(const Sharded *s, NodeId n, int factor, RtCut *c);
bool value_split(const Sharded *s, ValueId v, int dim, RtCut *c);
bool split_is_uneven(const Mesh *m, const RtCut *c);  // do some ranks have less than a chunk?
// The work of one run of the item; zero for a loop's begin and end.
Work item_work(const Program *p, const Set *s, const Item *it);
// Seconds that the rank is busy with the work of an item. Items without memory traffic count 0.
double busy_seconds(const Work *w, const Cluster *c);

// ---- tables of tensors ----

// By ValueId: how many parameters' gradient it is. Parameters that are added share one.
int *count_gradients(Arena *a, const Graph *g);
// Is the value the gradient of equally many parameters in all iterations? If all iterations share a
// parameter, only the last one has its gradient: the sum over all.
bool are_all_gradients(const Lowering *l, ValueId v);
bool output_depends(const Graph *g, ValueId input);  // does an output of the model depend on it?
void lower_tensors(Program *p);
extern const char *const tensor_role_names[RT_BAD_SIZES + 1];
RtRole output_tensor_role(OutputRole r);
RtRole value_tensor_role(ValueKind k);  // of a value without producer

// Stores in a program whose buffers have their offsets what generators and the simulation ask of
// it.
void program_finish(Program *p);

// How many bytes after its address the operand begins on this rank; 0 without a rank_slice.
int64_t operand_rank_offset(const Set *s, const Operand *o, int rank);
// Does the operand, over its `rank` dims, lie densely in row-major order?
bool operand_is_dense(const Operand *o, int rank, const int64_t *dim);

// ---- partition.c ----
Sharded *sharded_new(Arena *a, const Graph *whole, const Plan *plan, Diag *d);
// Notes what the value or the node holds that was appended last to s->g.
void sharded_note_value(Arena *a, Sharded *s, ValueId v, ShardedValue known);
void sharded_note_node(Arena *a, Sharded *s, NodeId n, ShardedNode known);
// Adds the outputs and carries of `from`, whose values `map` translates.
void sharded_add_outputs(Sharded *s, const Graph *from, const ValueId *map);
// Attributes for a shard of the node: its factors' sizes become the sizes of chunks.
void localise_node(Arena *a, const Node *n, const Rule *r, const Mesh *m, const Strategy *s,
                   Attr *attr);
const char *reduction_name(int at);  // `at`: SPEC_SUM, SPEC_MAX or SPEC_MIN

// Nodes of one iteration and phase that run without waiting for other iterations.
typedef struct Segment {
    NodeId first, last;
} Segment;

Segment **segments_find(Arena *a, const Graph *g);  // by NodeId, NULL outside of iterations

// The passes over a set, as passes.def lists them. False after reporting errors. False with
// `retries` set if a class of repeated blocks can't be a loop.
bool lower_layout(Lowering *l);
bool lower_views(Lowering *l);
bool lower_order(Lowering *l);
// Finds the initial values of all loops. Unrolls a class if its iterations can't share an address
// for them, or if it reads what it overwrites.
bool lower_initials(Lowering *l);
bool lower_items(Lowering *l);
uint64_t split_factors(const Sharded *s, NodeId n);  // Kernel.cut of a node; `s` may be NULL
// Are there as many rows as the target can work on in parallel, or few elements altogether?
bool has_parallel_rows(const Target *t, const Item *it, int rows);
bool is_row_broadcast(const Lowering *l, ValueId v, int rows);
bool is_assembled(const Lowering *l, ValueId v);
bool is_direct_result(const Lowering *l, ValueId v);
// Merges groups among the items [begin, end): a loop's body without its ITEM_END, or a function.
void merge_groups(Lowering *l, int begin, int end);
void finish_groups(Lowering *l);
// Starts collectives before their first reader and adds the waits for them.
bool lower_overlap(Lowering *l);
bool lower_storage(Lowering *l);
typedef struct Chain Chain;  // lower/chain/: a training set as a chain of stages

// Lets a group's or kernel's output take over the bytes of an input that it reads last. In a chain
// (NULL: it is none) only within a part of a stage.
void lower_in_place(Program *p, Set *s, Chain *chain);

// ---- chain.c ----

// Finds the stages of the training set. NULL after reporting that it is no chain. The budget counts
// the packing of slots.
Chain *chain_find(Program *p, Budget *b, Diag *d);
// May an item write over a buffer that it reads last?
bool chain_may_overwrite(const Chain *x, int32_t from);
void chain_overwrite(Chain *x, int32_t from, int32_t to);  // `to` is written over `from`
// Puts the values of stages into slots. False after reporting an error.
bool chain_enter_slots(Chain *x, const Cluster *c);
// Has a schedule chosen, and makes its calls. `more`: bytes of the arena that slots can't have, in
// addition to the bytes known before. False: none was chosen.
bool chain_choose_runs(Chain *x, const ChainChoice *o, int64_t more);
void chain_set_rest(Chain *x, int64_t bytes);  // of the arena, without the slots
void chain_finish(Chain *x);                   // when the arena is packed

// ---- slots.c ----

// Finds buffers with slots that some item uses outside of what is in use then: by buffer.
bool *slots_misused(Arena *a, const Program *p, int set);

// ---- interleave.c ----

// The buffers of a set and the storage of its values.
typedef struct SetLayout {
    Buffer *buffers;
    Storage *storage;
} SetLayout;

SetLayout set_layout_copy(Arena *a, const Program *p, int set);
void set_layout_swap(Program *p, int set, SetLayout *x);

// Where stacks end and others begin in one loop, lets its iterations free and take their slots.
// Stacks of the same loops become one buffer, in which the instances of an iteration lie side by
// side. Changes nothing if that hardly lowers the peak of live bytes. Returns whether it changed
// something.
bool lower_interleave(Program *p, int set);
// Gives slots to the stacks that would be joined, and moves nothing.
void lower_find_slots(Program *p, int set);

// ---- pack_slots.c ----

// Gives the set's buffers with slots offsets, overlapping where they are never in use at the same
// time, and lists the bytes that they take as pinned buffers; `base` is subtracted. Returns how
// many.
int pack_slots(Arena *a, Program *p, int set, int64_t base, LiveBuffer **pinned);
bool lower_arena(Program *p, const LowerOptions *o, Diag *d);
// Finds where the sets' buffers end in the arena, its bytes and their bound, from the offsets.
void measure_arena(Program *p);

#endif
