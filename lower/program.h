// A lowered program as data: buffers, items, and how to walk through them.
//
// A Program has two sets of functions, training and forward only, in one arena. A set is a list of
// items in the order of execution; repeated blocks are loops over one iteration's items.
#ifndef SHARDCC_PROGRAM_H
#define SHARDCC_PROGRAM_H

#include <string.h>

#include "analyzer/sharding/sharding.h"
#include "analyzer/target/target.h"

// Where a value lies. Iteration i of a repeated block finds it at offset + step * i or, where
// `ring` is set, at offset + step * (i mod ring). A ring has as many slots as iterations are in
// flight: two where only the neighbour iteration reads the value.
typedef struct Storage {
    int32_t buffer;  // 0: none
    int32_t ring;
    int64_t offset, step;  // bytes, from the buffer's start
    int64_t row;  // elements from each row's first one to the next row's, if padding follows the
                  // last dim; 0: rows are dense
    // In a pool: the iteration whose slot the value has, if it isn't of its buffer's class: the one
    // before the first or after the last.
    int instance;
} Storage;

// Who uses a buffer, and for how long.
typedef enum BufferKind {
    BUFFER_LOCAL,       // live between two items of one set
    BUFFER_PERSISTENT,  // parameters, states, constants …: always live, in both sets
    BUFFER_WORKSPACE,   // bytes that a kernel needs while it runs
    BUFFER_POOLS,       // where the calls of a function have their slots
} BufferKind;

// Where a stage of a function of calls keeps its values (Calls): each execution of its forward part
// gets a slot in the first three pools, its backward part one in the others.
typedef enum Pool {
    POOL_NONE,
    POOL_HANDED,        // made forward, for the next stage too
    POOL_SAVED,         // made forward, for the stage's own backward part
    POOL_SCRATCH,       // made and read within one forward part
    POOL_GRADIENT,      // made backward, for the stage before too
    POOL_BACK_SCRATCH,  // made and read within one backward part
    N_POOLS,
    POOL_KEPT = N_POOLS,  // has one address in all calls: `offset`, in the arena
} Pool;

// A buffer with a slot for each iteration of a loop, which the iterations take or free one by one:
// of a loop in which it begins, each iteration takes its slot; of a loop in which it ends, each
// iteration frees its slot. Loops are given as 1 + the index of their ITEM_LOOP; 0: none.
typedef struct Slots {
    int64_t bytes;  // of a slot; 0: the buffer is in use as a whole
    int taken, freed;
} Slots;

typedef struct Buffer {
    BufferKind kind;
    int set;          // the set that made it; unless it is persistent, it is live in that set alone
    int64_t bytes;    // a multiple of 64
    int first, last;  // items between which it is live, both included; unused if persistent
    int64_t offset;   // in the arena
    ValueId value;    // of that set: the first value that it was made for
    int64_t n_instances;  // how many instances of that value it holds
    Slots slots;
    // A buffer in a pool is part of the one buffer of all pools. It has a part of each slot of its
    // stages, which begins at `offset`. It belongs to one stage or, if stage_step is 1 or -1, to
    // stage + stage_step * i for iteration i of its value's class, and holds one instance in each.
    Pool pool;
    int stage, stage_step;
} Buffer;

// A view whose offset depends on the rank: `slice` is the rank's shard of `whole`, split along
// `dim`. It begins `stride` elements after the start of `whole` for each element of the dim before
// the rank's shard. Zero: the offset is the same on all ranks.
typedef struct RankSlice {
    ValueId slice, whole;
    int dim;
    int64_t stride;
} RankSlice;

enum { MAX_LOOPS = 4 };  // loops around an item

// How an address moves with the iterations of a loop: by step * iteration or, where `ring` is set,
// by step * ((iteration + shift) mod ring), with shift ≥ 0. In bytes.
typedef struct Movement {
    int64_t step;
    int ring, shift;
} Movement;

// An address in the arena, in bytes: `at`, and its movement with each of the loops around the item,
// the innermost first. `first` is the start of the enclosing value or, in a loop, of the value's
// instance of iteration 0.
//
// In a pool, bytes count from the start of the slot of stage + stage_step * iteration.
typedef struct Address {
    int32_t buffer;  // 0: no address
    int64_t first;
    int64_t at;
    Movement move[MAX_LOOPS];
    Pool pool;
    int stage, stage_step;
} Address;

static inline bool address_equal(const Address *a, const Address *b)
{
    return a->buffer == b->buffer && a->first == b->first && a->at == b->at && a->pool == b->pool &&
           a->stage == b->stage && a->stage_step == b->stage_step &&
           !memcmp(a->move, b->move, sizeof a->move);
}

// Where the slots of all stages lie: [pool][stage].
typedef int64_t *StageSlots[N_POOLS];

// The byte of the arena in these iterations of the loops around the item, the innermost first.
// `slots` has the slots of the stages; it is read for an address in a pool.
static inline int64_t address_at(const Address *a, const int *iteration, const StageSlots slots)
{
    int64_t at = a->at;

    if (a->pool)
        at += slots[a->pool][a->stage + a->stage_step * iteration[0]];

    for (int k = 0; k < MAX_LOOPS; k++) {
        const Movement *m = &a->move[k];
        at += m->step * (m->ring ? (iteration[k] + m->shift) % m->ring : iteration[k]);
    }
    return at;
}

// An operand that an item reads or writes: `value`, which is `base` or a view of it. Where
// is_instance, it is in a loop over base's own block and uses base's instance of that loop's
// iteration + delta. Elsewhere the item uses base's own iteration + delta; -1 and the class's
// length are the indices of a loop's initial values.
typedef struct Operand {
    ValueId value, base;
    bool is_instance;
    int delta;
    int loop;  // of an instance: how many loops around the item are within the loop over its block
    // The view, from base's first element: `offset` at iteration 0, plus `step` for each iteration
    // of the loops around the item, the innermost first. Elements.
    int64_t offset, step[MAX_LOOPS];
    int64_t stride[MAX_RANK];  // elements
    RankSlice rank_slice;
    Address address;  // of the first element, but for the rank slice; set by program_finish
} Operand;

typedef enum ItemKind {
    ITEM_GROUP,   // elementwise nodes over one domain
    ITEM_KERNEL,  // one node
    ITEM_COPY,    // operand 1 := operand 0, over `dim`
    ITEM_FILL,    // operand 0 := fill, densely
    ITEM_LOOP,    // runs the items up to its ITEM_END once per iteration
    ITEM_END,
    ITEM_GRADIENT,  // operand 0 is a parameter's gradient, whole
    // Sets operand 0's padding along `axis` to the identity of `op`: node 0 reduces over `factor`.
    ITEM_PAD,
    ITEM_WAIT,  // waits until the kernel of the same slot, which has these operands, has ended
    ITEM_NONE,  // a copy that turned out to be needless
} ItemKind;

// Bytes at the end of every buffer that nobody writes.
enum { REDZONE = 64 };

// The bytes of one instance in a buffer, and of a buffer for n_instances values of `bytes`.
static inline int64_t instance_bytes(int64_t bytes) { return (bytes + 63) / 64 * 64; }
static inline int64_t buffer_bytes(int64_t bytes, int64_t n_instances)
{
    return instance_bytes(bytes) * n_instances + REDZONE;
}

// The bytes of a value whose rows lie `row` elements apart, as in Storage.
static inline int64_t padded_bytes(const Value *v, int64_t row)
{
    return row ? value_bytes(v) / v->dim[v->rank - 1] * row : value_bytes(v);
}

enum { SOURCE_NODE = -1, SOURCE_SPLAT = -2 };  // made in the group itself; a constant

// A fused group. Its nodes walk over the item's dims.
typedef struct Group {
    int *source;            // for each input of each node, in order, its operand or SOURCE_…
    bool is_channels_last;  // dim 1 is walked innermost, else the last dim is
    // The dims before `row_rank` make rows. Sums go over a row; a node of rank `row_rank` is a row
    // scalar, one number per row. A node that needs a sum comes in a later pass over the row.
    // pass[i] is the row pass of node i; for a row scalar, the pass after which it is computed (-1:
    // before the first).
    bool has_rows;
    int row_rank;
    int *pass, n_passes;
    // Some sums keep the innermost dim and the first `column_rank` of the other dims.
    bool has_columns;
    int column_rank;
    int64_t workspace;  // bytes, for the column sums
    // Set by program_finish.
    int axis[MAX_RANK];   // the dims, from the outermost that is walked to the innermost
    bool *is_row_scalar;  // by node: does it make one number for each row?
    bool *is_column_sum;  // by node: is it a sum that keeps the innermost dim?
    bool *is_in_place;    // by output: is it written over an input?
    int *maker;           // by input of each node, as `source`: the node that makes it, or -1
    RtSums sums;          // the arguments of rt_sums for the column sums
} Group;

// The call of a kernel. A collective that overlaps with other items until its ITEM_WAIT has slots:
// iteration i uses slot + i mod n_slots. Slots count from 1; 0: the call blocks.
typedef struct KernelCall {
    Kernel kernel;      // how it is called
    int64_t workspace;  // bytes
    int slot, n_slots;
} KernelCall;

// A loop over a class, or over a number of iterations (cls 0). In a loop, one with a length walks
// a part of its class: in iteration i of the loop around it, from iteration i * length on.
typedef struct Loop {
    int end;           // the index of its ITEM_END
    int length;        // 0: of the class
    bool is_reverse;   // from the last iteration to the first
    int skew;          // the largest of its items
    int fission_part;  // the number, from 0, of this part of a loop that fission has cut
    int again;         // Block.again of its nodes
} Loop;

typedef struct Fill {
    double value;
} Fill;

typedef struct Pad {
    int factor, axis;
    RtReduceOp op;
} Pad;

typedef struct Item {
    ItemKind kind;
    NodeId *nodes;  // in order; one for a kernel
    int n_nodes;
    Operand *operands;  // inputs (a group's: those read from memory), then outputs
    int n_in, n_out;
    int rank;  // group, copy and pad: the dims walked over
    int64_t dim[MAX_RANK];
    int32_t cls;  // loop: its class; item of a loop: the loop's class
    Phase phase;
    int region;                // the loop that the item is in; 0: none
    int skew;                  // iterations that it runs after its own
    int32_t workspace_buffer;  // of a kernel or a group; 0: it needs none
    bool is_once;  // forward parts skip it except in their last execution: it changes a state
    Work work;     // of one run, none for a loop's begin and end; set by program_finish
    // A copy, an end, a gradient and ITEM_NONE have no more than this.
    union {
        Group group;
        KernelCall call;  // kernel; wait: its slots
        Loop loop;
        Fill fill;
        Pad pad;
    };
} Item;

// The slot of a collective's start or wait; 0: the item has none.
static inline int item_slot(const Item *it)
{
    return it->kind == ITEM_KERNEL || it->kind == ITEM_WAIT ? it->call.slot : 0;
}

// The bytes of the item's workspace.
static inline int64_t item_workspace(const Item *it)
{
    return it->kind == ITEM_GROUP    ? it->group.workspace
           : it->kind == ITEM_KERNEL ? it->call.workspace
                                     : 0;
}

// How the mesh splits a dim. n_axes 0: it doesn't.
typedef struct DimSplit {
    RtCut cut;
    bool is_uneven;  // some ranks have less than a chunk
} DimSplit;

// When a function runs.
typedef enum Timing {
    TIMING_PREPARE,  // once a step, before the first of several micro-batches
    TIMING_MICRO,    // once for every micro-batch of a step
    TIMING_REDUCE,   // once a step, after the micro-batches
    TIMING_UPDATE,   // once a step, after the trainer has looked at the norm of the gradients
    TIMING_FORWARD,  // once for every batch that is only predicted
    N_TIMINGS
} Timing;

static inline const char *timing_name(Timing t)
{
    static const char *const names[N_TIMINGS] = {"prepare", "micro", "reduce", "update", "forward"};
    return names[t];
}

// Items [begin, end) that are called as a whole or, if is_loop, one iteration of the loop that they
// are.
typedef struct CallPart {
    int begin, end;
    int stage;  // its stage; of a loop, the stage of iteration 0
    bool is_loop, is_backward;
    int stage_step;  // of a loop, from iteration to iteration: 1 or -1
} CallPart;

// One execution of a part: as a piece of an execution of its stage's forward or backward part,
// whose slots are at these bytes of the arena. Forward: handed, saved, scratch; backward: gradient,
// scratch.
typedef struct Call {
    int part, iteration;
    bool is_last;  // the stage's last forward execution
    int64_t at[3];
} Call;

// The order in which the parts of a function run, if some run several times: a chain of stages
// forward, then backward, in which forward parts run again where what they had made was dropped.
// Made by lower/chain/ of what solver/chain/ decides.
typedef struct Calls {
    int n_stages;
    CallPart *part;
    int n_parts;
    Call *call;
    int n_calls;
    int32_t buffer;  // of kind BUFFER_POOLS, in which all slots are
} Calls;

// How many slots an execution of the part has: in the pools of its direction.
static inline int slots_of_part(const CallPart *p) { return p->is_backward ? 2 : 3; }

// The stage of a call.
static inline int call_stage(const Calls *x, const Call *c)
{
    const CallPart *p = &x->part[c->part];
    return p->stage + p->stage_step * c->iteration;
}

// Moves the slots of the call's stage to where they are from this call on.
static inline void call_enter(const Calls *x, const Call *c, StageSlots slots)
{
    bool is_backward = x->part[c->part].is_backward;
    Pool first = is_backward ? POOL_GRADIENT : POOL_HANDED;
    int stage = call_stage(x, c);

    for (int i = 0; i < slots_of_part(&x->part[c->part]); i++)
        slots[first + i][stage] = c->at[i];
}

// A function that the trainer calls. Those of one timing run in the order of the set's list.
typedef struct Function {
    const char *name;  // begins with the timing's name; once in a program
    Timing timing;
    int begin, end;      // items [begin, end)
    const Calls *calls;  // NULL: the items run in their order
} Function;

// A tensor that the trainer knows by a name: it loads, sets, reads or saves it. Of a repeated block
// an entry has all layers of one value.
typedef struct TensorEntry {
    RtRole role;
    int set;            // of the values
    int n;              // layers
    ValueId *value;     // by layer
    const char **name;  // by layer
    bool is_for_loss;   // an input that no output of the model depends on
} TensorEntry;

typedef struct TensorTable {
    TensorEntry *entry;
    int n, cap;
} TensorTable;

typedef struct Set {
    Graph *g;
    const struct Sharded *sharded;  // NULL: there is one rank
    Item *items;
    int n_items, cap_items;
    Function *functions;  // their items follow each other
    int n_functions, cap_functions;
    Storage *storage;  // by ValueId of bases; all instances have the same: iteration 0's address
    // Set by program_finish. How the mesh splits the dims of a value and the factors of a node;
    // NULL: one rank has the whole.
    Address *address;  // by ValueId: the value's address as it is seen from outside all loops
    DimSplit **value_split, **node_split;
    double flops;         // of a step's products, counting all loops, micro-batches and ranks
    int64_t end;          // where its buffers end in the arena
    TensorTable tensors;  // its inputs and outputs
} Set;

// The bytes of a base, of one instance.
static inline int64_t stored_bytes(const Set *s, ValueId v)
{
    return padded_bytes(value_of(s->g, v), s->storage[v].row);
}

// The item after those of the functions of a timing; 0: there are none.
static inline int timing_end(const Set *s, Timing t)
{
    int end = 0;

    for (int i = 0; i < s->n_functions; i++)
        end = s->functions[i].timing == t ? s->functions[i].end : end;
    return end;
}

// How many iterations of its own a loop runs.
static inline int loop_length(const Graph *g, const Item *loop)
{
    return loop->loop.length ? loop->loop.length : g->classes[loop->cls].length;
}

// The node that names an item: the last one or, of an update, the last one that serves a parameter.
// NULL: no node makes the item's value.
static inline const Node *item_node(const Graph *g, const Item *it)
{
    for (int i = it->n_nodes - 1; i >= 0; i--) {
        const Node *n = &g->nodes[it->nodes[i]];
        if (n->phase == UPDATE && n->source && *n->source->scope)
            return n;
    }
    if (it->n_nodes)
        return &g->nodes[it->nodes[it->n_nodes - 1]];
    NodeId from = it->n_in + it->n_out ? value_of(g, it->operands[0].value)->producer : 0;
    return from ? &g->nodes[from] : NULL;
}

// A loop runs its items in order, loop_length + skew times. Each time, an item works for the
// iteration `skew` iterations ago, if there is such an iteration.
typedef struct WalkedLoop {
    int item;   // its ITEM_LOOP
    int at;     // how often it has run its items
    int first;  // the first iteration of its class that it walks
} WalkedLoop;

// A walk through the items [begin, end) in the order of execution, with loops unrolled.
typedef struct ItemWalk {
    const Set *s;
    int item, end;
    int depth;                   // loops around the item
    WalkedLoop loop[MAX_LOOPS];  // the outermost first
    int iteration[MAX_LOOPS];    // of the loops around the item, the innermost first
    const Calls *calls;          // NULL: there are none
    int call;                    // the number of the one that runs
} ItemWalk;

ItemWalk item_walk_new(const Set *s, int begin, int end);
// The same through all that a function runs.
ItemWalk item_walk_function(const Set *s, const Function *f);
bool item_walk_next(
    ItemWalk *w);  // goes to the next item that isn't a loop's begin or end; false: the end

enum { SET_TRAIN, SET_PREDICT, N_SETS };

typedef struct Program {
    Arena *arena;
    const Target *target;
    Set set[N_SETS];  // set[SET_TRAIN].g is NULL in a program that only predicts
    // Names of parameters, states … → index in named_storage. Both sets find them by name.
    Map name_index;
    Storage *named_storage;
    int n_named, cap_named;
    TensorTable tensors;  // those that outlive a step: both sets'
    Buffer *buffers;      // [0] is unused
    int n_buffers, cap_buffers;
    int64_t arena_bytes;
    int n_slots;
    int64_t bound;  // the largest sum of live bytes: no packing can be smaller
    // The arena's bytes with full overlap, if overlap was reduced to fit the memory; else 0.
    int64_t full_overlap_bytes;
    int accumulate;
    uint64_t plan_hash;  // plan_file_hash of the plan that it follows; 0: none
} Program;

#endif
