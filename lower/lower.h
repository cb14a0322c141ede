// Graph → one rank's program: order, fused groups, storage, arena. No text, no search.
//
// A Program has two sets of functions, training and forward only, in one arena. A set is a list of
// items in the order of execution; repeated blocks are loops over one iteration's items.
#ifndef SHARDCC_LOWER_H
#define SHARDCC_LOWER_H

#include "analyzer/analyzer.h"
#include "runtime/rt.h"

// Where a value lies. Iteration i of a repeated block finds it at
// offset + step * i, or, where `ring` is set, offset + step * (i mod ring): the last two of
// a chain are enough where only the neighbour iteration reads; so many as are under way at once.
typedef struct Storage {
    int32_t buffer;  // 0: none
    int32_t ring;
    int64_t offset, step;  // bytes, from the buffer's start
} Storage;

// What the generator and the trainer know a buffer as.
typedef enum BufferKind {
    BUFFER_LOCAL,       // in use between two places of one set
    BUFFER_PERSISTENT,  // parameters, states, constants …: always, in both sets
    BUFFER_WORKSPACE,   // scratch of a kernel, while it runs
} BufferKind;

typedef struct Buffer {
    BufferKind kind;
    int set;              // which made it and, if it isn't persistent, in which it is in use
    int64_t bytes;        // a multiple of 64
    int first, last;      // but persistent ones: items between which it is in use, both included
    int64_t offset;       // in the arena
    ValueId value;        // of that set, the first of those that it was made for …
    int64_t n_instances;  // … so many of which it holds
} Buffer;

// What each rank has a place of its own for: value `piece` begins in `whole`, whose dim is split,
// so many times `stride` elements farther as the rank's piece of the dim begins. piece 0: nothing.
typedef struct RankSlice {
    ValueId slice, whole;
    int dim;
    int64_t stride;
} RankSlice;

// A place that an item reads or writes: `value`, which is `base` or a view of it. Where is_twin, in
// a loop over base's own block, it is base's twin of iteration layer + delta; else of base's own
// iteration + delta (-1 and the class's length are where a loop's initial values are put).
typedef struct Operand {
    ValueId value, base;
    bool is_instance;
    int delta;
    // The view: place of its first element from base's, at iteration 0, and what each iteration
    // adds.
    int64_t offset, step;      // elements
    int64_t stride[MAX_RANK];  // elements
    RankSlice rank_slice;
} Operand;

// An operand's place in the arena: of iteration `layer`, at + step * layer, or where ring is set
// at + step * ((layer + shift) mod ring) (shift ≥ 0). Bytes.
typedef struct Address {
    int64_t at, step;
    int ring, shift;
} Address;

typedef enum ItemKind {
    ITEM_GROUP,   // elementwise nodes over one domain
    ITEM_KERNEL,  // one node
    ITEM_COPY,    // operand 1 := operand 0, over `dim`
    ITEM_FILL,    // operand 0 := fill, densely
    ITEM_LOOP,    // the items up to its ITEM_END once per iteration
    ITEM_END,
    ITEM_GRADIENT,  // operand 0 is a parameter's gradient, whole
    ITEM_PAD,       // operand 0's padding along `axis` becomes op's identity: node 0 sums over its
                    // factor
    ITEM_WAIT,      // until the kernel of the same slot, whose operands these are, has ended
    ITEM_NONE,      // a copy that turned out to be needless
} ItemKind;

// Every buffer ends in so many bytes that nobody writes.
enum { REDZONE = 64 };

// The bytes of a buffer with places for so many values of so many bytes, and of each place.
static inline int64_t instance_bytes(int64_t bytes) { return (bytes + 63) / 64 * 64; }
static inline int64_t buffer_bytes(int64_t bytes, int64_t n_instances)
{
    return instance_bytes(bytes) * n_instances + REDZONE;
}

enum { SOURCE_NODE = -1, SOURCE_SPLAT = -2 };  // made in the group itself; a constant

typedef struct Item {
    ItemKind kind;
    NodeId *nodes;  // in order; one for a kernel
    int n_nodes;
    Operand *operands;  // inputs (a group's: those read from memory), then outputs
    int n_in, n_out;
    int *source;  // group: for each input of each node, in order: an operand, or SOURCE_…
    int32_t cls;  // loop: class; item of a loop: its class
    Phase phase;
    bool is_reverse;           // loop: from the last iteration to the first
    int match;                 // loop: index of its end; end: of its loop
    int region;                // the loop that the item is in, 0: none
    Kernel kernel;             // kernel: how it is called
    int32_t workspace_buffer;  // buffer: the kernel's, or the sums' of a group; 0: it needs none
    // What goes on beside the items up to its wait: 1 + its number, else 0, of so many that the
    // iterations take in turns.
    int slot, n_slots;
    int skew;          // in a loop: turns after its iteration's; loop: so many at most
    int fission_part;  // loop: of a body that is cut in several, whose number it is, from 0
    int rank;          // group and copy: the dims walked over
    int64_t dim[MAX_RANK];
    // Group: the dims before `row_rank` make rows. Sums go over a row; nodes of rank `row_rank` are
    // one number a row. What needs such a number comes in a later turn through the row: `stage`
    // says of each node in which; of a row's number, after which (-1: before the first).
    bool has_rows;
    int row_rank;
    int *pass, n_passes;
    bool is_channels_last;  // group: walked with dim 1 innermost, else in the order of the dims
    // Group: some sums leave the innermost dim and, of those outside it, the first `column_rank`.
    bool has_columns;
    int column_rank;
    double fill;
    int factor, axis;  // pad
    RtReduceOp op;
} Item;

// A loop of `length` iterations has length + loop->late turns. In each it runs its items one after
// the other, each for the iteration `late` turns before. Gives that iteration for one of them; -1:
// none, it is too soon or too late.
static inline int item_iteration(const Item *loop, int length, const Item *it, int loop_iteration)
{
    int i = loop_iteration - it->skew;

    if (i < 0 || i >= length)
        return -1;
    return loop->is_reverse ? length - 1 - i : i;
}

// Where a part of a set begins; the parts of the forward-only set are all but the first empty.
typedef enum Part { PART_MICRO, PART_REDUCE, PART_UPDATE, N_PARTS } Part;

typedef struct Set {
    Graph *g;
    const struct Sharded *sharded;  // NULL: one rank does it all
    Item *items;
    int n_items, cap_items;
    int part[N_PARTS + 1];  // items [part[p], part[p + 1])
    Storage *storage;       // by ValueId, of bases; for all twins the same: iteration 0's place
    double flops;           // of a step's products, all loops and micro-batches counted
    int64_t end;            // of its buffers in the arena
} Set;

enum { SET_TRAIN, SET_PREDICT, N_SETS };

typedef struct Program {
    Arena *arena;
    Set set[N_SETS];  // set[SET_TRAIN].g is NULL in a program that only predicts
    Map name_index;  // names of parameters, states … → index in `place`: both sets find them so
    Storage *named_storage;
    int n_named, cap_named;
    Buffer *buffers;  // [0] is unused
    int n_buffers, cap_buffers;
    int64_t arena_bytes;
    int n_slots;
    int64_t bound;  // the largest live sum: no packing can be smaller
    // Where calls end sooner than they had to, so as to keep within the memory: the arena if they
    // didn't; else 0.
    int64_t full_overlap_bytes;
    int accumulate;
} Program;

// How far what waits for communication may go; the farther, the more memory it takes.
typedef enum OverlapLevel {
    OVERLAP_BEST,       // the loops that follow, if the simulated step is so much shorter, else …
    OVERLAP_PART,       // the loops that follow
    OVERLAP_LOOP,       // … turns of its loop
    OVERLAP_ITERATION,  // its turn
    OVERLAP_NONE,       // nowhere: each call ends before the next
} OverlapLevel;

typedef struct LowerOptions {
    bool fuse;  // false: every elementwise node is an item of its own
    int accumulate;
    const struct Sharded *sharded[N_SETS];  // where the graphs are split ones; or NULL
    // How long things take, so that communication goes on beside computation, if `memory` is enough
    // for that too (0: it is). NULL: each call ends before the next.
    const Cluster *cluster;
    int64_t memory;
    OverlapLevel overlap_level;
} LowerOptions;

// Rewrites a training graph so that its backward part makes again by elementwise work what needn't
// be kept from the forward part: the bytes kept are the least. Changes no number.
bool recompute(Graph *g, Diag *d);

// What a value of a split graph holds: the value `of` of the whole one, lying as `spec`; 0: what
// was joined to be sent together.
typedef struct ShardedValue {
    ValueId of;
    Spec spec;
} ShardedValue;

// … and a node: a piece of the node `of` of the whole one (0: communication, and what puts buckets
// together), whose rule has factors of these sizes.
typedef struct ShardedNode {
    NodeId of;
    int n_factors;
    const int64_t *size;
    // Communication: the bytes that each rank hands to it, and how long it is to take.
    ReshardKind kind;
    int64_t bytes, picoseconds;
    int64_t planned_picoseconds;  // that the search counted, if it was to join others
    // … of a bucket: what it would be of each value alone, `of` being a value.
    const struct ShardedNode *joined;
    int n_joined;
} ShardedNode;

// A graph split over a mesh: the one text that every rank runs on its pieces. Dims are chunks, what
// room a rank's buffer has; how many of its elements there are, and where in the whole, is the
// rank's own.
typedef struct Sharded {
    const Graph *whole;
    const Plan *plan;     // of it
    Graph *g;             // nodes on pieces, and communication between them
    ShardedValue *value;  // by ValueId of g
    int n_values, cap_values;
    ShardedNode *node;  // by NodeId of g
    int n_nodes, cap_nodes;
} Sharded;

// Splits a graph as the plan says; both are kept. Repeated blocks stay alike. NULL after reporting
// that the plan doesn't fit.
Sharded *partition(Arena *a, const Graph *g, const Plan *p, Diag *d);

// The same with small exchanges joined.
Sharded *bucket(Arena *a, const Sharded *s);

// The true dims of a rank's piece of a value, and the place of its piece of a node.
void sharded_dims(const Sharded *s, ValueId v, int rank, int64_t *dim);
void sharded_place(const Sharded *s, NodeId n, int rank, Place *p);

// How many ranks have a piece of no product, where others have.
int sharded_idle(const Sharded *s);

// How the mesh cuts a factor of a node, or a dim of a value, of a split graph. False: it doesn't.
bool node_split(const Sharded *s, NodeId n, int factor, RtCut *c);
bool value_split(const Sharded *s, ValueId v, int dim, RtCut *c);
// Have some ranks less than a chunk?
bool split_is_uneven(const Mesh *m, const RtCut *c);

// Lowers the two graphs (`train` may be NULL). NULL after reporting errors.
Program *lower(Arena *a, Graph *train, Graph *predict, const LowerOptions *o, Diag *d);

// The value that a buffer was made for; not of the workspace.
static inline const Value *buffer_value(const Program *p, const Buffer *b)
{
    return value_of(p->set[b->set].g, b->value);
}

// That a value of a graph lies in memory of the program that one rank would run.
typedef struct LiveRange {
    ValueId value;
    int64_t n_instances;  // so many of its size
    int first, last;      // items from first to before last
} LiveRange;

typedef struct LiveRanges {
    LiveRange *range;
    int n, n_items;
    int *item;  // by NodeId: which does its work; -1: none does
} LiveRanges;

// What the training program of the graph keeps, before it is known how it is spread. False after
// reporting errors.
bool live_ranges_find(const Graph *g, int accumulate, Arena *a, LiveRanges *to, Diag *d);

// Is result k of a fused group written over one of its operands?
bool group_updates_in_place(const Program *p, const Set *s, const Item *it, int k);

// What one call of the item does; zero for a loop's begin and end.
Work item_work(const Program *p, const Set *s, const Item *it);
// How long the rank is busy with it; not with what is handed to others, nor where it does nothing.
double item_seconds(const Program *p, const Set *s, const Item *it, const Cluster *c);

// Does a buffer hold something while the item of a set runs?
static inline bool buffer_is_live(const Buffer *b, int set, int item)
{
    return b->kind == BUFFER_PERSISTENT ||
           (b->set == set && b->first >= 0 && b->first <= item && item <= b->last);
}

// The workspace of the kernel of a node's piece, if its operands lie densely: bytes.
int64_t shard_workspace(const Graph *g, const Node *n, const Rule *r, const Mesh *m,
                        const Strategy *s);

// The most bytes that buffers of a set take at once, but persistent ones, and the first of the
// items at which they do (may be NULL): of those for which counts[buffer] is set, or of all (NULL).
int64_t program_peak_bytes(const Program *p, int set, const bool *counts, int *item);

// Of a step, all micro-batches counted: how long the ranks compute, how long messages are under
// way, and how long both take, the one beside the other where the program lets them.
typedef struct Simulated {
    double seconds, compute, communication;
} Simulated;

Simulated program_simulate(const Program *p, int set, const Cluster *c);

void program_print(const Program *p, Text *t);

// Checks a finished program against its graphs: every item reads what the graph says, whole and in
// its order of dims, written before and not yet overwritten; every number in the text is the node's
// own; and everything that lives on is in its place at the end. Of many ranks it looks at those in
// the corners of the mesh. False after reporting the first findings, which are faults of shardcc.
bool program_check(const Program *p, Diag *d);

// The same for one set on one rank.
bool set_check(const Program *p, int set, int rank, Diag *d);

// Does elementwise node `n` of group `it` make one number for each row?
bool node_is_row_scalar(const Graph *g, const Item *it, const Node *n);

// Is node `n` of group `it` a sum that leaves the innermost dim?
bool is_column_sum(const Item *it, const Node *n);

// How all such sums of the group are called.
RtSums column_sums(const Graph *g, const Item *it);

// The dims from the outermost to the innermost: in their order, or with dim 1 last.
void layout_axes(int rank, bool is_channels_last, int *axis);

// The node of the group that made `v`, which it reads as SOURCE_NODE: as an element or, through
// views, as the number of a row.
NodeId group_producer(const Graph *g, const Item *it, ValueId v);

// The place of operand `o` of an item of `s`.
Address operand_address(const Program *p, const Set *s, const Operand *o);

// … and how many bytes farther it is on a rank that has a place of its own for it.
int64_t operand_rank_offset(const Set *s, const Operand *o, int rank);

// Does the operand, over dims (rank of them), lie densely in row-major order?
bool operand_is_dense(const Operand *o, int rank, const int64_t *dim);

// The place of value v of `s` when it is read from outside of all loops; false if it has none.
bool value_address(const Program *p, const Set *s, ValueId v, Address *a);

#endif
